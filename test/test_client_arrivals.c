// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Eyes, ticks and round trips from the last packet numbers.

#include "support/test_support.h"

#include "client/receive.h"

enum { SESSION = 500, TICK_US = 50000 };

static void note(ph_arrivals* arrivals, uint32_t number, uint64_t time_us, uint64_t tick)
{
    const ph_arrival arrival = {
        .time_us = time_us, .tick = tick, .is_heard = true, .is_applied = true};
    ph_arrivals_add(arrivals, number, &arrival);
    assert_true(ph_arrivals_validate(arrivals));
}

static void note_eye(ph_arrivals* arrivals, uint32_t number, int32_t x_mm)
{
    const ph_arrival arrival = {
        .eye = {.mm = {x_mm, 0, 0}, .is_known = true}, .is_heard = true, .is_applied = true};
    ph_arrivals_add(arrivals, number, &arrival);
    assert_true(ph_arrivals_validate(arrivals));
}

// ---- eyes

static void there_is_no_eye_before_the_first(void** state)
{
    (void)state;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    assert_false(ph_arrivals_eye(&arrivals, SESSION).is_known);
    note(&arrivals, SESSION + 1, 0, 0);
    note_eye(&arrivals, SESSION + 2, 7);
    assert_false(ph_arrivals_eye(&arrivals, SESSION + 1).is_known);
    assert_int_equal(ph_arrivals_eye(&arrivals, SESSION + 2).mm[0], 7);
}

// Against a plain list of all that was ever noted, with gaps, across the end of the numbers.
static void the_eye_is_the_newest_at_or_before_the_horizon(void** state)
{
    (void)state;
    test_rng rng = {.state = 404};
    enum { COUNT = 3000 };
    static int32_t eye_of[COUNT]; // 0: none
    const uint32_t session = UINT32_MAX - COUNT / 2;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, session);
    int newest = 0;
    while (newest < COUNT - 70) {
        const bool is_long = test_rng_below(&rng, 20) == 0;
        newest += 1 + (int)test_rng_below(&rng, is_long ? PH_FLIGHT_MAX : 3);
        if (test_rng_below(&rng, 10) == 0) {
            eye_of[newest] = newest;
            note_eye(&arrivals, session + (uint32_t)newest, newest);
        } else {
            note(&arrivals, session + (uint32_t)newest, 0, 0);
        }
        const int back = newest < PH_FLIGHT_MAX ? newest : PH_FLIGHT_MAX - 1;
        const int horizon = newest - (int)test_rng_below(&rng, (uint64_t)back + 1);
        int expected = horizon;
        while (expected > 0 && eye_of[expected] == 0) {
            --expected;
        }
        const ph_known_eye eye = ph_arrivals_eye(&arrivals, session + (uint32_t)horizon);
        assert_int_equal(eye.is_known, expected > 0);
        assert_int_equal(eye.mm[0], eye_of[expected]);
    }
}

// ---- ticks

static void the_first_tick_is_taken_as_it_is(void** state)
{
    (void)state;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    assert_int_equal(ph_arrivals_classic_tick(&arrivals, 12345678, TICK_US, 2047), 2047);
}

static void ticks_are_carried_on_by_the_clock(void** state)
{
    (void)state;
    // Silences of any length, jitter of up to a quarter of the period either way.
    test_rng rng = {.state = 7};
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    const uint64_t base_us = 1000000000;
    uint64_t tick = UINT32_MAX - 5000; // longer than 32 bits on the way
    const uint64_t hidden = tick & ~UINT64_C(2047);
    uint64_t now_us = base_us;
    note(&arrivals, SESSION + 1, now_us, tick & 2047);
    for (uint32_t i = 2; i < 2000; ++i) {
        const uint32_t steps = (uint32_t)test_rng_below(&rng, i % 10 == 0 ? 1000000 : 20);
        const int64_t jitter_us = (int64_t)test_rng_below(&rng, 2 * 256 * TICK_US) - 256 * TICK_US;
        tick += steps;
        now_us += (uint64_t)steps * TICK_US;
        const uint64_t heard_us = (uint64_t)((int64_t)now_us + jitter_us);
        const uint64_t found = ph_arrivals_classic_tick(&arrivals, heard_us, TICK_US, tick & 2047);
        assert_int_equal(found, tick - hidden);
        note(&arrivals, SESSION + i, heard_us, found);
    }
}

