// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some microseconds for each datagram that comes.

#include "net/host_state.h"

#include "base/allocator.h"
#include "base/check.h"
#include "net/netcode_packet.h"
#include "net/netcode_server_state.h"

#include <string.h>

enum {
    UNMATCHED_MAX = 4 * PH_SOCKET_BATCH_MAX,
    // Datagrams that one thread takes from every socket before it wakes the other threads: waking
    // them takes as long.
    ALONE_MAX = 16,
    // Of all workers together: more than a tick's worth from as many clients as there can be. Then
    // the clock is looked at, so that a flood cannot hold up the tick.
    BATCHES_MAX = 1024,
};

typedef struct ph_host_unmatched {
    ph_address from;
    ph_address local;
    size_t size;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
} unmatched_datagram;

struct ph_host_worker {
    ph_host_send_batch batch;
    bool has_more; // its socket has, as far as is known
    int batches;   // since the workers were last asked
    int unmatched_count;
    unmatched_datagram* unmatched; // room for UNMATCHED_MAX; NULL where there is no socket
};

// ---- memory

static size_t unmatched_room(const ph_host_workers* workers)
{
    return (size_t)workers->socket_count * UNMATCHED_MAX;
}

// One for each worker that may have one, or one that is simulated.
static ph_result open_sockets(ph_host_workers* workers, const ph_socket_def* def,
                              const ph_net_simulation* simulation)
{
    const int wanted = workers->count < PH_SOCKETS_MAX ? workers->count : PH_SOCKETS_MAX;
    if (simulation == NULL) {
        return ph_socket_open_shared(def, wanted, workers->sockets, &workers->socket_count);
    }
    const ph_result result = ph_socket_open_simulated(def, simulation, &workers->sockets[0]);
    workers->socket_count = result == PH_OK ? 1 : 0;
    return result;
}

ph_result ph_host_workers_open(ph_host_workers* workers, const ph_host_def* def,
                               const ph_net_simulation* simulation)
{
    *workers = (ph_host_workers){
        .count = def->pool != NULL ? ph_pool_thread_count(def->pool) : 1,
        .client_capacity = def->client_capacity,
        .allocator = def->allocator,
    };
    ph_socket_def socket = ph_socket_def_default();
    socket.local_address = def->listen_address;
    socket.allocator = def->allocator;
    ph_error error = {0};
    socket.on_error = ph_error_keep;
    socket.on_error_context = &error;
    const ph_result result = open_sockets(workers, &socket, simulation);
    if (result != PH_OK) {
        // What the socket says of its def is true of ours, too.
        const ph_check call = ph_check_begin(def->on_error, def->on_error_context, "ph_host_open");
        const char* said = strchr(error.text, ' ');
        return result == PH_ERROR_MEMORY
                   ? result
                   : ph_fail(&call, result, "ph_host_def.listen_address", "%s",
                             said != NULL ? said + 1 : "cannot be opened");
    }
    workers->workers =
        ph_allocate_zeroed(&def->allocator, (size_t)workers->count * sizeof(ph_host_worker));
    workers->worker_of = ph_allocate_array(&def->allocator, (size_t)def->client_capacity,
                                           sizeof *workers->worker_of);
    workers->local_of = ph_allocate_zeroed(&def->allocator, (size_t)def->client_capacity *
                                                                sizeof *workers->local_of);
    workers->unmatched =
        ph_allocate_array(&def->allocator, unmatched_room(workers), sizeof(unmatched_datagram));
    if (workers->workers == NULL || workers->worker_of == NULL || workers->local_of == NULL ||
        workers->unmatched == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < workers->socket_count; ++i) {
        workers->workers[i].unmatched = &workers->unmatched[i * UNMATCHED_MAX];
    }
    for (int i = 0; i < workers->count; ++i) {
        ph_host_send_batch_begin(&workers->workers[i].batch,
                                 workers->sockets[i % workers->socket_count]);
    }
    for (int i = 0; i < def->client_capacity; ++i) {
        workers->worker_of[i] = -1;
    }
    return PH_OK;
}

void ph_host_workers_close(ph_host_workers* workers)
{
    for (int i = 0; i < workers->socket_count; ++i) {
        ph_socket_close(workers->sockets[i]);
    }
    const ph_allocator allocator = workers->allocator;
    ph_release_array(&allocator, workers->unmatched, unmatched_room(workers),
                     sizeof(unmatched_datagram));
    ph_release_array(&allocator, workers->worker_of, (size_t)workers->client_capacity,
                     sizeof *workers->worker_of);
    ph_release(&allocator, workers->local_of,
               (size_t)workers->client_capacity * sizeof *workers->local_of);
    ph_release(&allocator, workers->workers, (size_t)workers->count * sizeof(ph_host_worker));
    *workers = (ph_host_workers){0};
}

ph_host_send_batch* ph_host_workers_batch(const ph_host_workers* workers, int worker)
{
    return &workers->workers[worker].batch;
}

// ---- connected clients

typedef struct arrivals {
    int count;
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    int clients[PH_SOCKET_BATCH_MAX]; // -1: not of this worker
    ph_net_payload payloads[PH_SOCKET_BATCH_MAX];
} arrivals;

