// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Choosing, sorting, and which entities may be seen at all.

#include "test_support.h"

#include "vision/select.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN_MAX = 3000 };

// Shapes of input that are hard on one or another way to choose.
static ph_seen shaped(test_rng* rng, int shape, int i, int count)
{
    const uint64_t distances[] = {
        test_rng_below(rng, UINT64_C(1) << 63),
        (uint64_t)i,
        (uint64_t)(count - i),
        test_rng_below(rng, 4),
        0,
        (uint64_t)(i % 2 == 0 ? i : count - i),
    };
    return (ph_seen){.distance2 = distances[shape],
                     .spawn_order = ((uint64_t)i * 7919) % 1000003,
                     .entity = (ph_entity_index)i};
}

static int compare_seen(const void* left, const void* right)
{
    return ph_seen_is_nearer(left, right) ? -1 : ph_seen_is_nearer(right, left);
}

static void chooses_and_sorts_as_qsort_does(void** state)
{
    (void)state;
    static ph_seen seen[SEEN_MAX];
    static ph_seen sorted[SEEN_MAX];
    test_rng rng = {.state = 99};
    for (int round = 0; round < 300; ++round) {
        const int count = (int)test_rng_below(&rng, round < 250 ? 100 : SEEN_MAX);
        const int wanted = (int)test_rng_below(&rng, (uint64_t)count + 5);
        for (int i = 0; i < count; ++i) {
            seen[i] = shaped(&rng, round % 6, i, count);
        }
        memcpy(sorted, seen, sizeof seen);
        qsort(sorted, (size_t)count, sizeof sorted[0], compare_seen);
        const int chosen = ph_select_nearest(seen, count, wanted);
        assert_int_equal(chosen, wanted < count ? wanted : count);
        assert_true(chosen == 0 || memcmp(&seen[0], &sorted[chosen - 1], sizeof seen[0]) == 0);
        ph_sort_nearest(seen, chosen);
        assert_memory_equal(seen, sorted, (size_t)chosen * sizeof seen[0]);
        ph_sort_nearest(seen, count);
        assert_memory_equal(seen, sorted, (size_t)count * sizeof seen[0]);
    }
}

// ---- one entity, one eye

typedef struct fixture {
    int32_t x_mm[3];
    int32_t y_mm[3];
    uint32_t seen_by[3];
    uint8_t flags[3];
    uint64_t spawn_order[3];
    ph_entity_index live[3];
    ph_entity_arrays crowd;
    ph_eye eye;
} fixture;

static void setup(fixture* f)
{
    *f = (fixture){
        .x_mm = {0, 10, 20},
        .seen_by = {1, 1, 1},
        .spawn_order = {7, 8, 9},
        .live = {0, 1, 2},
        .eye = {.sees = 1, .own = PH_ENTITY_NONE, .radius_mm = 100, .wanted = 3},
    };
    f->crowd =
        (ph_entity_arrays){f->x_mm, f->y_mm, f->seen_by, f->flags, f->spawn_order, f->live, 3, 3};
}

static void masks_must_meet(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    f.seen_by[0] = 6;
    assert_false(ph_eye_may_see(&f.eye, &f.crowd, 0));
    f.eye.sees = 4;
    assert_true(ph_eye_may_see(&f.eye, &f.crowd, 0));
    assert_false(ph_eye_may_see(&f.eye, &f.crowd, 1));
}

static void own_and_never_seen_are_not_seen(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    f.eye.own = 0;
    f.flags[1] = PH_SEEN_NEVER;
    f.flags[2] = PH_SEEN_NEVER | PH_SEEN_ALWAYS;
    for (ph_entity_index entity = 0; entity < 3; ++entity) {
        assert_false(ph_eye_may_see(&f.eye, &f.crowd, entity));
    }
}

static bool refuse_entity_1(void* context, uint32_t viewer, ph_entity_index entity)
{
    assert_int_equal(viewer, 42);
    ++*(int*)context;
    return entity != 1;
}

static void callback_is_asked_only_about_what_the_masks_allow(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    int calls = 0;
    f.eye.callback = refuse_entity_1;
    f.eye.context = &calls;
    f.eye.viewer = 42;
    f.seen_by[0] = 2;
    assert_false(ph_eye_may_see(&f.eye, &f.crowd, 0));
    assert_int_equal(calls, 0);
    assert_false(ph_eye_may_see(&f.eye, &f.crowd, 1));
    assert_true(ph_eye_may_see(&f.eye, &f.crowd, 2));
    assert_int_equal(calls, 2);
}

// ---- brute force, on which all other tests rest: by hand

static void brute_force_takes_the_nearest_within_the_radius(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    ph_seen scratch[3];
    ph_seen seen[3];
    f.eye.radius_mm = 10;
    assert_int_equal(ph_nearest_brute_force(&f.crowd, &f.eye, 1, scratch, seen), 2);
    assert_int_equal(seen[0].entity, 0);
    assert_int_equal(seen[1].entity, 1);
    assert_int_equal(seen[1].distance2, 100);
    assert_int_equal(seen[1].spawn_order, 8);
    f.eye.radius_mm = 9;
    assert_int_equal(ph_nearest_brute_force(&f.crowd, &f.eye, 1, scratch, seen), 1);
    f.eye.wanted = 0;
    assert_int_equal(ph_nearest_brute_force(&f.crowd, &f.eye, 0, scratch, seen), 0);
}

static void brute_force_breaks_ties_by_spawn_order(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    f.x_mm[0] = -20;
    f.spawn_order[0] = 100;
    f.eye.wanted = 2;
    ph_seen scratch[3];
    ph_seen seen[3];
    assert_int_equal(ph_nearest_brute_force(&f.crowd, &f.eye, 1, scratch, seen), 2);
    assert_int_equal(seen[0].entity, 1);
    assert_int_equal(seen[1].entity, 2);
}

// ALWAYS goes before an entity that stands on the eye and was there earlier.
static void brute_force_puts_the_always_seen_first(void** state)
{
    (void)state;
    fixture f;
    setup(&f);
    f.flags[2] = PH_SEEN_ALWAYS;
    f.x_mm[2] = 1000000;
    f.eye.wanted = 1;
    ph_seen scratch[3];
    ph_seen seen[3];
    assert_int_equal(ph_nearest_brute_force(&f.crowd, &f.eye, 1, scratch, seen), 1);
    assert_int_equal(seen[0].entity, 2);
    assert_int_equal(seen[0].distance2, 0);
}

static void distance_is_the_short_way_round(void** state)
{
    (void)state;
    assert_int_equal(ph_distance2(INT32_MAX, 0, INT32_MIN, 0), 1);
    assert_int_equal(ph_distance2(INT32_MIN, 3, INT32_MAX, -1), 17);
    assert_true(ph_distance2(INT32_MIN, INT32_MIN, 0, 0) == UINT64_C(1) << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_and_sorts_as_qsort_does),
        cmocka_unit_test(masks_must_meet),
        cmocka_unit_test(own_and_never_seen_are_not_seen),
        cmocka_unit_test(callback_is_asked_only_about_what_the_masks_allow),
        cmocka_unit_test(brute_force_takes_the_nearest_within_the_radius),
        cmocka_unit_test(brute_force_breaks_ties_by_spawn_order),
        cmocka_unit_test(brute_force_puts_the_always_seen_first),
        cmocka_unit_test(distance_is_the_short_way_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
