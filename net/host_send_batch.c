// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once for some batches, and a microsecond for each datagram of it beside the system's call.

#include "net/host_send_batch.h"

#include "net/host_state.h"
#include "net/netcode_server_state.h"

void ph_host_send_batch_begin(ph_host_send_batch* batch, ph_socket* socket)
{
    ph_socket_batch_begin(&batch->outbox, socket);
    batch->count = 0;
    batch->used = 0;
}

uint8_t* ph_host_send_batch_place(ph_host* host, ph_host_send_batch* batch)
{
    if (batch->count == PH_SEND_BATCH_PAYLOADS ||
        batch->used + PH_NETCODE_PAYLOAD_MAX > sizeof batch->bytes) {
        ph_host_send_batch_send(host, batch);
    }
    return batch->bytes + batch->used;
}

void ph_host_send_batch_add(ph_host_send_batch* batch, int client, size_t size, uint64_t now_us)
{
    batch->payloads[batch->count++] = (ph_host_payload){
        .now_us = now_us,
        .client = client,
        .size = (int32_t)size,
    };
    batch->used += size;
}

typedef struct passing {
    ph_socket_batch* outbox;
    const ph_address* local_of; // by client
    ph_host_session* session;
    uint64_t now_us;
} passing;

static void pass(void* context, const ph_address* to, const void* bytes, size_t size)
{
    const passing* now = context;
    ph_host_session* session = now->session;
    ph_wire_meter_pass(&session->meter, size + (size_t)session->header_bytes, now->now_us);
    ph_socket_batch_add_from(now->outbox, to, &now->local_of[session->client], bytes, size);
}

// Whether the outbox has room for it without sending what it has: sealed, and with a keep-alive.
static bool has_room(const ph_socket_batch* outbox, const ph_host_payload* payload)
{
    const size_t most =
        (size_t)payload->size + PH_HOST_KEEP_ALIVE_BYTES + 2 * (size_t)PH_NETCODE_OVERHEAD_MAX;
    return outbox->count + 2 <= PH_SOCKET_BATCH_MAX && outbox->used + most <= sizeof outbox->bytes;
}

// As many as are sent with one call, from this one on. @return The first that is left.
static int seal(const ph_host* host, ph_host_send_batch* batch, int first, const uint8_t** bytes)
{
    passing now = {.outbox = &batch->outbox, .local_of = host->workers.local_of};
    const ph_net_sink sink = {pass, &now};
    int i = first;
    for (; i < batch->count && has_room(&batch->outbox, &batch->payloads[i]); ++i) {
        const ph_host_payload* payload = &batch->payloads[i];
        now.session = &host->sessions.by_client[payload->client];
        now.now_us = payload->now_us;
        ph_net_server_seal(host->server, payload->client, *bytes, (size_t)payload->size, &sink);
        *bytes += payload->size;
    }
    return i;
}

void ph_host_send_batch_send(ph_host* host, ph_host_send_batch* batch)
{
    const uint8_t* bytes = batch->bytes;
    for (int first = 0; first < batch->count;) {
        const uint64_t start_ns = ph_host_now_ns(host);
        first = seal(host, batch, first, &bytes);
        const uint64_t sealed_ns = ph_host_now_ns(host);
        ph_socket_batch_flush(&batch->outbox);
        if (host->now_ns != NULL) {
            host->times.seal_ns += sealed_ns - start_ns;
            host->times.send_ns += ph_host_now_ns(host) - sealed_ns;
        }
    }
    batch->count = 0;
    batch->used = 0;
}
