// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The text form of a schema: parsed and printed without loss; errors with line, column and what was
// expected.

#include "pinhole/schema.h"

#include "schema/property.h"
#include "support/random_schema.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include <stdio.h>
#include <string.h>

static ph_schema* parse(const char* text)
{
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (ph_schema_parse(text, strlen(text), NULL, &schema, &error) != PH_OK) {
        print_error("%d:%d: %s\n%s\n", error.line, error.column, error.text, text);
        fail();
    }
    return schema;
}

// ---- what is read

static const char every_coding[] = "class everything\n"
                                   "    place: position 20 step 8 ground 500 significant 100\n"
                                   "    a: bool default 1\n"
                                   "    b: enum 5 arithmetic\n"
                                   "    c: range -3..3 initial 2\n"
                                   "    d: varint -100..100 significant 2.5\n"
                                   "    e: two_bit 0..1000\n"
                                   "    f: gamma 0..1000 weight 0.5\n"
                                   "    g: rice 0..1000 k 3\n"
                                   "    h: fixed -10..10 step 0.1 default -0.5\n"
                                   "    i: angle 12 turn 6.283185307179586\n"
                                   "    j: quaternion 9 distance 30\n"
                                   "    k: vec3 -10..10 step 0.5 z 0..20 default 0 xz\n"
                                   "    l: string 31 once\n"
                                   "    m: bytes 8 owner\n"
                                   "    n: entity audience 0xff000001\n"
                                   "\n"
                                   "class tree\n"
                                   "    class: position 16 step 16\n";

static void reads_every_word(void** state)
{
    (void)state;
    ph_schema* schema = parse(every_coding);
    assert_int_equal(ph_schema_class_count(schema), 2);
    const ph_class_def* type = ph_schema_class(schema, 0);
    assert_string_equal(type->name, "everything");
    assert_int_equal(type->property_count, 15);
    assert_int_equal(type->struct_size, 0);
    const ph_property_def* p = type->properties;
    assert_int_equal(p[0].bits, 20);
    assert_true(p[0].step == 8.0);
    assert_int_equal(p[0].ground_tolerance_mm, 500);
    assert_true(p[0].significant == 100.0);
    assert_int_equal(p[1].has_default, 1);
    assert_true(p[1].default_value == 1.0);
    assert_int_equal(p[2].count, 5);
    assert_true(p[2].is_arithmetic);
    assert_true(p[3].lo == -3.0 && p[3].hi == 3.0);
    assert_int_equal(p[3].has_default, 0);
    assert_true(p[3].default_value == 2.0);
    assert_true(p[4].significant == 2.5);
    assert_true(p[6].weight == 0.5);
    assert_int_equal(p[7].rice_k, 3);
    assert_true(p[8].step == 0.1);
    assert_true(p[9].turn == 6.283185307179586);
    assert_true(p[10].distance_m == 30.0);
    assert_true(p[11].z_lo == 0.0 && p[11].z_hi == 20.0);
    assert_int_equal(p[11].has_default, PH_DEFAULT_X | PH_DEFAULT_Z);
    assert_int_equal(p[12].max_length, 31);
    assert_int_equal(p[12].when, PH_SEND_ONCE);
    assert_int_equal(p[13].audience, PH_AUDIENCE_OWNER);
    assert_int_equal(p[14].audience, PH_AUDIENCE_MASK);
    assert_true(p[14].audience_mask == 0xff000001);
    // The properties are those of a table in the order of the enum, one position apart.
    for (int i = 1; i < 15; ++i) {
        assert_int_equal(p[i].coding, i);
        assert_int_equal(p[i].field, PH_FIELD_NONE);
    }
    ph_schema_destroy(schema);
}

static void prints_what_it_read(void** state)
{
    (void)state;
    ph_schema* schema = parse(every_coding);
    char text[1024];
    assert_int_equal(ph_schema_print(schema, text, sizeof text), strlen(every_coding));
    assert_string_equal(text, every_coding);
    ph_schema_destroy(schema);
}

