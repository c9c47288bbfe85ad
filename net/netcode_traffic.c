// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What goes to clients and comes from them, once per datagram. Sealing and opening touch the slot of
// one client and nothing else that changes, but for the counts of refusals, which are atomic.

#include "net/netcode_server_state.h"
#include "net/netcode_packet.h"

// ---- to clients

void ph_net_server_send_packet(ph_net_server* server, int client, ph_netcode_type type,
                               const void* data, size_t size, const ph_net_sink* sink)
{
    ph_net_slot* slot = &server->slots.slots[client];
    if (slot->packets >= PH_NET_PACKETS_MAX) {
        return; // the tick ends it
    }
    uint8_t datagram[PH_NETCODE_DATAGRAM_MAX];
    const ph_netcode_lock lock = {.protocol_id = server->def.protocol_id, .key = slot->send_key};
    const uint64_t sequence = ph_net_slot_sequence(slot, 0);
    ++slot->packets;
    const size_t datagram_size = ph_netcode_seal(&lock, type, sequence, data, size, datagram);
    slot->sent_us = server->now_us;
    ++slot->datagrams_sent;
    slot->bytes_sent += datagram_size;
    if (sink->send != NULL) {
        sink->send(sink->context, &slot->address, datagram, datagram_size);
    }
}

void ph_net_server_send_keep_alive(ph_net_server* server, int client, const ph_net_sink* sink)
{
    uint8_t data[8];
    ph_put_u32(ph_put_u32(data, (uint32_t)client), (uint32_t)server->def.client_capacity);
    ph_net_server_send_packet(server, client, PH_NETCODE_KEEP_ALIVE, data, sizeof data, sink);
}

bool ph_net_server_seal(ph_net_server* server, int client, const void* bytes, size_t size,
                        const ph_net_sink* sink)
{
    PH_ASSERT(size >= 1 && size <= PH_NETCODE_PAYLOAD_MAX);

    ph_net_slot* slot = ph_net_slots_at(&server->slots, client);
    if (slot == NULL || size < 1 || size > PH_NETCODE_PAYLOAD_MAX) {
        return false;
    }
    if (!ph_net_slot_is_confirmed(slot)) {
        // Its first keep-alive may be lost, and before that one a client drops payloads.
        ph_net_server_send_keep_alive(server, client, sink);
    }
    ph_net_server_send_packet(server, client, PH_NETCODE_PAYLOAD, bytes, size, sink);
    ++slot->payloads_sent;
    return true;
}

bool ph_net_server_send(ph_net_server* server, int client, const void* bytes, size_t size)
{
    return ph_net_server_seal(server, client, bytes, size, &server->def.sink);
}

size_t ph_net_server_cost(const ph_net_server* server, int client, size_t payload_size)
{
    const ph_net_slot* slot = ph_net_slots_at(&server->slots, client);
    if (slot == NULL) {
        return 0;
    }
    if (ph_net_slot_is_confirmed(slot)) {
        return ph_netcode_sealed_size(ph_net_slot_sequence(slot, 0), payload_size);
    }
    return ph_netcode_sealed_size(ph_net_slot_sequence(slot, 0), 8) +
           ph_netcode_sealed_size(ph_net_slot_sequence(slot, 1), payload_size);
}

// ---- from clients

int ph_net_server_find(const ph_net_server* server, const ph_address* from)
{
    return ph_net_slots_find(&server->slots, from);
}

// What a connected client may send; anything else is refused before it costs anything.
static ph_net_refusal test_type(const uint8_t* bytes, size_t size)
{
    if (size > 0 && bytes[0] == PH_NETCODE_REQUEST) {
        return PH_NET_REFUSAL_ADDRESS_CONNECTED;
    }
    ph_netcode_opened peeked;
    const ph_net_refusal refusal = ph_netcode_peek(bytes, size, &peeked);
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    if (peeked.type == PH_NETCODE_RESPONSE) {
        return PH_NET_REFUSAL_ADDRESS_CONNECTED;
    }
    return peeked.type < PH_NETCODE_KEEP_ALIVE ? PH_NET_REFUSAL_TYPE : PH_NET_REFUSAL_NONE;
}

