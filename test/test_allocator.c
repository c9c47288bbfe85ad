// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The front door to memory, and the allocator that all other tests rely on to see leaks.

#include "support/test_support.h"
#include "support/test_memory.h"

#include "base/allocator.h"

#include <string.h>

static bool is_filled_with(const uint8_t* bytes, size_t size, uint8_t value)
{
    for (size_t i = 0; i < size; ++i) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

static void zero_initialised_means_malloc(void** state)
{
    (void)state;
    ph_allocator allocator = {0};
    uint8_t* memory = ph_allocate(&allocator, 100);
    assert_non_null(memory);
    memset(memory, 1, 100);
    ph_release(&allocator, memory, 100);
}

static void the_given_functions_are_called_with_the_same_size(void** state)
{
    (void)state;
    test_memory memory = {0};
    ph_allocator allocator = test_memory_allocator(&memory);
    void* first = ph_allocate(&allocator, 24);
    void* second = ph_allocate_array(&allocator, 10, 12);
    assert_int_equal(memory.live_bytes, 144);
    assert_int_equal((uintptr_t)first % 16, 0);
    assert_int_equal((uintptr_t)second % 16, 0);
    ph_release(&allocator, first, 24);
    assert_int_equal(memory.live_bytes, 120);
    ph_release_array(&allocator, second, 10, 12);
    assert_int_equal(memory.allocate_count, 2);
    assert_int_equal(memory.release_count, 2);
    assert_int_equal(memory.peak_bytes, 144);
    test_memory_assert_clean(&memory);
}

static void size_zero_is_memory_too(void** state)
{
    (void)state;
    test_memory memory = {0};
    ph_allocator allocator = test_memory_allocator(&memory);
    void* first = ph_allocate(&allocator, 0);
    void* second = ph_allocate_array(&allocator, 0, 8);
    void* third = ph_allocate_array(&allocator, 8, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_non_null(third);
    ph_release(&allocator, first, 0);
    ph_release_array(&allocator, second, 0, 8);
    ph_release_array(&allocator, third, 8, 0);
    test_memory_assert_clean(&memory);
}

static void zeroed_means_every_byte(void** state)
{
    (void)state;
    test_memory memory = {0};
    ph_allocator allocator = test_memory_allocator(&memory);
    uint8_t* plain = ph_allocate(&allocator, 77);
    assert_true(is_filled_with(plain, 77, 0xA5));
    ph_release(&allocator, plain, 77);
    uint8_t* zeroed = ph_allocate_zeroed(&allocator, 77);
    assert_true(is_filled_with(zeroed, 77, 0));
    ph_release(&allocator, zeroed, 77);
    test_memory_assert_clean(&memory);
}

static void a_product_that_wraps_is_refused(void** state)
{
    (void)state;
    test_memory memory = {0};
    ph_allocator allocator = test_memory_allocator(&memory);
    assert_null(ph_allocate_array(&allocator, SIZE_MAX / 8 + 1, 8));
    assert_null(ph_allocate_array(&allocator, 8, SIZE_MAX / 8 + 1));
    assert_null(ph_allocate_array(&allocator, SIZE_MAX, SIZE_MAX));
    assert_int_equal(memory.allocate_count, 0);
    assert_null(ph_allocate_array(&allocator, SIZE_MAX / 8, 8)); // fits a size_t, not a machine
    assert_int_equal(memory.allocate_count, 1);
}

static void releasing_null_does_nothing(void** state)
{
    (void)state;
    test_memory memory = {0};
    ph_allocator allocator = test_memory_allocator(&memory);
    ph_release(&allocator, NULL, 5);
    ph_release_array(&allocator, NULL, 5, 5);
    assert_int_equal(memory.release_count, 0);
    ph_allocator standard = {0};
    ph_release(&standard, NULL, 5);
}

static void no_memory_is_null(void** state)
{
    (void)state;
    test_memory memory = {.fail_at = 2};
    ph_allocator allocator = test_memory_allocator(&memory);
    void* first = ph_allocate(&allocator, 8);
    assert_non_null(first);
    assert_null(ph_allocate_zeroed(&allocator, 8));
    void* third = ph_allocate(&allocator, 8);
    assert_non_null(third);
    ph_release(&allocator, first, 8);
    ph_release(&allocator, third, 8);
    test_memory_assert_clean(&memory);
}

static void the_test_memory_sees_leaks(void** state)
{
    (void)state;
    test_memory memory = {0};
    ph_allocator allocator = test_memory_allocator(&memory);
    void* leaked = ph_allocate(&allocator, 8);
    assert_int_equal(memory.live_count, 1);
    assert_int_equal(memory.live_bytes, 8);
    ph_release(&allocator, leaked, 8);
    test_memory_assert_clean(&memory);
}

static void the_test_memory_sees_wrong_releases(void** state)
{
    (void)state;
    test_memory memory = {0};
    ph_allocator allocator = test_memory_allocator(&memory);
    void* older = ph_allocate(&allocator, 8);
    void* newer = ph_allocate(&allocator, 8);
    ph_release(&allocator, older, 9);
    assert_int_equal(memory.wrong_count, 1);
    ph_release(&allocator, older, 8);
    assert_int_equal(memory.wrong_count, 2);
    int strange;
    ph_release(&allocator, &strange, sizeof(strange));
    assert_int_equal(memory.wrong_count, 3);
    ph_release(&allocator, newer, 8);
    assert_int_equal(memory.wrong_count, 3);
    assert_int_equal(memory.live_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_initialised_means_malloc),
        cmocka_unit_test(the_given_functions_are_called_with_the_same_size),
        cmocka_unit_test(size_zero_is_memory_too),
        cmocka_unit_test(zeroed_means_every_byte),
        cmocka_unit_test(a_product_that_wraps_is_refused),
        cmocka_unit_test(releasing_null_does_nothing),
        cmocka_unit_test(no_memory_is_null),
        cmocka_unit_test(the_test_memory_sees_leaks),
        cmocka_unit_test(the_test_memory_sees_wrong_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
