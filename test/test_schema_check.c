// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a table of classes is refused for, and with which sentence.

#include "pinhole/schema.h"
#include "schema/property.h"

#include "support/test_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The sentence must hold every part of the refusal that a reader needs.
static void assert_refused(const ph_class_def* classes, int class_count, const char* message)
{
    ph_schema* schema = (ph_schema*)&schema;
    ph_error error = {.line = 7, .column = 7};
    assert_int_equal(ph_schema_create(classes, class_count, NULL, &schema, &error),
                     PH_ERROR_SCHEMA);
    assert_null(schema);
    assert_string_equal(error.text, message);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_int_equal(ph_schema_create(classes, class_count, NULL, &schema, NULL), PH_ERROR_SCHEMA);
}

static void refuses_properties_with_a_reason(void** state)
{
    (void)state;
    static const struct {
        ph_property_def def;
        const char* reason; // after "class kart, property p: "
    } rows[] = {
        {{.name = "p", .coding = PH_CODING_COUNT}, "there is no coding 16"},
        {{.name = "p", .coding = PH_CODING_BOOL, .field = PH_FIELD_COUNT},
         "there is no field type 21"},
        {{.name = "p", .coding = PH_CODING_BOOL, .when = (ph_send)2},
         "when must be PH_SEND_ON_CHANGE or PH_SEND_ONCE, got 2"},
        {{.name = "p", .coding = PH_CODING_BOOL, .audience = (ph_audience)3},
         "audience must be one of PH_AUDIENCE_ALL, OWNER, MASK, got 3"},
        {{.name = "p"}, "coding is missing: a field of type none does not tell how to write it"},
        {{.name = "p", .field = PH_FIELD_F32},
         "coding is missing: a field of type f32 does not tell how to write it"},
        {{.name = "p", .coding = PH_CODING_STRING, .field = PH_FIELD_U8, .max_length = 3},
         "string cannot be bound to a field of type u8; it takes text"},
        {{.name = "p", .coding = PH_CODING_POSITION, .field = PH_FIELD_F32X3},
         "position cannot be bound to a field of type f32x3; it takes i32x3 or i64x3"},
        // parameters that mean nothing
        {{.name = "p", .coding = PH_CODING_BOOL, .hi = 1}, "bool takes no lo and hi"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 3, .bits = 2}, "range takes no bits"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 3, .step = 1}, "range takes no step"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 3, .count = 4}, "range takes no count"},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 3, .step = 1, .z_hi = 1},
         "fixed takes no z_lo and z_hi"},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 3, .step = 1, .turn = 1},
         "fixed takes no turn"},
        {{.name = "p", .coding = PH_CODING_GAMMA, .rice_k = 1}, "gamma takes no rice_k"},
        {{.name = "p", .coding = PH_CODING_BOOL, .max_length = 1}, "bool takes no max_length"},
        {{.name = "p", .coding = PH_CODING_VARINT, .is_arithmetic = true},
         "varint takes no is_arithmetic"},
        {{.name = "p", .coding = PH_CODING_ENTITY, .ground_tolerance_mm = 1},
         "entity takes no ground_tolerance_mm"},
        {{.name = "p", .coding = PH_CODING_ENTITY, .has_default = 1},
         "entity takes no has_default and default_value"},
        {{.name = "p", .coding = PH_CODING_ENTITY, .when = PH_SEND_ONCE},
         "entity cannot be sent once: its target may not be in view with the enter"},
        {{.name = "p", .coding = PH_CODING_QUATERNION, .default_value = 1},
         "quaternion takes no has_default and default_value"},
        {{.name = "p", .coding = PH_CODING_ENUM, .count = 3, .significant = 2},
         "enum takes no significant"},
        {{.name = "p", .coding = PH_CODING_POSITION, .distance_m = 2},
         "position takes no distance_m"},
        {{.name = "p", .coding = PH_CODING_POSITION, .audience = PH_AUDIENCE_OWNER},
         "position takes no audience and audience_mask"},
        // finest steps
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 3, .step = 1, .finest = 1},
         "fixed takes no finest"},
        {{.name = "p", .coding = PH_CODING_POSITION, .finest = 3},
         "finest must be the step of 16 mm, or that halved up to 7 times, at least 1 mm, got 3"},
        {{.name = "p", .coding = PH_CODING_POSITION, .finest = 32},
         "finest must be the step of 16 mm, or that halved up to 7 times, at least 1 mm, got 32"},
        {{.name = "p", .coding = PH_CODING_POSITION, .finest = 0.5},
         "finest must be the step of 16 mm, or that halved up to 7 times, at least 1 mm, got 0.5"},
        {{.name = "p", .coding = PH_CODING_POSITION, .finest = -2},
         "finest must be the step of 16 mm, or that halved up to 7 times, at least 1 mm, got -2"},
        {{.name = "p", .coding = PH_CODING_POSITION, .step = 4096, .finest = 16},
         "finest must be the step of 4096 mm, or that halved up to 7 times, at least 1 mm, got 16"},
        {{.name = "p", .coding = PH_CODING_POSITION, .finest = 8, .when = PH_SEND_ONCE},
         "a position that is sent once is never refined: finest must be its step of 16 mm, got 8"},
        // whole numbers
        {{.name = "p", .coding = PH_CODING_ENUM}, "count must be 2 or more, got 0"},
        {{.name = "p", .coding = PH_CODING_RANGE}, "range needs lo below hi, got 0..0"},
        {{.name = "p", .coding = PH_CODING_VARINT, .lo = 5, .hi = 3},
         "varint needs lo below hi, got 5..3"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 2.5},
         "range needs whole numbers within 2^53 as lo and hi, got 0..2.5"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 9007199254740994.0},
         "range needs whole numbers within 2^53 as lo and hi, got 0..9007199254740994"},
        {{.name = "p", .coding = PH_CODING_RICE, .rice_k = 32}, "rice_k must be 0..31, got 32"},
        {{.name = "p", .coding = PH_CODING_RICE, .rice_k = -1}, "rice_k must be 0..31, got -1"},
        {{.name = "p", .coding = PH_CODING_TWO_BIT, .hi = 4294967296.0},
         "two_bit holds 32 bits, too few for 0..4294967296: give lo and hi, or take varint"},
        {{.name = "p", .coding = PH_CODING_GAMMA, .field = PH_FIELD_U64},
         "gamma holds 32 bits, too few for 0..9007199254740992: give lo and hi, or take varint"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 4294967295.0, .is_arithmetic = true},
         "arithmetic coding takes less than 2^32 values, got 0..4294967295"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 1000, .field = PH_FIELD_U8},
         "a field of type u8 does not hold all of 0..1000"},
        {{.name = "p", .coding = PH_CODING_RANGE, .lo = -1, .hi = 3, .field = PH_FIELD_U32},
         "a field of type u32 does not hold all of -1..3"},
        {{.name = "p", .coding = PH_CODING_ENUM, .count = 3, .field = PH_FIELD_BOOL},
         "a field of type bool does not hold all of 0..2"},
        // ladders, with the reasons of the coding
        {{.name = "p", .coding = PH_CODING_FIXED, .lo = 5, .hi = 3, .step = 1},
         "5..3 step 1: The declared range is empty, or one of its ends is not finite."},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 10, .step = 3},
         "0..10 step 3: The declared step is not positive, or does not divide the range."},
        {{.name = "p", .coding = PH_CODING_FIXED, .lo = -1.5, .hi = 1.5, .step = 1},
         "-1.5..1.5 step 1: Zero lies inside the declared range but between two steps."},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 1e10, .step = 1},
         "0..10000000000 step 1: The declaration needs more levels or bits than the coding has."},
        {{.name = "p", .coding = PH_CODING_VEC3, .hi = 4, .step = 1, .z_lo = 2, .z_hi = 2},
         "2..2 step 1: The declared range is empty, or one of its ends is not finite."},
        {{.name = "p", .coding = PH_CODING_VEC3, .hi = 4, .step = 1, .has_default = 8},
         "has_default must be a sum of PH_DEFAULT_X, _Y and _Z, got 8"},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 10, .step = 0.5, .field = PH_FIELD_I32},
         "a field of type i32 holds whole numbers only, not 0..10 in steps of 0.5"},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 1000, .step = 1, .field = PH_FIELD_U8},
         "a field of type u8 does not hold all of 0..1000"},
        {{.name = "p",
          .coding = PH_CODING_FIXED,
          .hi = 1e300,
          .step = 1e299,
          .field = PH_FIELD_F32},
         "a field of type f32 does not hold all of 0..1e300"},
        {{.name = "p", .coding = PH_CODING_ANGLE, .field = PH_FIELD_U8},
         "a field of type u8 does not hold all of 0..359"},
        {{.name = "p", .coding = PH_CODING_ANGLE, .turn = 6.5, .field = PH_FIELD_U8},
         "a field of type u8 holds whole numbers only, not 0..5.5 in steps of 1"},
        // the others
        {{.name = "p", .coding = PH_CODING_ANGLE, .bits = 40}, "bits must be 1..32, got 40"},
        {{.name = "p", .coding = PH_CODING_ANGLE, .turn = -1},
         "turn must be positive, normal and finite, got -1"},
        {{.name = "p", .coding = PH_CODING_ANGLE, .turn = 5e-324},
         "turn must be positive, normal and finite, got 5e-324"},
        {{.name = "p", .coding = PH_CODING_QUATERNION, .bits = 7}, "bits must be 8..16, got 7"},
        {{.name = "p", .coding = PH_CODING_STRING}, "max_length must be 1..1000, got 0"},
        {{.name = "p", .coding = PH_CODING_BYTES, .max_length = 1001},
         "max_length must be 1..1000, got 1001"},
        {{.name = "p", .coding = PH_CODING_POSITION, .step = 3},
         "step must be a power of two, 1..2147483648 mm, got 3"},
        {{.name = "p", .coding = PH_CODING_POSITION, .step = 0.5},
         "step must be a power of two, 1..2147483648 mm, got 0.5"},
        {{.name = "p", .coding = PH_CODING_POSITION, .step = -2},
         "step must be a power of two, 1..2147483648 mm, got -2"},
        {{.name = "p", .coding = PH_CODING_POSITION, .step = 4294967296.0},
         "step must be a power of two, 1..2147483648 mm, got 4294967296"},
        {{.name = "p", .coding = PH_CODING_POSITION, .bits = 29},
         "bits must be 1..28 with a step of 16 mm, got 29"},
        {{.name = "p", .coding = PH_CODING_POSITION, .ground_tolerance_mm = -1},
         "ground_tolerance_mm must be 0 or more, got -1"},
        // defaults and policies
        {{.name = "p", .coding = PH_CODING_RANGE, .lo = 5, .hi = 9, .has_default = 1},
         "default_value must be within 5..9, got 0"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 9, .default_value = 10},
         "default_value must be within 0..9, got 10"},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 9, .default_value = 1.5},
         "default_value must be a whole number, got 1.5"},
        {{.name = "p", .coding = PH_CODING_BOOL, .default_value = 2},
         "default_value must be within 0..1, got 2"},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 9, .step = 1, .default_value = -1},
         "default_value must be within 0..9, got -1"},
        {{.name = "p",
          .coding = PH_CODING_VEC3,
          .hi = 9,
          .step = 1,
          .z_lo = 3,
          .z_hi = 5,
          .has_default = PH_DEFAULT_Z,
          .default_value = 9},
         "default_value must be within 3..5, got 9"},
        {{.name = "p", .coding = PH_CODING_BOOL, .distance_m = -1},
         "distance_m must be 0..5000000, got -1"},
        {{.name = "p", .coding = PH_CODING_BOOL, .distance_m = 5000001},
         "distance_m must be 0..5000000, got 5000001"},
        {{.name = "p", .coding = PH_CODING_VARINT, .significant = -0.5},
         "significant must be 0 or more, got -0.5"},
        {{.name = "p", .coding = PH_CODING_BOOL, .weight = -1},
         "weight must be 0.000001..1000000 (or 0, which means 1), got -1"},
        {{.name = "p", .coding = PH_CODING_BOOL, .weight = 1e7},
         "weight must be 0.000001..1000000 (or 0, which means 1), got 10000000"},
        {{.name = "p", .coding = PH_CODING_BOOL, .audience = PH_AUDIENCE_MASK},
         "audience_mask must have a bit with PH_AUDIENCE_MASK, and only with it"},
        {{.name = "p", .coding = PH_CODING_BOOL, .audience_mask = 1},
         "audience_mask must have a bit with PH_AUDIENCE_MASK, and only with it"},
        // bindings
        {{.name = "p", .coding = PH_CODING_BOOL, .field = PH_FIELD_I64, .offset = 93},
         "8 bytes at offset 93 do not fit into struct_size, which is 100; it must be sizeof the "
         "struct"},
        {{.name = "p",
          .coding = PH_CODING_STRING,
          .max_length = 99,
          .field = PH_FIELD_TEXT,
          .offset = 1},
         "100 bytes at offset 1 do not fit into struct_size, which is 100; it must be sizeof the "
         "struct"},
        {{.name = "p", .coding = PH_CODING_BYTES, .max_length = 99, .field = PH_FIELD_BYTES},
         "101 bytes at offset 0 do not fit into struct_size, which is 100; it must be sizeof the "
         "struct"},
        {{.name = "position", .coding = PH_CODING_BOOL},
         "name must be unique, but property 0 has it, too"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const ph_property_def properties[] = {ph_property_position("position"), rows[i].def};
        const ph_class_def type = {
            .name = "kart", .properties = properties, .property_count = 2, .struct_size = 100};
        char message[sizeof((ph_error*)0)->text];
        snprintf(message, sizeof message, "class kart, property %s: %s", rows[i].def.name,
                 rows[i].reason);
        assert_refused(&type, 1, message);
    }
}

