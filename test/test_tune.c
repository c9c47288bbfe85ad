// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Learning a schema from a scene: what it is worth, that it says the same every time, and what the values
// of a recording need.

#include "test_support.h"

#include "kit/derive.h"
#include "kit/learn.h"
#include "kit/recording_csv.h"
#include "kit/sim_material.h"
#include "kit/tune.h"
#include "kit/tune_columns.h"

#include "schema/learned_models.h"

#include <pinhole/entropy.h>
#include <pinhole/integers.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void open_town(ph_sim_material* material)
{
    const ph_sim_material_def def = {.source = "scene:town", .seconds = 24, .count = 60, .seed = 3};
    ph_fault fault = {0};
    if (!ph_sim_material_open(material, &def, &fault)) {
        fail_msg("%s", fault.message);
    }
}

static char* tune(const ph_sim_material* material, int threads, ph_tune_result* result)
{
    const struct ph_recording* recordings[] = {material->recording};
    ph_pool* pool = ph_pool_create(threads);
    const ph_tune_def def = {.kbps = PH_TUNE_KBPS,
                             .recordings = recordings,
                             .recording_count = 1,
                             .base = material->schema,
                             .viewers = 2,
                             .pool = pool};
    ph_fault fault = {0};
    if (!ph_tune_run(&def, result, &fault)) {
        fail_msg("%s", fault.message);
    }
    ph_pool_destroy(pool);
    const size_t size = ph_schema_print(result->schema, NULL, 0) + 1;
    char* text = malloc(size);
    assert_non_null(text);
    ph_schema_print(result->schema, text, size);
    ph_schema_destroy(result->schema);
    return text;
}

static void models_of_a_game_are_worth_it_and_always_the_same(void** state)
{
    (void)state;
    ph_sim_material material;
    open_town(&material);
    ph_tune_result one;
    ph_tune_result two;
    char* text = tune(&material, 1, &one);
    char* again = tune(&material, 2, &two);
    assert_string_equal(text, again);
    assert_true(one.models > 0 && one.updates > 1000 && one.test_updates > 100);
    assert_true(one.after_bits < 0.98 * one.before_bits);
    ph_schema* schema = NULL;
    assert_int_equal(ph_schema_parse(text, strlen(text), NULL, &schema, NULL), PH_OK);
    assert_int_equal(ph_schema_class_count(schema), 1);
    ph_schema_destroy(schema);
    free(text);
    free(again);
    ph_sim_material_close(&material);
}

// By hand: two values, 0 and 200, in turns.
static void columns_cost_what_codings_say(void** state)
{
    (void)state;
    static const char TEXT[] = "# rate 4\ntick,entity,x_mm,y_mm,z_mm,heading_deg,power,idle\n"
                               "0,1,0,0,0,0,0,7\n1,1,0,0,0,0,200,7\n2,1,0,0,0,0,0,7\n"
                               "3,1,0,0,0,0,200,7\n";
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* recording = ph_recording_parse(TEXT, sizeof TEXT - 1, &def, &fault);
    assert_non_null(recording);
    ph_schema* derived = ph_derive_schema(recording, &fault);
    assert_non_null(derived);
    static ph_tune_column columns[PH_PROPERTIES_MAX];
    const struct ph_recording* recordings[] = {recording};
    assert_true(ph_tune_columns_measure(derived, recordings, 1, columns, &fault));
    const ph_tune_column* power = &columns[2];
    assert_int_equal(power->changes, 3);
    assert_int_equal(power->high - power->low, 200);
    assert_int_equal(power->absolute256[PH_TUNE_FIXED], 3 * 8 * 256);
    assert_int_equal(power->absolute256[PH_TUNE_RANGE], 3 * 8 * 256);
    const int gamma = 2 * ph_gamma_cost_bits(200) + ph_gamma_cost_bits(0);
    assert_int_equal(power->absolute256[PH_TUNE_GAMMA], gamma * 256);
    assert_int_equal(power->predictor, PH_TUNE_LAST);
    assert_int_equal(power->lengths[PH_TUNE_LAST][8], 3);
    const int gamma_of_difference = 2 * ph_gamma_cost_bits(400) + ph_gamma_cost_bits(399);
    assert_int_equal(power->residual256[PH_TUNE_LAST][PH_TUNE_GAMMA], gamma_of_difference * 256);
    const ph_tune_column* idle = &columns[3];
    assert_true(idle->changes == 0 && idle->low == idle->high && idle->samples == 4);
    // Others of the kind may have greater values.
    ph_schema* schema = ph_tune_columns_schema(derived, columns, derived, &fault);
    assert_non_null(schema);
    const ph_property_def* made = &ph_schema_class(schema, 0)->properties[2];
    assert_true(made->lo == 0.0 && made->hi >= 300.0);
    ph_schema_destroy(schema);
    ph_schema_destroy(derived);
    ph_recording_destroy(recording);
}

