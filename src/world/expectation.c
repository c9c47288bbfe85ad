// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client will show. The numbers are those by which it shows, motion/carry.h. Of the
// motion there, what differs from client to client is learned here from the samples that are sent
// (how long velocities are followed); shares are taken as 1, and newcomers without a velocity as
// standing.

#include "world/expectation.h"

#include "base/allocator.h"
#include "base/inline.h"
#include "wire/baseline.h"
#include "world/errors.h"

#include <string.h>

// Of many slots; the lanes of few lie on the stack of a send.
static size_t scratch_bytes(int slot_count)
{
    return slot_count > PH_STACK_SLOTS ? (size_t)slot_count * PH_ERROR_LANES * sizeof(float) : 0;
}

// What is swept at every send stands in front, in this order:
//
//   | ph_expectation | marks astray | manners | heading | sent | known | ...
//
// Marks and astray, a byte for each slot, fill whole words.
static size_t mark_bytes(int slot_count)
{
    return ((size_t)slot_count * 2 + 7) / 8 * 8;
}
static size_t lead_bytes(int slot_count, int class_count)
{
    return sizeof(ph_expectation) + mark_bytes(slot_count) +
           (size_t)class_count * sizeof(ph_manner) + (size_t)slot_count * sizeof(uint32_t);
}

ph_stretch ph_expectation_swept(const ph_expectation* expectation, int slot_count, int class_count,
                                int slot_end)
{
    if (expectation == NULL) {
        return (ph_stretch){0};
    }
    return (ph_stretch){(const uint8_t*)expectation, lead_bytes(slot_count, class_count) +
                                                         (size_t)slot_end * sizeof(ph_expected)};
}

static void* carve(uint8_t** rest, size_t size)
{
    void* part = *rest;
    *rest += size;
    return part;
}

ph_result ph_expectation_create(const ph_allocator* allocator, int slot_count,
                                const ph_layouts* layouts, bool is_vouched,
                                ph_expectation** expectation)
{
    const size_t slots = (size_t)slot_count;
    const size_t classes = (size_t)layouts->count;
    const size_t size = lead_bytes(slot_count, layouts->count) + 2 * slots * sizeof(ph_expected) +
                        scratch_bytes(slot_count) + classes;
    ph_expectation* made = ph_allocate_zeroed(allocator, size);
    *expectation = made;
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    uint8_t* rest = (uint8_t*)(made + 1);
    made->size_bytes = size;
    made->allocator = *allocator;
    made->is_vouched = is_vouched;
    made->marks = carve(&rest, mark_bytes(slot_count));
    made->astray = made->marks + slots;
    made->manners = carve(&rest, classes * sizeof(ph_manner));
    made->heading = carve(&rest, slots * sizeof(uint32_t));
    made->sent = carve(&rest, slots * sizeof(ph_expected));
    made->known = carve(&rest, slots * sizeof(ph_expected));
    void* scratch = carve(&rest, scratch_bytes(slot_count));
    made->scratch = scratch_bytes(slot_count) > 0 ? scratch : NULL;
    made->headings = carve(&rest, classes);
    for (int i = 0; i < layouts->count; ++i) {
        made->manners[i] = ph_manner_make();
        made->manners[i].is_vouched = is_vouched;
        made->headings[i] = (uint8_t)layouts->layouts[i].heading_property;
    }
    return PH_OK;
}

void ph_expectation_destroy(ph_expectation* expectation)
{
    if (expectation != NULL) {
        const ph_allocator allocator = expectation->allocator;
        ph_release(&allocator, expectation, expectation->size_bytes);
    }
}

// ---- samples

// A new position, and when.
typedef struct sample {
    int32_t position_mm[3];
    uint32_t tick;
    uint16_t jumps;
} sample;

