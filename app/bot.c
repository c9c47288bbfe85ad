// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per datagram, some tens of microseconds, most of it decoding.

#include "bot.h"

#include "key_file.h"
#include "wall.h"

#include <pinhole/stats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOKEN_SECONDS = 300, // ramps are long, and links slow
    TIMEOUT_S = 10,
    TICK_EVERY_US = 50000,
    KEEP_ALIVE_MS = 500, // acknowledgements come more often
    FLOOD_EVERY_US = 500,
    FLOOD_BURST_MAX = 64,
    FLOOD_BYTES = 200,
    VANISH_US = 2000000,
    BUFFER_BYTES = 1 << 18,
};

#define ROAM_MM 20000.0

// ---- memory

static void send_now(bot* of, const ph_address* to, const void* bytes, size_t size)
{
    uint8_t copy[PH_NETCODE_DATAGRAM_MAX];
    memcpy(copy, bytes, size);
    const ph_datagram datagram = {.peer = *to, .bytes = copy, .size = size};
    ph_socket_send(of->socket, &datagram, 1);
}

static void send_datagram(void* context, const ph_address* to, const void* bytes, size_t size)
{
    bot* of = context;
    if (of->up != NULL) {
        ph_link_send(of->up, of->now_us, bytes, size);
    } else {
        send_now(of, to, bytes, size);
    }
}

static bool create_links(bot* of)
{
    ph_link_def link = of->terms->link;
    if (!of->terms->has_link) {
        return true;
    }
    link.key = of->client_id * 2;
    if (ph_link_create(&link, &of->down) != PH_OK) {
        return false;
    }
    ++link.key;
    return ph_link_create(&link, &of->up) == PH_OK;
}

static bool create_socket(bot* of)
{
    ph_socket_def def = ph_socket_def_default();
    if (of->terms->server.kind == PH_ADDRESS_IPV6) {
        const uint8_t any[16] = {0};
        def.local_address = ph_address_make_ipv6(any, 0);
    } else {
        const uint8_t any[4] = {0};
        def.local_address = ph_address_make_ipv4(any, 0);
    }
    def.receive_buffer_bytes = BUFFER_BYTES;
    def.send_buffer_bytes = BUFFER_BYTES;
    return ph_socket_open(&def, &of->socket) == PH_OK;
}

static bool create_client(bot* of)
{
    ph_client_def def = ph_client_def_default();
    def.schema = of->terms->schema;
    def.profile = of->terms->profile;
    def.ground = of->terms->ground;
    def.slot_capacity = of->terms->slot_capacity;
    const ph_messages_def messages = ph_messages_def_default();
    return ph_client_create(&def, &of->client) == PH_OK &&
           ph_messages_create(&messages, &of->messages) == PH_OK;
}

bot* bot_create(const bot_terms* terms, uint64_t client_id, bot_behaviour behaviour)
{
    bot* of = calloc(1, sizeof *of);
    if (of == NULL) {
        return NULL;
    }
    of->terms = terms;
    of->client_id = client_id;
    of->behaviour = behaviour;
    ph_net_client_def net = ph_net_client_def_default();
    net.sink = (ph_net_sink){send_datagram, of};
    net.keep_alive_ms = KEEP_ALIVE_MS;
    if (!create_socket(of) || !create_links(of) || !create_client(of) ||
        ph_net_client_create(&net, &of->net) != PH_OK) {
        bot_destroy(of);
        return NULL;
    }
    return of;
}

void bot_destroy(bot* of)
{
    if (of == NULL) {
        return;
    }
    if (of->net != NULL && !of->is_gone) {
        ph_link_destroy(of->up); // its disconnect is not delayed
        of->up = NULL;
        ph_net_client_disconnect(of->net);
    }
    ph_net_client_destroy(of->net);
    ph_client_destroy(of->client);
    ph_messages_destroy(of->messages);
    ph_link_destroy(of->down);
    ph_link_destroy(of->up);
    ph_socket_close(of->socket);
    free(of);
}

// ---- connecting

