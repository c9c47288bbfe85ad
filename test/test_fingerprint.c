// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The fingerprint: changes with everything that changes the wire, and with nothing else.

#include "pinhole/schema.h"

#include "support/test_support.h"

#include <string.h>

static uint64_t fingerprint_of(const ph_class_def* classes, int class_count)
{
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (ph_schema_create(classes, class_count, NULL, &schema, &error) != PH_OK) {
        print_error("%s\n", error.text);
        fail();
    }
    const uint64_t fingerprint = ph_schema_fingerprint(schema);
    ph_schema_destroy(schema);
    return fingerprint;
}

// Of a class of a position and one more property.
static uint64_t fingerprint_with(ph_property_def property)
{
    const ph_property_def properties[] = {ph_property_position("place"), property};
    const ph_class_def type = {
        .name = "thing", .properties = properties, .property_count = 2, .struct_size = 4096};
    return fingerprint_of(&type, 1);
}

// Of a class of this position alone.
static uint64_t fingerprint_at(ph_property_def position)
{
    const ph_class_def type = {
        .name = "thing", .properties = &position, .property_count = 1, .struct_size = 4096};
    return fingerprint_of(&type, 1);
}

// Properties that all write something else: no two of them may share a fingerprint.
static const ph_property_def different[] = {
    {.name = "p", .coding = PH_CODING_BOOL},
    {.name = "p", .coding = PH_CODING_BOOL, .has_default = 1},
    {.name = "p", .coding = PH_CODING_BOOL, .default_value = 1},
    {.name = "p", .coding = PH_CODING_BOOL, .has_default = 1, .default_value = 1},
    {.name = "p", .coding = PH_CODING_RANGE, .hi = 1}, // a number, no choice
    {.name = "p", .coding = PH_CODING_RANGE, .hi = 2},
    {.name = "p", .coding = PH_CODING_ENUM, .count = 3},
    {.name = "p", .coding = PH_CODING_ENUM, .count = 4},
    {.name = "p", .coding = PH_CODING_ENUM, .count = 4, .is_arithmetic = true},
    {.name = "p", .coding = PH_CODING_RANGE, .lo = 1, .hi = 4},
    {.name = "p", .coding = PH_CODING_RANGE, .lo = -1, .hi = 2},
    {.name = "p", .coding = PH_CODING_RANGE, .hi = 100},
    {.name = "p", .coding = PH_CODING_RANGE, .hi = 100, .default_value = 5},
    {.name = "p", .coding = PH_CODING_RANGE, .hi = 100, .has_default = 1, .default_value = 5},
    {.name = "p", .coding = PH_CODING_RANGE, .hi = 100, .has_default = 1, .default_value = 6},
    {.name = "p", .coding = PH_CODING_VARINT, .hi = 100},
    {.name = "p", .coding = PH_CODING_VARINT, .hi = 101},
    {.name = "p", .coding = PH_CODING_VARINT, .hi = 101, .when = PH_SEND_ONCE},
    {.name = "p", .coding = PH_CODING_VARINT, .lo = -100, .hi = 100},
    {.name = "p", .coding = PH_CODING_VARINT},
    {.name = "p", .coding = PH_CODING_VARINT, .default_value = 4294967296.0},
    {.name = "p", .coding = PH_CODING_TWO_BIT, .hi = 100},
    {.name = "p", .coding = PH_CODING_GAMMA, .hi = 100},
    {.name = "p", .coding = PH_CODING_RICE, .hi = 100},
    {.name = "p", .coding = PH_CODING_RICE, .hi = 100, .rice_k = 2},
    {.name = "p", .coding = PH_CODING_FIXED, .hi = 100, .step = 1},
    {.name = "p", .coding = PH_CODING_FIXED, .hi = 100, .step = 0.5},
    {.name = "p", .coding = PH_CODING_FIXED, .hi = 50, .step = 0.5},
    {.name = "p", .coding = PH_CODING_FIXED, .lo = 100, .hi = 200, .step = 1},
    {.name = "p", .coding = PH_CODING_FIXED, .hi = 100, .step = 1, .has_default = 1},
    {.name = "p", .coding = PH_CODING_FIXED, .hi = 100, .step = 1, .default_value = 3},
    {.name = "p", .coding = PH_CODING_VEC3, .hi = 100, .step = 1},
    {.name = "p", .coding = PH_CODING_VEC3, .hi = 100, .step = 1, .z_hi = 10},
    {.name = "p", .coding = PH_CODING_VEC3, .hi = 100, .step = 1, .has_default = 1},
    {.name = "p", .coding = PH_CODING_VEC3, .hi = 100, .step = 1, .has_default = 2},
    {.name = "p", .coding = PH_CODING_VEC3, .hi = 100, .step = 1, .has_default = 7},
    {.name = "p", .coding = PH_CODING_VEC3, .hi = 100, .step = 1, .default_value = 9},
    {.name = "p", .coding = PH_CODING_ANGLE},
    {.name = "p", .coding = PH_CODING_ANGLE, .bits = 9},
    {.name = "p", .coding = PH_CODING_ANGLE, .has_default = 1},
    {.name = "p", .coding = PH_CODING_ANGLE, .has_default = 1, .default_value = 90},
    {.name = "p", .coding = PH_CODING_QUATERNION},
    {.name = "p", .coding = PH_CODING_QUATERNION, .bits = 9},
    {.name = "p", .coding = PH_CODING_STRING, .max_length = 31},
    {.name = "p", .coding = PH_CODING_STRING, .max_length = 30},
    {.name = "p", .coding = PH_CODING_BYTES, .max_length = 31},
    {.name = "p", .coding = PH_CODING_ENTITY},
};

