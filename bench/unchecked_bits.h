// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bits without any check, inlined and without a branch: as fast as one field at a time can be on
// plain registers. The yardstick for what our safety costs. Values must fit their width (1..32) and
// every buffer needs eight bytes to spare. The bytes are the same as ours.

#ifndef PH_BENCH_UNCHECKED_BITS_H
#define PH_BENCH_UNCHECKED_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UNCHECKED_SPARE_BYTES 8

typedef struct unchecked_writer {
    uint8_t* next;
    uint64_t pending;
    uint32_t pending_bits; // 0..7
} unchecked_writer;

static inline void unchecked_write(unchecked_writer* writer, uint32_t value, uint32_t width)
{
    const uint64_t pending = writer->pending | (uint64_t)value << writer->pending_bits;
    const uint32_t bits = writer->pending_bits + width;
    memcpy(writer->next, &pending, sizeof pending);
    writer->next += bits >> 3;
    writer->pending = pending >> (bits & ~7u);
    writer->pending_bits = bits & 7u;
}

// Bytes used. What eight-byte stores left behind the last bit is zero already.
static inline size_t unchecked_finish(const unchecked_writer* writer, const uint8_t* bytes)
{
    return (size_t)(writer->next - bytes) + (writer->pending_bits > 0 ? 1 : 0);
}

typedef struct unchecked_reader {
    const uint8_t* bytes;
    size_t position_bits;
} unchecked_reader;

static inline uint32_t unchecked_read(unchecked_reader* reader, uint32_t width)
{
    uint64_t word;
    memcpy(&word, reader->bytes + (reader->position_bits >> 3), sizeof word);
    const uint64_t field = word >> (reader->position_bits & 7);
    reader->position_bits += width;
    return (uint32_t)(field & ((UINT64_C(1) << width) - 1));
}

#endif
