// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per creature and tick, some 200 ns.

#include "kit/load_scene.h"

#include "kit/creature.h"
#include "kit/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PER_KM2 1500.0
#define STEP_MM_MIN 100.0 // a tick: 1 m/s
#define STEP_MM_MAX 600.0
#define TURN_CHANCE 0.1   // a tick
#define WOUND_CHANCE 0.01 // a tick
#define PI 3.14159265358979323846

typedef struct ph_load_scene_walk {
    double x_mm;
    double y_mm;
    double heading_deg;
    double step_mm; // per tick
    ph_rng rng;
} ph_load_scene_walk;

static double side_of(const ph_load_scene* load)
{
    return 1e6 * sqrt(load->count / PER_KM2);
}

static void take_place(ph_load_scene* load, int i)
{
    load->x_mm[i] = (int32_t)load->walks[i].x_mm;
    load->y_mm[i] = (int32_t)load->walks[i].y_mm;
}

// ---- memory

static void place(ph_load_scene* load, int i, uint64_t seed)
{
    ph_load_scene_walk* walk = &load->walks[i];
    walk->rng = ph_random_part(seed, (uint64_t)i);
    walk->x_mm = ph_random_between(&walk->rng, 0.0, side_of(load));
    walk->y_mm = ph_random_between(&walk->rng, 0.0, side_of(load));
    walk->heading_deg = ph_random_between(&walk->rng, 0.0, 360.0);
    walk->step_mm = ph_random_between(&walk->rng, STEP_MM_MIN, STEP_MM_MAX);
    take_place(load, i);
}

ph_load_scene* ph_load_scene_create(int count, uint64_t seed)
{
    PH_ASSERT(count > 0);

    ph_load_scene* load = calloc(1, sizeof *load);
    if (load == NULL) {
        return NULL;
    }
    const ph_class_def creature = ph_creature_class();
    const size_t room = (size_t)count;
    load->count = count;
    load->id = calloc(room, sizeof *load->id);
    load->x_mm = calloc(room, sizeof *load->x_mm);
    load->y_mm = calloc(room, sizeof *load->y_mm);
    load->walks = calloc(room, sizeof *load->walks);
    if (load->id == NULL || load->x_mm == NULL || load->y_mm == NULL || load->walks == NULL ||
        ph_schema_create(&creature, 1, NULL, &load->schema, NULL) != PH_OK) {
        ph_load_scene_destroy(load);
        return NULL;
    }
    for (int i = 0; i < count; ++i) {
        place(load, i, seed);
    }
    return load;
}

void ph_load_scene_destroy(ph_load_scene* load)
{
    if (load == NULL) {
        return;
    }
    ph_schema_destroy(load->schema);
    free(load->walks);
    free(load->y_mm);
    free(load->x_mm);
    free(load->id);
    free(load);
}

// ---- into a world

static ph_creature make_creature(const ph_load_scene* load, int i)
{
    const ph_load_scene_walk* walk = &load->walks[i];
    ph_rng rng = ph_rng_split(&walk->rng, 0); // the walk does not depend on the looks
    ph_creature creature = {
        .position_mm = {load->x_mm[i], load->y_mm[i], 0},
        .heading_deg = (float)walk->heading_deg,
        .sheet = (uint32_t)ph_random_below(&rng, 4000),
        .mode = 1,
        .appearance_a = (uint32_t)ph_random_below(&rng, 1 << 16),
        .appearance_b = (uint32_t)ph_random_below(&rng, 1 << 16),
        .appearance_c = (uint32_t)ph_random_below(&rng, 1 << 16),
        .hit_points = PH_CREATURE_BAR_TOP,
        .stamina = PH_CREATURE_BAR_TOP,
        .sap = PH_CREATURE_BAR_TOP,
        .focus = PH_CREATURE_BAR_TOP,
        .clan = (uint8_t)ph_random_below(&rng, 16),
        .people = (uint8_t)ph_random_below(&rng, 8),
    };
    snprintf(creature.name, sizeof creature.name, "Homin %d", i + 1);
    return creature;
}

ph_result ph_load_scene_put(ph_load_scene* load, ph_world* world)
{
    for (int i = 0; i < load->count; ++i) {
        const ph_creature creature = make_creature(load, i);
        const ph_spawn spawn = {
            .key = (uint64_t)i + 1,
            .position_mm = {creature.position_mm[0], creature.position_mm[1], 0},
        };
        ph_result result = ph_world_spawn(world, &spawn, &load->id[i]);
        if (result == PH_OK) {
            result = ph_world_set_struct(world, load->id[i], &creature);
        }
        if (result != PH_OK) {
            return result;
        }
    }
    return PH_OK;
}

// ---- a tick

static double inside(double place_mm, double side_mm)
{
    return place_mm < 0.0 ? 0.0 : place_mm > side_mm ? side_mm : place_mm;
}

static void walk_on(ph_load_scene_walk* walk, double side_mm)
{
    const double radians = walk->heading_deg * PI / 180.0;
    const double x_mm = walk->x_mm + walk->step_mm * cos(radians);
    const double y_mm = walk->y_mm + walk->step_mm * sin(radians);
    walk->x_mm = inside(x_mm, side_mm);
    walk->y_mm = inside(y_mm, side_mm);
    const bool is_at_edge = walk->x_mm != x_mm || walk->y_mm != y_mm;
    if (is_at_edge || ph_rng_chance(&walk->rng, TURN_CHANCE)) {
        walk->heading_deg = ph_random_between(&walk->rng, 0.0, 360.0);
    }
}

static void tell(ph_load_scene* load, ph_world* world, int i)
{
    ph_load_scene_walk* walk = &load->walks[i];
    const float heading_deg = (float)walk->heading_deg;
    ph_world_move(world, load->id[i], load->x_mm[i], load->y_mm[i], 0);
    ph_world_set_property(world, load->id[i], PH_CREATURE_HEADING, PH_FIELD_F32, &heading_deg,
                          sizeof heading_deg);
    if (ph_rng_chance(&walk->rng, WOUND_CHANCE)) {
        const uint8_t hit_points = (uint8_t)ph_random_below(&walk->rng, PH_CREATURE_BAR_TOP);
        ph_world_set_property(world, load->id[i], PH_CREATURE_HIT_POINTS, PH_FIELD_U8, &hit_points,
                              sizeof hit_points);
    }
}

void ph_load_scene_step(ph_load_scene* load, ph_world* world)
{
    const double side_mm = side_of(load);
    for (int i = 0; i < load->count; ++i) {
        walk_on(&load->walks[i], side_mm);
        take_place(load, i);
        tell(load, world, i);
    }
}
