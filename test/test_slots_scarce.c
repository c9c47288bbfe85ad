// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// More newcomers than free slots: which wait, which entities leave early, and that none waits for
// ever.

#include "support/slots_scene.h"
#include "support/test_support.h"

static void a_newcomer_without_a_slot_makes_the_furthest_past_wanted_leave(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 12, 10); // eleven ordinary slots, and eleven are kept by the hysteresis
    for (uint32_t i = 0; i < 10; ++i) {
        scene_spawn(&s, i, (int32_t)(i + 10) * METRE);
    }
    scene_refresh(&s);
    scene_spawn(&s, 20, METRE); // pushes 9 past wanted, but not out
    scene_refresh(&s);
    assert_int_equal(s.sight.visible_count, 11);
    scene_spawn(&s, 21, METRE);
    s.x_mm[8] = 90 * METRE; // now 8 is further than 9, and past the margin, too
    s.stay_ticks = 100;     // but it may stay: nothing leaves by itself
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 9); // the slot of 8
    assert_false(scene_is_shown(&s, 8));
    assert_false(scene_is_shown(&s, 21));
    assert_true(scene_is_shown(&s, 9));
    assert_int_equal(ph_slots_waits(s.slots), 1);
    scene_refresh(
        &s); // still waits, but a resting slot is enough for it: no other entity has to go
    assert_int_equal(s.sight.leave_count, 0);
    assert_int_equal(ph_slots_waits(s.slots), 2);
    ph_slots_free(s.slots, 9);
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 9);
    assert_int_equal(ph_slots_find(s.slots, 21), 9);
    scene_teardown(&s);
}

// Three ordinary slots, two wanted. Hidden entities are spawned first, so that they come first
// later.
static void an_always_visible_member_is_the_last_to_leave_early(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 4, 2);
    s.stay_ticks = 100;
    for (uint32_t i = 0; i < 3; ++i) {
        scene_spawn(&s, i, 1000 * METRE);
        s.flags[i] = PH_SEEN_ALWAYS;
        s.seen_by[i] = i < 2 ? 2 : 1;
    }
    scene_spawn(&s, 3, METRE);
    scene_refresh(&s);
    s.seen_by[0] = 1;
    scene_refresh(&s);
    assert_int_equal(s.sight.visible_count, 3);
    s.seen_by[1] = 1; // waits; 2 and 3 are past wanted now
    scene_refresh(&s);
    assert_true(scene_is_shown(&s, 2));
    assert_false(scene_is_shown(&s, 3));
    scene_teardown(&s);
}

// Always visible ones come before those that stand on the eye, though both have distance 0.
static void a_wanted_entity_never_leaves_early(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 4, 2);
    s.stay_ticks = 100;
    scene_spawn(&s, 0, 0);
    scene_spawn(&s, 1, 0);
    scene_refresh(&s);
    for (uint32_t i = 2; i < 4; ++i) {
        scene_spawn(&s, i, 1000 * METRE);
        s.flags[i] = PH_SEEN_ALWAYS;
    }
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 3);
    SCENE_ASSERT_LEAVES(&s, 2);
    assert_true(scene_is_shown(&s, 2));
    scene_teardown(&s);
}

static void with_few_slots_the_nearest_newcomers_get_them(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 9, 8);
    s.eye.wanted = 6;
    for (uint32_t i = 0; i < 6; ++i) {
        scene_spawn(&s, i, (int32_t)(20 + i) * METRE);
    }
    scene_refresh(&s);
    for (uint32_t i = 0; i < 6; ++i) {
        scene_despawn(&s, i);
        scene_spawn(&s, 10 + i, (int32_t)(10 - i) * METRE);
    }
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 7, 8);
    assert_true(scene_is_shown(&s, 15) && scene_is_shown(&s, 14) && !scene_is_shown(&s, 13));
    assert_int_equal(ph_slots_waits(s.slots), 4);
    ph_slots_free(s.slots, 3);
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 3);
    assert_true(scene_is_shown(&s, 13));
    scene_teardown(&s);
}

// A hundred metres from one crowd to another, there and back, while leaves are known only three
// ticks later and every entity could stay for longer than that.
static void after_a_teleport_every_entity_enters_in_the_end(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 25, 20);
    s.stay_ticks = 50;
    for (uint32_t i = 0; i < 20; ++i) {
        scene_spawn(&s, i, (int32_t)i * METRE);
        scene_spawn(&s, 64 + i, 1000 * METRE + (int32_t)i * METRE);
    }
    for (int round = 0; round < 10; ++round) {
        s.eye.x_mm = round % 2 * 1000 * METRE;
        for (int wait = 0; wait < 12; ++wait) {
            scene_refresh(&s);
            if (wait % 3 == 2) {
                scene_free_all_resting(&s);
            }
        }
        for (uint32_t i = 0; i < 20; ++i) {
            assert_true(scene_is_shown(&s, (round % 2 != 0 ? 64 : 0) + i));
        }
        assert_true(s.sight.visible_count <= 24);
    }
    scene_teardown(&s);
}

static void a_teleport_with_room_for_both_changes_everything_at_once(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 41, 20);
    for (uint32_t i = 0; i < 20; ++i) {
        scene_spawn(&s, i, (int32_t)i * METRE);
        scene_spawn(&s, 64 + i, INT32_MIN + (int32_t)i * METRE);
    }
    scene_refresh(&s);
    s.eye.x_mm = INT32_MAX; // next to INT32_MIN: the world is round
    scene_refresh(&s);
    assert_int_equal(s.sight.enter_count, 20);
    assert_int_equal(s.sight.leave_count, 20);
    assert_int_equal(s.sight.visible_count, 20);
    assert_int_equal(ph_slots_find(s.slots, 64), 21);
    scene_teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newcomer_without_a_slot_makes_the_furthest_past_wanted_leave),
        cmocka_unit_test(an_always_visible_member_is_the_last_to_leave_early),
        cmocka_unit_test(a_wanted_entity_never_leaves_early),
        cmocka_unit_test(with_few_slots_the_nearest_newcomers_get_them),
        cmocka_unit_test(after_a_teleport_every_entity_enters_in_the_end),
        cmocka_unit_test(a_teleport_with_room_for_both_changes_everything_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
