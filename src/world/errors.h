// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is wrong with what a client shows: for each slot the difference between what is expected of
// the client (expectation.h) and the truth, both at the moment when a record that is sent now
// arrives. What is on its way may still get lost: by that chance, the error without it counts.
//
// A few nanoseconds for each slot and send; nothing allocates.

#ifndef PH_WORLD_ERRORS_H
#define PH_WORLD_ERRORS_H

#include "world/expectation.h"

// In memory of PH_ERROR_LANES * count floats.
typedef struct ph_error_lanes {
    float* range_mm;
    float* error_mm;
    float* growth_mm_s;
    float* turn_rad;
    float* age_s;
    float* missing;
    float* position_bits;
    float* carried_mm; // by the motion that the client goes on with; not ranked
    float* kept;       // the scheduler's
} ph_error_lanes;
#define PH_ERROR_LANES 9
ph_error_lanes ph_error_lanes_make(float* memory, int count);

// Slots from `first` on; the lanes begin with that one.
typedef struct ph_error_span {
    const ph_outlook* outlook;
    int32_t eye_z_mm;
    int first;
    int count;
    ph_slot_list shown; // of these, all that show somebody
    const ph_error_lanes* lanes;
    const uint64_t* touched; // what may be due
} ph_error_span;

// The sender has an expectation. The result borrows the lanes.
ph_ranking_errors ph_errors_fill(const ph_error_span* span);

#endif
