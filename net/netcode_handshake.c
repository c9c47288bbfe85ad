// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a client connects. Every datagram here may come from any sender, so what costs nothing is
// tested first, nothing is kept of a sender without a token, and no answer is larger than what it
// answers.
//
//   client                     server
//   request (1078)  ─────────▶ token opens? remember its keys
//                   ◀───────── challenge (333), or denied (25; 26 with a reason)
//   response (≥ 326) ────────▶ our own challenge back? take a slot
//                   ◀───────── keep-alive (26): index, number of clients

#include "net/netcode_server_state.h"
#include "net/netcode_packet.h"

#include <sodium.h>

enum {
    CREDIT_PER_REQUEST = 1000000,
    PROTOCOL_AT = 1 + PH_NETCODE_VERSION_SIZE,
    EXPIRE_AT = PROTOCOL_AT + 8,
    NONCE_AT = EXPIRE_AT + 8,
    PRIVATE_AT = NONCE_AT + PH_TOKEN_NONCE_SIZE,
    TAG_AT = PH_NETCODE_REQUEST_SIZE - PH_NETCODE_TAG_SIZE,
};

_Static_assert(PRIVATE_AT + PH_TOKEN_PRIVATE_SIZE == PH_NETCODE_REQUEST_SIZE, "that is all");

// Denied and challenge: with the keys of a connection that is none yet. Their sequence numbers come
// from the upper half, where no connection gets to, so they repeat none of a connection.
static void answer_with(ph_net_server* server, const ph_address* to, ph_netcode_type type,
                        const ph_netcode_lock* lock, const void* data, size_t size)
{
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    const size_t datagram_size =
        ph_netcode_seal(lock, type, server->global_sequence++, data, size, datagram);
    ++server->stats.sent_datagrams;
    server->stats.sent_bytes += datagram_size;
    if (server->def.sink.send != NULL) {
        server->def.sink.send(server->def.sink.context, to, datagram, datagram_size);
    }
}

static void answer(ph_net_server* server, const ph_address* to, ph_netcode_type type,
                   const uint8_t* key, const void* data, size_t size)
{
    const ph_netcode_lock lock = {.protocol_id = server->def.protocol_id, .key = key};
    answer_with(server, to, type, &lock, data, size);
}

// ---- request

// All that can be said without a key. (Whether the address is connected was asked before, unless its client
// has been silent for long: the standard asks later, the answer is the same.)
static ph_net_refusal test_in_clear(const ph_net_server* server, const uint8_t* bytes, size_t size)
{
    if (size != PH_NETCODE_REQUEST_SIZE) {
        return PH_NET_REFUSAL_SIZE;
    }
    if (!ph_is_version(bytes + 1)) {
        return PH_NET_REFUSAL_VERSION;
    }
    if (ph_number_at(bytes + PROTOCOL_AT, 8) != server->def.protocol_id) {
        return PH_NET_REFUSAL_PROTOCOL;
    }
    if (ph_number_at(bytes + EXPIRE_AT, 8) <= server->unix_s) {
        return PH_NET_REFUSAL_EXPIRED;
    }
    return PH_NET_REFUSAL_NONE;
}

// Of this server among the addresses of a token, or -1. A client that develops may know it by any name.
static int place_in(const ph_token_private* token, const ph_net_server* server)
{
    for (int i = 0; i < token->address_count; ++i) {
        for (int j = 0; j < server->def.address_count; ++j) {
            if (ph_address_is_equal(&token->addresses[i], &server->def.addresses[j])) {
                return i;
            }
        }
    }
    return server->def.is_insecure_dev ? 0 : -1;
}

// A request whose token opened.
typedef struct request {
    const ph_address* from;
    const uint8_t* tag;
    uint64_t expire_s;
    ph_token_private token;
    int key_place; // which of our keys has opened it
    int place;     // of this server among the addresses of the token
} request;

