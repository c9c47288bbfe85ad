// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A tick runs once per tick over all entities and worlds; scenes are made when the demo starts and when a
// person asks for another one.

#include "demo_stage.h"

#include "sim_parts.h"

#include "kit/observers.h"
#include "kit/scene.h"

#include <pinhole/net/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Any start of the clock would do but 0, which many fields use for "none".
#define CLOCK_START_US UINT64_C(5000000)
#define SCENE_PREFIX "scene:"
// A loop of a scene: as long as ten minutes, but with so many rows at most, and never shorter than a minute.
#define LOOP_S 600.0
#define LOOP_LEAST_S 60.0
#define LOOP_ROWS 2000000.0
enum { VIEWERS_USUAL = 64 };

demo_stage_def demo_stage_def_default(void)
{
    const ph_sim_def sim = ph_sim_def_default();
    return (demo_stage_def){
        .source = SCENE_PREFIX "town",
        .seed = 1,
        .radius_m = sim.radius_m,
        .slots = sim.slots,
    };
}

// ---- what is played

static bool is_scene(const char* source)
{
    return strncmp(source, SCENE_PREFIX, sizeof SCENE_PREFIX - 1) == 0;
}

static double loop_seconds(const demo_stage_def* def, const char* source, int entities)
{
    const ph_scene_info* info =
        is_scene(source) ? ph_scene_find(source + sizeof SCENE_PREFIX - 1) : NULL;
    if (info == NULL) {
        return 0.0; // all of a recording; the fault, of a scene that does not exist
    }
    const double count = entities > 0 ? entities : info->default_count;
    const double rate_hz = def->rate_hz > 0.0 ? def->rate_hz : info->default_rate_hz;
    const double fitting_s = LOOP_ROWS / (count * rate_hz);
    return fitting_s > LOOP_S ? LOOP_S : fitting_s < LOOP_LEAST_S ? LOOP_LEAST_S : fitting_s;
}

// The place in a file belongs into the sentence: a page shows nothing else.
static bool complain(const char* source, ph_fault* fault)
{
    const ph_fault found = *fault;
    return found.line > 0 ? ph_fault_set(fault, found.line, found.column, "%.90s, line %d: %.130s",
                                         source, found.line, found.message)
                          : ph_fault_set(fault, 0, 0, "%.90s: %.140s", source, found.message);
}

static bool open_material(demo_scene* scene, const demo_stage_def* def, ph_fault* fault)
{
    if (scene->is_recording && scene->entities > 0) {
        return ph_fault_set(fault, 0, 0,
                            "a recording has the entities that it has; only scenes take a number");
    }
    const ph_sim_material_def material = {
        .source = scene->source,
        .rate_hz = def->rate_hz,
        .seconds = loop_seconds(def, scene->source, scene->entities),
        .count = scene->entities,
        .seed = def->seed,
    };
    return ph_sim_material_open(&scene->material, &material, fault);
}

// While its entity is away nothing is measured: a page that wishes for no other gets one that is there the most.
static int find_steadiest(const demo_scene* scene)
{
    int steadiest = scene->observers[0];
    int most = 0;
    for (int i = 0; i < scene->observer_count; ++i) {
        int first_row;
        const int rows =
            ph_recording_rows(scene->material.recording, scene->observers[i], &first_row);
        steadiest = rows > most ? scene->observers[i] : steadiest;
        most = rows > most ? rows : most;
    }
    return steadiest;
}

static bool choose_observers(demo_scene* scene, ph_fault* fault)
{
    scene->observer_count =
        ph_observers_choose(scene->material.recording, DEMO_OBSERVERS_MAX, scene->observers);
    if (scene->observer_count < 0) {
        return ph_fault_set_memory(fault);
    }
    scene->steadiest = find_steadiest(scene);
    return scene->observer_count > 0 ||
           ph_fault_set(fault, 0, 0,
                        "no entity in it is present for %d s and moves 10 m: there is no viewer",
                        PH_OBSERVER_SECONDS_MIN);
}

static bool create_ways(demo_scene* scene, const demo_stage_def* def, ph_fault* fault)
{
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        ph_sim_def* sim = &scene->defs[way];
        sim_parts parts = {.profile = ph_way_name((ph_way)way)};
        sim_parts_complete(&parts);
        *sim = ph_sim_def_default();
        sim_parts_apply(&parts, sim);
        sim->radius_m = def->radius_m;
        sim->slots = def->slots;
        sim->viewers = VIEWERS_USUAL;
        sim->seed = def->seed;
        scene->ways[way] =
            ph_sim_stage_create(sim, scene->material.recording, scene->material.schema, fault);
        if (scene->ways[way] == NULL) {
            return false;
        }
        scene->ways[way]->is_looping = true;
    }
    return true;
}

static void destroy_scene(demo_scene* scene)
{
    if (scene == NULL) {
        return;
    }
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        ph_sim_stage_destroy(scene->ways[way]);
    }
    ph_sim_material_close(&scene->material);
    free(scene);
}

static void destroy_leaving(demo_stage* stage)
{
    while (stage->leaving != NULL) {
        demo_scene* scene = stage->leaving;
        stage->leaving = scene->before;
        destroy_scene(scene);
    }
}

