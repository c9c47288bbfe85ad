// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Development without tokens: who is let in and who is not, on which addresses, what is told; and that a key of zeros is
// refused everywhere else.

#include "support/host_stage.h"
#include "support/netcode_stage.h"
#include "support/peer_stage.h"

#include "net/netcode_insecure.h"

#include <string.h>

static const uint8_t ZERO[PH_NETCODE_KEY_SIZE];

#define ALL_ZERO                                                                                   \
    "is all zero, which everybody can guess; make one with 'pinhole token --make-key FILE', or "   \
    "set is_insecure_dev to develop without tokens"

static bool has_error(const peer_stage* s, const char* part)
{
    for (int i = 0; i < s->error_count && i < PEER_STAGE_ERRORS; ++i) {
        if (strstr(s->errors[i].text, part) != NULL) {
            return true;
        }
    }
    return false;
}

// ---- addresses

static void private_addresses_are_told_from_public_ones(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        bool is_private;
    } cases[] = {
        {"127.0.0.1:1", true},
        {"127.255.0.9:1", true},
        {"10.0.0.0:1", true},
        {"10.255.255.255:1", true},
        {"9.255.255.255:1", false},
        {"11.0.0.0:1", false},
        {"172.16.0.1:1", true},
        {"172.31.255.255:1", true},
        {"172.15.255.255:1", false},
        {"172.32.0.0:1", false},
        {"192.168.0.1:1", true},
        {"192.169.0.1:1", false},
        {"192.167.0.1:1", false},
        {"169.254.7.7:1", true},
        {"169.253.0.1:1", false},
        {"8.8.8.8:1", false},
        {"0.0.0.0:1", false},
        {"255.255.255.255:1", false},
        {"[::1]:1", true},
        {"[::]:1", false},
        {"[::2]:1", false},
        {"[fc00::1]:1", true},
        {"[fdff::1]:1", true},
        {"[fe00::1]:1", false},
        {"[fe80::1]:1", true},
        {"[febf::1]:1", true},
        {"[fec0::1]:1", false},
        {"[2001:db8::1]:1", false},
        {"[fb00::1]:1", false},
        {"[::ffff:10.0.0.1]:1", true},
        {"[::ffff:8.8.8.8]:1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const ph_address address = stage_address(cases[i].text);
        if (ph_address_is_private(&address) != cases[i].is_private) {
            fail_msg("%s", cases[i].text);
        }
    }
    assert_false(ph_address_is_private(&(ph_address){0}));
}

// ---- the key of zeros

static void key_of_zeros_makes_no_host(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    memset(s->def.private_key, 0, sizeof s->def.private_key);
    assert_int_equal(peer_stage_open_host(s), PH_ERROR_ARGUMENT);
    assert_null(s->host);
    assert_string_equal(s->errors[0].text, "ph_host_def.private_key " ALL_ZERO);
    s->def.private_key[31] = 1;
    s->def.has_second_key = true;
    assert_int_equal(peer_stage_open_host(s), PH_ERROR_ARGUMENT);
    assert_string_equal(s->errors[0].field, "ph_host_def.second_key");
    s->def.has_second_key = false;
    assert_int_equal(peer_stage_open_host(s), PH_OK);
    // A key and none at all: one of them is a mistake.
    s->def.is_insecure_dev = true;
    assert_int_equal(peer_stage_open_host(s), PH_ERROR_ARGUMENT);
    assert_string_equal(s->errors[0].text,
                        "ph_host_def.private_key is set, and so is is_insecure_dev, which lets "
                        "everybody in; leave one of them out");
    peer_stage_teardown(s);
}

