// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A sweep over all entities gives what brute force gives, in whatever pieces they are gathered.

#include "test_support.h"

#include "random_crowd.h"
#include "vision/select.h"
#include "vision/sweep.h"

#include <math.h>
#include <stdlib.h>

enum { PADDED = RANDOM_CROWD_MAX + PH_SWEEP_STEP };

typedef struct fixture {
    random_crowd world;
    int32_t x_mm[PADDED];
    int32_t y_mm[PADDED];
    uint32_t seen_by[PADDED];
    ph_entity_index entity[PADDED];
    uint64_t spawn_order[PADDED];
    ph_cell_sorted sorted;
    uint32_t count;
    ph_seen* scratch;
    ph_seen seen[RANDOM_CROWD_MAX + 1];
} fixture;

// The cell-sorted entities of all but those that are always or never seen: a sweep knows no flags.
static void setup(fixture* f, test_rng* rng)
{
    random_crowd_make(&f->world, rng);
    const ph_entity_arrays* crowd = &f->world.crowd;
    f->count = 0;
    for (int i = 0; i < crowd->live_count; ++i) {
        const ph_entity_index entity = crowd->live[i];
        f->world.flags[entity] = 0;
        f->x_mm[f->count] = crowd->x_mm[entity];
        f->y_mm[f->count] = crowd->y_mm[entity];
        f->seen_by[f->count] = crowd->seen_by[entity];
        f->entity[f->count] = entity;
        f->spawn_order[f->count++] = crowd->spawn_order[entity];
    }
    f->sorted = (ph_cell_sorted){.x_mm = f->x_mm,
                                 .y_mm = f->y_mm,
                                 .seen_by = f->seen_by,
                                 .entity = f->entity,
                                 .spawn_order = f->spawn_order};
    f->scratch = malloc((size_t)ph_sweep_scratch_count((int)f->count) * sizeof(ph_seen));
    assert_non_null(f->scratch);
}

static void equals_brute_force_in_any_pieces(void** state)
{
    (void)state;
    static fixture f;
    test_rng rng = {.state = 808};
    for (int round = 0; round < 500; ++round) {
        setup(&f, &rng);
        const ph_eye eye = random_eye_make(&f.world, &rng);
        const int first = (int)test_rng_below(&rng, (uint64_t)eye.wanted + 1);
        ph_sweep sweep = ph_sweep_make(&f.sorted, &eye, f.scratch, (int)f.count);
        uint32_t done = 0;
        while (done < f.count) {
            const uint32_t left = f.count - done;
            const uint32_t piece = (uint32_t)test_rng_below(&rng, 50);
            ph_sweep_gather(&sweep, done, done + (piece < left ? piece : left));
            done += piece < left ? piece : left;
        }
        ph_sweep_count_within(&sweep, eye.radius_mm);
        const int count = ph_sweep_take(&sweep, eye.wanted, first, f.seen);
        assert_exact_answer(&f.world.crowd, &eye, first, f.seen, count);
        free(f.scratch);
    }
}

// On a circle of a thousand kilometres, where keys are in another order than distances by some units:
// whatever is expected, even right through them, distances decide.
static void expectations_may_cut_through_keys_that_are_wrong(void** state)
{
    (void)state;
    enum { COUNT = 150, FAR_MM = 1000000000 };
    static fixture f;
    test_rng rng = {.state = 1001};
    ph_seen all[COUNT];
    f.sorted = (ph_cell_sorted){.x_mm = f.x_mm,
                                .y_mm = f.y_mm,
                                .seen_by = f.seen_by,
                                .entity = f.entity,
                                .spawn_order = f.spawn_order};
    f.scratch = malloc((size_t)ph_sweep_scratch_count(COUNT) * sizeof(ph_seen));
    assert_non_null(f.scratch);
    for (uint32_t i = 0; i < COUNT; ++i) {
        const double x_mm = (double)test_rng_below(&rng, FAR_MM);
        f.x_mm[i] = (int32_t)x_mm;
        f.y_mm[i] = (int32_t)sqrt((double)FAR_MM * FAR_MM - x_mm * x_mm);
        f.seen_by[i] = 1;
        f.entity[i] = i;
        f.spawn_order[i] = i;
        all[i] = (ph_seen){ph_distance2(f.x_mm[i], f.y_mm[i], 0, 0), i, i};
    }
    ph_sort_nearest(all, COUNT);
    const ph_eye eye = {
        .sees = 1, .own = PH_ENTITY_NONE, .radius_mm = INT64_C(1) << 31, .enter_mm = FAR_MM};
    for (int round = 0; round < 5000; ++round) {
        ph_sweep sweep = ph_sweep_make(&f.sorted, &eye, f.scratch, COUNT);
        ph_sweep_gather(&sweep, 0, COUNT);
        ph_sweep_count_within(&sweep, eye.radius_mm);
        const int wanted = 1 + (int)test_rng_below(&rng, COUNT);
        const int first = (int)test_rng_below(&rng, (uint64_t)wanted + 1);
        ph_view view = {
            .near.distance2 = all[test_rng_below(&rng, COUNT)].distance2,
            .wide.distance2 = all[test_rng_below(&rng, COUNT)].distance2,
        };
        ph_sweep_view(&sweep, wanted, first, &view);
        assert_int_equal(view.enter_count, first); // no entity is beyond the circle
        for (int i = 0; i < COUNT; ++i) {
            const ph_seen* seen = &all[i];
            assert_int_equal(ph_reach_has(&view.near, seen->distance2, seen->spawn_order),
                             i < first);
            assert_int_equal(ph_reach_has(&view.wide, seen->distance2, seen->spawn_order),
                             i < wanted);
        }
    }
    free(f.scratch);
}

