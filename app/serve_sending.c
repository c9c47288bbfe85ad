// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A session's turn in a tick: some times per second and client; it costs what the world's send costs,
// and a microsecond for each datagram that is sealed.

#include "serve_session.h"

#include "fetch_ahead.h"
#include "wall.h"

// What most sections look at stands at the beginning of a mail.
enum { MAIL_BYTES = 4 * FETCH_LINE_BYTES };

bool serve_session_is_due(const serve_session* session, const serve_terms* terms, uint64_t now_us)
{
    if (session->period_us > 0) {
        return now_us + terms->stage->tick_us / 2 >= session->next_send_us;
    }
    return ph_world_is_send_due(terms->stage->world, session->viewer, now_us);
}

typedef struct sending {
    serve_session* session;
    const serve_terms* terms;
    const ph_net_sink* sink;
    uint64_t now_us;
} sending;

static serve_watch* fine_watch(const serve_terms* terms)
{
    return terms->watch != NULL && terms->watch->is_fine ? terms->watch : NULL;
}

static void count_datagram(void* context, const ph_address* to, const void* bytes, size_t size)
{
    const sending* now = context;
    serve_watch* watch = fine_watch(now->terms);
    wire_meter_pass(&now->session->meter, size + (size_t)now->session->header_bytes, now->now_us);
    const uint64_t start_ns = watch != NULL ? app_wall_ns() : 0;
    now->sink->send(now->sink->context, to, bytes, size);
    if (watch != NULL) {
        const uint64_t spent_ns = app_wall_ns() - start_ns;
        watch->send_ns += spent_ns;
        watch->seal_ns -= spent_ns; // it happens within the sealing
    }
}

static void seal(sending* now, const void* bytes, size_t size)
{
    const ph_net_sink counted = {count_datagram, now};
    serve_watch* watch = fine_watch(now->terms);
    const uint64_t start_ns = watch != NULL ? app_wall_ns() : 0;
    ph_net_server_seal(now->terms->server, now->session->client, bytes, size, &counted);
    if (watch != NULL) {
        watch->seal_ns += app_wall_ns() - start_ns;
    }
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    sending* now = context;
    uint8_t whole[PH_MAIL_DATAGRAM_MAX];
    seal(now, whole, ph_mail_pack(now->session->mail, bytes, size, whole));
}

// Until the client is known to be connected, netcode sends a keep-alive before each payload.
static bool is_doubled(const serve_session* session, const serve_terms* terms)
{
    const size_t plain_max = 1 + PH_NETCODE_OVERHEAD_MAX;
    return ph_net_server_cost(terms->server, session->client, 1) > plain_max;
}

// What goes with the packets of the view, and is paid with them.
static void reserve(serve_session* session, const serve_terms* terms, uint64_t now_us)
{
    const int keep_alive_bytes =
        SERVE_KEEP_ALIVE_BYTES + session->header_bytes + SERVE_ENVELOPE_BYTES;
    const int each = PH_MAIL_EMPTY_SIZE + (is_doubled(session, terms) ? keep_alive_bytes : 0);
    const int next = (int)ph_mail_wants(session->mail, now_us) - PH_MAIL_EMPTY_SIZE;
    session->has_mail = next > 0 || !ph_mail_is_delivered(session->mail);
    ph_world_reserve(terms->stage->world, session->viewer, each, next);
}

// Mail that no packet would take along.
static void send_mail_alone(sending* now)
{
    serve_session* session = now->session;
    ph_world* world = now->terms->stage->world;
    const size_t size =
        is_doubled(session, now->terms) ? 0 : ph_mail_wants_alone(session->mail, now->now_us);
    if (size > 0 && ph_world_spend(world, session->viewer, now->now_us, (int)size) == PH_OK) {
        deliver(now, session->viewer, NULL, 0);
    }
}

void serve_session_pay(serve_session* session, const serve_terms* terms, size_t size,
                       uint64_t now_us)
{
    wire_meter_pass(&session->meter, size + (size_t)session->header_bytes, now_us);
    ph_world_spend(terms->stage->world, session->viewer, now_us, SERVE_KEEP_ALIVE_BYTES);
}

// ---- before its turn

void serve_session_fetch(const serve_session* session)
{
    fetch_ahead(session, offsetof(serve_session, rate));
}

void serve_session_fetch_send(const serve_session* session, const serve_terms* terms,
                              uint64_t now_us)
{
    if (session->period_us > 0 && serve_session_is_due(session, terms, now_us)) {
        fetch_ahead(session->mail, MAIL_BYTES);
        ph_net_server_cost(terms->server, session->client, 1); // fetches what sealing wants
    }
}

void serve_session_fetch_take(const serve_session* session)
{
    fetch_ahead(session->mail, MAIL_BYTES);
}

// ---- its turn

static void plan_next(serve_session* session, uint64_t now_us)
{
    session->next_send_us += session->period_us;
    if (session->next_send_us < now_us) {
        session->next_send_us = now_us; // what was put off is not made up for
    }
}

static void send(sending* now)
{
    serve_session* session = now->session;
    if (session->period_us > 0) {
        plan_next(session, now->now_us);
    }
    ++session->sends;
    reserve(session, now->terms, now->now_us);
    ph_world_send(now->terms->stage->world, session->viewer, now->now_us, deliver, now);
}

void serve_session_serve(serve_session* session, const serve_terms* terms, uint64_t now_us,
                         const ph_net_sink* sink)
{
    sending now = {session, terms, sink, now_us};
    if (serve_session_is_due(session, terms, now_us)) {
        send(&now);
    }
    if (session->has_mail) {
        send_mail_alone(&now);
    }
}
