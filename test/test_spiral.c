// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The spiral begins at home, never comes nearer again, and leaves no cell out.

#include "test_support.h"

#include "vision/grid.h"

#include <stdbool.h>
#include <stdlib.h>

static int distance2(ph_spiral_step step)
{
    return step.column * step.column + step.row * step.row;
}

static void begins_at_home_and_never_comes_nearer(void** state)
{
    (void)state;
    ph_spiral_step steps[2000];
    const int count = ph_spiral_count(24);
    assert_in_range(count, 1, 2000);
    ph_spiral_fill(steps, 24);
    assert_int_equal(distance2(steps[0]), 0);
    for (int i = 1; i < count; ++i) {
        assert_true(distance2(steps[i - 1]) <= distance2(steps[i]));
    }
}

static void visits_every_cell_within_reach_once(void** state)
{
    (void)state;
    for (int reach = 0; reach <= PH_SPIRAL_REACH_MAX; ++reach) {
        const int side = 2 * reach + 1;
        const int count = ph_spiral_count(reach);
        ph_spiral_step* steps = malloc((size_t)count * sizeof *steps);
        bool* is_visited = calloc((size_t)(side * side), sizeof *is_visited);
        assert_true(steps != NULL && is_visited != NULL);
        ph_spiral_fill(steps, reach);
        for (int i = 0; i < count; ++i) {
            const int cell = (steps[i].row + reach) * side + steps[i].column + reach;
            assert_true(distance2(steps[i]) <= reach * reach);
            assert_false(is_visited[cell]);
            is_visited[cell] = true;
        }
        for (int cell = 0; cell < side * side; ++cell) {
            const int row = cell / side - reach;
            const int column = cell % side - reach;
            assert_true(is_visited[cell] == (row * row + column * column <= reach * reach));
        }
        free(is_visited);
        free(steps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_at_home_and_never_comes_nearer),
        cmocka_unit_test(visits_every_cell_within_reach_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
