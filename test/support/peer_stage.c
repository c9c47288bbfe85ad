// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "peer_stage.h"

#include <stdio.h>
#include <string.h>

static const uint8_t KEY[PH_NETCODE_KEY_SIZE] = "a key of 32 bytes for the tests";
static const char SCHEMA[] = "class ship\n    place: position\n";

static peer_stage the_stage;

// ---- time and network

static uint64_t now_of_host(void* context)
{
    return ((const peer_stage*)context)->now_us;
}

static uint64_t unix_of_host(void* context)
{
    const peer_stage* s = context;
    return s->unix_s + s->now_us / 1000000;
}

static void put(peer_stage_datagram* queue, int* count, const peer_stage_datagram* one)
{
    assert_true(*count < PEER_STAGE_QUEUE);
    queue[(*count)++] = *one;
}

// Moves up to max of those for this address (NULL: any) out of the queue.
static int take(peer_stage_datagram* queue, int* count, const ph_address* to,
                peer_stage_datagram* taken, int max)
{
    int got = 0;
    int left = 0;
    for (int i = 0; i < *count; ++i) {
        if (got < max && (to == NULL || ph_address_is_equal(&queue[i].to, to))) {
            taken[got++] = queue[i];
        } else {
            queue[left++] = queue[i];
        }
    }
    *count = left;
    return got;
}

static int lend(peer_stage_datagram* taken, int count, ph_datagram* datagrams)
{
    for (int i = 0; i < count; ++i) {
        datagrams[i] =
            (ph_datagram){.peer = taken[i].from, .bytes = taken[i].bytes, .size = taken[i].size};
    }
    return count;
}

static int receive_at_host(void* context, ph_datagram* datagrams, int max)
{
    peer_stage* s = context;
    return lend(s->taken, take(s->up, &s->up_count, NULL, s->taken, max), datagrams);
}

static int send_of_host(void* context, const ph_datagram* datagrams, int count)
{
    peer_stage* s = context;
    for (int i = 0; i < count; ++i) {
        peer_stage_datagram one = {
            .from = s->def.listen_address, .to = datagrams[i].peer, .size = datagrams[i].size};
        memcpy(one.bytes, datagrams[i].bytes, one.size);
        put(s->down, &s->down_count, &one);
        ++s->sent_down;
    }
    return count;
}

static uint64_t now_of_player(void* context)
{
    return ((const peer_stage_player*)context)->stage->now_us;
}

static int receive_at_player(void* context, ph_datagram* datagrams, int max)
{
    peer_stage_player* p = context;
    peer_stage* s = p->stage;
    return lend(p->taken, take(s->down, &s->down_count, &p->address, p->taken, max), datagrams);
}

static bool send_of_player(void* context, const ph_datagram* datagram)
{
    const peer_stage_player* p = context;
    peer_stage* s = p->stage;
    if (!s->is_dead && ph_address_is_equal(&datagram->peer, &s->def.listen_address)) {
        peer_stage_datagram one = {
            .from = p->address, .to = datagram->peer, .size = datagram->size};
        memcpy(one.bytes, datagram->bytes, one.size);
        put(s->up, &s->up_count, &one);
    }
    return true;
}

// ---- setup

static void on_error(void* context, const ph_error* error)
{
    peer_stage* s = context;
    s->errors[s->error_count++ % PEER_STAGE_ERRORS] = *error;
}

static void open_player(peer_stage* s, int player)
{
    peer_stage_player* p = &s->players[player];
    const uint8_t bytes[4] = {10, 0, 0, 2};
    p->stage = s;
    p->address = ph_address_make_ipv4(bytes, (uint16_t)(50000 + player));
    ph_peer_def def = ph_peer_def_default();
    def.schema = s->schema;
    def.on_error = ph_error_keep;
    def.on_error_context = &p->error;
    assert_int_equal(ph_peer_open(&def, &p->peer), PH_OK);
    p->peer->seam = (ph_peer_seam){now_of_player, receive_at_player, send_of_player, p};
}

