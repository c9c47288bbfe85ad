// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some microseconds per client and tick.

#include "serve_front.h"

#include "key_file.h"
#include "serve_lanes.h"
#include "wall.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// A send comes at least every second while anything is to be told; this is for when nothing is.
enum { KEEP_ALIVE_MS = 1000, CHUNK = 32 };
enum { GATHER_US = 1000 };

struct serve_front {
    serve_terms terms;
    ph_pool* pool;
    serve_lanes lanes;
    ph_net_server* server;
    serve_sessions sessions;
    ph_address public_address;
    serve_counts counts;
    int first;         // place in the active list at which the next sends begin
    uint64_t until_us; // of the present sends
    int chunk_count;
    atomic_int next_chunk;
    atomic_int chunks_cut; // the first chunk that there was no time for
};

// ---- memory

static bool open_lanes(serve_front* front, const serve_front_def* def, ph_fault* fault)
{
    const serve_lanes_def lanes = {
        .pool = def->pool,
        .listen = def->listen,
        .client_capacity = def->client_capacity,
        .terms = &front->terms,
        .sessions = &front->sessions,
    };
    const ph_result result = serve_lanes_open(&front->lanes, &lanes);
    if (result == PH_ERROR_MEMORY) {
        return ph_fault_set_memory(fault);
    }
    if (result != PH_OK) {
        return ph_fault_set(fault, 0, 0, "%s",
                            result == PH_ERROR_TAKEN
                                ? "somebody else listens on that port; --listen takes another one"
                                : "the system does not let us listen there; it may be no "
                                  "address of this machine");
    }
    front->public_address = def->public_address;
    if (front->public_address.port == 0) {
        front->public_address.port = serve_front_local(front).port;
    }
    return true;
}

// Where the main thread's datagrams go while nothing else runs.
static ph_outbox* own_outbox(const serve_front* front)
{
    return serve_lanes_outbox(&front->lanes, 0);
}

// What netcode says by itself. Only keep-alives belong to a budget: the rest comes before a session
// or ends it.
static void send_of_netcode(void* context, const ph_address* to, const void* bytes, size_t size)
{
    serve_front* front = context;
    if ((*(const uint8_t*)bytes & 15) == PH_NETCODE_KEEP_ALIVE) {
        serve_session* session =
            serve_sessions_find(&front->sessions, ph_net_server_find(front->server, to));
        if (session != NULL) {
            serve_session_pay(session, &front->terms, size, app_wall_us());
        }
    }
    ph_outbox_send(own_outbox(front), to, bytes, size);
}

static bool create_server(serve_front* front, const serve_front_def* def, ph_fault* fault)
{
    ph_net_server_def server = ph_net_server_def_default();
    server.protocol_id = APP_PROTOCOL_ID;
    memcpy(server.private_key, def->key, sizeof server.private_key);
    server.addresses[0] = front->public_address;
    server.address_count = 1;
    server.client_capacity = def->client_capacity;
    server.keep_alive_ms = KEEP_ALIVE_MS;
    server.refuses_spent_tokens = true;
    server.allocator = front->sessions.allocator;
    server.sink = (ph_net_sink){send_of_netcode, front};
    const ph_result result = ph_net_server_create(&server, &front->server);
    app_key_wipe(server.private_key);
    if (result != PH_OK) {
        return ph_fault_set_memory(fault);
    }
    ph_net_server_start(front->server, app_wall_us(), app_wall_unix_s());
    return true;
}

serve_front* serve_front_create(const serve_front_def* def, ph_fault* fault)
{
    serve_front* front = calloc(1, sizeof *front);
    const ph_allocator pages = ph_large_pages_allocator(def->stage->pages);
    if (front == NULL || !serve_sessions_create(&front->sessions, def->client_capacity, &pages)) {
        free(front);
        ph_fault_set_memory(fault);
        return NULL;
    }
    front->pool = def->pool;
    if (!open_lanes(front, def, fault) || !create_server(front, def, fault)) {
        serve_front_destroy(front);
        return NULL;
    }
    front->terms = (serve_terms){
        .stage = def->stage,
        .server = front->server,
        .bits_per_second = def->bits_per_second,
        .hz = def->hz,
        .slots = def->slots,
        .is_rate_fixed = def->is_rate_fixed,
        .watch = def->watch,
    };
    return front;
}

void serve_front_destroy(serve_front* front)
{
    if (front == NULL) {
        return;
    }
    ph_net_server_destroy(front->server);
    serve_lanes_close(&front->lanes);
    serve_sessions_destroy(&front->sessions);
    free(front);
}

// ---- receiving

// What comes first is seldom alone: one call for many costs less than a call for each, and nobody
// but the next tick waits for it.
static void gather(uint64_t until_us)
{
    const uint64_t now_us = app_wall_us();
    if (now_us < until_us) {
        app_wall_sleep(until_us - now_us < GATHER_US ? until_us - now_us : GATHER_US);
    }
}

void serve_front_receive(serve_front* front, uint64_t until_us)
{
    for (;;) {
        serve_lanes_receive(&front->lanes);
        const uint64_t now_us = app_wall_us();
        if (now_us >= until_us) {
            return;
        }
        if (serve_lanes_wait(&front->lanes, until_us - now_us)) {
            gather(until_us);
        }
    }
}

// ---- a tick

static void meet(serve_front* front, const ph_net_event* event)
{
    if (event->kind == PH_NET_DISCONNECTED) {
        ++front->counts.ended[event->end];
        serve_sessions_end(&front->sessions, &front->terms, event->client);
        return;
    }
    ++front->counts.connected;
    if (!serve_sessions_begin(&front->sessions, &front->terms, event, app_wall_us())) {
        ph_net_server_disconnect(front->server, event->client);
    }
}