// Two stand a hair beyond the radius, equally far, and the nearest end between them: neither enters.
static void an_entity_just_beyond_the_radius_does_not_enter(void** state)
{
    (void)state;
    enum { COUNT = 5, WITHIN = 2, FIRST = 3, WANTED = 4 };
    static fixture f = {
        .x_mm = {10, 20, 1000, 1000, 1010},
        .y_mm = {0, 0, 1, -1, 0},
        .seen_by = {1, 1, 1, 1, 1},
        .entity = {0, 1, 2, 3, 4},
        .spawn_order = {0, 1, 2, 3, 4},
    };
    f.sorted = (ph_cell_sorted){.x_mm = f.x_mm,
                                .y_mm = f.y_mm,
                                .seen_by = f.seen_by,
                                .entity = f.entity,
                                .spawn_order = f.spawn_order};
    f.scratch = malloc((size_t)ph_sweep_scratch_count(COUNT) * sizeof(ph_seen));
    assert_non_null(f.scratch);
    const ph_eye eye = {.sees = 1, .own = PH_ENTITY_NONE, .radius_mm = 1100, .enter_mm = 1000};
    ph_sweep sweep = ph_sweep_make(&f.sorted, &eye, f.scratch, COUNT);
    ph_sweep_gather(&sweep, 0, COUNT);
    ph_sweep_count_within(&sweep, eye.radius_mm);
    ph_view view = {0};
    ph_sweep_view(&sweep, WANTED, FIRST, &view);
    assert_int_equal(view.enter_count, WITHIN);
    for (int i = 0; i < COUNT; ++i) {
        const uint64_t distance2 = ph_distance2(f.x_mm[i], f.y_mm[i], 0, 0);
        assert_int_equal(ph_reach_has(&view.enter, distance2, f.spawn_order[i]), i < WITHIN);
        assert_int_equal(ph_reach_has(&view.near, distance2, f.spawn_order[i]), i < FIRST);
    }
    free(f.scratch);
}

static bool refuse(void* context, uint32_t viewer, ph_entity_index entity)
{
    (void)viewer;
    (void)entity;
    ++*(int*)context;
    return false;
}

static void asks_the_callback_before_anything_counts(void** state)
{
    (void)state;
    static fixture f;
    test_rng rng = {.state = 9};
    setup(&f, &rng);
    int calls = 0;
    const ph_eye eye = {.sees = UINT32_MAX,
                        .own = PH_ENTITY_NONE,
                        .radius_mm = INT64_C(1) << 31,
                        .wanted = 10,
                        .callback = refuse,
                        .context = &calls};
    int maskable = 0;
    for (uint32_t i = 0; i < f.count; ++i) {
        maskable += f.seen_by[i] != 0;
    }
    ph_sweep sweep = ph_sweep_make(&f.sorted, &eye, f.scratch, (int)f.count);
    ph_sweep_gather(&sweep, 0, f.count);
    assert_int_equal(calls, maskable);
    assert_int_equal(ph_sweep_count_within(&sweep, eye.radius_mm), 0);
    assert_int_equal(ph_sweep_take(&sweep, 10, 10, f.seen), 0);
    free(f.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force_in_any_pieces),
        cmocka_unit_test(expectations_may_cut_through_keys_that_are_wrong),
        cmocka_unit_test(an_entity_just_beyond_the_radius_does_not_enter),
        cmocka_unit_test(asks_the_callback_before_anything_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