// A short step is mostly rounding: the velocity is then that of the last leg and the step together.
PH_OUT_OF_LINE static void join_step(ph_expected* expected, const float way_mm[3], float step_s)
{
    const float joined_s = expected->leg_s;
    for (int k = 0; k < 3; ++k) {
        const float former = expected->velocity_mm_s[k];
        expected->velocity_mm_s[k] = (way_mm[k] + former * joined_s) / (step_s + joined_s);
    }
    expected->leg_s = step_s + joined_s;
    expected->interval_s = step_s;
}

// Axis by axis, not in a loop: gcc makes vectors of two of it, and what is written to memory in single
// words and fetched in pairs is waited for, for longer than all the rest takes.
static inline void turn_along(ph_expected* expected, int axis, float velocity, float bend)
{
    expected->bend_mm_s[axis] = bend * (velocity - expected->velocity_mm_s[axis]);
    expected->velocity_mm_s[axis] = velocity;
}

static inline void add_step(ph_expected* expected, const float way_mm[3], float step_s)
{
    const float way2 = way_mm[0] * way_mm[0] + way_mm[1] * way_mm[1] + way_mm[2] * way_mm[2];
    const bool stands = way2 <= 0.0f;
    if (step_s < PH_LEG_S && !stands && way2 < PH_LEG_MM * PH_LEG_MM) {
        join_step(expected, way_mm, step_s);
        return;
    }
    const float before_s = expected->leg_s;
    const float bend = before_s > 0.0f && !stands ? ph_carry_bend(step_s, before_s) : 0.0f;
    turn_along(expected, 0, way_mm[0] / step_s, bend);
    turn_along(expected, 1, way_mm[1] / step_s, bend);
    turn_along(expected, 2, way_mm[2] / step_s, bend);
    expected->leg_s = step_s;
    expected->interval_s = step_s;
}

// Whether a sample is the first, or one after a jump: nothing leads to it.
static inline bool is_beginning(const ph_expected* expected, const sample* next)
{
    return !expected->is_there || next->jumps != expected->jumps;
}

// Inline with all that makes a sample, for the same reason.
static inline void add(ph_expected* expected, const sample* next, float tick_s)
{
    if (is_beginning(expected, next)) {
        *expected = (ph_expected){.jumps = next->jumps, .is_there = true};
    } else if (next->tick != expected->tick) {
        const float way_mm[3] = {
            ph_expected_way(expected->position_mm[0], next->position_mm[0]),
            ph_expected_way(expected->position_mm[1], next->position_mm[1]),
            ph_expected_way(expected->position_mm[2], next->position_mm[2]),
        };
        add_step(expected, way_mm, (float)(next->tick - expected->tick) * tick_s);
    }
    expected->position_mm[0] = next->position_mm[0];
    expected->position_mm[1] = next->position_mm[1];
    expected->position_mm[2] = next->position_mm[2];
    expected->tick = next->tick;
}

// The velocity that an enter of the pinhole profile states stands behind its values and its name, in
// steps in a leg.
PH_OUT_OF_LINE static void state_velocity(ph_expected* expected, const ph_world* world,
                                          const ph_layout* layout, const ph_flight_item* enter)
{
    int16_t velocity[3];
    memcpy(velocity, enter->values + enter->value_bytes - sizeof velocity, sizeof velocity);
    const float step_mm = (float)(UINT32_C(1) << layout->coordinate.shift);
    const float leg_s =
        (float)ph_baseline_velocity_ticks(world->def.tick_us) * ph_world_tick_s(world);
    expected->leg_s = leg_s;
    expected->interval_s = leg_s;
    for (int k = 0; k < 3; ++k) {
        expected->velocity_mm_s[k] = (float)velocity[k] * step_mm / leg_s;
    }
}

