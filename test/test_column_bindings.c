// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Columns and properties, matched by name and checked value by value.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/column_bindings.h"
#include "kit/recording_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    if (!ph_column_bindings_make(schema, yard, 0, &bindings, &fault)) {
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
    assert_false(ph_column_bindings_make(schema, yard, 0, &bindings, &fault));
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
    assert_true(ph_column_bindings_make(schema, made, 0, &bindings, &fault));
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
    assert_true(ph_column_bindings_make(schema, yard, 0, &bindings, &fault));
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
    assert_refused("kind: entity\n",
                   "0:0: column kind holds words, which cannot set property kind");
    assert_refused("level: bytes 3\n",
                   "0:0: column level holds numbers, which cannot set property level");
}

// ---- classes

static const char PARK[] =
    "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg,class,fuel,lit,v_x,v_y,v_z,towed\n"
    "0,1,0,0,0,0,car,80,,1,-2,0.5,2\n0,2,0,0,0,0,car,90,,0,0,0,\n"
    "0,3,0,0,0,0,lamp,,1,,,,\n1,3,0,0,0,0,lamp,,0,,,,\n";

static ph_recording* load_park(void)
{
    const ph_recording_def def = {0};
    ph_fault fault;
    ph_recording* park = ph_recording_parse(PARK, sizeof PARK - 1, &def, &fault);
    assert_non_null(park);
    assert_int_equal(ph_recording_class_count(park), 2);
    assert_string_equal(ph_recording_class_name(park, 0), "car");
    return park;
}

static ph_schema* parse_all(const char* text)
{
    ph_schema* schema;
    ph_error error = {0};
    if (ph_schema_parse(text, strlen(text), NULL, &schema, &error) != PH_OK) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    return schema;
}

static void refuse_park(const char* text, const char* expected)
{
    ph_recording* park = load_park();
    ph_schema* schema = parse_all(text);
    ph_fault fault = {0};
    assert_null(ph_column_bindings_make_all(schema, park, &fault));
    char said[300];
    snprintf(said, sizeof said, "%d:%d: %s", fault.line, fault.column, fault.message);
    assert_string_equal(said, expected);
    ph_schema_destroy(schema);
    ph_recording_destroy(park);
}

static void entities_are_of_the_class_of_their_name(void** state)
{
    (void)state;
    ph_recording* park = load_park();
    ph_schema* schema = parse_all("class tree\np: position\nclass lamp\np: position\nlit: bool\n"
                                  "class car\nfuel: range 0..99\np: position\n");
    ph_fault fault = {0};
    ph_column_bindings* bindings = ph_column_bindings_make_all(schema, park, &fault);
    assert_non_null(bindings);
    assert_int_equal(bindings[0].class_index, 2);
    assert_int_equal(bindings[0].count, 1);
    assert_int_equal(bindings[0].items[0].property, 0);
    assert_int_equal(bindings[1].class_index, 1);
    assert_int_equal(bindings[1].items[0].property, 1);
    free(bindings);
    ph_schema_destroy(schema);
    // Values are looked at of entities of the class alone, and one class takes all.
    schema = parse_all("class car\np: position\nlit: range 5..9\nclass lamp\np: position\nfuel: "
                       "range 5..9\n");
    bindings = ph_column_bindings_make_all(schema, park, &fault);
    assert_non_null(bindings);
    free(bindings);
    ph_schema_destroy(schema);
    schema = parse_all("class thing\np: position\nlit: bool\nfuel: range 0..99\n");
    bindings = ph_column_bindings_make_all(schema, park, &fault);
    assert_non_null(bindings);
    assert_true(bindings[0].class_index == 0 && bindings[1].class_index == 0);
    free(bindings);
    ph_schema_destroy(schema);
    ph_recording_destroy(park);
}

