// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client is made of; for the files of this folder.

#ifndef PH_CLIENT_CLIENT_STATE_H
#define PH_CLIENT_CLIENT_STATE_H

#include "client/arrivals.h"
#include "client/display.h"
#include "client/draft.h"
#include "client/events.h"
#include "client/horizon.h"
#include "client/mirror.h"
#include "wire/ack.h"
#include "wire/header.h"

#include <pinhole/client.h>

// What the first hello told, and which packets came since. {0} before.
typedef struct ph_session {
    bool has_begun;
    ph_hello hello;
    int slot_bits;
    uint32_t horizon; // the newest that a packet stated; it never goes back
    ph_arrivals arrivals;
} ph_session;

// Payload by whole seconds.
typedef struct ph_rate {
    uint64_t second;
    uint64_t bytes;      // in it so far
    uint64_t last_bytes; // in the one before
} ph_rate;

struct ph_client {
    ph_client_def def;
    ph_layouts layouts;
    ph_session session;
    ph_mirror mirror;
    ph_horizon horizon; // {0} unless the profile is pinhole
    ph_events events;
    ph_draft draft;
    ph_display display;
    // Not state: a refused datagram changes these, and nothing else.
    ph_client_stats counts; // only what is counted; the rest is worked out when asked for
    ph_rate rate;
};

// Our time as everything in here takes it; more would overflow.
static inline uint64_t ph_client_clamp_us(uint64_t now_us)
{
    return now_us < (uint64_t)PH_MOMENT_US_MAX ? now_us : (uint64_t)PH_MOMENT_US_MAX;
}

// Of everything that a packet may change but the stats: the same before and after a refused one.
// For tests; slow.
uint64_t ph_client_digest(const ph_client* client);

// Pinhole profile: of all baselines at the horizon of the newest packet applied, as
// ph_horizon_digest() has it. The sender's are the same when it writes that packet. For tests; slow.
uint64_t ph_client_baseline_digest(const ph_client* client);

#endif
