// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The grid. From top to bottom: the spiral, made when a grid is created or grows; its memory and
// rebuilding, once per tick over all entities; questions, once per viewer and refresh.

#include "vision/grid.h"

#include "base/allocator.h"
#include "vision/select.h"

#include <math.h>
#include <string.h>

// ---- the spiral: plain, one bucket per squared distance

static int distance2(int column, int row)
{
    return column * column + row * row;
}

int ph_spiral_count(int reach)
{
    PH_ASSERT(0 <= reach && reach <= PH_SPIRAL_REACH_MAX);

    int count = 0;
    for (int row = -reach; row <= reach; ++row) {
        for (int column = -reach; column <= reach; ++column) {
            count += distance2(column, row) <= reach * reach;
        }
    }
    return count;
}

void ph_spiral_fill(ph_spiral_step* steps, int reach)
{
    PH_ASSERT(0 <= reach && reach <= PH_SPIRAL_REACH_MAX);

    int next_by_distance2[PH_SPIRAL_REACH_MAX * PH_SPIRAL_REACH_MAX + 2] = {0};
    for (int row = -reach; row <= reach; ++row) {
        for (int column = -reach; column <= reach; ++column) {
            if (distance2(column, row) <= reach * reach) {
                ++next_by_distance2[distance2(column, row) + 1];
            }
        }
    }
    for (int i = 1; i <= reach * reach; ++i) {
        next_by_distance2[i] += next_by_distance2[i - 1];
    }
    for (int row = -reach; row <= reach; ++row) {
        for (int column = -reach; column <= reach; ++column) {
            if (distance2(column, row) <= reach * reach) {
                steps[next_by_distance2[distance2(column, row)]++] =
                    (ph_spiral_step){(int16_t)column, (int16_t)row};
            }
        }
    }
}

// ---- memory and rebuilding

// The table has at most 2^TABLE_BITS_MAX places: 64 MB.
enum { TABLE_BITS_MAX = 24 };

// All places are gone over in each tick: a radius alone makes no more than 2^TABLE_BITS_FEW of them, or
// some 2^ENTITY_BITS_MORE for two entities.
enum { TABLE_BITS_FEW = 14, ENTITY_BITS_MORE = 4 };

// Far enough to estimate a density; beyond, the estimate is stretched.
enum { SPIRAL_REACH_MAX = 24 };

_Static_assert((int)SPIRAL_REACH_MAX <= PH_SPIRAL_REACH_MAX, "the spiral can be made");

// ---- memory

static int bits_for(uint64_t count)
{
    int bits = 0;
    while (UINT64_C(1) << bits < count) {
        ++bits;
    }
    return bits;
}

// Half as many places as entities at least, so that what shares a place by chance is little. Wide
// enough for the largest question; where that would take too many places, cells grow instead, and
// where there are few entities for so many, a question goes all the way round.
static void choose_shape(ph_grid* grid)
{
    grid->cell_shift = bits_for((uint64_t)grid->cell_mm_wanted);
    const uint64_t diameter = 2 * (uint64_t)grid->radius_mm_max;
    while ((diameter >> grid->cell_shift) + 2 > UINT64_C(1) << (TABLE_BITS_MAX / 2 - 1)) {
        ++grid->cell_shift;
    }
    const int world_bits = 32 - grid->cell_shift;
    const int side_bits = ph_least(bits_for((diameter >> grid->cell_shift) + 2), world_bits);
    const int entity_bits = ph_least(bits_for((uint64_t)grid->capacity / 2 + 1), TABLE_BITS_MAX);
    const int most_bits = ph_greatest(entity_bits + ENTITY_BITS_MORE, TABLE_BITS_FEW) / 2;
    const int wide_bits = ph_least(side_bits, most_bits);
    grid->column_bits = ph_least(ph_greatest(wide_bits, (entity_bits + 1) / 2), world_bits);
    grid->row_bits = ph_least(ph_greatest(wide_bits, entity_bits / 2), world_bits);
    // A spiral must not come to the same place twice.
    const int side = 1 << ph_least(grid->column_bits, grid->row_bits);
    const int64_t reach = (grid->radius_mm_max >> grid->cell_shift) + 1;
    grid->spiral_reach = ph_least((side - 1) / 2, SPIRAL_REACH_MAX);
    grid->spiral_reach = reach < grid->spiral_reach ? (int)reach : grid->spiral_reach;
    grid->spiral_count = ph_spiral_count(grid->spiral_reach);
}

