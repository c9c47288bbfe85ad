// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client's states, by the numbers of the standard, and the ways between them.

#include "netcode_stage.h"
#include "net/netcode_packet.h"

#include <string.h>

// Loses packets of one type; with -1, requests; with 0, nothing.
static int lost_type;

static bool lose_type(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    const int type = datagram->bytes[0] == 0 ? -1 : datagram->bytes[0] & 15;
    return type != lost_type;
}

static void begin_losing(netcode_stage* x, int type)
{
    lost_type = type;
    x->filter = lose_type;
}

// Where no server is.
static ph_address nowhere(void)
{
    return stage_address("10.0.0.9:40000");
}

static void states_have_the_numbers_of_the_standard(void** state)
{
    (void)state;
    assert_int_equal(PH_NET_CLIENT_TOKEN_EXPIRED, -6);
    assert_int_equal(PH_NET_CLIENT_INVALID_TOKEN, -5);
    assert_int_equal(PH_NET_CLIENT_TIMED_OUT, -4);
    assert_int_equal(PH_NET_CLIENT_RESPONSE_TIMED_OUT, -3);
    assert_int_equal(PH_NET_CLIENT_REQUEST_TIMED_OUT, -2);
    assert_int_equal(PH_NET_CLIENT_DENIED, -1);
    assert_int_equal(PH_NET_CLIENT_DISCONNECTED, 0);
    assert_int_equal(PH_NET_CLIENT_SENDING_REQUEST, 1);
    assert_int_equal(PH_NET_CLIENT_SENDING_RESPONSE, 2);
    assert_int_equal(PH_NET_CLIENT_CONNECTED, 3);
    for (int i = -6; i <= 4; ++i) {
        assert_true(strlen(ph_net_client_state_text((ph_net_client_state)i)) > 3);
    }
}

static void it_begins_disconnected(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DISCONNECTED);
    assert_int_equal(ph_net_client_index(x->clients[0]), -1);
    assert_int_equal(ph_net_client_server(x->clients[0]).kind, PH_ADDRESS_NONE);
    assert_false(ph_net_client_send(x->clients[0], "x", 1));
    ph_net_client_disconnect(x->clients[0]);
    ph_net_client_tick(x->clients[0], 1000000000);
    assert_int_equal(stage_hand_to_client(x, 0, "x", 1), PH_NET_REFUSAL_STOPPED);
    assert_int_equal(x->queue_count, 0);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DISCONNECTED);
    stage_teardown(x);
}

static void requests_and_responses_go_out_ten_times_a_second(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    begin_losing(x, -1);
    stage_connect(x, 0);
    ph_net_client_stats before;
    ph_net_client_stats after;
    before = ph_net_client_get_stats(x->clients[0]);
    assert_int_equal(before.sent_datagrams, 1); // at once
    stage_run(x, 1000);
    after = ph_net_client_get_stats(x->clients[0]);
    assert_int_equal(after.sent_datagrams - before.sent_datagrams, 10);
    assert_int_equal(after.sent_bytes, 11 * 1078);

    lost_type = PH_NETCODE_RESPONSE;
    stage_run(x, 100);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    before = ph_net_client_get_stats(x->clients[0]);
    stage_run(x, 1000);
    after = ph_net_client_get_stats(x->clients[0]);
    assert_int_equal(after.sent_datagrams - before.sent_datagrams, 10);
    stage_teardown(x);
}

// ---- ways to fail

static void a_bad_token_is_invalid(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    uint8_t token[PH_TOKEN_SIZE] = {0};
    ph_net_client_connect(x->clients[0], token, sizeof token, x->now_us);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_INVALID_TOKEN);
    ph_net_client_connect(x->clients[0], token, 3, x->now_us);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_INVALID_TOKEN);
    stage_run(x, 5000);
    ph_net_client_disconnect(x->clients[0]);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_INVALID_TOKEN);
    assert_int_equal(x->queue_count, 0);
    stage_teardown(x);
}

static void without_an_answer_the_request_times_out(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    begin_losing(x, -1);
    stage_connect(x, 0);
    stage_run(x, 1990);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
    stage_run(x, 10);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_REQUEST_TIMED_OUT);
    stage_teardown(x);
}

static void without_an_answer_the_response_times_out(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    begin_losing(x, PH_NETCODE_RESPONSE);
    stage_connect(x, 0);
    stage_deliver(x);
    stage_run(x, 1990);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    stage_run(x, 10);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_RESPONSE_TIMED_OUT);
    stage_teardown(x);
}

