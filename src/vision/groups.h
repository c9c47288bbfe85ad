// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Dynamic groups of viewers: those who stand together share one list of candidates.
//
// A group is a set of viewers of one visibility class (same mask, radius, wanted number, and callback or
// none); it has a centre of gravity and a reach,
// the distance of its furthest member. A member further from the centre than group_split_mm leaves: it joins
// a group that is near enough, or starts its own. Groups whose centres come nearer than group_merge_mm
// merge, if nobody would have to leave at once: so neither repeats itself tick after tick.
//
// The candidates of a group are a superset of what any member sees: if d is the distance from the centre
// within which the class sees `wanted` entities, then no member's nearest lie further from the centre than
// d + 2 * reach, nor than radius + reach. With a callback only the second bound holds. Each member then takes
// its own nearest from the list, so the result does not depend on the group at all.

#ifndef PH_VISION_GROUPS_H
#define PH_VISION_GROUPS_H

#include "vision/grid.h"

typedef struct ph_groups ph_groups;

ph_result ph_groups_create(const ph_allocator* allocator, const ph_vision_def* def,
                           int viewer_capacity, int entity_capacity, ph_groups** groups);
void ph_groups_destroy(ph_groups* groups);
ph_result ph_groups_reserve(ph_groups* groups, int viewer_capacity, int entity_capacity);

// Viewers are 0..viewer_capacity-1.
void ph_groups_add(ph_groups* groups, uint32_t viewer, const ph_eye* eye);
void ph_groups_remove(ph_groups* groups, uint32_t viewer);

// Once per tick: moves the members, then splits and merges; forgets all candidate lists.
// eyes is by viewer and has an entry for every viewer that was added. Allocates nothing.
void ph_groups_update(ph_groups* groups, const ph_eye* eyes);

// As ph_grid_nearest, for a viewer that was added; makes the group's list when it is the first to ask.
int ph_groups_nearest(ph_groups* groups, const ph_grid* grid, const ph_crowd* crowd,
                      uint32_t viewer, const ph_eye* eye, int first, ph_seen* scratch, ph_seen* seen);

void ph_groups_stats(const ph_groups* groups, ph_vision_stats* stats);
bool ph_groups_validate(const ph_groups* groups, const ph_eye* eyes);

#endif
