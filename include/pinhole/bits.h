// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bit writer and bit reader over the caller's bytes. They run millions of times a second, so the
// common case is inline and has one branch; the end of the buffer is handled out of line.
//
// Layout: the first bit written is the lowest bit of the first byte, the ninth is the lowest bit of
// the second. A field's low bits come first. Spare bits of the last byte are zero, and checked.
//
//     write 5 in 3 bits, then 9 in 7 bits:
//     byte 0   0 1 0 0 1 1 0 1      bits 7..3: low five bits of 9, bits 2..0: 5
//     byte 1   0 0 0 0 0 0 0 0      bits 1..0: high two bits of 9, the rest spare
//
// Both fail stickily: after the first failure writes do nothing and reads return 0, so a message is
// checked once, at its end. Neither ever touches a byte outside its buffer, in any build; inside
// it, bytes behind the last one written may be overwritten at any time.

#ifndef PINHOLE_BITS_H
#define PINHOLE_BITS_H

#include <pinhole/base.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ph_entropy_writer;

/// Writes fields of 0..64 bits. Make one with ph_bit_writer_make(); the fields are private.
typedef struct ph_bit_writer {
    uint8_t* bytes;
    size_t capacity;       // bytes in the buffer
    size_t stored;         // whole bytes already in the buffer
    size_t fast_end;       // while stored < fast_end, eight bytes can be stored at once
    uint64_t pending;      // bits that do not fill a byte yet; zero above pending_bits
    uint32_t pending_bits; // 0..7
    ph_result result;
    // Set for the raw end of an entropy writer, which grows from the back; NULL otherwise.
    struct ph_entropy_writer* owner;
} ph_bit_writer;

/// A moment in a writer's life. See ph_bit_writer_mark().
typedef struct ph_bit_mark {
    size_t stored;
    uint64_t pending;
    uint32_t pending_bits;
    ph_result result;
} ph_bit_mark;

/// Reads what a ph_bit_writer wrote. Make one with ph_bit_reader_make(); the fields are private.
/// To come back to a place, keep a copy of the struct.
typedef struct ph_bit_reader {
    const uint8_t* bytes;
    size_t size_bits;
    size_t position_bits;
    size_t fast_end; // while position_bits < fast_end, eight bytes can be loaded at once
    ph_result result;
    bool is_backward; // set for the raw end of an entropy reader
} ph_bit_reader;

/// Writes to bytes[0..capacity). The bytes must outlive the writer. Capacity 0 is allowed.
PH_INLINE ph_bit_writer ph_bit_writer_make(void* bytes, size_t capacity);

/// Bits written so far, exact.
PH_INLINE size_t ph_bit_writer_size_bits(const ph_bit_writer* writer);

/// PH_OK, or the first failure.
PH_INLINE ph_result ph_bit_writer_result(const ph_bit_writer* writer);

/// Makes the writer fail, for codings of your own. The first failure stays.
PH_INLINE void ph_bit_writer_fail(ph_bit_writer* writer, ph_result reason);

/// Remembers this moment. Valid for this writer, until it is rolled back to an earlier one.
PH_INLINE ph_bit_mark ph_bit_writer_mark(const ph_bit_writer* writer);

/// Takes back everything since the mark, a failure included. The bytes written since are zeroed.
/// Not for the raw end of an entropy writer: roll back the whole of that.
PH_API void ph_bit_writer_rollback(ph_bit_writer* writer, ph_bit_mark mark);

/// Stores the last partial byte. Writing may go on afterwards.
/// @return Bytes used, or 0 when the writer has failed: send nothing.
PH_INLINE size_t ph_bit_writer_finish(ph_bit_writer* writer);

/// Copies count whole bytes, at any bit position.
PH_API void ph_bits_write_bytes(ph_bit_writer* writer, const void* bytes, size_t count);

/// Reads from bytes[0..size). The bytes must outlive the reader. Size 0 is allowed.
PH_INLINE ph_bit_reader ph_bit_reader_make(const void* bytes, size_t size);

