// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Coming and going, and what comes in; serve_sending.c has what goes out.

#include "serve_session.h"

#include "wall.h"

#include "kit/budget.h"

#include <stdlib.h>
#include <string.h>

#define US_PER_SECOND 1e6
enum { INPUT_BYTES = 12, SECTION_MAX = 384 };

// ---- the table

bool serve_sessions_create(serve_sessions* sessions, int capacity, const ph_allocator* allocator)
{
    const size_t room = (size_t)capacity;
    *sessions = (serve_sessions){
        .by_client = allocator->allocate(allocator->context, room * sizeof *sessions->by_client),
        .active = calloc(room, sizeof *sessions->active),
        .place = calloc(room, sizeof *sessions->place),
        .capacity = capacity,
        .allocator = *allocator,
    };
    if (sessions->by_client == NULL || sessions->active == NULL || sessions->place == NULL) {
        serve_sessions_destroy(sessions);
        return false;
    }
    memset(sessions->by_client, 0, room * sizeof *sessions->by_client);
    for (int i = 0; i < capacity; ++i) {
        sessions->place[i] = -1;
    }
    return true;
}

void serve_sessions_destroy(serve_sessions* sessions)
{
    for (int i = 0; i < sessions->count; ++i) {
        ph_mail_destroy(sessions->by_client[sessions->active[i]].mail);
    }
    free(sessions->place);
    free(sessions->active);
    if (sessions->by_client != NULL) {
        const size_t bytes = (size_t)sessions->capacity * sizeof *sessions->by_client;
        sessions->allocator.release(sessions->allocator.context, sessions->by_client, bytes);
    }
    *sessions = (serve_sessions){0};
}

serve_session* serve_sessions_find(const serve_sessions* sessions, int client)
{
    const bool is_there =
        client >= 0 && client < sessions->capacity && sessions->place[client] >= 0;
    return is_there ? &sessions->by_client[client] : NULL;
}

// ---- mail

static bool create_mail(serve_session* session, const serve_terms* terms,
                        const ph_viewer_def* viewer, const ph_allocator* allocator)
{
    const int room = ph_world_reserve_max(terms->stage->world, session->viewer);
    const int usable = room - viewer->overhead_bytes - SERVE_KEEP_ALIVE_BYTES;
    ph_mail_def def = ph_mail_def_default();
    def.bits_per_second = viewer->bits_per_second;
    def.overhead_bytes = viewer->overhead_bytes;
    def.allocator = *allocator;
    def.section_max = SECTION_MAX < usable ? SECTION_MAX : usable;
    return def.section_max >= PH_MAIL_SECTION_MIN && ph_mail_create(&def, &session->mail) == PH_OK;
}

static void return_messages(serve_session* session)
{
    uint8_t message[PH_MAIL_MESSAGE_MAX];
    for (size_t size; (size = ph_mail_take(session->mail, message)) > 0;) {
        ++session->messages;
        if (ph_mail_post(session->mail, message, size) != PH_OK) {
            ++session->messages_dropped;
        }
    }
}

static int32_t coordinate_at(const uint8_t* bytes)
{
    const uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
    int32_t coordinate_mm;
    memcpy(&coordinate_mm, &bits, sizeof coordinate_mm);
    return coordinate_mm;
}

static void heed_input(serve_session* session)
{
    const ph_mail_input input = ph_mail_newest_input(session->mail);
    if (input.size == INPUT_BYTES) {
        for (int axis = 0; axis < 3; ++axis) {
            session->eye_mm[axis] = coordinate_at(input.bytes + 4 * axis);
        }
        session->is_free = true;
    }
    ph_mail_set_processed(session->mail, input.number);
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
    def.overhead_bytes = session->header_bytes + SERVE_ENVELOPE_BYTES;
    def.sends_per_second = terms->hz;
    app_wall_random(&def.session, sizeof def.session);
    return def;
}

// As deep as the world's bucket, which has room for the dearest enter beside all that is reserved.
static int64_t depth_of(const serve_session* session, const serve_terms* terms,
                        int64_t bits_per_second)
{
    const ph_budget_def budget = {
        .bits_per_second = bits_per_second,
        .burst_s = 1.0,
        .overhead_bytes = 2 * (session->header_bytes + SERVE_ENVELOPE_BYTES) +
                          SERVE_KEEP_ALIVE_BYTES + SECTION_MAX,
    };
    return ph_budget_depth_bits(&budget, terms->stage->schema);
}

