// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bit writer and reader: what they write, where they stop, what a rollback leaves behind.

#include "support/test_support.h"

#include <pinhole/bits.h>

#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE 96
#define GUARD 0xA5

static uint64_t mask_of(int width)
{
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static int random_width(test_rng* rng)
{
    return (int)test_rng_below(rng, 65);
}

// The layout of the wire, pinned: low bits first, first field in the low bits of the first byte.
static void first_bit_is_lowest_bit_of_first_byte(void** state)
{
    (void)state;
    uint8_t bytes[16] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write(&writer, 5, 3);
    ph_bits_write(&writer, 9, 7);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 10);
    assert_int_equal(ph_bit_writer_finish(&writer), 2);
    assert_int_equal(bytes[0], 0x4D);
    assert_int_equal(bytes[1], 0x00);

    writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write_bool(&writer, true);
    ph_bits_write(&writer, UINT64_C(0x0123456789ABCDEF), 64);
    assert_int_equal(ph_bit_writer_finish(&writer), 9);
    const uint8_t golden[9] = {0xDF, 0x9B, 0x57, 0x13, 0xCF, 0x8A, 0x46, 0x02, 0x00};
    assert_memory_equal(bytes, golden, sizeof golden);
}

// Textbook fault: a value wider than its field spills into the neighbours.
static void value_wider_than_its_field_spares_the_neighbours(void** state)
{
    (void)state;
    for (int width = 0; width <= 64; ++width) {
        uint8_t bytes[24] = {0};
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_bits_write(&writer, 0, 5);
        ph_bits_write(&writer, UINT64_MAX, width);
        ph_bits_write(&writer, 0, 17);
        const size_t size = ph_bit_writer_finish(&writer);
        ph_bit_reader reader = ph_bit_reader_make(bytes, size);
        assert_int_equal(ph_bits_read(&reader, 5), 0);
        assert_true(ph_bits_read(&reader, width) == (width == 0 ? 0 : mask_of(width)));
        assert_int_equal(ph_bits_read(&reader, 17), 0);
        assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    }
}

// Any widths in any order come back, and the size is exact after every field.
static void random_fields_come_back(void** state)
{
    (void)state;
    test_rng rng = {.state = 2024};
    for (int round = 0; round < 2000; ++round) {
        uint8_t bytes[BUFFER_SIZE];
        memset(bytes, GUARD, sizeof bytes);
        uint64_t values[BUFFER_SIZE];
        int widths[BUFFER_SIZE];
        int count = 0;
        size_t size_bits = 0;
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        while (count < BUFFER_SIZE) {
            const int width = random_width(&rng);
            if (size_bits + (size_t)width > 8 * sizeof bytes) {
                break;
            }
            widths[count] = width;
            values[count] = test_rng_next(&rng);
            ph_bits_write(&writer, values[count], width);
            size_bits += (size_t)width;
            ++count;
            assert_int_equal(ph_bit_writer_size_bits(&writer), size_bits);
        }
        assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
        const size_t size = ph_bit_writer_finish(&writer);
        assert_int_equal(size, (size_bits + 7) / 8);

        ph_bit_reader reader = ph_bit_reader_make(bytes, size);
        for (int i = 0; i < count; ++i) {
            const uint64_t expected = widths[i] == 0 ? 0 : values[i] & mask_of(widths[i]);
            assert_true(ph_bits_read(&reader, widths[i]) == expected);
        }
        assert_true(ph_bit_reader_left_bits(&reader) < 8);
        assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
    }
}

// Textbook fault: the free-space test is inverted. The last bit fits, one more does not, and no
// byte behind the buffer is dirty. The buffer is its own allocation, so that ASan watches its
// edges.
static void writer_fills_its_buffer_and_stops(void** state)
{
    (void)state;
    test_rng rng = {.state = 7};
    for (size_t capacity = 0; capacity <= 40; ++capacity) {
        for (int round = 0; round < 50; ++round) {
            uint8_t* bytes = malloc(capacity + 1);
            bytes[capacity] = GUARD;
            ph_bit_writer writer = ph_bit_writer_make(bytes, capacity);
            size_t left_bits = 8 * capacity;
            while (left_bits > 0) {
                int width = 1 + (int)test_rng_below(&rng, 64);
                width = (size_t)width > left_bits ? (int)left_bits : width;
                ph_bits_write(&writer, test_rng_next(&rng), width);
                left_bits -= (size_t)width;
            }
            assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
            assert_int_equal(ph_bit_writer_finish(&writer), capacity);
            ph_bits_write(&writer, 0, 0);
            assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
            ph_bits_write(&writer, 1, 1);
            assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_END);
            assert_int_equal(ph_bit_writer_size_bits(&writer), 8 * capacity);
            assert_int_equal(ph_bit_writer_finish(&writer), 0);
            assert_int_equal(bytes[capacity], GUARD);
            free(bytes);
        }
    }
}