static bool step_stage(serve_front* front, ph_fault* fault)
{
    serve_watch* watch = front->terms.watch;
    const uint64_t start_ns = watch != NULL ? app_wall_ns() : 0;
    const bool is_stepped = serve_stage_step(front->terms.stage, fault);
    if (watch != NULL) {
        watch->game_ns += app_wall_ns() - start_ns;
    }
    return is_stepped;
}

bool serve_front_tick(serve_front* front, ph_fault* fault)
{
    ph_net_server_tick(front->server, app_wall_us(), app_wall_unix_s());
    ph_net_event event;
    while (ph_net_server_next_event(front->server, &event)) {
        meet(front, &event);
    }
    ph_outbox_flush(own_outbox(front));
    if (!step_stage(front, fault)) {
        return false;
    }
    const uint64_t now_us = app_wall_us();
    for (int i = 0; i < front->sessions.count; ++i) {
        serve_session* session = &front->sessions.by_client[front->sessions.active[i]];
        serve_session_follow(session, &front->terms);
        if (serve_session_is_due(session, &front->terms, now_us)) {
            serve_session_adapt(session, &front->terms, now_us);
        }
    }
    ph_world_tick(front->terms.stage->world);
    return true;
}

// ---- sending

static serve_session* session_at(serve_front* front, int i)
{
    const serve_sessions* sessions = &front->sessions;
    return &sessions->by_client[sessions->active[(front->first + i) % sessions->count]];
}

static void note_cut(serve_front* front, int chunk)
{
    int first = atomic_load_explicit(&front->chunks_cut, memory_order_relaxed);
    while (chunk < first && !atomic_compare_exchange_weak(&front->chunks_cut, &first, chunk)) {
    }
}

static void flush(serve_front* front, ph_outbox* outbox)
{
    serve_watch* watch = front->terms.watch;
    const bool is_watched = watch != NULL && watch->is_fine;
    const uint64_t start_ns = is_watched ? app_wall_ns() : 0;
    ph_outbox_flush(outbox);
    if (is_watched) {
        watch->send_ns += app_wall_ns() - start_ns;
    }
}

static bool try_send_chunk(serve_front* front, int chunk, const ph_net_sink* sink)
{
    const uint64_t now_us = app_wall_us();
    if (now_us > front->until_us) {
        note_cut(front, chunk);
        return false;
    }
    const int whole = (chunk + 1) * CHUNK;
    const int end = whole < front->sessions.count ? whole : front->sessions.count;
    for (int i = chunk * CHUNK; i < end; ++i) {
        serve_session_fetch(session_at(front, i + SERVE_FETCH_TURNS));
        const int soon = i + SERVE_FETCH_SEND_TURNS; // those of other chunks are other threads'
        if (soon < end) {
            serve_session_fetch_send(session_at(front, soon), &front->terms, now_us);
        }
        serve_session_serve(session_at(front, i), &front->terms, now_us, sink);
    }
    return true;
}

// One of the threads, by its own socket: takes the next chunk until none is left, or no time.
static void send_by_lane(void* context, int lane)
{
    serve_front* front = context;
    ph_outbox* outbox = serve_lanes_outbox(&front->lanes, lane);
    const ph_net_sink sink = {ph_outbox_send, outbox};
    for (;;) {
        const int chunk = atomic_fetch_add_explicit(&front->next_chunk, 1, memory_order_relaxed);
        if (chunk >= front->chunk_count || !try_send_chunk(front, chunk, &sink)) {
            break;
        }
    }
    flush(front, outbox);
}

// Threads take chunks in order, so those behind the first one without time got none either, but
// for a few that were begun just before: they are sent to twice in a row, and nobody is left out.
static void go_on_with_the_rest(serve_front* front)
{
    const int served = atomic_load(&front->chunks_cut) * CHUNK;
    const int left = front->sessions.count - served;
    if (left > 0) {
        front->counts.put_off += (uint64_t)left;
        front->first = (front->first + served) % front->sessions.count;
    }
}

void serve_front_send(serve_front* front, uint64_t until_us)
{
    front->chunk_count = (front->sessions.count + CHUNK - 1) / CHUNK;
    if (front->chunk_count == 0) {
        return;
    }
    front->first %= front->sessions.count;
    front->until_us = until_us;
    atomic_store(&front->next_chunk, 0);
    atomic_store(&front->chunks_cut, front->chunk_count);
    ph_pool_run(front->pool, front->lanes.count, send_by_lane, front);
    go_on_with_the_rest(front);
}

void serve_front_stop(serve_front* front)
{
    ph_net_server_stop(front->server);
    ph_outbox_flush(own_outbox(front));
}

// ---- questions

ph_address serve_front_local(const serve_front* front)
{
    return ph_socket_local(front->lanes.sockets[0]);
}

ph_address serve_front_public(const serve_front* front)
{
    return front->public_address;
}

const serve_sessions* serve_front_sessions(const serve_front* front)
{
    return &front->sessions;
}

serve_counts serve_front_counts(const serve_front* front)
{
    serve_counts counts = front->counts;
    counts.clients = front->sessions.count;
    counts.rate_bits_per_second = serve_sessions_rate(&front->sessions);
    counts.traffic = serve_sessions_traffic(&front->sessions);
    ph_net_server_get_stats(front->server, &counts.net);
    counts.socket = serve_lanes_stats(&front->lanes);
    return counts;
}
