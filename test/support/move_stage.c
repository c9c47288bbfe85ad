// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "move_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t KEY[PH_NETCODE_KEY_SIZE] = "a key of 32 bytes for the tests";
static const char SCHEMA[] = "class ship\n    place: position\n    hull: range 0..100\n";

enum { UNIX_S = 1700000000, MESSAGE_SIZE = 90, SETTLE_MS = 60000, KEY_BASE = 1 };

static move_stage the_stage;

// ---- time and network

static uint64_t now_of_host(void* context)
{
    return ((const move_host*)context)->stage->now_us;
}

static uint64_t unix_of_host(void* context)
{
    return UNIX_S + ((const move_host*)context)->stage->now_us / 1000000;
}

static void post_datagram(move_stage* s, const move_datagram* one)
{
    if ((int)(test_rng_next(&s->rng) % 100) < s->loss_percent) {
        return;
    }
    assert_true(s->queue_count < MOVE_QUEUE);
    move_datagram* queued = &s->queue[s->queue_count++];
    *queued = *one;
    const int jitter_us = s->jitter_ms * 1000;
    const int late_us = jitter_us > 0 ? (int)(test_rng_next(&s->rng) % (uint64_t)jitter_us) : 0;
    queued->due_us = s->now_us + (uint64_t)(s->delay_ms * 1000 + late_us);
}

static int take_datagrams(move_stage* s, const ph_address* to, move_datagram* taken,
                          ph_datagram* datagrams, int max)
{
    int got = 0;
    int left = 0;
    for (int i = 0; i < s->queue_count; ++i) {
        const move_datagram* one = &s->queue[i];
        if (got < max && one->due_us <= s->now_us && ph_address_is_equal(&one->to, to)) {
            taken[got] = *one;
            datagrams[got] = (ph_datagram){
                .peer = taken[got].from, .bytes = taken[got].bytes, .size = taken[got].size};
            ++got;
        } else {
            if (left != i) {
                s->queue[left] = *one;
            }
            ++left;
        }
    }
    s->queue_count = left;
    return got;
}

static int receive_at_host(void* context, ph_datagram* datagrams, int max)
{
    move_host* h = context;
    return take_datagrams(h->stage, &h->address, h->taken, datagrams, max);
}

static move_player* player_at(move_stage* s, const ph_address* address)
{
    for (int i = 0; i < s->player_count; ++i) {
        if (ph_address_is_equal(&s->players[i].address, address)) {
            return &s->players[i];
        }
    }
    return NULL;
}

static int send_of_host(void* context, const ph_datagram* datagrams, int count)
{
    move_host* h = context;
    for (int i = 0; i < count; ++i) {
        const move_player* p = player_at(h->stage, &datagrams[i].peer);
        if (p == NULL || p->is_cut_off) {
            continue;
        }
        move_datagram one = {
            .from = h->address, .to = datagrams[i].peer, .size = datagrams[i].size};
        memcpy(one.bytes, datagrams[i].bytes, one.size);
        post_datagram(h->stage, &one);
    }
    return count;
}

static uint64_t now_of_player(void* context)
{
    return ((const move_player*)context)->stage->now_us;
}

static int receive_at_player(void* context, ph_datagram* datagrams, int max)
{
    move_player* p = context;
    return take_datagrams(p->stage, &p->address, p->taken, datagrams, max);
}

static bool send_of_player(void* context, const ph_datagram* datagram)
{
    const move_player* p = context;
    if (!p->is_cut_off) {
        move_datagram one = {.from = p->address, .to = datagram->peer, .size = datagram->size};
        memcpy(one.bytes, datagram->bytes, one.size);
        post_datagram(p->stage, &one);
    }
    return true;
}

// ---- setup

static void open_player(move_stage* s, int player)
{
    move_player* p = &s->players[player];
    const uint8_t bytes[4] = {10, 0, 1, 2};
    p->stage = s;
    p->sim.host = -1;
    p->address = ph_address_make_ipv4(bytes, (uint16_t)(50000 + player));
    ph_peer_def def = ph_peer_def_default();
    def.schema = s->schema;
    assert_int_equal(ph_peer_open(&def, &p->peer), PH_OK);
    p->peer->seam = (ph_peer_seam){now_of_player, receive_at_player, send_of_player, p};
}

void move_stage_open_host(move_stage* s, int host)
{
    move_host* h = &s->hosts[host];
    ph_host_def def = ph_host_def_default();
    def.world = s->world;
    def.listen_address = h->address;
    def.client_capacity = MOVE_PEERS * 2;
    def.allocator = test_memory_allocator(&s->memory);
    memcpy(def.private_key, KEY, sizeof KEY);
    for (int i = 0; i < MOVE_PEERS * 2; ++i) {
        h->player_of[i] = -1;
    }
    assert_int_equal(ph_host_open_simulated(&def, &h->simulation, &h->host), PH_OK);
}

