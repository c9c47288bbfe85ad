// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How long a member stays that is no longer among the answers.

#include "support/slots_scene.h"
#include "support/test_support.h"

#include "vision/slots.h"

// Without a rank or radius to hold on to, the stay time bounds the storm: with a stay of 50 ticks
// no entity can enter more than once in 50.
static void the_stay_time_bounds_how_often_an_entity_enters(void** state)
{
    (void)state;
    test_rng rng = {.state = 9};
    slots_scene s;
    scene_setup(&s, 100, 20);
    s.stay_ticks = 50;
    int enters[SCENE_CROWD] = {0};
    for (uint32_t i = 0; i < 60; ++i) {
        scene_spawn(&s, i, 0);
    }
    for (int tick = 0; tick < 500; ++tick) {
        for (uint32_t i = 0; i < 60; ++i) {
            s.x_mm[i] = (int32_t)test_rng_below(&rng, SCENE_RADIUS);
        }
        scene_refresh(&s);
        scene_free_all_resting(&s);
        for (int i = 0; i < s.sight.enter_count; ++i) {
            ++enters[s.sight.entities[s.sight.enters[i]]];
        }
    }
    for (int i = 0; i < 60; ++i) {
        assert_in_range(enters[i], 1, 10);
    }
    assert_int_equal(ph_slots_waits(s.slots), 0);
    scene_teardown(&s);
}

static void a_member_stays_for_the_stay_time_even_when_ticks_wrap(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    s.tick = UINT32_MAX - 2;
    s.stay_ticks = 10;
    scene_spawn(&s, 1, 0);
    scene_refresh(&s);
    s.x_mm[1] = 2 * SCENE_RADIUS;
    for (int after = 1; after < 10; ++after) {
        scene_refresh(&s);
        assert_true(scene_is_shown(&s, 1));
    }
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 1);
    scene_teardown(&s);
}

static void beyond_twice_the_radius_no_entity_stays(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    s.stay_ticks = 100;
    scene_spawn(&s, 1, 0);
    scene_spawn(&s, 2, 0);
    scene_spawn(&s, 3, 0);
    scene_refresh(&s);
    s.x_mm[1] = 2 * SCENE_RADIUS;
    s.x_mm[2] = 2 * SCENE_RADIUS + 1;
    s.x_mm[3] = INT32_MIN;
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 2, 3);
    assert_true(scene_is_shown(&s, 1));
    scene_teardown(&s);
}

// Always visible ones have no distance: past the rank they stay for their time like the others.
static void the_always_visible_stay_at_any_distance(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    s.stay_ticks = 5;
    for (uint32_t i = 1; i <= 4; ++i) {
        scene_spawn(&s, i, INT32_MIN);
        s.flags[i] = PH_SEEN_ALWAYS;
    }
    scene_refresh(&s);
    s.eye.wanted = 1;
    for (int after = 1; after < 5; ++after) {
        scene_refresh(&s);
        assert_int_equal(s.sight.leave_count, 0);
    }
    scene_refresh(&s);
    assert_int_equal(s.sight.leave_count, 2);
    scene_teardown(&s);
}

// The square of twice the largest radius does not fit into 64 bits.
static void with_the_largest_radius_every_entity_may_stay(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    s.stay_ticks = 100;
    scene_spawn(&s, 1, 0);
    scene_refresh(&s);
    s.x_mm[1] = INT32_MIN;
    s.y_mm[1] = INT32_MIN;
    s.eye.radius_mm = INT64_C(1) << 31;
    const ph_view empty = {0};
    const ph_slots_step seen_by_no_query = {.arrays = &s.crowd,
                                            .eye = &s.eye,
                                            .view = &empty,
                                            .tick = s.tick,
                                            .stay_ticks = s.stay_ticks};
    assert_int_equal(ph_slots_judge(s.slots, &seen_by_no_query), 0);
    ph_slots_refresh(s.slots, &seen_by_no_query);
    assert_true(scene_is_shown(&s, 1));
    scene_teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stay_time_bounds_how_often_an_entity_enters),
        cmocka_unit_test(a_member_stays_for_the_stay_time_even_when_ticks_wrap),
        cmocka_unit_test(beyond_twice_the_radius_no_entity_stays),
        cmocka_unit_test(the_always_visible_stay_at_any_distance),
        cmocka_unit_test(with_the_largest_radius_every_entity_may_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
