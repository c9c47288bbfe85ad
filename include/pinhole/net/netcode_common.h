// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both sides of netcode 1.02 have in common: sizes, where datagrams go, and why one was ignored.
// A game uses netcode_server.h and netcode_client.h, which include this; most use host.h.

#ifndef PINHOLE_NET_NETCODE_COMMON_H
#define PINHOLE_NET_NETCODE_COMMON_H

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

/// What sealing adds to a payload at most, in bytes: prefix 1, sequence 8, tag 16. Usually 19 or 20.
#define PH_NETCODE_OVERHEAD_MAX 25

// Why a datagram was ignored. The names are for metrics and never change.
#define PH_NET_REFUSALS(X)                                                                         \
    X(NONE, "none")                           /* it was not */                                     \
    X(STOPPED, "stopped")                     /* the server is stopped */                          \
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
    X(BUSY, "busy")                           /* more requests than the server opens a second */   \
    X(TOKEN_SEAL, "token_seal")               /* forged, or made with another key */               \
    X(TOKEN_DATA, "token_data")               /* opens, but makes no sense */                      \
    X(TOKEN_SERVER, "token_server")           /* for other servers */                              \
    X(TOKEN_USED, "token_used")               /* from another address before, or spent */          \
    X(ADDRESS_CONNECTED, "address_connected") /* that address is connected already */              \
    X(CLIENT_CONNECTED, "client_connected")   /* that client id is connected already */            \
    X(FULL, "full")                           /* no slot is free; answered with "denied" */        \
    X(CHALLENGE, "challenge")                 /* a response whose challenge is not ours */         \
    X(TOKEN_OLD, "token_old")                 /* made before this server could know it as spent */ \
    X(SPENT_TOKENS, "spent_tokens")           /* the spent-tokens file cannot be written */        \
    X(NOT_PRIVATE, "not_private")             /* insecure server: from a public address */

/// Why a datagram was refused; the reasons stand above. NONE (0): it was not.
typedef enum ph_net_refusal {
#define PH_NET_REFUSAL_VALUE(name, text) PH_NET_REFUSAL_##name,
    PH_NET_REFUSALS(PH_NET_REFUSAL_VALUE)
#undef PH_NET_REFUSAL_VALUE
        PH_NET_REFUSAL_COUNT
} ph_net_refusal;

/// A short lower-case name ("seal"), never NULL. Static storage.
PH_API const char* ph_net_refusal_name(ph_net_refusal refusal);

// Why a server does not let a client in that has a genuine token, with the byte that says so in a denied packet. (In
// the standard such a packet is empty and means that the server is full, and it still is then.)
#define PH_NET_DENIALS(X)                                                                          \
    X(NONE, "none")                         /* it does, or has not said */                         \
    X(FULL, "full")                         /* no slot is free */                                  \
    X(CLIENT_CONNECTED, "client_connected") /* that client id is connected, from elsewhere */      \
    X(TOKEN_USED, "token_used")             /* from another address before, or spent */            \
    X(TOKEN_OLD, "token_old")               /* made before this server could know it as spent */   \
    X(TOKEN_SERVER, "token_server")         /* for other servers */                                \
    X(EXPIRED, "expired")                   /* by the server's clock */                            \
    X(PROTOCOL, "protocol")                 /* the server is of another game, or version of it */  \
    X(OTHER, "other")                       /* a byte that this version does not know */

/// Why a server has denied a client; the reasons stand above. NONE (0): it has not.
typedef enum ph_net_denial {
#define PH_NET_DENIAL_VALUE(name, text) PH_NET_DENIAL_##name,
    PH_NET_DENIALS(PH_NET_DENIAL_VALUE)
#undef PH_NET_DENIAL_VALUE
        PH_NET_DENIAL_COUNT
} ph_net_denial;

/// A short lower-case name ("token_used"), never NULL. Static storage.
PH_API const char* ph_net_denial_name(ph_net_denial denial);

/// Takes a datagram that is to be sent. bytes are borrowed for the call.
typedef void ph_net_send_fn(void* context, const ph_address* to, const void* bytes, size_t size);

/// Where datagrams go. {0} drops them.
typedef struct ph_net_sink {
    ph_net_send_fn* send;
    void* context;
} ph_net_sink;

#ifdef __cplusplus
}
#endif

#endif
