// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A host whose time of day is set while it runs: on a simulated clock and network, with one player at a
// time that wants in with a token of the right time.

#include "net/net_tools.h"
#include "test_support.h"

#include <pinhole/net/netcode.h>
#include <pinhole/pinhole.h>

#include <string.h>

enum { QUEUE = 64, TICK_US = 50000, HOUR_S = 3600 };
static const char SCHEMA[] = "class thing\n    place: position\n";
static const uint8_t KEY[PH_NETCODE_KEY_SIZE] = "a key of 32 bytes for the tests";

typedef struct datagram {
    ph_address peer; // of the host
    size_t size;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX];
} datagram;

typedef struct stage {
    uint64_t now_us;
    uint64_t true_s; // the time of day
    int64_t wrong_s; // what the host's clock adds to it
    ph_net_simulation simulation;
    ph_schema* schema;
    ph_world* world;
    ph_host* host;
    ph_net_client* client;
    ph_address client_address;
    datagram up[QUEUE];
    int up_count;
    datagram down[QUEUE];
    int down_count;
} stage;

static ph_address host_address(void)
{
    const uint8_t bytes[4] = {10, 0, 0, 1};
    return ph_address_make_ipv4(bytes, 40000);
}

static uint64_t now_us(void* context)
{
    return ((const stage*)context)->now_us;
}

static uint64_t unix_s(void* context)
{
    const stage* s = context;
    return s->true_s + (uint64_t)s->wrong_s;
}

static int receive(void* context, ph_datagram* datagrams, int max)
{
    stage* s = context;
    const int count = s->up_count < max ? s->up_count : max;
    assert_int_equal(count, s->up_count);
    for (int i = 0; i < count; ++i) {
        datagram* one = &s->up[i];
        datagrams[i] = (ph_datagram){.peer = one->peer, .bytes = one->bytes, .size = one->size};
    }
    s->up_count = 0;
    return count;
}

static void put(datagram* queue, int* count, const ph_address* peer, const void* bytes, size_t size)
{
    assert_true(*count < QUEUE);
    datagram* one = &queue[(*count)++];
    one->peer = *peer;
    one->size = size;
    memcpy(one->bytes, bytes, size);
}

static int send(void* context, const ph_datagram* datagrams, int count)
{
    stage* s = context;
    for (int i = 0; i < count; ++i) {
        put(s->down, &s->down_count, &datagrams[i].peer, datagrams[i].bytes, datagrams[i].size);
    }
    return count;
}

static void send_up(void* context, const ph_address* to, const void* bytes, size_t size)
{
    (void)to;
    stage* s = context;
    put(s->up, &s->up_count, &s->client_address, bytes, size);
}

static void setup(stage* s)
{
    memset(s, 0, sizeof *s);
    s->now_us = 5000000;
    s->true_s = 1700000000;
    s->simulation = (ph_net_simulation){now_us, unix_s, receive, send, s};
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &s->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = s->schema;
    assert_int_equal(ph_world_create(&world, &s->world), PH_OK);
    ph_host_def host = ph_host_def_default();
    host.world = s->world;
    host.listen_address = host_address();
    memcpy(host.private_key, KEY, sizeof KEY);
    assert_int_equal(ph_host_open_simulated(&host, &s->simulation, &s->host), PH_OK);
    ph_net_client_def client = ph_net_client_def_default();
    client.sink = (ph_net_sink){send_up, s};
    assert_int_equal(ph_net_client_create(&client, &s->client), PH_OK);
    const uint8_t bytes[4] = {10, 0, 0, 2};
    s->client_address = ph_address_make_ipv4(bytes, 50000);
}

static void teardown(stage* s)
{
    ph_net_client_destroy(s->client);
    ph_host_close(s->host);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
}

static void tick(stage* s)
{
    const uint64_t before_s = s->now_us / 1000000;
    s->now_us += TICK_US;
    s->true_s += s->now_us / 1000000 - before_s;
    ph_net_client_tick(s->client, s->now_us);
    ph_host_receive(s->host, 0);
    ph_host_tick(s->host);
    for (ph_net_event event; ph_host_next_event(s->host, &event);) {
    }
    const ph_address host = host_address();
    for (int i = 0; i < s->down_count; ++i) {
        ph_net_payload payload;
        ph_net_client_receive(s->client, &host, s->down[i].bytes, s->down[i].size, &payload);
    }
    s->down_count = 0;
}

static void run(stage* s, int duration_s)
{
    for (int i = 0; i < duration_s * (1000000 / TICK_US); ++i) {
        tick(s);
    }
}

// A new player tries for two seconds, then goes. @return Whether it got in.
static bool try_newcomer(stage* s, const uint8_t* token)
{
    ph_net_client_connect(s->client, token, PH_TOKEN_SIZE, s->now_us);
    run(s, 2);
    const bool is_in = ph_net_client_get_state(s->client) == PH_NET_CLIENT_CONNECTED;
    ph_net_client_disconnect(s->client);
    run(s, 1);
    return is_in;
}

static void make_token(const stage* s, uint8_t token[PH_TOKEN_SIZE])
{
    ph_token_def def = ph_token_def_default();
    def.client_id = 7;
    def.create_s = s->true_s;
    def.lifetime_s = 30;
    def.addresses[0] = host_address();
    def.address_count = 1;
    memcpy(def.private_key, KEY, sizeof KEY);
    assert_int_equal(ph_token_write(&def, token), PH_OK);
}

static bool has_newcomer(stage* s)
{
    uint8_t token[PH_TOKEN_SIZE];
    make_token(s, token);
    return try_newcomer(s, token);
}

static void a_leap_ahead_for_a_while_locks_no_newcomer_out(void** state)
{
    (void)state;
    static stage s;
    setup(&s);
    assert_true(has_newcomer(&s));
    s.wrong_s = HOUR_S;
    run(&s, 10);
    assert_true(has_newcomer(&s));
    s.wrong_s = 0;
    assert_true(has_newcomer(&s));
    s.wrong_s = -HOUR_S;
    run(&s, 100);
    assert_true(has_newcomer(&s));
    s.wrong_s = 0;
    assert_true(has_newcomer(&s));
    teardown(&s);
}

static void a_leap_ahead_that_lasts_is_the_time(void** state)
{
    (void)state;
    static stage s;
    setup(&s);
    s.wrong_s = HOUR_S;
    run(&s, 61);
    assert_false(has_newcomer(&s)); // its token is an hour old
    s.wrong_s = 0;
    assert_false(has_newcomer(&s)); // and stays so: a clock that is set back revives no token
    teardown(&s);
}

// The clock is set back by an hour: what has expired before is no better for it, and what would expire
// meanwhile does, once the clock is right again.
static void a_clock_that_is_set_back_revives_no_token(void** state)
{
    (void)state;
    static stage s;
    setup(&s);
    uint8_t token[PH_TOKEN_SIZE];
    make_token(&s, token);
    run(&s, 31);
    s.wrong_s = -HOUR_S;
    assert_false(try_newcomer(&s, token));
    make_token(&s, token);
    run(&s, 31);
    s.wrong_s = 0;
    run(&s, 1);
    assert_false(try_newcomer(&s, token));
    teardown(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leap_ahead_for_a_while_locks_no_newcomer_out),
        cmocka_unit_test(a_leap_ahead_that_lasts_is_the_time),
        cmocka_unit_test(a_clock_that_is_set_back_revives_no_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
