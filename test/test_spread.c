// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Mean and percentiles of many values, next to sorting them all.

#include "kit/spread.h"

#include "support/test_memory.h"
#include "support/test_support.h"

#include <math.h>
#include <stdlib.h>

static ph_spread make_spread(void)
{
    ph_spread spread;
    assert_int_equal(ph_spread_create(&spread, NULL), PH_OK);
    return spread;
}

static int compare(const void* a, const void* b)
{
    const double left = *(const double*)a;
    const double right = *(const double*)b;
    return (left > right) - (left < right);
}

static void without_values_all_is_zero(void** state)
{
    (void)state;
    ph_spread spread = make_spread();
    const ph_spread_summary summary = ph_spread_summarise(&spread);
    assert_true(summary.mean == 0.0 && summary.p50 == 0.0);
    assert_true(summary.p95 == 0.0 && summary.p99 == 0.0);
    ph_spread_destroy(&spread);
}

static void equal_values_are_told_exactly(void** state)
{
    (void)state;
    ph_spread spread = make_spread();
    ph_spread_add_many(&spread, 12.3, 3);
    const ph_spread_summary summary = ph_spread_summarise(&spread);
    assert_true(fabs(summary.mean - 12.3) < 1e-12);
    assert_true(summary.p50 == 12.3 && summary.p99 == 12.3);
    ph_spread_destroy(&spread);
}

// Of 1, 2 ... 100 the 50th is 50; with a 101st value the ceil(50.5) = 51st is 51.
static void a_percentile_is_the_rank_rounded_up(void** state)
{
    (void)state;
    ph_spread spread = make_spread();
    for (int i = 1; i <= 100; ++i) {
        ph_spread_add(&spread, i);
    }
    assert_true(fabs(ph_spread_percentile(&spread, 50) - 50.0) <= 0.05);
    assert_true(fabs(ph_spread_percentile(&spread, 99) - 99.0) <= 0.099);
    assert_true(ph_spread_percentile(&spread, 100) == 100.0);
    ph_spread_add(&spread, 101);
    assert_true(fabs(ph_spread_percentile(&spread, 50) - 51.0) <= 0.051);
    ph_spread_destroy(&spread);
}

enum { VALUE_COUNT = 20000 };

// Over ten powers of ten.
static double draw_value(test_rng* rng)
{
    return pow(10.0, test_rng_unit(rng) * 10.0 - 2.0);
}

static void percentiles_are_good_to_a_thousandth(void** state)
{
    (void)state;
    test_rng rng = {.state = 51};
    ph_spread spread = make_spread();
    double* values = malloc(VALUE_COUNT * sizeof *values);
    for (int i = 0; i < VALUE_COUNT; ++i) {
        values[i] = draw_value(&rng);
        ph_spread_add(&spread, values[i]);
    }
    qsort(values, VALUE_COUNT, sizeof *values, compare);
    for (int percent = 1; percent <= 100; ++percent) {
        const double exact = values[VALUE_COUNT / 100 * percent - 1];
        assert_true(fabs(ph_spread_percentile(&spread, percent) - exact) <= exact * 0.001);
    }
    free(values);
    ph_spread_destroy(&spread);
}

static void what_is_hardly_anything_counts_as_zero_in_percentiles_only(void** state)
{
    (void)state;
    ph_spread spread = make_spread();
    ph_spread_add(&spread, 0.0);
    ph_spread_add(&spread, 0.0009);
    ph_spread_add(&spread, 4.0);
    const ph_spread_summary summary = ph_spread_summarise(&spread);
    assert_true(summary.p50 == 0.0);
    assert_true(fabs(summary.mean - 4.0009 / 3.0) < 1e-12);
    ph_spread_destroy(&spread);
}

