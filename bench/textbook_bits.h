// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A bit stream as lectures and books write it: a byte at a time, with a check of the room at every
// step, and right. The yardstick for what the plain way costs. The bytes are the same as ours.

#ifndef PH_BENCH_TEXTBOOK_BITS_H
#define PH_BENCH_TEXTBOOK_BITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct textbook_stream {
    uint8_t* bytes;
    uint32_t capacity_bits;
    uint32_t head_bits;
} textbook_stream;

// Width 1..32. False when it does not fit.
bool textbook_write(textbook_stream* stream, uint32_t value, uint32_t width);
bool textbook_read(textbook_stream* stream, uint32_t* value, uint32_t width);

#endif
