// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A host and real clients on loopback: which clients are admitted and what they are shown,
// messages, ends, turns that are put off, memory. `test/check_serve.py` has the crowds.

#define _GNU_SOURCE // mkstemp

#include "net/host_state.h"
#include "net/netcode_server_state.h"
#include "test_memory.h"
#include "test_support.h"
#include <pinhole/net/host.h>
#include <pinhole/net/netcode.h>
#include <pinhole/pinhole.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#if defined(__linux__)
#include <netinet/in.h>
#include <sys/socket.h>
#endif

// CROWD: more than are sent to together, and so many that what they send wakes other threads.
// MANY_PLAYERS: more than three threads send to together.
enum {
    ENTITIES = 20,
    PLAYERS = 4,
    CROWD = 64,
    MANY_PLAYERS = 128,
    TICK_US = 10000,
    TICKS_MAX = 500
};
static const char SCHEMA[] = "class thing\n    place: position\n";
static const uint8_t KEY[PH_NETCODE_KEY_SIZE] = "a key of 32 bytes for the tests";

// ---- one end

typedef struct stage {
    ph_schema* schema;
    ph_world* world;
    ph_host* host;
    ph_pool* pool;
    test_memory memory; // of the host
    ph_entity_id entities[ENTITIES];
    ph_viewer_def viewer; // of every client
    int connected;
    int ended;
    atomic_int messages_received;       // messages
    char text[PH_MESSAGE_SIZE_MAX + 1]; // the last one of client 0
    bool is_closed;                     // no client is admitted
    uint64_t send_until_us;
    ph_profile profile;
} stage;

static void on_messages(void* context, int client, ph_messages* messages)
{
    stage* s = context;
    assert_ptr_equal(messages, ph_host_messages(s->host, client));
    if (s->pool != NULL) {
        ph_socket_sleep(200); // long enough for another thread to come
    }
    char text[PH_MESSAGE_SIZE_MAX + 1];
    for (size_t size; (size = ph_messages_receive(messages, (uint8_t*)text)) > 0;
         ++s->messages_received) {
        if (client == 0) {
            text[size] = '\0';
            strcpy(s->text, text);
        }
    }
    ph_messages_set_processed_input(messages, ph_messages_newest_input(messages).number);
}

static void make_world(stage* s)
{
    s->viewer = ph_viewer_def_default();
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &s->schema, NULL), PH_OK);
    ph_world_def def = ph_world_def_default();
    def.schema = s->schema;
    def.tick_us = TICK_US;
    def.profile = s->profile;
    assert_int_equal(ph_world_create(&def, &s->world), PH_OK);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawn = {.key = i, .position_mm = {(int32_t)i * 1000, 0, 0}};
        assert_int_equal(ph_world_spawn(s->world, &spawn, &s->entities[i]), PH_OK);
    }
}

static ph_host_def def_of(stage* s)
{
    ph_host_def def = ph_host_def_default();
    def.world = s->world;
    def.tick_us = TICK_US;
    def.client_capacity = MANY_PLAYERS;
    def.pool = s->pool;
    def.on_messages = on_messages;
    def.on_messages_context = s;
    def.allocator = test_memory_allocator(&s->memory);
    memcpy(def.private_key, KEY, sizeof KEY);
    return def;
}

static void setup_profile(stage* s, ph_profile profile, int threads)
{
    *s = (stage){
        .profile = profile,
        .pool = threads > 0 ? ph_pool_create(threads) : NULL,
        .send_until_us = UINT64_MAX,
    };
    make_world(s);
    const ph_host_def def = def_of(s);
    assert_int_equal(ph_host_open(&def, &s->host), PH_OK);
}

static void setup(stage* s, int threads)
{
    setup_profile(s, PH_PROFILE_PINHOLE, threads);
}

static void teardown(stage* s)
{
    ph_host_close(s->host);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
    ph_pool_destroy(s->pool);
    test_memory_assert_clean(&s->memory);
}

static void tick(stage* s)
{
    ph_host_receive(s->host, ph_socket_now_us() + TICK_US);
    ph_host_tick(s->host);
    for (ph_net_event event; ph_host_next_event(s->host, &event);) {
        s->connected += event.kind == PH_NET_CONNECTED;
        s->ended += event.kind == PH_NET_DISCONNECTED;
        if (event.kind == PH_NET_CONNECTED && !s->is_closed) {
            assert_int_equal(ph_host_admit(s->host, event.client, &s->viewer, NULL), PH_OK);
        }
    }
    ph_world_tick(s->world);
    ph_host_send(s->host, s->send_until_us);
}