/// Bits not read yet; 0 after a failure.
PH_INLINE size_t ph_bit_reader_left_bits(const ph_bit_reader* reader);

/// PH_OK, or the first failure.
PH_INLINE ph_result ph_bit_reader_result(const ph_bit_reader* reader);

/// Makes the reader fail, for codings of your own. The first failure stays.
PH_INLINE void ph_bit_reader_fail(ph_bit_reader* reader, ph_result reason);

/// Says that the message ends here: less than a byte may be left, and only zero bits.
/// @return PH_OK, or the first failure. What was read counts only when this is PH_OK.
PH_INLINE ph_result ph_bit_reader_finish(ph_bit_reader* reader);

/// Copies count whole bytes out, from any bit position. On failure the output is zeroed.
PH_API void ph_bits_read_bytes(ph_bit_reader* reader, void* bytes, size_t count);

// ---- inline bodies
//
// A writer or reader whose address never leaves the caller stays in registers: 1.7 ns a field
// instead of 3.1. So whatever a plain message needs is inline, and the out-of-line half of
// ph_bits_write and ph_bits_read (ends of buffers, wide fields, raw ends) works on a copy.

/// The half of ph_bits_write() that is not inline, with the same meaning. Call that instead.
PH_API void ph_bits_write_slow(ph_bit_writer* writer, uint64_t value, int width);
/// The half of ph_bits_read() that is not inline, with the same meaning. Call that instead.
PH_API uint64_t ph_bits_read_slow(ph_bit_reader* reader, int width);

// Little-endian on every machine; compiles to one move where the machine is little-endian. One test
// build defines PH_BITS_PORTABLE, so that the loops for the others are run, too.
#if !defined(PH_BITS_PORTABLE) && defined(__BYTE_ORDER__)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PH_BITS_IS_LITTLE_ENDIAN
#endif
#endif

/// Stores value in bytes[0..8), the lowest byte first; any alignment.
PH_INLINE void ph_bits_store64(uint8_t* bytes, uint64_t value)
{
#if defined(PH_BITS_IS_LITTLE_ENDIAN)
    memcpy(bytes, &value, sizeof value);
#else
    for (int i = 0; i < 8; ++i) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
#endif
}

/// Loads bytes[0..8), the lowest byte first; any alignment.
PH_INLINE uint64_t ph_bits_load64(const uint8_t* bytes)
{
    uint64_t value = 0;
#if defined(PH_BITS_IS_LITTLE_ENDIAN)
    memcpy(&value, bytes, sizeof value);
#else
    for (int i = 0; i < 8; ++i) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
#endif
    return value;
}

// The widest field of the fast path: with 7 pending bits it still fits 64 and leaves a legal shift.
#define PH_BITS_FAST_WIDTH 56

/// Writes the low width bits of value; higher bits are ignored. Width 0..64; 0 writes nothing.
PH_INLINE void ph_bits_write(ph_bit_writer* writer, uint64_t value, int width)
{
    if (PH_UNLIKELY(writer->stored >= writer->fast_end || (unsigned)width > PH_BITS_FAST_WIDTH)) {
        ph_bit_writer copy = *writer;
        ph_bits_write_slow(&copy, value, width);
        *writer = copy;
        return;
    }
    const uint64_t field = value & ((UINT64_C(1) << width) - 1);
    const uint64_t pending = writer->pending | field << writer->pending_bits;
    const uint32_t bits = writer->pending_bits + (uint32_t)width;
    ph_bits_store64(writer->bytes + writer->stored, pending);
    writer->stored += bits >> 3;
    writer->pending = pending >> (bits & ~7u);
    writer->pending_bits = bits & 7u;
}

/// Reads width bits. Width 0..64; 0 reads nothing. Returns 0 after a failure.
PH_INLINE uint64_t ph_bits_read(ph_bit_reader* reader, int width)
{
    if (PH_UNLIKELY(reader->position_bits >= reader->fast_end ||
                    (unsigned)width > PH_BITS_FAST_WIDTH)) {
        ph_bit_reader copy = *reader;
        const uint64_t value = ph_bits_read_slow(&copy, width);
        *reader = copy;
        return value;
    }
    const uint64_t word = ph_bits_load64(reader->bytes + (reader->position_bits >> 3));
    const uint64_t field = word >> (reader->position_bits & 7);
    reader->position_bits += (size_t)width;
    return field & ((UINT64_C(1) << width) - 1);
}

