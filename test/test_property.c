// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Values of properties between the game's fields and the words that are kept. The wire is in
// test_property_wire.c.

#include "schema/property.h"

#include "support/one_property.h"
#include "support/test_support.h"

#include <math.h>
#include <string.h>

// ---- whole numbers

static void every_integer_field_comes_back(void** state)
{
    (void)state;
    one_property one = one_property_make(
        (ph_property_def){.name = "p", .coding = PH_CODING_RANGE, .lo = -100, .hi = 100});
    const int8_t i8 = -100;
    const int16_t i16 = -77;
    const int32_t i32 = -1;
    const int64_t i64 = 100;
    const uint8_t u8 = 100;
    const uint16_t u16 = 99;
    const uint32_t u32 = 1;
    const uint64_t u64 = 0;
    const bool yes = true;
    const struct {
        ph_field field;
        const void* value;
        size_t size;
        uint32_t word;
    } rows[] = {
        {PH_FIELD_I8, &i8, sizeof i8, 0},       {PH_FIELD_I16, &i16, sizeof i16, 23},
        {PH_FIELD_I32, &i32, sizeof i32, 99},   {PH_FIELD_I64, &i64, sizeof i64, 200},
        {PH_FIELD_U8, &u8, sizeof u8, 200},     {PH_FIELD_U16, &u16, sizeof u16, 199},
        {PH_FIELD_U32, &u32, sizeof u32, 101},  {PH_FIELD_U64, &u64, sizeof u64, 100},
        {PH_FIELD_BOOL, &yes, sizeof yes, 101},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        uint32_t words[PH_VALUE_WORDS_MAX] = {7, 7, 7, 7};
        assert_int_equal(
            ph_property_quantise_field(one.property, rows[i].field, rows[i].value, words), PH_OK);
        assert_int_equal(words[0], rows[i].word);
        assert_int_equal(words[1], 7);
        uint8_t back[9];
        memset(back, 0xEE, sizeof back);
        assert_int_equal(ph_property_restore_field(one.property, rows[i].field, words, back),
                         PH_OK);
        assert_memory_equal(back, rows[i].value, rows[i].size);
        assert_int_equal(back[rows[i].size], 0xEE);
    }
    one_property_destroy(&one);
}

static void whole_numbers_outside_are_refused(void** state)
{
    (void)state;
    one_property one = one_property_make(ph_property_range("p", -3, 1000));
    uint32_t words[1] = {42};
    const int32_t below = -4;
    const int32_t above = 1001;
    const uint64_t huge = UINT64_MAX;
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_I32, &below, words),
                     PH_ERROR_VALUE);
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_I32, &above, words),
                     PH_ERROR_VALUE);
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_U64, &huge, words),
                     PH_ERROR_VALUE);
    assert_int_equal(words[0], 42);

    // 253 does not fit the field that is asked for, nor does -3.
    uint8_t narrow = 9;
    words[0] = 256 + 3;
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_U8, words, &narrow),
                     PH_ERROR_VALUE);
    words[0] = 0;
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_U8, words, &narrow),
                     PH_ERROR_VALUE);
    assert_int_equal(narrow, 9);
    one_property_destroy(&one);
}

static void large_numbers_take_two_words(void** state)
{
    (void)state;
    one_property one = one_property_make((ph_property_def){.name = "p", .field = PH_FIELD_I64});
    const int64_t values[] = {0, -1, INT64_C(1) << 53, -(INT64_C(1) << 53), 0x123456789ABC};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        uint32_t words[2];
        int64_t back = 0;
        assert_int_equal(ph_property_quantise(one.property, &values[i], words), PH_OK);
        ph_property_restore(one.property, words, &back);
        assert_true(back == values[i]);
    }
    const int64_t outside[] = {(INT64_C(1) << 53) + 1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; ++i) {
        uint32_t words[2];
        assert_int_equal(ph_property_quantise(one.property, &outside[i], words), PH_ERROR_VALUE);
    }
    one_property_destroy(&one);
}

