// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Every entity within reach is found, across the edge of the world too.

#include "support/test_support.h"

#include "vision/entity_arrays.h"
#include "vision/group_candidates.h"

enum { GROUPS = 300, HEADS = 1024 };

typedef struct fixture {
    int32_t heads[HEADS];
    int32_t nexts[GROUPS];
    ph_group_place places[GROUPS];
    ph_group_map map;
} fixture;

static void setup(fixture* f, int32_t reach_mm)
{
    assert_int_equal(ph_group_map_size(GROUPS), HEADS);
    f->map = (ph_group_map){f->heads, f->nexts, HEADS - 1, ph_group_map_shift(reach_mm)};
    ph_group_map_clear(&f->map);
}

static bool is_found(const fixture* f, ph_group_place place, int group)
{
    ph_group_walk walk = ph_group_map_walk(&f->map, place);
    for (int i = ph_group_walk_next(&walk); i >= 0; i = ph_group_walk_next(&walk)) {
        if (i == group) {
            return true;
        }
    }
    return false;
}

static void sizes_and_cells_are_powers_of_two(void** state)
{
    (void)state;
    assert_int_equal(ph_group_map_size(0), 1);
    assert_int_equal(ph_group_map_size(1), 2);
    assert_int_equal(ph_group_map_size(512), 1024);
    assert_int_equal(ph_group_map_size(513), 2048);
    assert_int_equal(ph_group_map_shift(0), 0);
    assert_int_equal(ph_group_map_shift(1), 0);
    assert_int_equal(ph_group_map_shift(1024), 10);
    assert_int_equal(ph_group_map_shift(1025), 11);
    assert_int_equal(ph_group_map_shift(INT32_MAX), 31);
}

static void an_empty_map_has_nothing_near(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 1000);
    ph_group_walk walk = ph_group_map_walk(&f.map, (ph_group_place){0, 0, 0});
    assert_int_equal(ph_group_walk_next(&walk), PH_GROUP_NONE);
    assert_int_equal(ph_group_walk_next(&walk), PH_GROUP_NONE);
}

// Reaches from a millimetre to half the world; places in a square of ten reaches around the edge.
static void every_entity_within_reach_is_found(void** state)
{
    (void)state;
    test_rng rng = {.state = 61};
    for (int round = 0; round < 31; ++round) {
        const int32_t reach_mm = (int32_t)(UINT32_C(1) << round) + round / 2;
        fixture f;
        setup(&f, reach_mm);
        for (int i = 0; i < GROUPS; ++i) {
            const uint64_t span = 10 * (uint64_t)reach_mm;
            f.places[i] = (ph_group_place){
                .x_mm = (int32_t)((uint32_t)INT32_MIN + (uint32_t)test_rng_below(&rng, span) -
                                  (uint32_t)(span / 2)),
                .y_mm = (int32_t)((uint32_t)INT32_MIN + (uint32_t)test_rng_below(&rng, span) -
                                  (uint32_t)(span / 2)),
                .class_key = test_rng_below(&rng, 2),
            };
            ph_group_map_insert(&f.map, i, f.places[i]);
        }
        for (int i = 0; i < GROUPS; ++i) {
            for (int j = 0; j < GROUPS; ++j) {
                const uint64_t distance2 = ph_distance2(f.places[i].x_mm, f.places[i].y_mm,
                                                        f.places[j].x_mm, f.places[j].y_mm);
                if (f.places[i].class_key == f.places[j].class_key &&
                    distance2 <= (uint64_t)reach_mm * (uint64_t)reach_mm) {
                    assert_true(is_found(&f, f.places[i], j));
                }
            }
        }
    }
}

static void a_walk_over_many_at_one_place_ends(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 1000);
    for (int i = 0; i < GROUPS; ++i) {
        ph_group_map_insert(&f.map, i, (ph_group_place){0, 0, 0});
    }
    int steps = 0;
    ph_group_walk walk = ph_group_map_walk(&f.map, (ph_group_place){0, 0, 0});
    while (ph_group_walk_next(&walk) >= 0) {
        ++steps;
    }
    assert_int_equal(steps, PH_GROUP_WALK_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_cells_are_powers_of_two),
        cmocka_unit_test(an_empty_map_has_nothing_near),
        cmocka_unit_test(every_entity_within_reach_is_found),
        cmocka_unit_test(a_walk_over_many_at_one_place_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