static void begin_counting(serve_session* session, const serve_terms* terms, uint64_t now_us)
{
    session->meter = wire_meter_make(terms->bits_per_second,
                                     depth_of(session, terms, terms->bits_per_second), now_us);
    if (terms->bits_per_second > 0) {
        ph_rate_def rate = ph_rate_def_default();
        rate.limit_bits_per_second = (int)terms->bits_per_second;
        rate.first_bits_per_second = rate.limit_bits_per_second;
        session->rate = ph_rate_make(&rate);
    }
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
    if (!create_mail(session, terms, &def, &sessions->allocator)) {
        ph_world_remove_viewer(terms->stage->world, session->viewer);
        return false;
    }
    begin_counting(session, terms, now_us);
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
    sum->messages += session->messages;
    sum->messages_dropped += session->messages_dropped;
    sum->strange_payloads += session->strange_payloads;
}

void serve_sessions_end(serve_sessions* sessions, const serve_terms* terms, int client)
{
    const serve_session* session = serve_sessions_find(sessions, client);
    if (session == NULL) {
        return;
    }
    ph_world_remove_viewer(terms->stage->world, session->viewer);
    ph_mail_destroy(session->mail);
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

double serve_sessions_rate(const serve_sessions* sessions)
{
    double sum = 0.0;
    for (int i = 0; i < sessions->count; ++i) {
        sum += (double)sessions->by_client[sessions->active[i]].meter.bits_per_second;
    }
    return sessions->count > 0 ? sum / sessions->count : 0.0;
}

// ---- one session

void serve_session_adapt(serve_session* session, const serve_terms* terms, uint64_t now_us)
{
    ph_world* world = terms->stage->world;
    ph_viewer_link link;
    if (terms->bits_per_second == 0 || terms->is_rate_fixed ||
        ph_world_viewer_link(world, session->viewer, &link) != PH_OK ||
        !ph_rate_update(&session->rate, now_us, &link)) {
        return;
    }
    const int bits_per_second = ph_rate_bits_per_second(&session->rate);
    if (ph_world_set_budget(world, session->viewer, bits_per_second, 0) == PH_OK) {
        ph_mail_set_budget(session->mail, bits_per_second);
        wire_meter_change(&session->meter, bits_per_second,
                          depth_of(session, terms, bits_per_second), now_us);
    }
}

static void go_where_it_says(serve_session* session, const serve_terms* terms)
{
    ph_world* world = terms->stage->world;
    if (session->entity.index1 != 0) {
        ph_world_set_own(world, session->viewer, (ph_entity_id){0});
        session->entity = (ph_entity_id){0};
    }
    ph_world_set_eye(world, session->viewer, session->eye_mm[0], session->eye_mm[1],
                     session->eye_mm[2]);
}

void serve_session_follow(serve_session* session, const serve_terms* terms)
{
    if (session->is_free) {
        go_where_it_says(session, terms);
        return;
    }
    const ph_entity_id entity = serve_stage_entity(terms->stage, session->actor);
    if (entity.index1 != 0 && (entity.index1 != session->entity.index1 ||
                               entity.generation != session->entity.generation)) {
        ph_world_set_own(terms->stage->world, session->viewer, entity);
        session->entity = entity;
    }
}

void serve_session_eye(const serve_session* session, const serve_terms* terms, int32_t eye_mm[3])
{
    if (session->is_free) {
        memcpy(eye_mm, session->eye_mm, sizeof session->eye_mm);
    } else {
        serve_stage_place(terms->stage, session->actor, eye_mm);
    }
}

// What the section of a datagram has brought.
static void read_mail(serve_session* session)
{
    return_messages(session);
    heed_input(session);
    session->has_mail = true; // at least a receipt, or an answer
}

void serve_session_take(serve_session* session, const serve_terms* terms,
                        const ph_net_payload* payload, uint64_t now_us)
{
    ph_mail_rest rest;
    if (ph_mail_unpack(session->mail, now_us, payload->bytes, payload->size, &rest) != PH_OK) {
        ++session->strange_payloads;
        return;
    }
    if (payload->size - rest.size > PH_MAIL_EMPTY_SIZE) {
        read_mail(session);
    }
    if (rest.size == 0) {
        return;
    }
    if (ph_world_acknowledge(terms->stage->world, session->viewer, now_us, rest.bytes, rest.size) ==
        PH_OK) {
        ++session->acks;
    } else {
        ++session->strange_payloads;
    }
}
