// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Schemas from tables: what is accepted and how it is kept, and what is refused with which
// sentence. Fingerprints are in test_fingerprint.c.

#include "pinhole/schema.h"

#include "schema/property.h"
#include "support/test_memory.h"
#include "support/test_support.h"

#include <stdio.h>
#include <string.h>

typedef struct kart {
    int32_t position_mm[3];
    float heading_deg;
    uint8_t shells;
    char name[32];
} kart;

static const ph_property_def kart_properties[] = {
    {.name = "position",
     .coding = PH_CODING_POSITION,
     .field = PH_FIELD_I32X3,
     .offset = offsetof(kart, position_mm)},
    {.name = "heading",
     .coding = PH_CODING_ANGLE,
     .bits = 8,
     .significant = 5,
     .distance_m = 50,
     .field = PH_FIELD_F32,
     .offset = offsetof(kart, heading_deg)},
    {.name = "shells",
     .coding = PH_CODING_RANGE,
     .hi = 3,
     .field = PH_FIELD_U8,
     .offset = offsetof(kart, shells)},
    {.name = "name",
     .coding = PH_CODING_STRING,
     .max_length = 31,
     .when = PH_SEND_ONCE,
     .field = PH_FIELD_TEXT,
     .offset = offsetof(kart, name)},
};

static const ph_class_def kart_class = {.name = "kart",
                                        .properties = kart_properties,
                                        .property_count = 4,
                                        .struct_size = sizeof(kart)};

// A class of a position and one more property.
static ph_schema* make_with(ph_property_def property)
{
    const ph_property_def properties[] = {ph_property_position("position"), property};
    const ph_class_def type = {
        .name = "kart", .properties = properties, .property_count = 2, .struct_size = 4096};
    ph_schema* schema = NULL;
    ph_error error = {0};
    if (ph_schema_create(&type, 1, NULL, &schema, &error) != PH_OK) {
        print_error("%s\n", error.text);
        fail();
    }
    return schema;
}

// How the schema keeps such a property.
static ph_property prepared(ph_property_def property)
{
    ph_schema* schema = make_with(property);
    ph_property kept = ph_schema_class_at(schema, 0)->properties[1];
    kept.def.name = NULL; // gone with the schema
    ph_schema_destroy(schema);
    return kept;
}

// ---- what is kept

static void keeps_copies_of_everything(void** state)
{
    (void)state;
    char class_name[] = "kart";
    char names[4][16];
    ph_property_def properties[4];
    for (int i = 0; i < 4; ++i) {
        properties[i] = kart_properties[i];
        snprintf(names[i], sizeof names[i], "%s", kart_properties[i].name);
        properties[i].name = names[i];
    }
    ph_class_def type = kart_class;
    type.name = class_name;
    type.properties = properties;
    ph_schema* schema;
    assert_int_equal(ph_schema_create(&type, 1, NULL, &schema, NULL), PH_OK);
    memset(class_name, 'x', sizeof class_name);
    memset(names, 'x', sizeof names);
    memset(properties, 0xFF, sizeof properties);

    const ph_class_def* kept = ph_schema_class(schema, 0);
    assert_string_equal(kept->name, "kart");
    assert_int_equal(kept->property_count, 4);
    assert_int_equal(kept->struct_size, sizeof(kart));
    for (int i = 0; i < 4; ++i) {
        assert_string_equal(kept->properties[i].name, kart_properties[i].name);
        assert_int_equal(kept->properties[i].coding, kart_properties[i].coding);
        assert_int_equal(kept->properties[i].offset, kart_properties[i].offset);
    }
    assert_int_equal(ph_schema_class_at(schema, 0)->position, 0);
    ph_schema_destroy(schema);
}