// The largest offset that fits is accepted, so the refusals above are exact.
static void fields_may_touch_the_end_of_the_struct(void** state)
{
    (void)state;
    const ph_property_def properties[] = {
        ph_property_position("position"),
        ph_property_bound(ph_property_bool("p"), PH_FIELD_I64, 92),
        ph_property_bound(ph_property_string("q", 99), PH_FIELD_TEXT, 0),
        ph_property_bound(ph_property_bytes("r", 98), PH_FIELD_BYTES, 0),
    };
    const ph_class_def type = {
        .name = "kart", .properties = properties, .property_count = 4, .struct_size = 100};
    ph_schema* schema;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, NULL), PH_OK);
    ph_schema_destroy(schema);
}

static void refuses_numbers_that_are_none(void** state)
{
    (void)state;
    static const struct {
        size_t offset;
        const char* name;
    } members[] = {
        {offsetof(ph_property_def, lo), "lo"},
        {offsetof(ph_property_def, hi), "hi"},
        {offsetof(ph_property_def, step), "step"},
        {offsetof(ph_property_def, z_lo), "z_lo"},
        {offsetof(ph_property_def, z_hi), "z_hi"},
        {offsetof(ph_property_def, turn), "turn"},
        {offsetof(ph_property_def, default_value), "default_value"},
        {offsetof(ph_property_def, distance_m), "distance_m"},
        {offsetof(ph_property_def, significant), "significant"},
        {offsetof(ph_property_def, weight), "weight"},
    };
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; ++i) {
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
            ph_property_def properties[] = {ph_property_position("position"),
                                            ph_property_vec3("p", 0, 8, 1)};
            memcpy((char*)&properties[1] + members[i].offset, &bad[k], sizeof bad[k]);
            const ph_class_def type = {
                .name = "kart", .properties = properties, .property_count = 2};
            char message[100];
            snprintf(message, sizeof message, "class kart, property p: %s must be a finite number",
                     members[i].name);
            assert_refused(&type, 1, message);
        }
    }
}

