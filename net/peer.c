// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Opening, the tick and events: once per frame, some microseconds and what the view costs.

#include "net/peer_state.h"

#include "base/allocator.h"
#include "base/check.h"
#include "net/wire_meter.h"

#include <stdio.h>
#include <string.h>

#define COOKIE 0x70656572u // "peer"

enum {
    SLOTS_MIN = 2,
    SLOTS_MAX = 65535,
    DELAY_MAX_MS = 10000,
    REORDER_MAX_MS = 100,
    INPUTS_MAX = 1000,
    SUSPECT_MIN_MS = 100,
    SUSPECT_MAX_MS = 10000,
    RESEND_US = 100000, // of input that the server is not known to have
    SECOND_US = 1000000,
    BATCHES_MAX = 16, // of datagrams in one tick: a flood does not stop the game
};

// ---- time and transport

static int receive_datagrams(const ph_peer_link* link, ph_datagram datagrams[PH_SOCKET_BATCH_MAX])
{
    const ph_peer_seam* seam = &link->peer->seam;
    return seam->receive != NULL ? seam->receive(seam->context, datagrams, PH_SOCKET_BATCH_MAX)
                                 : ph_socket_receive(link->socket, datagrams, PH_SOCKET_BATCH_MAX);
}

static void note_unsent(ph_peer_link* link, const ph_address* to)
{
    ph_peer* peer = link->peer;
    ++peer->unsent;
    if (peer->unsent_us != 0 && peer->now_us < peer->unsent_us + SECOND_US) {
        return;
    }
    char reason[PH_SOCKET_REASON_SIZE] = "";
    char address[PH_ADDRESS_TEXT_MAX];
    if (link->socket != NULL) {
        ph_socket_unsent_reason(link->socket, reason);
    }
    peer->unsent_us = peer->now_us;
    peer->is_unsent_due = true;
    snprintf(peer->unsent_text, sizeof peer->unsent_text, "cannot send to %s%s%s",
             ph_address_print(to, address), reason[0] != '\0' ? ": " : "", reason);
}

// A client sends some ten datagrams a second: each at once.
static void send_datagram(void* context, const ph_address* to, const void* bytes, size_t size)
{
    ph_peer_link* link = context;
    const ph_peer* peer = link->peer;
    uint8_t copy[PH_NETCODE_DATAGRAM_MAX];
    memcpy(copy, bytes, size);
    const ph_datagram datagram = {.peer = *to, .bytes = copy, .size = size};
    const bool is_sent = peer->seam.send != NULL ? peer->seam.send(peer->seam.context, &datagram)
                                                 : ph_socket_send(link->socket, &datagram, 1) == 1;
    if (is_sent) {
        link->spoke_us = peer->now_us;
    } else {
        note_unsent(link, to);
    }
}

// ---- opening and closing

ph_peer_def ph_peer_def_default(void)
{
    return (ph_peer_def){.slot_max = SLOTS_MAX,
                         .reorder_wait_ms = ph_client_def_default().reorder_wait_ms,
                         .inputs_per_second = 30,
                         .block_size_max = 64 << 20,
                         .suspect_ms = 500,
                         .accepts_spares = true,
                         .cookie = COOKIE};
}

static ph_result create_link(ph_peer* peer, ph_peer_link* link)
{
    link->peer = peer;
    ph_net_client_def net = ph_net_client_def_default();
    net.sink = (ph_net_sink){send_datagram, link};
    net.allocator = peer->def.allocator;
    return ph_net_client_create(&net, &link->net);
}

ph_result ph_peer_open(const ph_peer_def* def, ph_peer** peer)
{
    *peer = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_check_made(&check, def->cookie == COOKIE, "ph_peer_def");
    ph_check_that(&check, def->schema != NULL, "ph_peer_def.schema", "NULL", "a schema");
    ph_check_range(&check, "ph_peer_def.slot_max", def->slot_max, SLOTS_MIN, SLOTS_MAX);
    ph_check_range(&check, "ph_peer_def.interpolation_delay_ms", def->interpolation_delay_ms, 0,
                   DELAY_MAX_MS);
    ph_check_range(&check, "ph_peer_def.reorder_wait_ms", def->reorder_wait_ms, 0, REORDER_MAX_MS);
    ph_check_range(&check, "ph_peer_def.inputs_per_second", def->inputs_per_second, 1, INPUTS_MAX);
    ph_check_range(&check, "ph_peer_def.block_size_max", def->block_size_max, 0, PH_BLOCK_SIZE_MAX);
    if (def->suspect_ms != 0) {
        ph_check_range(&check, "ph_peer_def.suspect_ms", def->suspect_ms, SUSPECT_MIN_MS,
                       SUSPECT_MAX_MS);
    }
    ph_check_range(&check, "ph_peer_def.local_address.kind", def->local_address.kind,
                   PH_ADDRESS_NONE, PH_ADDRESS_IPV6);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_peer* opened = ph_allocate_zeroed(&def->allocator, sizeof *opened);
    if (opened == NULL) {
        return ph_fail_memory(&check);
    }
    opened->def = *def;
    opened->has_ground = ph_admission_uses_ground(def->schema, &def->ground);
    opened->link = &opened->links[0];
    opened->other = &opened->links[1];
    if (create_link(opened, opened->link) != PH_OK || create_link(opened, opened->other) != PH_OK) {
        ph_peer_close(opened);
        return ph_fail_memory(&check);
    }
    *peer = opened;
    return PH_OK;
}

