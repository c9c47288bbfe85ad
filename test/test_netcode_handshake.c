// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How a client connects, and every sender that does not.

#include "netcode_stage.h"

#include "net/netcode_private.h"
#include "net/netcode_packet.h"

#include <string.h>

// A request made by hand, with whatever it takes to be refused.
typedef struct made_request {
    uint8_t bytes[PH_NETCODE_REQUEST_SIZE];
    ph_token token;
} made_request;

static made_request make_request(const ph_token_def* def)
{
    made_request it = {.bytes = {0}};
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(def, token), PH_OK);
    assert_int_equal(ph_token_read(token, sizeof token, &it.token), PH_TOKEN_GOOD);
    memcpy(it.bytes + 1, token, 13 + 8);
    memcpy(it.bytes + 22, token + 29, 8 + 24 + 1024); // without the time of creation
    return it;
}

// One that the server takes.
static made_request make_good_request(const netcode_stage* x, uint64_t client_id)
{
    const ph_token_def def = stage_token_def(x, client_id);
    return make_request(&def);
}

static ph_net_refusal request_from(netcode_stage* x, const char* from, const made_request* it)
{
    const ph_address address = stage_address(from);
    return stage_hand_to_server(x, &address, it->bytes, sizeof it->bytes);
}

static ph_net_refusal request_with(netcode_stage* x, const ph_token_def* def)
{
    const made_request it = make_request(def);
    return request_from(x, "10.9.9.9:1", &it);
}

// Answers the challenge that is the last in the queue.
static size_t make_response(netcode_stage* x, const ph_token* token, uint64_t sequence,
                            uint8_t response[PH_NETCODE_DATAGRAM_MAX])
{
    stage_datagram challenge = x->queue[x->queue_count - 1];
    ph_netcode_lock lock = {
        .protocol_id = token->protocol_id,
        .key = token->secrets.server_to_client_key,
    };
    ph_netcode_opened opened;
    assert_int_equal(ph_netcode_open(&lock, NULL, challenge.bytes, challenge.size, &opened),
                     PH_NET_REFUSAL_NONE);
    assert_int_equal(opened.type, PH_NETCODE_CHALLENGE);
    lock.key = token->secrets.client_to_server_key;
    return ph_netcode_seal(&lock, PH_NETCODE_RESPONSE, sequence, opened.data, opened.data_size,
                           response);
}

// A client at 10.9.9.9:1 that was sent a challenge, and its response.
typedef struct candidate {
    ph_address from;
    made_request request;
    uint8_t response[PH_NETCODE_DATAGRAM_MAX];
    size_t response_size;
} candidate;

static candidate make_candidate(netcode_stage* x, uint64_t client_id, uint64_t sequence)
{
    candidate it = {
        .from = stage_address("10.9.9.9:1"),
        .request = make_good_request(x, client_id),
    };
    assert_int_equal(request_from(x, "10.9.9.9:1", &it.request), PH_NET_REFUSAL_NONE);
    it.response_size = make_response(x, &it.request.token, sequence, it.response);
    return it;
}

static ph_net_refusal respond(netcode_stage* x, const candidate* it)
{
    return stage_hand_to_server(x, &it->from, it->response, it->response_size);
}

static void a_token_leads_to_a_connection(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(4);
    stage_connect(x, 0);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    assert_int_equal(ph_net_client_index(x->clients[0]), 0);
    assert_int_equal(ph_net_client_max_clients(x->clients[0]), 4);

    const ph_net_event event = stage_expect_event(x, PH_NET_CONNECTED);
    assert_int_equal(event.client, 0);
    assert_int_equal(event.client_id, STAGE_FIRST_ID);
    const ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    assert_memory_equal(event.user_data, def.user_data, sizeof def.user_data);
    stage_expect_no_event(x);
    ph_net_client_info info;
    assert_true(ph_net_server_get_client(x->server, 0, &info));
    assert_int_equal(info.client_id, STAGE_FIRST_ID);
    assert_true(ph_address_is_equal(&info.address, &x->ports[0].address));
    stage_teardown(x);
}

