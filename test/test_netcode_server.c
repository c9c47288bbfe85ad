// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Connections as the server has them: how they are kept, how they end, what is counted.

#include "netcode_stage.h"
#include "net/netcode_packet.h"

#include <string.h>

// Keeps copies of what goes to the server.
static stage_datagram kept[16];
static int kept_count;

static bool keep_copies(netcode_stage* x, stage_datagram* datagram)
{
    if (ph_address_is_equal(&datagram->to, &x->server_port.address) && kept_count < 16) {
        kept[kept_count++] = *datagram;
    }
    return true;
}

static void begin_keeping(netcode_stage* x)
{
    kept_count = 0;
    x->filter = keep_copies;
}

static bool lose_all(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    (void)datagram;
    return false;
}

// Counts by type what the server sends, and loses one type of it.
static int sent_counts[PH_NETCODE_TYPE_COUNT];
static int lost_type; // 0 is none

static bool count_types(netcode_stage* x, stage_datagram* datagram)
{
    if (ph_address_is_equal(&datagram->from, &x->server_port.address)) {
        const int type = datagram->bytes[0] & 15;
        ++sent_counts[type];
        return type != lost_type;
    }
    return true;
}

static void begin_counting(netcode_stage* x)
{
    memset(sent_counts, 0, sizeof sent_counts);
    lost_type = 0;
    x->filter = count_types;
}

static ph_net_server_stats stats_of(const netcode_stage* x)
{
    const ph_net_server_stats stats = ph_net_server_get_stats(x->server);
    return stats;
}

// ---- replays and damage

static void a_replayed_packet_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    begin_keeping(x);
    ph_net_client_send(x->clients[0], "abc", 3);
    ph_net_client_send(x->clients[0], "def", 3);
    stage_run(x, 110); // a keep-alive
    x->filter = NULL;
    assert_in_range(kept_count, 3, 16);
    assert_int_equal(x->server_payloads, 2);
    for (int i = 0; i < kept_count; ++i) {
        assert_int_equal(stage_hand_to_server(x, &kept[i].from, kept[i].bytes, kept[i].size),
                         PH_NET_REFUSAL_REPLAYED);
    }
    assert_int_equal(x->server_payloads, 2);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_REPLAYED), (uint64_t)kept_count);
    stage_teardown(x);
}

static void a_changed_packet_is_refused_and_does_not_keep_alive(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    begin_keeping(x);
    ph_net_client_send(x->clients[0], "abc", 3);
    stage_deliver(x);
    x->filter = lose_all;
    for (size_t i = 0; i < kept[0].size; ++i) {
        uint8_t changed[STAGE_DATAGRAM_MAX];
        memcpy(changed, kept[0].bytes, kept[0].size);
        changed[i] ^= 0x40;
        assert_int_not_equal(stage_hand_to_server(x, &kept[0].from, changed, kept[0].size),
                             PH_NET_REFUSAL_NONE);
        stage_run(x, 100);
    }
    stage_expect_event(x, PH_NET_CONNECTED);
    assert_int_equal(stage_expect_event(x, PH_NET_DISCONNECTED).end, PH_NET_END_TIMED_OUT);
    stage_teardown(x);
}

static void a_packet_from_another_address_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    begin_keeping(x);
    ph_net_client_send(x->clients[0], "abc", 3);
    stage_deliver(x);
    const ph_address other = stage_address("10.0.0.2:49999");
    assert_int_equal(stage_hand_to_server(x, &other, kept[0].bytes, kept[0].size),
                     PH_NET_REFUSAL_ADDRESS);
    stage_teardown(x);
}

static void a_client_cannot_send_what_only_servers_send(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    uint8_t denied[40] = {0x11};
    uint8_t challenge[340] = {0x12};
    uint8_t response[340] = {0x13};
    uint8_t unknown[40] = {0x17};
    const ph_address* from = &x->ports[0].address;
    assert_int_equal(stage_hand_to_server(x, from, denied, sizeof denied), PH_NET_REFUSAL_TYPE);
    assert_int_equal(stage_hand_to_server(x, from, challenge, sizeof challenge),
                     PH_NET_REFUSAL_TYPE);
    assert_int_equal(stage_hand_to_server(x, from, response, sizeof response),
                     PH_NET_REFUSAL_ADDRESS_CONNECTED);
    assert_int_equal(stage_hand_to_server(x, from, unknown, sizeof unknown), PH_NET_REFUSAL_TYPE);
    assert_int_equal(stage_hand_to_server(x, from, unknown, 0), PH_NET_REFUSAL_SIZE);
    stage_teardown(x);
}

