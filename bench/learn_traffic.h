// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A model of the traffic to one viewer, small enough to learn from in seconds: the entity with the
// largest visible error is sent first, up to a number of bits; packets are known to have arrived a
// round trip later, or get lost. Symbols are counted as the pinhole profile writes them.

#ifndef PH_LEARN_TRAFFIC_H
#define PH_LEARN_TRAFFIC_H

#include "learn_game.h"

typedef struct learn_viewer {
    int entity;         // whose eyes it has
    int interval_ticks; // between packets
    int packet_bits;    // for records
    uint64_t seed;
} learn_viewer;

// @return False when there is no memory.
bool learn_traffic_run(learn_game* game, const learn_viewer* viewer);

#endif
