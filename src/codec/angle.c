// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Angles. One division and one multiplication each way; runs once per changed value.

#include "pinhole/angle.h"

#include <float.h>
#include <math.h>

// 2^n as a number: 2^32 does not fit a uint32_t.
static uint64_t part_count(const ph_angle* coding)
{
    PH_ASSERT(coding->width >= 1 && coding->width <= 32);
    return UINT64_C(1) << coding->width;
}

ph_result ph_angle_check(const ph_angle* coding)
{
    if (coding->width < 1 || coding->width > 32) {
        return PH_ERROR_WIDTH;
    }
    // A subnormal turn has too few digits for its last part to stay below it.
    if (!isfinite(coding->turn) || coding->turn < DBL_MIN) {
        return PH_ERROR_RANGE;
    }
    return PH_OK;
}

ph_result ph_angle_encode(const ph_angle* coding, double angle, uint32_t* level)
{
    if (!isfinite(angle)) {
        return PH_ERROR_NOT_A_NUMBER;
    }
    // fmod is exact however many turns there are; angle / turn would have lost the fraction.
    const double turns = fmod(angle, coding->turn) / coding->turn;
    const double parts = floor(turns * (double)part_count(coding) + 0.5);
    *level = (uint32_t)((uint64_t)(int64_t)parts & (part_count(coding) - 1));
    return PH_OK;
}

double ph_angle_decode(const ph_angle* coding, uint32_t level)
{
    PH_ASSERT(level < part_count(coding));
    return (double)level / (double)part_count(coding) * coding->turn;
}

int64_t ph_angle_difference(const ph_angle* coding, uint32_t from_level, uint32_t to_level)
{
    const uint64_t count = part_count(coding);
    const uint64_t forward = ((uint64_t)to_level - from_level) & (count - 1);
    return forward < count / 2 ? (int64_t)forward : (int64_t)forward - (int64_t)count;
}

void ph_angle_write(const ph_angle* coding, ph_bit_writer* writer, double angle)
{
    uint32_t level = 0;
    const ph_result result = ph_angle_encode(coding, angle, &level);
    if (result != PH_OK) {
        ph_bit_writer_fail(writer, result);
        return;
    }
    ph_bits_write(writer, level, coding->width);
}

double ph_angle_read(const ph_angle* coding, ph_bit_reader* reader)
{
    return ph_angle_decode(coding, (uint32_t)ph_bits_read(reader, coding->width));
}
