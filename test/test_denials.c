// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Why a client does not get in: what its player is told and how soon, what the host says of requests that it cannot
// answer, and that an attacker who replays requests gains nothing by the answers.

#include "support/netcode_stage.h"
#include "support/peer_stage.h"

#include "net/netcode_bytes.h"
#include "net/netcode_packet.h"

#include <string.h>

enum { REASON_SIZE = 1 + 8 + 1 + PH_NETCODE_TAG_SIZE };

static const char* const elsewhere = "10.0.0.99:9";

// ---- helpers

// The player is told this within a second, and nothing else.
static void expect_denial(peer_stage* s, int player, ph_net_denial denial, const char* text)
{
    peer_stage_player* p = &s->players[player];
    peer_stage_run(s, 900);
    assert_int_equal(p->counts[PH_PEER_DISCONNECTED], 1);
    assert_string_equal(p->text, text);
    assert_int_equal(p->end.end, PH_NET_CLIENT_DENIED);
    assert_int_equal(p->end.denial, denial);
    assert_int_equal(p->counts[PH_PEER_CONNECTED], 0);
    p->counts[PH_PEER_DISCONNECTED] = 0;
}

static void expect_joined(const peer_stage* s, int player)
{
    assert_int_equal(ph_peer_get_state(s->players[player].peer), PH_PEER_STATE_JOINED);
    assert_int_equal(s->players[player].counts[PH_PEER_DISCONNECTED], 0);
}

static void connect_by(peer_stage* s, int player, const uint8_t token[PH_TOKEN_SIZE])
{
    assert_int_equal(ph_peer_connect(s->players[player].peer, token, PH_TOKEN_SIZE), PH_OK);
}

static void make_token(peer_stage* s, uint64_t client_id, uint8_t token[PH_TOKEN_SIZE])
{
    const ph_token_def def = peer_stage_token_def(s, client_id);
    assert_int_equal(ph_token_write(&def, token), PH_OK);
}

// The request that a player has just sent; it stays in flight.
static peer_stage_datagram record_request(const peer_stage* s, int player)
{
    const peer_stage_datagram* newest = &s->up[s->up_count - 1];
    assert_int_equal(newest->size, PH_NETCODE_REQUEST_SIZE);
    assert_true(ph_address_is_equal(&newest->from, &s->players[player].address));
    return *newest;
}

static void replay_from(peer_stage* s, const peer_stage_datagram* request, const char* address)
{
    peer_stage_datagram copy = *request;
    copy.from = stage_address(address);
    assert_true(s->up_count < PEER_STAGE_QUEUE);
    s->up[s->up_count++] = copy;
}

// Takes what the host has sent to an address that no player has. @return How many.
static int collect(peer_stage* s, const char* address, peer_stage_datagram* newest)
{
    const ph_address to = stage_address(address);
    int count = 0;
    int left = 0;
    for (int i = 0; i < s->down_count; ++i) {
        if (ph_address_is_equal(&s->down[i].to, &to)) {
            *newest = s->down[i];
            ++count;
        } else {
            s->down[left++] = s->down[i];
        }
    }
    s->down_count = left;
    return count;
}

static void inject(peer_stage* s, const peer_stage_datagram* datagram, int player)
{
    peer_stage_datagram copy = *datagram;
    copy.to = s->players[player].address;
    s->down[s->down_count++] = copy;
}

static const char* newest_error(const peer_stage* s)
{
    return s->error_count > 0 ? s->errors[(s->error_count - 1) % PEER_STAGE_ERRORS].text : "";
}

// ---- reasons

static void token_that_was_used_is_told(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    uint8_t token[PH_TOKEN_SIZE];
    make_token(s, 1, token);
    connect_by(s, 0, token);
    peer_stage_run(s, 500);
    expect_joined(s, 0);
    // From another address while it is connected, and again afterwards.
    const char* text =
        "10.0.0.1:40000: the token was used before; take a new token for every connection";
    connect_by(s, 1, token);
    expect_denial(s, 1, PH_NET_DENIAL_TOKEN_USED, text);
    expect_joined(s, 0);
    ph_peer_disconnect(s->players[0].peer);
    peer_stage_run(s, 500);
    memset(s->players[0].counts, 0, sizeof s->players[0].counts);
    connect_by(s, 0, token);
    expect_denial(s, 0, PH_NET_DENIAL_TOKEN_USED, text);
    peer_stage_teardown(s);
}

