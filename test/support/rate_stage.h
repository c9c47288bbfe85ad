// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Clients behind simulated links, each served at the rate of its own controller: datagrams of equal size
// at a steady beat, as large as the rate allows, and an answer to each that arrives. No world: what the
// controller is fed with is counted here as a world counts it.

#ifndef PINHOLE_TEST_RATE_STAGE_H
#define PINHOLE_TEST_RATE_STAGE_H

#include "test_links.h"
#include "test_support.h"

#include <pinhole/net/rate.h>
#include <pinhole/stats.h>

enum { RATE_CLIENTS_MAX = 8, RATE_PACKETS_MAX = 4096 };

typedef struct rate_client {
    ph_rate rate;
    ph_link* down;
    ph_link* up;
    ph_viewer_network_stats link;
    uint64_t sent_us[RATE_PACKETS_MAX]; // by number, modulo
    bool is_applied[RATE_PACKETS_MAX];  // by number, modulo: it came, and before all newer ones
    uint32_t applied;                   // the newest of these
    uint32_t newest;                    // number sent
    uint32_t resolved;                  // up to here
    uint64_t next_us;                   // the next datagram
    double credit_bits;
    double use;       // share of the rate that there is something to send for
    double wants_bps; // no more than this; 0: it wants all
    bool is_stalled;  // it takes nothing from its socket, and answers nothing
} rate_client;

typedef struct rate_stage {
    rate_client clients[RATE_CLIENTS_MAX];
    int count;
    int beats_per_second;
    ph_bottleneck narrow;
    ph_link_def network; // of each client, both ways
    uint64_t now_us;
    uint64_t seed;
    // An answer says of each packet whether it came, as those of the world do; else what an answer passes
    // over counts as lost, which is twice as many where answers get lost, too.
    bool tells_all;
} rate_stage;

typedef struct rate_figures {
    double rate_bps;      // mean, of all clients together
    double least_bps;     // at any moment, of any
    double delivered_bps; // all together
    double queue_ms;      // mean wait at the bottleneck
    double queue_worst_ms;
    double loss;     // of what was sent
    double fairness; // Jain's index of what was delivered: 1 is equal
} rate_figures;

void rate_stage_setup(rate_stage* stage, int count, int limit_bits_per_second);
void rate_stage_teardown(rate_stage* stage);
// After a change of stage->network.
void rate_stage_change(rate_stage* stage);
rate_figures rate_stage_run(rate_stage* stage, double seconds);

#endif
