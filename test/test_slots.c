// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Enters, leaves and slot numbers, one behaviour at a time; test_slots_model.c tries everything at
// once.

#include "support/slots_scene.h"
#include "support/test_support.h"

#include "vision/slots.h"

#include <string.h>

enum { OWN = 0 }; // the viewer's own entity, where there is one

// ---- entering

static void newcomers_enter_nearest_first_and_ties_by_spawn_order(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    scene_spawn(&s, 10, 50 * METRE);
    scene_spawn(&s, 11, 20 * METRE);
    scene_spawn(&s, 9, -20 * METRE); // as near as 11, but spawned later
    scene_spawn(&s, 12, 30 * METRE);
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 1, 2, 3, 4);
    const ph_entity_index expected[] = {PH_ENTITY_NONE, 11, 9, 12, 10};
    assert_memory_equal(s.sight.entities, expected, sizeof(expected));
    assert_int_equal(s.sight.visible_count, 4);
    assert_int_equal(s.sight.leave_count, 0);
    assert_int_equal(ph_slots_find(s.slots, 12), 3);
    assert_int_equal(ph_slots_find(s.slots, 13), -1);
    scene_refresh(&s);
    assert_int_equal(s.sight.enter_count, 0);
    scene_teardown(&s);
}

static void only_the_wanted_nearest_within_the_radius_enter(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 3);
    for (uint32_t i = 0; i < 5; ++i) {
        scene_spawn(&s, i, (int32_t)(i + 1) * METRE);
    }
    scene_refresh(&s);
    assert_int_equal(s.sight.visible_count, 3);
    assert_true(scene_is_shown(&s, 2));
    assert_false(scene_is_shown(&s, 3));
    s.eye.radius_mm = 3 * METRE;
    s.eye.wanted = 10;
    scene_despawn(&s, 2);
    scene_spawn(&s, 2, 3 * METRE + 1); // one millimetre beyond
    scene_spawn(&s, 30, 3 * METRE);
    scene_refresh(&s);
    assert_true(scene_is_shown(&s, 30));
    assert_false(scene_is_shown(&s, 2));
    scene_teardown(&s);
}

static void an_always_visible_entity_enters_at_any_distance(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 2);
    scene_spawn(&s, 1, INT32_MIN);
    scene_spawn(&s, 2, METRE);
    scene_spawn(&s, 3, METRE);
    s.flags[1] = PH_SEEN_ALWAYS;
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 1, 2);
    assert_int_equal(s.sight.entities[1], 1);
    assert_int_equal(s.sight.entities[2], 2);
    s.x_mm[1] = 0;
    scene_refresh(&s);
    assert_int_equal(s.sight.enter_count + s.sight.leave_count, 0);
    scene_teardown(&s);
}

// ---- hysteresis

static void a_member_leaves_beyond_a_tenth_more_than_the_radius(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    scene_spawn(&s, 1, SCENE_RADIUS);
    scene_refresh(&s);
    s.x_mm[1] = SCENE_RADIUS * 11 / 10;
    scene_refresh(&s);
    assert_int_equal(s.sight.leave_count, 0);
    s.x_mm[1] = SCENE_RADIUS * 11 / 10 + 1;
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 1);
    assert_int_equal(s.sight.entities[1], PH_ENTITY_NONE);
    assert_int_equal(s.sight.visible_count, 0);
    s.x_mm[1] = SCENE_RADIUS + 1;
    scene_refresh(&s);
    assert_int_equal(s.sight.enter_count, 0);
    scene_teardown(&s);
}

// Fifty entities, each crossing the radius by up to nine metres at every tick.
static void dancing_on_the_radius_causes_no_storm(void** state)
{
    (void)state;
    test_rng rng = {.state = 7};
    slots_scene s;
    scene_setup(&s, 121, 60);
    for (uint32_t i = 0; i < 50; ++i) {
        scene_spawn(&s, i, SCENE_RADIUS);
    }
    for (int tick = 0; tick < 1000; ++tick) {
        for (uint32_t i = 0; i < 50; ++i) {
            s.x_mm[i] = SCENE_RADIUS + (int32_t)test_rng_below(&rng, 18 * METRE) - 9 * METRE;
        }
        scene_refresh(&s);
    }
    assert_int_equal(s.event_count, 50); // every entity entered once and never left
    scene_teardown(&s);
}

// Twenty-two entities change places at every tick, twenty are wanted.
static void dancing_on_the_rank_causes_no_storm(void** state)
{
    (void)state;
    test_rng rng = {.state = 8};
    slots_scene s;
    scene_setup(&s, 41, 20);
    for (uint32_t i = 0; i < 22; ++i) {
        scene_spawn(&s, i, 0);
    }
    for (int tick = 0; tick < 1000; ++tick) {
        for (uint32_t i = 0; i < 22; ++i) {
            s.x_mm[i] = (int32_t)test_rng_below(&rng, SCENE_RADIUS);
        }
        scene_refresh(&s);
    }
    assert_int_equal(s.event_count, 22);
    assert_int_equal(s.sight.visible_count, 22);
    scene_teardown(&s);
}

