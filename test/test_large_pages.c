// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Blocks of all sizes: aligned, apart from each other, and used again.

#include "support/test_support.h"
#include "kit/large_pages.h"

#include <stdint.h>
#include <string.h>

enum { BLOCKS = 600 };

typedef struct held {
    uint8_t* memory;
    size_t size;
} held;

static void fill(const held* block, int mark)
{
    memset(block->memory, mark, block->size);
}

static void check(const held* block, int mark)
{
    for (size_t i = 0; i < block->size; ++i) {
        assert_int_equal(block->memory[i], (uint8_t)mark);
    }
}

// Half of them are released and replaced by others, again and again; each keeps its bytes.
static void blocks_do_not_overlap(void** state)
{
    (void)state;
    test_rng rng = {.state = 2024};
    ph_large_pages* pages = ph_large_pages_create();
    const ph_allocator allocator = ph_large_pages_allocator(pages);
    static held blocks[BLOCKS];
    memset(blocks, 0, sizeof blocks);
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < BLOCKS; ++i) {
            held* block = &blocks[i];
            if (block->memory != NULL && test_rng_below(&rng, 2) == 0) {
                continue;
            }
            if (block->memory != NULL) {
                check(block, i);
                allocator.release(allocator.context, block->memory, block->size);
            }
            const uint64_t limit = UINT64_C(1) << test_rng_below(&rng, 17);
            block->size = 1 + (size_t)test_rng_below(&rng, limit);
            block->memory = allocator.allocate(allocator.context, block->size);
            assert_non_null(block->memory);
            assert_int_equal((uintptr_t)block->memory % 64, 0);
            fill(block, i);
        }
    }
    for (int i = 0; i < BLOCKS; ++i) {
        check(&blocks[i], i);
    }
    ph_large_pages_destroy(pages);
}

static void what_is_released_is_used_again(void** state)
{
    (void)state;
    ph_large_pages* pages = ph_large_pages_create();
    const ph_allocator allocator = ph_large_pages_allocator(pages);
    for (size_t size = 1; size < 300000; size += size / 3 + 1) {
        void* first = allocator.allocate(allocator.context, size);
        allocator.release(allocator.context, first, size);
        assert_ptr_equal(allocator.allocate(allocator.context, size), first);
    }
    ph_large_pages_destroy(pages);
}

// Larger than a region, and too large for any machine.
static void giants_get_a_region_of_their_own_or_nothing(void** state)
{
    (void)state;
    ph_large_pages* pages = ph_large_pages_create();
    const ph_allocator allocator = ph_large_pages_allocator(pages);
    const size_t giant = (size_t)40 << 20;
    uint8_t* memory = allocator.allocate(allocator.context, giant);
    assert_non_null(memory);
    memory[0] = 1;
    memory[giant - 1] = 1;
    assert_null(allocator.allocate(allocator.context, SIZE_MAX));
    assert_null(allocator.allocate(allocator.context, SIZE_MAX / 4));
    ph_large_pages_destroy(pages);
    ph_large_pages_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_not_overlap),
        cmocka_unit_test(what_is_released_is_used_again),
        cmocka_unit_test(giants_get_a_region_of_their_own_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
