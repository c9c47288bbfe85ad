// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A game server on a real network: a hundred dancers, shown to every client with a token, at 13
// kbit/s each. Run it, then example_client with the token that it leaves:
//
//     example_server client.token 10 & example_client client.token
//
// Or, while developing, without tokens:
//
//     example_server 127.0.0.1:40000 10 & example_client 127.0.0.1:40000

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L // umask
#endif

#include <pinhole/net/host.h>
#include <pinhole/pinhole.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { DANCERS = 100, PLAYERS = 16, TICK_US = 100000 };
static const char SCHEMA[] = "class dancer\n    place: position\n";

static ph_world* world;
static ph_host* host;
static ph_entity_id dancers[DANCERS];
static int walked_m[PLAYERS]; // by input, until the next tick makes use of it

static void start_world(void)
{
    ph_schema* schema; // lives as long as the program
    ph_world_def def = ph_world_def_default();
    ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL);
    def.schema = schema;
    def.tick_us = TICK_US;
    def.on_error = ph_error_print;
    ph_world_create(&def, &world);
    for (uint32_t i = 0; i < DANCERS; ++i) {
        ph_world_spawn(world, &(ph_spawn){.key = i}, &dancers[i]);
    }
}

// A player has said or done something. The world is changed in the tick: with a pool, other players
// may be heard at the same time.
static void on_messages(void* context, int player, ph_messages* messages)
{
    (void)context;
    uint8_t text[PH_MESSAGE_SIZE_MAX];
    for (size_t size; (size = ph_messages_receive(messages, text)) > 0;) {
        for (size_t i = 0; i < size; ++i) {
            text[i] = isprint(text[i]) ? text[i] : '?'; // it may be anything
        }
        printf("player %d says: %.*s\n", player, (int)size, (const char*)text);
    }
    const ph_input input = ph_messages_newest_input(messages);
    if (input.size == 1) {
        walked_m[player] = input.bytes[0];
    }
    ph_messages_set_processed_input(messages,
                                    input.number); // it will be, when the next datagram says so
}

static void* (*volatile wipe)(void*, int, size_t) = memset; // which compilers may not leave out

// With a key, or without one at a private address, for development.
static bool open_host(const uint8_t* key, const ph_address* insecure)
{
    ph_host_def def = ph_host_def_default(); // any port of 127.0.0.1
    def.world = world;
    def.client_capacity = PLAYERS;
    def.on_messages = on_messages;
    def.on_error = ph_error_print;
    if (insecure->kind != PH_ADDRESS_NONE) {
        def.is_insecure_dev = true;
        def.listen_address = *insecure;
    } else {
        memcpy(def.private_key, key, sizeof def.private_key);
    }
    const bool is_open = ph_host_open(&def, &host) == PH_OK;
    wipe(def.private_key, 0, sizeof def.private_key);
    return is_open;
}

// What a backend does for a player who has logged in. Only backend and servers have the key, and
// only the player may read the token.
static bool write_token(const uint8_t* key, const char* path)
{
    uint8_t token[PH_TOKEN_SIZE];
    ph_token_def def = ph_token_def_default();
    def.create_s = (uint64_t)time(NULL);
    def.addresses[def.address_count++] = ph_host_public_address(host);
    def.on_error = ph_error_print;
    memcpy(def.private_key, key, sizeof def.private_key);
    const bool is_made = ph_token_write(&def, token) == PH_OK;
    wipe(def.private_key, 0, sizeof def.private_key);
    umask(S_IRWXG | S_IRWXO);
    remove(path);
    FILE* file = is_made ? fopen(path, "wbx") : NULL;
    const bool is_written = file != NULL && fwrite(token, sizeof token, 1, file) == 1;
    return file != NULL && fclose(file) == 0 && is_written;
}

static void tick(double angle)
{
    ph_host_tick(host);
    for (ph_net_event event; ph_host_next_event(host, &event);) {
        const ph_viewer_def viewer = ph_viewer_def_default(); // 13 kbit/s, a spectator at (0, 0, 0)
        if (event.kind == PH_NET_CONNECTED &&
            ph_host_admit(host, event.client, &viewer, NULL) == PH_OK) {
            ph_messages_send(ph_host_messages(host, event.client), "welcome", 7);
            walked_m[event.client] = 0;
        }
    }
    for (int i = 0; i < ph_host_client_count(host); ++i) {
        const int player = ph_host_client_at(host, i);
        ph_viewer_set_eye(world, ph_host_viewer(host, player), 1000 * walked_m[player], 0, 0);
    }
    for (int i = 0; i < DANCERS; ++i) {
        const double x_mm = 500.0 * i * cos(i + angle);
        const double y_mm = 500.0 * i * sin(i + angle);
        ph_world_move(world, dancers[i], (int32_t)x_mm, (int32_t)y_mm, 0);
    }
    ph_world_tick(world);
    ph_host_send(host, UINT64_MAX);
}

int main(int argc, char** argv)
{
    uint8_t key[PH_NETCODE_KEY_SIZE] = "example: take 32 random bytes!!";
    const int ticks = (argc > 2 ? atoi(argv[2]) : 1) * (1000000 / TICK_US);
    start_world();
    const char* to = argc > 1 ? argv[1] : "client.token";
    ph_address insecure;
    const bool has_tokens = ph_address_parse(to, &insecure, NULL) != PH_OK;
    const bool is_open = open_host(key, &insecure) && (!has_tokens || write_token(key, to));
    wipe(key, 0, sizeof key);
    if (!is_open) {
        puts("cannot start");
        return 1;
    }
    uint64_t due_us = ph_socket_now_us();
    for (int i = 0; i < ticks; ++i, due_us += TICK_US) {
        ph_host_receive(host, due_us); // waits until then
        tick(0.01 * i);
    }
    ph_host_stop(host); // tells all clients
    ph_host_close(host);
    puts("the dance is over");
    return 0;
}