// ---- slot numbers

static void a_member_keeps_its_slot_for_its_whole_stay(void** state)
{
    (void)state;
    test_rng rng = {.state = 10};
    slots_scene s;
    scene_setup(&s, 60, 20);
    s.stay_ticks = 3;
    int slot_of[SCENE_CROWD];
    memset(slot_of, 0xFF, sizeof(slot_of));
    for (uint32_t i = 0; i < 80; ++i) {
        scene_spawn(&s, i, 0);
    }
    for (int tick = 0; tick < 500; ++tick) {
        for (uint32_t i = 0; i < 80; ++i) {
            s.x_mm[i] = (int32_t)test_rng_below(&rng, 2 * SCENE_RADIUS);
        }
        scene_refresh(&s);
        for (uint32_t i = 0; i < 80; ++i) {
            const int slot = ph_slots_find(s.slots, i);
            assert_true(slot_of[i] == -1 || slot == -1 || slot == slot_of[i]);
            slot_of[i] = slot;
        }
        scene_free_all_resting(&s);
    }
    scene_teardown(&s);
}

static void a_slot_that_was_left_rests_until_it_is_freed(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 3, 2);
    scene_spawn(&s, 1, METRE);
    scene_refresh(&s);
    for (int slot = 1; slot <= 2; ++slot) {
        assert_int_equal(ph_slots_find(s.slots, 1), slot);
        s.x_mm[1] = 2 * SCENE_RADIUS;
        scene_refresh(&s);
        assert_int_equal(ph_slots_state(s.slots, slot), PH_SLOT_RESTING);
        s.x_mm[1] = METRE;
        scene_refresh(&s); // comes back: gets the other slot, or waits when that rests, too
    }
    assert_false(scene_is_shown(&s, 1));
    assert_int_equal(ph_slots_waits(s.slots), 1);
    ph_slots_free(s.slots, 2);
    assert_int_equal(ph_slots_state(s.slots, 2), PH_SLOT_FREE);
    scene_refresh(&s);
    assert_int_equal(ph_slots_find(s.slots, 1), 2);
    assert_int_equal(ph_slots_state(s.slots, 1), PH_SLOT_RESTING);
    scene_teardown(&s);
}

static void the_slot_that_is_free_for_longest_is_taken_next(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 6, 2);
    for (int round = 0; round < 23; ++round) {
        scene_spawn(&s, 1, 0);
        scene_refresh(&s);
        SCENE_ASSERT_ENTERS(&s, (uint16_t)(round % 5 + 1));
        scene_despawn(&s, 1);
        scene_refresh(&s);
        scene_free_all_resting(&s);
    }
    scene_teardown(&s);
}

// ---- gone, hidden, replaced

static void an_entity_that_is_gone_leaves_at_once(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    s.stay_ticks = 100;
    scene_spawn(&s, 1, 0);
    scene_spawn(&s, 2, 0);
    scene_refresh(&s);
    scene_despawn(&s, 1);
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 1);
    assert_true(scene_is_shown(&s, 2));
    scene_teardown(&s);
}

static void an_index_that_another_entity_has_now_leaves_and_enters(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    s.stay_ticks = 100;
    scene_spawn(&s, 1, 0);
    scene_spawn(&s, 2, METRE);
    scene_refresh(&s);
    scene_despawn(&s, 1);
    scene_spawn(&s, 1, 0);
    scene_despawn(&s, 2);
    scene_spawn(&s, 2, 5 * SCENE_RADIUS); // the heir is not in sight
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 1, 2);
    SCENE_ASSERT_ENTERS(&s, 3);
    assert_int_equal(ph_slots_find(s.slots, 1), 3);
    assert_int_equal(ph_slots_find(s.slots, 2), -1);
    scene_teardown(&s);
}

static bool is_even(void* context, uint32_t viewer, ph_entity_index entity)
{
    (void)context;
    (void)viewer;
    return entity % 2 == 0;
}

static void an_entity_that_may_not_be_seen_leaves_at_once_whatever_its_stay_time(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    s.stay_ticks = 100;
    for (uint32_t i = 1; i <= 5; ++i) {
        scene_spawn(&s, i, 0);
    }
    scene_refresh(&s);
    s.seen_by[1] = 2;
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 1);
    s.flags[2] = PH_SEEN_NEVER;
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 2);
    s.eye.callback = is_even;
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 3, 5);
    s.eye.sees = 4;
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 4);
    scene_teardown(&s);
}