static size_t padded_capacity(const ph_grid* grid)
{
    return (size_t)grid->capacity + PH_SWEEP_STEP;
}

// One per cell, one for those in no cell, and two in which the cells' counts become their begins.
static size_t cell_start_count(const ph_grid* grid)
{
    return (size_t)ph_grid_cell_count(grid) + 3;
}

static void release_grid(ph_grid* grid)
{
    const ph_allocator* allocator = &grid->allocator;
    const size_t padded = padded_capacity(grid);
    ph_release_array(allocator, grid->cell_start, cell_start_count(grid), sizeof *grid->cell_start);
    ph_release_array(allocator, grid->sorted.x_mm, padded, sizeof *grid->sorted.x_mm);
    ph_release_array(allocator, grid->sorted.y_mm, padded, sizeof *grid->sorted.y_mm);
    ph_release_array(allocator, grid->sorted.seen_by, padded, sizeof *grid->sorted.seen_by);
    ph_release_array(allocator, grid->sorted.entity, padded, sizeof *grid->sorted.entity);
    ph_release_array(allocator, grid->sorted.spawn_order, padded, sizeof *grid->sorted.spawn_order);
    ph_release_array(allocator, grid->sorted.place_of, padded, sizeof *grid->sorted.place_of);
    ph_release_array(allocator, grid->always, padded, sizeof *grid->always);
    ph_release_array(allocator, grid->cell_of, padded, sizeof *grid->cell_of);
    ph_release_array(allocator, grid->spiral, (size_t)grid->spiral_count, sizeof *grid->spiral);
}

// What lies past the end is read and ignored; it should still be the same in every run.
static void clear_grid(ph_grid* grid)
{
    const size_t padded = padded_capacity(grid);
    memset(grid->cell_start, 0, cell_start_count(grid) * sizeof *grid->cell_start);
    memset(grid->sorted.x_mm, 0, padded * sizeof *grid->sorted.x_mm);
    memset(grid->sorted.y_mm, 0, padded * sizeof *grid->sorted.y_mm);
    memset(grid->sorted.seen_by, 0, padded * sizeof *grid->sorted.seen_by);
    memset(grid->sorted.entity, 0xFF, padded * sizeof *grid->sorted.entity);
    memset(grid->sorted.spawn_order, 0xFF, padded * sizeof *grid->sorted.spawn_order);
    memset(grid->sorted.place_of, 0, padded * sizeof *grid->sorted.place_of);
}

// An empty grid of the shape that capacity and radius ask for, or everything NULL.
static ph_result allocate_grid(ph_grid* grid)
{
    const ph_allocator* allocator = &grid->allocator;
    const size_t padded = padded_capacity(grid);
    grid->cell_start =
        ph_allocate_array(allocator, cell_start_count(grid), sizeof *grid->cell_start);
    grid->sorted = (ph_cell_sorted){
        .x_mm = ph_allocate_array(allocator, padded, sizeof(int32_t)),
        .y_mm = ph_allocate_array(allocator, padded, sizeof(int32_t)),
        .seen_by = ph_allocate_array(allocator, padded, sizeof(uint32_t)),
        .entity = ph_allocate_array(allocator, padded, sizeof(ph_entity_index)),
        .spawn_order = ph_allocate_array(allocator, padded, sizeof(uint64_t)),
        .place_of = ph_allocate_array(allocator, padded, sizeof(uint32_t)),
    };
    grid->always = ph_allocate_array(allocator, padded, sizeof *grid->always);
    grid->cell_of = ph_allocate_array(allocator, padded, sizeof *grid->cell_of);
    grid->spiral = ph_allocate_array(allocator, (size_t)grid->spiral_count, sizeof *grid->spiral);
    const ph_cell_sorted* sorted = &grid->sorted;
    if (grid->cell_start == NULL || sorted->x_mm == NULL || sorted->y_mm == NULL ||
        sorted->seen_by == NULL || sorted->entity == NULL || sorted->spawn_order == NULL ||
        sorted->place_of == NULL || grid->always == NULL || grid->cell_of == NULL ||
        grid->spiral == NULL) {
        release_grid(grid);
        return PH_ERROR_MEMORY;
    }
    clear_grid(grid);
    ph_spiral_fill(grid->spiral, grid->spiral_reach);
    grid->count = 0;
    grid->always_count = 0;
    return PH_OK;
}

