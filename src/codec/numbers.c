// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Real numbers: fixed point, vectors of three, angles. A declaration is checked once; encoding runs once
// per changed value, decoding once per value received. Doubles throughout: a level has up to 32 bits, a
// float would lose eight of them.

#include "bits/entropy_run.h"
#include "pinhole/angle.h"
#include "pinhole/fixed.h"
#include "pinhole/integers.h"

#include <float.h>
#include <math.h>

// How far a declared range, or its zero, may miss a whole number of steps, in steps. Wide enough
// for steps that were once floats, far too narrow to hide a wrong declaration.
#define TOLERANCE_STEPS 1e-3
// The finest step, relative to the ends: rounding in doubles then stays below TOLERANCE_STEPS.
#define FINEST_STEP 0x1p-40

// ---- fixed point

// -lo in steps, when that is a whole number and no other level is exact already.
static ph_result find_zero(ph_fixed* coding)
{
    const double steps = -coding->lo / coding->step;
    const double nearest = floor(steps + 0.5);
    if (fabs(steps - nearest) > TOLERANCE_STEPS) {
        return PH_ERROR_ZERO;
    }
    const uint32_t level = (uint32_t)nearest;
    // An end that misses zero by less than the tolerance: the level cannot be both.
    if ((level == 0 && coding->lo < 0.0) || (level == coding->top_level && coding->hi > 0.0)) {
        return PH_ERROR_ZERO;
    }
    coding->zero_level = level;
    coding->has_zero = true;
    return PH_OK;
}

ph_result ph_fixed_make(double lo, double hi, double step, ph_fixed* coding)
{
    PH_ASSERT(coding != NULL);

    const double span = hi - lo;
    if (!isfinite(span) || !(lo < hi)) {
        return PH_ERROR_RANGE;
    }
    // Subnormal steps have too few digits to be multiplied by a level.
    if (!isfinite(step) || step < DBL_MIN) {
        return PH_ERROR_STEP;
    }
    const double steps = span / step;
    if (steps >= (double)UINT32_MAX + 0.5) {
        return PH_ERROR_WIDTH;
    }
    const double top = floor(steps + 0.5);
    if (top < 1.0 || fabs(steps - top) > TOLERANCE_STEPS) {
        return PH_ERROR_STEP;
    }
    // The ends are at most 2^32 steps apart: where one is that far from zero, so is the other.
    if (step < fabs(lo) * FINEST_STEP) {
        return PH_ERROR_STEP;
    }

    ph_fixed made = {.lo = lo, .hi = hi, .step = span / top, .top_level = (uint32_t)top};
    made.width = ph_width_of(made.top_level);
    if (lo <= 0.0 && hi >= 0.0) {
        const ph_result result = find_zero(&made);
        if (result != PH_OK) {
            return result;
        }
    }
    *coding = made;
    return PH_OK;
}

ph_result ph_fixed_set_default(ph_fixed* coding, double default_value)
{
    if (isnan(default_value)) {
        return PH_ERROR_NOT_A_NUMBER;
    }
    if (default_value < coding->lo || default_value > coding->hi) {
        return PH_ERROR_VALUE;
    }
    coding->has_default = true;
    return ph_fixed_encode(coding, default_value, &coding->default_level);
}

ph_result ph_fixed_encode(const ph_fixed* coding, double value, uint32_t* level)
{
    if (isnan(value)) {
        return PH_ERROR_NOT_A_NUMBER;
    }
    // Clamped before anything is computed: no difference overflows, no conversion is out of range.
    if (value <= coding->lo) {
        *level = 0;
    } else if (value >= coding->hi) {
        *level = coding->top_level;
    } else {
        *level = (uint32_t)floor((value - coding->lo) / coding->step + 0.5);
    }
    return PH_OK;
}

double ph_fixed_decode(const ph_fixed* coding, uint32_t level)
{
    PH_ASSERT(level <= coding->top_level);

    if (coding->has_zero && level == coding->zero_level) {
        return 0.0;
    }
    if (level == coding->top_level) {
        return coding->hi;
    }
    return coding->lo + (double)level * coding->step;
}

