// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rotations in fixed point, at both ends. Runs for each orientation that is told or taken in.
//
// Angles by CORDIC: a vector is turned by angles whose tangents are 1, 1/2, 1/4 ..., and the angles are
// added up, or add up to the one that is wanted. Numbers are shifted far to the left before, so that what
// the shifts drop is below what is asked for.

#include "codec/rotation.h"

#include "base/check.h"
#include "base/math.h"

#include <stdlib.h>

#define ONE_BITS 30
// sqrt(1/2) in 2^-30: the greatest level.
#define GREATEST INT64_C(759250125)

// atan(2^-i) in 2^-40 of a turn.
static const int64_t TURNS[] = {
    137438953472, 81134951838, 42869480287, 21761217566, 10922836750, 5466743129, 2734038620,
    1367102738,   683561799,   341782203,   170891265,   85445653,    42722829,   21361415,
    10680707,     5340354,     2670177,     1335088,     667544,      333772,     166886,
    83443,        41722,       20861,       10430,       5215,        2608,       1304,
    652,          326,         163};

enum { TURN_COUNT = sizeof TURNS / sizeof TURNS[0], TURN_BITS = 40, ANGLE_BITS = 32 };

// All turns together make a vector longer; 2^60 over that.
#define TURNED_ONE INT64_C(700114967507363239)

// ---- small arithmetic

// Rounded down, whatever the sign. Compilers know it for the one instruction that it is.
static inline int64_t shifted(int64_t value, int bits)
{
    return value < 0 ? ~(~value >> bits) : value >> bits;
}

// From 2^-60 to 2^-30, to nearest.
static inline int32_t to_one_part(int64_t value)
{
    return (int32_t)shifted(value + (INT64_C(1) << (ONE_BITS - 1)), ONE_BITS);
}

// To nearest, the half away from zero; the divisor is above 0.
static int64_t quotient(int64_t dividend, int64_t divisor)
{
    const int64_t magnitude = (llabs(dividend) + divisor / 2) / divisor;
    return dividend < 0 ? -magnitude : magnitude;
}

// Rounded down.
static int64_t whole_root_of(uint64_t square)
{
    uint64_t root = 0;
    uint64_t left = square;
    for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 2) {
        const bool is_in = left >= root + bit;
        left -= is_in ? root + bit : 0;
        root = (root >> 1) + (is_in ? bit : 0);
    }
    return (int64_t)root;
}

// ---- angles

// Of a vector in the first quarter, not 0, 0: in 2^-32 of a turn, at most a quarter.
static uint32_t angle_of(int64_t x, int64_t y)
{
    const int width = ph_word_width((uint64_t)(x > y ? x : y));
    x *= INT64_C(1) << (60 - width);
    y *= INT64_C(1) << (60 - width);
    int64_t angle = 0;
    for (int i = 0; i < TURN_COUNT; ++i) {
        const bool is_above = y >= 0;
        const int64_t aside = shifted(y, i);
        const int64_t ahead = shifted(x, i);
        x += is_above ? aside : -aside;
        y -= is_above ? ahead : -ahead;
        angle += is_above ? TURNS[i] : -TURNS[i];
    }
    enum { DROPPED = TURN_BITS - ANGLE_BITS };
    const int64_t rounded = shifted(angle + (1 << (DROPPED - 1)), DROPPED);
    return (uint32_t)(rounded > 0 ? rounded : 0);
}

// Cosine and sine in 2^-30 of an angle in 2^-32 of a turn.
static void direction_at(uint32_t angle, int32_t* cosine, int32_t* sine)
{
    // Half a turn more or less where it is behind.
    const bool is_behind = angle > UINT32_C(1) << 30 && angle < UINT32_C(3) << 30;
    int64_t left = (int32_t)(is_behind ? angle + (UINT32_C(1) << 31) : angle);
    left *= INT64_C(1) << (TURN_BITS - ANGLE_BITS);
    int64_t x = TURNED_ONE;
    int64_t y = 0;
    for (int i = 0; i < TURN_COUNT; ++i) {
        const bool is_left = left >= 0;
        const int64_t aside = shifted(y, i);
        const int64_t ahead = shifted(x, i);
        x -= is_left ? aside : -aside;
        y += is_left ? ahead : -ahead;
        left -= is_left ? TURNS[i] : -TURNS[i];
    }
    *cosine = to_one_part(is_behind ? -x : x);
    *sine = to_one_part(is_behind ? -y : y);
}