// ---- alive and dead

static void an_idle_connection_lives_on_ten_keep_alives_a_second(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    begin_counting(x);
    stage_run(x, 10000); // five times the timeout
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_in_range(sent_counts[PH_NETCODE_KEEP_ALIVE], 99, 101);
    stage_teardown(x);
}

static void keep_alives_may_be_rarer(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    x->server_def.keep_alive_ms = 1000;
    stage_remake_server(x);
    stage_join(x, 0);
    begin_counting(x);
    stage_run(x, 10000);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_in_range(sent_counts[PH_NETCODE_KEEP_ALIVE], 9, 10);
    stage_teardown(x);
}

static void payloads_make_keep_alives_needless(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    stage_run(x, 200); // until it is confirmed
    begin_counting(x);
    for (int i = 0; i < 100; ++i) {
        ph_net_server_send(x->server, 0, "x", 1);
        stage_run(x, 50);
    }
    assert_int_equal(sent_counts[PH_NETCODE_KEEP_ALIVE], 0);
    assert_int_equal(sent_counts[PH_NETCODE_PAYLOAD], 100);
    stage_teardown(x);
}

// The first keep-alive got lost: the payload alone would be dropped.
static void payloads_come_with_a_keep_alive_until_confirmed(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    begin_counting(x);
    lost_type = PH_NETCODE_KEEP_ALIVE;
    stage_connect(x, 0);
    stage_deliver(x);
    assert_int_equal(sent_counts[PH_NETCODE_KEEP_ALIVE], 1);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    assert_int_equal(stats_of(x).client_count, 1);

    lost_type = 0;
    assert_int_equal(ph_net_server_cost(x->server, 0, 5), 26 + 23);
    ph_net_server_send(x->server, 0, "hello", 5);
    assert_int_equal(x->queue_count, 2);
    assert_int_equal(x->queue[0].size + x->queue[1].size, 26 + 23);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(x->client_payloads, 1);

    ph_net_client_send(x->clients[0], "x", 1);
    stage_deliver(x);
    assert_int_equal(ph_net_server_cost(x->server, 0, 5), 23);
    ph_net_server_send(x->server, 0, "hello", 5);
    assert_int_equal(x->queue_count, 1);
    assert_int_equal(x->queue[0].size, 23);
    stage_teardown(x);
}

static void a_silent_client_times_out(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    stage_expect_event(x, PH_NET_CONNECTED);
    x->filter = lose_all;
    stage_run(x, 1990);
    stage_expect_no_event(x);
    stage_run(x, 10);
    const ph_net_event event = stage_expect_event(x, PH_NET_DISCONNECTED);
    assert_int_equal(event.end, PH_NET_END_TIMED_OUT);
    assert_int_equal(event.client_id, STAGE_FIRST_ID);
    assert_int_equal(stats_of(x).disconnected_clients[PH_NET_END_TIMED_OUT], 1);
    assert_false(ph_net_server_send(x->server, 0, "x", 1));
    stage_teardown(x);
}

static void without_a_timeout_silence_ends_nothing(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    def.timeout_s = -1;
    stage_connect_with(x, 0, &def);
    stage_deliver(x);
    x->filter = lose_all;
    stage_run(x, 60000);
    assert_int_equal(stats_of(x).client_count, 1);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

// The time of day matters to tokens alone; a steady clock that jumps back stands still, and one that jumps
// forward makes a silence, which ends nothing before its time.
static void clocks_that_jump_end_no_connection(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    x->unix_s += 100000;
    stage_run(x, 500);
    x->unix_s = 5;
    stage_run(x, 500);
    ph_net_server_tick(x->server, 1, x->unix_s);
    ph_net_client_tick(x->clients[0], 1);
    stage_run(x, 500);
    x->now_us += 1500000; // less than the timeout
    stage_run(x, 500);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(stats_of(x).client_count, 1);
    stage_teardown(x);
}

// ---- ends

static void a_client_that_leaves_is_gone_at_once(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    stage_expect_event(x, PH_NET_CONNECTED);
    ph_net_client_disconnect(x->clients[0]);
    assert_int_equal(x->queue_count, 10);
    stage_deliver(x);
    assert_int_equal(stage_expect_event(x, PH_NET_DISCONNECTED).end, PH_NET_END_CLIENT);
    stage_expect_no_event(x);
    assert_int_equal(stats_of(x).client_count, 0);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_ADDRESS), 9);
    stage_teardown(x);
}

