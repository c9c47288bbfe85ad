// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Scenes are the same everywhere, and each does what its name says.

#include "support/test_support.h"

#include "base/hash.h"
#include "kit/plane.h"
#include "kit/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t add_moment(uint64_t hash_so_far, const ph_scene* scene)
{
    ph_hash hash = ph_hash_make(hash_so_far);
    for (int i = 0; i < scene->count; ++i) {
        uint32_t heading_bits;
        memcpy(&heading_bits, &scene->heading_deg[i], sizeof heading_bits);
        ph_hash_add_u64(&hash, (uint64_t)(uint32_t)scene->x_mm[i] << 32 | (uint32_t)scene->y_mm[i]);
        ph_hash_add_u64(&hash, (uint64_t)(uint32_t)scene->z_mm[i] << 32 | heading_bits);
        ph_hash_add_u64(&hash, scene->present[i]);
        for (int k = 0; k < scene->info->extra_count; ++k) {
            ph_hash_add_u64(&hash, (uint32_t)scene->extra[k][i]);
        }
    }
    return ph_hash_value(&hash);
}

static uint64_t hash_of_steps(const char* name, uint64_t seed, int step_count)
{
    ph_scene* scene = ph_scene_create(name, 200, 10, seed);
    assert_non_null(scene);
    uint64_t hash = add_moment(0, scene);
    for (int i = 0; i < step_count; ++i) {
        ph_scene_step(scene);
        hash = add_moment(hash, scene);
    }
    ph_scene_destroy(scene);
    return hash;
}

// Pins the motion across compilers and machines: every measurement that names a scene rests on it.
static void a_hundred_steps_have_golden_hashes(void** state)
{
    (void)state;
    assert_int_equal(hash_of_steps("wander", 2024, 100), UINT64_C(0xC31A34B4FDD50316));
    assert_int_equal(hash_of_steps("crowd", 2024, 100), UINT64_C(0x7566B23BB0E4FEC7));
    assert_int_equal(hash_of_steps("edge", 2024, 100), UINT64_C(0x220E6DE4819ACE6C));
    assert_int_equal(hash_of_steps("still", 2024, 100), UINT64_C(0x0E59E2E481A0AEDD));
    assert_int_equal(hash_of_steps("race", 2024, 100), UINT64_C(0x4CF276FC0741A7D6));
    assert_int_equal(hash_of_steps("asteroids", 2024, 100), UINT64_C(0x344B7044A8A4C212));
    assert_int_equal(hash_of_steps("spin", 2024, 100), UINT64_C(0xD2948DEB36E33D69));
    assert_int_equal(hash_of_steps("town", 2024, 100), UINT64_C(0x839B445DCC0FA0FC));
}

static void another_seed_gives_another_scene(void** state)
{
    (void)state;
    for (int i = 0; ph_scene_name(i) != NULL; ++i) {
        const char* name = ph_scene_name(i);
        assert_int_equal(hash_of_steps(name, 7, 20), hash_of_steps(name, 7, 20));
        assert_int_not_equal(hash_of_steps(name, 7, 20), hash_of_steps(name, 8, 20));
    }
}

static void what_is_no_scene_is_refused(void** state)
{
    (void)state;
    assert_null(ph_scene_create("nowhere", 10, 10, 1));
    ph_scene_destroy(NULL);
}

static void zero_means_as_many_and_as_often_as_the_scene_likes(void** state)
{
    (void)state;
    for (int i = 0; ph_scene_name(i) != NULL; ++i) {
        const ph_scene_info* info = ph_scene_find(ph_scene_name(i));
        assert_non_null(info);
        ph_scene* scene = ph_scene_create(info->name, 0, 0, 1);
        assert_ptr_equal(scene->info, info);
        assert_string_equal(scene->name, info->name);
        assert_true(info->default_count > 0 && scene->count == info->default_count);
        assert_true(info->default_rate_hz > 0 && scene->rate_hz == info->default_rate_hz);
        ph_scene_destroy(scene);
    }
    assert_null(ph_scene_find("nowhere"));
}

// Schemas are made from the declarations alone. At any rate, also one that no scene likes.
static void extras_stay_within_their_declared_ranges(void** state)
{
    (void)state;
    const int rates_hz[] = {1, 10, 60};
    for (int n = 0; ph_scene_name(n / 3) != NULL; ++n) {
        ph_scene* scene = ph_scene_create(ph_scene_name(n / 3), 100, rates_hz[n % 3], 31);
        const ph_scene_info* info = scene->info;
        for (int step = 0; step < 600 && info->extra_count > 0; ++step) {
            for (int i = 0; i < info->extra_count * scene->count; ++i) {
                const ph_scene_column* column = &info->extras[i / scene->count];
                const int32_t value = scene->extra[i / scene->count][i % scene->count];
                assert_true(value >= column->low && value <= column->high);
            }
            ph_scene_step(scene);
        }
        ph_scene_destroy(scene);
    }
}

static double distance_mm(const ph_scene* scene, int index)
{
    return ph_plane_length(scene->x_mm[index], scene->y_mm[index]);
}

// At any rate: no actor is faster than a runner, and headings are what they say.
static void actors_move_like_people(void** state)
{
    (void)state;
    const int rates_hz[] = {1, 5, 10, 20, 60};
    for (int k = 0; k < 20; ++k) {
        const int rate_hz = rates_hz[k / 4];
        ph_scene* scene = ph_scene_create(ph_scene_name(k % 4), 100, rate_hz, 31);
        for (int step = 0; step < 300; ++step) {
            int32_t x_mm[100], y_mm[100];
            memcpy(x_mm, scene->x_mm, sizeof x_mm);
            memcpy(y_mm, scene->y_mm, sizeof y_mm);
            ph_scene_step(scene);
            for (int i = 0; i < scene->count; ++i) {
                const double way_mm =
                    ph_plane_length(scene->x_mm[i] - x_mm[i], scene->y_mm[i] - y_mm[i]);
                assert_true(way_mm <= 6000.0 / rate_hz + 2.0);
                assert_true(scene->heading_deg[i] >= 0.0f && scene->heading_deg[i] < 360.0f);
            }
        }
        assert_int_equal(scene->steps, 300);
        ph_scene_destroy(scene);
    }
}

