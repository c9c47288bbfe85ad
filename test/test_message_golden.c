// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Golden sections, byte for byte: written anew and compared with test/golden/message/sections.txt, which
// test/read_message.py reads by the document alone. With PINHOLE_GOLDEN_WRITE in the environment the file is
// written instead; read the difference.

#include "support/test_support.h"
#include "support/golden_hex.h"

#include "message/bulk_section.h"
#include "message/message_section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = "test/golden/message/sections.txt";
static const char heading[] =
    "# Sections of messages, and what they say. docs/wire_message.md has the format; written by\n"
    "# test/test_message_golden.c, read by test/read_message.py.\n";

enum { TEXT_MAX = GOLDEN_HEX_FILE_MAX, SECTIONS = 12, BULKS = 8 };

static const uint8_t payload[PH_MESSAGE_FRAGMENT_SIZE] =
    "Through a pinhole, all of the world, in sixty-four small bytes.";

static ph_message_fragment part(uint16_t number, uint8_t left, uint8_t size)
{
    return (ph_message_fragment){.sequence = number, .left = left, .size = size, .bytes = payload};
}

static void make_sections(ph_message_section sections[SECTIONS])
{
    memset(sections, 0, SECTIONS * sizeof *sections);
    sections[1] = (ph_message_section){.fragment_count = 1, .fragments = {part(1, 0, 7)}};
    sections[2] = (ph_message_section){.has_ack = true, .ack_next = 2};
    sections[3] = (ph_message_section){.has_ack = true, .ack_next = 65535, .ack_mask = 0x40000005};
    sections[4] = (ph_message_section){.has_input = true,
                                       .has_blob = true,
                                       .input_number = 4660,
                                       .input_size = 3,
                                       .input_bytes = payload};
    sections[5] = (ph_message_section){.has_input = true, .has_blob = true, .input_number = 9};
    sections[6] = (ph_message_section){.has_input = true, .input_number = 9};
    sections[7] =
        (ph_message_section){.has_input_ack = true, .input_received = 9, .input_processed = 9};
    sections[8] =
        (ph_message_section){.has_input_ack = true, .input_received = 3, .input_processed = 65534};
    sections[9] = (ph_message_section){
        .fragment_count = 3,
        .fragments = {part(65534, 1, PH_MESSAGE_FRAGMENT_SIZE), part(65535, 0, 1), part(0, 0, 2)}};
    sections[10] = (ph_message_section){
        .fragment_count = 3, .fragments = {part(10, 0, 4), part(12, 0, 4), part(41, 0, 4)}};
    sections[11] = (ph_message_section){.has_ack = true,
                                        .ack_next = 300,
                                        .ack_mask = 1,
                                        .has_input = true,
                                        .has_blob = true,
                                        .input_number = 77,
                                        .input_size = 2,
                                        .input_bytes = payload,
                                        .has_input_ack = true,
                                        .input_received = 78,
                                        .input_processed = 70,
                                        .fragment_count = 1,
                                        .fragments = {part(512, 15, PH_MESSAGE_FRAGMENT_SIZE)}};
}

static ph_block_run run_of(uint32_t piece, uint8_t count, uint8_t last_size)
{
    return (ph_block_run){.piece = piece, .count = count, .last_size = last_size, .bytes = payload};
}

