// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The life of one slot: its entity comes into view, records of it are sent, each is acked or lost, the
// entity leaves. Runs for what enters and leaves a view, for every record sent and for every record
// acked or lost; a few dozen instructions each, nothing allocates.

#include "replication/replica.h"

#include "base/bitset.h"
#include "base/compiler.h"
#include "replication/shown_estimate.h"

#include <string.h>

// ---- memory

// One array of 8 bytes, five of 4, five of 1.
#define SWEPT_BYTES_PER_SLOT ((size_t)(8 + 5 * 4 + 5 * 1))
#define BASELINE_BYTES_PER_SLOT sizeof(ph_baseline)

static size_t rounded_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

// Whole cache lines: most visits then touch but the first.
static size_t record_stride(const ph_replicas_def* def)
{
    return rounded_up(sizeof(ph_replica) + def->known_stride, PH_CACHE_LINE);
}

size_t ph_replicas_bytes(const ph_replicas_def* def)
{
    const size_t per_slot =
        SWEPT_BYTES_PER_SLOT + record_stride(def) + (def->is_pinhole ? BASELINE_BYTES_PER_SLOT : 0);
    return PH_CACHE_LINE + rounded_up((size_t)def->slot_count * per_slot, 8);
}

static void* carve_slots(uint8_t** rest, int slot_count, size_t element_size)
{
    void* part = *rest;
    *rest += (size_t)slot_count * element_size;
    return part;
}

// Widest first, from the first whole cache line on: everything is aligned whatever the count.
void ph_replicas_init(ph_replicas* replicas, const ph_replicas_def* def, void* block)
{
    const int count = def->slot_count;
    uint8_t* rest = (uint8_t*)block + (0 - (uintptr_t)block) % PH_CACHE_LINE;
    *replicas = (ph_replicas){
        .slot_count = count,
        .record_stride = record_stride(def),
        .rules = def->rules,
        .flight = def->flight,
        .scheduler = def->scheduler,
    };
    replicas->records = carve_slots(&rest, count, replicas->record_stride);
    replicas->dirty = carve_slots(&rest, count, sizeof(uint64_t));
    replicas->score = carve_slots(&rest, count, sizeof(float));
    replicas->weight = carve_slots(&rest, count, sizeof(float));
    replicas->wake_mm2 = carve_slots(&rest, count, sizeof(float));
    replicas->mileage_mm = carve_slots(&rest, count, sizeof(uint32_t));
    replicas->waiting_ms = carve_slots(&rest, count, sizeof(uint32_t));
    if (def->is_pinhole) {
        replicas->baselines.slots = carve_slots(&rest, count, sizeof(ph_baseline));
    }
    replicas->state = carve_slots(&rest, count, 1);
    replicas->class_index = carve_slots(&rest, count, 1);
    replicas->points = carve_slots(&rest, count, 1);
    replicas->overshoots = carve_slots(&rest, count, 1);
    replicas->rounded = carve_slots(&rest, count, 1);
    for (int slot = 0; slot < count; ++slot) {
        ph_replicas_at(replicas, slot)->association = 1;
        replicas->weight[slot] = 1.0f;
    }
}

ph_replica* ph_replicas_at(const ph_replicas* replicas, int slot)
{
    return (ph_replica*)(void*)(replicas->records + (size_t)slot * replicas->record_stride);
}

void ph_replicas_expect(const ph_replicas* replicas, int slot)
{
    PH_PREFETCH(ph_replicas_at(replicas, slot));
    if (replicas->baselines.slots != NULL) {
        const ph_baseline* baseline = &replicas->baselines.slots[slot];
        PH_PREFETCH(baseline);
        PH_PREFETCH(&baseline->turned_size);
    }
    if (replicas->estimates != NULL) {
        const ph_shown_estimate* known = &replicas->estimates->known[slot];
        PH_PREFETCH(known);
        PH_PREFETCH(&known->is_there);
    }
}

// ---- what vision says

