// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random numbers for scenes and simulated links: fast, small, and the same on every machine.
// (xoshiro256++ by Blackman and Vigna, seeded by splitmix64.) Not for secrets: a few numbers give
// the rest away.

#ifndef PINHOLE_BASE_RNG_H
#define PINHOLE_BASE_RNG_H

#include "pinhole/base.h"

// A stream of numbers. Plain data: a copy goes on with the same numbers. {0} is no stream: start
// from ph_rng_make() or ph_rng_split().
typedef struct ph_rng {
    uint64_t state[4]; // never all zero
} ph_rng;

_Static_assert(sizeof(ph_rng) == 32, "recordings may keep it");

// The stream of a seed. Every seed is good, 0 included; near seeds give unrelated streams.
ph_rng ph_rng_make(uint64_t seed);

// A stream of its own for one part of a scene, such as one walker or one link. Depends on the
// parent's present state and the key; the parent is not advanced, so that parts can be added
// without disturbing the others.
ph_rng ph_rng_split(const ph_rng* parent, uint64_t key);

// 64 random bits.
uint64_t ph_rng_next(ph_rng* rng);

// 0..limit-1, each equally likely. limit is 1 or more. Takes two numbers of the stream at most, on
// average.
uint64_t ph_rng_below(ph_rng* rng, uint64_t limit);

// low..high, both included, each equally likely. low <= high; any two will do.
int64_t ph_rng_range(ph_rng* rng, int64_t low, int64_t high);

// 0 <= number < 1, in steps of 2^-24.
float ph_rng_float(ph_rng* rng);

// 0 <= number < 1, in steps of 2^-53.
double ph_rng_double(ph_rng* rng);

// True with the given probability: 0 or less is never, 1 or more always. Takes one number of the
// stream, whatever the probability.
bool ph_rng_chance(ph_rng* rng, double probability);

// Whether the state is one that a stream can have. For tests.
bool ph_rng_validate(const ph_rng* rng);

#endif
