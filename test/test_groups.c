// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How groups form, split and merge; that their answers are exact is shown by test_groups_exact.c.

#include "support/groups_scene.h"
#include "support/test_support.h"

enum { METRE = GROUPS_METRE };

static int group_of(const groups_scene* s, uint32_t viewer)
{
    return ph_groups_find(s->groups, viewer);
}

static void walk(groups_scene* s, uint32_t viewer, int32_t dx_mm, int32_t dy_mm)
{
    ph_eye* eye = &s->eyes[viewer];
    eye->x_mm = (int32_t)((uint32_t)eye->x_mm + (uint32_t)dx_mm);
    eye->y_mm = (int32_t)((uint32_t)eye->y_mm + (uint32_t)dy_mm);
}

// ---- which viewers are together

static void viewers_that_stand_together_are_one_group(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 5; ++i) {
        groups_scene_add(&s, i, (int32_t)i * 10 * METRE, 0);
    }
    groups_scene_add(&s, 7, 1000 * METRE, 0);
    assert_int_equal(group_of(&s, 0), -1);
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    for (uint32_t i = 1; i < 5; ++i) {
        assert_int_equal(group_of(&s, i), group_of(&s, 0));
    }
    assert_int_not_equal(group_of(&s, 7), group_of(&s, 0));
    assert_int_equal(group_of(&s, 6), -1);
    assert_int_equal(group_of(&s, UINT32_MAX), -1);
    assert_int_equal(s.stats.split_groups + s.stats.merged_groups, 0);
    groups_scene_teardown(&s);
}

static bool yes(void* context, uint32_t viewer, ph_entity_index entity)
{
    (void)context;
    (void)viewer;
    (void)entity;
    return true;
}

static void classes_never_mix(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 10; ++i) {
        groups_scene_add(&s, i, 0, 0);
    }
    for (uint32_t i = 0; i < 10; i += 5) {
        s.eyes[i + 1].sees = 3;
        s.eyes[i + 2].radius_mm += 1;
        s.eyes[i + 3].wanted += 1;
        s.eyes[i + 4].callback = yes;
    }
    groups_scene_update(&s);
    groups_scene_update(&s); // nor do they merge
    assert_int_equal(s.stats.group_count, 5);
    assert_int_equal(s.stats.merged_groups, 0);
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(group_of(&s, i), group_of(&s, i + 5));
    }
    groups_scene_teardown(&s);
}

static void a_viewer_of_another_class_changes_its_group(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 4; ++i) {
        groups_scene_add(&s, i, 0, 0);
    }
    groups_scene_update(&s);
    s.eyes[2].sees = 8;
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    assert_int_equal(s.stats.split_groups, 0);
    s.eyes[2].sees = 1;
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 1);
    groups_scene_teardown(&s);
}

static void a_group_ends_with_its_last_member(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    groups_scene_add(&s, 3, 0, 0);
    groups_scene_add(&s, 4, 0, 0);
    groups_scene_update(&s);
    groups_scene_remove(&s, 3);
    assert_true(ph_groups_validate(s.groups, s.eyes));
    groups_scene_remove(&s, 4);
    assert_true(ph_groups_validate(s.groups, s.eyes));
    ph_groups_stats(s.groups, &s.stats);
    assert_int_equal(s.stats.group_count, 0);
    groups_scene_add(&s, 4, 0, 0);
    groups_scene_remove(&s, 4); // before it had a group
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 0);
    groups_scene_teardown(&s);
}

static void the_order_names_every_viewer_once_and_group_by_group(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 30; ++i) {
        groups_scene_add(&s, i, (int32_t)(i % 3) * 1000 * METRE, 0);
    }
    groups_scene_update(&s);
    const uint32_t* viewers;
    assert_int_equal(ph_groups_order(s.groups, &viewers), 30);
    bool is_named[30] = {false};
    for (int i = 0; i < 30; ++i) {
        assert_false(is_named[viewers[i]]);
        is_named[viewers[i]] = true;
        assert_true(i % 10 == 0 || group_of(&s, viewers[i]) == group_of(&s, viewers[i - 1]));
    }
    groups_scene_teardown(&s);
}

