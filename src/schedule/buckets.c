// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The scheduler that Ryzom tried first: each property of each entity in view has a priority, by how
// much of the picture its change concerns. Priorities stand on shelves, one for each power of two,
// and in four buckets on each shelf:
//
//   shelf    | 8 ............ | 4 ............ | 2 ............ | 1 ............ |
//   bucket   | 14  12  10   8 |  7   6   5   4 | 3.5  3 2.5   2 | ...            |
//
// A priority is rounded down to its bucket, and the buckets are emptied from the left. Equal ones need
// no order among themselves; they go by slot. (order.h brings everybody into that order, as it does
// for every scheduler.)
//
// What a change concerns: an angle, length over distance. Of a position the length is its path since
// it was told of, so that walking round a wall counts. Everything else is measured by the world in
// looks (a hat put on is another look), summed up in the same way when a property changes and not
// when a viewer looks: comparing all values of all pairs is what made the first algorithm too slow.
// Another look counts as if half a metre of the picture had moved. Counting every significant turn of
// five degrees as much was tried: in a dense crowd a third of the bits went into headings.
//
// And an angle is multiplied by the sends it has waited for. So nobody starves, whoever else moves;
// and it is the best that can be done with positions: with n entities whose errors grow at rates r,
// and a fixed number of updates for all of them, the mean error is least when each is told of at
// intervals t with equal r t^2 - which is angle times waiting. By the angle alone the far ones would
// wait too long, as they do by score.
//
// rank runs once per viewer and send over all slots, in vectors; the rest once per visit or packet.

#include "schedule/waiting.h"

#include <pinhole/schedule.h>

#include <float.h>
#include <string.h>

// What another look counts for.
#define CHANGE_MM 500.0f
// Whatever is due counts for this at least: the step of the wire.
#define LEAST_MM 16.0f

// Of the bits of a float, those that name shelf and bucket: exponent, and two of the fraction.
#define BUCKET_MASK UINT32_C(0xFFE00000)

// A position that stands up to two shelves below what brought its entity here goes along: the slot
// is paid for. Everything else costs little beside a position and always goes along.
#define ALONG 4.0f

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static float bucket_of(float priority)
{
    uint32_t bits;
    memcpy(&bits, &priority, sizeof bits);
    bits &= BUCKET_MASK;
    memcpy(&priority, &bits, sizeof priority);
    return priority;
}

// The score is how many sends somebody has waited for.
static void rank(void* context, const ph_ranking* ranking)
{
    (void)context;
    const float* restrict distance_mm = ranking->distance_mm;
    const float* restrict weight = ranking->weight;
    const uint32_t* restrict mileage_mm = ranking->mileage_mm;
    const float* restrict change = ranking->change;
    const uint64_t* restrict touched = ranking->touched;
    float* restrict score = ranking->score;
    float* restrict priority = ranking->priority;
    const int slot_count = ranking->slot_count;
    for (int i = 0; i < slot_count; ++i) {
        const uint32_t any = (uint32_t)touched[i] | (uint32_t)(touched[i] >> 32);
        const bool is_waiting = (any != 0) & (distance_mm[i] <= FLT_MAX);
        const float waited = ph_only_if(is_waiting, score[i] + 1.0f);
        const float length_mm = larger((float)mileage_mm[i], CHANGE_MM * change[i]);
        const float angle = larger(length_mm, LEAST_MM) / distance_mm[i];
        score[i] = waited;
        priority[i] = bucket_of(ph_only_if(is_waiting, weight[i] * angle * waited));
    }
}

static uint64_t filter(void* context, const ph_visit* visit)
{
    (void)context;
    const uint64_t others = visit->significant & ~visit->position;
    const float moved_mm = larger((float)visit->mileage_mm, LEAST_MM);
    // Differences that are not significant have brought nobody here.
    const float changed_mm = others != 0 ? CHANGE_MM * visit->change : 0.0f;
    const uint64_t position = moved_mm * ALONG >= changed_mm ? visit->position : 0;
    return (position | others | visit->lost | visit->settled) & visit->due;
}

ph_scheduler ph_scheduler_buckets(void)
{
    return (ph_scheduler){
        .name = "buckets",
        .rank = rank,
        .filter = filter,
        .sent = ph_waiting_sent,
        .lost = ph_waiting_lost,
        .wants_change = true,
    };
}