// The sequence number of the last datagram in the queue.
static uint64_t last_sequence(const netcode_stage* x)
{
    const stage_datagram* last = &x->queue[x->queue_count - 1];
    ph_netcode_opened peeked;
    assert_int_equal(ph_netcode_peek(last->bytes, last->size, &peeked), PH_NET_REFUSAL_NONE);
    return peeked.sequence;
}

// The attack: a man in the middle sends the client's request to a second server that its token
// names, or to the same one after a restart, until both have sealed two challenges with the same key
// and number. These give away the key of Poly1305, and packets from the server can be forged.
static void challenges_of_two_servers_never_have_a_number_in_common(void** state)
{
    (void)state;
    enum { CHALLENGES = 64 };
    netcode_stage* x = stage_setup(4);
    const made_request it = make_good_request(x, STAGE_FIRST_ID);
    uint64_t sequences[2][CHALLENGES];
    for (int start = 0; start < 2; ++start) {
        for (int i = 0; i < CHALLENGES; ++i) {
            assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_NONE);
            sequences[start][i] = last_sequence(x);
            assert_true(sequences[start][i] >> 63 == 1); // never one of a connection
            x->now_us += 100000;
            ph_net_server_tick(x->server, x->now_us, x->unix_s);
        }
        stage_remake_server(x);
    }
    for (int i = 0; i < CHALLENGES; ++i) {
        for (int k = 0; k < CHALLENGES; ++k) {
            assert_true(sequences[0][i] != sequences[1][k]);
        }
    }
    stage_teardown(x);
}

static void payloads_go_both_ways(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(4);
    stage_join(x, 2);
    uint8_t payload[PH_NETCODE_PAYLOAD_MAX];
    for (size_t size = 1; size <= sizeof payload; size += 109) {
        memset(payload, (int)size, size);
        assert_true(ph_net_client_send(x->clients[2], payload, size));
        stage_deliver(x);
        assert_int_equal(x->last.size, size);
        assert_int_equal(x->last.client, 0);
        assert_int_equal(x->last.sequence, x->server_payloads); // 0 was the response
        assert_memory_equal(x->last.bytes, payload, size);

        memset(payload, (int)size + 1, size);
        assert_true(ph_net_server_send(x->server, 0, payload, size));
        stage_deliver(x);
        assert_int_equal(x->last.size, size);
        assert_memory_equal(x->last.bytes, payload, size);
    }
    assert_int_equal(x->server_payloads, 12);
    assert_int_equal(x->client_payloads, 12);
    stage_teardown(x);
}

// ---- requests that are refused

static void a_request_of_another_size_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    const made_request it = make_good_request(x, 1);
    const ph_address from = stage_address("10.9.9.9:1");
    uint8_t longer[PH_NETCODE_REQUEST_SIZE + 1] = {0};
    memcpy(longer, it.bytes, sizeof it.bytes);
    for (size_t size = 0; size < sizeof it.bytes; ++size) {
        assert_int_equal(stage_hand_to_server(x, &from, it.bytes, size), PH_NET_REFUSAL_SIZE);
    }
    assert_int_equal(stage_hand_to_server(x, &from, longer, sizeof longer), PH_NET_REFUSAL_SIZE);
    assert_int_equal(x->queue_count, 0);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_SIZE), sizeof it.bytes + 1);
    stage_teardown(x);
}

static void a_request_of_another_version_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    made_request it = make_good_request(x, 1);
    it.bytes[12] = '1'; // NETCODE 1.01
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_VERSION);
    stage_teardown(x);
}

static void a_token_of_another_protocol_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    ph_token_def def = stage_token_def(x, 1);
    ++def.protocol_id;
    assert_int_equal(request_with(x, &def), PH_NET_REFUSAL_PROTOCOL);
    // With another number written over it, the tag is wrong.
    made_request it = make_request(&def);
    it.bytes[14] = (uint8_t)STAGE_PROTOCOL;
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_TOKEN_SEAL);
    stage_teardown(x);
}

