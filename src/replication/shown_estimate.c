// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client shows by now. The numbers are those by which it shows, motion/motion_model.h. Of the
// motion there, what differs from client to client is learned here from the samples that are sent (how
// long velocities are followed); shares are taken as 1, and newcomers without a velocity as standing.

#include "replication/shown_estimate.h"

#include "base/bitset.h"
#include "base/math.h"
#include "base/allocator.h"
#include "base/compiler.h"
#include "replication/sender.h"

#include <string.h>

// ---- memory

// What is swept at every send stands in front, in this order:
//
//   | ph_shown_estimates | [smooth] | marks | motion models | heading | sent | known | ...
//
// Marks, a byte for each slot, fill whole words.
static size_t mark_bytes(int slot_count)
{
    return ((size_t)slot_count + 7) / 8 * 8;
}

static size_t lead_bytes(int slot_count, int class_count)
{
    return sizeof(ph_shown_estimates) + mark_bytes(slot_count) +
           (size_t)class_count * sizeof(ph_motion_model) + (size_t)slot_count * sizeof(uint32_t);
}

static void* carve_bytes(uint8_t** rest, size_t size)
{
    void* part = *rest;
    *rest += size;
    return part;
}

static void carve_smooth(ph_smooth_estimates* smooth, uint8_t** rest, size_t slots, int parts)
{
    const size_t size = slots * (size_t)parts * sizeof(ph_smooth_estimate);
    smooth->parts = parts;
    smooth->held = carve_bytes(rest, slots * sizeof(uint64_t));
    smooth->wrong = carve_bytes(rest, slots * sizeof(uint64_t));
    smooth->sent = carve_bytes(rest, size);
    smooth->known = carve_bytes(rest, size);
}

ph_result ph_shown_estimates_create(const ph_allocator* allocator, int slot_count,
                                    const ph_layouts* layouts, bool is_vouched,
                                    ph_shown_estimates** estimates)
{
    const size_t slots = (size_t)slot_count;
    const size_t classes = (size_t)layouts->count;
    const size_t turn_bytes = ph_turn_estimates_bytes(layouts, slot_count);
    const size_t smooth_bytes = is_vouched ? ph_smooth_estimates_bytes(layouts, slot_count) : 0;
    const size_t size = lead_bytes(slot_count, layouts->count) +
                        2 * slots * sizeof(ph_shown_estimate) + turn_bytes + smooth_bytes + classes;
    ph_shown_estimates* made = ph_allocate_zeroed(allocator, size);
    *estimates = made;
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    uint8_t* rest = (uint8_t*)(made + 1);
    made->size_bytes = size;
    made->allocator = *allocator;
    made->is_vouched = is_vouched;
    if (smooth_bytes > 0) {
        carve_smooth(&made->smooth, &rest, slots, layouts->smooth_parts_max);
    }
    made->marks = carve_bytes(&rest, mark_bytes(slot_count));
    made->motion_models = carve_bytes(&rest, classes * sizeof(ph_motion_model));
    made->heading = carve_bytes(&rest, slots * sizeof(uint32_t));
    made->sent = carve_bytes(&rest, slots * sizeof(ph_shown_estimate));
    made->known = carve_bytes(&rest, slots * sizeof(ph_shown_estimate));
    if (turn_bytes > 0) {
        made->turns.sent = carve_bytes(&rest, slots * sizeof(ph_turn_estimate));
        made->turns.known = carve_bytes(&rest, slots * sizeof(ph_turn_estimate));
        made->turns.watches = carve_bytes(&rest, slots * sizeof(ph_turn_watch));
    }
    made->headings = carve_bytes(&rest, classes);
    for (int i = 0; i < layouts->count; ++i) {
        made->motion_models[i] = ph_motion_model_make();
        made->motion_models[i].is_vouched = is_vouched;
        const ph_class_def* described = &layouts->layouts[i].described->def;
        made->motion_models[i].step_mm =
            (float)(UINT32_C(1) << layouts->layouts[i].coordinate.shift);
        made->motion_models[i].bend = ph_float_max((float)described->bend, 0.0f);
        made->motion_models[i].leg_s = (float)described->leg_ms * 1e-3f;
        made->headings[i] = (uint8_t)layouts->layouts[i].heading_property;
    }
    return PH_OK;
}

