// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A send runs some times per second and client; it costs what the world's send costs, and a
// microsecond for each datagram that is sealed.

#include "serve_session.h"

#include "wall.h"

#include "kit/budget.h"

#include <stdlib.h>

#define US_PER_SECOND 1e6
// The secure envelope: prefix, three bytes of sequence number (enough for 16 million packets), tag.
enum { ENVELOPE_BYTES = 1 + 3 + 16, KEEP_ALIVE_BYTES = 8 };

// ---- the table

bool serve_sessions_create(serve_sessions* sessions, int capacity)
{
    const size_t room = (size_t)capacity;
    *sessions = (serve_sessions){
        .by_client = calloc(room, sizeof *sessions->by_client),
        .active = calloc(room, sizeof *sessions->active),
        .place = calloc(room, sizeof *sessions->place),
        .capacity = capacity,
    };
    if (sessions->by_client == NULL || sessions->active == NULL || sessions->place == NULL) {
        serve_sessions_destroy(sessions);
        return false;
    }
    for (int i = 0; i < capacity; ++i) {
        sessions->place[i] = -1;
    }
    return true;
}

void serve_sessions_destroy(serve_sessions* sessions)
{
    free(sessions->place);
    free(sessions->active);
    free(sessions->by_client);
    *sessions = (serve_sessions){0};
}

serve_session* serve_sessions_find(const serve_sessions* sessions, int client)
{
    const bool is_there =
        client >= 0 && client < sessions->capacity && sessions->place[client] >= 0;
    return is_there ? &sessions->by_client[client] : NULL;
}

// ---- coming and going

static bool is_ipv6(const serve_terms* terms, int client)
{
    ph_net_client_info info;
    return ph_net_server_client(terms->server, client, &info) &&
           info.address.kind == PH_ADDRESS_IPV6;
}

static ph_viewer_def viewer_of(const serve_terms* terms, const serve_session* session)
{
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = session->entity;
    serve_stage_place(terms->stage, session->actor, def.eye_mm);
    def.radius_mm = terms->stage->radius_mm;
    def.visible_max = terms->slots;
    def.bits_per_second = (int)terms->bits_per_second;
    def.overhead_bytes = session->header_bytes + ENVELOPE_BYTES;
    def.sends_per_second = terms->hz;
    app_wall_random(&def.session, sizeof def.session);
    return def;
}

static wire_meter meter_of(const serve_terms* terms, const ph_viewer_def* viewer, uint64_t now_us)
{
    const ph_budget_def budget = {
        .bits_per_second = viewer->bits_per_second,
        .burst_s = 1.0,
        // As deep as the world's, which has room for the dearest enter beside a keep-alive.
        .overhead_bytes = 2 * viewer->overhead_bytes + KEEP_ALIVE_BYTES,
    };
    return wire_meter_make(viewer->bits_per_second,
                           ph_budget_depth_bits(&budget, terms->stage->schema), now_us);
}

// Clients that connect together are not sent to together.
static void set_rhythm(serve_session* session, const serve_terms* terms, uint64_t now_us)
{
    session->period_us = terms->hz > 0.0 ? (uint64_t)(US_PER_SECOND / terms->hz) : 0;
    const uint64_t phase = (uint64_t)session->client * UINT64_C(2654435761) % 1024;
    session->next_send_us = now_us + session->period_us * phase / 1024;
}

bool serve_sessions_begin(serve_sessions* sessions, const serve_terms* terms,
                          const ph_net_event* event, uint64_t now_us)
{
    serve_session* session = &sessions->by_client[event->client];
    *session = (serve_session){
        .client = event->client,
        .client_id = event->client_id,
        .actor = serve_stage_choose(terms->stage, event->client_id),
        .header_bytes = is_ipv6(terms, event->client) ? WIRE_HEADERS_IPV6 : WIRE_HEADERS_IPV4,
    };
    session->entity = serve_stage_entity(terms->stage, session->actor);
    const ph_viewer_def def = viewer_of(terms, session);
    if (ph_world_add_viewer(terms->stage->world, &def, &session->viewer) != PH_OK) {
        return false;
    }
    session->meter = meter_of(terms, &def, now_us);
    set_rhythm(session, terms, now_us);
    sessions->place[event->client] = sessions->count;
    sessions->active[sessions->count++] = event->client;
    return true;
}