static void an_expired_token_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    ph_token_def def = stage_token_def(x, 1);
    x->unix_s += def.lifetime_s - 1;
    ph_net_server_tick(x->server, x->now_us, x->unix_s);
    assert_int_equal(request_with(x, &def), PH_NET_REFUSAL_NONE);
    ph_net_server_tick(x->server, x->now_us, ++x->unix_s);
    assert_int_equal(request_with(x, &def), PH_NET_REFUSAL_EXPIRED);
    // Nor can its owner make it younger.
    made_request it = make_request(&def);
    ++it.bytes[22];
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_TOKEN_SEAL);
    stage_teardown(x);
}

// The attack: the clock of the server is set back, and a recorded request of an hour ago comes again.
static void a_clock_set_back_revives_no_token(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    const made_request it = make_good_request(x, 1);
    const uint64_t before_s = x->unix_s;
    ph_net_server_tick(x->server, x->now_us, before_s + 3600);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_EXPIRED);
    ph_net_server_tick(x->server, x->now_us, before_s);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_EXPIRED);
    ph_net_server_stop(x->server);
    ph_net_server_start(x->server, x->now_us, before_s);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_EXPIRED);
    stage_teardown(x);
}

static void a_token_without_time_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    ph_token_def def = stage_token_def(x, 1);
    def.timeout_s = 0;
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_ERROR_ARGUMENT);
    // One of another maker.
    def.timeout_s = 1;
    made_request it = make_request(&def);
    const ph_token_seal seal = {
        .protocol_id = def.protocol_id,
        .expire_s = def.create_s + def.lifetime_s,
        .nonce = it.token.secrets.nonce,
        .key = def.private_key,
    };
    ph_token_private sealed;
    assert_int_equal(ph_token_private_open(it.token.sealed, &seal, &sealed), PH_NET_REFUSAL_NONE);
    sealed.timeout_s = 0;
    ph_token_private_seal(&sealed, &seal, it.bytes + sizeof it.bytes - PH_TOKEN_PRIVATE_SIZE);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_TOKEN_DATA);
    sealed.timeout_s = -1; // for ever, as the standard has it
    ph_token_private_seal(&sealed, &seal, it.bytes + sizeof it.bytes - PH_TOKEN_PRIVATE_SIZE);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_NONE);
    stage_teardown(x);
}

static void a_token_sealed_with_another_key_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    ph_token_def def = stage_token_def(x, 1);
    def.private_key[0] ^= 1;
    assert_int_equal(request_with(x, &def), PH_NET_REFUSAL_TOKEN_SEAL);
    stage_teardown(x);
}

static void no_byte_of_a_request_can_be_changed(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    made_request it = make_good_request(x, 1);
    const ph_address from = stage_address("10.9.9.9:1");
    for (size_t i = 0; i < sizeof it.bytes; ++i) {
        for (int bit = 0; bit < 8; bit += 3) {
            it.bytes[i] ^= (uint8_t)(1 << bit);
            assert_int_not_equal(stage_hand_to_server(x, &from, it.bytes, sizeof it.bytes),
                                 PH_NET_REFUSAL_NONE);
            it.bytes[i] ^= (uint8_t)(1 << bit);
        }
    }
    assert_int_equal(x->queue_count, 0);
    const ph_net_server_stats stats = ph_net_server_get_stats(x->server);
    assert_int_equal(stats.pending_count, 0);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_NONE);
    stage_teardown(x);
}

static void a_token_for_other_servers_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    ph_token_def def = stage_token_def(x, 1);
    def.addresses[0] = stage_address("10.0.0.1:40001");
    def.addresses[1] = stage_address("10.0.0.3:40000");
    def.address_count = 2;
    assert_int_equal(request_with(x, &def), PH_NET_REFUSAL_TOKEN_SERVER);
    def.addresses[1] = x->server_port.address;
    assert_int_equal(request_with(x, &def), PH_NET_REFUSAL_NONE);
    stage_teardown(x);
}

static void a_server_may_have_several_addresses(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    x->server_def.addresses[1] = stage_address("[2001:db8::1]:40000");
    x->server_def.address_count = 2;
    stage_remake_server(x);
    ph_token_def def = stage_token_def(x, 1);
    def.addresses[0] = x->server_def.addresses[1];
    assert_int_equal(request_with(x, &def), PH_NET_REFUSAL_NONE);
    stage_teardown(x);
}

