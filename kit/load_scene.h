// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The load scene: creatures with 25 properties each (kit/creature.h) that walk about in a square,
// turn now and then, and are wounded: the load that a server of an online role-playing game has. As
// many to the km2 as give each of them 250 in view. The same count and seed give the same motion.
//
//     ph_load_scene* load = ph_load_scene_create(2000, 1);
//     ph_load_scene_put(load, world);            // spawns all; the world's schema is the scene's
//     for (...) {
//         ph_load_scene_step(load, world);
//         ph_world_tick(world);
//     }
//     ph_load_scene_destroy(load);

#ifndef PINHOLE_KIT_LOAD_SCENE_H
#define PINHOLE_KIT_LOAD_SCENE_H

#include <pinhole/world.h>

enum { PH_LOAD_SCENE_RATE_HZ = 10 };

// So far that even in a corner of the square there are enough in view.
#define PH_LOAD_SCENE_RADIUS_MM 500000

// Arrays by creature, read-only outside. The name of creature i is i + 1.
typedef struct ph_load_scene {
    int count;
    ph_schema* schema; // of the one class
    ph_entity_id* id;
    int32_t* x_mm;
    int32_t* y_mm;
    struct ph_load_scene_walk* walks;
} ph_load_scene;

// count is 1 or more. @return NULL when there is no memory.
ph_load_scene* ph_load_scene_create(int count, uint64_t seed);
void ph_load_scene_destroy(ph_load_scene* load); // NULL is allowed

// Spawns all creatures where they are. Once. @return PH_OK, or why not.
ph_result ph_load_scene_put(ph_load_scene* load, ph_world* world);

// Goes on by a tenth of a second.
void ph_load_scene_step(ph_load_scene* load, ph_world* world);

#endif
