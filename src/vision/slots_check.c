// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether slots are sound. For tests and assertions.

#include "base/hash.h"
#include "vision/slots.h"

// Whether what the arrays say of one slot agrees.
static bool is_vision_slot_sound(const ph_slots* slots, int slot)
{
    const ph_entity_index entity = slots->entities[slot];
    if (slots->states[slot] != PH_SLOT_SHOWN) {
        return slots->states[slot] <= PH_SLOT_RESTING && entity == PH_ENTITY_NONE;
    }
    return entity != PH_ENTITY_NONE && slots->spawn_orders[slot] != UINT64_MAX &&
           ph_slot_table_find(&slots->table, entity) == slot;
}

// Slot 0 is in no count.
static bool are_counts_sound(const ph_slots* slots)
{
    int by_state[3] = {0};
    for (int slot = 1; slot < slots->slot_count; ++slot) {
        ++by_state[slots->states[slot]];
    }
    return by_state[PH_SLOT_FREE] == slots->free_count &&
           by_state[PH_SLOT_SHOWN] == slots->shown_count &&
           by_state[PH_SLOT_RESTING] == slots->resting_count &&
           ph_slot_table_count(&slots->table) == slots->listed_count;
}

static bool is_shown_sound(const ph_slots* slots)
{
    int listed = 0;
    for (int slot = 0; slot < slots->slot_count; ++slot) {
        if (slots->states[slot] == PH_SLOT_SHOWN && slots->shown[listed++] != slot) {
            return false;
        }
    }
    return listed == slots->listed_count;
}

// Every free slot stands in the ring exactly once. Both sides are compared as sums of hashes: that
// needs no memory, and slots may be many.
static bool is_free_ring_sound(const ph_slots* slots)
{
    uint64_t difference = 0;
    for (int i = 0; i < slots->free_count; ++i) {
        difference += ph_hash_mix(slots->free_ring[(slots->free_head + i) % slots->slot_count]);
    }
    for (int slot = 1; slot < slots->slot_count; ++slot) {
        difference -= slots->states[slot] == PH_SLOT_FREE ? ph_hash_mix((uint64_t)slot) : 0;
    }
    return difference == 0;
}

// What entered is shown, what was left is not, and leaves ascend.
static bool are_events_sound(const ph_slots* slots)
{
    for (int i = 0; i < slots->enter_count; ++i) {
        const int slot = slots->enters[i];
        if (slots->states[slot] != PH_SLOT_SHOWN || (slot == 0 && i > 0)) {
            return false;
        }
    }
    for (int i = 0; i < slots->leave_count; ++i) {
        if (slots->states[slots->leaves[i]] == PH_SLOT_SHOWN ||
            (i > 0 && slots->leaves[i] <= slots->leaves[i - 1])) {
            return false;
        }
    }
    return true;
}

// Marks are wiped only after a refresh that says that it made some.
static bool are_marks_sound(const ph_slots* slots)
{
    int marked_count = 0;
    for (int slot = 0; slot < slots->slot_count; ++slot) {
        marked_count += slots->marks[slot] != MARK_NONE;
    }
    return marked_count <= slots->unseen_count + slots->leave_count;
}

bool ph_slots_validate(const ph_slots* slots)
{
    for (int slot = 0; slot < slots->slot_count; ++slot) {
        if (!is_vision_slot_sound(slots, slot)) {
            return false;
        }
    }
    return are_counts_sound(slots) && is_shown_sound(slots) && is_free_ring_sound(slots) &&
           are_events_sound(slots) && are_marks_sound(slots);
}

bool ph_slots_are_calm(const ph_slots* slots, const ph_slots_step* step)
{
    const ph_entity_arrays* arrays = step->arrays;
    for (int slot = 1; slot < slots->slot_count; ++slot) {
        const ph_entity_index entity = slots->entities[slot];
        if (entity != PH_ENTITY_NONE &&
            (arrays->spawn_order[entity] != slots->spawn_orders[slot] ||
             (arrays->seen_by[entity] & step->eye->sees) == 0 || arrays->flags[entity] != 0)) {
            return false;
        }
    }
    return true;
}