static void bools_are_zero_or_not(void** state)
{
    (void)state;
    one_property one = one_property_make((ph_property_def){.name = "p", .field = PH_FIELD_BOOL});
    const uint8_t bytes[] = {0, 1, 200};
    for (int i = 0; i < 3; ++i) {
        uint32_t word = 9;
        assert_int_equal(ph_property_quantise(one.property, &bytes[i], &word), PH_OK);
        assert_int_equal(word, i > 0 ? 1 : 0);
    }
    one_property_destroy(&one);
}

// ---- ladders and angles

static void ladders_round_and_clamp(void** state)
{
    (void)state;
    one_property one = one_property_make(ph_property_fixed("p", -10, 10, 0.5));
    static const struct {
        double value;
        uint32_t level;
        double back;
    } rows[] = {
        {-10, 0, -10}, {0.2, 20, 0},   {0.3, 21, 0.5}, {9.9, 40, 10},
        {1e9, 40, 10}, {-1e9, 0, -10}, {-0.25, 20, 0}, {(double)INFINITY, 40, 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        uint32_t level;
        assert_int_equal(
            ph_property_quantise_field(one.property, PH_FIELD_F64, &rows[i].value, &level), PH_OK);
        assert_int_equal(level, rows[i].level);
        double back;
        float single;
        assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F64, &level, &back),
                         PH_OK);
        assert_true(back == rows[i].back);
        assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F32, &level, &single),
                         PH_OK);
        assert_true((double)single == rows[i].back);
    }
    one_property_destroy(&one);
}

static void ladders_live_in_integers_too(void** state)
{
    (void)state;
    one_property one = one_property_make(
        ph_property_bound(ph_property_fixed("p", -200, 1000, 10), PH_FIELD_I16, 0));
    static const struct {
        int16_t value;
        uint32_t level;
        int16_t back;
    } rows[] = {{-200, 0, -200}, {-300, 0, -200}, {4, 20, 0}, {456, 66, 460}, {30000, 120, 1000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        uint32_t level;
        int16_t back;
        assert_int_equal(ph_property_quantise(one.property, &rows[i].value, &level), PH_OK);
        assert_int_equal(level, rows[i].level);
        ph_property_restore(one.property, &level, &back);
        assert_int_equal(back, rows[i].back);
    }
    const uint64_t huge = UINT64_MAX;
    uint32_t level = 0;
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_U64, &huge, &level), PH_OK);
    assert_int_equal(level, 120);
    uint8_t narrow = 9;
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_U8, &level, &narrow),
                     PH_ERROR_VALUE);
    assert_int_equal(narrow, 9);
    one_property_destroy(&one);
}

static void numbers_that_are_none_are_refused(void** state)
{
    (void)state;
    const double values[4] = {0, (double)NAN, 0, 1};
    const ph_property_def defs[] = {ph_property_fixed("p", 0, 1, 0.5), ph_property_angle("p", 8),
                                    ph_property_vec3("p", 0, 1, 0.5),
                                    ph_property_quaternion("p", 9)};
    const ph_field fields[] = {PH_FIELD_F64, PH_FIELD_F64, PH_FIELD_F64X3, PH_FIELD_F64X4};
    for (int i = 0; i < 4; ++i) {
        one_property one = one_property_make(defs[i]);
        uint32_t words[PH_VALUE_WORDS_MAX] = {5, 6, 7, 8};
        const double* value = i < 2 ? &values[1] : values;
        assert_int_equal(ph_property_quantise_field(one.property, fields[i], value, words),
                         PH_ERROR_NOT_A_NUMBER);
        const uint32_t untouched[PH_VALUE_WORDS_MAX] = {5, 6, 7, 8};
        assert_memory_equal(words, untouched, sizeof words);
        one_property_destroy(&one);
    }
}

static void vectors_keep_each_component(void** state)
{
    (void)state;
    ph_property_def def = ph_property_vec3("p", -10, 10, 0.5);
    def.z_lo = 0;
    def.z_hi = 100;
    one_property one = one_property_make(def);
    const double f64[3] = {-9.5, 0.6, 99.9};
    const float f32[3] = {-9.5f, 0.6f, 99.9f};
    const uint32_t levels[3] = {1, 21, 200};
    uint32_t words[3];
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_F64X3, f64, words), PH_OK);
    assert_memory_equal(words, levels, sizeof words);
    memset(words, 0, sizeof words);
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_F32X3, f32, words), PH_OK);
    assert_memory_equal(words, levels, sizeof words);
    double back[3];
    float single[3];
    int32_t whole[3];
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F64X3, words, back), PH_OK);
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F32X3, words, single), PH_OK);
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_I32X3, words, whole), PH_OK);
    const double expected[3] = {-9.5, 0.5, 100};
    const int32_t rounded[3] = {-9, 1, 100};
    for (int i = 0; i < 3; ++i) {
        assert_true(back[i] == expected[i]);
        assert_true((double)single[i] == expected[i]);
        assert_int_equal(whole[i], rounded[i]);
    }
    one_property_destroy(&one);
}