static void finds_classes_and_properties_by_name(void** state)
{
    (void)state;
    const ph_property_def place = ph_property_position("place");
    const ph_class_def classes[] = {kart_class,
                                    {.name = "tree", .properties = &place, .property_count = 1}};
    ph_schema* schema;
    assert_int_equal(ph_schema_create(classes, 2, NULL, &schema, NULL), PH_OK);
    assert_int_equal(ph_schema_class_count(schema), 2);
    assert_int_equal(ph_schema_find_class(schema, "kart"), 0);
    assert_int_equal(ph_schema_find_class(schema, "tree"), 1);
    assert_int_equal(ph_schema_find_class(schema, "bush"), -1);
    assert_int_equal(ph_schema_find_property(schema, 0, "name"), 3);
    assert_int_equal(ph_schema_find_property(schema, 1, "place"), 0);
    assert_int_equal(ph_schema_find_property(schema, 1, "name"), -1);
    ph_schema_destroy(schema);
}

static void destroying_nothing_is_allowed(void** state)
{
    (void)state;
    ph_schema_destroy(NULL);
}

static void failed_allocations_leave_nothing(void** state)
{
    (void)state;
    for (int n = 1;; ++n) {
        test_memory memory = {.fail_at = n};
        const ph_allocator allocator = test_memory_allocator(&memory);
        ph_schema* schema = (ph_schema*)&memory;
        const ph_result result = ph_schema_create(&kart_class, 1, &allocator, &schema, NULL);
        if (result == PH_OK) {
            assert_int_equal(n, 2); // one allocation in all
            ph_schema_destroy(schema);
            test_memory_assert_clean(&memory);
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_null(schema);
        test_memory_assert_clean(&memory);
    }
}

static void refusals_take_no_memory(void** state)
{
    (void)state;
    test_memory memory = {0};
    const ph_allocator allocator = test_memory_allocator(&memory);
    ph_class_def type = kart_class;
    type.struct_size = 8;
    ph_schema* schema;
    assert_int_equal(ph_schema_create(&type, 1, &allocator, &schema, NULL), PH_ERROR_SCHEMA);
    assert_int_equal(memory.allocate_count, 0);
}

static void as_many_classes_and_properties_as_promised(void** state)
{
    (void)state;
    static char names[PH_CLASSES_MAX][16];
    static ph_property_def properties[PH_PROPERTIES_MAX];
    static ph_class_def classes[PH_CLASSES_MAX];
    for (int i = 0; i < PH_CLASSES_MAX; ++i) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        classes[i] = (ph_class_def){
            .name = names[i], .properties = properties, .property_count = PH_PROPERTIES_MAX};
    }
    for (int i = 0; i < PH_PROPERTIES_MAX; ++i) {
        properties[i] = i == 63 ? ph_property_position(names[i]) : ph_property_bool(names[i]);
    }
    ph_schema* schema;
    assert_int_equal(ph_schema_create(classes, PH_CLASSES_MAX, NULL, &schema, NULL), PH_OK);
    assert_int_equal(ph_schema_class_at(schema, 255)->position, 63);
    assert_int_equal(ph_schema_find_property(schema, 255, "n62"), 62);
    ph_schema_destroy(schema);

    classes[0].property_count = 65;
    assert_int_equal(ph_schema_create(classes, 1, NULL, &schema, NULL), PH_ERROR_SCHEMA);
}

// ---- what zero means

static void zero_means_the_sensible_default(void** state)
{
    (void)state;
    const ph_property angle = prepared((ph_property_def){.name = "p", .coding = PH_CODING_ANGLE});
    assert_int_equal(angle.def.bits, 8);
    assert_true(angle.def.turn == 360.0);
    assert_true(angle.def.weight == 1.0);
    assert_true(angle.weight == 1.0f);
    assert_true(angle.distance_mm == UINT64_MAX);
    assert_int_equal(angle.significant_steps, 1);

    const ph_property rotation =
        prepared((ph_property_def){.name = "p", .coding = PH_CODING_QUATERNION});
    assert_int_equal(rotation.def.bits, 10);

    ph_schema* schema = make_with(ph_property_bool("p"));
    const ph_property* place = &ph_schema_class_at(schema, 0)->properties[0];
    assert_int_equal(place->def.bits, 16);
    assert_true(place->def.step == 16.0);
    assert_int_equal(place->coordinate.shift, 4);
    assert_int_equal(place->coordinate.width, 16);
    ph_schema_destroy(schema);
}

