// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Quaternions, the largest component left out. Runs once per changed rotation and once per rotation
// received.
//
// With m = 2^(n-1) - 1 levels to each side of zero, a step is s = sqrt(1/2) / m, and a unit
// quaternion measured in steps has the squared length U = 1 / s^2 = 2 m^2: a whole number. What a
// reader must decide is therefore decided in integers, the same on every machine.
//
//     bit 0   2          2+n         2+2n        2+3n
//     |largest| rest[0]+m | rest[1]+m | rest[2]+m |       the code 2 m + 1, all ones, is refused

#include "pinhole/quaternion.h"

#include <math.h>
#include <stdlib.h>

#define SQUARE_ROOT_OF_HALF 0.70710678118654752440
#define LENGTH_TOLERANCE 0.01

static const ph_quaternion_levels identity_levels = {.largest = 3};

static int32_t top_level(int width)
{
    PH_ASSERT(width >= PH_QUATERNION_WIDTH_MIN && width <= PH_QUATERNION_WIDTH_MAX);
    return (1 << (width - 1)) - 1;
}

// Of two equally large ones the first: both signs of a rotation then leave out the same one.
static int index_of_largest(const double components[4])
{
    int largest = 0;
    for (int i = 1; i < 4; ++i) {
        if (fabs(components[i]) > fabs(components[largest])) {
            largest = i;
        }
    }
    return largest;
}

ph_result ph_quaternion_encode(int width, ph_quaternion value, ph_quaternion_levels* levels)
{
    const double components[4] = {value.x, value.y, value.z, value.w};
    double length_squared = 0.0;
    for (int i = 0; i < 4; ++i) {
        if (!isfinite(components[i])) {
            return PH_ERROR_NOT_A_NUMBER;
        }
        length_squared += components[i] * components[i];
    }
    const double length = sqrt(length_squared);
    if (fabs(length - 1.0) > LENGTH_TOLERANCE) {
        return PH_ERROR_NOT_UNIT;
    }

    const int32_t top = top_level(width);
    const int largest = index_of_largest(components);
    // q and -q are the same rotation: take the one whose largest component is positive.
    const double sign = components[largest] < 0.0 ? -1.0 : 1.0;
    const double steps_per_unit = sign * top / (SQUARE_ROOT_OF_HALF * length);
    levels->largest = (uint8_t)largest;
    int next = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != largest) {
            const int32_t level = (int32_t)floor(components[i] * steps_per_unit + 0.5);
            levels->rest[next++] = (int16_t)level;
        }
    }
    return PH_OK;
}

ph_quaternion ph_quaternion_decode(int width, ph_quaternion_levels levels)
{
    PH_ASSERT(ph_quaternion_is_valid(width, levels));
    if (!ph_quaternion_is_valid(width, levels)) {
        levels = identity_levels;
    }

    const int32_t top = top_level(width);
    const int64_t unit_squared = INT64_C(2) * top * top;
    int64_t left_squared = unit_squared;
    double components[4];
    int next = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != levels.largest) {
            const int32_t level = levels.rest[next++];
            left_squared -= (int64_t)level * level;
            components[i] = (double)level / top * SQUARE_ROOT_OF_HALF;
        }
    }
    // A quotient of integers, not a product with s: the identity gives exactly 1.
    components[levels.largest] = sqrt((double)left_squared / (double)unit_squared);
    return (ph_quaternion){components[0], components[1], components[2], components[3]};
}

// Levels are valid when some rotation rounds to them. Its three components lie within half a step
// of the levels, and the one left out is at least as large as each of them. Of all points in that
// cube the one nearest to zero has the three smallest and leaves the most for the fourth, both at
// once: there is such a rotation if and only if that point is one. With a = |level| - 1/2, or 0,
//
//     U - sum(a^2) >= max(a)^2
//     sum((2 a)^2) + max(2 a)^2 <= 4 U = 8 m^2        the same in integers
//
// Equality never happens (odd squares are 1 modulo 8, and two to four of them are added), so it
// does not matter to which side a tie rounds. A level beyond m fails without a test of its own. And
// much is left for the fourth component: even where all four are equal, the squares of the levels
// add up to 1.5 m^2 + 2.2 m + 1 at most, far below U.
bool ph_quaternion_is_valid(int width, ph_quaternion_levels levels)
{
    const int64_t top = top_level(width);
    if (levels.largest > 3) {
        return false;
    }
    int64_t sum = 0;
    int64_t largest = 0;
    for (int i = 0; i < 3; ++i) {
        const int64_t level = llabs(levels.rest[i]);
        const int64_t doubled = level > 0 ? 2 * level - 1 : 0;
        const int64_t square = doubled * doubled;
        sum += square;
        largest = square > largest ? square : largest;
    }
    return sum + largest <= 8 * top * top;
}

int ph_quaternion_cost_bits(int width)
{
    return 3 * width + 2;
}

void ph_quaternion_write_levels(int width, ph_bit_writer* writer, ph_quaternion_levels levels)
{
    if (!ph_quaternion_is_valid(width, levels)) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    const int32_t top = top_level(width);
    uint64_t field = levels.largest;
    for (int i = 0; i < 3; ++i) {
        field |= (uint64_t)(levels.rest[i] + top) << (2 + i * width);
    }
    ph_bits_write(writer, field, ph_quaternion_cost_bits(width));
}

ph_quaternion_levels ph_quaternion_read_levels(int width, ph_bit_reader* reader)
{
    const int32_t top = top_level(width);
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    const uint64_t field = ph_bits_read(reader, ph_quaternion_cost_bits(width));
    ph_quaternion_levels levels = {.largest = (uint8_t)(field & 3)};
    for (int i = 0; i < 3; ++i) {
        const int32_t level = (int32_t)((field >> (2 + i * width)) & mask) - top;
        // The unused code. Of 16 bits it is one more than an int16_t holds.
        if (level > top) {
            ph_bit_reader_fail(reader, PH_ERROR_VALUE);
            return identity_levels;
        }
        levels.rest[i] = (int16_t)level;
    }
    if (!ph_quaternion_is_valid(width, levels)) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return identity_levels;
    }
    return levels;
}

void ph_quaternion_write(int width, ph_bit_writer* writer, ph_quaternion value)
{
    ph_quaternion_levels levels = identity_levels;
    const ph_result result = ph_quaternion_encode(width, value, &levels);
    if (result != PH_OK) {
        ph_bit_writer_fail(writer, result);
        return;
    }
    ph_quaternion_write_levels(width, writer, levels);
}

ph_quaternion ph_quaternion_read(int width, ph_bit_reader* reader)
{
    return ph_quaternion_decode(width, ph_quaternion_read_levels(width, reader));
}