// The third component does not fit; the first two must not be half written.
static void a_vector_is_restored_whole_or_not_at_all(void** state)
{
    (void)state;
    ph_property_def def = ph_property_vec3("p", 0, 10, 1);
    def.step = 1e9;
    def.hi = 1e10;
    one_property one = one_property_make(def);
    const uint32_t words[3] = {1, 2, 3};
    int32_t back[3] = {7, 8, 9};
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_I32X3, words, back),
                     PH_ERROR_VALUE);
    const int32_t untouched[3] = {7, 8, 9};
    assert_memory_equal(back, untouched, sizeof back);
    one_property_destroy(&one);
}

static void angles_wrap(void** state)
{
    (void)state;
    one_property one = one_property_make(ph_property_angle("p", 8));
    static const struct {
        double angle;
        uint32_t level;
        double back;
    } rows[] = {{0, 0, 0}, {90, 64, 90}, {-90, 192, 270}, {359.9, 0, 0}, {3690, 64, 90}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const float single = (float)rows[i].angle;
        uint32_t level;
        double back;
        assert_int_equal(
            ph_property_quantise_field(one.property, PH_FIELD_F64, &rows[i].angle, &level), PH_OK);
        assert_int_equal(level, rows[i].level);
        assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_F32, &single, &level),
                         PH_OK);
        assert_int_equal(level, rows[i].level);
        assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F64, &level, &back),
                         PH_OK);
        assert_true(back == rows[i].back);
    }
    one_property_destroy(&one);
}

// The last part of a turn rounds up to a full one in a float and in whole degrees.
static void a_full_turn_reads_as_none(void** state)
{
    (void)state;
    one_property one = one_property_make(ph_property_angle("p", 32));
    const uint32_t level = UINT32_MAX;
    float single = 5;
    uint16_t whole = 5;
    double exact = 5;
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F32, &level, &single), PH_OK);
    assert_true(single == 0.0f);
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_U16, &level, &whole), PH_OK);
    assert_int_equal(whole, 0);
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F64, &level, &exact), PH_OK);
    assert_true(exact > 359.9999 && exact < 360.0);
    uint8_t narrow = 5;
    assert_int_equal(
        ph_property_restore_field(one.property, PH_FIELD_U8, &(uint32_t){1u << 31}, &narrow),
        PH_OK);
    assert_int_equal(narrow, 180);
    assert_int_equal(
        ph_property_restore_field(one.property, PH_FIELD_U8, &(uint32_t){3u << 30}, &narrow),
        PH_ERROR_VALUE);
    one_property_destroy(&one);
}

// ---- rotations

static void rotations_come_back_close(void** state)
{
    (void)state;
    one_property one = one_property_make(ph_property_quaternion("p", 16));
    const double f64[4] = {0.2, -0.4, 0.4, 0.8};
    uint32_t words[2];
    double back[4];
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_F64X4, f64, words), PH_OK);
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F64X4, words, back), PH_OK);
    float single[4];
    assert_int_equal(ph_property_restore_field(one.property, PH_FIELD_F32X4, words, single), PH_OK);
    for (int i = 0; i < 4; ++i) {
        assert_true(fabs(back[i] - f64[i]) < 1e-4);
        assert_true(fabs((double)single[i] - back[i]) < 1e-6);
    }
    uint32_t again[2];
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_F32X4, single, again),
                     PH_OK);
    assert_memory_equal(again, words, sizeof words);
    one_property_destroy(&one);
}

