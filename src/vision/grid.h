// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The grid: entities sorted by cell once per tick, the order in which cells are looked at, and the exact
// question for the nearest.

#ifndef PH_VISION_GRID_H
#define PH_VISION_GRID_H

#include "vision/sweep.h"

#include <pinhole/base.h>

// ---- the spiral
//
// The order in which a question looks at the cells around its own: offsets by distance, made once.
// Equally far cells come row by row.
//
//              9
//           5  1  6
//       10  2  0  3 11
//           7  4  8
//             12

typedef struct ph_spiral_step {
    int16_t column;
    int16_t row;
} ph_spiral_step;

// How many steps reach no further than `reach` cells (0..PH_SPIRAL_REACH_MAX) from the middle to
// the middle. At least 1: the cell itself.
#define PH_SPIRAL_REACH_MAX 64

int ph_spiral_count(int reach);

// Fills that many steps, nearest first.
void ph_spiral_fill(ph_spiral_step* steps, int reach);

// ---- the grid
//
// Entities sorted by cell, and the walk outwards from a viewer's cell.
//
// Cells are 2^k mm wide. The table of cells is a torus of a power of two by a power of two cells: a
// cell's place is the low bits of its coordinates, so the whole 32-bit world fits, its edge is no
// special case, and neighbours in x are neighbours in memory. Entities of cells far away that share
// a place are told apart by their distance. Rebuilt once per tick by a counting sort; queries read
// only the sorted arrays.

typedef struct ph_grid ph_grid;

// cell_mm is rounded up to a power of two. Room for capacity entities and for queries up to
// radius_mm_max.
// @return PH_OK or PH_ERROR_MEMORY with *grid NULL.
ph_result ph_grid_create(const ph_allocator* allocator, int32_t cell_mm, int capacity,
                         int64_t radius_mm_max, ph_grid** grid);

void ph_grid_destroy(ph_grid* grid);

// Makes room for more; the caller must rebuild before the next question. On PH_ERROR_MEMORY
// everything is as it was.
ph_result ph_grid_reserve(ph_grid* grid, int capacity, int64_t radius_mm_max);

// Sorts the entities into cells. Allocates nothing; arrays->capacity is at most the reserved one.
void ph_grid_rebuild(ph_grid* grid, const ph_entity_arrays* arrays);

// The eye->wanted nearest that it may see within its radius, exactly; seen[0..count) in no
// particular order, but the nearest `first` of them (or all, if fewer) come first as a set. first
// <= wanted. Who is in it depends on nothing that the eye may not see; the order of its elements
// may. scratch is the caller's (one per thread), see ph_grid_scratch_count(); it must be allocated
// memory, not a declared array, as other types are kept in it. Allocates nothing.
// @return How many.
int ph_grid_nearest(const ph_grid* grid, const ph_entity_arrays* arrays, const ph_eye* eye,
                    int first, ph_seen* scratch, ph_seen* seen);

// Gathers enough for a result of `wanted`, ALWAYS entities not counted, as a sweep that can be
// asked for views and results; it lives in the scratch. `last` is the view of the last time, or NULL: the
// result is the same.
ph_sweep ph_grid_gather(const ph_grid* grid, const ph_eye* eye, int wanted, const ph_view* last,
                        ph_seen* scratch);

// How many ph_seen the scratch of one query must hold.
int ph_grid_scratch_count(const ph_grid* grid);

// The part of ph_grid_nearest() that is about ALWAYS entities, at most eye->wanted of them.
int ph_grid_always(const ph_grid* grid, const ph_entity_arrays* arrays, const ph_eye* eye,
                   int first, ph_seen* scratch, ph_seen* seen);

// All that is within radius_mm of (x, y) and that `sees` may see, ALWAYS entities excepted: the
// candidates of a group. The eye's own entity and its callback count as in every question.
// @return How many were written to entities (capacity: the reserved one).
int ph_grid_within(const ph_grid* grid, const ph_entity_arrays* arrays, const ph_eye* eye,
                   ph_entity_index* entities);

// True when the arrays agree with the entity arrays. For tests.
bool ph_grid_validate(const ph_grid* grid, const ph_entity_arrays* arrays);

// ---- what is inside a grid; for grid.c
//
//   cell_start   | 0 | 2 | 2 | 5 | ...    one per cell, row by row, and one for the end
//                  |       \    \.
//   sorted       | a b | c d e | f ...    entities by cell; x, y, masks and all else in this order
//
// A place of the table stands for all cells of the world with the same low bits of column and row.

struct ph_grid {
    ph_allocator allocator;
    int32_t cell_mm_wanted; // as given to create
    int64_t radius_mm_max;
    int capacity;

    int cell_shift; // a cell is 2^cell_shift mm wide
    int column_bits;
    int row_bits;
    uint32_t* cell_start;

    ph_cell_sorted sorted;
    int count; // entities in cells
    ph_entity_index* always;
    int always_count;
    uint32_t* cell_of; // by place in the list of live entities; used while rebuilding

    ph_spiral_step* spiral;
    int spiral_reach;
    int spiral_count;
};

static inline uint32_t ph_grid_cell_count(const ph_grid* grid)
{
    return UINT32_C(1) << (grid->column_bits + grid->row_bits);
}

// The place in the table of the cell at these coordinates, in cells from anywhere.
static inline uint32_t ph_grid_cell_at(const ph_grid* grid, uint32_t column, uint32_t row)
{
    const uint32_t column_mask = (UINT32_C(1) << grid->column_bits) - 1;
    const uint32_t row_mask = (UINT32_C(1) << grid->row_bits) - 1;
    return (row & row_mask) << grid->column_bits | (column & column_mask);
}

#endif