void ph_peer_close(ph_peer* peer)
{
    if (peer == NULL) {
        return;
    }
    if (peer->link->net != NULL && peer->other->net != NULL) {
        ph_peer_reset(peer);
    }
    ph_net_client_destroy(peer->link->net);
    ph_net_client_destroy(peer->other->net);
    const ph_allocator allocator = peer->def.allocator;
    ph_release(&allocator, peer, sizeof *peer);
}

// ---- what comes

void ph_peer_take_packet(ph_peer* peer, uint64_t now_us, const uint8_t* bytes, size_t size)
{
    if (peer->view != NULL) {
        ph_client_receive(peer->view, now_us, bytes, size);
        peer->is_answer_due = true;
        ph_peer_move_note_packet(peer);
        return;
    }
    if (peer->early_us == 0) {
        peer->early_us = now_us;
    }
    if (peer->early_count < PH_PEER_EARLY_MAX) {
        ph_peer_early* early = &peer->early[peer->early_count++];
        early->now_us = now_us;
        early->size = size;
        memcpy(early->bytes, bytes, size);
    }
}

void ph_peer_take_payload(ph_peer* peer, const uint8_t* bytes, size_t size)
{
    if (ph_admission_is(bytes, size)) {
        ph_peer_admission_take(peer, bytes, size);
        return;
    }
    ph_messages_rest rest;
    if (ph_messages_unpack(peer->messages, peer->now_us, bytes, size, &rest) != PH_OK) {
        ++peer->refused_payloads;
        return;
    }
    if (size - rest.size > PH_MESSAGES_EMPTY_SIZE) {
        peer->is_answer_due = true; // at least an ack
    }
    if (rest.size > 0) {
        ph_peer_take_packet(peer, peer->now_us, rest.bytes, rest.size);
    }
}

// Which of both servers it is from. Each has a socket of its own, but for tests.
static ph_peer_link* link_of(ph_peer* peer, ph_peer_link* link, const ph_address* from)
{
    const ph_address other = ph_net_client_server(peer->other->net);
    return peer->seam.receive != NULL && peer->move.is_under_way &&
                   ph_address_is_equal(from, &other)
               ? peer->other
               : link;
}

// Of packets that come together the first counts.
static void note_talk(ph_peer_link* link, const ph_net_payload* payload, uint64_t now_us)
{
    if (now_us > link->talked_us && !ph_admission_is(payload->bytes, payload->size)) {
        link->pause_us += (now_us - link->talked_us) / 8;
        link->pause_us -= link->pause_us / 8;
        link->talked_us = now_us;
    }
}

static void receive_datagram(ph_peer* peer, ph_peer_link* link, ph_datagram* datagram)
{
    ph_net_payload payload;
    if (ph_net_client_receive(link->net, &datagram->peer, datagram->bytes, datagram->size,
                              &payload) == PH_NET_REFUSAL_NONE) {
        link->heard_us = peer->now_us;
    }
    if (payload.size == 0) {
        return;
    }
    note_talk(link, &payload, peer->now_us);
    if (link == peer->link) {
        ph_peer_take_payload(peer, payload.bytes, payload.size);
    } else {
        ph_peer_move_take(peer, payload.bytes, payload.size);
    }
}

// Datagrams of one batch may make the other link the present one.
static void receive(ph_peer* peer, ph_peer_link* link)
{
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    int count = PH_SOCKET_BATCH_MAX;
    for (int batch = 0; batch < BATCHES_MAX && count == PH_SOCKET_BATCH_MAX; ++batch) {
        if (link->socket == NULL && peer->seam.receive == NULL) {
            return; // it has closed
        }
        count = receive_datagrams(link, datagrams);
        for (int i = 0; i < count && peer->state != PH_PEER_STATE_IDLE; ++i) {
            if (link->socket == NULL && peer->seam.receive == NULL) {
                return; // with what it had received
            }
            receive_datagram(peer, link_of(peer, link, &datagrams[i].peer), &datagrams[i]);
        }
    }
}

