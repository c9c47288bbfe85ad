// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The processes of `pinhole bench bus`: a sim and its front-ends, and the plain publisher and subscribers that they are
// compared with. Each role is a process of its own, so that its processor time, with all threads of libnats, is known.

#ifndef PH_BENCH_BUS_ROLES_H
#define PH_BENCH_BUS_ROLES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bus_play {
    const char* url; // of the nats-server
    char world[24];  // a name of its own for each round, so that nothing of the last one is heard
    int number;      // of this process among those of its role
    int entities;
    int hz;
    uint64_t start_us; // of the wall clock: what is before is warm-up
    uint64_t end_us;
} bus_play;

// What a process has measured between start and end.
typedef struct bus_cost {
    bool is_done;
    double
        cpu_ns; // of the role: without moving entities and ticking worlds, which no role is judged by
    double records;
    double messages;
    double bytes;  // of payload
    double put_ns; // of the subscriber: one put of the same values into a world
    double lost;   // gaps, dropped or unsent messages
} bus_cost;

typedef bus_cost bus_role_fn(const bus_play* play);

bus_cost bus_role_sim(const bus_play* play);
bus_cost bus_role_front(const bus_play* play);
bus_cost bus_role_publisher(const bus_play* play);
bus_cost bus_role_subscriber(const bus_play* play);

#endif
