// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bots --watch`: bots that come back when they have lost their server, and say what happens to
// them while it happens. What tools/chaos judges by.
//
// One JSON object a line, on standard output; "us" is the time by ph_socket_now_us(), which is the same for
// all processes of a machine (CLOCK_MONOTONIC):
//
//     {"us": 1, "event": "out", "client": 7, "why": "timed out"}     the connection is over
//     {"us": 2, "event": "back", "client": 7}                        connected, the first time included
//     {"us": 3, "event": "equal", "client": 7}                       equal to the world that stands still
//     {"us": 4, "event": "second", "connected": 400, ...}            figures, once a second
//
// The world stands still when another listener of the truth asks for it; after each time it has moved,
// bots become equal anew.

#ifndef PH_APP_BOTS_WATCH_H
#define PH_APP_BOTS_WATCH_H

#include "bots_swarm.h"

typedef struct bots_watch_def {
    bots_swarm* swarm; // with a truth
    int truth_port;
    uint64_t
        silence_us; // a bot that has heard nothing for so long begins anew; 0: netcode's timeout alone
    uint64_t until_us;
} bots_watch_def;

// Until then, or until SIGTERM or SIGINT. @return False when there is no memory.
bool bots_watch_run(const bots_watch_def* def);

#endif
