// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From a 64-bit key to a 32-bit value: the names that games give their entities to indices. Open
// addressing in one array, each entry near the slot its hash names. Finding costs about one cache
// line; only create and reserve allocate. The same seed and calls give the same layout.

#ifndef PINHOLE_BASE_HASH_MAP_H
#define PINHOLE_BASE_HASH_MAP_H

#include "pinhole/base.h"

typedef struct ph_hash_entry {
    uint64_t key; // any value, 0 included
    uint32_t value;
    uint32_t distance1; // slots from where the hash points, + 1; 0 is an empty slot
} ph_hash_entry;

_Static_assert(sizeof(ph_hash_entry) == 16, "four entries in a cache line");

// {0} is an empty map without room, seed 0, on malloc and free; it may be reserved and destroyed.
// Fields are read-only outside hash_map.c.
typedef struct ph_hash_map {
    ph_hash_entry* entries;
    uint32_t capacity; // slots: 0 or a power of two
    int count;
    int limit; // how many entries fit: three quarters of the slots
    uint64_t seed;
    ph_allocator allocator;
} ph_hash_map;

// Makes an empty map for entry_count entries (0 or more). Where strangers choose the keys, the seed
// is a number they cannot guess; else any will do. The allocator is copied; its context outlives
// the map.
// @return PH_OK, or PH_ERROR_MEMORY with *map set to {0}.
ph_result ph_hash_map_create(ph_hash_map* map, const ph_allocator* allocator, int entry_count,
                             uint64_t seed);

// Gives the memory back. Leaves {0}.
void ph_hash_map_destroy(ph_hash_map* map);

// Makes room for entry_count entries in all; never shrinks. More than 805,306,368 (3/4 of 2^30) are
// refused as too much memory.
// @return PH_OK, or PH_ERROR_MEMORY with the map as it was.
ph_result ph_hash_map_reserve(ph_hash_map* map, int entry_count);

// Sets the value of a key, new or not.
// @return false, with nothing done, when the key is new and the map full.
bool ph_hash_map_insert(ph_hash_map* map, uint64_t key, uint32_t value);

// Finds the value of a key. @return false, with *value untouched, when there is none.
bool ph_hash_map_try_find(const ph_hash_map* map, uint64_t key, uint32_t* value);

// Tells the processor that a key will be looked for soon.
void ph_hash_map_prefetch(const ph_hash_map* map, uint64_t key);

// Removes a key; what follows closes up, so that old removals never slow a map down.
// @return false when there was none.
bool ph_hash_map_remove(ph_hash_map* map, uint64_t key);

// Removes every key and keeps the memory.
void ph_hash_map_clear(ph_hash_map* map);

// Whether count, distances and their order agree. For tests; walks the whole map.
bool ph_hash_map_validate(const ph_hash_map* map);

#endif
