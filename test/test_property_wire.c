// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Properties on the wire: exact cost, golden bits, what readers refuse.

#include "schema/property.h"

#include "support/one_property.h"
#include "support/test_support.h"

#include <string.h>

static const ph_text NO_TEXT = {0};

// Writes one value and gives back its bits, the first lowest, and how many there are.
static uint64_t bits_of(const ph_property* property, const uint32_t* words, ph_text text,
                        int* count)
{
    uint8_t bytes[16] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_property_write(property, &writer, words, text);
    assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
    *count = (int)ph_bit_writer_size_bits(&writer);
    assert_true(ph_bit_writer_finish(&writer) <= 8);
    return ph_bits_load64(bytes);
}

static void golden_bits(void** state)
{
    (void)state;
    static const struct {
        ph_property_def def;
        uint32_t words[3];
        int count;
        uint64_t bits;
    } rows[] = {
        {{.name = "p", .coding = PH_CODING_BOOL}, {1}, 1, 1},
        {{.name = "p", .coding = PH_CODING_ENUM, .count = 5}, {4}, 3, 4},
        // value - lo in ceil(log2 n) bits; plain writing does not care about is_arithmetic
        {{.name = "p", .coding = PH_CODING_RANGE, .lo = -3, .hi = 3}, {6}, 3, 6},
        {{.name = "p", .coding = PH_CODING_RANGE, .lo = -3, .hi = 3, .is_arithmetic = true},
         {6},
         3,
         6},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 4294967296.0},
         {0, 1},
         33,
         UINT64_C(1) << 32},
        // the default is one bit, the others one more
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 7, .has_default = 1, .default_value = 5},
         {5},
         1,
         1},
        {{.name = "p", .coding = PH_CODING_RANGE, .hi = 7, .has_default = 1, .default_value = 5},
         {6},
         4,
         12},
        // 300 is 0xAC 0x02; -2 is 3 by zigzag
        {{.name = "p", .coding = PH_CODING_VARINT}, {300, 0}, 16, 0x02AC},
        {{.name = "p", .coding = PH_CODING_VARINT, .lo = -100, .hi = 100}, {98}, 8, 3},
        {{.name = "p", .coding = PH_CODING_TWO_BIT}, {200}, 10, 200 << 2},
        {{.name = "p", .coding = PH_CODING_GAMMA}, {0}, 1, 1},
        {{.name = "p", .coding = PH_CODING_GAMMA, .lo = -5, .hi = 5}, {5}, 1, 1},
        {{.name = "p", .coding = PH_CODING_RICE, .rice_k = 2}, {5}, 4, 1 | 1 << 2},
        {{.name = "p", .coding = PH_CODING_RICE, .hi = 9, .has_default = 1, .default_value = 7},
         {7},
         1,
         1},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 1000, .step = 0.1}, {10000}, 14, 10000},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 20, .step = 0.1, .has_default = 1},
         {0},
         1,
         1},
        {{.name = "p", .coding = PH_CODING_ANGLE}, {192}, 8, 192},
        {{.name = "p", .coding = PH_CODING_ANGLE, .has_default = 1, .default_value = 90},
         {64},
         1,
         1},
        {{.name = "p", .coding = PH_CODING_ANGLE, .has_default = 1, .default_value = 90},
         {65},
         9,
         130},
        // identity: w is left out, the others in the middle of 2^8 - 1 levels
        {{.name = "p", .coding = PH_CODING_QUATERNION, .bits = 8},
         {3 | 127 << 2 | 127 << 10 | 127 << 18},
         26,
         3 | 127 << 2 | 127 << 10 | 127 << 18},
        // x and y in 4 bits, z with a default in 1 or 3
        {{.name = "p",
          .coding = PH_CODING_VEC3,
          .hi = 10,
          .step = 1,
          .z_hi = 3,
          .has_default = PH_DEFAULT_Z},
         {10, 1, 0},
         9,
         10 | 1 << 4 | 1 << 8},
        {{.name = "p",
          .coding = PH_CODING_VEC3,
          .hi = 10,
          .step = 1,
          .z_hi = 3,
          .has_default = PH_DEFAULT_Z},
         {10, 1, 2},
         11,
         10 | 1 << 4 | 4 << 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        one_property one = one_property_make(rows[i].def);
        int count = 0;
        const uint64_t bits = bits_of(one.property, rows[i].words, NO_TEXT, &count);
        if (count != rows[i].count || bits != rows[i].bits) {
            print_error("row %zu: %d bits, %llx\n", i, count, (unsigned long long)bits);
            fail();
        }
        assert_int_equal(ph_property_cost_bits(one.property, rows[i].words, NO_TEXT), count);
        assert_true(count <= ph_property_max_bits(one.property));
        one_property_destroy(&one);
    }
}

