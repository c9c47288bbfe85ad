// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// 64-bit hashing: a mixer for keys and an incremental digest over bytes. Both give the same numbers
// on every machine, whatever its byte order or the alignment of the bytes; stored fingerprints rest
// on that, so the numbers never change. Not cryptographic: whoever knows the seed can make
// collisions.

#ifndef PH_BASE_HASH_H
#define PH_BASE_HASH_H

#include "pinhole/base.h"

// Scatters 64 bits one to one: flipping any bit flips each result bit about half of the time.
// 0 stays 0. (Stafford's variant 13 of the MurmurHash3 finaliser, as in splitmix64.)
static inline uint64_t ph_hash_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

// The hash of a key under a secret seed, for tables whose keys strangers may choose. One to one for
// each seed. Mixed twice: between the two, the difference of two keys depends on the seed, so
// keys that share a bucket under one seed do not under another.
static inline uint64_t ph_hash_key(uint64_t key, uint64_t seed)
{
    return ph_hash_mix(ph_hash_mix(key ^ seed) + seed);
}

// A digest under way. Start from ph_hash_make(). Plain data: copy it to branch off.
typedef struct ph_hash {
    uint64_t state;   // of the whole words so far
    uint64_t pending; // up to 7 bytes of a word that is not whole yet, the first lowest
    uint64_t length;  // bytes so far
} ph_hash;

// Different seeds give unrelated digests. 0 is a seed like any other.
ph_hash ph_hash_make(uint64_t seed);

// Takes in size bytes. How a message is cut into calls makes no difference. NULL with size 0 is
// allowed.
void ph_hash_add(ph_hash* hash, const void* bytes, size_t size);

// Takes in eight bytes, lowest first.
void ph_hash_add_u64(ph_hash* hash, uint64_t value);

// The digest of all bytes so far. More may follow.
uint64_t ph_hash_value(const ph_hash* hash);

// ---- the map
//
// From a 64-bit key to a 32-bit value: the names that games give their entities to indices. Open
// addressing in one array, each entry near the slot its hash names. Finding costs about one cache
// line; only create and reserve allocate. The same seed and calls give the same layout.

typedef struct ph_hash_entry {
    uint64_t key; // any value, 0 included
    uint32_t value;
    uint32_t distance1; // slots from where the hash points, + 1; 0 is an empty slot
} ph_hash_entry;

_Static_assert(sizeof(ph_hash_entry) == 16, "four entries in a cache line");

// {0} is an empty map without room, seed 0, on malloc and free; it may be reserved and destroyed.
// Fields are read-only outside hash.c.
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

// A hint that this key will be looked for soon.
void ph_hash_map_prefetch(const ph_hash_map* map, uint64_t key);

// Removes a key; what follows closes up, so that old removals never slow a map down.
// @return false when there was none.
bool ph_hash_map_remove(ph_hash_map* map, uint64_t key);

// Removes every key and keeps the memory.
void ph_hash_map_clear(ph_hash_map* map);

// Whether count, distances and their order agree. For tests; walks the whole map.
bool ph_hash_map_validate(const ph_hash_map* map);

#endif
