// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A key that comes again gets a new place at the front of the ring; its old place is dead, because the map
// no longer names it.

#include "transfer/tombstones.h"

#include "base/allocator.h"

// Keys come from other worlds of the game, not from strangers.
#define TOMBSTONE_SEED UINT64_C(0x746F6D62)

ph_result ph_tombstones_create(ph_tombstones* tombstones, const ph_allocator* allocator,
                               int capacity)
{
    *tombstones = (ph_tombstones){.allocator = *allocator, .by_key = {.allocator = *allocator}};
    if (capacity == 0) {
        return PH_OK;
    }
    tombstones->ring = ph_allocate_array(allocator, (size_t)capacity, sizeof(ph_tombstone));
    tombstones->capacity = tombstones->ring != NULL ? capacity : 0;
    if (tombstones->ring == NULL ||
        ph_hash_map_create(&tombstones->by_key, allocator, capacity, TOMBSTONE_SEED) != PH_OK) {
        ph_tombstones_destroy(tombstones);
        return PH_ERROR_MEMORY;
    }
    return PH_OK;
}

void ph_tombstones_destroy(ph_tombstones* tombstones)
{
    ph_release_array(&tombstones->allocator, tombstones->ring, (size_t)tombstones->capacity,
                     sizeof(ph_tombstone));
    ph_hash_map_destroy(&tombstones->by_key);
    *tombstones = (ph_tombstones){0};
}

static const ph_tombstone* find_tombstone(const ph_tombstones* tombstones, uint64_t key)
{
    uint32_t place;
    return ph_hash_map_try_find(&tombstones->by_key, key, &place) ? &tombstones->ring[place] : NULL;
}

static bool is_before(const ph_tombstone* a, const ph_tombstone* b)
{
    return a->epoch < b->epoch || (a->epoch == b->epoch && a->stamp < b->stamp);
}

// Whether the older tombstone of the key says more than the newer one.
static bool says_more(const ph_tombstone* known, const ph_tombstone* added)
{
    if (known->incarnation != added->incarnation) {
        return false;
    }
    if (known->is_removed != added->is_removed) {
        return known->is_removed;
    }
    return is_before(added, known);
}

void ph_tombstones_add(ph_tombstones* tombstones, const ph_tombstone* tombstone)
{
    const ph_tombstone* known = find_tombstone(tombstones, tombstone->key);
    if (tombstones->capacity == 0 || (known != NULL && says_more(known, tombstone))) {
        return;
    }
    ph_tombstone* place = &tombstones->ring[tombstones->next];
    if (tombstones->count == tombstones->capacity &&
        find_tombstone(tombstones, place->key) == place) {
        ph_hash_map_remove(&tombstones->by_key, place->key);
    }
    *place = *tombstone;
    ph_hash_map_insert(&tombstones->by_key, tombstone->key, (uint32_t)tombstones->next);
    tombstones->next = (tombstones->next + 1) % tombstones->capacity;
    tombstones->count += tombstones->count < tombstones->capacity;
}

bool ph_tombstones_cover(const ph_tombstones* tombstones, const ph_tombstone* record)
{
    const ph_tombstone* known = find_tombstone(tombstones, record->key);
    if (known == NULL) {
        return false;
    }
    if (known->is_removed) {
        return known->incarnation == record->incarnation && record->epoch <= known->epoch;
    }
    // Another entity that had the key has epochs of its own.
    return known->owner == record->owner &&
           (known->incarnation == record->incarnation ? is_before(record, known)
                                                      : record->stamp < known->stamp);
}