static void spells_out_what_was_left_out(void** state)
{
    (void)state;
    ph_schema* schema =
        parse("class c\np:position\ne:enum 2147483647\na:angle\nq:quaternion\nv:varint\n"
              "t:two_bit\ng:gamma\nr:rice\nx:range 5..9\ny:vec3 0..4 step 1");
    char text[512];
    (void)ph_schema_print(schema, text, sizeof text);
    assert_string_equal(text, "class c\n"
                              "    p: position 16 step 16\n"
                              "    e: enum 2147483647\n"
                              "    a: angle 8 turn 360\n"
                              "    q: quaternion 10\n"
                              "    v: varint 0..9007199254740992\n"
                              "    t: two_bit 0..4294967295\n"
                              "    g: gamma 0..4294967295\n"
                              "    r: rice 0..4294967295 k 0\n"
                              "    x: range 5..9\n"
                              "    y: vec3 0..4 step 1\n");
    ph_schema_destroy(schema);
}

// Comments, blank lines, Windows line ends, tabs, spaces, no line end at the end, options in
// another order, numbers written otherwise: all the same.
// How a class moves stands behind its name, in any order, and is printed only where it is said.
static void a_class_may_say_how_it_moves(void** state)
{
    (void)state;
    ph_schema* schema = parse("class a leg 120 bend 0.25\n p: position\n"
                              "class b bend 0\n p: position\nclass c\n p: position\n");
    assert_true(ph_schema_class(schema, 0)->bend == 0.25);
    assert_int_equal(ph_schema_class(schema, 0)->leg_ms, 120);
    assert_true(ph_schema_class(schema, 1)->bend == PH_BEND_NONE);
    assert_int_equal(ph_schema_class(schema, 1)->leg_ms, 80);
    assert_true(ph_schema_class(schema, 2)->bend == 0.55);
    char text[400];
    ph_schema_print(schema, text, sizeof text);
    assert_non_null(strstr(text, "class a bend 0.25 leg 120\n"));
    assert_non_null(strstr(text, "class b bend 0\n"));
    assert_non_null(strstr(text, "class c\n"));
    ph_schema* again = parse(text);
    assert_true(ph_schema_class(again, 1)->bend == PH_BEND_NONE);
    ph_schema_print_wire(schema, text, sizeof text);
    assert_null(strstr(text, "bend"));
    ph_schema* wire = parse(text);
    assert_true(ph_schema_fingerprint(wire) == ph_schema_fingerprint(schema));
    ph_schema_destroy(wire);
    ph_schema_destroy(again);
    ph_schema_destroy(schema);
}

static void layout_does_not_matter(void** state)
{
    (void)state;
    ph_schema* plain =
        parse("class c\n    p: position\n    a: fixed 0..10 step 0.5 once weight 2\n");
    ph_schema* fancy = parse("# a schema\r\n\r\n \t class\tc   # the class\r\n"
                             "p:position#place\n\n  a  :\tfixed -0.0..1e1 once weight 2.0 "
                             "step 05e-1\r\n#the end \xFF\x01");
    char texts[2][256];
    (void)ph_schema_print(plain, texts[0], sizeof texts[0]);
    (void)ph_schema_print(fancy, texts[1], sizeof texts[1]);
    assert_string_equal(texts[0], texts[1]);
    ph_schema_destroy(plain);
    ph_schema_destroy(fancy);
}

static void printing_tells_how_much_room_it_needs(void** state)
{
    (void)state;
    ph_schema* schema = parse("class c\n    p: position\n");
    const size_t length = ph_schema_print(schema, NULL, 0);
    char text[64];
    memset(text, 'x', sizeof text);
    for (size_t capacity = 1; capacity <= length; ++capacity) {
        assert_int_equal(ph_schema_print(schema, text, capacity), length);
        assert_int_equal(strlen(text), capacity - 1);
        assert_int_equal(text[capacity], 'x');
    }
    assert_int_equal(ph_schema_print(schema, text, length + 1), length);
    assert_int_equal(strlen(text), length);
    ph_schema_destroy(schema);
}