// ---- splits

static void a_member_too_far_from_the_centre_leaves(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 100; ++i) {
        groups_scene_add(&s, i, 0, 0);
    }
    groups_scene_update(&s);
    walk(&s, 50, 60 * METRE, 0); // the centre follows by 0.6 m
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 1);
    walk(&s, 50, METRE, 0);
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    assert_int_equal(s.stats.split_groups, 1);
    assert_int_not_equal(group_of(&s, 50), group_of(&s, 0));
    groups_scene_teardown(&s);
}

static void a_viewer_that_leaves_joins_a_group_that_is_near_enough(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 20; ++i) {
        groups_scene_add(&s, i, i < 10 ? 0 : 100 * METRE, 0);
    }
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    walk(&s, 0, 85 * METRE, 0);
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    assert_int_equal(group_of(&s, 0), group_of(&s, 10));
    assert_int_equal(s.stats.split_groups, 1);
    groups_scene_teardown(&s);
}

// One of a hundred goes to the other end of the world: the others do not notice.
static void a_viewer_that_teleports_does_not_take_the_centre_along(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 100; ++i) {
        groups_scene_add(&s, i, (int32_t)(i % 10) * METRE, (int32_t)(i / 10) * METRE);
    }
    groups_scene_update(&s);
    walk(&s, 99, 1000 * 1000 * METRE, 0);
    groups_scene_update(&s);
    assert_int_equal(s.stats.split_groups, 1);
    assert_int_equal(s.stats.group_count, 2);
    groups_scene_teardown(&s);
}

static void a_pair_that_parts_splits_once(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    groups_scene_add(&s, 0, 0, 0);
    groups_scene_add(&s, 1, 0, 0);
    for (int tick = 0; tick < 100; ++tick) {
        groups_scene_update(&s);
        walk(&s, 0, METRE, 0);
        walk(&s, 1, -METRE, 0);
    }
    assert_int_equal(s.stats.group_count, 2);
    assert_int_equal(s.stats.split_groups, 1);
    assert_int_equal(s.stats.merged_groups, 0);
    groups_scene_teardown(&s);
}

// ---- merges

static void groups_that_grow_together_merge(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 20; ++i) {
        groups_scene_add(&s, i, i < 10 ? 0 : 50 * METRE, 0);
    }
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    for (uint32_t i = 0; i < 10; ++i) {
        walk(&s, i, 30 * METRE, 0);
    }
    groups_scene_update(&s); // exactly the merge distance is not nearer
    assert_int_equal(s.stats.group_count, 2);
    walk(&s, 0, 10, 0); // the centre by one millimetre
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 1);
    assert_int_equal(s.stats.merged_groups, 1);
    groups_scene_teardown(&s);
}

// Two groups around nearly the same centre, but with members on the brink: together one of them
// would have to leave at once.
static void groups_do_not_merge_when_a_member_would_have_to_leave(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 4; ++i) {
        groups_scene_add(&s, i, i < 2 ? 0 : 100 * METRE, 0);
    }
    groups_scene_update(&s);
    for (uint32_t i = 0; i < 4; ++i) {
        walk(&s, i, i < 2 ? 0 : -85 * METRE, i % 2 == 0 ? 58 * METRE : -58 * METRE);
    }
    groups_scene_update(&s); // centres at 0 and at 15 m, 58 m to every member
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    assert_int_equal(s.stats.merged_groups + s.stats.split_groups, 0);
    for (uint32_t i = 0; i < 4; ++i) {
        s.eyes[i].y_mm /= 2;
    }
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 1);
    groups_scene_teardown(&s);
}

// The common centre lies nearer to the many: one newcomer does not push the furthest of ten out.
static void a_small_group_merges_into_a_large_one(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 10; ++i) {
        groups_scene_add(&s, i, 0, 0);
    }
    groups_scene_add(&s, 10, 100 * METRE, 0);
    groups_scene_update(&s);
    for (uint32_t i = 0; i < 10; ++i) {
        walk(&s, i, 0, i % 2 == 0 ? 50 * METRE : -50 * METRE);
    }
    walk(&s, 10, -81 * METRE, 0);
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 1);
    assert_int_equal(s.stats.split_groups, 0);
    groups_scene_teardown(&s);
}

