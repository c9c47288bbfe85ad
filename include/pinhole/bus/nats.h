// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The transport over NATS: one connection to a cluster of nats-servers with JetStream, which has the records of
// ownership. It connects again by itself, for ever, and then says so by lost_count().
//
//     ph_nats_def def = ph_nats_def_default();
//     def.servers = "nats://10.0.0.1:4222,nats://10.0.0.2:4222";
//     ph_nats* nats;
//     ph_nats_open(&def, &nats);
//     sim_def.transport = ph_nats_transport(nats);
//
// Messages wait in memory until they are taken, up to pending_bytes; beyond that the newest are dropped and counted,
// and count as lost. libnats runs threads of its own; the functions of the transport belong to one thread, and on_error
// is called on that one, by next() and next_answer() for what happens elsewhere.
//
// Two limits of libnats: when servers refuse the credentials twice in a row, it closes the connection for good, and
// on_error says so. And a program that uses libnats itself must leave its pool of delivering threads at one, or
// messages lose their order.

#ifndef PINHOLE_BUS_NATS_H
#define PINHOLE_BUS_NATS_H

#include <pinhole/bus/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How to connect. Start from ph_nats_def_default() and change what you need. Texts are copied.
typedef struct ph_nats_def {
    /// URLs with commas between them, tried in this order. Default "nats://127.0.0.1:4222".
    const char* servers;
    /// For the server's logs. Default "pinhole".
    const char* name;
    /// The bucket of records; made if it is not there. A-Z, a-z, 0-9, '-', '_'. Default "pinhole".
    const char* bucket;
    /// On how many servers of a cluster each record is stored, 1, 3 or 5. Default 1.
    int replicas;
    /// Credentials: user and password, or a token, or a credentials file. Default NULL: none.
    const char* user;
    const char* password;
    const char* token;
    const char* credentials_path;
    /// TLS: certificates of who signed the servers', and for mutual TLS an own certificate and its key. Default NULL:
    /// no TLS.
    const char* ca_path;
    const char* certificate_path;
    const char* key_path;
    /// Allows servers that are not of this machine with neither TLS nor credentials. Default false: such are refused,
    /// and servers that others tell of are not used either.
    bool is_open_network;
    /// How much may wait to be taken, and as much again to be sent, bytes, 1..1,000 MB. Default 64 MB.
    size_t pending_bytes;
    /// How long opening waits for a server, in ms. Default 5,000. 0: it does not wait, and connects when it can.
    int wait_ms;
    /// Is told what was wrong with a call, and what libnats complains of. Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_nats_def_default(). Do not touch.
    uint32_t cookie;
} ph_nats_def;

typedef struct ph_nats ph_nats;

/// A server of this machine, without credentials. ph_nats_open() refuses a def that does not come from here.
PH_API ph_nats_def ph_nats_def_default(void);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), PH_ERROR_SYSTEM (no server answers, or it refuses the
/// credentials; on_error says which), PH_ERROR_MEMORY; *nats is NULL unless PH_OK.
PH_API ph_result ph_nats_open(const ph_nats_def* def, ph_nats** nats);
/// Sends what waits, for at most a second, and closes. NULL is allowed.
PH_API void ph_nats_close(ph_nats* nats);

/// Valid as long as it is open.
PH_API ph_bus_transport ph_nats_transport(ph_nats* nats);

/// Since it was opened.
typedef struct ph_nats_stats {
    uint64_t published_messages;
    uint64_t published_bytes;
    uint64_t received_messages;
    uint64_t received_bytes;
    uint64_t dropped_messages; ///< that found no room before they were taken
    uint64_t unsent_messages;  ///< publishes that failed, also after publish() had returned true
    uint64_t reconnects;
    int subscriptions; ///< now
    char server[64];   ///< "127.0.0.1:4222": where it is connected now, or ""
} ph_nats_stats;

/// On the thread of the transport.
PH_API ph_nats_stats ph_nats_get_stats(const ph_nats* nats);

#ifdef __cplusplus
}
#endif

#endif
