// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server of the game: 300 wanderers, and players who walk among them, are bitten, and chat.
// docs/getting_started.md builds it step by step.
//
//     game_server [ADDRESS [SECONDS]]      game_server 0.0.0.0:40000

#include "game.h"

#include <pinhole/net/host.h>

#include <stdlib.h>
#include <string.h>

// A host has room for 64 clients by default.
enum { WANDERERS = 300, PLAYERS = 64, TICK_US = 50000, BITE_MM = 5000 };

static ph_world* world;
static ph_host* host;
static creature creatures[WANDERERS + PLAYERS]; // behind the wanderers the players, by client
static ph_entity_id ids[WANDERERS + PLAYERS];

static void spawn(int i, int class_index, const char* name)
{
    creatures[i] = (creature){.place_mm = {rand() % 200000, rand() % 200000}, .hit_points = 100};
    snprintf(creatures[i].name, sizeof creatures[i].name, "%s %d", name, i);
    const ph_spawn def = {class_index, (uint64_t)i, .is_always_visible = class_index == PLAYER};
    ph_world_spawn(world, &def, &ids[i]);
}

static bool start_world(void)
{
    ph_world_def def = ph_world_def_default();
    def.schema = make_schema();
    def.tick_us = TICK_US;
    def.on_error = ph_error_print;
    const bool is_well = ph_world_create(&def, &world) == PH_OK;
    for (int i = 0; i < WANDERERS && is_well; ++i) {
        spawn(i, WANDERER, "wanderer");
    }
    return is_well;
}

// A key makes it secure: players need a token. Without, anyone near may come in.
static bool open_host(const char* address, const char* key)
{
    ph_host_def def = ph_host_def_default();
    def.world = world;
    def.on_error = ph_error_print; // also says what is wrong with the address or the key
    def.is_insecure_dev = key == NULL;
    ph_key_parse(key, def.private_key);
    ph_address_parse(address, &def.listen_address, NULL);
    return ph_host_open(&def, &host) == PH_OK;
}

static void on_event(const ph_net_event* event)
{
    const int i = WANDERERS + event->client;
    if (event->kind == PH_NET_CONNECTED) {
        ph_viewer_def viewer = ph_viewer_def_default(); // 13 kbit/s, the nearest 250 within 250 m
        spawn(i, PLAYER, "player");
        viewer.entity = ids[i];
        ph_host_admit(host, event->client, &viewer, NULL);
    } else {
        printf("%s has left. %s\n", creatures[i].name, event->reason);
        ph_world_despawn(world, ids[i]);
    }
}

// A wanderer is after any player near it, and bites.
static void wander(int i)
{
    creature* it = &creatures[i];
    it->heading_deg += (float)(rand() % 21 - 10);
    walk(it->place_mm, it->heading_deg, 50.0);
    it->target = (ph_entity_id){0};
    for (int p = WANDERERS; p < WANDERERS + PLAYERS; ++p) {
        if (ph_world_is_alive(world, ids[p]) && distance_mm(it, &creatures[p]) < BITE_MM) {
            it->target = ids[p];
            creatures[p].hit_points -= creatures[p].hit_points > 1; // not to death
        }
    }
    ph_world_set_struct(world, ids[i], it);
}

static void say_to_all(const char* name, const char* text)
{
    char line[256];
    const int size = snprintf(line, sizeof line, "%s: %.200s", name, text);
    for (int i = 0; i < ph_host_client_count(host); ++i) {
        ph_messages_send(ph_host_messages(host, ph_host_client_at(host, i)), line, (size_t)size);
    }
}

// What a player has said, and what it does.
static void play(int client)
{
    creature* it = &creatures[WANDERERS + client];
    ph_messages* messages = ph_host_messages(host, client);
    char text[PH_MESSAGE_SIZE_MAX + 1];
    for (size_t size; (size = ph_messages_receive(messages, (uint8_t*)text)) > 0;) {
        make_printable(text, size);
        if (strncmp(text, "/name ", 6) == 0) {
            snprintf(it->name, sizeof it->name, "%.15s", text + 6);
        } else {
            say_to_all(it->name, text);
        }
    }
    const ph_input input = ph_messages_newest_input(messages);
    if (input.size == 1) { // a heading, in 256 parts of a turn; nothing: it stands still
        it->heading_deg = input.bytes[0] * 360.0f / 256.0f;
        walk(it->place_mm, it->heading_deg, WALK_MM_PER_S * TICK_US / 1e6);
    }
    ph_messages_set_processed_input(messages, input.number);
    ph_world_set_struct(world, ids[WANDERERS + client], it);
}

int main(int argc, char** argv)
{
    const int ticks = 1000000 / TICK_US * (argc > 2 ? atoi(argv[2]) : 3600);
    if (!start_world() || !open_host(argc > 1 ? argv[1] : "0.0.0.0:40000", getenv("GAME_KEY"))) {
        return 1;
    }
    puts("the game is open");
    uint64_t due_us = ph_socket_now_us();
    for (int tick = 0; tick < ticks; ++tick) {
        ph_host_receive(host, due_us += TICK_US); // waits until then
        ph_host_tick(host);
        for (ph_net_event event; ph_host_next_event(host, &event);) {
            on_event(&event);
        }
        for (int c = 0; c < ph_host_client_count(host); ++c) {
            play(ph_host_client_at(host, c));
        }
        for (int w = 0; w < WANDERERS; ++w) {
            wander(w);
        }
        ph_world_tick(world);
        ph_host_send(host, UINT64_MAX);
    }
    ph_host_stop(host); // tells all clients
    ph_host_close(host);
}
