// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is hosted: a world, and what moves in it. A recording or a scene in a loop, or the load
// scene, which goes on for ever. Stepped once per tick on one thread.

#ifndef PH_APP_SERVE_STAGE_H
#define PH_APP_SERVE_STAGE_H

#include "kit/load_scene.h"
#include "kit/large_pages.h"
#include "kit/sim_material.h"
#include "kit/source.h"

#include <pinhole/net/pool.h>
#include <pinhole/world.h>

#define SERVE_LOAD "load"

// Twice a second: a walker has come two metres nearer by then, from 250 m away. What happens at once
// (an entity is spawned, or jumps) is seen at once in any case.
#define SERVE_VISION_HZ_USUAL 2.0

typedef struct serve_stage_def {
    const char* source; // a recording, scene:NAME or SERVE_LOAD; NULL: the schema alone, for a world that is empty
    const char* schema_path;
    double rate_hz; // 0: as the source says
    int entities;   // of scenes and load; 0: as usual
    double loop_s;
    uint64_t seed;
    ph_profile profile;
    int client_capacity;
    double radius_m; // 0: as usual
    // How often a second each client's view is refreshed for entities that walk; 0: as usual.
    double vision_hz;
    bool is_empty; // nothing moves in it: its entities come from elsewhere
    ph_pool* pool; // refreshes visions; outlives the stage
    // Becomes true when the fault is about the schema's file, not about the source. May be NULL.
    bool* is_schema_bad;
} serve_stage_def;

// Read-only outside, but for is_standing.
typedef struct serve_stage {
    ph_world* world;
    const ph_schema* schema;
    ph_ground ground;
    uint32_t tick_us;
    int32_t radius_mm;
    int actor_count; // entities that there ever are
    bool is_empty;
    bool is_standing; // nothing moves, so that clients can be compared with it
    ph_sim_material material;
    ph_source* source; // NULL: it is the load scene
    ph_load_scene* load;
    ph_large_pages* pages; // the world lies in
} serve_stage;

// At the first tick, all entities spawned. @return NULL with *fault filled.
serve_stage* serve_stage_create(const serve_stage_def* def, ph_fault* fault);
void serve_stage_destroy(serve_stage* stage); // NULL is allowed

// Moves all entities on to the next tick, which is the world's to make. @return False with *fault
// filled.
bool serve_stage_step(serve_stage* stage, ph_fault* fault);

// The actor through whose eyes a client sees: one that is present now, if there is any.
int serve_stage_choose(const serve_stage* stage, uint64_t client_id);

// One actor, 0..actor_count-1.
ph_entity_id serve_stage_entity(const serve_stage* stage, int actor); // {0} while it is absent
uint64_t serve_stage_key(const serve_stage* stage, int actor);
void serve_stage_place(const serve_stage* stage, int actor, int32_t place_mm[3]); // or was last

#endif
