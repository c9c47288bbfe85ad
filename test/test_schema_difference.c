// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What differs between two schemas, in a sentence; and the text of what decides the wire.

#include "pinhole/schema.h"

#include "support/random_schema.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ph_schema* parse(const char* text)
{
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (ph_schema_parse(text, strlen(text), NULL, &schema, &error) != PH_OK) {
        print_error("%d:%d: %s\n", error.line, error.column, error.text);
        fail();
    }
    return schema;
}

// The sentence for these two; empty when there is none.
static const char* between(const char* server, const char* client)
{
    static char text[PH_ERROR_TEXT_SIZE];
    ph_schema* one = parse(server);
    ph_schema* other = parse(client);
    const bool differs = ph_schema_difference(one, "server", other, "client", text);
    assert_int_equal(differs, ph_schema_fingerprint(one) != ph_schema_fingerprint(other));
    assert_int_equal(differs, text[0] != '\0');
    ph_schema_destroy(one);
    ph_schema_destroy(other);
    return text;
}

#define SHIP "class ship\n place: position\n hull: range 0..100\n"
#define NPC "class npc\n place: position\n mood: enum 4\n"
#define BOT "class bot\n place: position\n mood: enum 4\n"

static void same_wire_has_no_difference(void** state)
{
    (void)state;
    assert_string_equal(between(SHIP, SHIP), "");
    // Names, policies, and what is written the same.
    assert_string_equal(between(SHIP, "class boat\n at: position\n hp: range 0..100 distance 7\n"),
                        "");
    assert_string_equal(between(NPC BOT, BOT NPC), "");
}

static void property_that_one_side_does_not_have_is_named(void** state)
{
    (void)state;
    assert_string_equal(between(SHIP " shield: bool\n", SHIP),
                        "server: class ship has property shield, client: not");
    assert_string_equal(between(SHIP, SHIP " shield: bool\n"),
                        "client: class ship has property shield, server: not");
    // Before others that are written alike.
    assert_string_equal(
        between("class ship\n place: position\n shield: range 0..100\n hull: range 0..100\n", SHIP),
        "server: class ship has property shield, client: not");
    assert_string_equal(between(NPC SHIP " shield: bool\n", BOT SHIP),
                        "server: class ship has property shield, client: not");
}