// Whether a token may be used from here, however often it was used before; remembers that it was.
static ph_net_refusal use_token(ph_net_server* server, const request* now)
{
    const ph_used_token* used = ph_used_tokens_find(&server->used_tokens, now->tag);
    if (used != NULL) {
        const bool is_good = ph_address_is_equal(&used->address, now->from) &&
                             !(used->is_spent && server->def.refuses_spent_tokens) &&
                             used->packets < PH_NET_PACKETS_END;
        return is_good ? PH_NET_REFUSAL_NONE : PH_NET_REFUSAL_TOKEN_USED;
    }
    const ph_token_age age = {
        .expire_s = now->expire_s,
        .made_us = now->token.made_us,
        .is_dated = now->token.is_dated,
    };
    if ((age.is_dated && age.made_us < server->oldest_token_us) ||
        ph_used_tokens_may_have_forgotten(&server->used_tokens, &age)) {
        return PH_NET_REFUSAL_TOKEN_OLD;
    }
    ph_used_token* added =
        ph_used_tokens_add(&server->used_tokens, now->tag, &age, now->from, server->unix_s);
    added->id_rate =
        (uint16_t)(ph_hash_key(now->token.client_id, server->id_seed) % PH_NET_ID_RATES);
    return PH_NET_REFUSAL_NONE;
}

static void send_challenge(ph_net_server* server, const ph_address* to,
                           const ph_token_private* token)
{
    ph_challenge challenge = {
        .sequence = server->challenge_sequence++,
        .client_id = token->client_id,
    };
    memcpy(challenge.user_data, token->user_data, PH_TOKEN_USER_DATA_SIZE);
    uint8_t data[PH_CHALLENGE_DATA_SIZE];
    ph_challenge_seal(&challenge, server->challenge_key, data);
    answer(server, to, PH_NETCODE_CHALLENGE, token->server_to_client_key, data, sizeof data);
}

static void remember(ph_net_server* server, const request* now)
{
    const ph_token_private* token = &now->token;
    ph_pending* pending = ph_pending_put(&server->pending, now->from, token->client_id);
    // The same token again: an answer to any challenge since its first request will do.
    if (memcmp(pending->tag, now->tag, PH_NETCODE_TAG_SIZE) != 0) {
        pending->first_challenge = server->challenge_sequence;
        memcpy(pending->tag, now->tag, PH_NETCODE_TAG_SIZE);
    }
    pending->timeout_s = token->timeout_s;
    pending->key_place = (uint8_t)now->key_place;
    pending->server_place = (uint8_t)now->place;
    pending->requested_us = server->now_us;
    memcpy(pending->client_to_server_key, token->client_to_server_key, PH_NETCODE_KEY_SIZE);
    memcpy(pending->server_to_client_key, token->server_to_client_key, PH_NETCODE_KEY_SIZE);
}

// ---- reasons

// What a client is told of a refusal; NONE: nothing.
static ph_net_denial denial_of(ph_net_refusal refusal)
{
    switch (refusal) {
    case PH_NET_REFUSAL_CLIENT_CONNECTED:
        return PH_NET_DENIAL_CLIENT_CONNECTED;
    case PH_NET_REFUSAL_TOKEN_USED:
        return PH_NET_DENIAL_TOKEN_USED;
    case PH_NET_REFUSAL_TOKEN_OLD:
        return PH_NET_DENIAL_TOKEN_OLD;
    case PH_NET_REFUSAL_TOKEN_SERVER:
        return PH_NET_DENIAL_TOKEN_SERVER;
    case PH_NET_REFUSAL_EXPIRED:
        return PH_NET_DENIAL_EXPIRED;
    case PH_NET_REFUSAL_PROTOCOL:
        return PH_NET_DENIAL_PROTOCOL;
    default:
        return PH_NET_DENIAL_NONE; // full has an answer of its own
    }
}

// Of a request whose token opened, and which is refused. Never to an address that is connected: a request may be
// recorded and played again, and its client is the one that does not need the answer.
static void give_reason(ph_net_server* server, const request* now, uint64_t protocol_id,
                        ph_net_refusal refusal)
{
    const uint8_t denial = (uint8_t)denial_of(refusal);
    if (!server->def.gives_reasons || denial == PH_NET_DENIAL_NONE ||
        ph_net_slots_find(&server->slots, now->from) >= 0) {
        return;
    }
    const ph_netcode_lock lock = {
        .protocol_id = protocol_id,
        .key = now->token.server_to_client_key,
    };
    answer_with(server, now->from, PH_NETCODE_DENIED, &lock, &denial, 1);
}

// ---- a token that opened

