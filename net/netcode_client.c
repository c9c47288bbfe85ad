// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client's states. Everything happens at ticks and on datagrams; nothing is allocated after
// creation.
//
//            challenge              keep-alive
//   1 request ────────▶ 2 response ────────▶ 3 connected ──▶ 0, or -4 after silence
//     ▲  │ silence, denied  │
//     └──┴──────────────────┘ next server of the token; after the last: -1, -2 or -3
//     (denied with a reason: only from 1, and after 0.5 s of requests that got nothing better)
//     and from 1 and 2 to -6 when the token gets too old

#include <pinhole/net/netcode_client.h>

#include "base/allocator.h"
#include "base/check.h"
#include "net/netcode_bytes.h"
#include "net/netcode_private.h"
#include "net/netcode_packet.h"

#include <limits.h>
#include <sodium.h>

#define COOKIE UINT32_C(0x4E454331)

enum {
    RESEND_US = 100000, // of requests and responses
    // A reason is believed when so many requests had no better answer in so long. A server lets a player in anew whose
    // old connection has been silent for 2 s; so of a player that is connected it is believed later.
    BELIEVE_US = 500000,
    BELIEVE_CONNECTED_US = 3000000,
    BELIEVE_REQUESTS = 3,
    DISCONNECT_PACKETS = 10,
};

struct ph_net_client {
    ph_net_client_def def;
    ph_net_client_state state;
    ph_token token;    // all zero when the state is 0 or below
    int address;       // which of the token's we talk to
    uint64_t turn_us;  // for an address that does not answer; 0: the timeout
    ph_address server; // the same, kept for the curious
    uint64_t now_us;
    uint64_t start_us;    // of connecting; the token's age counts from here
    uint64_t received_us; // the newest packet of use, or when the present state began
    uint64_t sent_us;
    uint64_t sequence; // of our next packet; never starts again, a token may be used again
    ph_netcode_replay replay;
    uint8_t challenge[PH_CHALLENGE_DATA_SIZE]; // goes back as it came
    ph_net_denial denial;                      // the newest reason of any server since the connect
    bool is_denied;                            // the present server has given one
    uint64_t denied_us;                        // when that was
    int denied_requests;                       // since then
    int index;
    int max_clients;
    ph_net_client_stats stats;
};

// ---- creation

ph_net_client_def ph_net_client_def_default(void)
{
    return (ph_net_client_def){.keep_alive_ms = 100, .cookie = COOKIE};
}

ph_result ph_net_client_create(const ph_net_client_def* def, ph_net_client** client)
{
    *client = NULL;
    ph_check check = ph_check_begin(def->on_error, def->on_error_context, __func__);
    ph_check_made(&check, def->cookie == COOKIE, "ph_net_client_def");
    ph_check_range(&check, "ph_net_client_def.keep_alive_ms", def->keep_alive_ms, 1, PH_NO_END);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_netcode_start();
    *client = ph_allocate_zeroed(&def->allocator, sizeof **client);
    if (*client == NULL) {
        return ph_fail_memory(&check);
    }
    (*client)->def = *def;
    (*client)->index = -1;
    return PH_OK;
}

void ph_net_client_destroy(ph_net_client* client)
{
    if (client == NULL) {
        return;
    }
    const ph_allocator allocator = client->def.allocator;
    sodium_memzero(client, sizeof *client);
    ph_release(&allocator, client, sizeof *client);
}

// ---- sending

static void hand_over(ph_net_client* client, const uint8_t* datagram, size_t size)
{
    client->sent_us = client->now_us;
    ++client->stats.sent_datagrams;
    client->stats.sent_bytes += size;
    if (client->def.sink.send != NULL) {
        client->def.sink.send(client->def.sink.context, &client->server, datagram, size);
    }
}

static void send_packet(ph_net_client* client, ph_netcode_type type, const void* data, size_t size)
{
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    const ph_netcode_lock lock = {
        .protocol_id = client->token.protocol_id,
        .key = client->token.secrets.client_to_server_key,
    };
    hand_over(client, datagram,
              ph_netcode_seal(&lock, type, client->sequence++, data, size, datagram));
}

static void send_request(ph_net_client* client)
{
    uint8_t datagram[PH_NETCODE_REQUEST_SIZE] = {PH_NETCODE_REQUEST};
    const ph_token* token = &client->token;
    uint8_t* at = ph_put_version(datagram + 1);
    at = ph_put_u64(at, token->protocol_id);
    at = ph_put_u64(at, token->expire_s);
    at = ph_put_bytes(at, token->secrets.nonce, PH_TOKEN_NONCE_SIZE);
    ph_put_bytes(at, token->sealed, PH_TOKEN_PRIVATE_SIZE);
    client->denied_requests += client->is_denied ? 1 : 0;
    hand_over(client, datagram, sizeof datagram);
}

