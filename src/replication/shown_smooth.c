// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per record with a smooth property, and once per send and slot whose class has one.

#include "replication/shown_smooth.h"

#include "base/bitset.h"
#include "base/math.h"
#include "replication/diff.h"
#include "replication/sender.h"
#include "replication/shown_estimate.h"

#include <math.h>
#include <string.h>

size_t ph_smooth_estimates_bytes(const ph_layouts* layouts, int slot_count)
{
    const size_t parts = (size_t)layouts->smooth_parts_max;
    return parts > 0 ? (size_t)slot_count *
                           (2 * parts * sizeof(ph_smooth_estimate) + 2 * sizeof(uint64_t))
                     : 0;
}

static ph_smooth_estimate* parts_of(const ph_smooth_estimates* smooth, ph_smooth_estimate* all,
                                    int slot)
{
    return all + (size_t)slot * (size_t)smooth->parts;
}

void ph_smooth_estimates_begin(const ph_smooth_estimates* smooth, int slot)
{
    const size_t size = (size_t)smooth->parts * sizeof(ph_smooth_estimate);
    memset(parts_of(smooth, smooth->sent, slot), 0, size);
    memset(parts_of(smooth, smooth->known, slot), 0, size);
    smooth->held[slot] = 0;
    smooth->wrong[slot] = 0;
}

// ---- what was sent

// As its client counts them.
static float seconds_between(uint32_t tick, uint32_t before, uint32_t tick_us)
{
    return ph_motion_seconds((int64_t)(int32_t)(tick - before) * (int64_t)tick_us);
}

// All parts of one property.
static void add_smooth_value(ph_smooth_estimate* parts, const ph_property* described,
                             const uint32_t* words, uint32_t tick, uint32_t tick_us)
{
    const float seconds = seconds_between(tick, parts->tick, tick_us);
    if (ph_smooth_is_rotation(described)) {
        float rotation[4];
        ph_smooth_rotation(described, words, rotation);
        ph_turn_motion_add(&parts->turn, rotation, seconds, false);
        parts->tick = tick;
        return;
    }
    for (int i = 0; i < ph_smooth_parts(described); ++i) {
        const ph_number_scale scale = ph_smooth_scale(described, i);
        const double number = ph_smooth_number(described, words, i);
        (void)ph_number_motion_add(&parts[i].number, &scale, number, seconds);
        parts[i].tick = tick;
    }
}

// What an enter does not say is initial; NULL: an update says nothing of it.
static const uint32_t* told_words(const ph_replicas* replicas, const ph_flight_item* item,
                                  const uint32_t* words, int property,
                                  uint32_t unpacked[PH_VALUE_WORDS_MAX])
{
    const int class_index = replicas->class_index[item->slot];
    const ph_layout* layout = &replicas->rules.layouts->layouts[class_index];
    const uint64_t bit = UINT64_C(1) << property;
    if ((item->properties & bit) == 0) {
        return item->kind == PH_RECORD_ENTER ? layout->described->properties[property].initial
                                             : NULL;
    }
    if (words != NULL) {
        return words + layout->word[property];
    }
    const ph_packing* packing = &replicas->rules.packings[class_index];
    ph_packing_load(packing, property,
                    ph_packing_within(packing, item->properties, bit, item->values), unpacked);
    return unpacked;
}

bool ph_smooth_estimates_add(const ph_replicas* replicas, ph_smooth_estimate* estimates,
                             const ph_flight_item* item, const uint32_t* words, uint32_t tick)
{
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[item->slot]];
    const uint32_t tick_us = replicas->rules.tick_us;
    ph_smooth_estimate* part = parts_of(&replicas->estimates->smooth, estimates, item->slot);
    bool is_revised = false;
    for (uint64_t left = layout->smooth; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const ph_property* described = &layout->described->properties[property];
        uint32_t unpacked[PH_VALUE_WORDS_MAX];
        const uint32_t* told = told_words(replicas, item, words, property, unpacked);
        if (told != NULL) {
            is_revised |= part->tick == tick;
            add_smooth_value(part, described, told, tick, tick_us);
        }
        part += ph_smooth_parts(described);
    }
    return is_revised;
}

// ---- whether it is shown right

// Soon the client does not follow it any longer: it is told once more, in time.
#define RENEW_S 1.0f
// What turns may be off by so many steps: its two samples are rounded, each in three components.
#define SPIN_STEPS 2.5f

// What a property is, and how old what the client knows of it is.
typedef struct smooth_truth {
    const ph_property* described;
    const uint32_t* words;
    float age_s;
    bool is_settled;
} smooth_truth;

// It stands, but the client does not know: it goes on beyond rounding, held up by nothing but the end of its range.
static bool is_held_up(const ph_number_motion* motion, const smooth_truth* truth, double off)
{
    return truth->is_settled && off > 0.0 &&
           fabs(motion->rate) * (double)truth->age_s > PH_NUMBER_ROUNDING;
}