static bool lose_all(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    (void)datagram;
    return false;
}

static void a_silent_server_times_out(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    stage_join(x, 0);
    x->filter = lose_all;
    stage_run(x, 1990);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    stage_run(x, 10);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_TIMED_OUT);
    assert_int_equal(ph_net_client_index(x->clients[0]), -1);
    assert_int_equal(ph_net_client_max_clients(x->clients[0]), 0);
    stage_teardown(x);
}

// As after a debugger's stop: time has passed, and the server has gone on talking.
static void what_waited_while_the_client_stood_still_has_come_now(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    ph_net_client_stats before;
    ph_net_client_stats after;
    stage_join(x, 0);
    ph_net_server_send(x->server, 0, "x", 1);
    before = ph_net_client_get_stats(x->clients[0]);
    x->now_us += 5000000;
    ph_net_client_advance(x->clients[0], x->now_us);
    ph_net_client_advance(x->clients[0], 0); // a clock that goes back stands still
    after = ph_net_client_get_stats(x->clients[0]);
    assert_int_equal(after.sent_datagrams, before.sent_datagrams);
    stage_deliver(x);
    assert_int_equal(x->client_payloads, 1);
    ph_net_client_tick(x->clients[0], x->now_us);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

static void a_stall_with_nothing_waiting_is_a_silence(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    stage_join(x, 0);
    x->now_us += 5000000;
    ph_net_client_advance(x->clients[0], x->now_us);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    ph_net_client_tick(x->clients[0], x->now_us);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_TIMED_OUT);
    stage_teardown(x);
}

static void a_token_expires_while_connecting(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    begin_losing(x, -1);
    ph_token_def def = stage_token_def(x, 1);
    def.lifetime_s = 3;
    def.timeout_s = 10;
    def.addresses[1] = nowhere();
    def.address_count = 2;
    def.create_s = 12; // its clock need not be ours
    stage_connect_with(x, 0, &def);
    stage_run(x, 2990);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
    stage_run(x, 10);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_TOKEN_EXPIRED);
    stage_teardown(x);
}

static void a_token_may_expire_while_connected(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    ph_token_def def = stage_token_def(x, 1);
    def.lifetime_s = 1;
    stage_connect_with(x, 0, &def);
    stage_deliver(x);
    x->unix_s += 100;
    stage_run(x, 5000);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    stage_teardown(x);
}

// ---- several servers

static void a_server_that_does_not_answer_is_passed_over(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    ph_token_def def = stage_token_def(x, 1);
    def.addresses[2] = def.addresses[0];
    def.addresses[0] = nowhere();
    def.addresses[1] = stage_address("[::1]:7");
    def.address_count = 3;
    stage_connect_with(x, 0, &def);
    stage_run(x, 1990);
    ph_address server = ph_net_client_server(x->clients[0]);
    assert_true(ph_address_is_equal(&server, &def.addresses[0]));
    stage_run(x, 2000);
    server = ph_net_client_server(x->clients[0]);
    assert_true(ph_address_is_equal(&server, &def.addresses[1]));
    stage_run(x, 20);
    server = ph_net_client_server(x->clients[0]);
    assert_true(ph_address_is_equal(&server, &def.addresses[2]));
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    ph_net_client_send(x->clients[0], "here", 4);
    stage_deliver(x);
    assert_int_equal(x->server_payloads, 1);
    stage_teardown(x);
}

static void after_the_last_server_the_last_failure_stands(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    stage_join(x, 0);
    ph_token_def def = stage_token_def(x, 1);
    def.addresses[1] = nowhere();
    def.address_count = 2;
    stage_connect_with(x, 1, &def); // full, then silent
    stage_deliver(x);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_SENDING_REQUEST);
    stage_run(x, 2000);
    assert_int_equal(stage_state(x, 1), PH_NET_CLIENT_REQUEST_TIMED_OUT);

    def = stage_token_def(x, 2);
    def.addresses[1] = def.addresses[0];
    def.addresses[0] = nowhere();
    def.address_count = 2;
    stage_connect_with(x, 2, &def); // silent, then full
    stage_run(x, 2100);
    assert_int_equal(stage_state(x, 2), PH_NET_CLIENT_DENIED);
    stage_teardown(x);
}

enum { RESPONSES_MAX = 64 };
static uint64_t response_sequences[RESPONSES_MAX];
static int response_count;
static bool are_responses_lost;

