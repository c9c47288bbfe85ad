// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a scheduler is given to rank, as plain arrays that a test fills by hand.
//
//     ranked_slots f;
//     ranked_slots_setup(&f, ph_scheduler_score());
//     f.distance_mm[3] = 2500.0f;
//     ranked_slots_rank(&f);

#ifndef PINHOLE_RANKED_SLOTS_H
#define PINHOLE_RANKED_SLOTS_H

#include "test_support.h"

#include "base/hash.h"

#include <pinhole/schedule.h>

enum { RANKED_SLOTS = 256 };

typedef struct ranked_slots {
    float distance_mm[RANKED_SLOTS];
    float weight[RANKED_SLOTS];
    uint32_t mileage_mm[RANKED_SLOTS];
    float change[RANKED_SLOTS];
    uint64_t dirty[RANKED_SLOTS];
    float score[RANKED_SLOTS];
    float priority[RANKED_SLOTS];
    uint32_t notes[RANKED_SLOTS];
    // Of schedulers that want errors.
    float range_mm[RANKED_SLOTS];
    float error_mm[RANKED_SLOTS];
    float growth_mm_s[RANKED_SLOTS];
    float turn_rad[RANKED_SLOTS];
    float age_s[RANKED_SLOTS];
    float missing[RANKED_SLOTS];
    float position_bits[RANKED_SLOTS];
    ph_ranking_errors errors;
    ph_ranking ranking; // of all these
    ph_scheduler scheduler;
} ranked_slots;

/// Weights are 1, all else is 0. The scheduler gets change and errors only if it wants them.
void ranked_slots_setup(ranked_slots* slots, ph_scheduler scheduler);

void ranked_slots_rank(ranked_slots* slots);

/// Every bit of scores and priorities.
void ranked_slots_hash(const ranked_slots* slots, ph_hash* hash);

#endif