static void vectors_have_several_columns_and_references_name_entities(void** state)
{
    (void)state;
    ph_recording* park = load_park();
    ph_schema* schema = parse_all("class car\np: position\nv: vec3 -9..9 step 0.5\ntowed: entity\n"
                                  "u: vec3 -9..9 step 0.5\nclass lamp\np: position\n");
    ph_fault fault = {0};
    ph_column_bindings bindings;
    assert_true(ph_column_bindings_make(schema, park, 0, &bindings, &fault));
    assert_int_equal(bindings.count, 2);
    assert_int_equal(bindings.items[0].field, PH_FIELD_F64X3);
    assert_int_equal(ph_column_binding_parts(&bindings.items[0]), 3);
    assert_string_equal(park->columns[bindings.items[0].column].name, "v_x");
    assert_string_equal(park->columns[bindings.items[0].others[1]].name, "v_z");
    assert_int_equal(bindings.items[1].field, PH_FIELD_ENTITY);
    assert_int_equal(bindings.unbound_properties, 1u << 3);
    ph_schema_destroy(schema);
    ph_recording_destroy(park);
    refuse_park("class car\np: position\nv: vec3 0..9 step 0.5\nclass lamp\np: position\n",
                "3:0: column v_y: -2 is outside of 0..9 of property v");
}

static void classes_that_do_not_fit_are_refused(void** state)
{
    (void)state;
    assert_refused(
        "class d\np: position\n",
        "0:0: the schema has 2 classes, and nothing says of which one an entity is: that "
        "takes a column named class with a name in every cell");
    refuse_park("class car\np: position\nclass tree\np: position\n",
                "0:0: some of its entities are of class lamp, which the schema has not");
    refuse_park("class car\np: position\nfuel: range 0..85\nclass lamp\np: position\n",
                "4:0: column fuel: 90 is outside of 0..85 of property fuel");
}

// Columns that are named as those of properties that every recording has.
static void columns_with_a_dash_behind_are_their_own(void** state)
{
    (void)state;
    static const char TEXT[] =
        "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg,heading_,class,class_\n"
        "0,1,0,0,0,90,5,7,8\n";
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* made = ph_recording_parse(TEXT, sizeof TEXT - 1, &def, &fault);
    assert_non_null(made);
    ph_schema* schema = ph_derive_schema(made, &fault);
    assert_non_null(schema);
    ph_column_bindings bindings;
    assert_true(ph_column_bindings_make(schema, made, 0, &bindings, &fault));
    assert_int_equal(bindings.items[0].column, PH_BINDING_HEADING);
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(bindings.items[1 + i].column, i);
    }
    assert_false(bindings.is_heading_ignored);
    ph_schema_destroy(schema);
    // In whole numbers it is no direction.
    schema = parse_all("class c\np: position\nheading: range 0..19\n");
    assert_true(ph_column_bindings_make(schema, made, 0, &bindings, &fault));
    assert_int_equal(bindings.items[0].column, 0);
    ph_schema_destroy(schema);
    ph_recording_destroy(made);
}

static void what_is_no_name_is_no_class(void** state)
{
    (void)state;
    static const char* const CELLS[] = {"3", "mad wolf", "", "a_name_of_thirty_two_characters_x"};
    for (size_t i = 0; i < sizeof CELLS / sizeof CELLS[0]; ++i) {
        char text[300];
        snprintf(
            text, sizeof text,
            "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg,class\n0,1,0,0,0,0,%s\n0,2,0,0,0,"
            "0,%s\n",
            i == 2 ? "wolf" : CELLS[i], CELLS[i]);
        const ph_recording_def def = {.is_pose_only = i == 0};
        ph_fault fault = {0};
        ph_recording* made = ph_recording_parse(text, strlen(text), &def, &fault);
        assert_non_null(made);
        assert_int_equal(made->class_column, -1);
        ph_schema* schema = ph_derive_schema(made, &fault);
        assert_non_null(schema);
        assert_string_equal(ph_schema_class(schema, 0)->name, "thing");
        assert_int_equal(ph_schema_class(schema, 0)->property_count, i == 0 ? 2 : 3);
        ph_schema_destroy(schema);
        ph_recording_destroy(made);
    }
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
        cmocka_unit_test(entities_are_of_the_class_of_their_name),
        cmocka_unit_test(vectors_have_several_columns_and_references_name_entities),
        cmocka_unit_test(classes_that_do_not_fit_are_refused),
        cmocka_unit_test(columns_with_a_dash_behind_are_their_own),
        cmocka_unit_test(what_is_no_name_is_no_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