static ph_net_refusal admit(ph_net_server* server, request* now)
{
    const ph_token_private* token = &now->token;
    now->place = place_in(token, server);
    if (now->place < 0) {
        return PH_NET_REFUSAL_TOKEN_SERVER;
    }
    const int old = ph_net_slots_find_client_id(&server->slots, token->client_id);
    const int there = ph_net_slots_find(&server->slots, now->from);
    if (old >= 0 && !ph_net_server_is_silent(server, old)) {
        return PH_NET_REFUSAL_CLIENT_CONNECTED;
    }
    if (there != old && there >= 0) {
        return PH_NET_REFUSAL_ADDRESS_CONNECTED; // of another player
    }
    if (old >= 0 && memcmp(server->slots.slots[old].tag, now->tag, PH_NETCODE_TAG_SIZE) == 0) {
        return PH_NET_REFUSAL_TOKEN_USED; // its own, maybe recorded and played again
    }
    const ph_net_refusal refusal = use_token(server, now);
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    if (old >= 0) {
        ph_net_server_end(server, old, PH_NET_END_TAKEN_OVER);
    }
    if (server->slots.free_count == 0 && old >= 0) {
        return PH_NET_REFUSAL_FULL; // no answer: the slot is free when its event is taken, and the client asks again
    }
    if (server->slots.free_count == 0) {
        answer(server, now->from, PH_NETCODE_DENIED, token->server_to_client_key, NULL, 0);
        return PH_NET_REFUSAL_FULL;
    }
    remember(server, now);
    send_challenge(server, now->from, token);
    return PH_NET_REFUSAL_NONE;
}

// With either of the server's keys.
static ph_net_refusal open_token(const ph_net_server* server, const uint8_t* bytes, request* now)
{
    ph_token_seal seal = {
        .protocol_id = ph_number_at(bytes + PROTOCOL_AT, 8),
        .expire_s = now->expire_s,
        .nonce = bytes + NONCE_AT,
        .key = server->def.private_key,
    };
    ph_net_refusal refusal = ph_token_private_open(bytes + PRIVATE_AT, &seal, &now->token);
    if (refusal == PH_NET_REFUSAL_TOKEN_SEAL && server->def.has_second_key) {
        now->key_place = 1;
        seal.key = server->def.second_key;
        refusal = ph_token_private_open(bytes + PRIVATE_AT, &seal, &now->token);
    }
    return refusal;
}

// Whether a client id may have another of its known tokens opened now.
static bool take_id_credit(ph_net_server* server, int index)
{
    ph_net_id_rate* rate = &server->id_rates[index];
    const uint64_t most = PH_NET_ID_REQUESTS_PER_SECOND * (uint64_t)CREDIT_PER_REQUEST;
    const uint64_t elapsed_us = server->now_us - rate->filled_us;
    const uint64_t more = elapsed_us < 1000000 ? elapsed_us * PH_NET_ID_REQUESTS_PER_SECOND : most;
    rate->credit = (uint32_t)(rate->credit + more < most ? rate->credit + more : most);
    rate->filled_us = server->now_us;
    if (rate->credit < CREDIT_PER_REQUEST) {
        return false;
    }
    rate->credit -= CREDIT_PER_REQUEST;
    return true;
}

// What can be said of a token that was used before, by its tag: nothing costly for a copy from elsewhere, and one
// client's requests do not use up what is opened for all. (With the tag of another one, but other bytes, it would be
// refused by its seal.)
static ph_net_refusal test_known(ph_net_server* server, const ph_address* from, const uint8_t* tag)
{
    const ph_used_token* used = ph_used_tokens_find(&server->used_tokens, tag);
    if (used == NULL) {
        return PH_NET_REFUSAL_NONE;
    }
    if (!ph_address_is_equal(&used->address, from)) {
        return PH_NET_REFUSAL_TOKEN_USED;
    }
    return take_id_credit(server, used->id_rate) ? PH_NET_REFUSAL_NONE : PH_NET_REFUSAL_BUSY;
}

// A request that is refused without being opened. Whether its token is genuine is not known then; to tell its client
// why, some are opened all the same, from a credit of their own: no flood of them takes anything from others.
static void explain_unopened(ph_net_server* server, const ph_address* from, const uint8_t* bytes,
                             ph_net_refusal refusal)
{
    if (!server->def.gives_reasons || denial_of(refusal) == PH_NET_DENIAL_NONE ||
        server->reason_credit < CREDIT_PER_REQUEST) {
        return;
    }
    server->reason_credit -= CREDIT_PER_REQUEST;
    request now = {.from = from, .expire_s = ph_number_at(bytes + EXPIRE_AT, 8)};
    if (open_token(server, bytes, &now) == PH_NET_REFUSAL_NONE) {
        give_reason(server, &now, ph_number_at(bytes + PROTOCOL_AT, 8), refusal);
    }
    sodium_memzero(&now, sizeof now);
}