static void receive_all(ph_peer* peer)
{
    ph_peer_link* present = peer->link;
    ph_peer_link* other = peer->other;
    receive(peer, present);
    if (peer->seam.receive == NULL && peer->move.is_under_way) {
        receive(peer, other);
    }
}

// ---- what goes

void ph_peer_say(ph_peer* peer, const void* bytes, size_t size)
{
    if (ph_net_client_send(peer->link->net, bytes, size)) {
        peer->sent_us = peer->now_us;
    }
}

static bool is_input_unknown(const ph_peer* peer)
{
    return ph_messages_processed_input(peer->messages) != peer->input_number;
}

static bool is_answer_due(const ph_peer* peer)
{
    const uint64_t silence_us = peer->now_us - peer->sent_us;
    return peer->is_answer_due || peer->has_unreliable ||
           peer->now_us >= ph_client_ack_due_us(peer->view) ||
           (peer->has_new_input &&
            silence_us >= SECOND_US / (uint64_t)peer->def.inputs_per_second) ||
           (is_input_unknown(peer) && silence_us >= RESEND_US);
}

// Everything that we have to say goes with an ack of what we have received.
static void answer(ph_peer* peer)
{
    uint8_t ack[PH_ACK_SIZE];
    uint8_t whole[PH_PAYLOAD_MAX];
    const bool has_to = is_answer_due(peer);
    if (!has_to && ph_messages_plan_alone(peer->messages, peer->now_us) == 0) {
        return;
    }
    if (has_to) {
        ph_messages_plan(peer->messages, peer->now_us);
    }
    const size_t size = ph_client_write_ack(peer->view, peer->now_us, ack);
    ph_peer_say(peer, whole, ph_messages_pack(peer->messages, ack, size, whole));
    peer->is_answer_due = false;
    peer->has_new_input = false;
    peer->has_unreliable = false;
}

// ---- a tick

// The server has heard nothing for so long that it has given us up: this program stood still, or the system sent
// nothing. What has waited for us in the socket does not change that.
static bool has_stalled(ph_peer* peer)
{
    const uint64_t stall_us = peer->now_us - peer->link->spoke_us;
    if (peer->state < PH_PEER_STATE_JOINING || stall_us < peer->link->timeout_us) {
        return false;
    }
    char text[PH_ERROR_TEXT_SIZE];
    snprintf(text, sizeof text,
             "nothing was sent for %d s; after %d s without a packet the server has given the "
             "connection up",
             (int)(stall_us / SECOND_US), (int)(peer->link->timeout_us / SECOND_US));
    if (ph_peer_move_survives(peer, PH_NET_CLIENT_TIMED_OUT)) {
        return false;
    }
    ph_peer_give_up(peer, PH_NET_CLIENT_TIMED_OUT, text);
    return true;
}

static double kbps(const ph_peer* peer, uint64_t bytes, uint64_t datagrams, uint64_t duration_us)
{
    const uint64_t wire_bytes = bytes + datagrams * (uint64_t)peer->header_bytes;
    return (double)wire_bytes * 8.0 * 1000.0 / (double)duration_us;
}

static void measure(ph_peer* peer)
{
    const uint64_t duration_us = peer->now_us - peer->rate_us;
    if (duration_us < SECOND_US) {
        return;
    }
    const ph_net_client_stats now = ph_net_client_get_stats(peer->link->net);
    const ph_net_client_stats* start = &peer->rate_start;
    peer->received_kbps = kbps(peer, now.received_bytes - start->received_bytes,
                               now.received_datagrams - start->received_datagrams, duration_us);
    peer->sent_kbps = kbps(peer, now.sent_bytes - start->sent_bytes,
                           now.sent_datagrams - start->sent_datagrams, duration_us);
    peer->rate_start = now;
    peer->rate_us = peer->now_us;
}

static void advance_states(ph_peer* peer)
{
    const ph_net_client_state net = ph_net_client_get_state(peer->link->net);
    if (net <= PH_NET_CLIENT_DISCONNECTED) {
        if (!ph_peer_move_survives(peer, net)) {
            ph_peer_explain_end(peer);
        }
    } else if (net == PH_NET_CLIENT_CONNECTED && peer->state == PH_PEER_STATE_CONNECTING) {
        const ph_address server = ph_net_client_server(peer->link->net);
        peer->header_bytes =
            server.kind == PH_ADDRESS_IPV6 ? PH_WIRE_HEADERS_IPV6 : PH_WIRE_HEADERS_IPV4;
        peer->joining_us = peer->now_us;
        peer->state = PH_PEER_STATE_JOINING;
    }
}