static void a_token_serves_one_address_only(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    const made_request it = make_good_request(x, 1);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_NONE);
    assert_int_equal(request_from(x, "10.9.9.9:2", &it), PH_NET_REFUSAL_TOKEN_USED);
    assert_int_equal(request_from(x, "10.9.9.8:1", &it), PH_NET_REFUSAL_TOKEN_USED);
    assert_int_equal(request_from(x, "[::1]:1", &it), PH_NET_REFUSAL_TOKEN_USED);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_NONE);
    stage_teardown(x);
}

static void a_connected_address_cannot_connect_again(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    const made_request it = make_good_request(x, 2);
    assert_int_equal(stage_hand_to_server(x, &x->ports[0].address, it.bytes, sizeof it.bytes),
                     PH_NET_REFUSAL_ADDRESS_CONNECTED);
    assert_int_equal(x->queue_count, 0);
    stage_teardown(x);
}

static void a_connected_player_cannot_connect_again(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    // Both asked before either was in: only the first response counts.
    const candidate it = make_candidate(x, STAGE_FIRST_ID, 0);
    x->queue_count = 0;
    stage_join(x, 0);
    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_CLIENT_CONNECTED);
    // And a request now does not get a challenge.
    const made_request late = make_good_request(x, STAGE_FIRST_ID);
    assert_int_equal(request_from(x, "10.9.9.9:2", &late), PH_NET_REFUSAL_CLIENT_CONNECTED);
    assert_int_equal(x->queue_count, 0);
    stage_teardown(x);
}

static void a_full_server_denies(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    stage_join(x, 0);
    stage_join(x, 1);
    stage_connect(x, 2);
    stage_deliver(x);
    assert_int_equal(stage_state(x, 2), PH_NET_CLIENT_DENIED);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_FULL), 1);
    stage_teardown(x);
}

// The last slot went to another client between challenge and response.
static void a_response_to_a_full_server_is_denied(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    const candidate it = make_candidate(x, 1, 0);
    x->queue_count = 0;
    stage_join(x, 0);
    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_FULL);
    assert_int_equal(x->queue_count, 1);
    assert_int_equal(x->queue[0].bytes[0] & 15, PH_NETCODE_DENIED);
    stage_teardown(x);
}

static void more_requests_than_allowed_are_not_opened(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    x->server_def.requests_per_second = 100;
    stage_remake_server(x);
    ph_token_def def = stage_token_def(x, 1);
    def.private_key[0] ^= 1;
    const made_request forged = make_request(&def);
    for (int i = 0; i < 1000; ++i) {
        request_from(x, "10.9.9.9:1", &forged);
    }
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_SEAL), 100);
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_BUSY), 900);
    // A tenth of a second later, a tenth of them.
    x->now_us += 100000;
    ph_net_server_tick(x->server, x->now_us, x->unix_s);
    for (int i = 0; i < 20; ++i) {
        request_from(x, "10.9.9.9:1", &forged);
    }
    assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_SEAL), 110);
    // After an hour and half a second more, or after an age, those of one second.
    static const uint64_t waits_us[2][2] = {{UINT64_C(3600000000), 500000}, {UINT64_C(1) << 62, 0}};
    for (int wait = 0; wait < 2; ++wait) {
        for (int part = 0; part < 2; ++part) {
            x->now_us += waits_us[wait][part];
            ph_net_server_tick(x->server, x->now_us, x->unix_s);
        }
        for (int i = 0; i < 1000; ++i) {
            request_from(x, "10.9.9.9:1", &forged);
        }
        assert_int_equal(stage_refused(x, PH_NET_REFUSAL_TOKEN_SEAL), 110 + 100 * (wait + 1));
    }
    stage_teardown(x);
}

// ---- responses that are refused

static void a_response_without_a_request_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    uint8_t response[400] = {0x13};
    const ph_address from = stage_address("10.9.9.9:1");
    assert_int_equal(stage_hand_to_server(x, &from, response, sizeof response),
                     PH_NET_REFUSAL_ADDRESS);
    stage_teardown(x);
}