ph_result ph_grid_create(const ph_allocator* allocator, int32_t cell_mm, int capacity,
                         int64_t radius_mm_max, ph_grid** grid)
{
    PH_ASSERT(cell_mm > 0 && capacity >= 0);
    PH_ASSERT(0 <= radius_mm_max && radius_mm_max <= INT64_C(1) << 31);

    *grid = NULL;
    ph_grid* made = ph_allocate(allocator, sizeof *made);
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    *made = (ph_grid){
        .allocator = *allocator,
        .cell_mm_wanted = cell_mm,
        .capacity = capacity,
        .radius_mm_max = radius_mm_max,
    };
    choose_shape(made);
    if (allocate_grid(made) != PH_OK) {
        ph_release(allocator, made, sizeof *made);
        return PH_ERROR_MEMORY;
    }
    *grid = made;
    return PH_OK;
}

void ph_grid_destroy(ph_grid* grid)
{
    if (grid == NULL) {
        return;
    }
    const ph_allocator allocator = grid->allocator;
    release_grid(grid);
    ph_release(&allocator, grid, sizeof *grid);
}

// The entities in it go with the old arrays: growth happens between ticks, before a rebuild.
ph_result ph_grid_reserve(ph_grid* grid, int capacity, int64_t radius_mm_max)
{
    PH_ASSERT(capacity >= 0);
    PH_ASSERT(0 <= radius_mm_max && radius_mm_max <= INT64_C(1) << 31);

    if (capacity <= grid->capacity && radius_mm_max <= grid->radius_mm_max) {
        return PH_OK;
    }
    ph_grid grown = *grid;
    grown.capacity = ph_greatest(capacity, grid->capacity);
    if (radius_mm_max > grid->radius_mm_max) {
        grown.radius_mm_max = radius_mm_max;
    }
    choose_shape(&grown);
    const ph_result result = allocate_grid(&grown);
    if (result != PH_OK) {
        return result;
    }
    release_grid(grid);
    *grid = grown;
    return PH_OK;
}

int ph_grid_scratch_count(const ph_grid* grid)
{
    return ph_sweep_scratch_count(grid->capacity);
}

// ---- rebuilding: a counting sort

// Notes each one's cell and how many are in it, two entries further on. One that is always or never seen
// is in no cell.
static void count_cells(ph_grid* grid, const ph_entity_arrays* arrays)
{
    uint32_t* counts = grid->cell_start + 2;
    memset(grid->cell_start, 0, cell_start_count(grid) * sizeof *grid->cell_start);
    const uint32_t nowhere = ph_grid_cell_count(grid);
    uint32_t* cell_of = grid->cell_of;
    for (int i = 0; i < arrays->live_count; ++i) {
        const ph_entity_index entity = arrays->live[i];
        const uint32_t column = (uint32_t)arrays->x_mm[entity] >> grid->cell_shift;
        const uint32_t row = (uint32_t)arrays->y_mm[entity] >> grid->cell_shift;
        const bool is_placed = (arrays->flags[entity] & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
        const uint32_t cell = is_placed ? ph_grid_cell_at(grid, column, row) : nowhere;
        cell_of[i] = cell;
        ++counts[cell];
    }
}

// Afterwards the entry behind each cell's own says where the cell begins.
static void sum_cells(ph_grid* grid)
{
    const uint32_t cell_count = ph_grid_cell_count(grid);
    uint32_t* cell_start = grid->cell_start;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= cell_count; ++i) {
        sum += cell_start[i + 1];
        cell_start[i + 1] = sum;
    }
}