static void other_reasons_are_told(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    ph_token_def def = peer_stage_token_def(s, 1);
    def.create_s -= 20; // its life is 30 s
    peer_stage_connect_with(s, 0, &def);
    expect_denial(s, 0, PH_NET_DENIAL_TOKEN_OLD,
                  "10.0.0.1:40000: the token was made before the server started; take a new one");
    def.create_s -= 30;
    peer_stage_connect_with(s, 0, &def);
    expect_denial(s, 0, PH_NET_DENIAL_EXPIRED,
                  "10.0.0.1:40000: the token has expired; take a new one, and connect within its "
                  "30 s");
    def = peer_stage_token_def(s, 1);
    def.protocol_id = 9;
    peer_stage_connect_with(s, 0, &def);
    expect_denial(s, 0, PH_NET_DENIAL_PROTOCOL,
                  "10.0.0.1:40000: the server has another protocol_id than the token: client and "
                  "server are of different versions or games");
    s->def.public_address = stage_address("192.0.2.1:40000");
    assert_int_equal(peer_stage_open_host(s), PH_OK);
    def = peer_stage_token_def(s, 1);
    peer_stage_connect_with(s, 0, &def);
    expect_denial(s, 0, PH_NET_DENIAL_TOKEN_SERVER,
                  "10.0.0.1:40000: the token is for servers with other addresses; it must name "
                  "this one as the server knows it, by public_address of ph_host_def");
    peer_stage_teardown(s);
}

static void full_server_says_so_as_in_the_standard(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    s->def.client_capacity = 1;
    assert_int_equal(peer_stage_open_host(s), PH_OK);
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 500);
    peer_stage_connect(s, 1, 2);
    expect_denial(s, 1, PH_NET_DENIAL_FULL, "10.0.0.1:40000 is full");
    expect_joined(s, 0);
    peer_stage_teardown(s);
}

// It waits for as long as it takes until a host lets a player in whose game has crashed.
static void connected_player_is_told_after_three_seconds(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 500);
    peer_stage_connect(s, 1, 1);
    peer_stage_run(s, 2800);
    assert_int_equal(s->players[1].counts[PH_PEER_DISCONNECTED], 0);
    expect_denial(s, 1, PH_NET_DENIAL_CLIENT_CONNECTED,
                  "10.0.0.1:40000: this player is connected already, from another place; that "
                  "connection must end first");
    expect_joined(s, 0);
    peer_stage_teardown(s);
}

static void player_whose_game_crashed_comes_in_anew(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 500);
    s->players[0].is_frozen = true;
    peer_stage_connect(s, 1, 1);
    peer_stage_run(s, 3000);
    expect_joined(s, 1);
    assert_int_equal(s->ended, 1);
    assert_int_equal(s->connected, 2);
    peer_stage_teardown(s);
}

// ---- what a client believes

// A byte that this version does not know, one that means nothing, and one that has an empty packet instead.
static void reason_that_is_not_known_is_a_denial_all_the_same(void** state)
{
    (void)state;
    static const uint8_t bytes[] = {0, 1, 200};
    for (size_t i = 0; i < sizeof bytes; ++i) {
        netcode_stage* x = stage_setup(1);
        const ph_token_def def = stage_token_def(x, 1);
        uint8_t token[PH_TOKEN_SIZE];
        ph_token read;
        assert_int_equal(ph_token_write(&def, token), PH_OK);
        assert_int_equal(ph_token_read(token, sizeof token, &read), PH_TOKEN_GOOD);
        ph_net_client_connect(x->clients[0], token, sizeof token, x->now_us);
        x->queue_count = 0;
        ph_net_server_stop(x->server);
        const ph_netcode_lock lock = {STAGE_PROTOCOL, read.secrets.server_to_client_key};
        uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
        const size_t size =
            ph_netcode_seal(&lock, PH_NETCODE_DENIED, UINT64_C(1) << 63, &bytes[i], 1, datagram);
        assert_int_equal(size, REASON_SIZE);
        assert_int_equal(stage_hand_to_client(x, 0, datagram, size), PH_NET_REFUSAL_NONE);
        assert_int_equal(ph_net_client_denial(x->clients[0]), PH_NET_DENIAL_OTHER);
        assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
        stage_run(x, 490);
        assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
        stage_run(x, 20);
        assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DENIED);
        ph_net_server_start(x->server, x->now_us, x->unix_s);
        stage_teardown(x);
    }
}

