// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// No secret stays in memory for longer than it is needed: the private key stands in one place while a host is open
// and nowhere afterwards, the keys of a session are gone when it ends, however it ends, and the key of the
// challenges when the server stops. The allocator searches the blocks: those in use now, and each one when it is
// released.

#include "netcode_stage.h"

#include "net/net_tools.h"
#include <pinhole/net/host.h>
#include <pinhole/pinhole.h>

#include <string.h>

enum { CLIENT_ID = 4711 };

// ---- the keys of a session

typedef enum ending {
    ENDING_BY_CLIENT,
    ENDING_BY_SERVER,
    ENDING_BY_STOP,
    ENDING_BY_SILENCE,
    ENDING_COUNT,
} ending;

static bool lose(netcode_stage* x, stage_datagram* datagram)
{
    (void)x;
    (void)datagram;
    return false;
}

// The client's requests arrive, and nothing else does.
static bool lose_answers(netcode_stage* x, stage_datagram* datagram)
{
    return ph_address_is_equal(&datagram->to, &x->server_port.address);
}

// A client begins to connect; what the token holds is looked for from now on. There is but one of these.
static ph_token* begin(netcode_stage* x)
{
    static ph_token token;
    static ph_token_def def;
    uint8_t bytes[PH_TOKEN_SIZE];
    def = stage_token_def(x, CLIENT_ID);
    for (size_t i = 0; i < sizeof def.user_data; ++i) {
        def.user_data[i] = (uint8_t)(7 * i + 3);
    }
    assert_int_equal(ph_token_write(&def, bytes), PH_OK);
    assert_int_equal(ph_token_read(bytes, sizeof bytes, &token), PH_TOKEN_GOOD);
    test_memory_watch(&x->memory, token.secrets.client_to_server_key, PH_NETCODE_KEY_SIZE);
    test_memory_watch(&x->memory, token.secrets.server_to_client_key, PH_NETCODE_KEY_SIZE);
    test_memory_watch(&x->memory, def.user_data, sizeof def.user_data);
    ph_net_client_connect(x->clients[0], bytes, sizeof bytes, x->now_us);
    return &token;
}

static int key_count(const netcode_stage* x, const ph_token* token)
{
    return test_memory_count(&x->memory, token->secrets.client_to_server_key, PH_NETCODE_KEY_SIZE) +
           test_memory_count(&x->memory, token->secrets.server_to_client_key, PH_NETCODE_KEY_SIZE);
}

static void end(netcode_stage* x, int client, ending how)
{
    switch (how) {
    case ENDING_BY_CLIENT:
        ph_net_client_disconnect(x->clients[0]);
        break;
    case ENDING_BY_SERVER:
        ph_net_server_disconnect(x->server, client);
        break;
    case ENDING_BY_STOP:
        ph_net_server_stop(x->server);
        break;
    default:
        x->filter = lose;
        break;
    }
    stage_run(x, 3500); // the token's timeout is 2 s
}

static void the_keys_of_a_session_are_gone_when_it_ends(void** state)
{
    (void)state;
    for (int how = 0; how < ENDING_COUNT; ++how) {
        netcode_stage* x = stage_setup(4);
        const ph_token* token = begin(x);
        stage_run(x, 300);
        assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_CONNECTED);
        const int client = stage_expect_event(x, PH_NET_CONNECTED).client;
        assert_int_equal(key_count(x, token),
                         4); // both ends have both: the search finds what is there
        end(x, client, (ending)how);
        stage_expect_event(x, PH_NET_DISCONNECTED);
        if (key_count(x, token) != 0) {
            fail_msg("ending %d: session keys stand in %d places", how, key_count(x, token));
        }
        assert_int_equal(
            test_memory_count(&x->memory, x->memory.secrets[2].bytes, x->memory.secrets[2].size),
            0);
        stage_teardown(x);
        assert_int_equal(x->memory.revealed_count, 0);
    }
}

static void the_keys_of_a_handshake_are_gone_when_it_fails(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(4);
    const ph_token* token = begin(x);
    x->filter = lose_answers;
    stage_run(x, 300);
    assert_int_equal(key_count(x, token), 4);
    stage_run(x, 4000);
    assert_int_equal(stage_state(x, 0), PH_NET_CLIENT_REQUEST_TIMED_OUT);
    stage_run(x, 4000); // since its last request
    assert_int_equal(key_count(x, token), 0);
    stage_teardown(x);
    assert_int_equal(x->memory.revealed_count, 0);
}

static void keys_are_gone_when_both_ends_are_destroyed_in_the_middle(void** state)
{
    (void)state;
    for (int ms = 0; ms <= 300; ms += 300) {
        netcode_stage* x = stage_setup(4);
        const ph_token* token = begin(x);
        x->filter = ms == 0 ? lose_answers : NULL;
        stage_run(x, ms == 0 ? 10 : ms);
        assert_int_equal(key_count(x, token), 4);
        stage_teardown(x);
        assert_int_equal(x->memory.revealed_count, 0);
    }
}

// ---- the key of the challenges

enum { DRAWN_MAX = 16 };