// The text form is explained with an example; it had better be one. Found from the root of the
// tree, where tests run.
static void the_example_of_the_documentation_is_one(void** state)
{
    (void)state;
    static char page[65536];
    FILE* file = fopen("docs/schema.md", "rb");
    assert_non_null(file);
    const size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    char* example = strstr(page, "# Karts.");
    assert_non_null(example);
    char* end = strstr(example, "```");
    assert_non_null(end);
    *end = '\0';
    ph_schema* schema = parse(example);
    assert_int_equal(ph_schema_class_count(schema), 2);
    ph_schema_destroy(schema);
}

// ---- nothing is lost

// The prepared properties, bindings and names aside.
static void assert_same_properties(const ph_schema* a, const ph_schema* b)
{
    for (int c = 0; c < ph_schema_class_count(a); ++c) {
        const ph_class* from = ph_schema_class_at(a, c);
        const ph_class* to = ph_schema_class_at(b, c);
        assert_string_equal(from->def.name, to->def.name);
        assert_int_equal(from->position, to->position);
        assert_int_equal(from->def.property_count, to->def.property_count);
        assert_true(from->def.bend == to->def.bend);
        assert_int_equal(from->def.leg_ms, to->def.leg_ms);
        for (int p = 0; p < from->def.property_count; ++p) {
            const ph_property* one = &from->properties[p];
            const ph_property* two = &to->properties[p];
            assert_string_equal(one->def.name, two->def.name);
            assert_int_equal(one->def.coding, two->def.coding);
            assert_int_equal(one->def.has_default, two->def.has_default);
            assert_true(one->def.default_value == two->def.default_value);
            assert_true(one->def.turn == two->def.turn);
            assert_true(one->def.significant == two->def.significant);
            assert_true(one->def.distance_m == two->def.distance_m);
            assert_true(one->def.weight == two->def.weight);
            assert_int_equal(one->def.when, two->def.when);
            assert_int_equal(one->def.audience, two->def.audience);
            assert_true(one->def.audience_mask == two->def.audience_mask);
            assert_int_equal(ph_property_max_bits(one), ph_property_max_bits(two));
            assert_memory_equal(one->initial, two->initial, sizeof one->initial);
            for (int i = 0; i < 3; ++i) {
                assert_true(one->fixed[i].lo == two->fixed[i].lo);
                assert_true(one->fixed[i].hi == two->fixed[i].hi);
                assert_true(one->fixed[i].step == two->fixed[i].step);
                assert_int_equal(one->fixed[i].top_level, two->fixed[i].top_level);
            }
        }
    }
}

static void random_schemas_survive_print_and_parse(void** state)
{
    (void)state;
    static random_schema tables;
    static char texts[2][RANDOM_CLASSES_MAX * (RANDOM_PROPERTIES_MAX + 1) * 400];
    test_rng rng = {.state = 1958};
    for (int round = 0; round < 300; ++round) {
        random_schema_fill(&tables, &rng);
        ph_schema* schema = NULL;
        ph_error error = {0};
        if (ph_schema_create(tables.classes, tables.class_count, NULL, &schema, &error) != PH_OK) {
            print_error("round %d: %s\n", round, error.text);
            fail();
        }
        assert_true(ph_schema_print(schema, texts[0], sizeof texts[0]) < sizeof texts[0]);
        ph_schema* again = parse(texts[0]);
        (void)ph_schema_print(again, texts[1], sizeof texts[1]);
        assert_string_equal(texts[0], texts[1]);
        assert_true(ph_schema_fingerprint(schema) == ph_schema_fingerprint(again));
        assert_same_properties(schema, again);
        ph_schema_destroy(again);
        ph_schema_destroy(schema);
    }
}