static void add_traffic(serve_traffic* sum, const serve_session* session)
{
    sum->sends += session->sends;
    sum->datagrams += session->meter.datagrams;
    sum->wire_bytes += session->meter.bytes;
    sum->overruns += session->meter.overruns;
    sum->acks += session->acks;
    sum->strange_payloads += session->strange_payloads;
}

void serve_sessions_end(serve_sessions* sessions, const serve_terms* terms, int client)
{
    const serve_session* session = serve_sessions_find(sessions, client);
    if (session == NULL) {
        return;
    }
    ph_world_remove_viewer(terms->stage->world, session->viewer);
    add_traffic(&sessions->ended, session);
    const int place = sessions->place[client];
    const int last = sessions->active[--sessions->count];
    sessions->active[place] = last;
    sessions->place[last] = place;
    sessions->place[client] = -1;
}

serve_traffic serve_sessions_traffic(const serve_sessions* sessions)
{
    serve_traffic sum = sessions->ended;
    for (int i = 0; i < sessions->count; ++i) {
        add_traffic(&sum, &sessions->by_client[sessions->active[i]]);
    }
    return sum;
}

// ---- one session

void serve_session_follow(serve_session* session, const serve_terms* terms)
{
    const ph_entity_id entity = serve_stage_entity(terms->stage, session->actor);
    if (entity.index1 != 0 && (entity.index1 != session->entity.index1 ||
                               entity.generation != session->entity.generation)) {
        ph_world_set_own(terms->stage->world, session->viewer, entity);
        session->entity = entity;
    }
}

void serve_session_take(serve_session* session, const serve_terms* terms,
                        const ph_net_payload* payload, uint64_t now_us)
{
    if (ph_world_acknowledge(terms->stage->world, session->viewer, now_us, payload->bytes,
                             payload->size) == PH_OK) {
        ++session->acks;
    } else {
        ++session->strange_payloads;
    }
}

bool serve_session_is_due(const serve_session* session, const serve_terms* terms, uint64_t now_us)
{
    if (session->period_us > 0) {
        return now_us + terms->stage->tick_us / 2 >= session->next_send_us;
    }
    return ph_world_is_send_due(terms->stage->world, session->viewer, now_us);
}

// ---- sending

typedef struct sending {
    serve_session* session;
    const serve_terms* terms;
    const ph_net_sink* sink;
    uint64_t now_us;
} sending;

static void count_datagram(void* context, const ph_address* to, const void* bytes, size_t size)
{
    const sending* now = context;
    wire_meter_pass(&now->session->meter, size + (size_t)now->session->header_bytes, now->now_us);
    now->sink->send(now->sink->context, to, bytes, size);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    sending* now = context;
    const ph_net_sink counted = {count_datagram, now};
    ph_net_server_seal(now->terms->server, now->session->client, bytes, size, &counted);
}

// Until the client is known to be connected, netcode sends a keep-alive before each payload.
static void reserve(serve_session* session, const serve_terms* terms)
{
    const size_t plain_max = 1 + PH_NETCODE_OVERHEAD_MAX;
    const bool is_doubled = ph_net_server_cost(terms->server, session->client, 1) > plain_max;
    const int bytes = is_doubled ? KEEP_ALIVE_BYTES + session->header_bytes + ENVELOPE_BYTES : 0;
    if (bytes != session->reserved_bytes &&
        ph_world_reserve(terms->stage->world, session->viewer, bytes, 0) == PH_OK) {
        session->reserved_bytes = bytes;
    }
}

void serve_session_pay(serve_session* session, const serve_terms* terms, size_t size,
                       uint64_t now_us)
{
    wire_meter_pass(&session->meter, size + (size_t)session->header_bytes, now_us);
    ph_world_spend(terms->stage->world, session->viewer, now_us, KEEP_ALIVE_BYTES);
}

static void plan_next(serve_session* session, uint64_t now_us)
{
    session->next_send_us += session->period_us;
    if (session->next_send_us < now_us) {
        session->next_send_us = now_us; // what was put off is not made up for
    }
}

void serve_session_send(serve_session* session, const serve_terms* terms, uint64_t now_us,
                        const ph_net_sink* sink)
{
    sending now = {session, terms, sink, now_us};
    if (session->period_us > 0) {
        plan_next(session, now_us);
    }
    ++session->sends;
    reserve(session, terms);
    ph_world_send(terms->stage->world, session->viewer, now_us, deliver, &now);
}