void ph_shown_estimates_destroy(ph_shown_estimates* estimates)
{
    if (estimates != NULL) {
        const ph_allocator allocator = estimates->allocator;
        ph_release(&allocator, estimates, estimates->size_bytes);
    }
}

// ---- samples

// Where a sample is shown, and how exactly.
typedef struct sample_place {
    int32_t position_mm[3];
    int finer;
} sample_place;

// A short step is mostly rounding: the velocity is then that of the last leg and the step together.
PH_OUT_OF_LINE static void join_step(ph_shown_estimate* estimate, const float displacement_mm[3],
                                     float step_s)
{
    const float joined_s = estimate->leg_s;
    for (int k = 0; k < 3; ++k) {
        const float former = estimate->velocity_mm_s[k];
        estimate->velocity_mm_s[k] = (displacement_mm[k] + former * joined_s) / (step_s + joined_s);
    }
    estimate->leg_s = step_s + joined_s;
    estimate->interval_s = step_s;
}

static inline void turn_along(ph_shown_estimate* estimate, int axis, float velocity, float bend)
{
    estimate->bend_mm_s[axis] = bend * (velocity - estimate->velocity_mm_s[axis]);
    estimate->velocity_mm_s[axis] = velocity;
}

static inline float square_of_change(const ph_shown_estimate* estimate,
                                     const float displacement_mm[3], float step_s)
{
    const float x = displacement_mm[0] / step_s - estimate->velocity_mm_s[0];
    const float y = displacement_mm[1] / step_s - estimate->velocity_mm_s[1];
    const float z = displacement_mm[2] / step_s - estimate->velocity_mm_s[2];
    return x * x + y * y + z * z;
}

// Axis by axis, not in a loop: gcc makes vectors of two of it, and a load of two words that were
// stored one by one stalls for longer than all the rest takes.
static inline void add_step(ph_shown_estimate* estimate, const sample_place* sample, float step_s,
                            const ph_motion_model* motion_model)
{
    const int32_t* position_mm = sample->position_mm;
    const float displacement_mm[3] = {
        (float)ph_difference_mm(position_mm[0], estimate->position_mm[0]),
        (float)ph_difference_mm(position_mm[1], estimate->position_mm[1]),
        (float)ph_difference_mm(position_mm[2], estimate->position_mm[2]),
    };
    const float distance2 = displacement_mm[0] * displacement_mm[0] +
                            displacement_mm[1] * displacement_mm[1] +
                            displacement_mm[2] * displacement_mm[2];
    const bool stands = distance2 <= 0.0f;
    if (step_s < motion_model->leg_s && !stands && distance2 < PH_LEG_MM * PH_LEG_MM) {
        join_step(estimate, displacement_mm, step_s);
        return;
    }
    const float before_s = estimate->leg_s;
    const float bend =
        before_s > 0.0f && !stands
            ? ph_bend_share(motion_model->bend, step_s, before_s) *
                  ph_bend_trust(square_of_change(estimate, displacement_mm, step_s), step_s,
                                before_s, ph_finer_step(motion_model->step_mm, sample->finer),
                                ph_finer_step(motion_model->step_mm, estimate->finer))
            : 0.0f;
    turn_along(estimate, 0, displacement_mm[0] / step_s, bend);
    turn_along(estimate, 1, displacement_mm[1] / step_s, bend);
    turn_along(estimate, 2, displacement_mm[2] / step_s, bend);
    estimate->leg_s = step_s;
    estimate->interval_s = step_s;
}

static float tick_seconds(const ph_replicas* replicas)
{
    return (float)replicas->rules.tick_us * 1e-6f;
}

