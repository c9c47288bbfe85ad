// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a world finds who is near: the grid, the groups if it uses them, and the scratch of a
// question. Sorted once per tick, asked once per viewer and refresh. Only create and the reserves
// allocate.

#ifndef PH_WORLD_LOOKOUT_H
#define PH_WORLD_LOOKOUT_H

#include "vision/grid.h"
#include "vision/groups.h"

// {0} may be destroyed. Fields are read-only outside lookout.c.
typedef struct ph_lookout {
    ph_grid* grid;
    ph_groups* groups; // NULL: every viewer asks the grid by itself
    int64_t radius_mm_max;
    ph_seen* scratch; // of one question
    int scratch_count;
    uint16_t* slot_of; // by entity: scratch of a refresh (vision/slots.h)
    int slot_of_count;
    ph_seen* seen; // the answer to the last question
    int seen_count;
    ph_allocator allocator;
} ph_lookout;

typedef struct ph_lookout_def {
    const ph_vision_def* vision;
    int entity_capacity;
    int viewer_capacity;
    int64_t radius_mm_max; // of any question
} ph_lookout_def;

// @return PH_OK, or PH_ERROR_MEMORY with *lookout set to {0}.
ph_result ph_lookout_create(ph_lookout* lookout, const ph_allocator* allocator,
                            const ph_lookout_def* def);
void ph_lookout_destroy(ph_lookout* lookout);

// More entities, more viewers, larger questions. On PH_ERROR_MEMORY all answers are as before. More
// room for entities empties the grid until the next sorting.
ph_result ph_lookout_reserve_entities(ph_lookout* lookout, int entity_capacity,
                                      int viewer_capacity);
ph_result ph_lookout_reserve_viewers(ph_lookout* lookout, int entity_capacity, int viewer_capacity);
ph_result ph_lookout_reserve_answers(ph_lookout* lookout, int wanted);

void ph_lookout_add(ph_lookout* lookout, uint32_t viewer, const ph_eye* eye);
void ph_lookout_remove(ph_lookout* lookout, uint32_t viewer);

// Sorts everybody by place. Once per tick; eyes are by viewer.
void ph_lookout_sort(ph_lookout* lookout, const ph_crowd* crowd, const ph_eye* eyes);

// The order in which viewers are best asked for; NULL: any. Valid until the next sorting.
const uint32_t* ph_lookout_order(const ph_lookout* lookout);

// Asks for one viewer; the answer is in lookout->seen, the nearest `first` of it come first. Only
// between a sorting and the next change of the crowd. @return How many.
int ph_lookout_ask(ph_lookout* lookout, const ph_crowd* crowd, const ph_eye* eye, int first);

// Whether grid and groups agree with the crowd and the eyes they were last sorted by. For tests.
bool ph_lookout_validate(const ph_lookout* lookout, const ph_crowd* crowd, const ph_eye* eyes);

#endif
