// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "netcode_stage.h"
#include "net/net_tools.h"

#include <stdlib.h>
#include <string.h>

static netcode_stage the_stage;

ph_address stage_address(const char* text)
{
    ph_address address;
    assert_int_equal(ph_address_parse(text, &address, NULL), PH_OK);
    return address;
}

static void enqueue(void* context, const ph_address* to, const void* bytes, size_t size)
{
    const stage_port* port = context;
    netcode_stage* x = port->stage;
    if (x->queue_count == STAGE_QUEUE) {
        return; // as a socket does
    }
    stage_datagram* datagram = &x->queue[x->queue_count++];
    datagram->from = port->address;
    datagram->to = *to;
    datagram->size = size;
    memcpy(datagram->bytes, bytes, size);
}

static void fill_random(void* context, void* bytes, size_t size)
{
    netcode_stage* x = context;
    for (size_t i = 0; i < size; ++i) {
        ((uint8_t*)bytes)[i] = (uint8_t)test_rng_next(&x->rng);
    }
}

static void create_server(netcode_stage* x)
{
    assert_int_equal(ph_net_server_create_with(&x->server_def, fill_random, x, &x->server), PH_OK);
    ph_net_server_start(x->server, x->now_us, x->unix_s);
}

static void create_client(netcode_stage* x, int client)
{
    x->ports[client].stage = x;
    x->ports[client].address = stage_address("10.0.0.2:50000");
    x->ports[client].address.port = (uint16_t)(50000 + client);
    ph_net_client_def def = ph_net_client_def_default();
    def.sink.send = enqueue;
    def.sink.context = &x->ports[client];
    def.allocator = test_memory_allocator(&x->memory);
    assert_int_equal(ph_net_client_create(&def, &x->clients[client]), PH_OK);
}

netcode_stage* stage_setup(int client_capacity)
{
    netcode_stage* x = &the_stage;
    memset(x, 0, sizeof *x);
    x->rng.state = 77;
    x->now_us = 5000000;
    x->unix_s = STAGE_UNIX_S;
    x->server_port.stage = x;
    x->server_port.address = stage_address("10.0.0.1:40000");
    ph_net_server_def* def = &x->server_def;
    *def = ph_net_server_def_default();
    def->protocol_id = STAGE_PROTOCOL;
    memset(def->private_key, 0x5A, sizeof def->private_key);
    def->addresses[def->address_count++] = x->server_port.address;
    def->client_capacity = client_capacity;
    def->sink.send = enqueue;
    def->sink.context = &x->server_port;
    def->allocator = test_memory_allocator(&x->memory);
    create_server(x);
    for (int client = 0; client < STAGE_CLIENTS; ++client) {
        create_client(x, client);
    }
    return x;
}

void stage_remake_server(netcode_stage* x)
{
    ph_net_server_destroy(x->server);
    create_server(x);
}

void stage_teardown(netcode_stage* x)
{
    assert_true(ph_net_server_validate(x->server));
    ph_net_server_destroy(x->server);
    for (int client = 0; client < STAGE_CLIENTS; ++client) {
        ph_net_client_destroy(x->clients[client]);
    }
    test_memory_assert_clean(&x->memory);
}

// ---- connecting

ph_token_def stage_token_def(const netcode_stage* x, uint64_t client_id)
{
    ph_token_def def = ph_token_def_default();
    def.protocol_id = STAGE_PROTOCOL;
    def.client_id = client_id;
    def.create_s = x->unix_s;
    def.lifetime_s = 30;
    def.timeout_s = 2;
    def.addresses[0] = x->server_port.address;
    def.address_count = 1;
    memset(def.private_key, 0x5A, sizeof def.private_key);
    memset(def.user_data, (int)(client_id & 0xFF), sizeof def.user_data);
    return def;
}

void stage_connect_with(netcode_stage* x, int client, const ph_token_def* def)
{
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(def, token), PH_OK);
    ph_net_client_connect(x->clients[client], token, sizeof token, x->now_us);
}

