// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a host tells on_error by itself, in sentences: that it is insecure, every minute; that requests come which it
// cannot let in, of each kind every ten seconds at most; that a client waits to be admitted, or that the game has
// forgotten a call without which clients are shown nothing, once. Once per tick, some comparisons.

#ifndef PINHOLE_NET_HOST_WARNINGS_H
#define PINHOLE_NET_HOST_WARNINGS_H

#include <pinhole/net/netcode_server.h>

typedef struct ph_host ph_host;

// Kinds of requests that never become a connection, and say that host, backend and clients do not agree.
enum { PH_HOST_WARNINGS = 5 };

typedef struct ph_host_warning {
    uint64_t count;   // not told yet
    uint64_t told_us; // 0: never
    ph_address last;  // where the newest came from
} ph_host_warning;

typedef struct ph_host_warnings {
    uint64_t insecure_us; // when it was last told; 0: never
    uint64_t waiting_us;  // when clients that wait were last looked for
    bool is_waiting_told;
    uint64_t admitted_us; // when there was first a client to send to; 0: not yet
    bool has_sent;        // ph_host_send() was called since
    bool is_idle_told;    // or there is nothing to tell
    bool has_new;         // one of these has a count
    ph_host_warning requests[PH_HOST_WARNINGS];
} ph_host_warnings;

// A datagram was refused; most reasons are counted elsewhere and mean nothing here.
void ph_host_note_refusal(ph_host* host, ph_net_refusal refusal, const ph_address* from);

// When it opens, and once per tick.
void ph_host_warn(ph_host* host, uint64_t now_us);

#endif