static void refuses_names_that_are_none(void** state)
{
    (void)state;
    static const char* const bad[] = {
        NULL,
        "",
        "1st",
        "hit points",
        "hp!",
        "h\xC3\xB6he",
        "a.b",
        "abcdefghijabcdefghijabcdefghijab", // 32
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        const ph_property_def properties[] = {ph_property_position("position"),
                                              ph_property_bool(bad[i])};
        const ph_class_def type = {.name = "kart", .properties = properties, .property_count = 2};
        assert_refused(&type, 1,
                       "class kart, property 1: name must be 1..31 letters, digits and "
                       "underscores, not a digit first");
        const ph_class_def named = {.name = bad[i], .properties = properties, .property_count = 1};
        assert_refused(&named, 1,
                       "class 0: name must be 1..31 letters, digits and underscores, not a digit "
                       "first");
    }
}

static void accepts_every_name_that_is_one(void** state)
{
    (void)state;
    const ph_property_def properties[] = {ph_property_position("_9aZ"),
                                          ph_property_bool("abcdefghijabcdefghijabcdefghija")};
    const ph_class_def type = {.name = "K_9", .properties = properties, .property_count = 2};
    ph_schema* schema;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, NULL), PH_OK);
    ph_schema_destroy(schema);
}

static void refuses_classes_with_a_reason(void** state)
{
    (void)state;
    const ph_property_def properties[] = {ph_property_bool("a"), ph_property_position("b"),
                                          ph_property_position("c")};
    ph_class_def types[2] = {{.name = "tree", .properties = properties, .property_count = 1},
                             {.name = "tree", .properties = properties, .property_count = 1}};
    assert_refused(types, 1,
                   "class tree: exactly one property must have the coding position, got 0");
    types[0].property_count = 3;
    assert_refused(types, 1,
                   "class tree: exactly one property must have the coding position, got 2");
    types[0].property_count = 0;
    assert_refused(types, 1, "class tree: property_count must be 1..64, got 0");
    types[0].property_count = 2;
    assert_refused(types, 2, "class tree: name must be unique, but class 0 has it, too");
    types[0].properties = NULL;
    assert_refused(types, 1, "class tree: property_count must be 1..64, got 0");
    types[1].property_count = 65;
    assert_refused(types + 1, 1, "class tree: property_count must be 1..64, got 65");
    assert_refused(types, 257, "class_count must be 1..256, got 257");
    assert_refused(types, 0, "class_count must be 1..256, got 0");
    assert_refused(NULL, 3, "class_count must be 1..256, got 0");
}

