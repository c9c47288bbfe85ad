// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some microseconds for each datagram that comes.

#include "serve_lanes.h"

#include "wall.h"

#include <stdlib.h>
#include <string.h>

enum {
    STRANGERS_MAX = 4 * PH_SOCKET_BATCH,
    // What one thread takes from every lane before it calls the others: to wake them takes as long.
    ALONE_MAX = 16,
    // Of all lanes together: more than a tick's worth from as many clients as there can be; a flood waits
    // for the next tick.
    BATCHES_MAX = 1024,
};

typedef struct stranger {
    ph_address from;
    size_t size;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
} stranger;

struct serve_lane {
    ph_outbox outbox;
    bool has_more; // its socket has, as far as is known
    int batches;   // since the lanes were last asked
    int stranger_count;
    stranger strangers[STRANGERS_MAX];
};

// ---- memory

ph_result serve_lanes_open(serve_lanes* lanes, const serve_lanes_def* def)
{
    *lanes = (serve_lanes){
        .count = ph_pool_thread_count(def->pool),
        .pool = def->pool,
        .terms = def->terms,
        .sessions = def->sessions,
    };
    ph_socket_def socket = ph_socket_def_default();
    socket.local = def->listen;
    const int wanted = lanes->count < PH_SOCKETS_MAX ? lanes->count : PH_SOCKETS_MAX;
    const ph_result result =
        ph_socket_open_shared(&socket, wanted, lanes->sockets, &lanes->socket_count);
    if (result != PH_OK) {
        return result;
    }
    lanes->lanes = calloc((size_t)lanes->count, sizeof *lanes->lanes);
    lanes->lane_of = malloc((size_t)def->client_capacity * sizeof *lanes->lane_of);
    if (lanes->lanes == NULL || lanes->lane_of == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < lanes->count; ++i) {
        ph_outbox_begin(&lanes->lanes[i].outbox, lanes->sockets[i % lanes->socket_count]);
    }
    for (int i = 0; i < def->client_capacity; ++i) {
        lanes->lane_of[i] = -1;
    }
    return PH_OK;
}

void serve_lanes_close(serve_lanes* lanes)
{
    for (int i = 0; i < lanes->socket_count; ++i) {
        ph_socket_close(lanes->sockets[i]);
    }
    free(lanes->lane_of);
    free(lanes->lanes);
    *lanes = (serve_lanes){0};
}

ph_outbox* serve_lanes_outbox(const serve_lanes* lanes, int lane)
{
    return &lanes->lanes[lane].outbox;
}

// ---- those who are connected

typedef struct arrivals {
    int count;
    ph_datagram datagrams[PH_SOCKET_BATCH];
    int clients[PH_SOCKET_BATCH]; // -1: not of this lane
    ph_net_payload payloads[PH_SOCKET_BATCH];
} arrivals;

// In rounds, as the memory of thousands of clients is in no cache: what the next round looks at is on
// its way meanwhile.
static void find_clients(const serve_lanes* lanes, int lane, arrivals* all)
{
    for (int i = 0; i < all->count; ++i) {
        const int client = ph_net_server_find(lanes->terms->server, &all->datagrams[i].peer);
        all->clients[i] = client >= 0 && lanes->lane_of[client] == lane ? client : -1;
        if (all->clients[i] >= 0) {
            serve_session_fetch(&lanes->sessions->by_client[client]);
        }
    }
}

static void open_all(const serve_lanes* lanes, arrivals* all)
{
    for (int i = 0; i < all->count; ++i) {
        const ph_datagram* datagram = &all->datagrams[i];
        all->payloads[i] = (ph_net_payload){0};
        const int client = all->clients[i];
        if (client >= 0) {
            serve_session_fetch_take(&lanes->sessions->by_client[client]);
            ph_net_server_open(lanes->terms->server, client, datagram->bytes, datagram->size,
                               &all->payloads[i]);
        }
    }
}

