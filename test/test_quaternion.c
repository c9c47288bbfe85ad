// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Quaternions with the largest component left out: what is exact, how far off the rest is, and that
// the reader takes exactly what a writer can give. Prints the table of docs/codings.md.

#include "pinhole/quaternion.h"

#include "support/test_support.h"

#include <math.h>
#include <string.h>

#define ROTATION_COUNT 1000000

static const double half_root = 0.70710678118654752440;

static double step_of(int width)
{
    return sqrt(2.0) / ((1 << width) - 2);
}

static int top_of(int width)
{
    return (1 << (width - 1)) - 1;
}

static double dot(ph_quaternion a, ph_quaternion b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

static ph_quaternion scaled(ph_quaternion q, double factor)
{
    return (ph_quaternion){q.x * factor, q.y * factor, q.z * factor, q.w * factor};
}

static ph_quaternion normalised(ph_quaternion q)
{
    return scaled(q, 1.0 / sqrt(dot(q, q)));
}

// The angle of the rotation between two rotations, in radians. From the chord: an arc cosine would
// lose half of the digits near zero.
static double angle_between(ph_quaternion a, ph_quaternion b)
{
    const ph_quaternion c = scaled(b, dot(a, b) < 0.0 ? -1.0 : 1.0);
    const ph_quaternion d = {a.x - c.x, a.y - c.y, a.z - c.z, a.w - c.w};
    return 4.0 * asin(sqrt(dot(d, d)) / 2.0);
}

// Uniform over all rotations: a point of the ball, pushed out to the sphere.
static ph_quaternion random_rotation(test_rng* rng)
{
    for (;;) {
        ph_quaternion q;
        q.x = 2.0 * test_rng_unit(rng) - 1.0;
        q.y = 2.0 * test_rng_unit(rng) - 1.0;
        q.z = 2.0 * test_rng_unit(rng) - 1.0;
        q.w = 2.0 * test_rng_unit(rng) - 1.0;
        const double square = dot(q, q);
        if (square > 0.01 && square <= 1.0) {
            return normalised(q);
        }
    }
}

// Equal or nearly equal components with any signs: where it is hardest to say which is the largest.
static ph_quaternion random_near_tie(test_rng* rng)
{
    double c[4];
    for (int i = 0; i < 4; ++i) {
        const double spread = ldexp(test_rng_unit(rng), -(int)test_rng_below(rng, 50));
        const bool is_small = test_rng_below(rng, 4) == 0;
        c[i] = is_small ? spread : 1.0 - spread;
        c[i] = test_rng_below(rng, 2) == 0 ? c[i] : -c[i];
    }
    const ph_quaternion q = {c[0], c[1], c[2], c[3]};
    return dot(q, q) > 0.01 ? normalised(q) : (ph_quaternion){0.5, 0.5, 0.5, 0.5};
}

static ph_quaternion_levels encode(int width, ph_quaternion value)
{
    ph_quaternion_levels levels;
    assert_int_equal(ph_quaternion_encode(width, value, &levels), PH_OK);
    return levels;
}

static bool same_levels(ph_quaternion_levels a, ph_quaternion_levels b)
{
    return a.largest == b.largest && a.rest[0] == b.rest[0] && a.rest[1] == b.rest[1] &&
           a.rest[2] == b.rest[2];
}

static ph_result refusal(ph_quaternion value)
{
    ph_quaternion_levels levels = {.largest = 99};
    const ph_result result = ph_quaternion_encode(12, value, &levels);
    if (result != PH_OK) {
        assert_int_equal(levels.largest, 99);
    }
    return result;
}

static void costs_three_widths_and_two_bits(void** state)
{
    (void)state;
    for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
        uint8_t bytes[8];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_quaternion_write(width, &writer, (ph_quaternion){0.5, -0.5, 0.5, -0.5});
        assert_int_equal(ph_bit_writer_size_bits(&writer), 3 * width + 2);
        assert_int_equal(ph_quaternion_cost_bits(width), 3 * width + 2);
    }
}

