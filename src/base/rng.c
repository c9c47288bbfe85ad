// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Every operation is a few instructions and integers only, but for the last exact step to float.

#include "base/rng.h"

#include "base/hash.h"

static uint64_t rotate_left(uint64_t bits, int by)
{
    return bits << by | bits >> (64 - by);
}

// Four splitmix64 numbers. Of any four in a row one at most is zero.
ph_rng ph_rng_make(uint64_t seed)
{
    ph_rng rng;
    for (int i = 0; i < 4; ++i) {
        seed += UINT64_C(0x9E3779B97F4A7C15);
        rng.state[i] = ph_hash_mix(seed);
    }
    return rng;
}

ph_rng ph_rng_split(const ph_rng* parent, uint64_t key)
{
    ph_hash hash = ph_hash_make(key);
    for (int i = 0; i < 4; ++i) {
        ph_hash_add_u64(&hash, parent->state[i]);
    }
    return ph_rng_make(ph_hash_value(&hash));
}

uint64_t ph_rng_next(ph_rng* rng)
{
    PH_ASSERT(ph_rng_validate(rng));

    uint64_t* s = rng->state;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

// As many bits as limit - 1 has, drawn again until they are in range: no bias, no division and
// no 128-bit product, which 32-bit machines would have to spell out.
uint64_t ph_rng_below(ph_rng* rng, uint64_t limit)
{
    PH_ASSERT(limit > 0);

    uint64_t mask = limit - 1;
    for (int by = 1; by < 64; by *= 2) {
        mask |= mask >> by;
    }
    uint64_t number = ph_rng_next(rng) & mask;
    while (number >= limit) {
        number = ph_rng_next(rng) & mask;
    }
    return number;
}

int64_t ph_rng_range(ph_rng* rng, int64_t low, int64_t high)
{
    PH_ASSERT(low <= high);

    // Unsigned, because the span of two int64 may not fit into one.
    uint64_t span = (uint64_t)high - (uint64_t)low;
    uint64_t offset = span == UINT64_MAX ? ph_rng_next(rng) : ph_rng_below(rng, span + 1);
    return (int64_t)((uint64_t)low + offset);
}

float ph_rng_float(ph_rng* rng)
{
    return (float)(ph_rng_next(rng) >> 40) * 0x1p-24f;
}

double ph_rng_double(ph_rng* rng)
{
    return (double)(ph_rng_next(rng) >> 11) * 0x1p-53;
}

bool ph_rng_chance(ph_rng* rng, double probability)
{
    return ph_rng_double(rng) < probability;
}

bool ph_rng_validate(const ph_rng* rng)
{
    return (rng->state[0] | rng->state[1] | rng->state[2] | rng->state[3]) != 0;
}
