// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// On the edge of one actor's vision: all others step to and fro across it. Without
// hysteresis each step would be an enter or a leave.

#include "kit/plane.h"
#include "kit/scene_play.h"

// How far a dancer goes to each side. The wide ones also cross the outer edge of the hysteresis.
static double swing_mm(int index)
{
    return index % 4 == 0 ? 40000.0 : index % 4 == 1 ? 15000.0 : 2000.0;
}

static void place_at(double* x_mm, double* y_mm, double angle_deg, double distance_mm)
{
    *x_mm = distance_mm * ph_plane_cos_deg(angle_deg);
    *y_mm = distance_mm * ph_plane_sin_deg(angle_deg);
}

// To the other side of the edge, and a little along it.
static void choose_goal(ph_actor* actor, int index)
{
    const double across_mm = ph_random_between(&actor->random, 0.3, 1.0) * swing_mm(index);
    const double distance_mm =
        PH_SCENE_EDGE_RADIUS_MM + (actor->mode == 0 ? across_mm : -across_mm);
    actor->mode = 1 - actor->mode;
    actor->angle_deg =
        ph_plane_wrap_deg(actor->angle_deg + ph_random_between(&actor->random, -0.5, 0.5));
    place_at(&actor->walker.goal_x_mm, &actor->walker.goal_y_mm, actor->angle_deg, distance_mm);
    actor->walker.cruise_mm_s = ph_random_between(&actor->random, 1000.0, 4000.0);
}

static void begin(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    if (index == 0) {
        return; // the viewer, at (0, 0)
    }
    actor->angle_deg = ph_random_between(&actor->random, -180.0, 180.0);
    actor->mode = ph_random_below(&actor->random, 2);
    const double off_mm = ph_random_between(&actor->random, -1.0, 1.0) * swing_mm(index);
    place_at(&actor->walker.x_mm, &actor->walker.y_mm, actor->angle_deg,
             PH_SCENE_EDGE_RADIUS_MM + off_mm);
    actor->walker.heading_deg = ph_random_between(&actor->random, -180.0, 180.0);
    choose_goal(actor, index);
}

static void step(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    if (index != 0 && ph_walker_step(&actor->walker, scene->rate_hz)) {
        choose_goal(actor, index);
    }
}

const ph_play ph_play_edge = {
    .info = {.name = "edge", .default_count = 100, .default_rate_hz = 10},
    .begin = begin,
    .step = step,
};
