// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The client's side of netcode 1.02: from a connect token to a connection with one of its servers.
// As the server's side it has no socket, no clock and no thread. A client is used by one thread at a
// time; clients share nothing.
//
//     ph_net_client_connect(client, token, PH_TOKEN_SIZE, now_us);
//     for (;;) {
//         ph_net_client_advance(client, now_us);
//         while (... a datagram arrives ...) {
//             ph_net_payload payload;
//             ph_net_client_receive(client, &from, bytes, size, &payload);
//         }
//         ph_net_client_tick(client, now_us);
//         if (ph_net_client_get_state(client) == PH_NET_CLIENT_CONNECTED) {
//             ph_net_client_send(client, bytes, size);
//         }
//     }

#ifndef PINHOLE_NET_NETCODE_CLIENT_H
#define PINHOLE_NET_NETCODE_CLIENT_H

#include <pinhole/net/netcode_server.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The numbers are those of the standard. Below 0: over, and why; above 0: under way or connected.
typedef enum ph_net_client_state {
    PH_NET_CLIENT_TOKEN_EXPIRED = -6,
    PH_NET_CLIENT_INVALID_TOKEN = -5,
    PH_NET_CLIENT_TIMED_OUT = -4,
    PH_NET_CLIENT_RESPONSE_TIMED_OUT = -3,
    PH_NET_CLIENT_REQUEST_TIMED_OUT = -2,
    PH_NET_CLIENT_DENIED = -1,
    PH_NET_CLIENT_DISCONNECTED = 0,
    PH_NET_CLIENT_SENDING_REQUEST = 1,
    PH_NET_CLIENT_SENDING_RESPONSE = 2,
    PH_NET_CLIENT_CONNECTED = 3,
} ph_net_client_state;

/// A few lower-case words ("request timed out"), never NULL. Static storage.
PH_API const char* ph_net_client_state_text(ph_net_client_state state);

/// How to build a client. Start from ph_net_client_def_default() and change what you need.
typedef struct ph_net_client_def {
    /// Where datagrams go.
    ph_net_sink sink;

    /// The server hears something at least this often, in ms. Default 100, as the standard has it.
    int keep_alive_ms;

    /// Zero-initialised means malloc and free. All is allocated at creation, about 2.5 KB.
    ph_allocator allocator;

    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;

    /// Set by ph_net_client_def_default(). Do not touch.
    uint32_t cookie;
} ph_net_client_def;

typedef struct ph_net_client ph_net_client;

/// The defaults named above; the sink is still to be set.
PH_API ph_net_client_def ph_net_client_def_default(void);

/// Creates a client that is disconnected.
/// @return PH_OK, or PH_ERROR_ARGUMENT (a field of the def) or PH_ERROR_MEMORY with *client set to NULL.
PH_API ph_result ph_net_client_create(const ph_net_client_def* def, ph_net_client** client);

/// Wipes the keys and gives the memory back. Sends nothing: disconnect first. NULL is allowed.
PH_API void ph_net_client_destroy(ph_net_client* client);

/// Begins to connect with a token, which is copied; a connection that there was ends first. The
/// first request goes out at once. now_us is any clock that never jumps. A token that is not
/// good leads to PH_NET_CLIENT_INVALID_TOKEN. Take a new token for every connection, and never use one again
/// in another client: two of them would use the same sequence numbers with one key.
PH_API void ph_net_client_connect(ph_net_client* client, const void* token, size_t size,
                                  uint64_t now_us);

/// The same for a token whose addresses are those of one server, IPv4 and IPv6 for example: one that has not answered
/// for turn_ms makes way for the next, in turns, until the timeout of the token is over. 0: as
/// ph_net_client_connect().
PH_API void ph_net_client_connect_in_turns(ph_net_client* client, const void* token, size_t size,
                                           uint64_t now_us, int turn_ms);

/// Sends what is due: requests and responses ten times a second, keep-alives; goes on to the next
/// server of the token when one does not answer or refuses; gives up after the last. Ten times a
/// second or more. A clock that goes back stands still.
PH_API void ph_net_client_tick(ph_net_client* client, uint64_t now_us);

/// What follows happens at this time; as ph_net_client_tick(), but nothing is sent and nothing ends.
/// Before datagrams are taken in: what has waited for longer than the timeout (the program stood in a
/// debugger, the machine slept) has then come now, and the next tick finds no silence.
PH_API void ph_net_client_advance(ph_net_client* client, uint64_t now_us);

/// Takes in one datagram, opening it in place: afterwards its bytes are the payload, or scratch.
/// *payload is {0} unless there is one. It happens at the time of the last advance or tick.
/// @return PH_NET_REFUSAL_NONE when it was of use, else why not; counted either way.
PH_API ph_net_refusal ph_net_client_receive(ph_net_client* client, const ph_address* from,
                                            void* bytes, size_t size, ph_net_payload* payload);

/// Sends a payload of 1..1200 bytes. @return false, with nothing sent, unless connected.
PH_API bool ph_net_client_send(ph_net_client* client, const void* bytes, size_t size);

/// Tells the server (several times, any of them will do), wipes the keys, becomes disconnected.
/// Nothing when it is not connecting or connected: an error stays to be read.
PH_API void ph_net_client_disconnect(ph_net_client* client);

/// What it is doing, or below 0, why it ended.
PH_API ph_net_client_state ph_net_client_get_state(const ph_net_client* client);

/// Why a server of the token has not let us in, the newest that there was since the connect; NONE when none has said
/// so, and from a challenge on. It is also known when another server of the token timed out afterwards.
PH_API ph_net_denial ph_net_client_denial(const ph_net_client* client);

/// The index that the server gave us, 0 or more; -1 unless connected.
PH_API int ph_net_client_index(const ph_net_client* client);
/// How many clients the server takes; 0 unless connected.
PH_API int ph_net_client_max_clients(const ph_net_client* client);

/// The server that we talk to, or talked to last. {0} before the first.
PH_API ph_address ph_net_client_server(const ph_net_client* client);

/// Since creation; named as pinhole/stats.h says. Bytes without UDP and IP headers.
typedef struct ph_net_client_stats {
    uint64_t received_datagrams; ///< refused ones included
    uint64_t received_bytes;
    uint64_t received_payloads;
    uint64_t sent_datagrams;
    uint64_t sent_bytes;
    uint64_t sent_payloads;
    uint64_t refused_datagrams[PH_NET_REFUSAL_COUNT]; ///< by ph_net_refusal; NONE stays 0
} ph_net_client_stats;

/// A copy of the counts. They are never reset, and a new connection goes on with them.
PH_API ph_net_client_stats ph_net_client_get_stats(const ph_net_client* client);

#ifdef __cplusplus
}
#endif

#endif
