// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Models that a schema brings along: their codes, their text, and what of them is refused.

#include "test_support.h"

#include "schema/schema_state.h"

#include <pinhole/entropy.h>

#include <math.h>
#include <string.h>

#define CLASSES                                                                                    \
    "class kart\n    position: position 16 step 16\n    heading: angle 8 turn 360\n"               \
    "    boost: range 0..255\n    shells: range 0..3\n"

static ph_schema* parse(const char* text)
{
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (ph_schema_parse(text, strlen(text), NULL, &schema, &error) != PH_OK) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    return schema;
}

static void refuse(const char* text, int line, int column, const char* sentence)
{
    ph_schema* schema = NULL;
    ph_error error = {0};
    assert_int_equal(ph_schema_parse(text, strlen(text), NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_null(schema);
    assert_string_equal(error.text, sentence);
    assert_int_equal(error.line, line);
    assert_int_equal(error.column, column);
}

// By its codes a model has what codes say, to an eighth of a bit, and costs that are never too small.
static void codes_become_shares_and_costs(void** state)
{
    (void)state;
    ph_schema* schema = parse(CLASSES "model MASK_PLACE 3 24\n");
    const ph_model_set models = ph_schema_models(schema);
    const int first = PH_AT_MASK_PLACE + 3 * 3;
    // 2^-0.5 and 2^-1 of their sum.
    assert_in_range(models.cumulative[first + 1], 19190, 19200);
    assert_int_equal(models.cumulative[first + 2], PH_MODEL_TOTAL);
    for (int i = 0; i < 2; ++i) {
        const int parts = models.cumulative[first + i + 1] - models.cumulative[first + i];
        assert_int_equal(models.costs[first + i],
                         (int)ceil(256.0 * (15.0 - log2((double)parts)) - 1e-9));
    }
    // The others are those of the library.
    assert_memory_equal(models.cumulative, ph_pinhole_cumulative,
                        PH_AT_MASK_PLACE * sizeof models.cumulative[0]);
    ph_schema_destroy(schema);
}

// Each number of parts there can be has the cost that the document says.
static void costs_are_exact(void** state)
{
    (void)state;
    uint8_t codes[PH_PINHOLE_ENTRIES];
    static uint16_t cumulative[PH_PINHOLE_ENTRIES];
    static uint16_t costs[PH_PINHOLE_ENTRIES];
    test_rng rng = {.state = 7};
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < PH_PINHOLE_ENTRIES; ++i) {
            codes[i] = (uint8_t)test_rng_below(&rng, PH_MODEL_CODE_MAX + 1);
        }
        ph_learned_fill(codes, 0, cumulative, costs);
        ph_model_walk walk = {0};
        while (ph_model_walk_next(&walk, 0)) {
            const ph_model model = {cumulative + walk.first, (uint16_t)walk.symbols};
            assert_true(ph_model_is_valid(&model));
            for (int i = walk.first; i < walk.first + walk.symbols; ++i) {
                const double parts = cumulative[i + 1] - cumulative[i];
                assert_int_equal(costs[i], (int)ceil(256.0 * (15.0 - log2(parts)) - 1e-9));
            }
        }
    }
}

// A share is said by the code that is nearest to it.
static void the_nearest_code_is_found(void** state)
{
    (void)state;
    for (int seen = 1; seen < 1000; ++seen) {
        const double quarters = -4.0 * log2(seen / 1000.0);
        const int code = ph_model_code_nearest((uint64_t)seen, 1000);
        assert_true(fabs(quarters - code) <= 0.51);
    }
    assert_int_equal(ph_model_code_nearest(0, 1000), PH_MODEL_CODE_MAX);
    assert_int_equal(ph_model_code_nearest(1000, 1000), 0);
}

