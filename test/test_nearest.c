// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The nearest few, next to sorting all.

#include "kit/nearest.h"

#include "support/test_support.h"

#include <stdbool.h>
#include <stdlib.h>

enum { COUNT_MAX = 60 };

static int compare(const void* a, const void* b)
{
    const ph_near* left = a;
    const ph_near* right = b;
    if (left->distance2 != right->distance2) {
        return left->distance2 < right->distance2 ? -1 : 1;
    }
    if (left->first_tick != right->first_tick) {
        return left->first_tick < right->first_tick ? -1 : 1;
    }
    return left->entity < right->entity ? -1 : 1;
}

static bool holds(const ph_near* near, int count, int32_t entity)
{
    for (int i = 0; i < count; ++i) {
        if (near[i].entity == entity) {
            return true;
        }
    }
    return false;
}

// Few distances and ticks, so that there are many ties.
static void chooses_as_sorting_does(void** state)
{
    (void)state;
    test_rng rng = {.state = 71};
    for (int round = 0; round < 2000; ++round) {
        ph_near near[COUNT_MAX];
        ph_near sorted[COUNT_MAX];
        const int count = (int)test_rng_below(&rng, COUNT_MAX + 1);
        const int wanted = (int)test_rng_below(&rng, COUNT_MAX + 1);
        for (int i = 0; i < count; ++i) {
            near[i] = (ph_near){.distance2 = test_rng_below(&rng, 6),
                                .first_tick = (int32_t)test_rng_below(&rng, 3),
                                .entity = (i * 37) % 61};
            sorted[i] = near[i];
        }
        qsort(sorted, (size_t)count, sizeof *sorted, compare);
        const int chosen = ph_nearest_select(near, count, wanted);
        assert_int_equal(chosen, count < wanted ? count : wanted);
        for (int i = 0; i < chosen; ++i) {
            assert_true(holds(near, chosen, sorted[i].entity));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_as_sorting_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
