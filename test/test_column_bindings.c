// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Columns and properties, matched by name and checked value by value.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/column_bindings.h"
#include "kit/recording_csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static ph_recording* load_yard(void)
{
    const ph_recording_def def = {0};
    ph_fault fault;
    ph_recording* yard = ph_recording_load("test/recordings/yard.csv", &def, &fault);
    assert_non_null(yard);
    return yard;
}

// A class with a position and what the text says.
static ph_schema* parse(const char* properties)
{
    char text[500];
    snprintf(text, sizeof text, "class c\nposition: position\n%s", properties);
    ph_schema* schema;
    ph_error error = {0};
    if (ph_schema_parse(text, strlen(text), NULL, &schema, &error) != PH_OK) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    return schema;
}

static ph_column_bindings bindings_of(const char* properties)
{
    ph_recording* yard = load_yard();
    ph_schema* schema = parse(properties);
    ph_column_bindings bindings;
    ph_fault fault = {0};
    if (!ph_column_bindings_make(schema, yard, &bindings, &fault)) {
        fail_msg("%d: %s", fault.line, fault.message);
    }
    ph_schema_destroy(schema);
    ph_recording_destroy(yard);
    return bindings;
}

static void assert_refused(const char* properties, const char* expected)
{
    ph_recording* yard = load_yard();
    ph_schema* schema = parse(properties);
    ph_column_bindings bindings;
    ph_fault fault = {0};
    assert_false(ph_column_bindings_make(schema, yard, &bindings, &fault));
    char said[300];
    snprintf(said, sizeof said, "%d:%d: %s", fault.line, fault.column, fault.message);
    assert_string_equal(said, expected);
    ph_schema_destroy(schema);
    ph_recording_destroy(yard);
}

// The columns of yard.csv.
enum { KIND, HEALTH, SPEED, TILT_DEG, LEVEL };

static void properties_are_bound_to_the_column_of_their_name(void** state)
{
    (void)state;
    const ph_column_bindings bindings =
        bindings_of("speed: fixed -2..2 step 0.5\nkind: enum 5\nheading: angle\n");
    assert_int_equal(bindings.count, 3);
    assert_int_equal(bindings.items[0].property, 1);
    assert_int_equal(bindings.items[0].column, SPEED);
    assert_int_equal(bindings.items[0].field, PH_FIELD_F64);
    assert_int_equal(bindings.items[1].column, KIND);
    assert_int_equal(bindings.items[1].field, PH_FIELD_I64);
    assert_int_equal(bindings.items[2].property, 3);
    assert_int_equal(bindings.items[2].column, PH_BINDING_HEADING);
}

static void columns_without_a_property_are_noted(void** state)
{
    (void)state;
    const ph_column_bindings bindings = bindings_of("level: varint\nkind: string 5\n");
    assert_int_equal(bindings.ignored_columns, 1u << HEALTH | 1u << SPEED | 1u << TILT_DEG);
    assert_true(bindings.is_heading_ignored);
    assert_int_equal(bindings.unbound_properties, 0);
    assert_false(bindings_of("heading_deg: fixed 0..360 step 1\n").is_heading_ignored);
}

static void properties_without_a_column_are_noted(void** state)
{
    (void)state;
    const ph_column_bindings bindings =
        bindings_of("heading: angle\nmood: bool\nlevel: range 0..9\nhat: bool\n");
    assert_int_equal(bindings.unbound_properties, 1u << 2 | 1u << 4);
    assert_int_equal(bindings.count, 2);
}

static void a_column_of_empty_cells_is_bound_to_nothing(void** state)
{
    (void)state;
    const char csv[] = "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg,hat\n0,1,0,0,0,0,\n";
    const ph_recording_def def = {0};
    ph_fault fault;
    ph_recording* made = ph_recording_parse(csv, sizeof csv - 1, &def, &fault);
    assert_non_null(made);
    ph_schema* schema = parse("hat: range 3..9\n");
    ph_column_bindings bindings;
    assert_true(ph_column_bindings_make(schema, made, &bindings, &fault));
    assert_int_equal(bindings.count, 0);
    assert_int_equal(bindings.ignored_columns, 1);
    assert_int_equal(bindings.unbound_properties, 1u << 1);
    ph_schema_destroy(schema);
    ph_recording_destroy(made);
}