static void text_prints_as_it_was_read(void** state)
{
    (void)state;
    static const char TEXT[] = CLASSES "\n"
                                       "model TOLD 12 0A 1B C\n"
                                       "model X_MOVING 0 123z\n"
                                       "model kart.boost told 0C 14\n"
                                       "model kart.boost number 048CGKa\n";
    ph_schema* schema = parse(TEXT);
    char text[1000];
    assert_true(ph_schema_print(schema, text, sizeof text) < sizeof text);
    assert_string_equal(text, TEXT);
    assert_true(ph_schema_has_model(schema, ph_learned_number_entry(2)));
    assert_false(ph_schema_has_model(schema, ph_learned_number_entry(3)));
    ph_schema_destroy(schema);
}

// What one end has and the other has not is another wire.
static void the_fingerprint_covers_models(void** state)
{
    (void)state;
    static const char* const TEXTS[] = {
        CLASSES,
        CLASSES "model MASK_PLACE 3 24\n",
        CLASSES "model MASK_PLACE 3 25\n",
        CLASSES "model MASK_PLACE 4 24\n",
        CLASSES "model NAME 0 24\n",
        CLASSES "model kart.boost number 24\n",
        CLASSES "model kart.shells number 24\n",
        CLASSES "model kart.boost told 24 25\n",
        CLASSES "model kart.boost told 25 24\n",
    };
    enum { COUNT = sizeof TEXTS / sizeof TEXTS[0] };
    uint64_t fingerprints[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        ph_schema* schema = parse(TEXTS[i]);
        fingerprints[i] = ph_schema_fingerprint(schema);
        for (int k = 0; k < i; ++k) {
            assert_true(fingerprints[k] != fingerprints[i]);
        }
        ph_schema_destroy(schema);
    }
    // Said otherwise, but the same.
    ph_schema* long_text = parse(CLASSES "model kart.boost number 24444\n");
    assert_true(ph_schema_fingerprint(long_text) == fingerprints[5]);
    ph_schema_destroy(long_text);
}

static void what_makes_no_sense_is_refused(void** state)
{
    (void)state;
    refuse(CLASSES "model NOTHING 0 1\n", 6, 7,
           "expected a family of models or CLASS.PROPERTY, declared above, found 'NOTHING'");
    refuse(CLASSES "model kart.wheels told 1 1\n", 6, 7,
           "expected a family of models or CLASS.PROPERTY, declared above, found 'kart.wheels'");
    refuse(CLASSES "model kart.boost often 1\n", 6, 18, "expected told or number, found 'often'");
    refuse(CLASSES "model NAME 2 12\n", 6, 12, "expected the number of a model, 0..1, found '2'");
    refuse(CLASSES "model NAME 0 123\n", 6, 14,
           "expected a model of 1..2 letters and digits, found '123'");
    refuse(CLASSES "model NAME 0\n", 6, 13,
           "expected a model of 1..2 letters and digits, found the end of the line");
    refuse(CLASSES "model NAME 0 1-\n", 6, 14,
           "expected a model of letters and digits, found '1-'");
    refuse(CLASSES "model NAME 0 1\nmodel NAME 0 2\n", 7, 14,
           "expected every model once, found '2'");
    refuse(CLASSES "model NAME 0 1 2 3\n", 6, 18,
           "expected the end of the line behind the last model, found '3'");
    refuse(CLASSES "model kart.boost told 1 1 1\n", 6, 27,
           "expected the end of the line, found '1'");
    refuse("model NAME 0 1\n", 2, 1, "expected class and a name, found the end of the text");
}

// Else an update that tells everything would fit no datagram, and what waits behind it would wait for ever.
static void models_leave_room_for_the_largest_update(void** state)
{
    (void)state;
    static const char chest[] = "class chest\n    position: position 16 step 16\n"
                                "    lock: range 0..255\n    a: bytes 1000\n    b: bytes %d\n%s";
    char text[512];
    snprintf(text, sizeof text, chest, 75, "");
    ph_schema_destroy(parse(text));
    snprintf(text, sizeof text, chest, 75, "model MASK_PLACE 3 24\n");
    ph_schema* schema = NULL;
    ph_error error = {0};
    assert_int_equal(ph_schema_parse(text, strlen(text), NULL, &schema, &error), PH_ERROR_SCHEMA);
    assert_null(schema);
    assert_non_null(strstr(error.text, "with models a datagram has 8652 for them"));
    snprintf(text, sizeof text, chest, 60, "model MASK_PLACE 3 24\n");
    ph_schema_destroy(parse(text));
}

