// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The range coder and its two ends: exact size, exact room, exact rollback, one legal packet.

#include "support/entropy_items.h"

#include <pinhole/integers.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 0xA5

// Every capacity is filled to its last byte; whatever did not fit is taken back; all the rest is
// read back, and no byte outside is dirty.
static void both_ends_meet_in_the_last_byte_at_every_capacity(void** state)
{
    (void)state;
    test_rng rng = {.state = 1001};
    int full_packets = 0;
    for (size_t capacity = 1; capacity <= 64; ++capacity) {
        for (int round = 0; round < 200; ++round) {
            uint8_t* bytes = malloc(capacity + 2);
            memset(bytes, GUARD, capacity + 2);
            item items[2000];
            int count = 0;
            ph_entropy_writer writer;
            ph_entropy_writer_init(&writer, bytes + 1, capacity);
            for (int misses = 0; misses < 12 && count < 2000;) {
                const item it = random_item(&rng);
                const ph_entropy_mark mark = ph_entropy_writer_mark(&writer);
                const size_t size_bits = ph_entropy_writer_size_bits(&writer);
                write_item(&writer, &it);
                if (ph_entropy_writer_result(&writer) == PH_OK) {
                    assert_true(ph_entropy_writer_size_bits(&writer) >= size_bits);
                    items[count++] = it;
                } else {
                    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_END);
                    ph_entropy_writer_rollback(&writer, &mark);
                    assert_int_equal(ph_entropy_writer_size_bits(&writer), size_bits);
                    ++misses;
                }
            }
            // To the last bit.
            while (ph_entropy_writer_size_bits(&writer) < 8 * capacity && count < 2000) {
                items[count] =
                    (item){.kind = ITEM_RAW, .width = 1, .value = test_rng_below(&rng, 2)};
                write_item(&writer, &items[count++]);
            }
            const size_t size_bits = ph_entropy_writer_size_bits(&writer);
            full_packets += size_bits == 8 * capacity;
            const ph_entropy_mark mark = ph_entropy_writer_mark(&writer);
            if (size_bits == 8 * capacity) {
                ph_bits_write(&writer.raw, 1, 1);
                assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_END);
                ph_entropy_writer_rollback(&writer, &mark);
            }
            const size_t size = ph_entropy_writer_finish(&writer);
            assert_int_equal(size, (size_bits + 7) / 8);
            assert_int_equal(bytes[0], GUARD);
            assert_int_equal(bytes[capacity + 1], GUARD);

            ph_entropy_reader reader;
            ph_entropy_reader_init(&reader, bytes + 1, size);
            for (int i = 0; i < count; ++i) {
                assert_true(read_item(&reader, &items[i]) == items[i].value);
            }
            assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
            free(bytes);
        }
    }
    assert_true(full_packets > 64 * 190); // the others ended on a symbol that filled the last byte
}

static void empty_packet_has_no_bytes(void** state)
{
    (void)state;
    uint8_t bytes[4] = {1, 2, 3, 4};
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    assert_int_equal(ph_entropy_writer_size_bits(&writer), 0);
    assert_int_equal(ph_entropy_writer_finish(&writer), 0);
    ph_entropy_writer_init(&writer, NULL, 0);
    ph_entropy_write(&writer, &test_models[TEST_MODEL_COIN], 1);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_END);
    assert_int_equal(ph_entropy_writer_finish(&writer), 0);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, NULL, 0);
    assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
}

// The published comparison: 100 symbols of three equally likely values, 200 bits at fixed width.
static void hundred_ternary_symbols_cost_at_most_160_bits(void** state)
{
    (void)state;
    test_rng rng = {.state = 3};
    for (int round = 0; round < 500; ++round) {
        uint8_t bytes[40] = {0};
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, bytes, sizeof bytes);
        for (int i = 0; i < 100; ++i) {
            ph_entropy_write_uniform(&writer, (uint32_t)test_rng_below(&rng, 3), 3);
        }
        assert_in_range(ph_entropy_writer_size_bits(&writer), 159, 160);
        assert_int_equal(ph_entropy_writer_finish(&writer), 20);
    }
}

