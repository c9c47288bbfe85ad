// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Questions to the grid; run once per viewer and refresh. In two steps:
//
//   1. Walk the spiral and add up how many are in each cell, until there are enough. That tells how
//      far the wanted number probably reaches. (Only cell_start is read.)
//   2. Sweep the cells that a circle of this radius touches, row by row: a row's cells lie in one
//      piece, so there are few and long loops. When enough of those found are inside the circle, no nearer
//      one can follow: everything inside the circle was looked at. Else the circle grows, and only
//      what is new is swept.
//
// What an eye may not see makes an estimate better or worse, never an answer.

#include "vision/grid.h"

#include "vision/grid_table.h"
#include "vision/select.h"

#include <math.h>
#include <string.h>

// Eye coordinates are moved up by whole worlds, so that no cell around them has a negative number.
#define WORLD_OFFSET (INT64_C(1) << 33)

// How much further the first circle goes than the last answer: a tenth more would be found there,
// and a circle that is too small costs more than one that is too large.
#define LAST_SLACK 0.05

typedef struct cell_walk {
    const ph_grid* grid;
    int64_t x_mm;
    int64_t y_mm;
    int64_t column; // of the eye's cell
    int64_t row;
    void (*visit)(void* context, uint32_t begin, uint32_t end); // places of the lineup
    void* context;
} cell_walk;

// Cells first..last of a row, or rows. Empty when last < first.
typedef struct span {
    int64_t first;
    int64_t last;
} span;

static cell_walk make_walk(const ph_grid* grid, const ph_eye* eye)
{
    const int64_t x_mm = WORLD_OFFSET + eye->x_mm;
    const int64_t y_mm = WORLD_OFFSET + eye->y_mm;
    return (cell_walk){
        .grid = grid,
        .x_mm = x_mm,
        .y_mm = y_mm,
        .column = x_mm >> grid->cell_shift,
        .row = y_mm >> grid->cell_shift,
    };
}

// ---- how far to look

static uint32_t count_in_cell(const cell_walk* walk, const ph_spiral_step* step)
{
    const uint32_t cell = ph_grid_cell_at(walk->grid, (uint32_t)(walk->column + step->column),
                                          (uint32_t)(walk->row + step->row));
    return walk->grid->cell_start[cell + 1] - walk->grid->cell_start[cell];
}

// A radius within which `wanted` are to be expected, and two standard deviations more.
static int64_t estimate_radius(const cell_walk* walk, int wanted, int64_t radius_mm)
{
    const ph_grid* grid = walk->grid;
    const double target = wanted + 2.0 * sqrt((double)wanted) + 1.0;
    uint32_t found = 0;
    int cells = 0;
    while (cells < grid->spiral_count && found < (uint32_t)target) {
        found += count_in_cell(walk, &grid->spiral[cells]);
        ++cells;
    }
    const double cell_mm = (double)(INT64_C(1) << grid->cell_shift);
    const double area = cells * cell_mm * cell_mm;
    const double stretch = found > 0 ? target / found : 4.0;
    const double estimate = sqrt(area * (stretch < 4.0 ? stretch : 4.0) / 3.14159265);
    return estimate < (double)radius_mm ? (int64_t)estimate : radius_mm;
}

// ---- which cells

// Which rows (or cells of a row) of the table touch position +- reach. Each place of the table once
// at most: when they go all the way round, those around the middle.
static span span_of(int64_t position_mm, int64_t reach_mm, int shift, int table_bits)
{
    const int64_t size = INT64_C(1) << table_bits;
    const int64_t first = (position_mm - reach_mm) >> shift;
    const int64_t last = (position_mm + reach_mm) >> shift;
    if (last - first + 1 < size) {
        return (span){first, last};
    }
    const int64_t round = (position_mm >> shift) - size / 2;
    return (span){round, round + size - 1};
}

static span rows_within(const cell_walk* walk, int64_t radius_mm)
{
    return span_of(walk->y_mm, radius_mm, walk->grid->cell_shift, walk->grid->row_bits);
}

