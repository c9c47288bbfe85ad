// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Clients between request and response: for each source address the keys that its token brought.
// Bounded; the newest request counts, and when there is no room the one that has waited longest is
// forgotten. An entry costs its owner a token, so unknown senders cannot fill the table; and a client id has but a few
// entries, as has, if that is asked for, a network: beyond that its own oldest makes room.
// Put and find once per handshake packet, lapse once a second.
//
//   by_address: key of the address -> index      entries: linked oldest -> newest, or free
//   by_group: client id, or key of the network -> index of its newest, from where older ones are linked

#ifndef PINHOLE_NET_NETCODE_PENDING_H
#define PINHOLE_NET_NETCODE_PENDING_H

#include "base/hash.h"
#include "net/address_key.h"
#include "net/netcode_bytes.h"

#include <pinhole/net/netcode_common.h>

// By what entries are limited. A network is the first 24 bits of an IPv4 address, 56 of IPv6, and never loopback.
typedef enum ph_pending_group {
    PH_PENDING_BY_CLIENT_ID,
    PH_PENDING_BY_PREFIX,
    PH_PENDING_GROUPS
} ph_pending_group;

typedef struct ph_pending {
    ph_address address;
    int32_t timeout_s;    // negative is never
    uint8_t key_place;    // which of the server's keys has opened the token
    uint8_t server_place; // of the server among the addresses of the token
    uint64_t client_id;
    uint64_t requested_us;            // the newest request
    uint64_t first_challenge;         // responses to older ones are not of this handshake
    uint8_t tag[PH_NETCODE_TAG_SIZE]; // of the token
    uint8_t client_to_server_key[PH_NETCODE_KEY_SIZE];
    uint8_t server_to_client_key[PH_NETCODE_KEY_SIZE];
    int32_t older1; // neighbours in the list + 1; 0 is the end
    int32_t newer1;
    struct {
        int32_t older1;
        int32_t newer1;
    } of_group[PH_PENDING_GROUPS]; // likewise, in the lists of its client id and of its network
} ph_pending;

// What a table is made of.
typedef struct ph_pending_def {
    int capacity;
    int group_max[PH_PENDING_GROUPS]; // entries of one client id and of one network; 0 is no limit
} ph_pending_def;

// {0} may be destroyed. Fields are read-only outside netcode_pending.c.
typedef struct ph_pending_table {
    ph_pending* entries;
    int capacity;
    int count;
    int32_t oldest1;
    int32_t newest1;
    int32_t free1; // linked by newer1
    ph_hash_map by_address;
    ph_hash_map by_group[PH_PENDING_GROUPS]; // empty where there is no limit
    int group_max[PH_PENDING_GROUPS];
    ph_address_secret secret;
    ph_allocator allocator;
} ph_pending_table;

// @return PH_OK, or PH_ERROR_MEMORY with *table set to {0}.
ph_result ph_pending_create(ph_pending_table* table, const ph_allocator* allocator,
                            const ph_pending_def* def, const ph_address_secret* secret);

// Wipes all keys. Leaves {0}.
void ph_pending_destroy(ph_pending_table* table);

// The entry of an address, or NULL.
ph_pending* ph_pending_find(const ph_pending_table* table, const ph_address* address);

// The entry of an address as the newest; all zero but for address and client id when it is new or was another
// client's. requested_us is for the caller to fill in, as is the rest.
ph_pending* ph_pending_put(ph_pending_table* table, const ph_address* address, uint64_t client_id);

// Wipes one.
void ph_pending_remove(ph_pending_table* table, ph_pending* entry);

// Wipes all whose timeout has passed since the newest request.
void ph_pending_lapse(ph_pending_table* table, uint64_t now_us);

// The server has other keys: places says where each of the former ones is now. Wipes those whose key
// has gone, at -1.
void ph_pending_change_keys(ph_pending_table* table, const int places[2]);

void ph_pending_clear(ph_pending_table* table);

// Whether list, map and count agree. For tests.
bool ph_pending_validate(const ph_pending_table* table);

#endif
