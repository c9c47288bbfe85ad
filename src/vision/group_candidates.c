// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What groups need: the map that finds groups near a place, then the candidates of a group. Each once
// per group and tick.

#include "vision/group_candidates.h"

#include "base/allocator.h"
#include "base/hash.h"
#include "vision/select.h"

#include <math.h>
#include <string.h>

enum { CELL_COUNT = 9 };

// ---- the map
//
// A sort by x with a sweep would find the pairs to merge as well, but degrades where many groups stand in
// a column, and gives no result while groups are being founded.

size_t ph_group_map_size(int group_count)
{
    size_t size = 1;
    while (size < 2 * (size_t)group_count) {
        size *= 2;
    }
    return size;
}

int ph_group_map_shift(int32_t reach_mm)
{
    PH_ASSERT(reach_mm >= 0);

    int shift = 0;
    while ((INT64_C(1) << shift) < reach_mm) {
        ++shift;
    }
    return shift;
}

void ph_group_map_clear(ph_group_map* map)
{
    memset(map->heads, 0xFF, ((size_t)map->last + 1) * sizeof(map->heads[0]));
}

// The chain of the cell so many columns and rows from the one of a place.
static uint32_t chain_of(const ph_group_map* map, ph_group_place place, uint32_t columns,
                         uint32_t rows)
{
    const uint32_t cell_mask = UINT32_MAX >> map->cell_shift;
    const uint32_t column = (((uint32_t)place.x_mm >> map->cell_shift) + columns) & cell_mask;
    const uint32_t row = (((uint32_t)place.y_mm >> map->cell_shift) + rows) & cell_mask;
    const uint64_t cell = (uint64_t)column << 32 | row;
    return (uint32_t)ph_hash_key(cell, place.class_key) & map->last;
}

void ph_group_map_insert(ph_group_map* map, int group, ph_group_place place)
{
    const uint32_t chain = chain_of(map, place, 0, 0);
    map->nexts[group] = map->heads[chain];
    map->heads[chain] = group;
}

static int32_t chain_head(const ph_group_walk* walk)
{
    const uint32_t columns = (uint32_t)(walk->cell % 3) - 1;
    const uint32_t rows = (uint32_t)(walk->cell / 3) - 1;
    return walk->map->heads[chain_of(walk->map, walk->place, columns, rows)];
}

ph_group_walk ph_group_map_walk(const ph_group_map* map, ph_group_place place)
{
    ph_group_walk walk = {.map = map, .place = place, .left = PH_GROUP_WALK_MAX};
    walk.group = chain_head(&walk);
    return walk;
}

int ph_group_walk_next(ph_group_walk* walk)
{
    while (walk->group == PH_GROUP_NONE && ++walk->cell < CELL_COUNT) {
        walk->group = chain_head(walk);
    }
    if (walk->group == PH_GROUP_NONE || walk->left == 0) {
        return PH_GROUP_NONE;
    }
    --walk->left;
    const int group = walk->group;
    walk->group = walk->map->nexts[group];
    return group;
}

// ---- candidates
//
// Why the list is enough. c is the centre, m a member, |mc| <= reach, and distances obey the
// triangle inequality, across the edge of the world too (each axis is a circle). All of these are
// rounded up.
//
//   radius        A result is within radius of m, so within radius + reach of c.
//   nearest       Let wanted + 1 of what the class sees be within d of c. At most one of them is
//                 m's own entity, so wanted results are within d + reach of m. What is nearer to m than the
//                 last of them, or as near, is within d + 2 * reach of c.
//
// ALWAYS entities are in no list, but count among the wanted + 1, as each takes a place from m as
// well: if the own entity is one of them, then m has one fewer of those, and its place is filled by
// the one that is asked for in excess. A callback may refuse any of the nearest: then only the
// radius counts.
//
//   block   | spawn_order | nearest | x y seen_by entity | found |
//             u64           ph_seen   u32 each              u32

#define QUESTION_MAX_MM (INT64_C(1) << 31)

// ---- memory

// Sweeps read whole steps.
static size_t padded_candidates(int capacity)
{
    return (size_t)capacity + PH_SWEEP_STEP;
}

static size_t candidates_size(int capacity)
{
    return padded_candidates(capacity) *
           (sizeof(uint64_t) + sizeof(ph_seen) + 5 * sizeof(uint32_t));
}