// Exactly as much as fits, and a bit more.
static void refuses_an_entity_that_no_datagram_holds(void** state)
{
    (void)state;
    ph_property_def properties[] = {ph_property_position("position"), ph_property_string("s", 1000),
                                    ph_property_bytes("b", 73), ph_property_range("r", 0, 3),
                                    ph_property_angle("q", 25)};
    const ph_class_def type = {.name = "kart", .properties = properties, .property_count = 5};
    assert_int_equal(PH_CLASS_BITS_MAX, 84 + (10 + 8000) + (7 + 584) + 2 + 25);
    ph_schema* schema;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, NULL), PH_OK);
    ph_schema_destroy(schema);
    properties[4] = ph_property_angle("q", 26);
    assert_refused(&type, 1,
                   "class kart: its values may take 8713 bits, but must fit a datagram, which has "
                   "8712 for them: lower max_length of its texts");
}

// Whatever has an order, and is not motion already.
// So a def that is taken from a schema and gets another step has that, and not the former one as a finest.
static void a_finest_step_that_is_the_step_says_nothing(void** state)
{
    (void)state;
    static const double FINEST[] = {0.0, 16.0, 8.0, 1.0};
    for (size_t i = 0; i < sizeof FINEST / sizeof FINEST[0]; ++i) {
        const bool is_far = FINEST[i] == 1.0; // as far below the step as can be
        const ph_property_def def = {.name = "p",
                                     .coding = PH_CODING_POSITION,
                                     .finest = FINEST[i],
                                     .step = is_far ? 128.0 : 16.0,
                                     .bits = 16};
        ph_schema* schema = NULL;
        assert_int_equal(
            ph_schema_create(
                &(ph_class_def){.name = "kart", .properties = &def, .property_count = 1}, 1, NULL,
                &schema, NULL),
            PH_OK);
        const double kept = ph_schema_class(schema, 0)->properties[0].finest;
        assert_true(kept == (FINEST[i] == 16.0 ? 0.0 : FINEST[i]));
        ph_schema_destroy(schema);
    }
}

