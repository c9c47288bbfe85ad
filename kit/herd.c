// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per creature and tick, some 200 ns.

#include "kit/herd.h"

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

typedef struct ph_herd_walk {
    double x_mm;
    double y_mm;
    double heading_deg;
    double step_mm; // per tick
    ph_rng rng;
} ph_herd_walk;

static double side_of(const ph_herd* herd)
{
    return 1e6 * sqrt(herd->count / PER_KM2);
}

static void take_place(ph_herd* herd, int i)
{
    herd->x_mm[i] = (int32_t)herd->walks[i].x_mm;
    herd->y_mm[i] = (int32_t)herd->walks[i].y_mm;
}

// ---- memory

static void place(ph_herd* herd, int i, uint64_t seed)
{
    ph_herd_walk* walk = &herd->walks[i];
    walk->rng = ph_random_part(seed, (uint64_t)i);
    walk->x_mm = ph_random_between(&walk->rng, 0.0, side_of(herd));
    walk->y_mm = ph_random_between(&walk->rng, 0.0, side_of(herd));
    walk->heading_deg = ph_random_between(&walk->rng, 0.0, 360.0);
    walk->step_mm = ph_random_between(&walk->rng, STEP_MM_MIN, STEP_MM_MAX);
    take_place(herd, i);
}

ph_herd* ph_herd_create(int count, uint64_t seed)
{
    PH_ASSERT(count > 0);

    ph_herd* herd = calloc(1, sizeof *herd);
    if (herd == NULL) {
        return NULL;
    }
    const ph_class_def creature = ph_creature_class();
    const size_t room = (size_t)count;
    herd->count = count;
    herd->id = calloc(room, sizeof *herd->id);
    herd->x_mm = calloc(room, sizeof *herd->x_mm);
    herd->y_mm = calloc(room, sizeof *herd->y_mm);
    herd->walks = calloc(room, sizeof *herd->walks);
    if (herd->id == NULL || herd->x_mm == NULL || herd->y_mm == NULL || herd->walks == NULL ||
        ph_schema_create(&creature, 1, NULL, &herd->schema, NULL) != PH_OK) {
        ph_herd_destroy(herd);
        return NULL;
    }
    for (int i = 0; i < count; ++i) {
        place(herd, i, seed);
    }
    return herd;
}

void ph_herd_destroy(ph_herd* herd)
{
    if (herd == NULL) {
        return;
    }
    ph_schema_destroy(herd->schema);
    free(herd->walks);
    free(herd->y_mm);
    free(herd->x_mm);
    free(herd->id);
    free(herd);
}

// ---- into a world

static ph_creature make_creature(const ph_herd* herd, int i)
{
    const ph_herd_walk* walk = &herd->walks[i];
    ph_rng rng = ph_rng_split(&walk->rng, 0); // the walk does not depend on the looks
    ph_creature creature = {
        .position_mm = {herd->x_mm[i], herd->y_mm[i], 0},
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

ph_result ph_herd_put(ph_herd* herd, ph_world* world)
{
    for (int i = 0; i < herd->count; ++i) {
        const ph_creature creature = make_creature(herd, i);
        const ph_spawn spawn = {
            .key = (uint64_t)i + 1,
            .position_mm = {creature.position_mm[0], creature.position_mm[1], 0},
        };
        ph_result result = ph_world_spawn(world, &spawn, &herd->id[i]);
        if (result == PH_OK) {
            result = ph_world_set_struct(world, herd->id[i], &creature);
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

static void walk_on(ph_herd_walk* walk, double side_mm)
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

static void tell(ph_herd* herd, ph_world* world, int i)
{
    ph_herd_walk* walk = &herd->walks[i];
    const float heading_deg = (float)walk->heading_deg;
    ph_world_move(world, herd->id[i], herd->x_mm[i], herd->y_mm[i], 0);
    ph_world_set_property(world, herd->id[i], PH_CREATURE_HEADING, PH_FIELD_F32, &heading_deg,
                          sizeof heading_deg);
    if (ph_rng_chance(&walk->rng, WOUND_CHANCE)) {
        const uint8_t hit_points = (uint8_t)ph_random_below(&walk->rng, PH_CREATURE_BAR_TOP);
        ph_world_set_property(world, herd->id[i], PH_CREATURE_HIT_POINTS, PH_FIELD_U8, &hit_points,
                              sizeof hit_points);
    }
}

void ph_herd_step(ph_herd* herd, ph_world* world)
{
    const double side_mm = side_of(herd);
    for (int i = 0; i < herd->count; ++i) {
        walk_on(&herd->walks[i], side_mm);
        take_place(herd, i);
        tell(herd, world, i);
    }
}