enum {
    DIFFERENT_COUNT = sizeof different / sizeof different[0],
};

static void changes_with_every_coding_and_parameter(void** state)
{
    (void)state;
    uint64_t seen[DIFFERENT_COUNT];
    for (int i = 0; i < DIFFERENT_COUNT; ++i) {
        seen[i] = fingerprint_with(different[i]);
        for (int k = 0; k < i; ++k) {
            if (seen[i] == seen[k]) {
                print_error("properties %d and %d\n", k, i);
                fail();
            }
        }
    }
}

static void changes_with_every_parameter_of_the_position(void** state)
{
    (void)state;
    static const ph_property_def positions[] = {
        {.name = "p", .coding = PH_CODING_POSITION},
        {.name = "p", .coding = PH_CODING_POSITION, .bits = 15},
        {.name = "p", .coding = PH_CODING_POSITION, .step = 8},
        {.name = "p", .coding = PH_CODING_POSITION, .ground_tolerance_mm = 1},
        {.name = "p", .coding = PH_CODING_POSITION, .ground_tolerance_mm = 500},
    };
    for (int i = 0; i < 5; ++i) {
        for (int k = 0; k < i; ++k) {
            assert_true(fingerprint_at(positions[i]) != fingerprint_at(positions[k]));
        }
    }
}

static void changes_with_order_and_number(void** state)
{
    (void)state;
    const ph_property_def ab[] = {ph_property_position("p"), ph_property_bool("a"),
                                  ph_property_angle("b", 8)};
    const ph_property_def ba[] = {ph_property_position("p"), ph_property_angle("b", 8),
                                  ph_property_bool("a")};
    const ph_property_def last[] = {ph_property_bool("a"), ph_property_angle("b", 8),
                                    ph_property_position("p")};
    const ph_class_def classes[] = {
        {.name = "one", .properties = ab, .property_count = 3},
        {.name = "two", .properties = ba, .property_count = 3},
        {.name = "three", .properties = last, .property_count = 3},
        {.name = "four", .properties = ab, .property_count = 2},
        {.name = "five", .properties = ab, .property_count = 1},
    };
    const ph_class_def swapped[] = {classes[1], classes[0]};
    const uint64_t seen[] = {
        fingerprint_of(&classes[0], 1), fingerprint_of(&classes[1], 1),
        fingerprint_of(&classes[2], 1), fingerprint_of(&classes[3], 1),
        fingerprint_of(&classes[4], 1), fingerprint_of(classes, 2),
        fingerprint_of(classes, 3),     fingerprint_of(swapped, 2),
    };
    for (int i = 0; i < 8; ++i) {
        for (int k = 0; k < i; ++k) {
            assert_true(seen[i] != seen[k]);
        }
    }
}

