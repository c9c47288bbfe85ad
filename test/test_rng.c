// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The generator: the published numbers, no bias that a test can see, streams that do not meet.

#include "support/test_support.h"

#include "base/rng.h"

// The reference output of xoshiro256++ for the state 1, 2, 3, 4.
static void the_numbers_are_those_of_xoshiro256pp(void** state)
{
    (void)state;
    const uint64_t expected[] = {
        UINT64_C(41943041),
        UINT64_C(58720359),
        UINT64_C(3588806011781223),
        UINT64_C(3591011842654386),
        UINT64_C(9228616714210784205),
        UINT64_C(9973669472204895162),
        UINT64_C(14011001112246962877),
        UINT64_C(12406186145184390807),
        UINT64_C(15849039046786891736),
        UINT64_C(10450023813501588000),
    };
    ph_rng rng = {{1, 2, 3, 4}};
    for (int i = 0; i < 10; ++i) {
        assert_true(ph_rng_next(&rng) == expected[i]);
    }
}

// The reference output of splitmix64 for the seed 1234567.
static void the_seed_is_spread_by_splitmix64(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(1234567);
    assert_true(rng.state[0] == UINT64_C(6457827717110365317));
    assert_true(rng.state[1] == UINT64_C(3203168211198807973));
    assert_true(rng.state[2] == UINT64_C(9817491932198370423));
    assert_true(rng.state[3] == UINT64_C(4593380528125082431));
}

static void every_seed_gives_a_stream(void** state)
{
    (void)state;
    const uint64_t seeds[] = {0, 1, UINT64_MAX, UINT64_C(0) - UINT64_C(0x9E3779B97F4A7C15)};
    for (int i = 0; i < 4; ++i) {
        ph_rng rng = ph_rng_make(seeds[i]);
        assert_true(ph_rng_validate(&rng));
        assert_true(ph_rng_next(&rng) != ph_rng_next(&rng));
    }
    assert_false(ph_rng_validate(&(ph_rng){{0}}));
}

static void below_stays_below(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(21);
    for (unsigned shift = 0; shift < 64; ++shift) {
        for (int i = 0; i < 300; ++i) {
            uint64_t limit = (ph_rng_next(&rng) >> shift) + (shift > 0);
            if (limit > 0) {
                assert_true(ph_rng_below(&rng, limit) < limit);
            }
        }
    }
    assert_true(ph_rng_below(&rng, 1) == 0);
    assert_true(ph_rng_below(&rng, UINT64_MAX) < UINT64_MAX);
}

// Three quarters of 2^64: a modulo of 64 bits would give the lower third twice as often.
static void below_has_no_bias(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(22);
    const uint64_t third = UINT64_C(1) << 62;
    int counts[3] = {0};
    for (int i = 0; i < 30000; ++i) {
        ++counts[ph_rng_below(&rng, 3 * third) / third];
    }
    for (int i = 0; i < 3; ++i) {
        assert_in_range(counts[i], 9600, 10400); // one standard deviation is 82
    }
}

static void below_fills_every_bit(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(30);
    for (unsigned shift = 1; shift < 64; ++shift) {
        uint64_t seen = 0;
        for (int i = 0; i < 100; ++i) {
            seen |= ph_rng_below(&rng, (UINT64_C(1) << shift) + 1);
        }
        uint64_t lower = (UINT64_C(1) << shift) - 1;
        assert_true((seen & lower) == lower);
    }
}

static void small_numbers_are_equally_likely(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(23);
    for (uint64_t limit = 2; limit <= 20; ++limit) {
        int counts[20] = {0};
        for (uint64_t i = 0; i < limit * 2000; ++i) {
            ++counts[ph_rng_below(&rng, limit)];
        }
        for (uint64_t i = 0; i < limit; ++i) {
            assert_in_range(counts[i], 1740, 2260); // one standard deviation is at most 45
        }
    }
}

static void a_range_includes_both_ends(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(24);
    int counts[7] = {0};
    for (int i = 0; i < 7000; ++i) {
        int64_t number = ph_rng_range(&rng, -3, 3);
        assert_true(number >= -3 && number <= 3);
        ++counts[number + 3];
    }
    for (int i = 0; i < 7; ++i) {
        assert_in_range(counts[i], 820, 1180);
    }
    assert_true(ph_rng_range(&rng, 5, 5) == 5);
    assert_true(ph_rng_range(&rng, INT64_MIN, INT64_MIN) == INT64_MIN);
    int below_zero = 0;
    for (int i = 0; i < 1000; ++i) {
        below_zero += ph_rng_range(&rng, INT64_MIN, INT64_MAX) < 0;
        assert_true(ph_rng_range(&rng, INT64_MIN, INT64_MAX - 1) < INT64_MAX);
    }
    assert_in_range(below_zero, 400, 600);
}

