// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bit writer and reader: what is not inline in the header. The slow paths run for the last bytes of
// a buffer, for fields wider than PH_BITS_FAST_WIDTH, and for every field at the raw end of an
// entropy writer, which grows from the back.

#include "pinhole/bits.h"

#include "base/twin.h"
#include "bits/room.h"

// The exported twins of the inline functions.
PH_TWIN void ph_bits_store64(uint8_t* bytes, uint64_t value);
PH_TWIN uint64_t ph_bits_load64(const uint8_t* bytes);
PH_TWIN void ph_bits_write(ph_bit_writer* writer, uint64_t value, int width);
PH_TWIN uint64_t ph_bits_read(ph_bit_reader* reader, int width);
PH_TWIN void ph_bits_write_bool(ph_bit_writer* writer, bool value);
PH_TWIN bool ph_bits_read_bool(ph_bit_reader* reader);
PH_TWIN ph_bit_writer ph_bit_writer_make(void* bytes, size_t capacity);
PH_TWIN size_t ph_bit_writer_size_bits(const ph_bit_writer* writer);
PH_TWIN ph_result ph_bit_writer_result(const ph_bit_writer* writer);
PH_TWIN void ph_bit_writer_fail(ph_bit_writer* writer, ph_result reason);
PH_TWIN ph_bit_mark ph_bit_writer_mark(const ph_bit_writer* writer);
PH_TWIN size_t ph_bit_writer_finish(ph_bit_writer* writer);
PH_TWIN ph_bit_reader ph_bit_reader_make(const void* bytes, size_t size);
PH_TWIN size_t ph_bit_reader_left_bits(const ph_bit_reader* reader);
PH_TWIN ph_result ph_bit_reader_result(const ph_bit_reader* reader);
PH_TWIN void ph_bit_reader_fail(ph_bit_reader* reader, ph_result reason);
PH_TWIN ph_result ph_bit_reader_finish(ph_bit_reader* reader);

static size_t writer_fast_end(const ph_bit_writer* writer)
{
    const bool is_slow = writer->owner != NULL || writer->result != PH_OK || writer->capacity < 8;
    return is_slow ? 0 : writer->capacity - 7;
}

// The raw end of an entropy writer counts its bytes from the back.
static uint8_t* byte_at(const ph_bit_writer* writer, size_t offset)
{
    return writer->bytes + (writer->owner != NULL ? writer->capacity - 1 - offset : offset);
}

void ph_bit_writer_rollback(ph_bit_writer* writer, ph_bit_mark mark)
{
    // The raw end alone would forget why its other end failed.
    PH_ASSERT(writer->owner == NULL);
    if (writer->owner != NULL) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    ph_bits_rollback(writer, mark);
}

void ph_bits_rollback(ph_bit_writer* writer, ph_bit_mark mark)
{
    // A mark of another writer could lie behind the end of this one's buffer.
    PH_ASSERT(mark.stored <= writer->stored);
    if (mark.stored > writer->stored) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    // One byte more than was stored: finish, or a fast store, may have put the partial one there.
    const size_t end = writer->stored < writer->capacity ? writer->stored + 1 : writer->capacity;
    for (size_t i = mark.stored; i < (writer->owner != NULL ? writer->stored : end); ++i) {
        *byte_at(writer, i) = 0;
    }
    writer->stored = mark.stored;
    writer->pending = mark.pending;
    writer->pending_bits = mark.pending_bits;
    writer->result = mark.result;
    writer->fast_end = writer_fast_end(writer);
}

static size_t room_bits(const ph_bit_writer* writer)
{
    size_t used_bits = ph_bit_writer_size_bits(writer);
    if (writer->owner != NULL) {
        used_bits += ph_entropy_front_bits(writer->owner);
    }
    return 8 * writer->capacity - used_bits;
}

bool ph_bits_require(ph_bit_writer* writer, size_t bits)
{
    if (writer->result == PH_OK && bits > room_bits(writer)) {
        ph_bit_writer_fail(writer, PH_ERROR_END);
    }
    return writer->result == PH_OK;
}

// Up to PH_BITS_FAST_WIDTH bits that are known to fit.
static void put(ph_bit_writer* writer, uint64_t value, int width)
{
    const uint64_t field = value & ((UINT64_C(1) << width) - 1);
    writer->pending |= field << writer->pending_bits;
    writer->pending_bits += (uint32_t)width;
    while (writer->pending_bits >= 8) {
        *byte_at(writer, writer->stored) = (uint8_t)writer->pending;
        writer->stored += 1;
        writer->pending >>= 8;
        writer->pending_bits -= 8;
    }
}