// A front-end opens a whole batch before the tick: what comes behind the goodbye is received, and refused.
static void what_a_leaving_client_sends_is_counted(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    ph_net_client_disconnect(x->clients[0]);
    const ph_net_server_stats before = stats_of(x);
    for (int i = 0; i < x->queue_count; ++i) {
        stage_datagram* datagram = &x->queue[i];
        ph_net_payload payload;
        assert_int_equal(
            ph_net_server_open(x->server, 0, datagram->bytes, datagram->size, &payload),
            i == 0 ? PH_NET_REFUSAL_NONE : PH_NET_REFUSAL_STATE);
    }
    const ph_net_server_stats after = stats_of(x);
    assert_int_equal(after.received_datagrams - before.received_datagrams, 10);
    assert_int_equal(after.received_bytes - before.received_bytes, 10 * x->queue[0].size);
    assert_int_equal(after.refused_datagrams[PH_NET_REFUSAL_STATE], 9);
    x->queue_count = 0;
    stage_teardown(x);
}

// ---- players that come anew

static bool lose_everything(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    (void)datagram;
    return false;
}

// Player 1000 is connected by client 0, with a long timeout, and has said nothing for so long.
static netcode_stage* setup_silent(int capacity, int replace_silent_ms, int silent_ms)
{
    netcode_stage* x = stage_setup(capacity);
    x->server_def.replace_silent_ms = replace_silent_ms;
    stage_remake_server(x);
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    def.timeout_s = 60;
    stage_connect_with(x, 0, &def);
    stage_deliver(x);
    stage_expect_event(x, PH_NET_CONNECTED);
    x->filter = lose_everything;
    stage_run(x, silent_ms);
    x->filter = NULL;
    return x;
}

// The same player with a new token.
static void come_anew(netcode_stage* x, int client)
{
    const ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    stage_connect_with(x, client, &def);
    stage_deliver(x);
}

static void a_player_that_fell_silent_comes_anew(void** state)
{
    (void)state;
    netcode_stage* x = setup_silent(2, 2000, 2000);
    come_anew(x, 1);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_CONNECTED);
    const ph_net_event end = stage_expect_event(x, PH_NET_DISCONNECTED);
    assert_int_equal(end.end, PH_NET_END_TAKEN_OVER);
    assert_int_equal(end.client, 0);
    const ph_net_event begin = stage_expect_event(x, PH_NET_CONNECTED);
    assert_int_equal(begin.client_id, STAGE_FIRST_ID);
    stage_expect_no_event(x);
    stage_teardown(x);
}

// A request of the silent connection's own token, recorded and played again: without another token nothing ends.
static void its_own_request_played_again_ends_nothing(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    x->server_def.replace_silent_ms = 2000;
    stage_remake_server(x);
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    def.timeout_s = 60;
    def.lifetime_s = 1000;
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    ph_net_client_connect(x->clients[0], token, sizeof token, x->now_us);
    stage_deliver(x);
    stage_expect_event(x, PH_NET_CONNECTED);
    x->filter = lose_everything;
    stage_run(x, 5000);
    ph_net_client_disconnect(x->clients[0]); // its goodbye is lost
    stage_deliver(x);
    x->filter = NULL;
    ph_net_client_connect(x->clients[0], token, sizeof token, x->now_us); // the same request
    stage_deliver(x);
    stage_expect_no_event(x);
    assert_true(stage_refused(x, PH_NET_REFUSAL_TOKEN_USED) > 0);
    stage_teardown(x);
}

