// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sockets of a host, one for each of its threads where the system can do that, and the way of what
// comes in. All sockets have the same address; what a client sends comes always by the same one, its
// lane. So the threads open, read and acknowledge side by side, each what is in its lane:
//
//   from a client in its own lane     its thread: opened, messages and acknowledgement taken
//   from anybody else                 kept, and given to netcode afterwards, on the caller's thread:
//                                     requests, responses, and who is found in another lane

#ifndef PINHOLE_NET_HOST_LANES_H
#define PINHOLE_NET_HOST_LANES_H

#include "net/host_pile.h"

typedef struct ph_host_lane ph_host_lane;

// {0} may be closed. Read-only outside.
typedef struct ph_host_lanes {
    ph_host_lane* lanes; // one for each thread
    int count;
    ph_socket* sockets[PH_SOCKETS_MAX]; // of the first lanes; the others only send, by any of these
    int socket_count;
    struct ph_host_stranger* strangers; // of the lanes with a socket: who is given to netcode later
    int16_t* lane_of;                   // by client; -1: nobody has come by any
    int client_capacity;
    ph_allocator allocator;
} ph_host_lanes;

// @return PH_OK, or why there is no socket, as ph_socket_open(); then *lanes may be closed.
ph_result ph_host_lanes_open(ph_host_lanes* lanes, const ph_host_def* def);
void ph_host_lanes_close(ph_host_lanes* lanes);

// Where what a lane sends waits. One thread at a time has a lane; the first one is the
// caller's, whenever nothing runs.
ph_host_pile* ph_host_lanes_pile(const ph_host_lanes* lanes, int lane);

// Receives all that has come.
void ph_host_lanes_receive(ph_host* host);

// Of all sockets together.
ph_socket_stats ph_host_lanes_stats(const ph_host_lanes* lanes);

#endif
