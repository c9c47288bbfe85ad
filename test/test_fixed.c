// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fixed point and vectors of it: what a declaration promises, what goes on the wire, what is
// refused.

#include "pinhole/fixed.h"

#include "support/test_support.h"

#include <math.h>

// Declares a ladder that must be accepted.
static ph_fixed make(double lo, double hi, double step)
{
    ph_fixed coding;
    assert_int_equal(ph_fixed_make(lo, hi, step, &coding), PH_OK);
    return coding;
}

static ph_fixed make_with_default(double lo, double hi, double step, double default_value)
{
    ph_fixed coding = make(lo, hi, step);
    assert_int_equal(ph_fixed_set_default(&coding, default_value), PH_OK);
    return coding;
}

static uint32_t encode(const ph_fixed* coding, double value)
{
    uint32_t level = UINT32_MAX;
    assert_int_equal(ph_fixed_encode(coding, value, &level), PH_OK);
    assert_true(level <= coding->top_level);
    return level;
}

static ph_result refusal(double lo, double hi, double step)
{
    ph_fixed coding = {.width = -1};
    const ph_result result = ph_fixed_make(lo, hi, step, &coding);
    if (result != PH_OK) {
        assert_int_equal(coding.width, -1);
    }
    return result;
}

// The karts' world of the lecture: a kilometre square, 20 m high, in tenths of a metre.
static ph_vec3_coding road(void)
{
    return (ph_vec3_coding){make(0, 1000, 0.1), make(0, 1000, 0.1),
                            make_with_default(0, 20, 0.1, 0)};
}

// Writes a value, checks its exact cost, reads it back.
static ph_vec3 send(const ph_vec3_coding* coding, ph_vec3 value, int expected_bits)
{
    uint8_t bytes[16];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_vec3_write(coding, &writer, value);
    assert_int_equal(ph_bit_writer_size_bits(&writer), expected_bits);
    assert_int_equal(ph_vec3_cost_bits(coding, value), expected_bits);
    ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
    const ph_vec3 read = ph_vec3_read(coding, &reader);
    assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    return read;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.17g is more than %g from %.17g", value, tolerance, expected);
    }
}

// A spread of ladders: one sign, both signs, off zero, tiny, huge, float steps, one step, 2^32
// levels.
typedef struct ladder {
    double lo, hi, step;
} ladder;

static const ladder ladders[] = {
    {0, 1000, 0.1},       {0, 20, 0.1},           {-20, 20, 0.1},
    {-1000, 0, 0.25},     {5, 6, 0.001},          {-7, -3, 0.5},
    {0, 1000, 0.1f},      {-0.3, 0.6, 0.1},       {0, 1, 1},
    {-1e-9, 1e-9, 1e-12}, {1e12, 1e12 + 10, 1},   {-2147483648.0, 2147483647.0, 1},
    {0, 4294967295.0, 1}, {-1e300, 1e300, 1e297}, {-1.5, 1.5, 3.0 / 4294967294.0},
};
#define LADDER_COUNT ((int)(sizeof ladders / sizeof ladders[0]))

static void kilometre_in_decimetres_is_14_bits_and_20_m_are_8(void** state)
{
    (void)state;
    const ph_fixed kilometre = make(0, 1000, 0.1);
    assert_int_equal(kilometre.width, 14);
    assert_int_equal(kilometre.top_level, 10000);
    const ph_fixed height = make(0, 20, 0.1);
    assert_int_equal(height.width, 8);
    assert_int_equal(height.top_level, 200);
}

static void ends_and_zero_come_back_exactly(void** state)
{
    (void)state;
    for (int i = 0; i < LADDER_COUNT; ++i) {
        const ph_fixed coding = make(ladders[i].lo, ladders[i].hi, ladders[i].step);
        assert_true(ph_fixed_decode(&coding, encode(&coding, coding.lo)) == ladders[i].lo);
        assert_true(ph_fixed_decode(&coding, encode(&coding, coding.hi)) == ladders[i].hi);
        assert_int_equal(coding.has_zero, ladders[i].lo <= 0 && ladders[i].hi >= 0);
        if (coding.has_zero) {
            const double zero = ph_fixed_decode(&coding, encode(&coding, 0.0));
            assert_true(zero == 0.0 && !signbit(zero));
        }
    }
}

