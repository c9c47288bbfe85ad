// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Logarithms of surprises. surprise.h says what for.

#include "wire/surprise.h"

#include <pinhole/integers.h>

#define NORMAL_TIME_US 250000
#define GROWTH_UNIT 4

int ph_log2_eighths(uint64_t value)
{
    // Thresholds of the eighths between 1 and 2, in 1/256.
    static const uint16_t eighths[PH_SIZE_PER_BIT] = {256, 280, 305, 332, 363, 395, 431, 470};
    if (value < 2) {
        return 0;
    }
    const int whole = ph_width_of(value) - 1;
    const uint64_t mantissa = whole >= 8 ? value >> (whole - 8) : value << (8 - whole);
    int part = PH_SIZE_PER_BIT - 1;
    while (mantissa < eighths[part]) {
        --part;
    }
    return PH_SIZE_PER_BIT * whole + part;
}

uint8_t ph_size_of(uint64_t steps)
{
    const uint64_t most = UINT64_MAX / 4;
    const int size = ph_log2_eighths(2 * (steps < most ? steps : most) + 1);
    return (uint8_t)(size < PH_SIZE_MAX ? size : PH_SIZE_MAX);
}

// In 1/8 bit: how much a surprise grows from a quarter of a second to this time.
static int growth_over(uint64_t time_us, int growth)
{
    const uint64_t grown_us = time_us < PH_CARRY_US ? time_us : PH_CARRY_US;
    const int bits = ph_log2_eighths(grown_us) - ph_log2_eighths(NORMAL_TIME_US);
    return bits * growth / GROWTH_UNIT;
}

uint8_t ph_size_normal(uint8_t size, uint64_t time_us, int growth)
{
    // Nothing is no smaller for having been short.
    if (size == 0) {
        return 0;
    }
    const int normal = size - growth_over(time_us, growth);
    return (uint8_t)(normal < 0 ? 0 : normal < PH_SIZE_MAX ? normal : PH_SIZE_MAX);
}

int ph_size_stretched(uint8_t normal, uint64_t time_us, int growth)
{
    return normal + growth_over(time_us, growth);
}

uint8_t ph_size_faded(uint8_t old, uint8_t now)
{
    return (uint8_t)((2 * old + now + 1) / 3);
}
