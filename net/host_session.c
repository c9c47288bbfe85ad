// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Coming and going, and what comes in; host_sending.c has what goes out.

#include "net/host_state.h"

#include "base/allocator.h"
#include "base/check.h"
#include "base/compiler.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <sodium.h>
#include <stddef.h>

#define US_PER_SECOND 1e6

// Where whole words are aligned to less, it is a little smaller.
_Static_assert(_Alignof(uint64_t) < 8 || (offsetof(ph_host_session, meter) == PH_CACHE_LINE &&
                                          offsetof(ph_host_session, rate) == 2 * PH_CACHE_LINE &&
                                          sizeof(ph_host_session) % PH_CACHE_LINE == 0),
               "what is looked at together is in one line");

// ---- the table

ph_result ph_host_sessions_create(ph_host_sessions* sessions, int capacity,
                                  const ph_allocator* allocator)
{
    const size_t room = (size_t)capacity;
    *sessions = (ph_host_sessions){
        .by_client = ph_allocate_zeroed(allocator, room * sizeof *sessions->by_client),
        .turns = ph_allocate_zeroed(allocator, room * sizeof *sessions->turns),
        .active = ph_allocate_array(allocator, room, sizeof *sessions->active),
        .place = ph_allocate_array(allocator, room, sizeof *sessions->place),
        .capacity = capacity,
        .allocator = *allocator,
    };
    if (sessions->by_client == NULL || sessions->turns == NULL || sessions->active == NULL ||
        sessions->place == NULL) {
        ph_host_sessions_destroy(sessions);
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < capacity; ++i) {
        sessions->place[i] = -1;
    }
    return PH_OK;
}

void ph_host_sessions_destroy(ph_host_sessions* sessions)
{
    PH_ASSERT(sessions->count == 0);

    const size_t room = (size_t)sessions->capacity;
    const ph_allocator allocator = sessions->allocator;
    ph_release(&allocator, sessions->by_client, room * sizeof *sessions->by_client);
    ph_release(&allocator, sessions->turns, room * sizeof *sessions->turns);
    ph_release_array(&allocator, sessions->active, room, sizeof *sessions->active);
    ph_release_array(&allocator, sessions->place, room, sizeof *sessions->place);
    *sessions = (ph_host_sessions){0};
}

ph_host_session* ph_host_sessions_find(const ph_host_sessions* sessions, int client)
{
    const bool is_there =
        client >= 0 && client < sessions->capacity && sessions->place[client] >= 0;
    return is_there ? &sessions->by_client[client] : NULL;
}

static void list(ph_host_sessions* sessions, int client)
{
    sessions->place[client] = sessions->count;
    sessions->active[sessions->count++] = client;
}

static void unlist(ph_host_sessions* sessions, int client)
{
    const int place = sessions->place[client];
    const int last = sessions->active[--sessions->count];
    sessions->active[place] = last;
    sessions->place[last] = place;
    sessions->place[client] = -1;
}

void ph_host_session_count(const ph_host_session* session, ph_host_stats* stats)
{
    stats->sends += session->sends;
    stats->sent_datagrams += session->meter.datagrams;
    stats->sent_wire_bytes += session->meter.bytes;
    stats->over_budget_datagrams += session->meter.overruns;
    stats->new_acks += session->acks;
    stats->refused_payloads += session->strange_payloads;
}

// ---- coming and going

static int overhead_of(const ph_host_session* session)
{
    return session->header_bytes + PH_HOST_ENVELOPE_BYTES;
}

static ph_result add_viewer(ph_host* host, ph_host_session* session, const ph_viewer_def* viewer)
{
    ph_viewer_def def = *viewer;
    def.overhead_bytes = overhead_of(session);
    randombytes_buf(&def.session, sizeof def.session);
    return ph_world_add_viewer(host->def.world, &def, &session->viewer);
}

