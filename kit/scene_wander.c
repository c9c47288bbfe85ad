// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// People with somewhere to go: from place to place, most at a walk, some at a run; at a place they
// stand, look around, sometimes go indoors.

#include "kit/plane.h"
#include "kit/scene_play.h"

enum { STANDING, LOOKING_AROUND, WALKING, INDOORS };

// So many actors share a place; of so many places each takes the nearest, so that most ways are
// short.
enum { ACTORS_PER_PLACE = 10, PLACES_CONSIDERED = 6 };

#define PLACE_RADIUS_MM 6000.0

// Places are drawn, not kept: the same number always gives the same one.
static void find_place(const ph_scene* scene, int place, double* x_mm, double* y_mm)
{
    const double half_mm = scene->actors->side_mm / 2.0;
    ph_rng random = ph_random_part(~scene->actors->seed, (uint64_t)place);
    *x_mm = ph_random_between(&random, -half_mm, half_mm);
    *y_mm = ph_random_between(&random, -half_mm, half_mm);
}

static void choose_goal(const ph_scene* scene, ph_actor* actor)
{
    ph_walker* walker = &actor->walker;
    const int place_count = 2 + scene->count / ACTORS_PER_PLACE;
    double nearest_mm = 1e12;
    for (int i = 0; i < PLACES_CONSIDERED; ++i) {
        double x_mm, y_mm;
        find_place(scene, ph_random_below(&actor->random, place_count), &x_mm, &y_mm);
        const double distance_mm = ph_plane_length(x_mm - walker->x_mm, y_mm - walker->y_mm);
        // Where it stands already is no goal.
        if (distance_mm > 2.0 * PLACE_RADIUS_MM && distance_mm < nearest_mm) {
            nearest_mm = distance_mm;
            walker->goal_x_mm = x_mm;
            walker->goal_y_mm = y_mm;
        }
    }
    walker->goal_x_mm += ph_random_between(&actor->random, -PLACE_RADIUS_MM, PLACE_RADIUS_MM);
    walker->goal_y_mm += ph_random_between(&actor->random, -PLACE_RADIUS_MM, PLACE_RADIUS_MM);
    const bool is_in_a_hurry = ph_random_below(&actor->random, 6) == 0;
    walker->cruise_mm_s = is_in_a_hurry ? ph_random_between(&actor->random, 3500.0, 6000.0)
                                        : ph_random_between(&actor->random, 900.0, 1800.0);
    actor->mode = WALKING;
}

static void stand(const ph_scene* scene, ph_actor* actor)
{
    actor->mode = STANDING;
    actor->wait_steps = ph_scene_draw_steps(scene, actor, 1.0, 8.0);
}

static void begin(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    ph_scene_scatter(scene, actor);
    actor->walker.goal_x_mm = actor->walker.x_mm;
    actor->walker.goal_y_mm = actor->walker.y_mm;
    stand(scene, actor);
}

static void decide(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    const int choice = ph_random_below(&actor->random, 20);
    if (actor->mode == INDOORS || choice < 12) {
        scene->present[index] = true;
        choose_goal(scene, actor);
    } else if (choice < 17) {
        actor->mode = LOOKING_AROUND;
        actor->angle_deg = ph_random_between(&actor->random, -180.0, 180.0);
    } else {
        actor->mode = INDOORS;
        actor->wait_steps = ph_scene_draw_steps(scene, actor, 5.0, 20.0);
        scene->present[index] = false;
    }
}

static void step(ph_scene* scene, int index)
{
    ph_actor* actor = ph_scene_actor(scene, index);
    switch (actor->mode) {
    case WALKING:
        if (ph_walker_step(&actor->walker, scene->rate_hz)) {
            stand(scene, actor);
        }
        return;
    case LOOKING_AROUND:
        if (ph_walker_face(&actor->walker, actor->angle_deg, scene->rate_hz)) {
            stand(scene, actor);
        }
        return;
    default:
        if (--actor->wait_steps <= 0) {
            decide(scene, index);
        }
        return;
    }
}

const ph_play ph_play_wander = {
    .info = {.name = "wander", .default_count = 1000, .default_rate_hz = 10},
    .begin = begin,
    .step = step,
};