static void an_entity_that_may_be_seen_again_is_a_newcomer(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    scene_spawn(&s, 1, 0);
    scene_refresh(&s);
    s.seen_by[1] = 2;
    scene_refresh(&s);
    s.eye.sees = 3;
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 2);
    scene_teardown(&s);
}

// Two viewers of the same crowd, one of them with forty more entities that it may not see.
static void what_may_not_be_seen_changes_nothing(void** state)
{
    (void)state;
    test_rng rng = {.state = 12};
    slots_scene a;
    slots_scene b;
    scene_setup(&a, 31, 20);
    scene_setup(&b, 31, 20);
    a.stay_ticks = b.stay_ticks = 4;
    for (uint32_t i = 0; i < 80; ++i) {
        if (i % 2 == 0) {
            scene_spawn(&a, i, 0);
        }
        scene_spawn(&b, i, 0);
        b.seen_by[i] = i % 2 == 0 ? 1 : 2;
    }
    for (int tick = 0; tick < 300; ++tick) {
        for (uint32_t i = 0; i < 80; ++i) {
            a.x_mm[i] = b.x_mm[i] = (int32_t)test_rng_below(&rng, SCENE_RADIUS);
        }
        scene_refresh(&a);
        scene_refresh(&b);
        assert_memory_equal(a.sight.entities, b.sight.entities, 31 * sizeof(ph_entity_index));
        scene_assert_slots(a.sight.enters, a.sight.enter_count, b.sight.enters,
                           b.sight.enter_count);
        scene_assert_slots(a.sight.leaves, a.sight.leave_count, b.sight.leaves,
                           b.sight.leave_count);
        if (tick % 3 == 0) {
            scene_free_all_resting(&a);
            scene_free_all_resting(&b);
        }
    }
    scene_teardown(&a);
    scene_teardown(&b);
}

// As many members as are looked at together, and more; some on one spot, and on the very edge.
static void it_makes_no_difference_to_be_told_that_nothing_happened(void** state)
{
    (void)state;
    enum { CROWD = 600, WANTED = 500, SLOTS = 560 };
    test_rng rng = {.state = 14};
    static slots_scene a;
    static slots_scene b;
    scene_setup(&a, SLOTS, WANTED);
    scene_setup(&b, SLOTS, WANTED);
    b.is_wary = true;
    for (uint32_t i = 0; i < CROWD; ++i) {
        scene_spawn(&a, i, 0);
        scene_spawn(&b, i, 0);
    }
    int leave_count = 0;
    for (int tick = 0; tick < 100; ++tick) {
        for (uint32_t i = 0; i < CROWD; ++i) {
            if (test_rng_below(&rng, 4) == 0) {
                a.x_mm[i] = (int32_t)test_rng_below(&rng, 12) * SCENE_RADIUS / 10;
                a.y_mm[i] = (int32_t)test_rng_below(&rng, SCENE_RADIUS / 2);
            }
            b.x_mm[i] = a.x_mm[i];
            b.y_mm[i] = a.y_mm[i];
        }
        scene_refresh(&a);
        scene_refresh(&b);
        assert_memory_equal(a.sight.entities, b.sight.entities, SLOTS * sizeof(ph_entity_index));
        leave_count += a.sight.leave_count;
        scene_free_all_resting(&a);
        scene_free_all_resting(&b);
    }
    assert_int_equal(a.calm_count, 100);
    assert_int_equal(b.calm_count, 0);
    assert_true(leave_count > 1000);
    scene_teardown(&a);
    scene_teardown(&b);
}

// ---- the viewer's own entity

static void the_own_entity_is_slot_0_and_not_counted(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    scene_spawn(&s, OWN, 0);
    scene_spawn(&s, 1, METRE);
    s.flags[OWN] = PH_SEEN_NEVER; // by others
    s.eye.own = OWN;
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 0, 1);
    assert_int_equal(s.sight.entities[0], OWN);
    assert_int_equal(s.sight.visible_count, 1);
    assert_int_equal(ph_slots_find(s.slots, OWN), 0);
    scene_refresh(&s);
    assert_int_equal(s.sight.enter_count + s.sight.leave_count, 0);
    scene_teardown(&s);
}

static void another_own_entity_enters_slot_0_when_the_leave_is_known(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    scene_spawn(&s, OWN, 0);
    scene_spawn(&s, 1, METRE);
    s.eye.own = OWN;
    scene_refresh(&s);
    s.eye.own = 1;
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 0, 1); // 1 left its ordinary slot
    SCENE_ASSERT_ENTERS(&s, 2);    // the former own entity is one like any other now
    assert_int_equal(ph_slots_find(s.slots, OWN), 2);
    assert_int_equal(ph_slots_state(s.slots, 0), PH_SLOT_RESTING);
    scene_refresh(&s);
    assert_int_equal(s.sight.enter_count + s.sight.leave_count, 0);
    assert_int_equal(ph_slots_waits(s.slots), 2);
    ph_slots_free(s.slots, 0);
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 0);
    assert_int_equal(ph_slots_find(s.slots, 1), 0);
    scene_teardown(&s);
}