// ---- the other

typedef struct player {
    ph_socket* socket;
    ph_socket_batch outbox;
    ph_net_client* net;
    ph_client* view;
    ph_messages* messages;
    char text[PH_MESSAGE_SIZE_MAX + 1];
    int views; // datagrams with something to see
    uint8_t token[PH_TOKEN_SIZE];
} player;

static void connect_to(const stage* s, player* p, uint64_t id)
{
    ph_token_def def = ph_token_def_default();
    def.client_id = id;
    def.create_s = (uint64_t)time(NULL);
    def.addresses[def.address_count++] = ph_host_public_address(s->host);
    memcpy(def.private_key, KEY, sizeof KEY);
    assert_int_equal(ph_token_write(&def, p->token), PH_OK);
    ph_net_client_connect(p->net, p->token, sizeof p->token, ph_socket_now_us());
}

// Once more with the same token.
static void connect_by_token(player* p)
{
    ph_net_client_connect(p->net, p->token, sizeof p->token, ph_socket_now_us());
    ph_socket_batch_flush(&p->outbox);
}

static void join(const stage* s, player* p, uint64_t id)
{
    *p = (player){0};
    const ph_socket_def socket_def = ph_socket_def_default();
    const ph_messages_def message_def = ph_messages_def_default();
    ph_net_client_def net_def = ph_net_client_def_default();
    ph_client_def view_def = ph_client_def_default();
    net_def.sink = (ph_net_sink){ph_socket_batch_add, &p->outbox};
    view_def.schema = s->schema;
    assert_int_equal(ph_socket_open(&socket_def, &p->socket), PH_OK);
    assert_int_equal(ph_net_client_create(&net_def, &p->net), PH_OK);
    assert_int_equal(ph_client_create(&view_def, &p->view), PH_OK);
    assert_int_equal(ph_messages_create(&message_def, &p->messages), PH_OK);
    ph_socket_batch_begin(&p->outbox, p->socket);
    connect_to(s, p, id);
    ph_socket_batch_flush(&p->outbox);
}

static void leave(player* p)
{
    ph_net_client_disconnect(p->net);
    ph_socket_batch_flush(&p->outbox);
    ph_net_client_destroy(p->net);
    ph_client_destroy(p->view);
    ph_messages_destroy(p->messages);
    ph_socket_close(p->socket);
}

static void hear(player* p, ph_datagram* datagram, uint64_t now_us)
{
    ph_net_payload payload;
    ph_messages_rest packet;
    ph_net_client_receive(p->net, &datagram->peer, datagram->bytes, datagram->size, &payload);
    if (payload.size == 0) {
        return;
    }
    assert_int_equal(ph_messages_unpack(p->messages, now_us, payload.bytes, payload.size, &packet),
                     PH_OK);
    if (packet.size > 0) {
        ph_client_receive(p->view, now_us, packet.bytes, packet.size);
        ++p->views;
    }
    if (p->text[0] == '\0') {
        p->text[ph_messages_receive(p->messages, (uint8_t*)p->text)] = '\0';
    }
    uint8_t ack[PH_ACK_SIZE];
    uint8_t whole[PH_PAYLOAD_MAX];
    ph_messages_plan(p->messages, now_us);
    const size_t size = ph_client_write_ack(p->view, now_us, ack);
    ph_net_client_send(p->net, whole, ph_messages_pack(p->messages, ack, size, whole));
}

static void play(player* p)
{
    const uint64_t now_us = ph_socket_now_us();
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    const int count = ph_socket_receive(p->socket, datagrams, PH_SOCKET_BATCH_MAX);
    for (int i = 0; i < count; ++i) {
        hear(p, &datagrams[i], now_us);
    }
    ph_net_client_tick(p->net, now_us);
    ph_socket_batch_flush(&p->outbox);
}

// Until every client sees everything; gives up after five seconds.
static bool show_all(stage* s, player* players, int count)
{
    for (int i = 0; i < TICKS_MAX; ++i) {
        int seeing = 0;
        tick(s);
        for (int j = 0; j < count; ++j) {
            play(&players[j]);
            seeing += ph_client_entity_count(players[j].view) == ENTITIES;
        }
        if (seeing == count) {
            return true;
        }
    }
    return false;
}

