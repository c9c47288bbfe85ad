// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Checks and prepares one property. Runs when a schema is made, twice per property: once before
// memory is taken, once to fill it.

#include "schema/prepare.h"

#include "schema/field.h"
#include "schema/prepare_coding.h"

#include <float.h>
#include <math.h>

#define DISTANCE_MAX_M 5e6
#define WEIGHT_MIN 1e-6
#define WEIGHT_MAX 1e6

// A quotient of declared decimals misses its whole number by some 1e-16: 2.1 / 0.3 is seven steps.
#define STEPS_SLACK 1e-6

// ---- before the coding

bool ph_name_is_valid(const char* name)
{
    if (name == NULL || name[0] == '\0' || (name[0] >= '0' && name[0] <= '9')) {
        return false;
    }
    size_t length = 0;
    for (; name[length] != '\0'; ++length) {
        const char c = name[length];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (length == PH_SCHEMA_NAME_MAX || !(is_letter || (c >= '0' && c <= '9') || c == '_')) {
            return false;
        }
    }
    return true;
}

// Values of the enums from outside our own code, and of the texts that point nowhere.
static bool check_enums(const ph_property_def* def, ph_problem* problem)
{
    if (!ph_name_is_valid(def->name)) {
        return ph_refuse(problem, PH_PARAMETER_NAME,
                         "name must be 1..%d letters, digits and underscores, not a digit first",
                         PH_SCHEMA_NAME_MAX);
    }
    if ((unsigned)def->coding >= PH_CODING_COUNT) {
        return ph_refuse(problem, PH_PARAMETER_CODING, "there is no coding %d", (int)def->coding);
    }
    if ((unsigned)def->field >= PH_FIELD_COUNT) {
        return ph_refuse(problem, PH_PARAMETER_FIELD, "there is no field type %d", (int)def->field);
    }
    if (def->when != PH_SEND_ON_CHANGE && def->when != PH_SEND_ONCE) {
        return ph_refuse(problem, PH_PARAMETER_WHEN,
                         "when must be PH_SEND_ON_CHANGE or PH_SEND_ONCE, got %d", (int)def->when);
    }
    if ((unsigned)def->audience > PH_AUDIENCE_MASK) {
        return ph_refuse(problem, PH_PARAMETER_AUDIENCE,
                         "audience must be one of PH_AUDIENCE_ALL, OWNER, MASK, got %d",
                         (int)def->audience);
    }
    return true;
}

// No NaN and no infinity gets any further; -0 becomes 0, so that equal numbers have equal bits.
static bool check_finite(ph_property_def* def, ph_problem* problem)
{
    const struct {
        ph_parameter parameter;
        const char* name;
        double* value;
    } numbers[] = {
        {PH_PARAMETER_RANGE, "lo", &def->lo},
        {PH_PARAMETER_RANGE, "hi", &def->hi},
        {PH_PARAMETER_STEP, "step", &def->step},
        {PH_PARAMETER_Z, "z_lo", &def->z_lo},
        {PH_PARAMETER_Z, "z_hi", &def->z_hi},
        {PH_PARAMETER_TURN, "turn", &def->turn},
        {PH_PARAMETER_DEFAULT, "default_value", &def->default_value},
        {PH_PARAMETER_DISTANCE, "distance_m", &def->distance_m},
        {PH_PARAMETER_SIGNIFICANT, "significant", &def->significant},
        {PH_PARAMETER_WEIGHT, "weight", &def->weight},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        if (!isfinite(*numbers[i].value)) {
            return ph_refuse(problem, numbers[i].parameter, "%s must be a finite number",
                             numbers[i].name);
        }
        *numbers[i].value += 0.0;
    }
    return true;
}

