// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// No sequence number is used twice with a key. Every packet of a token is noted, of both directions and of all
// servers; the attacks are those by which numbers met before.

#include "netcode_stage.h"

#include "net/net_tools.h"
#include "net/netcode_packet.h"
#include "net/netcode_server_state.h"

#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 8192 };

// All tests have one token: so the direction says which key it was.
typedef struct note {
    uint64_t sequence;
    bool is_of_server;
} note;

static note notes[NOTES_MAX];
static int note_count;
static bool loses_connection; // what the server sends after the handshake gets lost

static bool take_note(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    ph_netcode_opened peeked;
    if (datagram->bytes[0] == PH_NETCODE_REQUEST) {
        return true;
    }
    assert_int_equal(ph_netcode_peek(datagram->bytes, datagram->size, &peeked),
                     PH_NET_REFUSAL_NONE);
    assert_true(note_count < NOTES_MAX);
    const bool is_of_server = datagram->from.port < 50000;
    notes[note_count++] = (note){.sequence = peeked.sequence, .is_of_server = is_of_server};
    return !(loses_connection && is_of_server && peeked.type >= PH_NETCODE_KEEP_ALIVE);
}

static int compare(const void* a, const void* b)
{
    const note* left = a;
    const note* right = b;
    if (left->is_of_server != right->is_of_server) {
        return left->is_of_server ? 1 : -1;
    }
    return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static int count_repeated(void)
{
    int count = 0;
    qsort(notes, (size_t)note_count, sizeof *notes, compare);
    for (int i = 1; i < note_count; ++i) {
        count += compare(&notes[i - 1], &notes[i]) == 0;
    }
    return count;
}

static netcode_stage* begin(void)
{
    netcode_stage* x = stage_setup(4);
    note_count = 0;
    loses_connection = false;
    x->filter = take_note;
    return x;
}

// A token that names the stage's server, and another one behind it.
static ph_token_def def_of_two(const netcode_stage* x)
{
    ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    def.addresses[1] = stage_address("10.0.0.1:40001");
    def.address_count = 2;
    return def;
}

static void connect_by(netcode_stage* x, const uint8_t token[PH_TOKEN_SIZE])
{
    ph_net_client_connect(x->clients[0], token, PH_TOKEN_SIZE, x->now_us);
    stage_deliver(x);
}

// Both talk for a while.
static void talk(netcode_stage* x)
{
    for (int i = 0; i < 100; ++i) {
        ph_net_server_send(x->server, 0, "from the server", 15);
        ph_net_client_send(x->clients[0], "from the client", 15);
        stage_step(x);
    }
}

static void move_server(netcode_stage* x, const ph_address* address)
{
    x->server_port.address = *address;
    x->server_def.addresses[0] = *address;
    stage_remake_server(x);
}

// ---- the attacks

// The server is killed and started again; the token comes again, from another port.
static void a_server_that_starts_again_takes_no_token_of_before(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    const ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    connect_by(x, token);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    talk(x);
    ++x->unix_s;
    stage_remake_server(x);
    x->ports[0].address.port += 100;
    connect_by(x, token);
    talk(x);
    assert_int_equal(count_repeated(), 0);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
    assert_true(stage_refused(x, PH_NET_REFUSAL_TOKEN_OLD) > 0);
    stage_join(x, 1); // a token of now
    stage_teardown(x);
}

// The first server accepts, and nothing of it arrives; the client turns to the second one.
static void the_servers_of_a_token_have_numbers_of_their_own(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    const ph_token_def def = def_of_two(x);
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    loses_connection = true;
    connect_by(x, token);
    talk(x);
    assert_int_equal(ph_net_server_get_stats(x->server).client_count, 1);
    loses_connection = false;
    move_server(x, &def.addresses[1]);
    stage_run(x, 2000);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    talk(x);
    assert_true(note_count > 400);
    assert_int_equal(count_repeated(), 0);
    stage_teardown(x);
}

// The client connects again with its token, at a server that allows it.
static void a_token_used_again_goes_on_counting(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    const ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    for (int round = 0; round < 4; ++round) {
        connect_by(x, token);
        assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
        talk(x);
        if (round == 1) { // a stop and a start of the same server make no difference
            ph_net_server_stop(x->server);
            ph_net_server_start(x->server, x->now_us, ++x->unix_s);
        } else if (round % 2 == 0) {
            ph_net_client_disconnect(x->clients[0]);
        }
        stage_deliver(x);
        ph_net_event event;
        while (ph_net_server_next_event(x->server, &event)) {
        }
    }
    assert_true(note_count > 800);
    assert_int_equal(count_repeated(), 0);
    stage_teardown(x);
}

// ---- the ranges

// Where the counts of 32 servers begin and end: no two ranges meet, and the first half million packets of any of
// them have three bytes of number.
static void ranges_of_servers_do_not_meet(void** state)
{
    (void)state;
    note_count = 0;
    for (int place = 0; place < PH_TOKEN_ADDRESSES_MAX; ++place) {
        const uint64_t edges[] = {0, 1, PH_NET_SHORT_PACKETS - 1, PH_NET_SHORT_PACKETS,
                                  PH_NET_PACKETS_MAX - 1};
        for (int i = 0; i < 5; ++i) {
            const uint64_t sequence = ph_net_sequence(place, edges[i]);
            notes[note_count++] = (note){.sequence = sequence};
            assert_true(sequence < UINT64_C(1) << 63); // above are challenges
            assert_in_range(ph_netcode_sealed_size(sequence, 0), 18, i < 3 ? 20 : 22);
        }
        // In between they count by one.
        assert_true(ph_net_sequence(place, 1) + PH_NET_SHORT_PACKETS - 2 ==
                    ph_net_sequence(place, PH_NET_SHORT_PACKETS - 1));
        assert_true(ph_net_sequence(place, PH_NET_SHORT_PACKETS) + PH_NET_PACKETS_MAX - 1 -
                        PH_NET_SHORT_PACKETS ==
                    ph_net_sequence(place, PH_NET_PACKETS_MAX - 1));
    }
    assert_int_equal(count_repeated(), 0);
    // Sorted: each range lies whole between its neighbours.
    for (int i = 0; i < PH_TOKEN_ADDRESSES_MAX; ++i) {
        assert_true(notes[3 * i + 2].sequence - notes[3 * i].sequence == PH_NET_SHORT_PACKETS - 1);
    }
}

// A connection crosses the border of half a million packets, and the client notices nothing.
static void a_long_connection_goes_on(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    const ph_token_def def = def_of_two(x);
    move_server(x, &def.addresses[1]);
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    connect_by(x, token);
    stage_run(x, 2500); // nothing is at the first address
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
    x->server->slots.slots[0].packets = PH_NET_SHORT_PACKETS - 50;
    x->client_payloads = 0;
    for (int i = 0; i < 100; ++i) {
        const size_t cost = ph_net_server_cost(x->server, 0, 4);
        ph_net_server_send(x->server, 0, "long", 4);
        assert_int_equal(x->queue[x->queue_count - 1].size, cost);
        stage_step(x);
    }
    assert_int_equal(x->client_payloads, 100);
    assert_int_equal(count_repeated(), 0);
    stage_teardown(x);
}

// Before its numbers are used up, a connection ends; its token gets none any more.
static void a_connection_ends_before_its_numbers_do(void** state)
{
    (void)state;
    netcode_stage* x = begin();
    const ph_token_def def = stage_token_def(x, STAGE_FIRST_ID);
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    connect_by(x, token);
    x->server->slots.slots[0].packets = PH_NET_PACKETS_MAX - 3;
    for (int i = 0; i < 10; ++i) {
        ph_net_server_send(x->server, 0, "last", 4);
    }
    assert_int_equal(x->queue_count, 3); // beyond the last number nothing is sealed
    stage_run(x, 100);
    assert_int_equal(ph_net_server_get_stats(x->server).client_count, 0);
    assert_int_equal(count_repeated(), 0);
    stage_run(x, 3000); // until the client knows
    connect_by(x, token);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_SENDING_REQUEST);
    assert_true(stage_refused(x, PH_NET_REFUSAL_TOKEN_USED) > 0);
    stage_teardown(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_starts_again_takes_no_token_of_before),
        cmocka_unit_test(the_servers_of_a_token_have_numbers_of_their_own),
        cmocka_unit_test(a_token_used_again_goes_on_counting),
        cmocka_unit_test(ranges_of_servers_do_not_meet),
        cmocka_unit_test(a_long_connection_goes_on),
        cmocka_unit_test(a_connection_ends_before_its_numbers_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