static void failed_writer_stays_failed_and_writes_nothing(void** state)
{
    (void)state;
    uint8_t bytes[16] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write(&writer, 1, 4);
    ph_bit_writer_fail(&writer, PH_ERROR_TEXT);
    ph_bit_writer_fail(&writer, PH_ERROR_END);
    ph_bits_write(&writer, UINT64_MAX, 32);
    ph_bits_write(&writer, UINT64_MAX, 64);
    ph_bits_write_bytes(&writer, "abc", 3);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_TEXT);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 4);
    assert_int_equal(ph_bit_writer_finish(&writer), 0);
    assert_int_equal(bytes[1], 0);
}

static void reader_stops_at_the_last_bit(void** state)
{
    (void)state;
    test_rng rng = {.state = 11};
    for (size_t size = 0; size <= 40; ++size) {
        for (int round = 0; round < 50; ++round) {
            uint8_t* bytes = malloc(size > 0 ? size : 1);
            memset(bytes, 0xFF, size > 0 ? size : 1);
            ph_bit_reader reader = ph_bit_reader_make(bytes, size);
            size_t left_bits = 8 * size;
            while (left_bits > 0) {
                int width = 1 + (int)test_rng_below(&rng, 64);
                width = (size_t)width > left_bits ? (int)left_bits : width;
                assert_true(ph_bits_read(&reader, width) == mask_of(width));
                left_bits -= (size_t)width;
                assert_int_equal(ph_bit_reader_left_bits(&reader), left_bits);
            }
            assert_int_equal(ph_bit_reader_result(&reader), PH_OK);
            const ph_bit_reader at_the_end = reader;
            assert_int_equal(ph_bits_read(&reader, 1), 0);
            assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_END);
            assert_int_equal(ph_bits_read(&reader, 0), 0);
            assert_int_equal(ph_bit_reader_finish(&reader), PH_ERROR_END);
            reader = at_the_end; // a copy is a way back
            assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
            free(bytes);
        }
    }
}

static void failed_reader_returns_zero_for_ever(void** state)
{
    (void)state;
    uint8_t bytes[64];
    memset(bytes, 0xFF, sizeof bytes);
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    assert_int_equal(ph_bits_read(&reader, 8), 0xFF);
    ph_bit_reader_fail(&reader, PH_ERROR_TEXT);
    ph_bit_reader_fail(&reader, PH_ERROR_END);
    for (int width = 0; width <= 64; ++width) {
        assert_true(ph_bits_read(&reader, width) == 0);
    }
    uint8_t copy[4] = {1, 2, 3, 4};
    ph_bits_read_bytes(&reader, copy, sizeof copy);
    assert_memory_equal(copy, "\0\0\0\0", 4);
    assert_int_equal(ph_bit_reader_left_bits(&reader), 0);
    assert_int_equal(ph_bit_reader_finish(&reader), PH_ERROR_TEXT);
}

// One message has one form: neither spare bits nor spare bytes may carry anything.
static void message_with_spare_bits_set_or_bytes_left_is_refused(void** state)
{
    (void)state;
    for (int bit = 0; bit < 8; ++bit) {
        const uint8_t byte = (uint8_t)(1u << bit);
        ph_bit_reader reader = ph_bit_reader_make(&byte, 1);
        (void)ph_bits_read(&reader, 3);
        assert_int_equal(ph_bit_reader_finish(&reader), bit < 3 ? PH_OK : PH_ERROR_VALUE);
    }
    const uint8_t two[2] = {0, 0};
    ph_bit_reader reader = ph_bit_reader_make(two, 2);
    (void)ph_bits_read(&reader, 8);
    assert_int_equal(ph_bit_reader_finish(&reader), PH_ERROR_VALUE);
}

