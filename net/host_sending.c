// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A session's turn in a tick: some times per second and client; it costs what the world's send costs,
// and a microsecond for each datagram that is sealed.

#include "net/host_state.h"

#include "base/compiler.h"
#include "net/netcode_server_state.h"
#include "net/netcode_packet.h"

#include <pinhole/viewer.h>

#include <stddef.h>
#include <string.h>

// Payloads get their numbers when the batch is sealed, and there may be a keep-alive before each.
enum { NUMBERS_AHEAD = 2 * PH_SEND_BATCH_PAYLOADS };

bool ph_host_turn_may_be_due(const ph_host* host, const ph_host_turn* turn, uint64_t now_us)
{
    return turn->period_us == 0 || now_us + host->def.tick_us / 2 >= turn->next_send_us;
}

bool ph_host_session_is_due(const ph_host* host, int client, uint64_t now_us)
{
    const ph_host_turn* turn = &host->sessions.turns[client];
    return ph_host_turn_may_be_due(host, turn, now_us) &&
           (turn->period_us > 0 ||
            ph_viewer_is_send_due(host->def.world, host->sessions.by_client[client].viewer,
                                  now_us));
}

typedef struct sending {
    ph_host* host;
    ph_host_session* session;
    ph_host_turn* turn;
    ph_host_send_batch* batch;
    uint64_t now_us;
} sending;

_Static_assert(PH_PAYLOAD_MAX <= PH_NETCODE_PAYLOAD_MAX, "what messages packs has room in a batch");

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const sending* now = context;
    const ph_host_session* session = now->session;
    uint8_t* place = ph_host_send_batch_place(now->host, now->batch);
    ph_host_send_batch_add(now->batch, session->client,
                           ph_messages_pack(session->messages, bytes, size, place), now->now_us);
}

// Until the client is known to be connected, netcode sends a keep-alive before each payload.
static bool is_doubled(const ph_host* host, const ph_host_session* session)
{
    const size_t plain_max = 1 + PH_NETCODE_OVERHEAD_MAX;
    return ph_net_server_cost(host->server, session->client, 1) > plain_max;
}

// What a datagram of a very long connection is longer than the envelope that the world pays for: a few
// are paid too much, never one too little.
static int excess_bytes(const ph_host* host, const ph_host_session* session)
{
    const ph_net_slot* slot = &host->server->slots.slots[session->client];
    const int envelope_bytes =
        (int)ph_netcode_sealed_size(ph_net_slot_sequence(slot, NUMBERS_AHEAD), 0);
    return envelope_bytes > PH_HOST_ENVELOPE_BYTES ? envelope_bytes - PH_HOST_ENVELOPE_BYTES : 0;
}

// What goes with the packets of the view, and is paid with them.
static void reserve(const sending* now)
{
    const ph_host* host = now->host;
    const ph_host_session* session = now->session;
    const int excess = excess_bytes(host, session);
    const int keep_alive_bytes =
        PH_HOST_KEEP_ALIVE_BYTES + session->header_bytes + PH_HOST_ENVELOPE_BYTES + excess;
    const int each =
        PH_MESSAGES_EMPTY_SIZE + excess + (is_doubled(host, session) ? keep_alive_bytes : 0);
    const int next = (int)ph_messages_plan(session->messages, now->now_us) - PH_MESSAGES_EMPTY_SIZE;
    now->turn->has_messages = next > 0 || !ph_messages_is_all_acked(session->messages) ||
                              ph_messages_has_bulk(session->messages);
    ph_viewer_reserve(host->def.world, session->viewer, each, next);
}

// Messages that no packet would take along.
static void send_message_alone(sending* now)
{
    ph_host_session* session = now->session;
    const size_t size =
        is_doubled(now->host, session) ? 0 : ph_messages_plan_alone(session->messages, now->now_us);
    const int paid_bytes = (int)size + excess_bytes(now->host, session);
    if (size > 0 &&
        ph_viewer_spend(now->host->def.world, session->viewer, now->now_us, paid_bytes) == PH_OK) {
        deliver(now, session->viewer, NULL, 0);
    }
}

// Datagrams of blocks alone: what their share pays for, and if the view has had its turn, what it has left.
static void send_blocks(sending* now, bool may_take_spare)
{
    ph_world* world = now->host->def.world;
    ph_host_session* session = now->session;
    if (!ph_messages_has_bulk(session->messages) || is_doubled(now->host, session)) {
        return;
    }
    const int excess = excess_bytes(now->host, session);
    for (;;) {
        const int64_t left_bits = ph_viewer_left_bits(world, session->viewer, now->now_us);
        const int64_t spare_bits =
            may_take_spare ? ph_viewer_spare_bits(world, session->viewer, now->now_us) : 0;
        const size_t size = ph_messages_plan_block(session->messages, now->now_us,
                                                   left_bits - 8 * (int64_t)excess, spare_bits);
        if (size == 0 ||
            ph_viewer_spend(world, session->viewer, now->now_us, (int)size + excess) != PH_OK) {
            return;
        }
        deliver(now, session->viewer, NULL, 0);
    }
}

