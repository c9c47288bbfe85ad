// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A ph_peer in simulated time, against a server that is played by hand: what it repeats and how often, stalls,
// silence, packets before the welcome, servers that say nonsense, a system that does not send.

#include "support/test_memory.h"
#include "support/test_support.h"

#include "net/peer_state.h"

#include <pinhole/net/netcode.h>
#include <pinhole/pinhole.h>

#include <stdio.h>
#include <string.h>

enum { FRAME_US = 20000, QUEUE_MAX = 256, ENTITIES = 5, UNIX_S = 1000 };

static const uint8_t key[PH_NETCODE_KEY_SIZE] = "a key of 32 bytes for the tests";
static const char schema_text[] = "class ship\n    place: position\n";

typedef struct queued {
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
    size_t size;
} queued;

typedef struct stage {
    uint64_t now_us;
    ph_address addresses[2]; // of the server, of the client
    ph_net_server* server;
    ph_schema* schema;
    ph_peer* peer;
    test_memory memory;
    queued down[QUEUE_MAX]; // to the client
    int down_first;
    int down_count;
    bool is_unplugged; // the system does not send
    bool is_dead;      // nothing comes to the server
    int counts[6];     // of payloads of the admission, by kind
    ph_admission join;
    char sentence[PH_REFUSAL_TEXT_MAX + 1]; // of the peer's refusal
    int plain_payloads;
    int events[PH_PEER_DISCONNECTED + 1];
    ph_peer_event end;
    char text[PH_ERROR_TEXT_SIZE]; // of the last event that has one
    // A world with a view for the client, when a test wants one.
    ph_world* world;
    ph_viewer_id viewer;
    ph_messages* messages;
} stage;

// ---- transport

static uint64_t now_of(void* context)
{
    return ((stage*)context)->now_us;
}

static int receive_for_peer(void* context, ph_datagram* datagrams, int max)
{
    stage* s = context;
    int count = 0;
    while (count < max && s->down_first < s->down_count) {
        queued* next = &s->down[s->down_first++];
        datagrams[count++] =
            (ph_datagram){.peer = s->addresses[0], .bytes = next->bytes, .size = next->size};
    }
    if (s->down_first == s->down_count && count == 0) {
        s->down_first = s->down_count = 0; // what was handed out is valid until now
    }
    return count;
}

static void send_of_server(void* context, const ph_address* to, const void* bytes, size_t size)
{
    (void)to;
    stage* s = context;
    assert_true(s->down_count < QUEUE_MAX);
    memcpy(s->down[s->down_count].bytes, bytes, size);
    s->down[s->down_count++].size = size;
}

static void take_payload(stage* s, const ph_net_payload* payload)
{
    if (!ph_admission_is(payload->bytes, payload->size)) {
        ++s->plain_payloads;
        ph_messages_rest rest;
        if (s->messages != NULL) {
            assert_int_equal(
                ph_messages_unpack(s->messages, s->now_us, payload->bytes, payload->size, &rest),
                PH_OK);
            if (rest.size > 0) {
                assert_int_equal(
                    ph_viewer_receive_ack(s->world, s->viewer, s->now_us, rest.bytes, rest.size),
                    PH_OK);
            }
        }
        return;
    }
    ph_admission admission;
    assert_true(ph_admission_read(payload->bytes, payload->size, &admission));
    ++s->counts[admission.kind];
    if (admission.kind == PH_ADMISSION_JOIN) {
        s->join = admission;
    } else if (admission.kind == PH_ADMISSION_REFUSAL) {
        memcpy(s->sentence, admission.bytes, admission.size);
        s->sentence[admission.size] = '\0';
    }
}

static bool send_of_peer(void* context, const ph_datagram* datagram)
{
    stage* s = context;
    if (s->is_unplugged) {
        return false;
    }
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX];
    memcpy(bytes, datagram->bytes, datagram->size);
    ph_net_payload payload = {0};
    if (!s->is_dead) {
        ph_net_server_receive(s->server, &s->addresses[1], bytes, datagram->size, &payload);
    }
    if (payload.size > 0) {
        take_payload(s, &payload);
    }
    return true;
}