static void texts_are_a_length_and_bytes(void** state)
{
    (void)state;
    const ph_property_def defs[] = {ph_property_string("p", 3), ph_property_bytes("p", 3)};
    for (int i = 0; i < 2; ++i) {
        one_property one = one_property_make(defs[i]);
        const ph_text text = {.bytes = (const uint8_t*)"ab", .length = 2};
        int count = 0;
        assert_true(bits_of(one.property, (uint32_t[]){77}, text, &count) ==
                    (2 | 'a' << 2 | 'b' << 10));
        assert_int_equal(count, 18);
        assert_int_equal(ph_property_cost_bits(one.property, NULL, text), 18);
        assert_int_equal(ph_property_max_bits(one.property), 2 + 24);

        uint8_t bytes[8];
        ph_bits_store64(bytes, 2 | 'a' << 2 | 'b' << 10);
        ph_bit_reader reader = ph_bit_reader_make(bytes, 3);
        uint32_t word = 9;
        uint8_t buffer[4];
        uint16_t length = 9;
        ph_property_read(one.property, &reader, &word, buffer, &length);
        assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
        assert_int_equal(length, 2);
        assert_string_equal((char*)buffer, "ab");
        assert_int_equal(word, 0);
        one_property_destroy(&one);
    }
}

static void the_most_is_reached(void** state)
{
    (void)state;
    static const struct {
        ph_property_def def;
        int max_bits;
    } rows[] = {
        {{.name = "p", .coding = PH_CODING_BOOL, .has_default = 1}, 2},
        {{.name = "p", .coding = PH_CODING_VARINT}, 64},
        {{.name = "p", .coding = PH_CODING_TWO_BIT}, 34},
        {{.name = "p", .coding = PH_CODING_GAMMA}, 65},
        {{.name = "p", .coding = PH_CODING_RICE}, 48},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 10, .step = 1}, 4},
        {{.name = "p", .coding = PH_CODING_FIXED, .hi = 10, .step = 1, .has_default = 1}, 5},
        {{.name = "p", .coding = PH_CODING_VEC3, .hi = 10, .step = 1, .has_default = 6}, 14},
        {{.name = "p", .coding = PH_CODING_ANGLE}, 8},
        {{.name = "p", .coding = PH_CODING_ANGLE, .has_default = 1}, 9},
        {{.name = "p", .coding = PH_CODING_QUATERNION}, 32},
        {{.name = "p", .coding = PH_CODING_STRING, .max_length = 31}, 5 + 248},
        {{.name = "p", .coding = PH_CODING_BYTES, .max_length = 32}, 6 + 256},
        {{.name = "p", .coding = PH_CODING_ENTITY}, PH_REFERENCE_BITS_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        one_property one = one_property_make(rows[i].def);
        assert_int_equal(ph_property_max_bits(one.property), rows[i].max_bits);
        one_property_destroy(&one);
    }
    const ph_property_def flat = {.name = "p", .coding = PH_CODING_POSITION, .bits = 12};
    const ph_property_def grounded = {
        .name = "p", .coding = PH_CODING_POSITION, .ground_tolerance_mm = 500};
    const ph_class_def classes[] = {{.name = "a", .properties = &flat, .property_count = 1},
                                    {.name = "b", .properties = &grounded, .property_count = 1}};
    ph_schema* schema;
    assert_int_equal(ph_schema_create(classes, 2, NULL, &schema, NULL), PH_OK);
    assert_int_equal(ph_property_max_bits(&ph_schema_class_at(schema, 0)->properties[0]), 3 * 28);
    assert_int_equal(ph_property_max_bits(&ph_schema_class_at(schema, 1)->properties[0]),
                     28 + 28 + 4 + 28);
    ph_schema_destroy(schema);
}