static void other_packets_before_the_response_are_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    const made_request it = make_good_request(x, 1);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it), PH_NET_REFUSAL_NONE);
    const ph_address from = stage_address("10.9.9.9:1");
    const ph_netcode_lock lock = {
        .protocol_id = STAGE_PROTOCOL,
        .key = it.token.secrets.client_to_server_key,
    };
    static const uint8_t data[308];
    static const size_t sizes[] = {0, 0, 308, 308, 8, 5, 0};
    static const ph_net_refusal expected[] = {
        [PH_NETCODE_DENIED] = PH_NET_REFUSAL_TYPE,
        [PH_NETCODE_CHALLENGE] = PH_NET_REFUSAL_TYPE,
        [PH_NETCODE_RESPONSE] = PH_NET_REFUSAL_CHALLENGE, // sealed by the client, but no challenge
        [PH_NETCODE_KEEP_ALIVE] = PH_NET_REFUSAL_STATE,
        [PH_NETCODE_PAYLOAD] = PH_NET_REFUSAL_STATE,
        [PH_NETCODE_DISCONNECT] = PH_NET_REFUSAL_STATE,
    };
    for (int type = PH_NETCODE_DENIED; type < PH_NETCODE_TYPE_COUNT; ++type) {
        uint8_t packet[PH_NETCODE_DATAGRAM_MAX];
        const size_t size =
            ph_netcode_seal(&lock, (ph_netcode_type)type, 0, data, sizes[type], packet);
        assert_int_equal(stage_hand_to_server(x, &from, packet, size), expected[type]);
    }
    assert_int_equal(x->server_payloads, 0);
    stage_expect_no_event(x);
    stage_teardown(x);
}

static void no_byte_of_a_response_can_be_changed(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    candidate it = make_candidate(x, 1, 300);
    for (size_t i = 0; i < it.response_size; ++i) {
        it.response[i] ^= 0x20;
        assert_int_not_equal(respond(x, &it), PH_NET_REFUSAL_NONE);
        it.response[i] ^= 0x20;
    }
    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_NONE);
    stage_expect_event(x, PH_NET_CONNECTED);
    stage_teardown(x);
}

// An attacker has recorded a whole handshake, and repeats it under the same address after the end
// of that connection. The token would do once more; the answer to an old challenge does not.
static void a_recorded_handshake_is_of_no_use(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    const candidate it = make_candidate(x, 1, 0);
    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_NONE);
    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_ADDRESS_CONNECTED);
    ph_net_server_disconnect(x->server, stage_expect_event(x, PH_NET_CONNECTED).client);
    stage_expect_event(x, PH_NET_DISCONNECTED);

    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_ADDRESS);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it.request), PH_NET_REFUSAL_NONE);
    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_CHALLENGE);
    stage_expect_no_event(x);
    stage_teardown(x);
}

// Any of the challenges since its first request will do: answers overtake each other.
static void an_answer_to_an_earlier_challenge_will_do(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    const candidate it = make_candidate(x, 1, 0);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it.request), PH_NET_REFUSAL_NONE);
    assert_int_equal(request_from(x, "10.9.9.9:1", &it.request), PH_NET_REFUSAL_NONE);
    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_NONE);
    stage_teardown(x);
}

// A client with two tokens cannot mix them.
static void a_challenge_of_another_player_is_refused(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    const ph_token_def first = stage_token_def(x, 1);
    const ph_token_def second = stage_token_def(x, 2);
    const made_request mine = make_request(&first);
    const made_request other = make_request(&second);
    assert_int_equal(request_from(x, "10.9.9.9:1", &mine), PH_NET_REFUSAL_NONE);
    assert_int_equal(request_from(x, "10.9.9.9:2", &other), PH_NET_REFUSAL_NONE);
    ph_token mixed = other.token;
    memcpy(mixed.secrets.client_to_server_key, mine.token.secrets.client_to_server_key, 32);
    uint8_t response[PH_NETCODE_DATAGRAM_MAX];
    const size_t size = make_response(x, &mixed, 0, response);
    const ph_address from = stage_address("10.9.9.9:1");
    assert_int_equal(stage_hand_to_server(x, &from, response, size), PH_NET_REFUSAL_CHALLENGE);
    stage_teardown(x);
}

