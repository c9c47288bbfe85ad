// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rotations in fixed point, against doubles: how far off they are, and what must be exact.

#include "codec/rotation.h"

#include "support/test_support.h"

#include <math.h>
#include <stdlib.h>

// ---- doubles

typedef struct exact {
    double part[4];
} exact;

static exact exact_of(const ph_rotation* rotation)
{
    exact made;
    for (int i = 0; i < 4; ++i) {
        made.part[i] = ldexp((double)rotation->part[i], -30);
    }
    return made;
}

// The angle between two rotations, in radians, from the difference of the quaternions: exact where it is
// small.
static double angle_between(const exact* a, const exact* b)
{
    double less = 0;
    double more = 0;
    for (int i = 0; i < 4; ++i) {
        less += pow(a->part[i] - b->part[i], 2);
        more += pow(a->part[i] + b->part[i], 2);
    }
    return 4 * asin(fmin(1.0, sqrt(fmin(less, more)) / 2));
}

static exact exact_turned(const exact* from, const double axis[3], double angle)
{
    const double s = sin(angle / 2);
    const double ax = axis[0] * s;
    const double ay = axis[1] * s;
    const double az = axis[2] * s;
    const double aw = cos(angle / 2);
    const double* b = from->part;
    return (exact){{aw * b[0] + ax * b[3] + ay * b[2] - az * b[1],
                    aw * b[1] - ax * b[2] + ay * b[3] + az * b[0],
                    aw * b[2] + ax * b[1] - ay * b[0] + az * b[3],
                    aw * b[3] - ax * b[0] - ay * b[1] - az * b[2]}};
}

static ph_quaternion random_quaternion(test_rng* rng)
{
    double part[4];
    double square;
    do {
        square = 0;
        for (int i = 0; i < 4; ++i) {
            part[i] = 2 * test_rng_unit(rng) - 1;
            square += part[i] * part[i];
        }
    } while (square > 1 || square < 0.01);
    const double length = sqrt(square);
    return (ph_quaternion){part[0] / length, part[1] / length, part[2] / length, part[3] / length};
}

static ph_quaternion_levels random_levels(test_rng* rng, int width)
{
    ph_quaternion_levels levels;
    assert_int_equal(ph_quaternion_encode(width, random_quaternion(rng), &levels), PH_OK);
    return levels;
}

static void random_axis(test_rng* rng, double axis[3])
{
    double square;
    do {
        square = 0;
        for (int i = 0; i < 3; ++i) {
            axis[i] = 2 * test_rng_unit(rng) - 1;
            square += axis[i] * axis[i];
        }
    } while (square > 1 || square < 0.01);
    for (int i = 0; i < 3; ++i) {
        axis[i] /= sqrt(square);
    }
}

static ph_rotation fixed_of(const exact* rotation)
{
    ph_rotation made;
    for (int i = 0; i < 4; ++i) {
        made.part[i] = (int32_t)lround(ldexp(rotation->part[i], 30));
    }
    return made;
}

// ---- levels

static void levels_come_back_from_their_rotation(void** state)
{
    (void)state;
    test_rng rng = {.state = 1};
    for (int i = 0; i < 40000; ++i) {
        const int width = PH_QUATERNION_WIDTH_MIN + i % 9;
        const ph_quaternion_levels levels = random_levels(&rng, width);
        const ph_rotation rotation = ph_rotation_from_levels(width, levels);
        int32_t back[3];
        ph_rotation_chart(width, &rotation, levels.largest, back);
        for (int k = 0; k < 3; ++k) {
            assert_int_equal(back[k], levels.rest[k]);
        }
        const ph_quaternion decoded = ph_quaternion_decode(width, levels);
        const exact told = {{decoded.x, decoded.y, decoded.z, decoded.w}};
        const exact fixed = exact_of(&rotation);
        assert_true(angle_between(&told, &fixed) < ldexp(1, -27));
    }
}

static void words_hold_levels_as_the_wire_does(void** state)
{
    (void)state;
    test_rng rng = {.state = 2};
    for (int i = 0; i < 2000; ++i) {
        const int width = PH_QUATERNION_WIDTH_MIN + i % 9;
        const ph_quaternion_levels levels = random_levels(&rng, width);
        uint8_t bytes[16] = {0};
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_quaternion_write_levels(width, &writer, levels);
        (void)ph_bit_writer_finish(&writer);
        uint32_t words[2];
        ph_rotation_words_of_levels(width, levels, words);
        for (int k = 0; k < 8; ++k) {
            assert_int_equal(words[k / 4] >> 8 * (k % 4) & 255, bytes[k]);
        }
        const ph_quaternion_levels back = ph_rotation_levels_of_words(width, words);
        assert_int_equal(back.largest, levels.largest);
        assert_memory_equal(back.rest, levels.rest, sizeof back.rest);
    }
    // The unused code is no level.
    const uint32_t ones[2] = {UINT32_MAX, UINT32_MAX};
    assert_false(ph_quaternion_is_valid(16, ph_rotation_levels_of_words(16, ones)));
    assert_false(ph_quaternion_is_valid(8, ph_rotation_levels_of_words(8, ones)));
}