void ph_replicas_enter(ph_replicas* replicas, int slot, int class_index, uint64_t all)
{
    ph_replica* replica = ph_replicas_at(replicas, slot);
    PH_ASSERT(replicas->state[slot] == PH_REPLICA_ABSENT && replica->in_flight == 0);

    replicas->dirty[slot] = all;
    replicas->rounded[slot] = 0;
    replica->out_of_range = 0;
    replica->lost = 0;
    replicas->score[slot] = 0.0f;
    replicas->weight[slot] = 1.0f;
    replicas->wake_mm2[slot] = 0.0f;
    replicas->mileage_mm[slot] = 0;
    replica->stir = 0;
    replicas->waiting_ms[slot] = 0;
    replicas->class_index[slot] = (uint8_t)class_index;
    replicas->points[slot] = 0;
    ++replicas->newcomer_count;
}

void ph_replicas_leave(ph_replicas* replicas, int slot)
{
    ph_replica* replica = ph_replicas_at(replicas, slot);
    PH_ASSERT(!ph_replicas_is_leaving(replicas, slot));

    const bool was_entered = replicas->state[slot] == PH_REPLICA_ENTERED;
    replicas->newcomer_count -= replicas->state[slot] == PH_REPLICA_ABSENT;
    replicas->state[slot] = was_entered ? PH_REPLICA_LEAVING : PH_REPLICA_LEAVING_UNSURE;
    replicas->dirty[slot] = 1;
    replicas->rounded[slot] = 0;
    replica->out_of_range = 0;
    replica->lost = 0;
    replicas->waiting_ms[slot] = 0;
    ++replicas->leaving_count;
    if (was_entered) {
        replicas->are_references_stale = true;
    }
}

bool ph_replicas_is_leaving(const ph_replicas* replicas, int slot)
{
    return replicas->state[slot] >= PH_REPLICA_LEAVING_UNSURE;
}

bool ph_replicas_is_gone(const ph_replicas* replicas, int slot)
{
    return replicas->state[slot] == PH_REPLICA_LEAVING_UNSURE &&
           ph_replicas_at(replicas, slot)->in_flight == 0;
}

// Where the client had the entity, the next association gets the next number.
void ph_replicas_free(ph_replicas* replicas, int slot)
{
    ph_replica* replica = ph_replicas_at(replicas, slot);
    PH_ASSERT(replica->in_flight == 0);
    PH_ASSERT(replicas->state[slot] == PH_REPLICA_LEFT || ph_replicas_is_gone(replicas, slot));

    replica->association += replicas->state[slot] == PH_REPLICA_LEFT;
    replicas->state[slot] = PH_REPLICA_ABSENT;
    replicas->dirty[slot] = 0;
    replicas->rounded[slot] = 0;
    replica->lost = 0;
    --replicas->leaving_count;
}

// ---- sent

void ph_replicas_sent(ph_replicas* replicas, const ph_flight_item* item, uint16_t place,
                      const uint32_t* words)
{
    const int slot = item->slot;
    ph_replica* replica = ph_replicas_at(replicas, slot);
    if (replica->in_flight == 0 || replica->newest_item != place) {
        ++replica->in_flight;
    }
    replica->newest_item = place;
    PH_ASSERT(replica->in_flight <= PH_IN_FLIGHT_MAX);
    if (item->kind == PH_RECORD_LEAVE) {
        replicas->dirty[slot] = 0;
        replica->lost = 0;
        return;
    }
    PH_ASSERT(item->kind == PH_RECORD_ENTER || replicas->state[slot] != PH_REPLICA_ABSENT);
    if (item->kind == PH_RECORD_ENTER && replicas->state[slot] == PH_REPLICA_ABSENT) {
        replicas->state[slot] = PH_REPLICA_ENTERING;
        --replicas->newcomer_count;
    }
    const uint64_t sent = item->kind == PH_RECORD_ENTER ? UINT64_MAX : item->properties;
    replicas->dirty[slot] &= ~sent;
    replica->lost &= ~sent;
    // A reference that the client will have may have to be taken back later.
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[slot]];
    for (uint64_t left = item->properties & layout->references; left != 0; left &= left - 1) {
        if (words[layout->word[ph_word_lowest_bit(left)]] != 0) {
            replicas->points[slot] = 1;
        }
    }
    if (replicas->estimates != NULL) {
        ph_shown_estimates_sent(replicas, item, words);
    }
}