static void what_can_be_smooth(void** state)
{
    (void)state;
    static const struct {
        ph_coding coding;
        const char* refused; // NULL: it is not
    } rows[] = {
        {PH_CODING_BOOL, "bool takes no is_smooth"},
        {PH_CODING_ENUM, "enum takes no is_smooth"},
        {PH_CODING_RANGE, NULL},
        {PH_CODING_VARINT, NULL},
        {PH_CODING_TWO_BIT, NULL},
        {PH_CODING_GAMMA, NULL},
        {PH_CODING_RICE, NULL},
        {PH_CODING_FIXED, NULL},
        {PH_CODING_ANGLE, NULL},
        {PH_CODING_QUATERNION, NULL},
        {PH_CODING_VEC3, NULL},
        {PH_CODING_STRING, "string takes no is_smooth"},
        {PH_CODING_BYTES, "bytes takes no is_smooth"},
        {PH_CODING_ENTITY, "entity takes no is_smooth"},
        {PH_CODING_POSITION, "position takes no is_smooth"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const ph_coding coding = rows[i].coding;
        const bool has_range =
            coding == PH_CODING_RANGE || coding == PH_CODING_FIXED || coding == PH_CODING_VEC3;
        const ph_property_def properties[] = {
            ph_property_position("p"),
            {.name = "s",
             .coding = coding,
             .hi = has_range ? 8.0 : 0.0,
             .step = coding == PH_CODING_FIXED || coding == PH_CODING_VEC3 ? 0.5 : 0.0,
             .count = coding == PH_CODING_ENUM ? 3 : 0,
             .max_length = coding == PH_CODING_STRING || coding == PH_CODING_BYTES ? 5 : 0,
             .is_smooth = true}};
        const ph_class_def type = {.name = "c", .properties = properties, .property_count = 2};
        ph_schema* schema = NULL;
        ph_error error;
        if (rows[i].refused == NULL) {
            assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_OK);
            assert_int_equal(ph_schema_class_at(schema, 0)->heading, -1);
        } else {
            char text[PH_ERROR_TEXT_SIZE];
            snprintf(text, sizeof text, "class c, property s: %s", rows[i].refused);
            assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_ERROR_SCHEMA);
            assert_string_equal(error.text, text);
        }
        ph_schema_destroy(schema);
    }
}

