// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether a world is ticked as often as it says. Clients are told the length of a tick and count the server's time in
// it: when it is another one, everything that moves is shown where it is not. Runs once per tick.

#ifndef PINHOLE_NET_TICK_WATCH_H
#define PINHOLE_NET_TICK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

// Plain data. {0} has seen nothing.
typedef struct ph_tick_watch {
    uint64_t start_us; // of the present stretch
    uint64_t last_us;
    uint32_t start_tick;
    int8_t off; // of the stretch before: 1 too long, -1 too short
    bool has_begun;
    bool has_told;
} ph_tick_watch;

// The host ticks; tick is how often the world has been ticked by now, tick_us the length that it says.
// @return The mean length in us, once, when over two stretches of five seconds (or 20 ticks, if that is longer) it is
// off by more than a fifth, both times to the same side; else 0. A world that stands still, or a program that did, is
// no fault; nor is one that catches up with its ticks afterwards.
uint64_t ph_tick_watch_note(ph_tick_watch* watch, uint64_t now_us, uint32_t tick, uint32_t tick_us);

#endif