// ---- tests

static void show_to(int threads)
{
    stage s;
    player players[PLAYERS];
    setup(&s, threads);
    for (int i = 0; i < PLAYERS; ++i) {
        join(&s, &players[i], (uint64_t)i + 1);
    }
    assert_true(show_all(&s, players, PLAYERS));
    tick(&s); // takes their answers
    assert_int_equal(s.connected, PLAYERS);
    assert_int_equal(ph_host_client_count(s.host), PLAYERS);
    const ph_host_stats stats = ph_host_get_stats(s.host);
    assert_true(stats.sent_datagrams >= PLAYERS && stats.new_acks >= PLAYERS &&
                stats.sends >= PLAYERS);
    assert_true(stats.sent_wire_bytes > stats.sent_datagrams * 48);
    assert_int_equal(stats.over_budget_datagrams, 0);
    assert_int_equal(stats.refused_payloads, 0);
    for (int i = 0; i < PLAYERS; ++i) {
        leave(&players[i]);
    }
    tick(&s);
    assert_int_equal(s.ended, PLAYERS);
    assert_int_equal(ph_host_client_count(s.host), 0);
    assert_int_equal(ph_host_get_stats(s.host).sent_datagrams, stats.sent_datagrams);
    teardown(&s);
}

static void a_client_with_a_token_is_shown_the_world(void** state)
{
    (void)state;
    show_to(0);
}

static void threads_show_the_same(void** state)
{
    (void)state;
    show_to(3);
}

static void messages_and_input_go_both_ways(void** state)
{
    (void)state;
    stage s;
    player p;
    setup(&s, 0);
    join(&s, &p, 7);
    ph_messages_send(p.messages, "hello", 5);
    ph_messages_set_input(p.messages, 3, "x", 1);
    assert_true(show_all(&s, &p, 1));
    const int client = ph_host_client_at(s.host, 0);
    ph_messages_send(ph_host_messages(s.host, client), "welcome", 7);
    for (int i = 0;
         i < TICKS_MAX && (p.text[0] == '\0' || ph_messages_processed_input(p.messages) != 3);
         ++i) {
        tick(&s);
        play(&p);
    }
    assert_string_equal(s.text, "hello");
    assert_string_equal(p.text, "welcome");
    assert_int_equal(ph_messages_processed_input(p.messages), 3);
    assert_true(s.messages_received >= 1);
    leave(&p);
    teardown(&s);
}

// The next datagram of the view is a second away.
static void message_does_not_wait_for_the_view(void** state)
{
    (void)state;
    stage s;
    player p;
    setup(&s, 0);
    s.viewer.sends_per_second = 1.0;
    join(&s, &p, 1);
    assert_true(show_all(&s, &p, 1));
    const uint64_t sends = ph_host_get_stats(s.host).sends;
    while (ph_host_get_stats(s.host).sends == sends) {
        tick(&s);
        play(&p);
    }
    ph_messages_send(ph_host_messages(s.host, ph_host_client_at(s.host, 0)), "welcome", 7);
    for (int i = 0; i < 40 && p.text[0] == '\0'; ++i) {
        tick(&s);
        play(&p);
    }
    assert_string_equal(p.text, "welcome");
    leave(&p);
    teardown(&s);
}

static void move_all(stage* s)
{
    const int32_t way_mm = (int32_t)(ph_socket_now_us() / 100 % 30000); // stays in view
    for (int i = 0; i < ENTITIES; ++i) {
        ph_world_move(s->world, s->entities[i], way_mm + 1000 * i, 0, 0);
    }
}

// All entities move all the time, so all that may be sent is sent. What is on the wire, in bits, beyond what the time
// until then may carry: the most that this was.
static double bits_beyond(stage* s, double seconds)
{
    player p;
    join(s, &p, 1);
    const uint64_t start_us = ph_socket_now_us();
    double most_bits = -1e9;
    for (double spent_s = 0.0; spent_s < seconds;) {
        move_all(s);
        tick(s);
        spent_s = (double)(ph_socket_now_us() - start_us) * 1e-6;
        const double sent_bits = (double)ph_host_get_stats(s->host).sent_wire_bytes * 8.0;
        most_bits = fmax(most_bits, sent_bits - spent_s * s->viewer.bits_per_second);
        play(&p);
    }
    leave(&p);
    assert_int_equal(ph_host_get_stats(s->host).over_budget_datagrams, 0);
    return most_bits;
}