// Whether a declaration says something about a parameter.
static bool says(const ph_property_def* def, ph_parameter parameter)
{
    switch (parameter) {
    case PH_PARAMETER_RANGE:
        return def->lo != 0.0 || def->hi != 0.0;
    case PH_PARAMETER_STEP:
        return def->step != 0.0;
    case PH_PARAMETER_Z:
        return def->z_lo != 0.0 || def->z_hi != 0.0;
    case PH_PARAMETER_TURN:
        return def->turn != 0.0;
    case PH_PARAMETER_BITS:
        return def->bits != 0;
    case PH_PARAMETER_COUNT:
        return def->count != 0;
    case PH_PARAMETER_RICE_K:
        return def->rice_k != 0;
    case PH_PARAMETER_LENGTH:
        return def->max_length != 0;
    case PH_PARAMETER_ARITHMETIC:
        return def->is_arithmetic;
    case PH_PARAMETER_GROUND:
        return def->ground_tolerance_mm != 0;
    case PH_PARAMETER_DEFAULT:
        return def->has_default != 0 || def->default_value != 0.0;
    case PH_PARAMETER_DISTANCE:
        return def->distance_m != 0.0;
    case PH_PARAMETER_SIGNIFICANT:
        return def->significant != 0.0;
    case PH_PARAMETER_AUDIENCE:
        return def->audience != PH_AUDIENCE_ALL || def->audience_mask != 0;
    default:
        return false; // of every coding
    }
}

// A parameter that has no meaning is a mistake of the one who wrote it, and would be lost in print.
static bool check_unused(const ph_property_def* def, ph_problem* problem)
{
    for (ph_parameter parameter = 0; parameter < PH_PARAMETERS_END; ++parameter) {
        if (says(def, parameter) && !ph_coding_uses(def->coding, parameter)) {
            return ph_refuse(problem, parameter, "%s takes no %s",
                             ph_coding_row_of(def->coding)->word, ph_parameter_name(parameter));
        }
    }
    return true;
}

static bool check_field(ph_property_def* def, ph_problem* problem)
{
    if (def->coding == PH_CODING_AUTO) {
        def->coding = ph_coding_of_field(def->field);
    }
    if (def->coding == PH_CODING_AUTO) {
        return ph_refuse(problem, PH_PARAMETER_CODING,
                         "coding is missing: a field of type %s does not tell how to write it",
                         ph_field_name(def->field));
    }
    if (def->field != PH_FIELD_NONE && !ph_coding_suits(def->coding, def->field)) {
        return ph_refuse(problem, PH_PARAMETER_FIELD, "%s cannot be bound to a field of type %s",
                         ph_coding_row_of(def->coding)->word, ph_field_name(def->field));
    }
    return true;
}

// A reference names only whom the client has. With an enter its target often comes later, so one
// that is told once would mostly be told as nobody, for ever.
static bool check_reference(const ph_property_def* def, ph_problem* problem)
{
    if (def->coding == PH_CODING_ENTITY && def->when == PH_SEND_ONCE) {
        return ph_refuse(
            problem, PH_PARAMETER_WHEN,
            "entity cannot be sent once: its target may not be in view with the enter");
    }
    return true;
}

// ---- after the coding

// The ends between which a default lies: x and y of a VEC3.
static void ends_of(const ph_property* property, double* lo, double* hi)
{
    if (ph_coding_is_whole(property->def.coding)) {
        *lo = (double)property->integer.lo;
        *hi = (double)property->integer.hi;
    } else if (property->def.coding == PH_CODING_ANGLE) {
        *lo = -DBL_MAX; // any number of turns
        *hi = DBL_MAX;
    } else {
        *lo = property->def.lo;
        *hi = property->def.hi;
    }
}

double ph_property_automatic_initial(const ph_property* property)
{
    double lo;
    double hi;
    ends_of(property, &lo, &hi);
    const bool is_clamped = property->def.coding == PH_CODING_VEC3;
    return is_clamped || (lo <= 0.0 && hi >= 0.0) ? 0.0 : (lo > 0.0 ? lo : hi);
}

static bool refuse_default(const ph_property* property, double lo, double hi, ph_problem* problem)
{
    return ph_refuse(problem, PH_PARAMETER_DEFAULT, "default_value must be within %s..%s, got %s",
                     ph_number_text(lo).text, ph_number_text(hi).text,
                     ph_number_text(property->def.default_value).text);
}

static bool prepare_vec3_default(ph_property* property, ph_problem* problem)
{
    const double value = property->def.default_value;
    for (int i = 0; i < 3; ++i) {
        ph_fixed* fixed = &property->fixed[i];
        const bool has_default = (property->def.has_default >> i & 1) != 0;
        if (has_default && ph_fixed_set_default(fixed, value) != PH_OK) {
            return refuse_default(property, fixed->lo, fixed->hi, problem);
        }
        (void)ph_fixed_encode(fixed, value, &property->initial[i]);
    }
    return true;
}

