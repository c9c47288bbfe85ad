// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What each coding asks of its parameters, what zero stands for, and the declared coding itself.
// Runs when a schema is made.

#include "schema/prepare_coding.h"

#include "schema/field.h"

#include <pinhole/quaternion.h>

#include <math.h>

// ---- whole numbers

static bool is_whole(double value)
{
    return floor(value) == value && fabs(value) <= PH_WHOLE_MAX;
}

// What VARINT, TWO_BIT, GAMMA and RICE hold when nobody says.
static void spell_out_range(ph_property_def* def)
{
    def->lo = 0.0;
    def->hi = def->coding == PH_CODING_VARINT ? PH_WHOLE_MAX : (double)UINT32_MAX;
    if (def->field != PH_FIELD_NONE) {
        const ph_field_limits limits = ph_field_limits_of(def->field);
        def->lo = limits.lo;
        def->hi = limits.hi;
    }
}

static bool check_range(ph_property_def* def, ph_problem* problem)
{
    const char* word = ph_coding_row_of(def->coding)->word;
    if (def->coding != PH_CODING_RANGE && def->lo == 0.0 && def->hi == 0.0) {
        spell_out_range(def);
    }
    if (!is_whole(def->lo) || !is_whole(def->hi)) {
        return ph_refuse(problem, PH_PARAMETER_RANGE,
                         "%s needs whole numbers within 2^53 as lo and hi, got %s..%s", word,
                         ph_number_text(def->lo).text, ph_number_text(def->hi).text);
    }
    if (!(def->lo < def->hi)) {
        return ph_refuse(problem, PH_PARAMETER_RANGE, "%s needs lo below hi, got %s..%s", word,
                         ph_number_text(def->lo).text, ph_number_text(def->hi).text);
    }
    return true;
}

static ph_integer_kind kind_of(ph_coding coding)
{
    switch (coding) {
    case PH_CODING_VARINT:
        return PH_INTEGER_VARINT;
    case PH_CODING_TWO_BIT:
        return PH_INTEGER_TWO_BIT;
    case PH_CODING_GAMMA:
        return PH_INTEGER_GAMMA;
    case PH_CODING_RICE:
        return PH_INTEGER_RICE;
    default:
        return PH_INTEGER_RANGE;
    }
}

static bool make_integer(const ph_property_def* def, double lo, double hi, ph_integer* integer,
                         ph_problem* problem)
{
    *integer = (ph_integer){
        .kind = kind_of(def->coding), .lo = (int64_t)lo, .hi = (int64_t)hi, .rice_k = def->rice_k};
    if (def->rice_k < 0 || def->rice_k > 31) {
        return ph_refuse(problem, PH_PARAMETER_RICE_K, "rice_k must be 0..31, got %d", def->rice_k);
    }
    if (ph_integer_check(integer) != PH_OK) {
        return ph_refuse(problem, PH_PARAMETER_RANGE,
                         "%s holds 32 bits, too few for %s..%s: give lo and hi, or take varint",
                         ph_coding_row_of(def->coding)->word, ph_number_text(lo).text,
                         ph_number_text(hi).text);
    }
    if (def->is_arithmetic && hi - lo >= (double)UINT32_MAX) {
        return ph_refuse(problem, PH_PARAMETER_ARITHMETIC,
                         "arithmetic coding takes less than 2^32 values, got %s..%s",
                         ph_number_text(lo).text, ph_number_text(hi).text);
    }
    return true;
}

static bool check_whole_fits(const ph_property_def* def, double lo, double hi, ph_problem* problem)
{
    if (def->field == PH_FIELD_NONE) {
        return true;
    }
    const ph_field_limits limits = ph_field_limits_of(def->field);
    if (lo < limits.lo || hi > limits.hi) {
        return ph_refuse(
            problem, PH_PARAMETER_FIELD, "a field of type %s does not hold all of %s..%s",
            ph_field_name(def->field), ph_number_text(lo).text, ph_number_text(hi).text);
    }
    return true;
}

