// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A step is HOUR_FRAME_US of simulated time: each player has a frame, and when its tick is due, so has the server.

#include "hour_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 5, CAPACITY_USUAL = 8, START_US = 5000000, SECOND_US = 1000000 };

const uint8_t hour_key[PH_NETCODE_KEY_SIZE] = "a key of 32 bytes for the tests";

void hour_must(bool is_so, const char* what)
{
    if (!is_so) {
        fprintf(stderr, "first_hour: %s\n", what);
        exit(1);
    }
}

// ---- the network

static void put(hour_queue* queue, const ph_address* peer, const void* bytes, size_t size)
{
    hour_must(queue->count < HOUR_QUEUE_MAX && size <= PH_NETCODE_DATAGRAM_MAX, "a queue is full");
    hour_datagram* one = &queue->items[queue->count++];
    one->peer = *peer;
    one->size = size;
    memcpy(one->bytes, bytes, size);
}

static int take(hour_queue* queue, ph_datagram* datagrams, int max)
{
    if (queue->first == queue->count) {
        queue->first = queue->count = 0;
    }
    int count = 0;
    for (; count < max && queue->first < queue->count; ++count) {
        hour_datagram* one = &queue->items[queue->first++];
        datagrams[count] = (ph_datagram){.peer = one->peer, .bytes = one->bytes, .size = one->size};
    }
    return count;
}

static uint64_t now_of_host(void* context)
{
    return ((const hour_stage*)context)->now_us;
}

static uint64_t unix_s_of_host(void* context)
{
    return HOUR_UNIX_S + (((const hour_stage*)context)->now_us - START_US) / SECOND_US;
}

static int receive_of_host(void* context, ph_datagram* datagrams, int max)
{
    return take(&((hour_stage*)context)->up, datagrams, max);
}

static int send_of_host(void* context, const ph_datagram* datagrams, int count)
{
    hour_stage* s = context;
    const ph_address host = hour_host_address();
    for (int i = 0; i < count; ++i) {
        for (int p = 0; p < HOUR_PLAYERS; ++p) {
            hour_player* player = &s->players[p];
            if (ph_address_is_equal(&player->address, &datagrams[i].peer) && !player->is_frozen) {
                put(&player->down, &host, datagrams[i].bytes, datagrams[i].size);
            }
        }
    }
    return count;
}

static uint64_t now_of_peer(void* context)
{
    return ((const hour_player*)context)->stage->now_us;
}

static int receive_of_peer(void* context, ph_datagram* datagrams, int max)
{
    return take(&((hour_player*)context)->down, datagrams, max);
}

static bool send_of_peer(void* context, const ph_datagram* datagram)
{
    hour_player* player = context;
    const ph_address host = hour_host_address();
    if (player->stage->def.has_no_network) {
        return false;
    }
    if (!player->stage->is_dead && ph_address_is_equal(&datagram->peer, &host)) {
        put(&player->stage->up, &player->address, datagram->bytes, datagram->size);
    }
    return true;
}

// ---- opening and closing

ph_address hour_host_address(void)
{
    return ph_address_make_ipv4((const uint8_t[4]){10, 0, 0, 1}, 40000);
}

static int flat(const void* context, int64_t x_mm, int64_t y_mm,
                int64_t heights_mm[PH_GROUND_LAYERS_MAX])
{
    (void)context;
    (void)x_mm;
    (void)y_mm;
    heights_mm[0] = 0;
    return 1;
}

static ph_schema* parse(const char* text)
{
    ph_schema* schema = NULL;
    text = text != NULL ? text : HOUR_SCHEMA;
    hour_must(ph_schema_parse(text, strlen(text), NULL, &schema, NULL) == PH_OK,
              "a schema of the cases is wrong");
    return schema;
}

static void open_host(hour_stage* s)
{
    ph_world_def world = ph_world_def_default();
    world.schema = s->server_schema;
    world.tick_us = HOUR_TICK_US;
    world.profile = s->def.profile;
    world.ground.layers = s->def.has_server_ground ? flat : NULL;
    hour_must(ph_world_create(&world, &s->world) == PH_OK, "no world");
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        const ph_spawn spawn = {.key = i + 1, .position_mm = {(int32_t)i * 1000, 0, 0}};
        hour_must(ph_world_spawn(s->world, &spawn, &(ph_entity_id){0}) == PH_OK, "no entity");
    }
    ph_host_def host = ph_host_def_default();
    host.world = s->world;
    host.listen_address = hour_host_address();
    if (s->def.has_other_public) {
        host.public_address = ph_address_make_ipv4((const uint8_t[4]){203, 0, 113, 9}, 40000);
    }
    host.protocol_id = s->def.protocol_id;
    host.client_capacity = s->def.capacity != 0 ? s->def.capacity : CAPACITY_USUAL;
    host.on_error = ph_error_keep;
    host.on_error_context = &s->error;
    host.is_insecure_dev = s->def.is_insecure_dev;
    if (!host.is_insecure_dev) {
        memcpy(host.private_key, hour_key, sizeof hour_key);
    }
    hour_must(ph_host_open_simulated(&host, &s->simulation, &s->host) == PH_OK, "no host");
}

static void open_player(hour_stage* s, int index)
{
    hour_player* player = &s->players[index];
    player->stage = s;
    player->address =
        ph_address_make_ipv4((const uint8_t[4]){10, 0, 0, (uint8_t)(7 + index)}, 5000);
    ph_peer_def def = ph_peer_def_default();
    def.schema = s->client_schema;
    def.ground.layers = s->def.has_client_ground ? flat : NULL;
    def.slot_max = s->def.slot_max != 0 ? s->def.slot_max : def.slot_max;
    def.on_error = ph_error_keep;
    def.on_error_context = &player->error;
    hour_must(ph_peer_open(&def, &player->peer) == PH_OK, "no peer");
    player->peer->seam = (ph_peer_seam){now_of_peer, receive_of_peer, send_of_peer, player};
}