static void negative_zero_as_an_end_reads_as_zero(void** state)
{
    (void)state;
    const ph_fixed upward = make(-0.0, 1, 0.5);
    assert_false(signbit(ph_fixed_decode(&upward, 0)));
    const ph_fixed downward = make(-1, -0.0, 0.5);
    assert_false(signbit(ph_fixed_decode(&downward, 2)));
}

static void rounds_to_nearest_and_never_truncates(void** state)
{
    (void)state;
    const ph_fixed coding = make(0, 1000, 0.1);
    assert_int_equal(encode(&coding, 0.04), 0);
    assert_int_equal(encode(&coding, 0.06), 1);
    assert_int_equal(encode(&coding, 12.39), 124);
    assert_int_equal(encode(&coding, 12.31), 123);
    const ph_fixed both_signs = make(-20, 20, 0.1);
    assert_int_equal(encode(&both_signs, -0.06), 199);
    assert_int_equal(encode(&both_signs, -0.04), 200);
}

static void clamps_at_both_ends(void** state)
{
    (void)state;
    const ph_fixed coding = make(-20, 20, 0.1);
    assert_int_equal(encode(&coding, -20.01), 0);
    assert_int_equal(encode(&coding, -25), 0);
    assert_int_equal(encode(&coding, -1e308), 0);
    assert_int_equal(encode(&coding, -INFINITY), 0);
    assert_int_equal(encode(&coding, 20.01), 400);
    assert_int_equal(encode(&coding, 25), 400);
    assert_int_equal(encode(&coding, 1e308), 400);
    assert_int_equal(encode(&coding, INFINITY), 400);
}

static void error_is_at_most_half_a_step(void** state)
{
    (void)state;
    test_rng rng = {.state = 1001};
    for (int i = 0; i < LADDER_COUNT; ++i) {
        const ph_fixed coding = make(ladders[i].lo, ladders[i].hi, ladders[i].step);
        for (int round = 0; round < 2000; ++round) {
            const double value = coding.lo + test_rng_unit(&rng) * (coding.hi - coding.lo);
            const double back = ph_fixed_decode(&coding, encode(&coding, value));
            assert_near(back, value, 0.501 * coding.step);
        }
    }
}

static void decoding_ascends_and_encodes_to_the_same_level(void** state)
{
    (void)state;
    test_rng rng = {.state = 1002};
    for (int i = 0; i < LADDER_COUNT; ++i) {
        const ph_fixed coding = make(ladders[i].lo, ladders[i].hi, ladders[i].step);
        for (int round = 0; round < 2000; ++round) {
            // The first rounds look at both ends and around zero, the others anywhere.
            const uint32_t starts[3] = {0, coding.zero_level - 5, coding.top_level - 10};
            uint32_t level = (uint32_t)test_rng_below(&rng, (uint64_t)coding.top_level + 1);
            level = round < 33 ? starts[round / 11] + (uint32_t)(round % 11) : level;
            if (level > coding.top_level) {
                continue;
            }
            const double value = ph_fixed_decode(&coding, level);
            assert_int_equal(encode(&coding, value), level);
            if (level > 0) {
                assert_true(ph_fixed_decode(&coding, level - 1) < value);
            }
        }
    }
}

static void range_that_is_none_is_refused(void** state)
{
    (void)state;
    assert_int_equal(refusal(1, 1, 0.1), PH_ERROR_RANGE);
    assert_int_equal(refusal(2, 1, 0.1), PH_ERROR_RANGE);
    assert_int_equal(refusal(-INFINITY, 1, 0.1), PH_ERROR_RANGE);
    assert_int_equal(refusal(0, INFINITY, 0.1), PH_ERROR_RANGE);
    assert_int_equal(refusal(NAN, 1, 0.1), PH_ERROR_RANGE);
    assert_int_equal(refusal(0, NAN, 0.1), PH_ERROR_RANGE);
    // Both ends are finite, the way between them is not.
    assert_int_equal(refusal(-1.7e308, 1.7e308, 1e305), PH_ERROR_RANGE);
}