// The request of the first player, played to the host from elsewhere: what it answers there.
static peer_stage_datagram reason_for_another(peer_stage* s)
{
    const peer_stage_datagram request = record_request(s, 0);
    replay_from(s, &request, elsewhere);
    s->now_us += 10000;
    ph_host_receive(s->host, 0);
    ph_host_tick(s->host);
    peer_stage_datagram reason;
    assert_int_equal(collect(s, elsewhere, &reason), 1);
    return reason;
}

// Its handshake is under way; the reason for another sender is played to it. It goes on asking, and gets in.
static void challenge_counts_for_more_than_a_reason(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    peer_stage_connect(s, 0, 1);
    const peer_stage_datagram reason = reason_for_another(s);
    assert_int_equal(reason.size, REASON_SIZE);
    s->down_count = 0; // the challenge is lost
    inject(s, &reason, 0);
    ph_peer_tick(s->players[0].peer);
    assert_int_equal(ph_net_client_denial(s->players[0].peer->link->net), PH_NET_DENIAL_TOKEN_USED);
    assert_int_equal(ph_peer_get_state(s->players[0].peer), PH_PEER_STATE_CONNECTING);
    peer_stage_run(s, 1000);
    expect_joined(s, 0);
    assert_int_equal(ph_net_client_denial(s->players[0].peer->link->net), PH_NET_DENIAL_NONE);
    peer_stage_teardown(s);
}

// Between challenge and connection the standard's own denial counts, which no replay brings about; no reason does.
static void no_reason_ends_a_handshake_that_has_its_challenge(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    peer_stage_connect(s, 0, 1);
    const peer_stage_datagram reason = reason_for_another(s);
    ph_peer_tick(s->players[0].peer); // takes the challenge
    assert_int_equal(ph_net_client_get_state(s->players[0].peer->link->net),
                     PH_NET_CLIENT_SENDING_RESPONSE);
    s->is_dead = true; // its response is lost, and all that it sends for two seconds
    s->up_count = 0;
    inject(s, &reason, 0);
    peer_stage_run(s, 2000);
    assert_int_equal(ph_net_client_denial(s->players[0].peer->link->net), PH_NET_DENIAL_NONE);
    s->is_dead = false;
    peer_stage_run(s, 1000);
    expect_joined(s, 0);
    peer_stage_teardown(s);
}

// ---- replays against a connection

static void reason_does_not_end_a_connection(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    peer_stage_connect(s, 0, 1);
    const peer_stage_datagram request = record_request(s, 0);
    peer_stage_run(s, 500);
    expect_joined(s, 0);
    peer_stage_datagram reason;
    for (int i = 0; i < 20; ++i) {
        replay_from(s, &request, elsewhere);
        peer_stage_tick(s);
        assert_int_equal(collect(s, elsewhere, &reason), 1);
        inject(s, &reason, 0);
    }
    peer_stage_run(s, 2000);
    expect_joined(s, 0);
    assert_int_equal(ph_net_client_denial(s->players[0].peer->link->net), PH_NET_DENIAL_NONE);
    peer_stage_teardown(s);
}

// With its own address as the sender's, also when its connection has been silent for so long that its player could
// come anew.
static void connected_address_is_sent_no_reason(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    peer_stage_connect(s, 0, 1);
    const peer_stage_datagram request = record_request(s, 0);
    peer_stage_run(s, 500);
    s->players[0].is_frozen = true;
    for (int i = 0; i < 100; ++i) { // five seconds
        s->up[s->up_count++] = request;
        peer_stage_tick(s);
    }
    for (int i = 0; i < s->down_count; ++i) {
        assert_int_not_equal(s->down[i].bytes[0] & 15, PH_NETCODE_DENIED);
    }
    s->down_count = 0;
    s->players[0].is_frozen = false;
    peer_stage_run(s, 1000);
    expect_joined(s, 0);
    peer_stage_teardown(s);
}

// Copies from everywhere get a few answers, each far smaller than its request, and take nothing from other clients.
static void reasons_are_few_and_small(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    s->def.requests_per_second = 30;
    assert_int_equal(peer_stage_open_host(s), PH_OK);
    peer_stage_connect(s, 0, 1);
    const peer_stage_datagram request = record_request(s, 0);
    peer_stage_run(s, 1000);
    int answers = 0;
    for (int tick = 0; tick < 20; ++tick) { // a second
        for (int i = 0; i < 100; ++i) {
            replay_from(s, &request, elsewhere);
        }
        if (tick == 10) {
            peer_stage_connect(s, 1, 2);
        }
        peer_stage_tick(s);
        peer_stage_datagram newest = {0};
        answers += collect(s, elsewhere, &newest);
        assert_true(newest.size == 0 || newest.size == REASON_SIZE);
    }
    assert_in_range(answers, 50, 100); // those of a second, and what was saved up
    peer_stage_run(s, 500);
    expect_joined(s, 0);
    expect_joined(s, 1);
    peer_stage_teardown(s);
}