static void no_client_is_sent_more_than_the_budget(void** state)
{
    (void)state;
    stage s;
    setup(&s, 0);
    s.viewer.bits_per_second = 4000;
    s.viewer.sends_per_second = 20.0;
    const double saved_up_bits = 8 * (100 + 2 * 48 + 8 + 384); // a datagram with the largest enter
    assert_true(bits_beyond(&s, 2.5) <= saved_up_bits);
    assert_true(ph_host_get_stats(s.host).sent_wire_bytes * 8 >= 5000); // half of what it may
    teardown(&s);
}

#if defined(__linux__) && !defined(PH_SOCKET_PLAIN)

// The host is at all addresses of the machine; the player's socket takes nothing but from the one that it knows.
static void a_host_answers_from_the_address_that_was_asked(void** state)
{
    (void)state;
    static const uint8_t second[4] = {127, 0, 0, 2};
    for (int threads = 0; threads < 3; threads += 2) {
        stage s;
        player p;
        setup(&s, threads);
        ph_host_close(s.host);
        ph_host_def def = def_of(&s);
        memset(def.listen_address.bytes, 0, sizeof def.listen_address.bytes);
        def.public_address = ph_address_make_ipv4(second, 0);
        assert_int_equal(ph_host_open(&def, &s.host), PH_OK);
        join(&s, &p, 1);
        const ph_address to = ph_host_public_address(s.host);
        struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(to.port)};
        memcpy(&peer.sin_addr, to.bytes, 4);
        const int number = (int)ph_socket_handle(p.socket);
        assert_int_equal(connect(number, (const struct sockaddr*)&peer, sizeof peer), 0);
        assert_true(show_all(&s, &p, 1));
        ph_host_stop(s.host); // its disconnects, too
        for (int i = 0; i < 20; ++i) {
            play(&p);
        }
        assert_int_equal(ph_net_client_get_state(p.net), PH_NET_CLIENT_DISCONNECTED);
        leave(&p);
        teardown(&s);
    }
}

#endif

static uint64_t refused(const stage* s, ph_net_refusal refusal)
{
    return ph_host_get_stats(s->host).net.refused_datagrams[refusal];
}

static void keys_of_a_host_are_changed_while_it_runs(void** state)
{
    (void)state;
    stage s;
    player p;
    setup(&s, 0);
    const uint8_t other[PH_NETCODE_KEY_SIZE] = {1, 2, 3};
    ph_host_set_keys(s.host, other, NULL);
    join(&s, &p, 1);
    while (refused(&s, PH_NET_REFUSAL_TOKEN_SEAL) == 0) {
        tick(&s);
    }
    assert_int_equal(s.connected, 0);
    ph_host_set_keys(s.host, other, KEY);
    assert_true(show_all(&s, &p, 1)); // the same token
    leave(&p);
    teardown(&s);
}

// A host without a spent-tokens file takes no token that was made before it was opened; one with a file does, once.
static void tokens_outlive_a_host_with_a_file(void** state)
{
    (void)state;
    char path[] = "/tmp/ph_host_XXXXXX";
    const int number = mkstemp(path);
    assert_true(number >= 0);
    close(number);
    for (int has_file = 0; has_file < 2; ++has_file) {
        stage s;
        player players[2];
        setup(&s, 0);
        ph_host_def def = def_of(&s);
        def.listen_address = ph_host_local_address(s.host);
        def.spent_tokens_path = has_file ? path : NULL;
        ph_host_close(s.host);
        assert_int_equal(ph_host_open(&def, &s.host), PH_OK);
        join(&s, &players[0], 1);
        join(&s, &players[1], 2);
        for (int i = 0; i < TICKS_MAX && s.connected == 0; ++i) {
            tick(&s);
            play(&players[0]);
        }
        ph_host_close(s.host); // the second one has not got in: its request waits at most
        ph_socket_sleep(2000);
        assert_int_equal(ph_host_open(&def, &s.host), PH_OK);
        s.connected = 0;
        const ph_net_refusal expected =
            has_file ? PH_NET_REFUSAL_TOKEN_USED : PH_NET_REFUSAL_TOKEN_OLD;
        for (int i = 0; i < TICKS_MAX && refused(&s, expected) == 0; ++i) {
            connect_by_token(&players[0]);
            tick(&s);
        }
        assert_true(refused(&s, expected) > 0);
        ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
        while (ph_socket_receive(players[1].socket, datagrams, PH_SOCKET_BATCH_MAX) > 0) {
        } // the challenge of the former host
        connect_by_token(&players[1]);
        for (int i = 0; i < 20 && s.connected == 0; ++i) {
            tick(&s);
            play(&players[1]);
        }
        assert_int_equal(s.connected, has_file);
        leave(&players[0]);
        leave(&players[1]);
        teardown(&s);
    }
    unlink(path);
}

