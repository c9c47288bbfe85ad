// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bulk sections that no honest end writes: each is refused for its reason, and nothing of it was done.

#include "support/bulk_pair.h"

#include "message/bulk.h"
#include "tools/tools.h"

#include <stdlib.h>
#include <string.h>

enum { TICK_US = 50000, NOW_US = 2000000, SIZE = 100 * 64 + 10 };

static const ph_link_def link_def = {.delay_us = 10000};
static uint8_t content[SIZE + 2 * 64]; // pieces behind the end, too

// Everything but the counts, and the memory of the block that comes, as bytes.
typedef struct picture {
    uint8_t* bytes;
    size_t size;
} picture;

static picture take_picture(const ph_messages* end)
{
    const ph_block_inbox* inbox = &end->bulk->inbox;
    const size_t block_size = inbox->bytes != NULL ? inbox->come_bytes : 0; // from the front
    picture made = {.size = end->size_bytes + block_size};
    made.bytes = malloc(made.size);
    memcpy(made.bytes, end, end->size_bytes);
    memset(made.bytes + offsetof(ph_messages, stats), 0, sizeof(ph_messages_stats));
    if (block_size > 0) {
        memcpy(made.bytes + end->size_bytes, inbox->bytes, block_size);
    }
    return made;
}

static void refuse_bytes(ph_messages* end, const uint8_t* bytes, size_t size,
                         ph_messages_refusal reason)
{
    picture before = take_picture(end);
    const uint64_t count = ph_messages_get_stats(end).refused_sections[reason];
    size_t used;
    assert_int_equal(ph_messages_read_section(end, NOW_US, bytes, size, &used), PH_ERROR_VALUE);
    assert_int_equal(used, 0);
    assert_int_equal(ph_messages_get_stats(end).refused_sections[reason], count + 1);
    picture after = take_picture(end);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.bytes, after.bytes, before.size);
    free(before.bytes);
    free(after.bytes);
}

// With an empty section behind it.
static size_t write(const ph_bulk_section* section, uint8_t bytes[2 * PH_PAYLOAD_MAX])
{
    const size_t size = ph_bulk_section_write(section, bytes, 2 * PH_PAYLOAD_MAX);
    bytes[size] = 0;
    return size + 1;
}

static void refuse(ph_messages* end, const ph_bulk_section* section, ph_messages_refusal reason)
{
    uint8_t bytes[2 * PH_PAYLOAD_MAX];
    refuse_bytes(end, bytes, write(section, bytes), reason);
}

static void accept(ph_messages* end, const ph_bulk_section* section)
{
    uint8_t bytes[2 * PH_PAYLOAD_MAX];
    size_t used;
    const size_t size = write(section, bytes);
    assert_int_equal(ph_messages_read_section(end, NOW_US, bytes, size, &used), PH_OK);
    assert_int_equal(used, size);
}

// Pieces of block 0 of SIZE bytes.
static ph_bulk_section pieces_of(uint32_t piece, uint8_t count)
{
    const size_t at = (size_t)piece * PH_BLOCK_PIECE_SIZE;
    const uint8_t last_size = piece + count == 101 ? 10 : PH_BLOCK_PIECE_SIZE;
    return (ph_bulk_section){
        .has_pieces = true,
        .pieces = {.has_begin = true,
                   .tag = 5,
                   .size = SIZE,
                   .run_count = 1,
                   .runs = {{.piece = piece,
                             .count = count,
                             .last_size = last_size,
                             .bytes = at < SIZE ? content + at : content}}},
    };
}

static void setup(bulk_pair* pair)
{
    bulk_pair_fill(content, SIZE, 5);
    bulk_pair_setup(pair, NULL, &link_def, TICK_US);
}

// ---- malformed

static void first_bytes_from_80_on_are_refused(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    const ph_bulk_section section = pieces_of(0, 2);
    uint8_t bytes[2 * PH_PAYLOAD_MAX];
    const size_t size = write(&section, bytes);
    for (int first = 0x80; first <= 0xF0; first += 0x10) {
        bytes[0] = (uint8_t)first;
        refuse_bytes(pair.ends[1], bytes, size, PH_MESSAGES_REFUSAL_MALFORMED);
    }
    bulk_pair_teardown(&pair);
}

