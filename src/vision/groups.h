// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Dynamic groups of viewers: those who stand together share one list of candidates.
//
// A group is a set of viewers of one visibility class (same mask, radius, wanted number, and
// callback or none); it has a centre of gravity and a reach, the distance of its furthest member.
// Once per tick:
//   1. The centres follow their members. One that jumped (further than twice group_split_mm from
//      the old centre) leaves before that, or it would drag the centre away from the others.
//   2. A member further from the centre than group_split_mm leaves.
//   3. Who has no group joins the nearest one whose centre is within the join distance, half way
//      between group_merge_mm and group_split_mm, or founds its own.
//   4. Groups whose centres are nearer than group_merge_mm become one, if nobody would have to
//      leave at once; each at most once per tick.
// Who joins or leaves moves the centre from the next tick on. Leaving takes a way of group_split_mm
// from the centre, coming back (by joining or merging) at most the join distance to it: so nothing
// is undone before somebody has walked the difference.
//
// The candidates of a group are a superset of what any member sees: if the class sees more than
// `wanted` entities within a distance d of the centre (one more, as a member's own entity is no
// answer), then no member's nearest lie further from the centre than d + 2 * reach, nor than radius
// + reach. With a callback only the second bound holds. Each member then takes its own nearest from
// the list, so the result does not depend on the group at all.
//
// There is memory for one list, of all entities at most: the list of another group replaces it.
// Ask in the order of ph_groups_order() and every list is made once.

#ifndef PH_VISION_GROUPS_H
#define PH_VISION_GROUPS_H

#include "vision/grid.h"

typedef struct ph_groups ph_groups;

// Of the def the two distances count: 0 < group_merge_mm < group_split_mm / 2.
// Memory: about 120 bytes per viewer and 52 per entity.
// @return PH_OK or PH_ERROR_MEMORY with *groups NULL.
ph_result ph_groups_create(const ph_allocator* allocator, const ph_vision_def* def,
                           int viewer_capacity, int entity_capacity, ph_groups** groups);
void ph_groups_destroy(ph_groups* groups); // NULL is allowed

// Makes room for more; never shrinks. On PH_ERROR_MEMORY everything is as it was.
ph_result ph_groups_reserve(ph_groups* groups, int viewer_capacity, int entity_capacity);

// Viewers are 0..viewer_capacity-1. A new one gets its group by the next update; until then it asks
// the grid by itself.
void ph_groups_add(ph_groups* groups, uint32_t viewer, const ph_eye* eye);
void ph_groups_remove(ph_groups* groups, uint32_t viewer);

// Once per tick: moves the members, then splits and merges; forgets the candidate list.
// eyes is by viewer and has an entry for every viewer that was added. An eye whose class changed
// finds another group. Allocates nothing; in proportion to the viewers.
void ph_groups_update(ph_groups* groups, const ph_eye* eyes);

// All viewers that were there at the last update (those removed since excepted: they must not be
// asked for), group by group. Borrowed until the next change. @return How many are in *viewers.
int ph_groups_order(const ph_groups* groups, const uint32_t** viewers);

// As ph_grid_gather() and ph_grid_nearest(), for a viewer that was added; make the group's list when
// another one is there. A viewer that is alone in its group needs none and asks the grid. scratch as
// for the grid. The eye is the one of the last update, but for its own entity.
ph_sweep ph_groups_gather(ph_groups* groups, const ph_grid* grid, const ph_crowd* crowd,
                          uint32_t viewer, const ph_eye* eye, int wanted, int first,
                          const ph_view* last, ph_seen* scratch);
int ph_groups_nearest(ph_groups* groups, const ph_grid* grid, const ph_crowd* crowd,
                      uint32_t viewer, const ph_eye* eye, int first, ph_seen* scratch,
                      ph_seen* seen);

// The group of a viewer, a small number that may be used again, or -1.
int ph_groups_find(const ph_groups* groups, uint32_t viewer);

// Sets groups, splits (members that left because they were too far), merges, lists and
// shared_lists; leaves the other fields alone.
void ph_groups_stats(const ph_groups* groups, ph_vision_stats* stats);

// Whether members, centres, reaches, classes and order agree; eyes as at the last update. For
// tests.
bool ph_groups_validate(const ph_groups* groups, const ph_eye* eyes);

#endif