static void difference_says_that_models_differ(void** state)
{
    (void)state;
    ph_schema* plain = parse(CLASSES);
    ph_schema* tuned = parse(CLASSES "model NAME 0 12\n");
    ph_schema* other = parse(CLASSES "model NAME 0 13\n");
    char text[PH_ERROR_TEXT_SIZE];
    assert_true(ph_schema_difference(tuned, "server", plain, "client", text));
    assert_string_equal(text, "server brings models along that were learned, client does not");
    assert_true(ph_schema_difference(tuned, "server", other, "client", text));
    assert_string_equal(text,
                        "server and client were tuned differently: they bring other models along");
    ph_schema_destroy(plain);
    ph_schema_destroy(tuned);
    ph_schema_destroy(other);
}

// What a table leaves open is taken; what it says stays, and so does a class that the text has not.
static void tables_in_c_take_how_classes_move(void** state)
{
    (void)state;
    static const char* const TEXTS[] = {
        "class kart bend 0.3 leg 120\n    position: position\nclass ship bend 0\n    position: "
        "position\n",
        "class kart bend 0.3 leg 120\n    position: position\nclass ship bend 0\n    position: "
        "position\n"
        "model NAME 0 12\n",
    };
    const ph_property_def position = ph_property_position("position");
    const ph_class_def types[] = {
        {.name = "ship", .properties = &position, .property_count = 1, .leg_ms = 50},
        {.name = "tree", .properties = &position, .property_count = 1},
        {.name = "kart", .properties = &position, .property_count = 1, .bend = 1.5},
    };
    for (int i = 0; i < 2; ++i) {
        ph_schema* tuned = parse(TEXTS[i]);
        ph_schema* schema = NULL;
        assert_int_equal(ph_schema_create_tuned(types, 3, tuned, NULL, &schema, NULL), PH_OK);
        ph_schema_destroy(tuned);
        assert_true(ph_schema_class(schema, 0)->bend == PH_BEND_NONE);
        assert_int_equal(ph_schema_class(schema, 0)->leg_ms, 50);
        assert_true(ph_schema_class(schema, 1)->bend == 0.55);
        assert_true(ph_schema_class(schema, 2)->bend == 1.5);
        assert_int_equal(ph_schema_class(schema, 2)->leg_ms, 120);
        ph_schema_destroy(schema);
    }
}

// A game's own tables take the models of a text by the names of properties.
static void tables_in_c_take_models(void** state)
{
    (void)state;
    const ph_property_def properties[] = {
        ph_property_range("shells", 0, 3),
        ph_property_position("position"),
        ph_property_range("boost", 0, 255),
    };
    const ph_class_def type = {.name = "kart", .properties = properties, .property_count = 3};
    ph_schema* tuned = parse(CLASSES "model NAME 0 12\nmodel kart.boost number 24\n");
    ph_schema* schema = NULL;
    assert_int_equal(ph_schema_create_tuned(&type, 1, tuned, NULL, &schema, NULL), PH_OK);
    ph_schema_destroy(tuned);
    assert_true(ph_schema_has_model(schema, PH_AT_NAME));
    assert_true(ph_schema_has_model(schema, ph_learned_number_entry(2)));
    assert_false(ph_schema_has_model(schema, ph_learned_number_entry(0)));
    ph_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_become_shares_and_costs),
        cmocka_unit_test(costs_are_exact),
        cmocka_unit_test(the_nearest_code_is_found),
        cmocka_unit_test(text_prints_as_it_was_read),
        cmocka_unit_test(the_fingerprint_covers_models),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(models_leave_room_for_the_largest_update),
        cmocka_unit_test(difference_says_that_models_differ),
        cmocka_unit_test(tables_in_c_take_models),
        cmocka_unit_test(tables_in_c_take_how_classes_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