static void cut_off_sections_are_refused(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    ph_bulk_section section = pieces_of(0, 3);
    section.message_count = 2;
    section.messages[0] = (ph_bulk_message){.size = 30, .bytes = content};
    section.messages[1] = (ph_bulk_message){.is_newest = true, .size = 9, .bytes = content};
    section.has_ack = true;
    uint8_t bytes[2 * PH_PAYLOAD_MAX];
    const size_t size = write(&section, bytes);
    for (size_t cut = 0; cut < size; ++cut) {
        refuse_bytes(pair.ends[1], bytes, cut, PH_MESSAGES_REFUSAL_MALFORMED);
    }
    bytes[size - 1] = 0x40; // another bulk section behind it
    bytes[size] = 0;
    refuse_bytes(pair.ends[1], bytes, size, PH_MESSAGES_REFUSAL_MALFORMED);
    bytes[size - 2] |= 0x80; // padding
    bytes[size - 1] = 0;
    refuse_bytes(pair.ends[1], bytes, size, PH_MESSAGES_REFUSAL_MALFORMED);
    bytes[size - 2] &= 0x7F;
    size_t used;
    assert_int_equal(ph_messages_read_section(pair.ends[1], NOW_US, bytes, size, &used), PH_OK);
    bulk_pair_teardown(&pair);
}

// What the section behind it says is not done either, and the other way round.
static void both_sections_count_or_none(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    const ph_bulk_section good = pieces_of(0, 2);
    ph_bulk_section bad = pieces_of(0, 2);
    bad.pieces.number = 9;
    const ph_message_section input = {.has_input = true, .has_blob = true, .input_number = 3};
    const ph_message_section strange = {.has_ack = true, .ack_next = 3};
    uint8_t bytes[2 * PH_PAYLOAD_MAX];
    size_t size = write(&bad, bytes) - 1;
    size += ph_message_section_write(&input, bytes + size, 100);
    refuse_bytes(pair.ends[1], bytes, size, PH_MESSAGES_REFUSAL_WINDOW);
    size = write(&good, bytes) - 1;
    size += ph_message_section_write(&strange, bytes + size, 100);
    refuse_bytes(pair.ends[1], bytes, size, PH_MESSAGES_REFUSAL_ACK);
    bulk_pair_teardown(&pair);
}

static void runs_have_one_form(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    ph_bulk_section section = pieces_of(4, 2);
    ph_block_run* runs = section.pieces.runs;
    section.pieces.run_count = 2;
    runs[1] = (ph_block_run){.piece = 6, .count = 1, .last_size = 64, .bytes = content}; // touches
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_MALFORMED);
    runs[1].piece = 5; // laps over
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_MALFORMED);
    runs[1].piece = 1; // goes back
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_MALFORMED);
    runs[1].piece = 8;
    runs[0].last_size = 3; // short, and not the last
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_MALFORMED);
    static uint8_t many[32 * 64];
    section = pieces_of(0, 1);
    section.pieces.runs[0].bytes = many;
    section.pieces.runs[0].count = 19; // more than a payload holds
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_MALFORMED);
    section.pieces.runs[0].count = 10; // together
    section.pieces.runs[1] =
        (ph_block_run){.piece = 20, .count = 9, .last_size = 64, .bytes = many};
    section.pieces.run_count = 2;
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_MALFORMED);
    bulk_pair_teardown(&pair);
}

// Fields of hand-made sections, low bits first.
static void refuse_fields(ph_messages* end, const uint64_t (*fields)[2], int count)
{
    uint8_t bytes[1200] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    for (int i = 0; i < count; ++i) {
        ph_bits_write(&writer, fields[i][0], (int)fields[i][1]);
    }
    ph_bit_writer_finish(&writer);
    refuse_bytes(end, bytes, sizeof bytes, PH_MESSAGES_REFUSAL_MALFORMED);
}

static void one_thing_is_said_in_one_way(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    ph_messages* end = pair.ends[1];
    // A short piece of 64 bytes.
    static const uint64_t short_piece[][2] = {{0x10, 8}, {0, 16}, {0, 1}, {0, 1},
                                              {0, 24},   {0, 5},  {1, 1}, {63, 6}};
    refuse_fields(end, short_piece, 8);
    // A map that ends with a byte of zeros; one beyond the window.
    static const uint64_t long_map[][2] = {{0x20, 8}, {0, 16}, {0, 1}, {0, 24}, {2, 8}, {1, 16}};
    refuse_fields(end, long_map, 6);
    static const uint64_t wide_map[][2] = {{0x20, 8}, {0, 16}, {0, 1}, {0, 24}, {129, 8}};
    refuse_fields(end, wide_map, 5);
    // Accepts more than a block may have.
    static const uint64_t large[][2] = {
        {0x20, 8}, {0, 16}, {1, 1}, {PH_BLOCK_SIZE_MAX + UINT64_C(1), 31}};
    refuse_fields(end, large, 4);
    // An unreliable message that is too large.
    static const uint64_t loud[][2] = {{0x40, 8}, {0, 1}, {0, 4}, {0, 16}, {1000, 10}};
    refuse_fields(end, loud, 5);
    bulk_pair_teardown(&pair);
}