static void key_of_zeros_makes_no_server_and_no_token(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    ph_error error = {0};
    ph_net_server_def def = x->server_def;
    def.on_error = ph_error_keep;
    def.on_error_context = &error;
    memset(def.private_key, 0, sizeof def.private_key);
    ph_net_server* server;
    assert_int_equal(ph_net_server_create(&def, &server), PH_ERROR_ARGUMENT);
    assert_string_equal(error.text, "ph_net_server_def.private_key " ALL_ZERO);
    ph_token_def token_def = stage_token_def(x, 1);
    token_def.on_error = ph_error_keep;
    token_def.on_error_context = &error;
    memset(token_def.private_key, 0, sizeof token_def.private_key);
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&token_def, token), PH_ERROR_ARGUMENT);
    assert_string_equal(error.text, "ph_token_def.private_key " ALL_ZERO);
    token_def.is_insecure_dev = true;
    assert_int_equal(ph_token_write(&token_def, token), PH_OK);
    stage_teardown(x);
}

// After the change such a token would be let in by a server that says it is secure.
static void keys_never_become_zeros(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    ph_host_set_keys(s->host, ZERO, NULL);
    assert_true(has_error(s, "private_key is all zero, which everybody can guess; the keys stay"));
    const uint8_t other[PH_NETCODE_KEY_SIZE] = {1};
    s->error_count = 0;
    ph_host_set_keys(s->host, other, ZERO);
    assert_true(has_error(s, "second_key is all zero"));
    ph_token_def def = peer_stage_token_def(s, 1);
    memset(def.private_key, 0, sizeof def.private_key);
    def.is_insecure_dev = true;
    peer_stage_connect_with(s, 0, &def);
    peer_stage_connect(s, 1, 2); // with the key that it has kept
    peer_stage_run(s, 1000);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_CONNECTING);
    assert_int_equal(ph_peer_get_state(s->players[1].peer), PH_PEER_STATE_JOINED);
    peer_stage_open_insecure(s);
    ph_host_set_keys(s->host, other, NULL);
    assert_true(has_error(s, "is_insecure_dev has no keys"));
    peer_stage_teardown(s);
}

// ---- a host without tokens

static void peer_connects_by_address(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    peer_stage_open_insecure(s);
    for (int i = 0; i < PEER_STAGE_PEERS; ++i) {
        assert_int_equal(ph_peer_connect_to(s->players[i].peer, "10.0.0.1:40000"), PH_OK);
    }
    peer_stage_run(s, 1000);
    uint64_t ids[PEER_STAGE_PEERS];
    for (int i = 0; i < PEER_STAGE_PEERS; ++i) {
        assert_int_equal(ph_peer_get_state(s->players[i].peer), PH_PEER_STATE_JOINED);
        assert_int_equal(s->players[i].counts[PH_PEER_ENTERED], 1);
        ph_net_client_info info;
        assert_true(ph_host_get_client(s->host, i, &info));
        ids[i] = info.client_id;
        assert_true(ids[i] != 0 && (i == 0 || ids[i] != ids[0]));
    }
    peer_stage_teardown(s);
}

static void peer_says_which_player_and_protocol_it_is(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    s->def.protocol_id = 77;
    peer_stage_open_insecure(s);
    s->players[0].peer->def.protocol_id = 77;
    s->players[0].peer->def.client_id = 4321;
    assert_int_equal(ph_peer_connect_to(s->players[0].peer, "10.0.0.1:40000"), PH_OK);
    assert_int_equal(ph_peer_connect_to(s->players[1].peer, "10.0.0.1:40000"), PH_OK);
    peer_stage_run(s, 1000);
    assert_int_equal(s->connected, 1);
    assert_int_equal(s->last.client_id, 4321);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
    assert_int_equal(s->players[1].end.denial, PH_NET_DENIAL_PROTOCOL);
    peer_stage_teardown(s);
}

// Its own address is none of those that the token names, and the clock of the client's machine is a year behind.
static void any_name_and_any_clock_will_do(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    s->unix_s += 365 * 86400;
    const uint8_t elsewhere[4] = {192, 168, 7, 7};
    s->def.public_address = ph_address_make_ipv4(elsewhere, 4);
    peer_stage_open_insecure(s);
    assert_int_equal(ph_peer_connect_to(s->players[0].peer, "10.0.0.1:40000"), PH_OK);
    peer_stage_run(s, 1000);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_JOINED);
    peer_stage_teardown(s);
}

