// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How late messages of players come back: over the last ten seconds, without players that have just moved.

#include "bots_echo.h"
#include "support/test_support.h"

#define SECOND_US UINT64_C(1000000)

static void expect_sum(const bots_echoes* all, uint64_t now_us, uint32_t mean_ms, uint32_t max_ms)
{
    uint32_t mean = 1;
    uint32_t most = 1;
    bots_echo_sum(all, now_us, &mean, &most);
    assert_int_equal(mean, mean_ms);
    assert_int_equal(most, max_ms);
}

static void the_last_ten_seconds_count(void** state)
{
    (void)state;
    bots_echoes all = {0};
    bots_echo one = {0};
    const uint64_t start_us = 100 * SECOND_US;
    expect_sum(&all, start_us, 0, 0);
    bots_echo_send(&one, 1, start_us);
    bots_echo_send(&one, 2, start_us + 100000);
    bots_echo_return(&one, &all, 1, start_us + 300000); // 300 ms
    bots_echo_return(&one, &all, 2, start_us + 700000); // 600 ms, in another slot
    expect_sum(&all, start_us + SECOND_US, 450, 600);
    expect_sum(&all, start_us + 10 * SECOND_US, 600, 600);
    expect_sum(&all, start_us + 12 * SECOND_US, 0, 0);
}

static void one_that_has_just_moved_does_not_count(void** state)
{
    (void)state;
    bots_echoes all = {0};
    bots_echo one = {0};
    const uint64_t start_us = 100 * SECOND_US;
    bots_echo_send(&one, 1, start_us);
    bots_echo_move(&one, start_us + SECOND_US);
    bots_echo_return(&one, &all, 1, start_us + 2 * SECOND_US);
    expect_sum(&all, start_us + 2 * SECOND_US, 0, 0);
    bots_echo_send(&one, 2, start_us + 12 * SECOND_US);
    bots_echo_return(&one, &all, 2, start_us + 12 * SECOND_US + 50000);
    expect_sum(&all, start_us + 13 * SECOND_US, 50, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_ten_seconds_count),
        cmocka_unit_test(one_that_has_just_moved_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