static void identity_and_half_turns_about_the_axes_are_exact(void** state)
{
    (void)state;
    const ph_quaternion exact[4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
        for (int i = 0; i < 4; ++i) {
            const ph_quaternion plus = ph_quaternion_decode(width, encode(width, exact[i]));
            assert_memory_equal(&plus, &exact[i], sizeof plus);
            // -1 and three times -0.0: the same rotation.
            const ph_quaternion negative = scaled(exact[i], -1.0);
            const ph_quaternion minus = ph_quaternion_decode(width, encode(width, negative));
            assert_memory_equal(&minus, &exact[i], sizeof minus);
        }
    }
}

static void quarter_turns_about_the_axes_are_exact(void** state)
{
    (void)state;
    for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
        for (int axis = 0; axis < 3; ++axis) {
            for (int sign = -1; sign <= 1; sign += 2) {
                double c[4] = {0, 0, 0, half_root};
                c[axis] = sign * half_root;
                const ph_quaternion turn = {c[0], c[1], c[2], c[3]};
                const ph_quaternion back = ph_quaternion_decode(width, encode(width, turn));
                assert_true(angle_between(turn, back) < 1e-15);
            }
        }
    }
}

static void both_signs_of_a_rotation_have_one_encoding(void** state)
{
    (void)state;
    test_rng rng = {.state = 2001};
    for (int round = 0; round < 20000; ++round) {
        const ph_quaternion q = round % 2 == 0 ? random_rotation(&rng) : random_near_tie(&rng);
        const int width = 8 + round % 9;
        assert_true(same_levels(encode(width, q), encode(width, scaled(q, -1.0))));
    }
}

static void first_of_equal_components_is_left_out(void** state)
{
    (void)state;
    assert_int_equal(encode(9, (ph_quaternion){0.5, 0.5, 0.5, 0.5}).largest, 0);
    assert_int_equal(encode(9, (ph_quaternion){-0.5, 0.5, -0.5, 0.5}).largest, 0);
    assert_int_equal(encode(9, (ph_quaternion){0, half_root, 0, -half_root}).largest, 1);
    assert_int_equal(encode(9, (ph_quaternion){0, 0, -half_root, half_root}).largest, 2);
}

// A fault of the textbook version: it always leaves out w and takes it for positive.
static void fourth_component_keeps_its_sign(void** state)
{
    (void)state;
    for (int pattern = 0; pattern < 16; ++pattern) {
        const ph_quaternion q = {(pattern & 1) != 0 ? -0.7 : 0.7, (pattern & 2) != 0 ? -0.5 : 0.5,
                                 (pattern & 4) != 0 ? -0.1 : 0.1, (pattern & 8) != 0 ? -0.5 : 0.5};
        const ph_quaternion back = ph_quaternion_decode(16, encode(16, q));
        // The rotation is the same: w relative to the others, not only its size.
        assert_true(angle_between(q, back) < 4.0 * step_of(16));
        assert_true((q.w < 0) == (back.w * (q.x < 0 ? -1.0 : 1.0) < 0));
    }
}

// The promise of the header over a million rotations, and the figures of docs/codings.md.
static void error_is_within_the_bound_over_a_million_rotations(void** state)
{
    (void)state;
    test_rng rng = {.state = 2002};
    double worst[PH_QUATERNION_WIDTH_MAX + 1] = {0};
    for (int round = 0; round < ROTATION_COUNT; ++round) {
        const ph_quaternion q = random_rotation(&rng);
        for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
            ph_quaternion_levels levels;
            if (ph_quaternion_encode(width, q, &levels) != PH_OK ||
                !ph_quaternion_is_valid(width, levels)) {
                fail_msg("round %d, width %d: refused", round, width);
            }
            const double angle = angle_between(q, ph_quaternion_decode(width, levels));
            worst[width] = angle > worst[width] ? angle : worst[width];
        }
    }
    print_message("  n  bits  worst in degrees  in steps  bound in degrees\n");
    for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
        const double step = step_of(width);
        const double bound = 2.0 * sqrt(3.0) * step;
        const double degrees = 180.0 / 3.14159265358979323846;
        print_message("%3d  %4d  %16.5f  %8.3f  %16.5f\n", width, ph_quaternion_cost_bits(width),
                      worst[width] * degrees, worst[width] / step, bound * degrees);
        assert_true(worst[width] <= bound);
    }
}

