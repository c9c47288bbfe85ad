// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is inside a grid: shared by grid.c, which fills it, and grid_query.c, which only reads it.
//
//   cell_start   | 0 | 2 | 2 | 5 | ...    one per cell, row by row, and one for the end
//                  |       \    \.
//   lineup       | a b | c d e | f ...    entities by cell; x, y, masks and all else in this order
//
// A place of the table stands for all cells of the world with the same low bits of column and row.

#ifndef PH_VISION_GRID_TABLE_H
#define PH_VISION_GRID_TABLE_H

#include "vision/grid.h"
#include "vision/spiral.h"
#include "vision/sweep.h"

struct ph_grid {
    ph_allocator allocator;
    int32_t cell_mm_wanted; // as given to create
    int64_t radius_mm_max;
    int capacity;

    int cell_shift; // a cell is 2^cell_shift mm wide
    int column_bits;
    int row_bits;
    uint32_t* cell_start;

    ph_lineup lineup;
    int count; // entities in cells
    ph_entity_index* always;
    int always_count;
    uint32_t* cell_of; // by place in the crowd's list of the living; used while rebuilding

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