// Sets the default of the coding, and what the property is before it is put for the first time.
static bool prepare_default(ph_property* property, ph_problem* problem)
{
    ph_property_def* def = &property->def;
    if (def->coding == PH_CODING_VEC3) {
        return prepare_vec3_default(property, problem);
    }
    def->has_default = def->has_default != 0 ? 1 : 0;
    if (def->default_value == 0.0 && def->has_default == 0) {
        def->default_value = ph_property_automatic_initial(property);
    }
    double lo;
    double hi;
    ends_of(property, &lo, &hi);
    const double value = def->default_value;
    if (value < lo || value > hi) {
        return refuse_default(property, lo, hi, problem);
    }
    if (ph_coding_is_whole(def->coding)) {
        if (floor(value) != value) {
            return ph_refuse(problem, PH_PARAMETER_DEFAULT,
                             "default_value must be a whole number, got %s",
                             ph_number_text(value).text);
        }
        property->integer.has_default = def->has_default != 0;
        property->integer.default_value = def->has_default != 0 ? (int64_t)value : 0;
        const uint64_t above_lo = (uint64_t)((int64_t)value - property->integer.lo);
        property->initial[0] = (uint32_t)above_lo;
        property->initial[1] = (uint32_t)(above_lo >> 32);
    } else if (def->coding == PH_CODING_ANGLE) {
        (void)ph_angle_encode(&property->angle, value, &property->initial[0]);
    } else {
        if (def->has_default != 0) {
            (void)ph_fixed_set_default(&property->fixed[0], value);
        }
        (void)ph_fixed_encode(&property->fixed[0], value, &property->initial[0]);
    }
    return true;
}

// Of one level, in the unit of `significant`.
static double step_of(const ph_property* property)
{
    switch (property->def.coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        return property->fixed[0].step;
    case PH_CODING_ANGLE:
        return ldexp(property->angle.turn, -property->angle.width);
    default:
        return 1.0;
    }
}

static bool prepare_significant(ph_property* property, ph_problem* problem)
{
    const double significant = property->def.significant;
    if (significant < 0.0) {
        return ph_refuse(problem, PH_PARAMETER_SIGNIFICANT, "significant must be 0 or more, got %s",
                         ph_number_text(significant).text);
    }
    const double steps = ceil(significant / step_of(property) - STEPS_SLACK);
    // More than any difference there is: never significant, which a number of this size also says.
    property->significant_steps = steps < 1.0 ? 1 : steps < 0x1p63 ? (uint64_t)steps : UINT64_MAX;
    return true;
}

static bool prepare_policy(ph_property* property, ph_problem* problem)
{
    ph_property_def* def = &property->def;
    if (!(def->distance_m >= 0.0 && def->distance_m <= DISTANCE_MAX_M)) {
        return ph_refuse(problem, PH_PARAMETER_DISTANCE, "distance_m must be 0..5000000, got %s",
                         ph_number_text(def->distance_m).text);
    }
    def->weight = def->weight == 0.0 ? 1.0 : def->weight;
    if (!(def->weight >= WEIGHT_MIN && def->weight <= WEIGHT_MAX)) {
        return ph_refuse(problem, PH_PARAMETER_WEIGHT,
                         "weight must be 0.000001..1000000 (or 0, which means 1), got %s",
                         ph_number_text(def->weight).text);
    }
    if ((def->audience == PH_AUDIENCE_MASK) != (def->audience_mask != 0)) {
        return ph_refuse(problem, PH_PARAMETER_AUDIENCE,
                         "audience_mask must have a bit with PH_AUDIENCE_MASK, and only with it");
    }
    property->distance_mm =
        def->distance_m == 0.0 ? UINT64_MAX : (uint64_t)ceil(def->distance_m * 1000.0);
    property->weight = (float)def->weight;
    return prepare_significant(property, problem);
}

bool ph_property_prepare(const ph_property_def* def, ph_property* property, ph_problem* problem)
{
    *property = (ph_property){.def = *def};
    ph_property_def* own = &property->def;
    if (!check_enums(own, problem) || !check_finite(own, problem) || !check_field(own, problem) ||
        !check_unused(own, problem) || !check_reference(own, problem) ||
        !ph_coding_prepare(property, problem)) {
        return false;
    }
    if (ph_coding_uses(own->coding, PH_PARAMETER_DEFAULT) && !prepare_default(property, problem)) {
        return false;
    }
    return prepare_policy(property, problem);
}