static void it_comes_anew_from_the_same_address(void** state)
{
    (void)state;
    netcode_stage* x = setup_silent(2, 2000, 2000);
    x->filter = lose_everything; // its goodbye
    ph_net_client_disconnect(x->clients[0]);
    stage_deliver(x);
    x->filter = NULL;
    come_anew(x, 0);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    stage_expect_event(x, PH_NET_DISCONNECTED);
    stage_expect_event(x, PH_NET_CONNECTED);
    stage_teardown(x);
}

static void a_player_that_speaks_is_not_replaced(void** state)
{
    (void)state;
    netcode_stage* x = setup_silent(2, 2000, 1980);
    come_anew(x, 1);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_SENDING_REQUEST);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_CLIENT_CONNECTED), 1);
    stage_expect_no_event(x);
    stage_teardown(x);

    x = setup_silent(2, 0, 30000); // as the standard has it: the timeout decides alone
    come_anew(x, 1);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_CLIENT_CONNECTED), 1);
    stage_expect_no_event(x);
    stage_teardown(x);
}

// With a token of its own, and the address of a silent client as its sender: it ends nothing.
static void another_player_replaces_no_one(void** state)
{
    (void)state;
    netcode_stage* x = setup_silent(2, 2000, 5000);
    const ph_token_def def = stage_token_def(x, STAGE_FIRST_ID + 1);
    stage_connect_with(x, 0, &def);
    const stage_datagram request = x->queue[x->queue_count - 1];
    x->queue_count = 0;
    assert_int_equal(stage_hand_to_server(x, &request.from, request.bytes, request.size),
                     PH_NET_REFUSAL_ADDRESS_CONNECTED);
    assert_int_equal(x->queue_count, 0);
    assert_int_equal(stats_of(x).client_count, 1);
    stage_expect_no_event(x);
    stage_teardown(x);
}

// Its old slot is the only one, and free when the event is taken: no "denied" until then.
static void a_full_server_has_room_for_a_player_that_comes_anew(void** state)
{
    (void)state;
    netcode_stage* x = setup_silent(1, 2000, 2000);
    come_anew(x, 1);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_SENDING_REQUEST);
    stage_expect_event(x, PH_NET_DISCONNECTED);
    stage_run(x, 100);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

static void one_disconnect_packet_of_ten_is_enough(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    ph_net_server_disconnect(x->server, 0);
    assert_int_equal(x->queue_count, 10);
    x->queue[0] = x->queue[9];
    x->queue_count = 1;
    stage_deliver(x);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DISCONNECTED);
    stage_expect_event(x, PH_NET_CONNECTED);
    assert_int_equal(stage_expect_event(x, PH_NET_DISCONNECTED).end, PH_NET_END_SERVER);
    ph_net_server_disconnect(x->server, 0);
    ph_net_server_disconnect(x->server, -1);
    ph_net_server_disconnect(x->server, 1000);
    stage_expect_no_event(x);
    stage_teardown(x);
}

static void all_are_told_when_the_server_stops(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(5);
    for (int i = 0; i < 4; ++i) {
        stage_join(x, i);
    }
    stage_connect(x, 4); // has asked, and will never be answered
    const stage_datagram request = x->queue[0];
    stage_hand_to_server(x, &request.from, request.bytes, request.size);
    x->queue_count = 0;
    assert_int_equal(stats_of(x).pending_count, 1);
    ph_net_server_stop(x->server);
    assert_int_equal(stats_of(x).pending_count, 0);
    assert_int_equal(x->queue_count, 40);
    stage_deliver(x);
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(stage_state(x, i), PH_NET_CLIENT_DISCONNECTED);
    }
    const ph_token_def def = stage_token_def(x, 9);
    stage_connect_with(x, 5, &def);
    stage_run(x, 1000);
    assert_true(stage_refused(x, PH_NET_REFUSAL_STOPPED) > 9);
    assert_int_equal(stage_state(x, 5), PH_NET_CLIENT_SENDING_REQUEST);
    assert_int_equal(ph_net_server_cost(x->server, 0, 10), 0);
    stage_teardown(x);
}

static uint64_t challenge_sequence;

static bool note_challenge(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    if ((datagram->bytes[0] & 15) == PH_NETCODE_CHALLENGE && datagram->bytes[0] != 0) {
        ph_netcode_opened peeked;
        assert_int_equal(ph_netcode_peek(datagram->bytes, datagram->size, &peeked),
                         PH_NET_REFUSAL_NONE);
        challenge_sequence = peeked.sequence;
    }
    return true;
}