static void either_sign_is_the_same_rotation(void** state)
{
    (void)state;
    test_rng rng = {.state = 3};
    for (int i = 0; i < 2000; ++i) {
        const ph_quaternion_levels levels = random_levels(&rng, 12);
        const ph_rotation one = ph_rotation_from_levels(12, levels);
        ph_rotation other = one;
        for (int k = 0; k < 4; ++k) {
            other.part[k] = -other.part[k];
        }
        for (int left_out = 0; left_out < 4; ++left_out) {
            int32_t charts[2][3];
            ph_rotation_chart(12, &one, left_out, charts[0]);
            ph_rotation_chart(12, &other, left_out, charts[1]);
            if (one.part[left_out] != 0) {
                assert_memory_equal(charts[0], charts[1], sizeof charts[0]);
            }
        }
        uint8_t orders[2][4];
        ph_rotation_order(&one, orders[0]);
        ph_rotation_order(&other, orders[1]);
        assert_memory_equal(orders[0], orders[1], sizeof orders[0]);
        assert_int_equal(ph_rotation_between(&one, &other, 1).half, 0);
    }
}

static void components_are_ordered_by_size(void** state)
{
    (void)state;
    uint8_t order[4];
    ph_rotation_order(&(ph_rotation){{5, -9, 9, 1}}, order);
    const uint8_t expected[4] = {1, 2, 0, 3};
    assert_memory_equal(order, expected, sizeof order);
}

// ---- motion

static void a_spin_leads_from_one_to_the_other(void** state)
{
    (void)state;
    test_rng rng = {.state = 4};
    double worst = 0;
    for (int i = 0; i < 40000; ++i) {
        const ph_rotation from = ph_rotation_from_levels(16, random_levels(&rng, 16));
        const ph_rotation to = ph_rotation_from_levels(16, random_levels(&rng, 16));
        const uint32_t between = 1 + (uint32_t)test_rng_below(&rng, 5000);
        const ph_spin spin = ph_rotation_between(&from, &to, between);
        assert_true(spin.half <= UINT32_C(1) << 30);
        const ph_rotation turned = ph_rotation_turned(&from, &spin, between);
        const exact there = exact_of(&to);
        const exact reached = exact_of(&turned);
        worst = fmax(worst, angle_between(&there, &reached));
    }
    assert_true(worst < ldexp(1, -26));
}

static void what_turns_goes_on_turning(void** state)
{
    (void)state;
    test_rng rng = {.state = 5};
    double worst = 0;
    for (int i = 0; i < 40000; ++i) {
        double axis[3];
        random_axis(&rng, axis);
        const double angle = pow(2, -12 * test_rng_unit(&rng)) * 3.14;
        const ph_quaternion q = random_quaternion(&rng);
        const exact first = {{q.x, q.y, q.z, q.w}};
        const exact second = exact_turned(&first, axis, angle);
        const ph_rotation from = fixed_of(&first);
        const ph_rotation to = fixed_of(&second);
        const uint32_t between = 1 + (uint32_t)test_rng_below(&rng, 100);
        const uint32_t ahead = (uint32_t)test_rng_below(&rng, 40 * (uint64_t)between);
        const ph_spin spin = ph_rotation_between(&from, &to, between);
        const ph_rotation turned = ph_rotation_turned(&to, &spin, ahead);
        const double times = (double)ahead / between;
        const exact expected = exact_turned(&second, axis, angle * times);
        const exact reached = exact_of(&turned);
        // What rounding makes of the angle is carried on with it, and so is what it makes of the axis.
        const double bound = ldexp(16 + 16 * times, -30) + ldexp(32, -30) / angle;
        const double off = angle_between(&expected, &reached);
        assert_true(off < bound);
        worst = fmax(worst, off / bound);
    }
    assert_true(worst > 0.05); // the bound says something
}

static void no_rotation_stays(void** state)
{
    (void)state;
    test_rng rng = {.state = 6};
    for (int i = 0; i < 1000; ++i) {
        const ph_rotation rotation = ph_rotation_from_levels(10, random_levels(&rng, 10));
        const ph_spin none = ph_rotation_between(&rotation, &rotation, 7);
        const ph_rotation turned = ph_rotation_turned(&rotation, &none, 1000);
        const exact before = exact_of(&rotation);
        const exact after = exact_of(&turned);
        assert_true(angle_between(&before, &after) < ldexp(1, -18));
    }
    const ph_rotation one = {{0, 0, 0, PH_ROTATION_ONE}};
    const ph_spin none = ph_rotation_between(&one, &one, 7);
    assert_int_equal(none.half, 0);
    assert_int_equal(none.axis[0] | none.axis[1] | none.axis[2], 0);
    const ph_rotation still = ph_rotation_turned(&one, &none, UINT32_MAX);
    assert_memory_equal(&still, &one, sizeof still);
    const ph_rotation now = ph_rotation_turned(&one, &(ph_spin){.half = 5, .between = 1}, 0);
    assert_memory_equal(&now, &one, sizeof now);
}