static void step_that_does_not_divide_the_range_is_refused(void** state)
{
    (void)state;
    assert_int_equal(refusal(0, 1, 0), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 1, -0.1), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 1, NAN), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 1, INFINITY), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 1, 0.3), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 1, 3), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 1, 2000), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 1, 0.6), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 100.0009, 1), PH_OK);
    assert_int_equal(refusal(0, 100.0011, 1), PH_ERROR_STEP);
}

static void range_holds_and_the_step_gives_way(void** state)
{
    (void)state;
    const ph_fixed coding = make(0, 100.0009, 1);
    assert_int_equal(coding.top_level, 100);
    assert_near(coding.step, 1.000009, 1e-12);
    assert_near(ph_fixed_decode(&coding, 50), 50.00045, 1e-12);
}

static void step_finer_than_a_double_is_refused(void** state)
{
    (void)state;
    assert_int_equal(refusal(1e15, 1e15 + 4, 0.125), PH_ERROR_STEP);
    assert_int_equal(refusal(-1e15 - 4, -1e15, 0.125), PH_ERROR_STEP);
    assert_int_equal(refusal(0, 0x1p-1040, 0x1p-1060), PH_ERROR_STEP);
}

static void zero_between_two_steps_is_refused(void** state)
{
    (void)state;
    assert_int_equal(refusal(-0.5, 9.5, 1), PH_ERROR_ZERO);
    assert_int_equal(refusal(-0.95, 0.05, 0.1), PH_ERROR_ZERO);
    assert_int_equal(refusal(0.5, 9.5, 1), PH_OK);
    // So near to an end that one level would have to be both.
    assert_int_equal(refusal(-0.0005, 9.9995, 1), PH_ERROR_ZERO);
    assert_int_equal(refusal(-9.9995, 0.0005, 1), PH_ERROR_ZERO);
}

static void more_than_2_to_the_32_levels_are_refused(void** state)
{
    (void)state;
    assert_int_equal(refusal(0, 4294967295.0, 1), PH_OK);
    assert_int_equal(refusal(0, 4294967296.0, 1), PH_ERROR_WIDTH);
    assert_int_equal(refusal(0, 1e308, 1e-300), PH_ERROR_WIDTH);
    assert_int_equal(make(0, 4294967295.0, 1).width, 32);
}

static void nan_is_refused_with_a_clear_result(void** state)
{
    (void)state;
    const ph_fixed coding = make(0, 20, 0.1);
    uint32_t level = 77;
    assert_int_equal(ph_fixed_encode(&coding, NAN, &level), PH_ERROR_NOT_A_NUMBER);
    assert_int_equal(level, 77);

    uint8_t bytes[8];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_fixed_write(&coding, &writer, NAN);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_NOT_A_NUMBER);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 0);

    const ph_vec3_coding vector = {coding, coding, coding};
    assert_int_equal(ph_vec3_cost_bits(&vector, (ph_vec3){1, NAN, 1}), 0);
}

static void default_must_lie_in_the_range(void** state)
{
    (void)state;
    ph_fixed coding = make(-20, 20, 0.1);
    assert_int_equal(ph_fixed_set_default(&coding, NAN), PH_ERROR_NOT_A_NUMBER);
    assert_int_equal(ph_fixed_set_default(&coding, 20.1), PH_ERROR_VALUE);
    assert_int_equal(ph_fixed_set_default(&coding, -INFINITY), PH_ERROR_VALUE);
    assert_false(coding.has_default);
    assert_int_equal(ph_fixed_set_default(&coding, -20), PH_OK);
    assert_true(coding.has_default);
    assert_int_equal(coding.default_level, 0);
}

