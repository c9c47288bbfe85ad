// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Crowds and yardsticks of `pinhole bench vision`.

#include "vision_scene.h"

#include "base/allocator.h"
#include "base/rng.h"
#include "timer.h"
#include "vision/grid.h"
#include "vision/select.h"

#include <math.h>
#include <string.h>

#define SEED 20240301
#define CELL_MM 131072 // the default of ph_vision_def
#define STEP_MM 300    // what an entity walks in a tick, at most

static void* take(size_t count, size_t size)
{
    const ph_allocator memory = {0};
    return ph_allocate_array(&memory, count + PH_SWEEP_STEP, size);
}

// ---- the crowd

static void place_entities(vision_scene* scene, ph_rng* rng)
{
    const vision_scene_def* def = &scene->def;
    const double side_km = sqrt((double)def->entity_count / def->per_km2);
    const int64_t side_mm = (int64_t)(1e6 * side_km);
    for (int i = 0; i < def->entity_count; ++i) {
        int64_t x_mm = ph_rng_range(rng, 0, side_mm);
        int64_t y_mm = ph_rng_range(rng, 0, side_mm);
        if (i < def->hot_spot_count) {
            x_mm = side_mm / 2 + ph_rng_range(rng, -HOT_SPOT_MM, HOT_SPOT_MM);
            y_mm = side_mm / 2 + ph_rng_range(rng, -HOT_SPOT_MM, HOT_SPOT_MM);
        }
        scene->x_mm[0][i] = (int32_t)x_mm;
        scene->y_mm[0][i] = (int32_t)y_mm;
        scene->x_mm[1][i] = (int32_t)(x_mm + ph_rng_range(rng, -STEP_MM, STEP_MM));
        scene->y_mm[1][i] = (int32_t)(y_mm + ph_rng_range(rng, -STEP_MM, STEP_MM));
    }
}

static bool make_crowd(vision_scene* scene, ph_rng* rng)
{
    const size_t count = (size_t)scene->def.entity_count;
    uint32_t* seen_by = take(count, sizeof *seen_by);
    uint8_t* flags = take(count, sizeof *flags);
    uint64_t* spawn_order = take(count, sizeof *spawn_order);
    ph_entity_index* live = take(count, sizeof *live);
    for (int tick = 0; tick < 2; ++tick) {
        scene->x_mm[tick] = take(count, sizeof(int32_t));
        scene->y_mm[tick] = take(count, sizeof(int32_t));
        if (scene->x_mm[tick] == NULL || scene->y_mm[tick] == NULL) {
            return false;
        }
    }
    if (seen_by == NULL || flags == NULL || spawn_order == NULL || live == NULL) {
        return false;
    }
    place_entities(scene, rng);
    for (size_t i = 0; i < count; ++i) {
        seen_by[i] = UINT32_MAX;
        flags[i] = 0;
        spawn_order[i] = i;
        live[i] = (ph_entity_index)i;
    }
    for (int tick = 0; tick < 2; ++tick) {
        scene->crowds[tick] = (ph_entity_arrays){
            scene->x_mm[tick], scene->y_mm[tick], seen_by, flags, spawn_order, live,
            (int)count,        (int)count};
    }
    return true;
}

static bool make_eyes(vision_scene* scene, ph_rng* rng)
{
    const vision_scene_def* def = &scene->def;
    const int choice = def->hot_spot_count > 0 ? def->hot_spot_count : def->entity_count;
    scene->eyes = take((size_t)def->viewer_count, sizeof *scene->eyes);
    if (scene->eyes == NULL) {
        return false;
    }
    for (int i = 0; i < def->viewer_count; ++i) {
        const ph_entity_index own = (ph_entity_index)ph_rng_below(rng, (uint64_t)choice);
        scene->eyes[i] = (ph_eye){
            .x_mm = scene->x_mm[1][own],
            .y_mm = scene->y_mm[1][own],
            .sees = 1,
            .viewer = (uint32_t)i,
            .own = own,
            .radius_mm = def->radius_mm,
            .wanted = def->wanted,
        };
    }
    return true;
}

static bool make_grid(vision_scene* scene)
{
    const vision_scene_def* def = &scene->def;
    const ph_allocator memory = {0};
    if (ph_grid_create(&memory, CELL_MM, def->entity_count, def->radius_mm * 11 / 10,
                       &scene->grid) != PH_OK) {
        return false;
    }
    scene->scratch = take((size_t)ph_grid_scratch_count(scene->grid), sizeof(ph_seen));
    scene->seen = take((size_t)def->wanted * 2, sizeof(ph_seen));
    if (scene->scratch == NULL || scene->seen == NULL) {
        return false;
    }
    ph_grid_rebuild(scene->grid, &scene->crowds[1]);
    return true;
}