// What has been sent to client 0, beyond what the world has paid for, in bytes.
static int64_t unpaid_bytes(const stage* s)
{
    ph_viewer_stats stats = {0};
    assert_int_equal(ph_viewer_get_stats(s->world, ph_host_viewer(s->host, 0), &stats), PH_OK);
    return (int64_t)ph_host_get_stats(s->host).sent_wire_bytes - (int64_t)stats.sent_wire_bytes;
}

// From half a million packets on, numbers of more than three bytes make every datagram longer: those of the view, messages that goes alone
// between two of them, keep-alives. There is always enough to pay for all of them.
static void datagrams_of_a_long_connection_are_paid_in_full(void** state)
{
    (void)state;
    stage s;
    player p;
    setup(&s, 0);
    s.viewer.bits_per_second = 1000000;
    s.viewer.sends_per_second = 4.0;
    join(&s, &p, 1);
    assert_true(show_all(&s, &p, 1));
    s.host->server->def.keep_alive_ms = 3 * TICK_US / 1000;
    const uint64_t counts[] = {PH_NET_SHORT_PACKETS - 5, PH_NET_SHORT_PACKETS, UINT64_C(1) << 31};
    for (int round = 0; round < 3; ++round) {
        s.host->server->slots.slots[0].packets = counts[round];
        const uint64_t datagrams = ph_host_get_stats(s.host).sent_datagrams;
        const int64_t before_bytes = unpaid_bytes(&s);
        for (int i = 0; i < 40; ++i) {
            if (i % 10 == 0) {
                ph_messages_send(ph_host_messages(s.host, 0), "welcome", 7);
            }
            move_all(&s);
            tick(&s);
            play(&p);
        }
        assert_true(ph_host_get_stats(s.host).sent_datagrams > datagrams + 5);
        assert_true(unpaid_bytes(&s) <= before_bytes);
    }
    leave(&p);
    teardown(&s);
}

static void a_burst_is_part_of_the_budget(void** state)
{
    (void)state;
    double most_bits = 0.0;
    // A machine that has other work may starve the player, and the host then sends it less: another try.
    for (int round = 0; round < 5 && most_bits < 20000.0; ++round) {
        stage s;
        setup(&s, 0);
        s.viewer.burst_bits = 40000;
        s.viewer.sends_per_second = 100.0;
        const double beyond_bits = bits_beyond(&s, 3.0);
        assert_true(beyond_bits <= 40000.0);
        most_bits = fmax(most_bits, beyond_bits);
        teardown(&s);
    }
    assert_true(most_bits >= 20000.0); // more than a second's worth
}

// Datagrams leave and no ack comes: the rate falls, and what is saved up stays.
static void a_burst_outlives_a_change_of_the_rate(void** state)
{
    (void)state;
    stage s;
    player p;
    ph_viewer_stats stats = {0};
    setup(&s, 0);
    s.viewer.burst_bits = 200000;
    s.viewer.sends_per_second = 10.0;
    join(&s, &p, 1);
    assert_true(show_all(&s, &p, 1));
    const int client = ph_host_client_at(s.host, 0);
    for (int i = 0; i < TICKS_MAX && ph_host_bits_per_second(s.host, client) == 13000; ++i) {
        move_all(&s);
        tick(&s);
    }
    assert_in_range(ph_host_bits_per_second(s.host, client), 1000, 12999);
    assert_int_equal(ph_viewer_get_stats(s.world, ph_host_viewer(s.host, client), &stats), PH_OK);
    assert_in_range(stats.token_bits, 100000, 200000);
    leave(&p);
    teardown(&s);
}