// The same of the sample that an item tells.
static inline void add_item(ph_expected* expected, const ph_world* world, const ph_sender* sender,
                            const ph_flight_item* item, const sample* next)
{
    const bool is_first = !expected->is_there;
    add(expected, next, ph_world_tick_s(world));
    if (is_first && item->kind == PH_RECORD_ENTER && ph_sender_is_coded(sender)) {
        const int class_index = sender->knowledge.class_index[item->slot];
        state_velocity(expected, world, &world->forms.layouts.layouts[class_index], item);
    }
}

static inline bool has_position(const ph_layout* layout, const ph_flight_item* item)
{
    return item->kind != PH_RECORD_LEAVE && (item->properties & layout->position) != 0;
}

// A position that an item tells, in the middle of its step as it is shown.
static inline sample make_sample(const ph_layout* layout, const ph_flight_item* item, uint32_t tick,
                                 const uint32_t words[3])
{
    const uint32_t centre_mm = (UINT32_C(1) << layout->coordinate.shift) / 2;
    return (sample){
        .position_mm = {(int32_t)(words[0] + centre_mm), (int32_t)(words[1] + centre_mm),
                        (int32_t)words[2]},
        .tick = tick,
        .jumps = item->jumps,
    };
}

// Adds what an item tells that was sent at some tick, if that is a position.
static void add_sent(ph_expected* expected, const ph_world* world, const ph_sender* sender,
                     const ph_flight_item* item, uint32_t tick)
{
    const int class_index = sender->knowledge.class_index[item->slot];
    const ph_layout* layout = &world->forms.layouts.layouts[class_index];
    if (!has_position(layout, item)) {
        return;
    }
    const ph_packing* packing = &world->forms.packings[class_index];
    uint32_t words[3];
    memcpy(words, ph_packing_within(packing, item->properties, layout->position, item->values),
           sizeof words);
    const sample next = make_sample(layout, item, tick, words);
    add_item(expected, world, sender, item, &next);
}

// ---- what is sent, and what becomes of it

PH_OUT_OF_LINE static void note_heading(ph_expectation* expectation, const ph_world* world,
                                        const ph_sender* sender, int slot)
{
    const int class_index = sender->knowledge.class_index[slot];
    const int property = expectation->headings[class_index];
    const int told = sender->knowledge.told[slot];
    const ph_packing* packing = &world->forms.packings[class_index];
    if (property == PH_HEADING_NONE || packing->size[property] == 0 ||
        (told != PH_TOLD_ENTER && told != PH_TOLD_ENTERED)) {
        return;
    }
    ph_packing_load(
        packing, property,
        ph_knowledge_newest(&sender->knowledge, &sender->flight, packing, slot, property),
        &expectation->heading[slot]);
}

// What the client learns from the pauses between samples.
PH_OUT_OF_LINE static void learn(ph_expectation* expectation, const ph_world* world,
                                 int class_index, const ph_expected* sent)
{
    if (sent->is_there && sent->interval_s > 0.0f && world->tick != sent->tick) {
        const float pause_s = (float)(world->tick - sent->tick) * ph_world_tick_s(world);
        ph_manner_learn_pause(&expectation->manners[class_index], pause_s, sent->interval_s);
    }
}

// The position of an item that was added just now.
static inline void note_position(ph_expectation* expectation, const ph_world* world,
                                 const ph_sender* sender, const ph_flight_item* item,
                                 const sample* next)
{
    const int slot = item->slot;
    ph_expected* sent = &expectation->sent[slot];
    unsigned marks = expectation->marks[slot];
    // An enter is the first of its entity, unless others are on their way: nothing is known of it.
    if (item->kind == PH_RECORD_ENTER &&
        ph_knowledge_at(&sender->knowledge, slot)->in_flight == 1) {
        sent->is_there = false;
        marks = 0;
    }
    if ((marks & PH_EXPECTED_APART) == 0) {
        expectation->known[slot] = *sent;
    }
    // Of clients that take silence for motion that goes on, nobody asks for pauses.
    if (!expectation->is_vouched) {
        learn(expectation, world, sender->knowledge.class_index[slot], sent);
    }
    if (is_beginning(sent, next)) {
        marks = 0;
    } else if (next->tick == sent->tick) {
        marks |= PH_EXPECTED_REVISED;
    }
    add_item(sent, world, sender, item, next);
    expectation->marks[slot] = (uint8_t)(marks | PH_EXPECTED_APART);
}

