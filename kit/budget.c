// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Shares no code with the sender, and errs on the generous side by some tens of bytes. Runs once per
// viewer.

#include "kit/budget.h"

#include <math.h>

// Header, hello and eye; name, class, slot and association of an enter; what improbable symbols may
// take more than plain bits.
#define HEAD_BITS 512
#define ENTER_BITS 112
#define IMPROBABLE_BITS 288

// Of a number of any coding that is not measured by its range.
#define NUMBER_BITS 80
#define POSITION_BITS 112
#define REFERENCE_BITS 20
#define LENGTH_BITS 16

static int range_bits(double lo, double hi, double step)
{
    const double levels = (hi - lo) / (step > 0.0 ? step : 1.0) + 1.0;
    return levels > 1.0 ? (int)ceil(log2(levels)) + 1 : 1;
}

static int value_bits(const ph_property_def* property)
{
    const double step = property->step > 0.0 ? property->step : 1.0;
    switch (property->coding) {
    case PH_CODING_BOOL:
        return 1;
    case PH_CODING_ENUM:
        return range_bits(0.0, property->count, 1.0);
    case PH_CODING_RANGE:
        return range_bits(property->lo, property->hi, 1.0);
    case PH_CODING_FIXED:
        return range_bits(property->lo, property->hi, step);
    case PH_CODING_VEC3:
        return 2 * range_bits(property->lo, property->hi, step) +
               range_bits(fmin(property->lo, property->z_lo), fmax(property->hi, property->z_hi),
                          step);
    case PH_CODING_ANGLE:
        return property->bits;
    case PH_CODING_QUATERNION:
        return 2 + 3 * property->bits;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        return LENGTH_BITS + 8 * property->max_length;
    case PH_CODING_ENTITY:
        return REFERENCE_BITS;
    case PH_CODING_POSITION:
        return POSITION_BITS;
    default:
        return NUMBER_BITS;
    }
}

static int64_t enter_bits(const ph_class_def* kind)
{
    // What an orientation takes more than its values: how coarse it is, and how it turns.
    enum { FLAG_BITS = 1, DEFAULT_BITS = 3, ORIENTATION_BITS = 136 };
    int64_t bits = ENTER_BITS;
    for (int i = 0; i < kind->property_count; ++i) {
        bits += FLAG_BITS + DEFAULT_BITS + value_bits(&kind->properties[i]);
        bits += kind->properties[i].is_orientation ? ORIENTATION_BITS : 0;
    }
    return bits;
}

int64_t ph_budget_dearest_bits(const ph_schema* schema, int overhead_bytes)
{
    int64_t dearest = 0;
    for (int i = 0; i < ph_schema_class_count(schema); ++i) {
        const int64_t bits = enter_bits(ph_schema_class(schema, i));
        dearest = bits > dearest ? bits : dearest;
    }
    return 8 * (int64_t)overhead_bytes + HEAD_BITS + IMPROBABLE_BITS + dearest;
}

int64_t ph_budget_burst_bits(const ph_budget_def* def)
{
    return (int64_t)((double)def->bits_per_second * def->burst_s + 0.5);
}

int64_t ph_budget_depth_bits(const ph_budget_def* def, const ph_schema* schema)
{
    const int64_t burst_bits = ph_budget_burst_bits(def);
    const int64_t least_bits = ph_budget_dearest_bits(schema, def->overhead_bytes);
    return burst_bits > least_bits ? burst_bits : least_bits;
}