// The bound is of first order. At its very corner, all four components equal and three rounded away
// from zero by half a step, the fourth gives way by 1.5 + 1.5 / T steps, where T = 1 / (2 s) is its
// size: 0.75 / T = 1.5 s more in all, less than 0.9 % for 8 bits.
static void error_at_ties_exceeds_the_bound_by_second_order_only(void** state)
{
    (void)state;
    test_rng rng = {.state = 2003};
    double worst[PH_QUATERNION_WIDTH_MAX + 1] = {0};
    for (int round = 0; round < 360000; ++round) {
        const int width = 8 + round % 9;
        const double step = step_of(width);
        ph_quaternion q = random_near_tie(&rng);
        if (round % 2 == 0) {
            // As near to equal as half steps come, and a hair more, so that all round up.
            const double middle = (floor(0.5 / step) + (round % 4 == 0 ? 0.5 : -0.5) + 1e-9) * step;
            q = (ph_quaternion){middle, middle, middle, sqrt(1 - 3 * middle * middle)};
        }
        const ph_quaternion_levels levels = encode(width, q);
        assert_true(ph_quaternion_is_valid(width, levels));
        const double angle = angle_between(q, ph_quaternion_decode(width, levels));
        assert_true(angle <= 2.0 * sqrt(3.0) * step * (1.0 + 1.6 * step));
        worst[width] = angle / step > worst[width] ? angle / step : worst[width];
    }
    print_message("worst in steps at ties, n = 8..16:");
    for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
        print_message(" %.3f", worst[width]);
    }
    print_message("\n");
}

// Inside the cube of half a step around the levels, the point most likely to be a rotation with its
// largest component left out: the nearest to zero, and a hair inside.
static ph_quaternion innermost(int width, ph_quaternion_levels levels)
{
    double c[4];
    double left = 1.0;
    int next = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != levels.largest) {
            const int level = levels.rest[next++];
            const double inner = level == 0 ? 0.0 : fabs((double)level) - 0.5 + 1e-7;
            c[i] = copysign(inner, level) * step_of(width);
            left -= c[i] * c[i];
        }
    }
    c[levels.largest] = left > 0.0 ? sqrt(left) : 0.0;
    return (ph_quaternion){c[0], c[1], c[2], c[3]};
}

static int16_t random_level(test_rng* rng, int top)
{
    return (int16_t)((int)test_rng_below(rng, 2 * (uint64_t)top + 1) - top);
}

// Around the border of what is valid: two levels anywhere, the third within three of where it tips
// over.
static ph_quaternion_levels random_border_levels(test_rng* rng, int width)
{
    const int top = top_of(width);
    ph_quaternion_levels levels = {.largest = (uint8_t)test_rng_below(rng, 4)};
    levels.rest[1] = random_level(rng, top);
    levels.rest[2] = test_rng_below(rng, 3) == 0 ? levels.rest[1] : random_level(rng, top);
    int lo = 0;
    int hi = top;
    while (lo < hi) {
        const int middle = (lo + hi + 1) / 2;
        levels.rest[0] = (int16_t)middle;
        if (ph_quaternion_is_valid(width, levels)) {
            lo = middle;
        } else {
            hi = middle - 1;
        }
    }
    const int tipped = lo - 3 + (int)test_rng_below(rng, 7);
    levels.rest[0] = (int16_t)(tipped > top ? top : tipped);
    return levels;
}

// Valid levels are those that encode gives, no more and no fewer: each valid one is given for its
// innermost point, and where the innermost point of an invalid one has another largest component,
// so have all.
static void valid_levels_are_exactly_those_that_encode_gives(void** state)
{
    (void)state;
    test_rng rng = {.state = 2004};
    int valid_count = 0;
    for (int round = 0; round < 300000; ++round) {
        const int width = 8 + round % 9;
        const ph_quaternion_levels levels = random_border_levels(&rng, width);
        const ph_quaternion q = innermost(width, levels);
        const bool is_valid = ph_quaternion_is_valid(width, levels);
        ph_quaternion_levels given;
        const bool is_given =
            ph_quaternion_encode(width, q, &given) == PH_OK && same_levels(levels, given);
        assert_int_equal(is_valid, is_given);
        valid_count += is_valid;
    }
    assert_in_range(valid_count, 100000, 250000);
}