void ph_expectation_note_sent(ph_expectation* expectation, const ph_world* world,
                              const ph_sender* sender, const ph_flight_item* item,
                              const ph_record* record)
{
    const ph_layout* layout = &world->forms.layouts.layouts[record->class_index];
    if (has_position(layout, item)) {
        const sample next =
            make_sample(layout, item, world->tick, record->words + layout->position_word);
        note_position(expectation, world, sender, item, &next);
    }
    if (item->kind == PH_RECORD_ENTER || (item->properties & layout->heading) != 0) {
        note_heading(expectation, world, sender, item->slot);
    }
}

static bool is_same_motion(const ph_expected* a, const ph_expected* b)
{
    return memcmp(a, b, offsetof(ph_expected, is_there) + sizeof a->is_there) == 0;
}

void ph_expectation_take(const ph_world* world, const ph_sender* sender, uint32_t place,
                         uint32_t tick)
{
    ph_expectation* expectation = sender->expectation;
    const ph_flight_item item = ph_flight_read(&sender->flight, place);
    uint8_t* marks = &expectation->marks[item.slot];
    if ((*marks & PH_EXPECTED_APART) == 0) {
        return; // no position is on its way, and what is known is what was sent
    }
    ph_expected* known = &expectation->known[item.slot];
    add_sent(known, world, sender, &item, tick);
    if (ph_knowledge_at(&sender->knowledge, item.slot)->in_flight == 1 &&
        (*marks & PH_EXPECTED_DOUBTFUL) == 0) {
        const bool is_same = is_same_motion(&expectation->sent[item.slot], known);
        *marks = PH_EXPECTED_APART | (is_same ? 0 : PH_EXPECTED_REVISED);
    }
}

// What was sent of those who are doubtful, from what is known on.
static void send_again(ph_expectation* expectation, const ph_world* world, const ph_sender* sender)
{
    const ph_flight* flight = &sender->flight;
    for (int i = 0; i < flight->count; ++i) {
        const ph_flight_packet* packet = &flight->packets[(flight->first + i) % PH_FLIGHT_MAX];
        ph_flight_walk walk = ph_flight_walk_make(flight, packet);
        for (int k = 0; k < packet->item_count; ++k, ph_flight_walk_on(&walk)) {
            const ph_flight_item item = ph_flight_read(flight, walk.place);
            if ((expectation->marks[item.slot] & PH_EXPECTED_DOUBTFUL) != 0) {
                add_sent(&expectation->sent[item.slot], world, sender, &item, packet->stamp.tick);
            }
        }
    }
}

void ph_expectation_mend(ph_expectation* expectation, const ph_world* world,
                         const ph_sender* sender)
{
    if (!expectation->has_doubt) {
        return;
    }
    const int slot_count = sender->knowledge.slot_count;
    for (int slot = 0; slot < slot_count; ++slot) {
        const unsigned marks = expectation->marks[slot];
        if ((marks & PH_EXPECTED_DOUBTFUL) != 0) {
            if ((marks & PH_EXPECTED_APART) != 0) {
                expectation->sent[slot] = expectation->known[slot];
            }
            note_heading(expectation, world, sender, slot);
        }
    }
    send_again(expectation, world, sender);
    for (int slot = 0; slot < slot_count; ++slot) {
        uint8_t* marks = &expectation->marks[slot];
        *marks &= (*marks & PH_EXPECTED_DOUBTFUL) != 0 ? PH_EXPECTED_APART : UINT8_MAX;
    }
    expectation->has_doubt = false;
}