// Bulk sections, each with an empty section behind it.
static void make_bulks(ph_bulk_section bulks[BULKS])
{
    memset(bulks, 0, BULKS * sizeof *bulks);
    bulks[0] = (ph_bulk_section){
        .has_pieces = true,
        .pieces = {
            .has_begin = true, .tag = 7, .size = 5, .run_count = 1, .runs = {run_of(0, 1, 5)}}};
    bulks[1] = (ph_bulk_section){
        .has_pieces = true,
        .pieces = {.number = 65535, .run_count = 2, .runs = {run_of(1, 1, 64), run_of(3, 1, 9)}}};
    bulks[2] =
        (ph_bulk_section){.has_pieces = true, .pieces = {.number = 258, .is_cancelled = true}};
    bulks[3] = (ph_bulk_section){.has_ack = true, .ack = {.number = 1}};
    bulks[4] = (ph_bulk_section){
        .has_ack = true, .ack = {.number = 2, .next = 70000, .map_size = 2, .map = {0x05, 0x80}}};
    bulks[5] = (ph_bulk_section){.has_ack = true,
                                 .ack = {.number = 3, .is_refused = true, .accepted_max = 1 << 20}};
    bulks[6] = (ph_bulk_section){
        .message_count = 2,
        .messages = {
            {.sequence = 513, .channel = 1, .size = 3, .bytes = payload},
            {.is_newest = true, .channel = 15, .sequence = 65535, .size = 1, .bytes = payload}}};
    bulks[7] = (ph_bulk_section){
        .has_pieces = true,
        .has_ack = true,
        .pieces = {.number = 4,
                   .has_begin = true,
                   .tag = 0xFFFFFFFF,
                   .size = PH_BLOCK_SIZE_MAX,
                   .run_count = 1,
                   .runs = {run_of(16777215, 1, 64)}},
        .ack = {.number = 9, .next = 1},
        .message_count = 1,
        .messages = {{.is_newest = true, .sequence = 1, .size = 2, .bytes = payload}}};
}

// ---- as text

static int describe_bulk(const ph_bulk_section* it, char* text)
{
    int length = 0;
    const ph_block_pieces* pieces = &it->pieces;
    if (it->has_pieces && pieces->is_cancelled) {
        length += sprintf(text + length, "block %u cancelled; ", pieces->number);
    } else if (it->has_pieces) {
        length += sprintf(text + length, "block %u; ", pieces->number);
        if (pieces->has_begin) {
            length +=
                sprintf(text + length, "begins, tag %u, size %u; ", pieces->tag, pieces->size);
        }
        for (int i = 0; i < pieces->run_count; ++i) {
            const ph_block_run* run = &pieces->runs[i];
            length += sprintf(text + length, "pieces %u count %u bytes ", run->piece, run->count);
            length += golden_add_hex(text + length, run->bytes, ph_block_run_size(run));
            length += sprintf(text + length, "; ");
        }
    }
    if (it->has_ack && it->ack.is_refused) {
        length += sprintf(text + length, "block ack %u refused accepts %u; ", it->ack.number,
                          it->ack.accepted_max);
    } else if (it->has_ack) {
        length += sprintf(text + length, "block ack %u next %u map %s", it->ack.number,
                          it->ack.next, it->ack.map_size == 0 ? "-" : "");
        length += golden_add_hex(text + length, it->ack.map, (size_t)it->ack.map_size);
        length += sprintf(text + length, "; ");
    }
    for (int i = 0; i < it->message_count; ++i) {
        const ph_bulk_message* message = &it->messages[i];
        length +=
            sprintf(text + length, "unreliable %s %u channel %u bytes ",
                    message->is_newest ? "newest" : "once", message->sequence, message->channel);
        length += golden_add_hex(text + length, message->bytes, message->size);
        length += sprintf(text + length, "; ");
    }
    return length;
}

static int describe_parts(const ph_message_section* it, char* text)
{
    int length = 0;
    if (it->has_ack && it->ack_mask == 0) {
        length += sprintf(text + length, "ack %u; ", it->ack_next);
    } else if (it->has_ack) {
        length += sprintf(text + length, "ack %u mask %08x; ", it->ack_next, it->ack_mask);
    }
    if (it->has_input && it->has_blob) {
        length += sprintf(text + length, "input %u blob %s", it->input_number,
                          it->input_size == 0 ? "-" : "");
        length += golden_add_hex(text + length, it->input_bytes, it->input_size);
        length += sprintf(text + length, "; ");
    } else if (it->has_input) {
        length += sprintf(text + length, "input %u asks; ", it->input_number);
    }
    if (it->has_input_ack && it->input_received == it->input_processed) {
        length += sprintf(text + length, "answer %u all; ", it->input_received);
    } else if (it->has_input_ack) {
        length += sprintf(text + length, "answer %u processed %u; ", it->input_received,
                          it->input_processed);
    }
    return length;
}

