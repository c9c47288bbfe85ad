// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The textbook bit stream.

#include "textbook_bits.h"

// Width 1..8.
static bool write_byte(textbook_stream* stream, uint8_t value, uint32_t width)
{
    if (stream->head_bits + width > stream->capacity_bits) {
        return false;
    }
    const uint32_t byte_offset = stream->head_bits >> 3;
    const uint32_t bit_offset = stream->head_bits & 7;
    const uint32_t masked = value & ((1u << width) - 1);
    const uint32_t kept = stream->bytes[byte_offset] & ((1u << bit_offset) - 1);
    stream->bytes[byte_offset] = (uint8_t)(kept | masked << bit_offset);

    const uint32_t free_bits = 8 - bit_offset;
    if (free_bits < width) {
        stream->bytes[byte_offset + 1] = (uint8_t)(masked >> free_bits);
    }
    stream->head_bits += width;
    return true;
}

bool textbook_write(textbook_stream* stream, uint32_t value, uint32_t width)
{
    if (stream->head_bits + width > stream->capacity_bits) {
        return false;
    }
    while (width > 8) {
        write_byte(stream, (uint8_t)value, 8);
        value >>= 8;
        width -= 8;
    }
    return write_byte(stream, (uint8_t)value, width);
}

static bool read_byte(textbook_stream* stream, uint8_t* value, uint32_t width)
{
    if (stream->head_bits + width > stream->capacity_bits) {
        return false;
    }
    const uint32_t byte_offset = stream->head_bits >> 3;
    const uint32_t bit_offset = stream->head_bits & 7;
    uint32_t found = (uint32_t)stream->bytes[byte_offset] >> bit_offset;

    const uint32_t free_bits = 8 - bit_offset;
    if (free_bits < width) {
        found |= (uint32_t)stream->bytes[byte_offset + 1] << free_bits;
    }
    *value = (uint8_t)(found & ((1u << width) - 1));
    stream->head_bits += width;
    return true;
}

bool textbook_read(textbook_stream* stream, uint32_t* value, uint32_t width)
{
    *value = 0;
    if (stream->head_bits + width > stream->capacity_bits) {
        return false;
    }
    uint32_t shift = 0;
    uint8_t byte = 0;
    for (; width > 8; width -= 8, shift += 8) {
        read_byte(stream, &byte, 8);
        *value |= (uint32_t)byte << shift;
    }
    const bool is_read = read_byte(stream, &byte, width);
    *value |= (uint32_t)byte << shift;
    return is_read;
}