static ph_result create_messages(const ph_host* host, ph_host_session* session,
                                 const ph_viewer_def* viewer, const ph_messages_def* messages)
{
    const int room = ph_viewer_reserve_max(host->def.world, session->viewer);
    const int usable = room - overhead_of(session) - PH_HOST_KEEP_ALIVE_BYTES;
    ph_messages_def def = messages != NULL ? *messages : ph_messages_def_default();
    def.bits_per_second = viewer->bits_per_second;
    def.overhead_bytes = overhead_of(session);
    def.allocator = host->def.allocator;
    if (def.on_error == NULL) {
        def.on_error = host->def.on_error;
        def.on_error_context = host->def.on_error_context;
    }
    if (usable < PH_MESSAGES_SECTION_MIN) {
        const ph_check call = ph_check_begin(def.on_error, def.on_error_context, "ph_host_admit");
        return ph_fail(&call, PH_ERROR_ARGUMENT, "ph_host_def.world",
                       "has a class whose enter takes %d bytes; messages need %d bytes beside it",
                       PH_PAYLOAD_MAX - room, PH_MESSAGES_SECTION_MIN + room - usable);
    }
    def.section_max = def.section_max < usable ? def.section_max : usable;
    session->section_max = def.section_max;
    return ph_messages_create(&def, &session->messages);
}

// As deep as the world's bucket: the burst, or a second, and never less than the dearest enter beside
// all that is reserved.
static int64_t depth_of(const ph_host* host, const ph_host_session* session, int bits_per_second)
{
    const int enter_bytes =
        PH_PAYLOAD_MAX - ph_viewer_reserve_max(host->def.world, session->viewer);
    const int64_t least_bits = 8 * (int64_t)(enter_bytes + 2 * overhead_of(session) +
                                             PH_HOST_KEEP_ALIVE_BYTES + session->section_max);
    const int64_t wanted_bits = session->burst_bits != 0 ? session->burst_bits : bits_per_second;
    return wanted_bits > least_bits ? wanted_bits : least_bits;
}

static void begin_rate(ph_host_session* session, int limit_bits_per_second,
                       int start_bits_per_second)
{
    if (limit_bits_per_second > 0) {
        ph_rate_def rate = ph_rate_def_default();
        rate.limit_bits_per_second = limit_bits_per_second;
        rate.start_bits_per_second = start_bits_per_second;
        session->rate = ph_rate_make(&rate);
    }
}

static void begin_counting(const ph_host* host, ph_host_session* session, int bits_per_second,
                           uint64_t now_us)
{
    session->meter =
        ph_wire_meter_make(bits_per_second, depth_of(host, session, bits_per_second), now_us);
    begin_rate(session, bits_per_second, bits_per_second);
}

// Clients that connect together are not sent to together.
static ph_host_turn turn_of(int client, double sends_per_second, uint64_t now_us)
{
    const double period_us = sends_per_second > 0.0 ? US_PER_SECOND / sends_per_second : 0.0;
    const uint64_t phase = (uint64_t)client * UINT64_C(2654435761) % 1024;
    return (ph_host_turn){
        .next_send_us = now_us + (uint64_t)period_us * phase / 1024,
        .period_us = (uint32_t)period_us,
    };
}

