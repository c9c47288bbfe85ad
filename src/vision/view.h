// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one viewer's question found, without naming anybody: how far the exact answer reaches. Whoever
// may be seen and is within reach is in it, so the members of a view are judged where they stand,
// and only newcomers have to be named. A view is kept for the next question, which begins where this one
// ended: a few enter and leave in a second, and the reach hardly moves.
//
//   enter   who becomes visible: among the nearest, and within the radius
//   near    among the nearest
//   wide    within the hysteresis: who is visible stays so

#ifndef PH_VISION_VIEW_H
#define PH_VISION_VIEW_H

#include "vision/crowd.h"

// {0} has nobody. Between two that are equally far, spawn order decides.
typedef struct ph_reach {
    uint64_t distance2; // all that are nearer are within,
    uint64_t end_order; // and who is as far, if it was spawned before
} ph_reach;

static inline bool ph_reach_has(const ph_reach* reach, uint64_t distance2, uint64_t spawn_order)
{
    return distance2 < reach->distance2 ||
           (distance2 == reach->distance2 && spawn_order < reach->end_order);
}

static inline bool ph_reach_is_further(const ph_reach* reach, const ph_reach* than)
{
    return reach->distance2 > than->distance2 ||
           (reach->distance2 == than->distance2 && reach->end_order > than->end_order);
}

// {0} for the first question.
typedef struct ph_view {
    ph_reach enter;
    ph_reach near;
    ph_reach wide;
    uint64_t near_always_end; // ALWAYS entities that were spawned before
    uint64_t wide_always_end;
    int enter_count; // how many may be seen within `enter`, ALWAYS entities included
} ph_view;

#endif
