// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Before each block stands its size, twice, so that a release of another size is noticed.

#include "soak/soak_memory.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 64 }; // blocks begin at whole cache lines, as far as malloc's do

static void* allocate(void* context, size_t size)
{
    soak_memory* memory = context;
    ++memory->allocations;
    if (memory->fail_in > 0 && --memory->fail_in == 0) {
        ++memory->failures;
        return NULL;
    }
    uint8_t* block = malloc(size + HEAD_BYTES);
    if (block == NULL) {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    // The same bytes in every run, and no zeros: a field that is not set is noticed.
    memset(block + HEAD_BYTES, 0xA5, size);
    memory->live_bytes += (int64_t)size;
    ++memory->live_blocks;
    return block + HEAD_BYTES;
}

static void release(void* context, void* bytes, size_t size)
{
    soak_memory* memory = context;
    uint8_t* block = (uint8_t*)bytes - HEAD_BYTES;
    size_t stated;
    memcpy(&stated, block, sizeof stated);
    memory->wrong_releases += stated != size;
    memory->live_bytes -= (int64_t)stated;
    --memory->live_blocks;
    memset(block + HEAD_BYTES, 0x5A, stated);
    free(block);
}

ph_allocator soak_memory_allocator(soak_memory* memory)
{
    return (ph_allocator){.allocate = allocate, .release = release, .context = memory};
}
