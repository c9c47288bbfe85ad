// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is put on a symbol buffer is what a reader finds in the packet, at its cost and in its bit statistics; a symbol buffer
// that is full stays full.

#include "test_support.h"

#include "bits/entropy_run.h"
#include "packet/symbols.h"

#include <string.h>

enum { ROUNDS = 300, TOKENS = 400, ITEMS = 40, BYTES = 1200 };
// What the last symbol takes to be told from what follows.
enum { END_BITS = 2 };

// One thing that is said.
typedef struct item {
    int kind; // 0: symbol of the first family, 1: uniform, 2: bits
    uint64_t value;
    uint32_t count;
    int width;
} item;

static item random_item(test_rng* rng)
{
    item made = {.kind = (int)test_rng_below(rng, 3)};
    made.count = 1 + (uint32_t)test_rng_below(rng, 1u << 16);
    made.width = (int)test_rng_below(rng, 65);
    if (made.kind == 0) {
        made.count = 2;
    }
    made.value = made.kind == 2 ? test_rng_next(rng) : test_rng_below(rng, made.count);
    return made;
}

static uint32_t put(ph_symbol_buffer* symbols, const item* it)
{
    switch (it->kind) {
    case 0:
        ph_symbol_buffer_put(symbols, PH_TOKEN_SYMBOL, PH_AT_TOLD + (uint32_t)it->value);
        return ph_pinhole_costs[PH_AT_TOLD + it->value];
    case 1:
        ph_symbol_buffer_uniform(symbols, (uint32_t)it->value, it->count);
        return ph_symbol_buffer_uniform_cost256(it->count);
    default:
        ph_symbol_buffer_bits(symbols, it->value, it->width);
        return (uint32_t)it->width * PH_COST_PER_BIT;
    }
}

static void check(ph_entropy_reader* reader, const item* it)
{
    const ph_model told = {.cumulative = &ph_pinhole_cumulative[PH_AT_TOLD], .count = 2};
    const uint64_t mask = it->width < 64 ? (UINT64_C(1) << it->width) - 1 : UINT64_MAX;
    switch (it->kind) {
    case 0:
        assert_int_equal(ph_entropy_read(reader, &told), it->value);
        break;
    case 1:
        assert_int_equal(ph_entropy_read_uniform(reader, it->count), it->value);
        break;
    default:
        assert_true(ph_bits_read(&reader->raw, it->width) == (it->value & mask));
        break;
    }
}

static void a_symbol_buffer_writes_what_was_added(void** state)
{
    (void)state;
    test_rng rng = {.state = 4711};
    for (int round = 0; round < ROUNDS; ++round) {
        uint32_t tokens[TOKENS];
        ph_symbol_buffer symbols = ph_symbol_buffer_make(tokens, TOKENS);
        item items[ITEMS];
        uint32_t cost256 = 0;
        for (int i = 0; i < ITEMS; ++i) {
            items[i] = random_item(&rng);
            cost256 += put(&symbols, &items[i]);
        }
        ph_symbol_buffer_end(&symbols);
        assert_false(symbols.is_full);
        uint8_t bytes[BYTES];
        ph_entropy_writer writer;
        ph_entropy_writer_init(&writer, bytes, sizeof bytes);
        ph_symbol_player player;
        ph_symbol_player_begin(&player, &ph_library_models, &writer);
        ph_symbol_player_play(&player, tokens, NULL);
        ph_symbol_player_end(&player);
        const size_t size = ph_entropy_writer_finish(&writer);
        assert_in_range(8 * size, 1, cost256 / PH_COST_PER_BIT + 1 + END_BITS + 7);
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, bytes, size);
        for (int i = 0; i < ITEMS; ++i) {
            check(&reader, &items[i]);
        }
        assert_int_equal(ph_entropy_reader_finish(&reader), PH_OK);
    }
}

static void marks_say_what_it_was_for(void** state)
{
    (void)state;
    uint32_t tokens[TOKENS];
    ph_symbol_buffer symbols = ph_symbol_buffer_make(tokens, TOKENS);
    ph_symbol_buffer_bits(&symbols, 1, 3);
    ph_symbol_buffer_mark(&symbols, PH_SYMBOL_BUFFER_WHO, 3 * PH_COST_PER_BIT);
    ph_symbol_buffer_bits(&symbols, 1, 1);
    ph_symbol_buffer_mark(&symbols, PH_SYMBOL_BUFFER_MASK, 1 * PH_COST_PER_BIT);
    ph_symbol_buffer_bits(&symbols, 77, 20);
    ph_symbol_buffer_mark(&symbols, 5, 20 * PH_COST_PER_BIT);
    ph_symbol_buffer_end(&symbols);
    uint8_t bytes[BYTES];
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    uint64_t properties256[8] = {[4] = 9, [5] = 11};
    ph_symbol_buffer_costs costs = {.properties256 = properties256};
    ph_record_bits stats = {.property_bits = {[4] = 9}};
    static ph_pinhole_counts counts;
    ph_symbol_player player;
    ph_symbol_player_begin(&player, &ph_library_models, &writer);
    ph_symbol_player_play(&player, tokens, &costs);
    ph_symbol_buffer_add_stats(tokens, &stats);
    ph_symbol_buffer_count(tokens, &counts);
    assert_int_equal(stats.slot_bits, 3 * PH_COST_PER_BIT);
    assert_int_equal(stats.mask_bits, 1 * PH_COST_PER_BIT);
    assert_int_equal(stats.property_bits[5], 20 * PH_COST_PER_BIT);
    assert_int_equal(stats.property_bits[4], 9);
    assert_int_equal(costs.others256[PH_SYMBOL_BUFFER_WHO - PH_SYMBOL_BUFFER_MASK],
                     3 * PH_COST_PER_BIT);
    assert_int_equal(costs.others256[0], 1 * PH_COST_PER_BIT);
    assert_int_equal(properties256[5], 20 * PH_COST_PER_BIT + 11);
    assert_int_equal(properties256[4], 9);
    assert_int_equal(counts.raw_bits, 24);
}

