// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Checks one declaration and makes it a property that can work. From top to bottom: sentences about what
// is wrong; what each coding asks of its parameters, and what zero stands for; what is checked before
// the coding and after it. Runs when a schema is made, twice per property: once before memory is taken,
// once to fill it.

#include "schema/prepare.h"

#include "schema/property.h"

#include <pinhole/quaternion.h>

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

bool ph_refuse(ph_problem* problem, ph_parameter parameter, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    problem->parameter = parameter;
    vsnprintf(problem->message, sizeof problem->message, format, arguments);
    va_end(arguments);
    return false;
}

ph_decimal ph_number_text(double value)
{
    return isfinite(value) ? ph_decimal_print(value) : (ph_decimal){"no finite number"};
}

// ---- the codings: whole numbers

static bool is_whole(double value)
{
    return floor(value) == value && fabs(value) <= PH_WHOLE_MAX;
}

// What VARINT, TWO_BIT, GAMMA and RICE hold when the declaration does not say.
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

static ph_integer_kind prepared_kind(ph_coding coding)
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
    *integer = (ph_integer){.kind = prepared_kind(def->coding),
                            .lo = (int64_t)lo,
                            .hi = (int64_t)hi,
                            .rice_k = def->rice_k};
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

// ---- the codings: ladders and angles

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

// ---- the codings: the others

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

// Behind its step. The step itself says nothing: it stays 0, so that who takes the def and changes its step has that.
static bool prepare_finest(ph_property* property, ph_problem* problem)
{
    ph_property_def* def = &property->def;
    def->finest = def->finest == def->step ? 0.0 : def->finest;
    property->finest_shift =
        def->finest == 0.0 ? property->coordinate.shift : exponent_of(def->finest);
    const int finer = property->coordinate.shift - property->finest_shift;
    if (property->finest_shift < 0 || finer < 0 || finer > PH_FINER_MAX) {
        return ph_refuse(problem, PH_PARAMETER_FINEST,
                         "finest must be the step of %s mm, or that halved up to %d times, at "
                         "least 1 mm, got %s",
                         ph_number_text(def->step).text, PH_FINER_MAX,
                         ph_number_text(def->finest).text);
    }
    if (def->when == PH_SEND_ONCE && finer != 0) {
        return ph_refuse(problem, PH_PARAMETER_FINEST,
                         "a position that is sent once is never refined: finest must be its step "
                         "of %s mm, got %s",
                         ph_number_text(def->step).text, ph_number_text(def->finest).text);
    }
    return true;
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
    return prepare_finest(property, problem);
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

// ---- one property

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
        {PH_PARAMETER_FINEST, "finest", &def->finest},
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
    case PH_PARAMETER_FINEST:
        return def->finest != 0.0;
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
    case PH_PARAMETER_ORIENTATION:
        return def->is_orientation;
    case PH_PARAMETER_HEADING:
        return def->is_heading;
    case PH_PARAMETER_CARRIER:
        return def->is_carrier;
    case PH_PARAMETER_SMOOTH:
        return def->is_smooth;
    case PH_PARAMETER_STRICT:
        return def->is_strict;
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

// A parameter that has no meaning is a mistake in the declaration, and would be lost in print.
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

// "i32x3 or i64x3": what a coding can be bound to.
static const char* suitable_fields(ph_coding coding, char* text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int field = PH_FIELD_NONE + 1; field < PH_FIELD_COUNT && length < size; ++field) {
        if (ph_coding_suits(coding, (ph_field)field)) {
            length += (size_t)snprintf(text + length, size - length, "%s%s",
                                       length > 0 ? " or " : "", ph_field_name((ph_field)field));
        }
    }
    return text;
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
        char fields[96];
        return ph_refuse(problem, PH_PARAMETER_FIELD,
                         "%s cannot be bound to a field of type %s; it takes %s",
                         ph_coding_row_of(def->coding)->word, ph_field_name(def->field),
                         suitable_fields(def->coding, fields, sizeof fields));
    }
    return true;
}

// A reference names only entities that the client has. With an enter its target often comes later, so one
// that is told once would mostly be sent as none, for ever.
static bool check_reference(const ph_property_def* def, ph_problem* problem)
{
    if (def->coding == PH_CODING_ENTITY && def->when == PH_SEND_ONCE) {
        return ph_refuse(
            problem, PH_PARAMETER_WHEN,
            "entity cannot be sent once: its target may not be in view with the enter");
    }
    return true;
}

// It is predicted from what was told last; of what is told once nothing is kept.
static bool check_orientation(const ph_property_def* def, ph_problem* problem)
{
    if (def->is_orientation && def->when == PH_SEND_ONCE) {
        return ph_refuse(problem, PH_PARAMETER_ORIENTATION,
                         "an orientation cannot be sent once: it is motion");
    }
    return true;
}

static bool check_smooth(const ph_property_def* def, ph_problem* problem)
{
    if (!def->is_smooth) {
        return true;
    }
    if (def->is_orientation || def->is_heading) {
        return ph_refuse(problem, PH_PARAMETER_SMOOTH,
                         "an orientation or heading is motion already, and takes no is_smooth");
    }
    if (def->when == PH_SEND_ONCE) {
        return ph_refuse(problem, PH_PARAMETER_SMOOTH,
                         "what is smooth cannot be sent once: it is motion");
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

// Sets the default of the coding, and what the property is before it is set for the first time.
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
static double prepared_step(const ph_property* property)
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
    const double steps = ceil(significant / prepared_step(property) - STEPS_SLACK);
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

// See ph_property.
static int constant_bits(const ph_property* property)
{
    switch (property->def.coding) {
    case PH_CODING_BOOL:
    case PH_CODING_ENUM:
    case PH_CODING_RANGE:
    case PH_CODING_FIXED:
    case PH_CODING_ANGLE:
        return ph_property_max_bits(property) - (property->def.has_default != 0 ? 1 : 0);
    case PH_CODING_VEC3:
    case PH_CODING_QUATERNION:
        return property->def.has_default == 0 ? ph_property_max_bits(property) : 0;
    default:
        return 0;
    }
}

bool ph_property_prepare(const ph_property_def* def, ph_property* property, ph_problem* problem)
{
    *property = (ph_property){.def = *def};
    ph_property_def* own = &property->def;
    if (!check_enums(own, problem) || !check_finite(own, problem) || !check_field(own, problem) ||
        !check_unused(own, problem) || !check_reference(own, problem) ||
        !check_orientation(own, problem) || !check_smooth(own, problem) ||
        !ph_coding_prepare(property, problem)) {
        return false;
    }
    if (ph_coding_uses(own->coding, PH_PARAMETER_DEFAULT) && !prepare_default(property, problem)) {
        return false;
    }
    property->constant_bits = constant_bits(property);
    return prepare_policy(property, problem);
}
