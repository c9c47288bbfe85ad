// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a host consists of. host.c opens it and ticks, host_workers.c receives, host_session.c has
// one client's coming and going and what comes from it, host_admission.c whether client and world go
// together, host_spares.c how clients go to another host, host_sending.c what goes to a client, host_warnings.c what on_error is told.

#ifndef PINHOLE_NET_HOST_STATE_H
#define PINHOLE_NET_HOST_STATE_H

#include "net/host_admission.h"
#include "net/host_warnings.h"
#include "net/host_workers.h"
#include "net/host_session.h"
#include "net/host_spares.h"
#include "net/tick_watch.h"
#include "tools/tools.h"
#include "net/net_tools.h"

#include <stdatomic.h>
#include <time.h>

struct ph_host {
    ph_host_def def; // without the key
    ph_net_server* server;
    ph_address public_address;
    ph_host_workers workers;
    ph_host_sessions sessions;
    ph_host_admissions admissions;
    ph_host_spares spares;
    ph_tick_watch tick_watch;
    ph_host_warnings warnings;
    const ph_net_simulation* simulation; // NULL: the system's clock and sockets

    // The time of day, as it was when it last agreed with the other clock, and since when it is ahead.
    uint64_t day_s;
    uint64_t day_us;
    uint64_t ahead_us;              // 0: it is not
    const ph_address* answers_from; // where the datagram came to that netcode reads now; NULL: none

    // The present sends.
    int first; // place in the active list at which they begin
    uint64_t until_us;
    int chunk_count;
    atomic_int next_chunk; // the first one that no thread has taken
    uint64_t put_off;

    // Where the time goes, when it is asked for.
    ph_now_ns_fn* now_ns; // NULL: not asked for
    void* clock_context;
    ph_host_times times;
};

// Work for each index below count, on all threads.
static inline void ph_host_run(ph_host* host, int count, ph_job_fn* work)
{
    if (host->def.pool != NULL) {
        ph_pool_run(host->def.pool, count, work, host);
        return;
    }
    for (int i = 0; i < count; ++i) {
        work(host, i);
    }
}

// What time it is, and the time of day.
static inline uint64_t ph_host_now_us(const ph_host* host)
{
    return host->simulation != NULL ? host->simulation->now_us(host->simulation->context)
                                    : ph_socket_now_us();
}

static inline uint64_t ph_host_unix_s(const ph_host* host)
{
    return host->simulation != NULL ? host->simulation->unix_s(host->simulation->context)
                                    : (uint64_t)time(NULL);
}

// 0 when it is not asked for.
static inline uint64_t ph_host_now_ns(const ph_host* host)
{
    return host->now_ns != NULL ? host->now_ns(host->clock_context) : 0;
}

#endif
