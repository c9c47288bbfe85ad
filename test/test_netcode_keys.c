// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The keys that tokens are sealed with, and their change while a server runs.

#include "netcode_stage.h"

#include <string.h>

enum { OLD = 0x5A, NEW = 0xA5, OTHER = 0x77 };

static void fill_key(uint8_t key[PH_NETCODE_KEY_SIZE], int value)
{
    memset(key, value, PH_NETCODE_KEY_SIZE);
}

// Client begins to connect, with a token sealed with this key.
static void connect_by(netcode_stage* x, int client, int key)
{
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID + (uint64_t)client);
    fill_key(def.private_key, key);
    def.is_insecure_dev = key == 0;
    stage_connect_with(x, client, &def);
}

static bool gets_in(netcode_stage* x, int client, int key)
{
    connect_by(x, client, key);
    stage_deliver(x);
    return stage_state(x, client) == PH_NET_CLIENT_CONNECTED;
}

// second 0: none.
static void set_keys(netcode_stage* x, int first, int second)
{
    uint8_t keys[2][PH_NETCODE_KEY_SIZE];
    fill_key(keys[0], first);
    fill_key(keys[1], second);
    ph_net_server_set_keys(x->server, keys[0], second != 0 ? keys[1] : NULL);
}

static void tokens_of_both_keys_are_let_in(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    fill_key(x->server_def.second_key, NEW);
    x->server_def.has_second_key = true;
    stage_remake_server(x);
    assert_true(gets_in(x, 0, OLD));
    assert_true(gets_in(x, 1, NEW));
    assert_false(gets_in(x, 2, OTHER));
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_SEAL), 1);
    stage_teardown(x);
}

// A second key that was not asked for is none, whatever its bytes are: zeros, too.
static void a_second_key_counts_only_when_it_is_said(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    fill_key(x->server_def.second_key, NEW);
    stage_remake_server(x);
    assert_false(gets_in(x, 0, NEW));
    set_keys(x, OLD, 0);
    assert_false(gets_in(x, 1, 0));
    stage_teardown(x);
}

static void a_key_is_changed_while_the_server_runs(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    assert_true(gets_in(x, 0, OLD));
    assert_false(gets_in(x, 1, NEW));
    set_keys(x, OLD, NEW);
    assert_true(gets_in(x, 2, OLD));
    assert_true(gets_in(x, 3, NEW));
    set_keys(x, NEW, 0);
    assert_false(gets_in(x, 4, OLD));
    assert_true(gets_in(x, 5, NEW));
    stage_run(x, 5000); // more than the timeout
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(stage_state(x, 2), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

// Between request and response: who came with a key that stays gets in, whichever place it has now.
static void a_handshake_lives_as_long_as_its_key(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(8);
    set_keys(x, OLD, NEW);
    connect_by(x, 0, OLD);
    connect_by(x, 1, NEW);
    const stage_datagram requests[2] = {x->queue[0], x->queue[1]};
    x->queue_count = 0;
    for (int i = 0; i < 2; ++i) {
        stage_hand_to_server(x, &requests[i].from, requests[i].bytes, requests[i].size);
    }
    set_keys(x, NEW, OTHER);
    assert_int_equal(ph_net_server_get_stats(x->server).pending_count, 1);
    set_keys(x, OTHER, NEW);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_of_both_keys_are_let_in),
        cmocka_unit_test(a_second_key_counts_only_when_it_is_said),
        cmocka_unit_test(a_key_is_changed_while_the_server_runs),
        cmocka_unit_test(a_handshake_lives_as_long_as_its_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
