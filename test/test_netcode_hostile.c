// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A million datagrams at either side, from an attacker who has recorded everything but has no key:
// noise, and genuine datagrams that were changed, cut, lengthened, repeated, or sent from elsewhere.
// Nothing of it may count, get an answer, or disturb a connected client.

#include "netcode_stage.h"
#include "net/netcode_packet.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1000000, RECORDED_MAX = 64, TICK_EVERY = 2000 };

// ---- the attacker

static stage_datagram recorded[RECORDED_MAX];
static int recorded_count;

static bool record(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    if (recorded_count < RECORDED_MAX) {
        recorded[recorded_count++] = *datagram;
    }
    return true;
}

// A datagram that ends where its memory ends, so that the sanitizer sees a step too far.
typedef struct forgery {
    uint8_t* memory;
    uint8_t* bytes;
    size_t size;
    ph_address from;
} forgery;

static void place(forgery* it, const uint8_t* bytes, size_t size)
{
    it->size = size;
    it->bytes = it->memory + STAGE_DATAGRAM_MAX - size;
    memmove(it->bytes, bytes, size);
}

static void make_noise(forgery* it, test_rng* rng)
{
    const uint64_t limit = test_rng_below(rng, 8) == 0 ? STAGE_DATAGRAM_MAX + 1 : 60;
    const size_t size = (size_t)test_rng_below(rng, limit);
    it->size = size;
    it->bytes = it->memory + STAGE_DATAGRAM_MAX - size;
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t word = test_rng_next(rng);
        memcpy(it->bytes + i, &word, size - i < 8 ? size - i : 8);
    }
    if (size > 0 && test_rng_below(rng, 4) > 0) {
        it->bytes[0] = (uint8_t)(test_rng_below(rng, 7) + 16 * test_rng_below(rng, 10));
    }
}

static void lengthen(forgery* it, size_t more)
{
    uint8_t longer[STAGE_DATAGRAM_MAX + 64] = {0};
    memcpy(longer, it->bytes, it->size);
    place(it, longer, it->size + more);
}

// Another prefix, another sequence number, some other byte, another end; or nothing, which is a
// replay (unless it is a request: those may be repeated).
static void change(forgery* it, test_rng* rng)
{
    const uint64_t how = test_rng_below(rng, 9);
    const uint8_t difference = (uint8_t)(1 + test_rng_below(rng, 255));
    if (how == 0 || it->bytes[0] == PH_NETCODE_REQUEST) {
        it->bytes[test_rng_below(rng, 2) * test_rng_below(rng, it->size)] ^= difference;
        if (it->bytes[0] == PH_NETCODE_REQUEST && test_rng_below(rng, 2) == 0) {
            it->bytes[it->size - 1] ^=
                1; // the tag, by which a copy would be known before it is opened
        }
    } else if (how == 1) {
        it->bytes[1] ^= difference;
    } else if (how < 6) {
        it->bytes[test_rng_below(rng, it->size)] ^= difference;
    } else if (how == 6) {
        place(it, it->bytes, (size_t)test_rng_below(rng, it->size));
    } else if (how == 7) {
        lengthen(it, 1 + (size_t)test_rng_below(rng, 40));
    }
}

static void forge(forgery* it, test_rng* rng)
{
    if (test_rng_below(rng, 2) == 0) {
        make_noise(it, rng);
        return;
    }
    const stage_datagram* genuine = &recorded[test_rng_below(rng, (uint64_t)recorded_count)];
    place(it, genuine->bytes, genuine->size);
    change(it, rng);
}

// ---- the server

// Client 4 has asked, and never answers its challenge.
static bool is_not_of_client_4(netcode_stage* x, stage_datagram* datagram)
{
    return !ph_address_is_equal(&datagram->from, &x->ports[4].address) &&
           !ph_address_is_equal(&datagram->to, &x->ports[4].address);
}

static void connect_some(netcode_stage* x)
{
    recorded_count = 0;
    x->filter = record;
    for (int client = 0; client < 4; ++client) {
        stage_join(x, client);
        ph_net_client_send(x->clients[client], "a payload of some bytes", 23);
        ph_net_server_send(x->server, client, "and one that goes back", 22);
        stage_deliver(x);
    }
    stage_run(x, 120);
    ph_net_client_disconnect(x->clients[3]); // so there are disconnect packets, too
    stage_deliver(x);
    x->filter = is_not_of_client_4;
    ph_token_def def = stage_token_def(x, 4);
    def.timeout_s = -1;
    stage_connect_with(x, 4, &def);
    stage_datagram request = x->queue[0];
    x->queue_count = 0;
    stage_hand_to_server(x, &request.from, request.bytes, request.size);
    x->queue_count = 0;
    ph_net_event event;
    while (ph_net_server_next_event(x->server, &event)) {
    }
}