// ---- the stage

static void connect_peer(stage* s)
{
    uint8_t token[PH_TOKEN_SIZE];
    ph_token_def def = ph_token_def_default(); // a timeout of 10 s
    def.create_s = UNIX_S;
    def.lifetime_s = 45;
    def.addresses[def.address_count++] = s->addresses[0];
    memcpy(def.private_key, key, sizeof key);
    assert_int_equal(ph_token_write(&def, token), PH_OK);
    assert_int_equal(ph_peer_connect(s->peer, token, sizeof token), PH_OK);
}

static void setup(stage* s)
{
    *s = (stage){.now_us = 5000000};
    assert_int_equal(ph_address_parse("192.0.2.1:40000", &s->addresses[0], NULL), PH_OK);
    assert_int_equal(ph_address_parse("198.51.100.7:5", &s->addresses[1], NULL), PH_OK);
    assert_int_equal(ph_schema_parse(schema_text, strlen(schema_text), NULL, &s->schema, NULL),
                     PH_OK);
    ph_net_server_def server = ph_net_server_def_default();
    memcpy(server.private_key, key, sizeof key);
    server.addresses[server.address_count++] = s->addresses[0];
    server.client_capacity = 1;
    server.sink = (ph_net_sink){send_of_server, s};
    assert_int_equal(ph_net_server_create(&server, &s->server), PH_OK);
    ph_net_server_start(s->server, s->now_us, UNIX_S);
    ph_peer_def peer = ph_peer_def_default();
    peer.schema = s->schema;
    peer.allocator = test_memory_allocator(&s->memory);
    assert_int_equal(ph_peer_open(&peer, &s->peer), PH_OK);
    s->peer->seam = (ph_peer_seam){now_of, receive_for_peer, send_of_peer, s};
    connect_peer(s);
}

static void teardown(stage* s)
{
    ph_peer_close(s->peer);
    ph_net_server_destroy(s->server);
    ph_messages_destroy(s->messages);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
    test_memory_assert_clean(&s->memory);
}

static void take_events(stage* s)
{
    for (ph_peer_event event; ph_peer_next_event(s->peer, &event);) {
        ++s->events[event.kind];
        if (event.text[0] != '\0') {
            snprintf(s->text, sizeof s->text, "%s", event.text);
        }
        if (event.kind == PH_PEER_REFUSED || event.kind == PH_PEER_DISCONNECTED) {
            s->end = event;
        }
    }
}

static void play(stage* s, int frames)
{
    for (int i = 0; i < frames; ++i) {
        s->now_us += FRAME_US;
        if (!s->is_dead) {
            ph_net_server_tick(s->server, s->now_us, UNIX_S + s->now_us / 1000000);
        }
        ph_peer_tick(s->peer);
        take_events(s);
    }
}

static void say_bytes(stage* s, const void* bytes, size_t size)
{
    assert_true(ph_net_server_send(s->server, 0, bytes, size));
}

static void say(stage* s, const ph_admission* admission)
{
    uint8_t bytes[PH_ADMISSION_SIZE_MAX];
    say_bytes(s, bytes, ph_admission_write(admission, bytes));
}

static ph_admission welcome_of(const stage* s)
{
    return (ph_admission){
        .kind = PH_ADMISSION_WELCOME,
        .version = PH_ADMISSION_VERSION,
        .slots = 500,
        .fingerprint = ph_schema_fingerprint(s->schema),
        .wire_version = PH_WIRE_VERSION_PINHOLE,
        .tick_us = 100000,
        .schema_size = 100,
    };
}

static void join(stage* s)
{
    play(s, 5);
    assert_int_equal(ph_peer_get_state(s->peer), PH_PEER_STATE_JOINING);
    const ph_admission welcome = welcome_of(s);
    say(s, &welcome);
    play(s, 1);
    assert_int_equal(ph_peer_get_state(s->peer), PH_PEER_STATE_JOINED);
}

// ---- the join