static void too_many_unreliable_messages_are_refused(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    uint8_t bytes[1200] = {0};
    for (int count = PH_BULK_UNRELIABLE_MAX; count <= PH_BULK_UNRELIABLE_MAX + 1; ++count) {
        ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
        ph_bits_write(&writer, 0x40, 8);
        for (int i = 0; i < count; ++i) {
            ph_bits_write(&writer, (uint64_t)i << 5, 21);
            ph_bits_write(&writer, 0, 10);
            ph_bits_write(&writer, 'a', 8);
            ph_bits_write(&writer, i + 1 < count, 1);
        }
        const size_t size = ph_bit_writer_finish(&writer);
        bytes[size] = 0;
        size_t used;
        if (count == PH_BULK_UNRELIABLE_MAX) {
            assert_int_equal(ph_messages_read_section(pair.ends[1], NOW_US, bytes, size + 1, &used),
                             PH_OK);
        } else {
            refuse_bytes(pair.ends[1], bytes, size + 1, PH_MESSAGES_REFUSAL_MALFORMED);
        }
    }
    bulk_pair_teardown(&pair);
}

// ---- acks of what was never sent

static ph_bulk_section ack_of(uint16_t number, uint32_t next, int map_size, uint8_t last)
{
    ph_bulk_section section = {.has_ack = true,
                               .ack = {.number = number, .next = next, .map_size = map_size}};
    if (map_size > 0) {
        section.ack.map[map_size - 1] = last;
    }
    return section;
}

static void impossible_acks_are_refused(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    ph_messages* end = pair.ends[0];
    const ph_messages_refusal reason = PH_MESSAGES_REFUSAL_ACK;
    ph_bulk_section section = ack_of(0, 1, 0, 0); // nothing was ever sent
    refuse(end, &section, reason);
    section = ack_of(65535, 0, 0, 0);
    refuse(end, &section, reason);
    section = (ph_bulk_section){.has_ack = true, .ack = {.is_refused = true}};
    refuse(end, &section, reason);
    assert_int_equal(ph_messages_lend_block(end, 5, content, SIZE, NULL), PH_OK);
    section = ack_of(1, 0, 0, 0); // queued, and nothing of it was sent
    refuse(end, &section, reason);
    uint8_t bytes[PH_PAYLOAD_MAX];
    assert_true(ph_messages_plan_block(end, NOW_US, INT64_MAX, 0) > 0);
    ph_messages_pack(end, NULL, 0, bytes); // some of it
    const uint32_t sent = end->bulk->outbox.unsent;
    assert_int_equal(sent, 18);
    section = ack_of(0, sent + 1, 0, 0);
    refuse(end, &section, reason);
    section = ack_of(0, 0, 3, 2); // piece 18
    refuse(end, &section, reason);
    section = ack_of(1, 0, 0, 0); // over, and not all was sent
    refuse(end, &section, reason);
    section = ack_of(2, 0, 0, 0);
    refuse(end, &section, reason);
    section = ack_of(0, sent, 0, 0);
    accept(end, &section);
    while (ph_messages_plan_block(end, NOW_US, INT64_MAX, 0) > 0) {
        ph_messages_pack(end, NULL, 0, bytes);
    }
    section = ack_of(0, 101, 0, 0); // all of it is the next block
    refuse(end, &section, reason);
    section = ack_of(1, 1, 0, 0); // pieces of the next one
    refuse(end, &section, reason);
    section = ack_of(1, 0, 0, 0);
    accept(end, &section);
    accept(end, &section);
    section = ack_of(0, 3, 0, 0); // late
    accept(end, &section);
    assert_int_equal(ph_messages_get_stats(end).acked_blocks, 1);
    bulk_pair_teardown(&pair);
}

// ---- pieces

static void pieces_beyond_the_window_are_refused(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    ph_bulk_section section = pieces_of(0, 1);
    section.pieces.number = 1; // the one before was never there
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_WINDOW);
    section.pieces.is_cancelled = true;
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_WINDOW);
    section = pieces_of(1020, 5);
    section.pieces.size = 1 << 20;
    refuse(pair.ends[1], &section, PH_MESSAGES_REFUSAL_WINDOW);
    section.pieces.runs[0].count = 4;
    accept(pair.ends[1], &section);
    section.pieces.number = 65535; // long ago: a double
    accept(pair.ends[1], &section);
    bulk_pair_teardown(&pair);
}