// Round once, in steps of 10 degrees: the way is never 350.
static void angles_go_the_shorter_way(void** state)
{
    (void)state;
    char text[4096] = "# rate 4\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n";
    for (int t = 0; t < 80; ++t) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%d,1,0,0,0,%d\n", t, t * 10 % 360);
    }
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* recording = ph_recording_parse(text, strlen(text), &def, &fault);
    assert_non_null(recording);
    ph_schema* derived = ph_derive_schema(recording, &fault);
    assert_non_null(derived);
    static ph_tune_column columns[PH_PROPERTIES_MAX];
    const struct ph_recording* recordings[] = {recording};
    assert_true(ph_tune_columns_measure(derived, recordings, 1, columns, &fault));
    assert_int_equal(columns[1].changes, 79);
    // 7 or 8 of 256 levels, by the difference; by its way 0 or 1.
    assert_int_equal(columns[1].predictor, PH_TUNE_LINEAR);
    assert_int_equal(columns[1].lengths[PH_TUNE_LINEAR][0] + columns[1].lengths[PH_TUNE_LINEAR][1],
                     78);
    assert_int_equal(columns[1].lengths[PH_TUNE_LINEAR][3], 1);
    ph_schema_destroy(derived);
    ph_recording_destroy(recording);
}

// ---- several classes

enum { ARENA_TICKS = 480, ARENA_HZ = 20, ARENA_EACH = 12 };

// Orbits turn steadily, so that a change of velocity goes on; walkers sway, so that it is taken back soon.
static ph_recording* make_arena(void)
{
    const size_t size = (size_t)ARENA_TICKS * 2 * ARENA_EACH * 64 + 200;
    char* text = malloc(size);
    assert_non_null(text);
    size_t used = (size_t)snprintf(
        text, size, "# rate %d\ntick,entity,x_mm,y_mm,z_mm,heading_deg,class,power\n", ARENA_HZ);
    for (int t = 0; t < ARENA_TICKS; ++t) {
        for (int e = 0; e < ARENA_EACH; ++e) {
            const double turn = 1.2 * t / ARENA_HZ + e;
            used +=
                (size_t)snprintf(text + used, size - used, "%d,%d,%d,%d,0,0,orbit,63\n", t, e,
                                 (int)(9000.0 * cos(turn)) + 3000 * e, (int)(9000.0 * sin(turn)));
        }
        for (int e = 0; e < ARENA_EACH; ++e) {
            used += (size_t)snprintf(text + used, size - used, "%d,%d,%d,%d,0,0,walker,%d\n", t,
                                     100 + e, 60 * t, (int)(150.0 * sin(0.6 * t + e)) + 1000 * e,
                                     t / 8 % 50);
        }
    }
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    ph_recording* made = ph_recording_parse(text, used, &def, &fault);
    if (made == NULL) {
        fail_msg("%d: %s", fault.line, fault.message);
    }
    free(text);
    return made;
}

