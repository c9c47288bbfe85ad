// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Creation and growth only; a warm tick allocates nothing.
//
//   region  | header | block | block | . . . . free . . . . |     whole large pages
//                       ^ a released block begins with the next one of its size
//
// Sizes are rounded up to one of four between each power of two and the next: at most a quarter is
// wasted, and a block that is released fits the next one of its kind.

#if defined(__linux__)
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif

#include "kit/large_pages.h"

#include <stdint.h>
#include <stdlib.h>

#define PAGE_BYTES ((size_t)1 << 21)
#define REGION_BYTES (16 * PAGE_BYTES)
// A cache line: blocks never share one.
#define BLOCK_BYTES_MIN 64
enum { STEPS_PER_DOUBLING = 4, SIZE_COUNT = 64 * STEPS_PER_DOUBLING };

typedef struct region {
    struct region* next;
    void* mapped; // what the system gave, the region lies within
    size_t mapped_bytes;
} region;

_Static_assert(sizeof(region) <= BLOCK_BYTES_MIN, "the first block of a region is its header");

typedef struct block {
    struct block* next;
} block;

struct ph_large_pages {
    region* regions;
    uint8_t* free; // of the newest region
    size_t free_bytes;
    block* released[SIZE_COUNT]; // by size
};

// ---- sizes

// The block that a size gets, and its place in `released`.
static size_t round_up(size_t size, int* place)
{
    size_t base = BLOCK_BYTES_MIN;
    *place = 0;
    while (base <= SIZE_MAX / 4 && 2 * base <= size) {
        base *= 2;
        *place += STEPS_PER_DOUBLING;
    }
    const size_t step = base / STEPS_PER_DOUBLING;
    size_t rounded = base;
    while (rounded < size) {
        rounded += step;
        ++*place;
    }
    // The steps between the smallest two are shorter than a line.
    return (rounded + BLOCK_BYTES_MIN - 1) / BLOCK_BYTES_MIN * BLOCK_BYTES_MIN;
}

// ---- regions

#if defined(__linux__)

static void* map(size_t size)
{
    void* mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mapped != MAP_FAILED ? mapped : NULL;
}

static void unmap(void* mapped, size_t size)
{
    munmap(mapped, size);
}

// Refused, it is ordinary memory.
static void ask_for_large_pages(void* memory, size_t size)
{
    (void)madvise(memory, size, MADV_HUGEPAGE);
}

#else

static void* map(size_t size)
{
    return malloc(size);
}

static void unmap(void* mapped, size_t size)
{
    (void)size;
    free(mapped);
}

static void ask_for_large_pages(void* memory, size_t size)
{
    (void)memory;
    (void)size;
}

#endif

static bool add_region(ph_large_pages* pages, size_t wanted)
{
    if (wanted > SIZE_MAX - BLOCK_BYTES_MIN - 2 * PAGE_BYTES) {
        return false;
    }
    size_t size = (wanted + BLOCK_BYTES_MIN + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    size = size > REGION_BYTES ? size : REGION_BYTES;
    // One page more, of which the ends before and behind whole pages are never touched.
    uint8_t* mapped = map(size + PAGE_BYTES);
    if (mapped == NULL) {
        return false;
    }
    uint8_t* start = mapped + (PAGE_BYTES - (uintptr_t)mapped % PAGE_BYTES) % PAGE_BYTES;
    ask_for_large_pages(start, size);
    region* added = (region*)(void*)start;
    *added = (region){.next = pages->regions, .mapped = mapped, .mapped_bytes = size + PAGE_BYTES};
    pages->regions = added;
    pages->free = start + BLOCK_BYTES_MIN;
    pages->free_bytes = size - BLOCK_BYTES_MIN;
    return true;
}

// ---- blocks

static void* allocate(void* context, size_t size)
{
    ph_large_pages* pages = context;
    if (size > SIZE_MAX / 4) {
        return NULL;
    }
    int place;
    const size_t rounded = round_up(size, &place);
    block* again = pages->released[place];
    if (again != NULL) {
        pages->released[place] = again->next;
        return again;
    }
    // What is left of the last region is left for good.
    if (pages->free_bytes < rounded && !add_region(pages, rounded)) {
        return NULL;
    }
    void* cut = pages->free;
    pages->free += rounded;
    pages->free_bytes -= rounded;
    return cut;
}

static void release(void* context, void* memory, size_t size)
{
    ph_large_pages* pages = context;
    int place;
    round_up(size, &place);
    block* freed = memory;
    freed->next = pages->released[place];
    pages->released[place] = freed;
}

ph_allocator ph_large_pages_allocator(ph_large_pages* pages)
{
    return (ph_allocator){.allocate = allocate, .release = release, .context = pages};
}

ph_large_pages* ph_large_pages_create(void)
{
    return calloc(1, sizeof(ph_large_pages));
}

void ph_large_pages_destroy(ph_large_pages* pages)
{
    if (pages == NULL) {
        return;
    }
    while (pages->regions != NULL) {
        const region gone = *pages->regions;
        unmap(gone.mapped, gone.mapped_bytes);
        pages->regions = gone.next;
    }
    free(pages);
}