static bool note_responses(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    if ((datagram->bytes[0] & 15) == PH_NETCODE_RESPONSE && response_count < RESPONSES_MAX) {
        ph_netcode_opened peeked;
        assert_int_equal(ph_netcode_peek(datagram->bytes, datagram->size, &peeked),
                         PH_NET_REFUSAL_NONE);
        response_sequences[response_count++] = peeked.sequence;
    }
    return !are_responses_lost || (datagram->bytes[0] & 15) != PH_NETCODE_RESPONSE;
}

// From server to server the key stays, so the numbers go on.
static void no_sequence_number_is_used_for_two_servers(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    ph_token_def def = stage_token_def(x, 1);
    def.addresses[1] = def.addresses[0];
    def.address_count = 2;
    def.timeout_s = 1;
    response_count = 0;
    are_responses_lost = true;
    x->filter = note_responses;
    stage_connect_with(x, 0, &def);
    stage_deliver(x);
    stage_run(x, 1500);
    assert_true(response_count > 12); // ten for the first, and some for the second
    for (int i = 0; i < response_count; ++i) {
        assert_int_equal(response_sequences[i], i);
    }
    stage_teardown(x);
}

// Its token may be one that was used before.
static void a_new_connection_goes_on_counting(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    response_count = 0;
    are_responses_lost = false;
    x->filter = note_responses;
    for (int round = 0; round < 2; ++round) {
        stage_join(x, 0);
        ph_net_client_send(x->clients[0], "x", 1);
        ph_net_client_disconnect(x->clients[0]);
        stage_deliver(x);
    }
    assert_int_equal(response_count, 2);
    assert_int_equal(response_sequences[0], 0);
    assert_int_equal(response_sequences[1], 12); // a payload and ten disconnects were between
    stage_teardown(x);
}

// ---- what is ignored

static void packets_from_others_are_ignored(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    stage_join(x, 0);
    ph_net_server_send(x->server, 0, "x", 1);
    stage_datagram payload = x->queue[1];
    x->queue_count = 0;
    ph_net_payload received;
    const ph_address other = stage_address("10.0.0.1:40001");
    assert_int_equal(
        ph_net_client_receive(x->clients[0], &other, payload.bytes, payload.size, &received),
        PH_NET_REFUSAL_ADDRESS);
    assert_int_equal(received.size, 0);
    assert_int_equal(stage_hand_to_client(x, 0, payload.bytes, payload.size), PH_NET_REFUSAL_NONE);
    assert_int_equal(stage_hand_to_client(x, 0, payload.bytes, payload.size),
                     PH_NET_REFUSAL_REPLAYED);
    const ph_net_client_stats stats = ph_net_client_get_stats(x->clients[0]);
    assert_int_equal(stats.refused_datagrams[PH_NET_REFUSAL_ADDRESS], 1);
    assert_int_equal(stats.refused_datagrams[PH_NET_REFUSAL_REPLAYED], 1);
    assert_int_equal(stats.received_payloads, 1);
    stage_teardown(x);
}

static void no_byte_from_the_server_can_be_changed(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    stage_join(x, 0);
    ph_net_server_send(x->server, 0, "secret", 6);
    stage_datagram payload = x->queue[1];
    x->queue_count = 0;
    for (size_t i = 0; i < payload.size; ++i) {
        payload.bytes[i] ^= 0x08;
        assert_int_not_equal(stage_hand_to_client(x, 0, payload.bytes, payload.size),
                             PH_NET_REFUSAL_NONE);
        payload.bytes[i] ^= 0x08;
    }
    assert_int_equal(x->client_payloads, 0);
    assert_int_equal(stage_hand_to_client(x, 0, payload.bytes, payload.size), PH_NET_REFUSAL_NONE);
    stage_teardown(x);
}

// Packets of every type, made with the server's key, in each of the three states.
static ph_net_refusal hand_genuine(netcode_stage* x, const ph_token* token, ph_netcode_type type,
                                   uint64_t sequence)
{
    static const uint8_t data[308] = {0, 0, 0, 0, 1}; // as keep-alive: client 0 of 1
    static const size_t sizes[] = {0, 0, 308, 308, 8, 4, 0};
    const ph_netcode_lock lock = {
        .protocol_id = token->protocol_id,
        .key = token->secrets.server_to_client_key,
    };
    uint8_t packet[PH_NETCODE_DATAGRAM_MAX];
    const size_t size = ph_netcode_seal(&lock, type, sequence, data, sizes[type], packet);
    return stage_hand_to_client(x, 0, packet, size);
}