void stage_connect(netcode_stage* x, int client)
{
    const ph_token_def def = stage_token_def(x, STAGE_FIRST_ID + (uint64_t)client);
    stage_connect_with(x, client, &def);
}

void stage_join(netcode_stage* x, int client)
{
    stage_connect(x, client);
    stage_deliver(x);
    assert_int_equal(stage_state(x, client), PH_NET_CLIENT_CONNECTED);
}

// ---- datagrams

static void keep(netcode_stage* x, const ph_net_payload* payload, int* count)
{
    if (payload->size > 0) {
        ++*count;
        x->last = *payload;
        memcpy(x->last_bytes, payload->bytes, payload->size);
        x->last.bytes = x->last_bytes;
    }
}

// In a block of its own size, so that the sanitizer sees a step too far.
ph_net_refusal stage_hand_to_server(netcode_stage* x, const ph_address* from, const void* bytes,
                                    size_t size)
{
    uint8_t* copy = malloc(size > 0 ? size : 1);
    memcpy(copy, bytes, size);
    ph_net_payload payload;
    x->last_refusal = ph_net_server_receive(x->server, from, copy, size, &payload);
    keep(x, &payload, &x->server_payloads);
    free(copy);
    return x->last_refusal;
}

ph_net_refusal stage_hand_to_client(netcode_stage* x, int client, const void* bytes, size_t size)
{
    uint8_t* copy = malloc(size > 0 ? size : 1);
    memcpy(copy, bytes, size);
    ph_net_payload payload;
    const ph_address from = ph_net_client_server(x->clients[client]);
    x->last_refusal = ph_net_client_receive(x->clients[client], &from, copy, size, &payload);
    keep(x, &payload, &x->client_payloads);
    free(copy);
    return x->last_refusal;
}

static void hand_over(netcode_stage* x, const stage_datagram* datagram)
{
    for (int i = 0; i < x->server_def.address_count; ++i) {
        if (ph_address_is_equal(&datagram->to, &x->server_def.addresses[i])) {
            stage_hand_to_server(x, &datagram->from, datagram->bytes, datagram->size);
        }
    }
    for (int client = 0; client < STAGE_CLIENTS; ++client) {
        if (ph_address_is_equal(&datagram->to, &x->ports[client].address)) {
            ph_net_payload payload;
            uint8_t copy[STAGE_DATAGRAM_MAX];
            memcpy(copy, datagram->bytes, datagram->size);
            x->last_refusal = ph_net_client_receive(x->clients[client], &datagram->from, copy,
                                                    datagram->size, &payload);
            keep(x, &payload, &x->client_payloads);
        }
    }
}

void stage_deliver(netcode_stage* x)
{
    for (int i = 0; i < x->queue_count; ++i) {
        stage_datagram datagram = x->queue[i];
        if (x->filter == NULL || x->filter(x, &datagram)) {
            hand_over(x, &datagram);
        }
    }
    x->queue_count = 0;
}

void stage_step(netcode_stage* x)
{
    x->now_us += 10000;
    ph_net_server_tick(x->server, x->now_us, x->unix_s);
    for (int client = 0; client < STAGE_CLIENTS; ++client) {
        ph_net_client_tick(x->clients[client], x->now_us);
    }
    stage_deliver(x);
}

void stage_run(netcode_stage* x, int duration_ms)
{
    for (int i = 0; i < duration_ms; i += 10) {
        stage_step(x);
    }
}

// ---- questions

ph_net_client_state stage_state(const netcode_stage* x, int client)
{
    return ph_net_client_get_state(x->clients[client]);
}

uint64_t stage_refused(const netcode_stage* x, ph_net_refusal refusal)
{
    const ph_net_server_stats stats = ph_net_server_get_stats(x->server);
    return stats.refused_datagrams[refusal];
}

ph_net_event stage_expect_event(netcode_stage* x, ph_net_event_kind kind)
{
    ph_net_event event;
    assert_true(ph_net_server_next_event(x->server, &event));
    assert_int_equal(event.kind, kind);
    return event;
}

void stage_expect_no_event(netcode_stage* x)
{
    ph_net_event event;
    assert_false(ph_net_server_next_event(x->server, &event));
}