// Those of clients of this worker; -1 for all others, and for requests: a player may come anew from where an
// old connection of its own has fallen silent.
static void find_clients(const ph_host* host, int worker, arrivals* all)
{
    for (int i = 0; i < all->count; ++i) {
        const ph_datagram* datagram = &all->datagrams[i];
        const bool is_request = datagram->size > 0 && datagram->bytes[0] == PH_NETCODE_REQUEST;
        const int client =
            is_request ? -1 : ph_net_slots_find(&host->server->slots, &datagram->peer);
        all->clients[i] = client >= 0 && host->workers.worker_of[client] == worker ? client : -1;
    }
}

static void open_all(const ph_host* host, arrivals* all)
{
    for (int i = 0; i < all->count; ++i) {
        const ph_datagram* datagram = &all->datagrams[i];
        all->payloads[i] = (ph_net_payload){0};
        if (all->clients[i] >= 0) {
            ph_net_server_open(host->server, all->clients[i], datagram->bytes, datagram->size,
                               &all->payloads[i]);
        }
    }
}

static void take(const ph_host* host, const ph_net_payload* payloads, int count)
{
    const uint64_t now_us = ph_host_now_us(host);
    for (int i = 0; i < count; ++i) {
        if (payloads[i].size == 0) {
            continue;
        }
        if (ph_admission_is(payloads[i].bytes, payloads[i].size)) {
            ph_host_admission_take(host, &payloads[i], now_us);
            continue;
        }
        ph_host_session* session = ph_host_sessions_find(&host->sessions, payloads[i].client);
        if (session != NULL) {
            ph_host_session_take(host, session, &payloads[i], now_us);
        }
    }
}

static void keep(ph_host_worker* worker, const ph_datagram* datagram)
{
    unmatched_datagram* kept = &worker->unmatched[worker->unmatched_count++];
    kept->from = datagram->peer;
    kept->local = datagram->local;
    kept->size = datagram->size;
    memcpy(kept->bytes, datagram->bytes, datagram->size);
}

static void receive_batch(const ph_host* host, int index, int max)
{
    const ph_host_workers* workers = &host->workers;
    ph_host_worker* worker = &workers->workers[index];
    arrivals all;
    all.count = ph_socket_receive(workers->sockets[index], all.datagrams, max);
    worker->has_more = all.count == max && ++worker->batches < BATCHES_MAX / workers->socket_count;
    find_clients(host, index, &all);
    open_all(host, &all);
    for (int i = 0; i < all.count; ++i) {
        if (all.clients[i] < 0) {
            keep(worker, &all.datagrams[i]);
        }
    }
    take(host, all.payloads, all.count);
}

// ---- unmatched datagrams

static void receive_unmatched(ph_host* host, int worker, unmatched_datagram* other)
{
    ph_net_payload payload;
    host->answers_from = &other->local;
    const ph_net_refusal refusal =
        ph_net_server_receive(host->server, &other->from, other->bytes, other->size, &payload);
    host->answers_from = NULL;
    if (refusal != PH_NET_REFUSAL_NONE) {
        ph_host_note_refusal(host, refusal, &other->from);
        return; // any sender can forge the address of a client
    }
    take(host, &payload, 1);
    const int client = ph_net_server_find(host->server, &other->from);
    if (client >= 0) {
        host->workers.worker_of[client] = (int16_t)worker;
        host->workers.local_of[client] = other->local;
    }
}

static void receive_all_unmatched(ph_host* host)
{
    for (int i = 0; i < host->workers.socket_count; ++i) {
        ph_host_worker* worker = &host->workers.workers[i];
        for (int j = 0; j < worker->unmatched_count; ++j) {
            receive_unmatched(host, i, &worker->unmatched[j]);
        }
        worker->unmatched_count = 0;
    }
    ph_socket_batch_flush(&ph_host_workers_batch(&host->workers, 0)->outbox); // answers of netcode
}

// ---- all workers

static bool has_more(const ph_host_workers* workers)
{
    for (int i = 0; i < workers->socket_count; ++i) {
        if (workers->workers[i].has_more) {
            return true;
        }
    }
    return false;
}

// Until it is empty, or might have no room for unmatched datagrams.
static void receive_worker(void* context, int index)
{
    const ph_host* host = context;
    const ph_host_worker* worker = &host->workers.workers[index];
    while (worker->has_more && worker->unmatched_count + PH_SOCKET_BATCH_MAX <= UNMATCHED_MAX) {
        receive_batch(host, index, PH_SOCKET_BATCH_MAX);
    }
}

void ph_host_workers_receive(ph_host* host)
{
    for (int i = 0; i < host->workers.socket_count; ++i) {
        host->workers.workers[i].batches = 0;
        receive_batch(host, i, ALONE_MAX);
    }
    receive_all_unmatched(host);
    while (has_more(&host->workers)) {
        ph_host_run(host, host->workers.socket_count, receive_worker);
        receive_all_unmatched(host);
    }
}

ph_socket_stats ph_host_workers_stats(const ph_host_workers* workers)
{
    ph_socket_stats sum = {0};
    for (int i = 0; i < workers->socket_count; ++i) {
        const ph_socket_stats one = ph_socket_get_stats(workers->sockets[i]);
        sum.received_datagrams += one.received_datagrams;
        sum.sent_datagrams += one.sent_datagrams;
        sum.unsent_datagrams += one.unsent_datagrams;
        sum.receive_calls += one.receive_calls;
        sum.send_calls += one.send_calls;
    }
    return sum;
}
