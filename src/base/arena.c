// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Offsets alone decide what fits, so a full arena is full on every machine and in every run.

#include "base/arena.h"

#include "base/allocator.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

static void poison(const uint8_t* memory, size_t size)
{
#ifdef HAS_ADDRESS_SANITIZER
    ASAN_POISON_MEMORY_REGION(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

static void unpoison(const uint8_t* memory, size_t size)
{
#ifdef HAS_ADDRESS_SANITIZER
    ASAN_UNPOISON_MEMORY_REGION(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

// An allocator promises 16 bytes only, so the block has room to begin at the next cache line.
static size_t block_size(size_t capacity_bytes)
{
    return capacity_bytes + (PH_ARENA_ALIGNMENT_MAX - 1);
}

// How many bytes from position to the next multiple of alignment.
static size_t padding_to(size_t position, size_t alignment)
{
    return (0 - position) & (alignment - 1);
}

ph_result ph_arena_create(ph_arena* arena, const ph_allocator* allocator, size_t capacity_bytes)
{
    *arena = (ph_arena){0};
    if (capacity_bytes > SIZE_MAX - PH_ARENA_ALIGNMENT_MAX) {
        return PH_ERROR_MEMORY;
    }
    uint8_t* block = ph_allocate(allocator, block_size(capacity_bytes));
    if (block == NULL) {
        return PH_ERROR_MEMORY;
    }
    arena->memory = block + padding_to((size_t)(uintptr_t)block, PH_ARENA_ALIGNMENT_MAX);
    arena->capacity_bytes = capacity_bytes;
    arena->block = block;
    arena->allocator = *allocator;
    poison(arena->memory, capacity_bytes);
    return PH_OK;
}

void ph_arena_destroy(ph_arena* arena)
{
    unpoison(arena->memory, arena->capacity_bytes);
    ph_release(&arena->allocator, arena->block, block_size(arena->capacity_bytes));
    *arena = (ph_arena){0};
}

void* ph_arena_allocate(ph_arena* arena, size_t size)
{
    return ph_arena_allocate_aligned(arena, size, PH_ARENA_ALIGNMENT);
}

void* ph_arena_allocate_aligned(ph_arena* arena, size_t size, size_t alignment)
{
    PH_ASSERT(alignment > 0 && alignment <= PH_ARENA_ALIGNMENT_MAX);
    PH_ASSERT((alignment & (alignment - 1)) == 0);

    size_t wanted = size > 0 ? size : 1;
    size_t padding = padding_to(arena->used_bytes, alignment);
    size_t left = arena->capacity_bytes - arena->used_bytes;
    if (padding > left || wanted > left - padding) {
        return NULL;
    }
    uint8_t* memory = arena->memory + arena->used_bytes + padding;
    arena->used_bytes += padding + wanted;
    if (arena->high_water_bytes < arena->used_bytes) {
        arena->high_water_bytes = arena->used_bytes;
    }
    unpoison(memory, wanted);
    return memory;
}

void* ph_arena_allocate_array(ph_arena* arena, size_t count, size_t element_size)
{
    if (element_size > 0 && count > SIZE_MAX / element_size) {
        return NULL;
    }
    return ph_arena_allocate(arena, count * element_size);
}

size_t ph_arena_mark(const ph_arena* arena)
{
    return arena->used_bytes;
}

void ph_arena_rewind(ph_arena* arena, size_t mark)
{
    PH_ASSERT(mark <= arena->used_bytes);

    if (mark < arena->used_bytes) {
        poison(arena->memory + mark, arena->used_bytes - mark);
        arena->used_bytes = mark;
    }
}

void ph_arena_reset(ph_arena* arena)
{
    ph_arena_rewind(arena, 0);
}

bool ph_arena_validate(const ph_arena* arena)
{
    if (arena->block == NULL) {
        return arena->memory == NULL && arena->capacity_bytes == 0 && arena->used_bytes == 0 &&
               arena->high_water_bytes == 0;
    }
    return (uintptr_t)arena->memory % PH_ARENA_ALIGNMENT_MAX == 0 &&
           arena->memory >= (uint8_t*)arena->block &&
           arena->memory - (uint8_t*)arena->block < PH_ARENA_ALIGNMENT_MAX &&
           arena->used_bytes <= arena->high_water_bytes &&
           arena->high_water_bytes <= arena->capacity_bytes;
}
