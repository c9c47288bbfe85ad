// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random schemas. Parameters are chosen so that every declaration is accepted.

#include "random_schema.h"

#include <math.h>
#include <stdio.h>

static bool coin(test_rng* rng)
{
    return test_rng_below(rng, 2) == 0;
}

static double between(test_rng* rng, double lo, double hi)
{
    return lo + (hi - lo) * test_rng_unit(rng);
}

static void fill_name(char* name, test_rng* rng, int number)
{
    static const char letters[] = "abcxyzABCXYZ_019";
    const int length = 1 + (int)test_rng_below(rng, PH_SCHEMA_NAME_MAX - 4);
    for (int i = 0; i < length; ++i) {
        name[i] = letters[test_rng_below(rng, i == 0 ? 13 : 16)];
    }
    snprintf(name + length, 5, "_%u", (unsigned)number % 1000u); // makes it unique
}

// Whole numbers, of any size up to 2^bits.
static void fill_range(ph_property_def* def, test_rng* rng, int bits)
{
    const double size = ldexp(1.0, (int)test_rng_below(rng, (uint64_t)bits + 1));
    def->lo = coin(rng) ? 0.0 : floor(between(rng, -size / 2, size / 2));
    def->hi = def->lo + 1.0 + floor(between(rng, 0, size / 2));
}

// A ladder of whole steps on both sides of zero, or all above it.
static void fill_ladder(ph_property_def* def, test_rng* rng)
{
    static const double steps[] = {0.1, 0.25, 1, 1e-9, 3e12, 1.0 / 3.0, 0.7};
    def->step = coin(rng) ? steps[test_rng_below(rng, 7)] : between(rng, 1e-3, 10);
    const double below = coin(rng) ? 0.0 : floor(between(rng, 0, 1000));
    const double above = 1.0 + floor(between(rng, 0, 1000));
    def->lo = -below * def->step;
    def->hi = above * def->step;
    if (def->coding == PH_CODING_VEC3 && coin(rng)) {
        def->z_lo = def->lo - def->step;
        def->z_hi = def->hi;
    }
}

static void fill_default(ph_property_def* def, test_rng* rng, double lo, double hi, bool is_whole)
{
    if (coin(rng)) {
        return;
    }
    const double value = between(rng, lo, hi);
    def->default_value = is_whole ? floor(value) : value;
    const bool can_spend = lo <= 0.0 || def->default_value != 0.0;
    def->has_default = can_spend && coin(rng) ? 1 + (int)test_rng_below(rng, 7) : 0;
}

static void fill_whole(ph_property_def* def, test_rng* rng)
{
    double hi = 1.0;
    if (def->coding == PH_CODING_ENUM) {
        const uint64_t shift = 34 + test_rng_below(rng, 29);
        def->count = 2 + (int)(test_rng_next(rng) >> shift);
        hi = def->count - 1.0;
    } else if (def->coding == PH_CODING_RANGE || def->coding == PH_CODING_VARINT) {
        fill_range(def, rng, 53);
        hi = def->hi;
    } else if (def->coding != PH_CODING_BOOL) {
        fill_range(def, rng, 31);
        hi = def->hi;
    }
    if (def->coding == PH_CODING_RICE) {
        def->rice_k = (int)test_rng_below(rng, 32);
    }
    if (def->coding == PH_CODING_ENUM || def->coding == PH_CODING_RANGE) {
        def->is_arithmetic = hi - def->lo < 4294967295.0 && coin(rng);
    }
    fill_default(def, rng, def->lo, hi, true);
}

// All texts of a class together, so that an entity fits a datagram however many there are.
#define TEXT_BYTES_MAX (PH_TEXT_LENGTH_MAX - 100)

static int text_length(test_rng* rng, int* text_bytes_left)
{
    const int most = *text_bytes_left - RANDOM_PROPERTIES_MAX;
    const int length = 1 + (int)test_rng_below(rng, most > 0 ? (uint64_t)most : 1);
    *text_bytes_left -= length;
    return length;
}

