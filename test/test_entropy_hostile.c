// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The range coder against what no encoder wrote: changed bits, random bytes, misuse, endless
// reading.

#include "support/entropy_items.h"

#include <stdlib.h>
#include <string.h>

static void symbols_outside_the_model_fail_the_writer(void** state)
{
    (void)state;
    uint8_t bytes[32] = {0};
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_entropy_write(&writer, &test_models[TEST_MODEL_SKEWED], 7);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_VALUE);
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_entropy_write(&writer, &test_models[TEST_MODEL_SKEWED], -1);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_VALUE);
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_entropy_write_uniform(&writer, 5, 5);
    ph_entropy_write_uniform(&writer, 1, 5);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_VALUE);
    assert_int_equal(ph_entropy_writer_size_bits(&writer), 0);
}

static int write_sample(uint8_t* bytes, size_t capacity, item* items, uint64_t seed)
{
    test_rng rng = {.state = seed};
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, capacity);
    const int count = 1 + (int)test_rng_below(&rng, 12);
    for (int i = 0; i < count; ++i) {
        items[i] = random_item(&rng);
        write_item(&writer, &items[i]);
    }
    return ph_entropy_writer_result(&writer) == PH_OK ? (int)ph_entropy_writer_finish(&writer) : 0;
}

// One packet for one content: any single changed bit either changes what is read or is refused; so
// is a byte more or a byte less.
static void every_changed_bit_is_read_or_refused(void** state)
{
    (void)state;
    int refused = 0;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        uint8_t bytes[200] = {0};
        item items[12];
        const int size = write_sample(bytes, 160, items, seed);
        test_rng rng = {.state = seed};
        const int count = 1 + (int)test_rng_below(&rng, 12);
        for (int bit = 0; bit < 8 * size; ++bit) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            ph_entropy_reader reader;
            ph_entropy_reader_init(&reader, bytes, (size_t)size);
            bool is_same = true;
            for (int i = 0; i < count; ++i) {
                is_same = read_item(&reader, &items[i]) == items[i].value && is_same;
            }
            const bool is_accepted = ph_entropy_reader_finish(&reader) == PH_OK;
            assert_false(is_same && is_accepted);
            refused += !is_accepted;
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (int change = -1; change <= 1; change += 2) {
            if (size + change < 0) {
                continue;
            }
            ph_entropy_reader reader;
            ph_entropy_reader_init(&reader, bytes, (size_t)(size + change));
            bool is_same = true;
            for (int i = 0; i < count; ++i) {
                is_same = read_item(&reader, &items[i]) == items[i].value && is_same;
            }
            assert_false(is_same && ph_entropy_reader_finish(&reader) == PH_OK);
        }
    }
    assert_true(refused > 0);
}

// A failed reader answers 0 and moves no further.
static void failed_reader_returns_zero(void** state)
{
    (void)state;
    uint8_t bytes[32];
    memset(bytes, 0x7F, sizeof bytes);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, sizeof bytes);
    ph_bit_reader_fail(&reader.raw, PH_ERROR_TEXT);
    for (int i = 0; i < 10; ++i) {
        assert_int_equal(ph_entropy_read(&reader, &test_models[TEST_MODEL_COIN]), 0);
        assert_int_equal(ph_entropy_read_uniform(&reader, 1000), 0);
        assert_int_equal(ph_bits_read(&reader.raw, 7), 0);
    }
    assert_int_equal(ph_entropy_reader_finish(&reader), PH_ERROR_TEXT);
}

#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
// Misuse is asserted on in debug builds; in the others it fails and stays inside the buffer.
static void misuse_stays_inside_the_buffer(void** state)
{
    (void)state;
    const uint16_t impossible[] = {0, 5, 5, 32768};
    const ph_model broken = {.cumulative = impossible, .count = 3};
    uint8_t* bytes = malloc(8);
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, 8);
    ph_entropy_write(&writer, &broken, 1);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_VALUE);

    ph_entropy_writer_init(&writer, bytes, 8);
    ph_entropy_write_uniform(&writer, 3, 7);
    const ph_entropy_mark mark = ph_entropy_writer_mark(&writer);
    assert_int_equal(ph_entropy_writer_finish(&writer), 1);
    const uint8_t packet = bytes[0];
    ph_entropy_writer_rollback(&writer, &mark); // too late
    assert_int_equal(bytes[0], packet);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_VALUE);

    ph_entropy_writer_init(&writer, bytes, 8);
    ph_entropy_write_uniform(&writer, 3, 7);
    ph_bit_writer_rollback(&writer.raw, ph_bit_writer_mark(&writer.raw)); // one end only
    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_VALUE);

    ph_entropy_writer_init(&writer, bytes, 8);
    ph_entropy_writer copy = writer;
    for (int i = 0; i < 40; ++i) {
        ph_entropy_write_uniform(&copy, 3, 7);
        ph_bits_write(&copy.raw, 1, 3);
    }
    assert_int_equal(ph_entropy_writer_finish(&copy), 0);
    free(bytes);
}
#endif

