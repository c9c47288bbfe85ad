// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which groups are near a place: a hash table of cells, chained, in the caller's memory. Filled
// anew once per tick; asked once per group and once per viewer without a group.
//
// A cell is a square of 2^shift mm, at least as wide as the furthest question, and one class of
// groups: whoever is within reach is in one of nine cells. Cell numbers wrap with the world.

#ifndef PH_VISION_GROUP_MAP_H
#define PH_VISION_GROUP_MAP_H

#include <pinhole/base.h>

#define PH_GROUP_NONE (-1)

typedef struct ph_group_place {
    int32_t x_mm;
    int32_t y_mm;
    uint64_t class_key; // equal for groups of one class
} ph_group_place;

typedef struct ph_group_map {
    int32_t* heads; // by hashed cell: its last group, or PH_GROUP_NONE
    int32_t* nexts; // by group: the next one in the same chain
    uint32_t last;  // heads - 1; heads are a power of two
    int cell_shift; // 0..31
} ph_group_map;

// How many heads a map for group_count groups has: 2 * group_count, rounded up to a power of two.
size_t ph_group_map_size(int group_count);

// The least shift whose cells are as wide as reach_mm (0 or more).
int ph_group_map_shift(int32_t reach_mm);

void ph_group_map_clear(ph_group_map* map);
void ph_group_map_insert(ph_group_map* map, int group, ph_group_place place);

// Goes over all groups in the nine cells around a place, the others whose cells share a chain with
// them included, some of them twice: the caller looks at distance and class. After
// PH_GROUP_WALK_MAX groups it ends: a pile of thousands that cannot merge must not cost the square
// of its size.
#define PH_GROUP_WALK_MAX 256
typedef struct ph_group_walk {
    const ph_group_map* map;
    ph_group_place place;
    int cell; // 0..8 is the one under way, 9 the end
    int32_t group;
    int left;
} ph_group_walk;

ph_group_walk ph_group_map_walk(const ph_group_map* map, ph_group_place place);

// @return The next group or PH_GROUP_NONE.
int ph_group_walk_next(ph_group_walk* walk);

#endif