/// One bit.
PH_INLINE void ph_bits_write_bool(ph_bit_writer* writer, bool value)
{
    ph_bits_write(writer, value ? 1u : 0u, 1);
}

/// One bit. False after a failure.
PH_INLINE bool ph_bits_read_bool(ph_bit_reader* reader)
{
    return ph_bits_read(reader, 1) != 0;
}

// Sizes are counted in bits in a size_t, and sums of two of them must not wrap. What lies beyond is
// not used.
#define PH_BITS_BYTES_MAX (SIZE_MAX / 32)

PH_INLINE ph_bit_writer ph_bit_writer_make(void* bytes, size_t capacity)
{
    PH_ASSERT(bytes != NULL || capacity == 0);
    ph_bit_writer writer;
    writer.bytes = (uint8_t*)bytes;
    writer.capacity = capacity <= PH_BITS_BYTES_MAX ? capacity : PH_BITS_BYTES_MAX;
    writer.stored = 0;
    writer.fast_end = writer.capacity < 8 ? 0 : writer.capacity - 7;
    writer.pending = 0;
    writer.pending_bits = 0;
    writer.result = PH_OK;
    writer.owner = NULL;
    return writer;
}

PH_INLINE size_t ph_bit_writer_size_bits(const ph_bit_writer* writer)
{
    return 8 * writer->stored + writer->pending_bits;
}

PH_INLINE ph_result ph_bit_writer_result(const ph_bit_writer* writer)
{
    return writer->result;
}

PH_INLINE void ph_bit_writer_fail(ph_bit_writer* writer, ph_result reason)
{
    PH_ASSERT(reason != PH_OK);
    if (writer->result == PH_OK) {
        writer->result = reason;
        writer->fast_end = 0;
    }
}

PH_INLINE ph_bit_mark ph_bit_writer_mark(const ph_bit_writer* writer)
{
    ph_bit_mark mark;
    mark.stored = writer->stored;
    mark.pending = writer->pending;
    mark.pending_bits = writer->pending_bits;
    mark.result = writer->result;
    return mark;
}

PH_INLINE size_t ph_bit_writer_finish(ph_bit_writer* writer)
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

PH_INLINE ph_bit_reader ph_bit_reader_make(const void* bytes, size_t size)
{
    PH_ASSERT(bytes != NULL || size == 0);
    ph_bit_reader reader;
    reader.bytes = (const uint8_t*)bytes;
    reader.size_bits = 8 * (size <= PH_BITS_BYTES_MAX ? size : PH_BITS_BYTES_MAX);
    reader.position_bits = 0;
    reader.fast_end = reader.size_bits < 64 ? 0 : reader.size_bits - 63;
    reader.result = PH_OK;
    reader.is_backward = false;
    return reader;
}

PH_INLINE size_t ph_bit_reader_left_bits(const ph_bit_reader* reader)
{
    return reader->result == PH_OK ? reader->size_bits - reader->position_bits : 0;
}

PH_INLINE ph_result ph_bit_reader_result(const ph_bit_reader* reader)
{
    return reader->result;
}

PH_INLINE void ph_bit_reader_fail(ph_bit_reader* reader, ph_result reason)
{
    PH_ASSERT(reason != PH_OK);
    if (reader->result == PH_OK) {
        reader->result = reason;
        reader->fast_end = 0;
    }
}

PH_INLINE ph_result ph_bit_reader_finish(ph_bit_reader* reader)
{
    PH_ASSERT(!reader->is_backward);
    const size_t left_bits = ph_bit_reader_left_bits(reader);
    if (left_bits >= 8 || ph_bits_read(reader, (int)left_bits) != 0) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return reader->result;
}

#ifdef __cplusplus
}
#endif

#endif