// The distances are the defaults of ph_vision_def.
static bool make_groups(vision_scene* scene)
{
    const vision_scene_def* def = &scene->def;
    const ph_allocator memory = {0};
    const ph_vision_def distances = {.group_split_mm = 60000, .group_merge_mm = 20000};
    if (ph_groups_create(&memory, &distances, def->viewer_count, def->entity_count,
                         &scene->groups) != PH_OK) {
        return false;
    }
    for (int i = 0; i < def->viewer_count; ++i) {
        ph_groups_add(scene->groups, (uint32_t)i, &scene->eyes[i]);
    }
    // Ticks enough to find their groups.
    for (int tick = 0; tick < 20; ++tick) {
        ph_groups_update(scene->groups, scene->eyes);
    }
    return true;
}

static bool make_sort(vision_scene* scene)
{
    const size_t count = (size_t)scene->def.entity_count;
    scene->cell_start = take((size_t)ph_grid_cell_count(scene->grid) + 1, sizeof(uint32_t));
    scene->cell_of = take(count, sizeof(uint32_t));
    scene->sorted = take(count, sizeof *scene->sorted);
    scene->sorted_records = take(count, sizeof(vision_record));
    scene->records[0] = take(count, sizeof(vision_record));
    scene->records[1] = take(count, sizeof(vision_record));
    if (scene->cell_start == NULL || scene->cell_of == NULL || scene->sorted == NULL ||
        scene->sorted_records == NULL || scene->records[0] == NULL || scene->records[1] == NULL) {
        return false;
    }
    for (int tick = 0; tick < 2; ++tick) {
        const ph_entity_arrays* crowd = &scene->crowds[tick];
        for (size_t i = 0; i < count; ++i) {
            scene->records[tick][i] =
                (vision_record){crowd->x_mm[i], crowd->y_mm[i], crowd->seen_by[i],
                                (ph_entity_index)i, crowd->spawn_order[i]};
        }
    }
    return true;
}

// ---- candidates: all cells that the circle through the furthest answer touches

// Where position +- reach begins and ends in the table; no wider than the table.
static int64_t cell_from(int64_t position_mm, int64_t reach_mm)
{
    return (int64_t)floor((double)(position_mm - reach_mm) / CELL_MM);
}

// Adds one row's cells; NULL runs only counts. Returns how many runs it took.
static int add_row(const ph_grid* grid, const ph_eye* eye, int64_t row, int64_t radius_mm,
                   vision_run* runs)
{
    const int64_t top_mm = row * CELL_MM;
    const int64_t gap_mm = eye->y_mm < top_mm             ? top_mm - eye->y_mm
                           : eye->y_mm > top_mm + CELL_MM ? eye->y_mm - top_mm - CELL_MM
                                                          : 0;
    const int64_t reach_mm = (int64_t)sqrt((double)(radius_mm * radius_mm - gap_mm * gap_mm)) + 1;
    int64_t column = cell_from(eye->x_mm, reach_mm);
    const int64_t last = cell_from(eye->x_mm, -reach_mm);
    const int64_t columns = INT64_C(1) << grid->column_bits;
    int count = 0;
    while (column <= last) {
        // Up to the edge of the table, which these crowds rarely meet.
        const int64_t left = columns - (column & (columns - 1));
        const int64_t length = last - column + 1 < left ? last - column + 1 : left;
        const uint32_t cell = ph_grid_cell_at(grid, (uint32_t)column, (uint32_t)row);
        if (runs != NULL) {
            runs[count] =
                (vision_run){grid->cell_start[cell], grid->cell_start[cell + (uint32_t)length]};
        }
        ++count;
        column += length;
    }
    return count;
}

static int64_t reach_of_answer(const vision_scene* scene, const ph_eye* eye)
{
    const int count = ph_grid_nearest(scene->grid, &scene->crowds[1], eye, eye->wanted,
                                      scene->scratch, scene->seen);
    uint64_t most = 0;
    for (int i = 0; i < count; ++i) {
        most = scene->seen[i].distance2 > most ? scene->seen[i].distance2 : most;
    }
    return count < eye->wanted ? eye->radius_mm : (int64_t)sqrt((double)most) + 1;
}

static int add_candidates(const vision_scene* scene, const ph_eye* eye, vision_run* runs)
{
    const int64_t reach_mm = reach_of_answer(scene, eye);
    int count = 0;
    for (int64_t row = cell_from(eye->y_mm, reach_mm); row <= cell_from(eye->y_mm, -reach_mm);
         ++row) {
        count += add_row(scene->grid, eye, row, reach_mm, runs != NULL ? runs + count : NULL);
    }
    return count;
}

