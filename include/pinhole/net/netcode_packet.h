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

#ifndef PINHOLE_NET_NETCODE_PACKET_H
#define PINHOLE_NET_NETCODE_PACKET_H

#include <pinhole/net/address.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes of every key.
#define PH_NETCODE_KEY_SIZE 32

/// The most that one payload carries, in bytes; the least is 1. As PH_PAYLOAD_MAX.
#define PH_NETCODE_PAYLOAD_MAX 1200

/// No datagram is larger, in bytes. A socket reads into one byte more, so that a larger one is
/// recognised instead of cut.
#define PH_NETCODE_DATAGRAM_MAX 1225

/// Bytes of a connection request.
#define PH_NETCODE_REQUEST_SIZE 1078

/// What sealing adds to a payload at most: prefix 1, sequence 8, tag 16. Usually 19 or 20.
#define PH_NETCODE_OVERHEAD_MAX 25

/// The numbers are those on the wire.
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

// Why a datagram was ignored. The names are for metrics and never change.
#define PH_NET_REFUSALS(X)                                                                         \
    X(NONE, "none")                           /* it was not */                                     \
    X(STOPPED, "stopped")                     /* nobody is listening */                            \
    X(SIZE, "size")                           /* too short or too long for any of its type */      \
    X(TYPE, "type")                           /* unknown, or never sent in this direction */       \
    X(SEQUENCE_BYTES, "sequence_bytes")       /* their number is not 1..8 */                       \
    X(ADDRESS, "address")                     /* no connection with this address, none pending */  \
    X(REPLAYED, "replayed")                   /* seen before, or too old to know */                \
    X(SEAL, "seal")                           /* forged or damaged: the tag is wrong */            \
    X(DATA_SIZE, "data_size")                 /* sealed, but not as long as its type demands */    \
    X(STATE, "state")                         /* genuine, but nothing to do with it now */         \
    X(VERSION, "version")                     /* a request of another version of the standard */   \
    X(PROTOCOL, "protocol")                   /* a request for another game */                     \
    X(EXPIRED, "expired")                     /* a request with an old token */                    \
    X(BUSY, "busy")                           /* more requests than the server cares to open */    \
    X(TOKEN_SEAL, "token_seal")               /* forged, or made with another key */               \
    X(TOKEN_DATA, "token_data")               /* opens, but makes no sense */                      \
    X(TOKEN_SERVER, "token_server")           /* for other servers */                              \
    X(TOKEN_USED, "token_used")               /* from another address before, or spent */          \
    X(ADDRESS_CONNECTED, "address_connected") /* that address is connected already */              \
    X(CLIENT_CONNECTED, "client_connected")   /* that client id is connected already */            \
    X(FULL, "full")                           /* no slot is free; answered with "denied" */        \
    X(CHALLENGE, "challenge")                 /* a response whose challenge is not ours */

typedef enum ph_net_refusal {
#define PH_NET_REFUSAL_VALUE(name, text) PH_NET_REFUSAL_##name,
    PH_NET_REFUSALS(PH_NET_REFUSAL_VALUE)
#undef PH_NET_REFUSAL_VALUE
        PH_NET_REFUSAL_COUNT
} ph_net_refusal;

/// A short lower-case name ("seal"), never NULL. Static storage.
PH_API const char* ph_net_refusal_name(ph_net_refusal refusal);

/// Takes a datagram that is to be sent. bytes are only lent for the call.
typedef void ph_net_send(void* context, const ph_address* to, const void* bytes, size_t size);

/// Where datagrams go. {0} drops them.
typedef struct ph_net_sink {
    ph_net_send* send;
    void* context;
} ph_net_sink;

/// Fills size bytes that nobody can guess.
typedef void ph_net_random(void* context, void* bytes, size_t size);

/// Readies libsodium; again and again is allowed, from any thread. Making a token, a server or a
/// client does it, so only programs that use nothing but this header call it. Ends the program
/// where there is no randomness to be had.
PH_API void ph_netcode_start(void);

// ---- replays -------------------------------------------------------------------------------------

/// Sequence numbers further than this behind the newest are refused.
#define PH_NETCODE_REPLAY_WINDOW 256

/// Which sequence numbers were received, of the newest 256. {0} is nothing yet.
typedef struct ph_netcode_replay {
    uint64_t newest;
    /// Bit (sequence % 256).
    uint64_t seen[PH_NETCODE_REPLAY_WINDOW / 64];
} ph_netcode_replay;

/// Whether a sequence number was received before, or is too old to tell.
PH_API bool ph_netcode_replay_has(const ph_netcode_replay* replay, uint64_t sequence);

/// Remembers a sequence number that ph_netcode_replay_has denies. Only for datagrams that opened:
/// a forged one must not move the window.
PH_API void ph_netcode_replay_add(ph_netcode_replay* replay, uint64_t sequence);

// ---- sealed packets ------------------------------------------------------------------------------

/// What a direction of a connection is sealed with.
typedef struct ph_netcode_lock {
    uint64_t protocol_id;
    const uint8_t* key; ///< PH_NETCODE_KEY_SIZE bytes
} ph_netcode_lock;

/// Size of a datagram with so many bytes of data: 18..1225.
PH_API size_t ph_netcode_sealed_size(uint64_t sequence, size_t data_size);

/// Seals a packet of type 1..6. data_size is at most PH_NETCODE_PAYLOAD_MAX; data may be NULL when
/// it is 0. A sequence number is used once for each key: twice would give both packets away.
/// @return The size of the datagram.
PH_API size_t ph_netcode_seal(const ph_netcode_lock* lock, ph_netcode_type type, uint64_t sequence,
                              const void* data, size_t data_size,
                              uint8_t datagram[PH_NETCODE_DATAGRAM_MAX]);

/// A packet that opened.
typedef struct ph_netcode_opened {
    ph_netcode_type type;
    uint64_t sequence;
    const uint8_t* data; ///< inside the datagram
    size_t data_size;
} ph_netcode_opened;

/// What can be said of a datagram of type 1..6 without a key: its type and sequence number, or why
/// it is none. Costs nothing worth mentioning. data is where the sealed data begins.
PH_API ph_net_refusal ph_netcode_peek(const void* datagram, size_t size, ph_netcode_opened* peeked);

/// Opens a datagram of type 1..6, in place: its bytes are the plain data afterwards, or scratch when
/// it does not open. Keep-alives, payloads and disconnects are held against replay, which then moves
/// on; NULL for none.
/// @return PH_NET_REFUSAL_NONE, SIZE, TYPE, SEQUENCE_BYTES, REPLAYED, SEAL or DATA_SIZE.
PH_API ph_net_refusal ph_netcode_open(const ph_netcode_lock* lock, ph_netcode_replay* replay,
                                      void* datagram, size_t size, ph_netcode_opened* opened);

#ifdef __cplusplus
}
#endif

#endif
