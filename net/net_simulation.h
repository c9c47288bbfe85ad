// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Hosts on another clock and another network than the system's: those of a simulation, or real sockets on
// a clock that can stand still. Not installed.

#ifndef PINHOLE_NET_SIMULATION_H
#define PINHOLE_NET_SIMULATION_H

#include <pinhole/net/host.h>

// A clock and a network in place of the system's.
typedef struct ph_net_simulation {
    uint64_t (*now_us)(void* context);
    uint64_t (*unix_s)(void* context);
    // As ph_socket_receive() and ph_socket_send().
    int (*receive)(void* context, ph_datagram* datagrams, int max);
    int (*send)(void* context, const ph_datagram* datagrams, int count);
    void* context;
} ph_net_simulation;

// ph_host_open() without a socket; it listens where the def says. The simulation outlives the host. A
// receive does not wait.
ph_result ph_host_open_simulated(const ph_host_def* def, const ph_net_simulation* simulation,
                                 ph_host** host);

// A socket that is none; simulation NULL: ph_socket_open().
ph_result ph_socket_open_simulated(const ph_socket_def* def, const ph_net_simulation* simulation,
                                   ph_socket** socket);

#endif