static bool make_sweep(vision_scene* scene)
{
    const int viewers = scene->def.viewer_count;
    scene->first_run = take((size_t)viewers + 1, sizeof *scene->first_run);
    scene->copies = take((size_t)scene->def.entity_count, sizeof *scene->copies);
    if (scene->first_run == NULL || scene->copies == NULL) {
        return false;
    }
    scene->first_run[0] = 0;
    for (int i = 0; i < viewers; ++i) {
        scene->first_run[i + 1] =
            scene->first_run[i] + add_candidates(scene, &scene->eyes[i], NULL);
    }
    scene->runs = take((size_t)scene->first_run[viewers], sizeof *scene->runs);
    if (scene->runs == NULL) {
        return false;
    }
    for (int i = 0; i < viewers; ++i) {
        add_candidates(scene, &scene->eyes[i], scene->runs + scene->first_run[i]);
    }
    for (int i = 0; i < scene->first_run[viewers]; ++i) {
        scene->candidate_count += scene->runs[i].end - scene->runs[i].begin;
    }
    return true;
}

bool vision_scene_make(vision_scene* scene, const vision_scene_def* def)
{
    ph_rng rng = ph_rng_make(SEED);
    *scene = (vision_scene){.def = *def};
    if (!make_crowd(scene, &rng) || !make_eyes(scene, &rng) || !make_grid(scene) ||
        !make_groups(scene) || !make_sort(scene) || !make_sweep(scene)) {
        return false;
    }
    scene->answer_count = (int64_t)vision_query(scene);
    return true;
}

// Sorts both.
static bool is_same(ph_seen* left, ph_seen* right, int count)
{
    ph_sort_nearest(left, count);
    ph_sort_nearest(right, count);
    for (int i = 0; i < count; ++i) {
        if (left[i].entity != right[i].entity || left[i].distance2 != right[i].distance2) {
            return false;
        }
    }
    return true;
}

static bool is_answer_exact(const vision_scene* scene, uint32_t viewer, ph_seen* all,
                            ph_seen* exact)
{
    const ph_entity_arrays* crowd = &scene->crowds[1];
    const ph_eye* eye = &scene->eyes[viewer];
    const int count = ph_nearest_brute_force(crowd, eye, eye->wanted, all, exact);
    if (ph_grid_nearest(scene->grid, crowd, eye, eye->wanted, scene->scratch, scene->seen) !=
            count ||
        !is_same(scene->seen, exact, count)) {
        return false;
    }
    return ph_groups_nearest(scene->groups, scene->grid, crowd, eye, eye->wanted, scene->scratch,
                             scene->seen) == count &&
           is_same(scene->seen, exact, count);
}

bool vision_scene_is_exact(const vision_scene* scene, int sample_count)
{
    const size_t live_count = (size_t)scene->crowds[1].live_count;
    ph_seen* exact = take((size_t)scene->def.wanted, sizeof *exact);
    ph_seen* all = take(live_count, sizeof *all);
    bool is_exact = exact != NULL && all != NULL;
    for (int i = 0; is_exact && i < sample_count; ++i) {
        is_exact = is_answer_exact(scene, (uint32_t)(i % scene->def.viewer_count), all, exact);
    }
    const ph_allocator memory = {0};
    ph_release_array(&memory, exact, (size_t)scene->def.wanted + PH_SWEEP_STEP, sizeof *exact);
    ph_release_array(&memory, all, live_count + PH_SWEEP_STEP, sizeof *all);
    return is_exact;
}

// ---- what is measured

uint64_t vision_rebuild(const void* data)
{
    const vision_scene* scene = data;
    ph_grid_rebuild(scene->grid, &scene->crowds[0]);
    ph_grid_rebuild(scene->grid, &scene->crowds[1]);
    return (uint64_t)scene->grid->count;
}

static uint32_t cell_of(const ph_grid* grid, int32_t x_mm, int32_t y_mm)
{
    return ph_grid_cell_at(grid, (uint32_t)x_mm >> grid->cell_shift,
                           (uint32_t)y_mm >> grid->cell_shift);
}

// As lectures write it: count, add up, place.
static void start_cells(const vision_scene* scene)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < ph_grid_cell_count(scene->grid); ++i) {
        const uint32_t count = scene->cell_start[i];
        scene->cell_start[i] = sum;
        sum += count;
    }
}

