// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A steady tick: tick n is due at the start + n x its length, however long the ones before it took,
// so nothing drifts. A tick that begins a whole length late or more takes the place of those that
// were due in between: they are missed, and counted.

#ifndef PH_APP_SERVE_PACE_H
#define PH_APP_SERVE_PACE_H

#include <stdint.h>

// Plain data; read-only outside.
typedef struct serve_pace {
    uint64_t tick_us;
    uint64_t due_us; // the next tick
    uint64_t ticks;  // begun
    uint64_t missed;
    uint64_t worst_late_us; // since it was last taken
} serve_pace;

// The first tick is due at once.
static inline serve_pace serve_pace_make(uint64_t now_us, uint32_t tick_us)
{
    return (serve_pace){.tick_us = tick_us, .due_us = now_us};
}

// A tick begins. @return When it was due.
static inline uint64_t serve_pace_begin(serve_pace* pace, uint64_t now_us)
{
    const uint64_t late_us = now_us > pace->due_us ? now_us - pace->due_us : 0;
    const uint64_t missed = late_us / pace->tick_us;
    const uint64_t due_us = pace->due_us + missed * pace->tick_us;
    ++pace->ticks;
    pace->missed += missed;
    pace->worst_late_us = late_us > pace->worst_late_us ? late_us : pace->worst_late_us;
    pace->due_us = due_us + pace->tick_us;
    return due_us;
}

static inline uint64_t serve_pace_take_worst(serve_pace* pace)
{
    const uint64_t worst_us = pace->worst_late_us;
    pace->worst_late_us = 0;
    return worst_us;
}

#endif