// Exactly half a turn has two shorter ways; either is one.
static void half_a_turn_has_an_axis(void** state)
{
    (void)state;
    const ph_rotation one = {{0, 0, 0, PH_ROTATION_ONE}};
    for (int axis = 0; axis < 3; ++axis) {
        for (int sign = -1; sign <= 1; sign += 2) {
            ph_rotation half = {{0}};
            half.part[axis] = sign * PH_ROTATION_ONE;
            const ph_spin spin = ph_rotation_between(&one, &half, 4);
            assert_true(labs((long)spin.half - (1L << 30)) <= 1);
            assert_int_equal(abs(spin.axis[axis]), PH_ROTATION_ONE);
            const ph_rotation quarter = ph_rotation_turned(&one, &spin, 2);
            assert_true(labs(labs(quarter.part[axis]) - 759250125) < 4);
            const ph_rotation whole = ph_rotation_turned(&one, &spin, 8);
            assert_true(labs(labs(whole.part[3]) - PH_ROTATION_ONE) < 4);
        }
    }
}

// A wheel: any number of turns, all angles.
static void turns_wrap(void** state)
{
    (void)state;
    const ph_rotation one = {{0, 0, 0, PH_ROTATION_ONE}};
    const ph_spin spin = {.axis = {0, 0, PH_ROTATION_ONE}, .half = UINT32_C(1) << 24, .between = 1};
    for (uint32_t ahead = 0; ahead < 1024; ++ahead) {
        const ph_rotation turned = ph_rotation_turned(&one, &spin, ahead);
        const double angle = 2 * 3.14159265358979323846 * ahead / 256;
        assert_true(fabs(ldexp(turned.part[3], -30) - cos(angle)) < 4e-9);
        assert_true(fabs(ldexp(turned.part[2], -30) - sin(angle)) < 4e-9);
        assert_int_equal(turned.part[0] | turned.part[1], 0);
    }
}

// ---- coarse levels

static void coarse_levels_are_a_rotation(void** state)
{
    (void)state;
    test_rng rng = {.state = 7};
    int truncated = 0;
    for (int i = 0; i < 60000; ++i) {
        const int width = PH_QUATERNION_WIDTH_MIN + i % 9;
        const int coarse = (int)test_rng_below(&rng, PH_ROTATION_COARSE_MAX + 1);
        const ph_quaternion_levels levels = random_levels(&rng, width);
        const ph_quaternion_levels rounded = ph_rotation_coarse(width, levels, coarse);
        assert_true(ph_quaternion_is_valid(width, rounded));
        assert_int_equal(rounded.largest, levels.largest);
        assert_true(ph_rotation_coarse_of(rounded) >= coarse);
        bool is_near = true;
        for (int k = 0; k < 3; ++k) {
            const int off = abs(rounded.rest[k] - levels.rest[k]);
            assert_true(off < 1 << coarse);
            is_near = is_near && 2 * off <= 1 << coarse;
        }
        truncated += is_near ? 0 : 1;
        if (coarse == 0) {
            assert_memory_equal(rounded.rest, levels.rest, sizeof levels.rest);
        }
    }
    assert_true(truncated > 100);
}

// The same bits on every machine: a digest of many steps.
static void all_machines_agree(void** state)
{
    (void)state;
    ph_rotation rotation = {{0, 0, 0, PH_ROTATION_ONE}};
    uint64_t digest = 1469598103934665603u;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 5000; ++i) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        ph_quaternion_levels levels = {.largest = (uint8_t)(random & 3)};
        for (int k = 0; k < 3; ++k) {
            levels.rest[k] = (int16_t)((int)(random >> (8 + 12 * k) & 511) - 255);
        }
        const ph_rotation next = ph_rotation_from_levels(10, levels);
        const ph_spin spin = ph_rotation_between(&rotation, &next, 1 + (uint32_t)(random >> 60));
        rotation = ph_rotation_turned(&next, &spin, (uint32_t)(random >> 50 & 63));
        for (int k = 0; k < 4; ++k) {
            digest = (digest ^ (uint32_t)rotation.part[k]) * 1099511628211u;
        }
    }
    assert_true(digest == UINT64_C(0xdeb5b0eaa11116a7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_come_back_from_their_rotation),
        cmocka_unit_test(words_hold_levels_as_the_wire_does),
        cmocka_unit_test(either_sign_is_the_same_rotation),
        cmocka_unit_test(components_are_ordered_by_size),
        cmocka_unit_test(a_spin_leads_from_one_to_the_other),
        cmocka_unit_test(what_turns_goes_on_turning),
        cmocka_unit_test(no_rotation_stays),
        cmocka_unit_test(half_a_turn_has_an_axis),
        cmocka_unit_test(turns_wrap),
        cmocka_unit_test(coarse_levels_are_a_rotation),
        cmocka_unit_test(all_machines_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
