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

// What is left of the view of another server, after a move: client_move.c.
typedef struct ph_succession {
    bool has_begun;    // a packet of the present server was applied
    uint64_t first_us; // when
    uint64_t enter_us; // when the last one with an enter was
} ph_succession;

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
    ph_client*
        former; // NULL: none. Only def, entities, events, display and former of it are in use
    ph_succession succession;
};

// ---- client.c

// Everything but the layouts, which are shared by what came before.
// @return PH_OK or PH_ERROR_MEMORY; either way ph_client_destroy_parts() follows.
ph_result ph_client_create_parts(ph_client* client, const ph_layouts* layouts);
void ph_client_destroy_parts(ph_client* client);

// ---- client_move.c

// Where an entity is: in the present view, or in what is left of one before. @return Its slot in that of the owner, or
// -1.
int ph_client_locate(const ph_client* client, ph_entity_id entity, const ph_client** owner);

// The same by its key.
int ph_client_locate_key(const ph_client* client, uint64_t key, const ph_client** owner);

// An entity has entered a slot of the present view, where it was not before: if another server has shown it, it is
// taken over from there. @return Whether it was.
bool ph_client_inherit(ph_client* client, int slot);

// A packet of the present server was applied.
void ph_client_note_packet(ph_client* client, uint64_t now_us, bool has_enters);

// Once per frame, and when events are fetched: what the present server does not show leaves, and what is over is
// released.
void ph_client_settle(ph_client* client, uint64_t now_us);
void ph_client_release_former(ph_client* client);

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