static void send_keep_alive(ph_net_client* client)
{
    uint8_t data[8];
    ph_put_u32(ph_put_u32(data, (uint32_t)client->index), (uint32_t)client->max_clients);
    send_packet(client, PH_NETCODE_KEEP_ALIVE, data, sizeof data);
}

bool ph_net_client_send(ph_net_client* client, const void* bytes, size_t size)
{
    PH_ASSERT(size >= 1 && size <= PH_NETCODE_PAYLOAD_MAX);

    if (client->state != PH_NET_CLIENT_CONNECTED || size < 1 || size > PH_NETCODE_PAYLOAD_MAX) {
        return false;
    }
    send_packet(client, PH_NETCODE_PAYLOAD, bytes, size);
    ++client->stats.sent_payloads;
    return true;
}

// ---- states

// Over, for the reason that the state names.
static void end(ph_net_client* client, ph_net_client_state state)
{
    client->state = state;
    client->index = -1;
    client->max_clients = 0;
    ph_token_wipe(&client->token);
    sodium_memzero(client->challenge, sizeof client->challenge);
}

// The sequence goes on from server to server: the key is the same.
static void turn_to(ph_net_client* client, int address)
{
    client->address = address;
    client->server = client->token.addresses[address];
    client->state = PH_NET_CLIENT_SENDING_REQUEST;
    client->received_us = client->now_us;
    client->replay = (ph_netcode_replay){0};
    client->is_denied = false;
    send_request(client);
}

// This server has failed us while we were connecting.
static void give_up_server(ph_net_client* client, ph_net_client_state state)
{
    if (client->address + 1 < client->token.address_count) {
        turn_to(client, client->address + 1);
    } else {
        end(client, state);
    }
}

void ph_net_client_connect(ph_net_client* client, const void* token, size_t size, uint64_t now_us)
{
    ph_net_client_connect_in_turns(client, token, size, now_us, 0);
}

void ph_net_client_connect_in_turns(ph_net_client* client, const void* token, size_t size,
                                    uint64_t now_us, int turn_ms)
{
    ph_net_client_disconnect(client);
    client->turn_us = turn_ms > 0 ? (uint64_t)turn_ms * 1000 : 0;
    client->denial = PH_NET_DENIAL_NONE;
    client->now_us = now_us;
    client->start_us = now_us;
    const ph_token_fault fault = ph_token_read(token, size, &client->token);
    if (fault != PH_TOKEN_GOOD) {
        const ph_check call = ph_check_begin(client->def.on_error, client->def.on_error_context,
                                             "ph_net_client_connect");
        (void)ph_fail(&call, PH_ERROR_ARGUMENT, "token", "is of no use: %s",
                      ph_token_fault_text(fault));
        end(client, PH_NET_CLIENT_INVALID_TOKEN);
        return;
    }
    turn_to(client, 0);
}

void ph_net_client_disconnect(ph_net_client* client)
{
    if (client->state <= PH_NET_CLIENT_DISCONNECTED) {
        return;
    }
    for (int i = 0; i < DISCONNECT_PACKETS; ++i) {
        send_packet(client, PH_NETCODE_DISCONNECT, NULL, 0);
    }
    end(client, PH_NET_CLIENT_DISCONNECTED);
}

// ---- time

static bool has_expired(const ph_net_client* client)
{
    const uint64_t lifetime_s = client->token.expire_s - client->token.create_s;
    return (client->now_us - client->start_us) / 1000000 >= lifetime_s;
}

static bool has_timed_out(const ph_net_client* client)
{
    const int32_t timeout_s = client->token.timeout_s;
    return timeout_s >= 0 && client->now_us - client->received_us >= (uint64_t)timeout_s * 1000000;
}

// Another address has its turn; all of them together get the time of one.
static bool is_turn_over(const ph_net_client* client)
{
    return client->turn_us > 0 && client->token.address_count > 1 && !client->is_denied &&
           client->now_us - client->received_us >= client->turn_us;
}

static bool have_all_timed_out(const ph_net_client* client)
{
    const int32_t timeout_s = client->token.timeout_s;
    return client->turn_us > 0 && timeout_s >= 0 &&
           client->now_us - client->start_us >= (uint64_t)timeout_s * 1000000;
}