static void a_clock_that_stands_still_does_not_matter(void** state)
{
    (void)state;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    note(&arrivals, SESSION + 1, 1000, 2040);
    assert_int_equal(ph_arrivals_classic_tick(&arrivals, 1000, TICK_US, 3), 2051);
    assert_int_equal(ph_arrivals_classic_tick(&arrivals, 0, TICK_US, 3), 2051);
    // However far the server is, it never goes back.
    const uint64_t steps[] = {0, 1, 1023, 1024, 1025, 2046, 2047};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
        const uint64_t tick = 2040 + steps[i];
        assert_int_equal(ph_arrivals_classic_tick(&arrivals, 1000, TICK_US, tick & 2047), tick);
    }
}

// From half a period before what is expected, which is the nearest, but for the last tick.
static void a_tick_is_taken_from_half_a_period_before(void** state)
{
    (void)state;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    note(&arrivals, SESSION + 1, 0, 5);
    for (uint64_t passed = 0; passed < 5000; passed += 499) {
        const uint64_t earliest = 5 + (passed > 1024 ? passed - 1024 : 0);
        const uint64_t now_us = passed * TICK_US;
        for (uint64_t k = 0; k < 2048; k += 2047) {
            const uint64_t tick = earliest + k;
            assert_int_equal(ph_arrivals_classic_tick(&arrivals, now_us, TICK_US, tick & 2047),
                             tick);
        }
    }
}

static void ticks_go_on_behind_32_bits(void** state)
{
    (void)state;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    note(&arrivals, SESSION + 1, 1000, UINT32_MAX - 1);
    assert_true(ph_arrivals_classic_tick(&arrivals, 1000 + 5 * TICK_US, TICK_US, 3) ==
                (UINT64_C(1) << 32) + 3);
}

// ---- round trips

static void a_round_trip_is_measured_from_the_horizon(void** state)
{
    (void)state;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    note(&arrivals, SESSION + 1, 950000, 0);
    ph_arrivals_ack(&arrivals, 1000000);
    ph_arrivals_ack(&arrivals, 1100000); // names nothing new
    // 200 ms later comes a packet that knows of it; our answer lay there for 96..104 ms.
    assert_true(ph_arrivals_rtt_us(&arrivals, 1200000, SESSION + 1, 12) == 100000.0);
    assert_true(ph_arrivals_rtt_us(&arrivals, 1280000, SESSION + 1, 12) == 180000.0);
    ph_arrivals_add_again(&arrivals);
    assert_true(ph_arrivals_validate(&arrivals));
    assert_true(ph_arrivals_rtt_us(&arrivals, 1280000, SESSION + 1, 12) < 0.0);
}

// The game may be slow: what is asked again before the answer left is one question.
static void what_is_asked_again_before_the_answer_is_measured(void** state)
{
    (void)state;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    note(&arrivals, SESSION + 1, 0, 0);
    ph_arrivals_add_again(&arrivals);
    ph_arrivals_ack(&arrivals, 1000000);
    assert_true(ph_arrivals_rtt_us(&arrivals, 1200000, SESSION + 1, 12) == 100000.0);
}

static void what_says_nothing_is_not_measured(void** state)
{
    (void)state;
    ph_arrivals arrivals;
    ph_arrivals_init(&arrivals, SESSION);
    note(&arrivals, SESSION + 1, 1000000, 0);
    ph_arrivals_ack(&arrivals, 1000000);
    note(&arrivals, SESSION + 3, 1100000, 0); // not answered
    const struct {
        uint64_t now_us;
        uint32_t horizon;
        uint8_t wait;
    } cases[] = {
        {1200000, SESSION + 1, PH_WAIT_UNKNOWN},
        {1200000, SESSION + 2, 0}, // never heard of
        {1200000, SESSION, 0},
        {1200000, SESSION + 3, 0},
        {1200000, SESSION + 3 - PH_FLIGHT_MAX, 0},
        {900000, SESSION + 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        assert_true(
            ph_arrivals_rtt_us(&arrivals, cases[i].now_us, cases[i].horizon, cases[i].wait) < 0.0);
    }
    // Shorter than a unit of waiting.
    assert_true(ph_arrivals_rtt_us(&arrivals, 1000001, SESSION + 1, 0) == 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_no_eye_before_the_first),
        cmocka_unit_test(the_eye_is_the_newest_at_or_before_the_horizon),
        cmocka_unit_test(the_first_tick_is_taken_as_it_is),
        cmocka_unit_test(ticks_are_carried_on_by_the_clock),
        cmocka_unit_test(a_clock_that_stands_still_does_not_matter),
        cmocka_unit_test(a_tick_is_taken_from_half_a_period_before),
        cmocka_unit_test(ticks_go_on_behind_32_bits),
        cmocka_unit_test(a_round_trip_is_measured_from_the_horizon),
        cmocka_unit_test(what_is_asked_again_before_the_answer_is_measured),
        cmocka_unit_test(what_says_nothing_is_not_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
