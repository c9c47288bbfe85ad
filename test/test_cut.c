// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A search among keys ends with few of them, between ends that are where they claim to be, however the
// keys are spread.

#include "support/test_support.h"

#include "vision/sweep.h"

enum { KEYS_MAX = 600, FEW = 16 };

// Evenly spread, in heaps, by powers of two, or all the same.
static int32_t random_key(test_rng* rng, int spread)
{
    const float even = (float)test_rng_below(rng, 1000000000);
    const float heap = 1e6f * (float)test_rng_below(rng, 4) + (float)test_rng_below(rng, 3);
    const float power = (float)(UINT64_C(1) << test_rng_below(rng, 62));
    const float values[] = {even, heap, power, 12345.0f};
    return ph_key_of(values[spread]);
}

static void ends_with_few_around_the_rank(void** state)
{
    (void)state;
    test_rng rng = {.state = 31};
    for (int round = 0; round < 4000; ++round) {
        int32_t key[KEYS_MAX];
        const int count = 1 + (int)test_rng_below(&rng, KEYS_MAX);
        for (int i = 0; i < count; ++i) {
            key[i] = random_key(&rng, round % 4);
        }
        const int32_t high = ph_key_of(0x1p63f);
        const int wanted = 1 + (int)test_rng_below(&rng, (uint64_t)count);
        ph_cut cut = {.low = -1, .high = high, .high_count = count};
        ph_cut_find(key, count, wanted, &cut);
        assert_true(cut.low_count < wanted && wanted <= cut.high_count);
        assert_int_equal(ph_key_count(key, count, cut.low), cut.low_count);
        assert_int_equal(ph_key_count(key, count, cut.high), cut.high_count);
        assert_true(cut.high_count - cut.low_count <= FEW || cut.high - cut.low == 1);
    }
}

static void keys_are_in_the_order_of_their_floats(void** state)
{
    (void)state;
    test_rng rng = {.state = 32};
    for (int round = 0; round < 10000; ++round) {
        const float a = (float)test_rng_below(&rng, UINT64_C(1) << test_rng_below(&rng, 63));
        const float b = (float)test_rng_below(&rng, UINT64_C(1) << test_rng_below(&rng, 63));
        assert_int_equal(ph_key_of(a) < ph_key_of(b), a < b);
        assert_true(ph_key_float(ph_key_of(a)) == a);
        assert_true(ph_key_surely_below(a) <= ph_key_of(a));
        assert_true(ph_key_maybe_below(a) >= ph_key_of(a));
        assert_true(ph_key_of(a) < PH_KEY_HIDDEN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_with_few_around_the_rank),
        cmocka_unit_test(keys_are_in_the_order_of_their_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