static void server_of_the_standard_gives_no_reason(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(4);
    stage_join(x, 0);
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    stage_connect_with(x, 1, &def); // the same player
    def.client_id = 5;
    def.protocol_id ^= 1;
    stage_connect_with(x, 2, &def);
    for (int i = 0; i < x->queue_count; ++i) {
        stage_hand_to_server(x, &x->queue[i].from, x->queue[i].bytes, x->queue[i].size);
    }
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_CLIENT_CONNECTED), 1);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_PROTOCOL), 1);
    assert_int_equal(x->queue_count, 2); // the requests alone
    x->queue_count = 0;
    stage_teardown(x);
}

// ---- what no client can be told

static void foreign_key_is_told_to_both_ends(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    ph_token_def def = peer_stage_token_def(s, 1);
    def.private_key[0] ^= 1;
    peer_stage_connect_with(s, 0, &def);
    peer_stage_run(s, 100);
    assert_int_equal(s->error_count, 1);
    assert_int_equal(s->errors[0].result, PH_OK);
    assert_string_equal(s->errors[0].text,
                        "ph_host_tick: 1 request with tokens that the private key does not open: "
                        "backend and host must have the same key, and ph_peer_connect_to() needs "
                        "is_insecure_dev; the last came from 10.0.0.2:50000");
    peer_stage_run(s, 9900);
    assert_int_equal(s->sent_down, 0);
    assert_int_equal(s->error_count, 1);
    const peer_stage_player* p = &s->players[0];
    assert_int_equal(p->counts[PH_PEER_DISCONNECTED], 1);
    assert_int_equal(p->end.end, PH_NET_CLIENT_REQUEST_TIMED_OUT);
    assert_string_equal(
        p->text, "10.0.0.1:40000 does not answer: no server is there, a firewall is between, "
                 "or the token was made with another key than the server's, which its "
                 "on_error then says");
    peer_stage_run(s, 500);
    assert_int_equal(s->error_count, 2);
    assert_non_null(strstr(newest_error(s), "requests with tokens that the private key"));
    peer_stage_run(s, 20000);
    assert_int_equal(s->error_count, 2); // nothing more has come
    peer_stage_teardown(s);
}

static void host_tells_what_else_it_cannot_take(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    ph_token_def def = peer_stage_token_def(s, 1);
    def.protocol_id = 9;
    peer_stage_connect_with(s, 0, &def);
    def.protocol_id = 0;
    def.create_s -= 100;
    peer_stage_connect_with(s, 1, &def);
    peer_stage_run(s, 100);
    assert_int_equal(s->error_count, 2);
    assert_string_equal(s->errors[0].text,
                        "ph_host_tick: 1 request for another protocol_id than that of ph_host_def: "
                        "it must be the same in the tokens; the last came from 10.0.0.2:50000");
    assert_string_equal(s->errors[1].text,
                        "ph_host_tick: 1 request with tokens that have expired: create_s must be "
                        "the time at which one is made, and the clocks of backend and host must "
                        "agree; the last came from 10.0.0.2:50001");
    ph_peer_disconnect(s->players[1].peer);
    s->def.public_address = stage_address("192.0.2.1:40000");
    assert_int_equal(peer_stage_open_host(s), PH_OK);
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 100);
    assert_string_equal(newest_error(s),
                        "ph_host_tick: 1 request with tokens for other servers: their addresses "
                        "must be what ph_host_public_address() says, set by public_address; the "
                        "last came from 10.0.0.2:50000");
    s->def.public_address = (ph_address){0};
    peer_stage_open_insecure(s);
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 100);
    assert_string_equal(newest_error(s),
                        "ph_host_tick: 1 request with tokens, which a host with is_insecure_dev "
                        "does not take: its clients connect by ph_peer_connect_to(); the last came "
                        "from 10.0.0.2:50000");
    peer_stage_teardown(s);
}

// ---- clients that wait