static void each_class_is_learned_by_itself(void** state)
{
    (void)state;
    static const char SCHEMA[] =
        "class walker\n    position: position\n    power: range 0..63\n    rage: range 0..63\n"
        "class orbit\n    position: position\n    moons: range 0..3\nclass ghost\n    position: "
        "position\n";
    ph_fault fault = {0};
    ph_sim_material material = {.recording = make_arena()};
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &material.schema, NULL),
                     PH_OK);
    ph_tune_column columns[8];
    const struct ph_recording* recordings[] = {material.recording};
    assert_int_equal(ph_tune_column_count(material.schema), 6);
    assert_int_equal(ph_tune_first_column(material.schema, 1), 3);
    assert_true(ph_tune_columns_measure(material.schema, recordings, 1, columns, &fault));
    assert_int_equal(columns[1].high, 49);
    assert_int_equal(columns[1].predictor, PH_TUNE_LAST);
    assert_int_equal(columns[2].samples + columns[4].samples, 0);

    ph_tune_result one;
    ph_tune_result two;
    char* text = tune(&material, 1, &one);
    char* again = tune(&material, 2, &two);
    assert_string_equal(text, again);
    free(again);
    const ph_tune_motion* walker = &one.motions[0];
    const ph_tune_motion* orbit = &one.motions[1];
    assert_true(walker->is_taken && walker->bend < 0.5 &&
                walker->after_mrad < 0.99 * walker->before_mrad);
    assert_true(orbit->is_taken && orbit->bend > 0.6 &&
                orbit->after_mrad < 0.99 * orbit->before_mrad);
    assert_true(!one.motions[2].is_taken && one.motions[2].bend == one.motions[2].was_bend);
    ph_schema* learned;
    assert_int_equal(ph_schema_parse(text, strlen(text), NULL, &learned, NULL), PH_OK);
    assert_true(ph_schema_class(learned, 1)->bend == orbit->bend);
    assert_int_equal(ph_schema_class(learned, 0)->leg_ms, walker->leg_ms);
    assert_true(ph_schema_class(learned, 2)->bend == ph_schema_class(material.schema, 2)->bend);
    // Of what no recording has nothing is said for certain: telling it takes some bits, not fifteen.
    const ph_model_set models = ph_schema_models(learned);
    assert_true(ph_schema_has_model(learned, ph_learned_told_entry(1, true)));
    for (int property = 2; property <= 4; property += 2) {
        const int entry = ph_learned_told_entry(property, true);
        assert_true(models.costs[entry + 1] < 5 * PH_COST_PER_BIT);
    }
    ph_schema_destroy(learned);
    free(text);
    ph_sim_material_close(&material);
}

// Counted as often as the library's model says, a model saves nothing; with one symbol alone it does.
static void a_model_that_saves_nothing_is_left_out(void** state)
{
    (void)state;
    static const char TEXT[] = "class thing\n    at: position\n";
    static ph_pinhole_counts counts;
    const ph_pinhole_family_info* family = &ph_pinhole_families[PH_FAMILY_X_MOVING];
    ph_schema* base;
    ph_fault fault = {0};
    assert_int_equal(ph_schema_parse(TEXT, sizeof TEXT - 1, NULL, &base, NULL), PH_OK);
    counts.updates = 1000;
    for (int i = 0; i < family->symbols; ++i) {
        const uint16_t* parts = ph_pinhole_cumulative + family->first + i;
        counts.seen[family->first + i] = (uint64_t)(parts[1] - parts[0]);
    }
    ph_schema* made = ph_learn_schema(base, &counts, false, &fault);
    assert_non_null(made);
    assert_int_equal(ph_learn_model_count(made), 0);
    ph_schema_destroy(made);
    for (int i = 0; i < family->symbols; ++i) {
        counts.seen[family->first + i] = i == 3 ? 1000 : 0;
    }
    made = ph_learn_schema(base, &counts, false, &fault);
    assert_non_null(made);
    assert_int_equal(ph_learn_model_count(made), 1);
    assert_true(ph_learn_cost256(made, &counts) < ph_learn_cost256(base, &counts));
    ph_schema_destroy(made);
    ph_schema_destroy(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_of_a_game_are_worth_it_and_always_the_same),
        cmocka_unit_test(columns_cost_what_codings_say),
        cmocka_unit_test(angles_go_the_shorter_way),
        cmocka_unit_test(each_class_is_learned_by_itself),
        cmocka_unit_test(a_model_that_saves_nothing_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
