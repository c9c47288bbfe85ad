// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The budget: exact to the millionth of a bit, whatever the pieces time comes in, and safe at the
// ends of every range.

#include "support/test_support.h"

#include "schedule/pacing.h"

static void starts_full(void** state)
{
    (void)state;
    const ph_token_bucket bucket = ph_token_bucket_make(13000, 9000, 77);
    assert_int_equal(ph_token_bucket_bits(&bucket), 9000);
}

static void fills_at_its_rate_in_whole_bits(void** state)
{
    (void)state;
    ph_token_bucket bucket = ph_token_bucket_make(13000, 13000, 0);
    ph_token_bucket_spend(&bucket, 13000);
    assert_int_equal(ph_token_bucket_bits(&bucket), 0);
    ph_token_bucket_fill(&bucket, 76); // 0.988 bits
    assert_int_equal(ph_token_bucket_bits(&bucket), 0);
    ph_token_bucket_fill(&bucket, 77);
    assert_int_equal(ph_token_bucket_bits(&bucket), 1);
    ph_token_bucket_fill(&bucket, 100000);
    assert_int_equal(ph_token_bucket_bits(&bucket), 1300);
}

static void holds_no_more_than_its_depth(void** state)
{
    (void)state;
    ph_token_bucket bucket = ph_token_bucket_make(1000, 500, 0);
    ph_token_bucket_spend(&bucket, 100);
    ph_token_bucket_fill(&bucket, 100001);
    assert_int_equal(ph_token_bucket_bits(&bucket), 500);
    ph_token_bucket_spend(&bucket, 500);
    ph_token_bucket_fill(&bucket, 100001);
    assert_int_equal(ph_token_bucket_bits(&bucket), 0);
    // Within one microsecond, from almost full to far beyond.
    bucket = ph_token_bucket_make(INT32_MAX, 1000, 0);
    ph_token_bucket_spend(&bucket, 1);
    ph_token_bucket_fill(&bucket, 1);
    assert_int_equal(ph_token_bucket_bits(&bucket), 1000);
}

// Any rate, time and cut: as long as it is never full, all that matters is how much time passed.
static void no_piece_of_time_is_lost_or_gained(void** state)
{
    (void)state;
    test_rng rng = {.state = 4040};
    for (int round = 0; round < 2000; ++round) {
        const int64_t rate = 1 + (int64_t)test_rng_below(&rng, INT32_MAX);
        const uint64_t begin_us = test_rng_next(&rng) >> 1;
        ph_token_bucket whole = ph_token_bucket_make(rate, INT32_MAX, begin_us);
        ph_token_bucket_spend(&whole, INT32_MAX);
        ph_token_bucket pieces = whole;
        const uint64_t until_full_us = (uint64_t)INT32_MAX * 1000000 / (uint64_t)rate;
        const uint64_t end_us = begin_us + test_rng_below(&rng, until_full_us + 1);
        ph_token_bucket_fill(&whole, end_us);
        uint64_t now_us = begin_us;
        for (int piece = 0; piece < 50; ++piece) {
            now_us += test_rng_below(&rng, end_us - now_us + 1);
            ph_token_bucket_fill(&pieces, now_us);
        }
        ph_token_bucket_fill(&pieces, end_us);
        assert_true(pieces.level == whole.level);
        assert_true(whole.level == (int64_t)(end_us - begin_us) * rate);
    }
}

// The promise behind the budget: what is spent by any moment is within depth + rate * time.
static void never_gives_more_than_depth_and_rate(void** state)
{
    (void)state;
    test_rng rng = {.state = 4141};
    for (int round = 0; round < 200; ++round) {
        const int64_t rate = 1 + (int64_t)test_rng_below(&rng, 1000000);
        const int64_t depth = (int64_t)test_rng_below(&rng, 20000);
        ph_token_bucket bucket = ph_token_bucket_make(rate, depth, 0);
        int64_t spent = 0;
        uint64_t now_us = 0;
        for (int step = 0; step < 300; ++step) {
            now_us += test_rng_below(&rng, 30000);
            ph_token_bucket_fill(&bucket, now_us);
            const int64_t bits = ph_token_bucket_bits(&bucket);
            const int64_t taken = (int64_t)test_rng_below(&rng, (uint64_t)bits + 1);
            ph_token_bucket_spend(&bucket, taken);
            spent += taken;
            assert_true(spent * 1000000 <= depth * 1000000 + (int64_t)now_us * rate);
        }
    }
}