static void a_handshake_lapses_after_its_timeout(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    const candidate it = make_candidate(x, 1, 0); // its token says two seconds
    x->queue_count = 0;
    ph_net_server_stats stats;
    stage_run(x, 1900);
    stats = ph_net_server_get_stats(x->server);
    assert_int_equal(stats.pending_count, 1);
    stage_run(x, 1100);
    stats = ph_net_server_get_stats(x->server);
    assert_int_equal(stats.pending_count, 0);
    assert_int_equal(respond(x, &it), PH_NET_REFUSAL_ADDRESS);
    stage_teardown(x);
}

// ---- what an unknown sender gets

static size_t longest_answer;
static size_t shortest_question;

static bool measure(netcode_stage* x, stage_datagram* datagram)
{
    if (ph_address_is_equal(&datagram->from, &x->server_port.address)) {
        longest_answer = datagram->size > longest_answer ? datagram->size : longest_answer;
        assert_in_range(datagram->size, 1, shortest_question - 1);
    } else {
        shortest_question = datagram->size;
    }
    return true;
}

static void answers_are_smaller_than_questions(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(1);
    longest_answer = 0;
    x->filter = measure;
    stage_join(x, 0);    // request, challenge, response, keep-alive
    stage_connect(x, 1); // request, denied
    stage_deliver(x);
    assert_int_equal(longest_answer, 333);
    stage_teardown(x);
}

static void no_client_without_a_token_gets_an_answer(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(2);
    test_rng rng = {.state = 99};
    const ph_address from = stage_address("10.9.9.9:1");
    for (int i = 0; i < 20000; ++i) {
        uint8_t bytes[PH_NETCODE_REQUEST_SIZE];
        for (size_t j = 0; j < sizeof bytes; j += 8) {
            const uint64_t word = test_rng_next(&rng);
            memcpy(bytes + j, &word, sizeof bytes - j < 8 ? sizeof bytes - j : 8);
        }
        bytes[0] = (uint8_t)(i % 7 + (i % 10) * 16);
        const size_t size = i % 2 == 0 ? sizeof bytes : (size_t)test_rng_below(&rng, 1078);
        assert_int_not_equal(stage_hand_to_server(x, &from, bytes, size), PH_NET_REFUSAL_NONE);
    }
    assert_int_equal(x->queue_count, 0);
    stage_teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_leads_to_a_connection),
        cmocka_unit_test(challenges_of_two_servers_never_have_a_number_in_common),
        cmocka_unit_test(payloads_go_both_ways),
        cmocka_unit_test(a_request_of_another_size_is_refused),
        cmocka_unit_test(a_request_of_another_version_is_refused),
        cmocka_unit_test(a_token_of_another_protocol_is_refused),
        cmocka_unit_test(an_expired_token_is_refused),
        cmocka_unit_test(a_clock_set_back_revives_no_token),
        cmocka_unit_test(a_token_without_time_is_refused),
        cmocka_unit_test(a_token_sealed_with_another_key_is_refused),
        cmocka_unit_test(no_byte_of_a_request_can_be_changed),
        cmocka_unit_test(a_token_for_other_servers_is_refused),
        cmocka_unit_test(a_server_may_have_several_addresses),
        cmocka_unit_test(a_token_serves_one_address_only),
        cmocka_unit_test(a_connected_address_cannot_connect_again),
        cmocka_unit_test(a_connected_player_cannot_connect_again),
        cmocka_unit_test(a_full_server_denies),
        cmocka_unit_test(a_response_to_a_full_server_is_denied),
        cmocka_unit_test(more_requests_than_allowed_are_not_opened),
        cmocka_unit_test(a_response_without_a_request_is_refused),
        cmocka_unit_test(other_packets_before_the_response_are_refused),
        cmocka_unit_test(no_byte_of_a_response_can_be_changed),
        cmocka_unit_test(a_recorded_handshake_is_of_no_use),
        cmocka_unit_test(an_answer_to_an_earlier_challenge_will_do),
        cmocka_unit_test(a_challenge_of_another_player_is_refused),
        cmocka_unit_test(a_handshake_lapses_after_its_timeout),
        cmocka_unit_test(answers_are_smaller_than_questions),
        cmocka_unit_test(no_client_without_a_token_gets_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