static void rotations_that_are_none_are_refused(void** state)
{
    (void)state;
    one_property one = one_property_make(ph_property_quaternion("p", 10));
    const double zero[4] = {0};
    const float longer[4] = {0.0f, 0.0f, 0.0f, 1.5f};
    uint32_t words[2] = {3, 4};
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_F64X4, zero, words),
                     PH_ERROR_NOT_UNIT);
    assert_int_equal(ph_property_quantise_field(one.property, PH_FIELD_F32X4, longer, words),
                     PH_ERROR_NOT_UNIT);
    assert_int_equal(words[0], 3);
    assert_int_equal(words[1], 4);
    one_property_destroy(&one);
}

static void a_rotation_starts_as_none(void** state)
{
    (void)state;
    one_property one = one_property_make(ph_property_quaternion("p", 10));
    double back[4];
    assert_int_equal(
        ph_property_restore_field(one.property, PH_FIELD_F64X4, one.property->initial, back),
        PH_OK);
    assert_true(back[0] == 0.0 && back[1] == 0.0 && back[2] == 0.0 && back[3] == 1.0);
    one_property_destroy(&one);
}

// ---- references and positions

static void references_and_positions_are_kept_as_they_are(void** state)
{
    (void)state;
    one_property one = one_property_make((ph_property_def){.name = "p", .field = PH_FIELD_ENTITY});
    const ph_entity_id id = {.index1 = 12, .generation = 0xFFFFFFFF};
    uint32_t words[3];
    ph_entity_id back;
    assert_int_equal(ph_property_quantise(one.property, &id, words), PH_OK);
    assert_int_equal(words[0], 12);
    assert_true(words[1] == 0xFFFFFFFF);
    ph_property_restore(one.property, words, &back);
    assert_memory_equal(&back, &id, sizeof id);

    const ph_property* place = &ph_schema_class_at(one.schema, 0)->properties[0];
    const int32_t mm[3] = {INT32_MIN, -1, INT32_MAX};
    int32_t mm_back[3];
    assert_int_equal(ph_property_quantise_field(place, PH_FIELD_I32X3, mm, words), PH_OK);
    assert_int_equal(ph_property_restore_field(place, PH_FIELD_I32X3, words, mm_back), PH_OK);
    assert_memory_equal(mm_back, mm, sizeof mm);
    one_property_destroy(&one);
}

static void other_field_types_are_refused(void** state)
{
    (void)state;
    const ph_property_def defs[] = {
        ph_property_bool("p"),          ph_property_fixed("p", 0, 1, 0.5),
        ph_property_angle("p", 8),      ph_property_vec3("p", 0, 1, 0.5),
        ph_property_quaternion("p", 9), ph_property_entity("p")};
    const ph_field wrong[] = {PH_FIELD_F32,   PH_FIELD_BOOL,  PH_FIELD_F32X3,
                              PH_FIELD_F32X4, PH_FIELD_F32X3, PH_FIELD_U64};
    for (int i = 0; i < 6; ++i) {
        one_property one = one_property_make(defs[i]);
        uint32_t words[PH_VALUE_WORDS_MAX] = {0};
        double value[4] = {0};
        const ph_field fields[] = {wrong[i], PH_FIELD_NONE, PH_FIELD_TEXT, (ph_field)99};
        for (int k = 0; k < 4; ++k) {
            assert_int_equal(ph_property_quantise_field(one.property, fields[k], value, words),
                             PH_ERROR_VALUE);
            assert_int_equal(ph_property_restore_field(one.property, fields[k], words, value),
                             PH_ERROR_VALUE);
        }
        one_property_destroy(&one);
    }
}

// ---- texts

typedef struct sign {
    uint8_t before;
    char text[6];
    uint8_t between;
    uint16_t length;
    uint8_t bytes[5];
    uint8_t after;
} sign;

static void texts_point_into_the_field(void** state)
{
    (void)state;
    one_property one = one_property_make(
        ph_property_bound(ph_property_string("p", 5), PH_FIELD_TEXT, offsetof(sign, text)));
    sign from = {.text = "h\xC3\xB6her"}; // six bytes: no end
    ph_text text;
    assert_int_equal(ph_property_text(one.property, &from, &text), PH_ERROR_TOO_LONG);
    assert_int_equal(text.length, 0);
    from.text[5] = '\0';
    assert_int_equal(ph_property_text(one.property, &from, &text), PH_OK);
    assert_ptr_equal(text.bytes, from.text);
    assert_int_equal(text.length, 5);
    from.text[2] = '\0'; // cuts a character in two
    assert_int_equal(ph_property_text(one.property, &from, &text), PH_ERROR_TEXT);
    from.text[0] = '\0';
    assert_int_equal(ph_property_text(one.property, &from, &text), PH_OK);
    assert_int_equal(text.length, 0);
    one_property_destroy(&one);
}

