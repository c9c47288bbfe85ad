// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The best few against a look at everybody; test_order.c has the order that goes on behind them.

#include "support/test_support.h"

#include "schedule/best.h"

#include <math.h>

enum { SLOTS = 250 };

// How many come before this slot.
static int place_of(const float* priority, int slot)
{
    int place = 0;
    for (int i = 0; i < SLOTS; ++i) {
        place += priority[i] > priority[slot] || (priority[i] == priority[slot] && i < slot);
    }
    return place;
}

static int find(const float* priority, int wanted, uint16_t* best)
{
    uint16_t upper[SLOTS];
    return ph_best_find(priority, SLOTS, wanted, upper, best);
}

static void as_many_as_are_wanted_come_in_order(void** state)
{
    (void)state;
    test_rng rng = {.state = 7001};
    for (int round = 0; round < 500; ++round) {
        float priority[SLOTS];
        for (int i = 0; i < SLOTS; ++i) {
            priority[i] = 1000.0f / (float)(1 + test_rng_below(&rng, 100000));
        }
        const int wanted = 1 + (int)test_rng_below(&rng, 48);
        uint16_t best[PH_BEST_MAX];
        const int count = find(priority, wanted, best);
        assert_in_range(count, wanted, PH_BEST_MAX);
        for (int i = 0; i < count; ++i) {
            assert_int_equal(place_of(priority, best[i]), i);
        }
    }
}

// Those above are found, and the equal ones with them while all of them are few.
static void equal_ones_are_taken_together_or_not_at_all(void** state)
{
    (void)state;
    float priority[SLOTS];
    uint16_t best[PH_BEST_MAX];
    for (int i = 0; i < SLOTS; ++i) {
        priority[i] = i % 5 == 0 ? 2.0f : 1.0f; // 50 of them
    }
    assert_int_equal(find(priority, 3, best), 50);
    for (int i = 0; i < 50; ++i) {
        assert_int_equal(best[i], 5 * i);
    }
    assert_int_equal(find(priority, 51, best), 0);
    priority[249] = 2.5f;
    assert_int_equal(find(priority, 2, best), 51);
    assert_int_equal(best[0], 249);
    assert_int_equal(best[1], 0);
}

static void one_is_found_above_too_many_equal_ones(void** state)
{
    (void)state;
    float priority[SLOTS];
    uint16_t best[PH_BEST_MAX];
    for (int i = 0; i < SLOTS; ++i) {
        priority[i] = i == 200 ? 1.01f : 1.0f;
    }
    assert_int_equal(find(priority, 1, best), 1);
    assert_int_equal(best[0], 200);
    assert_int_equal(find(priority, 2, best), 0);
}

static void as_many_as_there_is_room_for_are_found(void** state)
{
    (void)state;
    float priority[SLOTS] = {0.0f};
    uint16_t best[PH_BEST_MAX];
    for (int i = 0; i < PH_BEST_MAX; ++i) {
        priority[3 * i] = 1.0f;
    }
    assert_int_equal(find(priority, PH_BEST_MAX, best), PH_BEST_MAX);
    assert_int_equal(best[PH_BEST_MAX - 1], 3 * (PH_BEST_MAX - 1));
    priority[1] = 1.0f;
    assert_int_equal(find(priority, PH_BEST_MAX, best), 0);
}

static void who_does_not_count_is_never_among_them(void** state)
{
    (void)state;
    const float others[] = {0.0f, -0.0f, -1.0f, NAN, -NAN, -INFINITY, -0x1p-149f};
    float priority[SLOTS];
    uint16_t best[PH_BEST_MAX];
    for (int i = 0; i < SLOTS; ++i) {
        priority[i] = others[i % 7];
    }
    assert_int_equal(find(priority, 1, best), 0);
    priority[17] = INFINITY;
    priority[4] = 0x1p-120f;
    assert_int_equal(find(priority, 2, best), 2);
    assert_int_equal(best[0], 17);
    assert_int_equal(best[1], 4);
    priority[5] = 0x1p-149f; // counts, but its upper half is that of those who do not
    assert_int_equal(find(priority, 2, best), 2);
    assert_int_equal(find(priority, 3, best), 0);
}

static void of_nobody_nobody_is_found(void** state)
{
    (void)state;
    uint16_t best[PH_BEST_MAX];
    assert_int_equal(ph_best_find(NULL, 0, 1, NULL, best), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_are_wanted_come_in_order),
        cmocka_unit_test(equal_ones_are_taken_together_or_not_at_all),
        cmocka_unit_test(one_is_found_above_too_many_equal_ones),
        cmocka_unit_test(as_many_as_there_is_room_for_are_found),
        cmocka_unit_test(who_does_not_count_is_never_among_them),
        cmocka_unit_test(of_nobody_nobody_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