// ---- levels

static int32_t top_of_width(int width)
{
    PH_ASSERT(width >= PH_QUATERNION_WIDTH_MIN && width <= PH_QUATERNION_WIDTH_MAX);
    return (1 << (width - 1)) - 1;
}

ph_quaternion_levels ph_rotation_levels_of_words(int width, const uint32_t words[2])
{
    const uint64_t field = (uint64_t)words[1] << 32 | words[0];
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    ph_quaternion_levels levels = {.largest = (uint8_t)(field & 3)};
    for (int i = 0; i < 3; ++i) {
        const int32_t level = (int32_t)(field >> (2 + i * width) & mask) - top_of_width(width);
        levels.rest[i] = (int16_t)(level < INT16_MAX ? level : INT16_MAX);
    }
    return levels;
}

void ph_rotation_words_of_levels(int width, ph_quaternion_levels levels, uint32_t words[2])
{
    uint64_t field = levels.largest;
    for (int i = 0; i < 3; ++i) {
        field |= (uint64_t)(levels.rest[i] + top_of_width(width)) << (2 + i * width);
    }
    words[0] = (uint32_t)field;
    words[1] = (uint32_t)(field >> 32);
}

ph_rotation ph_rotation_from_levels(int width, ph_quaternion_levels levels)
{
    const int32_t top = top_of_width(width);
    ph_rotation rotation;
    int64_t squares = 0;
    int next = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != levels.largest) {
            const int64_t part = quotient(levels.rest[next++] * GREATEST, top);
            rotation.part[i] = (int32_t)part;
            squares += part * part;
        }
    }
    const int64_t left = (INT64_C(1) << (2 * ONE_BITS)) - squares;
    PH_ASSERT(levels.largest < 4 && left > 0);
    rotation.part[levels.largest & 3] = (int32_t)whole_root_of(left > 0 ? (uint64_t)left : 0);
    return rotation;
}

void ph_rotation_order(const ph_rotation* rotation, uint8_t order[4])
{
    for (int i = 0; i < 4; ++i) {
        int at = i;
        for (; at > 0 && labs(rotation->part[order[at - 1]]) < labs(rotation->part[i]); --at) {
            order[at] = order[at - 1];
        }
        order[at] = (uint8_t)i;
    }
}

uint32_t ph_rotation_levels_behind(int width, const ph_rotation* rotation, const uint8_t order[4])
{
    const int64_t largest = labs(rotation->part[order[0]]);
    const int64_t second = labs(rotation->part[order[1]]);
    return (uint32_t)((largest - second) * top_of_width(width) / GREATEST);
}

void ph_rotation_chart(int width, const ph_rotation* rotation, int left_out, int32_t levels[3])
{
    const int32_t top = top_of_width(width);
    const int64_t sign = rotation->part[left_out] < 0 ? -1 : 1;
    int next = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != left_out) {
            levels[next++] = (int32_t)quotient(sign * rotation->part[i] * top, GREATEST);
        }
    }
}

ph_quaternion_levels ph_rotation_coarse(int width, ph_quaternion_levels levels, int coarse)
{
    PH_ASSERT(coarse >= 0 && coarse <= PH_ROTATION_COARSE_MAX);

    const int32_t half = (1 << coarse) / 2;
    ph_quaternion_levels nearest = levels;
    ph_quaternion_levels nearer = levels;
    for (int i = 0; i < 3; ++i) {
        const int32_t magnitude = abs(levels.rest[i]);
        const int32_t down = magnitude >> coarse << coarse;
        const int32_t rounded = (magnitude + half) >> coarse << coarse;
        nearer.rest[i] = (int16_t)(levels.rest[i] < 0 ? -down : down);
        nearest.rest[i] = (int16_t)(levels.rest[i] < 0 ? -rounded : rounded);
    }
    // All levels that are smaller than those of a rotation are one, too.
    const bool is_good = abs(nearest.rest[0]) <= top_of_width(width) &&
                         abs(nearest.rest[1]) <= top_of_width(width) &&
                         abs(nearest.rest[2]) <= top_of_width(width) &&
                         ph_quaternion_is_valid(width, nearest);
    return is_good ? nearest : nearer;
}

int ph_rotation_coarse_of(ph_quaternion_levels levels)
{
    const unsigned all =
        (unsigned)(levels.rest[0] | levels.rest[1] | levels.rest[2]) | 1u << PH_ROTATION_COARSE_MAX;
    return ph_word_lowest_bit(all);
}