// Everything that a server draws of the size of a key.
typedef struct drawn_keys {
    test_rng rng;
    uint8_t keys[DRAWN_MAX][PH_NETCODE_KEY_SIZE];
    int count;
} drawn_keys;

static void draw(void* context, void* bytes, size_t size)
{
    drawn_keys* drawn = context;
    for (size_t i = 0; i < size; ++i) {
        ((uint8_t*)bytes)[i] = (uint8_t)test_rng_next(&drawn->rng);
    }
    if (size == PH_NETCODE_KEY_SIZE) {
        assert_true(drawn->count < DRAWN_MAX);
        memcpy(drawn->keys[drawn->count++], bytes, size);
    }
}

// In how many places keys stand of those that were drawn from `first` on.
static int drawn_count(const netcode_stage* x, const drawn_keys* drawn, int first)
{
    int count = 0;
    for (int i = first; i < drawn->count; ++i) {
        count += test_memory_count(&x->memory, drawn->keys[i], PH_NETCODE_KEY_SIZE);
    }
    return count;
}

static void the_key_of_the_challenges_is_gone_when_the_server_stops(void** state)
{
    (void)state;
    netcode_stage* x = stage_setup(4);
    drawn_keys drawn = {.rng = {.state = 5}};
    ph_net_server* server;
    assert_int_equal(ph_net_server_create_with(&x->server_def, draw, &drawn, &server), PH_OK);
    for (int round = 0; round < 3; ++round) {
        const int first = drawn.count; // each start has its own
        ph_net_server_start(server, x->now_us, x->unix_s);
        assert_true(drawn_count(x, &drawn, first) > 0);
        ph_net_server_tick(server, x->now_us, x->unix_s);
        ph_net_server_stop(server);
        assert_int_equal(drawn_count(x, &drawn, first), 0);
    }
    const int first = drawn.count;
    ph_net_server_start(server, x->now_us, x->unix_s);
    for (int i = first; i < drawn.count; ++i) {
        test_memory_watch(&x->memory, drawn.keys[i], PH_NETCODE_KEY_SIZE);
    }
    ph_net_server_destroy(server); // without a stop
    assert_int_equal(x->memory.revealed_count, 0);
    stage_teardown(x);
}

// ---- the private key

static const uint8_t PRIVATE_KEY[PH_NETCODE_KEY_SIZE] = "a key that is found where it is!";

static void the_private_key_stands_once_in_a_host_and_nowhere_behind_it(void** state)
{
    (void)state;
    static const char SCHEMA[] = "class thing\n    place: position\n";
    test_memory memory = {0};
    ph_schema* schema;
    ph_world* world;
    ph_host* host;
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = schema;
    assert_int_equal(ph_world_create(&world_def, &world), PH_OK);
    ph_host_def def = ph_host_def_default();
    def.world = world;
    def.allocator = test_memory_allocator(&memory);
    memcpy(def.private_key, PRIVATE_KEY, sizeof PRIVATE_KEY);
    test_memory_watch(&memory, PRIVATE_KEY, sizeof PRIVATE_KEY);
    assert_int_equal(ph_host_open(&def, &host), PH_OK);
    assert_in_range(test_memory_count(&memory, PRIVATE_KEY, sizeof PRIVATE_KEY), 0, 1);
    ph_host_tick(host);
    ph_host_stop(host);
    ph_host_close(host);
    assert_int_equal(memory.revealed_count, 0);
    test_memory_assert_clean(&memory);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
}

static void a_host_that_cannot_open_leaves_no_key_behind(void** state)
{
    (void)state;
    static const char SCHEMA[] = "class thing\n    place: position\n";
    ph_schema* schema;
    ph_world* world;
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL), PH_OK);
    ph_world_def world_def = ph_world_def_default();
    world_def.schema = schema;
    assert_int_equal(ph_world_create(&world_def, &world), PH_OK);
    ph_result result = PH_ERROR_MEMORY;
    int tries = 0;
    while (result != PH_OK) {
        test_memory memory = {.fail_at = ++tries};
        ph_host* host;
        ph_host_def def = ph_host_def_default();
        def.world = world;
        def.allocator = test_memory_allocator(&memory);
        memcpy(def.private_key, PRIVATE_KEY, sizeof PRIVATE_KEY);
        test_memory_watch(&memory, PRIVATE_KEY, sizeof PRIVATE_KEY);
        result = ph_host_open(&def, &host);
        ph_host_close(host);
        assert_int_equal(memory.revealed_count, 0);
        test_memory_assert_clean(&memory);
    }
    assert_true(tries > 5);
    ph_world_destroy(world);
    ph_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_keys_of_a_session_are_gone_when_it_ends),
        cmocka_unit_test(the_keys_of_a_handshake_are_gone_when_it_fails),
        cmocka_unit_test(keys_are_gone_when_both_ends_are_destroyed_in_the_middle),
        cmocka_unit_test(the_key_of_the_challenges_is_gone_when_the_server_stops),
        cmocka_unit_test(the_private_key_stands_once_in_a_host_and_nowhere_behind_it),
        cmocka_unit_test(a_host_that_cannot_open_leaves_no_key_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