static void every_level_costs_what_cost_says_and_reads_back(void** state)
{
    (void)state;
    const ph_fixed codings[] = {make(0, 20, 0.1), make_with_default(0, 20, 0.1, 7),
                                make_with_default(-1, 1, 1, -1),
                                make_with_default(0, 4294967295.0, 1, 4294967295.0)};
    for (int i = 0; i < 4; ++i) {
        const ph_fixed* coding = &codings[i];
        const uint32_t checked = coding->top_level < 1000 ? coding->top_level : 1000;
        for (uint32_t k = 0; k <= checked; ++k) {
            // From the top down, so that the widest ladder shows its highest levels.
            const uint32_t level = coding->top_level - k;
            uint8_t bytes[8];
            ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
            ph_fixed_write_level(coding, &writer, level);
            assert_int_equal(ph_bit_writer_size_bits(&writer), ph_fixed_cost_bits(coding, level));
            ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
            assert_int_equal(ph_fixed_read_level(coding, &reader), level);
            assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
        }
    }
}

static void default_costs_one_bit_and_others_one_more(void** state)
{
    (void)state;
    const ph_fixed coding = make_with_default(0, 20, 0.1, 0);
    assert_int_equal(ph_fixed_cost_bits(&coding, 0), 1);
    assert_int_equal(ph_fixed_cost_bits(&coding, 1), 9);
}

static void flag_is_the_first_bit_and_1_means_default(void** state)
{
    (void)state;
    const ph_fixed coding = make_with_default(0, 20, 0.1, 0);
    uint8_t bytes[2] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_fixed_write_level(&coding, &writer, 0);
    ph_fixed_write_level(&coding, &writer, 0x55);
    assert_int_equal(ph_bit_writer_finish(&writer), 2);
    assert_int_equal(bytes[0], (0x55 << 2 & 0xFF) | 1);
    assert_int_equal(bytes[1], 0x55 >> 6);
}

static void level_beyond_the_top_is_refused_on_both_sides(void** state)
{
    (void)state;
    const ph_fixed coding = make(0, 20, 0.1);
    uint8_t bytes[1] = {201};
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    assert_true(ph_fixed_read(&coding, &reader) == 0.0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_VALUE);

    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_fixed_write_level(&coding, &writer, 201);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_VALUE);
}

static void default_that_is_spelled_out_is_refused(void** state)
{
    (void)state;
    const ph_fixed coding = make_with_default(0, 20, 0.1, 4);
    const uint8_t bytes[2] = {40 << 1, 0};
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    assert_int_equal(ph_fixed_read_level(&coding, &reader), 0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_VALUE);
}

static void bytes_that_end_early_are_refused(void** state)
{
    (void)state;
    const ph_fixed coding = make_with_default(-20, 20, 0.1, 4);
    const uint8_t bytes[1] = {0};
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    assert_true(ph_fixed_read(&coding, &reader) == -20.0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_END);
}

static void vector_without_default_is_36_bits(void** state)
{
    (void)state;
    ph_vec3_coding coding = road();
    coding.z = make(0, 20, 0.1);
    const ph_vec3 value = send(&coding, (ph_vec3){123.44, 987.66, 12.3}, 36);
    assert_near(value.x, 123.4, 1e-9);
    assert_near(value.y, 987.7, 1e-9);
    assert_near(value.z, 12.3, 1e-9);
}

static void vector_is_29_bits_on_the_road_and_37_in_the_air(void** state)
{
    (void)state;
    const ph_vec3_coding coding = road();
    assert_true(send(&coding, (ph_vec3){500, 500, 0}, 29).z == 0.0);
    assert_near(send(&coding, (ph_vec3){500, 500, 3.5}, 37).z, 3.5, 1e-9);
}

// A fault of the textbook version.
static void z_is_not_written_as_y(void** state)
{
    (void)state;
    const ph_vec3_coding coding = road();
    const ph_vec3 value = send(&coding, (ph_vec3){1, 2, 3}, 37);
    assert_near(value.x, 1, 1e-9);
    assert_near(value.y, 2, 1e-9);
    assert_near(value.z, 3, 1e-9);
}