static bool prepare_whole(ph_property* property, ph_problem* problem)
{
    ph_property_def* def = &property->def;
    double lo = 0.0;
    double hi = 1.0;
    if (def->coding == PH_CODING_ENUM) {
        if (def->count < 2) {
            return ph_refuse(problem, PH_PARAMETER_COUNT, "count must be 2 or more, got %d",
                             def->count);
        }
        hi = (double)def->count - 1.0;
    } else if (def->coding != PH_CODING_BOOL) {
        if (!check_range(def, problem)) {
            return false;
        }
        lo = def->lo;
        hi = def->hi;
    }
    if (!make_integer(def, lo, hi, &property->integer, problem) ||
        !check_whole_fits(def, lo, hi, problem)) {
        return false;
    }
    property->is_number = true;
    property->words = hi - lo > (double)UINT32_MAX ? 2 : 1;
    return true;
}

// ---- ladders and angles

// Integers hold a ladder when every level of it is one; all fields, when no level is too large.
static bool check_real_fits(const ph_property_def* def, double lo, double hi, double step,
                            ph_problem* problem)
{
    if (def->field == PH_FIELD_NONE) {
        return true;
    }
    const ph_field_limits limits = ph_field_limits_of(ph_field_element(def->field));
    if (lo < limits.lo || hi > limits.hi) {
        return ph_refuse(
            problem, PH_PARAMETER_FIELD, "a field of type %s does not hold all of %s..%s",
            ph_field_name(def->field), ph_number_text(lo).text, ph_number_text(hi).text);
    }
    if (limits.is_whole && !(is_whole(lo) && is_whole(hi) && is_whole(step))) {
        return ph_refuse(problem, PH_PARAMETER_FIELD,
                         "a field of type %s holds whole numbers only, not %s..%s in steps of %s",
                         ph_field_name(def->field), ph_number_text(lo).text,
                         ph_number_text(hi).text, ph_number_text(step).text);
    }
    return true;
}

static bool make_ladder(const ph_property_def* def, double lo, double hi, ph_parameter range,
                        ph_fixed* fixed, ph_problem* problem)
{
    const ph_result result = ph_fixed_make(lo, hi, def->step, fixed);
    if (result != PH_OK) {
        return ph_refuse(problem, result == PH_ERROR_RANGE ? range : PH_PARAMETER_STEP,
                         "%s..%s step %s: %s", ph_number_text(lo).text, ph_number_text(hi).text,
                         ph_number_text(def->step).text, ph_result_text(result));
    }
    return check_real_fits(def, lo, hi, def->step, problem);
}

static bool prepare_fixed(ph_property* property, ph_problem* problem)
{
    const ph_property_def* def = &property->def;
    property->is_number = true;
    property->words = 1;
    return make_ladder(def, def->lo, def->hi, PH_PARAMETER_RANGE, &property->fixed[0], problem);
}

static bool prepare_vec3(ph_property* property, ph_problem* problem)
{
    ph_property_def* def = &property->def;
    if (def->z_lo == 0.0 && def->z_hi == 0.0) {
        def->z_lo = def->lo;
        def->z_hi = def->hi;
    }
    if (def->has_default < 0 || def->has_default > (PH_DEFAULT_X | PH_DEFAULT_Y | PH_DEFAULT_Z)) {
        return ph_refuse(problem, PH_PARAMETER_DEFAULT,
                         "has_default must be a sum of PH_DEFAULT_X, _Y and _Z, got %d",
                         def->has_default);
    }
    property->words = 3;
    if (!make_ladder(def, def->lo, def->hi, PH_PARAMETER_RANGE, &property->fixed[0], problem) ||
        !make_ladder(def, def->z_lo, def->z_hi, PH_PARAMETER_Z, &property->fixed[2], problem)) {
        return false;
    }
    property->fixed[1] = property->fixed[0];
    return true;
}

