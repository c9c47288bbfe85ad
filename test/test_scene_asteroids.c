// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Asteroids drift, spin and are pushed about once a second, and none leaves the others' sight.

#include "support/test_support.h"

#include "kit/scene.h"

#include <math.h>
#include <string.h>

enum { BODY_COUNT = 250, RATE_HZ = 30 };

typedef struct moment {
    double position_mm[BODY_COUNT][3];
    int32_t spin[BODY_COUNT];
} moment;

static void take_moment(const ph_scene* scene, moment* out)
{
    for (int i = 0; i < BODY_COUNT; ++i) {
        out->position_mm[i][0] = scene->x_mm[i];
        out->position_mm[i][1] = scene->y_mm[i];
        out->position_mm[i][2] = scene->z_mm[i];
        out->spin[i] = scene->extra[0][i];
    }
}

static double length_mm(const double vector[3])
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

// How much the step from b to c differs from that from a to b: rounding alone gives 3 mm at most.
static double change_mm(const moment* a, const moment* b, const moment* c, int index)
{
    double change[3];
    for (int k = 0; k < 3; ++k) {
        change[k] =
            c->position_mm[index][k] - 2.0 * b->position_mm[index][k] + a->position_mm[index][k];
    }
    return length_mm(change);
}

// Seen from outside: a body flies straight on unless it was pushed (its spin changes, too) or comes
// from the edge.
static void a_body_is_pushed_once_a_second_on_average(void** state)
{
    (void)state;
    ph_scene* scene = ph_scene_create("asteroids", BODY_COUNT, RATE_HZ, 2024);
    static moment moments[3];
    int pushes = 0, bends = 0, watched = 0;
    for (int step = 0; step < 60 * RATE_HZ; ++step) {
        memmove(&moments[0], &moments[1], 2 * sizeof(moment));
        take_moment(scene, &moments[2]);
        for (int i = 0; step >= 2 && i < BODY_COUNT; ++i) {
            if (length_mm(moments[2].position_mm[i]) > 118000.0) {
                continue;
            }
            ++watched;
            bends += change_mm(&moments[0], &moments[1], &moments[2], i) > 4.0;
            pushes += moments[1].spin[i] != moments[2].spin[i];
        }
        ph_scene_step(scene);
    }
    const double watched_s = (double)watched / RATE_HZ;
    assert_true(watched_s > 10000.0);
    // 15,000 expected: a hundredth is more than one standard deviation. A few leave the spin as it
    // was, to a whole degree.
    assert_true(fabs(bends / watched_s - 1.0) < 0.03);
    assert_true(fabs(pushes / watched_s - 1.0) < 0.04);
    ph_scene_destroy(scene);
}

static void bodies_stay_in_sight_of_each_other(void** state)
{
    (void)state;
    const int rates_hz[] = {1, 5, 30, 60};
    for (int k = 0; k < 4; ++k) {
        ph_scene* scene = ph_scene_create("asteroids", BODY_COUNT, rates_hz[k], 5);
        static moment now, before;
        for (int step = 0; step < 900; ++step) {
            take_moment(scene, &before);
            ph_scene_step(scene);
            take_moment(scene, &now);
            for (int i = 0; i < BODY_COUNT; ++i) {
                assert_true(scene->present[i]);
                assert_true(length_mm(now.position_mm[i]) <= PH_SCENE_EDGE_RADIUS_MM / 2.0);
                double way_mm[3];
                for (int axis = 0; axis < 3; ++axis) {
                    way_mm[axis] = now.position_mm[i][axis] - before.position_mm[i][axis];
                }
                assert_true(length_mm(way_mm) <= 27000.0 / rates_hz[k] + 2.0);
            }
        }
        ph_scene_destroy(scene);
    }
}

static void the_heading_turns_by_the_spin(void** state)
{
    (void)state;
    ph_scene* scene = ph_scene_create("asteroids", BODY_COUNT, RATE_HZ, 6);
    for (int step = 0; step < 300; ++step) {
        float heading_deg[BODY_COUNT];
        memcpy(heading_deg, scene->heading_deg, sizeof heading_deg);
        ph_scene_step(scene);
        for (int i = 0; i < BODY_COUNT; ++i) {
            const double turn_deg =
                remainder((double)scene->heading_deg[i] - (double)heading_deg[i], 360.0);
            assert_true(fabs(turn_deg * RATE_HZ - scene->extra[0][i]) < 0.6);
        }
    }
    ph_scene_destroy(scene);
}

static void all_three_dimensions_are_alike(void** state)
{
    (void)state;
    ph_scene* scene = ph_scene_create("asteroids", 0, 0, 7);
    assert_int_equal(scene->count, 250);
    assert_int_equal(scene->rate_hz, 30);
    double mean_mm[3] = {0};
    static moment now;
    for (int step = 0; step < 600; ++step) {
        ph_scene_step(scene);
        take_moment(scene, &now);
        for (int i = 0; i < 3 * BODY_COUNT; ++i) {
            mean_mm[i % 3] += fabs(now.position_mm[i / 3][i % 3]) / (600 * BODY_COUNT);
        }
    }
    // 3/8 of the radius is the mean for an evenly filled ball.
    for (int k = 0; k < 3; ++k) {
        assert_in_range((int)mean_mm[k], 38000, 52000);
    }
    ph_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_pushed_once_a_second_on_average),
        cmocka_unit_test(bodies_stay_in_sight_of_each_other),
        cmocka_unit_test(the_heading_turns_by_the_spin),
        cmocka_unit_test(all_three_dimensions_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
