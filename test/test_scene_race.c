// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Cars race as cars do: fast on straights, slow in corners, past each other, and sometimes off.

#include "support/test_support.h"

#include "kit/plane.h"
#include "kit/scene.h"
#include "kit/racetrack.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CAR_COUNT = 24, RATE_HZ = 20 };

// A step of more than this is a jump: 100 m/s.
#define JUMP_MM (100000.0 / RATE_HZ)

typedef struct places {
    int32_t x_mm[CAR_COUNT];
    int32_t y_mm[CAR_COUNT];
} places;

static void take_places(const ph_scene* scene, places* out)
{
    memcpy(out->x_mm, scene->x_mm, sizeof out->x_mm);
    memcpy(out->y_mm, scene->y_mm, sizeof out->y_mm);
}

static ph_scene* make_race(uint64_t seed)
{
    ph_scene* scene = ph_scene_create("race", 0, 0, seed);
    assert_int_equal(scene->count, CAR_COUNT);
    assert_int_equal(scene->rate_hz, RATE_HZ);
    return scene;
}

// The nearest part of the track, and how far it is.
static int find_part(const ph_racetrack* track, double x_mm, double y_mm, double* distance_mm)
{
    int nearest = 0;
    *distance_mm = 1e12;
    for (int i = 0; i < PH_RACETRACK_PARTS; ++i) {
        const double far_mm = ph_plane_length(track->x_mm[i] - x_mm, track->y_mm[i] - y_mm);
        if (far_mm < *distance_mm) {
            *distance_mm = far_mm;
            nearest = i;
        }
    }
    return nearest;
}

static void the_track_is_closed_smooth_and_can_be_braked_for(void** state)
{
    (void)state;
    ph_racetrack* track = malloc(sizeof *track);
    ph_racetrack_init(track);
    const double spacing_mm = track->length_mm / PH_RACETRACK_PARTS;
    assert_true(track->length_mm > 2e6 && track->length_mm < 4e6);
    double total_turn_deg = 0.0;
    for (int i = 0; i < PH_RACETRACK_PARTS; ++i) {
        const int next = (i + 1) % PH_RACETRACK_PARTS;
        const double step_mm =
            ph_plane_length(track->x_mm[next] - track->x_mm[i], track->y_mm[next] - track->y_mm[i]);
        assert_true(fabs(step_mm - spacing_mm) < 1.0);
        const double turn_deg = ph_plane_wrap_deg(track->heading_deg[next] - track->heading_deg[i]);
        assert_true(fabs(turn_deg) < 3.0);
        total_turn_deg += turn_deg;
        // The inner side of the tightest bend is still a bend.
        assert_true(fabs(track->bend_per_mm[i]) < 0.5 / PH_RACETRACK_HALF_WIDTH_MM);
        const double limit_mm_s = track->limit_mm_s[i];
        assert_true(limit_mm_s >= PH_RACETRACK_SLOWEST_MM_S &&
                    limit_mm_s <= PH_RACETRACK_FASTEST_MM_S);
        const double braking_mm_s2 =
            (limit_mm_s * limit_mm_s - track->limit_mm_s[next] * track->limit_mm_s[next]) /
            (2.0 * spacing_mm);
        assert_true(braking_mm_s2 < PH_RACETRACK_BRAKING_MM_S2 * 1.001);
    }
    assert_true(fabs(total_turn_deg - 360.0) < 0.01);
    free(track);
}

static void cars_drive_twenty_to_sixty_metres_a_second(void** state)
{
    (void)state;
    ph_scene* scene = make_race(2024);
    int slow = 0, fast = 0, racing = 0;
    for (int step = 0; step < 120 * RATE_HZ; ++step) {
        places before;
        take_places(scene, &before);
        ph_scene_step(scene);
        for (int i = 0; i < CAR_COUNT; ++i) {
            assert_true(scene->present[i]);
            const double way_mm =
                ph_plane_length(scene->x_mm[i] - before.x_mm[i], scene->y_mm[i] - before.y_mm[i]);
            // On the outer side of a bend a little more than the middle of the track is allowed.
            assert_true(way_mm > JUMP_MM || way_mm < 62000.0 / RATE_HZ);
            racing += way_mm >= 18000.0 / RATE_HZ;
            slow += way_mm >= 18000.0 / RATE_HZ && way_mm < 30000.0 / RATE_HZ;
            fast += way_mm > 50000.0 / RATE_HZ;
        }
    }
    // Of 57,600 moments: nearly all racing, and both corners and straights.
    assert_in_range(racing, 53000, 57500);
    assert_in_range(slow, 5000, 35000);
    assert_in_range(fast, 3000, 30000);
    ph_scene_destroy(scene);
}

