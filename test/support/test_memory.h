// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// An allocator that counts, checks and fails on demand. Fresh memory is filled with 0xA5 and
// released memory with 0x5A, so a test that reads either fails.
//
//   test_memory memory = {0};
//   ph_allocator allocator = test_memory_allocator(&memory);
//   ... create, use, destroy ...
//   test_memory_assert_clean(&memory);
//
// To walk every failing path, let the first call fail, then the second, until creation succeeds:
//
//   for (int n = 1;; ++n) {
//       test_memory memory = {.fail_at = n};
//       ...
//       if (result == PH_OK) { destroy; break; }
//   }

// To see that no secret is left behind, tell what to look for; every block is searched when it is released:
//
//   test_memory_watch(&memory, key, sizeof key);
//   ... use ...
//   assert_int_equal(test_memory_count(&memory, key, sizeof key), 0); // in the blocks that are live
//   assert_int_equal(memory.revealed_count, 0);                       // in those that were released

#ifndef PINHOLE_TEST_MEMORY_H
#define PINHOLE_TEST_MEMORY_H

#include "pinhole/base.h"

/// Byte strings that can be looked for at once.
#define TEST_SECRETS_MAX 8

typedef struct test_secret {
    const uint8_t* bytes;
    size_t size;
} test_secret;

/// Start from {0}. All fields but fail_at are only read.
typedef struct test_memory {
    /// The allocation that gets NULL, counted from 1; 0 is none. Later ones succeed again.
    int fail_at;
    int allocate_count; ///< calls, failed ones included
    int release_count;  ///< calls, wrong ones included
    int live_count;     ///< blocks not yet released: leaks, at the end
    int wrong_count;    ///< releases of another size, of a strange pointer, or for the second time
    size_t live_bytes;
    size_t peak_bytes;              ///< the largest live_bytes
    struct test_block* live_blocks; ///< the newest first
    test_secret secrets[TEST_SECRETS_MAX];
    int secret_count;
    int revealed_count; ///< times that a secret stood in a block when it was released
} test_memory;

/// What to hand to the code under test. memory stays where it is while that is in use.
ph_allocator test_memory_allocator(test_memory* memory);

/// From now on released blocks are searched for these bytes, which stay where they are.
void test_memory_watch(test_memory* memory, const void* bytes, size_t size);

/// How many times these bytes stand in live blocks.
int test_memory_count(const test_memory* memory, const void* bytes, size_t size);

/// Fails the test when a block is still live or a release was wrong.
void test_memory_assert_clean(const test_memory* memory);

#endif
