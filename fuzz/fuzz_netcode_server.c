// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A server among clients that know the keys of their tokens and keep to no protocol. The input is a
// list of things that happen. After each the server is sound; unknown senders get less than they
// sent; a payload comes out only as its owner sealed it, from where it is connected; every datagram
// is either of use or counted; events come in pairs.

#include "support/fuzz_netcode.h"

#include "net/netcode_server_state.h"
#include "net/net_tools.h"
#include "net/netcode_packet.h"

#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 3, PLAYERS = 4, TOKENS = 4, STEPS_MAX = 120 };

typedef struct scene {
    ph_net_server* server;
    uint64_t now_us;
    uint64_t unix_s;
    // What the server has sent during one call.
    size_t answer_bytes;
    // The newest challenge to each address, still sealed.
    uint8_t challenges[FUZZ_NETCODE_ADDRESSES][PH_NETCODE_DATAGRAM_MAX];
    size_t challenge_sizes[FUZZ_NETCODE_ADDRESSES];
    // The newest datagram that was handed in.
    uint8_t last[PH_NETCODE_DATAGRAM_MAX + 10];
    size_t last_size;
    uint32_t last_from;
    uint64_t received_count;
    uint64_t useful_count;
    bool is_connected[CLIENTS]; // by the events
} scene;

static void take_answer(void* context, const ph_address* to, const void* bytes, size_t size)
{
    scene* it = context;
    it->answer_bytes += size;
    // A denial never goes to a client that is connected.
    fuzz_demand((*(const uint8_t*)bytes & 15) != PH_NETCODE_DENIED ||
                ph_net_server_find(it->server, to) < 0);
    for (uint32_t i = 0; i < FUZZ_NETCODE_ADDRESSES; ++i) {
        const ph_address address = fuzz_netcode_address(i);
        if ((*(const uint8_t*)bytes & 15) == PH_NETCODE_CHALLENGE &&
            ph_address_is_equal(to, &address)) {
            memcpy(it->challenges[i], bytes, size);
            it->challenge_sizes[i] = size;
        }
    }
}

static void fill_plainly(void* context, void* bytes, size_t size)
{
    (void)context;
    memset(bytes, 0x42, size);
}

static void open_scene(scene* it)
{
    ph_net_server_def def = ph_net_server_def_default();
    def.protocol_id = 7;
    def.private_key[0] = 1;
    def.addresses[0] = fuzz_netcode_address(0);
    def.address_count = 1;
    def.client_capacity = CLIENTS;
    def.pending_capacity = 2;
    def.used_token_capacity = 5;
    def.requests_per_second = 20;
    def.gives_reasons = true;
    def.sink.send = take_answer;
    def.sink.context = it;
    fuzz_demand(ph_net_server_create_with(&def, fill_plainly, NULL, &it->server) == PH_OK);
    it->now_us = 1000000;
    it->unix_s = FUZZ_NETCODE_UNIX_S;
    ph_net_server_start(it->server, it->now_us, it->unix_s);
}

// ---- datagrams

static ph_net_payload hand_in(scene* it, uint32_t from, const uint8_t* bytes, size_t size)
{
    const ph_address address = fuzz_netcode_address(from);
    const bool was_connected = ph_net_server_find(it->server, &address) >= 0;
    it->answer_bytes = 0;
    uint8_t* copy = malloc(size > 0 ? size : 1); // so that a step too far is seen
    memcpy(copy, bytes, size);
    ph_net_payload payload;
    const ph_net_refusal refusal =
        ph_net_server_receive(it->server, &address, copy, size, &payload);
    fuzz_demand(was_connected || it->answer_bytes == 0 || it->answer_bytes < size);
    fuzz_demand(payload.size == 0 || (was_connected && refusal == PH_NET_REFUSAL_NONE));
    fuzz_demand(payload.size == 0 || (payload.bytes >= copy && payload.bytes < copy + size));
    ++it->received_count;
    it->useful_count += refusal == PH_NET_REFUSAL_NONE;
    memmove(it->last, bytes, size);
    it->last_size = size;
    it->last_from = from;
    free(copy);
    return payload;
}

static void step_raw(scene* it, fuzz_source* input)
{
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 10];
    const uint32_t from = fuzz_take(input, FUZZ_NETCODE_ADDRESSES);
    const size_t size = fuzz_netcode_take_bytes(input, bytes, sizeof bytes);
    hand_in(it, from, bytes, size);
}

static void step_request(scene* it, fuzz_source* input)
{
    const uint32_t from = fuzz_take(input, FUZZ_NETCODE_ADDRESSES);
    const uint32_t player = fuzz_take(input, PLAYERS);
    const uint32_t number = fuzz_take(input, TOKENS);
    ph_token_secrets secrets;
    const ph_token_def def = fuzz_netcode_token(player, number, &secrets);
    uint8_t token[PH_TOKEN_SIZE];
    fuzz_demand(ph_token_write_with(&def, &secrets, token) == PH_OK);
    uint8_t request[PH_NETCODE_REQUEST_SIZE] = {0};
    memcpy(request + 1, token, 21);
    memcpy(request + 22, token + 29, 1056);
    if (fuzz_take(input, 8) == 0) {
        request[fuzz_take(input, 256)] ^= (uint8_t)fuzz_take(input, 256);
    }
    hand_in(it, from, request, sizeof request);
}

