// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The workers of a host, one for each of its threads, and how they receive. Where the system can do
// that, each worker has a socket; all sockets have the same address, and what one client sends
// always comes by the same socket, so the client belongs to that worker. The workers open and read
// datagrams in parallel:
//
//   from a client of this worker      on its thread: opened, messages and ack taken
//   from any other address            kept, and given to netcode afterwards, on the caller's thread:
//                                     requests, responses, and clients of another worker

#ifndef PINHOLE_NET_HOST_WORKERS_H
#define PINHOLE_NET_HOST_WORKERS_H

#include "net/host_send_batch.h"
#include "net/net_tools.h"

typedef struct ph_host_worker ph_host_worker;

// {0} may be closed. Read-only outside.
typedef struct ph_host_workers {
    ph_host_worker* workers; // one for each thread
    int count;
    // Of the first workers; the others only send, by any of these.
    ph_socket* sockets[PH_SOCKETS_MAX];
    int socket_count;
    // Of the workers with a socket: datagrams that are given to netcode later.
    struct ph_host_unmatched* unmatched;
    int16_t* worker_of;   // by client; -1: nothing has come by any
    ph_address* local_of; // by client: to which of our addresses it sends; {0}: the only one
    int client_capacity;
    ph_allocator allocator;
} ph_host_workers;

// @return PH_OK, or why there is no socket, as ph_socket_open(); then *workers may be closed.
ph_result ph_host_workers_open(ph_host_workers* workers, const ph_host_def* def,
                               const ph_net_simulation* simulation);
void ph_host_workers_close(ph_host_workers* workers);

// Where what a worker sends waits. One thread at a time has a worker; the first one is the
// caller's, whenever nothing runs.
ph_host_send_batch* ph_host_workers_batch(const ph_host_workers* workers, int worker);

// Receives all that has come.
void ph_host_workers_receive(ph_host* host);

// Of all sockets together.
ph_socket_stats ph_host_workers_stats(const ph_host_workers* workers);

#endif
