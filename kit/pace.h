// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A steady tick: tick n is due at the start + n x its length, however long the ones before it took,
// so nothing drifts. A tick that begins a whole length late or more takes the place of those that
// were due in between: they are missed, and counted.
//
// Time comes in as an argument. Runs once per tick.

#ifndef PINHOLE_KIT_PACE_H
#define PINHOLE_KIT_PACE_H

#include <stdint.h>

// Plain data; read-only outside.
typedef struct ph_pace {
    uint64_t tick_us;
    uint64_t due_us; // the next tick
    uint64_t ticks;  // begun
    uint64_t missed;
    uint64_t worst_late_us; // since it was last taken
} ph_pace;

// The first tick is due at once. tick_us is not 0.
ph_pace ph_pace_make(uint64_t now_us, uint32_t tick_us);

// A tick begins, be it early or late. @return When it was due.
uint64_t ph_pace_begin(ph_pace* pace, uint64_t now_us);

// @return The latest that a tick has begun since this was last asked.
uint64_t ph_pace_take_worst(ph_pace* pace);

#endif