// Seals with the key of some token, whether or not that token was ever used from there.
static void step_sealed(scene* it, fuzz_source* input)
{
    const uint32_t from = fuzz_take(input, FUZZ_NETCODE_ADDRESSES);
    const uint32_t player = fuzz_take(input, PLAYERS);
    ph_token_secrets secrets;
    fuzz_netcode_token(player, fuzz_take(input, TOKENS), &secrets);
    const ph_netcode_lock lock = {.protocol_id = 7, .key = secrets.client_to_server_key};
    const ph_netcode_type type = (ph_netcode_type)(1 + fuzz_take(input, 6));
    const uint64_t sequence = fuzz_netcode_take_sequence(input);
    uint8_t data[PH_NETCODE_PAYLOAD_MAX] = {0};
    const size_t size = fuzz_netcode_take_bytes(input, data, sizeof data);
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    const size_t datagram_size = ph_netcode_seal(&lock, type, sequence, data, size, datagram);
    const ph_net_payload payload = hand_in(it, from, datagram, datagram_size);
    if (payload.size > 0) {
        ph_net_client_info info;
        const ph_address address = fuzz_netcode_address(from);
        fuzz_demand(type == PH_NETCODE_PAYLOAD && payload.size == size);
        fuzz_demand(payload.sequence == sequence);
        fuzz_demand(ph_net_server_get_client(it->server, payload.client, &info));
        fuzz_demand(info.client_id == player);
        fuzz_demand(ph_address_is_equal(&info.address, &address));
    }
}

// Answers the newest challenge that some address got, from some address.
static void step_response(scene* it, fuzz_source* input)
{
    const uint32_t from = fuzz_take(input, FUZZ_NETCODE_ADDRESSES);
    const uint32_t got = fuzz_take(input, 8) > 0 ? from : 0;
    ph_token_secrets secrets;
    const uint32_t player = fuzz_take(input, PLAYERS);
    fuzz_netcode_token(player, fuzz_take(input, TOKENS), &secrets);
    ph_netcode_lock lock = {.protocol_id = 7, .key = secrets.server_to_client_key};
    uint8_t challenge[PH_NETCODE_DATAGRAM_MAX];
    memcpy(challenge, it->challenges[got], sizeof challenge);
    ph_netcode_opened opened;
    if (ph_netcode_open(&lock, NULL, challenge, it->challenge_sizes[got], &opened) !=
        PH_NET_REFUSAL_NONE) {
        return;
    }
    lock.key = secrets.client_to_server_key;
    uint8_t response[PH_NETCODE_DATAGRAM_MAX];
    const size_t size = ph_netcode_seal(&lock, PH_NETCODE_RESPONSE, fuzz_take(input, 8),
                                        opened.data, opened.data_size, response);
    hand_in(it, from, response, size);
}

// ---- the rest

static void step_event(scene* it)
{
    ph_net_event event;
    if (!ph_net_server_next_event(it->server, &event)) {
        return;
    }
    fuzz_demand(event.client >= 0 && event.client < CLIENTS && event.client_id < PLAYERS);
    fuzz_demand(event.user_data[255] == event.client_id);
    const bool comes = event.kind == PH_NET_CONNECTED;
    fuzz_demand(it->is_connected[event.client] != comes);
    it->is_connected[event.client] = comes;
}

static void step_time(scene* it, fuzz_source* input)
{
    it->now_us += (uint64_t)fuzz_take(input, 256) * 10000;
    it->unix_s += fuzz_take(input, 16) == 1 ? 30 : 0;
    ph_net_server_tick(it->server, it->now_us, it->unix_s);
}

static void step_program(scene* it, fuzz_source* input)
{
    const int client = (int)fuzz_take(input, CLIENTS + 1);
    switch (fuzz_take(input, 8)) {
    case 0:
        ph_net_server_disconnect(it->server, client);
        break;
    case 1:
        ph_net_server_stop(it->server);
        ph_net_server_start(it->server, it->now_us, it->unix_s);
        break;
    default:
        it->answer_bytes = 0;
        const size_t cost = ph_net_server_cost(it->server, client, 4);
        ph_net_server_send(it->server, client, "hail", 4);
        fuzz_demand(it->answer_bytes == cost);
        break;
    }
}

static void step(scene* it, fuzz_source* input)
{
    switch (fuzz_take(input, 12)) {
    case 0:
        step_raw(it, input);
        break;
    case 1:
    case 2:
    case 3:
        step_request(it, input);
        break;
    case 4:
    case 5:
    case 6:
        step_response(it, input);
        break;
    case 7:
        hand_in(it, it->last_from, it->last, it->last_size);
        break;
    case 8:
        step_event(it);
        break;
    case 9:
        step_time(it, input);
        break;
    case 10:
        step_program(it, input);
        break;
    default:
        step_sealed(it, input);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static scene it; // its memory is too much for a stack
    memset(&it, 0, sizeof it);
    open_scene(&it);
    fuzz_source input = {.bytes = data, .left = size};
    for (int i = 0; i < STEPS_MAX && input.left > 0; ++i) {
        step(&it, &input);
        fuzz_demand(ph_net_server_validate(it.server));
    }
    const ph_net_server_stats stats = ph_net_server_get_stats(it.server);
    uint64_t refused = 0;
    for (int i = 0; i < PH_NET_REFUSAL_COUNT; ++i) {
        refused += stats.refused_datagrams[i];
    }
    fuzz_demand(stats.received_datagrams == it.received_count);
    fuzz_demand(refused + it.useful_count == it.received_count);
    ph_net_server_destroy(it.server);
    return 0;
}