void ph_peer_tick(ph_peer* peer)
{
    const uint64_t now_us = ph_peer_now(peer);
    peer->now_us = now_us > peer->now_us ? now_us : peer->now_us;
    if (peer->state == PH_PEER_STATE_IDLE || has_stalled(peer)) {
        return;
    }
    ph_net_client_advance(peer->link->net, peer->now_us); // what has waited in the socket comes now
    ph_net_client_advance(peer->other->net, peer->now_us);
    receive_all(peer);
    if (peer->state == PH_PEER_STATE_IDLE) {
        return;
    }
    ph_net_client_tick(peer->link->net, peer->now_us);
    advance_states(peer);
    if (peer->state == PH_PEER_STATE_JOINING) {
        ph_peer_admission_tick(peer);
    }
    if (peer->state == PH_PEER_STATE_JOINED) {
        ph_peer_spares_tick(peer);
        ph_peer_move_tick(peer);
    }
    if (peer->state == PH_PEER_STATE_JOINED) {
        answer(peer);
        ph_peer_send_bulk(peer);
        ph_client_advance(peer->view, peer->now_us);
    }
    measure(peer);
}

bool ph_peer_wait(ph_peer* peer, uint64_t timeout_us)
{
    ph_socket* sockets[2];
    int count = 0;
    for (int i = 0; i < 2; ++i) {
        if (peer->links[i].socket != NULL) {
            sockets[count++] = peer->links[i].socket;
        }
    }
    if (count == 0) {
        ph_socket_sleep(timeout_us);
        return false;
    }
    return ph_socket_wait_any(sockets, count, timeout_us);
}

// ---- events

static bool take_entity_event(ph_peer* peer, ph_peer_event* event)
{
    if (peer->view == NULL || !ph_client_poll(peer->view, &event->entity)) {
        return false;
    }
    static const ph_peer_event_kind kinds[] = {
        [PH_EVENT_ENTER] = PH_PEER_ENTERED,
        [PH_EVENT_UPDATE] = PH_PEER_UPDATED,
        [PH_EVENT_LEAVE] = PH_PEER_LEFT,
    };
    event->kind = kinds[event->entity.kind];
    return true;
}

static bool take_message(ph_peer* peer, ph_peer_event* event)
{
    // Not before the CONNECTED, and what was left when it ended all the same.
    const size_t size = peer->view != NULL ? ph_messages_receive(peer->messages, peer->message) : 0;
    if (size == 0) {
        return false;
    }
    event->kind = PH_PEER_MESSAGE;
    event->bytes = peer->message;
    event->size = size;
    return true;
}

static void take_text(ph_peer* peer, ph_peer_event* event, const char* text)
{
    snprintf(peer->taken_text, sizeof peer->taken_text, "%s", text);
    event->text = peer->taken_text;
}

bool ph_peer_next_event(ph_peer* peer, ph_peer_event* event)
{
    *event = (ph_peer_event){.text = ""};
    if (peer->is_connected_due) {
        peer->is_connected_due = false;
        event->kind = PH_PEER_CONNECTED;
        return true;
    }
    if (peer->is_moved_due) { // before all that the new server says
        peer->is_moved_due = false;
        *event = peer->moved;
        take_text(peer, event, peer->moved_text);
        return true;
    }
    if (take_entity_event(peer, event) || take_message(peer, event) ||
        ph_peer_take_bulk_event(peer, event)) {
        return true;
    }
    if (peer->is_unsent_due) {
        peer->is_unsent_due = false;
        event->kind = PH_PEER_UNSENT;
        take_text(peer, event, peer->unsent_text);
        return true;
    }
    if (peer->is_waiting_due) {
        peer->is_waiting_due = false;
        event->kind = PH_PEER_WAITING;
        take_text(peer, event,
                  "connected, but the server has not admitted this client for 5 s: it must call "
                  "ph_host_admit() when it takes PH_NET_CONNECTED, and ph_host_send() each tick");
        return true;
    }
    if (peer->is_end_due) {
        peer->is_end_due = false;
        *event = peer->end;
        take_text(peer, event, peer->end_text);
        return true;
    }
    return false;
}

// ---- questions

ph_peer_state ph_peer_get_state(const ph_peer* peer)
{
    return peer->state;
}