// Bits that no writer produces, and bits that end too early.
static void readers_refuse_and_fall_back_to_the_initial_value(void** state)
{
    (void)state;
    static const struct {
        ph_property_def def;
        uint64_t bits;
        size_t size;
        ph_result result;
    } rows[] = {
        {{.name = "p", .coding = PH_CODING_ENUM, .count = 5, .default_value = 2},
         7,
         1,
         PH_ERROR_VALUE},
        {{.name = "p", .coding = PH_CODING_ENUM, .count = 5, .default_value = 2},
         0,
         0,
         PH_ERROR_END},
        {{.name = "p", .coding = PH_CODING_VARINT, .hi = 100, .default_value = 9},
         101,
         1,
         PH_ERROR_VALUE},
        // a default that is spelled out
        {{.name = "p", .coding = PH_CODING_ANGLE, .has_default = 1, .default_value = 90},
         64 << 1,
         2,
         PH_ERROR_VALUE},
        {{.name = "p",
          .coding = PH_CODING_FIXED,
          .hi = 10,
          .step = 1,
          .has_default = 1,
          .default_value = 3},
         3 << 1,
         1,
         PH_ERROR_VALUE},
        {{.name = "p", .coding = PH_CODING_VEC3, .hi = 10, .step = 1, .default_value = 3},
         3 | 4 << 4 | 11 << 8,
         2,
         PH_ERROR_VALUE},
        {{.name = "p", .coding = PH_CODING_QUATERNION}, 0xFFFFFFFF, 4, PH_ERROR_VALUE},
        {{.name = "p", .coding = PH_CODING_QUATERNION}, 0, 3, PH_ERROR_END},
        {{.name = "p", .coding = PH_CODING_STRING, .max_length = 3},
         1 | 0xFF << 2,
         2,
         PH_ERROR_TEXT},
        {{.name = "p", .coding = PH_CODING_STRING, .max_length = 4}, 5, 1, PH_ERROR_VALUE},
        {{.name = "p", .coding = PH_CODING_BYTES, .max_length = 3}, 3, 3, PH_ERROR_END},
        {{.name = "p", .coding = PH_CODING_VARINT, .default_value = 4294967297.0},
         0x80,
         2,
         PH_ERROR_VALUE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        one_property one = one_property_make(rows[i].def);
        uint8_t bytes[8];
        ph_bits_store64(bytes, rows[i].bits);
        ph_bit_reader reader = ph_bit_reader_make(bytes, rows[i].size);
        uint32_t words[PH_VALUE_WORDS_MAX] = {99, 99, 99, 99};
        uint8_t buffer[5] = "zzzz";
        uint16_t length = 9;
        ph_property_read(one.property, &reader, words, buffer, &length);
        if (ph_bit_reader_result(&reader) != rows[i].result) {
            print_error("row %zu: %s\n", i, ph_result_text(ph_bit_reader_result(&reader)));
            fail();
        }
        assert_memory_equal(words, one.property->initial,
                            (size_t)one.property->words * sizeof words[0]);
        if (one.property->is_text) {
            assert_int_equal(length, 0);
            assert_int_equal(buffer[0], 0);
        }
        one_property_destroy(&one);
    }
}

// Room for a value of any field up to three doubles.
typedef union any_value {
    uint64_t whole;
    float f32[3];
    double f64[3];
} any_value;

static any_value random_value(ph_field field, test_rng* rng)
{
    any_value value = {.f64 = {0}};
    value.whole = test_rng_next(rng) >> test_rng_below(rng, 64);
    for (int i = 0; i < 3 && field >= PH_FIELD_F32; ++i) {
        const double number = 12.0 * test_rng_unit(rng) - 6.0;
        if (field == PH_FIELD_F64) {
            value.f64[i] = number;
        } else {
            value.f32[i] = (float)number;
        }
    }
    return value;
}

// Over the wire, into the field and back to words.
static void assert_survives(const ph_property* property, ph_field field, const uint32_t* words)
{
    uint8_t bytes[16];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_property_write(property, &writer, words, NO_TEXT);
    assert_int_equal(ph_bit_writer_size_bits(&writer),
                     ph_property_cost_bits(property, words, NO_TEXT));
    ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
    uint32_t read[PH_VALUE_WORDS_MAX] = {0};
    ph_property_read(property, &reader, read, NULL, NULL);
    assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    assert_memory_equal(read, words, sizeof read);

    any_value value = {.f64 = {0}};
    uint32_t again[PH_VALUE_WORDS_MAX] = {0};
    assert_int_equal(ph_property_restore_field(property, field, read, &value), PH_OK);
    assert_int_equal(ph_property_quantise_field(property, field, &value, again), PH_OK);
    assert_memory_equal(again, words, sizeof again);
}

static void values_survive_the_wire(void** state)
{
    (void)state;
    static const struct {
        ph_property_def def;
        ph_field field;
    } rows[] = {
        {{.name = "p", .coding = PH_CODING_BOOL}, PH_FIELD_U8},
        {{.name = "p", .coding = PH_CODING_ENUM, .count = 200, .has_default = 1}, PH_FIELD_U8},
        {{.name = "p", .coding = PH_CODING_RANGE, .lo = -100, .hi = 100}, PH_FIELD_I8},
        {{.name = "p", .coding = PH_CODING_VARINT, .lo = -30000, .hi = 30000}, PH_FIELD_I16},
        {{.name = "p", .coding = PH_CODING_VARINT}, PH_FIELD_U64},
        {{.name = "p", .coding = PH_CODING_TWO_BIT}, PH_FIELD_U32},
        {{.name = "p", .coding = PH_CODING_GAMMA}, PH_FIELD_U32},
        {{.name = "p", .coding = PH_CODING_RICE, .rice_k = 12}, PH_FIELD_U32},
        {{.name = "p", .coding = PH_CODING_FIXED, .lo = -5, .hi = 5, .step = 0.01}, PH_FIELD_F64},
        {{.name = "p",
          .coding = PH_CODING_FIXED,
          .lo = -5,
          .hi = 5,
          .step = 0.01,
          .has_default = 1},
         PH_FIELD_F32},
        {{.name = "p", .coding = PH_CODING_ANGLE, .bits = 20}, PH_FIELD_F64},
        {{.name = "p", .coding = PH_CODING_ANGLE, .bits = 3, .has_default = 1}, PH_FIELD_F32},
        {{.name = "p", .coding = PH_CODING_VEC3, .lo = -5, .hi = 5, .step = 0.25, .has_default = 5},
         PH_FIELD_F32X3},
    };
    test_rng rng = {.state = 303};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        one_property one = one_property_make(rows[i].def);
        int kept = 0;
        for (int round = 0; round < 2000; ++round) {
            const any_value value = random_value(rows[i].field, &rng);
            uint32_t words[PH_VALUE_WORDS_MAX] = {0};
            if (ph_property_quantise_field(one.property, rows[i].field, &value, words) == PH_OK) {
                assert_survives(one.property, rows[i].field, words);
                ++kept;
            }
        }
        assert_true(kept > 50);
        one_property_destroy(&one);
    }
}

static void a_full_buffer_fails_the_writer(void** state)
{
    (void)state;
    one_property one = one_property_make(ph_property_angle("p", 9));
    uint8_t byte;
    ph_bit_writer writer = ph_bit_writer_make(&byte, 1);
    ph_property_write(one.property, &writer, (uint32_t[]){1}, NO_TEXT);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_END);
    one_property_destroy(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bits),
        cmocka_unit_test(texts_are_a_length_and_bytes),
        cmocka_unit_test(the_most_is_reached),
        cmocka_unit_test(readers_refuse_and_fall_back_to_the_initial_value),
        cmocka_unit_test(values_survive_the_wire),
        cmocka_unit_test(a_full_buffer_fails_the_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