// Writes a random field list; the same list for the same seed.
static void write_random_fields(ph_bit_writer* writer, uint64_t seed, int count)
{
    test_rng rng = {.state = seed};
    for (int i = 0; i < count; ++i) {
        const int width = random_width(&rng);
        ph_bits_write(writer, test_rng_next(&rng), width);
    }
}

// Rolled back work leaves no trace in the whole buffer, wherever the mark and the end were, even
// when it overflowed or was finished in between.
static void rollback_leaves_no_trace(void** state)
{
    (void)state;
    test_rng rng = {.state = 99};
    for (int round = 0; round < 3000; ++round) {
        const uint64_t kept_seed = test_rng_next(&rng);
        const uint64_t later_seed = test_rng_next(&rng);
        const int kept_count = (int)test_rng_below(&rng, 12);
        uint8_t expected[BUFFER_SIZE] = {0};
        ph_bit_writer plain = ph_bit_writer_make(expected, sizeof expected);
        write_random_fields(&plain, kept_seed, kept_count);
        const ph_bit_writer plain_at_mark = plain;

        uint8_t bytes[BUFFER_SIZE] = {0};
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        write_random_fields(&writer, kept_seed, kept_count);
        const ph_bit_mark mark = ph_bit_writer_mark(&writer);
        write_random_fields(&writer, test_rng_next(&rng), (int)test_rng_below(&rng, 40));
        if (round % 3 == 0) {
            (void)ph_bit_writer_finish(&writer);
        }
        ph_bit_writer_rollback(&writer, mark);
        assert_int_equal(ph_bit_writer_size_bits(&writer), ph_bit_writer_size_bits(&plain_at_mark));
        assert_int_equal(ph_bit_writer_result(&writer), ph_bit_writer_result(&plain_at_mark));

        const int later_count = (int)test_rng_below(&rng, 4);
        write_random_fields(&plain, later_seed, later_count);
        write_random_fields(&writer, later_seed, later_count);
        assert_int_equal(ph_bit_writer_result(&writer), ph_bit_writer_result(&plain));
        assert_int_equal(ph_bit_writer_finish(&writer), ph_bit_writer_finish(&plain));
        if (ph_bit_writer_result(&plain) == PH_OK) {
            assert_memory_equal(bytes, expected, sizeof bytes);
        }
    }
}

static void rollback_restores_the_failure_flag(void** state)
{
    (void)state;
    uint8_t bytes[12] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write(&writer, 3, 2);
    const ph_bit_mark before = ph_bit_writer_mark(&writer);
    ph_bits_write(&writer, 0, 10);
    ph_bits_write(&writer, 0, 64);
    ph_bits_write(&writer, 0, 64);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_END);
    const ph_bit_mark failed = ph_bit_writer_mark(&writer);
    ph_bit_writer_rollback(&writer, failed);
    const size_t size_bits = ph_bit_writer_size_bits(&writer);
    ph_bits_write(&writer, 1, 1); // still failed: nothing is written
    assert_int_equal(ph_bit_writer_size_bits(&writer), size_bits);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_END);
    ph_bit_writer_rollback(&writer, before);
    assert_int_equal(ph_bit_writer_result(&writer), PH_OK);
    ph_bits_write(&writer, UINT64_MAX, 64);
    assert_int_equal(ph_bit_writer_finish(&writer), 9);
    ph_bit_reader reader = ph_bit_reader_make(bytes, 9);
    assert_int_equal(ph_bits_read(&reader, 2), 3);
    assert_true(ph_bits_read(&reader, 64) == UINT64_MAX);
    assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
}

static void bytes_are_copied_at_any_bit_position(void** state)
{
    (void)state;
    test_rng rng = {.state = 5};
    for (int offset = 0; offset < 16; ++offset) {
        for (size_t length = 0; length <= 40; ++length) {
            uint8_t source[40];
            for (size_t i = 0; i < length; ++i) {
                source[i] = (uint8_t)test_rng_next(&rng);
            }
            uint8_t bytes[BUFFER_SIZE] = {0};
            ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
            ph_bits_write(&writer, UINT64_MAX, offset);
            ph_bits_write_bytes(&writer, source, length);
            assert_int_equal(ph_bit_writer_size_bits(&writer), (size_t)offset + 8 * length);
            const size_t size = ph_bit_writer_finish(&writer);
            ph_bit_reader reader = ph_bit_reader_make(bytes, size);
            assert_true(ph_bits_read(&reader, offset) == (offset == 0 ? 0 : mask_of(offset)));
            uint8_t copy[40] = {0};
            ph_bits_read_bytes(&reader, copy, length);
            assert_memory_equal(copy, source, length);
            assert_int_equal(ph_bit_reader_finish(&reader), PH_OK);
        }
    }
}