// The welcome has come and was not taken; then the game connects anew, with bytes that are no token.
static void failed_connect_leaves_no_event_of_the_connection_before(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    play(&s, 5);
    const ph_admission welcome = welcome_of(&s);
    say(&s, &welcome);
    s.now_us += FRAME_US;
    ph_net_server_tick(s.server, s.now_us, UNIX_S + s.now_us / 1000000);
    ph_peer_tick(s.peer);
    assert_int_equal(ph_peer_get_state(s.peer), PH_PEER_STATE_JOINED);
    assert_int_not_equal(ph_peer_connect(s.peer, "no token", 8), PH_OK);
    ph_peer_event event;
    assert_false(ph_peer_next_event(s.peer, &event));
    assert_int_equal(ph_peer_get_state(s.peer), PH_PEER_STATE_IDLE);
    teardown(&s);
}

static void join_is_repeated_until_the_welcome(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    play(&s, 5);
    s.counts[PH_ADMISSION_JOIN] = 0;
    play(&s, 50); // a second
    assert_in_range(s.counts[PH_ADMISSION_JOIN], 10, 11);
    assert_true(s.join.fingerprint == ph_schema_fingerprint(s.schema));
    assert_int_equal(s.join.slots, 65535);
    assert_int_equal(s.events[PH_PEER_CONNECTED], 0);
    const ph_admission welcome = welcome_of(&s);
    say(&s, &welcome);
    say(&s, &welcome); // of an earlier join
    play(&s, 1);
    assert_int_equal(s.events[PH_PEER_CONNECTED], 1);
    s.counts[PH_ADMISSION_JOIN] = 0;
    play(&s, 50);
    assert_int_equal(s.counts[PH_ADMISSION_JOIN], 0);
    assert_int_equal(s.events[PH_PEER_CONNECTED], 1);
    assert_int_equal(ph_peer_get_stats(s.peer).slot_count, 500);
    assert_int_equal(ph_peer_get_stats(s.peer).tick_us, 100000);
    assert_int_equal(ph_peer_get_stats(s.peer).refused_payloads, 0);
    teardown(&s);
}

// ---- packets before the welcome

static void make_world(stage* s)
{
    ph_world_def def = ph_world_def_default();
    def.schema = s->schema;
    assert_int_equal(ph_world_create(&def, &s->world), PH_OK);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        ph_entity_id entity;
        assert_int_equal(ph_world_spawn(s->world, &(ph_spawn){.key = i + 1}, &entity), PH_OK);
    }
    const ph_viewer_def viewer = ph_viewer_def_default();
    assert_int_equal(ph_world_add_viewer(s->world, &viewer, &s->viewer), PH_OK);
    const ph_messages_def messages = ph_messages_def_default();
    assert_int_equal(ph_messages_create(&messages, &s->messages), PH_OK);
}

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    stage* s = context;
    uint8_t whole[PH_PAYLOAD_MAX];
    say_bytes(s, whole, ph_messages_pack(s->messages, bytes, size, whole));
}

static void send_view(stage* s)
{
    ph_world_tick(s->world);
    ph_viewer_reserve(s->world, s->viewer, PH_MESSAGES_EMPTY_SIZE, 0);
    ph_viewer_send(s->world, s->viewer, s->now_us, deliver, s);
}

// Nothing is sent a second time, and all of it is acked.
static void packets_before_the_welcome_are_kept(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    make_world(&s);
    play(&s, 5);
    send_view(&s);
    play(&s, 3);
    assert_int_equal(s.events[PH_PEER_ENTERED], 0);
    assert_int_equal(s.plain_payloads, 0);
    const ph_admission welcome = welcome_of(&s);
    say(&s, &welcome);
    play(&s, 1);
    assert_int_equal(s.events[PH_PEER_CONNECTED], 1);
    assert_int_equal(s.events[PH_PEER_ENTERED], ENTITIES);
    assert_true(s.plain_payloads > 0);
    ph_viewer_stats stats;
    assert_int_equal(ph_viewer_get_stats(s.world, s.viewer, &stats), PH_OK);
    assert_int_equal(stats.new_acks, 1);
    teardown(&s);
}

