// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How far apart two values are, and how much a change counts.

#include "support/test_support.h"

#include "entities/columns.h"

#include <string.h>

enum { PLACE, HEADING, BAR, SPEED, HAT, WEALTH, COUNT };

static const ph_property_def defs[COUNT] = {
    [PLACE] = {.name = "place", .coding = PH_CODING_POSITION},
    [HEADING] = {.name = "heading", .coding = PH_CODING_ANGLE, .bits = 8, .significant = 5.625},
    [BAR] = {.name = "bar", .coding = PH_CODING_RANGE, .hi = 127, .significant = 4, .weight = 2},
    [SPEED] = {.name = "speed",
               .coding = PH_CODING_VEC3,
               .lo = -10,
               .hi = 10,
               .step = 0.1,
               .significant = 1},
    [HAT] = {.name = "hat", .coding = PH_CODING_ENUM, .count = 200},
    [WEALTH] = {.name = "wealth", .coding = PH_CODING_VARINT, .hi = 1e15},
};

static ph_schema* schema;

static const ph_property* property(int index)
{
    return &ph_schema_class_at(schema, 0)->properties[index];
}

static int setup(void** state)
{
    (void)state;
    const ph_class_def class_def = {.name = "all", .properties = defs, .property_count = COUNT};
    return ph_schema_create(&class_def, 1, NULL, &schema, NULL) == PH_OK ? 0 : -1;
}

static int teardown(void** state)
{
    (void)state;
    ph_schema_destroy(schema);
    return 0;
}

static uint64_t steps(int index, const uint32_t* a, const uint32_t* b)
{
    return ph_difference_steps(property(index), a, b);
}

static void numbers_differ_by_their_distance(void** state)
{
    (void)state;
    assert_int_equal(steps(BAR, (uint32_t[]){100}, (uint32_t[]){90}), 10);
    assert_int_equal(steps(BAR, (uint32_t[]){90}, (uint32_t[]){100}), 10);
    assert_int_equal(property(WEALTH)->words, 2);
    assert_int_equal(steps(WEALTH, (uint32_t[]){5, 1}, (uint32_t[]){6, 0}), UINT32_MAX);
}

static void angles_differ_by_the_short_way(void** state)
{
    (void)state;
    assert_int_equal(steps(HEADING, (uint32_t[]){250}, (uint32_t[]){4}), 10);
    assert_int_equal(steps(HEADING, (uint32_t[]){4}, (uint32_t[]){250}), 10);
}

static void places_differ_across_the_edge_of_the_world(void** state)
{
    (void)state;
    assert_int_equal(steps(PLACE, (uint32_t[]){0, 0, 0}, (uint32_t[]){3, 4, 12}), 13);
    assert_int_equal(
        steps(PLACE, (uint32_t[]){INT32_MAX, 0, 0}, (uint32_t[]){(uint32_t)INT32_MIN, 0, 0}), 1);
}

static void vectors_differ_by_their_largest_component(void** state)
{
    (void)state;
    assert_int_equal(steps(SPEED, (uint32_t[]){1, 9, 5}, (uint32_t[]){2, 2, 5}), 7);
}

// ---- stir

static uint32_t stir(int index, uint32_t a, uint32_t b)
{
    const uint32_t before[PH_VALUE_WORDS_MAX] = {a};
    const uint32_t after[PH_VALUE_WORDS_MAX] = {b};
    return ph_difference_stir(property(index), before, after) - 1; // 1 is for being there at all
}

static void eight_significant_differences_are_another_look(void** state)
{
    (void)state;
    assert_int_equal(stir(HEADING, 0, 32), PH_STIR_UNIT);
    assert_int_equal(stir(HEADING, 0, 4), PH_STIR_UNIT / 8);
    assert_int_equal(stir(HEADING, 0, 2), PH_STIR_UNIT / 16);
}

static void the_weight_of_the_property_multiplies(void** state)
{
    (void)state;
    assert_int_equal(stir(BAR, 50, 54), 2 * PH_STIR_UNIT / 8);
}

static void a_leap_is_no_more_than_another_look(void** state)
{
    (void)state;
    assert_int_equal(stir(BAR, 0, 127), 2 * PH_STIR_UNIT);
}

// A hat is not ten times another hat.
static void without_a_scale_every_difference_is_another_look(void** state)
{
    (void)state;
    assert_int_equal(stir(HAT, 1, 2), PH_STIR_UNIT);
    assert_int_equal(stir(HAT, 1, 199), PH_STIR_UNIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_differ_by_their_distance),
        cmocka_unit_test(angles_differ_by_the_short_way),
        cmocka_unit_test(places_differ_across_the_edge_of_the_world),
        cmocka_unit_test(vectors_differ_by_their_largest_component),
        cmocka_unit_test(eight_significant_differences_are_another_look),
        cmocka_unit_test(the_weight_of_the_property_multiplies),
        cmocka_unit_test(a_leap_is_no_more_than_another_look),
        cmocka_unit_test(without_a_scale_every_difference_is_another_look),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