// The server goes on to say no, and sends no challenge.
static bool is_denial_believed(const ph_net_client* client)
{
    const uint64_t believe_us =
        client->denial == PH_NET_DENIAL_CLIENT_CONNECTED ? BELIEVE_CONNECTED_US : BELIEVE_US;
    return client->is_denied && client->denied_requests >= BELIEVE_REQUESTS &&
           client->now_us - client->denied_us >= believe_us;
}

static bool is_due(const ph_net_client* client, uint64_t interval_us)
{
    return client->now_us - client->sent_us >= interval_us;
}

static void tick_connecting(ph_net_client* client)
{
    const bool is_requesting = client->state == PH_NET_CLIENT_SENDING_REQUEST;
    if (has_expired(client)) {
        end(client, PH_NET_CLIENT_TOKEN_EXPIRED);
    } else if (is_requesting && is_denial_believed(client)) {
        give_up_server(client, PH_NET_CLIENT_DENIED);
    } else if (is_requesting && have_all_timed_out(client)) {
        end(client, PH_NET_CLIENT_REQUEST_TIMED_OUT);
    } else if (is_requesting && is_turn_over(client)) {
        turn_to(client, (client->address + 1) % client->token.address_count);
    } else if (has_timed_out(client)) {
        give_up_server(client, is_requesting ? PH_NET_CLIENT_REQUEST_TIMED_OUT
                                             : PH_NET_CLIENT_RESPONSE_TIMED_OUT);
    } else if (is_due(client, RESEND_US)) {
        if (is_requesting) {
            send_request(client);
        } else {
            send_packet(client, PH_NETCODE_RESPONSE, client->challenge, sizeof client->challenge);
        }
    }
}

void ph_net_client_advance(ph_net_client* client, uint64_t now_us)
{
    if (now_us > client->now_us) {
        client->now_us = now_us;
    }
}

void ph_net_client_tick(ph_net_client* client, uint64_t now_us)
{
    ph_net_client_advance(client, now_us);
    if (client->state <= PH_NET_CLIENT_DISCONNECTED) {
        return;
    }
    if (client->state != PH_NET_CLIENT_CONNECTED) {
        tick_connecting(client);
    } else if (has_timed_out(client)) {
        end(client, PH_NET_CLIENT_TIMED_OUT);
    } else if (is_due(client, (uint64_t)client->def.keep_alive_ms * 1000)) {
        send_keep_alive(client);
    }
}

// ---- receiving. Each returns whether the packet was of use.

// A reason why not. It may be an answer to another sender, which has recorded our request and lets us have what the
// server said to that: so we go on asking for a while, and a challenge counts for more. Once there is a challenge,
// only the standard's own denial counts.
static bool take_reason(ph_net_client* client, uint8_t reason)
{
    if (client->state != PH_NET_CLIENT_SENDING_REQUEST) {
        return false;
    }
    if (!client->is_denied) {
        client->is_denied = true;
        client->denied_us = client->now_us;
        client->denied_requests = 0;
    }
    const bool is_known = reason > PH_NET_DENIAL_FULL && reason < PH_NET_DENIAL_OTHER;
    client->denial = is_known ? (ph_net_denial)reason : PH_NET_DENIAL_OTHER;
    return true;
}

static bool take_denied(ph_net_client* client, const ph_netcode_opened* packet)
{
    if (client->state == PH_NET_CLIENT_CONNECTED) {
        return false;
    }
    if (packet->data_size > 0) {
        return take_reason(client, packet->data[0]);
    }
    client->denial = PH_NET_DENIAL_FULL;
    give_up_server(client, PH_NET_CLIENT_DENIED);
    return true;
}

static bool take_challenge(ph_net_client* client, const ph_netcode_opened* packet)
{
    if (client->state != PH_NET_CLIENT_SENDING_REQUEST) {
        return false;
    }
    client->denial = PH_NET_DENIAL_NONE;
    memcpy(client->challenge, packet->data, sizeof client->challenge);
    client->state = PH_NET_CLIENT_SENDING_RESPONSE;
    send_packet(client, PH_NETCODE_RESPONSE, client->challenge, sizeof client->challenge);
    return true;
}

static bool take_keep_alive(ph_net_client* client, const ph_netcode_opened* packet)
{
    if (client->state == PH_NET_CLIENT_CONNECTED) {
        return true;
    }
    uint32_t index;
    uint32_t max_clients;
    ph_take_u32(ph_take_u32(packet->data, &index), &max_clients);
    if (client->state != PH_NET_CLIENT_SENDING_RESPONSE || max_clients > INT_MAX ||
        index >= max_clients) {
        return false;
    }
    client->state = PH_NET_CLIENT_CONNECTED;
    client->index = (int)index;
    client->max_clients = (int)max_clients;
    return true;
}