uint64_t vision_sort_records(const void* data)
{
    const vision_scene* scene = data;
    for (int tick = 0; tick < 2; ++tick) {
        const vision_record* records = scene->records[tick];
        memset(scene->cell_start, 0, ph_grid_cell_count(scene->grid) * sizeof(uint32_t));
        for (int i = 0; i < scene->def.entity_count; ++i) {
            ++scene->cell_start[cell_of(scene->grid, records[i].x_mm, records[i].y_mm)];
        }
        start_cells(scene);
        for (int i = 0; i < scene->def.entity_count; ++i) {
            const uint32_t cell = cell_of(scene->grid, records[i].x_mm, records[i].y_mm);
            scene->sorted_records[scene->cell_start[cell]++] = records[i];
        }
    }
    return scene->sorted_records[0].entity;
}

uint64_t vision_sort_indices(const void* data)
{
    const vision_scene* scene = data;
    for (int tick = 0; tick < 2; ++tick) {
        const int32_t* x_mm = scene->x_mm[tick];
        const int32_t* y_mm = scene->y_mm[tick];
        memset(scene->cell_start, 0, ph_grid_cell_count(scene->grid) * sizeof(uint32_t));
        for (int i = 0; i < scene->def.entity_count; ++i) {
            ++scene->cell_start[cell_of(scene->grid, x_mm[i], y_mm[i])];
        }
        start_cells(scene);
        for (int i = 0; i < scene->def.entity_count; ++i) {
            const uint32_t cell = cell_of(scene->grid, x_mm[i], y_mm[i]);
            scene->sorted[scene->cell_start[cell]++] = (ph_entity_index)i;
        }
    }
    return scene->sorted[0];
}

uint64_t vision_query(const void* data)
{
    const vision_scene* scene = data;
    uint64_t sum = 0;
    for (int i = 0; i < scene->def.viewer_count; ++i) {
        const ph_eye* eye = &scene->eyes[i];
        sum += (uint64_t)ph_grid_nearest(scene->grid, &scene->crowds[1], eye, eye->wanted,
                                         scene->scratch, scene->seen);
    }
    return sum;
}

uint64_t vision_query_wide(const void* data)
{
    const vision_scene* scene = data;
    uint64_t sum = 0;
    for (int i = 0; i < scene->def.viewer_count; ++i) {
        ph_eye eye = scene->eyes[i];
        eye.wanted += eye.wanted / 10;
        eye.radius_mm += eye.radius_mm / 10;
        sum += (uint64_t)ph_grid_nearest(scene->grid, &scene->crowds[1], &eye,
                                         scene->eyes[i].wanted, scene->scratch, scene->seen);
    }
    return sum;
}

uint64_t vision_groups(const void* data)
{
    const vision_scene* scene = data;
    ph_groups_update(scene->groups, scene->eyes);
    const uint32_t* viewers;
    const int count = ph_groups_order(scene->groups, &viewers);
    uint64_t sum = 0;
    for (int i = 0; i < count; ++i) {
        const ph_eye* eye = &scene->eyes[viewers[i]];
        sum += (uint64_t)ph_groups_nearest(scene->groups, scene->grid, &scene->crowds[1], eye,
                                           eye->wanted, scene->scratch, scene->seen);
    }
    return sum;
}

static uint32_t copy_run(const ph_cell_sorted* sorted, vision_run run, vision_record* copies)
{
    for (uint32_t i = run.begin; i < run.end; ++i) {
        copies[i - run.begin] =
            (vision_record){sorted->x_mm[i], sorted->y_mm[i], sorted->seen_by[i], sorted->entity[i],
                            sorted->spawn_order[i]};
    }
    return run.end - run.begin;
}

uint64_t vision_sweep(const void* data)
{
    const vision_scene* scene = data;
    uint64_t sum = 0;
    for (int i = 0; i < scene->def.viewer_count; ++i) {
        uint32_t count = 0;
        for (int run = scene->first_run[i]; run < scene->first_run[i + 1]; ++run) {
            count += copy_run(&scene->grid->sorted, scene->runs[run], scene->copies + count);
        }
        bench_use(scene->copies, count * sizeof *scene->copies);
        sum += count;
    }
    return sum;
}

uint64_t vision_brute_force(const void* data)
{
    const vision_scene* scene = data;
    const ph_entity_arrays* crowd = &scene->crowds[1];
    uint64_t sum = 0;
    for (int i = 0; i < VISION_BRUTE_VIEWERS; ++i) {
        const ph_eye* eye = &scene->eyes[i];
        sum +=
            (uint64_t)ph_nearest_brute_force(crowd, eye, eye->wanted, scene->scratch, scene->seen);
    }
    return sum;
}
