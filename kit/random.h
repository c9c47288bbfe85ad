// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What scenes ask of random numbers, in the types they use. Runs a few times per actor and decision.

#ifndef PINHOLE_KIT_RANDOM_H
#define PINHOLE_KIT_RANDOM_H

#include "base/rng.h"

// The stream of one part of a scene: parts can be added without disturbing the others.
static inline ph_rng ph_random_part(uint64_t seed, uint64_t part)
{
    const ph_rng whole = ph_rng_make(seed);
    return ph_rng_split(&whole, part);
}

// 0..limit-1; limit is 1 or more.
static inline int ph_random_below(ph_rng* rng, int limit)
{
    return (int)ph_rng_below(rng, (uint64_t)limit);
}

// low <= number < high.
static inline double ph_random_between(ph_rng* rng, double low, double high)
{
    return low + (high - low) * ph_rng_double(rng);
}

#endif
