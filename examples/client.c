// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A game client on a real network, for example_server: connects with a token, walks about, says
// hello, and tells once a second what it sees.

#include <pinhole/message.h>
#include <pinhole/net/netcode.h>
#include <pinhole/net/socket.h>
#include <pinhole/pinhole.h>

#include <stdio.h>

enum { FRAME_US = 20000, FRAMES_PER_SECOND = 50, SECONDS_MAX = 60 };
static const char SCHEMA[] = "class dancer\n    place: position\n"; // as the server's

static ph_socket* sock;
static ph_socket_batch batch; // what netcode has to send
static ph_net_client* net;
static ph_client* view;
static ph_messages* messages;

static bool start(void)
{
    ph_schema* schema; // lives as long as the program
    ph_schema_parse(SCHEMA, sizeof SCHEMA - 1, NULL, &schema, NULL);
    ph_client_def view_def = ph_client_def_default();
    ph_net_client_def net_def = ph_net_client_def_default();
    const ph_socket_def socket_def = ph_socket_def_default();
    const ph_messages_def message_def = ph_messages_def_default();
    view_def.schema = schema;
    net_def.sink = (ph_net_sink){ph_socket_batch_add, &batch};
    if (ph_socket_open(&socket_def, &sock) != PH_OK ||
        ph_net_client_create(&net_def, &net) != PH_OK ||
        ph_client_create(&view_def, &view) != PH_OK ||
        ph_messages_create(&message_def, &messages) != PH_OK) {
        return false;
    }
    ph_socket_batch_begin(&batch, sock);
    return true;
}

static bool connect_with(const char* path)
{
    uint8_t token[PH_TOKEN_SIZE];
    FILE* file = fopen(path, "rb");
    if (file == NULL || fread(token, sizeof token, 1, file) != 1) {
        printf("there is no token in %s\n", path);
        return false;
    }
    fclose(file);
    ph_net_client_connect(net, token, sizeof token, ph_socket_now_us());
    return true;
}

// Everything that we have to say goes with an ack of what we have received.
static void answer(uint64_t now_us)
{
    uint8_t ack[PH_ACK_SIZE];
    uint8_t whole[PH_PAYLOAD_MAX];
    ph_messages_plan(messages, now_us);
    const size_t size = ph_client_write_ack(view, now_us, ack);
    ph_net_client_send(net, whole, ph_messages_pack(messages, ack, size, whole));
}

static void receive(ph_datagram* datagram, uint64_t now_us)
{
    ph_net_payload payload;
    ph_messages_rest packet;
    ph_net_client_receive(net, &datagram->peer, datagram->bytes, datagram->size, &payload);
    if (payload.size == 0 ||
        ph_messages_unpack(messages, now_us, payload.bytes, payload.size, &packet) != PH_OK) {
        return; // nothing for the game
    }
    if (packet.size > 0) {
        ph_client_receive(view, now_us, packet.bytes, packet.size);
    }
    uint8_t text[PH_MESSAGE_SIZE_MAX];
    for (size_t size; (size = ph_messages_receive(messages, text)) > 0;) {
        printf("the server says: %.*s\n", (int)size, (const char*)text);
    }
    answer(now_us);
}

static void show(int second)
{
    const ph_client_stats stats = ph_client_get_stats(view);
    ph_pose pose = {0};
    ph_client_get_pose(view, ph_client_find(view, 1), &pose);
    printf("second %d: %d dancers in view, the first at %.0f, %.0f mm; %.1f kbit/s, round trip "
           "%.0f ms\n",
           second, ph_client_entity_count(view), pose.position_mm[0], pose.position_mm[1],
           stats.received_kbps, stats.rtt_ms);
}

// One frame of the game. Returns whether it goes on.
static bool play(int frame)
{
    ph_datagram datagrams[PH_SOCKET_BATCH_MAX];
    const uint64_t now_us = ph_socket_now_us();
    ph_net_client_advance(net, now_us); // what has waited in the socket comes now
    const int count = ph_socket_receive(sock, datagrams, PH_SOCKET_BATCH_MAX);
    for (int i = 0; i < count; ++i) {
        receive(&datagrams[i], now_us);
    }
    if (now_us >= ph_client_ack_due_us(view)) {
        answer(now_us); // once more: the last one may be lost
    }
    ph_net_client_tick(net, now_us);
    const uint8_t walked_m = (uint8_t)(frame / FRAMES_PER_SECOND); // one step a second
    ph_messages_set_input(messages, (uint32_t)frame + 1, &walked_m, 1);
    ph_client_advance(view, now_us);
    ph_socket_batch_flush(&batch);
    if (frame % FRAMES_PER_SECOND == FRAMES_PER_SECOND - 1) {
        show((frame + 1) / FRAMES_PER_SECOND);
    }
    ph_socket_wait(sock, FRAME_US); // stands for drawing
    return ph_net_client_get_state(net) > PH_NET_CLIENT_DISCONNECTED;
}

int main(int argc, char** argv)
{
    if (!start() || !connect_with(argc > 1 ? argv[1] : "client.token")) {
        return 1;
    }
    ph_messages_send(messages, "hello", 5);
    int frame = 0;
    while (frame < SECONDS_MAX * FRAMES_PER_SECOND && play(frame)) {
        ++frame;
    }
    printf("over after %d frames: %s; the server has processed our input up to number %u\n", frame,
           ph_net_client_state_text(ph_net_client_get_state(net)),
           (unsigned)ph_messages_processed_input(messages));
    return ph_client_get_stats(view).applied_packets > 0 ? 0 : 1;
}