static bool prepare_angle(ph_property* property, ph_problem* problem)
{
    ph_property_def* def = &property->def;
    def->bits = def->bits == 0 ? 8 : def->bits;
    def->turn = def->turn == 0.0 ? PH_TURN_DEGREES : def->turn;
    property->angle = (ph_angle){.width = def->bits, .turn = def->turn};
    const ph_result result = ph_angle_check(&property->angle);
    if (result == PH_ERROR_WIDTH) {
        return ph_refuse(problem, PH_PARAMETER_BITS, "bits must be 1..32, got %d", def->bits);
    }
    if (result != PH_OK) {
        return ph_refuse(problem, PH_PARAMETER_TURN,
                         "turn must be positive, normal and finite, got %s",
                         ph_number_text(def->turn).text);
    }
    property->is_number = true;
    property->words = 1;
    const bool is_whole_field =
        def->field != PH_FIELD_NONE && ph_field_limits_of(def->field).is_whole;
    const double greatest = is_whole_field ? def->turn - 1.0 : def->turn;
    return check_real_fits(def, 0.0, greatest, 1.0, problem);
}

static bool prepare_quaternion(ph_property* property, ph_problem* problem)
{
    ph_property_def* def = &property->def;
    def->bits = def->bits == 0 ? 10 : def->bits;
    if (def->bits < PH_QUATERNION_WIDTH_MIN || def->bits > PH_QUATERNION_WIDTH_MAX) {
        return ph_refuse(problem, PH_PARAMETER_BITS, "bits must be %d..%d, got %d",
                         PH_QUATERNION_WIDTH_MIN, PH_QUATERNION_WIDTH_MAX, def->bits);
    }
    property->words = 2;
    const double identity[4] = {0.0, 0.0, 0.0, 1.0};
    (void)ph_property_quantise_field(property, PH_FIELD_F64X4, identity, property->initial);
    return true;
}

// ---- the others

static bool prepare_text(ph_property* property, ph_problem* problem)
{
    const int max_length = property->def.max_length;
    if (max_length < 1 || max_length > PH_TEXT_LENGTH_MAX) {
        return ph_refuse(problem, PH_PARAMETER_LENGTH, "max_length must be 1..%d, got %d",
                         PH_TEXT_LENGTH_MAX, max_length);
    }
    property->is_text = true;
    property->words = 1;
    return true;
}

// log2 of a power of two, or -1.
static int exponent_of(double power)
{
    int exponent = 0;
    return frexp(power, &exponent) == 0.5 ? exponent - 1 : -1;
}

static bool prepare_position(ph_property* property, ph_problem* problem)
{
    ph_property_def* def = &property->def;
    const ph_coordinate classic = ph_coordinate_default();
    def->bits = def->bits == 0 ? classic.width : def->bits;
    def->step = def->step == 0.0 ? ldexp(1.0, classic.shift) : def->step;
    property->coordinate = (ph_coordinate){.shift = exponent_of(def->step), .width = def->bits};
    if (property->coordinate.shift < 0 || property->coordinate.shift > 31) {
        return ph_refuse(problem, PH_PARAMETER_STEP,
                         "step must be a power of two, 1..2147483648 mm, got %s",
                         ph_number_text(def->step).text);
    }
    if (ph_coordinate_check(&property->coordinate) != PH_OK) {
        return ph_refuse(
            problem, PH_PARAMETER_BITS, "bits must be 1..%d with a step of %s mm, got %d",
            32 - property->coordinate.shift, ph_number_text(def->step).text, def->bits);
    }
    if (def->ground_tolerance_mm < 0) {
        return ph_refuse(problem, PH_PARAMETER_GROUND,
                         "ground_tolerance_mm must be 0 or more, got %d", def->ground_tolerance_mm);
    }
    property->altitude = (ph_altitude){.tolerance_mm = def->ground_tolerance_mm,
                                       .escape_shift = property->coordinate.shift};
    property->words = 3;
    return true;
}

bool ph_coding_prepare(ph_property* property, ph_problem* problem)
{
    switch (property->def.coding) {
    case PH_CODING_FIXED:
        return prepare_fixed(property, problem);
    case PH_CODING_ANGLE:
        return prepare_angle(property, problem);
    case PH_CODING_QUATERNION:
        return prepare_quaternion(property, problem);
    case PH_CODING_VEC3:
        return prepare_vec3(property, problem);
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        return prepare_text(property, problem);
    case PH_CODING_ENTITY:
        property->words = 2;
        return true;
    case PH_CODING_POSITION:
        return prepare_position(property, problem);
    default:
        return prepare_whole(property, problem);
    }
}
