// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Newcomers while others flood the server with genuine requests: one account with many tokens, one token many
// times, many accounts behind one network. The newcomers are 100 ms away.

#include "netcode_stage.h"

#include "net/netcode_packet.h"

#include <stdio.h>
#include <string.h>

enum {
    TOKENS = 300,
    NEWCOMERS = STAGE_CLIENTS,
    DELAY_MS = 100, // there and back
    DELAYED_MAX = 4096,
};

// ---- newcomers

typedef struct delayed {
    stage_datagram datagram;
    uint64_t due_us;
    int client;
} delayed;

static delayed line[DELAYED_MAX];
static int line_first;
static int line_end;

static bool delay(netcode_stage* x, stage_datagram* datagram)
{
    for (int client = 0; client < NEWCOMERS; ++client) {
        if (ph_address_is_equal(&datagram->to, &x->ports[client].address)) {
            assert_true(line_end < DELAYED_MAX);
            line[line_end++] = (delayed){
                .datagram = *datagram,
                .due_us = x->now_us + DELAY_MS * 1000,
                .client = client,
            };
        }
    }
    return ph_address_is_equal(&datagram->to, &x->server_port.address);
}

static void hand_out(netcode_stage* x)
{
    while (line_first < line_end && line[line_first].due_us <= x->now_us) {
        const delayed* next = &line[line_first++];
        stage_hand_to_client(x, next->client, next->datagram.bytes, next->datagram.size);
    }
}

// ---- attackers

typedef struct attacker {
    ph_address from;
    uint8_t request[PH_NETCODE_REQUEST_SIZE];
} attacker;

static attacker attackers[TOKENS];

static void make_attacker(const netcode_stage* x, int i, uint64_t client_id, const char* from)
{
    ph_token_def def = stage_token_def(x, client_id);
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    attackers[i].from = stage_address(from);
    attackers[i].from.port = (uint16_t)(1000 + i);
    memcpy(attackers[i].request + 1, token, 13 + 8);
    memcpy(attackers[i].request + 22, token + 29, 8 + 24 + 1024);
}

static netcode_stage* begin(void)
{
    netcode_stage* x = stage_setup(64);
    x->filter = delay;
    line_first = 0;
    line_end = 0;
    return x;
}

// So long, so many requests each millisecond of the first so many attackers in turn; newcomers come after a fifth
// of a second. @return How many of these are connected at the end.
static int flood(netcode_stage* x, int duration_ms, int requests_per_ms, int attacker_count)
{
    int next = 0;
    for (int ms = 0; ms < duration_ms; ++ms) {
        x->now_us += 1000;
        ph_net_server_tick(x->server, x->now_us, x->unix_s);
        for (int i = 0; i < requests_per_ms; ++i) {
            const attacker* it = &attackers[next++ % attacker_count];
            stage_hand_to_server(x, &it->from, it->request, sizeof it->request);
        }
        x->queue_count = 0; // they never answer
        for (int client = 0; client < NEWCOMERS; ++client) {
            if (ms == 200 + client * 10) {
                stage_connect(x, client);
            }
            ph_net_client_tick(x->clients[client], x->now_us);
        }
        stage_deliver(x);
        hand_out(x);
        stage_deliver(x);
    }
    int count = 0;
    for (int client = 0; client < NEWCOMERS; ++client) {
        count += stage_state(x, client) == PH_NET_CLIENT_CONNECTED;
    }
    return count;
}

// The attack: 300 tokens of one account at 3,000 requests a second.
static void one_account_locks_nobody_out(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    for (int i = 0; i < TOKENS; ++i) {
        make_attacker(x, i, 7, "10.9.9.9:1");
    }
    assert_int_equal(flood(x, 1000, 3, TOKENS), NEWCOMERS);
    assert_in_range(ph_net_server_get_stats(x->server).pending_count, 1, 4);
    stage_teardown(x);
}

// Nor when it sends more than the server opens a second.
static void requests_of_one_account_leave_others_their_share(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    x->server_def.requests_per_second = 400;
    stage_remake_server(x);
    for (int i = 0; i < TOKENS; ++i) {
        make_attacker(x, i, 7, "10.9.9.9:1");
    }
    assert_int_equal(flood(x, 1000, 3, TOKENS), NEWCOMERS);
    assert_true(stage_refused(x, PH_NET_REFUSAL_BUSY) > 1000);
    stage_teardown(x);
}

static void a_token_sent_a_thousand_times_is_opened_a_few_times(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    x->server_def.requests_per_second = 200;
    stage_remake_server(x);
    make_attacker(x, 0, 7, "10.9.9.9:1");
    assert_int_equal(flood(x, 1000, 3, 1), NEWCOMERS);
    // Its copies from elsewhere are not opened at all.
    const uint64_t used = stage_refused(x, PH_NET_REFUSAL_TOKEN_USED);
    attackers[0].from.port = 9;
    flood(x, 100, 10, 1);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_USED), used + 1000);
    stage_teardown(x);
}

// ---- networks

static void flood_from(netcode_stage* x, const char* format, int low)
{
    char from[64];
    for (int i = 0; i < TOKENS; ++i) {
        snprintf(from, sizeof from, format, i % low);
        make_attacker(x, i, 5000 + (uint64_t)i, from);
    }
}

// 300 accounts of one network; one that is limited makes room itself.
static void one_network_locks_nobody_out_when_it_is_limited(void** state)
{
    (void)state;
    static const char* const networks[] = {"10.9.9.%d:1", "[2001:db8:1:2%02x::1]:1"};
    for (int i = 0; i < 2; ++i) {
        netcode_stage* x = begin();
        x->server_def.pending_per_prefix = 16;
        stage_remake_server(x);
        flood_from(x, networks[i], 250);
        assert_int_equal(flood(x, 1000, 3, TOKENS), NEWCOMERS);
        assert_int_equal(ph_net_server_get_stats(x->server).pending_count, 16);
        stage_teardown(x);
    }
}

// Neighbours, the machine itself, and everybody unless it is asked for.
static void what_is_no_network_is_not_limited(void** state)
{
    (void)state;
    static const struct {
        const char* from;
        int limit;
    } cases[] = {
        {"127.0.0.%d:1", 16}, // loopback
        {"[::1]:%d", 16},
        {"10.9.%d.9:1", 16}, // other networks
        {"[2001:db8:1:%x00::1]:1", 16},
        {"10.9.9.%d:1", 0}, // not asked for
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        netcode_stage* x = begin();
        x->server_def.pending_per_prefix = cases[i].limit;
        stage_remake_server(x);
        flood_from(x, cases[i].from, 30);
        flood(x, 100, 3, TOKENS);
        assert_int_equal(ph_net_server_get_stats(x->server).pending_count, 256);
        stage_teardown(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_account_locks_nobody_out),
        cmocka_unit_test(requests_of_one_account_leave_others_their_share),
        cmocka_unit_test(a_token_sent_a_thousand_times_is_opened_a_few_times),
        cmocka_unit_test(one_network_locks_nobody_out_when_it_is_limited),
        cmocka_unit_test(what_is_no_network_is_not_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
