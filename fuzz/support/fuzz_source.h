// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What most fuzz targets share: an input that is eaten byte by byte, and a check that holds in every
// build.

#ifndef PINHOLE_FUZZ_SOURCE_H
#define PINHOLE_FUZZ_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Aborts unless it holds.
void fuzz_demand(bool condition);

// The input.
typedef struct fuzz_source {
    const uint8_t* bytes;
    size_t left;
} fuzz_source;

// 0..limit-1 from one byte; 0 when there is nothing left.
uint32_t fuzz_take(fuzz_source* from, uint32_t limit);

#endif