static void server_that_knows_no_join_is_refused(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    make_world(&s);
    play(&s, 5);
    send_view(&s);
    play(&s, 249); // 4.98 s
    assert_int_equal(s.events[PH_PEER_REFUSED], 0);
    play(&s, 3);
    assert_int_equal(s.events[PH_PEER_REFUSED], 1);
    assert_int_equal(s.end.refusal, PH_REFUSAL_VERSION);
    assert_string_equal(
        s.text,
        "the server sends a view but does not answer our join: it is older than this client");
    assert_string_equal(s.sentence, s.text);
    teardown(&s);
}

// ---- another schema

static void ask_is_repeated_and_given_up(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    play(&s, 5);
    ph_admission welcome = welcome_of(&s);
    welcome.fingerprint = UINT64_C(0x1234);
    say(&s, &welcome);
    play(&s, 1);
    assert_int_equal(s.counts[PH_ADMISSION_ASK], 1);
    s.counts[PH_ADMISSION_JOIN] = 0;
    play(&s, 49);
    assert_in_range(s.counts[PH_ADMISSION_ASK], 4, 6);
    assert_int_equal(s.counts[PH_ADMISSION_JOIN], 0);
    play(&s, 460); // past ten seconds
    assert_int_equal(s.events[PH_PEER_REFUSED], 1);
    assert_int_equal(s.end.refusal, PH_REFUSAL_SCHEMA);
    assert_memory_equal(s.text, "the schemas differ: server's fingerprint is 0000000000001234, ",
                        62);
    assert_int_equal(s.counts[PH_ADMISSION_REFUSAL], 3);
    teardown(&s);
}

// Too long, text that is no schema, pieces beyond the end, pieces nobody has asked for.
static void strange_schemas_are_refused(void** state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        stage s;
        setup(&s);
        play(&s, 5);
        say_bytes(&s, "\xF0\x04\x00\x00\x00\x00zzz", 9);
        play(&s, 1);
        assert_int_equal(ph_peer_get_stats(s.peer).refused_payloads, 1);
        ph_admission welcome = welcome_of(&s);
        ++welcome.fingerprint;
        welcome.schema_size = kind == 0 ? 65537 : 4;
        say(&s, &welcome);
        play(&s, 1);
        if (kind == 1) {
            say_bytes(&s, "\xF0\x04\x00\x00\x00\x00nonse", 11); // five bytes of four
            play(&s, 1);
            assert_int_equal(ph_peer_get_stats(s.peer).refused_payloads, 2);
        }
        if (kind > 0) {
            say_bytes(&s, "\xF0\x04\x00\x00\x00\x00zz", 8);
            say_bytes(&s, "\xF0\x04\x00\x00\x00\x00zz", 8); // came twice
            say_bytes(&s, "\xF0\x04\x02\x00\x00\x00zz", 8);
            play(&s, 1);
        }
        assert_int_equal(s.events[PH_PEER_REFUSED], 1);
        assert_memory_equal(s.text, "the schemas differ: ", 20);
        assert_string_equal(s.sentence, s.text);
        teardown(&s);
    }
}

// ---- what a host would not say

static void welcome_that_we_cannot_take_is_refused(void** state)
{
    (void)state;
    static const char* const sentences[] = {
        "admission: server version 3, client version 1",
        "packets: server writes wire version 9, client cannot read it",
        "slots: server's view has 500, client can hold 400; raise slot_max of ph_peer_def, or "
        "lower visible_max of the server's ph_viewer_def",
        "ground: server has one, client has none; ph_world_def.ground and ph_peer_def.ground must "
        "be the same",
    };
    for (int kind = 0; kind < 4; ++kind) {
        stage s;
        setup(&s);
        s.peer->def.slot_max = kind == 2 ? 400 : 65535;
        play(&s, 5);
        ph_admission welcome = welcome_of(&s);
        welcome.version = kind == 0 ? 3 : 1;
        welcome.wire_version = kind == 1 ? 9 : PH_WIRE_VERSION_PINHOLE;
        welcome.has_ground = kind == 3;
        say(&s, &welcome);
        play(&s, 1);
        assert_int_equal(s.events[PH_PEER_REFUSED], 1);
        assert_string_equal(s.text, sentences[kind]);
        assert_string_equal(s.sentence, sentences[kind]);
        teardown(&s);
    }
}

