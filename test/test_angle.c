// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Angles: they wrap, at any width and any number of turns away.

#include "pinhole/angle.h"

#include "support/test_support.h"

#include <float.h>
#include <math.h>

static uint32_t encode(const ph_angle* coding, double angle)
{
    uint32_t level = UINT32_MAX;
    assert_int_equal(ph_angle_encode(coding, angle, &level), PH_OK);
    assert_true(level < UINT64_C(1) << coding->width);
    return level;
}

static double back(const ph_angle* coding, double angle)
{
    return ph_angle_decode(coding, encode(coding, angle));
}

// The shortest way between two angles, never negative.
static double distance(const ph_angle* coding, double a, double b)
{
    return fabs(remainder(a - b, coding->turn));
}

static void right_angles_are_exact(void** state)
{
    (void)state;
    for (int width = 2; width <= 32; ++width) {
        const ph_angle coding = {width, PH_TURN_DEGREES};
        assert_true(back(&coding, 0) == 0);
        assert_true(back(&coding, 90) == 90);
        assert_true(back(&coding, 180) == 180);
        assert_true(back(&coding, 270) == 270);
    }
}

static void negative_angle_is_the_rest_of_a_turn(void** state)
{
    (void)state;
    const ph_angle coding = {8, PH_TURN_DEGREES};
    assert_true(back(&coding, -90) == 270);
    assert_true(back(&coding, -0.0) == 0 && !signbit(back(&coding, -0.0)));
}

static void nearly_a_full_turn_wraps_to_zero(void** state)
{
    (void)state;
    for (int width = 1; width <= 32; ++width) {
        const ph_angle coding = {width, PH_TURN_RADIANS};
        assert_int_equal(encode(&coding, nextafter(PH_TURN_RADIANS, 0)), 0);
        assert_int_equal(encode(&coding, -DBL_MIN), 0);
        assert_int_equal(encode(&coding, PH_TURN_RADIANS), 0);
    }
}

static void whole_turns_do_not_matter(void** state)
{
    (void)state;
    const ph_angle coding = {32, PH_TURN_DEGREES};
    assert_true(back(&coding, 360.0 * 1e6 + 45) == 45);
    assert_true(back(&coding, -360.0 * 1e6 + 45) == 45);
    assert_true(back(&coding, 360.0 * 0x1p40 + 90) == 90);
    assert_true(back(&coding, -360.0 * 0x1p40 + 90) == 90);
    // Far beyond where a double has fractions, still inside the turn.
    assert_true(back(&coding, DBL_MAX) < 360);
    const ph_angle tiny_turn = {32, DBL_MIN};
    assert_true(back(&tiny_turn, DBL_MAX) < DBL_MIN);
}

static void error_is_at_most_half_a_part(void** state)
{
    (void)state;
    test_rng rng = {.state = 3001};
    const double turns[3] = {PH_TURN_DEGREES, PH_TURN_RADIANS, 65536.0};
    for (int round = 0; round < 60000; ++round) {
        const ph_angle coding = {1 + round % 32, turns[round % 3]};
        const double angle = (test_rng_unit(&rng) * 8.0 - 4.0) * coding.turn;
        const double half_part = coding.turn / ldexp(2.0, coding.width);
        assert_true(distance(&coding, back(&coding, angle), angle) <= half_part * (1 + 1e-5));
    }
}

static void every_level_decodes_below_a_turn_and_encodes_to_itself(void** state)
{
    (void)state;
    test_rng rng = {.state = 3002};
    const double turns[4] = {PH_TURN_DEGREES, PH_TURN_RADIANS, DBL_MIN, 1e308};
    for (int round = 0; round < 40000; ++round) {
        const ph_angle coding = {1 + round % 32, turns[round % 4]};
        const uint64_t count = UINT64_C(1) << coding.width;
        const uint32_t level = (uint32_t)(round < 256 ? count - 1 : test_rng_below(&rng, count));
        const double angle = ph_angle_decode(&coding, level);
        assert_true(angle >= 0 && angle < coding.turn);
        assert_int_equal(encode(&coding, angle), level);
    }
}