static void host_with_a_key_answers_no_such_client(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    peer_stage_player* p = &s->players[0];
    assert_int_equal(ph_peer_connect_to(p->peer, "10.0.0.1:40000"), PH_OK);
    peer_stage_run(s, 9900);
    assert_int_equal(ph_peer_get_state(p->peer), PH_PEER_STATE_CONNECTING);
    peer_stage_run(s, 200);
    assert_int_equal(s->sent_down, 0);
    assert_int_equal(p->counts[PH_PEER_DISCONNECTED], 1);
    assert_string_equal(p->text,
                        "10.0.0.1:40000 does not answer: no server is there, or one that wants a "
                        "token; only a host with is_insecure_dev lets clients in by their address");
    peer_stage_teardown(s);
}

static void host_says_every_minute_that_it_is_insecure(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    assert_int_equal(s->error_count, 0);
    peer_stage_open_insecure(s);
    assert_int_equal(s->error_count, 1);
    assert_int_equal(s->errors[0].result, PH_OK);
    assert_string_equal(
        s->errors[0].text,
        "ph_host_def.is_insecure_dev is set: whoever reaches 10.0.0.1:40000 from "
        "this machine or a private network is let in, without a token and under any "
        "client id; for development only");
    peer_stage_run(s, 59900);
    assert_int_equal(s->error_count, 1);
    peer_stage_run(s, 100);
    assert_int_equal(s->error_count, 2);
    peer_stage_run(s, 120000);
    assert_int_equal(s->error_count, 4);
    peer_stage_teardown(s);
}

// ---- where

static void insecure_host_has_no_public_address(void** state)
{
    (void)state;
    static const struct {
        const char* listen;
        const char* public_address;
        const char* sentence; // NULL: it opens
    } cases[] = {
        {"192.0.2.7:40000", NULL,
         "ph_host_def.listen_address is 192.0.2.7:40000, a public address; with is_insecure_dev it "
         "must be one of loopback, of a private network, or all of the machine"},
        {"10.0.0.1:40000", "192.0.2.7:40000",
         "ph_host_def.public_address is 192.0.2.7:40000, a public address; with is_insecure_dev it "
         "must be one of loopback, of a private network, or all of the machine"},
        {"[2001:db8::1]:40000", NULL,
         "ph_host_def.listen_address is [2001:db8::1]:40000, a public address; with "
         "is_insecure_dev it must be one of loopback, of a private network, or all of the machine"},
        {"0.0.0.0:40000", NULL, NULL},
        {"[::]:40000", NULL, NULL},
        {"0.0.0.0:40000", "192.168.1.7:40000", NULL},
        {"[fe80::1]:40000", NULL, NULL},
    };
    peer_stage* s = peer_stage_setup();
    memset(s->def.private_key, 0, sizeof s->def.private_key);
    s->def.is_insecure_dev = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        s->def.listen_address = stage_address(cases[i].listen);
        s->def.public_address = cases[i].public_address != NULL
                                    ? stage_address(cases[i].public_address)
                                    : (ph_address){0};
        const ph_result result = peer_stage_open_host(s);
        if (cases[i].sentence != NULL) {
            assert_int_equal(result, PH_ERROR_ARGUMENT);
            assert_string_equal(s->errors[0].text, cases[i].sentence);
        } else {
            assert_int_equal(result, PH_OK);
            const ph_address address = ph_host_public_address(s->host);
            assert_false(ph_address_is_any(&address)); // a program may print it
        }
    }
    peer_stage_teardown(s);
}