static void a_crowd_that_walks_to_one_point_ends_in_one_group(void** state)
{
    (void)state;
    test_rng rng = {.state = 51};
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < GROUPS_VIEWERS; ++i) {
        groups_scene_add(&s, i, (int32_t)test_rng_below(&rng, 1000 * METRE) - 500 * METRE,
                         (int32_t)test_rng_below(&rng, 1000 * METRE) - 500 * METRE);
    }
    groups_scene_update(&s);
    assert_true(s.stats.group_count > 50);
    for (int tick = 0; tick < 200; ++tick) {
        for (uint32_t i = 0; i < GROUPS_VIEWERS; ++i) {
            walk(&s, i, -s.eyes[i].x_mm / 50, -s.eyes[i].y_mm / 50);
        }
        groups_scene_update(&s);
    }
    assert_int_equal(s.stats.group_count, 1);
    groups_scene_teardown(&s);
}

// Ten against ten, at two metres a tick. They merge where they meet, and each walks on with its
// own.
static void two_groups_that_pass_each_other_are_two_again(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 20; ++i) {
        groups_scene_add(&s, i, (i < 10 ? -200 : 200) * METRE, (int32_t)(i % 10) * METRE);
    }
    for (int tick = 0; tick < 200; ++tick) {
        groups_scene_update(&s);
        for (uint32_t i = 0; i < 20; ++i) {
            walk(&s, i, i < 10 ? 2 * METRE : -2 * METRE, 0);
        }
    }
    assert_int_equal(s.stats.group_count, 2);
    assert_in_range(s.stats.merged_groups, 1, 3);
    assert_in_range(s.stats.split_groups, 1, 20);
    for (uint32_t i = 0; i < 20; ++i) {
        assert_int_equal(group_of(&s, i), group_of(&s, i < 10 ? 0 : 10));
    }
    groups_scene_teardown(&s);
}

// No viewer goes back to a group within a second of leaving it, and all in all little happens: a
// viewer that takes 1.5 m a tick needs 14 ticks for the 20 m between leaving and joining.
static void a_random_walk_causes_no_ping_pong(void** state)
{
    (void)state;
    enum { TICKS = 2000, RECENT = 10 };
    test_rng rng = {.state = 52};
    groups_scene s;
    groups_scene_setup(&s);
    int left_group[GROUPS_VIEWERS];
    int left_tick[GROUPS_VIEWERS];
    int last_group[GROUPS_VIEWERS];
    for (uint32_t i = 0; i < GROUPS_VIEWERS; ++i) {
        groups_scene_add(&s, i, (int32_t)test_rng_below(&rng, 500 * METRE),
                         (int32_t)test_rng_below(&rng, 500 * METRE));
        left_tick[i] = -RECENT;
    }
    groups_scene_update(&s);
    for (uint32_t i = 0; i < GROUPS_VIEWERS; ++i) {
        left_group[i] = last_group[i] = group_of(&s, i);
    }
    int returns = 0;
    for (int tick = 0; tick < TICKS; ++tick) {
        for (uint32_t i = 0; i < GROUPS_VIEWERS; ++i) {
            walk(&s, i, (int32_t)test_rng_below(&rng, 2001) - 1000,
                 (int32_t)test_rng_below(&rng, 2001) - 1000);
        }
        groups_scene_update(&s);
        for (uint32_t i = 0; i < GROUPS_VIEWERS; ++i) {
            const int now = group_of(&s, i);
            if (now != last_group[i]) {
                returns += now == left_group[i] && tick - left_tick[i] < RECENT;
                left_group[i] = last_group[i];
                left_tick[i] = tick;
                last_group[i] = now;
            }
        }
    }
    assert_int_equal(returns, 0);
    assert_true(s.stats.split_groups + s.stats.merged_groups > 0);
    // Less than one event per tick for two hundred viewers.
    assert_in_range(s.stats.split_groups + s.stats.merged_groups, 1, TICKS / 2);
    groups_scene_teardown(&s);
}