bool bot_start(bot* of, uint64_t now_us)
{
    ph_token_def def = ph_token_def_default();
    uint8_t token[PH_TOKEN_SIZE];
    def.protocol_id = APP_PROTOCOL_ID;
    def.client_id = of->client_id;
    def.create_s = app_wall_unix_s();
    def.lifetime_s = TOKEN_SECONDS;
    def.timeout_s = TIMEOUT_S;
    def.addresses[0] = of->terms->server;
    def.address_count = 1;
    memcpy(def.private_key, of->terms->key, sizeof def.private_key);
    def.is_insecure_dev = of->terms->is_insecure_dev;
    const bool is_made = ph_token_write(&def, token) == PH_OK;
    app_key_wipe(def.private_key);
    of->started_us = now_us;
    of->now_us = now_us;
    if (is_made) {
        ph_net_client_connect(of->net, token, sizeof token, now_us);
    }
    return is_made;
}

// A client and its messages belong to one connection. What came wrong stays counted.
bool bot_begin_anew(bot* of, uint64_t now_us)
{
    ph_client* client = of->client;
    ph_messages* messages = of->messages;
    const uint64_t refused = bot_refused(of);
    if (!create_client(of)) {
        ph_client_destroy(of->client != client ? of->client : NULL);
        of->client = client;
        of->messages = messages;
        return false;
    }
    ph_client_destroy(client);
    ph_messages_destroy(messages);
    of->misread = refused;
    of->overruns += of->meter.overruns;
    of->meter = (ph_wire_meter){0};
    of->connected_us = 0;
    of->converged_us = 0;
    of->chat_posted = 0;
    of->chat_returned = 0;
    of->input_number = 0;
    return bot_start(of, now_us);
}

bool bot_is_connected(const bot* of)
{
    return ph_net_client_get_state(of->net) == PH_NET_CLIENT_CONNECTED;
}

void bot_change_link(bot* of, const ph_link_def* link)
{
    ph_link_change(of->down, link);
    ph_link_change(of->up, link);
}

// What waits in a queue on the way, or in the socket, comes closer together than it was sent.
static int64_t meter_depth_bits(const bot* of)
{
    const double tolerance_s = 1.0 + (double)of->stalled_us / 1e6;
    return of->terms->depth_bits + (int64_t)((double)of->terms->bits_per_second * tolerance_s);
}

static void note_connection(bot* of, uint64_t now_us)
{
    if (of->connected_us == 0 && bot_is_connected(of)) {
        of->connected_us = now_us;
        of->meter = ph_wire_meter_make(of->terms->bits_per_second, meter_depth_bits(of), now_us);
    }
}

void bot_note_stall(bot* of, uint64_t stalled_us)
{
    if (stalled_us > of->stalled_us) {
        of->stalled_us = stalled_us;
        of->meter.depth_bits = meter_depth_bits(of); // it fills by the time since the last datagram
    }
}

// ---- what a player does

// Any text will do that both know; sizes differ.
static size_t write_chat(const bot* of, uint32_t number, uint8_t message[PH_MESSAGE_SIZE_MAX])
{
    const int size = snprintf((char*)message, PH_MESSAGE_SIZE_MAX, "%llu says %u %.*s",
                              (unsigned long long)of->client_id, number, (int)(number * 7 % 40),
                              "and so on and on and on and on and on and on");
    return (size_t)size;
}

static void chat(bot* of, uint64_t now_us)
{
    const double due = of->terms->chat_hz * (double)(now_us - of->connected_us) / 1e6;
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    while (of->chat_posted < due && !of->is_silent &&
           ph_messages_send(of->messages, message, write_chat(of, of->chat_posted, message)) ==
               PH_OK) {
        ++of->chat_posted;
    }
}

static void put_i32(uint8_t* at, int32_t number)
{
    for (int i = 0; i < 4; ++i) {
        at[i] = (uint8_t)((uint32_t)number >> 8 * i);
    }
}

static void roam(bot* of, uint64_t now_us)
{
    const double angle = (double)(now_us - of->connected_us) / 1e6 + (double)of->client_id;
    uint8_t input[12];
    of->eye_mm[0] = (int32_t)(ROAM_MM * cos(angle));
    of->eye_mm[1] = (int32_t)(ROAM_MM * sin(angle));
    for (int axis = 0; axis < 3; ++axis) {
        put_i32(input + 4 * axis, of->eye_mm[axis]);
    }
    if (!of->is_silent) {
        ph_messages_set_input(of->messages, ++of->input_number, input, sizeof input);
    }
}