// Pairs that write the same bits for the same values, and refuse the same.
static void does_not_change_with_anything_else(void** state)
{
    (void)state;
    static const ph_property_def pairs[][2] = {
        // names, policies, bindings
        {{.name = "p", .coding = PH_CODING_VARINT, .hi = 9},
         {.name = "q", .coding = PH_CODING_VARINT, .hi = 9}},
        {{.name = "p", .coding = PH_CODING_VARINT, .hi = 9},
         {.name = "p", .coding = PH_CODING_VARINT, .hi = 9, .distance_m = 5}},
        {{.name = "p", .coding = PH_CODING_VARINT, .hi = 9},
         {.name = "p", .coding = PH_CODING_VARINT, .hi = 9, .significant = 5}},
        {{.name = "p", .coding = PH_CODING_VARINT, .hi = 9},
         {.name = "p", .coding = PH_CODING_VARINT, .hi = 9, .weight = 5}},
        {{.name = "p", .coding = PH_CODING_VARINT, .hi = 9},
         {.name = "p", .coding = PH_CODING_VARINT, .hi = 9, .audience = PH_AUDIENCE_OWNER}},
        {{.name = "p", .coding = PH_CODING_VARINT, .hi = 9},
         {.name = "p",
          .coding = PH_CODING_VARINT,
          .hi = 9,
          .audience = PH_AUDIENCE_MASK,
          .audience_mask = 3}},
        {{.name = "p", .coding = PH_CODING_VARINT, .hi = 9},
         {.name = "p", .coding = PH_CODING_VARINT, .hi = 9, .field = PH_FIELD_I16, .offset = 8}},
        // zero and what it means
        {{.name = "p", .coding = PH_CODING_ANGLE},
         {.name = "p", .coding = PH_CODING_ANGLE, .bits = 8}},
        {{.name = "p", .field = PH_FIELD_U8}, {.name = "p", .coding = PH_CODING_VARINT, .hi = 255}},
        {{.name = "p", .field = PH_FIELD_BOOL}, {.name = "p", .coding = PH_CODING_BOOL}},
        {{.name = "p", .coding = PH_CODING_VEC3, .hi = 8, .step = 1},
         {.name = "p", .coding = PH_CODING_VEC3, .hi = 8, .step = 1, .z_hi = 8}},
        {{.name = "p", .coding = PH_CODING_RANGE, .lo = 5, .hi = 8},
         {.name = "p", .coding = PH_CODING_RANGE, .lo = 5, .hi = 8, .default_value = 5}},
        {{.name = "p", .coding = PH_CODING_BOOL, .has_default = 1},
         {.name = "p", .coding = PH_CODING_BOOL, .has_default = 2}},
        // other words for the same coding
        {{.name = "p", .coding = PH_CODING_BOOL},
         {.name = "p", .coding = PH_CODING_ENUM, .count = 2}},
        {{.name = "p", .coding = PH_CODING_BOOL, .default_value = 1},
         {.name = "p", .coding = PH_CODING_ENUM, .count = 2, .default_value = 1}},
        // units: the wire knows parts of a turn
        {{.name = "p", .coding = PH_CODING_ANGLE, .has_default = 1, .default_value = 90},
         {.name = "p", .coding = PH_CODING_ANGLE, .turn = 4, .has_default = 1, .default_value = 1}},
        {{.name = "p", .coding = PH_CODING_ANGLE, .default_value = 360},
         {.name = "p", .coding = PH_CODING_ANGLE}},
        // numbers that differ in their last digits, or between two levels
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 10, .step = 0.1},
         {.name = "p", .coding = PH_CODING_FIXED, .hi = 10, .step = (double)0.1f}},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 10, .step = 1, .default_value = 3},
         {.name = "p", .coding = PH_CODING_FIXED, .hi = 10, .step = 1, .default_value = 3.2}},
        {{.name = "p", .coding = PH_CODING_FIXED, .lo = 0.0, .hi = 10, .step = 1},
         {.name = "p", .coding = PH_CODING_FIXED, .lo = -0.0, .hi = 10, .step = 1}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        if (fingerprint_with(pairs[i][0]) != fingerprint_with(pairs[i][1])) {
            print_error("pair %zu\n", i);
            fail();
        }
    }
}

