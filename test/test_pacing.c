// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// When a viewer without a fixed pacing is sent to.

#include "support/test_support.h"

#include "schedule/pacing.h"

enum { HALF_A_SECOND_US = 500000 };

// A budget of 13 kbit/s, a second of it saved up at most; 432 bits for each datagram.
static ph_pacing make(int64_t tokens_bits, int64_t news_bits)
{
    return (ph_pacing){
        .tokens_bits = tokens_bits,
        .depth_bits = 13000,
        .overhead_bits = 432,
        .room_bits = 9550,
        .news_bits = news_bits,
        .since_us = HALF_A_SECOND_US,
    };
}

static bool is_due(ph_pacing pacing)
{
    return ph_pacing_is_due(&pacing);
}

static void all_news_must_be_payable(void** state)
{
    (void)state;
    assert_false(is_due(make(531, 100)));
    assert_true(is_due(make(532, 100)));
    assert_false(is_due(make(2431, 2000)));
    assert_true(is_due(make(2432, 2000)));
}

static void without_news_there_is_time(void** state)
{
    (void)state;
    assert_false(is_due(make(13000, 0)));
}

static void a_second_is_the_longest(void** state)
{
    (void)state;
    ph_pacing pacing = make(0, 0);
    pacing.since_us = PH_PACING_LONGEST_US - 1;
    assert_false(is_due(pacing));
    pacing.since_us = PH_PACING_LONGEST_US;
    assert_true(is_due(pacing));
}

static void a_full_datagram_is_enough(void** state)
{
    (void)state;
    assert_false(is_due(make(9981, 50000)));
    assert_true(is_due(make(9982, 50000)));
}

static void a_full_bucket_is_enough(void** state)
{
    (void)state;
    ph_pacing pacing = make(3999, 5000);
    pacing.depth_bits = 4000;
    assert_false(is_due(pacing));
    pacing.tokens_bits = 4000;
    assert_true(is_due(pacing));
}

static void without_a_limit_it_is_always_time(void** state)
{
    (void)state;
    assert_true(is_due(make(INT64_MAX, 1)));
}

// The aim: few in view are told of often, a crowd about once a second.
static void pacing_follows_the_entity_count(void** state)
{
    (void)state;
    const int64_t news_bits[] = {100, 1000, 5000};
    int sends[3] = {0};
    for (int i = 0; i < 3; ++i) {
        ph_pacing pacing = make(0, news_bits[i]);
        pacing.since_us = 0;
        for (int ms = 0; ms < 10000; ms += 10) {
            pacing.tokens_bits += 4 * 10;
            pacing.since_us += 10000;
            if (is_due(pacing)) {
                const int64_t bits = pacing.overhead_bits + pacing.news_bits;
                pacing.tokens_bits -= bits < pacing.tokens_bits ? bits : pacing.tokens_bits;
                pacing.since_us = 0;
                ++sends[i];
            }
        }
    }
    assert_in_range(sends[0], 70, 80);
    assert_in_range(sends[1], 25, 30);
    assert_in_range(sends[2], 9, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_news_must_be_payable),
        cmocka_unit_test(without_news_there_is_time),
        cmocka_unit_test(a_second_is_the_longest),
        cmocka_unit_test(a_full_datagram_is_enough),
        cmocka_unit_test(a_full_bucket_is_enough),
        cmocka_unit_test(without_a_limit_it_is_always_time),
        cmocka_unit_test(pacing_follows_the_entity_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
