// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per actor and step. Decisions are drawn once per second of each actor's life, on
// average, whatever the rate.

#include "kit/cast.h"

#include "kit/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_STANDING = 0, MODE_WALKING = 1, MODE_FIGHTING = 4 };

// What an actor is all its life. One draw to a statement: their order is part of the scene.
static void dress(ph_creature* creature, ph_rng* random, int index)
{
    *creature = (ph_creature){
        .hit_points = PH_CREATURE_BAR_TOP,
        .stamina = PH_CREATURE_BAR_TOP,
        .sap = PH_CREATURE_BAR_TOP,
        .focus = PH_CREATURE_BAR_TOP,
    };
    creature->sheet = 1000 + (uint32_t)ph_random_below(random, 500);
    creature->appearance_a = (uint32_t)ph_rng_next(random);
    creature->appearance_b = (uint32_t)ph_rng_next(random);
    creature->appearance_c = (uint32_t)ph_rng_next(random);
    creature->clan = (uint8_t)ph_random_below(random, 16);
    creature->people = (uint8_t)ph_random_below(random, 8);
    snprintf(creature->name, sizeof creature->name, "Walker %d", index);
    if (ph_random_below(random, 2) == 0) {
        const int guild = ph_random_below(random, 40);
        creature->guild_symbol = 0x10000u + (uint32_t)guild;
        snprintf(creature->guild_name, sizeof creature->guild_name, "Guild %d", guild);
    }
}

// ---- what happens to it, once a second or so

static void choose_target(ph_cast* cast, int index)
{
    ph_rng* random = &cast->random[index];
    const int other = ph_random_below(random, cast->scene->count);
    const bool has_target = other != index && ph_random_below(random, 3) != 0;
    cast->creature[index].target = has_target ? cast->entity[other] : (ph_entity_id){0};
}

static void fight_or_rest(ph_creature* creature, ph_rng* random)
{
    const bool is_fighting = creature->mode == MODE_FIGHTING;
    const int change = is_fighting ? -ph_random_below(random, 20) : 5;
    const int hit_points = creature->hit_points + change;
    creature->hit_points = (uint8_t)(hit_points < 1                     ? 1
                                     : hit_points > PH_CREATURE_BAR_TOP ? PH_CREATURE_BAR_TOP
                                                                        : hit_points);
    creature->stamina =
        (uint8_t)(is_fighting ? 40 + ph_random_below(random, 80) : PH_CREATURE_BAR_TOP);
    creature->behaviour = (uint8_t)(is_fighting ? 1 + ph_random_below(random, 10) : 0);
}

static void enchant(ph_creature* creature, ph_rng* random)
{
    creature->effect_count = (uint16_t)ph_random_below(random, 4);
    for (int i = 0; i < creature->effect_count; ++i) {
        creature->effects[i] = (uint8_t)ph_random_below(random, 60);
    }
}

static void live(ph_cast* cast, int index)
{
    ph_creature* creature = &cast->creature[index];
    ph_rng* random = &cast->random[index];
    if (ph_random_below(random, cast->scene->rate_hz) != 0) {
        return;
    }
    fight_or_rest(creature, random);
    switch (ph_random_below(random, 20)) {
    case 0:
    case 1:
        choose_target(cast, index);
        return;
    case 2:
        creature->mode = creature->target.index1 != 0 ? MODE_FIGHTING : MODE_STANDING;
        return;
    case 3:
    case 4:
        creature->mode = MODE_STANDING;
        return;
    case 5:
        enchant(creature, random);
        return;
    default:
        return;
    }
}

static void follow_scene(ph_cast* cast, int index)
{
    const ph_scene* scene = cast->scene;
    ph_creature* creature = &cast->creature[index];
    const int32_t position_mm[3] = {scene->x_mm[index], scene->y_mm[index], scene->z_mm[index]};
    const bool has_moved =
        memcmp(position_mm, creature->position_mm, sizeof creature->position_mm) != 0;
    if (creature->mode != MODE_FIGHTING) {
        creature->mode = has_moved ? MODE_WALKING : MODE_STANDING;
    }
    memcpy(creature->position_mm, position_mm, sizeof creature->position_mm);
    creature->heading_deg = scene->heading_deg[index];
}

// ---- in the world

static ph_result appear(ph_cast* cast, int index)
{
    const ph_scene* scene = cast->scene;
    const ph_spawn spawn = {
        .class_index = cast->class_index,
        .name = (uint64_t)index,
        .position_mm = {scene->x_mm[index], scene->y_mm[index], scene->z_mm[index]},
    };
    return ph_world_spawn(cast->world, &spawn, &cast->entity[index]);
}

static ph_result step_one(ph_cast* cast, int index)
{
    ph_entity_id* entity = &cast->entity[index];
    if (!cast->scene->present[index]) {
        if (entity->index1 != 0) {
            ph_world_despawn(cast->world, *entity);
            *entity = (ph_entity_id){0};
        }
        return PH_OK;
    }
    if (entity->index1 == 0) {
        const ph_result result = appear(cast, index);
        if (result != PH_OK) {
            return result;
        }
    }
    live(cast, index);
    follow_scene(cast, index);
    return ph_world_put(cast->world, *entity, &cast->creature[index], NULL);
}

ph_result ph_cast_step(ph_cast* cast)
{
    for (int i = 0; i < cast->scene->count; ++i) {
        const ph_result result = step_one(cast, i);
        if (result != PH_OK) {
            return result;
        }
    }
    return PH_OK;
}

// ---- memory

ph_cast* ph_cast_create(const ph_scene* scene, ph_world* world, int class_index, uint64_t seed)
{
    ph_cast* cast = calloc(1, sizeof(ph_cast));
    if (cast == NULL) {
        return NULL;
    }
    const size_t count = (size_t)scene->count;
    *cast = (ph_cast){.scene = scene, .world = world, .class_index = class_index};
    cast->entity = calloc(count, sizeof(ph_entity_id));
    cast->creature = calloc(count, sizeof(ph_creature));
    cast->random = calloc(count, sizeof(ph_rng));
    bool is_ready = cast->entity != NULL && cast->creature != NULL && cast->random != NULL;
    for (int i = 0; i < scene->count && is_ready; ++i) {
        cast->random[i] = ph_random_part(seed, (uint64_t)i);
        dress(&cast->creature[i], &cast->random[i], i);
    }
    is_ready = is_ready && ph_cast_step(cast) == PH_OK;
    if (!is_ready) {
        ph_cast_destroy(cast);
        return NULL;
    }
    return cast;
}

void ph_cast_destroy(ph_cast* cast)
{
    if (cast == NULL) {
        return;
    }
    free(cast->random);
    free(cast->creature);
    free(cast->entity);
    free(cast);
}