// The velocity that an enter of the pinhole profile states stands behind its values and its key, in
// steps in a leg.
PH_OUT_OF_LINE static void state_velocity(ph_shown_estimate* estimate, const ph_replicas* replicas,
                                          const ph_layout* layout, const ph_flight_item* enter)
{
    int16_t velocity[3];
    memcpy(velocity, enter->values + enter->value_bytes - sizeof velocity, sizeof velocity);
    const float step_mm = (float)(UINT32_C(1) << layout->coordinate.shift);
    const float leg_s =
        (float)ph_baseline_velocity_ticks(replicas->rules.tick_us) * tick_seconds(replicas);
    estimate->leg_s = leg_s;
    estimate->interval_s = leg_s;
    for (int k = 0; k < 3; ++k) {
        estimate->velocity_mm_s[k] = (float)velocity[k] * step_mm / leg_s;
    }
}

// Whether a sample is the first, or one after a jump: nothing leads to it.
static inline bool is_beginning(const ph_shown_estimate* estimate, const ph_flight_item* item)
{
    return !estimate->is_there || item->jumps != estimate->jumps;
}

// A position that an item tells, which was sent at some tick: as it is shown, in the middle of its step.
static inline void add_shown_sample(ph_shown_estimate* estimate, const ph_replicas* replicas,
                                    const ph_flight_item* item, const uint32_t words[3],
                                    uint32_t tick)
{
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[item->slot]];
    const int finer = layout->finer == 0 ? 0 : ph_layout_finer_of(layout, words);
    const uint32_t centre_mm = (UINT32_C(1) << layout->coordinate.shift) / 2 >> finer;
    const sample_place sample = {
        .position_mm = {(int32_t)(words[0] + centre_mm), (int32_t)(words[1] + centre_mm),
                        (int32_t)words[2]},
        .finer = finer,
    };
    const bool is_first = !estimate->is_there;
    if (is_beginning(estimate, item)) {
        *estimate = (ph_shown_estimate){.jumps = item->jumps, .is_there = true};
    } else if (tick != estimate->tick) {
        add_step(estimate, &sample, (float)(tick - estimate->tick) * tick_seconds(replicas),
                 &replicas->estimates->motion_models[replicas->class_index[item->slot]]);
    }
    estimate->position_mm[0] = sample.position_mm[0];
    estimate->position_mm[1] = sample.position_mm[1];
    estimate->position_mm[2] = sample.position_mm[2];
    estimate->tick = tick;
    estimate->finer = (uint8_t)sample.finer;
    if (is_first && item->kind == PH_RECORD_ENTER && replicas->estimates->is_vouched) {
        state_velocity(estimate, replicas, layout, item);
    }
}

// An orientation that an item tells, likewise.
PH_OUT_OF_LINE static void add_shown_turn(ph_turn_estimate* estimate, const ph_replicas* replicas,
                                          const ph_flight_item* item, const uint32_t words[2],
                                          uint32_t tick)
{
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[item->slot]];
    const bool is_first = !estimate->motion.is_there;
    float rotation[4];
    ph_turn_of_words(layout, words, rotation);
    ph_turn_estimate_add(estimate, rotation, tick, item->jumps, tick_seconds(replicas));
    if (is_first && item->kind == PH_RECORD_ENTER && replicas->estimates->is_vouched) {
        int16_t spin[3];
        memcpy(spin, item->values + item->value_bytes - PH_ENTER_EXTRA_BYTES - PH_ENTER_SPIN_BYTES,
               sizeof spin);
        ph_turn_estimate_enter(estimate, layout, spin,
                               (float)ph_baseline_velocity_ticks(replicas->rules.tick_us) *
                                   tick_seconds(replicas));
    }
}

// Of the packed values of an item, if it tells one.
PH_OUT_OF_LINE static void add_packed_turn(ph_turn_estimate* estimate, const ph_replicas* replicas,
                                           const ph_flight_item* item, uint32_t tick)
{
    const int class_index = replicas->class_index[item->slot];
    const ph_layout* layout = &replicas->rules.layouts->layouts[class_index];
    const bool is_told = (item->properties & layout->orientation) != 0;
    if (layout->orientation == 0 || item->kind == PH_RECORD_LEAVE ||
        (!is_told && item->kind != PH_RECORD_ENTER)) {
        return;
    }
    const ph_packing* packing = &replicas->rules.packings[class_index];
    const int property = layout->orientation_property;
    uint32_t words[2]; // what an enter leaves out is initial
    ph_packing_load(
        packing, property,
        is_told ? ph_packing_within(packing, item->properties, layout->orientation, item->values)
                : packing->initial + packing->offset[property],
        words);
    add_shown_turn(estimate, replicas, item, words, tick);
}