static void nonsense_is_counted(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    join(&s);
    say_bytes(&s, "\xF0\x07", 2);
    say_bytes(&s, "\xF0\x01\x01", 3);             // a join from a server
    say_bytes(&s, "\xF0\x03\x00\x00\x00\x00", 6); // an ask from a server
    say_bytes(&s, "\xF0\x05\x01\x1B[2J", 7);      // a sentence that would clear a screen
    say_bytes(&s, "\x10", 1);                     // no section
    play(&s, 1);
    assert_int_equal(ph_peer_get_stats(s.peer).refused_payloads, 5);
    assert_int_equal(ph_peer_get_state(s.peer), PH_PEER_STATE_JOINED);
    say_bytes(&s, "\xF0\x05\x04", 3); // without a sentence
    play(&s, 1);
    assert_int_equal(s.end.refusal, PH_REFUSAL_SLOTS);
    assert_string_equal(s.text, "the server refuses us: slots");
    teardown(&s);
}

// ---- stalls and silence

// 10.5 s without a tick. The server has dropped the client; what it sent before still waits.
static void peer_that_stood_still_says_so(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    join(&s);
    for (int i = 0; i < 9; ++i) {
        s.now_us += 1000000;
        ph_net_server_tick(s.server, s.now_us, UNIX_S);
        say_bytes(&s, "\0", 1);
    }
    s.now_us += 1500000;
    play(&s, 1);
    assert_int_equal(s.events[PH_PEER_DISCONNECTED], 1);
    assert_int_equal(s.end.end, PH_NET_CLIENT_TIMED_OUT);
    assert_string_equal(s.text, "nothing was sent for 10 s; after 10 s without a packet the server "
                                "has given the connection up");
    assert_int_equal(ph_peer_get_state(s.peer), PH_PEER_STATE_IDLE);
    teardown(&s);
}

static void shorter_stall_is_survived(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    join(&s);
    for (int i = 0; i < 9; ++i) {
        s.now_us += 1000000;
        ph_net_server_tick(s.server, s.now_us, UNIX_S);
        say_bytes(&s, "\0", 1);
    }
    play(&s, 50);
    assert_int_equal(ph_peer_get_state(s.peer), PH_PEER_STATE_JOINED);
    ph_net_client_info info;
    assert_true(ph_net_server_get_client(s.server, 0, &info));
    teardown(&s);
}

static void silent_server_is_given_up(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    join(&s);
    s.is_dead = true;
    play(&s, 499);
    assert_int_equal(s.events[PH_PEER_DISCONNECTED], 0);
    play(&s, 2);
    assert_int_equal(s.events[PH_PEER_DISCONNECTED], 1);
    assert_int_equal(s.end.end, PH_NET_CLIENT_TIMED_OUT);
    assert_string_equal(s.text, "nothing has come from 192.0.2.1:40000 for 10 s");
    teardown(&s);
}

static void server_that_is_not_there_is_told(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    s.is_dead = true;
    connect_peer(&s);
    s.down_first = s.down_count = 0; // the answer to the first one is lost
    play(&s, 501);
    assert_int_equal(s.events[PH_PEER_DISCONNECTED], 1);
    assert_int_equal(s.end.end, PH_NET_CLIENT_REQUEST_TIMED_OUT);
    assert_string_equal(s.text,
                        "192.0.2.1:40000 does not answer: no server is there, a firewall is "
                        "between, or the token was "
                        "made with another key than the server's, which its on_error then says");
    teardown(&s);
}

// ---- a system that does not send

