// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Values that a struct should not hold: numbers out of range are clamped and counted, or refused where the
// property is strict; what is no number or no text is refused and named; the rest of the struct counts.

#include "test_support.h"

#include <pinhole/pinhole.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct ship {
    int64_t position_mm[3];
    float heading_deg;
    float speed;
    float drift[3];
    float turn[4];
    int16_t hull;
    uint64_t money;
    uint8_t crew;
    uint8_t flag;
    char name[8];
} ship;

enum { POSITION, HEADING, SPEED, DRIFT, TURN, HULL, MONEY, CREW, FLAG, NAME, SHIP_COUNT };

#define BOUND(type, member) .field = type, .offset = offsetof(ship, member)

static const ph_property_def ship_properties[] = {
    {.name = "position", .coding = PH_CODING_POSITION, BOUND(PH_FIELD_I64X3, position_mm)},
    {.name = "heading", .coding = PH_CODING_ANGLE, BOUND(PH_FIELD_F32, heading_deg)},
    {.name = "speed",
     .coding = PH_CODING_FIXED,
     .lo = -10,
     .hi = 10,
     .step = 0.5,
     BOUND(PH_FIELD_F32, speed)},
    {.name = "drift",
     .coding = PH_CODING_VEC3,
     .lo = -1,
     .hi = 1,
     .step = 0.25,
     .is_strict = true,
     BOUND(PH_FIELD_F32X3, drift)},
    {.name = "turn", .coding = PH_CODING_QUATERNION, BOUND(PH_FIELD_F32X4, turn)},
    {.name = "hull", .coding = PH_CODING_RANGE, .lo = -5, .hi = 100, BOUND(PH_FIELD_I16, hull)},
    {.name = "money", .coding = PH_CODING_VARINT, .hi = 1000, BOUND(PH_FIELD_U64, money)},
    {.name = "crew",
     .coding = PH_CODING_RANGE,
     .hi = 9,
     .is_strict = true,
     BOUND(PH_FIELD_U8, crew)},
    {.name = "flag", .coding = PH_CODING_ENUM, .count = 3, BOUND(PH_FIELD_U8, flag)},
    {.name = "name", .coding = PH_CODING_STRING, .max_length = 7, BOUND(PH_FIELD_TEXT, name)},
};

static const ph_class_def ship_class = {.name = "ship",
                                        .properties = ship_properties,
                                        .property_count = SHIP_COUNT,
                                        .struct_size = sizeof(ship)};

// All of it can be kept as it is.
static const ship SOUND = {.position_mm = {16, 32, 48},
                           .heading_deg = 90.0f,
                           .speed = 2.5f,
                           .drift = {0.25f, 0.5f, -1.0f},
                           .turn = {0, 0, 0, 1},
                           .hull = 50,
                           .money = 7,
                           .crew = 3,
                           .flag = 2,
                           .name = "Anne"};

typedef struct fixture {
    ph_schema* schema;
    ph_world* world;
    ph_entity_id entity;
    char errors[1024]; // one line each
} fixture;

static void note(void* context, const ph_error* error)
{
    fixture* f = context;
    assert_string_equal(error->function, "ph_world_set_struct");
    const size_t length = strlen(f->errors);
    snprintf(f->errors + length, sizeof f->errors - length, "%s\n", error->text);
}

static int setup(void** state)
{
    static fixture f;
    f = (fixture){0};
    assert_int_equal(ph_schema_create(&ship_class, 1, NULL, &f.schema, NULL), PH_OK);
    ph_world_def def = ph_world_def_default();
    def.schema = f.schema;
    def.on_error = note;
    def.on_error_context = &f;
    assert_int_equal(ph_world_create(&def, &f.world), PH_OK);
    assert_int_equal(ph_world_spawn(f.world, &(ph_spawn){.key = 1}, &f.entity), PH_OK);
    assert_int_equal(ph_world_set_struct(f.world, f.entity, &SOUND), PH_OK);
    assert_int_equal(ph_world_get_stats(f.world).clamped_values, 0);
    *state = &f;
    return 0;
}

static int teardown(void** state)
{
    fixture* f = *state;
    ph_world_destroy(f->world);
    ph_schema_destroy(f->schema);
    return 0;
}

static ship shown(const fixture* f)
{
    ship now = {0};
    assert_int_equal(ph_world_get_struct(f->world, f->entity, &now), PH_OK);
    return now;
}

static void assert_counts(const fixture* f, uint64_t clamped, uint64_t refused)
{
    const ph_world_stats stats = ph_world_get_stats(f->world);
    assert_int_equal(stats.clamped_values, clamped);
    assert_int_equal(stats.refused_values, refused);
}

static void numbers_out_of_range_are_clamped_and_counted(void** state)
{
    fixture* f = *state;
    ship s = SOUND;
    s.hull = 101;
    s.speed = 1e9f;
    s.money = UINT64_MAX;
    s.crew = 4;
    assert_int_equal(ph_world_set_struct(f->world, f->entity, &s), PH_OK);
    assert_int_equal(shown(f).hull, 100);
    assert_true(shown(f).speed == 10.0f);
    assert_int_equal(shown(f).money, 1000);
    assert_int_equal(shown(f).crew, 4);
    assert_counts(f, 3, 0);
    s = SOUND;
    s.hull = INT16_MIN;
    s.speed = -INFINITY;
    assert_int_equal(ph_world_set_struct(f->world, f->entity, &s), PH_OK);
    assert_int_equal(shown(f).hull, -5);
    assert_true(shown(f).speed == -10.0f);
    assert_counts(f, 5, 0);
    assert_string_equal(f->errors, "");
}