ph_address ph_peer_server(const ph_peer* peer)
{
    return ph_net_client_server(peer->link->net);
}

ph_client* ph_peer_view(ph_peer* peer)
{
    return peer->view;
}

ph_result ph_peer_get_pose(const ph_peer* peer, ph_entity_id entity, ph_pose* pose)
{
    return peer->view != NULL ? ph_client_get_pose(peer->view, entity, pose) : PH_ERROR_STALE;
}

ph_result ph_peer_get_shown_struct(const ph_peer* peer, ph_entity_id entity, void* state)
{
    return peer->view != NULL ? ph_client_get_shown_struct(peer->view, entity, state)
                              : PH_ERROR_STALE;
}

ph_entity_id ph_peer_find(const ph_peer* peer, uint64_t key)
{
    return peer->view != NULL ? ph_client_find(peer->view, key) : (ph_entity_id){0};
}

ph_entity_id ph_peer_own(const ph_peer* peer)
{
    return peer->view != NULL ? ph_client_entity_at(peer->view, 0) : (ph_entity_id){0};
}

ph_result ph_peer_get_struct(const ph_peer* peer, ph_entity_id entity, void* state)
{
    return peer->view != NULL ? ph_client_get_struct(peer->view, entity, state) : PH_ERROR_STALE;
}

ph_result ph_peer_fail_idle(const ph_peer* peer, const char* function)
{
    const ph_check call = ph_check_begin(peer->def.on_error, peer->def.on_error_context, function);
    return ph_fail(&call, PH_ERROR_STALE, NULL,
                   "there is no connection; ph_peer_connect() must come first, and the connection "
                   "must not have ended");
}

ph_result ph_peer_send(ph_peer* peer, const void* bytes, size_t size)
{
    const ph_check call = ph_check_begin(peer->def.on_error, peer->def.on_error_context, __func__);
    if (peer->state == PH_PEER_STATE_IDLE) {
        return ph_peer_fail_idle(peer, __func__);
    }
    if (size < 1 || size > PH_MESSAGE_SIZE_MAX) {
        char is[PH_COUNT_TEXT_SIZE];
        char most[PH_COUNT_TEXT_SIZE];
        return ph_fail(&call, PH_ERROR_ARGUMENT, "size",
                       "is %s; it must be 1..%s bytes: send more as several messages or as a block",
                       ph_count_text((int64_t)size, is), ph_count_text(PH_MESSAGE_SIZE_MAX, most));
    }
    return ph_messages_send(peer->messages, bytes, size);
}

uint32_t ph_peer_set_input(ph_peer* peer, const void* bytes, size_t size)
{
    if (peer->state == PH_PEER_STATE_IDLE ||
        ph_messages_set_input(peer->messages, peer->input_number + 1, bytes, size) != PH_OK) {
        return 0;
    }
    peer->has_new_input = true;
    return ++peer->input_number;
}

uint32_t ph_peer_processed_input(const ph_peer* peer)
{
    return peer->messages != NULL ? ph_messages_processed_input(peer->messages) : 0;
}

ph_peer_stats ph_peer_get_stats(const ph_peer* peer)
{
    const ph_net_client_stats net = ph_net_client_get_stats(peer->link->net);
    ph_peer_stats stats = {
        .silent_ms = peer->state != PH_PEER_STATE_IDLE
                         ? (uint32_t)((peer->now_us - peer->link->heard_us) / 1000)
                         : 0,
        .received_kbps = peer->received_kbps,
        .sent_kbps = peer->sent_kbps,
        .received_datagrams = net.received_datagrams - peer->net_start.received_datagrams,
        .sent_datagrams = net.sent_datagrams - peer->net_start.sent_datagrams,
        .unsent_datagrams = peer->unsent,
        .refused_payloads = peer->refused_payloads,
        .slot_count = peer->welcome.slots,
        .tick_us = peer->welcome.tick_us,
        .moves = peer->move.moves,
        .false_alarms = peer->move.false_alarms,
        .failed_moves = peer->move.failures,
        .probes = peer->move.probes_sent,
        .interrupted_ms = peer->move.interrupted_ms,
    };
    if (peer->view != NULL) {
        const ph_client_stats view = ph_client_get_stats(peer->view);
        stats.rtt_ms = view.rtt_ms;
        stats.loss = view.loss;
        stats.entity_count = ph_client_entity_count(peer->view);
        const int slot_count = ph_client_slot_count(peer->view); // for a while more, after a move
        stats.slot_count = slot_count > stats.slot_count ? slot_count : stats.slot_count;
    }
    return stats;
}
