// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A C program outside the tree that uses libpinhole-net: a token, a server and a client, and one
// payload between them. Each side's datagrams go straight to the other, where a game has sockets.

#include <pinhole/net/netcode.h>

#include <stdio.h>
#include <string.h>

enum { KEY = 1 }; // and 31 zeros; one of zeros alone is refused

static ph_address server_address;
static ph_address client_address;
static ph_net_server* server;
static ph_net_client* client;
static ph_net_payload received;

static void to_client(void* context, const ph_address* to, const void* bytes, size_t size)
{
    (void)context;
    (void)to;
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    ph_net_payload payload;
    memcpy(datagram, bytes, size);
    ph_net_client_receive(client, &server_address, datagram, size, &payload);
}

static void to_server(void* context, const ph_address* to, const void* bytes, size_t size)
{
    (void)context;
    (void)to;
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    memcpy(datagram, bytes, size);
    ph_net_server_receive(server, &client_address, datagram, size, &received);
}

static int create(void)
{
    ph_net_server_def server_def = ph_net_server_def_default();
    server_def.addresses[0] = server_address;
    server_def.address_count = 1;
    server_def.sink.send = to_client;
    server_def.private_key[0] = KEY;
    ph_net_client_def client_def = ph_net_client_def_default();
    client_def.sink.send = to_server;
    return ph_net_server_create(&server_def, &server) == PH_OK &&
           ph_net_client_create(&client_def, &client) == PH_OK;
}

int main(void)
{
    if (strcmp(ph_version(), PH_VERSION_TEXT) != 0) {
        return 1; // from the core, which is linked beside it
    }
    ph_token_def token_def = ph_token_def_default();
    uint8_t token[PH_TOKEN_SIZE];
    if (ph_address_parse("[::1]:40000", &server_address, NULL) != PH_OK ||
        ph_address_parse("127.0.0.1:50000", &client_address, NULL) != PH_OK || !create()) {
        return 1;
    }
    token_def.create_s = 1000;
    token_def.addresses[0] = server_address;
    token_def.address_count = 1;
    token_def.private_key[0] = KEY;
    if (ph_token_write(&token_def, token) != PH_OK) {
        return 1;
    }
    ph_net_server_start(server, 0, 1000);
    ph_net_client_connect(client, token, sizeof token, 0);
    ph_net_client_send(client, "hello", 5);
    printf("%s, %zu bytes\n", ph_net_client_state_text(ph_net_client_get_state(client)),
           received.size);
    const int is_good =
        ph_net_client_get_state(client) == PH_NET_CLIENT_CONNECTED && received.size == 5;
    ph_net_client_destroy(client);
    ph_net_server_destroy(server);
    return is_good ? 0 : 1;
}
