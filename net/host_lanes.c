// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some microseconds for each datagram that comes.

#include "net/host_state.h"

#include "base/allocator.h"
#include "base/check.h"
#include "net/netcode_server_state.h"

#include <string.h>

enum {
    STRANGERS_MAX = 4 * PH_SOCKET_BATCH_MAX,
    // What one thread takes from every lane before it calls the others: to wake them takes as long.
    ALONE_MAX = 16,
    // Of all lanes together: more than a tick's worth from as many clients as there can be. Then the
    // clock is looked at, so that a flood cannot hold up the tick.
    BATCHES_MAX = 1024,
};

typedef struct ph_host_stranger {
    ph_address from;
    size_t size;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
} stranger;

struct ph_host_lane {
    ph_host_pile pile;
    bool has_more; // its socket has, as far as is known
    int batches;   // since the lanes were last asked
    int stranger_count;
    stranger* strangers; // room for STRANGERS_MAX; NULL where there is no socket
};

// ---- memory

static size_t stranger_room(const ph_host_lanes* lanes)
{
    return (size_t)lanes->socket_count * STRANGERS_MAX;
}

ph_result ph_host_lanes_open(ph_host_lanes* lanes, const ph_host_def* def)
{
    *lanes = (ph_host_lanes){
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
    const int wanted = lanes->count < PH_SOCKETS_MAX ? lanes->count : PH_SOCKETS_MAX;
    const ph_result result =
        ph_socket_open_shared(&socket, wanted, lanes->sockets, &lanes->socket_count);
    if (result != PH_OK) {
        // What the socket says of its def is true of ours, too.
        const ph_check call = ph_check_begin(def->on_error, def->on_error_context, "ph_host_open");
        const char* said = strchr(error.text, ' ');
        return result == PH_ERROR_MEMORY
                   ? result
                   : ph_fail(&call, result, "ph_host_def.listen_address", "%s",
                             said != NULL ? said + 1 : "cannot be opened");
    }
    lanes->lanes = ph_allocate_zeroed(&def->allocator, (size_t)lanes->count * sizeof(ph_host_lane));
    lanes->lane_of =
        ph_allocate_array(&def->allocator, (size_t)def->client_capacity, sizeof *lanes->lane_of);
    lanes->strangers = ph_allocate_array(&def->allocator, stranger_room(lanes), sizeof(stranger));
    if (lanes->lanes == NULL || lanes->lane_of == NULL || lanes->strangers == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < lanes->socket_count; ++i) {
        lanes->lanes[i].strangers = &lanes->strangers[i * STRANGERS_MAX];
    }
    for (int i = 0; i < lanes->count; ++i) {
        ph_host_pile_begin(&lanes->lanes[i].pile, lanes->sockets[i % lanes->socket_count]);
    }
    for (int i = 0; i < def->client_capacity; ++i) {
        lanes->lane_of[i] = -1;
    }
    return PH_OK;
}

void ph_host_lanes_close(ph_host_lanes* lanes)
{
    for (int i = 0; i < lanes->socket_count; ++i) {
        ph_socket_close(lanes->sockets[i]);
    }
    const ph_allocator allocator = lanes->allocator;
    ph_release_array(&allocator, lanes->strangers, stranger_room(lanes), sizeof(stranger));
    ph_release_array(&allocator, lanes->lane_of, (size_t)lanes->client_capacity,
                     sizeof *lanes->lane_of);
    ph_release(&allocator, lanes->lanes, (size_t)lanes->count * sizeof(ph_host_lane));
    *lanes = (ph_host_lanes){0};
}

ph_host_pile* ph_host_lanes_pile(const ph_host_lanes* lanes, int lane)
{
    return &lanes->lanes[lane].pile;
}

// ---- those who are connected

typedef struct arrivals {
    int count;
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    int clients[PH_SOCKET_BATCH_MAX]; // -1: not of this lane
    ph_net_payload payloads[PH_SOCKET_BATCH_MAX];
} arrivals;

// Those of clients of this lane; -1 for all others.
static void find_clients(const ph_host* host, int lane, arrivals* all)
{
    for (int i = 0; i < all->count; ++i) {
        const int client = ph_net_slots_find(&host->server->slots, &all->datagrams[i].peer);
        all->clients[i] = client >= 0 && host->lanes.lane_of[client] == lane ? client : -1;
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
    const uint64_t now_us = ph_socket_now_us();
    for (int i = 0; i < count; ++i) {
        ph_host_session* session = payloads[i].size > 0
                                       ? ph_host_sessions_find(&host->sessions, payloads[i].client)
                                       : NULL;
        if (session != NULL) {
            ph_host_session_take(host, session, &payloads[i], now_us);
        }
    }
}

static void keep(ph_host_lane* lane, const ph_datagram* datagram)
{
    stranger* kept = &lane->strangers[lane->stranger_count++];
    kept->from = datagram->peer;
    kept->size = datagram->size;
    memcpy(kept->bytes, datagram->bytes, datagram->size);
}

static void receive_batch(const ph_host* host, int index, int max)
{
    const ph_host_lanes* lanes = &host->lanes;
    ph_host_lane* lane = &lanes->lanes[index];
    arrivals all;
    all.count = ph_socket_receive(lanes->sockets[index], all.datagrams, max);
    lane->has_more = all.count == max && ++lane->batches < BATCHES_MAX / lanes->socket_count;
    find_clients(host, index, &all);
    open_all(host, &all);
    for (int i = 0; i < all.count; ++i) {
        if (all.clients[i] < 0) {
            keep(lane, &all.datagrams[i]);
        }
    }
    take(host, all.payloads, all.count);
}

// ---- everybody else

static void meet(ph_host* host, int lane, stranger* other)
{
    ph_net_payload payload;
    if (ph_net_server_receive(host->server, &other->from, other->bytes, other->size, &payload) !=
        PH_NET_REFUSAL_NONE) {
        return; // anybody can forge the address of a client
    }
    take(host, &payload, 1);
    const int client = ph_net_server_find(host->server, &other->from);
    if (client >= 0) {
        host->lanes.lane_of[client] = (int16_t)lane;
    }
}

static void meet_strangers(ph_host* host)
{
    for (int i = 0; i < host->lanes.socket_count; ++i) {
        ph_host_lane* lane = &host->lanes.lanes[i];
        for (int j = 0; j < lane->stranger_count; ++j) {
            meet(host, i, &lane->strangers[j]);
        }
        lane->stranger_count = 0;
    }
    ph_socket_batch_flush(&ph_host_lanes_pile(&host->lanes, 0)->outbox); // answers of netcode
}

// ---- all lanes

static bool has_more(const ph_host_lanes* lanes)
{
    for (int i = 0; i < lanes->socket_count; ++i) {
        if (lanes->lanes[i].has_more) {
            return true;
        }
    }
    return false;
}

// Until it is empty, or might have no room for strangers.
static void receive_lane(void* context, int index)
{
    const ph_host* host = context;
    const ph_host_lane* lane = &host->lanes.lanes[index];
    while (lane->has_more && lane->stranger_count + PH_SOCKET_BATCH_MAX <= STRANGERS_MAX) {
        receive_batch(host, index, PH_SOCKET_BATCH_MAX);
    }
}

void ph_host_lanes_receive(ph_host* host)
{
    for (int i = 0; i < host->lanes.socket_count; ++i) {
        host->lanes.lanes[i].batches = 0;
        receive_batch(host, i, ALONE_MAX);
    }
    meet_strangers(host);
    while (has_more(&host->lanes)) {
        ph_host_run(host, host->lanes.socket_count, receive_lane);
        meet_strangers(host);
    }
}

ph_socket_stats ph_host_lanes_stats(const ph_host_lanes* lanes)
{
    ph_socket_stats sum = {0};
    for (int i = 0; i < lanes->socket_count; ++i) {
        const ph_socket_stats one = ph_socket_get_stats(lanes->sockets[i]);
        sum.received_datagrams += one.received_datagrams;
        sum.sent_datagrams += one.sent_datagrams;
        sum.unsent_datagrams += one.unsent_datagrams;
        sum.receive_calls += one.receive_calls;
        sum.send_calls += one.send_calls;
    }
    return sum;
}
