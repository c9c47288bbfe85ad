// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A scene's memory and its steps; what happens in it is in scene_<name>.c. The kit is no part of
// the library: it takes its memory from malloc.

#include "kit/scene.h"

#include "kit/plane.h"
#include "kit/scene_play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ph_play* const PLAYS[] = {&ph_play_wander, &ph_play_crowd, &ph_play_edge,
                                       &ph_play_still,  &ph_play_race,  &ph_play_asteroids,
                                       &ph_play_spin,   &ph_play_town};
enum { PLAY_COUNT = sizeof PLAYS / sizeof PLAYS[0] };

// A square of this area holds one actor: 1,000 to the km2.
#define AREA_PER_ACTOR_MM2 1e9

const char* ph_scene_name(int index)
{
    return index < PLAY_COUNT ? PLAYS[index]->info.name : NULL;
}

static const ph_play* find_play(const char* name)
{
    for (int i = 0; i < PLAY_COUNT; ++i) {
        if (strcmp(PLAYS[i]->info.name, name) == 0) {
            return PLAYS[i];
        }
    }
    return NULL;
}

const ph_scene_info* ph_scene_find(const char* name)
{
    const ph_play* play = find_play(name);
    return play != NULL ? &play->info : NULL;
}

// ---- what scenes use

int32_t ph_scene_ground_mm(double x_mm, double y_mm)
{
    const double height_mm =
        4000.0 * ph_plane_sin_deg(x_mm * 0.0013) + 3000.0 * ph_plane_sin_deg(y_mm * 0.0017 + 40.0);
    return (int32_t)floor(height_mm + 0.5);
}

int ph_scene_draw_steps(const ph_scene* scene, ph_actor* actor, double low_s, double high_s)
{
    return 1 + (int)(ph_random_between(&actor->random, low_s, high_s) * scene->rate_hz);
}

void ph_scene_scatter(const ph_scene* scene, ph_actor* actor)
{
    const double half_mm = scene->actors->side_mm / 2.0;
    actor->walker.x_mm = ph_random_between(&actor->random, -half_mm, half_mm);
    actor->walker.y_mm = ph_random_between(&actor->random, -half_mm, half_mm);
    actor->walker.heading_deg = ph_random_between(&actor->random, -180.0, 180.0);
}

// ---- the arrays

static int32_t round_mm(double value_mm)
{
    return (int32_t)floor(value_mm + 0.5);
}

void ph_scene_show(ph_scene* scene, int index, const double position_mm[3], double heading_deg)
{
    scene->x_mm[index] = round_mm(position_mm[0]);
    scene->y_mm[index] = round_mm(position_mm[1]);
    scene->z_mm[index] = round_mm(position_mm[2]);
    const float turned_deg = (float)(heading_deg < 0.0 ? heading_deg + 360.0 : heading_deg);
    // What is a hair below 360 rounds up to it.
    scene->heading_deg[index] = turned_deg < 360.0f ? turned_deg : 0.0f;
}

void ph_scene_show_rotation(ph_scene* scene, int index, const double rotation[4])
{
    static const double parts = 1e6; // PH_SCENE_ROTATION_DECIMALS
    for (int k = 0; k < 4; ++k) {
        scene->rotation[index][k] = floor(rotation[k] * parts + 0.5) / parts;
    }
}

static void show_walker(ph_scene* scene, int index)
{
    const ph_walker* walker = &ph_scene_actor(scene, index)->walker;
    const double position_mm[3] = {walker->x_mm, walker->y_mm,
                                   ph_scene_ground_mm(walker->x_mm, walker->y_mm)};
    ph_scene_show(scene, index, position_mm, walker->heading_deg);
}

static void show(ph_scene* scene, int index)
{
    const ph_play* play = scene->actors->play;
    (play->show != NULL ? play->show : show_walker)(scene, index);
}