// A client whose send rate is left to the profile is not sent to at each tick.
static void classic_sends_five_times_a_second(void** state)
{
    (void)state;
    stage s;
    player p;
    setup_profile(&s, PH_PROFILE_CLASSIC, 0);
    join(&s, &p, 1);
    const uint64_t start_us = ph_socket_now_us();
    while (ph_socket_now_us() < start_us + 1000000) {
        tick(&s);
        play(&p);
    }
    const uint64_t spent_us = ph_socket_now_us() - start_us;
    assert_int_equal(ph_viewer_sends_per_second(s.world, ph_host_viewer(s.host, 0)), 5);
    assert_in_range(ph_host_get_stats(s.host).sends, 1, spent_us / 200000 + 2);
    leave(&p);
    teardown(&s);
}

static void a_host_records_its_world_without_clients_too(void** state)
{
    (void)state;
    stage s;
    setup(&s, 0);
    ph_recorder_def recorder = ph_recorder_def_default();
    recorder.world = s.world;
    ph_host_def def = ph_host_def_default();
    def.world = s.world;
    def.is_insecure_dev = true;
    ph_host* host;
    assert_int_equal(ph_recorder_create(&recorder, &def.recorder), PH_OK);
    assert_int_equal(ph_host_open(&def, &host), PH_OK);
    for (int i = 0; i < 3; ++i) {
        ph_world_tick(s.world);
        ph_host_send(host, UINT64_MAX);
    }
    assert_int_equal(ph_recorder_get_stats(def.recorder).ticks, 3);
    ph_host_close(host);
    ph_recorder_destroy(def.recorder);
    teardown(&s);
}

static void a_client_that_is_not_admitted_is_shown_nothing(void** state)
{
    (void)state;
    stage s;
    player p;
    setup(&s, 0);
    s.is_closed = true;
    join(&s, &p, 1);
    for (int i = 0; i < TICKS_MAX && s.connected == 0; ++i) {
        tick(&s);
        play(&p);
    }
    assert_int_equal(ph_host_client_count(s.host), 0);
    assert_int_equal(ph_host_viewer(s.host, 0).index1, 0);
    assert_null(ph_host_messages(s.host, 0));
    assert_int_equal(ph_host_bits_per_second(s.host, 0), 0);
    assert_int_equal(ph_host_get_stats(s.host).sent_datagrams, 0);
    // Later, but only once, and only a connected client.
    const ph_viewer_def viewer = ph_viewer_def_default();
    assert_int_equal(ph_host_admit(s.host, 1, &viewer, NULL), PH_ERROR_STALE);
    assert_int_equal(ph_host_admit(s.host, 0, &viewer, NULL), PH_OK);
    assert_int_equal(ph_host_admit(s.host, 0, &viewer, NULL), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_host_bits_per_second(s.host, 0), 13000);
    assert_true(show_all(&s, &p, 1));
    leave(&p);
    teardown(&s);
}

static void a_client_that_is_disconnected_hears_of_it(void** state)
{
    (void)state;
    stage s;
    player p;
    setup(&s, 0);
    join(&s, &p, 1);
    assert_true(show_all(&s, &p, 1));
    ph_host_disconnect(s.host, ph_host_client_at(s.host, 0));
    tick(&s);
    assert_int_equal(s.ended, 1);
    assert_int_equal(ph_host_client_count(s.host), 0);
    for (int i = 0; i < TICKS_MAX && ph_net_client_get_state(p.net) == PH_NET_CLIENT_CONNECTED;
         ++i) {
        ph_socket_wait(p.socket, TICK_US);
        play(&p);
    }
    assert_int_equal(ph_net_client_get_state(p.net), PH_NET_CLIENT_DISCONNECTED);
    leave(&p);
    teardown(&s);
}

// With a crowd that has something to say.
static void show_to_crowd(stage* s)
{
    static player crowd[CROWD]; // too large for the stack
    for (int i = 0; i < CROWD; ++i) {
        join(s, &crowd[i], (uint64_t)i + 1);
        ph_messages_send(crowd[i].messages, "hello", 5);
    }
    assert_true(show_all(s, crowd, CROWD));
    for (int i = 0; i < TICKS_MAX && s->messages_received < CROWD; ++i) {
        tick(s);
        for (int j = 0; j < CROWD; ++j) {
            play(&crowd[j]);
        }
    }
    assert_int_equal(s->messages_received, CROWD);
    const ph_host_stats before = ph_host_get_stats(s->host);
    assert_int_equal(before.over_budget_datagrams, 0);
    ph_host_send(s->host, 0);
    if (s->pool == NULL) {
        assert_int_equal(ph_host_get_stats(s->host).postponed_sends,
                         before.postponed_sends + CROWD - 32);
    }
    for (int i = 0; i < CROWD; ++i) {
        leave(&crowd[i]);
    }
}

