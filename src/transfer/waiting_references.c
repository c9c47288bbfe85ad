// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Entries in one array, found by two maps: by the key that they wait for, and by the property that waits.

#include "transfer/waiting_references.h"

#include "base/allocator.h"

#include <pinhole/schema.h>

#include <string.h>

enum { WAITING_ROOM_MIN = 64 };

void ph_waiting_init(ph_waiting_references* waiting, const ph_allocator* allocator)
{
    *waiting = (ph_waiting_references){
        .free = PH_WAITING_NONE,
        .by_target = {.allocator = *allocator},
        .by_place = {.allocator = *allocator},
        .allocator = *allocator,
    };
}

void ph_waiting_destroy(ph_waiting_references* waiting)
{
    ph_hash_map_destroy(&waiting->by_target);
    ph_hash_map_destroy(&waiting->by_place);
    ph_release_array(&waiting->allocator, waiting->entries, (size_t)waiting->capacity,
                     sizeof(ph_waiting_reference));
    ph_waiting_init(waiting, &waiting->allocator);
}

ph_result ph_waiting_reserve(ph_waiting_references* waiting, int more)
{
    const int wanted = waiting->count + more;
    if (wanted <= waiting->capacity) {
        return PH_OK;
    }
    int capacity = waiting->capacity > 0 ? waiting->capacity : WAITING_ROOM_MIN;
    while (capacity < wanted) {
        capacity *= 2;
    }
    if (ph_hash_map_reserve(&waiting->by_target, capacity) != PH_OK ||
        ph_hash_map_reserve(&waiting->by_place, capacity) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    ph_waiting_reference* grown =
        ph_allocate_array(&waiting->allocator, (size_t)capacity, sizeof *grown);
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    if (waiting->used_count > 0) {
        memcpy(grown, waiting->entries, (size_t)waiting->used_count * sizeof *grown);
    }
    ph_release_array(&waiting->allocator, waiting->entries, (size_t)waiting->capacity,
                     sizeof *grown);
    waiting->entries = grown;
    waiting->capacity = capacity;
    return PH_OK;
}

// An index belongs to one entity at a time: whatever the generation, the newer one counts.
static uint64_t place_key(ph_entity_id holder, int property)
{
    return (uint64_t)holder.index1 * PH_PROPERTIES_MAX + (uint64_t)property;
}

static void unlink_waiting(ph_waiting_references* waiting, uint32_t index)
{
    ph_waiting_reference* entry = &waiting->entries[index];
    if (entry->next != PH_WAITING_NONE) {
        waiting->entries[entry->next].previous = entry->previous;
    }
    if (entry->previous != PH_WAITING_NONE) {
        waiting->entries[entry->previous].next = entry->next;
    } else {
        ph_hash_map_remove(&waiting->by_target, entry->target.key);
        if (entry->next != PH_WAITING_NONE) {
            ph_hash_map_insert(&waiting->by_target, entry->target.key, entry->next);
        }
    }
    ph_hash_map_remove(&waiting->by_place, place_key(entry->holder, entry->property));
    entry->next = waiting->free;
    waiting->free = index;
    --waiting->count;
}

void ph_waiting_forget(ph_waiting_references* waiting, ph_entity_id holder, int property)
{
    uint32_t index;
    if (ph_hash_map_try_find(&waiting->by_place, place_key(holder, property), &index)) {
        unlink_waiting(waiting, index);
    }
}

static uint32_t take_entry(ph_waiting_references* waiting)
{
    const uint32_t index = waiting->free;
    if (index == PH_WAITING_NONE) {
        return (uint32_t)waiting->used_count++;
    }
    waiting->free = waiting->entries[index].next;
    return index;
}

void ph_waiting_add(ph_waiting_references* waiting, ph_entity_id holder, int property,
                    const ph_transfer_target* target)
{
    ph_waiting_forget(waiting, holder, property);
    PH_ASSERT(waiting->count < waiting->capacity);

    const uint32_t index = take_entry(waiting);
    uint32_t first = PH_WAITING_NONE;
    if (ph_hash_map_try_find(&waiting->by_target, target->key, &first)) {
        waiting->entries[first].previous = index;
        ph_hash_map_remove(&waiting->by_target, target->key);
    }
    waiting->entries[index] = (ph_waiting_reference){
        .target = *target,
        .holder = holder,
        .property = property,
        .next = first,
        .previous = PH_WAITING_NONE,
    };
    ph_hash_map_insert(&waiting->by_target, target->key, index);
    ph_hash_map_insert(&waiting->by_place, place_key(holder, property), index);
    ++waiting->count;
}

bool ph_waiting_take(ph_waiting_references* waiting, uint64_t key, ph_waiting_reference* taken)
{
    uint32_t index;
    if (!ph_hash_map_try_find(&waiting->by_target, key, &index)) {
        return false;
    }
    *taken = waiting->entries[index];
    unlink_waiting(waiting, index);
    return true;
}