// The same of the packed values of an item, if it tells a position.
static void add_packed(ph_shown_estimate* estimate, const ph_replicas* replicas,
                       const ph_flight_item* item, uint32_t tick)
{
    const int class_index = replicas->class_index[item->slot];
    const uint64_t position = replicas->rules.layouts->layouts[class_index].position;
    if (item->kind == PH_RECORD_LEAVE || (item->properties & position) == 0) {
        return;
    }
    const ph_packing* packing = &replicas->rules.packings[class_index];
    uint32_t words[3];
    memcpy(words, ph_packing_within(packing, item->properties, position, item->values),
           sizeof words);
    add_shown_sample(estimate, replicas, item, words, tick);
}

// ---- sent

static size_t smooth_bytes_of(const ph_shown_estimates* estimates)
{
    return (size_t)estimates->smooth.parts * sizeof(ph_smooth_estimate);
}

static size_t smooth_place(const ph_shown_estimates* estimates, int slot)
{
    return (size_t)slot * (size_t)estimates->smooth.parts;
}

// What is sent leads on from what is known.
static void put_aside(ph_shown_estimates* estimates, int slot)
{
    if ((estimates->marks[slot] & PH_ESTIMATE_APART) != 0) {
        return;
    }
    estimates->known[slot] = estimates->sent[slot];
    if (estimates->turns.sent != NULL) {
        estimates->turns.known[slot] = estimates->turns.sent[slot];
    }
    if (estimates->smooth.parts > 0) {
        const size_t place = smooth_place(estimates, slot);
        memcpy(&estimates->smooth.known[place], &estimates->smooth.sent[place],
               smooth_bytes_of(estimates));
    }
    estimates->marks[slot] |= PH_ESTIMATE_APART;
}

// What was sent is lost.
static void take_back(ph_shown_estimates* estimates, int slot)
{
    estimates->sent[slot] = estimates->known[slot];
    if (estimates->turns.sent != NULL) {
        estimates->turns.sent[slot] = estimates->turns.known[slot];
    }
    if (estimates->smooth.parts > 0) {
        const size_t place = smooth_place(estimates, slot);
        memcpy(&estimates->smooth.sent[place], &estimates->smooth.known[place],
               smooth_bytes_of(estimates));
    }
}

PH_OUT_OF_LINE static void load_heading(const ph_replicas* replicas, int slot)
{
    ph_shown_estimates* estimates = replicas->estimates;
    const int class_index = replicas->class_index[slot];
    const int property = estimates->headings[class_index];
    const int state = replicas->state[slot];
    const ph_packing* packing = &replicas->rules.packings[class_index];
    if (property == PH_HEADING_NONE || packing->size[property] == 0 ||
        (state != PH_REPLICA_ENTERING && state != PH_REPLICA_ENTERED)) {
        return;
    }
    ph_packing_load(packing, property, ph_replicas_newest(replicas, slot, property),
                    &estimates->heading[slot]);
}

// What the client learns from the pauses between samples.
PH_OUT_OF_LINE static void learn_pause(const ph_replicas* replicas, int slot, uint32_t tick)
{
    ph_shown_estimates* estimates = replicas->estimates;
    const ph_shown_estimate* sent = &estimates->sent[slot];
    if (sent->is_there && sent->interval_s > 0.0f && tick != sent->tick) {
        const float pause_s = (float)(tick - sent->tick) * tick_seconds(replicas);
        ph_motion_model_learn_pause(&estimates->motion_models[replicas->class_index[slot]], pause_s,
                                    sent->interval_s);
    }
}