// It listens on all addresses, one of which may be public.
static void strangers_are_not_answered(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    s->def.listen_address = stage_address("0.0.0.0:40000");
    peer_stage_open_insecure(s);
    s->def.listen_address = stage_address("10.0.0.1:40000"); // as it comes to the clients
    static const char* const strangers[] = {"198.51.100.7:9", "[2001:db8::7]:9"};
    for (int i = 0; i < 2; ++i) {
        peer_stage_player* p = &s->players[i];
        p->address = stage_address(strangers[i]);
        assert_int_equal(ph_peer_connect_to(p->peer, "10.0.0.1:40000"), PH_OK);
    }
    peer_stage_run(s, 1000);
    assert_int_equal(s->sent_down, 0);
    assert_int_equal(s->connected, 0);
    const ph_host_stats stats = ph_host_get_stats(s->host);
    assert_in_range(stats.net.refused_datagrams[PH_NET_REFUSAL_NOT_PRIVATE], 20, 22);
    assert_int_equal(ph_peer_connect_to(s->players[2].peer, "10.0.0.1:40000"), PH_OK);
    peer_stage_run(s, 1000);
    assert_int_equal(ph_peer_get_state(s->players[2].peer), PH_PEER_STATE_JOINED);
    peer_stage_teardown(s);
}

// ---- the client's call

static void address_that_cannot_work_is_explained(void** state)
{
    (void)state;
    static const struct {
        const char* address;
        ph_result result;
        const char* sentence;
    } cases[] = {
        {"192.0.2.1:40000", PH_ERROR_ARGUMENT,
         "ph_peer_connect_to: address is \"192.0.2.1:40000\", 192.0.2.1:40000, on a public "
         "network, "
         "where no server lets clients in without a token; take one from the backend for "
         "ph_peer_connect()"},
        {"127.0.0.1", PH_ERROR_TEXT,
         "ph_peer_connect_to: address is \"127.0.0.1\", without a port; it must be like "
         "play.example.org:40000, "
         "192.0.2.1:40000 or [2001:db8::1]:40000, with a port of 1..65535"},
        {NULL, PH_ERROR_ARGUMENT,
         "ph_peer_connect_to: address is NULL; it must be like 127.0.0.1:40000 or "
         "devbox.local:40000"},
    };
    peer_stage* s = peer_stage_setup();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const peer_stage_player* p = &s->players[0];
        assert_int_equal(ph_peer_connect_to(p->peer, cases[i].address), cases[i].result);
        assert_string_equal(p->error.text, cases[i].sentence);
        assert_int_equal(ph_peer_get_state(p->peer), PH_PEER_STATE_IDLE);
    }
    peer_stage_teardown(s);
}

// The token of connect_to names all addresses of one server; the first of them leads nowhere.
static void addresses_have_short_turns(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    ph_token_def def = stage_token_def(x, 1);
    def.timeout_s = 10;
    def.addresses[0] = stage_address("[fd00::7]:40000");
    def.addresses[1] = stage_address("10.0.0.9:40000");
    def.addresses[2] = x->server_port.address;
    def.address_count = 3;
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    ph_net_client_connect_in_turns(x->clients[0], token, sizeof token, x->now_us, 500);
    stage_run(x, 950);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
    stage_run(x, 100);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    // Again and again in turns, but not for longer than one server would get.
    def.address_count = 2;
    def.client_id = 2;
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    ph_net_client_connect_in_turns(x->clients[1], token, sizeof token, x->now_us, 500);
    stage_run(x, 9980);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_SENDING_REQUEST);
    stage_run(x, 30);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_REQUEST_TIMED_OUT);
    stage_teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_addresses_are_told_from_public_ones),
        cmocka_unit_test(key_of_zeros_makes_no_host),
        cmocka_unit_test(key_of_zeros_makes_no_server_and_no_token),
        cmocka_unit_test(keys_never_become_zeros),
        cmocka_unit_test(peer_connects_by_address),
        cmocka_unit_test(peer_says_which_player_and_protocol_it_is),
        cmocka_unit_test(any_name_and_any_clock_will_do),
        cmocka_unit_test(host_with_a_key_answers_no_such_client),
        cmocka_unit_test(host_says_every_minute_that_it_is_insecure),
        cmocka_unit_test(insecure_host_has_no_public_address),
        cmocka_unit_test(strangers_are_not_answered),
        cmocka_unit_test(address_that_cannot_work_is_explained),
        cmocka_unit_test(addresses_have_short_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
