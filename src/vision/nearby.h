// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a world finds what is near: the grid, the groups if it uses them, and the scratch of
// questions. Sorted once per tick, asked once per viewer and refresh. Only create and the reserves
// allocate.

#ifndef PH_VISION_NEARBY_H
#define PH_VISION_NEARBY_H

#include "base/compiler.h"
#include "vision/grid.h"
#include "vision/groups.h"
#include "vision/slots.h"

// The scratch of one question, and what the last one found. Each thread that asks has its own.
typedef struct ph_question {
    ph_seen* scratch;
    int scratch_count;
    uint8_t* visibility; // by entity: what the game said of it in the last question
    int visibility_count;
    ph_eye eye;     // that asked the last question
    ph_sweep sweep; // its candidates, in the scratch
    ph_seen* seen;  // entities found: first those that are always seen
    int always_count;
    int seen_count;
    uint8_t apart[PH_CACHE_LINE]; // from the next one, which is another thread's
} ph_question;

// {0} may be destroyed. Fields are read-only outside nearby.c.
typedef struct ph_nearby {
    ph_grid* grid;
    ph_groups* groups; // NULL: every viewer asks the grid by itself
    int64_t radius_mm_max;
    ph_question* questions;
    int question_count;
    int entity_capacity; // that each has room for
    int wanted_max;
    ph_allocator allocator;
} ph_nearby;

typedef struct ph_nearby_def {
    const ph_vision_def* vision;
    int entity_capacity;
    int viewer_capacity;
    int64_t radius_mm_max; // of any question
    int question_count;    // that may be asked at the same time; 1 or more
} ph_nearby_def;

// @return PH_OK, or PH_ERROR_MEMORY with *nearby set to {0}.
ph_result ph_nearby_create(ph_nearby* nearby, const ph_allocator* allocator,
                           const ph_nearby_def* def);

void ph_nearby_destroy(ph_nearby* nearby);

// More entities, more viewers, larger questions, more of them at once. On PH_ERROR_MEMORY all results
// are as before. More room for entities empties the grid until the next sorting.
ph_result ph_nearby_reserve_entities(ph_nearby* nearby, int entity_capacity, int viewer_capacity);

ph_result ph_nearby_reserve_viewers(ph_nearby* nearby, int entity_capacity, int viewer_capacity);

ph_result ph_nearby_reserve_results(ph_nearby* nearby, int wanted);

ph_result ph_nearby_reserve_questions(ph_nearby* nearby, int question_count);

void ph_nearby_add(ph_nearby* nearby, uint32_t viewer, const ph_eye* eye);

void ph_nearby_remove(ph_nearby* nearby, uint32_t viewer);

// Sorts all entities by place. Once per tick; eyes are by viewer.
void ph_nearby_sort(ph_nearby* nearby, const ph_entity_arrays* arrays, const ph_eye* eyes);

// The order in which viewers are best asked for; NULL: any. Valid until the next sorting.
const uint32_t* ph_nearby_order(const ph_nearby* nearby);

// Begins a row of questions: what was prepared for others is forgotten, so that what a row costs, and
// counts, does not depend on the rows that the same thread asked before.
void ph_nearby_begin(const ph_nearby* nearby, int question);

// Asks for one viewer: for eye->wanted, and for the `first` of them. The view is the one of the last time
// (or {0}) and becomes the present one. Only between a sorting and the next change of the entity arrays.
// Changes that question alone: others may be asked at the same time.
// @return The question, until it is asked again.
ph_question* ph_nearby_ask(const ph_nearby* nearby, int question, const ph_entity_arrays* arrays,
                           const ph_eye* eye, int first, ph_view* view);

// Names those of the last question that are to enter and are not shown yet, in question->seen.
// @return How many, of the `expected` that the slots miss.
int ph_question_find_newcomers(ph_question* question, const ph_view* view, const ph_slots* slots,
                               int expected);

// Whether grid and groups agree with the entity arrays and the eyes they were last sorted by. For tests.
bool ph_nearby_validate(const ph_nearby* nearby, const ph_entity_arrays* arrays,
                        const ph_eye* eyes);

#endif