// Random bytes, read as random items: never outside the buffer (ASan), and whatever is accepted is
// written again to the same bytes.
static void hostile_bytes_are_refused_or_written_again(void** state)
{
    (void)state;
    test_rng rng = {.state = 666};
    int accepted = 0;
    for (int round = 0; round < 60000; ++round) {
        const size_t size = test_rng_below(&rng, 12);
        uint8_t* bytes = malloc(size > 0 ? size : 1);
        for (size_t i = 0; i < size; ++i) {
            bytes[i] = (uint8_t)(test_rng_next(&rng) & test_rng_next(&rng));
        }
        item items[8];
        const int count = (int)test_rng_below(&rng, 8);
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, bytes, size);
        for (int i = 0; i < count; ++i) {
            items[i] = random_item(&rng);
            items[i].value = read_item(&reader, &items[i]);
        }
        if (ph_entropy_reader_finish(&reader) == PH_OK) {
            ++accepted;
            uint8_t again[64] = {0};
            ph_entropy_writer writer;
            ph_entropy_writer_init(&writer, again, sizeof again);
            for (int i = 0; i < count; ++i) {
                write_item(&writer, &items[i]);
            }
            assert_int_equal(ph_entropy_writer_finish(&writer), size);
            assert_memory_equal(again, bytes, size);
        }
        free(bytes);
    }
    assert_true(accepted > 500);
}

// Rounding leaves a gap at the top of the interval that belongs to no symbol.
static void code_that_belongs_to_no_symbol_is_refused(void** state)
{
    (void)state;
    uint8_t bytes[16];
    memset(bytes, 0xFF, sizeof bytes);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, sizeof bytes);
    assert_int_equal(ph_entropy_read(&reader, &test_models[TEST_MODEL_SKEWED]), 0);
    assert_int_equal(ph_entropy_reader_result(&reader), PH_ERROR_VALUE);
    ph_entropy_reader_init(&reader, bytes, sizeof bytes);
    assert_int_equal(ph_entropy_read_uniform(&reader, 1000), 0);
    assert_int_equal(ph_entropy_reader_result(&reader), PH_ERROR_VALUE);
}

// Each end alone may read every byte; together they may not read one twice.
static void ends_that_overlap_are_refused(void** state)
{
    (void)state;
    uint8_t bytes[2] = {0};
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_entropy_write_uniform(&writer, 3, 16);
    const int raw_width = 16 - (int)ph_entropy_writer_size_bits(&writer);
    ph_bits_write(&writer.raw, 9, raw_width);
    assert_int_equal(ph_entropy_writer_finish(&writer), 2);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, sizeof bytes);
    (void)ph_bits_read(&reader.raw, raw_width + 1);
    (void)ph_entropy_read_uniform(&reader, 16);
    assert_int_equal(ph_entropy_reader_result(&reader), PH_OK);
    assert_int_equal(ph_entropy_reader_finish(&reader), PH_ERROR_END);
}

static void endless_reading_ends(void** state)
{
    (void)state;
    const uint8_t bytes[16] = {0};
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, sizeof bytes);
    int symbols = 0;
    while (ph_entropy_reader_result(&reader) == PH_OK && symbols < 1000) {
        (void)ph_entropy_read(&reader, &test_models[TEST_MODEL_COIN]);
        ++symbols;
    }
    assert_int_equal(ph_entropy_reader_result(&reader), PH_ERROR_END);
    assert_in_range(symbols, 128, 192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_outside_the_model_fail_the_writer),
        cmocka_unit_test(every_changed_bit_is_read_or_refused),
        cmocka_unit_test(failed_reader_returns_zero),
#if defined(NDEBUG) && !defined(PH_ENABLE_ASSERTS)
        cmocka_unit_test(misuse_stays_inside_the_buffer),
#endif
        cmocka_unit_test(hostile_bytes_are_refused_or_written_again),
        cmocka_unit_test(code_that_belongs_to_no_symbol_is_refused),
        cmocka_unit_test(ends_that_overlap_are_refused),
        cmocka_unit_test(endless_reading_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