static void pieces_that_contradict_are_refused(void** state)
{
    (void)state;
    bulk_pair pair;
    setup(&pair);
    ph_messages* end = pair.ends[1];
    const ph_messages_refusal reason = PH_MESSAGES_REFUSAL_CONTRARY;
    ph_bulk_section section = pieces_of(100, 2); // behind the end
    refuse(end, &section, reason);
    section = pieces_of(100, 1);
    section.pieces.runs[0].last_size = 11; // the last one has 10
    refuse(end, &section, reason);
    section = pieces_of(99, 1);
    section.pieces.runs[0].last_size = 10;
    refuse(end, &section, reason);
    section = pieces_of(0, 2);
    accept(end, &section);
    accept(end, &section); // a double
    assert_int_equal(ph_messages_get_stats(end).duplicate_pieces, 2);
    section.pieces.tag = 6;
    refuse(end, &section, reason);
    section = pieces_of(0, 2);
    section.pieces.size = SIZE - 1;
    refuse(end, &section, reason);
    section = pieces_of(1, 2);
    section.pieces.runs[0].bytes = content; // piece 1 with other bytes
    refuse(end, &section, reason);
    section.pieces.has_begin = false;
    refuse(end, &section, reason);
    section = pieces_of(4, 2); // early ones are known as well
    accept(end, &section);
    section.pieces.runs[0].bytes = content;
    refuse(end, &section, reason);
    bulk_pair_teardown(&pair);
}

// One packet takes at most what was allowed, however much it announces.
static void a_hostile_begin_takes_no_more_memory_than_allowed(void** state)
{
    (void)state;
    bulk_pair pair;
    ph_messages_def def = ph_messages_def_default();
    def.block_size_max = 0;
    bulk_pair_fill(content, SIZE, 5);
    bulk_pair_setup(&pair, &def, &link_def, TICK_US);
    const size_t bare_bytes = pair.memory[1].live_bytes;
    ph_bulk_section section = pieces_of(0, 1);
    section.pieces.size = PH_BLOCK_SIZE_MAX;
    accept(pair.ends[1], &section); // it is refused by an ack
    assert_true(pair.ends[1]->bulk->inbox.was_refused);
    section = pieces_of(0, 1);
    section.pieces.number = 1;
    accept(pair.ends[1], &section);
    assert_int_equal(pair.memory[1].peak_bytes, bare_bytes);
    assert_int_equal(pair.memory[1].allocate_count, 1);
    bulk_pair_teardown(&pair);
}

// Noise, and every bit of a section turned: it is refused or taken, and nothing breaks.
static void mutations_and_noise_do_no_harm(void** state)
{
    (void)state;
    bulk_pair pair;
    test_rng rng = {.state = 4};
    setup(&pair);
    ph_bulk_section section = pieces_of(0, 3);
    section.message_count = 1;
    section.messages[0] = (ph_bulk_message){.size = 30, .bytes = content};
    uint8_t bytes[2 * PH_PAYLOAD_MAX];
    size_t used;
    const size_t size = write(&section, bytes);
    for (size_t bit = 0; bit < 8 * size; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        (void)ph_messages_read_section(pair.ends[1], NOW_US, bytes, size, &used);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (int round = 0; round < 20000; ++round) {
        const size_t noise = 1 + test_rng_below(&rng, 60);
        for (size_t i = 0; i < noise; ++i) {
            bytes[i] = (uint8_t)test_rng_next(&rng);
        }
        bytes[0] = (uint8_t)(16 * (1 + test_rng_below(&rng, 7)));
        (void)ph_messages_read_section(pair.ends[1], NOW_US, bytes, noise, &used);
        ph_block block;
        (void)ph_messages_receive_block(pair.ends[1], &block);
    }
    bulk_pair_teardown(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_bytes_from_80_on_are_refused),
        cmocka_unit_test(cut_off_sections_are_refused),
        cmocka_unit_test(both_sections_count_or_none),
        cmocka_unit_test(runs_have_one_form),
        cmocka_unit_test(one_thing_is_said_in_one_way),
        cmocka_unit_test(too_many_unreliable_messages_are_refused),
        cmocka_unit_test(impossible_acks_are_refused),
        cmocka_unit_test(pieces_beyond_the_window_are_refused),
        cmocka_unit_test(pieces_that_contradict_are_refused),
        cmocka_unit_test(a_hostile_begin_takes_no_more_memory_than_allowed),
        cmocka_unit_test(mutations_and_noise_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