peer_stage* peer_stage_setup(void)
{
    peer_stage* s = &the_stage;
    memset(s, 0, sizeof *s);
    const uint8_t bytes[4] = {10, 0, 0, 1};
    s->now_us = 5000000;
    s->unix_s = 1700000000;
    s->simulation =
        (ph_net_simulation){now_of_host, unix_of_host, receive_at_host, send_of_host, s};
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &s->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = s->schema;
    world.tick_us = PEER_STAGE_TICK_US;
    assert_int_equal(ph_world_create(&world, &s->world), PH_OK);
    ph_entity_id entity;
    assert_int_equal(ph_world_spawn(s->world, &(ph_spawn){.key = 1}, &entity), PH_OK);
    s->def = ph_host_def_default();
    s->def.world = s->world;
    s->def.listen_address = ph_address_make_ipv4(bytes, 40000);
    s->def.client_capacity = 4;
    s->def.on_error = on_error;
    s->def.on_error_context = s;
    s->def.allocator = test_memory_allocator(&s->memory);
    memcpy(s->def.private_key, KEY, sizeof KEY);
    s->viewer = ph_viewer_def_default();
    s->messages = ph_messages_def_default();
    assert_int_equal(peer_stage_open_host(s), PH_OK);
    for (int i = 0; i < PEER_STAGE_PEERS; ++i) {
        open_player(s, i);
    }
    return s;
}

void peer_stage_teardown(peer_stage* s)
{
    for (int i = 0; i < PEER_STAGE_PEERS; ++i) {
        ph_peer_close(s->players[i].peer);
    }
    ph_host_close(s->host);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
    test_memory_assert_clean(&s->memory);
}

ph_result peer_stage_open_host(peer_stage* s)
{
    ph_host_close(s->host);
    s->error_count = 0;
    s->up_count = 0; // was for the one before
    return ph_host_open_simulated(&s->def, &s->simulation, &s->host);
}

void peer_stage_open_insecure(peer_stage* s)
{
    memset(s->def.private_key, 0, sizeof s->def.private_key);
    s->def.is_insecure_dev = true;
    assert_int_equal(peer_stage_open_host(s), PH_OK);
}

// ---- tokens

ph_token_def peer_stage_token_def(const peer_stage* s, uint64_t client_id)
{
    ph_token_def def = ph_token_def_default();
    def.client_id = client_id;
    def.create_s = s->unix_s + s->now_us / 1000000;
    def.addresses[def.address_count++] = s->def.listen_address;
    memcpy(def.private_key, KEY, sizeof KEY);
    return def;
}

void peer_stage_connect_with(peer_stage* s, int player, const ph_token_def* def)
{
    uint8_t token[PH_TOKEN_SIZE];
    assert_int_equal(ph_token_write(def, token), PH_OK);
    assert_int_equal(ph_peer_connect(s->players[player].peer, token, sizeof token), PH_OK);
}

void peer_stage_connect(peer_stage* s, int player, uint64_t client_id)
{
    const ph_token_def def = peer_stage_token_def(s, client_id);
    peer_stage_connect_with(s, player, &def);
}

// ---- a tick

static void tick_host(peer_stage* s)
{
    ph_host_receive(s->host, 0);
    ph_host_tick(s->host);
    for (ph_net_event event; ph_host_next_event(s->host, &event);) {
        s->last = event;
        if (event.kind == PH_NET_DISCONNECTED) {
            ++s->ended;
            continue;
        }
        ++s->connected;
        if (!s->is_closed) {
            assert_int_equal(ph_host_admit(s->host, event.client, &s->viewer, &s->messages), PH_OK);
        }
    }
    if (!s->forgets_tick) {
        ph_world_tick(s->world);
    }
    if (!s->forgets_send) {
        ph_host_send(s->host, UINT64_MAX);
    }
}

static void tick_player(peer_stage_player* p)
{
    ph_peer_tick(p->peer);
    for (ph_peer_event event; ph_peer_next_event(p->peer, &event);) {
        ++p->counts[event.kind];
        if (p->on_event != NULL) {
            p->on_event(p->context, &event);
        }
        if (event.kind == PH_PEER_WAITING) {
            snprintf(p->waiting, sizeof p->waiting, "%s", event.text);
        }
        if (event.kind == PH_PEER_REFUSED || event.kind == PH_PEER_DISCONNECTED) {
            p->end = event;
            snprintf(p->text, sizeof p->text, "%s", event.text);
        }
    }
}

void peer_stage_tick(peer_stage* s)
{
    s->now_us += PEER_STAGE_TICK_US;
    if (!s->is_dead) {
        tick_host(s);
    }
    for (int i = 0; i < PEER_STAGE_PEERS; ++i) {
        if (!s->players[i].is_frozen) {
            tick_player(&s->players[i]);
        }
    }
}

void peer_stage_run(peer_stage* s, int duration_ms)
{
    for (int i = 0; i < duration_ms; i += PEER_STAGE_TICK_US / 1000) {
        peer_stage_tick(s);
    }
}
