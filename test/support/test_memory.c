// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Live blocks are a list, searched at every release: slow, but a pointer that was never given out
// is recognised without reading what it points to.

#include "test_memory.h"

#include "test_support.h"

#include <stdlib.h>
#include <string.h>

typedef struct test_block {
    _Alignas(16) struct test_block* next;
    size_t size;
} test_block;

_Static_assert(sizeof(test_block) % 16 == 0, "what follows the header is aligned for any type");

// Called by way of a volatile pointer, or compilers drop the fill of what is freed right after.
static void* (*const volatile fill)(void*, int, size_t) = memset;

static void* allocate(void* context, size_t size)
{
    test_memory* memory = context;
    assert_true(size > 0);
    if (++memory->allocate_count == memory->fail_at || size > SIZE_MAX - sizeof(test_block)) {
        return NULL;
    }
    test_block* block = malloc(sizeof(test_block) + size);
    if (block == NULL) {
        return NULL;
    }
    *block = (test_block){.next = memory->live_blocks, .size = size};
    memory->live_blocks = block;
    ++memory->live_count;
    memory->live_bytes += size;
    if (memory->peak_bytes < memory->live_bytes) {
        memory->peak_bytes = memory->live_bytes;
    }
    fill(block + 1, 0xA5, size);
    return block + 1;
}

static int count_in(const void* block, size_t block_size, const void* bytes, size_t size)
{
    int count = 0;
    const uint8_t* from = block;
    const uint8_t* end = from + block_size;
    while ((size_t)(end - from) >= size) {
        const uint8_t* found =
            memchr(from, *(const uint8_t*)bytes, (size_t)(end - from) - size + 1);
        if (found == NULL) {
            break;
        }
        count += memcmp(found, bytes, size) == 0;
        from = found + 1;
    }
    return count;
}

static void release(void* context, void* pointer, size_t size)
{
    test_memory* memory = context;
    ++memory->release_count;
    test_block** link = &memory->live_blocks;
    while (*link != NULL && (void*)(*link + 1) != pointer) {
        link = &(*link)->next;
    }
    test_block* block = *link;
    if (block == NULL) {
        ++memory->wrong_count;
        return;
    }
    if (block->size != size) {
        ++memory->wrong_count;
    }
    *link = block->next;
    --memory->live_count;
    memory->live_bytes -= block->size;
    for (int i = 0; i < memory->secret_count; ++i) {
        const test_secret* secret = &memory->secrets[i];
        memory->revealed_count += count_in(block + 1, block->size, secret->bytes, secret->size);
    }
    fill(block + 1, 0x5A, block->size);
    free(block);
}

ph_allocator test_memory_allocator(test_memory* memory)
{
    return (ph_allocator){.allocate = allocate, .release = release, .context = memory};
}

void test_memory_watch(test_memory* memory, const void* bytes, size_t size)
{
    assert_true(memory->secret_count < TEST_SECRETS_MAX && size > 0);
    memory->secrets[memory->secret_count++] = (test_secret){.bytes = bytes, .size = size};
}

int test_memory_count(const test_memory* memory, const void* bytes, size_t size)
{
    int count = 0;
    for (const test_block* block = memory->live_blocks; block != NULL; block = block->next) {
        count += count_in(block + 1, block->size, bytes, size);
    }
    return count;
}

void test_memory_assert_clean(const test_memory* memory)
{
    assert_int_equal(memory->live_count, 0);
    assert_int_equal(memory->live_bytes, 0);
    assert_int_equal(memory->wrong_count, 0);
}
