// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Strings and byte strings: exact cost, strict UTF-8 on both sides, nothing left behind by a
// failure.

#include "pinhole/text.h"

#include "support/test_support.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LENGTH 127

static bool is_valid(const char* text)
{
    return ph_text_is_valid(text, strlen(text));
}

// Encodes a code point by the book, also those that are not allowed.
static size_t put_code_point(uint32_t point, char text[4])
{
    if (point < 0x80) {
        text[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        text[0] = (char)(0xC0 | point >> 6);
        text[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        text[0] = (char)(0xE0 | point >> 12);
        text[1] = (char)(0x80 | (point >> 6 & 0x3F));
        text[2] = (char)(0x80 | (point & 0x3F));
        return 3;
    }
    text[0] = (char)(0xF0 | point >> 18);
    text[1] = (char)(0x80 | (point >> 12 & 0x3F));
    text[2] = (char)(0x80 | (point >> 6 & 0x3F));
    text[3] = (char)(0x80 | (point & 0x3F));
    return 4;
}

// Writes a string that must fit, and gives the bytes.
static size_t write_string(const char* text, size_t max_length, uint8_t* bytes, size_t capacity)
{
    ph_bit_writer writer = ph_bit_writer_make(bytes, capacity);
    ph_string_write(&writer, text, strlen(text), max_length);
    assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
    assert_int_equal(ph_bit_writer_size_bits(&writer),
                     ph_bytes_cost_bits(strlen(text), max_length));
    return ph_bit_writer_finish(&writer);
}

static ph_result writing(const char* text, size_t length, size_t max_length)
{
    uint8_t bytes[64];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_string_write(&writer, text, length, max_length);
    if (ph_bit_writer_result(&writer) != PH_OK) {
        assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
    }
    return ph_bit_writer_result(&writer);
}

// Writes any bytes as a byte string and reads them as a string of at most eight.
static ph_result reading(const char* text, size_t length)
{
    uint8_t bytes[16];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bytes_write(&writer, text, length, 8);
    ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
    char read[9];
    memset(read, 'x', sizeof read);
    const size_t read_length = ph_string_read(&reader, read, sizeof read, 8);
    const ph_result result = ph_bit_reader_finish(&reader);
    if (result == PH_OK) {
        assert_int_equal(read_length, length);
        assert_memory_equal(read, text, length);
    } else {
        // Nothing of what was refused stays behind.
        assert_int_equal(read_length, 0);
        for (size_t i = 0; i < length; ++i) {
            assert_int_equal(read[i], 0);
        }
    }
    assert_int_equal(read[read_length], 0);
    return result;
}

static void almost_empty_name_costs_its_length(void** state)
{
    (void)state;
    uint8_t bytes[256];
    assert_int_equal(ph_bytes_cost_bits(5, NAME_MAX_LENGTH), 47);
    assert_int_equal(write_string("Mario", NAME_MAX_LENGTH, bytes, sizeof bytes), 6);
    assert_int_equal(ph_bytes_cost_bits(0, NAME_MAX_LENGTH), 7);
    assert_int_equal(write_string("", NAME_MAX_LENGTH, bytes, sizeof bytes), 1);
}

static void length_takes_the_bits_that_the_maximum_needs(void** state)
{
    (void)state;
    assert_int_equal(ph_bytes_cost_bits(0, 0), 0);
    assert_int_equal(ph_bytes_cost_bits(0, 1), 1);
    assert_int_equal(ph_bytes_cost_bits(3, 3), 26);
    assert_int_equal(ph_bytes_cost_bits(3, 4), 27);
    assert_int_equal(ph_bytes_cost_bits(0, 255), 8);
    assert_int_equal(ph_bytes_cost_bits(0, 256), 9);
}

static void string_comes_back_as_it_went(void** state)
{
    (void)state;
    const char* texts[] = {"", "a", "Mario", "Grüße", "日本語", "🏎 kart 🏁"};
    for (int i = 0; i < 6; ++i) {
        uint8_t bytes[256];
        const size_t size = write_string(texts[i], NAME_MAX_LENGTH, bytes, sizeof bytes);
        ph_bit_reader reader = ph_bit_reader_make(bytes, size);
        char read[NAME_MAX_LENGTH + 1];
        assert_int_equal(ph_string_read(&reader, read, sizeof read, NAME_MAX_LENGTH),
                         strlen(texts[i]));
        assert_string_equal(read, texts[i]);
        assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    }
}

static void string_of_the_greatest_length_fits(void** state)
{
    (void)state;
    for (size_t max_length = 1; max_length <= 40; ++max_length) {
        char text[41] = {0};
        memset(text, 'm', max_length);
        uint8_t bytes[64];
        const size_t size = write_string(text, max_length, bytes, sizeof bytes);
        ph_bit_reader reader = ph_bit_reader_make(bytes, size);
        char read[41];
        assert_int_equal(ph_string_read(&reader, read, sizeof read, max_length), max_length);
        assert_string_equal(read, text);
    }
}

static void string_of_no_length_costs_nothing(void** state)
{
    (void)state;
    uint8_t bytes[1];
    assert_int_equal(write_string("", 0, bytes, sizeof bytes), 0);
    ph_bit_reader reader = ph_bit_reader_make(NULL, 0);
    char read[1] = {'x'};
    assert_int_equal(ph_string_read(&reader, read, sizeof read, 0), 0);
    assert_int_equal(read[0], 0);
    assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    assert_int_equal(writing("a", 1, 0), PH_ERROR_TOO_LONG);
}

static void every_code_point_is_valid_but_zero_and_surrogates(void** state)
{
    (void)state;
    for (uint32_t point = 0; point < 0x200000; ++point) {
        char text[4];
        const size_t length = put_code_point(point, text);
        const bool is_allowed =
            point != 0 && point <= 0x10FFFF && !(point >= 0xD800 && point <= 0xDFFF);
        if (ph_text_is_valid(text, length) != is_allowed) {
            fail_msg("code point %x", point);
        }
    }
}

static void overlong_forms_are_invalid(void** state)
{
    (void)state;
    assert_false(is_valid("\xC0\x80"));
    assert_false(is_valid("\xC0\xAF"));
    assert_false(is_valid("\xC1\xBF"));
    assert_false(is_valid("\xE0\x80\xAF"));
    assert_false(is_valid("\xE0\x9F\xBF"));
    assert_false(is_valid("\xF0\x80\x80\xAF"));
    assert_false(is_valid("\xF0\x8F\xBF\xBF"));
}

static void broken_sequences_are_invalid(void** state)
{
    (void)state;
    assert_false(is_valid("\x80"));
    assert_false(is_valid("a\xBF"));
    assert_false(is_valid("\xC3"));
    assert_false(is_valid("\xE6\x97"));
    assert_false(is_valid("\xF0\x9F\x8F"));
    assert_false(is_valid("\xC3z"));
    assert_false(is_valid("\xE6\x97z"));
    assert_false(is_valid("\xF0\x9F\x8Fz"));
    assert_false(is_valid("\xF5\x80\x80\x80"));
    assert_false(is_valid("\xFE"));
    assert_false(is_valid("\xFF"));
    // Whole in the buffer, cut by its length.
    assert_false(ph_text_is_valid("日本", 5));
    assert_true(ph_text_is_valid("日本", 3));
}

static void zero_byte_is_refused_on_both_sides(void** state)
{
    (void)state;
    assert_int_equal(writing("a\0b", 3, 10), PH_ERROR_TEXT);
    assert_int_equal(reading("a\0b", 3), PH_ERROR_TEXT);
    assert_int_equal(reading("ab", 2), PH_OK);
}

static void bytes_that_are_not_utf8_are_refused_on_both_sides(void** state)
{
    (void)state;
    assert_int_equal(writing("\xC3(", 2, 10), PH_ERROR_TEXT);
    assert_int_equal(reading("\xC3(", 2), PH_ERROR_TEXT);
    assert_int_equal(reading("\xC3\xA4", 2), PH_OK);
}

static void too_long_is_refused_on_both_sides(void** state)
{
    (void)state;
    assert_int_equal(writing("abcdef", 6, 5), PH_ERROR_TOO_LONG);
    assert_int_equal(writing("abcdef", 6, 6), PH_OK);

    // 6 in the three bits of 0..5.
    const uint8_t bytes[8] = {6};
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    char read[6] = "xxxxx";
    assert_int_equal(ph_string_read(&reader, read, sizeof read, 5), 0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_VALUE);
    assert_string_equal(read, "");
}

static void length_beyond_the_bytes_is_refused_before_copying(void** state)
{
    (void)state;
    // 100 bytes announced, two there.
    const uint8_t bytes[3] = {100, 'a', 'b'};
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    char read[128];
    memset(read, 'x', sizeof read);
    assert_int_equal(ph_string_read(&reader, read, sizeof read, 127), 0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_END);
    assert_int_equal(read[0], 0);
    assert_int_equal(read[1], 'x');
}

static void missing_length_is_refused(void** state)
{
    (void)state;
    ph_bit_reader reader = ph_bit_reader_make(NULL, 0);
    char read[128] = "old";
    assert_int_equal(ph_string_read(&reader, read, sizeof read, 127), 0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_END);
    assert_string_equal(read, "");
}

static void byte_string_holds_any_bytes_at_any_bit_position(void** state)
{
    (void)state;
    test_rng rng = {.state = 4001};
    for (int round = 0; round < 2000; ++round) {
        uint8_t source[40];
        const size_t length = (size_t)test_rng_below(&rng, sizeof source + 1);
        for (size_t i = 0; i < length; ++i) {
            source[i] = (uint8_t)test_rng_next(&rng);
        }
        const int skipped = round % 8;
        uint8_t bytes[64];
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_bits_write(&writer, 0x55, skipped);
        ph_bytes_write(&writer, source, length, sizeof source);
        assert_int_equal(ph_bit_writer_size_bits(&writer),
                         (size_t)skipped + ph_bytes_cost_bits(length, sizeof source));
        ph_bit_reader reader = ph_bit_reader_make(bytes, ph_bit_writer_finish(&writer));
        ph_bits_read(&reader, skipped);
        uint8_t read[sizeof source];
        assert_int_equal(ph_bytes_read(&reader, read, sizeof read), length);
        assert_memory_equal(read, source, length);
        assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    }
}

static void byte_string_too_long_is_refused(void** state)
{
    (void)state;
    uint8_t bytes[8];
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bytes_write(&writer, "abc", 3, 2);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_TOO_LONG);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
}

#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
// The buffer's size stands in the call, so that the terminator is never written behind it.
static void buffer_that_cannot_hold_the_longest_string_is_refused(void** state)
{
    (void)state;
    const uint8_t bytes[4] = {0};
    char* text = malloc(8);
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    assert_int_equal(ph_string_read(&reader, text, 8, 8), 0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_TOO_LONG);
    assert_string_equal(text, "");
    free(text);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(almost_empty_name_costs_its_length),
        cmocka_unit_test(length_takes_the_bits_that_the_maximum_needs),
        cmocka_unit_test(string_comes_back_as_it_went),
        cmocka_unit_test(string_of_the_greatest_length_fits),
        cmocka_unit_test(string_of_no_length_costs_nothing),
        cmocka_unit_test(every_code_point_is_valid_but_zero_and_surrogates),
        cmocka_unit_test(overlong_forms_are_invalid),
        cmocka_unit_test(broken_sequences_are_invalid),
        cmocka_unit_test(zero_byte_is_refused_on_both_sides),
        cmocka_unit_test(bytes_that_are_not_utf8_are_refused_on_both_sides),
        cmocka_unit_test(too_long_is_refused_on_both_sides),
        cmocka_unit_test(length_beyond_the_bytes_is_refused_before_copying),
        cmocka_unit_test(missing_length_is_refused),
        cmocka_unit_test(byte_string_holds_any_bytes_at_any_bit_position),
        cmocka_unit_test(byte_string_too_long_is_refused),
#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
        cmocka_unit_test(buffer_that_cannot_hold_the_longest_string_is_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