// Of a class with an orientation. A position of the same item is taken already.
PH_OUT_OF_LINE static void turn_sent(const ph_replicas* replicas, const ph_flight_item* item,
                                     const uint32_t* words)
{
    ph_shown_estimates* estimates = replicas->estimates;
    const int slot = item->slot;
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[slot]];
    const uint32_t tick = replicas->flight->open.stamp.tick;
    ph_turn_estimate* sent = &estimates->turns.sent[slot];
    if (item->kind == PH_RECORD_ENTER && ph_replicas_at(replicas, slot)->in_flight == 1) {
        *sent = (ph_turn_estimate){0};
        estimates->turns.known[slot] = (ph_turn_estimate){0};
    }
    if (item->kind != PH_RECORD_ENTER && (item->properties & layout->orientation) == 0) {
        return;
    }
    put_aside(estimates, slot);
    if (sent->motion.is_there && tick == sent->tick) {
        estimates->marks[slot] |= PH_ESTIMATE_REVISED;
    }
    const int property = layout->orientation_property;
    const bool is_told = (item->properties & layout->orientation) != 0;
    const uint32_t* initial = layout->described->properties[property].initial;
    add_shown_turn(sent, replicas, item, is_told ? words + layout->word[property] : initial, tick);
}

// Of a class with smooth properties, likewise.
PH_OUT_OF_LINE static void smooth_sent(const ph_replicas* replicas, const ph_flight_item* item,
                                       const uint32_t* words)
{
    ph_shown_estimates* estimates = replicas->estimates;
    const int slot = item->slot;
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[slot]];
    if (item->kind == PH_RECORD_ENTER && ph_replicas_at(replicas, slot)->in_flight == 1) {
        ph_smooth_estimates_begin(&estimates->smooth, slot);
    }
    if (item->kind == PH_RECORD_ENTER || (item->properties & layout->smooth) != 0) {
        put_aside(estimates, slot);
        const bool is_revised = ph_smooth_estimates_add(replicas, estimates->smooth.sent, item,
                                                        words, replicas->flight->open.stamp.tick);
        estimates->marks[slot] |= is_revised ? PH_ESTIMATE_REVISED : 0;
    }
}

void ph_shown_estimates_sent(const ph_replicas* replicas, const ph_flight_item* item,
                             const uint32_t* words)
{
    ph_shown_estimates* estimates = replicas->estimates;
    const int slot = item->slot;
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[slot]];
    if ((item->properties & layout->position) != 0) {
        const uint32_t tick = replicas->flight->open.stamp.tick;
        ph_shown_estimate* sent = &estimates->sent[slot];
        // An enter is the first of its entity, unless others are in flight: nothing is known of it.
        if (item->kind == PH_RECORD_ENTER && ph_replicas_at(replicas, slot)->in_flight == 1) {
            sent->is_there = false;
            estimates->marks[slot] = 0;
        }
        put_aside(estimates, slot);
        unsigned marks = estimates->marks[slot];
        // Clients that take silence for motion that goes on do not use pauses.
        if (!estimates->is_vouched) {
            learn_pause(replicas, slot, tick);
        }
        if (is_beginning(sent, item)) {
            marks = 0;
        } else if (tick == sent->tick) {
            marks |= PH_ESTIMATE_REVISED;
        }
        add_shown_sample(sent, replicas, item, words + layout->position_word, tick);
        estimates->marks[slot] = (uint8_t)(marks | PH_ESTIMATE_APART);
    }
    if (layout->orientation != 0) {
        turn_sent(replicas, item, words);
    }
    if (layout->smooth != 0 && estimates->smooth.parts > 0) {
        smooth_sent(replicas, item, words);
    }
    if (item->kind == PH_RECORD_ENTER || (item->properties & layout->heading) != 0) {
        load_heading(replicas, slot);
    }
}

// ---- acked, or lost

static bool is_same_motion(const ph_shown_estimate* a, const ph_shown_estimate* b)
{
    return memcmp(a, b, offsetof(ph_shown_estimate, is_there) + sizeof a->is_there) == 0;
}

static bool is_same_turn(const ph_shown_estimates* estimates, int slot)
{
    return estimates->turns.sent == NULL ||
           memcmp(&estimates->turns.sent[slot], &estimates->turns.known[slot],
                  sizeof(ph_turn_estimate)) == 0;
}