// Over long input a static model costs its entropy, to a thousandth; the end costs two bytes at
// most.
static void long_input_costs_its_entropy(void** state)
{
    (void)state;
    enum { SYMBOLS = 200000, CAPACITY = 200000 };
    uint8_t* bytes = malloc(CAPACITY);
    for (int m = 0; m < TEST_MODEL_COUNT; ++m) {
        const ph_model* model = &test_models[m];
        test_rng rng = {.state = 77};
        double ideal_bits = 0;
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, bytes, CAPACITY);
        for (int i = 0; i < SYMBOLS; ++i) {
            const uint64_t dice = test_rng_below(&rng, PH_MODEL_TOTAL);
            int symbol = 0;
            while (model->cumulative[symbol + 1] <= dice) {
                ++symbol;
            }
            ph_entropy_write(&writer, model, symbol);
            const int parts = model->cumulative[symbol + 1] - model->cumulative[symbol];
            ideal_bits += PH_MODEL_BITS - log2(parts);
        }
        const size_t size_bits = ph_entropy_writer_size_bits(&writer);
        assert_true((double)size_bits <= 1.001 * ideal_bits + 16);
        assert_true((double)size_bits >= floor(ideal_bits));
        assert_int_equal(ph_entropy_writer_finish(&writer), (size_bits + 7) / 8);
    }
    free(bytes);
}

static void short_input_ends_within_two_bytes_of_its_entropy(void** state)
{
    (void)state;
    test_rng rng = {.state = 78};
    for (int round = 0; round < 20000; ++round) {
        uint8_t bytes[64];
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, bytes, sizeof bytes);
        double ideal_bits = 0;
        const int count = (int)test_rng_below(&rng, 20);
        for (int i = 0; i < count; ++i) {
            const uint32_t n = 1 + (uint32_t)test_rng_below(&rng, 1000);
            ph_entropy_write_uniform(&writer, (uint32_t)test_rng_below(&rng, n), n);
            ideal_bits += log2(n);
        }
        const double size_bits = (double)ph_entropy_writer_size_bits(&writer);
        assert_true(size_bits <= ideal_bits + 2.001);
        assert_true(size_bits >= ideal_bits - 1e-6);
    }
}

static void adaptive_model_pays_for_what_it_has_learned(void** state)
{
    (void)state;
    enum { SYMBOLS = 100000, CAPACITY = 100000 };
    uint8_t* bytes = malloc(CAPACITY);
    uint8_t* symbols = malloc(SYMBOLS);
    test_rng rng = {.state = 5};
    ph_adaptive adaptive;
    ph_adaptive_init(&adaptive, 8);
    double ideal_bits = 0;
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, CAPACITY);
    for (int i = 0; i < SYMBOLS; ++i) {
        const int symbol = (int)test_rng_below(&rng, 100) < 80 ? i / 25000 : (int)(i % 8);
        const ph_model model = ph_adaptive_model(&adaptive);
        ideal_bits += ph_model_cost(&model, symbol) / 256.0;
        ph_entropy_write(&writer, &model, symbol);
        ph_adaptive_learn(&adaptive, symbol);
        symbols[i] = (uint8_t)symbol;
    }
    const size_t size_bits = ph_entropy_writer_size_bits(&writer);
    assert_true(fabs((double)size_bits - ideal_bits) <= 0.001 * ideal_bits + 16);
    assert_true(size_bits < 2 * SYMBOLS); // 3 bits a symbol without learning

    const size_t size = ph_entropy_writer_finish(&writer);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, size);
    ph_adaptive_init(&adaptive, 8);
    for (int i = 0; i < SYMBOLS; ++i) {
        const ph_model model = ph_adaptive_model(&adaptive);
        assert_int_equal(ph_entropy_read(&reader, &model), symbols[i]);
        ph_adaptive_learn(&adaptive, symbols[i]);
    }
    assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
    free(bytes);
    free(symbols);
}

// Words of all ones wait until it is known whether a carry turns them into zeros. Random symbols
// never make rows of them, so the symbols are decoded from bytes that contain rows of ones (no
// carry comes) or of zeros (the low end of the interval lies just below them: a carry comes), and
// must encode to those bytes again.
static void carries_cross_long_rows_of_ones(void** state)
{
    (void)state;
    test_rng rng = {.state = 2};
    int rows_kept = 0;
    int rows_carried = 0;
    for (int round = 0; round < 4000; ++round) {
        uint8_t bytes[80];
        for (int i = 0; i < 80; ++i) {
            bytes[i] = (uint8_t)test_rng_next(&rng);
        }
        const size_t from = test_rng_below(&rng, 20);
        const size_t length = test_rng_below(&rng, 20);
        memset(bytes + from, round % 2 == 0 ? 0x00 : 0xFF, length);
        const uint32_t counts[4] = {3, 65521, 1u << 31, UINT32_MAX};
        const uint32_t n = counts[test_rng_below(&rng, 4)];
        const int count = (int)(60 * 8 / log2(n));
        uint32_t symbols[400];
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, bytes, sizeof bytes);
        for (int i = 0; i < count; ++i) {
            symbols[i] = ph_entropy_read_uniform(&reader, n);
        }
        if (ph_entropy_reader_result(&reader) != PH_OK) {
            continue; // these bytes fell into a gap left by rounding
        }
        uint8_t again[80] = {0};
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, again, sizeof again);
        for (int i = 0; i < count; ++i) {
            const bool has_row = writer.held_ones >= 2;
            ph_entropy_write_uniform(&writer, symbols[i], n);
            const bool is_row_over = has_row && writer.held_ones == 0;
            rows_carried += is_row_over && again[writer.front - 1] == 0x00;
            rows_kept += is_row_over && again[writer.front - 1] == 0xFF;
        }
        const size_t size = ph_entropy_writer_finish(&writer);
        assert_in_range(size, 50, 80);
        assert_memory_equal(again, bytes, size - 9); // the ending is shorter than what was decoded
        ph_entropy_reader_init(&reader, again, size);
        for (int i = 0; i < count; ++i) {
            assert_int_equal(ph_entropy_read_uniform(&reader, n), symbols[i]);
        }
        assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
    }
    assert_true(rows_kept > 100);
    assert_true(rows_carried > 100);
}