static void fractions_lie_between_zero_and_one(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(25);
    double sum_float = 0.0;
    double sum_double = 0.0;
    for (int i = 0; i < 100000; ++i) {
        float small = ph_rng_float(&rng);
        double large = ph_rng_double(&rng);
        assert_true(small >= 0.0f && small < 1.0f);
        assert_true(large >= 0.0 && large < 1.0);
        sum_float += (double)small;
        sum_double += large;
    }
    assert_true(sum_float > 49500.0 && sum_float < 50500.0);
    assert_true(sum_double > 49500.0 && sum_double < 50500.0);
}

// The largest state sum there is: rounding it up to 1 would be the classic fault.
static void the_largest_fraction_is_below_one(void** state)
{
    (void)state;
    // s0 = 2^64 - 1 and s3 = 1 give rotate(0) + s0: all bits set.
    const ph_rng all_ones = {{UINT64_MAX, 0, 0, 1}};
    ph_rng rng = all_ones;
    assert_true(ph_rng_next(&rng) == UINT64_MAX);
    rng = all_ones;
    assert_true(ph_rng_float(&rng) == 1.0f - 0x1p-24f);
    rng = all_ones;
    assert_true(ph_rng_double(&rng) == 1.0 - 0x1p-53);
}

static void chance_follows_its_probability(void** state)
{
    (void)state;
    ph_rng rng = ph_rng_make(26);
    int hits = 0;
    for (int i = 0; i < 100000; ++i) {
        assert_false(ph_rng_chance(&rng, 0.0));
        assert_true(ph_rng_chance(&rng, 1.0));
        hits += ph_rng_chance(&rng, 0.05);
    }
    assert_in_range(hits, 4600, 5400); // one standard deviation is 69
}

static void chance_takes_one_number_whatever_its_probability(void** state)
{
    (void)state;
    ph_rng one = ph_rng_make(27);
    ph_rng two = one;
    ph_rng_chance(&one, 0.0);
    ph_rng_chance(&one, 1.0);
    ph_rng_next(&two);
    ph_rng_next(&two);
    assert_memory_equal(&one, &two, sizeof(one));
}

static void streams_split_by_key_are_unrelated(void** state)
{
    (void)state;
    const ph_rng parent = ph_rng_make(28);
    ph_rng again = ph_rng_split(&parent, 7);
    ph_rng child = ph_rng_split(&parent, 7);
    assert_memory_equal(&again, &child, sizeof(child));
    // Bits that neighbouring streams, and the parent, have in common: half, as by chance.
    ph_rng self = parent;
    int common = 0;
    for (uint64_t key = 0; key < 1000; ++key) {
        ph_rng left = ph_rng_split(&parent, key);
        ph_rng right = ph_rng_split(&parent, key + 1);
        uint64_t left_bits = ph_rng_next(&left);
        common += __builtin_popcountll(~(left_bits ^ ph_rng_next(&right)));
        common += __builtin_popcountll(~(left_bits ^ ph_rng_next(&self)));
    }
    assert_in_range(common, 63000, 65000); // of 128,000; one standard deviation is 179
}

static void splitting_depends_on_where_the_parent_is(void** state)
{
    (void)state;
    ph_rng parent = ph_rng_make(29);
    ph_rng early = ph_rng_split(&parent, 1);
    ph_rng_next(&parent);
    ph_rng late = ph_rng_split(&parent, 1);
    assert_memory_not_equal(&early, &late, sizeof(early));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_are_those_of_xoshiro256pp),
        cmocka_unit_test(the_seed_is_spread_by_splitmix64),
        cmocka_unit_test(every_seed_gives_a_stream),
        cmocka_unit_test(below_stays_below),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(below_fills_every_bit),
        cmocka_unit_test(small_numbers_are_equally_likely),
        cmocka_unit_test(a_range_includes_both_ends),
        cmocka_unit_test(fractions_lie_between_zero_and_one),
        cmocka_unit_test(the_largest_fraction_is_below_one),
        cmocka_unit_test(chance_follows_its_probability),
        cmocka_unit_test(chance_takes_one_number_whatever_its_probability),
        cmocka_unit_test(streams_split_by_key_are_unrelated),
        cmocka_unit_test(splitting_depends_on_where_the_parent_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
