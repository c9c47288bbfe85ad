// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Subtraction, by coding. A few instructions each.

#include "world/difference.h"

#include <math.h>

// Of several weights at once, that of the largest counts; the sum must not come round.
#define STIR_LIMIT 1048576.0

static uint64_t distance_of(const uint32_t* a, const uint32_t* b)
{
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const double way = (double)(int32_t)(a[axis] - b[axis]);
        square += way * way;
    }
    return (uint64_t)sqrt(square);
}

static uint64_t number_difference(const ph_property* property, const uint32_t* a, const uint32_t* b)
{
    if (property->def.coding == PH_CODING_ANGLE) {
        const int64_t way = ph_angle_difference(&property->angle, a[0], b[0]);
        return (uint64_t)(way < 0 ? -way : way);
    }
    const bool is_wide = property->words > 1;
    const uint64_t x = a[0] | (is_wide ? (uint64_t)a[1] << 32 : 0);
    const uint64_t y = b[0] | (is_wide ? (uint64_t)b[1] << 32 : 0);
    return x > y ? x - y : y - x;
}

static uint64_t largest_difference(const uint32_t* a, const uint32_t* b, int count)
{
    uint32_t largest = 0;
    for (int i = 0; i < count; ++i) {
        const uint32_t way = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        largest = way > largest ? way : largest;
    }
    return largest;
}

uint64_t ph_difference_steps(const ph_property* property, const uint32_t* a, const uint32_t* b)
{
    if (property->def.coding == PH_CODING_POSITION) {
        return distance_of(a, b);
    }
    if (property->is_number) {
        return number_difference(property, a, b);
    }
    if (property->def.coding == PH_CODING_VEC3) {
        return largest_difference(a, b, property->words);
    }
    return property->significant_steps;
}

uint32_t ph_difference_stir(const ph_property* property, const uint32_t* a, const uint32_t* b)
{
    double looks = 1.0;
    if (property->significant_steps > 1) {
        const double whole = PH_STIR_WHOLE * (double)property->significant_steps;
        looks = (double)ph_difference_steps(property, a, b) / whole;
        looks = looks < 1.0 ? looks : 1.0;
    }
    const double stir = PH_STIR_UNIT * looks * (double)property->weight;
    return stir < STIR_LIMIT ? 1 + (uint32_t)stir : (uint32_t)STIR_LIMIT;
}