// ---- motion

ph_rotation ph_rotation_product(const ph_rotation* a, const ph_rotation* b)
{
    const int64_t ax = a->part[0];
    const int64_t ay = a->part[1];
    const int64_t az = a->part[2];
    const int64_t aw = a->part[3];
    const int64_t bx = b->part[0];
    const int64_t by = b->part[1];
    const int64_t bz = b->part[2];
    const int64_t bw = b->part[3];
    return (ph_rotation){{to_one_part(aw * bx + ax * bw + ay * bz - az * by),
                          to_one_part(aw * by - ax * bz + ay * bw + az * bx),
                          to_one_part(aw * bz + ax * by - ay * bx + az * bw),
                          to_one_part(aw * bw - ax * bx - ay * by - az * bz)}};
}

ph_rotation ph_rotation_inverse(const ph_rotation* rotation)
{
    return (ph_rotation){
        {-rotation->part[0], -rotation->part[1], -rotation->part[2], rotation->part[3]}};
}

static void cross_product(const int64_t a[3], const int64_t b[3], int64_t product[3])
{
    product[0] = a[1] * b[2] - a[2] * b[1];
    product[1] = a[2] * b[0] - a[0] * b[2];
    product[2] = a[0] * b[1] - a[1] * b[0];
}

// With the vector part q and the scalar w: v + w t + q x t, where t = 2 q x v. t is kept in 2^-8: of 2^20 it has 30
// bits, and products with parts of the rotation less than 63.
void ph_rotation_turn_vector(const ph_rotation* rotation, const int32_t vector[3],
                             int32_t turned[3])
{
    enum { KEPT_BITS = 8, T_DROPPED = ONE_BITS - KEPT_BITS, DROPPED = ONE_BITS + KEPT_BITS };
    const int64_t q[3] = {rotation->part[0], rotation->part[1], rotation->part[2]};
    const int64_t v[3] = {vector[0], vector[1], vector[2]};
    int64_t t[3];
    int64_t aside[3];
    cross_product(q, v, t);
    for (int i = 0; i < 3; ++i) {
        PH_ASSERT(labs(vector[i]) < PH_ROTATION_VECTOR_END);
        t[i] = shifted(2 * t[i] + (INT64_C(1) << (T_DROPPED - 1)), T_DROPPED);
    }
    cross_product(q, t, aside);
    for (int i = 0; i < 3; ++i) {
        const int64_t more = rotation->part[3] * t[i] + aside[i];
        turned[i] = vector[i] + (int32_t)shifted(more + (INT64_C(1) << (DROPPED - 1)), DROPPED);
    }
}

ph_spin ph_rotation_spin(const ph_rotation* turned, uint32_t between)
{
    PH_ASSERT(between > 0);

    const int64_t sign = turned->part[3] < 0 ? -1 : 1;
    uint64_t square = 0;
    for (int i = 0; i < 3; ++i) {
        square += (uint64_t)((int64_t)turned->part[i] * turned->part[i]);
    }
    const int64_t length = whole_root_of(square);
    ph_spin spin = {.between = between};
    if (length == 0) {
        return spin;
    }
    for (int i = 0; i < 3; ++i) {
        spin.axis[i] = (int32_t)quotient(sign * turned->part[i] * (INT64_C(1) << ONE_BITS), length);
    }
    spin.half = angle_of(sign * turned->part[3], length);
    return spin;
}

ph_spin ph_rotation_between(const ph_rotation* from, const ph_rotation* to, uint32_t between)
{
    const ph_rotation back = ph_rotation_inverse(from);
    const ph_rotation turned = ph_rotation_product(to, &back);
    return ph_rotation_spin(&turned, between);
}

ph_rotation ph_rotation_turned(const ph_rotation* rotation, const ph_spin* spin, uint32_t ahead)
{
    if (spin->half == 0 || ahead == 0) {
        return *rotation;
    }
    const uint64_t product = (uint64_t)spin->half * ahead;
    const uint32_t angle = (uint32_t)((product + spin->between / 2) / spin->between);
    int32_t cosine;
    int32_t sine;
    direction_at(angle, &cosine, &sine);
    const ph_rotation turn = {{to_one_part((int64_t)spin->axis[0] * sine),
                               to_one_part((int64_t)spin->axis[1] * sine),
                               to_one_part((int64_t)spin->axis[2] * sine), cosine}};
    return ph_rotation_product(&turn, rotation);
}