static void does_not_change_with_policies_of_the_position(void** state)
{
    (void)state;
    const ph_property_def plain = ph_property_position("p");
    const ph_property_def other = {.name = "q",
                                   .coding = PH_CODING_POSITION,
                                   .bits = 16,
                                   .step = 16,
                                   .significant = 100,
                                   .weight = 3,
                                   .when = PH_SEND_ONCE,
                                   .field = PH_FIELD_I32X3,
                                   .offset = 4};
    assert_true(fingerprint_at(plain) == fingerprint_at(other));
}

// Recordings and connections keep fingerprints: these never change without a new seed.
static uint64_t fingerprint_of_text(const char* text)
{
    ph_schema* schema;
    assert_int_equal(ph_schema_parse(text, strlen(text), NULL, &schema, NULL), PH_OK);
    const uint64_t fingerprint = ph_schema_fingerprint(schema);
    // What decides the wire says the same.
    char wire[400];
    assert_true(ph_schema_print_wire(schema, wire, sizeof wire) < sizeof wire);
    ph_schema_destroy(schema);
    assert_int_equal(ph_schema_parse(wire, strlen(wire), NULL, &schema, NULL), PH_OK);
    assert_true(ph_schema_fingerprint(schema) == fingerprint);
    ph_schema_destroy(schema);
    return fingerprint;
}

// A heading that is one anyway says nothing new; another one does, and so does an orientation.
static void changes_with_what_moves(void** state)
{
    (void)state;
    const uint64_t plain =
        fingerprint_of_text("class c\np: position\na: angle\nb: angle\nq: quaternion\n");
    assert_true(plain == fingerprint_of_text("class c radius 3\np: position\na: angle heading\n"
                                             "b: angle\nq: quaternion\n"));
    const uint64_t other =
        fingerprint_of_text("class c\np: position\na: angle\nb: angle heading\nq: quaternion\n");
    const uint64_t orientation = fingerprint_of_text(
        "class c\np: position\na: angle\nb: angle\nq: quaternion orientation\n");
    assert_true(other != plain && orientation != plain && orientation != other);
}

// What is smooth is no heading, so the next angle is; both count.
static void changes_with_what_is_smooth(void** state)
{
    (void)state;
    const uint64_t plain = fingerprint_of_text("class c\np: position\na: angle\nb: angle\n");
    const uint64_t first = fingerprint_of_text("class c\np: position\na: angle smooth\nb: angle\n");
    const uint64_t second =
        fingerprint_of_text("class c\np: position\na: angle\nb: angle smooth\n");
    assert_true(first != plain && second != plain && second != first);
    assert_true(first == fingerprint_of_text("class c\np: position\na: angle smooth\n"
                                             "b: angle heading\n"));
    assert_true(second == fingerprint_of_text("class c\np: position\na: angle heading\n"
                                              "b: angle smooth\n"));
    // The second decoder has the same number (test_decode_packet.py).
    assert_true(fingerprint_of_text("class c\np: position\na: angle smooth\nb: angle\n"
                                    "r: range 0..9 smooth\nq: quaternion smooth\n"
                                    "v: vec3 -1..1 step 0.5 smooth\n") ==
                UINT64_C(0xC13F1D3D9F8E1DD0));
}

static void is_the_same_for_ever(void** state)
{
    (void)state;
    uint64_t sum = 0;
    for (int i = 0; i < DIFFERENT_COUNT; ++i) {
        sum = sum * 31 + fingerprint_with(different[i]);
    }
    const ph_property_def position = {
        .name = "p", .coding = PH_CODING_POSITION, .ground_tolerance_mm = 500};
    assert_true(fingerprint_at(ph_property_position("p")) == UINT64_C(0x08E1755735B1C45B));
    assert_true(fingerprint_at(position) == UINT64_C(0xFDAF9CD411D263D6));
    assert_int_equal(sum, UINT64_C(0xDCB67019072295F3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_with_every_coding_and_parameter),
        cmocka_unit_test(changes_with_every_parameter_of_the_position),
        cmocka_unit_test(changes_with_order_and_number),
        cmocka_unit_test(does_not_change_with_anything_else),
        cmocka_unit_test(does_not_change_with_policies_of_the_position),
        cmocka_unit_test(changes_with_what_moves),
        cmocka_unit_test(changes_with_what_is_smooth),
        cmocka_unit_test(is_the_same_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
