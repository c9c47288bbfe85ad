// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Generation and list link share a slot, so that each question costs one cache line.

#include "base/id_pool.h"

#include "base/allocator.h"

#include <string.h>

// Marks in ph_id_slot.next1. Capacities are ints, so no index + 1 reaches them.
#define LIVE UINT32_MAX
#define RETIRED (UINT32_MAX - 1)

ph_result ph_id_pool_create(ph_id_pool* pool, const ph_allocator* allocator, int capacity)
{
    *pool = (ph_id_pool){.allocator = *allocator};
    ph_result result = ph_id_pool_reserve(pool, capacity);
    if (result != PH_OK) {
        *pool = (ph_id_pool){0};
    }
    return result;
}

void ph_id_pool_destroy(ph_id_pool* pool)
{
    ph_release_array(&pool->allocator, pool->slots, (size_t)pool->capacity, sizeof(ph_id_slot));
    *pool = (ph_id_pool){0};
}

ph_result ph_id_pool_reserve(ph_id_pool* pool, int capacity)
{
    PH_ASSERT(capacity >= 0);

    if (capacity <= pool->capacity) {
        return PH_OK;
    }
    ph_id_slot* slots = ph_allocate_array(&pool->allocator, (size_t)capacity, sizeof(ph_id_slot));
    if (slots == NULL) {
        return PH_ERROR_MEMORY;
    }
    if (pool->used_count > 0) {
        memcpy(slots, pool->slots, (size_t)pool->used_count * sizeof(ph_id_slot));
    }
    ph_release_array(&pool->allocator, pool->slots, (size_t)pool->capacity, sizeof(ph_id_slot));
    pool->slots = slots;
    pool->capacity = capacity;
    return PH_OK;
}

ph_id ph_id_pool_take(ph_id_pool* pool)
{
    uint32_t index1 = pool->free1;
    if (index1 != 0) {
        pool->free1 = pool->slots[index1 - 1].next1;
    } else if (pool->used_count < pool->capacity) {
        index1 = (uint32_t)++pool->used_count;
        pool->slots[index1 - 1].generation = 1;
    } else {
        return (ph_id){0};
    }
    pool->slots[index1 - 1].next1 = LIVE;
    ++pool->live_count;
    return (ph_id){.index1 = index1, .generation = pool->slots[index1 - 1].generation};
}

bool ph_id_pool_give_back(ph_id_pool* pool, ph_id id)
{
    if (!ph_id_pool_is_live(pool, id)) {
        return false;
    }
    ph_id_slot* slot = &pool->slots[id.index1 - 1];
    --pool->live_count;
    if (slot->generation == UINT32_MAX) {
        // One more would wrap and bring old ids back to life. The index is lost instead.
        slot->next1 = RETIRED;
        ++pool->retired_count;
        return true;
    }
    ++slot->generation;
    slot->next1 = pool->free1;
    pool->free1 = id.index1;
    return true;
}

bool ph_id_pool_is_live(const ph_id_pool* pool, ph_id id)
{
    if (id.index1 == 0 || id.index1 > (uint32_t)pool->used_count) {
        return false;
    }
    const ph_id_slot* slot = &pool->slots[id.index1 - 1];
    return slot->next1 == LIVE && slot->generation == id.generation;
}

ph_id ph_id_pool_at(const ph_id_pool* pool, int index)
{
    PH_ASSERT(index >= 0 && index < pool->capacity);

    if (index >= pool->used_count || pool->slots[index].next1 != LIVE) {
        return (ph_id){0};
    }
    return (ph_id){.index1 = (uint32_t)index + 1, .generation = pool->slots[index].generation};
}

// Length of the list of free indices, or -1 when it leaves the pool or runs in a circle.
static int count_free(const ph_id_pool* pool)
{
    int count = 0;
    for (uint32_t index1 = pool->free1; index1 != 0; index1 = pool->slots[index1 - 1].next1) {
        if (index1 > (uint32_t)pool->used_count || count == pool->used_count) {
            return -1;
        }
        ++count;
    }
    return count;
}

bool ph_id_pool_validate(const ph_id_pool* pool)
{
    if (pool->used_count < 0 || pool->used_count > pool->capacity) {
        return false;
    }
    if ((pool->slots == NULL) != (pool->capacity == 0)) {
        return false;
    }
    int live_count = 0;
    int retired_count = 0;
    for (int i = 0; i < pool->used_count; ++i) {
        if (pool->slots[i].generation == 0) {
            return false;
        }
        live_count += pool->slots[i].next1 == LIVE;
        retired_count += pool->slots[i].next1 == RETIRED;
    }
    return live_count == pool->live_count && retired_count == pool->retired_count &&
           count_free(pool) == pool->used_count - live_count - retired_count;
}
