// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Models of the range coder: tables from counts, costs, learning.

#include "support/test_support.h"

#include <pinhole/entropy.h>

#include <math.h>
#include <stdlib.h>

static uint32_t parts_of(const uint16_t* cumulative, int symbol)
{
    return (uint32_t)(cumulative[symbol + 1] - cumulative[symbol]);
}

static void built_table_follows_the_counts(void** state)
{
    (void)state;
    const uint32_t seen[4] = {1000, 500, 250, 250};
    uint16_t cumulative[5];
    assert_int_equal(ph_model_build(seen, 4, cumulative), PH_OK);
    const ph_model model = {.cumulative = cumulative, .count = 4};
    assert_true(ph_model_is_valid(&model));
    assert_in_range(parts_of(cumulative, 0), PH_MODEL_TOTAL / 2 - 3, PH_MODEL_TOTAL / 2 + 3);
    assert_in_range(parts_of(cumulative, 1), PH_MODEL_TOTAL / 4 - 3, PH_MODEL_TOTAL / 4 + 3);
    assert_in_range(parts_of(cumulative, 3), PH_MODEL_TOTAL / 8 - 3, PH_MODEL_TOTAL / 8 + 3);
}

// Counts of every kind, also none at all and the largest there are, give usable tables.
static void every_built_table_is_valid(void** state)
{
    (void)state;
    test_rng rng = {.state = 404};
    for (int round = 0; round < 500; ++round) {
        const int count = 1 + (int)test_rng_below(&rng, PH_MODEL_SYMBOLS_MAX);
        uint32_t seen[PH_MODEL_SYMBOLS_MAX];
        const int shift = (int)test_rng_below(&rng, 33);
        for (int i = 0; i < count; ++i) {
            const bool is_seen = test_rng_below(&rng, 3) != 0;
            seen[i] = is_seen ? (uint32_t)((test_rng_next(&rng) & UINT32_MAX) >> shift) : 0;
            seen[i] = round % 10 == 0 ? UINT32_MAX : seen[i];
        }
        uint16_t cumulative[PH_MODEL_SYMBOLS_MAX + 1];
        assert_int_equal(ph_model_build(seen, count, cumulative), PH_OK);
        const ph_model model = {.cumulative = cumulative, .count = (uint16_t)count};
        assert_true(ph_model_is_valid(&model));
    }
    uint16_t cumulative[2];
    const uint32_t one = 1;
    assert_int_equal(ph_model_build(&one, 0, cumulative), PH_ERROR_WIDTH);
    assert_int_equal(ph_model_build(&one, PH_MODEL_SYMBOLS_MAX + 1, cumulative), PH_ERROR_WIDTH);
}

static void broken_tables_are_found(void** state)
{
    (void)state;
    const uint16_t good[4] = {0, 5, 6, PH_MODEL_TOTAL};
    const uint16_t impossible_symbol[4] = {0, 5, 5, PH_MODEL_TOTAL};
    const uint16_t short_total[4] = {0, 5, 6, PH_MODEL_TOTAL - 1};
    const uint16_t not_from_zero[4] = {1, 5, 6, PH_MODEL_TOTAL};
    const uint16_t descending[4] = {0, 6, 5, PH_MODEL_TOTAL};
    assert_true(ph_model_is_valid(&(ph_model){.cumulative = good, .count = 3}));
    assert_false(ph_model_is_valid(&(ph_model){.cumulative = impossible_symbol, .count = 3}));
    assert_false(ph_model_is_valid(&(ph_model){.cumulative = short_total, .count = 3}));
    assert_false(ph_model_is_valid(&(ph_model){.cumulative = not_from_zero, .count = 3}));
    assert_false(ph_model_is_valid(&(ph_model){.cumulative = descending, .count = 3}));
    assert_false(ph_model_is_valid(&(ph_model){.cumulative = good, .count = 0}));
    assert_false(ph_model_is_valid(&(ph_model){.cumulative = NULL, .count = 3}));
    assert_false(
        ph_model_is_valid(&(ph_model){.cumulative = good, .count = PH_MODEL_SYMBOLS_MAX + 1}));
}