static void centuries_at_the_highest_rate_fill_it_and_no_more(void** state)
{
    (void)state;
    const int64_t rates[] = {1, 13000, INT32_MAX};
    const uint64_t times_us[] = {UINT64_C(31557600000000), UINT64_C(1) << 62, UINT64_MAX};
    for (int i = 0; i < 9; ++i) {
        ph_token_bucket bucket = ph_token_bucket_make(rates[i / 3], 20000000, 0);
        ph_token_bucket_spend(&bucket, 20000000);
        ph_token_bucket_fill(&bucket, times_us[i % 3]);
        assert_int_equal(ph_token_bucket_bits(&bucket), 20000000);
    }
    ph_token_bucket bucket = ph_token_bucket_make(1, INT32_MAX, 0);
    ph_token_bucket_spend(&bucket, INT32_MAX);
    ph_token_bucket_fill(&bucket, UINT64_C(31557600000000)); // a year at a bit per second
    assert_int_equal(ph_token_bucket_bits(&bucket), 31557600);
}

static void time_that_goes_back_and_forth_is_paid_once(void** state)
{
    (void)state;
    ph_token_bucket bucket = ph_token_bucket_make(1000000, 1000000, 500);
    ph_token_bucket_spend(&bucket, 1000000);
    for (int i = 0; i < 10; ++i) {
        ph_token_bucket_fill(&bucket, 600);
        ph_token_bucket_fill(&bucket, 550);
    }
    assert_int_equal(ph_token_bucket_bits(&bucket), 100);
}

static void rate_zero_is_no_limit(void** state)
{
    (void)state;
    ph_token_bucket bucket = ph_token_bucket_make(0, 0, 0);
    assert_true(ph_token_bucket_bits(&bucket) == INT64_MAX);
    ph_token_bucket_spend(&bucket, INT64_C(1) << 60);
    ph_token_bucket_fill(&bucket, UINT64_MAX);
    assert_true(ph_token_bucket_bits(&bucket) == INT64_MAX);
}

static void depth_zero_never_has_a_bit(void** state)
{
    (void)state;
    ph_token_bucket bucket = ph_token_bucket_make(13000, 0, 0);
    ph_token_bucket_fill(&bucket, 1000000);
    assert_int_equal(ph_token_bucket_bits(&bucket), 0);
}

static void a_change_keeps_what_fits(void** state)
{
    (void)state;
    ph_token_bucket bucket = ph_token_bucket_make(1000, 1000, 0);
    ph_token_bucket_change(&bucket, 2000, 600);
    assert_int_equal(ph_token_bucket_bits(&bucket), 600);
    ph_token_bucket_change(&bucket, 2000, 5000);
    assert_int_equal(ph_token_bucket_bits(&bucket), 600);
    ph_token_bucket_fill(&bucket, 1000000);
    assert_int_equal(ph_token_bucket_bits(&bucket), 2600);
}

// Time without a limit earns nothing for the time with one.
static void a_limit_that_comes_later_starts_from_what_was_left(void** state)
{
    (void)state;
    ph_token_bucket bucket = ph_token_bucket_make(1000, 1000, 0);
    ph_token_bucket_spend(&bucket, 900);
    ph_token_bucket_change(&bucket, 0, 1000);
    ph_token_bucket_spend(&bucket, 50000);
    ph_token_bucket_fill(&bucket, 10000000);
    ph_token_bucket_change(&bucket, 1000, 1000);
    assert_int_equal(ph_token_bucket_bits(&bucket), 100);
    ph_token_bucket_fill(&bucket, 10100000);
    assert_int_equal(ph_token_bucket_bits(&bucket), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_full),
        cmocka_unit_test(fills_at_its_rate_in_whole_bits),
        cmocka_unit_test(holds_no_more_than_its_depth),
        cmocka_unit_test(no_piece_of_time_is_lost_or_gained),
        cmocka_unit_test(never_gives_more_than_depth_and_rate),
        cmocka_unit_test(centuries_at_the_highest_rate_fill_it_and_no_more),
        cmocka_unit_test(time_that_goes_back_and_forth_is_paid_once),
        cmocka_unit_test(rate_zero_is_no_limit),
        cmocka_unit_test(depth_zero_never_has_a_bit),
        cmocka_unit_test(a_change_keeps_what_fits),
        cmocka_unit_test(a_limit_that_comes_later_starts_from_what_was_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
