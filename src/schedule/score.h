// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The score scheduler as the world sees it: what its filter says, as a part of a visit, of which there are
// some tens in a send.

#ifndef PH_SCHEDULE_SCORE_H
#define PH_SCHEDULE_SCORE_H

#include <pinhole/schedule.h>

// Path in units of the distance that makes a position worth telling: a hundredth of it.
#define PH_SCORE_MILEAGE_FACTOR 100.0

// What may differ: of a visit.
typedef struct ph_score_choice {
    uint32_t mileage_mm;
    float distance_mm;
    uint64_t position;
    uint64_t significant;
    uint64_t pressing; // was lost, or has settled
} ph_score_choice;

// As properties. A moving position goes by its path alone: by the plain policy of the property, everybody
// who walks would be told of at every visit.
static inline uint64_t ph_score_choose(ph_score_choice of)
{
    const bool is_far_enough = (double)of.mileage_mm * PH_SCORE_MILEAGE_FACTOR > of.distance_mm;
    const uint64_t position = is_far_enough ? of.position : of.pressing & of.position;
    return (of.significant & ~of.position) | position;
}

// The filter of ph_scheduler_score(), for whoever has to know whether it is meant.
uint64_t ph_score_filter(void* context, const ph_visit* visit);

#endif