hour_stage* hour_open(const hour_def* def)
{
    hour_stage* s = calloc(1, sizeof *s);
    hour_must(s != NULL, "no memory");
    s->def = *def;
    s->now_us = START_US;
    s->tick_due_us = START_US;
    s->simulation =
        (ph_net_simulation){now_of_host, unix_s_of_host, receive_of_host, send_of_host, s};
    s->server_schema = parse(def->server_schema);
    s->client_schema = parse(def->client_schema);
    open_host(s);
    for (int i = 0; i < HOUR_PLAYERS; ++i) {
        open_player(s, i);
    }
    return s;
}

void hour_close(hour_stage* s)
{
    for (int i = 0; i < HOUR_PLAYERS; ++i) {
        ph_peer_close(s->players[i].peer);
    }
    ph_host_close(s->host);
    ph_world_destroy(s->world);
    ph_schema_destroy(s->server_schema);
    ph_schema_destroy(s->client_schema);
    free(s);
}

// ---- connecting

ph_token_def hour_token_def(const hour_stage* s, uint64_t client_id)
{
    ph_token_def def = ph_token_def_default(); // a lifetime of 30 s, a timeout of 10 s
    def.client_id = client_id;
    def.create_s = HOUR_UNIX_S + (s != NULL ? (s->now_us - START_US) / SECOND_US : 0);
    def.addresses[def.address_count++] = hour_host_address();
    memcpy(def.private_key, hour_key, sizeof hour_key);
    return def;
}

void hour_connect(hour_stage* s, int player, const ph_token_def* def)
{
    uint8_t token[PH_TOKEN_SIZE];
    hour_must(ph_token_write(def, token) == PH_OK, "no token");
    hour_must(ph_peer_connect(s->players[player].peer, token, sizeof token) == PH_OK,
              "the peer does not begin to connect");
}

void hour_connect_good(hour_stage* s, int player, uint64_t client_id)
{
    const ph_token_def def = hour_token_def(s, client_id);
    hour_connect(s, player, &def);
}

// ---- time

static void take_server_events(hour_stage* s)
{
    ph_viewer_def viewer = ph_viewer_def_default();
    viewer.visible_max = s->def.visible_max != 0 ? s->def.visible_max : viewer.visible_max;
    ph_messages_def messages = ph_messages_def_default();
    messages.block_size_max = s->def.block_size_max;
    for (ph_net_event event; ph_host_next_event(s->host, &event);) {
        if (event.kind == PH_NET_DISCONNECTED) {
            ++s->ended;
            snprintf(s->reason, sizeof s->reason, "%s", event.reason);
        } else if (s->def.refusal != NULL) {
            ph_host_refuse(s->host, event.client, s->def.refusal);
        } else if (!s->def.never_admits) {
            hour_must(ph_host_admit(s->host, event.client, &viewer, &messages) == PH_OK,
                      "not admitted");
        }
    }
}

static void tick_server(hour_stage* s)
{
    s->tick_due_us += HOUR_TICK_US;
    ph_host_receive(s->host, 0);
    ph_host_tick(s->host);
    take_server_events(s);
    const int ticks = s->def.world_tick_factor != 0 ? s->def.world_tick_factor : 1;
    for (int i = 0; i < ticks; ++i) {
        ph_world_tick(s->world);
    }
    ph_host_send(s->host, UINT64_MAX);
}

static void tick_player(hour_player* player)
{
    ph_peer_tick(player->peer);
    for (ph_peer_event event; ph_peer_next_event(player->peer, &event);) {
        ++player->counts[event.kind];
        if (event.kind == PH_PEER_REFUSED || event.kind == PH_PEER_DISCONNECTED) {
            player->end = event.kind;
            snprintf(player->text, sizeof player->text, "%s", event.text);
        } else if (event.kind == PH_PEER_WAITING) {
            snprintf(player->waiting, sizeof player->waiting, "%s", event.text);
        } else if (event.kind == PH_PEER_BLOCK_UNSENT) {
            snprintf(player->block, sizeof player->block, "%s", event.text);
        } else if (event.kind == PH_PEER_UNSENT) {
            snprintf(player->unsent, sizeof player->unsent, "%s", event.text);
        }
    }
}

static void step(hour_stage* s)
{
    s->now_us += HOUR_FRAME_US;
    if (!s->is_dead && s->now_us >= s->tick_due_us) {
        tick_server(s);
    }
    for (int i = 0; i < HOUR_PLAYERS; ++i) {
        if (!s->players[i].is_frozen) {
            tick_player(&s->players[i]);
        }
    }
}

void hour_play(hour_stage* s, int duration_ms)
{
    for (int64_t left_us = (int64_t)duration_ms * 1000; left_us > 0; left_us -= HOUR_FRAME_US) {
        step(s);
    }
}

bool hour_await_end(hour_stage* s, int player, int seconds_max)
{
    const int steps = seconds_max * (SECOND_US / HOUR_FRAME_US);
    for (int i = 0; i < steps && s->players[player].end == 0; ++i) {
        step(s);
    }
    return s->players[player].end != 0;
}

void hour_await_view(hour_stage* s, int player)
{
    const hour_player* it = &s->players[player];
    for (int i = 0; i < 500 && it->counts[PH_PEER_ENTERED] < ENTITIES; ++i) {
        step(s);
    }
    hour_must(it->counts[PH_PEER_ENTERED] == ENTITIES && it->end == 0,
              it->end != 0 ? it->text : "a player sees nothing");
}
