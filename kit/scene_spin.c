// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bodies in a small ball of space that all turn equally fast, each about an axis of its own, which an
// impulse changes now and then together with its velocity. What rotation costs positions shows here:
// played without it (pinhole sim --rotation heading) the same bodies move just the same, and their
// heading is always 0.

#include "kit/plane.h"
#include "kit/attitude.h"
#include "kit/scene_play.h"

#include <math.h>

// All bodies see each other.
#define BALL_RADIUS_MM 60000.0
// A radian.
#define TURN_DEG_S 57.29577951308232
#define IMPULSES_PER_S 0.2
#define FASTEST_MM_S 4000.0

typedef struct tumbler {
    double position_mm[3];
    double velocity_mm_s[3];
    double rotation[4];
    double spin_deg_s[3];
    ph_rng turns; // apart, so that they move the same without it
} tumbler;

// Random streams behind those of all actors there can be.
#define TURNS_PART (UINT64_C(1) << 32)

static size_t stage_bytes(int count)
{
    return (size_t)count * sizeof(tumbler);
}

static tumbler* find_body(const ph_scene* scene, int index)
{
    return (tumbler*)scene->actors->stage + index;
}

static double square_of(const double a[3])
{
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

// A point of the unit ball, never its middle.
static void draw_in_ball(ph_rng* random, double point[3])
{
    do {
        for (int k = 0; k < 3; ++k) {
            point[k] = ph_random_between(random, -1.0, 1.0);
        }
    } while (square_of(point) > 1.0 || square_of(point) < 0.01);
}

static void push(tumbler* body, ph_rng* random)
{
    double axis[3];
    draw_in_ball(random, body->velocity_mm_s);
    draw_in_ball(&body->turns, axis);
    for (int k = 0; k < 3; ++k) {
        body->velocity_mm_s[k] *= FASTEST_MM_S;
        body->spin_deg_s[k] = TURN_DEG_S * axis[k] / sqrt(square_of(axis));
    }
}

// What leaves the ball is sent back towards its middle.
static void keep_inside(tumbler* body)
{
    const double square_mm2 = square_of(body->position_mm);
    double outward = 0.0;
    for (int k = 0; k < 3; ++k) {
        outward += body->velocity_mm_s[k] * body->position_mm[k];
    }
    if (square_mm2 > BALL_RADIUS_MM * BALL_RADIUS_MM && outward > 0.0) {
        for (int k = 0; k < 3; ++k) {
            body->velocity_mm_s[k] -= 2.0 * outward / square_mm2 * body->position_mm[k];
        }
    }
}

static void begin(ph_scene* scene, int index)
{
    tumbler* body = find_body(scene, index);
    ph_rng* random = &ph_scene_actor(scene, index)->random;
    body->turns = ph_random_part(scene->actors->seed, TURNS_PART + (uint64_t)index);
    draw_in_ball(random, body->position_mm);
    for (int k = 0; k < 3; ++k) {
        body->position_mm[k] *= BALL_RADIUS_MM;
    }
    ph_attitude_draw(&body->turns, body->rotation);
    push(body, random);
}

static void step(ph_scene* scene, int index)
{
    tumbler* body = find_body(scene, index);
    ph_rng* random = &ph_scene_actor(scene, index)->random;
    if (ph_rng_chance(random, IMPULSES_PER_S / scene->rate_hz)) {
        push(body, random);
    }
    for (int k = 0; k < 3; ++k) {
        body->position_mm[k] += body->velocity_mm_s[k] / scene->rate_hz;
    }
    keep_inside(body);
    ph_attitude_spin(body->rotation, body->spin_deg_s, 1.0 / scene->rate_hz);
}

static void show(ph_scene* scene, int index)
{
    const tumbler* body = find_body(scene, index);
    ph_scene_show(scene, index, body->position_mm, 0.0);
    ph_scene_show_rotation(scene, index, body->rotation);
}

const ph_play ph_play_spin = {
    .info = {.name = "spin", .default_count = 100, .default_rate_hz = 20, .has_rotation = true},
    .begin = begin,
    .step = step,
    .stage_bytes = stage_bytes,
    .show = show,
};
