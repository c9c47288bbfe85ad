// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Newcomers in the order of neighbours.

#include "test_support.h"
#include "vision/slot_table.h"

enum { COUNT = 200 };

static int32_t x_mm[COUNT];
static int32_t y_mm[COUNT];
static ph_seen seen[COUNT];

// Around the eye at 0, 0.
static void put(int entity, int32_t x, int32_t y)
{
    x_mm[entity] = x;
    y_mm[entity] = y;
    seen[entity] = (ph_seen){.distance2 = ph_distance2(x, y, 0, 0),
                             .spawn_order = (uint64_t)entity,
                             .entity = (ph_entity_index)entity};
}

static void each_is_followed_by_the_nearest_of_those_left(void** state)
{
    (void)state;
    put(0, 4100, 0);
    put(1, 0, 4200);
    put(2, 4300, 100);
    put(3, 100, 4400);
    put(4, 4500, 0);
    ph_chain_neighbours(seen, 5, x_mm, y_mm);
    const ph_entity_index expected[] = {0, 2, 4, 1, 3};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(seen[i].entity, expected[i]);
    }
}

static void an_entity_twice_as_far_away_comes_later(void** state)
{
    (void)state;
    put(0, 4000, 0);
    put(1, -4050, 0);
    put(2, 4096, 0); // the next power of two
    ph_chain_neighbours(seen, 3, x_mm, y_mm);
    assert_int_equal(seen[1].entity, 1);
    assert_int_equal(seen[2].entity, 2);
}

static void only_so_many_change_places(void** state)
{
    (void)state;
    for (int i = 0; i < COUNT; ++i) {
        put(i, (i % 2 != 0 ? -1 : 1) * (5000 + i), 0);
    }
    ph_chain_neighbours(seen, COUNT, x_mm, y_mm);
    bool is_there[COUNT] = {false};
    for (int i = 0; i < COUNT; ++i) {
        assert_int_equal(seen[i].entity / PH_CHAIN_LENGTH, i / PH_CHAIN_LENGTH);
        assert_false(is_there[seen[i].entity]);
        is_there[seen[i].entity] = true;
    }
    assert_int_equal(seen[1].entity, 2); // on the same side
}

static void no_entities_are_no_trouble(void** state)
{
    (void)state;
    ph_chain_neighbours(seen, 0, x_mm, y_mm);
    put(0, 1, 1);
    ph_chain_neighbours(seen, 1, x_mm, y_mm);
    assert_int_equal(seen[0].entity, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_followed_by_the_nearest_of_those_left),
        cmocka_unit_test(an_entity_twice_as_far_away_comes_later),
        cmocka_unit_test(only_so_many_change_places),
        cmocka_unit_test(no_entities_are_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
