// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per cube that changes, and of each cube once per frame that is compared.

#include "cubes_rotation.h"

#include <pinhole/quaternion.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define SQUARE_ROOT_OF_HALF 0.70710678118654752440
#define TOP ((1 << (CUBES_QUATERNION_BITS - 1)) - 1)
#define MIDDLE (PH_CUBES_LEVELS / 2)
// Levels are this far apart from whole numbers only by rounding of doubles.
#define WHOLE_TOLERANCE 1e-9
// A little less than half a step: still rounds to the level.
#define NEARLY_HALF 0.499
// How far levels may be off: a slip has four bits for each, less one code.
#define OFF_MAX 4
#define OFF_CODES (2 * OFF_MAX + 1)

_Static_assert(1 + 4 * OFF_CODES * OFF_CODES * OFF_CODES <= 4096, "the range of a slip");

// ---- what a client reads

// Which component a quaternion was restored from: the other three are whole levels. Of several the first.
static int find_left_out(const double components[4])
{
    bool is_whole[4];
    for (int i = 0; i < 4; ++i) {
        const double level = components[i] * TOP / SQUARE_ROOT_OF_HALF;
        is_whole[i] = fabs(level - round(level)) < WHOLE_TOLERANCE;
    }
    for (int out = 0; out < 3; ++out) {
        bool is_it = components[out] > 0.0;
        for (int i = 0; i < 4; ++i) {
            is_it = is_it && (i == out || is_whole[i]);
        }
        if (is_it) {
            return out;
        }
    }
    return 3;
}

// Levels of the three others. q and -q are the same rotation.
static void levels_without(const double components[4], int out, int levels[3])
{
    const double per_level = (components[out] < 0.0 ? -TOP : TOP) / SQUARE_ROOT_OF_HALF;
    int next = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != out) {
            levels[next++] = (int)lround(components[i] * per_level);
        }
    }
}

static uint16_t slip_of(const ph_cube* cube, const double components[4])
{
    int levels[3];
    levels_without(components, cube->largest, levels);
    bool is_same = cube->largest == find_left_out(components);
    int slip = cube->largest;
    for (int i = 0; i < 3; ++i) {
        const int off = cube->rest[i] - MIDDLE - levels[i];
        PH_ASSERT(abs(off) <= OFF_MAX);
        is_same = is_same && off == 0;
        slip = slip * OFF_CODES + off + OFF_MAX;
    }
    return (uint16_t)(is_same ? 0 : 1 + slip);
}

void cubes_rotation_read(const cubes_rotation* rotation, ph_cube* cube)
{
    int offs[3] = {0};
    int out = find_left_out(rotation->components);
    if (rotation->slip > 0) {
        int slip = rotation->slip - 1;
        for (int i = 2; i >= 0; --i) {
            offs[i] = slip % OFF_CODES - OFF_MAX;
            slip /= OFF_CODES;
        }
        out = slip & 3;
    }
    int levels[3];
    levels_without(rotation->components, out, levels);
    cube->largest = (uint8_t)out;
    for (int i = 0; i < 3; ++i) {
        cube->rest[i] = (int16_t)(levels[i] + offs[i] + MIDDLE);
    }
}

// ---- from a record

// A rotation that rounds to these levels: each a little less, so that what is left for the fourth component is the
// largest of all.
static void set_components(ph_quaternion_levels levels, double components[4])
{
    double left = 1.0;
    int next = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != levels.largest) {
            const double level = levels.rest[next++];
            const double less = level > 0.0   ? level - NEARLY_HALF
                                : level < 0.0 ? level + NEARLY_HALF
                                              : 0.0;
            components[i] = less / TOP * SQUARE_ROOT_OF_HALF;
            left -= components[i] * components[i];
        }
    }
    components[levels.largest] = sqrt(left);
}

static int clamped(int level)
{
    return level < -TOP ? -TOP : level > TOP ? TOP : level;
}

// The nearest levels that the library has: those of a rotation whose largest component is left out.
static ph_quaternion_levels nearest_levels(const ph_cube* cube)
{
    ph_quaternion_levels levels = {.largest = cube->largest};
    for (int i = 0; i < 3; ++i) {
        levels.rest[i] = (int16_t)clamped(cube->rest[i] - MIDDLE);
    }
    while (!ph_quaternion_is_valid(CUBES_QUATERNION_BITS, levels)) {
        int16_t* most = &levels.rest[0];
        for (int i = 1; i < 3; ++i) {
            most = abs(levels.rest[i]) > abs(*most) ? &levels.rest[i] : most;
        }
        *most = (int16_t)(*most > 0 ? *most - 1 : *most + 1);
    }
    return levels;
}

cubes_rotation cubes_rotation_of(const ph_cube* cube)
{
    const ph_quaternion_levels levels = nearest_levels(cube);
    cubes_rotation rotation;
    set_components(levels, rotation.components);
    const ph_quaternion shown = ph_quaternion_decode(CUBES_QUATERNION_BITS, levels);
    const double components[4] = {shown.x, shown.y, shown.z, shown.w};
    rotation.slip = slip_of(cube, components);
    return rotation;
}
