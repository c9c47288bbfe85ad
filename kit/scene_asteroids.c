// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bodies that drift and spin in a ball of space, in all three dimensions. Nothing of a body can be
// foreseen from one impulse to the next, and everything in between: on average one a second, drawn
// anew every step, so the next one is never due. What reaches the edge of the ball is thrown back.

#include "kit/plane.h"
#include "kit/attitude.h"
#include "kit/scene_play.h"

#include <math.h>

// Every asteroid is within the usual radius of every other one: see PH_SCENE_EDGE_RADIUS_MM.
#define BALL_RADIUS_MM 120000.0
#define IMPULSES_PER_S 1.0
#define WEAKEST_IMPULSE_MM_S 2000.0
#define STRONGEST_IMPULSE_MM_S 8000.0
#define SPIN_IMPULSE_DEG_S 80.0
// An impulse also takes some of the motion away. So speed stays below 8 / (1 - 0.7) m/s and spin
// below 80 / (1 - 0.7) degrees a second, however many follow each other.
#define KEPT_SHARE 0.7
// Random streams behind those of all actors there can be.
#define TURNS_PART (UINT64_C(1) << 32)

enum { SPIN, SIZE, COLUMN_COUNT };
enum { SPIN_LIMIT_DEG_S = 267, SIZE_LEAST_DM = 5, SIZE_MOST_DM = 60 };

static const ph_scene_column COLUMNS[COLUMN_COUNT] = {
    [SPIN] = {.name = "spin", .low = -SPIN_LIMIT_DEG_S, .high = SPIN_LIMIT_DEG_S},
    [SIZE] = {.name = "size", .low = SIZE_LEAST_DM, .high = SIZE_MOST_DM},
};

typedef struct asteroid {
    double position_mm[3];
    double velocity_mm_s[3];
    double heading_deg; // -180..180: as if it turned about z alone
    double spin_deg_s;
    double rotation[4]; // as it turns in space
    double spins_deg_s[3];
    ph_rng turns;
} asteroid;

static size_t stage_bytes(int count)
{
    return (size_t)count * sizeof(asteroid);
}

static asteroid* find_body(const ph_scene* scene, int index)
{
    return (asteroid*)scene->actors->stage + index;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A point of the unit ball, each as likely as the next; never its middle.
static void draw_in_ball(ph_rng* random, double point[3])
{
    double square;
    do {
        for (int k = 0; k < 3; ++k) {
            point[k] = ph_random_between(random, -1.0, 1.0);
        }
        square = dot(point, point);
    } while (square > 1.0 || square < 0.01);
}

// About each axis as much as about z. Of random numbers of its own.
static void push_spins(asteroid* body)
{
    for (int k = 0; k < 2; ++k) {
        body->spins_deg_s[k] =
            KEPT_SHARE * body->spins_deg_s[k] +
            ph_random_between(&body->turns, -SPIN_IMPULSE_DEG_S, SPIN_IMPULSE_DEG_S);
    }
    body->spins_deg_s[2] = body->spin_deg_s;
}

static void push(asteroid* body, ph_rng* random)
{
    double way[3];
    draw_in_ball(random, way);
    const double strength_mm_s =
        ph_random_between(random, WEAKEST_IMPULSE_MM_S, STRONGEST_IMPULSE_MM_S);
    const double factor = strength_mm_s / sqrt(dot(way, way));
    for (int k = 0; k < 3; ++k) {
        body->velocity_mm_s[k] = KEPT_SHARE * body->velocity_mm_s[k] + factor * way[k];
    }
    body->spin_deg_s = KEPT_SHARE * body->spin_deg_s +
                       ph_random_between(random, -SPIN_IMPULSE_DEG_S, SPIN_IMPULSE_DEG_S);
    push_spins(body);
}

// Off the inside of the ball, as light off a mirror.
static void throw_back(asteroid* body)
{
    const double square_mm2 = dot(body->position_mm, body->position_mm);
    if (square_mm2 <= BALL_RADIUS_MM * BALL_RADIUS_MM) {
        return;
    }
    const double outward = dot(body->velocity_mm_s, body->position_mm) / square_mm2;
    const double inward = BALL_RADIUS_MM / sqrt(square_mm2);
    for (int k = 0; k < 3; ++k) {
        if (outward > 0.0) {
            body->velocity_mm_s[k] -= 2.0 * outward * body->position_mm[k];
        }
        body->position_mm[k] *= inward;
    }
}

static void begin(ph_scene* scene, int index)
{
    asteroid* body = find_body(scene, index);
    ph_rng* random = &ph_scene_actor(scene, index)->random;
    draw_in_ball(random, body->position_mm);
    for (int k = 0; k < 3; ++k) {
        body->position_mm[k] *= BALL_RADIUS_MM;
    }
    body->heading_deg = ph_random_between(random, -180.0, 180.0);
    body->turns = ph_random_part(scene->actors->seed, TURNS_PART + (uint64_t)index);
    ph_attitude_draw(&body->turns, body->rotation);
    push(body, random);
    scene->extra[SIZE][index] =
        SIZE_LEAST_DM + ph_random_below(random, SIZE_MOST_DM - SIZE_LEAST_DM + 1);
}

static void step(ph_scene* scene, int index)
{
    asteroid* body = find_body(scene, index);
    ph_rng* random = &ph_scene_actor(scene, index)->random;
    if (ph_rng_chance(random, IMPULSES_PER_S / scene->rate_hz)) {
        push(body, random);
    }
    for (int k = 0; k < 3; ++k) {
        body->position_mm[k] += body->velocity_mm_s[k] / scene->rate_hz;
    }
    throw_back(body);
    body->heading_deg = ph_plane_wrap_deg(body->heading_deg + body->spin_deg_s / scene->rate_hz);
    ph_attitude_spin(body->rotation, body->spins_deg_s, 1.0 / scene->rate_hz);
}

static void show(ph_scene* scene, int index)
{
    const asteroid* body = find_body(scene, index);
    ph_scene_show(scene, index, body->position_mm, body->heading_deg);
    ph_scene_show_rotation(scene, index, body->rotation);
    scene->extra[SPIN][index] = (int32_t)floor(body->spin_deg_s + 0.5);
}

const ph_play ph_play_asteroids = {
    .info = {.name = "asteroids",
             .default_count = 250,
             .default_rate_hz = 30,
             .extras = COLUMNS,
             .extra_count = COLUMN_COUNT,
             .has_rotation = true},
    .begin = begin,
    .step = step,
    .stage_bytes = stage_bytes,
    .show = show,
};