_Static_assert(PH_ENTER_EXTRA_BYTES == sizeof(uint64_t) + 3 * sizeof(int16_t),
               "a key and a velocity");

void ph_enter_extra_store(const ph_flight_item* item, const ph_packing* packing,
                          const ph_record* enter)
{
    uint8_t* extra = item->values + item->value_bytes - PH_ENTER_EXTRA_BYTES;
    memcpy(extra, &enter->key, sizeof enter->key);
    memcpy(extra + sizeof enter->key, enter->velocity, sizeof enter->velocity);
    if (packing->turning != 0) {
        memcpy(extra - PH_ENTER_SPIN_BYTES, enter->spin, sizeof enter->spin);
    }
}

// ---- acked

static void enter_baseline(ph_replicas* replicas, const ph_flight_item* item, uint32_t tick)
{
    ph_baselines* baselines = &replicas->baselines;
    const int class_index = replicas->class_index[item->slot];
    const uint64_t position = replicas->rules.layouts->layouts[class_index].position;
    const ph_packing* packing = &replicas->rules.packings[class_index];
    ph_record enter = {.class_index = (uint8_t)class_index};
    const uint8_t* extra = item->values + item->value_bytes - PH_ENTER_EXTRA_BYTES;
    memcpy(&enter.key, extra, sizeof enter.key);
    memcpy(enter.velocity, extra + sizeof enter.key, sizeof enter.velocity);
    baselines->key_base = enter.key > baselines->key_base ? enter.key : baselines->key_base;
    baselines->entered_end =
        item->slot < baselines->entered_end ? baselines->entered_end : item->slot + 1;
    ph_baseline_enter(&baselines->slots[item->slot], &replicas->rules, &enter,
                      ph_packing_within(packing, item->properties, position, item->values), tick);
}

_Static_assert(PH_ENTER_SPIN_BYTES == 3 * sizeof(int16_t), "a spin");

// Behind the values, which are known already.
static void enter_turning(ph_replicas* replicas, const ph_flight_item* item, uint8_t* known,
                          uint32_t tick)
{
    int16_t spin[3];
    memcpy(spin, item->values + item->value_bytes - PH_ENTER_EXTRA_BYTES - PH_ENTER_SPIN_BYTES,
           sizeof spin);
    ph_turning_enter(known, &replicas->rules, replicas->class_index[item->slot], spin, tick);
}

static void move_turning(ph_replicas* replicas, const ph_flight_item* item, const ph_layout* layout,
                         uint32_t tick)
{
    const int class_index = replicas->baselines.slots[item->slot].class_index;
    const ph_packing* packing = &replicas->rules.packings[class_index];
    uint32_t words[2];
    ph_packing_load(packing, layout->orientation_property,
                    ph_packing_within(packing, item->properties, layout->orientation, item->values),
                    words);
    ph_turning_take(ph_replicas_at(replicas, item->slot)->known, &replicas->rules, class_index,
                    words, item->is_jump, tick);
}

// position: the packed one that the item tells, or NULL.
static void turn_baseline(ph_replicas* replicas, const ph_flight_item* item,
                          const uint8_t* position, uint32_t tick)
{
    ph_baseline* baseline = &replicas->baselines.slots[item->slot];
    const ph_layout* layout = &replicas->rules.layouts->layouts[baseline->class_index];
    const ph_packing* packing = &replicas->rules.packings[baseline->class_index];
    const int property = layout->heading_property;
    if (packing->size[property] == 0) {
        return; // sent once
    }
    const uint8_t* known = ph_replicas_at(replicas, item->slot)->known;
    ph_turning turn = {.position = item->is_jump ? NULL : position};
    ph_packing_load(packing, property, known + packing->offset[property], &turn.known_level);
    ph_packing_load(packing, property,
                    ph_packing_within(packing, item->properties, layout->heading, item->values),
                    &turn.level);
    ph_baseline_turn(baseline, &replicas->rules, &turn, tick);
}