ph_result ph_host_session_begin(ph_host* host, int client, const ph_viewer_def* viewer,
                                const ph_messages_def* messages)
{
    ph_net_client_info info;
    if (!ph_net_server_get_client(host->server, client, &info)) {
        return PH_ERROR_STALE; // no fault: it may have left before its event was taken
    }
    const ph_check call =
        ph_check_begin(host->def.on_error, host->def.on_error_context, "ph_host_admit");
    if (ph_host_sessions_find(&host->sessions, client) != NULL) {
        return ph_fail(&call, PH_ERROR_ARGUMENT, "client",
                       "is %d, which was admitted before; it must be one that was not", client);
    }
    ph_host_session* session = &host->sessions.by_client[client];
    *session = (ph_host_session){
        .client = client,
        .header_bytes =
            info.address.kind == PH_ADDRESS_IPV6 ? PH_WIRE_HEADERS_IPV6 : PH_WIRE_HEADERS_IPV4,
        .burst_bits = viewer->burst_bits,
    };
    ph_result result = add_viewer(host, session, viewer);
    if (result != PH_OK) {
        return result;
    }
    result = create_messages(host, session, viewer, messages);
    if (result != PH_OK) {
        ph_world_remove_viewer(host->def.world, session->viewer);
        return result;
    }
    const uint64_t now_us = ph_host_now_us(host);
    begin_counting(host, session, viewer->bits_per_second, now_us);
    host->sessions.turns[client] =
        turn_of(client, ph_viewer_sends_per_second(host->def.world, session->viewer), now_us);
    list(&host->sessions, client);
    ph_host_admission_begin(host, client, now_us);
    return PH_OK;
}

void ph_host_session_end(ph_host* host, int client)
{
    ph_host_session* session = ph_host_sessions_find(&host->sessions, client);
    if (session == NULL) {
        return;
    }
    ph_world_remove_viewer(host->def.world, session->viewer);
    ph_messages_destroy(session->messages);
    session->messages = NULL;
    ph_host_session_count(session, &host->sessions.ended);
    unlist(&host->sessions, client);
}

// ---- its budget, and what its link carries of it

static ph_result set_rate(ph_host* host, ph_host_session* session, int bits_per_second,
                          uint64_t now_us)
{
    const ph_result result = ph_viewer_set_budget(host->def.world, session->viewer, bits_per_second,
                                                  session->burst_bits);
    if (result == PH_OK) {
        ph_messages_set_budget(session->messages, bits_per_second);
        ph_wire_meter_change(&session->meter, bits_per_second,
                             depth_of(host, session, bits_per_second), now_us);
    }
    return result;
}

void ph_host_session_adapt(ph_host* host, ph_host_session* session, uint64_t now_us)
{
    ph_viewer_network_stats link;
    if (session->meter.bits_per_second != 0 &&
        ph_viewer_get_network_stats(host->def.world, session->viewer, &link) == PH_OK &&
        ph_rate_update(&session->rate, now_us, &link)) {
        set_rate(host, session, ph_rate_bits_per_second(&session->rate), now_us);
    }
}

ph_result ph_host_session_set_budget(ph_host* host, ph_host_session* session, int bits_per_second,
                                     int burst_bits)
{
    const uint64_t now_us = ph_host_now_us(host);
    const int former_burst_bits = session->burst_bits;
    session->burst_bits = burst_bits;
    const ph_result result = set_rate(host, session, bits_per_second, now_us);
    if (result != PH_OK) {
        session->burst_bits = former_burst_bits;
        return result;
    }
    begin_rate(session, bits_per_second, bits_per_second);
    return PH_OK;
}

// ---- what it sends

void ph_host_session_take(const ph_host* host, ph_host_session* session,
                          const ph_net_payload* payload, uint64_t now_us)
{
    ph_messages_rest rest;
    if (ph_messages_unpack(session->messages, now_us, payload->bytes, payload->size, &rest) !=
        PH_OK) {
        ++session->strange_payloads;
        return;
    }
    if (payload->size - rest.size > PH_MESSAGES_EMPTY_SIZE) {
        host->sessions.turns[session->client].has_messages =
            true; // at least a receipt, or an answer
        if (host->def.on_messages != NULL) {
            host->def.on_messages(host->def.on_messages_context, session->client,
                                  session->messages);
        }
    }
    if (rest.size == 0) {
        return;
    }
    if (ph_viewer_receive_ack(host->def.world, session->viewer, now_us, rest.bytes, rest.size) ==
        PH_OK) {
        ++session->acks;
    } else {
        ++session->strange_payloads;
    }
}
