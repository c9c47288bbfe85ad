// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The bits of a bulk section, written and read. bulk_section.h has the drawing.

#include "message/bulk_section.h"

#define BULK_NUMBER_BITS 16
#define BLOCK_TAG_BITS 32
#define BLOCK_SIZE_BITS 30
#define BLOCK_PIECE_BITS 24
#define BLOCK_COUNT_BITS 5
#define BLOCK_LAST_BITS 6
#define BLOCK_ACCEPTED_BITS 31
#define BLOCK_MAP_SIZE_BITS 8
#define BULK_CHANNEL_BITS 4
#define BULK_SIZE_BITS 10

_Static_assert(PH_BLOCK_SIZE_MAX == 1 << BLOCK_SIZE_BITS, "a size, less one, fills its field");

_Static_assert(PH_BLOCK_SIZE_MAX / PH_BLOCK_PIECE_SIZE == 1 << BLOCK_PIECE_BITS,
               "so does the number of a piece");

_Static_assert(PH_BLOCK_PIECE_SIZE == 1 << BLOCK_LAST_BITS, "so does the size of one, less one");

_Static_assert(PH_BULK_PIECES_MAX <= 1 << BLOCK_COUNT_BITS, "all pieces may be one run");

_Static_assert(PH_BLOCK_MAP_SIZE < 1 << BLOCK_MAP_SIZE_BITS, "the largest map says its size");

_Static_assert(PH_UNRELIABLE_CHANNELS == 1 << BULK_CHANNEL_BITS, "channels fill their field");

_Static_assert(PH_UNRELIABLE_SIZE_MAX <= 1 << BULK_SIZE_BITS, "the largest message says its size");

// ---- costs

int ph_block_head_bits(bool has_begin)
{
    return BULK_NUMBER_BITS + 1 + 1 + (has_begin ? BLOCK_TAG_BITS + BLOCK_SIZE_BITS : 0);
}

int ph_block_run_bits(void)
{
    return BLOCK_PIECE_BITS + BLOCK_COUNT_BITS + 1 + 1;
}

int ph_block_short_bits(void)
{
    return BLOCK_LAST_BITS;
}

int ph_block_ack_bits(const ph_block_ack* ack)
{
    return BULK_NUMBER_BITS + 1 +
           (ack->is_refused ? BLOCK_ACCEPTED_BITS
                            : BLOCK_PIECE_BITS + BLOCK_MAP_SIZE_BITS + 8 * ack->map_size);
}

int ph_bulk_message_bits(size_t size)
{
    return 1 + BULK_CHANNEL_BITS + BULK_NUMBER_BITS + BULK_SIZE_BITS + 8 * (int)size + 1;
}

// ---- writing

static void write_run(const ph_block_run* run, ph_bit_writer* writer)
{
    const bool is_short = run->last_size < PH_BLOCK_PIECE_SIZE;
    ph_bits_write(writer, run->piece, BLOCK_PIECE_BITS);
    ph_bits_write(writer, (uint64_t)run->count - 1, BLOCK_COUNT_BITS);
    ph_bits_write(writer, is_short, 1);
    ph_bits_write(writer, (uint64_t)run->last_size - 1, is_short ? BLOCK_LAST_BITS : 0);
    ph_bits_write_bytes(writer, run->bytes, ph_block_run_size(run));
}

static void write_pieces(const ph_block_pieces* pieces, ph_bit_writer* writer)
{
    ph_bits_write(writer, pieces->number, BULK_NUMBER_BITS);
    ph_bits_write(writer, pieces->is_cancelled, 1);
    if (pieces->is_cancelled) {
        return;
    }
    ph_bits_write(writer, pieces->has_begin, 1);
    if (pieces->has_begin) {
        ph_bits_write(writer, pieces->tag, BLOCK_TAG_BITS);
        ph_bits_write(writer, pieces->size - 1, BLOCK_SIZE_BITS);
    }
    for (int i = 0; i < pieces->run_count; ++i) {
        write_run(&pieces->runs[i], writer);
        ph_bits_write(writer, i + 1 < pieces->run_count, 1);
    }
}

