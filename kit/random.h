// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random numbers for scenes: the same on every machine (splitmix64). Runs a few times per actor and
// decision.

#ifndef PINHOLE_KIT_RANDOM_H
#define PINHOLE_KIT_RANDOM_H

#include <stdint.h>

// A stream of numbers. Every state is good, 0 included.
typedef struct ph_random {
    uint64_t state;
} ph_random;

static inline uint64_t ph_random_next(ph_random* random)
{
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = random->state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

// The stream of one part: parts can be added without disturbing the others.
static inline ph_random ph_random_part(uint64_t seed, uint64_t part)
{
    ph_random whole = {.state = seed};
    ph_random mixed = {.state = ph_random_next(&whole) ^ part};
    return (ph_random){.state = ph_random_next(&mixed)};
}

// 0..limit-1; limit is 1 or more. The bias is below limit / 2^64.
static inline int ph_random_below(ph_random* random, int limit)
{
    return (int)(ph_random_next(random) % (uint64_t)limit);
}

// low <= number < high, in 2^53 steps.
static inline double ph_random_between(ph_random* random, double low, double high)
{
    return low + (high - low) * ((double)(ph_random_next(random) >> 11) * 0x1p-53);
}

#endif
