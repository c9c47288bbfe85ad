// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A game server on a real network: a hundred dancers, shown to whoever has a token, at 13 kbit/s each.
// Run it, then example_client with the token that it leaves:
//
//     example_server client.token 10 & example_client client.token
//
// app/serve_*.c is the same with threads, a rate controller, and every last byte of netcode paid for.

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

static ph_socket* sock;
static ph_outbox outbox; // sends in batches; one for each thread that sends
static ph_net_server* net;
static ph_world* world;
static ph_entity_id dancers[DANCERS];
static ph_viewer_id viewers[PLAYERS];
static ph_mail* mails[PLAYERS]; // messages and input; NULL: nobody is connected here

static void start_world(void)
{
    ph_schema* schema; // lives as long as the program
    ph_world_def def = ph_world_def_default();
    ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL);
    def.schema = schema;
    def.tick_us = TICK_US;
    ph_world_create(&def, &world);
    for (uint32_t i = 0; i < DANCERS; ++i) {
        ph_world_spawn(world, &(ph_spawn){.name = i}, &dancers[i]);
    }
}

static bool start_net(const uint8_t* key)
{
    const ph_socket_def socket_def = ph_socket_def_default(); // any port of 127.0.0.1
    ph_net_server_def def = ph_net_server_def_default();
    if (ph_socket_open(&socket_def, &sock) != PH_OK) {
        return false;
    }
    ph_outbox_begin(&outbox, sock);
    memcpy(def.private_key, key, sizeof def.private_key);
    def.addresses[def.address_count++] = ph_socket_local(sock);
    def.client_capacity = PLAYERS;
    def.sink = (ph_net_sink){ph_outbox_send, &outbox};
    return ph_net_server_create(&def, &net) == PH_OK;
}

// What a backend does for a player who has logged in. Only backend and servers have the key.
static bool write_token(const uint8_t* key, const char* path)
{
    uint8_t token[PH_TOKEN_SIZE];
    ph_token_def def = ph_token_def_default();
    def.create_s = (uint64_t)time(NULL);
    def.addresses[def.address_count++] = ph_socket_local(sock);
    memcpy(def.private_key, key, sizeof def.private_key);
    FILE* file = ph_token_write(&def, token) == PH_OK ? fopen(path, "wb") : NULL;
    return file != NULL && fwrite(token, sizeof token, 1, file) == 1 && fclose(file) == 0;
}

static void meet(const ph_net_event* event)
{
    ph_mail** mail = &mails[event->client];
    if (event->kind == PH_NET_DISCONNECTED) {
        ph_world_remove_viewer(world, viewers[event->client]);
        ph_mail_destroy(*mail);
        *mail = NULL;
        return;
    }
    ph_viewer_def viewer = ph_viewer_def_default(); // 13 kbit/s, a spectator at (0, 0, 0)
    const ph_mail_def mail_def = ph_mail_def_default();
    viewer.session = (uint32_t)ph_socket_now_us();
    ph_world_add_viewer(world, &viewer, &viewers[event->client]);
    ph_mail_create(&mail_def, mail);
    ph_mail_post(*mail, "welcome", 7);
}

static void receive(ph_datagram* datagram)
{
    const uint64_t now_us = ph_socket_now_us();
    ph_net_payload payload;
    ph_mail_rest ack;
    ph_net_server_receive(net, &datagram->peer, datagram->bytes, datagram->size, &payload);
    ph_mail* mail = mails[payload.client];
    if (payload.size == 0 || mail == NULL ||
        ph_mail_unpack(mail, now_us, payload.bytes, payload.size, &ack) != PH_OK) {
        return; // nothing for the game
    }
    uint8_t text[PH_MAIL_MESSAGE_MAX];
    for (size_t size; (size = ph_mail_take(mail, text)) > 0;) {
        printf("player %d says: %.*s\n", payload.client, (int)size, (const char*)text);
    }
    const ph_mail_input input = ph_mail_newest_input(mail);
    if (input.size == 1) { // how far the player has walked, in m
        ph_world_set_eye(world, viewers[payload.client], 1000 * input.bytes[0], 0, 0);
    }
    ph_mail_set_processed(mail, input.number);
    ph_world_acknowledge(world, viewers[payload.client], now_us, ack.bytes, ack.size);
}

static void deliver(void* client, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const int i = *(int*)client;
    uint8_t whole[PH_MAIL_DATAGRAM_MAX];
    ph_net_server_send(net, i, whole, ph_mail_pack(mails[i], bytes, size, whole));
}

static void tick(double angle, uint64_t now_us)
{
    ph_net_server_tick(net, now_us, (uint64_t)time(NULL));
    for (ph_net_event event; ph_net_server_next_event(net, &event);) {
        meet(&event);
    }
    for (int i = 0; i < DANCERS; ++i) {
        const double x_mm = 500.0 * i * cos(i + angle);
        const double y_mm = 500.0 * i * sin(i + angle);
        ph_world_move(world, dancers[i], (int32_t)x_mm, (int32_t)y_mm, 0);
    }
    ph_world_tick(world);
    for (int i = 0; i < PLAYERS; ++i) { // different players may be sent to by different threads
        if (mails[i] != NULL && ph_world_is_send_due(world, viewers[i], now_us)) {
            const int more = (int)ph_mail_wants(mails[i], now_us) - PH_MAIL_EMPTY_SIZE;
            ph_world_reserve(world, viewers[i], PH_MAIL_EMPTY_SIZE, more);
            ph_world_send(world, viewers[i], now_us, deliver, &i);
        }
    }
}

int main(int argc, char** argv)
{
    const uint8_t key[PH_NETCODE_KEY_SIZE] = "example: take 32 random bytes!!";
    const int seconds = argc > 2 ? atoi(argv[2]) : 1;
    start_world();
    if (!start_net(key) || !write_token(key, argc > 1 ? argv[1] : "client.token")) {
        puts("cannot start");
        return 1;
    }
    uint64_t now_us = ph_socket_now_us();
    uint64_t due_us = now_us; // the next tick, always a whole number of them from here
    const uint64_t end_us = now_us + (uint64_t)seconds * 1000000;
    ph_net_server_start(net, now_us, (uint64_t)time(NULL));
    for (; now_us < end_us; now_us = ph_socket_now_us()) {
        if (now_us >= due_us) {
            tick(1e-7 * (double)due_us, now_us);
            due_us += TICK_US;
        }
        ph_outbox_flush(&outbox);
        ph_datagram datagrams[PH_SOCKET_BATCH];
        ph_socket_wait(sock, due_us > now_us ? due_us - now_us : 0);
        const int count = ph_socket_receive(sock, datagrams, PH_SOCKET_BATCH);
        for (int i = 0; i < count; ++i) {
            receive(&datagrams[i]);
        }
    }
    ph_net_server_stop(net); // tells everybody
    ph_outbox_flush(&outbox);
    puts("the dance is over");
    return 0;
}
