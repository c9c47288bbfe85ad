// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The front-end: sockets, secure connections, a session for each, and a pool of threads that receives
// from and sends to all of them. One tick:
//
//   wait, receive what comes        all threads, each by its own socket (serve_lanes.h);
//                                   acknowledgements go into the world at once
//   tick of netcode, events         who came, who went: viewers of the world
//   the stage moves, the world ticks
//   sends                           all threads, a few clients at a time: the world writes, netcode
//                                   seals, the thread's own socket sends
//
// When the sends take longer than there is time, those that are left come first in the next tick: so
// under overload everybody is sent to less often, and nobody less than others.

#ifndef PH_APP_SERVE_FRONT_H
#define PH_APP_SERVE_FRONT_H

#include "serve_session.h"

#include <pinhole/net/pool.h>
#include <pinhole/net/socket.h>

typedef struct serve_front_def {
    serve_stage* stage;
    ph_pool* pool;
    ph_address listen;
    ph_address public_address; // port 0: the one that the socket got
    const uint8_t* key;        // PH_NETCODE_KEY_SIZE bytes
    int client_capacity;
    int64_t bits_per_second; // 0: no limit
    double hz;               // sends per second, or PH_SENDS_AUTO
    int slots;
    bool is_rate_fixed; // no controller: as much as the budget allows, whatever the links show
    serve_watch* watch; // NULL: nobody wants to know; else the pool has one thread
} serve_front_def;

// Since the start.
typedef struct serve_counts {
    int clients; // now
    uint64_t connected;
    uint64_t ended[PH_NET_END_COUNT];
    double rate_bits_per_second; // that a client may be sent, on average, now
    uint64_t put_off;            // sends that there was no time for in their tick
    serve_traffic traffic;
    ph_net_server_stats net;
    ph_socket_stats socket;
} serve_counts;

typedef struct serve_front serve_front;

// Listening. @return NULL with *fault filled. Stage and pool outlive it; the key is copied.
serve_front* serve_front_create(const serve_front_def* def, ph_fault* fault);
void serve_front_destroy(serve_front* front); // NULL is allowed

ph_address serve_front_local(const serve_front* front);
ph_address serve_front_public(const serve_front* front);
const serve_sessions* serve_front_sessions(const serve_front* front);

// Receives all that has come, and waits for more until then; does not wait when it is past.
void serve_front_receive(serve_front* front, uint64_t until_us);

// Connections come and go, the stage moves, the world ticks. @return False with *fault filled.
bool serve_front_tick(serve_front* front, ph_fault* fault);

// Sends to all whose time has come; begins with no group of 32 after until_us.
void serve_front_send(serve_front* front, uint64_t until_us);

// Tells all clients that it is over.
void serve_front_stop(serve_front* front);

serve_counts serve_front_counts(const serve_front* front);

#endif