static bool take_payload(ph_net_client* client, const ph_netcode_opened* packet,
                         ph_net_payload* payload)
{
    if (client->state != PH_NET_CLIENT_CONNECTED) {
        return false;
    }
    ++client->stats.received_payloads;
    *payload = (ph_net_payload){
        .bytes = packet->data,
        .size = packet->data_size,
        .sequence = packet->sequence,
    };
    return true;
}

static bool take(ph_net_client* client, const ph_netcode_opened* packet, ph_net_payload* payload)
{
    switch (packet->type) {
    case PH_NETCODE_DENIED:
        return take_denied(client, packet);
    case PH_NETCODE_CHALLENGE:
        return take_challenge(client, packet);
    case PH_NETCODE_KEEP_ALIVE:
        return take_keep_alive(client, packet);
    case PH_NETCODE_PAYLOAD:
        return take_payload(client, packet, payload);
    case PH_NETCODE_DISCONNECT:
        if (client->state != PH_NET_CLIENT_CONNECTED) {
            return false;
        }
        end(client, PH_NET_CLIENT_DISCONNECTED);
        return true;
    case PH_NETCODE_REQUEST:
    case PH_NETCODE_RESPONSE:
    case PH_NETCODE_TYPE_COUNT:
        break;
    }
    return false;
}

static ph_net_refusal receive(ph_net_client* client, const ph_address* from, void* bytes,
                              size_t size, ph_net_payload* payload)
{
    if (client->state <= PH_NET_CLIENT_DISCONNECTED) {
        return PH_NET_REFUSAL_STOPPED;
    }
    if (!ph_address_is_equal(from, &client->server)) {
        return PH_NET_REFUSAL_ADDRESS;
    }
    ph_netcode_opened packet;
    ph_net_refusal refusal = ph_netcode_peek(bytes, size, &packet);
    if (refusal == PH_NET_REFUSAL_NONE && packet.type == PH_NETCODE_RESPONSE) {
        refusal = PH_NET_REFUSAL_TYPE;
    }
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    const ph_netcode_lock lock = {
        .protocol_id = client->token.protocol_id,
        .key = client->token.secrets.server_to_client_key,
    };
    refusal = ph_netcode_open(&lock, &client->replay, bytes, size, &packet);
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    if (!take(client, &packet, payload)) {
        return PH_NET_REFUSAL_STATE;
    }
    if (packet.type != PH_NETCODE_DENIED) {
        client->received_us = client->now_us; // a denial puts no timeout off
    }
    return PH_NET_REFUSAL_NONE;
}

ph_net_refusal ph_net_client_receive(ph_net_client* client, const ph_address* from, void* bytes,
                                     size_t size, ph_net_payload* payload)
{
    *payload = (ph_net_payload){0};
    ++client->stats.received_datagrams;
    client->stats.received_bytes += size;
    const ph_net_refusal refusal = receive(client, from, bytes, size, payload);
    if (refusal != PH_NET_REFUSAL_NONE) {
        ++client->stats.refused_datagrams[refusal];
    }
    return refusal;
}

// ---- questions

ph_net_client_state ph_net_client_get_state(const ph_net_client* client)
{
    return client->state;
}

int ph_net_client_index(const ph_net_client* client)
{
    return client->index;
}

int ph_net_client_max_clients(const ph_net_client* client)
{
    return client->max_clients;
}

ph_net_denial ph_net_client_denial(const ph_net_client* client)
{
    return client->denial;
}

ph_address ph_net_client_server(const ph_net_client* client)
{
    return client->server;
}

ph_net_client_stats ph_net_client_get_stats(const ph_net_client* client)
{
    return client->stats;
}

const char* ph_net_client_state_text(ph_net_client_state state)
{
    switch (state) {
    case PH_NET_CLIENT_TOKEN_EXPIRED:
        return "token expired";
    case PH_NET_CLIENT_INVALID_TOKEN:
        return "invalid token";
    case PH_NET_CLIENT_TIMED_OUT:
        return "timed out";
    case PH_NET_CLIENT_RESPONSE_TIMED_OUT:
        return "response timed out";
    case PH_NET_CLIENT_REQUEST_TIMED_OUT:
        return "request timed out";
    case PH_NET_CLIENT_DENIED:
        return "denied";
    case PH_NET_CLIENT_DISCONNECTED:
        return "disconnected";
    case PH_NET_CLIENT_SENDING_REQUEST:
        return "sending request";
    case PH_NET_CLIENT_SENDING_RESPONSE:
        return "sending response";
    case PH_NET_CLIENT_CONNECTED:
        return "connected";
    }
    return "unknown";
}