static void play(bot* of, uint64_t now_us)
{
    if (of->connected_us == 0 || of->behaviour == BOT_MUTE) {
        return;
    }
    chat(of, now_us);
    if (of->terms->is_roaming) {
        roam(of, now_us);
    }
}

// ---- datagrams

static void answer(bot* of, uint64_t now_us)
{
    uint8_t ack[PH_ACK_SIZE];
    uint8_t whole[PH_PAYLOAD_MAX];
    if (of->behaviour == BOT_MUTE) {
        return;
    }
    ph_messages_plan(of->messages, now_us);
    const size_t size = ph_client_write_ack(of->client, now_us, ack);
    ph_net_client_send(of->net, whole, ph_messages_pack(of->messages, ack, size, whole));
}

// Without anything new: the last answer may be lost.
static uint64_t answer_due_us(const bot* of)
{
    const bool is_able = bot_is_connected(of) && of->behaviour != BOT_MUTE;
    return is_able ? ph_client_ack_due_us(of->client) : UINT64_MAX;
}

static void read_chat(bot* of)
{
    uint8_t message[PH_MESSAGE_SIZE_MAX];
    for (size_t size; (size = ph_messages_receive(of->messages, message)) > 0;) {
        uint8_t expected[PH_MESSAGE_SIZE_MAX];
        const size_t expected_size = write_chat(of, of->chat_returned, expected);
        const bool is_right = size == expected_size && memcmp(message, expected, size) == 0;
        ++of->chat_returned;
        of->chat_wrong += is_right ? 0 : 1;
    }
}

static void take_payload(bot* of, uint64_t now_us, const ph_net_payload* payload)
{
    ph_messages_rest rest;
    if (ph_messages_unpack(of->messages, now_us, payload->bytes, payload->size, &rest) != PH_OK) {
        ++of->misread;
        return;
    }
    read_chat(of);
    if (rest.size > 0) {
        ph_client_receive(of->client, now_us, rest.bytes, rest.size);
    }
    answer(of, now_us);
}

// Nothing that a network does on its own: what it doubles or delays is refused as a replay. Before we
// are connected, datagrams for the former owner of this port may still come.
static bool is_fault(bool was_connected, ph_net_refusal refusal)
{
    return was_connected && (refusal == PH_NET_REFUSAL_SEAL || refusal == PH_NET_REFUSAL_DATA_SIZE);
}

static void take(bot* of, uint64_t now_us, const ph_address* from, void* bytes, size_t size)
{
    ph_net_payload payload;
    const int header_bytes =
        of->terms->server.kind == PH_ADDRESS_IPV6 ? PH_WIRE_HEADERS_IPV6 : PH_WIRE_HEADERS_IPV4;
    const bool was_connected = bot_is_connected(of);
    ph_net_client_advance(of->net, now_us); // or a silence would seem to begin at the last tick
    const ph_net_refusal refusal = ph_net_client_receive(of->net, from, bytes, size, &payload);
    of->misread += is_fault(was_connected, refusal) ? 1 : 0;
    of->heard_us = refusal == PH_NET_REFUSAL_NONE ? now_us : of->heard_us;
    note_connection(of, now_us);
    if (of->connected_us != 0) {
        ph_wire_meter_pass(&of->meter, size + (size_t)header_bytes, now_us);
    }
    if (payload.size > 0) {
        take_payload(of, now_us, &payload);
    }
}

static void take_from_link(bot* of, uint64_t now_us)
{
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
    const ph_address server = of->terms->server;
    for (size_t size; (size = ph_link_receive(of->down, now_us, bytes, sizeof bytes)) > 0;) {
        take(of, now_us, &server, bytes, size);
    }
    for (size_t size; (size = ph_link_receive(of->up, now_us, bytes, sizeof bytes)) > 0;) {
        send_now(of, &server, bytes, size);
    }
}