static void connect_with_token(netcode_stage* x, ph_token* token)
{
    const ph_token_def def = stage_token_def(x, 1);
    uint8_t bytes[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, bytes), PH_OK);
    assert_int_equal(ph_token_read(bytes, sizeof bytes, token), PH_TOKEN_GOOD);
    ph_net_client_connect(x->clients[0], bytes, sizeof bytes, x->now_us);
}

static void each_state_ignores_what_does_not_belong_there(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    x->filter = lose_all;
    ph_token token;
    connect_with_token(x, &token);
    const ph_net_refusal none = PH_NET_REFUSAL_NONE;
    const ph_net_refusal ignored = PH_NET_REFUSAL_STATE;
    uint64_t sequence = 0;
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_RESPONSE, sequence++), PH_NET_REFUSAL_TYPE);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_KEEP_ALIVE, sequence++), ignored);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_PAYLOAD, sequence++), ignored);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_DISCONNECT, sequence++), ignored);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);

    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_CHALLENGE, sequence++), none);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_CHALLENGE, sequence++), ignored);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_PAYLOAD, sequence++), ignored);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_DISCONNECT, sequence++), ignored);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);

    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_KEEP_ALIVE, sequence++), none);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_CHALLENGE, sequence++), ignored);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_DENIED, sequence++), ignored);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_KEEP_ALIVE, sequence++), none);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_PAYLOAD, sequence++), none);
    assert_int_equal(x->client_payloads, 1);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_DISCONNECT, sequence++), none);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DISCONNECTED);
    stage_teardown(x);
}

static void a_denial_ends_request_and_response(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    x->filter = lose_all;
    ph_token token;
    connect_with_token(x, &token);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_DENIED, 0), PH_NET_REFUSAL_NONE);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DENIED);
    connect_with_token(x, &token);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_CHALLENGE, 0), PH_NET_REFUSAL_NONE);
    assert_int_equal(hand_genuine(x, &token, PH_NETCODE_DENIED, 1), PH_NET_REFUSAL_NONE);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DENIED);
    stage_teardown(x);
}

// ---- leaving

static void leaving_tells_the_server_in_every_state(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    stage_connect(x, 0);
    x->queue_count = 0;
    ph_net_client_disconnect(x->clients[0]);
    assert_int_equal(x->queue_count, 10);
    x->queue_count = 0;
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_DISCONNECTED);

    // Already connected at the server, which has not come through yet.
    begin_losing(x, PH_NETCODE_KEEP_ALIVE);
    stage_connect(x, 0);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_RESPONSE);
    ph_net_client_disconnect(x->clients[0]);
    stage_deliver(x);
    stage_expect_event(x, PH_NET_CONNECTED);
    assert_int_equal(stage_expect_event(x, PH_NET_DISCONNECTED).end, PH_NET_END_CLIENT);
    stage_teardown(x);
}

static void connecting_again_leaves_first(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    stage_expect_event(x, PH_NET_CONNECTED);
    const ph_token_def def = stage_token_def(x, 50);
    stage_connect_with(x, 0, &def);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(stage_expect_event(x, PH_NET_DISCONNECTED).end, PH_NET_END_CLIENT);
    assert_int_equal(stage_expect_event(x, PH_NET_CONNECTED).client_id, 50);
    stage_teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_have_the_numbers_of_the_standard),
        cmocka_unit_test(it_begins_disconnected),
        cmocka_unit_test(requests_and_responses_go_out_ten_times_a_second),
        cmocka_unit_test(a_bad_token_is_invalid),
        cmocka_unit_test(without_an_answer_the_request_times_out),
        cmocka_unit_test(without_an_answer_the_response_times_out),
        cmocka_unit_test(a_silent_server_times_out),
        cmocka_unit_test(what_waited_while_the_client_stood_still_has_come_now),
        cmocka_unit_test(a_stall_with_nothing_waiting_is_a_silence),
        cmocka_unit_test(a_token_expires_while_connecting),
        cmocka_unit_test(a_token_may_expire_while_connected),
        cmocka_unit_test(a_server_that_does_not_answer_is_passed_over),
        cmocka_unit_test(after_the_last_server_the_last_failure_stands),
        cmocka_unit_test(no_sequence_number_is_used_for_two_servers),
        cmocka_unit_test(a_new_connection_goes_on_counting),
        cmocka_unit_test(packets_from_others_are_ignored),
        cmocka_unit_test(no_byte_from_the_server_can_be_changed),
        cmocka_unit_test(each_state_ignores_what_does_not_belong_there),
        cmocka_unit_test(a_denial_ends_request_and_response),
        cmocka_unit_test(leaving_tells_the_server_in_every_state),
        cmocka_unit_test(connecting_again_leaves_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