static ph_net_refusal open_packet(const ph_net_server* server, int client, void* bytes, size_t size,
                                  ph_net_payload* payload)
{
    if (client < 0 || client >= server->slots.capacity ||
        !server->slots.slots[client].is_connected) {
        return PH_NET_REFUSAL_STATE;
    }
    ph_net_slot* slot = &server->slots.slots[client];
    ++slot->datagrams_received;
    slot->bytes_received += size;
    if (ph_net_slot_is_leaving(slot)) {
        return PH_NET_REFUSAL_STATE;
    }
    ph_net_refusal refusal = test_type(bytes, size);
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    const ph_netcode_lock lock = {.protocol_id = server->def.protocol_id, .key = slot->receive_key};
    ph_netcode_opened opened;
    refusal = ph_netcode_open(&lock, &slot->replay, bytes, size, &opened);
    if (refusal != PH_NET_REFUSAL_NONE) {
        return refusal;
    }
    slot->received_us = server->now_us;
    if (opened.type == PH_NETCODE_DISCONNECT) {
        atomic_store_explicit(&slot->is_leaving, true, memory_order_relaxed);
        return PH_NET_REFUSAL_NONE;
    }
    atomic_store_explicit(&slot->is_confirmed, true, memory_order_relaxed);
    if (opened.type == PH_NETCODE_PAYLOAD) {
        ++slot->payloads_received;
        *payload = (ph_net_payload){
            .bytes = opened.data,
            .size = opened.data_size,
            .sequence = opened.sequence,
            .client = client,
        };
    }
    return PH_NET_REFUSAL_NONE;
}

static ph_net_refusal count(ph_net_server* server, ph_net_refusal refusal)
{
    if (refusal != PH_NET_REFUSAL_NONE) {
        atomic_fetch_add_explicit(&server->refused[refusal], 1, memory_order_relaxed);
    }
    return refusal;
}

ph_net_refusal ph_net_server_open(ph_net_server* server, int client, void* bytes, size_t size,
                                  ph_net_payload* payload)
{
    *payload = (ph_net_payload){0};
    return count(server, open_packet(server, client, bytes, size, payload));
}

static ph_net_refusal receive_from_stranger(ph_net_server* server, const ph_address* from,
                                            uint8_t* bytes, size_t size)
{
    ++server->stats.received_datagrams;
    server->stats.received_bytes += size;
    if (!server->is_running) {
        return PH_NET_REFUSAL_STOPPED;
    }
    if (server->def.is_insecure_dev && !ph_address_is_private(from)) {
        return PH_NET_REFUSAL_NOT_PRIVATE;
    }
    if (size > 0 && bytes[0] == PH_NETCODE_REQUEST) {
        return ph_handshake_request(server, from, bytes, size);
    }
    return ph_handshake_response(server, from, bytes, size);
}

// The player of a connection that has fallen silent may ask anew from the same address.
static bool is_anew(const ph_net_server* server, int client, const uint8_t* bytes, size_t size)
{
    return size > 0 && bytes[0] == PH_NETCODE_REQUEST && server->is_running &&
           ph_net_server_is_silent(server, client);
}

ph_net_refusal ph_net_server_receive(ph_net_server* server, const ph_address* from, void* bytes,
                                     size_t size, ph_net_payload* payload)
{
    *payload = (ph_net_payload){0};
    const int client = ph_net_slots_find(&server->slots, from);
    if (client < 0 || is_anew(server, client, bytes, size)) {
        return count(server, receive_from_stranger(server, from, bytes, size));
    }
    const ph_net_refusal refusal = open_packet(server, client, bytes, size, payload);
    if (ph_net_slot_is_leaving(&server->slots.slots[client])) {
        ph_net_server_end(server, client, PH_NET_END_CLIENT);
    }
    return count(server, refusal);
}
