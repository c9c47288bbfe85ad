// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Payloads that wait to be sealed and sent by a worker's socket. A send of the world takes so much
// code and memory that nothing of libsodium or the system is in a cache behind it; so these take
// turns only once for some batches of datagrams: the first one waits for two milliseconds or so.
// Belongs to one thread at a time.

#ifndef PINHOLE_NET_HOST_SEND_BATCH_H
#define PINHOLE_NET_HOST_SEND_BATCH_H

#include <pinhole/net/host.h>

typedef struct ph_host_payload {
    uint64_t now_us; // when it was made
    int32_t client;
    int32_t size;
} ph_host_payload;

// With room for so many of a quarter of the largest, or for fewer that are larger.
enum { PH_SEND_BATCH_PAYLOADS = 256 };

typedef struct ph_host_send_batch {
    ph_socket_batch outbox;
    int count;
    size_t used;
    ph_host_payload payloads[PH_SEND_BATCH_PAYLOADS];
    uint8_t bytes[PH_SEND_BATCH_PAYLOADS / 4 * PH_NETCODE_PAYLOAD_MAX];
} ph_host_send_batch;

void ph_host_send_batch_begin(ph_host_send_batch* batch, ph_socket* socket);

// Where the next payload goes, PH_NETCODE_PAYLOAD_MAX bytes. Sends all when there is no room.
uint8_t* ph_host_send_batch_place(ph_host* host, ph_host_send_batch* batch);

// The payload stands there.
void ph_host_send_batch_add(ph_host_send_batch* batch, int client, size_t size, uint64_t now_us);

// Seals and sends all.
void ph_host_send_batch_send(ph_host* host, ph_host_send_batch* batch);

#endif