static void valid_levels_decode_to_a_unit_quaternion(void** state)
{
    (void)state;
    test_rng rng = {.state = 2005};
    for (int round = 0; round < 200000; ++round) {
        const int width = 8 + round % 9;
        const ph_quaternion_levels levels = random_border_levels(&rng, width);
        if (!ph_quaternion_is_valid(width, levels)) {
            continue;
        }
        const ph_quaternion q = ph_quaternion_decode(width, levels);
        assert_true(fabs(dot(q, q) - 1.0) < 1e-14);
        const double c[4] = {q.x, q.y, q.z, q.w};
        assert_true(c[levels.largest] > 0.48);
    }
}

static void levels_out_of_range_are_invalid(void** state)
{
    (void)state;
    for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
        const int top = top_of(width);
        for (int i = 0; i < 3; ++i) {
            ph_quaternion_levels levels = {.largest = 3};
            levels.rest[i] = (int16_t)top;
            assert_true(ph_quaternion_is_valid(width, levels));
            levels.rest[i] = (int16_t)-top;
            assert_true(ph_quaternion_is_valid(width, levels));
            levels.rest[i] = (int16_t)(-top - 1);
            assert_false(ph_quaternion_is_valid(width, levels));
        }
        const ph_quaternion_levels fifth = {.largest = 4};
        assert_false(ph_quaternion_is_valid(width, fifth));
        const ph_quaternion_levels longer = {3, {(int16_t)top, (int16_t)top, 0}};
        assert_false(ph_quaternion_is_valid(width, longer));
    }
}

static void levels_read_back_as_written(void** state)
{
    (void)state;
    test_rng rng = {.state = 2006};
    for (int round = 0; round < 20000; ++round) {
        const int width = 8 + round % 9;
        const ph_quaternion_levels levels = encode(width, random_rotation(&rng));
        uint8_t bytes[8];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_quaternion_write_levels(width, &writer, levels);
        ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
        assert_true(same_levels(ph_quaternion_read_levels(width, &reader), levels));
        assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    }
}

// w is left out (3), then -1, 0 and 127 of -127..127, each 127 more.
static void golden_bytes(void** state)
{
    (void)state;
    uint8_t bytes[4] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    const double step = step_of(8);
    ph_quaternion_write(8, &writer,
                        normalised((ph_quaternion){-step, 0, half_root, half_root + step}));
    assert_int_equal(ph_bit_writer_finish(&writer), 4);
    const uint32_t expected = 3u | 126u << 2 | 127u << 10 | 253u << 18;
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(bytes[i], expected >> (8 * i) & 0xFF);
    }
}

static void unused_code_is_refused(void** state)
{
    (void)state;
    for (int width = PH_QUATERNION_WIDTH_MIN; width <= PH_QUATERNION_WIDTH_MAX; ++width) {
        for (int i = 0; i < 3; ++i) {
            uint8_t bytes[8];
            ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
            ph_bits_write(&writer, 3, 2);
            for (int k = 0; k < 3; ++k) {
                ph_bits_write(&writer, k == i ? UINT64_MAX : (uint64_t)top_of(width), width);
            }
            ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
            const ph_quaternion_levels levels = ph_quaternion_read_levels(width, &reader);
            assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_VALUE);
            assert_true(same_levels(levels, (ph_quaternion_levels){.largest = 3}));
        }
    }
}

static void levels_longer_than_one_are_refused_on_both_sides(void** state)
{
    (void)state;
    uint8_t bytes[8] = {0};
    // All three at their lowest: longer than 1 by half.
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    const ph_quaternion q = ph_quaternion_read(10, &reader);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_VALUE);
    const ph_quaternion identity = {0, 0, 0, 1};
    assert_memory_equal(&q, &identity, sizeof q);

    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_quaternion_write_levels(10, &writer, (ph_quaternion_levels){0, {511, 511, 511}});
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_VALUE);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
}

static void bytes_that_end_early_read_as_the_identity(void** state)
{
    (void)state;
    const uint8_t bytes[3] = {0xFF, 0xFF, 0xFF};
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    const ph_quaternion q = ph_quaternion_read(8, &reader);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_END);
    const ph_quaternion identity = {0, 0, 0, 1};
    assert_memory_equal(&q, &identity, sizeof q);
}