static void less_than_half_a_step_beyond_is_rounding(void** state)
{
    fixture* f = *state;
    ship s = SOUND;
    s.speed = 10.2f;
    assert_int_equal(ph_world_set_struct(f->world, f->entity, &s), PH_OK);
    assert_true(shown(f).speed == 10.0f);
    assert_counts(f, 0, 0);
}

static void strict_properties_refuse_and_say_so(void** state)
{
    fixture* f = *state;
    ship s = SOUND;
    s.crew = 10;
    s.drift[1] = 2.0f;
    s.hull = 51;
    assert_int_equal(ph_world_set_struct(f->world, f->entity, &s), PH_ERROR_VALUE);
    assert_string_equal(f->errors, "ship.drift is 2; it must be -1..1\n"
                                   "ship.crew is 10; it must be 0..9\n");
    assert_int_equal(shown(f).crew, SOUND.crew);
    assert_true(shown(f).drift[1] == SOUND.drift[1]);
    assert_int_equal(shown(f).hull, 51);
    assert_counts(f, 0, 2);
}

static void what_is_no_value_is_refused_and_the_rest_counts(void** state)
{
    fixture* f = *state;
    ship s = SOUND;
    s.position_mm[2] = INT64_C(1) << 40;
    s.heading_deg = NAN;
    s.speed = NAN;
    s.turn[3] = 0.5f;
    s.flag = 3;
    strcpy(s.name, "\xC3"); // half a character
    s.hull = 77;
    s.crew = 9;
    assert_int_equal(ph_world_set_struct(f->world, f->entity, &s), PH_ERROR_VALUE); // the first one
    assert_string_equal(f->errors,
                        "ship.position has z = 1,099,511,627,776 mm; it must be "
                        "-2,147,483,648..2,147,483,647\n"
                        "ship.heading is NaN; it must be a finite number\n"
                        "ship.speed is NaN; it must be a finite number\n"
                        "ship.turn is no rotation; its length must be 1, within 1 %\n"
                        "ship.flag is 3; it must be 0..2\n"
                        "ship.name is not UTF-8; it must be UTF-8 without a zero byte\n");
    const ship now = shown(f);
    assert_int_equal(now.position_mm[2], SOUND.position_mm[2]);
    assert_true(now.heading_deg == SOUND.heading_deg);
    assert_true(now.speed == SOUND.speed);
    assert_int_equal(now.flag, SOUND.flag);
    assert_string_equal(now.name, SOUND.name);
    assert_int_equal(now.hull, 77);
    assert_int_equal(now.crew, 9);
    assert_counts(f, 0, 6);
}

static void text_that_is_too_long_is_refused(void** state)
{
    fixture* f = *state;
    ship s = SOUND;
    memcpy(s.name, "12345678", sizeof s.name);
    assert_int_equal(ph_world_set_struct(f->world, f->entity, &s), PH_ERROR_TOO_LONG);
    assert_string_equal(f->errors, "ship.name is too long; it must be at most 7 bytes\n");
    assert_string_equal(shown(f).name, "Anne");
}

static void single_properties_clamp_alike(void** state)
{
    fixture* f = *state;
    assert_int_equal(
        ph_world_set_property(f->world, f->entity, HULL, PH_FIELD_I32, &(int32_t){INT32_MAX}, 4),
        PH_OK);
    assert_int_equal(shown(f).hull, 100);
    assert_counts(f, 1, 0);
}

static void the_text_form_has_strict_and_the_wire_does_not(void** state)
{
    (void)state;
    static const char strict[] = "class a\n    p: position\n    h: range 0..9 strict\n";
    static const char plain[] = "class a\n    p: position\n    h: range 0..9\n";
    ph_schema* one;
    ph_schema* other;
    assert_int_equal(ph_schema_parse(strict, sizeof strict - 1, NULL, &one, NULL), PH_OK);
    assert_int_equal(ph_schema_parse(plain, sizeof plain - 1, NULL, &other, NULL), PH_OK);
    assert_true(ph_schema_class(one, 0)->properties[1].is_strict);
    assert_false(ph_schema_class(other, 0)->properties[1].is_strict);
    assert_int_equal(ph_schema_fingerprint(one), ph_schema_fingerprint(other));
    char printed[512];
    ph_schema_print(one, printed, sizeof printed);
    assert_non_null(strstr(printed, "range 0..9 strict"));
    ph_error error;
    static const char wrong[] = "class a\n    p: position strict\n";
    ph_schema* none;
    assert_int_equal(ph_schema_parse(wrong, sizeof wrong - 1, NULL, &none, &error),
                     PH_ERROR_SCHEMA);
    ph_schema_destroy(one);
    ph_schema_destroy(other);
}

#define ON_SHIP(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SHIP(numbers_out_of_range_are_clamped_and_counted),
        ON_SHIP(less_than_half_a_step_beyond_is_rounding),
        ON_SHIP(strict_properties_refuse_and_say_so),
        ON_SHIP(what_is_no_value_is_refused_and_the_rest_counts),
        ON_SHIP(text_that_is_too_long_is_refused),
        ON_SHIP(single_properties_clamp_alike),
        cmocka_unit_test(the_text_form_has_strict_and_the_wire_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