static void rollback_leaves_no_trace_at_either_end(void** state)
{
    (void)state;
    test_rng rng = {.state = 4096};
    for (int round = 0; round < 2000; ++round) {
        const size_t capacity = 1 + test_rng_below(&rng, 120);
        uint8_t plain_bytes[128] = {0};
        uint8_t bytes[128] = {0};
        ph_entropy_writer plain;
        ph_entropy_writer writer;
        ph_entropy_writer_init(&plain, plain_bytes, capacity);
        ph_entropy_writer_init(&writer, bytes, capacity);
        for (int step = 0; step < 30; ++step) {
            const item kept = random_item(&rng);
            const ph_entropy_mark plain_mark = ph_entropy_writer_mark(&plain);
            write_item(&plain, &kept);
            if (ph_entropy_writer_result(&plain) != PH_OK) {
                ph_entropy_writer_rollback(&plain, &plain_mark);
            } else {
                write_item(&writer, &kept);
            }
            const ph_entropy_mark mark = ph_entropy_writer_mark(&writer);
            const int dropped = (int)test_rng_below(&rng, 20);
            for (int i = 0; i < dropped; ++i) {
                const item it = random_item(&rng);
                write_item(&writer, &it);
            }
            ph_entropy_writer_rollback(&writer, &mark);
            assert_int_equal(ph_entropy_writer_result(&writer), PH_OK);
            assert_int_equal(ph_entropy_writer_size_bits(&writer),
                             ph_entropy_writer_size_bits(&plain));
        }
        assert_memory_equal(bytes, plain_bytes, capacity);
        assert_int_equal(ph_entropy_writer_finish(&writer), ph_entropy_writer_finish(&plain));
        assert_memory_equal(bytes, plain_bytes, capacity);
    }
}

static void finished_packet_takes_nothing_more(void** state)
{
    (void)state;
    uint8_t bytes[32] = {0};
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_entropy_write(&writer, &test_models[TEST_MODEL_SKEWED], 4);
    ph_bits_write(&writer.raw, 77, 7);
    const size_t size = ph_entropy_writer_finish(&writer);
    uint8_t copy[32];
    memcpy(copy, bytes, sizeof copy);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_OK);
    assert_int_equal(ph_entropy_writer_size_bits(&writer), 8 * size);
    ph_entropy_write(&writer, &test_models[TEST_MODEL_SKEWED], 4);
    assert_int_equal(ph_entropy_writer_result(&writer), PH_ERROR_END);
    ph_bits_write(&writer.raw, 1, 1);
    assert_memory_equal(bytes, copy, sizeof copy);
}

// Tables of every size are searched right: each symbol, at both of its edges.
static void every_symbol_of_every_size_of_model_is_found(void** state)
{
    (void)state;
    const int sizes[] = {2, 3, 7, 8, 9, 15, 16, 17, 18, 31, 33, 64, 100, 257, 1024};
    test_rng rng = {.state = 1024};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
        const int count = sizes[k];
        uint32_t seen[PH_MODEL_SYMBOLS_MAX];
        for (int i = 0; i < count; ++i) {
            seen[i] = (uint32_t)(test_rng_next(&rng) >> 40 >> test_rng_below(&rng, 20));
        }
        uint16_t table[PH_MODEL_SYMBOLS_MAX + 1];
        assert_int_equal(ph_model_build(seen, count, table), PH_OK);
        const ph_model model = {.cumulative = table, .count = (uint16_t)count};
        uint8_t bytes[4096];
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, bytes, sizeof bytes);
        for (int i = 0; i < count; ++i) {
            ph_entropy_write(&writer, &model, i);
            ph_entropy_write(&writer, &model, count - 1 - i);
        }
        const size_t size = ph_entropy_writer_finish(&writer);
        assert_true(size > 0);
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, bytes, size);
        for (int i = 0; i < count; ++i) {
            assert_int_equal(ph_entropy_read(&reader, &model), i);
            assert_int_equal(ph_entropy_read(&reader, &model), count - 1 - i);
        }
        assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
    }
}