static void length_within_a_hundredth_is_put_right(void** state)
{
    (void)state;
    test_rng rng = {.state = 2007};
    for (int round = 0; round < 20000; ++round) {
        const ph_quaternion q = random_rotation(&rng);
        const ph_quaternion off = scaled(q, 0.9901 + 0.0198 * test_rng_unit(&rng));
        const ph_quaternion_levels levels = encode(16, off);
        assert_true(ph_quaternion_is_valid(16, levels));
        const double angle = angle_between(q, ph_quaternion_decode(16, levels));
        assert_true(angle <= 2.0 * sqrt(3.0) * step_of(16));
    }
}

static void what_is_not_unit_is_refused(void** state)
{
    (void)state;
    assert_int_equal(refusal((ph_quaternion){0, 0, 0, 0}), PH_ERROR_NOT_UNIT);
    assert_int_equal(refusal((ph_quaternion){0, 0, 0, 0.98}), PH_ERROR_NOT_UNIT);
    assert_int_equal(refusal((ph_quaternion){0.6, 0.6, 0.6, 0.6}), PH_ERROR_NOT_UNIT);
    assert_int_equal(refusal((ph_quaternion){1e200, 0, 0, 0}), PH_ERROR_NOT_UNIT);
    assert_int_equal(refusal((ph_quaternion){1e-200, 0, 0, 0}), PH_ERROR_NOT_UNIT);
    assert_int_equal(refusal((ph_quaternion){0, 0, 0, 1.009}), PH_OK);
}

static void what_is_not_a_number_is_refused_and_never_written(void** state)
{
    (void)state;
    assert_int_equal(refusal((ph_quaternion){NAN, 0, 0, 1}), PH_ERROR_NOT_A_NUMBER);
    assert_int_equal(refusal((ph_quaternion){0, NAN, 0, 1}), PH_ERROR_NOT_A_NUMBER);
    assert_int_equal(refusal((ph_quaternion){0, 0, INFINITY, 1}), PH_ERROR_NOT_A_NUMBER);
    assert_int_equal(refusal((ph_quaternion){0, 0, 0, -INFINITY}), PH_ERROR_NOT_A_NUMBER);

    uint8_t bytes[8];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_quaternion_write(12, &writer, (ph_quaternion){0, 0, 0, NAN});
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_NOT_A_NUMBER);
    assert_int_equal(ph_bit_writer_finish(&writer), 0);
}

#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
// Unchecked levels give a rotation, not a read outside of them.
static void impossible_levels_decode_to_the_identity(void** state)
{
    (void)state;
    const ph_quaternion_levels broken = {.largest = 200};
    const ph_quaternion value = ph_quaternion_decode(9, broken);
    assert_true(value.x == 0.0 && value.y == 0.0 && value.z == 0.0 && value.w == 1.0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_three_widths_and_two_bits),
        cmocka_unit_test(identity_and_half_turns_about_the_axes_are_exact),
        cmocka_unit_test(quarter_turns_about_the_axes_are_exact),
        cmocka_unit_test(both_signs_of_a_rotation_have_one_encoding),
        cmocka_unit_test(first_of_equal_components_is_left_out),
        cmocka_unit_test(fourth_component_keeps_its_sign),
        cmocka_unit_test(error_is_within_the_bound_over_a_million_rotations),
        cmocka_unit_test(error_at_ties_exceeds_the_bound_by_second_order_only),
        cmocka_unit_test(valid_levels_are_exactly_those_that_encode_gives),
        cmocka_unit_test(valid_levels_decode_to_a_unit_quaternion),
        cmocka_unit_test(levels_out_of_range_are_invalid),
        cmocka_unit_test(levels_read_back_as_written),
        cmocka_unit_test(golden_bytes),
        cmocka_unit_test(unused_code_is_refused),
        cmocka_unit_test(levels_longer_than_one_are_refused_on_both_sides),
        cmocka_unit_test(bytes_that_end_early_read_as_the_identity),
        cmocka_unit_test(length_within_a_hundredth_is_put_right),
        cmocka_unit_test(what_is_not_unit_is_refused),
        cmocka_unit_test(what_is_not_a_number_is_refused_and_never_written),
#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
        cmocka_unit_test(impossible_levels_decode_to_the_identity),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
