// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A game server on a real network: a hundred dancers, shown to whoever has a token, at 13 kbit/s each.
// Run it, then example_client with the token that it leaves:
//
//     example_server client.token 10 & example_client client.token
//
// app/serve_*.c is the same with threads, a rate controller, and every last byte of netcode paid for.

#define _POSIX_C_SOURCE 200809L
#include <pinhole/mail.h>
#include <pinhole/net/netcode.h>
#include <pinhole/net/socket.h>
#include <pinhole/pinhole.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DANCERS = 100, PLAYERS = 16, TICK_US = 100000 };
static const char SCHEMA[] = "class dancer\n    place: position\n";

typedef struct player {
    ph_viewer_id viewer;
    ph_mail* mail; // messages and input; NULL: nobody is connected here
} player;

static ph_socket* sock;
static ph_outbox outbox; // sends in batches; one for each thread that sends
static ph_net_server* net;
static ph_world* world;
static player players[PLAYERS];

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

// What a backend does for a player who has logged in. Only backend and servers have the key.
static bool write_token(const char* path, const ph_net_server_def* server)
{
    uint8_t token[PH_TOKEN_SIZE];
    ph_token_def def = ph_token_def_default();
    def.client_id = 1;
    def.create_s = (uint64_t)time(NULL);
    def.addresses[0] = server->addresses[0];
    def.address_count = 1;
    memcpy(def.private_key, server->private_key, sizeof def.private_key);
    FILE* file = ph_token_write(&def, token) == PH_OK ? fopen(path, "wb") : NULL;
    return file != NULL && fwrite(token, sizeof token, 1, file) == 1 && fclose(file) == 0;
}

static bool start(const char* token_path)
{
    ph_schema* schema; // lives as long as the program
    ph_world_def world_def = ph_world_def_default();
    const ph_socket_def socket_def = ph_socket_def_default(); // any port of 127.0.0.1
    ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL);
    world_def.schema = schema;
    world_def.tick_us = TICK_US;
    if (ph_world_create(&world_def, &world) != PH_OK ||
        ph_socket_open(&socket_def, &sock) != PH_OK) {
        return false;
    }
    for (uint32_t i = 0; i < DANCERS; ++i) {
        ph_world_spawn(world, &(ph_spawn){.name = i}, &(ph_entity_id){0});
    }
    ph_outbox_begin(&outbox, sock);
    ph_net_server_def net_def = ph_net_server_def_default();
    memcpy(net_def.private_key, "example: take 32 random bytes!!!", PH_NETCODE_KEY_SIZE);
    net_def.addresses[0] = ph_socket_local(sock);
    net_def.address_count = 1;
    net_def.client_capacity = PLAYERS;
    net_def.keep_alive_ms = 1000;
    net_def.sink = (ph_net_sink){ph_outbox_send, &outbox};
    return ph_net_server_create(&net_def, &net) == PH_OK && write_token(token_path, &net_def);
}

static void meet(const ph_net_event* event)
{
    player* who = &players[event->client];
    if (event->kind == PH_NET_DISCONNECTED) {
        ph_world_remove_viewer(world, who->viewer);
        ph_mail_destroy(who->mail);
        *who = (player){0};
        return;
    }
    ph_viewer_def viewer = ph_viewer_def_default(); // 13 kbit/s, a spectator at (0, 0, 0)
    const ph_mail_def mail = ph_mail_def_default();
    viewer.session = (uint32_t)now_us();
    ph_world_add_viewer(world, &viewer, &who->viewer);
    ph_mail_create(&mail, &who->mail);
    ph_mail_post(who->mail, "welcome", 7);
}

static void receive(ph_datagram* datagram)
{
    ph_net_payload payload;
    ph_mail_rest ack;
    ph_net_server_receive(net, &datagram->peer, datagram->bytes, datagram->size, &payload);
    const player* who = &players[payload.client];
    if (payload.size == 0 || who->mail == NULL ||
        ph_mail_unpack(who->mail, now_us(), payload.bytes, payload.size, &ack) != PH_OK) {
        return; // nothing for the game
    }
    uint8_t text[PH_MAIL_MESSAGE_MAX];
    for (size_t size; (size = ph_mail_take(who->mail, text)) > 0;) {
        printf("player %d says: %.*s\n", payload.client, (int)size, (const char*)text);
    }
    const ph_mail_input input = ph_mail_newest_input(who->mail);
    if (input.size == 1) { // how far the player has walked, in m
        ph_world_set_eye(world, who->viewer, 1000 * input.bytes[0], 0, 0);
    }
    ph_mail_set_processed(who->mail, input.number);
    ph_world_acknowledge(world, who->viewer, now_us(), ack.bytes, ack.size);
}

static void deliver(void* client, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    uint8_t whole[PH_MAIL_DATAGRAM_MAX];
    const int index = *(int*)client;
    ph_net_server_send(net, index, whole, ph_mail_pack(players[index].mail, bytes, size, whole));
}

static void tick(int number)
{
    for (uint32_t i = 0; i < DANCERS; ++i) {
        ph_world_move(world, ph_world_find(world, i), (int32_t)(500.0 * i * cos(i + 0.01 * number)),
                      (int32_t)(500.0 * i * sin(i + 0.01 * number)), 0);
    }
    ph_net_server_tick(net, now_us(), (uint64_t)time(NULL));
    for (ph_net_event event; ph_net_server_next_event(net, &event);) {
        meet(&event);
    }
    ph_world_tick(world);
    for (int i = 0; i < PLAYERS; ++i) { // different players may be sent to by different threads
        if (players[i].mail != NULL && ph_world_is_send_due(world, players[i].viewer, now_us())) {
            const int wanted = (int)ph_mail_wants(players[i].mail, now_us());
            ph_world_reserve(world, players[i].viewer, PH_MAIL_EMPTY_SIZE,
                             wanted - PH_MAIL_EMPTY_SIZE);
            ph_world_send(world, players[i].viewer, now_us(), deliver, &i);
        }
    }
}

static void receive_until(uint64_t due_us)
{
    for (uint64_t now = now_us(); now < due_us; now = now_us()) {
        ph_datagram datagrams[PH_SOCKET_BATCH];
        const int count = ph_socket_receive(sock, datagrams, PH_SOCKET_BATCH);
        for (int i = 0; i < count; ++i) {
            receive(&datagrams[i]);
        }
        ph_outbox_flush(&outbox);
        ph_socket_wait(sock, count == 0 ? due_us - now : 0);
    }
}

int main(int argc, char** argv)
{
    const int seconds = argc > 2 ? atoi(argv[2]) : 1;
    if (!start(argc > 1 ? argv[1] : "client.token")) {
        puts("cannot start");
        return 1;
    }
    const uint64_t start_us = now_us();
    ph_net_server_start(net, start_us, (uint64_t)time(NULL));
    for (int number = 0; number < seconds * 1000000 / TICK_US; ++number) {
        tick(number);
        receive_until(start_us + (uint64_t)(number + 1) * TICK_US); // nothing drifts
    }
    ph_net_server_stop(net); // tells everybody
    ph_outbox_flush(&outbox);
    puts("the dance is over");
    return 0;
}
