// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What every unit test includes first: cmocka, whose header needs these four in this order, and a
// small random number generator that gives the same numbers on every machine.

#ifndef PINHOLE_TEST_SUPPORT_H
#define PINHOLE_TEST_SUPPORT_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

/// A seeded sequence. Every random test names its seed: test_rng rng = {.state = 2024};
typedef struct test_rng {
    uint64_t state;
} test_rng;

/// The next 64 bits (splitmix64).
static inline uint64_t test_rng_next(test_rng* rng)
{
    rng->state += 0x9E3779B97F4A7C15u;
    uint64_t mixed = rng->state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

/// 0 <= number < limit. The bias is below limit / 2^64, far below what a test can see.
static inline uint64_t test_rng_below(test_rng* rng, uint64_t limit)
{
    return test_rng_next(rng) % limit;
}

/// 0.0 <= number < 1.0, in steps of 2^-53.
static inline double test_rng_unit(test_rng* rng)
{
    return (double)(test_rng_next(rng) >> 11) * 0x1p-53;
}

#endif
