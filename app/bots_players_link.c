// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times per tick and peer. What a link carries begins with the address of the other end.

#include "bots_players_link.h"

#include "net/peer_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    CARRIED_MAX = sizeof(ph_address) + PH_NETCODE_DATAGRAM_MAX + 1,
    BATCHES_MAX = 8,
    GIVEN_MAX = 16,
    SOCKET_BYTES = 262144
};

struct bots_players_link {
    ph_socket* socket;
    ph_link* up; // NULL: the network as it is
    ph_link* down;
    bool has_something;                                    // waits at the socket
    uint8_t bytes[GIVEN_MAX][PH_NETCODE_DATAGRAM_MAX + 1]; // that the peer was given
};

// ---- towards the server

static bool send_now(bots_players_link* link, const ph_datagram* datagram)
{
    return ph_socket_send(link->socket, datagram, 1) == 1;
}

static bool send_of_peer(void* context, const ph_datagram* datagram)
{
    bots_players_link* link = context;
    uint8_t carried[CARRIED_MAX];
    if (link->up == NULL) {
        return send_now(link, datagram);
    }
    memcpy(carried, &datagram->peer, sizeof datagram->peer);
    memcpy(carried + sizeof datagram->peer, datagram->bytes, datagram->size);
    return ph_link_send(link->up, ph_socket_now_us(), carried,
                        sizeof datagram->peer + datagram->size) == PH_OK;
}

void bots_players_link_tick(bots_players_link* link)
{
    uint8_t carried[CARRIED_MAX];
    const uint64_t now_us = ph_socket_now_us();
    for (size_t size; link->up != NULL && ph_link_next_us(link->up) <= now_us &&
                      (size = ph_link_receive(link->up, now_us, carried, sizeof carried)) > 0;) {
        ph_datagram datagram = {.bytes = carried + sizeof(ph_address),
                                .size = size - sizeof(ph_address)};
        memcpy(&datagram.peer, carried, sizeof datagram.peer);
        send_now(link, &datagram);
    }
}

// ---- from the server

static void carry(bots_players_link* link, const ph_datagram* datagrams, int count)
{
    uint8_t carried[CARRIED_MAX];
    for (int i = 0; i < count; ++i) {
        const ph_datagram* one = &datagrams[i];
        if (one->size > 0 && one->size <= PH_NETCODE_DATAGRAM_MAX) {
            memcpy(carried, &one->peer, sizeof one->peer);
            memcpy(carried + sizeof one->peer, one->bytes, one->size);
            ph_link_send(link->down, ph_socket_now_us(), carried, sizeof one->peer + one->size);
        }
    }
}

// From the socket to the link.
static void take_arrived(bots_players_link* link)
{
    for (int i = 0; i < BATCHES_MAX && link->has_something; ++i) {
        ph_datagram arrived[PH_SOCKET_BATCH_MAX];
        const int count = ph_socket_receive(link->socket, arrived, PH_SOCKET_BATCH_MAX);
        carry(link, arrived, count);
        link->has_something = count == PH_SOCKET_BATCH_MAX;
    }
}

static int take_carried(bots_players_link* link, ph_datagram* datagrams, int max)
{
    uint8_t carried[CARRIED_MAX];
    const uint64_t now_us = ph_socket_now_us();
    int count = 0;
    for (size_t size; count < max && ph_link_next_us(link->down) <= now_us &&
                      (size = ph_link_receive(link->down, now_us, carried, sizeof carried)) > 0;
         ++count) {
        ph_datagram* one = &datagrams[count];
        *one = (ph_datagram){.bytes = link->bytes[count], .size = size - sizeof(ph_address)};
        memcpy(&one->peer, carried, sizeof one->peer);
        memcpy(one->bytes, carried + sizeof(ph_address), one->size);
    }
    return count;
}

static int receive_of_peer(void* context, ph_datagram* datagrams, int max)
{
    bots_players_link* link = context;
    const int room = max < PH_SOCKET_BATCH_MAX ? max : PH_SOCKET_BATCH_MAX;
    if (link->down == NULL) {
        const int count =
            link->has_something ? ph_socket_receive(link->socket, datagrams, room) : 0;
        link->has_something = count == room;
        return count;
    }
    take_arrived(link);
    return take_carried(link, datagrams, room < GIVEN_MAX ? room : GIVEN_MAX);
}

bool bots_players_link_advance(bots_players_link* link, uint64_t now_us)
{
    if (link->down == NULL) {
        return link->has_something;
    }
    take_arrived(link);
    if (ph_link_next_us(link->up) <= now_us) {
        bots_players_link_tick(link);
    }
    return ph_link_next_us(link->down) <= now_us;
}

// ---- memory

static bool open_links(bots_players_link* link, const ph_link_def* def, uint64_t key)
{
    if (def == NULL) {
        return true;
    }
    ph_link_def one = *def;
    one.key = 2 * key;
    if (ph_link_create(&one, &link->up) != PH_OK) {
        return false;
    }
    one.key = 2 * key + 1;
    return ph_link_create(&one, &link->down) == PH_OK;
}

bots_players_link* bots_players_link_create(ph_peer* peer, const ph_link_def* def, uint64_t key)
{
    const uint8_t any[4] = {0};
    bots_players_link* link = calloc(1, sizeof *link);
    if (link == NULL) {
        return NULL;
    }
    ph_socket_def socket = ph_socket_def_default();
    socket.local_address = ph_address_make_ipv4(any, 0);
    socket.receive_buffer_bytes = SOCKET_BYTES;
    socket.send_buffer_bytes = SOCKET_BYTES;
    if (ph_socket_open(&socket, &link->socket) != PH_OK || !open_links(link, def, key)) {
        bots_players_link_destroy(link);
        return NULL;
    }
    peer->seam = (ph_peer_seam){.receive = receive_of_peer, .send = send_of_peer, .context = link};
    return link;
}

void bots_players_link_destroy(bots_players_link* link)
{
    if (link == NULL) {
        return;
    }
    ph_socket_close(link->socket);
    ph_link_destroy(link->up);
    ph_link_destroy(link->down);
    free(link);
}

int bots_players_link_handle(const bots_players_link* link)
{
    return (int)ph_socket_handle(link->socket);
}

void bots_players_link_note(bots_players_link* link)
{
    link->has_something = true;
}
