// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What groups need: which of them are near a place, and for each the list of candidates that its members
// share.

#ifndef PH_VISION_GROUP_CANDIDATES_H
#define PH_VISION_GROUP_CANDIDATES_H

#include "vision/grid.h"
#include "vision/sweep.h"

#include <pinhole/base.h>

// ---- which groups are near a place
//
// A hash table of cells, chained, in the caller's memory. Filled anew once per tick; asked once per group
// and once per viewer without a group.
//
// A cell is a square of 2^shift mm, at least as wide as the furthest question, and one class of groups:
// what is within reach is in one of nine cells. Cell numbers wrap with the world.

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
// PH_GROUP_WALK_MAX groups it ends: thousands at one place that cannot merge must not cost the square
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

// ---- candidates
//
// One list of candidates for viewers that stand together: everything that any of them may be shown,
// copied into a row, so that each sweeps it for its own nearest. Made once per group and tick,
// swept once per member. Only reserve allocates.

// {0} has no room and may be reserved and destroyed. Fields are read-only outside group_candidates.c.
typedef struct ph_candidates {
    ph_cell_sorted sorted;
    ph_entity_index* found; // what the grid found
    ph_seen* nearest;       // what is nearest to the centre
    void* block;            // holds all of these
    int capacity;
    int count;
} ph_candidates;

// Room for lists of `capacity` entities; the list is lost when it grows.
// @return PH_OK, or PH_ERROR_MEMORY with everything as it was.
ph_result ph_candidates_reserve(ph_candidates* candidates, const ph_allocator* allocator,
                                int capacity);

void ph_candidates_destroy(ph_candidates* candidates, const ph_allocator* allocator);

// The least whole number whose square is not below `square`. square is at most 2^63.
int64_t ph_square_root_up(uint64_t square);

// Makes the list for all eyes that are like this one (mask, radius, wanted, callback or none) and
// at most reach_mm from its place; whose own entity it is does not matter. scratch as for the grid.
// @return false when such a list would reach further than the grid can be asked.
bool ph_candidates_try_make(ph_candidates* candidates, const ph_grid* grid,
                            const ph_entity_arrays* arrays, const ph_eye* centre, int64_t reach_mm,
                            ph_seen* scratch);

// As ph_grid_gather(), for one of these eyes.
ph_sweep ph_candidates_gather(const ph_candidates* candidates, const ph_eye* eye, ph_seen* scratch);

#endif