// What the client extrapolates may be a rounding off the line, what it does not by less than a step. What is not
// significant is right.
static bool is_number_right(const ph_number_motion* motion, const smooth_truth* truth, int part)
{
    const ph_number_scale scale = ph_smooth_scale(truth->described, part);
    const double shown = ph_number_motion_at(motion, &scale, truth->age_s, PH_VOUCHED_LIMIT_S);
    const double number = ph_smooth_number(truth->described, truth->words, part);
    const double off = fabs(ph_number_difference(&scale, shown, number));
    if (!ph_number_motion_goes(motion)) {
        return off < (double)truth->described->significant_steps;
    }
    return (off < (double)truth->described->significant_steps || off <= PH_NUMBER_ROUNDING) &&
           truth->age_s <= PH_VOUCHED_LIMIT_S - RENEW_S && !is_held_up(motion, truth, off);
}

static bool is_spinning(const ph_turn_motion* motion)
{
    return motion->has_spin &&
           (motion->spin[0] != 0.0f || motion->spin[1] != 0.0f || motion->spin[2] != 0.0f);
}

static bool is_rotation_right(const ph_turn_motion* motion, const smooth_truth* truth)
{
    float shown[4];
    float rotation[4];
    ph_turn_motion_at(motion, truth->age_s, PH_VOUCHED_LIMIT_S, shown);
    ph_smooth_rotation(truth->described, truth->words, rotation);
    const bool goes = is_spinning(motion);
    const float steps = ph_turn_angle(shown, rotation) / ph_smooth_rotation_step(truth->described);
    return steps < (goes ? SPIN_STEPS : 1.0f) &&
           !(goes && truth->age_s > PH_VOUCHED_LIMIT_S - RENEW_S);
}

static bool is_right(const ph_smooth_estimate* parts, const smooth_truth* truth)
{
    if (ph_smooth_is_rotation(truth->described)) {
        return is_rotation_right(&parts->turn, truth);
    }
    for (int i = 0; i < ph_smooth_parts(truth->described); ++i) {
        if (!is_number_right(&parts[i].number, truth, i)) {
            return false;
        }
    }
    return true;
}

// ---- masks

static void judge_property(const ph_send_context* context, const ph_place* at, int property,
                           const ph_smooth_estimate* parts, ph_smooth_masks* masks)
{
    const ph_store* store = context->store;
    const ph_table* table = &store->tables[at->class_index];
    const uint32_t row = store->entities.whereabouts[at->entity].row;
    const uint64_t bit = UINT64_C(1) << property;
    const uint64_t differs = (masks->dirty | masks->held) & bit;
    masks->held &= ~bit;
    masks->wrong &= ~bit;
    // Far away it is put aside by others, until the viewer comes nearer.
    if (ph_diff_is_out_of_range(context, at, property)) {
        masks->dirty |= differs;
        return;
    }
    const smooth_truth truth = {
        .described = &at->layout->described->properties[property],
        .words = ph_table_value(table, property, row),
        .age_s = seconds_between(store->tick, parts->tick, store->tick_us),
        .is_settled = ph_diff_is_settled(context, at, ph_table_changed(table, property, row)),
    };
    if (!is_right(parts, &truth)) {
        masks->dirty |= bit;
        masks->wrong |= bit;
    } else if (differs != 0 && truth.is_settled) {
        masks->dirty |= bit;
    } else {
        masks->dirty &= ~bit;
        masks->held |= differs;
    }
}

ph_smooth_masks ph_smooth_judge(const ph_send_context* context, int slot, uint64_t dirty)
{
    const ph_replicas* replicas = &context->sender->replicas;
    const ph_smooth_estimates* smooth = &replicas->estimates->smooth;
    ph_smooth_masks masks = {dirty, smooth->held[slot], smooth->wrong[slot]};
    ph_place at;
    ph_send_context_place(context, slot, &at);
    if (at.layout->smooth == 0 || replicas->state[slot] != PH_REPLICA_ENTERED ||
        !ph_send_context_is_there(context, slot)) {
        return masks;
    }
    const uint64_t asked = ph_sender_mask(context->sender, context->store->class_count, slot);
    const ph_smooth_estimate* part = parts_of(smooth, smooth->sent, slot);
    for (uint64_t left = at.layout->smooth; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        if ((asked >> property & 1) != 0) {
            judge_property(context, &at, property, part, &masks);
        }
        part += ph_smooth_parts(&at.layout->described->properties[property]);
    }
    return masks;
}

void ph_smooth_judge_all(const ph_send_context* context)
{
    const ph_replicas* replicas = &context->sender->replicas;
    if (replicas->estimates == NULL || replicas->estimates->smooth.parts == 0) {
        return;
    }
    for (int i = 0; i < context->shown.count; ++i) {
        const int slot = context->shown.slots[i];
        const ph_smooth_masks masks = ph_smooth_judge(context, slot, replicas->dirty[slot]);
        replicas->dirty[slot] = masks.dirty;
        replicas->estimates->smooth.held[slot] = masks.held;
        replicas->estimates->smooth.wrong[slot] = masks.wrong;
    }
}