static void client_that_is_not_admitted_is_told_to_both_ends(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    const peer_stage_player* p = &s->players[0];
    s->is_closed = true;
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 5000);
    assert_int_equal(p->counts[PH_PEER_WAITING], 0);
    assert_int_equal(s->error_count, 0);
    peer_stage_run(s, 2000);
    assert_int_equal(ph_peer_get_state(p->peer), PH_PEER_STATE_JOINING);
    assert_int_equal(p->counts[PH_PEER_WAITING], 1);
    assert_string_equal(p->waiting,
                        "connected, but the server has not admitted this client for 5 s: it must "
                        "call ph_host_admit() when it takes PH_NET_CONNECTED, and "
                        "ph_host_send() each tick");
    assert_int_equal(s->error_count, 1);
    assert_string_equal(newest_error(s),
                        "ph_host_tick: client 0 connected 5 s ago and was not admitted: call "
                        "ph_host_admit() when ph_host_next_event() gives PH_NET_CONNECTED; told "
                        "once");
    peer_stage_run(s, 20000);
    assert_int_equal(p->counts[PH_PEER_WAITING], 1);
    assert_int_equal(s->error_count, 1);
    // The game has got round to it.
    const ph_viewer_def viewer = ph_viewer_def_default();
    assert_int_equal(ph_host_admit(s->host, 0, &viewer, NULL), PH_OK);
    peer_stage_run(s, 500);
    expect_joined(s, 0);
    peer_stage_teardown(s);
}

// Admitted, and shown nothing: the game does not send, or its world stands at its first moment.
static void forgotten_calls_are_told_once(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        peer_stage* s = peer_stage_setup();
        s->forgets_send = i == 0;
        s->forgets_tick = i == 1;
        peer_stage_connect(s, 0, 1);
        peer_stage_run(s, 5000);
        assert_int_equal(s->error_count, 0);
        peer_stage_run(s, 10000);
        assert_int_equal(s->error_count, 1);
        assert_string_equal(newest_error(s),
                            i == 0
                                ? "ph_host_tick: a client was admitted 5 s ago, and nothing was "
                                  "sent: call ph_host_send() after each ph_world_tick(); told once"
                                : "ph_host_tick: a client was admitted 5 s ago, and the world "
                                  "was never ticked: call ph_world_tick() before each "
                                  "ph_host_send(); told once");
        peer_stage_teardown(s);
    }
}

static void peer_says_how_long_the_server_is_silent(void** state)
{
    (void)state;
    peer_stage* s = peer_stage_setup();
    const ph_peer* peer = s->players[0].peer;
    assert_int_equal(ph_peer_get_stats(peer).silent_ms, 0);
    peer_stage_connect(s, 0, 1);
    peer_stage_run(s, 6000);
    assert_true(ph_peer_get_stats(peer).silent_ms <= 1500);
    s->is_dead = true;
    s->down_count = 0;
    peer_stage_run(s, 4000);
    assert_in_range(ph_peer_get_stats(peer).silent_ms, 4000, 5500);
    peer_stage_run(s, 10000);
    assert_int_equal(ph_peer_get_state(peer), PH_PEER_STATE_IDLE);
    assert_string_equal(s->players[0].text, "nothing has come from 10.0.0.1:40000 for 10 s");
    assert_int_equal(ph_peer_get_stats(peer).silent_ms, 0);
    peer_stage_teardown(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(token_that_was_used_is_told),
        cmocka_unit_test(other_reasons_are_told),
        cmocka_unit_test(full_server_says_so_as_in_the_standard),
        cmocka_unit_test(connected_player_is_told_after_three_seconds),
        cmocka_unit_test(player_whose_game_crashed_comes_in_anew),
        cmocka_unit_test(reason_that_is_not_known_is_a_denial_all_the_same),
        cmocka_unit_test(challenge_counts_for_more_than_a_reason),
        cmocka_unit_test(no_reason_ends_a_handshake_that_has_its_challenge),
        cmocka_unit_test(reason_does_not_end_a_connection),
        cmocka_unit_test(connected_address_is_sent_no_reason),
        cmocka_unit_test(reasons_are_few_and_small),
        cmocka_unit_test(server_of_the_standard_gives_no_reason),
        cmocka_unit_test(foreign_key_is_told_to_both_ends),
        cmocka_unit_test(host_tells_what_else_it_cannot_take),
        cmocka_unit_test(client_that_is_not_admitted_is_told_to_both_ends),
        cmocka_unit_test(forgotten_calls_are_told_once),
        cmocka_unit_test(peer_says_how_long_the_server_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
