// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE // sendmmsg
#endif

#include "net_yardsticks.h"

#include "timer.h"
#include "net/netcode_packet.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct net_yardsticks {
    ph_socket* socket;
    int count;
    size_t bytes;
    struct sockaddr_in* peers;
    struct mmsghdr* messages;
    struct iovec part; // the same bytes to all
    uint8_t data[PH_NETCODE_DATAGRAM_MAX];
    uint8_t sealed[PH_NETCODE_DATAGRAM_MAX];
    uint8_t key[PH_NETCODE_KEY_SIZE];
    uint64_t sequence;
};

static void prepare(net_yardsticks* y, const ph_address* peers)
{
    y->part = (struct iovec){.iov_base = y->data, .iov_len = y->bytes};
    for (int i = 0; i < y->count; ++i) {
        y->peers[i] = (struct sockaddr_in){
            .sin_family = AF_INET,
            .sin_port = htons(peers[i].port),
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        };
        y->messages[i].msg_hdr = (struct msghdr){
            .msg_name = &y->peers[i],
            .msg_namelen = sizeof y->peers[i],
            .msg_iov = &y->part,
            .msg_iovlen = 1,
        };
    }
}

net_yardsticks* net_yardsticks_make(const ph_address* peers, int count, size_t datagram_bytes)
{
    const ph_socket_def def = ph_socket_def_default();
    net_yardsticks* y = calloc(1, sizeof *y);
    if (y == NULL) {
        return NULL;
    }
    y->count = count;
    y->bytes = datagram_bytes;
    y->peers = calloc((size_t)count, sizeof *y->peers);
    y->messages = calloc((size_t)count, sizeof *y->messages);
    if (y->peers == NULL || y->messages == NULL || ph_socket_open(&def, &y->socket) != PH_OK) {
        net_yardsticks_destroy(y);
        return NULL;
    }
    ph_netcode_start();
    prepare(y, peers);
    return y;
}

void net_yardsticks_destroy(net_yardsticks* y)
{
    if (y == NULL) {
        return;
    }
    ph_socket_close(y->socket);
    free(y->messages);
    free(y->peers);
    free(y);
}

double net_yardsticks_send(net_yardsticks* y)
{
    const int number = (int)ph_socket_handle(y->socket);
    const double start_ns = bench_cpu_ns();
    for (int at = 0; at < y->count; at += PH_SOCKET_BATCH_MAX) {
        const int left = y->count - at;
        sendmmsg(number, y->messages + at,
                 (unsigned)(left < PH_SOCKET_BATCH_MAX ? left : PH_SOCKET_BATCH_MAX), MSG_DONTWAIT);
    }
    return (bench_cpu_ns() - start_ns) / y->count;
}

double net_yardsticks_seal(net_yardsticks* y)
{
    const ph_netcode_lock lock = {.protocol_id = 1, .key = y->key};
    const size_t payload_bytes = y->bytes - (ph_netcode_sealed_size(y->sequence, 1) - 1);
    const double start_ns = bench_cpu_ns();
    for (int i = 0; i < y->count; ++i) {
        ph_netcode_seal(&lock, PH_NETCODE_PAYLOAD, y->sequence++, y->data, payload_bytes,
                        y->sealed);
        bench_use(y->sealed, sizeof y->sealed);
    }
    return (bench_cpu_ns() - start_ns) / y->count;
}