move_stage* move_stage_setup(uint64_t seed, int player_count)
{
    move_stage* s = &the_stage;
    memset(s, 0, sizeof *s);
    s->now_us = 5000000;
    s->rng.state = seed;
    s->player_count = player_count;
    s->queue = calloc(MOVE_QUEUE, sizeof *s->queue);
    s->delay_ms = 30; // and half of the jitter: 40
    s->jitter_ms = 20;
    s->loss_percent = 5;
    s->gives_spares = true;
    s->posts = true;
    s->message_max = UINT32_MAX;
    s->emptying = -1;
    s->bits_per_second = 60000;
    assert_int_equal(ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &s->schema, NULL), PH_OK);
    ph_world_def world = ph_world_def_default();
    world.schema = s->schema;
    world.tick_us = MOVE_TICK_US;
    assert_int_equal(ph_world_create(&world, &s->world), PH_OK);
    for (int i = 0; i < MOVE_KEYS; ++i) {
        const ph_spawn spawn = {.key = (uint64_t)i + KEY_BASE,
                                .position_mm = {i * 1000, i % 7 * 2000, 0}};
        assert_int_equal(ph_world_spawn(s->world, &spawn, &s->entities[i]), PH_OK);
    }
    for (int i = 0; i < MOVE_HOSTS; ++i) {
        const uint8_t bytes[4] = {10, 0, 0, (uint8_t)(1 + i)};
        move_host* h = &s->hosts[i];
        h->stage = s;
        h->address = ph_address_make_ipv4(bytes, 40000);
        h->simulation =
            (ph_net_simulation){now_of_host, unix_of_host, receive_at_host, send_of_host, h};
    }
    move_stage_open_host(s, 0);
    move_stage_open_host(s, 1);
    for (int i = 0; i < player_count; ++i) {
        open_player(s, i);
    }
    return s;
}

void move_stage_teardown(move_stage* s)
{
    for (int i = 0; i < s->player_count; ++i) {
        ph_peer_close(s->players[i].peer);
    }
    for (int i = 0; i < MOVE_HOSTS; ++i) {
        ph_host_close(s->hosts[i].host);
    }
    ph_world_destroy(s->world);
    ph_schema_destroy(s->schema);
    test_memory_assert_clean(&s->memory);
    free(s->queue);
}

void move_stage_kill(move_stage* s, int host)
{
    ph_host_close(s->hosts[host].host); // says nothing
    s->hosts[host].host = NULL;
}

// ---- tokens

void move_stage_token(move_stage* s, int host, int player, bool is_spare,
                      uint8_t token[PH_TOKEN_SIZE])
{
    ph_token_def def = ph_token_def_default();
    def.client_id = (uint64_t)player + 100;
    def.create_s = UNIX_S + s->now_us / 1000000;
    def.lifetime_s = 3600;
    def.timeout_s = 5;
    def.addresses[def.address_count++] = s->hosts[host].address;
    memcpy(def.private_key, KEY, sizeof KEY);
    const uint32_t generation = ++s->players[player].sim.generation;
    def.user_data[0] = is_spare;
    memcpy(def.user_data + 4, &generation, sizeof generation);
    assert_int_equal(ph_token_write(&def, token), PH_OK);
}

void move_stage_connect(move_stage* s, int player, int host)
{
    uint8_t token[PH_TOKEN_SIZE];
    move_stage_token(s, host, player, false, token);
    assert_int_equal(ph_peer_connect(s->players[player].peer, token, sizeof token), PH_OK);
}

// ---- the game at the host

static void fill_message(uint32_t number, uint8_t bytes[MESSAGE_SIZE])
{
    for (int i = 0; i < MESSAGE_SIZE; ++i) {
        bytes[i] = (uint8_t)(number * 7 + (uint32_t)i);
    }
    memcpy(bytes, &number, sizeof number);
}

static void save(move_sim* sim, const ph_messages* messages)
{
    sim->state_size = ph_messages_export(messages, sim->state, sizeof sim->state);
    assert_true(sim->state_size <= sizeof sim->state);
    sim->saved = sim->given;
}