static void threads_take_what_a_crowd_says(void** state)
{
    (void)state;
    stage s;
    setup(&s, 2);
    show_to_crowd(&s);
    teardown(&s);
}

// Some turns are put off, but no client waits for ever.
static void a_host_that_is_always_late_serves_all_the_same(void** state)
{
    (void)state;
    stage s;
    setup(&s, 0);
    s.send_until_us = 0;
    show_to_crowd(&s);
    assert_true(ph_host_get_stats(s.host).postponed_sends > CROWD - 32);
    teardown(&s);
}

// Every client has something to see at every tick, and never is there time for all of them.
static void play_cut_ticks(stage* s, player* players, int ticks)
{
    s->send_until_us = 0;
    for (int i = 0; i < MANY_PLAYERS; ++i) {
        players[i].views = 0;
    }
    for (int i = 0; i < ticks; ++i) {
        const uint64_t put_off = ph_host_get_stats(s->host).postponed_sends;
        move_all(s);
        tick(s);
        assert_true(ph_host_get_stats(s->host).postponed_sends > put_off);
        for (int j = 0; j < MANY_PLAYERS; ++j) {
            play(&players[j]);
        }
    }
}

// Turns go around, so no client is more than one ahead.
static void assert_same_views(const player* players)
{
    int least = players[0].views;
    int most = players[0].views;
    for (int i = 1; i < MANY_PLAYERS; ++i) {
        least = players[i].views < least ? players[i].views : least;
        most = players[i].views > most ? players[i].views : most;
    }
    assert_true(least > 0);
    assert_in_range(most - least, 0, 1);
}

// However the system wakes them.
static void threads_that_never_have_time_send_to_all_alike(void** state)
{
    (void)state;
    static player players[MANY_PLAYERS]; // too large for the stack
    stage s;
    setup(&s, 3);
    s.viewer.bits_per_second = 1000000; // time is all that is scarce
    s.viewer.sends_per_second = 1000.0;
    for (int i = 0; i < MANY_PLAYERS; ++i) {
        join(&s, &players[i], (uint64_t)i + 1);
    }
    assert_true(show_all(&s, players, MANY_PLAYERS));
    play_cut_ticks(&s, players, 200);
    assert_same_views(players);
    for (int i = 0; i < MANY_PLAYERS; ++i) {
        leave(&players[i]);
    }
    teardown(&s);
}

// A silence begins with what came last, not with the tick before it.
static void what_comes_has_come_now(void** state)
{
    (void)state;
    stage s;
    player p;
    ph_net_client_info info;
    setup(&s, 0);
    join(&s, &p, 77);
    assert_true(show_all(&s, &p, 1));
    const int client = ph_host_client_at(s.host, 0);
    assert_false(ph_host_get_client(s.host, client + 1, &info));
    ph_socket_sleep(3 * TICK_US);
    const uint64_t sent_us = ph_socket_now_us();
    ph_net_client_send(p.net, "\0", 1);
    ph_socket_batch_flush(&p.outbox);
    ph_host_receive(s.host, sent_us + TICK_US);
    assert_true(ph_host_get_client(s.host, client, &info));
    assert_in_range(info.newest_us, sent_us, sent_us + 100 * TICK_US);
    assert_int_equal(info.client_id, 77);
    assert_int_equal(info.address.port, ph_socket_local_address(p.socket).port);
    leave(&p);
    teardown(&s);
}

static void a_port_in_use_is_taken(void** state)
{
    (void)state;
    stage s;
    setup(&s, 0);
    ph_host_def def = def_of(&s);
    ph_host* other = NULL;
    def.listen_address = ph_host_local_address(s.host);
    assert_int_equal(ph_host_open(&def, &other), PH_ERROR_TAKEN);
    assert_null(other);
    def.listen_address = (ph_address){0};
    assert_int_equal(ph_host_open(&def, &other), PH_ERROR_ARGUMENT);
    def = def_of(&s);
    def.client_capacity = 0;
    assert_int_equal(ph_host_open(&def, &other), PH_ERROR_ARGUMENT);
    teardown(&s);
}