static int describe(const ph_message_section* it, char* text)
{
    int length = describe_parts(it, text);
    for (int i = 0; i < it->fragment_count; ++i) {
        const ph_message_fragment* fragment = &it->fragments[i];
        length += sprintf(text + length, "fragment %u left %u bytes ", fragment->sequence,
                          fragment->left);
        length += golden_add_hex(text + length, fragment->bytes, fragment->size);
        length += sprintf(text + length, "; ");
    }
    return length == 0 ? sprintf(text, "nothing") : length - 2;
}

static int write_text(char* text)
{
    ph_message_section sections[SECTIONS];
    make_sections(sections);
    int length = sprintf(text, "%s", heading);
    for (int i = 0; i < SECTIONS; ++i) {
        uint8_t bytes[PH_PAYLOAD_MAX];
        const size_t size = ph_message_section_write(&sections[i], bytes, sizeof bytes);
        assert_true(size > 0);
        length += golden_add_hex(text + length, bytes, size);
        length += sprintf(text + length, " = ");
        length += describe(&sections[i], text + length);
        length += sprintf(text + length, "\n");
    }
    ph_bulk_section bulks[BULKS];
    make_bulks(bulks);
    for (int i = 0; i < BULKS; ++i) {
        uint8_t bytes[PH_PAYLOAD_MAX];
        const size_t size = ph_bulk_section_write(&bulks[i], bytes, sizeof bytes);
        bytes[size] = 0;
        length += golden_add_hex(text + length, bytes, size + 1);
        length += sprintf(text + length, " = ");
        length += describe_bulk(&bulks[i], text + length);
        length += sprintf(text + length, "nothing\n");
    }
    return length;
}

// ---- tests

static void sections_are_written_as_ever(void** state)
{
    (void)state;
    static char made[TEXT_MAX];
    golden_expect_file(path, made, write_text(made));
}

static void sections_are_read_as_they_were_written(void** state)
{
    (void)state;
    ph_message_section sections[SECTIONS];
    make_sections(sections);
    for (int i = 0; i < SECTIONS; ++i) {
        uint8_t bytes[PH_PAYLOAD_MAX];
        const size_t size = ph_message_section_write(&sections[i], bytes, sizeof bytes);
        bytes[size] = 0xFF; // of the packet behind it
        ph_message_section read;
        ph_message_storage storage;
        static char said[TEXT_MAX];
        static char meant[TEXT_MAX];
        assert_int_equal(ph_message_section_read(bytes, size + 1, &read, &storage), size);
        describe(&read, said);
        describe(&sections[i], meant);
        assert_string_equal(said, meant);
    }
}

static void bulk_sections_are_read_as_they_were_written(void** state)
{
    (void)state;
    ph_bulk_section bulks[BULKS];
    make_bulks(bulks);
    for (int i = 0; i < BULKS; ++i) {
        uint8_t bytes[PH_PAYLOAD_MAX];
        const size_t size = ph_bulk_section_write(&bulks[i], bytes, sizeof bytes);
        bytes[size] = 0xFF; // of what is behind it
        ph_bulk_section read;
        ph_bulk_storage storage;
        static char said[TEXT_MAX];
        static char meant[TEXT_MAX];
        assert_true(ph_bulk_section_is(bytes[0]));
        assert_int_equal(ph_bulk_section_read(bytes, size + 1, &read, &storage), size);
        said[describe_bulk(&read, said)] = '\0';
        meant[describe_bulk(&bulks[i], meant)] = '\0';
        assert_string_equal(said, meant);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_written_as_ever),
        cmocka_unit_test(sections_are_read_as_they_were_written),
        cmocka_unit_test(bulk_sections_are_read_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