// The least distance between the eye and a row. The row half a table away stands for one below and
// one above: for this one, the least distance between it and the eye's row, which is right for
// both.
static int64_t row_gap(const cell_walk* walk, int64_t row)
{
    const int shift = walk->grid->cell_shift;
    const int64_t rows = row < walk->row ? walk->row - row : row - walk->row;
    if (rows == 0) {
        return 0;
    }
    if (2 * rows == INT64_C(1) << walk->grid->row_bits) {
        return (rows - 1) << shift;
    }
    return row < walk->row ? walk->y_mm - ((row + 1) << shift) + 1 : (row << shift) - walk->y_mm;
}

static span columns_within(const cell_walk* walk, int64_t row, int64_t radius_mm)
{
    const int64_t gap_mm = row_gap(walk, row);
    if (radius_mm < gap_mm) {
        return (span){0, -1};
    }
    // Half the chord, rounded up.
    const int64_t square = radius_mm * radius_mm - gap_mm * gap_mm;
    const int64_t reach_mm = (int64_t)sqrt((double)square) + 1;
    return span_of(walk->x_mm, reach_mm, walk->grid->cell_shift, walk->grid->column_bits);
}

// ---- the sweep

static void visit_cells(const cell_walk* walk, int64_t row, int64_t first, int64_t last)
{
    if (last < first) {
        return;
    }
    const ph_grid* grid = walk->grid;
    const uint32_t begin = ph_grid_cell_at(grid, (uint32_t)first, (uint32_t)row);
    const uint32_t end = ph_grid_cell_at(grid, (uint32_t)last, (uint32_t)row);
    if (begin <= end) {
        walk->visit(walk->context, grid->cell_start[begin], grid->cell_start[end + 1]);
        return;
    }
    // Across the edge of the table: to its end, and from its begin.
    const uint32_t row_begin = ph_grid_cell_at(grid, 0, (uint32_t)row);
    const uint32_t row_end = row_begin + (UINT32_C(1) << grid->column_bits);
    walk->visit(walk->context, grid->cell_start[begin], grid->cell_start[row_end]);
    walk->visit(walk->context, grid->cell_start[row_begin], grid->cell_start[end + 1]);
}

// At the edge of a world, or in a small one, half of the rows are.
static bool is_row_empty(const ph_grid* grid, int64_t row)
{
    const uint32_t begin = ph_grid_cell_at(grid, 0, (uint32_t)row);
    return grid->cell_start[begin] == grid->cell_start[begin + (UINT32_C(1) << grid->column_bits)];
}

// All cells that a circle of radius_mm touches and that one of done_mm did not; done_mm is -1 at
// first.
static void visit_ring(const cell_walk* walk, int64_t done_mm, int64_t radius_mm)
{
    const span rows = rows_within(walk, radius_mm);
    const span done_rows = done_mm < 0 ? (span){0, -1} : rows_within(walk, done_mm);
    for (int64_t row = rows.first; row <= rows.last; ++row) {
        if (is_row_empty(walk->grid, row)) {
            continue;
        }
        const span columns = columns_within(walk, row, radius_mm);
        if (row < done_rows.first || row > done_rows.last) {
            visit_cells(walk, row, columns.first, columns.last);
            continue;
        }
        const span done = columns_within(walk, row, done_mm);
        if (done.last < done.first) {
            visit_cells(walk, row, columns.first, columns.last);
            continue;
        }
        visit_cells(walk, row, columns.first, done.first - 1);
        visit_cells(walk, row, done.last + 1, columns.last);
    }
}

// The next circle: as far as the density inside says, a quarter more at least and double at most.
static int64_t next_radius(int64_t radius_mm, int found, int wanted, int64_t radius_mm_max)
{
    const double ratio = found > 0 ? sqrt(1.1 * wanted / found) : 2.0;
    const double factor = ratio < 1.25 ? 1.25 : ratio > 2.0 ? 2.0 : ratio;
    const double next = (double)radius_mm * factor + 1.0;
    return next < (double)radius_mm_max ? (int64_t)next : radius_mm_max;
}

static void gather(void* context, uint32_t begin, uint32_t end)
{
    ph_sweep_gather(context, begin, end);
}

// The first circle: a little further than the last answer reached, if there was one.
static int64_t first_radius(const cell_walk* walk, const ph_view* last, int wanted,
                            int64_t radius_mm_max)
{
    if (last == NULL || last->wide.distance2 == 0) {
        return estimate_radius(walk, wanted, radius_mm_max);
    }
    const double estimate = sqrt((double)last->wide.distance2) * (1.0 + LAST_SLACK) + 1.0;
    return estimate < (double)radius_mm_max ? (int64_t)estimate : radius_mm_max;
}