// Each entity moves its cell's begin on, so in the end every begin has become the one of the next
// cell, and stands where it belongs. Those in no cell go to the end, where no query looks.
static void place_entities(ph_grid* grid, const ph_entity_arrays* arrays)
{
    uint32_t* next = grid->cell_start + 1;
    const uint32_t* cell_of = grid->cell_of;
    const ph_cell_sorted sorted = grid->sorted;
    for (int i = 0; i < arrays->live_count; ++i) {
        const ph_entity_index entity = arrays->live[i];
        const uint32_t place = next[cell_of[i]]++;
        sorted.entity[place] = entity;
        sorted.place_of[entity] = place; // mostly in order, as entities are here
    }
}

// In a pass of its own: to read here and there and write in order is faster than the other way
// round.
static void copy_to_cells(ph_grid* grid, const ph_entity_arrays* arrays)
{
    const ph_cell_sorted sorted = grid->sorted;
    uint32_t seen_by_every = UINT32_MAX;
    for (int place = 0; place < arrays->live_count; ++place) {
        const ph_entity_index entity = sorted.entity[place];
        const uint32_t seen_by = arrays->seen_by[entity];
        seen_by_every &= seen_by;
        sorted.x_mm[place] = arrays->x_mm[entity];
        sorted.y_mm[place] = arrays->y_mm[entity];
        sorted.seen_by[place] = seen_by;
        sorted.spawn_order[place] = arrays->spawn_order[entity];
    }
    grid->sorted.seen_by_every = seen_by_every;
}

static void list_always(ph_grid* grid, const ph_entity_arrays* arrays)
{
    grid->always_count = 0;
    for (int place = grid->count; place < arrays->live_count; ++place) {
        const ph_entity_index entity = grid->sorted.entity[place];
        if ((arrays->flags[entity] & PH_SEEN_NEVER) == 0) {
            grid->always[grid->always_count++] = entity;
        }
    }
}

void ph_grid_rebuild(ph_grid* grid, const ph_entity_arrays* arrays)
{
    PH_ASSERT(arrays->capacity <= grid->capacity && arrays->live_count <= arrays->capacity);

    count_cells(grid, arrays);
    sum_cells(grid);
    place_entities(grid, arrays);
    copy_to_cells(grid, arrays);
    grid->count = (int)grid->cell_start[ph_grid_cell_count(grid)];
    list_always(grid, arrays);
}

// ---- validation