static void bytes_that_do_not_fit_are_not_begun(void** state)
{
    (void)state;
    uint8_t bytes[8] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write(&writer, 0, 1);
    ph_bits_write_bytes(&writer, "12345678", 8);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_END);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 1);

    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    (void)ph_bits_read(&reader, 1);
    uint8_t copy[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    ph_bits_read_bytes(&reader, copy, sizeof copy);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_END);
    assert_memory_equal(copy, "\0\0\0\0\0\0\0\0", 8);
}

#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
// Misuse is asserted on in debug builds; in the others it fails and stays inside the buffer.
static void width_above_64_fails(void** state)
{
    (void)state;
    uint8_t bytes[32] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_bits_write(&writer, 1, 65);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_VALUE);
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    (void)ph_bits_read(&reader, -1);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_VALUE);
}

static void mark_of_another_writer_fails(void** state)
{
    (void)state;
    uint8_t large[64] = {0};
    ph_bit_writer other = ph_bit_writer_make(large, sizeof large);
    for (int i = 0; i < 8; ++i) {
        ph_bits_write(&other, 0, 64);
    }
    uint8_t* bytes = malloc(8);
    ph_bit_writer writer = ph_bit_writer_make(bytes, 8);
    ph_bit_writer_rollback(&writer, ph_bit_writer_mark(&other));
    ph_bits_write(&writer, 1, 8);
    assert_int_equal(ph_bit_writer_result(&writer), PH_ERROR_VALUE);
    assert_int_equal(ph_bit_writer_size_bits(&writer), 0);
    free(bytes);
}
#endif

// Sizes are counted in bits: what a size_t cannot count is not used.
static void absurd_sizes_are_capped(void** state)
{
    (void)state;
    uint8_t byte = 0xFF;
    const ph_bit_writer writer = ph_bit_writer_make(&byte, SIZE_MAX);
    assert_true(8 * writer.capacity + 128 > writer.capacity);
    assert_true(writer.capacity <= SIZE_MAX / 16);
    ph_bit_reader reader = ph_bit_reader_make(&byte, SIZE_MAX);
    assert_true(ph_bit_reader_left_bits(&reader) <= SIZE_MAX / 2);
    ph_bit_writer small = ph_bit_writer_make(&byte, 1);
    ph_bits_write_bytes(&small, &byte, SIZE_MAX);
    assert_int_equal(ph_bit_writer_result(&small), PH_ERROR_END);
    reader = ph_bit_reader_make(&byte, 1);
    ph_bits_read_bytes(&reader, NULL, 0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_OK);
    ph_bit_reader_fail(&reader, PH_ERROR_TEXT);
    ph_bits_read_bytes(&reader, NULL, 0);
    assert_int_equal(ph_bit_reader_result(&reader), PH_ERROR_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_bit_is_lowest_bit_of_first_byte),
        cmocka_unit_test(value_wider_than_its_field_spares_the_neighbours),
        cmocka_unit_test(random_fields_come_back),
        cmocka_unit_test(writer_fills_its_buffer_and_stops),
        cmocka_unit_test(failed_writer_stays_failed_and_writes_nothing),
        cmocka_unit_test(reader_stops_at_the_last_bit),
        cmocka_unit_test(failed_reader_returns_zero_for_ever),
        cmocka_unit_test(message_with_spare_bits_set_or_bytes_left_is_refused),
        cmocka_unit_test(rollback_leaves_no_trace),
        cmocka_unit_test(rollback_restores_the_failure_flag),
        cmocka_unit_test(bytes_are_copied_at_any_bit_position),
        cmocka_unit_test(bytes_that_do_not_fit_are_not_begun),
#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
        cmocka_unit_test(width_above_64_fails),
        cmocka_unit_test(mark_of_another_writer_fails),
#endif
        cmocka_unit_test(absurd_sizes_are_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
