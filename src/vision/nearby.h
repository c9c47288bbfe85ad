// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a world finds what is near: the grid, the groups if it uses them, and the scratch of a
// question. Sorted once per tick, asked once per viewer and refresh. Only create and the reserves
// allocate.

#ifndef PH_VISION_NEARBY_H
#define PH_VISION_NEARBY_H

#include "vision/grid.h"
#include "vision/groups.h"
#include "vision/slots.h"

// {0} may be destroyed. Fields are read-only outside nearby.c.
typedef struct ph_nearby {
    ph_grid* grid;
    ph_groups* groups; // NULL: every viewer asks the grid by itself
    int64_t radius_mm_max;
    ph_seen* scratch; // of one question
    int scratch_count;
    uint8_t* visibility; // by entity: what the game said of it in the last question
    int visibility_count;
    ph_eye eye;     // that asked the last question
    ph_sweep sweep; // its candidates, in the scratch
    ph_seen* seen;  // entities found: first those that are always seen
    int always_count;
    int seen_count;
    ph_allocator allocator;
} ph_nearby;

typedef struct ph_nearby_def {
    const ph_vision_def* vision;
    int entity_capacity;
    int viewer_capacity;
    int64_t radius_mm_max; // of any question
} ph_nearby_def;

// @return PH_OK, or PH_ERROR_MEMORY with *nearby set to {0}.
ph_result ph_nearby_create(ph_nearby* nearby, const ph_allocator* allocator,
                           const ph_nearby_def* def);

void ph_nearby_destroy(ph_nearby* nearby);

// More entities, more viewers, larger questions. On PH_ERROR_MEMORY all results are as before. More
// room for entities empties the grid until the next sorting.
ph_result ph_nearby_reserve_entities(ph_nearby* nearby, int entity_capacity, int viewer_capacity);

ph_result ph_nearby_reserve_viewers(ph_nearby* nearby, int entity_capacity, int viewer_capacity);

ph_result ph_nearby_reserve_results(ph_nearby* nearby, int wanted);

void ph_nearby_add(ph_nearby* nearby, uint32_t viewer, const ph_eye* eye);

void ph_nearby_remove(ph_nearby* nearby, uint32_t viewer);

// Sorts all entities by place. Once per tick; eyes are by viewer.
void ph_nearby_sort(ph_nearby* nearby, const ph_entity_arrays* arrays, const ph_eye* eyes);

// The order in which viewers are best asked for; NULL: any. Valid until the next sorting.
const uint32_t* ph_nearby_order(const ph_nearby* nearby);

// Asks for one viewer: for eye->wanted, and for the `first` of them. The view is the one of the last time
// (or {0}) and becomes the present one. Only between a sorting and the next change of the entity arrays.
void ph_nearby_ask(ph_nearby* nearby, const ph_entity_arrays* arrays, const ph_eye* eye, int first,
                   ph_view* view);

// Names those of the last question that are to enter and are not shown yet, in nearby->seen.
// @return How many, of the `expected` that the slots miss.
int ph_nearby_find_newcomers(ph_nearby* nearby, const ph_view* view, const ph_slots* slots,
                             int expected);

// Whether grid and groups agree with the entity arrays and the eyes they were last sorted by. For tests.
bool ph_nearby_validate(const ph_nearby* nearby, const ph_entity_arrays* arrays,
                        const ph_eye* eyes);

#endif