static void take(const serve_lanes* lanes, const ph_net_payload* payload, uint64_t now_us)
{
    serve_session* session =
        payload->size > 0 ? serve_sessions_find(lanes->sessions, payload->client) : NULL;
    if (session != NULL) {
        serve_session_take(session, lanes->terms, payload, now_us);
    }
}

static void keep(serve_lane* lane, const ph_datagram* datagram)
{
    stranger* kept = &lane->strangers[lane->stranger_count++];
    kept->from = datagram->peer;
    kept->size = datagram->size;
    memcpy(kept->bytes, datagram->bytes, datagram->size);
}

static void receive_batch(const serve_lanes* lanes, int index, int max)
{
    serve_lane* lane = &lanes->lanes[index];
    arrivals all;
    all.count = ph_socket_receive(lanes->sockets[index], all.datagrams, max);
    lane->has_more = all.count == max && ++lane->batches < BATCHES_MAX / lanes->socket_count;
    find_clients(lanes, index, &all);
    open_all(lanes, &all);
    const uint64_t now_us = app_wall_us();
    for (int i = 0; i < all.count; ++i) {
        if (all.clients[i] < 0) {
            keep(lane, &all.datagrams[i]);
        } else {
            take(lanes, &all.payloads[i], now_us);
        }
    }
}

// ---- everybody else

static void meet(serve_lanes* lanes, int lane, stranger* other, uint64_t now_us)
{
    ph_net_payload payload;
    if (ph_net_server_receive(lanes->terms->server, &other->from, other->bytes, other->size,
                              &payload) != PH_NET_REFUSAL_NONE) {
        return; // anybody can forge the address of a client
    }
    take(lanes, &payload, now_us);
    const int client = ph_net_server_find(lanes->terms->server, &other->from);
    if (client >= 0) {
        lanes->lane_of[client] = (int16_t)lane;
    }
}

static void meet_strangers(serve_lanes* lanes)
{
    const uint64_t now_us = app_wall_us();
    for (int i = 0; i < lanes->socket_count; ++i) {
        serve_lane* lane = &lanes->lanes[i];
        for (int j = 0; j < lane->stranger_count; ++j) {
            meet(lanes, i, &lane->strangers[j], now_us);
        }
        lane->stranger_count = 0;
    }
    ph_outbox_flush(&lanes->lanes[0].outbox); // answers of netcode
}

// ---- all lanes

static bool has_more(const serve_lanes* lanes)
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
    const serve_lanes* lanes = context;
    const serve_lane* lane = &lanes->lanes[index];
    while (lane->has_more && lane->stranger_count + PH_SOCKET_BATCH <= STRANGERS_MAX) {
        receive_batch(lanes, index, PH_SOCKET_BATCH);
    }
}

void serve_lanes_receive(serve_lanes* lanes)
{
    for (int i = 0; i < lanes->socket_count; ++i) {
        lanes->lanes[i].batches = 0;
        receive_batch(lanes, i, ALONE_MAX);
    }
    meet_strangers(lanes);
    while (has_more(lanes)) {
        ph_pool_run(lanes->pool, lanes->socket_count, receive_lane, lanes);
        meet_strangers(lanes);
    }
}

bool serve_lanes_wait(const serve_lanes* lanes, uint64_t timeout_us)
{
    return ph_socket_wait_any(lanes->sockets, lanes->socket_count, timeout_us);
}

ph_socket_stats serve_lanes_stats(const serve_lanes* lanes)
{
    ph_socket_stats sum = {0};
    for (int i = 0; i < lanes->socket_count; ++i) {
        const ph_socket_stats one = ph_socket_get_stats(lanes->sockets[i]);
        sum.received += one.received;
        sum.sent += one.sent;
        sum.unsent += one.unsent;
        sum.receive_calls += one.receive_calls;
        sum.send_calls += one.send_calls;
    }
    return sum;
}