ph_result ph_candidates_reserve(ph_candidates* candidates, const ph_allocator* allocator,
                                int capacity)
{
    PH_ASSERT(capacity >= 0);

    if (candidates->block != NULL && capacity <= candidates->capacity) {
        return PH_OK;
    }
    void* block = ph_allocate_zeroed(allocator, candidates_size(capacity));
    if (block == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_candidates_destroy(candidates, allocator);
    const size_t count = padded_candidates(capacity);
    candidates->block = block;
    candidates->capacity = capacity;
    candidates->sorted.spawn_order = block;
    candidates->nearest = (ph_seen*)(void*)(candidates->sorted.spawn_order + count);
    candidates->sorted.x_mm = (int32_t*)(void*)(candidates->nearest + count);
    candidates->sorted.y_mm = candidates->sorted.x_mm + count;
    candidates->sorted.seen_by = (uint32_t*)(candidates->sorted.y_mm + count);
    candidates->sorted.entity = candidates->sorted.seen_by + count;
    candidates->found = candidates->sorted.entity + count;
    return PH_OK;
}

void ph_candidates_destroy(ph_candidates* candidates, const ph_allocator* allocator)
{
    ph_release(allocator, candidates->block, candidates_size(candidates->capacity));
    *candidates = (ph_candidates){0};
}

// ---- making

int64_t ph_square_root_up(uint64_t square)
{
    PH_ASSERT(square <= UINT64_C(1) << 63);

    // Off by a few hundred at most: a double has 53 bits.
    uint64_t root = (uint64_t)sqrt((double)square);
    while (root * root < square) {
        ++root;
    }
    while (root > 0 && (root - 1) * (root - 1) >= square) {
        --root;
    }
    return (int64_t)root;
}

// How far from the centre the list has to go.
static int64_t list_radius(const ph_candidates* candidates, const ph_grid* grid,
                           const ph_entity_arrays* arrays, const ph_eye* centre, int64_t reach_mm,
                           ph_seen* scratch)
{
    const int64_t by_radius_mm = centre->radius_mm + reach_mm;
    // There are never more results than entities, so `nearest` is large enough.
    if (centre->callback != NULL || centre->wanted >= candidates->capacity) {
        return by_radius_mm;
    }
    ph_eye asked = *centre;
    asked.own = PH_ENTITY_NONE;
    asked.wanted = centre->wanted + 1;
    asked.radius_mm = by_radius_mm < QUESTION_MAX_MM ? by_radius_mm : QUESTION_MAX_MM;
    const int count = ph_grid_nearest(grid, arrays, &asked, 0, scratch, candidates->nearest);
    if (count < asked.wanted) {
        return by_radius_mm;
    }
    uint64_t furthest2 = 0;
    for (int i = 0; i < count; ++i) {
        const uint64_t distance2 = candidates->nearest[i].distance2;
        furthest2 = distance2 > furthest2 ? distance2 : furthest2;
    }
    const int64_t by_nearest_mm = ph_square_root_up(furthest2) + 2 * reach_mm;
    return by_nearest_mm < by_radius_mm ? by_nearest_mm : by_radius_mm;
}

static void copy_found(ph_candidates* candidates, const ph_entity_arrays* arrays)
{
    ph_cell_sorted* sorted = &candidates->sorted;
    sorted->seen_by_every = UINT32_MAX;
    for (int i = 0; i < candidates->count; ++i) {
        const ph_entity_index entity = candidates->found[i];
        sorted->x_mm[i] = arrays->x_mm[entity];
        sorted->y_mm[i] = arrays->y_mm[entity];
        sorted->seen_by[i] = arrays->seen_by[entity];
        sorted->seen_by_every &= arrays->seen_by[entity];
        sorted->entity[i] = entity;
        sorted->spawn_order[i] = arrays->spawn_order[entity];
    }
}

bool ph_candidates_try_make(ph_candidates* candidates, const ph_grid* grid,
                            const ph_entity_arrays* arrays, const ph_eye* centre, int64_t reach_mm,
                            ph_seen* scratch)
{
    PH_ASSERT(reach_mm >= 0 && arrays->live_count <= candidates->capacity);

    ph_eye asked = *centre;
    asked.own = PH_ENTITY_NONE;
    asked.radius_mm = list_radius(candidates, grid, arrays, centre, reach_mm, scratch);
    if (asked.radius_mm > QUESTION_MAX_MM) {
        return false;
    }
    asked.callback = NULL; // asked by each member for itself
    candidates->count = ph_grid_within(grid, arrays, &asked, candidates->found);
    copy_found(candidates, arrays);
    return true;
}

// ---- choosing

ph_sweep ph_candidates_gather(const ph_candidates* candidates, const ph_eye* eye, ph_seen* scratch)
{
    ph_sweep sweep = ph_sweep_make(&candidates->sorted, eye, scratch, candidates->count);
    ph_sweep_gather(&sweep, 0, (uint32_t)candidates->count);
    ph_sweep_count_within(&sweep, eye->radius_mm);
    return sweep;
}