static void serve_messages(move_stage* s, move_host* h, int client, move_player* p)
{
    move_sim* sim = &p->sim;
    ph_messages* messages = ph_host_messages(h->host, client);
    uint8_t bytes[PH_MESSAGE_SIZE_MAX];
    uint8_t expected[MESSAGE_SIZE];
    while (ph_messages_receive(messages, bytes) > 0) {
        if (s->is_anew || ph_messages_received_count(messages) > sim->processed) {
            fill_message(sim->processed, expected);
            if (!s->is_anew) {
                assert_memory_equal(bytes, expected, MESSAGE_SIZE);
            }
            ++sim->processed;
        }
    }
    const ph_input input = ph_messages_newest_input(messages);
    assert_true(s->is_anew || input.number >= sim->input);
    sim->input = input.number;
    assert_int_equal(ph_messages_set_processed_input(messages, input.number), PH_OK);
    for (; sim->given < sim->sent; ++sim->given) {
        fill_message(sim->given, expected);
        if (ph_messages_send(messages, expected, sizeof expected) != PH_OK) {
            break;
        }
    }
    save(sim, messages);
    if (!s->is_anew) {
        assert_int_equal(ph_messages_confirm(messages, sim->processed), PH_OK);
    }
}

static void admit(move_stage* s, int host, const ph_net_event* event)
{
    move_host* h = &s->hosts[host];
    const int client = event->client;
    const int player = (int)event->client_id - 100;
    move_player* p = &s->players[player];
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.bits_per_second = s->bits_per_second;
    viewer.entity = s->entities[MOVE_ENTITIES + player];
    ph_messages_def messages = ph_messages_def_default();
    messages.holds_acks = !s->is_anew;
    assert_int_equal(ph_host_admit(h->host, client, &viewer, &messages), PH_OK);
    h->player_of[client] = player;
    // The one before is over; what it knew is safe already.
    if (p->sim.host >= 0 && s->hosts[p->sim.host].host != NULL) {
        s->hosts[p->sim.host].player_of[p->sim.client] = -1;
    }
    p->sim.host = host;
    p->sim.client = client;
    const bool is_spare = event->user_data[0] != 0;
    if (is_spare && !s->is_anew) {
        assert_int_equal(
            ph_messages_import(ph_host_messages(h->host, client), p->sim.state, p->sim.state_size),
            PH_OK);
        p->sim.given = p->sim.saved;
    } else {
        p->sim.given = p->sim.sent; // what was under way is gone
        save(&p->sim, ph_host_messages(h->host, client));
    }
}

static bool give(void* context, int client, uint8_t token[PH_TOKEN_SIZE])
{
    move_stage* s = context;
    const int player = s->hosts[s->emptying].player_of[client];
    if (player < 0) {
        return false;
    }
    move_stage_token(s, s->empty_to, player, true, token);
    return true;
}

void move_stage_empty(move_stage* s, int host, int to)
{
    s->emptying = host;
    s->empty_to = to;
    ph_host_empty(s->hosts[host].host, give, s);
}

// For another host that is alive.
static void give_spare(move_stage* s, int host, int client, int player)
{
    for (int i = 1; i < MOVE_HOSTS; ++i) {
        const int other = (host + i) % MOVE_HOSTS;
        if (s->hosts[other].host != NULL) {
            uint8_t token[PH_TOKEN_SIZE];
            move_stage_token(s, other, player, true, token);
            assert_int_equal(ph_host_give_spare(s->hosts[host].host, client, token, sizeof token),
                             PH_OK);
            return;
        }
    }
}

static void tick_host(move_stage* s, int host)
{
    move_host* h = &s->hosts[host];
    ph_host_tick(h->host);
    for (ph_net_event event; ph_host_next_event(h->host, &event);) {
        if (event.kind == PH_NET_CONNECTED) {
            admit(s, host, &event);
        } else {
            h->player_of[event.client] = -1;
        }
    }
    for (int i = 0; i < ph_host_client_count(h->host); ++i) {
        const int client = ph_host_client_at(h->host, i);
        const int player = h->player_of[client];
        if (player < 0) {
            continue; // another host has it by now
        }
        serve_messages(s, h, client, &s->players[player]);
        if (s->gives_spares && s->emptying != host && ph_host_spare_count(h->host, client) == 0) {
            give_spare(s, host, client, player);
        }
    }
    ph_host_send(h->host, UINT64_MAX);
}

static void tick_world(move_stage* s)
{
    for (int i = 0; i < MOVE_KEYS && !s->is_still; ++i) {
        const int64_t t = (int64_t)(s->now_us / 1000) + i * 100;
        ph_world_move(s->world, s->entities[i], i * 1000 + t % 20000, i % 7 * 2000, 0);
    }
    ph_world_tick(s->world);
    for (int i = 0; i < s->player_count && s->posts; ++i) {
        move_sim* sim = &s->players[i].sim;
        sim->sent += sim->host >= 0 && sim->sent < s->message_max;
    }
}

// ---- the game at the client