void ph_host_session_pay(const ph_host* host, ph_host_session* session, size_t size,
                         uint64_t now_us)
{
    ph_wire_meter_pass(&session->meter, size + (size_t)session->header_bytes, now_us);
    ph_viewer_spend(host->def.world, session->viewer, now_us,
                    PH_HOST_KEEP_ALIVE_BYTES + excess_bytes(host, session));
}

// ---- the admission

// The text of a piece that its budget can ever pay for in one datagram. A bucket holds at least a packet
// with the largest enter, so never less than the least here.
static int piece_max(const ph_host_session* session)
{
    enum { LEAST = 32, HEAD = 6 };
    // No more than a second pays for: the client waits for each.
    const int64_t second_bits = session->meter.bits_per_second;
    const int64_t bits = session->burst_bits != 0 && session->burst_bits < second_bits
                             ? session->burst_bits
                             : second_bits;
    const int64_t most = bits / 8 - session->header_bytes - PH_HOST_ENVELOPE_BYTES - HEAD - LEAST;
    if (session->meter.bits_per_second == 0 || most > PH_ADMISSION_PIECE_MAX) {
        return PH_ADMISSION_PIECE_MAX;
    }
    return most < LEAST ? LEAST : (int)most;
}

// A client that has sent something is not doubled; else a keep-alive goes before each.
bool ph_host_session_say(ph_host* host, int client, uint64_t now_us, const ph_admission* admission,
                         ph_host_send_batch* batch)
{
    ph_host_session* session = &host->sessions.by_client[client];
    const int excess = excess_bytes(host, session);
    const int keep_alive_bytes =
        PH_HOST_KEEP_ALIVE_BYTES + session->header_bytes + PH_HOST_ENVELOPE_BYTES + excess;
    uint8_t bytes[PH_ADMISSION_SIZE_MAX];
    const size_t size = ph_admission_write(admission, bytes);
    const int paid_bytes = (int)size + excess + (is_doubled(host, session) ? keep_alive_bytes : 0);
    if (ph_viewer_spend(host->def.world, session->viewer, now_us, paid_bytes) != PH_OK) {
        return false;
    }
    memcpy(ph_host_send_batch_place(host, batch), bytes, size);
    ph_host_send_batch_add(batch, client, size, now_us);
    return true;
}

// As much as the budget pays for now; the rest later.
static void send_admission(const sending* now)
{
    ph_host* host = now->host;
    const int client = now->session->client;
    ph_admission admission;
    while (ph_host_admission_next(host, client, now->now_us, piece_max(now->session), &admission) &&
           ph_host_session_say(host, client, now->now_us, &admission, now->batch)) {
        ph_host_admission_sent(host, client, now->now_us, admission.kind);
    }
}

// ---- its turn

static void plan_next(ph_host_turn* turn, uint64_t now_us)
{
    turn->next_send_us += turn->period_us;
    if (turn->next_send_us < now_us) {
        turn->next_send_us = now_us; // what was put off is not made up for
    }
}

static void send(sending* now)
{
    plan_next(now->turn, now->now_us);
    ++now->session->sends;
    reserve(now);
    ph_viewer_send(now->host->def.world, now->session->viewer, now->now_us, deliver, now);
}

void ph_host_session_serve(ph_host* host, int client, uint64_t now_us, ph_host_send_batch* batch)
{
    sending now = {
        .host = host,
        .session = &host->sessions.by_client[client],
        .turn = &host->sessions.turns[client],
        .batch = batch,
        .now_us = now_us,
    };
    if (now.turn->has_admission) {
        send_admission(&now); // before the view that it tells of
    }
    if (now.turn->is_view_held) {
        return;
    }
    const bool is_paid = !now.turn->has_spare || ph_host_spares_send(host, client, now_us, batch);
    const bool is_due = is_paid && ph_host_session_is_due(host, client, now_us);
    if (now.turn->has_messages) {
        send_blocks(&now, false);
    }
    if (is_due) {
        send(&now);
    }
    if (now.turn->has_messages && is_paid) {
        send_message_alone(&now);
        // At a fixed rate, what comes in between two sends is the view's.
        send_blocks(&now, is_due || now.turn->period_us == 0);
    }
}