static void a_car_that_spins_off_jumps_back_to_the_track(void** state)
{
    (void)state;
    ph_racetrack* track = malloc(sizeof *track);
    ph_racetrack_init(track);
    ph_scene* scene = make_race(2024);
    int jumps = 0, off_track = 0;
    for (int step = 0; step < 300 * RATE_HZ; ++step) {
        places before;
        take_places(scene, &before);
        ph_scene_step(scene);
        for (int i = 0; i < CAR_COUNT; ++i) {
            const double way_mm =
                ph_plane_length(scene->x_mm[i] - before.x_mm[i], scene->y_mm[i] - before.y_mm[i]);
            if (way_mm <= JUMP_MM) {
                continue;
            }
            ++jumps;
            double distance_mm;
            find_part(track, before.x_mm[i], before.y_mm[i], &distance_mm);
            off_track += distance_mm > PH_RACETRACK_HALF_WIDTH_MM;
            find_part(track, scene->x_mm[i], scene->y_mm[i], &distance_mm);
            assert_true(distance_mm < PH_RACETRACK_HALF_WIDTH_MM);
        }
    }
    // 24 cars, 300 s, one spin in 150 s.
    assert_in_range(jumps, 25, 70);
    assert_in_range(off_track, 5, jumps);
    ph_scene_destroy(scene);
    free(track);
}

// Which was ahead when two cars were last near each other: 1 the first, -1 the second, 0 unknown.
typedef struct order {
    int lead[CAR_COUNT][CAR_COUNT];
} order;

// Passing a car that stands, or by being put back, is not overtaking.
static void forget(order* order_so_far, int index)
{
    for (int i = 0; i < CAR_COUNT; ++i) {
        order_so_far->lead[index][i] = 0;
        order_so_far->lead[i][index] = 0;
    }
}

// @return How many have passed each other since the last call: a length behind, then one ahead.
static int count_passes(const ph_scene* scene, const ph_racetrack* track, order* order_so_far)
{
    int part[CAR_COUNT];
    for (int i = 0; i < CAR_COUNT; ++i) {
        double distance_mm;
        part[i] = find_part(track, scene->x_mm[i], scene->y_mm[i], &distance_mm);
    }
    int passes = 0;
    for (int i = 0; i < CAR_COUNT; ++i) {
        for (int j = i + 1; j < CAR_COUNT; ++j) {
            const double gap_mm = (part[i] - part[j]) * track->length_mm / PH_RACETRACK_PARTS;
            if (fabs(gap_mm) > 5000.0 && fabs(gap_mm) < 40000.0) {
                const int ahead = gap_mm > 0.0 ? 1 : -1;
                passes += order_so_far->lead[i][j] == -ahead;
                order_so_far->lead[i][j] = ahead;
            }
        }
    }
    return passes;
}

static void cars_overtake_each_other(void** state)
{
    (void)state;
    ph_racetrack* track = malloc(sizeof *track);
    ph_racetrack_init(track);
    ph_scene* scene = make_race(7);
    order order_so_far = {{{0}}};
    int passes = 0;
    for (int step = 0; step < 120 * RATE_HZ; ++step) {
        places before;
        take_places(scene, &before);
        ph_scene_step(scene);
        for (int i = 0; i < CAR_COUNT; ++i) {
            const double way_mm =
                ph_plane_length(scene->x_mm[i] - before.x_mm[i], scene->y_mm[i] - before.y_mm[i]);
            if (way_mm < 15000.0 / RATE_HZ || way_mm > JUMP_MM) {
                forget(&order_so_far, i);
            }
        }
        if (step % 10 == 0) {
            passes += count_passes(scene, track, &order_so_far);
        }
    }
    assert_in_range(passes, 30, 500);
    ph_scene_destroy(scene);
    free(track);
}

// Also through the corners; not while it spins, which few do.
static void the_heading_follows_the_way(void** state)
{
    (void)state;
    ph_scene* scene = make_race(3);
    int driving = 0, along = 0;
    for (int step = 0; step < 60 * RATE_HZ; ++step) {
        places before;
        take_places(scene, &before);
        ph_scene_step(scene);
        for (int i = 0; i < CAR_COUNT; ++i) {
            const double x_mm = scene->x_mm[i] - before.x_mm[i];
            const double y_mm = scene->y_mm[i] - before.y_mm[i];
            const double off_deg =
                ph_plane_wrap_deg(ph_plane_bearing_deg(x_mm, y_mm) - (double)scene->heading_deg[i]);
            const double way_mm = ph_plane_length(x_mm, y_mm);
            driving += way_mm > 500.0 && way_mm < JUMP_MM;
            along += way_mm > 500.0 && way_mm < JUMP_MM && fabs(off_deg) < 6.0;
        }
    }
    assert_true(along > 0.96 * driving);
    ph_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_track_is_closed_smooth_and_can_be_braked_for),
        cmocka_unit_test(cars_drive_twenty_to_sixty_metres_a_second),
        cmocka_unit_test(a_car_that_spins_off_jumps_back_to_the_track),
        cmocka_unit_test(cars_overtake_each_other),
        cmocka_unit_test(the_heading_follows_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
