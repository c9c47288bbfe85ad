// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A crowd as dense as that of `pinhole bench load`, without its clients.

#include "vision_refresh.h"

#include "base/allocator.h"
#include "base/rng.h"
#include "kit/large_pages.h"

#include <pinhole/net/pool.h>
#include <pinhole/viewer.h>

#include <math.h>
#include <stdlib.h>

#define SEED 20071118
#define PER_KM2 1500.0
#define RADIUS_MM 500000
#define VISIBLE 250
#define STEP_MM 600 // a tick: 6 m/s
#define WARM_TICKS 3

static const char SCHEMA[] = "class walker\n    place: position\n";

typedef struct refresh_scene {
    ph_schema* schema;
    ph_large_pages* pages;
    ph_world* world;
    ph_pool* pools[VISION_REFRESH_THREADS];
    ph_pool* pool; // of the present tick
    ph_entity_id ids[VISION_REFRESH_VIEWERS];
    int32_t at_mm[VISION_REFRESH_VIEWERS][2];
    ph_rng rng;
} refresh_scene;

static void run_on_pool(void* context, int count, ph_job_fn* job, void* job_context)
{
    const refresh_scene* scene = context;
    ph_pool_run(scene->pool, count, job, job_context);
}

static bool make_world(refresh_scene* scene)
{
    if (ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &scene->schema, NULL) != PH_OK) {
        return false;
    }
    ph_world_def def = ph_world_def_default();
    def.schema = scene->schema;
    def.profile = PH_PROFILE_CLASSIC; // takes less memory; nothing is sent
    def.entity_capacity = VISION_REFRESH_VIEWERS;
    def.viewer_capacity = VISION_REFRESH_VIEWERS;
    def.radius_max_mm = RADIUS_MM;
    def.run_jobs = run_on_pool;
    def.run_jobs_context = scene;
    def.sends_at_once = VISION_REFRESH_THREADS;
    def.allocator = ph_large_pages_allocator(scene->pages);
    return ph_world_create(&def, &scene->world) == PH_OK;
}

static bool populate(refresh_scene* scene)
{
    const double side_mm = 1e6 * sqrt(VISION_REFRESH_VIEWERS / PER_KM2);
    for (int i = 0; i < VISION_REFRESH_VIEWERS; ++i) {
        int32_t* at_mm = scene->at_mm[i];
        at_mm[0] = (int32_t)(ph_rng_double(&scene->rng) * side_mm);
        at_mm[1] = (int32_t)(ph_rng_double(&scene->rng) * side_mm);
        const ph_spawn spawn = {.key = (uint64_t)i, .position_mm = {at_mm[0], at_mm[1], 0}};
        ph_viewer_def viewer = ph_viewer_def_default();
        viewer.radius_mm = RADIUS_MM;
        viewer.visible_max = VISIBLE;
        ph_viewer_id id;
        if (ph_world_spawn(scene->world, &spawn, &scene->ids[i]) != PH_OK) {
            return false;
        }
        viewer.entity = scene->ids[i];
        if (ph_world_add_viewer(scene->world, &viewer, &id) != PH_OK) {
            return false;
        }
    }
    return true;
}

static bool make_scene(refresh_scene* scene)
{
    scene->rng = ph_rng_make(SEED);
    scene->pages = ph_large_pages_create();
    for (int i = 0; i < VISION_REFRESH_THREADS; ++i) {
        scene->pools[i] = ph_pool_create(i + 1);
        if (scene->pools[i] == NULL) {
            return false;
        }
    }
    return scene->pages != NULL && make_world(scene) && populate(scene);
}

static void destroy_scene(refresh_scene* scene)
{
    ph_world_destroy(scene->world);
    ph_large_pages_destroy(scene->pages);
    ph_schema_destroy(scene->schema);
    for (int i = 0; i < VISION_REFRESH_THREADS; ++i) {
        ph_pool_destroy(scene->pools[i]);
    }
}

static void walk(refresh_scene* scene)
{
    for (int i = 0; i < VISION_REFRESH_VIEWERS; ++i) {
        int32_t* at_mm = scene->at_mm[i];
        const int axis = i & 1;
        at_mm[axis] += ph_rng_chance(&scene->rng, 0.5) ? STEP_MM : -STEP_MM;
        ph_world_move(scene->world, scene->ids[i], at_mm[0], at_mm[1], 0);
    }
}

static double tick_ns(refresh_scene* scene, int threads)
{
    walk(scene);
    scene->pool = scene->pools[threads - 1];
    const double begin_ns = bench_wall_ns();
    ph_world_tick(scene->world);
    return (bench_wall_ns() - begin_ns) / VISION_REFRESH_VIEWERS;
}

static int compare_ns(const void* left, const void* right)
{
    const double a = *(const double*)left;
    const double b = *(const double*)right;
    return (a > b) - (a < b);
}

static void measure(refresh_scene* scene, int rounds, bench_time* times)
{
    static double ns[VISION_REFRESH_THREADS][BENCH_ROUNDS_MAX];
    for (int i = 0; i < WARM_TICKS; ++i) {
        tick_ns(scene, 1);
    }
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < VISION_REFRESH_THREADS; ++i) {
            ns[i][round] = tick_ns(scene, i + 1);
        }
    }
    for (int i = 0; i < VISION_REFRESH_THREADS; ++i) {
        qsort(ns[i], (size_t)rounds, sizeof ns[i][0], compare_ns);
        times[i] = (bench_time){
            .best_ns = ns[i][0],
            .median_ns = ns[i][rounds / 2],
            .worst_ns = ns[i][rounds - 1],
        };
    }
}

bool vision_refresh_measure(int rounds, bench_time* times)
{
    const ph_allocator memory = {0};
    refresh_scene* scene = ph_allocate_zeroed(&memory, sizeof *scene);
    if (scene == NULL) {
        return false;
    }
    const bool is_made = make_scene(scene);
    if (is_made) {
        measure(scene, rounds, times);
    }
    destroy_scene(scene);
    ph_release(&memory, scene, sizeof *scene);
    return is_made;
}