// On the brink of leaving, to and fro, every tick.
static void dancing_on_the_split_distance_splits_once(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 100; ++i) {
        groups_scene_add(&s, i, 0, 0);
    }
    groups_scene_update(&s);
    for (int tick = 0; tick < 200; ++tick) {
        s.eyes[50].x_mm = tick % 2 == 0 ? 58 * METRE : 63 * METRE;
        groups_scene_update(&s);
    }
    assert_int_equal(s.stats.split_groups, 1);
    assert_int_equal(s.stats.merged_groups, 0);
    groups_scene_teardown(&s);
}

// ---- the edge of the world

static void a_group_may_stand_on_the_edge_of_the_world(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 20; ++i) {
        groups_scene_add(&s, i, INT32_MAX - 10 * METRE, INT32_MIN);
        walk(&s, i, (int32_t)i * METRE, -(int32_t)i * METRE);
        groups_scene_spawn(&s, s.eyes[i].x_mm, s.eyes[i].y_mm);
    }
    for (int tick = 0; tick < 50; ++tick) {
        groups_scene_update(&s);
        assert_int_equal(s.stats.group_count, 1);
        groups_scene_check_all(&s);
        for (uint32_t i = 0; i < 20; ++i) {
            walk(&s, i, METRE, METRE);
        }
    }
    assert_int_equal(s.stats.split_groups, 0);
    groups_scene_teardown(&s);
}

static void groups_merge_across_the_edge_of_the_world(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    groups_scene_add(&s, 0, INT32_MAX - 30 * METRE, 0);
    groups_scene_add(&s, 1, INT32_MIN + 30 * METRE, 0);
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 2);
    walk(&s, 0, 21 * METRE, 0);
    walk(&s, 1, -21 * METRE, 0);
    groups_scene_update(&s);
    assert_int_equal(s.stats.group_count, 1);
    groups_scene_teardown(&s);
}

// ---- memory

static void growing_keeps_all_groups(void** state)
{
    (void)state;
    groups_scene s;
    groups_scene_setup(&s);
    for (uint32_t i = 0; i < 20; ++i) {
        groups_scene_add(&s, i, (int32_t)(i % 4) * 1000 * METRE, 0);
        groups_scene_spawn(&s, (int32_t)(i % 4) * 1000 * METRE, METRE);
    }
    groups_scene_add(&s, 20, 9000 * METRE, 0);
    groups_scene_add(&s, 21, 0, 9000 * METRE);
    groups_scene_update(&s);
    groups_scene_remove(&s, 7);
    groups_scene_remove(&s, 20); // and its group
    groups_scene_check(&s, 3, 5);
    int before[20];
    for (uint32_t i = 0; i < 20; ++i) {
        before[i] = group_of(&s, i);
    }
    assert_int_equal(ph_groups_reserve(s.groups, 10, 10), PH_OK); // never shrinks
    assert_int_equal(ph_groups_reserve(s.groups, 2 * GROUPS_VIEWERS, 2 * GROUPS_CROWD), PH_OK);
    assert_true(ph_groups_validate(s.groups, s.eyes));
    for (uint32_t i = 0; i < 20; ++i) {
        assert_int_equal(group_of(&s, i), before[i]);
    }
    groups_scene_check(&s, 3, 5);
    ph_groups_add(s.groups, 2 * GROUPS_VIEWERS - 1, &s.eyes[0]);
    ph_groups_remove(s.groups, 2 * GROUPS_VIEWERS - 1);
    groups_scene_add(&s, 20, -9000 * METRE, 0);
    groups_scene_update(&s);
    groups_scene_check_all(&s);
    groups_scene_teardown(&s);
}