// Gathers until `wanted` are found within a circle that was looked at in full, or the radius is
// reached.
static void sweep_until_found(const cell_walk* walk, ph_sweep* sweep, const ph_view* last,
                              int wanted)
{
    const int64_t radius_mm_max = sweep->eye->radius_mm;
    int64_t done_mm = -1;
    int64_t radius_mm = first_radius(walk, last, wanted, radius_mm_max);
    while (true) {
        visit_ring(walk, done_mm, radius_mm);
        const int found = ph_sweep_count_within(sweep, radius_mm);
        if (found >= wanted || radius_mm == radius_mm_max) {
            return;
        }
        done_mm = radius_mm;
        radius_mm = next_radius(radius_mm, found, wanted, radius_mm_max);
    }
}

// ---- questions

int ph_grid_always(const ph_grid* grid, const ph_crowd* crowd, const ph_eye* eye, int first,
                   ph_seen* scratch, ph_seen* seen)
{
    int count = 0;
    for (int i = 0; i < grid->always_count; ++i) {
        const ph_entity_index entity = grid->always[i];
        if (ph_eye_may_see(eye, crowd, entity)) {
            scratch[count++] = (ph_seen){0, crowd->spawn_order[entity], entity};
        }
    }
    count = ph_select_nearest(scratch, count, eye->wanted);
    ph_select_nearest(scratch, count, first);
    memcpy(seen, scratch, (size_t)count * sizeof *seen);
    return count;
}

ph_sweep ph_grid_gather(const ph_grid* grid, const ph_eye* eye, int wanted, int first,
                        const ph_view* last, ph_seen* scratch)
{
    PH_ASSERT(0 <= eye->radius_mm && eye->radius_mm <= INT64_C(1) << 31);

    ph_sweep sweep = ph_sweep_make(&grid->lineup, eye, scratch, grid->capacity);
    if (last != NULL) {
        ph_sweep_expect(&sweep, last, wanted, first);
    }
    cell_walk walk = make_walk(grid, eye);
    walk.visit = gather;
    walk.context = &sweep;
    sweep_until_found(&walk, &sweep, last, wanted);
    return sweep;
}

int ph_grid_nearest(const ph_grid* grid, const ph_crowd* crowd, const ph_eye* eye, int first,
                    ph_seen* scratch, ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= eye->wanted);

    const int always_count = ph_grid_always(grid, crowd, eye, first, scratch, seen);
    const int wanted = eye->wanted - always_count;
    if (wanted == 0) {
        return always_count;
    }
    const int first_left = first > always_count ? first - always_count : 0;
    ph_sweep sweep = ph_grid_gather(grid, eye, wanted, first_left, NULL, scratch);
    return always_count + ph_sweep_take(&sweep, wanted, first_left, seen + always_count);
}

typedef struct collection {
    const ph_lineup* lineup;
    const ph_eye* eye;
    ph_entity_index* entities;
    int count;
} collection;

static void collect(void* context, uint32_t begin, uint32_t end)
{
    collection* into = context;
    const ph_lineup* lineup = into->lineup;
    const ph_eye* eye = into->eye;
    const uint64_t radius2 = (uint64_t)(eye->radius_mm * eye->radius_mm);
    for (uint32_t i = begin; i < end; ++i) {
        const uint64_t distance2 =
            ph_distance2(lineup->x_mm[i], lineup->y_mm[i], eye->x_mm, eye->y_mm);
        if (distance2 <= radius2 && (lineup->seen_by[i] & eye->sees) != 0 &&
            lineup->entity[i] != eye->own && ph_eye_ask(eye, lineup->entity[i])) {
            into->entities[into->count++] = lineup->entity[i];
        }
    }
}

int ph_grid_within(const ph_grid* grid, const ph_crowd* crowd, const ph_eye* eye,
                   ph_entity_index* entities)
{
    (void)crowd; // all that counts was copied

    PH_ASSERT(0 <= eye->radius_mm && eye->radius_mm <= INT64_C(1) << 31);

    collection into = {.lineup = &grid->lineup, .eye = eye, .entities = entities};
    cell_walk walk = make_walk(grid, eye);
    walk.visit = collect;
    walk.context = &into;
    visit_ring(&walk, -1, eye->radius_mm);
    return into.count;
}