static void take_from_socket(bot* of, uint64_t now_us)
{
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    for (int count; (count = ph_socket_receive(of->socket, datagrams, PH_SOCKET_BATCH_MAX)) > 0;) {
        for (int i = 0; i < count; ++i) {
            ph_datagram* one = &datagrams[i];
            if (of->down != NULL) {
                ph_link_send(of->down, now_us, one->bytes, one->size);
            } else {
                take(of, now_us, &one->peer, one->bytes, one->size);
            }
        }
        if (count < PH_SOCKET_BATCH_MAX) {
            return;
        }
    }
}

// The server tells nothing when nothing is due; then nothing is acknowledged either.
static void send_messages_alone(bot* of, uint64_t now_us)
{
    uint8_t whole[PH_PAYLOAD_MAX];
    if (bot_is_connected(of) && of->behaviour != BOT_MUTE &&
        ph_messages_plan_alone(of->messages, now_us) > 0) {
        ph_net_client_send(of->net, whole, ph_messages_pack(of->messages, NULL, 0, whole));
    }
}

static void plan(bot* of, uint64_t now_us)
{
    const uint64_t due_us = answer_due_us(of);
    of->next_us =
        of->behaviour == BOT_FLOOD ? now_us + FLOOD_EVERY_US : of->ticked_us + TICK_EVERY_US;
    of->next_us = due_us < of->next_us ? due_us : of->next_us;
    if (of->down != NULL) {
        const uint64_t down_us = ph_link_next_us(of->down);
        const uint64_t up_us = ph_link_next_us(of->up);
        of->next_us = down_us < of->next_us ? down_us : of->next_us;
        of->next_us = up_us < of->next_us ? up_us : of->next_us;
    }
}

static void misbehave(bot* of, uint64_t now_us)
{
    if (of->behaviour == BOT_VANISH && of->connected_us != 0 &&
        now_us - of->connected_us > VANISH_US) {
        of->is_gone = true;
        ph_socket_close(of->socket);
        of->socket = NULL;
    }
    if (of->behaviour == BOT_FLOOD && bot_is_connected(of)) {
        const uint8_t nonsense[FLOOD_BYTES] = {(uint8_t)now_us, 1, 2, 3};
        uint64_t due = of->flooded_us == 0 ? 1 : (now_us - of->flooded_us) / FLOOD_EVERY_US;
        of->flooded_us = due > 0 ? now_us : of->flooded_us;
        due = due < FLOOD_BURST_MAX ? due : FLOOD_BURST_MAX;
        for (uint64_t i = 0; i < due; ++i) {
            ph_net_client_send(of->net, nonsense, sizeof nonsense);
        }
    }
}

void bot_receive(bot* of, uint64_t now_us)
{
    of->now_us = now_us;
    if (!of->is_gone && of->started_us != 0) {
        take_from_socket(of, now_us);
        plan(of, now_us);
    }
}

void bot_tick(bot* of, uint64_t now_us)
{
    of->now_us = now_us;
    if (of->is_gone || of->started_us == 0) {
        return;
    }
    if (of->down != NULL) {
        take_from_link(of, now_us);
    }
    if (now_us >= answer_due_us(of)) {
        answer(of, now_us);
    }
    if (now_us >= of->ticked_us + TICK_EVERY_US) {
        of->ticked_us = now_us;
        ph_net_client_tick(of->net, now_us);
        note_connection(of, now_us);
        play(of, now_us);
        send_messages_alone(of, now_us);
    }
    if (of->behaviour != BOT_GOOD) {
        misbehave(of, now_us);
    }
    plan(of, now_us);
}

void bot_fall_silent(bot* of)
{
    of->is_silent = true;
}

bool bot_is_answered(const bot* of)
{
    return of->chat_returned == of->chat_posted &&
           ph_messages_processed_input(of->messages) == of->input_number;
}

uint64_t bot_refused(const bot* of)
{
    const ph_client_stats stats = ph_client_get_stats(of->client);
    return of->misread + stats.refused_datagrams[PH_CLIENT_REFUSAL_HELLO] +
           stats.refused_datagrams[PH_CLIENT_REFUSAL_SEQUENCE] +
           stats.refused_datagrams[PH_CLIENT_REFUSAL_SIZE] +
           stats.refused_datagrams[PH_CLIENT_REFUSAL_RECORD];
}