static void a_spectator_has_no_entity_in_slot_0(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    scene_spawn(&s, OWN, 0);
    scene_refresh(&s);
    assert_int_equal(s.sight.entities[0], PH_ENTITY_NONE);
    assert_int_equal(ph_slots_state(s.slots, 0), PH_SLOT_FREE);
    s.eye.own = OWN; // and becomes a player
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 1);
    SCENE_ASSERT_ENTERS(&s, 0);
    s.eye.own = PH_ENTITY_NONE; // and a spectator again
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 0);
    SCENE_ASSERT_ENTERS(&s, 2);
    scene_teardown(&s);
}

static void a_dead_own_entity_leaves_slot_0(void** state)
{
    (void)state;
    slots_scene s;
    scene_setup(&s, 20, 8);
    scene_spawn(&s, OWN, 0);
    s.eye.own = OWN;
    scene_refresh(&s);
    scene_despawn(&s, OWN);
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 0);
    ph_slots_free(s.slots, 0);
    scene_refresh(&s);
    assert_int_equal(s.sight.enter_count, 0);
    scene_spawn(&s, OWN, 0); // another one has the index now
    scene_refresh(&s);
    SCENE_ASSERT_ENTERS(&s, 0);
    scene_despawn(&s, OWN);
    scene_spawn(&s, OWN, 0);
    scene_refresh(&s);
    SCENE_ASSERT_LEAVES(&s, 0);
    scene_teardown(&s);
}

// ---- memory

static void no_memory_gives_no_slots(void** state)
{
    (void)state;
    test_memory memory = {.fail_at = 1};
    const ph_allocator allocator = test_memory_allocator(&memory);
    ph_slots* slots = (ph_slots*)&memory;
    assert_int_equal(ph_slots_create(&allocator, 500, &slots), PH_ERROR_MEMORY);
    assert_null(slots);
    assert_int_equal(ph_slots_create(&allocator, 500, &slots), PH_OK);
    assert_in_range(memory.live_bytes, 1, 500 * 32);
    ph_slots_destroy(slots);
    ph_slots_destroy(NULL);
    test_memory_assert_clean(&memory);
}

static void the_smallest_and_the_largest_table_work(void** state)
{
    (void)state;
    const int counts[] = {2, PH_SLOT_COUNT_MAX};
    for (int i = 0; i < 2; ++i) {
        slots_scene s;
        scene_setup(&s, counts[i], 1);
        scene_spawn(&s, 1, METRE);
        scene_refresh(&s);
        scene_spawn(&s, 2, 0);
        scene_refresh(&s);
        // The first one is second of 1.1 wanted (rounded up): it stays where there is room.
        assert_int_equal(scene_is_shown(&s, 1), counts[i] > 2);
        assert_int_equal(scene_is_shown(&s, 2), counts[i] > 2);
        scene_teardown(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newcomers_enter_nearest_first_and_ties_by_spawn_order),
        cmocka_unit_test(only_the_wanted_nearest_within_the_radius_enter),
        cmocka_unit_test(an_always_visible_entity_enters_at_any_distance),
        cmocka_unit_test(a_member_leaves_beyond_a_tenth_more_than_the_radius),
        cmocka_unit_test(dancing_on_the_radius_causes_no_storm),
        cmocka_unit_test(dancing_on_the_rank_causes_no_storm),
        cmocka_unit_test(a_member_keeps_its_slot_for_its_whole_stay),
        cmocka_unit_test(a_slot_that_was_left_rests_until_it_is_freed),
        cmocka_unit_test(the_slot_that_is_free_for_longest_is_taken_next),
        cmocka_unit_test(an_entity_that_is_gone_leaves_at_once),
        cmocka_unit_test(an_index_that_another_entity_has_now_leaves_and_enters),
        cmocka_unit_test(an_entity_that_may_not_be_seen_leaves_at_once_whatever_its_stay_time),
        cmocka_unit_test(an_entity_that_may_be_seen_again_is_a_newcomer),
        cmocka_unit_test(what_may_not_be_seen_changes_nothing),
        cmocka_unit_test(it_makes_no_difference_to_be_told_that_nothing_happened),
        cmocka_unit_test(the_own_entity_is_slot_0_and_not_counted),
        cmocka_unit_test(another_own_entity_enters_slot_0_when_the_leave_is_known),
        cmocka_unit_test(a_spectator_has_no_entity_in_slot_0),
        cmocka_unit_test(a_dead_own_entity_leaves_slot_0),
        cmocka_unit_test(no_memory_gives_no_slots),
        cmocka_unit_test(the_smallest_and_the_largest_table_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