ph_net_refusal ph_handshake_request(ph_net_server* server, const ph_address* from,
                                    const uint8_t* bytes, size_t size)
{
    ph_net_refusal refusal = test_in_clear(server, bytes, size);
    if (refusal == PH_NET_REFUSAL_NONE) {
        refusal = test_known(server, from, bytes + TAG_AT);
    }
    if (refusal != PH_NET_REFUSAL_NONE) {
        explain_unopened(server, from, bytes, refusal);
        return refusal;
    }
    if (server->request_credit < CREDIT_PER_REQUEST) {
        return PH_NET_REFUSAL_BUSY;
    }
    server->request_credit -= CREDIT_PER_REQUEST;

    request now = {
        .from = from,
        .tag = bytes + TAG_AT,
        .expire_s = ph_number_at(bytes + EXPIRE_AT, 8),
    };
    refusal = open_token(server, bytes, &now);
    if (refusal == PH_NET_REFUSAL_NONE) {
        refusal = admit(server, &now);
        give_reason(server, &now, server->def.protocol_id, refusal);
    }
    sodium_memzero(&now, sizeof now);
    return refusal;
}

// ---- response

static int take_slot(ph_net_server* server, const ph_pending* pending, ph_used_token* used,
                     const ph_challenge* challenge)
{
    const int client = ph_net_slots_take(&server->slots, &pending->address, pending->client_id,
                                         challenge->user_data);
    if (client < 0) {
        return client;
    }
    ph_net_slot* slot = &server->slots.slots[client];
    slot->timeout_s = pending->timeout_s;
    slot->received_us = server->now_us;
    slot->connected_us = server->now_us;
    slot->place = pending->server_place;
    slot->packets = used->packets;
    memcpy(slot->tag, pending->tag, PH_NETCODE_TAG_SIZE);
    memcpy(slot->receive_key, pending->client_to_server_key, PH_NETCODE_KEY_SIZE);
    memcpy(slot->send_key, pending->server_to_client_key, PH_NETCODE_KEY_SIZE);
    used->is_spent = true;
    ++server->stats.connected_clients;
    return client;
}

// Is it one of ours, and of this very handshake? A recorded response from an earlier one opens, too.
static bool is_solved(const ph_net_server* server, const ph_pending* pending, const uint8_t* data,
                      ph_challenge* challenge)
{
    return ph_challenge_open(data, server->challenge_key, challenge) &&
           challenge->sequence >= pending->first_challenge &&
           challenge->client_id == pending->client_id;
}

ph_net_refusal ph_handshake_response(ph_net_server* server, const ph_address* from, uint8_t* bytes,
                                     size_t size)
{
    ph_netcode_opened opened;
    ph_net_refusal refusal = ph_netcode_peek(bytes, size, &opened);
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    if (opened.type == PH_NETCODE_DENIED || opened.type == PH_NETCODE_CHALLENGE) {
        return PH_NET_REFUSAL_TYPE;
    }
    ph_pending* pending = ph_pending_find(&server->pending, from);
    if (pending == NULL) {
        return PH_NET_REFUSAL_ADDRESS;
    }
    if (opened.type != PH_NETCODE_RESPONSE) {
        return PH_NET_REFUSAL_STATE;
    }
    const ph_netcode_lock lock = {
        .protocol_id = server->def.protocol_id,
        .key = pending->client_to_server_key,
    };
    refusal = ph_netcode_open(&lock, NULL, bytes, size, &opened);
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    ph_challenge challenge;
    if (!is_solved(server, pending, opened.data, &challenge)) {
        return PH_NET_REFUSAL_CHALLENGE;
    }
    if (ph_net_slots_find_client_id(&server->slots, pending->client_id) >= 0) {
        return PH_NET_REFUSAL_CLIENT_CONNECTED;
    }
    ph_used_token* used = ph_used_tokens_find(&server->used_tokens, pending->tag);
    if (used == NULL) {
        return PH_NET_REFUSAL_TOKEN_OLD; // forgotten since: how far its numbers went is not known
    }
    if (server->slots.free_count > 0 && !ph_net_server_note_spent(server, used)) {
        return PH_NET_REFUSAL_SPENT_TOKENS;
    }
    const int client = take_slot(server, pending, used, &challenge);
    if (client < 0) {
        answer(server, from, PH_NETCODE_DENIED, pending->server_to_client_key, NULL, 0);
        return PH_NET_REFUSAL_FULL;
    }
    ph_pending_remove(&server->pending, pending);
    ph_net_server_send_keep_alive(server, client, &server->def.sink);
    return PH_NET_REFUSAL_NONE;
}