// Half of an odd number is not rounded: 20,500 is less than half of 41,001.
static void the_merge_distance_may_be_just_below_half_of_the_split_distance(void** state)
{
    (void)state;
    test_memory memory = {0};
    const ph_allocator allocator = test_memory_allocator(&memory);
    const ph_vision_def def = {.group_split_mm = 41001, .group_merge_mm = 20500};
    ph_groups* groups;
    assert_int_equal(ph_groups_create(&allocator, &def, 4, 4, &groups), PH_OK);
    ph_groups_destroy(groups);
    test_memory_assert_clean(&memory);
}

static void no_memory_creates_nothing(void** state)
{
    (void)state;
    const ph_vision_def def = {.group_split_mm = 60000, .group_merge_mm = 20000};
    int failures = 0;
    while (true) {
        test_memory memory = {.fail_at = failures + 1};
        const ph_allocator allocator = test_memory_allocator(&memory);
        ph_groups* groups = (ph_groups*)&memory;
        const ph_result result = ph_groups_create(&allocator, &def, 0, 0, &groups);
        if (result == PH_OK) {
            ph_groups_destroy(groups);
            test_memory_assert_clean(&memory);
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_null(groups);
        test_memory_assert_clean(&memory);
        ++failures;
    }
    assert_int_equal(failures, 4);
    ph_groups_destroy(NULL);
}

static void no_memory_to_grow_leaves_everything_as_it_was(void** state)
{
    (void)state;
    for (int nth = 1; nth <= 2; ++nth) {
        groups_scene s;
        groups_scene_setup(&s);
        for (uint32_t i = 0; i < 20; ++i) {
            groups_scene_add(&s, i, 0, 0);
            groups_scene_spawn(&s, (int32_t)i * METRE, METRE);
        }
        groups_scene_update(&s);
        groups_scene_check(&s, 3, 5);
        s.memory.fail_at = s.memory.allocate_count + nth;
        const int live_count = s.memory.live_count;
        const size_t live_bytes = s.memory.live_bytes;
        assert_int_equal(ph_groups_reserve(s.groups, 2 * GROUPS_VIEWERS, 2 * GROUPS_CROWD),
                         PH_ERROR_MEMORY);
        assert_int_equal(s.memory.live_count, live_count);
        assert_int_equal(s.memory.live_bytes, live_bytes);
        assert_true(ph_groups_validate(s.groups, s.eyes));
        groups_scene_check(&s, 3, 5);
        groups_scene_update(&s);
        groups_scene_check_all(&s);
        groups_scene_teardown(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(viewers_that_stand_together_are_one_group),
        cmocka_unit_test(classes_never_mix),
        cmocka_unit_test(a_viewer_of_another_class_changes_its_group),
        cmocka_unit_test(a_group_ends_with_its_last_member),
        cmocka_unit_test(the_order_names_every_viewer_once_and_group_by_group),
        cmocka_unit_test(a_member_too_far_from_the_centre_leaves),
        cmocka_unit_test(a_viewer_that_leaves_joins_a_group_that_is_near_enough),
        cmocka_unit_test(a_viewer_that_teleports_does_not_take_the_centre_along),
        cmocka_unit_test(a_pair_that_parts_splits_once),
        cmocka_unit_test(groups_that_grow_together_merge),
        cmocka_unit_test(groups_do_not_merge_when_a_member_would_have_to_leave),
        cmocka_unit_test(a_small_group_merges_into_a_large_one),
        cmocka_unit_test(a_crowd_that_walks_to_one_point_ends_in_one_group),
        cmocka_unit_test(two_groups_that_pass_each_other_are_two_again),
        cmocka_unit_test(a_random_walk_causes_no_ping_pong),
        cmocka_unit_test(dancing_on_the_split_distance_splits_once),
        cmocka_unit_test(a_group_may_stand_on_the_edge_of_the_world),
        cmocka_unit_test(groups_merge_across_the_edge_of_the_world),
        cmocka_unit_test(growing_keeps_all_groups),
        cmocka_unit_test(the_merge_distance_may_be_just_below_half_of_the_split_distance),
        cmocka_unit_test(no_memory_creates_nothing),
        cmocka_unit_test(no_memory_to_grow_leaves_everything_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