static void degrees_are_turned_into_the_unit_of_the_angle(void** state)
{
    (void)state;
    const ph_column_bindings bindings =
        bindings_of("heading: angle turn 400\ntilt_deg: angle\nlevel: angle turn 7\n");
    assert_true(fabs(bindings.items[0].scale - 400.0 / 360.0) < 1e-12);
    assert_true(bindings.items[1].scale == 1.0);
    assert_true(bindings.items[2].scale == 1.0);
}

static void an_empty_cell_stands_for_the_initial_value(void** state)
{
    (void)state;
    const ph_column_bindings bindings =
        bindings_of("health: range 50..100\nspeed: fixed -2..2 step 0.5 default 1\n");
    assert_true(bindings.items[0].initial == 50.0);
    assert_true(bindings.items[1].initial == 1.0);
}

static void a_derived_schema_wants_every_column(void** state)
{
    (void)state;
    ph_recording* yard = load_yard();
    ph_fault fault;
    ph_schema* schema = ph_derive_schema(yard, &fault);
    assert_non_null(schema);
    ph_column_bindings bindings;
    assert_true(ph_column_bindings_make(schema, yard, &bindings, &fault));
    assert_int_equal(bindings.count, 6);
    assert_int_equal(bindings.ignored_columns, 0);
    assert_int_equal(bindings.unbound_properties, 0);
    assert_false(bindings.is_heading_ignored);
    ph_schema_destroy(schema);
    ph_recording_destroy(yard);
}

// ---- refusals

static void a_value_outside_of_the_range_is_named_with_its_line(void** state)
{
    (void)state;
    assert_refused("health: range 0..97\n",
                   "4:0: column health: 100 is outside of 0..97 of property health");
    assert_refused("health: range 81..200\n",
                   "5:0: column health: 80 is outside of 81..200 of property health");
    assert_refused("speed: fixed 0..2 step 0.25\n",
                   "9:0: column speed: -0.25 is outside of 0..2 of property speed");
    assert_refused("level: bool\n", "4:0: column level: 3 is outside of 0..1 of property level");
    assert_refused("level: enum 3\n", "4:0: column level: 3 is outside of 0..2 of property level");
    assert_refused("heading: fixed 0..300 step 1\n",
                   "9:0: column heading_deg: 359.899993896484 is outside of 0..300 of property "
                   "heading");
}

static void a_decimal_is_no_whole_number(void** state)
{
    (void)state;
    assert_refused("speed: range -5..5\n",
                   "4:0: column speed: 1.25 is no whole number as property speed needs it");
}

static void words_need_room(void** state)
{
    (void)state;
    assert_refused("kind: range 0..7\nlevel: string 9\n",
                   "0:0: column level holds numbers, which cannot set property level");
    assert_refused("kind: range -7..0\n", "4:0: column kind: 'wolf' is word number 1, outside of "
                                          "-7..0 of property kind");
    assert_refused("kind: string 4\n", "6:0: column kind: 'chest' is no text of at most 4 bytes as "
                                       "property kind needs it");
    assert_refused("kind: angle\n", "0:0: column kind holds words, which cannot set property kind");
    assert_refused("level: entity\n",
                   "0:0: column level holds numbers, which cannot set property level");
}

static void several_classes_are_refused(void** state)
{
    (void)state;
    assert_refused("class d\np: position\n",
                   "0:0: the schema has 2 classes; a recording knows only one: leave the schema "
                   "out, or put the properties of all into one class");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_are_bound_to_the_column_of_their_name),
        cmocka_unit_test(columns_without_a_property_are_noted),
        cmocka_unit_test(properties_without_a_column_are_noted),
        cmocka_unit_test(a_column_of_empty_cells_is_bound_to_nothing),
        cmocka_unit_test(degrees_are_turned_into_the_unit_of_the_angle),
        cmocka_unit_test(an_empty_cell_stands_for_the_initial_value),
        cmocka_unit_test(a_derived_schema_wants_every_column),
        cmocka_unit_test(a_value_outside_of_the_range_is_named_with_its_line),
        cmocka_unit_test(a_decimal_is_no_whole_number),
        cmocka_unit_test(words_need_room),
        cmocka_unit_test(several_classes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