// 2^53 has no room for a fraction: a plain sum would lose every one of the small values.
static void the_mean_forgets_nothing(void** state)
{
    (void)state;
    ph_spread spread = make_spread();
    ph_spread_add(&spread, 0x1p53);
    for (int i = 0; i < 1023; ++i) {
        ph_spread_add(&spread, 0.5);
    }
    assert_true(ph_spread_summarise(&spread).mean == (0x1p53 + 511.5) / 1024.0);
    ph_spread merged = make_spread();
    ph_spread_merge(&merged, &spread);
    assert_true(ph_spread_summarise(&merged).mean == (0x1p53 + 511.5) / 1024.0);
    ph_spread_destroy(&merged);
    ph_spread_destroy(&spread);
}

// 2^40 is in the last bucket, [2^32 (1 - 1/1024) .. 2^32), with everything beyond.
static void what_is_beyond_all_buckets_is_in_the_last(void** state)
{
    (void)state;
    ph_spread spread = make_spread();
    ph_spread_add(&spread, 1.0);
    ph_spread_add(&spread, 0x1p32);
    ph_spread_add(&spread, 0x1p40);
    const double last = ph_spread_percentile(&spread, 100);
    assert_true(last < 0x1p32 && last > 0x1p32 * 0.999);
    assert_true(ph_spread_percentile(&spread, 50) == last);
    ph_spread_destroy(&spread);
}

// However the values were dealt out: the same counts, and the same mean but for the last bits.
static void merged_parts_equal_the_whole(void** state)
{
    (void)state;
    test_rng rng = {.state = 52};
    ph_spread whole = make_spread();
    ph_spread parts[3] = {make_spread(), make_spread(), make_spread()};
    for (int i = 0; i < VALUE_COUNT; ++i) {
        const double value = draw_value(&rng);
        ph_spread_add(&whole, value);
        ph_spread_add(&parts[test_rng_below(&rng, 3)], value);
    }
    ph_spread merged = make_spread();
    for (int i = 0; i < 3; ++i) {
        ph_spread_merge(&merged, &parts[i]);
        ph_spread_destroy(&parts[i]);
    }
    const double mean = ph_spread_summarise(&whole).mean;
    assert_true(fabs(ph_spread_summarise(&merged).mean - mean) <= mean * 1e-15);
    assert_true(merged.count == whole.count);
    for (int percent = 1; percent <= 100; ++percent) {
        assert_true(ph_spread_percentile(&merged, percent) ==
                    ph_spread_percentile(&whole, percent));
    }
    ph_spread_destroy(&merged);
    ph_spread_destroy(&whole);
}

static void merging_an_empty_spread_changes_nothing(void** state)
{
    (void)state;
    ph_spread spread = make_spread();
    const ph_spread nothing = {0};
    ph_spread_add(&spread, 7.0);
    ph_spread_merge(&spread, &nothing);
    assert_true(spread.count == 1 && spread.least == 7.0 && spread.greatest == 7.0);
    ph_spread_destroy(&spread);
}

static void without_memory_there_is_no_spread(void** state)
{
    (void)state;
    test_memory memory = {.fail_at = 1};
    const ph_allocator allocator = test_memory_allocator(&memory);
    ph_spread spread;
    assert_int_equal(ph_spread_create(&spread, &allocator), PH_ERROR_MEMORY);
    ph_spread_destroy(&spread);
    assert_int_equal(ph_spread_create(&spread, &allocator), PH_OK);
    ph_spread_destroy(&spread);
    test_memory_assert_clean(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_values_all_is_zero),
        cmocka_unit_test(equal_values_are_told_exactly),
        cmocka_unit_test(a_percentile_is_the_rank_rounded_up),
        cmocka_unit_test(percentiles_are_good_to_a_thousandth),
        cmocka_unit_test(what_is_hardly_anything_counts_as_zero_in_percentiles_only),
        cmocka_unit_test(the_mean_forgets_nothing),
        cmocka_unit_test(what_is_beyond_all_buckets_is_in_the_last),
        cmocka_unit_test(merged_parts_equal_the_whole),
        cmocka_unit_test(merging_an_empty_spread_changes_nothing),
        cmocka_unit_test(without_memory_there_is_no_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
