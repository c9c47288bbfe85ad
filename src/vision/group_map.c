// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A sort by x with a sweep would find the pairs to merge as well, but degrades where many groups
// stand in a column, and gives no answer while groups are being founded.

#include "vision/group_map.h"

#include "base/hash.h"

#include <string.h>

enum { CELL_COUNT = 9 };

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

static int32_t head_of(const ph_group_walk* walk)
{
    const uint32_t columns = (uint32_t)(walk->cell % 3) - 1;
    const uint32_t rows = (uint32_t)(walk->cell / 3) - 1;
    return walk->map->heads[chain_of(walk->map, walk->place, columns, rows)];
}

ph_group_walk ph_group_map_walk(const ph_group_map* map, ph_group_place place)
{
    ph_group_walk walk = {.map = map, .place = place, .left = PH_GROUP_WALK_MAX};
    walk.group = head_of(&walk);
    return walk;
}

int ph_group_walk_next(ph_group_walk* walk)
{
    while (walk->group == PH_GROUP_NONE && ++walk->cell < CELL_COUNT) {
        walk->group = head_of(walk);
    }
    if (walk->group == PH_GROUP_NONE || walk->left == 0) {
        return PH_GROUP_NONE;
    }
    --walk->left;
    const int group = walk->group;
    walk->group = walk->map->nexts[group];
    return group;
}
