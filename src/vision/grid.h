// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Entities sorted by cell, and the walk outwards from a viewer's cell.
//
// Cells are 2^k mm wide. The table of cells is a torus of a power of two by a power of two cells: a
// cell's place is the low bits of its coordinates, so the whole 32-bit world fits, its edge is no
// special case, and neighbours in x are neighbours in memory. Entities of cells far away that share
// a place are told apart by their distance. Rebuilt once per tick by a counting sort; queries read
// only the sorted arrays.

#ifndef PH_VISION_GRID_H
#define PH_VISION_GRID_H

#include "vision/sweep.h"

typedef struct ph_grid ph_grid;

// cell_mm is rounded up to a power of two. Room for capacity entities and for queries up to
// radius_mm_max.
// @return PH_OK or PH_ERROR_MEMORY with *grid NULL.
ph_result ph_grid_create(const ph_allocator* allocator, int32_t cell_mm, int capacity,
                         int64_t radius_mm_max, ph_grid** grid);
void ph_grid_destroy(ph_grid* grid);

// Makes room for more; whoever grows must rebuild before the next question. On PH_ERROR_MEMORY
// everything is as it was.
ph_result ph_grid_reserve(ph_grid* grid, int capacity, int64_t radius_mm_max);

// Sorts the crowd into cells. Allocates nothing; crowd->capacity is at most the reserved one.
void ph_grid_rebuild(ph_grid* grid, const ph_crowd* crowd);

// The eye->wanted nearest that it may see within its radius, exactly; seen[0..count) in no
// particular order, but the nearest `first` of them (or all, if fewer) come first as a set. first
// <= wanted. Who is in it depends on nothing that the eye may not see; the order of its elements
// may. scratch is the caller's (one per thread), see ph_grid_scratch_count(); it must be allocated
// memory, not a declared array, as other types are kept in it. Allocates nothing.
// @return How many.
int ph_grid_nearest(const ph_grid* grid, const ph_crowd* crowd, const ph_eye* eye, int first,
                    ph_seen* scratch, ph_seen* seen);

// Gathers enough for an answer of `wanted`, ALWAYS entities not counted, as a sweep that can be
// asked for views and answers; it lives in the scratch. `last` is the view of the last time, or NULL: the
// answer is the same.
ph_sweep ph_grid_gather(const ph_grid* grid, const ph_eye* eye, int wanted, int first,
                        const ph_view* last, ph_seen* scratch);

// How many ph_seen the scratch of one query must hold.
int ph_grid_scratch_count(const ph_grid* grid);

// The part of ph_grid_nearest() that is about ALWAYS entities, at most eye->wanted of them.
int ph_grid_always(const ph_grid* grid, const ph_crowd* crowd, const ph_eye* eye, int first,
                   ph_seen* scratch, ph_seen* seen);

// All that is within radius_mm of (x, y) and that `sees` may see, ALWAYS entities excepted: the
// candidates of a group. The eye's own entity and its callback count as in every question.
// @return How many were written to entities (capacity: the reserved one).
int ph_grid_within(const ph_grid* grid, const ph_crowd* crowd, const ph_eye* eye,
                   ph_entity_index* entities);

// True when the arrays agree with the crowd. For tests.
bool ph_grid_validate(const ph_grid* grid, const ph_crowd* crowd);

#endif
