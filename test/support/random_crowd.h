// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Random crowds and random questions, for all that must equal brute force: spread evenly, in
// clusters, on lines, on one point, on a lattice full of ties, and any of these across the edge of
// the world.

#ifndef PINHOLE_RANDOM_CROWD_H
#define PINHOLE_RANDOM_CROWD_H

#include "test_support.h"

#include "vision/entity_arrays.h"

enum { RANDOM_CROWD_MAX = 1200 };

typedef struct random_crowd {
    int32_t x_mm[RANDOM_CROWD_MAX];
    int32_t y_mm[RANDOM_CROWD_MAX];
    uint32_t seen_by[RANDOM_CROWD_MAX];
    uint8_t flags[RANDOM_CROWD_MAX];
    uint64_t spawn_order[RANDOM_CROWD_MAX];
    ph_entity_index live[RANDOM_CROWD_MAX];
    int64_t side_mm; // the area they are in
    ph_entity_arrays crowd;
} random_crowd;

/// A crowd of up to RANDOM_CROWD_MAX with some indices unused.
void random_crowd_make(random_crowd* made, test_rng* rng);

/// A question that suits the crowd: from one of its entities or from anywhere, any radius, any
/// wanted.
ph_eye random_eye_make(const random_crowd* made, test_rng* rng);

/// The callback of some eyes: refuses a third of all entities, others for each viewer.
bool random_eye_callback(void* context, uint32_t viewer, ph_entity_index entity);

/// Asserts that seen is the exact answer, the nearest `first` of it in front.
void assert_exact_answer(const ph_entity_arrays* crowd, const ph_eye* eye, int first,
                         const ph_seen* seen, int count);

#endif
