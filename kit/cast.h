// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The actors of a scene as creatures of a world: spawned while they are present, put at every step.
// Beside walking they live a little: those who walk are in another mode than those who stand, now
// and then one picks a target, gets hurt, recovers, is put under a spell. The same everywhere, as
// the scene is.
//
//     ph_cast* cast = ph_cast_create(scene, world, class_index, seed);
//     for (...) {
//         ph_scene_step(scene);
//         ph_cast_step(cast);
//         ph_world_tick(world);
//     }
//     ph_cast_destroy(cast);

#ifndef PINHOLE_KIT_CAST_H
#define PINHOLE_KIT_CAST_H

#include "kit/creature.h"
#include "kit/scene.h"

#include <pinhole/world.h>

// Arrays by actor, read-only outside kit.
typedef struct ph_cast {
    const ph_scene* scene;
    ph_world* world;
    int class_index;
    ph_entity_id* entity;  // {0} while it is absent
    ph_creature* creature; // as it was put last
    struct ph_rng* random;
} ph_cast;

// Spawns all who are present; actor i is named i. The class of that index is ph_creature_class().
// Scene and world are borrowed and outlive the cast.
// @return NULL when there is no memory, or a name is taken.
ph_cast* ph_cast_create(const ph_scene* scene, ph_world* world, int class_index, uint64_t seed);

// The entities stay in the world. NULL is allowed.
void ph_cast_destroy(ph_cast* cast);

// After each step of the scene. @return PH_OK, or why a spawn failed; those behind it stay as they
// were.
ph_result ph_cast_step(ph_cast* cast);

#endif