// Also of an entity that is leaving: the client does not know of that yet. Before the known values,
// which it compares with.
static void move_baseline(ph_replicas* replicas, const ph_flight_item* item, uint32_t tick)
{
    ph_baseline* baseline = &replicas->baselines.slots[item->slot];
    if (item->kind == PH_RECORD_LEAVE) {
        *baseline = (ph_baseline){0};
        return;
    }
    if (item->kind == PH_RECORD_ENTER) {
        enter_baseline(replicas, item, tick);
        return;
    }
    if (item->properties == 0 || !baseline->is_entered) {
        return; // without properties it was withdrawn and says nothing
    }
    const ph_layout* layout = &replicas->rules.layouts->layouts[baseline->class_index];
    const ph_packing* packing = &replicas->rules.packings[baseline->class_index];
    const uint8_t* position =
        (item->properties & layout->position) != 0
            ? ph_packing_within(packing, item->properties, layout->position, item->values)
            : NULL;
    if ((item->properties & layout->heading) != 0) {
        turn_baseline(replicas, item, position, tick);
    }
    if ((item->properties & layout->orientation) != 0) {
        move_turning(replicas, item, layout, tick);
    }
    baseline->told_mask = ph_baseline_told(layout, item->properties, item->is_jump);
    if (position != NULL && item->is_jump) {
        ph_baseline_jump(baseline, position, tick);
    } else if (position != NULL) {
        ph_baseline_step(baseline, &replicas->rules, position, tick);
    }
}

static bool is_jump_in_flight(const ph_replicas* replicas, int slot)
{
    const ph_replica* replica = ph_replicas_at(replicas, slot);
    bool is_jump = false;
    uint32_t place = replica->newest_item;
    for (int i = 0; i < replica->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(replicas->flight, place);
        is_jump = is_jump || item.is_jump;
        place = item.older;
    }
    return is_jump;
}

bool ph_replicas_acked(ph_replicas* replicas, const ph_flight_item* item, uint32_t tick)
{
    const int slot = item->slot;
    ph_replica* replica = ph_replicas_at(replicas, slot);
    if (replicas->estimates != NULL) {
        ph_shown_estimates_acked(replicas, item, tick);
    }
    if (replicas->baselines.slots != NULL) {
        move_baseline(replicas, item, tick);
    }
    --replica->in_flight;
    if (item->kind == PH_RECORD_LEAVE) {
        replicas->state[slot] = PH_REPLICA_LEFT;
        return replica->in_flight == 0;
    }
    // Also of an entity that is leaving: the client has a baseline of it until then.
    const ph_packing* packing = &replicas->rules.packings[replicas->class_index[slot]];
    if (item->kind == PH_RECORD_ENTER) {
        memcpy(replica->known, packing->initial, packing->stride);
    }
    ph_packing_spread(packing, item->properties, item->values, replica->known);
    if (item->kind == PH_RECORD_ENTER && packing->turning != 0 &&
        replicas->baselines.slots != NULL) {
        enter_turning(replicas, item, replica->known, tick);
    }
    if (ph_replicas_is_leaving(replicas, slot)) {
        replicas->state[slot] = PH_REPLICA_LEAVING;
        return false;
    }
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[slot]];
    if ((item->properties & layout->position) != 0) {
        replica->jumps = item->jumps;
    }
    if (replicas->rounded[slot] == PH_ROUNDED_JUMP && !is_jump_in_flight(replicas, slot)) {
        replicas->rounded[slot] = PH_ROUNDED;
    }
    if (replicas->state[slot] == PH_REPLICA_ENTERING) {
        replicas->state[slot] = PH_REPLICA_ENTERED;
        replicas->are_references_stale = true;
    }
    return false;
}