static bool is_place_right(const ph_grid* grid, const ph_entity_arrays* arrays, uint32_t cell,
                           uint32_t place)
{
    const ph_cell_sorted* sorted = &grid->sorted;
    const ph_entity_index entity = sorted->entity[place];
    if (entity >= (uint32_t)arrays->capacity || arrays->spawn_order[entity] == UINT64_MAX) {
        return false;
    }
    const uint32_t column = (uint32_t)arrays->x_mm[entity] >> grid->cell_shift;
    const uint32_t row = (uint32_t)arrays->y_mm[entity] >> grid->cell_shift;
    return ph_grid_cell_at(grid, column, row) == cell &&
           sorted->x_mm[place] == arrays->x_mm[entity] &&
           sorted->y_mm[place] == arrays->y_mm[entity] &&
           sorted->seen_by[place] == arrays->seen_by[entity] &&
           sorted->spawn_order[place] == arrays->spawn_order[entity] &&
           sorted->place_of[entity] == place &&
           (sorted->seen_by[place] & sorted->seen_by_every) == sorted->seen_by_every &&
           (arrays->flags[entity] & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
}

bool ph_grid_validate(const ph_grid* grid, const ph_entity_arrays* arrays)
{
    int placed = 0;
    int always = 0;
    for (int i = 0; i < arrays->live_count; ++i) {
        const uint8_t flags = arrays->flags[arrays->live[i]];
        placed += (flags & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
        always += (flags & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == PH_SEEN_ALWAYS;
    }
    if (placed != grid->count || always != grid->always_count || grid->cell_start[0] != 0 ||
        grid->cell_start[ph_grid_cell_count(grid)] != (uint32_t)grid->count) {
        return false;
    }
    // None twice: as many as there should be, and each spawn order in one cell only once would
    // need a set; the sum of all is as good against mistakes.
    uint64_t sum = 0;
    for (uint32_t cell = 0; cell < ph_grid_cell_count(grid); ++cell) {
        for (uint32_t place = grid->cell_start[cell]; place < grid->cell_start[cell + 1]; ++place) {
            if (!is_place_right(grid, arrays, cell, place)) {
                return false;
            }
            sum += grid->sorted.spawn_order[place];
        }
    }
    for (int i = 0; i < arrays->live_count; ++i) {
        const ph_entity_index entity = arrays->live[i];
        const bool is_placed = (arrays->flags[entity] & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
        sum -= is_placed ? arrays->spawn_order[entity] : 0;
    }
    return sum == 0;
}

// ---- questions, in two steps:
//
//   1. Walk the spiral and add up how many are in each cell, until there are enough. That tells how
//      far the wanted number probably reaches. (Only cell_start is read.)
//   2. Sweep the cells that a circle of this radius touches, row by row: a row's cells lie in one
//      piece, so there are few and long loops. When enough of those found are inside the circle, no nearer
//      one can follow: everything inside the circle was looked at. Else the circle grows, and only
//      what is new is swept.
//
// What an eye may not see changes an estimate, never a result.

// Eye coordinates are moved up by whole worlds, so that no cell around them has a negative number.
#define WORLD_OFFSET (INT64_C(1) << 33)
// How much further the first circle goes than the last result: a tenth more would be found there,
// and a circle that is too small costs more than one that is too large.
#define LAST_SLACK 0.05

typedef struct cell_walk {
    const ph_grid* grid;
    int64_t x_mm;
    int64_t y_mm;
    int64_t column; // of the eye's cell
    int64_t row;
    void (*visit)(void* context, uint32_t begin, uint32_t end); // places of the sorted
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
// first. @return How many rows were looked at.
static int visit_ring(const cell_walk* walk, int64_t done_mm, int64_t radius_mm)
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
    return (int)(rows.last - rows.first + 1);
}

// The next circle: as far as the density inside says, a quarter more at least and double at most.
static int64_t next_radius(int64_t radius_mm, int found, int wanted, int64_t radius_mm_max)
{
    const double ratio = found > 0 ? sqrt(1.1 * wanted / found) : 2.0;
    const double factor = ratio < 1.25 ? 1.25 : ratio > 2.0 ? 2.0 : ratio;
    const double next = (double)radius_mm * factor + 1.0;
    return next < (double)radius_mm_max ? (int64_t)next : radius_mm_max;
}

static void gather_run(void* context, uint32_t begin, uint32_t end)
{
    ph_sweep_gather(context, begin, end);
}

// The first circle: a little further than the last result reached, if there was one.
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
// reached, at once when none is left to gather.
static void sweep_until_found(const cell_walk* walk, ph_sweep* sweep, const ph_view* last,
                              int wanted)
{
    const int64_t radius_mm_max = sweep->eye->radius_mm;
    int64_t done_mm = -1;
    int64_t radius_mm = first_radius(walk, last, wanted, radius_mm_max);
    while (true) {
        sweep->row_count += visit_ring(walk, done_mm, radius_mm);
        const int found = ph_sweep_count_within(sweep, radius_mm);
        if (found >= wanted || radius_mm == radius_mm_max) {
            return;
        }
        if (sweep->count == walk->grid->count) {
            ph_sweep_count_within(sweep, radius_mm_max);
            return;
        }
        done_mm = radius_mm;
        radius_mm = next_radius(radius_mm, found, wanted, radius_mm_max);
    }
}

// ---- questions

int ph_grid_always(const ph_grid* grid, const ph_entity_arrays* arrays, const ph_eye* eye,
                   int first, ph_seen* scratch, ph_seen* seen)
{
    int count = 0;
    for (int i = 0; i < grid->always_count; ++i) {
        const ph_entity_index entity = grid->always[i];
        if (ph_eye_may_see(eye, arrays, entity)) {
            scratch[count++] = (ph_seen){0, arrays->spawn_order[entity], entity};
        }
    }
    count = ph_select_nearest(scratch, count, eye->wanted);
    ph_select_nearest(scratch, count, first);
    memcpy(seen, scratch, (size_t)count * sizeof *seen);
    return count;
}

ph_sweep ph_grid_gather(const ph_grid* grid, const ph_eye* eye, int wanted, const ph_view* last,
                        ph_seen* scratch)
{
    PH_ASSERT(0 <= eye->radius_mm && eye->radius_mm <= INT64_C(1) << 31);

    ph_sweep sweep = ph_sweep_make(&grid->sorted, eye, scratch, grid->capacity);
    cell_walk walk = make_walk(grid, eye);
    walk.visit = gather_run;
    walk.context = &sweep;
    sweep_until_found(&walk, &sweep, last, wanted);
    return sweep;
}

int ph_grid_nearest(const ph_grid* grid, const ph_entity_arrays* arrays, const ph_eye* eye,
                    int first, ph_seen* scratch, ph_seen* seen)
{
    PH_ASSERT(0 <= first && first <= eye->wanted);

    const int always_count = ph_grid_always(grid, arrays, eye, first, scratch, seen);
    const int wanted = eye->wanted - always_count;
    if (wanted == 0) {
        return always_count;
    }
    const int first_left = first > always_count ? first - always_count : 0;
    ph_sweep sweep = ph_grid_gather(grid, eye, wanted, NULL, scratch);
    return always_count + ph_sweep_take(&sweep, wanted, first_left, seen + always_count);
}

typedef struct collection {
    const ph_cell_sorted* sorted;
    const ph_eye* eye;
    ph_entity_index* entities;
    int count;
} collection;

static void collect_run(void* context, uint32_t begin, uint32_t end)
{
    collection* into = context;
    const ph_cell_sorted* sorted = into->sorted;
    const ph_eye* eye = into->eye;
    const uint64_t radius2 = (uint64_t)(eye->radius_mm * eye->radius_mm);
    for (uint32_t i = begin; i < end; ++i) {
        const uint64_t distance2 =
            ph_distance2(sorted->x_mm[i], sorted->y_mm[i], eye->x_mm, eye->y_mm);
        if (distance2 <= radius2 && (sorted->seen_by[i] & eye->sees) != 0 &&
            sorted->entity[i] != eye->own && ph_eye_ask(eye, sorted->entity[i])) {
            into->entities[into->count++] = sorted->entity[i];
        }
    }
}

int ph_grid_within(const ph_grid* grid, const ph_entity_arrays* arrays, const ph_eye* eye,
                   ph_entity_index* entities)
{
    (void)arrays; // all that counts was copied

    PH_ASSERT(0 <= eye->radius_mm && eye->radius_mm <= INT64_C(1) << 31);

    collection into = {.sorted = &grid->sorted, .eye = eye, .entities = entities};
    cell_walk walk = make_walk(grid, eye);
    walk.visit = collect_run;
    walk.context = &into;
    visit_ring(&walk, -1, eye->radius_mm);
    return into.count;
}