// The keys of a token may meet both lives of a server: no number may be used in both.
static void a_restart_does_not_repeat_sequence_numbers(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    x->filter = note_challenge;
    stage_join(x, 0);
    const uint64_t first = challenge_sequence;
    assert_true(first >> 63 == 1); // never one of a connection
    for (int restart = 1; restart < 4; ++restart) {
        ph_net_server_stop(x->server);
        stage_deliver(x);
        ph_net_event event;
        while (ph_net_server_next_event(x->server, &event)) {
        }
        ph_net_server_start(x->server, x->now_us, x->unix_s);
        stage_join(x, restart);
        assert_true(challenge_sequence == first + (uint64_t)restart);
    }
    stage_teardown(x);
}

static void a_challenge_does_not_outlive_a_restart(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    begin_keeping(x);
    stage_join(x, 0);
    ph_net_server_stop(x->server);
    ph_net_server_start(x->server, x->now_us, x->unix_s);
    stage_hand_to_server(x, &kept[0].from, kept[0].bytes, kept[0].size);
    assert_int_equal(x->last_refusal, PH_NET_REFUSAL_NONE); // its request
    stage_hand_to_server(x, &kept[1].from, kept[1].bytes, kept[1].size);
    assert_int_equal(x->last_refusal, PH_NET_REFUSAL_CHALLENGE); // its response
    stage_teardown(x);
}

// ---- clients that come back

static void a_client_comes_back_with_a_new_token(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    for (int round = 0; round < 5; ++round) {
        stage_join(x, 0);
        ph_net_client_send(x->clients[0], "back", 4);
        stage_deliver(x);
        assert_int_equal(x->server_payloads, round + 1);
        if (round % 2 == 0) {
            ph_net_client_disconnect(x->clients[0]);
        } else {
            ph_net_server_disconnect(x->server, 0);
        }
        stage_deliver(x);
        stage_expect_event(x, PH_NET_CONNECTED);
        stage_expect_event(x, PH_NET_DISCONNECTED);
    }
    stage_teardown(x);
}

// The client crashed and came back from another port, with another token: only after the timeout.
static void a_player_whose_old_connection_lives_waits_for_its_end(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    def.timeout_s = 5;
    ph_net_client* crashed = x->clients[0];
    ph_net_client_def client_def = ph_net_client_def_default();
    client_def.allocator = test_memory_allocator(&x->memory);
    assert_int_equal(ph_net_client_create(&client_def, &x->clients[0]), PH_OK);
    ph_net_client_destroy(crashed);
    stage_connect_with(x, 1, &def);
    stage_run(x, 1500);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_SENDING_REQUEST);
    stage_run(x, 1000);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

static void a_spent_token_is_good_again_unless_forbidden(void** state)
{
    (void)state;
    for (int forbids = 0; forbids < 2; ++forbids) {
        netcode_stage* x = stage_setup(2);
        x->server_def.refuses_spent_tokens = forbids;
        stage_remake_server(x);
        ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
        uint8_t token[PH_TOKEN_SIZE];
        assert_int_equal(ph_token_write(&def, token), PH_OK);
        for (int round = 0; round < 2; ++round) {
            ph_net_client_connect(x->clients[0], token, sizeof token, x->now_us);
            stage_deliver(x);
            assert_int_equal(stage_state(x, 0), round == 1 && forbids
                                                    ? PH_NET_CLIENT_SENDING_REQUEST
                                                    : PH_NET_CLIENT_CONNECTED);
            ph_net_client_disconnect(x->clients[0]);
            stage_deliver(x);
        }
        assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_USED), forbids);
        stage_teardown(x);
    }
}

// ---- events

// The event of its end was not taken, so the slot is not free yet: no event is ever lost.
static void a_slot_is_free_when_its_end_was_heard(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    stage_join(x, 0);
    ph_net_client_disconnect(x->clients[0]);
    stage_deliver(x);
    stage_connect(x, 1);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_DENIED);
    assert_int_equal(stage_expect_event(x, PH_NET_CONNECTED).client_id, STAGE_FIRST_ID);
    const ph_net_event event = stage_expect_event(x, PH_NET_DISCONNECTED);
    assert_int_equal(event.client_id, STAGE_FIRST_ID);
    assert_int_equal(event.user_data[0], STAGE_FIRST_ID & 0xFF);
    stage_join(x, 1);
    stage_teardown(x);
}