// ---- lost

// What the slot's items in flight tell; a newer enter tells everything.
static uint64_t sent_by_newer(const ph_replicas* replicas, int slot)
{
    const ph_replica* replica = ph_replicas_at(replicas, slot);
    uint64_t properties = 0;
    uint32_t place = replica->newest_item;
    for (int i = 0; i < replica->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(replicas->flight, place);
        properties |= item.kind == PH_RECORD_ENTER ? UINT64_MAX : item.properties;
        place = item.older;
    }
    return properties;
}

// The path up to a lost position is part of the path up to the next one; without a next one it is
// still to be sent.
static void give_back_mileage(ph_replicas* replicas, uint64_t position, const ph_flight_item* lost)
{
    const int slot = lost->slot;
    const ph_replica* replica = ph_replicas_at(replicas, slot);
    int next = -1;
    uint32_t place = replica->newest_item;
    for (int i = 0; i < replica->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(replicas->flight, place);
        next = (item.properties & position) != 0 ? (int)place : next;
        place = item.older;
    }
    if (next >= 0) {
        ph_flight_add_mileage(replicas->flight, (uint16_t)next, lost->mileage_mm);
    } else {
        replicas->mileage_mm[slot] -= lost->mileage_mm;
    }
}

static bool lost_while_leaving(ph_replicas* replicas, const ph_flight_item* item)
{
    const int slot = item->slot;
    ph_replica* replica = ph_replicas_at(replicas, slot);
    if (replicas->state[slot] == PH_REPLICA_LEFT) {
        return replica->in_flight == 0;
    }
    if (item->kind == PH_RECORD_LEAVE && replica->in_flight == 0) {
        replicas->dirty[slot] = 1;
        replica->lost = UINT64_MAX;
    }
    return ph_replicas_is_gone(replicas, slot);
}

bool ph_replicas_lost(ph_replicas* replicas, const ph_flight_item* item)
{
    const int slot = item->slot;
    ph_replica* replica = ph_replicas_at(replicas, slot);
    if (replicas->estimates != NULL) {
        replicas->estimates->marks[slot] |= PH_ESTIMATE_LOST;
        replicas->estimates->has_lost = true;
    }
    --replica->in_flight;
    if (ph_replicas_is_leaving(replicas, slot)) {
        return lost_while_leaving(replicas, item);
    }
    const ph_layout* layout = &replicas->rules.layouts->layouts[replicas->class_index[slot]];
    const uint64_t newer = sent_by_newer(replicas, slot);
    const uint64_t said =
        item->kind == PH_RECORD_ENTER ? layout->all & ~layout->once : item->properties;
    replicas->dirty[slot] |= said & ~newer;
    replica->lost |= item->properties & ~newer;
    if ((item->properties & layout->position) != 0) {
        give_back_mileage(replicas, layout->position, item);
    }
    if (replicas->state[slot] == PH_REPLICA_ENTERING && replica->in_flight == 0) {
        // Everything is to be sent again, also by a class of which everything is sent once.
        replicas->state[slot] = PH_REPLICA_ABSENT;
        replicas->dirty[slot] = layout->all;
        replicas->rounded[slot] = 0;
        replica->lost = layout->all;
        ++replicas->newcomer_count;
    }
    // A withdrawn one counts for nothing: the other of its packet and slot tells everything.
    if (item->kind == PH_RECORD_ENTER || item->properties != 0) {
        float* score = &replicas->score[slot];
        *score = replicas->scheduler->lost(replicas->scheduler->context, *score, item->score);
    }
    return false;
}

// ---- looking

