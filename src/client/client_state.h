// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client is made of; for the files of this folder.

#ifndef PH_CLIENT_CLIENT_STATE_H
#define PH_CLIENT_CLIENT_STATE_H

#include "client/client_baselines.h"
#include "client/client_entities.h"
#include "client/decode.h"
#include "client/display.h"
#include "client/receive.h"
#include "client/reorder.h"

#include <pinhole/client.h>
#include <pinhole/stats.h>

struct ph_client {
    ph_client_def def;
    ph_layouts layouts;
    ph_session session;
    ph_client_entities entities;
    ph_client_baselines baselines; // {0} unless the profile is pinhole
    ph_events events;
    ph_decoded_packet decoded;
    ph_display display;
    // Not state: a refused datagram changes these, and nothing else.
    ph_reorder reorder;     // a late one: how long to wait for the next
    ph_session candidate;   // of a hello, until a datagram of its session is accepted
    ph_client_stats counts; // only what is counted; the rest is worked out when asked for
    ph_receive_rate rate;
};

// Applies what was held back and has its turn: nothing before it is missing, or its time is up.
void ph_client_release_held(ph_client* client, uint64_t now_us);

// Of everything that a packet may change but the stats: the same before and after a refused one.
// For tests; slow.
uint64_t ph_client_digest(const ph_client* client);

// Pinhole profile: of all baselines at the horizon of the newest packet applied, as
// ph_client_baselines_digest() has it. The sender's are the same when it writes that packet. For
// tests; slow.
uint64_t ph_client_baseline_digest(const ph_client* client);

#endif