static void write_block_ack(const ph_block_ack* ack, ph_bit_writer* writer)
{
    ph_bits_write(writer, ack->number, BULK_NUMBER_BITS);
    ph_bits_write(writer, ack->is_refused, 1);
    if (ack->is_refused) {
        ph_bits_write(writer, ack->accepted_max, BLOCK_ACCEPTED_BITS);
        return;
    }
    ph_bits_write(writer, ack->next, BLOCK_PIECE_BITS);
    ph_bits_write(writer, (uint64_t)ack->map_size, BLOCK_MAP_SIZE_BITS);
    ph_bits_write_bytes(writer, ack->map, (size_t)ack->map_size);
}

static void write_bulk_messages(const ph_bulk_section* section, ph_bit_writer* writer)
{
    for (int i = 0; i < section->message_count; ++i) {
        const ph_bulk_message* message = &section->messages[i];
        ph_bits_write(writer, message->is_newest, 1);
        ph_bits_write(writer, message->channel, BULK_CHANNEL_BITS);
        ph_bits_write(writer, message->sequence, BULK_NUMBER_BITS);
        ph_bits_write(writer, (uint64_t)message->size - 1, BULK_SIZE_BITS);
        ph_bits_write_bytes(writer, message->bytes, message->size);
        ph_bits_write(writer, i + 1 < section->message_count, 1);
    }
}

size_t ph_bulk_section_write(const ph_bulk_section* section, uint8_t* bytes, size_t capacity)
{
    PH_ASSERT(section->has_pieces || section->has_ack || section->message_count > 0);

    ph_bit_writer writer = ph_bit_writer_make(bytes, capacity);
    ph_bits_write(&writer, 0, 4);
    ph_bits_write(&writer, section->has_pieces, 1);
    ph_bits_write(&writer, section->has_ack, 1);
    ph_bits_write(&writer, section->message_count > 0, 1);
    ph_bits_write(&writer, 0, 1);
    if (section->has_pieces) {
        write_pieces(&section->pieces, &writer);
    }
    if (section->has_ack) {
        write_block_ack(&section->ack, &writer);
    }
    write_bulk_messages(section, &writer);
    return ph_bit_writer_finish(&writer);
}

// ---- reading

static void refuse_bulk_if(ph_bit_reader* reader, bool is_strange)
{
    if (is_strange) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
}

// NULL when it does not fit, and then the reader has failed: no payload is as long.
static const uint8_t* read_into(ph_bit_reader* reader, ph_bulk_storage* storage, size_t size)
{
    refuse_bulk_if(reader, size > sizeof storage->bytes - storage->used);
    if (ph_bit_reader_result(reader) != PH_OK) {
        return NULL;
    }
    uint8_t* bytes = storage->bytes + storage->used;
    storage->used += size;
    ph_bits_read_bytes(reader, bytes, size);
    return bytes;
}

static void read_run(ph_bit_reader* reader, ph_block_run* run, ph_bulk_storage* storage)
{
    run->piece = (uint32_t)ph_bits_read(reader, BLOCK_PIECE_BITS);
    run->count = (uint8_t)(ph_bits_read(reader, BLOCK_COUNT_BITS) + 1);
    run->last_size = PH_BLOCK_PIECE_SIZE;
    if (ph_bits_read(reader, 1) != 0) {
        run->last_size = (uint8_t)(ph_bits_read(reader, BLOCK_LAST_BITS) + 1);
        refuse_bulk_if(reader, run->last_size == PH_BLOCK_PIECE_SIZE);
    }
    refuse_bulk_if(reader, run->count > PH_BULK_PIECES_MAX);
    run->bytes = read_into(reader, storage, ph_block_run_size(run));
}

// Runs that touch would be one, and only the last piece of a block is short.
static bool may_run_follow(const ph_block_run* run, const ph_block_run* before)
{
    return run->piece > before->piece + before->count && before->last_size == PH_BLOCK_PIECE_SIZE;
}

static void read_runs(ph_bit_reader* reader, ph_block_pieces* pieces, ph_bulk_storage* storage)
{
    do {
        refuse_bulk_if(reader, pieces->run_count == PH_BULK_PIECES_MAX);
        if (ph_bit_reader_result(reader) != PH_OK) {
            return;
        }
        ph_block_run* run = &pieces->runs[pieces->run_count++];
        read_run(reader, run, storage);
        refuse_bulk_if(reader, pieces->run_count > 1 && !may_run_follow(run, run - 1));
    } while (ph_bits_read(reader, 1) != 0);
}

