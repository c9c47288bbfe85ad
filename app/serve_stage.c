// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick, over all entities.

#include "serve_stage.h"

#include "kit/derive.h"

#include <stdlib.h>
#include <string.h>

#define US_PER_SECOND 1000000u
#define RADIUS_M_USUAL 250.0
#define RATE_HZ_USUAL 10.0
enum { LOAD_COUNT_USUAL = 500 };

// ---- memory

static bool open_load(serve_stage* stage, const serve_stage_def* def, ph_fault* fault)
{
    stage->load =
        ph_load_scene_create(def->entities > 0 ? def->entities : LOAD_COUNT_USUAL, def->seed);
    if (stage->load == NULL) {
        return ph_fault_set_memory(fault);
    }
    stage->schema = stage->load->schema;
    stage->actor_count = stage->load->count;
    stage->tick_us = US_PER_SECOND / PH_LOAD_SCENE_RATE_HZ;
    stage->radius_mm = PH_LOAD_SCENE_RADIUS_MM;
    return true;
}

static bool open_recording(serve_stage* stage, const serve_stage_def* def, ph_fault* fault)
{
    const ph_sim_material_def material = {
        .source = def->source,
        .schema_path = def->schema_path,
        .rate_hz = def->rate_hz,
        .seconds = def->loop_s,
        .count = def->entities,
        .seed = def->seed,
    };
    if (!ph_sim_material_open(&stage->material, &material, fault)) {
        if (def->is_schema_bad != NULL) {
            *def->is_schema_bad = stage->material.is_schema_bad;
        }
        return false;
    }
    const ph_recording* recording = stage->material.recording;
    stage->schema = stage->material.schema;
    stage->actor_count = recording->entity_count;
    stage->ground = recording->ground;
    stage->tick_us = (uint32_t)(US_PER_SECOND / recording->rate_hz + 0.5);
    stage->radius_mm = (int32_t)(RADIUS_M_USUAL * 1000.0);
    stage->source = ph_source_create(recording, stage->schema, fault);
    return stage->source != NULL;
}

// A game of its own: what there is comes from elsewhere.
static bool open_schema(serve_stage* stage, const serve_stage_def* def, ph_fault* fault)
{
    stage->material.schema = ph_derive_load(def->schema_path, fault);
    stage->schema = stage->material.schema;
    if (stage->schema == NULL) {
        *def->is_schema_bad = true;
        return false;
    }
    const double rate_hz = def->rate_hz > 0.0 ? def->rate_hz : RATE_HZ_USUAL;
    stage->tick_us = (uint32_t)(US_PER_SECOND / rate_hz + 0.5);
    stage->radius_mm = (int32_t)(RADIUS_M_USUAL * 1000.0);
    return true;
}

static bool open_any(serve_stage* stage, const serve_stage_def* def, ph_fault* fault)
{
    if (def->source == NULL) {
        return open_schema(stage, def, fault);
    }
    return strcmp(def->source, SERVE_LOAD) == 0 ? open_load(stage, def, fault)
                                                : open_recording(stage, def, fault);
}

static int refresh_ticks(const serve_stage* stage, const serve_stage_def* def)
{
    const double vision_hz = def->vision_hz > 0.0 ? def->vision_hz : SERVE_VISION_HZ_USUAL;
    const double ticks = US_PER_SECOND / (vision_hz * (double)stage->tick_us);
    return ticks < 1.0 ? 1 : (int)ticks;
}

static bool create_world(serve_stage* stage, const serve_stage_def* def, ph_fault* fault)
{
    stage->pages = ph_large_pages_create();
    if (stage->pages == NULL) {
        return ph_fault_set_memory(fault);
    }
    ph_world_def world = ph_world_def_default();
    world.allocator = ph_large_pages_allocator(stage->pages);
    if (def->radius_m > 0.0) {
        stage->radius_mm = (int32_t)(def->radius_m * 1000.0);
    }
    world.schema = stage->schema;
    world.profile = def->profile;
    if (stage->actor_count > 0) {
        world.entity_capacity = stage->actor_count;
    }
    world.viewer_capacity = def->client_capacity;
    world.radius_max_mm = stage->radius_mm;
    world.tick_us = stage->tick_us;
    world.ground = stage->ground;
    world.vision.refresh_ticks = refresh_ticks(stage, def);
    world.run_jobs = ph_pool_run_jobs;
    world.run_jobs_context = def->pool;
    world.sends_at_once = ph_pool_thread_count(def->pool);
    const ph_result result = ph_world_create(&world, &stage->world);
    return result == PH_OK ||
           ph_fault_set(fault, 0, 0, "no world can be made of this: %s", ph_result_text(result));
}

static bool put(serve_stage* stage, ph_fault* fault)
{
    const ph_result result = stage->load != NULL ? ph_load_scene_put(stage->load, stage->world)
                                                 : ph_source_put(stage->source, stage->world);
    return result == PH_OK ||
           ph_fault_set(fault, 0, 0, "it does not go into the world: %s", ph_result_text(result));
}

serve_stage* serve_stage_create(const serve_stage_def* def, ph_fault* fault)
{
    serve_stage* stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    stage->is_empty = def->is_empty;
    if (open_any(stage, def, fault) && create_world(stage, def, fault) &&
        (stage->is_empty || put(stage, fault))) {
        return stage;
    }
    serve_stage_destroy(stage);
    return NULL;
}

void serve_stage_destroy(serve_stage* stage)
{
    if (stage == NULL) {
        return;
    }
    ph_world_destroy(stage->world);
    ph_large_pages_destroy(stage->pages);
    ph_load_scene_destroy(stage->load);
    ph_source_destroy(stage->source);
    ph_sim_material_close(&stage->material);
    free(stage);
}

// ---- a tick

bool serve_stage_step(serve_stage* stage, ph_fault* fault)
{
    if (stage->is_standing || stage->is_empty) {
        return true;
    }
    if (stage->load != NULL) {
        ph_load_scene_step(stage->load, stage->world);
        return true;
    }
    if (!ph_source_step(stage->source)) {
        ph_source_loop(stage->source);
    }
    return put(stage, fault);
}

// ---- actors

int serve_stage_choose(const serve_stage* stage, uint64_t client_id)
{
    const int first = (int)(client_id % (uint64_t)stage->actor_count);
    for (int i = 0; i < stage->actor_count; ++i) {
        const int actor = (first + i) % stage->actor_count;
        if (serve_stage_entity(stage, actor).index1 != 0) {
            return actor;
        }
    }
    return first;
}

ph_entity_id serve_stage_entity(const serve_stage* stage, int actor)
{
    return stage->load != NULL ? stage->load->id[actor] : stage->source->entity_id[actor];
}

uint64_t serve_stage_key(const serve_stage* stage, int actor)
{
    return stage->load != NULL ? (uint64_t)actor + 1 : stage->source->recording->id[actor];
}

void serve_stage_place(const serve_stage* stage, int actor, int32_t place_mm[3])
{
    const bool is_load = stage->load != NULL;
    place_mm[0] = is_load ? stage->load->x_mm[actor] : stage->source->x_mm[actor];
    place_mm[1] = is_load ? stage->load->y_mm[actor] : stage->source->y_mm[actor];
    place_mm[2] = is_load ? 0 : stage->source->z_mm[actor];
}
