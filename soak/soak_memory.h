// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// An allocator that counts, checks sizes, and fails on demand.

#ifndef PINHOLE_SOAK_MEMORY_H
#define PINHOLE_SOAK_MEMORY_H

#include <pinhole/base.h>

// Start from {0}. All fields but fail_in are only read.
typedef struct soak_memory {
    int fail_in; // the n-th allocation from now returns NULL; 0: none does
    uint64_t allocations;
    uint64_t failures;
    uint64_t wrong_releases; // of another size
    int64_t live_bytes;
    int64_t live_blocks;
} soak_memory;

// memory stays where it is while that is in use.
ph_allocator soak_memory_allocator(soak_memory* memory);

#endif
