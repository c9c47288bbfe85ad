// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One frame of what a client shows: which moment of the server's time, how long after the frame
// before. Made once per frame, used for every entity.

#ifndef PH_MOTION_MOMENT_H
#define PH_MOTION_MOMENT_H

#include <pinhole/base.h>

#include <math.h>

// Differences to what should be shown shrink to a third in this time. Shorter shows every
// correction, longer lags: 50 ms cost fast scenes 7 %.
#define PH_MOMENT_APPROACH_S 0.03f
// Headings may turn quicker: nothing stands in the way of a turn.
#define PH_MOMENT_TURN_S 0.02f

// Times of either end lie within this much of 0, some 146,000 years, so that no difference of two
// overflows.
#define PH_MOMENT_US_MAX (INT64_C(1) << 62)

typedef struct ph_moment {
    int64_t time_us;     // the server's time that is shown; a delay is already taken off
    float elapsed_s;     // since the frame before
    float approach;      // share of a difference of positions that this frame takes away
    float turn_approach; // the same of headings
    bool is_delayed;     // shown between samples instead of ahead of them
} ph_moment;

// delay_us 0: now. Time that went back counts as none.
static inline ph_moment ph_moment_make(int64_t server_us, int64_t elapsed_us, int64_t delay_us)
{
    const float elapsed_s = elapsed_us > 0 ? (float)elapsed_us * 1e-6f : 0.0f;
    return (ph_moment){
        .time_us = server_us - delay_us,
        .elapsed_s = elapsed_s,
        .approach = 1.0f - expf(-elapsed_s / PH_MOMENT_APPROACH_S),
        .turn_approach = 1.0f - expf(-elapsed_s / PH_MOMENT_TURN_S),
        .is_delayed = delay_us > 0,
    };
}

#endif