static void a_host_on_all_addresses_is_told_its_own(void** state)
{
    (void)state;
    stage s;
    setup(&s, 0);
    ph_host_def def = def_of(&s);
    ph_host* other = NULL;
    assert_int_equal(ph_address_parse("[::]:0", &def.listen_address, NULL), PH_OK);
    assert_int_equal(ph_host_open(&def, &other), PH_ERROR_ARGUMENT);
    assert_int_equal(ph_address_parse("0.0.0.0:0", &def.listen_address, NULL), PH_OK);
    assert_int_equal(ph_host_open(&def, &other), PH_ERROR_ARGUMENT);
    assert_null(other);
    assert_int_equal(ph_address_parse("127.0.0.1:0", &def.public_address, NULL), PH_OK);
    assert_int_equal(ph_host_open(&def, &other), PH_OK);
    assert_int_equal(ph_host_public_address(other).port, ph_host_local_address(other).port);
    ph_host_close(other);
    teardown(&s);
}

static void no_memory_is_told_and_nothing_leaks(void** state)
{
    (void)state;
    stage s = {.profile = PH_PROFILE_PINHOLE, .send_until_us = UINT64_MAX};
    make_world(&s);
    for (int n = 1;; ++n) {
        s.memory = (test_memory){.fail_at = n};
        const ph_host_def def = def_of(&s);
        const ph_result result = ph_host_open(&def, &s.host);
        if (result == PH_OK) {
            break;
        }
        assert_int_equal(result, PH_ERROR_MEMORY);
        assert_null(s.host);
        test_memory_assert_clean(&s.memory);
    }
    // Admitting is the only other time.
    player p;
    s.is_closed = true;
    join(&s, &p, 1);
    for (int i = 0; i < TICKS_MAX && s.connected == 0; ++i) {
        tick(&s);
        play(&p);
    }
    const ph_viewer_def viewer = ph_viewer_def_default();
    s.memory.fail_at = s.memory.allocate_count + 1;
    assert_int_equal(ph_host_admit(s.host, 0, &viewer, NULL), PH_ERROR_MEMORY);
    assert_int_equal(ph_host_client_count(s.host), 0);
    assert_int_equal(ph_host_admit(s.host, 0, &viewer, NULL), PH_OK);
    const int allocate_count = s.memory.allocate_count;
    assert_true(show_all(&s, &p, 1));
    assert_int_equal(s.memory.allocate_count, allocate_count);
    leave(&p);
    teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_with_a_token_is_shown_the_world),
        cmocka_unit_test(threads_show_the_same),
        cmocka_unit_test(messages_and_input_go_both_ways),
        cmocka_unit_test(message_does_not_wait_for_the_view),
        cmocka_unit_test(no_client_is_sent_more_than_the_budget),
#if defined(__linux__) && !defined(PH_SOCKET_PLAIN)
        cmocka_unit_test(a_host_answers_from_the_address_that_was_asked),
#endif
        cmocka_unit_test(keys_of_a_host_are_changed_while_it_runs),
        cmocka_unit_test(tokens_outlive_a_host_with_a_file),
        cmocka_unit_test(datagrams_of_a_long_connection_are_paid_in_full),
        cmocka_unit_test(a_burst_is_part_of_the_budget),
        cmocka_unit_test(a_burst_outlives_a_change_of_the_rate),
        cmocka_unit_test(classic_sends_five_times_a_second),
        cmocka_unit_test(a_host_records_its_world_without_clients_too),
        cmocka_unit_test(a_client_that_is_not_admitted_is_shown_nothing),
        cmocka_unit_test(a_client_that_is_disconnected_hears_of_it),
        cmocka_unit_test(threads_take_what_a_crowd_says),
        cmocka_unit_test(a_host_that_is_always_late_serves_all_the_same),
        cmocka_unit_test(threads_that_never_have_time_send_to_all_alike),
        cmocka_unit_test(what_comes_has_come_now),
        cmocka_unit_test(a_port_in_use_is_taken),
        cmocka_unit_test(a_host_on_all_addresses_is_told_its_own),
        cmocka_unit_test(no_memory_is_told_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