// Another one: "above zero" was taken for "not the default".
static void negative_altitude_is_not_the_default(void** state)
{
    (void)state;
    ph_vec3_coding coding = road();
    coding.z = make_with_default(-20, 20, 0.1, 0);
    assert_near(send(&coding, (ph_vec3){1, 2, -0.1}, 14 + 14 + 1 + 9).z, -0.1, 1e-9);
    assert_near(send(&coding, (ph_vec3){1, 2, -20}, 14 + 14 + 1 + 9).z, -20, 0);
    assert_true(send(&coding, (ph_vec3){1, 2, 0}, 29).z == 0.0);
}

static void nan_in_any_component_fails_the_writer(void** state)
{
    (void)state;
    const ph_vec3_coding coding = road();
    const ph_vec3 values[3] = {{NAN, 1, 1}, {1, NAN, 1}, {1, 1, NAN}};
    for (int i = 0; i < 3; ++i) {
        uint8_t bytes[16];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_vec3_write(&coding, &writer, values[i]);
        assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_NOT_A_NUMBER);
        assert_int_equal(ph_bit_writer_finish(&writer), 0);
    }
}

// A vector is written whole or not at all, whichever component does not fit or is no number.
static void vector_that_cannot_be_written_is_not_begun(void** state)
{
    (void)state;
    const ph_vec3_coding coding = road();
    for (size_t capacity = 0; capacity < 5; ++capacity) {
        uint8_t bytes[8] = {0};
        ph_bit_writer writer = ph_bit_writer_make(bytes, capacity);
        ph_vec3_write(&coding, &writer, (ph_vec3){1, 2, 3});
        const bool fits = 8 * capacity >= 37;
        assert_int_equal(ph_bit_writer_result(&writer), fits ? PH_OK : PH_ERROR_END);
        assert_int_equal(ph_bit_writer_size_bits(&writer), fits ? 37 : 0);
    }
    uint8_t bytes[8] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_vec3_write(&coding, &writer, (ph_vec3){1, 2, NAN});
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_NOT_A_NUMBER);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kilometre_in_decimetres_is_14_bits_and_20_m_are_8),
        cmocka_unit_test(ends_and_zero_come_back_exactly),
        cmocka_unit_test(negative_zero_as_an_end_reads_as_zero),
        cmocka_unit_test(rounds_to_nearest_and_never_truncates),
        cmocka_unit_test(clamps_at_both_ends),
        cmocka_unit_test(error_is_at_most_half_a_step),
        cmocka_unit_test(decoding_ascends_and_encodes_to_the_same_level),
        cmocka_unit_test(range_that_is_none_is_refused),
        cmocka_unit_test(step_that_does_not_divide_the_range_is_refused),
        cmocka_unit_test(range_holds_and_the_step_gives_way),
        cmocka_unit_test(step_finer_than_a_double_is_refused),
        cmocka_unit_test(zero_between_two_steps_is_refused),
        cmocka_unit_test(more_than_2_to_the_32_levels_are_refused),
        cmocka_unit_test(nan_is_refused_with_a_clear_result),
        cmocka_unit_test(default_must_lie_in_the_range),
        cmocka_unit_test(every_level_costs_what_cost_says_and_reads_back),
        cmocka_unit_test(default_costs_one_bit_and_others_one_more),
        cmocka_unit_test(flag_is_the_first_bit_and_1_means_default),
        cmocka_unit_test(level_beyond_the_top_is_refused_on_both_sides),
        cmocka_unit_test(default_that_is_spelled_out_is_refused),
        cmocka_unit_test(bytes_that_end_early_are_refused),
        cmocka_unit_test(vector_without_default_is_36_bits),
        cmocka_unit_test(vector_is_29_bits_on_the_road_and_37_in_the_air),
        cmocka_unit_test(z_is_not_written_as_y),
        cmocka_unit_test(negative_altitude_is_not_the_default),
        cmocka_unit_test(nan_in_any_component_fails_the_writer),
        cmocka_unit_test(vector_that_cannot_be_written_is_not_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
