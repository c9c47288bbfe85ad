// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The arena against a list of what it handed out: nothing overlaps, nothing moves, nothing is lost.

#include "support/test_support.h"
#include "support/test_memory.h"

#include "base/arena.h"

#include <string.h>

typedef struct fixture {
    test_memory memory;
    ph_allocator allocator;
    ph_arena arena;
} fixture;

static void setup(fixture* f, size_t capacity_bytes)
{
    *f = (fixture){0};
    f->allocator = test_memory_allocator(&f->memory);
    assert_int_equal(ph_arena_create(&f->arena, &f->allocator, capacity_bytes), PH_OK);
    assert_true(ph_arena_validate(&f->arena));
}

static void teardown(fixture* f)
{
    assert_true(ph_arena_validate(&f->arena));
    ph_arena_destroy(&f->arena);
    assert_true(ph_arena_validate(&f->arena));
    test_memory_assert_clean(&f->memory);
}

static void one_block_is_taken_at_creation_and_no_more(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 1000);
    assert_int_equal(f.memory.allocate_count, 1);
    while (ph_arena_allocate(&f.arena, 30) != NULL) {
    }
    assert_int_equal(f.memory.allocate_count, 1);
    teardown(&f);
}

static void a_full_arena_returns_null_and_stays_as_it_was(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 100);
    assert_non_null(ph_arena_allocate(&f.arena, 60));
    assert_null(ph_arena_allocate(&f.arena, 37)); // 60 is padded to 64
    assert_int_equal(f.arena.used_bytes, 60);
    assert_non_null(ph_arena_allocate(&f.arena, 36));
    assert_int_equal(f.arena.used_bytes, 100);
    assert_null(ph_arena_allocate_aligned(&f.arena, 1, 1));
    assert_null(ph_arena_allocate_aligned(&f.arena, 0, 1)); // counts as 1
    assert_null(ph_arena_allocate(&f.arena, SIZE_MAX));
    teardown(&f);
}

static void sizes_that_wrap_are_refused(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 100);
    ph_arena_allocate(&f.arena, 1);
    assert_null(ph_arena_allocate(&f.arena, SIZE_MAX));
    assert_null(ph_arena_allocate(&f.arena, SIZE_MAX - 14));
    assert_null(ph_arena_allocate_array(&f.arena, SIZE_MAX / 8 + 2, 8));
    assert_non_null(ph_arena_allocate_array(&f.arena, 10, 8));
    teardown(&f);

    test_memory memory = {0};
    ph_allocator allocator = test_memory_allocator(&memory);
    ph_arena arena;
    assert_int_equal(ph_arena_create(&arena, &allocator, SIZE_MAX), PH_ERROR_MEMORY);
    assert_int_equal(ph_arena_create(&arena, &allocator, SIZE_MAX - 63), PH_ERROR_MEMORY);
    assert_int_equal(memory.allocate_count, 0);
}

static void rewinding_gives_back_what_came_after_the_mark(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 256);
    char* kept = ph_arena_allocate(&f.arena, 20);
    memset(kept, 'k', 20);
    size_t mark = ph_arena_mark(&f.arena);
    void* first = ph_arena_allocate(&f.arena, 100);
    ph_arena_rewind(&f.arena, mark);
    void* second = ph_arena_allocate(&f.arena, 200);
    assert_ptr_equal(first, second);
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(kept[i], 'k');
    }
    ph_arena_reset(&f.arena);
    assert_int_equal(f.arena.used_bytes, 0);
    assert_ptr_equal(ph_arena_allocate(&f.arena, 256), kept);
    teardown(&f);
}

static void the_high_water_mark_survives_a_reset(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 256);
    ph_arena_allocate(&f.arena, 100);
    ph_arena_reset(&f.arena);
    ph_arena_allocate(&f.arena, 50);
    assert_int_equal(f.arena.high_water_bytes, 100);
    ph_arena_allocate(&f.arena, 100);
    assert_int_equal(f.arena.high_water_bytes, 164); // 50 is padded to 64
    teardown(&f);
}

static void a_zero_arena_is_full(void** state)
{
    (void)state;
    ph_arena arena = {0};
    assert_true(ph_arena_validate(&arena));
    assert_null(ph_arena_allocate(&arena, 0));
    ph_arena_reset(&arena);
    ph_arena_destroy(&arena);
    fixture f;
    setup(&f, 0);
    assert_null(ph_arena_allocate(&f.arena, 1));
    teardown(&f);
}