static void difference_is_the_shortest_way(void** state)
{
    (void)state;
    const ph_angle coding = {8, PH_TURN_DEGREES};
    assert_int_equal(ph_angle_difference(&coding, 250, 5), 11);
    assert_int_equal(ph_angle_difference(&coding, 5, 250), -11);
    assert_int_equal(ph_angle_difference(&coding, 7, 7), 0);
    assert_int_equal(ph_angle_difference(&coding, 0, 127), 127);
    assert_int_equal(ph_angle_difference(&coding, 0, 128), -128);
    const ph_angle narrow = {1, PH_TURN_DEGREES};
    assert_int_equal(ph_angle_difference(&narrow, 0, 1), -1);
    const ph_angle wide = {32, PH_TURN_DEGREES};
    assert_true(ph_angle_difference(&wide, 0, UINT32_MAX) == -1);
    assert_true(ph_angle_difference(&wide, 1, UINT32_C(0x80000000)) == 0x7FFFFFFF);
    assert_true(ph_angle_difference(&wide, 0, UINT32_C(0x80000000)) == -INT64_C(0x80000000));
}

static void costs_its_width_and_reads_back(void** state)
{
    (void)state;
    for (int width = 1; width <= 32; ++width) {
        const ph_angle coding = {width, PH_TURN_DEGREES};
        uint8_t bytes[8];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_angle_write(&coding, &writer, 222.2);
        assert_int_equal(ph_bit_writer_size_bits(&writer), width);
        ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
        assert_true(ph_angle_read(&coding, &reader) == back(&coding, 222.2));
        assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    }
}

static void what_is_not_finite_is_refused(void** state)
{
    (void)state;
    const ph_angle coding = {8, PH_TURN_DEGREES};
    const double values[3] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; ++i) {
        uint32_t level = 77;
        assert_int_equal(ph_angle_encode(&coding, values[i], &level), PH_ERROR_NOT_A_NUMBER);
        assert_int_equal(level, 77);
        uint8_t bytes[8];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_angle_write(&coding, &writer, values[i]);
        assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_NOT_A_NUMBER);
    }
}

static void bytes_that_end_early_read_as_zero(void** state)
{
    (void)state;
    const ph_angle coding = {9, PH_TURN_DEGREES};
    const uint8_t bytes[1] = {0xFF};
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    assert_true(ph_angle_read(&coding, &reader) == 0.0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_END);
}

static ph_result check(int width, double turn)
{
    const ph_angle coding = {width, turn};
    return ph_angle_check(&coding);
}

static void declarations_are_checked(void** state)
{
    (void)state;
    assert_int_equal(check(1, 360), PH_OK);
    assert_int_equal(check(32, 360), PH_OK);
    assert_int_equal(check(0, 360), PH_ERROR_WIDTH);
    assert_int_equal(check(33, 360), PH_ERROR_WIDTH);
    assert_int_equal(check(8, 0), PH_ERROR_RANGE);
    assert_int_equal(check(8, -360), PH_ERROR_RANGE);
    assert_int_equal(check(8, NAN), PH_ERROR_RANGE);
    assert_int_equal(check(8, INFINITY), PH_ERROR_RANGE);
    assert_int_equal(check(8, DBL_MIN / 2), PH_ERROR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_angles_are_exact),
        cmocka_unit_test(negative_angle_is_the_rest_of_a_turn),
        cmocka_unit_test(nearly_a_full_turn_wraps_to_zero),
        cmocka_unit_test(whole_turns_do_not_matter),
        cmocka_unit_test(error_is_at_most_half_a_part),
        cmocka_unit_test(every_level_decodes_below_a_turn_and_encodes_to_itself),
        cmocka_unit_test(difference_is_the_shortest_way),
        cmocka_unit_test(costs_its_width_and_reads_back),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(bytes_that_end_early_read_as_zero),
        cmocka_unit_test(declarations_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
