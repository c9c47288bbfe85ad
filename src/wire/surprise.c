// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Logarithms of surprises. surprise.h says what for.

#include "wire/surprise.h"

#include <pinhole/integers.h>

// 8 * log2 of a quarter of a second in us.
#define NORMAL_TIME_EIGHTHS 143
#define GROWTH_UNIT 4

int ph_log2_eighths(uint64_t value)
{
    // Thresholds of the eighths between 1 and 2, in 1/256.
    static const uint16_t eighths[PH_SIZE_PER_BIT - 1] = {280, 305, 332, 363, 395, 431, 470};
    if (value < 2) {
        return 0;
    }
    const int whole = ph_width_of(value) - 1;
    const uint64_t mantissa = whole >= 8 ? value >> (whole - 8) : value << (8 - whole);
    // Counted, not searched for: nothing to guess.
    int part = 0;
    for (int i = 0; i < PH_SIZE_PER_BIT - 1; ++i) {
        part += mantissa >= eighths[i];
    }
    return PH_SIZE_PER_BIT * whole + part;
}

uint8_t ph_size_of(uint64_t steps)
{
    const uint64_t most = UINT64_MAX / 4;
    const int size = ph_log2_eighths(2 * (steps < most ? steps : most) + 1);
    return (uint8_t)(size < PH_SIZE_MAX ? size : PH_SIZE_MAX);
}

int ph_size_growth(uint64_t time_us, int growth)
{
    const uint64_t grown_us = time_us < PH_CARRY_US ? time_us : PH_CARRY_US;
    return (ph_log2_eighths(grown_us) - NORMAL_TIME_EIGHTHS) * growth / GROWTH_UNIT;
}

uint8_t ph_size_normal(uint8_t size, uint64_t time_us, int growth)
{
    return ph_size_less(size, ph_size_growth(time_us, growth));
}

uint8_t ph_size_less(uint8_t size, int growth)
{
    // Nothing is no smaller for having been short.
    if (size == 0) {
        return 0;
    }
    const int normal = size - growth;
    return (uint8_t)(normal < 0 ? 0 : normal < PH_SIZE_MAX ? normal : PH_SIZE_MAX);
}

int ph_size_stretched(uint8_t normal, uint64_t time_us, int growth)
{
    return normal + ph_size_growth(time_us, growth);
}

uint8_t ph_size_faded(uint8_t old, uint8_t now)
{
    return (uint8_t)((2 * old + now + 1) / 3);
}