// ---- errors

static void errors_say_where_and_what(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        int line;
        int column;
        const char* message;
    } rows[] = {
        {"", 1, 1, "expected class and a name, found the end of the text"},
        {"\n# nothing\n\n", 4, 1, "expected class and a name, found the end of the text"},
        {"klass c", 1, 1, "expected class and a name, found 'klass'"},
        {"p: bool", 1, 1, "expected class and a name before the first property, found 'p'"},
        {"class", 1, 6,
         "expected a name (at most 31 letters, digits and underscores, not a digit first), found "
         "the end of the line"},
        {"class 1st", 1, 7,
         "expected a name (at most 31 letters, digits and underscores, not a digit first), found "
         "'1st'"},
        {"class abcdefghijabcdefghijabcdefghijab", 1, 7,
         "expected a name (at most 31 letters, digits and underscores, not a digit first), found "
         "'abcdefghijabcdefghijabcd...'"},
        {"class c d", 1, 9, "expected radius, bend, leg or the end of the line, found 'd'"},
        {"class c bend 3", 1, 14, "expected a number 0..2, found '3'"},
        {"class c bend", 1, 13, "expected a number 0..2, found the end of the line"},
        {"class c leg 0", 1, 13, "expected a whole number 1..10000, found '0'"},
        {"class c leg 10001", 1, 13, "expected a whole number 1..10000, found '10001'"},
        {"class c bend 0 bend 1", 1, 16,
         "expected radius, bend, leg or the end of the line, found 'bend'"},
        {"class c", 1, 1, "class c: expected a property with the coding position"},
        {"class a\n  class b\n  p: position", 1, 1,
         "class a: expected a property with the coding position"},
        {"class c\np: position\n\n class c", 4, 8,
         "expected another name: there is a class c already"},
        {"class c\n  p position", 2, 5, "expected a colon after the name, found 'position'"},
        {"class c\n  p", 2, 4, "expected a colon after the name, found the end of the line"},
        {"class c\n  :", 2, 4, "expected a colon after the name, found the end of the line"},
        {"class c\n  3d: bool", 2, 3,
         "expected a name (at most 31 letters, digits and underscores, not a digit first), found "
         "'3d'"},
        {"class c\np: position\np: bool", 3, 1,
         "expected another name: class c has a property p already"},
        {"class c\np: position\nq: position", 3, 4,
         "expected one position in a class, found 'position'"},
        {"class c\np:", 2, 3,
         "expected a coding (bool, enum, range, varint, two_bit, gamma, rice, fixed, angle, "
         "quaternion, vec3, string, bytes, entity or position), found the end of the line"},
        {"class c\np: auto", 2, 4,
         "expected a coding (bool, enum, range, varint, two_bit, gamma, rice, fixed, angle, "
         "quaternion, vec3, string, bytes, entity or position), found 'auto'"},
        {"class c\np: bool blue", 2, 9,
         "expected default, initial, distance, weight, once, owner, audience or the end of the "
         "line, found 'blue'"},
        {"class c\np: bool step 3", 2, 9,
         "expected default, initial, distance, weight, once, owner, audience or the end of the "
         "line, found 'step'"},
        {"class c\np: position distance 3", 2, 13,
         "expected step, finest, ground, significant, weight, once or the end of the line, found "
         "'distance'"},
        {"class c\np: bool once once", 2, 14,
         "expected every option once, and one of its kind, found 'once'"},
        {"class c radius", 1, 15,
         "expected a radius of 0.001..100000 m such as 0.5, found the end of the line"},
        {"class c radius 0", 1, 16, "expected a radius of 0.001..100000 m such as 0.5, found '0'"},
        {"class c radius 2 m", 1, 18,
         "expected radius, bend, leg or the end of the line, found 'm'"},
        {"class c\nq: quaternion orientation once", 2, 15,
         "class c, property q: an orientation cannot be sent once: it is motion"},
        {"class c\nq: quaternion heading", 2, 15,
         "expected orientation, smooth, distance, weight, once, owner, audience or the end of the "
         "line, found 'heading'"},
        {"class c\nq: quaternion orientation smooth", 2, 27,
         "class c, property q: an orientation or heading is motion already, and takes no "
         "is_smooth"},
        {"class c\na: angle smooth heading", 2, 10,
         "class c, property a: an orientation or heading is motion already, and takes no "
         "is_smooth"},
        {"class c\nf: range 0..9 once smooth", 2, 20,
         "class c, property f: what is smooth cannot be sent once: it is motion"},
        {"class c\nb: bool smooth", 2, 9,
         "expected default, initial, distance, weight, once, owner, audience or the end of the "
         "line, found 'smooth'"},
        {"class c\nq: quaternion orientation\nr: quaternion orientation", 3, 15,
         "expected one orientation or heading in class c"},
        {"class c\nq: quaternion orientation\na: angle heading", 3, 10,
         "expected one orientation or heading in class c"},
        {"class c\np: bool owner audience 0x1", 2, 15,
         "expected every option once, and one of its kind, found 'audience'"},
        // what directly follows the coding
        {"class c\np: enum", 2, 8,
         "expected a number of alternatives such as 4, found the end of the line"},
        {"class c\np: enum 2.5", 2, 9, "expected a number of alternatives such as 4, found '2.5'"},
        {"class c\np: enum 2147483648", 2, 9,
         "expected a number of alternatives such as 4, found '2147483648'"},
        {"class c\np: enum 1", 2, 9, "class c, property p: count must be 2 or more, got 1"},
        {"class c\np: range 3..3", 2, 10, "expected a range such as 0..100, found '3..3'"},
        {"class c\np: range 3", 2, 10, "expected a range such as 0..100, found '3'"},
        {"class c\np: range 3..", 2, 10, "expected a range such as 0..100, found '3..'"},
        {"class c\np: range ..3", 2, 10, "expected a range such as 0..100, found '..3'"},
        {"class c\np: range 0..3x", 2, 10, "expected a range such as 0..100, found '0..3x'"},
        {"class c\np: range 0.. 3", 2, 10, "expected a range such as 0..100, found '0..'"},
        {"class c\np: range 0..1e400", 2, 10, "expected a range such as 0..100, found '0..1e400'"},
        {"class c\np: varint 5", 2, 11, "expected a range such as 0..100, found '5'"},
        {"class c\np: angle -8", 2, 10, "expected a number of bits such as 8, found '-8'"},
        {"class c\np: angle 0", 2, 10, "expected a number of bits such as 8, found '0'"},
        {"class c\np: string x", 2, 11, "expected a number of bytes such as 31, found 'x'"},
        {"class c\np: bytes \xB6", 2, 10, "expected a number of bytes such as 31, found '?'"},
        // values of options
        {"class c\np: fixed 0..4", 2, 14, "expected step and a number, found the end of the line"},
        {"class c\np: fixed 0..4 step 0", 2, 20,
         "expected a number above 0 such as 0.5, found '0'"},
        {"class c\np: fixed 0..4 step # 1", 2, 20,
         "expected a number above 0 such as 0.5, found the end of the line"},
        {"class c\np: angle turn -3", 2, 15, "expected a number above 0 such as 0.5, found '-3'"},
        {"class c\np: bool weight 0", 2, 16, "expected a number above 0 such as 0.5, found '0'"},
        {"class c\np: bool distance far", 2, 18, "expected a number such as 0.5, found 'far'"},
        {"class c\np: rice k", 2, 10,
         "expected a whole number such as 3, found the end of the line"},
        {"class c\np: position ground 0", 2, 20,
         "expected whole millimetres above 0 such as 500, found '0'"},
        {"class c\np: vec3 0..4 step 1 z 5", 2, 23, "expected a range such as 0..100, found '5'"},
        {"class c\np: vec3 0..4 step 1 default 0", 2, 30,
         "expected the components, such as xyz or z, found the end of the line"},
        {"class c\np: vec3 0..4 step 1 default 0 zx", 2, 31,
         "expected the components, such as xyz or z, found 'zx'"},
        {"class c\np: bool default yes", 2, 17, "expected a number such as 0.5, found 'yes'"},
        {"class c\np: bool audience 3", 2, 18, "expected a mask such as 0x3, found '3'"},
        {"class c\np: bool audience 0x", 2, 18, "expected a mask such as 0x3, found '0x'"},
        {"class c\np: bool audience 0xg", 2, 18, "expected a mask such as 0x3, found '0xg'"},
        {"class c\np: bool audience 0x123456789", 2, 18,
         "expected a mask such as 0x3, found '0x123456789'"},
        // words that do not go together, each at the word that is wrong
        {"class c\np: angle 40", 2, 10, "class c, property p: bits must be 1..32, got 40"},
        {"class c\np: range 0..3 initial 4", 2, 15,
         "class c, property p: default_value must be within 0..3, got 4"},
        {"class c\np: range 5..9 initial 0", 2, 15, "class c, property p: 0 is outside of 5..9"},
        {"class c\np: bool audience 0x0", 2, 9,
         "class c, property p: audience_mask must have a bit with PH_AUDIENCE_MASK, and only with "
         "it"},
        {"class c\np: bool weight 1e9", 2, 9,
         "class c, property p: weight must be 0.000001..1000000 (or 0, which means 1), got "
         "1000000000"},
        {"class c\np: fixed 0..10 step 3", 2, 16,
         "class c, property p: 0..10 step 3: The declared step is not positive, or does not divide "
         "the range."},
        {"class c\np: position 30", 2, 13,
         "class c, property p: bits must be 1..28 with a step of 16 mm, got 30"},
        {"class c\np: position step 5", 2, 13,
         "class c, property p: step must be a power of two, 1..2147483648 mm, got 5"},
        {"class c\np: string 1001", 2, 11,
         "class c, property p: max_length must be 1..1000, got 1001"},
        {"class c\np: rice k 40", 2, 9, "class c, property p: rice_k must be 0..31, got 40"},
        {"class c\np: two_bit 0..1e10", 2, 12,
         "class c, property p: two_bit holds 32 bits, too few for 0..10000000000: give lo and hi, "
         "or take varint"},
        // an entity that no datagram holds, at its class
        {"class c\np: position\n class d\np: position\nq: string 1000\nr: bytes 1000\nclass e\np:",
         3, 2,
         "class d: its values may take 16104 bits, but must fit a datagram, which has 8712 for "
         "them: lower max_length of its texts"},
        {"class c\np: position\nq: string 1000\nr: bytes 1000", 1, 1,
         "class c: its values may take 16104 bits, but must fit a datagram, which has 8712 for "
         "them: lower max_length of its texts"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        ph_schema* schema = (ph_schema*)&schema;
        ph_error error = {0};
        const size_t length = strlen(rows[i].text);
        assert_int_equal(ph_schema_parse(rows[i].text, length, NULL, &schema, &error),
                         PH_ERROR_SCHEMA);
        assert_null(schema);
        if (strcmp(error.text, rows[i].message) != 0 || error.line != rows[i].line ||
            error.column != rows[i].column) {
            print_error("%s\ngave %d:%d: %s\n", rows[i].text, error.line, error.column, error.text);
            fail();
        }
        assert_int_equal(ph_schema_parse(rows[i].text, length, NULL, &schema, NULL),
                         PH_ERROR_SCHEMA);
    }
}