const uint8_t* ph_replicas_newest(const ph_replicas* replicas, int slot, int property)
{
    const ph_replica* replica = ph_replicas_at(replicas, slot);
    const ph_packing* packing = &replicas->rules.packings[replicas->class_index[slot]];
    PH_ASSERT(packing->size[property] > 0);

    const uint64_t bit = UINT64_C(1) << property;
    uint32_t place = replica->newest_item;
    for (int i = 0; i < replica->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(replicas->flight, place);
        if ((item.properties & bit) != 0) {
            return ph_packing_within(packing, item.properties, bit, item.values);
        }
        if (item.kind == PH_RECORD_ENTER) {
            return packing->initial + packing->offset[property];
        }
        place = item.older;
    }
    return replica->known + packing->offset[property];
}

bool ph_replicas_has_jumped(const ph_replicas* replicas, int slot, uint16_t jumps)
{
    const ph_replica* replica = ph_replicas_at(replicas, slot);
    uint32_t place = replica->newest_item;
    for (int i = 0; i < replica->in_flight; ++i) {
        const ph_flight_item item = ph_flight_read(replicas->flight, place);
        if (item.kind != PH_RECORD_ENTER) {
            return false; // of the entity that was here before
        }
        if (item.jumps != jumps) {
            return true;
        }
        place = item.older;
    }
    return false;
}

// ---- soundness

static bool is_list_sound(const ph_replicas* replicas, int slot)
{
    const ph_replica* replica = ph_replicas_at(replicas, slot);
    uint32_t place = replica->newest_item;
    bool may_leave = ph_replicas_is_leaving(replicas, slot) && replicas->dirty[slot] == 0;
    for (int i = 0; i < replica->in_flight; ++i) {
        if (place >= replicas->flight->capacity) {
            return false;
        }
        const ph_flight_item item = ph_flight_read(replicas->flight, place);
        if (item.slot != slot || (item.kind == PH_RECORD_LEAVE && !may_leave)) {
            return false;
        }
        may_leave = may_leave && item.kind == PH_RECORD_LEAVE; // nothing follows a leave but others
        place = item.older;
    }
    return true;
}

// Entered by the baseline is what the client is known to have, also when it is leaving.
static bool is_baseline_sound(const ph_replicas* replicas, int slot)
{
    const ph_baseline* baseline = &replicas->baselines.slots[slot];
    const int state = replicas->state[slot];
    const bool is_known = state == PH_REPLICA_ENTERED || state == PH_REPLICA_LEAVING;
    return baseline->is_entered == is_known &&
           (!is_known || (baseline->class_index == replicas->class_index[slot] &&
                          slot < replicas->baselines.entered_end));
}

static bool is_replica_sound(const ph_replicas* replicas, int slot)
{
    const ph_replica* replica = ph_replicas_at(replicas, slot);
    const int state = replicas->state[slot];
    const bool is_there = state == PH_REPLICA_ENTERING || state == PH_REPLICA_ENTERED;
    return state <= PH_REPLICA_LEFT && replica->association != 0 &&
           replica->in_flight <= PH_IN_FLIGHT_MAX &&
           (state != PH_REPLICA_ABSENT || replica->in_flight == 0) &&
           (state != PH_REPLICA_ENTERING || replica->in_flight != 0) &&
           (is_there || replicas->rounded[slot] == 0) && is_list_sound(replicas, slot) &&
           (replicas->baselines.slots == NULL || is_baseline_sound(replicas, slot));
}

bool ph_replicas_validate(const ph_replicas* replicas)
{
    const ph_flight* flight = replicas->flight;
    int leaving_count = 0;
    int item_count = 0;
    for (int slot = 0; slot < replicas->slot_count; ++slot) {
        if (!is_replica_sound(replicas, slot)) {
            return false;
        }
        leaving_count += ph_replicas_is_leaving(replicas, slot);
        item_count += ph_replicas_at(replicas, slot)->in_flight;
    }
    for (int i = 0; i < flight->count; ++i) {
        item_count -= flight->packets[(flight->first + i) % PH_FLIGHT_MAX].item_count;
    }
    return leaving_count == replicas->leaving_count && item_count == 0;
}
