// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The connections of a server: a slot for each, found by address or by client id, and the events of
// their beginning and end. A slot whose end event was not taken yet is not given to another, so
// there are never more events than two for each slot.
// Find once per datagram; take and end once per connection; allocates at creation only.
//
//   slot:   free ──take──▶ connected ──end──▶ ended ──its event is taken──▶ free

#ifndef PINHOLE_NET_NETCODE_SLOTS_H
#define PINHOLE_NET_NETCODE_SLOTS_H

#include "base/hash.h"
#include "net/address_key.h"
#include "net/netcode_bytes.h"
#include "net/netcode_packet.h"

#include <pinhole/net/netcode_server.h>

#include <stdatomic.h>

// How many packets a server may send with the keys of one token, over all connections of that token, and
// how many of them have numbers of three bytes at most.
#define PH_NET_PACKETS_MAX (UINT64_C(1) << 32)
#define PH_NET_SHORT_PACKETS (UINT64_C(1) << 19)

// From here on a connection is ended, and none is made: what is left is enough for all that is sent until then.
#define PH_NET_PACKETS_END (PH_NET_PACKETS_MAX - (UINT64_C(1) << 20))

// The sequence number of a server's n-th packet, n below PH_NET_PACKETS_MAX. All servers of a token send with one
// key; so each has numbers of its own, by its place among the addresses of the token:
//
//   n below 2^19:  place << 19 | n              below 2^24
//   from there on: (place + 1) << 32 | n        below 2^38; challenges and denials have the numbers from 2^63
static inline uint64_t ph_net_sequence(int place, uint64_t n)
{
    return n < PH_NET_SHORT_PACKETS ? (uint64_t)place << 19 | n : (uint64_t)(place + 1) << 32 | n;
}

// One connection, in four cache lines when the allocator begins at one: what the tick looks at, with
// what both directions want; the rest of sending; opening in two. The two flags are atomic because one
// thread may seal for a client while another one opens what came from it.
typedef struct ph_net_slot {
    uint64_t received_us; // the newest genuine packet
    uint64_t sent_us;     // the newest of ours
    int32_t timeout_s;    // negative is never
    bool is_connected;
    atomic_bool is_confirmed; // a payload or keep-alive has come
    atomic_bool is_leaving;   // the client has said so; ends soon
    uint8_t place;            // of this server among the addresses of the token
    ph_address address;
    uint64_t client_id;
    uint64_t packets; // how many were sent with the keys of this token, by former connections, too

    uint8_t send_key[PH_NETCODE_KEY_SIZE];
    uint64_t datagrams_sent;
    uint64_t bytes_sent;
    uint64_t payloads_sent;
    uint64_t to_end_of_line;

    uint8_t receive_key[PH_NETCODE_KEY_SIZE];
    uint64_t datagrams_received;
    uint64_t bytes_received;
    uint64_t payloads_received;
    ph_netcode_replay replay;
    uint8_t tag[PH_NETCODE_TAG_SIZE]; // of the token
    uint64_t connected_us;
    uint64_t to_end_of_line2;
} ph_net_slot;

// Of the packet that follows so many others; for n from PH_NET_PACKETS_MAX on there is none.
static inline uint64_t ph_net_slot_sequence(const ph_net_slot* slot, uint64_t ahead)
{
    return ph_net_sequence(slot->place, slot->packets + ahead);
}

static inline bool ph_net_slot_is_confirmed(const ph_net_slot* slot)
{
    return atomic_load_explicit(&slot->is_confirmed, memory_order_relaxed);
}

static inline bool ph_net_slot_is_leaving(const ph_net_slot* slot)
{
    return atomic_load_explicit(&slot->is_leaving, memory_order_relaxed);
}

typedef struct ph_net_happening {
    ph_net_event_kind kind;
    ph_net_end end;
    int client;
} ph_net_happening;

// {0} may be destroyed. Fields are read-only outside netcode_slots.c, those of a slot are not.
typedef struct ph_net_slots {
    ph_net_slot* slots;
    uint8_t (*user_data)[PH_TOKEN_USER_DATA_SIZE]; // by slot; rarely looked at
    int32_t* free;                                 // a stack
    ph_net_happening* events;                      // a ring of 2 * capacity
    int capacity;
    int free_count;
    int connected_count;
    int event_first;
    int event_count;
    ph_hash_map by_address;
    ph_hash_map by_client_id;
    ph_address_secret secret;
    ph_allocator allocator;
} ph_net_slots;

// @return PH_OK, or PH_ERROR_MEMORY with *slots set to {0}.
ph_result ph_net_slots_create(ph_net_slots* slots, const ph_allocator* allocator, int capacity,
                              const ph_address_secret* secret);
void ph_net_slots_destroy(ph_net_slots* slots); // wipes all keys; leaves {0}

// The connected client at an address, or -1.
int ph_net_slots_find(const ph_net_slots* slots, const ph_address* address);

// The connected client with an id, or -1.
int ph_net_slots_find_client_id(const ph_net_slots* slots, uint64_t client_id);

// The slot at an index if it is connected and not leaving, else NULL. Any index will do.
ph_net_slot* ph_net_slots_at(const ph_net_slots* slots, int client);

// Connects a client whose address and id are not connected, and makes the event. The slot is all
// zero but for these; the caller fills in the rest.
// @return Its index, or -1 when no slot is free.
int ph_net_slots_take(ph_net_slots* slots, const ph_address* address, uint64_t client_id,
                      const uint8_t user_data[PH_TOKEN_USER_DATA_SIZE]);

// Ends a connection, wipes its keys, makes the event.
void ph_net_slots_end(ph_net_slots* slots, int client, ph_net_end end);

// Takes the oldest event. @return false when there is none.
bool ph_net_slots_next_event(ph_net_slots* slots, ph_net_event* event);

// Whether everything agrees. For tests.
bool ph_net_slots_validate(const ph_net_slots* slots);

#endif