static void a_million_forgeries_at_a_server(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    connect_some(x);
    test_rng rng = {.state = 1001};
    forgery it = {.memory = malloc(STAGE_DATAGRAM_MAX)};
    const int payloads_before = x->server_payloads;
    const ph_net_server_stats before = ph_net_server_get_stats(x->server);
    for (int round = 0; round < ROUNDS; ++round) {
        forge(&it, &rng);
        it.from = x->ports[test_rng_below(&rng, STAGE_CLIENTS)].address;
        ph_net_payload payload;
        const ph_net_refusal refusal =
            ph_net_server_receive(x->server, &it.from, it.bytes, it.size, &payload);
        if (refusal == PH_NET_REFUSAL_NONE || payload.size != 0 || x->queue_count != 0) {
            fail_msg("round %d of seed 1001 was taken", round);
        }
        if (round % TICK_EVERY == 0) {
            stage_step(x); // connected ends keep each other alive
            assert_int_equal(x->server_payloads, payloads_before);
        }
    }
    free(it.memory);
    const ph_net_server_stats after = ph_net_server_get_stats(x->server);
    assert_int_equal(after.client_count, 3);
    assert_int_equal(after.pending_count, 1);
    uint64_t refused = 0;
    for (int i = 0; i < PH_NET_REFUSAL_COUNT; ++i) {
        refused += after.refused_datagrams[i] - before.refused_datagrams[i];
    }
    assert_int_equal(refused, ROUNDS); // each of them, once
    assert_true(after.refused_datagrams[PH_NET_REFUSAL_SEAL] > 1000);
    assert_true(after.refused_datagrams[PH_NET_REFUSAL_TOKEN_SEAL] > 1000);
    stage_expect_no_event(x);
    ph_net_client_send(x->clients[0], "still here", 10);
    stage_deliver(x);
    assert_int_equal(x->server_payloads, payloads_before + 1);
    stage_teardown(x);
}

// ---- the client

static void attack_client(netcode_stage* x, int client, uint64_t seed, int rounds)
{
    test_rng rng = {.state = seed};
    forgery it = {.memory = malloc(STAGE_DATAGRAM_MAX)};
    const ph_address server = ph_net_client_server(x->clients[client]);
    const ph_net_client_state status = stage_state(x, client);
    for (int round = 0; round < rounds; ++round) {
        forge(&it, &rng);
        ph_net_payload payload;
        const ph_net_refusal refusal =
            ph_net_client_receive(x->clients[client], &server, it.bytes, it.size, &payload);
        if (refusal == PH_NET_REFUSAL_NONE || payload.size != 0 || x->queue_count != 0) {
            fail_msg("round %d of seed %d was taken", round, (int)seed);
        }
    }
    free(it.memory);
    assert_int_equal(stage_state(x, client), status);
}

static void a_million_forgeries_at_a_client(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    connect_some(x);
    attack_client(x, 0, 2001, ROUNDS / 2); // connected
    attack_client(x, 4, 2002, ROUNDS / 4); // sending requests
    stage_connect(x, 5);
    const stage_datagram request = x->queue[0];
    x->queue_count = 0;
    stage_hand_to_server(x, &request.from, request.bytes, request.size);
    const stage_datagram challenge = x->queue[0];
    x->queue_count = 0;
    assert_int_equal(stage_hand_to_client(x, 5, challenge.bytes, challenge.size),
                     PH_NET_REFUSAL_NONE);
    x->queue_count = 0;
    assert_int_equal(stage_state(x, 5), PH_NET_CLIENT_SENDING_RESPONSE);
    attack_client(x, 5, 2003, ROUNDS / 4);

    const ph_net_client_stats stats = ph_net_client_get_stats(x->clients[0]);
    assert_true(stats.refused_datagrams[PH_NET_REFUSAL_SEAL] > 1000);
    const int before = x->client_payloads;
    ph_net_server_send(x->server, 0, "still here", 10);
    stage_deliver(x);
    assert_int_equal(x->client_payloads, before + 1);
    stage_teardown(x);
}

// Bit by bit through every datagram of a session, at both sides.
static void no_bit_of_a_session_can_be_changed(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    connect_some(x);
    uint8_t bytes[STAGE_DATAGRAM_MAX];
    for (int i = 0; i < recorded_count; ++i) {
        const stage_datagram* genuine = &recorded[i];
        const bool is_up = ph_address_is_equal(&genuine->to, &x->server_port.address);
        const int client = (is_up ? genuine->from.port : genuine->to.port) - 50000;
        for (size_t bit = 0; bit<genuine->size * 8; bit += genuine->size> 400 ? 7 : 1) {
            memcpy(bytes, genuine->bytes, genuine->size);
            bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
            ph_net_payload payload;
            const ph_net_refusal refusal =
                is_up ? ph_net_server_receive(x->server, &genuine->from, bytes, genuine->size,
                                              &payload)
                      : ph_net_client_receive(x->clients[client], &genuine->from, bytes,
                                              genuine->size, &payload);
            assert_int_not_equal(refusal, PH_NET_REFUSAL_NONE);
            assert_int_equal(payload.size, 0);
        }
    }
    assert_in_range(recorded_count, 20, RECORDED_MAX);
    stage_expect_no_event(x);
    stage_teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_forgeries_at_a_server),
        cmocka_unit_test(a_million_forgeries_at_a_client),
        cmocka_unit_test(no_bit_of_a_session_can_be_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