static void the_coding_follows_from_the_field(void** state)
{
    (void)state;
    static const struct {
        ph_field field;
        int max_length;
        ph_coding coding;
    } rows[] = {
        {PH_FIELD_BOOL, 0, PH_CODING_BOOL},   {PH_FIELD_I8, 0, PH_CODING_VARINT},
        {PH_FIELD_U64, 0, PH_CODING_VARINT},  {PH_FIELD_ENTITY, 0, PH_CODING_ENTITY},
        {PH_FIELD_TEXT, 5, PH_CODING_STRING}, {PH_FIELD_BYTES, 5, PH_CODING_BYTES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const ph_property property = prepared((ph_property_def){
            .name = "p", .field = rows[i].field, .max_length = rows[i].max_length});
        assert_int_equal(property.def.coding, rows[i].coding);
    }
}

static void whole_numbers_take_all_that_the_field_holds(void** state)
{
    (void)state;
    static const struct {
        ph_coding coding;
        ph_field field;
        double lo;
        double hi;
        int words;
    } rows[] = {
        {PH_CODING_VARINT, PH_FIELD_NONE, 0, PH_WHOLE_MAX, 2},
        {PH_CODING_TWO_BIT, PH_FIELD_NONE, 0, UINT32_MAX, 1},
        {PH_CODING_GAMMA, PH_FIELD_NONE, 0, UINT32_MAX, 1},
        {PH_CODING_RICE, PH_FIELD_NONE, 0, UINT32_MAX, 1},
        {PH_CODING_VARINT, PH_FIELD_BOOL, 0, 1, 1},
        {PH_CODING_VARINT, PH_FIELD_I8, INT8_MIN, INT8_MAX, 1},
        {PH_CODING_VARINT, PH_FIELD_I16, INT16_MIN, INT16_MAX, 1},
        {PH_CODING_GAMMA, PH_FIELD_I32, INT32_MIN, INT32_MAX, 1},
        {PH_CODING_VARINT, PH_FIELD_I64, -PH_WHOLE_MAX, PH_WHOLE_MAX, 2},
        {PH_CODING_TWO_BIT, PH_FIELD_U8, 0, UINT8_MAX, 1},
        {PH_CODING_VARINT, PH_FIELD_U16, 0, UINT16_MAX, 1},
        {PH_CODING_RICE, PH_FIELD_U32, 0, UINT32_MAX, 1},
        {PH_CODING_VARINT, PH_FIELD_U64, 0, PH_WHOLE_MAX, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const ph_property property = prepared(
            (ph_property_def){.name = "p", .coding = rows[i].coding, .field = rows[i].field});
        assert_true(property.def.lo == rows[i].lo);
        assert_true(property.def.hi == rows[i].hi);
        assert_int_equal(property.words, rows[i].words);
    }
}

static void an_initial_value_is_always_legal(void** state)
{
    (void)state;
    ph_property property = prepared(ph_property_range("p", 5, 10));
    assert_true(property.def.default_value == 5.0);
    assert_int_equal(property.initial[0], 0);
    property = prepared(ph_property_fixed("p", -10, -5, 1));
    assert_true(property.def.default_value == -5.0);
    assert_int_equal(property.initial[0], 5);
    property = prepared(ph_property_range("p", -3, 10));
    assert_int_equal(property.initial[0], 3);

    ph_property_def def = ph_property_range("p", -3, 10);
    def.default_value = 7;
    assert_int_equal(prepared(def).initial[0], 10);
    def = ph_property_range("p", -PH_WHOLE_MAX, PH_WHOLE_MAX);
    property = prepared(def);
    assert_int_equal(property.initial[0], 0);
    assert_int_equal(property.initial[1], 1 << 21); // 2^53 above the lower end
}

static void a_vector_clamps_its_initial_value(void** state)
{
    (void)state;
    ph_property_def def = ph_property_vec3("p", 0, 1000, 1);
    def.z_lo = -20;
    def.z_hi = 20;
    def.default_value = 100;
    def.has_default = PH_DEFAULT_X;
    const ph_property property = prepared(def);
    assert_int_equal(property.initial[0], 100);
    assert_int_equal(property.initial[1], 100);
    assert_int_equal(property.initial[2], 40);
    assert_true(property.fixed[0].has_default);
    assert_false(property.fixed[1].has_default);
    assert_false(property.fixed[2].has_default);
}

static void significance_is_counted_in_steps(void** state)
{
    (void)state;
    ph_property_def def = ph_property_fixed("p", 0, 10, 0.1);
    def.significant = 0.3; // 0.3 / 0.1 is a little less than three
    assert_int_equal(prepared(def).significant_steps, 3);
    def.significant = 0.31;
    assert_int_equal(prepared(def).significant_steps, 4);
    def.significant = 0.01;
    assert_int_equal(prepared(def).significant_steps, 1);
    def = ph_property_fixed("p", 0, 9, 0.3);
    def.significant = 2.1; // 2.1 / 0.3 is a little more than seven
    assert_int_equal(prepared(def).significant_steps, 7);
    def = ph_property_angle("p", 8);
    def.significant = 45;
    assert_int_equal(prepared(def).significant_steps, 32);
    def = ph_property_range("p", 0, 100);
    def.significant = 2.5;
    assert_int_equal(prepared(def).significant_steps, 3);
    def.significant = 1e300;
    assert_true(prepared(def).significant_steps == UINT64_MAX);
}

static void distance_is_kept_in_millimetres(void** state)
{
    (void)state;
    ph_property_def def = ph_property_bool("p");
    def.distance_m = 0.0001; // near, but not "as far as the viewer sees"
    assert_int_equal(prepared(def).distance_mm, 1);
    def.distance_m = 50;
    assert_int_equal(prepared(def).distance_mm, 50000);
}

// Positions outside of the window, references with the widest slots.
static void the_largest_entity_is_known(void** state)
{
    (void)state;
    ph_schema* schema;
    assert_int_equal(ph_schema_create(&kart_class, 1, NULL, &schema, NULL), PH_OK);
    assert_int_equal(ph_class_max_bits(ph_schema_class_at(schema, 0)),
                     3 * 28 + 8 + 2 + (5 + 31 * 8));
    ph_schema_destroy(schema);
    schema = make_with(ph_property_string("p", 1000));
    assert_int_equal(ph_class_max_bits(ph_schema_class_at(schema, 0)), 3 * 28 + 10 + 8000);
    ph_schema_destroy(schema);
}

// ---- makers

static void each_coding_has_a_field_that_holds_all_its_values(void** state)
{
    (void)state;
    static const struct {
        ph_field field;
        size_t size;
    } EXPECTED[] = {
        [PH_CODING_AUTO] = {PH_FIELD_NONE, 0},         [PH_CODING_BOOL] = {PH_FIELD_I64, 8},
        [PH_CODING_ENUM] = {PH_FIELD_I64, 8},          [PH_CODING_RANGE] = {PH_FIELD_I64, 8},
        [PH_CODING_VARINT] = {PH_FIELD_I64, 8},        [PH_CODING_TWO_BIT] = {PH_FIELD_I64, 8},
        [PH_CODING_GAMMA] = {PH_FIELD_I64, 8},         [PH_CODING_RICE] = {PH_FIELD_I64, 8},
        [PH_CODING_FIXED] = {PH_FIELD_F64, 8},         [PH_CODING_ANGLE] = {PH_FIELD_F64, 8},
        [PH_CODING_QUATERNION] = {PH_FIELD_F64X4, 32}, [PH_CODING_VEC3] = {PH_FIELD_F64X3, 24},
        [PH_CODING_STRING] = {PH_FIELD_TEXT, 1 + 10},  [PH_CODING_BYTES] = {PH_FIELD_BYTES, 2 + 10},
        [PH_CODING_ENTITY] = {PH_FIELD_ENTITY, 8},     [PH_CODING_POSITION] = {PH_FIELD_I64X3, 24},
    };
    assert_int_equal(sizeof EXPECTED / sizeof EXPECTED[0], PH_CODING_COUNT);
    for (int i = 0; i < PH_CODING_COUNT; ++i) {
        const ph_field field = ph_coding_field((ph_coding)i);
        assert_int_equal(field, EXPECTED[i].field);
        assert_int_equal(ph_field_size(field, 10), EXPECTED[i].size);
    }
    assert_int_equal(ph_coding_field(PH_CODING_COUNT), PH_FIELD_NONE);
    assert_int_equal(ph_field_size(PH_FIELD_COUNT, 10), 0);
}

static void makers_say_the_same_as_initialisers(void** state)
{
    (void)state;
    const ph_property_def made[] = {
        ph_property_bool("p"),          ph_property_enum("p", 5),
        ph_property_range("p", -2, 7),  ph_property_varint("p"),
        ph_property_two_bit("p"),       ph_property_gamma("p"),
        ph_property_rice("p", 3),       ph_property_fixed("p", 0, 4, 0.5),
        ph_property_angle("p", 12),     ph_property_quaternion("p", 9),
        ph_property_vec3("p", 0, 4, 1), ph_property_string("p", 10),
        ph_property_bytes("p", 11),     ph_property_entity("p"),
    };
    const ph_property_def written[] = {
        {.name = "p", .coding = PH_CODING_BOOL},
        {.name = "p", .coding = PH_CODING_ENUM, .count = 5},
        {.name = "p", .coding = PH_CODING_RANGE, .lo = -2, .hi = 7},
        {.name = "p", .coding = PH_CODING_VARINT},
        {.name = "p", .coding = PH_CODING_TWO_BIT},
        {.name = "p", .coding = PH_CODING_GAMMA},
        {.name = "p", .coding = PH_CODING_RICE, .rice_k = 3},
        {.name = "p", .coding = PH_CODING_FIXED, .lo = 0, .hi = 4, .step = 0.5},
        {.name = "p", .coding = PH_CODING_ANGLE, .bits = 12},
        {.name = "p", .coding = PH_CODING_QUATERNION, .bits = 9},
        {.name = "p", .coding = PH_CODING_VEC3, .lo = 0, .hi = 4, .step = 1},
        {.name = "p", .coding = PH_CODING_STRING, .max_length = 10},
        {.name = "p", .coding = PH_CODING_BYTES, .max_length = 11},
        {.name = "p", .coding = PH_CODING_ENTITY},
    };
    assert_int_equal(sizeof made, sizeof written);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; ++i) {
        char texts[2][256];
        const ph_property_def pair[2] = {made[i], written[i]};
        for (int k = 0; k < 2; ++k) {
            ph_schema* schema = make_with(pair[k]);
            assert_true(ph_schema_print(schema, texts[k], sizeof texts[k]) < sizeof texts[k]);
            ph_schema_destroy(schema);
        }
        assert_string_equal(texts[0], texts[1]);
    }
    const ph_property_def bound = ph_property_bound(ph_property_bool("p"), PH_FIELD_U8, 12);
    assert_int_equal(bound.field, PH_FIELD_U8);
    assert_int_equal(bound.offset, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_copies_of_everything),
        cmocka_unit_test(finds_classes_and_properties_by_name),
        cmocka_unit_test(destroying_nothing_is_allowed),
        cmocka_unit_test(failed_allocations_leave_nothing),
        cmocka_unit_test(refusals_take_no_memory),
        cmocka_unit_test(as_many_classes_and_properties_as_promised),
        cmocka_unit_test(zero_means_the_sensible_default),
        cmocka_unit_test(the_coding_follows_from_the_field),
        cmocka_unit_test(whole_numbers_take_all_that_the_field_holds),
        cmocka_unit_test(an_initial_value_is_always_legal),
        cmocka_unit_test(a_vector_clamps_its_initial_value),
        cmocka_unit_test(significance_is_counted_in_steps),
        cmocka_unit_test(distance_is_kept_in_millimetres),
        cmocka_unit_test(the_largest_entity_is_known),
        cmocka_unit_test(each_coding_has_a_field_that_holds_all_its_values),
        cmocka_unit_test(makers_say_the_same_as_initialisers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