int ph_fixed_cost_bits(const ph_fixed* coding, uint32_t level)
{
    if (!coding->has_default) {
        return coding->width;
    }
    return level == coding->default_level ? 1 : 1 + coding->width;
}

void ph_fixed_write_level(const ph_fixed* coding, ph_bit_writer* writer, uint32_t level)
{
    if (level > coding->top_level) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    if (!coding->has_default) {
        ph_bits_write(writer, level, coding->width);
        return;
    }
    if (level == coding->default_level) {
        ph_bits_write_bool(writer, true);
        return;
    }
    // Flag and level as one field: the flag is its lowest bit and therefore comes first.
    ph_bits_write(writer, (uint64_t)level << 1, 1 + coding->width);
}

uint32_t ph_fixed_read_level(const ph_fixed* coding, ph_bit_reader* reader)
{
    if (coding->has_default && ph_bits_read_bool(reader)) {
        return coding->default_level;
    }
    const uint32_t level = (uint32_t)ph_bits_read(reader, coding->width);
    // One value, one legal encoding: the default has its own.
    const bool is_spelled_default = coding->has_default && level == coding->default_level;
    if (level > coding->top_level || is_spelled_default) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return 0;
    }
    return level;
}

void ph_fixed_write(const ph_fixed* coding, ph_bit_writer* writer, double value)
{
    uint32_t level = 0;
    const ph_result result = ph_fixed_encode(coding, value, &level);
    if (result != PH_OK) {
        ph_bit_writer_fail(writer, result);
        return;
    }
    ph_fixed_write_level(coding, writer, level);
}

double ph_fixed_read(const ph_fixed* coding, ph_bit_reader* reader)
{
    return ph_fixed_decode(coding, ph_fixed_read_level(coding, reader));
}

// Levels of all three, and what they cost together.
static ph_result vec3_encode(const ph_vec3_coding* coding, ph_vec3 value, uint32_t levels[3],
                             int* cost_bits)
{
    const ph_fixed* const codings[3] = {&coding->x, &coding->y, &coding->z};
    const double values[3] = {value.x, value.y, value.z};
    *cost_bits = 0;
    for (int i = 0; i < 3; ++i) {
        const ph_result result = ph_fixed_encode(codings[i], values[i], &levels[i]);
        if (result != PH_OK) {
            return result;
        }
        *cost_bits += ph_fixed_cost_bits(codings[i], levels[i]);
    }
    return PH_OK;
}

void ph_vec3_write(const ph_vec3_coding* coding, ph_bit_writer* writer, ph_vec3 value)
{
    uint32_t levels[3];
    int cost_bits;
    const ph_result result = vec3_encode(coding, value, levels, &cost_bits);
    if (result != PH_OK) {
        ph_bit_writer_fail(writer, result);
        return;
    }
    if (!ph_bits_require(writer, (size_t)cost_bits)) {
        return;
    }
    ph_fixed_write_level(&coding->x, writer, levels[0]);
    ph_fixed_write_level(&coding->y, writer, levels[1]);
    ph_fixed_write_level(&coding->z, writer, levels[2]);
}

ph_vec3 ph_vec3_read(const ph_vec3_coding* coding, ph_bit_reader* reader)
{
    // One statement each: the order of an initialiser list is not the order of evaluation.
    ph_vec3 value;
    value.x = ph_fixed_read(&coding->x, reader);
    value.y = ph_fixed_read(&coding->y, reader);
    value.z = ph_fixed_read(&coding->z, reader);
    return value;
}

int ph_vec3_cost_bits(const ph_vec3_coding* coding, ph_vec3 value)
{
    uint32_t levels[3];
    int cost_bits;
    return vec3_encode(coding, value, levels, &cost_bits) == PH_OK ? cost_bits : 0;
}

// ---- angles: one division and one multiplication each way

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