// Tables: what moves, and how large it is.
static void motion_is_marked_once(void** state)
{
    (void)state;
    ph_property_def properties[] = {ph_property_position("p"), ph_property_quaternion("q", 0),
                                    ph_property_quaternion("r", 0), ph_property_angle("a", 0)};
    ph_class_def type = {.name = "c", .properties = properties, .property_count = 4};
    ph_schema* schema;
    ph_error error;
    properties[1].is_orientation = true;
    type.radius_m = 2.5;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_OK);
    assert_true(ph_schema_class(schema, 0)->radius_m == 2.5);
    assert_int_equal(ph_schema_class_at(schema, 0)->orientation, 1);
    assert_int_equal(ph_schema_class_at(schema, 0)->heading, -1);
    ph_schema_destroy(schema);

    properties[2].is_orientation = true;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_string_equal(
        error.text, "class c: only one property can be its orientation or heading, got q and r");
    properties[2].is_orientation = false;
    properties[3].is_heading = true;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_ERROR_SCHEMA);
    properties[3].is_heading = false;
    properties[1].when = PH_SEND_ONCE;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_string_equal(error.text,
                        "class c, property q: an orientation cannot be sent once: it is motion");
    properties[1].when = PH_SEND_ON_CHANGE;
    properties[3].is_orientation = true;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_string_equal(error.text, "class c, property a: angle takes no is_orientation");
    properties[3].is_orientation = false;
    type.radius_m = 1e6;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_string_equal(
        error.text, "class c: radius_m must be 0.001..100000 (or 0, which means 0.5), got 1000000");
    type.radius_m = 0;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, &error), PH_OK);
    assert_true(ph_schema_class(schema, 0)->radius_m == 0.5);
    ph_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_properties_with_a_reason),
        cmocka_unit_test(fields_may_touch_the_end_of_the_struct),
        cmocka_unit_test(refuses_numbers_that_are_none),
        cmocka_unit_test(refuses_names_that_are_none),
        cmocka_unit_test(accepts_every_name_that_is_one),
        cmocka_unit_test(refuses_classes_with_a_reason),
        cmocka_unit_test(refuses_an_entity_that_no_datagram_holds),
        cmocka_unit_test(motion_is_marked_once),
        cmocka_unit_test(a_finest_step_that_is_the_step_says_nothing),
        cmocka_unit_test(what_can_be_smooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