// Old bytes in the buffer neither shine through nor survive behind the packet.
static void dirty_buffer_makes_no_difference(void** state)
{
    (void)state;
    test_rng rng = {.state = 8};
    for (int round = 0; round < 2000; ++round) {
        uint8_t clean[64] = {0};
        uint8_t dirty[64];
        memset(dirty, 0xFF, sizeof dirty);
        ph_entropy_writer writers[2];
        ph_entropy_writer_init(&writers[0], clean, sizeof clean);
        ph_entropy_writer_init(&writers[1], dirty, sizeof dirty);
        const int count = (int)test_rng_below(&rng, 8);
        for (int i = 0; i < count; ++i) {
            const item it = random_item(&rng);
            write_item(&writers[0], &it);
            write_item(&writers[1], &it);
        }
        const size_t size = ph_entropy_writer_finish(&writers[0]);
        assert_int_equal(ph_entropy_writer_finish(&writers[1]), size);
        if (size > 0) {
            assert_memory_equal(clean, dirty, sizeof clean);
        }
    }
}

// A mark inside a row of all-ones words brings that row back.
static void rollback_crosses_a_row_of_ones(void** state)
{
    (void)state;
    uint8_t source[60];
    memset(source, 0xFF, sizeof source);
    source[0] = 0x12;
    source[59] = 0x00;
    uint32_t symbols[120];
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, source, sizeof source);
    for (int i = 0; i < 110; ++i) {
        symbols[i] = ph_entropy_read_uniform(&reader, 11);
    }
    uint8_t plain[64] = {0};
    uint8_t bytes[64] = {0};
    ph_entropy_writer straight;
    ph_entropy_writer writer;
    ph_entropy_writer_init(&straight, plain, sizeof plain);
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    uint32_t longest_row = 0;
    for (int i = 0; i < 110; ++i) {
        const ph_entropy_mark mark = ph_entropy_writer_mark(&writer);
        longest_row = mark.held_ones > longest_row ? mark.held_ones : longest_row;
        for (uint32_t wrong = 0; wrong < 30; ++wrong) {
            ph_entropy_write_uniform(&writer, wrong % 11, 11);
        }
        ph_entropy_writer_rollback(&writer, &mark);
        ph_entropy_write_uniform(&writer, symbols[i], 11);
        ph_entropy_write_uniform(&straight, symbols[i], 11);
    }
    assert_true(longest_row >= 2);
    assert_int_equal(ph_entropy_writer_finish(&writer), ph_entropy_writer_finish(&straight));
    assert_memory_equal(bytes, plain, sizeof bytes);
}

// The same bytes for ever, on every machine.
static void golden_packet(void** state)
{
    (void)state;
    uint8_t bytes[32] = {0};
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    for (int i = 0; i < 14; ++i) {
        ph_entropy_write(&writer, &test_models[TEST_MODEL_SKEWED], i % 7);
        ph_entropy_write_uniform(&writer, (uint32_t)i, 100);
    }
    ph_bits_write(&writer.raw, 0x2BAD, 14);
    ph_varint_write(&writer.raw, 300);
    ph_bits_write(&writer.raw, 5, 3);
    assert_int_equal(ph_entropy_writer_size_bits(&writer), 195);
    const size_t size = ph_entropy_writer_finish(&writer);
    const uint8_t golden[] = {
        0x00, 0xF5, 0xF4, 0x4C, 0x30, 0xE0, 0x37, 0xFA, 0x6C, 0x31, 0x63, 0x66, 0x61,
        0x86, 0x7E, 0xC2, 0x84, 0xD1, 0x02, 0x92, 0xC1, 0x40, 0xAB, 0x2B, 0xAD,
    };
    assert_int_equal(size, sizeof golden);
    assert_memory_equal(bytes, golden, sizeof golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_meet_in_the_last_byte_at_every_capacity),
        cmocka_unit_test(empty_packet_has_no_bytes),
        cmocka_unit_test(hundred_ternary_symbols_cost_at_most_160_bits),
        cmocka_unit_test(long_input_costs_its_entropy),
        cmocka_unit_test(short_input_ends_within_two_bytes_of_its_entropy),
        cmocka_unit_test(adaptive_model_pays_for_what_it_has_learned),
        cmocka_unit_test(carries_cross_long_rows_of_ones),
        cmocka_unit_test(rollback_leaves_no_trace_at_either_end),
        cmocka_unit_test(finished_packet_takes_nothing_more),
        cmocka_unit_test(every_symbol_of_every_size_of_model_is_found),
        cmocka_unit_test(dirty_buffer_makes_no_difference),
        cmocka_unit_test(rollback_crosses_a_row_of_ones),
        cmocka_unit_test(golden_packet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