static void a_bit_writer_goes_over_whole(void** state)
{
    (void)state;
    uint32_t tokens[TOKENS];
    ph_symbol_buffer symbols = ph_symbol_buffer_make(tokens, TOKENS);
    uint8_t plain[16];
    ph_bit_writer bits = ph_bit_writer_make(plain, sizeof plain);
    ph_bits_write(&bits, 0x1234567890ABCDEF, 61);
    ph_bits_write(&bits, 5, 3);
    ph_bits_write(&bits, 2, 2);
    ph_symbol_buffer_append(&symbols, &bits);
    ph_symbol_buffer_end(&symbols);
    uint8_t bytes[BYTES];
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, sizeof bytes);
    ph_symbol_player player;
    ph_symbol_player_begin(&player, &ph_library_models, &writer);
    ph_symbol_player_play(&player, tokens, NULL);
    ph_symbol_player_end(&player);
    const size_t size = ph_entropy_writer_finish(&writer);
    ph_entropy_reader reader;
    ph_entropy_reader_init(&reader, bytes, size);
    assert_true(ph_bits_read(&reader.raw, 61) == 0x1234567890ABCDEF);
    assert_int_equal(ph_bits_read(&reader.raw, 3), 5);
    assert_int_equal(ph_bits_read(&reader.raw, 2), 2);
}

static void a_full_symbol_buffer_stays_full(void** state)
{
    (void)state;
    uint32_t tokens[4] = {0, 0, 0, 99};
    ph_symbol_buffer symbols = ph_symbol_buffer_make(tokens, 3);
    ph_symbol_buffer_put(&symbols, PH_TOKEN_SYMBOL, 1);
    ph_symbol_buffer_bits(&symbols, 0, 64);
    assert_false(symbols.is_full);
    ph_symbol_buffer_put(&symbols, PH_TOKEN_SYMBOL, 1);
    assert_true(symbols.is_full);
    assert_ptr_equal(symbols.next, tokens + 3);
    assert_int_equal(tokens[3], 99);
}

static size_t finish(ph_entropy_writer* writer)
{
    const bool has_failed = ph_entropy_writer_result(writer) != PH_OK;
    const size_t size = ph_entropy_writer_finish(writer);
    assert_int_equal(has_failed, size == 0); // it is known at once, not at the end
    return size;
}

static size_t write_singly(const int symbols[ITEMS], uint8_t* bytes, size_t capacity)
{
    const ph_model told = {.cumulative = &ph_pinhole_cumulative[PH_AT_TOLD], .count = 2};
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, capacity);
    for (int i = 0; i < ITEMS; ++i) {
        ph_entropy_write(&writer, &told, symbols[i]);
    }
    return finish(&writer);
}

static size_t write_in_a_run(const int symbols[ITEMS], uint8_t* bytes, size_t capacity)
{
    ph_entropy_writer writer;
    ph_entropy_writer_init(&writer, bytes, capacity);
    uint16_t entries[ITEMS];
    for (int i = 0; i < ITEMS; ++i) {
        entries[i] = (uint16_t)(PH_AT_TOLD + symbols[i]);
    }
    ph_entropy_write_entries(&writer, ph_pinhole_cumulative, entries, ITEMS);
    return finish(&writer);
}

// Also where the packet is full to its last byte, or a little too small: then there is none.
static void a_run_writes_what_single_symbols_would(void** state)
{
    (void)state;
    test_rng rng = {.state = 815};
    for (int round = 0; round < ROUNDS; ++round) {
        int symbols[ITEMS];
        for (int i = 0; i < ITEMS; ++i) {
            symbols[i] = (int)test_rng_below(&rng, 2);
        }
        uint8_t expected[BYTES] = {0};
        uint8_t bytes[BYTES] = {0};
        const size_t size = write_singly(symbols, expected, sizeof expected);
        for (size_t room = size - 2; room < size + 12; ++room) {
            assert_int_equal(write_in_a_run(symbols, bytes, room), room < size ? 0 : size);
            assert_int_equal(write_singly(symbols, expected, room), room < size ? 0 : size);
            assert_true(room < size || memcmp(bytes, expected, size) == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_symbol_buffer_writes_what_was_added),
        cmocka_unit_test(marks_say_what_it_was_for),
        cmocka_unit_test(a_bit_writer_goes_over_whole),
        cmocka_unit_test(a_full_symbol_buffer_stays_full),
        cmocka_unit_test(a_run_writes_what_single_symbols_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