static void a_zero_byte_is_no_letter(void** state)
{
    (void)state;
    static const char text[] = "class c\0d\np: position\n";
    ph_schema* schema;
    ph_error error;
    assert_int_equal(ph_schema_parse(text, sizeof text - 1, NULL, &schema, &error),
                     PH_ERROR_SCHEMA);
    assert_string_equal(error.text,
                        "expected a name (at most 31 letters, digits and underscores, not a digit "
                        "first), found 'c?d'");
    assert_int_equal(ph_schema_parse(NULL, 0, NULL, &schema, &error), PH_ERROR_SCHEMA);
}

static void limits_are_those_of_a_schema(void** state)
{
    (void)state;
    static char text[PH_CLASSES_MAX * 40 + 4096];
    size_t length = 0;
    for (int i = 0; i <= PH_CLASSES_MAX; ++i) {
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "class c%d\n p: position\n", i);
        if (i == PH_CLASSES_MAX - 1) {
            ph_schema_destroy(parse(text));
        }
    }
    ph_schema* schema;
    ph_error error;
    assert_int_equal(ph_schema_parse(text, length, NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_string_equal(error.text, "expected at most 256 classes");
    assert_int_equal(error.line, 513);

    length = (size_t)snprintf(text, sizeof text, "class c\np: position\n");
    for (int i = 1; i <= PH_PROPERTIES_MAX; ++i) {
        length += (size_t)snprintf(text + length, sizeof text - length, " b%d: bool\n", i);
        if (i == PH_PROPERTIES_MAX - 1) {
            ph_schema_destroy(parse(text));
        }
    }
    assert_int_equal(ph_schema_parse(text, length, NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_string_equal(error.text, "expected at most 64 properties in class c");
    assert_int_equal(error.line, 66);
    assert_int_equal(error.column, 2);
}

static void failed_allocations_leave_nothing(void** state)
{
    (void)state;
    for (int n = 1;; ++n) {
        test_memory memory = {.fail_at = n};
        const ph_allocator allocator = test_memory_allocator(&memory);
        ph_schema* schema = (ph_schema*)&memory;
        const ph_result result =
            ph_schema_parse(every_coding, strlen(every_coding), &allocator, &schema, NULL);
        if (result == PH_OK) {
            assert_int_equal(n, 5); // three arrays of scratch, and the schema
            assert_int_equal(memory.live_count, 1);
            ph_schema_destroy(schema);
            test_memory_assert_clean(&memory);
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_null(schema);
        test_memory_assert_clean(&memory);
    }
}

// A text of a million lines must not ask for a million rows.
static void scratch_memory_is_bounded(void** state)
{
    (void)state;
    static char text[2000000];
    for (size_t i = 0; i < sizeof text; i += 2) {
        text[i] = 'x';
        text[i + 1] = '\n';
    }
    test_memory memory = {0};
    const ph_allocator allocator = test_memory_allocator(&memory);
    ph_schema* schema;
    assert_int_equal(ph_schema_parse(text, sizeof text, &allocator, &schema, NULL),
                     PH_ERROR_SCHEMA);
    assert_in_range(memory.peak_bytes, 1, 8000000);
    test_memory_assert_clean(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_word),
        cmocka_unit_test(prints_what_it_read),
        cmocka_unit_test(spells_out_what_was_left_out),
        cmocka_unit_test(a_class_may_say_how_it_moves),
        cmocka_unit_test(layout_does_not_matter),
        cmocka_unit_test(printing_tells_how_much_room_it_needs),
        cmocka_unit_test(the_example_of_the_documentation_is_one),
        cmocka_unit_test(random_schemas_survive_print_and_parse),
        cmocka_unit_test(errors_say_where_and_what),
        cmocka_unit_test(a_zero_byte_is_no_letter),
        cmocka_unit_test(limits_are_those_of_a_schema),
        cmocka_unit_test(failed_allocations_leave_nothing),
        cmocka_unit_test(scratch_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
