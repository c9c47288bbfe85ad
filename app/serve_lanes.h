// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sockets of a server, one for each of its threads where the system can do that, and the way of
// what comes in. All sockets have the same address; what a client sends comes always by the same one,
// its lane. So the threads open, read and acknowledge side by side, each what is in its lane:
//
//   from a client in its own lane     its thread: opened, mail and acknowledgement taken
//   from anybody else                 kept, and given to netcode afterwards, on the caller's thread:
//                                     requests, responses, and who is found in another lane

#ifndef PH_APP_SERVE_LANES_H
#define PH_APP_SERVE_LANES_H

#include "serve_session.h"

#include <pinhole/net/pool.h>
#include <pinhole/net/socket.h>

typedef struct serve_lane serve_lane;

// {0} may be closed. Read-only outside.
typedef struct serve_lanes {
    serve_lane* lanes; // one for each thread
    int count;
    ph_socket* sockets[PH_SOCKETS_MAX]; // of the first lanes; the others only send, by any of these
    int socket_count;
    int16_t* lane_of; // by client; -1: nobody has come by any
    ph_pool* pool;
    const serve_terms* terms;
    const serve_sessions* sessions;
} serve_lanes;

typedef struct serve_lanes_def {
    ph_pool* pool;
    ph_address listen;
    int client_capacity;
    const serve_terms* terms;
    const serve_sessions* sessions;
} serve_lanes_def;

// @return PH_OK, or why there is no socket, as ph_socket_open; then *lanes may be closed.
ph_result serve_lanes_open(serve_lanes* lanes, const serve_lanes_def* def);
void serve_lanes_close(serve_lanes* lanes);

// Where a lane's datagrams wait to be sent. One thread at a time has a lane; the first one is the
// caller's, whenever nothing runs.
ph_outbox* serve_lanes_outbox(const serve_lanes* lanes, int lane);

// Receives all that has come.
void serve_lanes_receive(serve_lanes* lanes);

// Waits until something comes, but no longer than this. @return Whether something has come.
bool serve_lanes_wait(const serve_lanes* lanes, uint64_t timeout_us);

// Of all sockets together.
ph_socket_stats serve_lanes_stats(const serve_lanes* lanes);

#endif
