// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How far a list goes, and that it goes no further. That no entity is missing from it is shown by
// test_groups_exact.c.

#include "support/groups_scene.h"
#include "support/test_support.h"

#include "vision/group_candidates.h"

enum { METRE = GROUPS_METRE };

typedef struct fixture {
    groups_scene scene; // for its crowd and grid
    ph_candidates candidates;
    ph_allocator allocator;
    ph_eye centre;
} fixture;

// A line of entities, one per metre, from the centre to the east.
static void setup(fixture* f)
{
    groups_scene_setup(&f->scene);
    for (int i = 0; i < GROUPS_CROWD; ++i) {
        groups_scene_spawn(&f->scene, i * METRE, 0);
    }
    f->allocator = test_memory_allocator(&f->scene.memory);
    f->candidates = (ph_candidates){0};
    assert_int_equal(ph_candidates_reserve(&f->candidates, &f->allocator, GROUPS_CROWD), PH_OK);
    f->centre = (ph_eye){.sees = 1, .own = PH_ENTITY_NONE, .radius_mm = 100 * METRE, .wanted = 10};
}

static void teardown(fixture* f)
{
    ph_candidates_destroy(&f->candidates, &f->allocator);
    groups_scene_teardown(&f->scene);
}

static int list_length(fixture* f, int64_t reach_mm)
{
    ph_grid_rebuild(f->scene.grid, &f->scene.crowd);
    assert_true(ph_candidates_try_make(&f->candidates, f->scene.grid, &f->scene.crowd, &f->centre,
                                       reach_mm, f->scene.scratch));
    return f->candidates.count;
}

static bool yes(void* context, uint32_t viewer, ph_entity_index entity)
{
    (void)context;
    (void)viewer;
    (void)entity;
    return true;
}

static void a_list_ends_behind_the_nearest_and_twice_the_reach(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    // Eleven within 10 m, one more than wanted.
    assert_int_equal(list_length(&f, 0), 11);
    assert_int_equal(list_length(&f, 5 * METRE), 21);
    f.centre.own = 3; // is one viewer's own, not that of all
    assert_int_equal(list_length(&f, 0), 11);
    teardown(&f);
}

static void a_list_ends_behind_radius_and_reach(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    f.centre.wanted = 200;
    assert_int_equal(list_length(&f, 0), 101);
    assert_int_equal(list_length(&f, 5 * METRE), 106);
    f.centre.wanted = 10;
    f.centre.callback = yes; // may refuse any of the nearest
    assert_int_equal(list_length(&f, 0), 101);
    f.centre.callback = NULL;
    f.centre.wanted = GROUPS_CROWD;
    assert_int_equal(list_length(&f, 5 * METRE), 106);
    teardown(&f);
}

static void an_always_visible_entity_takes_places_but_is_in_no_list(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    for (int i = GROUPS_CROWD - 4; i < GROUPS_CROWD; ++i) {
        f.scene.flags[i] = PH_SEEN_ALWAYS;
    }
    assert_int_equal(list_length(&f, 0), 7);
    teardown(&f);
}

static void a_list_holds_no_entity_that_may_not_be_seen(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    for (int i = 0; i < GROUPS_CROWD; i += 2) {
        f.scene.seen_by[i] = 2;
    }
    f.scene.flags[1] = PH_SEEN_NEVER;
    assert_int_equal(list_length(&f, 0), 11);
    for (int i = 0; i < f.candidates.count; ++i) {
        assert_int_equal(f.candidates.sorted.entity[i] % 2, 1);
        assert_int_not_equal(f.candidates.sorted.entity[i], 1);
    }
    teardown(&f);
}

static void no_list_reaches_further_than_half_the_world(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    f.scene.flags[0] = PH_SEEN_NEVER; // one fewer than would end the list before
    ph_grid_rebuild(f.scene.grid, &f.scene.crowd);
    f.centre.radius_mm = INT64_C(1) << 31;
    f.centre.wanted = GROUPS_CROWD - 1;
    assert_true(ph_candidates_try_make(&f.candidates, f.scene.grid, &f.scene.crowd, &f.centre, 0,
                                       f.scene.scratch));
    assert_false(ph_candidates_try_make(&f.candidates, f.scene.grid, &f.scene.crowd, &f.centre, 1,
                                        f.scene.scratch));
    f.centre.wanted = 10; // found so near that the radius does not matter
    assert_int_equal(list_length(&f, METRE), 13);
    teardown(&f);
}

static void roots_are_rounded_up(void** state)
{
    (void)state;
    assert_int_equal(ph_square_root_up(0), 0);
    assert_int_equal(ph_square_root_up(1), 1);
    assert_int_equal(ph_square_root_up(2), 2);
    assert_int_equal(ph_square_root_up(UINT64_C(1) << 63), INT64_C(3037000500));
    test_rng rng = {.state = 71};
    for (int i = 0; i < 100000; ++i) {
        const uint64_t root = 1 + (test_rng_next(&rng) >> (33 + test_rng_below(&rng, 31)));
        assert_int_equal(ph_square_root_up(root * root), root);
        assert_int_equal(ph_square_root_up(root * root + 1), root + 1);
        assert_int_equal(ph_square_root_up(root * root - (root > 1)), root);
    }
}

static void no_memory_leaves_the_list_as_it_was(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    assert_int_equal(list_length(&f, 0), 11);
    f.scene.memory.fail_at = f.scene.memory.allocate_count + 1;
    assert_int_equal(ph_candidates_reserve(&f.candidates, &f.allocator, 10000), PH_ERROR_MEMORY);
    assert_int_equal(f.candidates.count, 11);
    assert_int_equal(f.candidates.capacity, GROUPS_CROWD);
    assert_int_equal(f.candidates.sorted.entity[10] < GROUPS_CROWD, 1);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_ends_behind_the_nearest_and_twice_the_reach),
        cmocka_unit_test(a_list_ends_behind_radius_and_reach),
        cmocka_unit_test(an_always_visible_entity_takes_places_but_is_in_no_list),
        cmocka_unit_test(a_list_holds_no_entity_that_may_not_be_seen),
        cmocka_unit_test(no_list_reaches_further_than_half_the_world),
        cmocka_unit_test(roots_are_rounded_up),
        cmocka_unit_test(no_memory_leaves_the_list_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
