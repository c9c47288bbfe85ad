// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Hands out ids for indices of parallel arrays and recognises those that are out of date.
// Taking, giving back and asking are a few instructions each; nothing allocates but create and
// reserve. The order of indices depends on the calls alone: the one given back last is taken first
// (it is warm in the cache), then the lowest that was never used.

#ifndef PINHOLE_BASE_ID_POOL_H
#define PINHOLE_BASE_ID_POOL_H

#include "pinhole/base.h"

// Names one thing of one pool. {0} is null and never live.
typedef struct ph_id {
    uint32_t index1;     // index + 1
    uint32_t generation; // 1 when the index is taken for the first time; 0 is never issued
} ph_id;

typedef struct ph_id_slot {
    uint32_t generation; // of the live id, or else of the next one to be issued
    uint32_t next1;      // next free index + 1, 0 at the end of the list; or a mark (see id_pool.c)
} ph_id_slot;

_Static_assert(sizeof(ph_id_slot) == 8, "eight slots in a cache line");

// {0} is a pool with capacity 0 on malloc and free; it may be reserved and destroyed.
// Fields are read-only outside id_pool.c.
typedef struct ph_id_pool {
    ph_id_slot* slots;
    int capacity;
    int used_count;    // indices below this were taken at least once; the slots above are blank
    int live_count;    // ids that are live now
    int retired_count; // indices that used up their generations and rest for ever
    uint32_t free1;    // index + 1 of the one given back last, or 0
    ph_allocator allocator;
} ph_id_pool;

// The place of an id in parallel arrays: 0..capacity-1. The id is not null.
static inline int ph_id_index(ph_id id)
{
    return (int)(id.index1 - 1);
}

// Makes a pool for capacity ids (0 or more). The allocator is copied; its context outlives the
// pool.
// @return PH_OK, or PH_ERROR_MEMORY with *pool set to {0}.
ph_result ph_id_pool_create(ph_id_pool* pool, const ph_allocator* allocator, int capacity);

// Gives the memory back. Leaves {0}: a pool made anew knows nothing of the ids of the old one.
void ph_id_pool_destroy(ph_id_pool* pool);

// Makes room for capacity ids in all; never shrinks. Ids keep their value.
// @return PH_OK, or PH_ERROR_MEMORY with the pool as it was.
ph_result ph_id_pool_reserve(ph_id_pool* pool, int capacity);

// Returns an id that was never issued by this pool before, or {0} when the pool is full.
ph_id ph_id_pool_take(ph_id_pool* pool);

// Ends an id. From now on it is stale, whichever entity gets its index.
// @return false, with nothing done, when it is not live: null, stale or never issued.
bool ph_id_pool_give_back(ph_id_pool* pool, ph_id id);

// Whether the id was taken and not yet given back. Any bits may be asked about.
bool ph_id_pool_is_live(const ph_id_pool* pool, ph_id id);

// The live id at an index 0..capacity-1, or {0}. To go over all: index < used_count is enough.
ph_id ph_id_pool_at(const ph_id_pool* pool, int index);

// Whether counts, marks and the list of free indices agree. For tests; walks the whole pool.
bool ph_id_pool_validate(const ph_id_pool* pool);

#endif