static void wanderers_walk_stop_turn_and_go_indoors(void** state)
{
    (void)state;
    ph_scene* scene = ph_scene_create("wander", 300, 10, 5);
    int walked = 0, stood = 0, turned = 0, absent = 0;
    for (int step = 0; step < 600; ++step) {
        int32_t x_mm[300];
        float heading_deg[300];
        memcpy(x_mm, scene->x_mm, sizeof x_mm);
        memcpy(heading_deg, scene->heading_deg, sizeof heading_deg);
        ph_scene_step(scene);
        for (int i = 0; i < scene->count; ++i) {
            const bool has_turned = fabsf(heading_deg[i] - scene->heading_deg[i]) > 1.0f;
            walked += x_mm[i] != scene->x_mm[i];
            stood += x_mm[i] == scene->x_mm[i] && !has_turned;
            turned += x_mm[i] == scene->x_mm[i] && has_turned;
            absent += !scene->present[i];
        }
    }
    // Of 180,000 moments.
    assert_in_range(walked, 60000, 160000);
    assert_in_range(stood, 20000, 120000);
    assert_in_range(turned, 300, 30000);
    assert_in_range(absent, 1000, 30000);
    ph_scene_destroy(scene);
}

static void a_crowd_ends_up_on_one_spot(void** state)
{
    (void)state;
    ph_scene* scene = ph_scene_create("crowd", 500, 10, 6);
    for (int i = 0; i < scene->count; ++i) {
        assert_true(distance_mm(scene, i) > 29000.0);
    }
    for (int step = 0; step < 10 * 180; ++step) {
        ph_scene_step(scene);
    }
    // Half a square metre each makes a disc of 9 m; some have stepped aside a few times.
    for (int i = 0; i < scene->count; ++i) {
        assert_true(distance_mm(scene, i) < 20000.0);
    }
    ph_scene_destroy(scene);
}

static void dancers_cross_the_edge_again_and_again(void** state)
{
    (void)state;
    ph_scene* scene = ph_scene_create("edge", 100, 10, 7);
    int crossings = 0;
    bool was_inside[100] = {false};
    for (int step = 0; step < 1200; ++step) {
        ph_scene_step(scene);
        assert_true(scene->x_mm[0] == 0 && scene->y_mm[0] == 0);
        for (int i = 1; i < scene->count; ++i) {
            const bool is_inside = distance_mm(scene, i) <= PH_SCENE_EDGE_RADIUS_MM;
            crossings += step > 0 && is_inside != was_inside[i];
            was_inside[i] = is_inside;
            assert_true(fabs(distance_mm(scene, i) - PH_SCENE_EDGE_RADIUS_MM) < 42000.0);
        }
    }
    assert_in_range(crossings, 99 * 10, 99 * 200);
    ph_scene_destroy(scene);
}

static void no_actor_moves_in_a_still_scene(void** state)
{
    (void)state;
    ph_scene* scene = ph_scene_create("still", 100, 10, 8);
    const uint64_t before = add_moment(0, scene);
    for (int step = 0; step < 50; ++step) {
        ph_scene_step(scene);
        assert_int_equal(add_moment(0, scene), before);
    }
    ph_scene_destroy(scene);
}

static void angles_are_good_to_a_hundred_thousandth(void** state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    test_rng rng = {.state = 2024};
    for (int i = 0; i < 10000; ++i) {
        const double angle_deg = (test_rng_unit(&rng) - 0.5) * 3000.0;
        assert_true(fabs(ph_plane_sin_deg(angle_deg) - sin(angle_deg * pi / 180.0)) < 1e-5);
        assert_true(fabs(ph_plane_cos_deg(angle_deg) - cos(angle_deg * pi / 180.0)) < 1e-5);
        const double wrapped_deg = ph_plane_wrap_deg(angle_deg);
        assert_true(wrapped_deg >= -180.0 && wrapped_deg < 180.0);
        const double x = test_rng_unit(&rng) - 0.5;
        const double y = test_rng_unit(&rng) - 0.5;
        assert_true(fabs(ph_plane_bearing_deg(x, y) - atan2(y, x) * 180.0 / pi) < 1e-3);
    }
    assert_true(ph_plane_bearing_deg(0.0, 0.0) == 0.0);
    assert_true(fabs(ph_plane_bearing_deg(0.0, -2.0) + 90.0) < 1e-3);
    assert_true(fabs(ph_plane_bearing_deg(-1.0, 0.0) - 180.0) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_steps_have_golden_hashes),
        cmocka_unit_test(another_seed_gives_another_scene),
        cmocka_unit_test(what_is_no_scene_is_refused),
        cmocka_unit_test(zero_means_as_many_and_as_often_as_the_scene_likes),
        cmocka_unit_test(extras_stay_within_their_declared_ranges),
        cmocka_unit_test(actors_move_like_people),
        cmocka_unit_test(wanderers_walk_stop_turn_and_go_indoors),
        cmocka_unit_test(a_crowd_ends_up_on_one_spot),
        cmocka_unit_test(dancers_cross_the_edge_again_and_again),
        cmocka_unit_test(no_actor_moves_in_a_still_scene),
        cmocka_unit_test(angles_are_good_to_a_hundred_thousandth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