static void no_memory_leaves_a_zero_arena(void** state)
{
    (void)state;
    test_memory memory = {.fail_at = 1};
    ph_allocator allocator = test_memory_allocator(&memory);
    ph_arena arena;
    memset(&arena, 0xFF, sizeof(arena));
    assert_int_equal(ph_arena_create(&arena, &allocator, 100), PH_ERROR_MEMORY);
    assert_null(arena.block);
    assert_true(ph_arena_validate(&arena));
    ph_arena_destroy(&arena);
    test_memory_assert_clean(&memory);
}

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>

static void what_is_not_handed_out_is_poisoned(void** state)
{
    (void)state;
    fixture f;
    setup(&f, 100);
    const uint8_t* memory = f.arena.memory;
    assert_true(__asan_address_is_poisoned(memory));
    size_t mark = ph_arena_mark(&f.arena);
    assert_ptr_equal(ph_arena_allocate(&f.arena, 20), memory);
    assert_false(__asan_address_is_poisoned(memory));
    assert_false(__asan_address_is_poisoned(memory + 19));
    assert_true(__asan_address_is_poisoned(memory + 20));
    ph_arena_rewind(&f.arena, mark);
    assert_true(__asan_address_is_poisoned(memory));
    teardown(&f);
}
#endif

enum { PIECE_COUNT_MAX = 256 };

typedef struct piece {
    uint8_t* memory;
    size_t size;
    size_t mark_before;
    uint8_t fill;
} piece;

static void assert_untouched(const piece* p)
{
    for (size_t i = 0; i < p->size; ++i) {
        assert_int_equal(p->memory[i], p->fill);
    }
}

// Takes pieces of any size and alignment, fills each with its own byte, and rewinds at random.
// A piece that overlaps another one, or the end of the block, spoils a byte or wakes ASan.
static void pieces_never_touch_each_other(void** state)
{
    (void)state;
    test_rng rng = {.state = 11};
    fixture f;
    setup(&f, 4000);
    piece pieces[PIECE_COUNT_MAX];
    int count = 0;
    for (int step = 0; step < 50000; ++step) {
        if (test_rng_below(&rng, 40) == 0) {
            int keep = (int)test_rng_below(&rng, (uint64_t)count + 1);
            if (keep < count) {
                ph_arena_rewind(&f.arena, pieces[keep].mark_before);
                count = keep;
            }
        }
        piece p = {.size = 1 + test_rng_below(&rng, 200), .fill = (uint8_t)step};
        size_t alignment = (size_t)1 << test_rng_below(&rng, 7);
        p.mark_before = ph_arena_mark(&f.arena);
        p.memory = ph_arena_allocate_aligned(&f.arena, p.size, alignment);
        size_t start = (p.mark_before + alignment - 1) / alignment * alignment;
        assert_int_equal(p.memory != NULL, start + p.size <= 4000);
        if (p.memory == NULL || count == PIECE_COUNT_MAX) {
            ph_arena_rewind(&f.arena, p.mark_before);
            continue;
        }
        assert_int_equal((uintptr_t)p.memory % alignment, 0);
        memset(p.memory, p.fill, p.size);
        pieces[count++] = p;
        assert_untouched(&pieces[test_rng_below(&rng, (uint64_t)count)]);
        assert_true(ph_arena_validate(&f.arena));
    }
    for (int i = 0; i < count; ++i) {
        assert_untouched(&pieces[i]);
    }
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_block_is_taken_at_creation_and_no_more),
        cmocka_unit_test(a_full_arena_returns_null_and_stays_as_it_was),
        cmocka_unit_test(sizes_that_wrap_are_refused),
        cmocka_unit_test(rewinding_gives_back_what_came_after_the_mark),
        cmocka_unit_test(the_high_water_mark_survives_a_reset),
        cmocka_unit_test(a_zero_arena_is_full),
        cmocka_unit_test(no_memory_leaves_a_zero_arena),
#ifdef HAS_ADDRESS_SANITIZER
        cmocka_unit_test(what_is_not_handed_out_is_poisoned),
#endif
        cmocka_unit_test(pieces_never_touch_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