static bool allocate_extras(ph_scene* scene)
{
    const int extra_count = scene->info->extra_count;
    if (extra_count == 0) {
        return true;
    }
    scene->extra = calloc((size_t)extra_count, sizeof(int32_t*));
    bool is_complete = scene->extra != NULL;
    for (int i = 0; is_complete && i < extra_count; ++i) {
        scene->extra[i] = calloc((size_t)scene->count, sizeof(int32_t));
        is_complete = scene->extra[i] != NULL;
    }
    return is_complete;
}

static bool allocate_actors(ph_scene* scene, const ph_play* play)
{
    scene->actors = calloc(1, sizeof(ph_scene_actors));
    if (scene->actors == NULL) {
        return false;
    }
    scene->actors->play = play;
    scene->actors->actor = calloc((size_t)scene->count, sizeof(ph_actor));
    if (play->stage_bytes != NULL) {
        scene->actors->stage = calloc(1, play->stage_bytes(scene->count));
    }
    return scene->actors->actor != NULL &&
           (play->stage_bytes == NULL || scene->actors->stage != NULL);
}

static bool allocate(ph_scene* scene, const ph_play* play)
{
    const size_t count = (size_t)scene->count;
    scene->x_mm = calloc(count, sizeof(int32_t));
    scene->y_mm = calloc(count, sizeof(int32_t));
    scene->z_mm = calloc(count, sizeof(int32_t));
    scene->heading_deg = calloc(count, sizeof(float));
    scene->present = calloc(count, sizeof(bool));
    if (scene->info->has_rotation) {
        scene->rotation = calloc(count, sizeof *scene->rotation);
    }
    return (scene->rotation != NULL || !scene->info->has_rotation) && scene->x_mm != NULL &&
           scene->y_mm != NULL && scene->z_mm != NULL && scene->heading_deg != NULL &&
           scene->present != NULL && allocate_extras(scene) && allocate_actors(scene, play);
}

// ---- life of a scene

static void begin(ph_scene* scene, uint64_t seed)
{
    const ph_play* play = scene->actors->play;
    scene->actors->seed = seed;
    scene->actors->side_mm = sqrt(scene->count * AREA_PER_ACTOR_MM2);
    if (play->prepare != NULL) {
        play->prepare(scene);
    }
    for (int i = 0; i < scene->count; ++i) {
        ph_scene_actor(scene, i)->random = ph_random_part(seed, (uint64_t)i);
        scene->present[i] = true;
        play->begin(scene, i);
        show(scene, i);
    }
}

ph_scene* ph_scene_create(const char* name, int count, double rate_hz, uint64_t seed)
{
    PH_ASSERT(count >= 0 && rate_hz >= 0);
    const ph_play* play = find_play(name);
    ph_scene* scene = play != NULL ? calloc(1, sizeof(ph_scene)) : NULL;
    if (scene == NULL) {
        return NULL;
    }
    scene->info = &play->info;
    scene->name = play->info.name;
    scene->count = count > 0 ? count : play->info.default_count;
    scene->rate_hz = rate_hz > 0 ? rate_hz : play->info.default_rate_hz;
    if (!allocate(scene, play)) {
        ph_scene_destroy(scene);
        return NULL;
    }
    begin(scene, seed);
    return scene;
}

static void free_extras(ph_scene* scene)
{
    for (int i = 0; scene->extra != NULL && i < scene->info->extra_count; ++i) {
        free(scene->extra[i]);
    }
    free(scene->extra);
}

void ph_scene_destroy(ph_scene* scene)
{
    if (scene == NULL) {
        return;
    }
    if (scene->actors != NULL) {
        free(scene->actors->stage);
        free(scene->actors->actor);
    }
    free(scene->actors);
    free_extras(scene);
    free(scene->rotation);
    free(scene->present);
    free(scene->heading_deg);
    free(scene->z_mm);
    free(scene->y_mm);
    free(scene->x_mm);
    free(scene);
}

void ph_scene_step(ph_scene* scene)
{
    ++scene->steps;
    for (int i = 0; i < scene->count; ++i) {
        scene->actors->play->step(scene, i);
        show(scene, i);
    }
}
