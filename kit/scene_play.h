// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the scenes share behind the curtain, and the table of them.

#ifndef PINHOLE_KIT_SCENE_PLAY_H
#define PINHOLE_KIT_SCENE_PLAY_H

#include "kit/random.h"
#include "kit/scene.h"
#include "kit/walker.h"

#include <stddef.h>

// One person and what it is up to. Scenes use the last three as they like.
typedef struct ph_actor {
    ph_walker walker;
    ph_rng random;
    int wait_steps; // until it does something else
    int mode;       // 0 at the beginning
    double angle_deg;
} ph_actor;

typedef struct ph_scene_actors {
    const struct ph_play* play;
    ph_actor* actor; // by actor
    uint64_t seed;
    double side_mm; // of a square around 0 that holds 1,000 actors to the km2
    void* stage;    // what the play keeps beside its actors, see stage_bytes
} ph_scene_actors;

// One kind of scene. begin places an actor whose random stream is ready; step moves it by one step
// and may change whether it is present.
typedef struct ph_play {
    ph_scene_info info;
    void (*begin)(ph_scene* scene, int index);
    void (*step)(ph_scene* scene, int index);
    // The size of the stage for so many actors; NULL: none. Zeroed, freed with the scene.
    size_t (*stage_bytes)(int count);
    // Fills the stage before the first actor begins. May be NULL.
    void (*prepare)(ph_scene* scene);
    // Puts an actor into the scene's arrays, after begin and every step. NULL: its walker, on the
    // hills of ph_scene_ground_mm().
    void (*show)(ph_scene* scene, int index);
} ph_play;

extern const ph_play ph_play_wander;
extern const ph_play ph_play_crowd;
extern const ph_play ph_play_edge;
extern const ph_play ph_play_still;
extern const ph_play ph_play_race;
extern const ph_play ph_play_asteroids;
extern const ph_play ph_play_spin;
extern const ph_play ph_play_town;

static inline ph_actor* ph_scene_actor(const ph_scene* scene, int index)
{
    return &scene->actors->actor[index];
}

// A random time in steps, at least one.
int ph_scene_draw_steps(const ph_scene* scene, ph_actor* actor, double low_s, double high_s);

// An actor's entries of the position and heading arrays: rounds, and turns the heading into 0..360
// from -180..180.
void ph_scene_show(ph_scene* scene, int index, const double position_mm[3], double heading_deg);

// Its entry of the rotation array, of a play that has_rotation: a unit quaternion, rounded.
void ph_scene_show_rotation(ph_scene* scene, int index, const double rotation[4]);

// Puts an actor somewhere in the square, looking anywhere.
void ph_scene_scatter(const ph_scene* scene, ph_actor* actor);

#endif
