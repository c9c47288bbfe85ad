// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All actors walk to one point: the market, the concert, the dragon. The worst that can happen to
// vision.

#include "kit/plane.h"
#include "kit/scene_play.h"

#include <math.h>

enum { COMING, THERE };

#define FAR_MM 200000.0
#define NEAR_MM 30000.0
// What one actor takes up in the crowd.
#define ROOM_MM2 500000.0
#define PI 3.14159265358979323846

// Somewhere in the disc that holds all actors.
static void choose_spot(const ph_scene* scene, ph_actor* actor)
{
    const double throng_mm = sqrt(scene->count * ROOM_MM2 / PI);
    const double share = ph_random_between(&actor->random, 0.0, 1.0);
    const double angle_deg = ph_random_between(&actor->random, -180.0, 180.0);
    const double distance_mm = throng_mm * sqrt(share);
    actor->walker.goal_x_mm = distance_mm * ph_plane_cos_deg(angle_deg);
    actor->walker.goal_y_mm = distance_mm * ph_plane_sin_deg(angle_deg);
}

static void begin(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    const double angle_deg = ph_random_between(&actor->random, -180.0, 180.0);
    const double distance_mm = ph_random_between(&actor->random, NEAR_MM, FAR_MM);
    actor->walker.x_mm = distance_mm * ph_plane_cos_deg(angle_deg);
    actor->walker.y_mm = distance_mm * ph_plane_sin_deg(angle_deg);
    actor->walker.heading_deg = ph_random_between(&actor->random, -180.0, 180.0);
    actor->walker.cruise_mm_s = ph_random_between(&actor->random, 1500.0, 5000.0);
    choose_spot(scene, actor);
}

static void step(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    ph_walker* walker = &actor->walker;
    if (actor->wait_steps > 0) {
        --actor->wait_steps;
        return;
    }
    if (!ph_walker_step(walker, scene->rate_hz)) {
        return;
    }
    // No actor stands still for long in a crowd: a step to the side, a look round.
    actor->mode = THERE;
    actor->wait_steps = ph_scene_draw_steps(scene, actor, 0.5, 6.0);
    walker->cruise_mm_s = 800.0;
    walker->goal_x_mm += ph_random_between(&actor->random, -700.0, 700.0);
    walker->goal_y_mm += ph_random_between(&actor->random, -700.0, 700.0);
}

const ph_play ph_play_crowd = {
    .info = {.name = "crowd", .default_count = 500, .default_rate_hz = 10},
    .begin = begin,
    .step = step,
};