// ---- what is counted

static void everything_is_counted(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    ph_net_client_send(x->clients[0], "12345", 5);
    ph_net_server_send(x->server, 0, "123", 3);
    stage_deliver(x);
    ph_net_client_stats client = ph_net_client_get_stats(x->clients[0]);
    for (int after_end = 0; after_end < 2; ++after_end) {
        const ph_net_server_stats server = stats_of(x);
        assert_int_equal(server.client_count, 1 - after_end);
        assert_int_equal(server.connected_clients, 1);
        assert_int_equal(server.received_payloads, 1);
        assert_int_equal(server.sent_payloads, 1);
        assert_int_equal(server.received_datagrams, client.sent_datagrams);
        assert_int_equal(server.received_bytes, client.sent_bytes);
        assert_int_equal(server.sent_datagrams, client.received_datagrams);
        assert_int_equal(server.sent_bytes, client.received_bytes);
        assert_int_equal(server.disconnected_clients[PH_NET_END_CLIENT], after_end);
        ph_net_client_info info;
        assert_int_equal(ph_net_server_get_client(x->server, 0, &info), !after_end);
        assert_int_equal(info.received_packets, !after_end);
        assert_int_equal(info.received_bytes, after_end ? 0 : 23);
        ph_net_client_disconnect(x->clients[0]);
        x->queue_count = 1; // the others would be refused, and counted, too
        stage_deliver(x);
        client = ph_net_client_get_stats(x->clients[0]);
        client.sent_datagrams -= 9;
        client.sent_bytes -= 9 * 18;
    }
    stage_teardown(x);
}

static void names_are_short_and_there(void** state)
{
    (void)state;
    assert_string_equal(ph_net_end_name(PH_NET_END_TIMED_OUT), "timed_out");
    for (int i = 0; i <= PH_NET_END_COUNT; ++i) {
        assert_true(strlen(ph_net_end_name((ph_net_end)i)) > 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replayed_packet_is_refused),
        cmocka_unit_test(a_changed_packet_is_refused_and_does_not_keep_alive),
        cmocka_unit_test(a_packet_from_another_address_is_refused),
        cmocka_unit_test(a_client_cannot_send_what_only_servers_send),
        cmocka_unit_test(an_idle_connection_lives_on_ten_keep_alives_a_second),
        cmocka_unit_test(keep_alives_may_be_rarer),
        cmocka_unit_test(payloads_make_keep_alives_needless),
        cmocka_unit_test(payloads_come_with_a_keep_alive_until_confirmed),
        cmocka_unit_test(a_silent_client_times_out),
        cmocka_unit_test(without_a_timeout_silence_ends_nothing),
        cmocka_unit_test(clocks_that_jump_end_no_connection),
        cmocka_unit_test(a_client_that_leaves_is_gone_at_once),
        cmocka_unit_test(what_a_leaving_client_sends_is_counted),
        cmocka_unit_test(a_player_that_fell_silent_comes_anew),
        cmocka_unit_test(its_own_request_played_again_ends_nothing),
        cmocka_unit_test(it_comes_anew_from_the_same_address),
        cmocka_unit_test(a_player_that_speaks_is_not_replaced),
        cmocka_unit_test(another_player_replaces_no_one),
        cmocka_unit_test(a_full_server_has_room_for_a_player_that_comes_anew),
        cmocka_unit_test(one_disconnect_packet_of_ten_is_enough),
        cmocka_unit_test(all_are_told_when_the_server_stops),
        cmocka_unit_test(a_restart_does_not_repeat_sequence_numbers),
        cmocka_unit_test(a_challenge_does_not_outlive_a_restart),
        cmocka_unit_test(a_client_comes_back_with_a_new_token),
        cmocka_unit_test(a_player_whose_old_connection_lives_waits_for_its_end),
        cmocka_unit_test(a_spent_token_is_good_again_unless_forbidden),
        cmocka_unit_test(a_slot_is_free_when_its_end_was_heard),
        cmocka_unit_test(everything_is_counted),
        cmocka_unit_test(names_are_short_and_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