static bool fill_scene(demo_scene* scene, const demo_stage_def* def, ph_fault* fault)
{
    if (!open_material(scene, def, fault) || !choose_observers(scene, fault) ||
        !create_ways(scene, def, fault)) {
        return complain(scene->source, fault);
    }
    ph_recording_bounds(scene->material.recording, scene->bounds_mm);
    return true;
}

static demo_scene* create_scene(const demo_stage_def* def, const char* source, int entities,
                                ph_fault* fault)
{
    demo_scene* scene = calloc(1, sizeof *scene);
    if (scene == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    snprintf(scene->source, sizeof scene->source, "%s", source);
    scene->is_recording = !is_scene(source);
    scene->entities = entities;
    if (!fill_scene(scene, def, fault)) {
        destroy_scene(scene);
        return NULL;
    }
    return scene;
}

// ---- the clock

static uint64_t real_now_us(const demo_stage* stage)
{
    return stage->def.real_us != NULL ? stage->def.real_us(stage->def.real_context)
                                      : ph_socket_now_us();
}

// Where the clock would be if nothing held it.
static uint64_t unheld_us(const demo_stage* stage)
{
    return stage->clock_us + (real_now_us(stage) - stage->real_us);
}

static void set_clock(demo_stage* stage, uint64_t now_us)
{
    stage->clock_us = now_us;
    stage->real_us = real_now_us(stage);
}

uint64_t demo_stage_due_us(const demo_stage* stage)
{
    const ph_sim_stage* way = stage->scene->ways[0];
    return stage->is_begun ? ph_sim_stage_next_us(way) : ph_sim_stage_now_us(way);
}

uint64_t demo_stage_now_us(const demo_stage* stage)
{
    const uint64_t due_us = demo_stage_due_us(stage);
    const uint64_t limit_us = stage->stop_us < due_us ? stage->stop_us : due_us;
    const uint64_t now_us = unheld_us(stage);
    return now_us < limit_us ? now_us : limit_us;
}

bool demo_stage_is_due(const demo_stage* stage)
{
    return demo_stage_now_us(stage) >= demo_stage_due_us(stage);
}

uint64_t demo_stage_wait_us(const demo_stage* stage, uint64_t until_us)
{
    const uint64_t now_us = demo_stage_now_us(stage);
    if (until_us <= now_us) {
        return 0;
    }
    return until_us <= stage->stop_us ? until_us - now_us : UINT64_MAX;
}

void demo_stage_set_paused(demo_stage* stage, bool is_paused)
{
    const uint64_t now_us = demo_stage_now_us(stage);
    set_clock(stage, now_us);
    stage->is_paused = is_paused;
    stage->stop_us = is_paused ? now_us : UINT64_MAX;
}

void demo_stage_step(demo_stage* stage)
{
    if (stage->is_paused) {
        set_clock(stage, demo_stage_now_us(stage));
        stage->stop_us = demo_stage_due_us(stage);
    }
}

// ---- a tick

bool demo_stage_put(demo_stage* stage, ph_fault* fault)
{
    const uint64_t due_us = demo_stage_due_us(stage);
    const uint64_t now_us = unheld_us(stage);
    if (now_us > due_us + stage->scene->ways[0]->tick_us && !stage->is_paused) {
        stage->lost_us += now_us - due_us;
        set_clock(stage, due_us);
    }
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        ph_sim_stage* of = stage->scene->ways[way];
        if (stage->is_begun) {
            ph_sim_stage_step(of);
        }
        if (!ph_sim_stage_put(of, fault)) {
            return false;
        }
    }
    stage->is_begun = true;
    return true;
}

void demo_stage_tick(demo_stage* stage)
{
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        ph_sim_stage_tick(stage->scene->ways[way]);
    }
    destroy_leaving(stage);
}

uint64_t demo_stage_tick_us(const demo_stage* stage)
{
    return ph_sim_stage_now_us(stage->scene->ways[0]);
}

// ---- coming, going, changing

static void begin_scene(demo_stage* stage, demo_scene* scene, uint64_t now_us)
{
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        scene->ways[way]->start_us = now_us;
    }
    stage->scene = scene;
    stage->is_begun = false;
    set_clock(stage, now_us);
}

demo_stage* demo_stage_create(const demo_stage_def* def, ph_fault* fault)
{
    demo_stage* stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    stage->def = *def;
    stage->stop_us = UINT64_MAX;
    demo_scene* scene = create_scene(def, def->source, def->entities, fault);
    if (scene == NULL) {
        free(stage);
        return NULL;
    }
    scene->number = 1;
    begin_scene(stage, scene, CLOCK_START_US);
    return stage;
}

void demo_stage_destroy(demo_stage* stage)
{
    if (stage == NULL) {
        return;
    }
    destroy_leaving(stage);
    destroy_scene(stage->scene);
    free(stage);
}

bool demo_stage_change(demo_stage* stage, const char* source, int entities, ph_fault* fault)
{
    demo_scene* old = stage->scene;
    demo_scene* scene = create_scene(&stage->def, source != NULL ? source : old->source,
                                     entities >= 0 ? entities : old->entities, fault);
    if (scene == NULL) {
        return false;
    }
    scene->number = old->number + 1;
    const uint64_t now_us = demo_stage_now_us(stage);
    old->before = stage->leaving;
    stage->leaving = old;
    begin_scene(stage, scene, now_us);
    return true;
}