static void another_coding_is_told_with_both(void** state)
{
    (void)state;
    static const char* const lines[][2] = {
        {"range 0..200", "range 0..100"},
        {"range 0..100", "range 1..100"},
        {"range 0..100", "range 0..100 default 5"},
        {"range 0..100 default 5", "range 0..100 initial 5"},
        {"range 0..100 once", "range 0..100"},
        {"range 0..100 arithmetic", "range 0..100"},
        {"enum 4", "enum 5"},
        {"bool", "range 0..1"},
        {"varint 0..100", "two_bit 0..100"},
        {"rice 0..100 k 2", "rice 0..100 k 3"},
        {"fixed 0..1 step 0.5", "fixed 0..1 step 0.25"},
        {"angle 8", "angle 9"},
        {"quaternion 9", "quaternion 10"},
        {"quaternion 9 orientation", "quaternion 9"},
        {"quaternion 9 smooth", "quaternion 9"},
        {"range 0..100 smooth", "range 0..100"},
        {"vec3 0..1 step 0.5", "vec3 0..1 step 0.5 z 0..2"},
        {"string 20", "string 21"},
        {"string 20", "bytes 20"},
        {"entity", "bool"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        char texts[2][PH_ERROR_TEXT_SIZE];
        char expected[PH_ERROR_TEXT_SIZE];
        for (int side = 0; side < 2; ++side) {
            snprintf(texts[side], sizeof texts[side], "class ship\n place: position\n hull: %s\n",
                     lines[i][side]);
        }
        snprintf(expected, sizeof expected, "class ship, property hull: server %s, client %s",
                 lines[i][0], lines[i][1]);
        assert_string_equal(between(texts[0], texts[1]), expected);
    }
    assert_string_equal(
        between("class ship\n place: position 16 step 16\n",
                "class ship\n place: position 16 step 32\n"),
        "class ship, property place: server position 16 step 16, client position 16 step 32");
    assert_string_equal(between("class ship\n place: position 16 step 16 ground 300\n",
                                "class ship\n place: position 16 step 16\n"),
                        "class ship, property place: server position 16 step 16 ground 300, client "
                        "position 16 step 16");
}

static void policies_are_not_part_of_the_sentence(void** state)
{
    (void)state;
    assert_string_equal(
        between("class ship\n place: position\n hull: range 0..9 distance 50 weight 2\n",
                "class ship\n place: position\n hull: range 0..8 owner strict\n"),
        "class ship, property hull: server range 0..9, client range 0..8");
}

static void other_names_and_orders_are_told_as_such(void** state)
{
    (void)state;
    assert_string_equal(between("class ship\n place: position\n a: bool\n b: range 0..9\n",
                                "class ship\n place: position\n b: range 0..9\n a: bool\n"),
                        "class ship has its properties in another order: number 2 is a at the "
                        "server, b at the client");
    assert_string_equal(between("class ship\n place: position\n a: bool\n",
                                "class ship\n place: position\n b: range 0..9\n"),
                        "class ship, property 2: server a (bool), client b (range 0..9)");
    assert_string_equal(
        between("class ship\n place: position\n a: bool\n",
                "class boat\n place: position\n a: enum 3\n"),
        "class 1 (server: ship, client: boat), property a: server bool, client enum 3");
}

static void classes_are_told_apart(void** state)
{
    (void)state;
    assert_string_equal(between(SHIP NPC, SHIP), "server: the schema has class npc, client: not");
    assert_string_equal(between(SHIP, NPC SHIP), "client: the schema has class npc, server: not");
    assert_string_equal(between(SHIP NPC, NPC SHIP),
                        "class 1 is ship at the server, npc at the client");
    assert_string_equal(between(SHIP NPC, SHIP "class npc\n place: position\n mood: enum 5\n"),
                        "class npc, property mood: server enum 4, client enum 5");
}

static void longest_names_fit(void** state)
{
    (void)state;
#define LONGEST "abcdefghijklmnopqrstuvwxyz_1234"
    const char* text =
        between("class " LONGEST "\n place: position\n " LONGEST
                ": vec3 -12345.68..12345.68 step 0.01 z -1234.56..1234.56 default 0.125 xyz\n",
                "class " LONGEST "\n place: position\n " LONGEST
                ": vec3 -12345.68..12345.68 step 0.02 z -1234.56..1234.56 default 0.125 xyz\n");
    assert_true(strlen(text) < PH_ERROR_TEXT_SIZE);
    assert_non_null(strstr(text, "class " LONGEST ", property " LONGEST ": server vec3"));
}

// Of any two schemas: a sentence exactly when fingerprints differ; and what decides the wire survives
// the text.
static void any_two_schemas_have_a_sentence_when_they_differ(void** state)
{
    (void)state;
    static random_schema tables;
    test_rng rng = {.state = 22};
    char sentence[PH_ERROR_TEXT_SIZE];
    ph_schema* last = NULL;
    for (int round = 0; round < 300; ++round) {
        ph_schema* schema = NULL;
        random_schema_fill(&tables, &rng);
        assert_int_equal(ph_schema_create(tables.classes, tables.class_count, NULL, &schema, NULL),
                         PH_OK);
        const size_t size = ph_schema_print_wire(schema, NULL, 0) + 1;
        char* text = malloc(size);
        assert_non_null(text);
        assert_int_equal(ph_schema_print_wire(schema, text, size), size - 1);
        ph_schema* again = parse(text);
        free(text);
        assert_false(ph_schema_difference(schema, "one", again, "other", sentence));
        if (last != NULL && ph_schema_fingerprint(last) != ph_schema_fingerprint(schema)) {
            assert_true(ph_schema_difference(last, "one", schema, "other", sentence));
            assert_true(sentence[0] != '\0');
        }
        ph_schema_destroy(again);
        ph_schema_destroy(last);
        last = schema;
    }
    ph_schema_destroy(last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_wire_has_no_difference),
        cmocka_unit_test(property_that_one_side_does_not_have_is_named),
        cmocka_unit_test(another_coding_is_told_with_both),
        cmocka_unit_test(policies_are_not_part_of_the_sentence),
        cmocka_unit_test(other_names_and_orders_are_told_as_such),
        cmocka_unit_test(classes_are_told_apart),
        cmocka_unit_test(longest_names_fit),
        cmocka_unit_test(any_two_schemas_have_a_sentence_when_they_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
