// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The grid's memory and its rebuilding, which runs once per tick over all entities.

#include "vision/grid.h"

#include "base/allocator.h"
#include "vision/grid_table.h"

#include <string.h>

// The table has at most 2^TABLE_BITS_MAX places: 64 MB.
enum { TABLE_BITS_MAX = 24 };
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

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int greatest(int a, int b)
{
    return a > b ? a : b;
}

// Half as many places as entities at least, so that what shares a place by chance is little. Wide
// enough for the largest question; where that would take too many places, cells grow instead.
static void choose_shape(ph_grid* grid)
{
    grid->cell_shift = bits_for((uint64_t)grid->cell_mm_wanted);
    const uint64_t diameter = 2 * (uint64_t)grid->radius_mm_max;
    while ((diameter >> grid->cell_shift) + 2 > UINT64_C(1) << (TABLE_BITS_MAX / 2 - 1)) {
        ++grid->cell_shift;
    }
    const int world_bits = 32 - grid->cell_shift;
    const int side_bits = least(bits_for((diameter >> grid->cell_shift) + 2), world_bits);
    const int crowd_bits = least(bits_for((uint64_t)grid->capacity / 2 + 1), TABLE_BITS_MAX);
    grid->column_bits = least(greatest(side_bits, (crowd_bits + 1) / 2), world_bits);
    grid->row_bits = least(greatest(side_bits, crowd_bits / 2), world_bits);
    // A spiral must not come to the same place twice.
    const int side = 1 << least(grid->column_bits, grid->row_bits);
    const int64_t reach = (grid->radius_mm_max >> grid->cell_shift) + 1;
    grid->spiral_reach = least((side - 1) / 2, SPIRAL_REACH_MAX);
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

static void release_arrays(ph_grid* grid)
{
    const ph_allocator* allocator = &grid->allocator;
    const size_t padded = padded_capacity(grid);
    ph_release_array(allocator, grid->cell_start, cell_start_count(grid), sizeof *grid->cell_start);
    ph_release_array(allocator, grid->lineup.x_mm, padded, sizeof *grid->lineup.x_mm);
    ph_release_array(allocator, grid->lineup.y_mm, padded, sizeof *grid->lineup.y_mm);
    ph_release_array(allocator, grid->lineup.seen_by, padded, sizeof *grid->lineup.seen_by);
    ph_release_array(allocator, grid->lineup.entity, padded, sizeof *grid->lineup.entity);
    ph_release_array(allocator, grid->lineup.spawn_order, padded, sizeof *grid->lineup.spawn_order);
    ph_release_array(allocator, grid->lineup.place_of, padded, sizeof *grid->lineup.place_of);
    ph_release_array(allocator, grid->always, padded, sizeof *grid->always);
    ph_release_array(allocator, grid->cell_of, padded, sizeof *grid->cell_of);
    ph_release_array(allocator, grid->spiral, (size_t)grid->spiral_count, sizeof *grid->spiral);
}

// What lies past the end is read and ignored; it should still be the same in every run.
static void clear_arrays(ph_grid* grid)
{
    const size_t padded = padded_capacity(grid);
    memset(grid->cell_start, 0, cell_start_count(grid) * sizeof *grid->cell_start);
    memset(grid->lineup.x_mm, 0, padded * sizeof *grid->lineup.x_mm);
    memset(grid->lineup.y_mm, 0, padded * sizeof *grid->lineup.y_mm);
    memset(grid->lineup.seen_by, 0, padded * sizeof *grid->lineup.seen_by);
    memset(grid->lineup.entity, 0xFF, padded * sizeof *grid->lineup.entity);
    memset(grid->lineup.spawn_order, 0xFF, padded * sizeof *grid->lineup.spawn_order);
    memset(grid->lineup.place_of, 0, padded * sizeof *grid->lineup.place_of);
}

// An empty grid of the shape that capacity and radius ask for, or everything NULL.
static ph_result allocate_arrays(ph_grid* grid)
{
    const ph_allocator* allocator = &grid->allocator;
    const size_t padded = padded_capacity(grid);
    grid->cell_start =
        ph_allocate_array(allocator, cell_start_count(grid), sizeof *grid->cell_start);
    grid->lineup = (ph_lineup){
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
    const ph_lineup* lineup = &grid->lineup;
    if (grid->cell_start == NULL || lineup->x_mm == NULL || lineup->y_mm == NULL ||
        lineup->seen_by == NULL || lineup->entity == NULL || lineup->spawn_order == NULL ||
        lineup->place_of == NULL || grid->always == NULL || grid->cell_of == NULL ||
        grid->spiral == NULL) {
        release_arrays(grid);
        return PH_ERROR_MEMORY;
    }
    clear_arrays(grid);
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
    if (allocate_arrays(made) != PH_OK) {
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
    release_arrays(grid);
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
    grown.capacity = greatest(capacity, grid->capacity);
    if (radius_mm_max > grid->radius_mm_max) {
        grown.radius_mm_max = radius_mm_max;
    }
    choose_shape(&grown);
    const ph_result result = allocate_arrays(&grown);
    if (result != PH_OK) {
        return result;
    }
    release_arrays(grid);
    *grid = grown;
    return PH_OK;
}

int ph_grid_scratch_count(const ph_grid* grid)
{
    return ph_sweep_scratch_count(grid->capacity);
}

// ---- rebuilding: a counting sort

// Notes each one's cell and how many are in it, two entries further on. Who is always or never seen
// is in no cell.
static void count_cells(ph_grid* grid, const ph_crowd* crowd)
{
    uint32_t* counts = grid->cell_start + 2;
    memset(grid->cell_start, 0, cell_start_count(grid) * sizeof *grid->cell_start);
    const uint32_t nowhere = ph_grid_cell_count(grid);
    uint32_t* cell_of = grid->cell_of;
    for (int i = 0; i < crowd->live_count; ++i) {
        const ph_entity_index entity = crowd->live[i];
        const uint32_t column = (uint32_t)crowd->x_mm[entity] >> grid->cell_shift;
        const uint32_t row = (uint32_t)crowd->y_mm[entity] >> grid->cell_shift;
        const bool is_placed = (crowd->flags[entity] & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
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
// cell, and stands where it belongs. Those in no cell go to the end, where nobody looks.
static void place_entities(ph_grid* grid, const ph_crowd* crowd)
{
    uint32_t* next = grid->cell_start + 1;
    const uint32_t* cell_of = grid->cell_of;
    const ph_lineup lineup = grid->lineup;
    for (int i = 0; i < crowd->live_count; ++i) {
        const ph_entity_index entity = crowd->live[i];
        const uint32_t place = next[cell_of[i]]++;
        lineup.entity[place] = entity;
        lineup.place_of[entity] = place; // mostly in order, as entities are here
    }
}

// In a pass of its own: to read here and there and write in order is faster than the other way
// round.
static void copy_entities(ph_grid* grid, const ph_crowd* crowd)
{
    const ph_lineup lineup = grid->lineup;
    uint32_t seen_by_every = UINT32_MAX;
    for (int place = 0; place < crowd->live_count; ++place) {
        const ph_entity_index entity = lineup.entity[place];
        const uint32_t seen_by = crowd->seen_by[entity];
        seen_by_every &= seen_by;
        lineup.x_mm[place] = crowd->x_mm[entity];
        lineup.y_mm[place] = crowd->y_mm[entity];
        lineup.seen_by[place] = seen_by;
        lineup.spawn_order[place] = crowd->spawn_order[entity];
    }
    grid->lineup.seen_by_every = seen_by_every;
}

static void list_always(ph_grid* grid, const ph_crowd* crowd)
{
    grid->always_count = 0;
    for (int place = grid->count; place < crowd->live_count; ++place) {
        const ph_entity_index entity = grid->lineup.entity[place];
        if ((crowd->flags[entity] & PH_SEEN_NEVER) == 0) {
            grid->always[grid->always_count++] = entity;
        }
    }
}

void ph_grid_rebuild(ph_grid* grid, const ph_crowd* crowd)
{
    PH_ASSERT(crowd->capacity <= grid->capacity && crowd->live_count <= crowd->capacity);

    count_cells(grid, crowd);
    sum_cells(grid);
    place_entities(grid, crowd);
    copy_entities(grid, crowd);
    grid->count = (int)grid->cell_start[ph_grid_cell_count(grid)];
    list_always(grid, crowd);
}

// ---- validation

static bool is_place_right(const ph_grid* grid, const ph_crowd* crowd, uint32_t cell,
                           uint32_t place)
{
    const ph_lineup* lineup = &grid->lineup;
    const ph_entity_index entity = lineup->entity[place];
    if (entity >= (uint32_t)crowd->capacity || crowd->spawn_order[entity] == UINT64_MAX) {
        return false;
    }
    const uint32_t column = (uint32_t)crowd->x_mm[entity] >> grid->cell_shift;
    const uint32_t row = (uint32_t)crowd->y_mm[entity] >> grid->cell_shift;
    return ph_grid_cell_at(grid, column, row) == cell &&
           lineup->x_mm[place] == crowd->x_mm[entity] &&
           lineup->y_mm[place] == crowd->y_mm[entity] &&
           lineup->seen_by[place] == crowd->seen_by[entity] &&
           lineup->spawn_order[place] == crowd->spawn_order[entity] &&
           lineup->place_of[entity] == place &&
           (lineup->seen_by[place] & lineup->seen_by_every) == lineup->seen_by_every &&
           (crowd->flags[entity] & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
}

bool ph_grid_validate(const ph_grid* grid, const ph_crowd* crowd)
{
    int placed = 0;
    int always = 0;
    for (int i = 0; i < crowd->live_count; ++i) {
        const uint8_t flags = crowd->flags[crowd->live[i]];
        placed += (flags & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
        always += (flags & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == PH_SEEN_ALWAYS;
    }
    if (placed != grid->count || always != grid->always_count || grid->cell_start[0] != 0 ||
        grid->cell_start[ph_grid_cell_count(grid)] != (uint32_t)grid->count) {
        return false;
    }
    // Nobody twice: as many as there should be, and each spawn order in one cell only once would
    // need a set; the sum of all is as good against mistakes.
    uint64_t sum = 0;
    for (uint32_t cell = 0; cell < ph_grid_cell_count(grid); ++cell) {
        for (uint32_t place = grid->cell_start[cell]; place < grid->cell_start[cell + 1]; ++place) {
            if (!is_place_right(grid, crowd, cell, place)) {
                return false;
            }
            sum += grid->lineup.spawn_order[place];
        }
    }
    for (int i = 0; i < crowd->live_count; ++i) {
        const ph_entity_index entity = crowd->live[i];
        const bool is_placed = (crowd->flags[entity] & (PH_SEEN_ALWAYS | PH_SEEN_NEVER)) == 0;
        sum -= is_placed ? crowd->spawn_order[entity] : 0;
    }
    return sum == 0;
}
