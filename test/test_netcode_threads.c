// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What netcode_server.h allows several threads to do at once, under ThreadSanitizer: find any
// client, seal for different clients, open what came from different clients, and both for the same
// one.

#include "netcode_stage.h"

#include <pinhole/net/pool.h>

#include <string.h>

enum { CLIENTS = STAGE_CLIENTS, PAYLOADS = 40, THREADS = 4 };

// What one client has got, or is about to send. Work on one side of a client touches nothing else.
typedef struct datagram_queue {
    stage_datagram datagrams[PAYLOADS];
    int count;
    int taken_count;
    int refused_count;
} datagram_queue;

typedef struct fixture {
    netcode_stage* x;
    datagram_queue down[CLIENTS];
    datagram_queue up[CLIENTS];
} fixture;

static fixture the_fixture;

static void put_into_queue(void* context, const ph_address* to, const void* bytes, size_t size)
{
    datagram_queue* box = context;
    stage_datagram* datagram = &box->datagrams[box->count++];
    datagram->to = *to;
    datagram->size = size;
    memcpy(datagram->bytes, bytes, size);
}

static fixture* setup(void)
{
    fixture* f = &the_fixture;
    memset(f, 0, sizeof *f);
    f->x = stage_setup(CLIENTS);
    for (int i = 0; i < CLIENTS; ++i) {
        stage_join(f->x, i);
        ph_net_client_send(f->x->clients[i], "!", 1); // confirms
    }
    stage_deliver(f->x);
    for (int i = 0; i < CLIENTS; ++i) {
        datagram_queue* box = &f->up[i];
        for (int n = 0; n < PAYLOADS; ++n) {
            ph_net_client_send(f->x->clients[i], "upwards", 7);
            box->datagrams[box->count++] = f->x->queue[--f->x->queue_count];
        }
        box->datagrams[3].bytes[5] ^= 1; // one is damaged
    }
    return f;
}

static void seal_for(fixture* f, int client)
{
    const ph_net_sink sink = {.send = put_into_queue, .context = &f->down[client]};
    for (int n = 0; n < PAYLOADS; ++n) {
        const size_t cost = ph_net_server_cost(f->x->server, client, 9);
        const bool is_sealed = ph_net_server_seal(f->x->server, client, "downwards", 9, &sink);
        f->down[client].taken_count += is_sealed && f->down[client].datagrams[n].size == cost;
    }
}

static void open_from(fixture* f, int client)
{
    datagram_queue* box = &f->up[client];
    const int found = ph_net_server_find(f->x->server, &f->x->ports[client].address);
    for (int n = 0; n < box->count; ++n) {
        stage_datagram* datagram = &box->datagrams[n];
        ph_net_payload payload;
        const ph_net_refusal refusal =
            ph_net_server_open(f->x->server, found, datagram->bytes, datagram->size, &payload);
        box->taken_count += payload.size == 7 && payload.client == client;
        box->refused_count += refusal != PH_NET_REFUSAL_NONE;
    }
}

// Even indices seal, odd ones open; two following ones are at the same client.
static void work(void* context, int index)
{
    if (index % 2 == 0) {
        seal_for(context, index / 2);
    } else {
        open_from(context, index / 2);
    }
}

static void both_directions_of_all_clients_at_once(void** state)
{
    (void)state;
    fixture* f = setup();
    ph_pool* pool = ph_pool_create(THREADS);
    ph_pool_run(pool, CLIENTS * 2, work, f);
    ph_pool_destroy(pool);
    for (int i = 0; i < CLIENTS; ++i) {
        assert_int_equal(f->up[i].taken_count, PAYLOADS - 1);
        assert_int_equal(f->up[i].refused_count, 1);
        assert_int_equal(f->down[i].taken_count, PAYLOADS);
        assert_int_equal(f->down[i].count, PAYLOADS);
        const int before = f->x->client_payloads;
        for (int n = 0; n < PAYLOADS; ++n) {
            const stage_datagram* datagram = &f->down[i].datagrams[n];
            assert_true(ph_address_is_equal(&datagram->to, &f->x->ports[i].address));
            stage_hand_to_client(f->x, i, datagram->bytes, datagram->size);
        }
        assert_int_equal(f->x->client_payloads - before, PAYLOADS);
    }
    assert_int_equal(stage_refused(f->x, PH_NET_REFUSAL_SEAL), CLIENTS);
    const ph_net_server_stats stats = ph_net_server_get_stats(f->x->server);
    assert_int_equal(stats.received_payloads, CLIENTS * PAYLOADS);
    assert_int_equal(stats.sent_payloads, CLIENTS * PAYLOADS);
    stage_teardown(f->x);
}

// All clients disconnect while a thread seals for them.
static fixture* disconnect_all(void)
{
    fixture* f = setup();
    for (int i = 0; i < CLIENTS; ++i) {
        ph_net_client_disconnect(f->x->clients[i]);
        f->up[i].datagrams[PAYLOADS / 2] = f->x->queue[0];
        f->x->queue_count = 0;
    }
    ph_pool* pool = ph_pool_create(THREADS);
    ph_pool_run(pool, CLIENTS * 2, work, f);
    ph_pool_destroy(pool);
    const ph_net_server_stats stats = ph_net_server_get_stats(f->x->server);
    assert_int_equal(stats.client_count, CLIENTS);
    for (int i = 0; i < CLIENTS; ++i) {
        // Those after it, and the damaged one.
        assert_int_equal(f->up[i].refused_count, PAYLOADS - PAYLOADS / 2 - 1 + 1);
        assert_false(ph_net_server_send(f->x->server, i, "x", 1));
        ph_net_client_info info;
        assert_false(ph_net_server_get_client(f->x->server, i, &info));
    }
    return f;
}

static void expect_all_gone(fixture* f)
{
    assert_int_equal(f->x->queue_count, 0); // no client gets its own disconnect back
    for (int i = 0; i < CLIENTS; ++i) {
        stage_expect_event(f->x, PH_NET_CONNECTED);
    }
    for (int i = 0; i < CLIENTS; ++i) {
        assert_int_equal(stage_expect_event(f->x, PH_NET_DISCONNECTED).end, PH_NET_END_CLIENT);
    }
    stage_teardown(f->x);
}

static void a_goodbye_waits_for_the_tick(void** state)
{
    (void)state;
    fixture* f = disconnect_all();
    ph_net_server_tick(f->x->server, f->x->now_us, f->x->unix_s);
    expect_all_gone(f);
}

static void a_goodbye_may_be_the_last_word(void** state)
{
    (void)state;
    fixture* f = disconnect_all();
    ph_net_server_disconnect_all(f->x->server);
    expect_all_gone(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_directions_of_all_clients_at_once),
        cmocka_unit_test(a_goodbye_waits_for_the_tick),
        cmocka_unit_test(a_goodbye_may_be_the_last_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