static bool is_same_smooth(const ph_shown_estimates* estimates, int slot)
{
    const size_t place = smooth_place(estimates, slot);
    return estimates->smooth.parts == 0 ||
           memcmp(&estimates->smooth.sent[place], &estimates->smooth.known[place],
                  smooth_bytes_of(estimates)) == 0;
}

// What an item tells of smooth properties.
static void add_packed_smooth(const ph_replicas* replicas, ph_smooth_estimate* estimates,
                              const ph_flight_item* item, uint32_t tick)
{
    if (estimates != NULL && item->kind != PH_RECORD_LEAVE) {
        (void)ph_smooth_estimates_add(replicas, estimates, item, NULL, tick);
    }
}

void ph_shown_estimates_acked(const ph_replicas* replicas, const ph_flight_item* item,
                              uint32_t tick)
{
    ph_shown_estimates* estimates = replicas->estimates;
    const bool is_last = ph_replicas_at(replicas, item->slot)->in_flight == 1;
    uint8_t* marks = &estimates->marks[item->slot];
    // Mostly it is the newest that was sent of its slot, and whatever came before it is known: then
    // what was expected when it was sent is known now.
    if (is_last && (*marks & ~PH_ESTIMATE_APART) == 0 && item->kind != PH_RECORD_LEAVE) {
        *marks = 0;
        return;
    }
    if ((*marks & PH_ESTIMATE_APART) == 0) {
        return; // no position is in flight, and what is known is what was sent
    }
    ph_shown_estimate* known = &estimates->known[item->slot];
    add_packed(known, replicas, item, tick);
    if (estimates->turns.known != NULL) {
        add_packed_turn(&estimates->turns.known[item->slot], replicas, item, tick);
    }
    add_packed_smooth(replicas, estimates->smooth.known, item, tick);
    if (is_last && (*marks & PH_ESTIMATE_LOST) == 0) {
        const bool is_same = is_same_motion(&estimates->sent[item->slot], known) &&
                             is_same_turn(estimates, item->slot) &&
                             is_same_smooth(estimates, item->slot);
        *marks = PH_ESTIMATE_APART | (is_same ? 0 : PH_ESTIMATE_REVISED);
    }
}

// Adds what is in flight of those that are marked as LOST.
static void add_flight(const ph_replicas* replicas)
{
    ph_shown_estimates* estimates = replicas->estimates;
    const ph_flight* flight = replicas->flight;
    for (int i = 0; i < flight->count; ++i) {
        const ph_flight_packet* packet = &flight->packets[(flight->first + i) % PH_FLIGHT_MAX];
        ph_flight_walk walk = ph_flight_walk_make(flight, packet);
        for (int k = 0; k < packet->item_count; ++k, ph_flight_walk_on(&walk)) {
            const ph_flight_item item = ph_flight_read(flight, walk.place);
            if ((estimates->marks[item.slot] & PH_ESTIMATE_LOST) != 0) {
                add_packed(&estimates->sent[item.slot], replicas, &item, packet->stamp.tick);
                if (estimates->turns.sent != NULL) {
                    add_packed_turn(&estimates->turns.sent[item.slot], replicas, &item,
                                    packet->stamp.tick);
                }
                add_packed_smooth(replicas, estimates->smooth.sent, &item, packet->stamp.tick);
            }
        }
    }
}

void ph_shown_estimates_settle(const ph_replicas* replicas)
{
    ph_shown_estimates* estimates = replicas->estimates;
    if (!estimates->has_lost) {
        return;
    }
    for (int slot = 0; slot < replicas->slot_count; ++slot) {
        const unsigned marks = estimates->marks[slot];
        if ((marks & PH_ESTIMATE_LOST) != 0) {
            if ((marks & PH_ESTIMATE_APART) != 0) {
                take_back(estimates, slot);
            }
            load_heading(replicas, slot);
        }
    }
    add_flight(replicas);
    for (int slot = 0; slot < replicas->slot_count; ++slot) {
        uint8_t* marks = &estimates->marks[slot];
        *marks &= (*marks & PH_ESTIMATE_LOST) != 0 ? PH_ESTIMATE_APART : UINT8_MAX;
    }
    estimates->has_lost = false;
}