static void fill_coding(ph_property_def* def, test_rng* rng, int* text_bytes_left)
{
    switch (def->coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        fill_ladder(def, rng);
        fill_default(def, rng, def->lo, def->hi, false);
        return;
    case PH_CODING_ANGLE:
        def->bits = (int)test_rng_below(rng, 33);
        def->turn = coin(rng) ? 0.0 : between(rng, 0.1, 1000);
        fill_default(def, rng, -1000, 1000, false);
        return;
    case PH_CODING_QUATERNION:
        def->bits = 8 + (int)test_rng_below(rng, 9);
        return;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        def->max_length = text_length(rng, text_bytes_left);
        return;
    case PH_CODING_POSITION:
        def->step = ldexp(1.0, (int)test_rng_below(rng, 12));
        if (coin(rng)) {
            def->finest = fmax(ldexp(def->step, -(int)test_rng_below(rng, 8)), 1.0);
        }
        def->bits = (int)test_rng_below(rng, 21);
        def->ground_tolerance_mm = coin(rng) ? 0 : (int)test_rng_below(rng, 5000);
        def->significant = coin(rng) ? 0.0 : between(rng, 0, 1000);
        return;
    case PH_CODING_ENTITY:
        return;
    default:
        fill_whole(def, rng);
        return;
    }
}

static void fill_policy(ph_property_def* def, test_rng* rng)
{
    def->weight = coin(rng) ? 0.0 : between(rng, 0.001, 1000);
    const bool is_once = !coin(rng);
    def->when = is_once && def->coding != PH_CODING_ENTITY ? PH_SEND_ONCE : PH_SEND_ON_CHANGE;
    def->finest = is_once ? 0.0 : def->finest;
    if (def->coding == PH_CODING_POSITION) {
        return;
    }
    def->distance_m = coin(rng) ? 0.0 : between(rng, 0, 5000000);
    def->audience = (ph_audience)test_rng_below(rng, 3);
    if (def->audience == PH_AUDIENCE_MASK) {
        def->audience_mask = 1 + (uint32_t)test_rng_below(rng, UINT32_MAX);
    }
}

// The first reference is the carrier of its class.
static void mark_carrier(ph_property_def* defs, int count)
{
    for (int i = 0; i < count; ++i) {
        if (defs[i].coding == PH_CODING_ENTITY) {
            defs[i].is_carrier = true;
            return;
        }
    }
}

// One of them may be the orientation or the heading, whatever its name and place.
static void mark_motion(ph_property_def* defs, int count, test_rng* rng)
{
    const int first = (int)test_rng_below(rng, (uint64_t)count);
    const bool is_marked = test_rng_below(rng, 4) != 0;
    for (int i = 0; i < count && is_marked; ++i) {
        ph_property_def* def = &defs[(first + i) % count];
        if (def->coding == PH_CODING_QUATERNION && def->when != PH_SEND_ONCE) {
            def->is_orientation = true;
            return;
        }
        if (def->coding == PH_CODING_ANGLE) {
            def->is_heading = true;
            return;
        }
    }
}

static bool has_order(ph_coding coding)
{
    return coding >= PH_CODING_RANGE && coding <= PH_CODING_VEC3;
}

// Half of what can be smooth.
static void mark_smooth(ph_property_def* defs, int count, test_rng* rng)
{
    for (int i = 0; i < count; ++i) {
        defs[i].is_smooth = has_order(defs[i].coding) && defs[i].when != PH_SEND_ONCE &&
                            !defs[i].is_orientation && !defs[i].is_heading && coin(rng);
    }
}

void random_schema_fill(random_schema* tables, test_rng* rng)
{
    static const double bends[] = {0.0, PH_BEND_NONE, 1.25, 1e-9};
    *tables = (random_schema){.class_count = 1 + (int)test_rng_below(rng, RANDOM_CLASSES_MAX)};
    for (int c = 0; c < tables->class_count; ++c) {
        fill_name(tables->class_names[c], rng, c);
        const int count = 1 + (int)test_rng_below(rng, RANDOM_PROPERTIES_MAX);
        tables->classes[c] = (ph_class_def){.name = tables->class_names[c],
                                            .properties = tables->properties[c],
                                            .property_count = count,
                                            .bend = bends[(c + count) % 4],
                                            .leg_ms = count * 7 % 5};
        const int position = (int)test_rng_below(rng, (uint64_t)count);
        int text_bytes_left = TEXT_BYTES_MAX;
        for (int p = 0; p < count; ++p) {
            ph_property_def* def = &tables->properties[c][p];
            fill_name(tables->names[c][p], rng, p);
            def->name = tables->names[c][p];
            def->coding = p == position
                              ? PH_CODING_POSITION
                              : (ph_coding)(1 + test_rng_below(rng, PH_CODING_POSITION - 1));
            fill_coding(def, rng, &text_bytes_left);
            fill_policy(def, rng);
        }
        mark_motion(tables->properties[c], count, rng);
        mark_carrier(tables->properties[c], count);
        mark_smooth(tables->properties[c], count, rng);
        tables->classes[c].radius_m = coin(rng) ? 0.0 : between(rng, 0.001, 1000);
    }
}
