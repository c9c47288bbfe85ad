// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Datagrams of the netcode 1.02 standard, one at a time: sealing, opening, and the window that
// refuses replays. What server and client are made of; a game talks to those (netcode_server.h,
// netcode_client.h). Runs once per datagram, allocates nothing, keeps nothing.
//
//   type 0, a request, in clear (1078 bytes):
//   | 0 | "NETCODE 1.02\0" | protocol id 8 | expire time 8 | nonce 24 | private token 1024 |
//
//   types 1..6:
//   | type + 16 * n | sequence, n bytes, lowest first | sealed data | tag 16 |

#ifndef PINHOLE_NETCODE_PACKET_H
#define PINHOLE_NETCODE_PACKET_H

#include "net/netcode_packet.h"

#include <pinhole/net/netcode_common.h>

// Bytes of a connection request.
#define PH_NETCODE_REQUEST_SIZE 1078

// The numbers are those on the wire.
typedef enum ph_netcode_type {
    PH_NETCODE_REQUEST = 0,
    PH_NETCODE_DENIED,
    PH_NETCODE_CHALLENGE,
    PH_NETCODE_RESPONSE,
    PH_NETCODE_KEEP_ALIVE,
    PH_NETCODE_PAYLOAD,
    PH_NETCODE_DISCONNECT,
    PH_NETCODE_TYPE_COUNT
} ph_netcode_type;

// Readies libsodium; again and again is allowed, from any thread. Making a token, a server or a
// client does it. Ends the program where there is no randomness to be had.
void ph_netcode_start(void);

// ---- replays -------------------------------------------------------------------------------------

// Sequence numbers further than this behind the newest are refused.
#define PH_NETCODE_REPLAY_WINDOW 256

// Which sequence numbers were received, of the newest 256. {0} is nothing yet.
typedef struct ph_netcode_replay {
    uint64_t newest;
    // Bit (sequence % 256).
    uint64_t seen[PH_NETCODE_REPLAY_WINDOW / 64];
} ph_netcode_replay;

// Whether a sequence number was received before, or is too old to tell.
bool ph_netcode_replay_has(const ph_netcode_replay* replay, uint64_t sequence);

// Remembers a sequence number that ph_netcode_replay_has denies. Only for datagrams that opened:
// a forged one must not move the window.
void ph_netcode_replay_add(ph_netcode_replay* replay, uint64_t sequence);

// ---- sealed packets ------------------------------------------------------------------------------

// What a direction of a connection is sealed with.
typedef struct ph_netcode_lock {
    uint64_t protocol_id;
    const uint8_t* key; // PH_NETCODE_KEY_SIZE bytes
} ph_netcode_lock;

// Size of a datagram with so many bytes of data: 18..1225.
size_t ph_netcode_sealed_size(uint64_t sequence, size_t data_size);

// Seals a packet of type 1..6. data_size is at most PH_NETCODE_PAYLOAD_MAX; data may be NULL when
// it is 0. A sequence number is used once for each key: twice would give both packets away.
// @return The size of the datagram.
size_t ph_netcode_seal(const ph_netcode_lock* lock, ph_netcode_type type, uint64_t sequence,
                       const void* data, size_t data_size,
                       uint8_t datagram[PH_NETCODE_DATAGRAM_MAX]);

// A packet that opened.
typedef struct ph_netcode_opened {
    ph_netcode_type type;
    uint64_t sequence;
    const uint8_t* data; // inside the datagram
    size_t data_size;
} ph_netcode_opened;

// What can be said of a datagram of type 1..6 without a key: its type and sequence number, or why
// it is none. Costs nothing worth mentioning. data is where the sealed data begins.
ph_net_refusal ph_netcode_peek(const void* datagram, size_t size, ph_netcode_opened* peeked);

// Opens a datagram of type 1..6, in place: its bytes are the plain data afterwards, or scratch when
// it does not open. Keep-alives, payloads and disconnects are held against replay, which then moves
// on; NULL for none.
// @return PH_NET_REFUSAL_NONE, SIZE, TYPE, SEQUENCE_BYTES, REPLAYED, SEAL or DATA_SIZE.
ph_net_refusal ph_netcode_open(const ph_netcode_lock* lock, ph_netcode_replay* replay,
                               void* datagram, size_t size, ph_netcode_opened* opened);

#endif
