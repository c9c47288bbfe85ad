// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Where the time goes, if the game has lent a clock. Without one a lap is a branch, and there are
// about six of them per viewer and send.

#ifndef PH_WORLD_STOPWATCH_H
#define PH_WORLD_STOPWATCH_H

#include <pinhole/world.h>

typedef struct ph_stopwatch {
    ph_now_ns* now_ns; // NULL: nobody asks
    void* context;
    ph_stage_times* sums;
    uint64_t last_ns;
} ph_stopwatch;

// From now on; what was before belongs to nobody.
static inline void ph_stopwatch_start(ph_stopwatch* watch)
{
    if (watch->now_ns != NULL) {
        watch->last_ns = watch->now_ns(watch->context);
    }
}

// The time since the last start or lap went into this.
static inline void ph_stopwatch_lap(ph_stopwatch* watch, ph_stage stage)
{
    if (watch->now_ns != NULL) {
        const uint64_t now_ns = watch->now_ns(watch->context);
        watch->sums->ns[stage] += now_ns - watch->last_ns;
        watch->last_ns = now_ns;
    }
}

// Started. sums are where the laps go: each thread has its own.
static inline ph_stopwatch ph_stopwatch_make(ph_now_ns* now_ns, void* context, ph_stage_times* sums)
{
    ph_stopwatch watch = {.now_ns = now_ns, .context = context, .sums = sums};
    ph_stopwatch_start(&watch);
    return watch;
}

#endif
