// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The front-end: a host, the stage behind it, and a serve_client for each client. One tick:
//
//   wait, receive what comes        all threads; acknowledgements go into the world at once
//   connects and disconnects        viewers of the world
//   the stage moves, the world ticks
//   sends                           all threads

#ifndef PH_APP_SERVE_FRONT_H
#define PH_APP_SERVE_FRONT_H

#include "serve_audit.h"
#include "serve_client.h"
#include "serve_keys.h"

#include <pinhole/net/host.h>

typedef struct serve_front_def {
    serve_stage* stage;
    ph_pool* pool;
    ph_address listen;
    ph_address public_address; // port 0: the one that the socket got
    const serve_key_pair* keys;
    const char* spent_path; // NULL: none
    int requests_per_second;
    int pending;
    int pending_per_client;
    int pending_per_prefix;
    int client_capacity;
    int bits_per_second; // 0: no limit
    double hz;           // sends per second, or PH_SENDS_AUTO
    int slots;
    serve_audit* audit;    // NULL: none
    ph_recorder* recorder; // of the stage's world; NULL: none
    serve_writer* log;     // for errors while it runs; NULL: none
    bool has_bus;          // serve_front_set_bus() follows, and has messages and players
    bool is_insecure_dev;  // the keys are all zero
    bool is_rate_fixed;    // no controller: as much as the budget allows, whatever the links show
} serve_front_def;

// Since the start.
typedef struct serve_counts {
    int clients;                 // now
    double rate_bits_per_second; // that a client may be sent, on average, now
    uint64_t messages;           // that came
    uint64_t messages_dropped;   // that did not fit into the queue back
    uint64_t game_ns;            // that the stage took
    ph_host_stats host;
} serve_counts;

typedef struct serve_front serve_front;

// Listening. @return NULL with *fault filled. Stage, pool, log and audit outlive it; the keys are copied.
serve_front* serve_front_create(const serve_front_def* def, ph_fault* fault);
void serve_front_destroy(serve_front* front); // NULL is allowed

// Players and entities of a world on several machines, in place of the stage's.
typedef struct serve_front_bus {
    void (*take)(void* context, const ph_net_event* event);
    void (*tick)(void* context); // before the world's
    void* context;
} serve_front_bus;

void serve_front_set_bus(serve_front* front, const serve_front_bus* bus);

// What all clients have in common.
const ph_viewer_def* serve_front_view(const serve_front* front);

// For all that a host can be asked, and to receive, send and stop by.
ph_host* serve_front_host(const serve_front* front);

// With a bus: who has come and gone meanwhile, between ticks.
void serve_front_take_events(serve_front* front);

// Connections come and go, the stage moves, the world ticks. @return False with *fault filled.
bool serve_front_tick(serve_front* front, ph_fault* fault);

// The clients are told that it ends, and none is let in any more.
void serve_front_stop(serve_front* front);

// The client with this id, and its place at the host; NULL when there is none.
const serve_client* serve_front_find(const serve_front* front, uint64_t client_id, int* index);

serve_counts serve_front_counts(const serve_front* front);

#endif
