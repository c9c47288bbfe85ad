// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The scheduler that Ryzom shipped: the nearer, the faster the score grows; whoever is told of
// begins anew. rank runs once per viewer and send over all slots, in vectors; the rest once per
// visit or packet.

#include "schedule/score.h"

#include "base/wide.h"
#include "schedule/waiting.h"

#include <pinhole/schedule.h>

#include <float.h>

// Per send, times the weight.
#define GAIN_AT_1_MM 10000.0f
#define TOUCHING_MM 100.0f
#define TOUCHING_GAIN 100.0f

// No branch, no integer division: gcc 12 at -O3 and clang make vectors of four from it. Each slot
// stands for itself, so every width gives the same bits.
PH_WIDE static void rank(void* context, const ph_ranking* ranking)
{
    (void)context;
    const float* restrict distance_mm = ranking->distance_mm;
    const float* restrict weight = ranking->weight;
    const uint64_t* restrict touched = ranking->touched;
    float* restrict score = ranking->score;
    float* restrict priority = ranking->priority;
    const int slot_count = ranking->slot_count;
    for (int i = 0; i < slot_count; ++i) {
        const float touching = ph_only_if(distance_mm[i] < TOUCHING_MM, TOUCHING_GAIN);
        const float grown = score[i] + weight[i] * (GAIN_AT_1_MM / distance_mm[i] + touching);
        // Nobody is there at an infinite distance: whatever was left behind goes.
        const float kept = ph_only_if(distance_mm[i] <= FLT_MAX, grown);
        const uint32_t any = (uint32_t)touched[i] | (uint32_t)(touched[i] >> 32);
        score[i] = kept;
        // What is left of a score from before the hint was 0 does not count.
        priority[i] = ph_only_if((any != 0) & (weight[i] > 0.0f), kept);
    }
}

uint64_t ph_score_filter(void* context, const ph_visit* visit)
{
    (void)context;
    const ph_score_choice choice = {
        .mileage_mm = visit->mileage_mm,
        .distance_mm = visit->distance_mm,
        .position = visit->position,
        .significant = visit->significant,
        .pressing = visit->lost | visit->settled,
    };
    return ph_score_choose(choice) & visit->due;
}

ph_scheduler ph_scheduler_score(void)
{
    return (ph_scheduler){.name = "score",
                          .rank = rank,
                          .filter = ph_score_filter,
                          .sent = ph_waiting_sent,
                          .lost = ph_waiting_lost};
}
