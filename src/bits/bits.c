// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bit writer and reader: what is not inline in the header. The slow paths run for the last bytes of a
// buffer, for fields wider than PH_BITS_FAST_WIDTH, and for every field at the raw end of an entropy
// writer, which grows from the back.

#include "pinhole/bits.h"

#include "bits/room.h"

// The exported twins of the inline functions.
PH_API extern inline void ph_bits_store64(uint8_t* bytes, uint64_t value);
PH_API extern inline uint64_t ph_bits_load64(const uint8_t* bytes);
PH_API extern inline void ph_bits_write(ph_bit_writer* writer, uint64_t value, int width);
PH_API extern inline uint64_t ph_bits_read(ph_bit_reader* reader, int width);
PH_API extern inline void ph_bits_write_bool(ph_bit_writer* writer, bool value);
PH_API extern inline bool ph_bits_read_bool(ph_bit_reader* reader);

// Sizes are counted in bits in a size_t.
static size_t clamp_size(size_t bytes)
{
    return bytes <= SIZE_MAX / 8 ? bytes : SIZE_MAX / 8;
}

static size_t writer_fast_end(const ph_bit_writer* writer)
{
    const bool is_slow = writer->owner != NULL || writer->result != PH_OK || writer->capacity < 8;
    return is_slow ? 0 : writer->capacity - 7;
}

ph_bit_writer ph_bit_writer_make(void* bytes, size_t capacity)
{
    PH_ASSERT(bytes != NULL || capacity == 0);
    ph_bit_writer writer = {.bytes = bytes, .capacity = clamp_size(capacity)};
    writer.fast_end = writer_fast_end(&writer);
    return writer;
}

size_t ph_bit_writer_size_bits(const ph_bit_writer* writer)
{
    return 8 * writer->stored + writer->pending_bits;
}

ph_result ph_bit_writer_result(const ph_bit_writer* writer)
{
    return writer->result;
}

void ph_bit_writer_fail(ph_bit_writer* writer, ph_result reason)
{
    PH_ASSERT(reason != PH_OK);
    if (writer->result == PH_OK) {
        writer->result = reason;
        writer->fast_end = 0;
    }
}

ph_bit_mark ph_bit_writer_mark(const ph_bit_writer* writer)
{
    return (ph_bit_mark){
        .stored = writer->stored,
        .pending = writer->pending,
        .pending_bits = writer->pending_bits,
        .result = writer->result,
    };
}

// The raw end of an entropy writer counts its bytes from the back.
static uint8_t* byte_at(const ph_bit_writer* writer, size_t offset)
{
    return writer->bytes + (writer->owner != NULL ? writer->capacity - 1 - offset : offset);
}

void ph_bit_writer_rollback(ph_bit_writer* writer, ph_bit_mark mark)
{
    PH_ASSERT(mark.stored <= writer->stored);
    // One byte more than was stored: finish, or a fast store, may have put the partial one there.
    const size_t end = writer->stored < writer->capacity ? writer->stored + 1 : writer->capacity;
    // At the raw end that extra byte may belong to the front.
    const size_t touched = writer->owner != NULL ? writer->stored : end;
    for (size_t i = mark.stored; i < touched; ++i) {
        *byte_at(writer, i) = 0;
    }
    writer->stored = mark.stored;
    writer->pending = mark.pending;
    writer->pending_bits = mark.pending_bits;
    writer->result = mark.result;
    writer->fast_end = writer_fast_end(writer);
}

size_t ph_bit_writer_finish(ph_bit_writer* writer)
{
    PH_ASSERT(writer->owner == NULL);
    if (writer->result != PH_OK) {
        return 0;
    }
    if (writer->pending_bits == 0) {
        return writer->stored;
    }
    writer->bytes[writer->stored] = (uint8_t)writer->pending;
    return writer->stored + 1;
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

ph_bit_writer ph_bits_write_slow(ph_bit_writer writer, uint64_t value, int width)
{
    PH_ASSERT(0 <= width && width <= 64);
    if (width < 0 || width > 64) {
        ph_bit_writer_fail(&writer, PH_ERROR_VALUE);
        return writer;
    }
    if (!ph_bits_require(&writer, (size_t)width)) {
        return writer;
    }
    if (width > PH_BITS_FAST_WIDTH) {
        put(&writer, value, 32);
        put(&writer, value >> 32, width - 32);
    } else {
        put(&writer, value, width);
    }
    return writer;
}

void ph_bits_write_bytes(ph_bit_writer* writer, const void* bytes, size_t count)
{
    if (!ph_bits_require(writer, 8 * clamp_size(count))) {
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

static size_t reader_fast_end(const ph_bit_reader* reader)
{
    const bool is_slow =
        reader->is_backward || reader->result != PH_OK || reader->size_bits < 64;
    return is_slow ? 0 : reader->size_bits - 63;
}

ph_bit_reader ph_bit_reader_make(const void* bytes, size_t size)
{
    PH_ASSERT(bytes != NULL || size == 0);
    ph_bit_reader reader = {.bytes = bytes, .size_bits = 8 * clamp_size(size)};
    reader.fast_end = reader_fast_end(&reader);
    return reader;
}

size_t ph_bit_reader_left_bits(const ph_bit_reader* reader)
{
    return reader->result == PH_OK ? reader->size_bits - reader->position_bits : 0;
}

ph_result ph_bit_reader_result(const ph_bit_reader* reader)
{
    return reader->result;
}

void ph_bit_reader_fail(ph_bit_reader* reader, ph_result reason)
{
    PH_ASSERT(reason != PH_OK);
    if (reader->result == PH_OK) {
        reader->result = reason;
        reader->fast_end = 0;
    }
}

ph_result ph_bit_reader_finish(ph_bit_reader* reader)
{
    PH_ASSERT(!reader->is_backward);
    const size_t left_bits = ph_bit_reader_left_bits(reader);
    if (left_bits >= 8 || ph_bits_read(reader, (int)left_bits) != 0) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return reader->result;
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

ph_bit_read_step ph_bits_read_slow(ph_bit_reader reader, int width)
{
    PH_ASSERT(0 <= width && width <= 64);
    ph_bit_read_step step = {.reader = reader};
    if (width < 0 || width > 64) {
        ph_bit_reader_fail(&step.reader, PH_ERROR_VALUE);
    } else if ((size_t)width > ph_bit_reader_left_bits(&reader)) {
        ph_bit_reader_fail(&step.reader, PH_ERROR_END);
    } else if (width <= 32) {
        step.value = take(&step.reader, width);
    } else {
        step.value = take(&step.reader, 32);
        step.value |= take(&step.reader, width - 32) << 32;
    }
    return step;
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