static void take_event(move_player* p, const ph_peer_event* event)
{
    ++p->counts[event->kind];
    const uint64_t key = event->entity.key - KEY_BASE;
    uint8_t expected[MESSAGE_SIZE];
    switch (event->kind) {
    case PH_PEER_ENTERED:
        assert_false(p->is_known[key]);
        p->is_known[key] = true;
        p->ids[key] = event->entity.entity;
        break;
    case PH_PEER_LEFT:
        assert_true(p->is_known[key]);
        p->is_known[key] = false;
        break;
    case PH_PEER_MESSAGE:
        fill_message(p->received, expected);
        if (!p->stage->is_anew) {
            assert_memory_equal(event->bytes, expected, MESSAGE_SIZE);
        }
        ++p->received;
        break;
    case PH_PEER_MOVED:
        p->was_continued = event->is_continued;
        p->moved_us = p->stage->now_us;
        break;
    default:
        break;
    }
    if (event->text[0] != '\0') {
        snprintf(p->text, sizeof p->text, "%s", event->text);
    }
}

static void tick_player(move_player* p)
{
    ph_peer_tick(p->peer);
    for (ph_peer_event event; ph_peer_next_event(p->peer, &event);) {
        take_event(p, &event);
    }
    for (int i = 0; i < MOVE_KEYS; ++i) {
        ph_pose pose;
        assert_true(!p->is_known[i] || ph_peer_get_pose(p->peer, p->ids[i], &pose) == PH_OK);
    }
    const move_stage* s = p->stage;
    if (ph_peer_get_state(p->peer) != PH_PEER_STATE_JOINED || !s->posts) {
        return;
    }
    uint8_t bytes[MESSAGE_SIZE];
    fill_message(p->posted, bytes);
    if (p->posted < s->message_max && test_rng_next(&p->stage->rng) % 4 == 0) {
        p->posted += ph_peer_send(p->peer, bytes, sizeof bytes) == PH_OK;
    }
    ph_peer_set_input(p->peer, bytes, 4);
}

// ---- running

static void step(move_stage* s)
{
    s->now_us += MOVE_STEP_US;
    for (int i = 0; i < MOVE_HOSTS; ++i) {
        if (s->hosts[i].host != NULL && !s->hosts[i].is_frozen) {
            ph_host_receive(s->hosts[i].host, 0);
        }
    }
    if (s->now_us % MOVE_TICK_US == 0) {
        tick_world(s);
        for (int i = 0; i < MOVE_HOSTS; ++i) {
            if (s->hosts[i].host != NULL && !s->hosts[i].is_frozen) {
                tick_host(s, i);
            }
        }
    }
    for (int i = 0; i < s->player_count; ++i) {
        const uint64_t phase_us = (uint64_t)i % 4 * MOVE_STEP_US;
        if (!s->players[i].is_frozen && (s->now_us + phase_us) % MOVE_FRAME_US == 0) {
            tick_player(&s->players[i]);
        }
    }
    // What no living end takes is lost.
    int left = 0;
    for (int i = 0; i < s->queue_count; ++i) {
        if (s->queue[i].due_us + 5000000 > s->now_us) {
            if (left != i) {
                s->queue[left] = s->queue[i];
            }
            ++left;
        }
    }
    s->queue_count = left;
}

void move_stage_run(move_stage* s, int duration_ms)
{
    for (int i = 0; i < duration_ms; i += MOVE_STEP_US / 1000) {
        step(s);
    }
}

void move_stage_connect_all(move_stage* s, int host)
{
    for (int i = 0; i < s->player_count; ++i) {
        move_stage_connect(s, i, host);
    }
    move_stage_run(s, 4000);
    for (int i = 0; i < s->player_count; ++i) {
        assert_int_equal(ph_peer_get_state(s->players[i].peer), PH_PEER_STATE_JOINED);
    }
}

static bool is_settled(const move_stage* s)
{
    for (int i = 0; i < s->player_count; ++i) {
        const move_player* p = &s->players[i];
        if (p->received != p->sim.sent || p->sim.processed != p->posted ||
            ph_peer_processed_input(p->peer) != p->peer->input_number) {
            return false;
        }
    }
    return true;
}

void move_stage_settle(move_stage* s)
{
    s->posts = false;
    for (int ms = 0; ms < SETTLE_MS && !is_settled(s); ms += 100) {
        move_stage_run(s, 100);
    }
    for (int i = 0; i < s->player_count; ++i) {
        const move_player* p = &s->players[i];
        assert_int_equal(p->received, p->sim.sent);
        assert_int_equal(p->sim.processed, p->posted);
        assert_int_equal(ph_peer_processed_input(p->peer), p->peer->input_number);
    }
}

int move_stage_count(const move_stage* s, int host)
{
    return s->hosts[host].host != NULL ? ph_host_client_count(s->hosts[host].host) : 0;
}