// The same at the raw end of an entropy writer that has room for eight bytes beside: those in front of
// what is written become zero.
static void put_back(ph_bit_writer* writer, uint64_t value, int width)
{
    const uint64_t field = value & ((UINT64_C(1) << width) - 1);
    const uint64_t pending = writer->pending | field << writer->pending_bits;
    const uint32_t bits = writer->pending_bits + (uint32_t)width;
    const uint64_t whole = pending & ((UINT64_C(1) << (bits & ~7u)) - 1);
    uint8_t* end = byte_at(writer, writer->stored);
    for (int i = 0; i < 8; ++i) {
        *(end - i) = (uint8_t)(whole >> (8 * i));
    }
    writer->stored += bits >> 3;
    writer->pending = pending >> (bits & ~7u);
    writer->pending_bits = bits & 7u;
}

// Whether any field fits there, whatever the ending takes, and the bytes beside it.
static bool is_room_behind(const ph_bit_writer* writer)
{
    enum { ENDING = 8, PARTIAL = 1, FIELD = 8 };
    return writer->owner != NULL && writer->result == PH_OK &&
           writer->owner->shifted + writer->stored + ENDING + PARTIAL + FIELD <= writer->capacity;
}

void ph_bits_write_slow(ph_bit_writer* writer, uint64_t value, int width)
{
    PH_ASSERT(0 <= width && width <= 64);
    if (width < 0 || width > 64) {
        ph_bit_writer_fail(writer, PH_ERROR_VALUE);
        return;
    }
    const bool is_roomy = is_room_behind(writer);
    if (!is_roomy && !ph_bits_require(writer, (size_t)width)) {
        return;
    }
    if (width > PH_BITS_FAST_WIDTH) {
        (is_roomy ? put_back : put)(writer, value, 32);
        value >>= 32;
        width -= 32;
    }
    (is_roomy ? put_back : put)(writer, value, width);
}

void ph_bits_write_bytes(ph_bit_writer* writer, const void* bytes, size_t count)
{
    if (!ph_bits_require(writer, 8 * (count <= PH_BITS_BYTES_MAX ? count : PH_BITS_BYTES_MAX))) {
        return;
    }
    const uint8_t* source = bytes;
    for (; count >= 4; count -= 4, source += 4) {
        const uint32_t word = (uint32_t)source[0] | (uint32_t)source[1] << 8 |
                              (uint32_t)source[2] << 16 | (uint32_t)source[3] << 24;
        ph_bits_write(writer, word, 32);
    }
    for (; count > 0; --count, ++source) {
        ph_bits_write(writer, *source, 8);
    }
}

// Up to 32 bits that are known to be there.
static uint64_t take(ph_bit_reader* reader, int width)
{
    const size_t first = reader->position_bits / 8;
    const int skipped = (int)(reader->position_bits % 8);
    const int byte_count = (skipped + width + 7) / 8;
    const size_t size = reader->size_bits / 8;
    uint64_t word = 0;
    for (int i = 0; i < byte_count; ++i) {
        const size_t offset = first + (size_t)i;
        const uint8_t byte = reader->bytes[reader->is_backward ? size - 1 - offset : offset];
        word |= (uint64_t)byte << (8 * i);
    }
    reader->position_bits += (size_t)width;
    return word >> skipped & ((UINT64_C(1) << width) - 1);
}

uint64_t ph_bits_read_slow(ph_bit_reader* reader, int width)
{
    PH_ASSERT(0 <= width && width <= 64);
    if (width < 0 || width > 64) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
        return 0;
    }
    if ((size_t)width > ph_bit_reader_left_bits(reader)) {
        ph_bit_reader_fail(reader, PH_ERROR_END);
        return 0;
    }
    if (width <= 32) {
        return take(reader, width);
    }
    const uint64_t low = take(reader, 32);
    return low | take(reader, width - 32) << 32;
}

void ph_bits_read_bytes(ph_bit_reader* reader, void* bytes, size_t count)
{
    if (count > ph_bit_reader_left_bits(reader) / 8) {
        ph_bit_reader_fail(reader, PH_ERROR_END);
    }
    if (count == 0) {
        return; // bytes may be NULL
    }
    if (reader->result != PH_OK) {
        memset(bytes, 0, count);
        return;
    }
    uint8_t* target = bytes;
    for (; count >= 4; count -= 4, target += 4) {
        const uint64_t word = ph_bits_read(reader, 32);
        target[0] = (uint8_t)word;
        target[1] = (uint8_t)(word >> 8);
        target[2] = (uint8_t)(word >> 16);
        target[3] = (uint8_t)(word >> 24);
    }
    for (; count > 0; --count, ++target) {
        *target = (uint8_t)ph_bits_read(reader, 8);
    }
}
