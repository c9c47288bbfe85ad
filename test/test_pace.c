// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Ticks are due on a grid that a late caller cannot shift; what is missed is counted.

#include "test_support.h"

#include "kit/pace.h"

enum { START_US = 12345, TICK_US = 1000 };

static void it_begins_at_once(void** state)
{
    (void)state;
    ph_pace pace = ph_pace_make(START_US, TICK_US);
    assert_int_equal(pace.due_us, START_US);
    assert_int_equal(ph_pace_begin(&pace, START_US), START_US);
    assert_int_equal(pace.due_us, START_US + TICK_US);
    assert_int_equal(pace.ticks, 1);
    assert_int_equal(pace.missed, 0);
    assert_int_equal(ph_pace_take_worst(&pace), 0);
}

// Up to the last microsecond that is not yet the next tick's.
static void late_ticks_do_not_drift(void** state)
{
    (void)state;
    enum { COUNT = 10000 };
    test_rng rng = {.state = 2026};
    ph_pace pace = ph_pace_make(START_US, TICK_US);
    for (uint64_t n = 0; n < COUNT; ++n) {
        const uint64_t grid_us = START_US + n * TICK_US;
        assert_int_equal(pace.due_us, grid_us);
        assert_int_equal(ph_pace_begin(&pace, grid_us + test_rng_below(&rng, TICK_US)), grid_us);
    }
    assert_int_equal(pace.due_us, START_US + COUNT * TICK_US);
    assert_int_equal(pace.ticks, COUNT);
    assert_int_equal(pace.missed, 0);
}

// Waiting may end too soon.
static void early_ticks_do_not_drift_either(void** state)
{
    (void)state;
    ph_pace pace = ph_pace_make(START_US, TICK_US);
    for (uint64_t n = 0; n < 100; ++n) {
        const uint64_t grid_us = START_US + n * TICK_US;
        assert_int_equal(ph_pace_begin(&pace, grid_us - 50), grid_us);
    }
    assert_int_equal(pace.missed, 0);
    assert_int_equal(ph_pace_take_worst(&pace), 0);
}

static void whole_ticks_late_are_missed_and_the_grid_stays(void** state)
{
    (void)state;
    ph_pace pace = ph_pace_make(START_US, TICK_US);
    ph_pace_begin(&pace, START_US);
    const uint64_t now_us = START_US + TICK_US + 5 * TICK_US / 2;
    assert_int_equal(ph_pace_begin(&pace, now_us), START_US + 3 * TICK_US);
    assert_int_equal(pace.due_us, START_US + 4 * TICK_US);
    assert_int_equal(pace.ticks, 2);
    assert_int_equal(pace.missed, 2);
    // In time again: no more are missed.
    assert_int_equal(ph_pace_begin(&pace, START_US + 4 * TICK_US), START_US + 4 * TICK_US);
    assert_int_equal(pace.missed, 2);
}

static void one_is_missed_from_exactly_one_tick_on(void** state)
{
    (void)state;
    ph_pace pace = ph_pace_make(START_US, TICK_US);
    ph_pace_begin(&pace, START_US + TICK_US - 1);
    assert_int_equal(pace.missed, 0);
    assert_int_equal(ph_pace_begin(&pace, START_US + 2 * TICK_US), START_US + 2 * TICK_US);
    assert_int_equal(pace.missed, 1);
}

// Every tick of the grid is either begun or missed, however long each one took.
static void begun_and_missed_make_up_the_grid(void** state)
{
    (void)state;
    test_rng rng = {.state = 7};
    ph_pace pace = ph_pace_make(START_US, TICK_US);
    for (int i = 0; i < 1000; ++i) {
        const uint64_t now_us = pace.due_us + test_rng_below(&rng, 4 * TICK_US);
        const uint64_t due_us = ph_pace_begin(&pace, now_us);
        assert_in_range(now_us - due_us, 0, TICK_US - 1);
        assert_int_equal(pace.due_us, START_US + (pace.ticks + pace.missed) * TICK_US);
    }
    assert_true(pace.missed > 0);
}

static void the_worst_lateness_is_taken_once(void** state)
{
    (void)state;
    ph_pace pace = ph_pace_make(START_US, TICK_US);
    ph_pace_begin(&pace, START_US + 100);
    ph_pace_begin(&pace, START_US + TICK_US + 700);
    ph_pace_begin(&pace, START_US + 2 * TICK_US + 300);
    assert_int_equal(ph_pace_take_worst(&pace), 700);
    assert_int_equal(ph_pace_take_worst(&pace), 0);
    ph_pace_begin(&pace, START_US + 3 * TICK_US + 20);
    assert_int_equal(ph_pace_take_worst(&pace), 20);
}

// What was missed belongs to it.
static void the_worst_lateness_may_be_longer_than_a_tick(void** state)
{
    (void)state;
    ph_pace pace = ph_pace_make(START_US, TICK_US);
    ph_pace_begin(&pace, START_US + 2500);
    assert_int_equal(ph_pace_take_worst(&pace), 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_at_once),
        cmocka_unit_test(late_ticks_do_not_drift),
        cmocka_unit_test(early_ticks_do_not_drift_either),
        cmocka_unit_test(whole_ticks_late_are_missed_and_the_grid_stays),
        cmocka_unit_test(one_is_missed_from_exactly_one_tick_on),
        cmocka_unit_test(begun_and_missed_make_up_the_grid),
        cmocka_unit_test(the_worst_lateness_is_taken_once),
        cmocka_unit_test(the_worst_lateness_may_be_longer_than_a_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