static void bytes_point_into_the_field(void** state)
{
    (void)state;
    one_property one = one_property_make(
        ph_property_bound(ph_property_bytes("p", 5), PH_FIELD_BYTES, offsetof(sign, length)));
    sign from = {.length = 5, .bytes = {0, 255, 0, 1, 2}};
    ph_text text;
    assert_int_equal(ph_property_text(one.property, &from, &text), PH_OK);
    assert_int_equal(text.length, 5);
    assert_ptr_equal(text.bytes, from.bytes);
    from.length = 6;
    assert_int_equal(ph_property_text(one.property, &from, &text), PH_ERROR_TOO_LONG);
    one_property_destroy(&one);
}

static void restored_texts_fill_exactly_their_field(void** state)
{
    (void)state;
    one_property string = one_property_make(
        ph_property_bound(ph_property_string("p", 5), PH_FIELD_TEXT, offsetof(sign, text)));
    one_property bytes = one_property_make(
        ph_property_bound(ph_property_bytes("p", 5), PH_FIELD_BYTES, offsetof(sign, length)));
    sign to;
    memset(&to, 0xEE, sizeof to);
    const ph_text text = {.bytes = (const uint8_t*)"abc", .length = 3};
    ph_property_restore_text(string.property, text, &to);
    ph_property_restore_text(bytes.property, text, &to);
    assert_memory_equal(to.text, "abc\0\0", 6);
    assert_int_equal(to.length, 3);
    assert_memory_equal(to.bytes, "abc\0", 5);
    assert_int_equal(to.before, 0xEE);
    assert_int_equal(to.between, 0xEE);
    assert_int_equal(to.after, 0xEE);
    ph_property_restore_text(string.property, (ph_text){0}, &to);
    assert_int_equal(to.text[0], 0);
    one_property_destroy(&string);
    one_property_destroy(&bytes);
}

static void text_from_elsewhere_is_checked(void** state)
{
    (void)state;
    one_property string = one_property_make(ph_property_string("p", 5));
    one_property bytes = one_property_make(ph_property_bytes("p", 5));
    assert_int_equal(ph_property_check_text(string.property, "abcde", 5), PH_OK);
    assert_int_equal(ph_property_check_text(string.property, "abcdef", 6), PH_ERROR_TOO_LONG);
    assert_int_equal(ph_property_check_text(string.property, "a\0b", 3), PH_ERROR_TEXT);
    assert_int_equal(ph_property_check_text(bytes.property, "a\0b", 3), PH_OK);
    assert_int_equal(ph_property_check_text(bytes.property, "abcdef", 6), PH_ERROR_TOO_LONG);
    one_property_destroy(&string);
    one_property_destroy(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_integer_field_comes_back),
        cmocka_unit_test(whole_numbers_outside_are_refused),
        cmocka_unit_test(large_numbers_take_two_words),
        cmocka_unit_test(bools_are_zero_or_not),
        cmocka_unit_test(ladders_round_and_clamp),
        cmocka_unit_test(ladders_live_in_integers_too),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(vectors_keep_each_component),
        cmocka_unit_test(a_vector_is_restored_whole_or_not_at_all),
        cmocka_unit_test(angles_wrap),
        cmocka_unit_test(a_full_turn_reads_as_none),
        cmocka_unit_test(rotations_come_back_close),
        cmocka_unit_test(rotations_that_are_none_are_refused),
        cmocka_unit_test(a_rotation_starts_as_none),
        cmocka_unit_test(references_and_positions_are_kept_as_they_are),
        cmocka_unit_test(other_field_types_are_refused),
        cmocka_unit_test(texts_point_into_the_field),
        cmocka_unit_test(bytes_point_into_the_field),
        cmocka_unit_test(restored_texts_fill_exactly_their_field),
        cmocka_unit_test(text_from_elsewhere_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