static void unsent_datagrams_are_told_once_a_second(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    join(&s);
    s.is_unplugged = true;
    play(&s, 100); // two seconds, ten keep-alives each
    assert_in_range(s.events[PH_PEER_UNSENT], 2, 3);
    assert_string_equal(s.text, "cannot send to 192.0.2.1:40000");
    assert_true(ph_peer_get_stats(s.peer).unsent_datagrams >= 15);
    s.is_unplugged = false;
    s.events[PH_PEER_UNSENT] = 0;
    play(&s, 100);
    assert_int_equal(s.events[PH_PEER_UNSENT], 0);
    assert_int_equal(ph_peer_get_state(s.peer), PH_PEER_STATE_JOINED);
    s.is_unplugged = true;
    play(&s, 510); // the server has heard nothing for ten seconds
    assert_int_equal(s.events[PH_PEER_DISCONNECTED], 1);
    assert_int_equal(s.end.end, PH_NET_CLIENT_TIMED_OUT);
    teardown(&s);
}

// It never got a datagram out: that is why there was no answer.
static void silence_of_our_own_is_named(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    ph_peer_disconnect(s.peer);
    play(&s, 1);
    s.is_unplugged = true;
    connect_peer(&s);
    play(&s, 501);
    assert_int_equal(s.events[PH_PEER_DISCONNECTED], 2);
    assert_int_equal(s.end.end, PH_NET_CLIENT_REQUEST_TIMED_OUT);
    assert_string_equal(s.text, "192.0.2.1:40000 does not answer: cannot send to 192.0.2.1:40000");
    teardown(&s);
}

// ---- input

static void input_goes_at_its_rate(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    s.peer->def.inputs_per_second = 10;
    join(&s);
    play(&s, 10);
    s.plain_payloads = 0;
    for (int i = 0; i < 100; ++i) { // 50 a second
        assert_int_equal(ph_peer_set_input(s.peer, "x", 1), i + 1);
        play(&s, 1);
    }
    assert_in_range(s.plain_payloads, 19, 22);
    teardown(&s);
}

// The datagram that it went with may be lost, and nothing else need happen for long.
static void input_is_repeated_until_it_is_known_to_be_processed(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    join(&s);
    play(&s, 10);
    s.plain_payloads = 0;
    assert_int_equal(ph_peer_set_input(s.peer, "x", 1), 1);
    play(&s, 50); // a second
    assert_in_range(s.plain_payloads, 9, 12);
    teardown(&s);
}

static void rates_are_those_of_the_last_second(void** state)
{
    (void)state;
    stage s;
    setup(&s);
    join(&s);
    play(&s, 110);
    const ph_peer_stats stats = ph_peer_get_stats(s.peer);
    // Ten keep-alives of 26 bytes and 28 of headers each way: 4.3 kbit/s.
    assert_true(stats.sent_kbps > 3.5 && stats.sent_kbps < 5.5);
    assert_true(stats.received_kbps > 3.5 && stats.received_kbps < 6.0);
    teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_connect_leaves_no_event_of_the_connection_before),
        cmocka_unit_test(join_is_repeated_until_the_welcome),
        cmocka_unit_test(packets_before_the_welcome_are_kept),
        cmocka_unit_test(server_that_knows_no_join_is_refused),
        cmocka_unit_test(ask_is_repeated_and_given_up),
        cmocka_unit_test(strange_schemas_are_refused),
        cmocka_unit_test(welcome_that_we_cannot_take_is_refused),
        cmocka_unit_test(nonsense_is_counted),
        cmocka_unit_test(peer_that_stood_still_says_so),
        cmocka_unit_test(shorter_stall_is_survived),
        cmocka_unit_test(silent_server_is_given_up),
        cmocka_unit_test(server_that_is_not_there_is_told),
        cmocka_unit_test(unsent_datagrams_are_told_once_a_second),
        cmocka_unit_test(silence_of_our_own_is_named),
        cmocka_unit_test(input_goes_at_its_rate),
        cmocka_unit_test(input_is_repeated_until_it_is_known_to_be_processed),
        cmocka_unit_test(rates_are_those_of_the_last_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