static void costs_are_logarithms_to_a_256th_of_a_bit(void** state)
{
    (void)state;
    for (uint32_t count = 1; count < 100000; count = count * 9 / 8 + 1) {
        const double expected = 256.0 * log2((double)count);
        assert_true(fabs((double)ph_uniform_cost(count) - expected) <= 0.51);
    }
    assert_int_equal(ph_uniform_cost(1), 0);
    assert_int_equal(ph_uniform_cost(2), 256);
    assert_int_equal(ph_uniform_cost(UINT32_C(1) << 31), 31 * 256);
    assert_int_equal(ph_uniform_cost(UINT32_MAX), 32 * 256);
    for (uint16_t parts = 1; parts < PH_MODEL_TOTAL; parts = (uint16_t)(parts + 37)) {
        const uint16_t cumulative[3] = {0, parts, PH_MODEL_TOTAL};
        const ph_model model = {.cumulative = cumulative, .count = 2};
        const double expected = 256.0 * (15.0 - log2((double)parts));
        assert_true(fabs((double)ph_model_cost(&model, 0) - expected) <= 0.51);
    }
}

// However it is taught, no symbol ever becomes impossible.
static void learning_never_makes_a_symbol_impossible(void** state)
{
    (void)state;
    test_rng rng = {.state = 17};
    for (int count = 1; count <= PH_ADAPTIVE_SYMBOLS_MAX; ++count) {
        ph_adaptive adaptive;
        ph_adaptive_init(&adaptive, count);
        for (int i = 0; i < 1500; ++i) {
            const ph_model model = ph_adaptive_model(&adaptive);
            assert_true(ph_model_is_valid(&model));
            const uint64_t choice = test_rng_next(&rng);
            const int symbol = i < 700 ? count - 1 : i < 1400 ? 0 : (int)(choice % (uint64_t)count);
            ph_adaptive_learn(&adaptive, symbol);
        }
    }
}

static void learning_approaches_what_is_seen(void** state)
{
    (void)state;
    test_rng rng = {.state = 23};
    ph_adaptive adaptive;
    ph_adaptive_init(&adaptive, 4);
    double mean_parts[4] = {0};
    for (int i = 0; i < 20000; ++i) {
        const uint64_t dice = test_rng_below(&rng, 100);
        ph_adaptive_learn(&adaptive, dice < 70 ? 0 : dice < 90 ? 1 : dice < 97 ? 2 : 3);
        for (int s = 0; s < 4; ++s) {
            mean_parts[s] += parts_of(adaptive.cumulative, s) / 20000.0;
        }
    }
    const double expected[4] = {0.70, 0.20, 0.07, 0.03};
    for (int s = 0; s < 4; ++s) {
        assert_true(fabs(mean_parts[s] / PH_MODEL_TOTAL - expected[s]) < 0.01);
    }
}

// Both ends make the same tables, today and in every later version: they are part of the wire.
static void golden_tables(void** state)
{
    (void)state;
    ph_adaptive adaptive;
    ph_adaptive_init(&adaptive, 7);
    const uint16_t even[] = {0, 4681, 9362, 14043, 18724, 23405, 28086, 32768};
    assert_memory_equal(adaptive.cumulative, even, sizeof even);
    ph_adaptive_init(&adaptive, 5);
    for (int i = 0; i < 10; ++i) {
        ph_adaptive_learn(&adaptive, i % 3);
    }
    const uint16_t young[] = {0, 11631, 19999, 29315, 31040, 32768};
    assert_memory_equal(adaptive.cumulative, young, sizeof young);
    for (int i = 0; i < 300; ++i) {
        ph_adaptive_learn(&adaptive, i % 7 == 0 ? 4 : i % 2);
    }
    const uint16_t old[] = {0, 13852, 28069, 28121, 28128, 32768};
    assert_memory_equal(adaptive.cumulative, old, sizeof old);

    const uint32_t seen[] = {1000, 0, 37, 5, 1, 12345};
    uint16_t built[7];
    assert_int_equal(ph_model_build(seen, 6, built), PH_OK);
    const uint16_t expected[] = {0, 2448, 2449, 2541, 2554, 2557, 32768};
    assert_memory_equal(built, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_table_follows_the_counts),
        cmocka_unit_test(every_built_table_is_valid),
        cmocka_unit_test(broken_tables_are_found),
        cmocka_unit_test(costs_are_logarithms_to_a_256th_of_a_bit),
        cmocka_unit_test(learning_never_makes_a_symbol_impossible),
        cmocka_unit_test(learning_approaches_what_is_seen),
        cmocka_unit_test(golden_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
