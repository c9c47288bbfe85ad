// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The ready class of the kit: it is accepted, it fits a datagram, and a creature comes back from
// it.

#include "kit/creature.h"

#include "schema/property.h"
#include "support/test_support.h"

#include <string.h>

static ph_schema* make_schema(void)
{
    const ph_class_def type = ph_creature_class();
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (ph_schema_create(&type, 1, NULL, &schema, &error) != PH_OK) {
        print_error("%s\n", error.text);
        fail();
    }
    return schema;
}

static ph_creature make_creature(void)
{
    return (ph_creature){
        .position_mm = {1000, -2000, 300},
        .heading_deg = 90.0f,
        .sheet = 4242,
        .behaviour = 95,
        .mode = 19,
        .event_faction = 200,
        .duel_mode = 7,
        .name = "Gr\xC3\xBCnbart",
        .target = {.index1 = 7, .generation = 1},
        .appearance_a = 0xDEADBEEF,
        .appearance_b = 1,
        .appearance_c = UINT32_MAX,
        .mount = {.index1 = 8, .generation = 2},
        .rider = {.index1 = 9, .generation = 3},
        .hit_points = 127,
        .stamina = 2,
        .sap = 64,
        .focus = 1,
        .context = 4095,
        .outpost = 65535,
        .guild_symbol = 0x12345678,
        .guild_name = "Seekers",
        .effect_count = 3,
        .effects = {5, 0, 255},
        .clan = 15,
        .people = 7,
    };
}

static void has_25_properties_in_the_order_of_the_enum(void** state)
{
    (void)state;
    ph_schema* schema = make_schema();
    assert_int_equal(ph_schema_class(schema, 0)->property_count, 25);
    assert_int_equal(ph_schema_class_at(schema, 0)->position, PH_CREATURE_POSITION);
    assert_int_equal(ph_schema_find_property(schema, 0, "heading"), PH_CREATURE_HEADING);
    assert_int_equal(ph_schema_find_property(schema, 0, "mount"), PH_CREATURE_MOUNT);
    assert_int_equal(ph_schema_find_property(schema, 0, "outpost"), PH_CREATURE_OUTPOST);
    ph_schema_destroy(schema);
}

// With room to spare for the record around it and other records.
static void a_complete_enter_fits_a_datagram(void** state)
{
    (void)state;
    ph_schema* schema = make_schema();
    assert_in_range(ph_class_max_bits(ph_schema_class_at(schema, 0)), 25, 600 * 8);
    ph_schema_destroy(schema);
}

// Every property is bound, and to a field of its own: what is put comes back, all of it.
static void a_creature_comes_back(void** state)
{
    (void)state;
    ph_schema* schema = make_schema();
    const ph_class* type = ph_schema_class_at(schema, 0);
    const ph_creature from = make_creature();
    ph_creature to;
    memset(&to, 0, sizeof to);
    for (int i = 0; i < PH_CREATURE_PROPERTY_COUNT; ++i) {
        const ph_property* property = &type->properties[i];
        ph_creature before;
        memcpy(&before, &to, sizeof to);
        if (property->is_text) {
            ph_text text;
            assert_int_equal(ph_property_text(property, &from, &text), PH_OK);
            ph_property_restore_text(property, text, &to);
        } else {
            uint32_t words[PH_VALUE_WORDS_MAX];
            assert_int_equal(ph_property_quantise(property, &from, words), PH_OK);
            ph_property_restore(property, words, &to);
        }
        assert_memory_not_equal(&before, &to, sizeof to);
    }
    assert_memory_equal(to.position_mm, from.position_mm, sizeof from.position_mm);
    assert_true(to.heading_deg == from.heading_deg);
    assert_int_equal(to.sheet, from.sheet);
    assert_int_equal(to.behaviour, from.behaviour);
    assert_int_equal(to.mode, from.mode);
    assert_int_equal(to.event_faction, from.event_faction);
    assert_int_equal(to.duel_mode, from.duel_mode);
    assert_string_equal(to.name, from.name);
    assert_memory_equal(&to.target, &from.target, sizeof from.target);
    assert_true(to.appearance_a == from.appearance_a);
    assert_true(to.appearance_b == from.appearance_b);
    assert_true(to.appearance_c == from.appearance_c);
    assert_memory_equal(&to.mount, &from.mount, sizeof from.mount);
    assert_memory_equal(&to.rider, &from.rider, sizeof from.rider);
    assert_int_equal(to.hit_points, from.hit_points);
    assert_int_equal(to.stamina, from.stamina);
    assert_int_equal(to.sap, from.sap);
    assert_int_equal(to.focus, from.focus);
    assert_int_equal(to.context, from.context);
    assert_int_equal(to.outpost, from.outpost);
    assert_true(to.guild_symbol == from.guild_symbol);
    assert_string_equal(to.guild_name, from.guild_name);
    assert_int_equal(to.effect_count, from.effect_count);
    assert_memory_equal(to.effects, from.effects, sizeof from.effects);
    assert_int_equal(to.clan, from.clan);
    assert_int_equal(to.people, from.people);
    ph_schema_destroy(schema);
}

// A class that shows what there is: all kinds of audience, once and on change, with and without a
// distance.
static void uses_every_policy(void** state)
{
    (void)state;
    const ph_class_def type = ph_creature_class();
    int audiences[3] = {0};
    int once_count = 0;
    int distance_count = 0;
    int significant_count = 0;
    for (int i = 0; i < type.property_count; ++i) {
        ++audiences[type.properties[i].audience];
        once_count += type.properties[i].when == PH_SEND_ONCE ? 1 : 0;
        distance_count += type.properties[i].distance_m > 0.0 ? 1 : 0;
        significant_count += type.properties[i].significant > 0.0 ? 1 : 0;
    }
    assert_true(audiences[PH_AUDIENCE_ALL] > 15);
    assert_int_equal(audiences[PH_AUDIENCE_OWNER], 2);
    assert_int_equal(audiences[PH_AUDIENCE_MASK], 2);
    assert_int_equal(once_count, 3);
    assert_true(distance_count > 10 && distance_count < 25);
    assert_true(significant_count >= 5);
}

static void its_text_makes_the_same_schema(void** state)
{
    (void)state;
    ph_schema* schema = make_schema();
    char text[4096];
    const size_t length = ph_schema_print(schema, text, sizeof text);
    assert_true(length < sizeof text);
    ph_schema* parsed = NULL;
    assert_int_equal(ph_schema_parse(text, length, NULL, &parsed, NULL), PH_OK);
    assert_true(ph_schema_fingerprint(parsed) == ph_schema_fingerprint(schema));
    ph_schema_destroy(parsed);
    ph_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_25_properties_in_the_order_of_the_enum),
        cmocka_unit_test(a_complete_enter_fits_a_datagram),
        cmocka_unit_test(a_creature_comes_back),
        cmocka_unit_test(uses_every_policy),
        cmocka_unit_test(its_text_makes_the_same_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