static void read_pieces(ph_bit_reader* reader, ph_block_pieces* pieces, ph_bulk_storage* storage)
{
    pieces->number = (uint16_t)ph_bits_read(reader, BULK_NUMBER_BITS);
    pieces->is_cancelled = ph_bits_read(reader, 1) != 0;
    pieces->has_begin = false;
    pieces->run_count = 0;
    if (pieces->is_cancelled) {
        return;
    }
    pieces->has_begin = ph_bits_read(reader, 1) != 0;
    if (pieces->has_begin) {
        pieces->tag = (uint32_t)ph_bits_read(reader, BLOCK_TAG_BITS);
        pieces->size = (uint32_t)ph_bits_read(reader, BLOCK_SIZE_BITS) + 1;
    }
    read_runs(reader, pieces, storage);
}

static void read_block_ack(ph_bit_reader* reader, ph_block_ack* ack)
{
    *ack = (ph_block_ack){.number = (uint16_t)ph_bits_read(reader, BULK_NUMBER_BITS)};
    ack->is_refused = ph_bits_read(reader, 1) != 0;
    if (ack->is_refused) {
        ack->accepted_max = (uint32_t)ph_bits_read(reader, BLOCK_ACCEPTED_BITS);
        refuse_bulk_if(reader, ack->accepted_max > PH_BLOCK_SIZE_MAX);
        return;
    }
    ack->next = (uint32_t)ph_bits_read(reader, BLOCK_PIECE_BITS);
    const int map_size = (int)ph_bits_read(reader, BLOCK_MAP_SIZE_BITS);
    refuse_bulk_if(reader, map_size > PH_BLOCK_MAP_SIZE);
    if (map_size > 0 && ph_bit_reader_result(reader) == PH_OK) {
        ack->map_size = map_size;
        ph_bits_read_bytes(reader, ack->map, (size_t)map_size);
        refuse_bulk_if(reader, ack->map[map_size - 1] == 0);
    }
}

static void read_bulk_messages(ph_bit_reader* reader, ph_bulk_section* section,
                               ph_bulk_storage* storage)
{
    do {
        refuse_bulk_if(reader, section->message_count == PH_BULK_UNRELIABLE_MAX);
        if (ph_bit_reader_result(reader) != PH_OK) {
            return;
        }
        ph_bulk_message* message = &section->messages[section->message_count++];
        message->is_newest = ph_bits_read(reader, 1) != 0;
        message->channel = (uint8_t)ph_bits_read(reader, BULK_CHANNEL_BITS);
        message->sequence = (uint16_t)ph_bits_read(reader, BULK_NUMBER_BITS);
        message->size = (uint16_t)(ph_bits_read(reader, BULK_SIZE_BITS) + 1);
        refuse_bulk_if(reader, message->size > PH_UNRELIABLE_SIZE_MAX);
        message->bytes = read_into(reader, storage, message->size);
    } while (ph_bits_read(reader, 1) != 0);
}

size_t ph_bulk_section_read(const void* bytes, size_t size, ph_bulk_section* section,
                            ph_bulk_storage* storage)
{
    ph_bulk_section_clear(section);
    storage->used = 0;
    ph_bit_reader reader = ph_bit_reader_make(bytes, size);
    refuse_bulk_if(&reader, ph_bits_read(&reader, 4) != 0);
    section->has_pieces = ph_bits_read(&reader, 1) != 0;
    section->has_ack = ph_bits_read(&reader, 1) != 0;
    const bool has_messages = ph_bits_read(&reader, 1) != 0;
    refuse_bulk_if(&reader, ph_bits_read(&reader, 1) != 0 ||
                                !(section->has_pieces || section->has_ack || has_messages));
    if (section->has_pieces) {
        read_pieces(&reader, &section->pieces, storage);
    }
    if (section->has_ack) {
        read_block_ack(&reader, &section->ack);
    }
    if (has_messages) {
        read_bulk_messages(&reader, section, storage);
    }
    const size_t left_bits = ph_bit_reader_left_bits(&reader);
    refuse_bulk_if(&reader, ph_bits_read(&reader, (int)(left_bits % 8)) != 0);
    return ph_bit_reader_result(&reader) == PH_OK ? size - left_bits / 8 : 0;
}
