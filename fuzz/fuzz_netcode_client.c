// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client whose servers have the right key and say anything: packets of every type, with any
// sequence number and any data, from any address, in any state. States follow each other only as the
// standard has it; a payload comes out only when connected, once, as it was sealed. A reason in a denied packet ends
// nothing by itself.

#include "support/fuzz_netcode.h"
#include "net/net_tools.h"
#include "net/netcode_packet.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 200, SEEN_MAX = STEPS_MAX };

typedef struct scene {
    ph_net_client* client;
    uint64_t now_us;
    int sent_count;
    uint64_t seen[SEEN_MAX]; // payloads of this connection
    int seen_count;
    ph_token_secrets secrets;
} scene;

static void count_sent(void* context, const ph_address* to, const void* bytes, size_t size)
{
    (void)to;
    (void)bytes;
    scene* it = context;
    ++it->sent_count;
    fuzz_demand(size >= 18 && size <= PH_NETCODE_DATAGRAM_MAX);
}

static void step_connect(scene* it, fuzz_source* input)
{
    const ph_token_def def = fuzz_netcode_token(1, fuzz_take(input, 4), &it->secrets);
    uint8_t token[PH_TOKEN_SIZE];
    fuzz_demand(ph_token_write_with(&def, &it->secrets, token) == PH_OK);
    if (fuzz_take(input, 8) == 0) {
        const size_t place = fuzz_take(input, 2) * 1080 + fuzz_take(input, 64);
        token[place] ^= (uint8_t)fuzz_take(input, 256);
    }
    ph_net_client_connect(it->client, token, sizeof token, it->now_us);
    it->seen_count = 0;
}

// Which states may follow a datagram of a type; the same state always may.
static bool may_follow(ph_net_client_state before, ph_net_client_state after, ph_netcode_type type)
{
    if (before == after) {
        return true;
    }
    switch (type) {
    case PH_NETCODE_DENIED:
        return (before == 1 || before == 2) && (after == -1 || after == 1);
    case PH_NETCODE_CHALLENGE:
        return before == 1 && after == 2;
    case PH_NETCODE_KEEP_ALIVE:
        return before == 2 && after == 3;
    case PH_NETCODE_DISCONNECT:
        return before == 3 && after == 0;
    default:
        return false;
    }
}

static void note_payload(scene* it, uint64_t sequence)
{
    for (int i = 0; i < it->seen_count; ++i) {
        fuzz_demand(it->seen[i] != sequence);
    }
    it->seen[it->seen_count++] = sequence;
}

static void hand_in(scene* it, fuzz_source* input, const uint8_t* bytes, size_t size)
{
    ph_address from = ph_net_client_server(it->client);
    if (fuzz_take(input, 16) == 1) {
        from = fuzz_netcode_address(fuzz_take(input, FUZZ_NETCODE_ADDRESSES));
    }
    uint8_t* copy = malloc(size > 0 ? size : 1); // so that a step too far is seen
    memcpy(copy, bytes, size);
    ph_netcode_opened peeked;
    ph_netcode_peek(bytes, size, &peeked);
    const ph_net_client_state before = ph_net_client_get_state(it->client);
    ph_net_payload payload;
    const ph_net_refusal refusal = ph_net_client_receive(it->client, &from, copy, size, &payload);
    const ph_net_client_state after = ph_net_client_get_state(it->client);
    fuzz_demand(may_follow(before, after, peeked.type));
    fuzz_demand(before == after || refusal == PH_NET_REFUSAL_NONE);
    // A reason ends nothing by itself.
    fuzz_demand(before == after || peeked.type != PH_NETCODE_DENIED || peeked.data_size == 0);
    if (payload.size > 0) {
        fuzz_demand(before == PH_NET_CLIENT_CONNECTED && payload.bytes > copy &&
                    payload.bytes + payload.size < copy + size);
        note_payload(it, payload.sequence);
    }
    free(copy);
}

static void step_sealed(scene* it, fuzz_source* input)
{
    const ph_netcode_lock lock = {.protocol_id = 7, .key = it->secrets.server_to_client_key};
    const ph_netcode_type type = (ph_netcode_type)(1 + fuzz_take(input, 6));
    const uint64_t sequence = fuzz_netcode_take_sequence(input);
    static const size_t right_sizes[] = {0, 0, 308, 308, 8, 20, 0};
    uint8_t data[PH_NETCODE_PAYLOAD_MAX] = {0, 0, 0, 0, 1};
    size_t size = right_sizes[type];
    if (fuzz_take(input, 4) == 0) {
        size = fuzz_netcode_take_bytes(input, data, sizeof data);
    } else if (type == PH_NETCODE_DENIED && fuzz_take(input, 4) != 0) {
        data[0] = (uint8_t)fuzz_take(input, 16); // a reason, known or not
        size = 1;
    }
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    hand_in(it, input, datagram, ph_netcode_seal(&lock, type, sequence, data, size, datagram));
}

static void step(scene* it, fuzz_source* input)
{
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 10];
    switch (fuzz_take(input, 12)) {
    case 0:
        step_connect(it, input);
        break;
    case 1:
        hand_in(it, input, bytes, fuzz_netcode_take_bytes(input, bytes, sizeof bytes));
        break;
    case 2:
        it->now_us += (uint64_t)fuzz_take(input, 256) * 10000;
        ph_net_client_tick(it->client, it->now_us);
        break;
    case 3:
        fuzz_demand(ph_net_client_send(it->client, "up", 2) ==
                    (ph_net_client_get_state(it->client) == PH_NET_CLIENT_CONNECTED));
        break;
    case 4:
        if (fuzz_take(input, 8) == 0) {
            ph_net_client_disconnect(it->client);
        }
        break;
    default:
        step_sealed(it, input);
        break;
    }
}

static void check(scene* it)
{
    const ph_net_client_state state = ph_net_client_get_state(it->client);
    it->seen_count = state == PH_NET_CLIENT_CONNECTED ? it->seen_count : 0;
    const int index = ph_net_client_index(it->client);
    fuzz_demand(state >= -6 && state <= 3);
    if (state == PH_NET_CLIENT_CONNECTED) {
        fuzz_demand(index >= 0 && index < ph_net_client_max_clients(it->client));
    } else {
        fuzz_demand(index == -1 && ph_net_client_max_clients(it->client) == 0);
    }
    const ph_net_denial denial = ph_net_client_denial(it->client);
    fuzz_demand((unsigned)denial < PH_NET_DENIAL_COUNT);
    fuzz_demand(state != PH_NET_CLIENT_DENIED || denial != PH_NET_DENIAL_NONE);
    fuzz_demand(state < PH_NET_CLIENT_SENDING_RESPONSE || denial == PH_NET_DENIAL_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    scene it = {.now_us = 1000000};
    ph_net_client_def def = ph_net_client_def_default();
    def.sink.send = count_sent;
    def.sink.context = &it;
    fuzz_demand(ph_net_client_create(&def, &it.client) == PH_OK);
    fuzz_source input = {.bytes = data, .left = size};
    step_connect(&it, &input);
    for (int i = 0; i < STEPS_MAX && input.left > 0; ++i) {
        step(&it, &input);
        check(&it);
    }
    const ph_net_client_stats stats = ph_net_client_get_stats(it.client);
    fuzz_demand(stats.sent_datagrams == (uint64_t)it.sent_count);
    ph_net_client_destroy(it.client);
    return 0;
}
