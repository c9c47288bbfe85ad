// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server's side of netcode 1.02: lets players with a token in, keeps connections alive, ends them.
// It has no socket, no clock and no thread: datagrams that arrive are handed in, those to be sent
// come out through a callback, time is told.
//
//     ph_net_server_start(server, now_us, unix_s);
//     for (;;) {
//         ph_net_server_tick(server, now_us, unix_s);
//         while (... a datagram arrives ...) {
//             ph_net_payload payload;
//             ph_net_server_receive(server, &from, bytes, size, &payload);
//             if (payload.size > 0) { ... of payload.client ... }
//         }
//         ph_net_event event;
//         while (ph_net_server_next_event(server, &event)) { ... connected, disconnected ... }
//         ph_net_server_send(server, client, bytes, size);
//     }
//
// Threads. A server is used by one thread at a time, with these exceptions. Between two other calls,
// any number of threads may call ph_net_server_find; ph_net_server_cost and ph_net_server_seal, as
// long as no two of them are at the same client; and ph_net_server_open, likewise. (Sealing and
// opening for one client at the same time is allowed, too: the directions share nothing but two
// flags, which are atomic.) So a front-end spreads what costs most, opening and sealing, over all
// threads, and gives the datagrams of unknown senders and the tick to one. A sink must be fit for the
// threads that use it.

#ifndef PINHOLE_NET_NETCODE_SERVER_H
#define PINHOLE_NET_NETCODE_SERVER_H

#include <pinhole/net/netcode_token.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PH_NET_CLIENTS_MAX 16384
#define PH_NET_SERVER_ADDRESSES_MAX 8

/// How to build a server. Start from ph_net_server_def_default() and change what you need.
typedef struct ph_net_server_def {
    /// Tokens of another protocol are refused. Default 0.
    uint64_t protocol_id;

    /// What the backend seals tokens with. All zero is refused.
    uint8_t private_key[PH_NETCODE_KEY_SIZE];

    /// **For development only**: every client is let in that makes a token for itself, with a key that is all zero
    /// and under any client id, whichever servers it names. Addresses must be private (ph_address_is_private()),
    /// 0.0.0.0 or ::, and what comes from public addresses is refused (PH_NET_REFUSAL_NOT_PRIVATE) and not
    /// answered. Default false.
    bool is_insecure_dev;

    /// A second key whose tokens are let in, too, while one key takes the place of another: see
    /// ph_net_server_set_keys(). Counts if has_second_key. Default none.
    uint8_t second_key[PH_NETCODE_KEY_SIZE];
    bool has_second_key;

    /// Under which addresses clients reach this server, as in their tokens: 1..8. Not the one that
    /// the socket is bound to when that is 0.0.0.0 or behind a translation of addresses.
    ph_address addresses[PH_NET_SERVER_ADDRESSES_MAX];
    int address_count;

    /// How many clients fit: 1..PH_NET_CLIENTS_MAX. Default 64. A client takes 1.6 KB, its
    /// share of the tables below included.
    int client_capacity;

    /// How many may be between request and response. Beyond that the one waiting longest is
    /// forgotten. 0 (the default) means as many as clients fit, and at least 256.
    int pending_capacity;

    /// How many of these may have one client id, each with a token of its own: beyond that the id's own oldest
    /// is forgotten, so that one player with many tokens locks none out. 0: no limit. Default 4.
    int pending_per_client;

    /// How many of these may come from one network: the first 24 bits of an IPv4 address, 56 of IPv6; never
    /// counts on loopback. Players share addresses, so choose it with care. 0 (the default): no limit.
    int pending_per_prefix;

    /// How many tokens are remembered as used. Beyond that the one that expires first is forgotten, and if
    /// it had not expired yet, unknown tokens that expire no later are refused from then on. 0 (the default)
    /// means 8 for each client that fits, and at least 2048.
    int used_token_capacity;

    /// Requests whose token is opened, for each second; the others are refused as busy, before
    /// anything costly. A forged one costs 1 us, a genuine one 7. Of one client id, tokens that are known are
    /// opened no more than 40 times a second. 0 (the default) means 10,000.
    int requests_per_second;

    /// A client hears something at least this often, in ms. Default 100, as the standard has it. A
    /// server that counts bits and sends rarely takes more, well below the timeout of its tokens.
    int keep_alive_ms;

    /// A client that has been silent for so long, in ms, is let in anew with another token of the same client
    /// id, from any address, and its old connection ends as taken over: a game that has crashed, or whose network
    /// was away, need not wait for that timeout. 0 (the default): it waits, as the standard has it.
    int replace_silent_ms;

    /// A token lets its owner in once. The standard lets it in again, from the same address, until
    /// the token expires; then two connections have the same keys, and an eavesdropper can play what it has
    /// recorded of the first client into the second connection. Default false: the standard.
    bool refuses_spent_tokens;

    /// Says why a client with a genuine token is not let in, by a denied packet with one byte (ph_net_denial): so its
    /// player need not wait for a timeout that says nothing. Clients of other makers ignore it. Default false: the
    /// standard, which says that a server is full and nothing else.
    bool gives_reasons;

    /// A file in which the server notes each token that has let a client in, and reads after a restart which were:
    /// so tokens live longer than the server, and undated ones of other makers are not let in twice either. It
    /// is made when there is none, read and kept by one server at a time, 32 bytes for each connection; what has
    /// expired goes when the server starts. Without it dated tokens made before the start are refused. When it
    /// cannot be written, newcomers are refused, and that is reported. NULL (the default): none. Copied.
    const char* spent_tokens_path;

    /// Where datagrams go.
    ph_net_sink sink;

    /// Zero-initialised means malloc and free. All is allocated at creation.
    ph_allocator allocator;

    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;

    /// Set by ph_net_server_def_default(). Do not touch.
    uint32_t cookie;
} ph_net_server_def;

typedef struct ph_net_server ph_net_server;

/// The defaults named above; key, addresses and sink are still to be set.
PH_API ph_net_server_def ph_net_server_def_default(void);

/// Creates a server that is stopped. The def holds the private key: wipe it afterwards.
/// @return PH_OK, or PH_ERROR_ARGUMENT (a field of the def), PH_ERROR_MEMORY, PH_ERROR_TAKEN (another server has
///         the spent-tokens file) or PH_ERROR_SYSTEM (it cannot be opened) with *server set to NULL and nothing
///         leaked.
PH_API ph_result ph_net_server_create(const ph_net_server_def* def, ph_net_server** server);

/// Changes the keys that tokens are sealed with while the server runs; second_key may be NULL for none. Both
/// are copied, the former ones are overwritten. Tokens of a key that is neither are refused from now on, and
/// their handshakes that are under way end; connections stay. To change a key without refusing any client:
/// first give all servers the new one as second_key, then the backend seals with it, and when the last token
/// of the old one has expired, all servers get the new one alone. A key that is all zero is reported and nothing
/// changes; nor does it where the server has is_insecure_dev.
PH_API void ph_net_server_set_keys(ph_net_server* server,
                                   const uint8_t private_key[PH_NETCODE_KEY_SIZE],
                                   const uint8_t* second_key);

/// Wipes all keys and gives the memory back. Sends nothing: stop it first. NULL is allowed.
PH_API void ph_net_server_destroy(ph_net_server* server);

// ---- time ----------------------------------------------------------------------------------------

/// Starts: requests are answered from now on. now_us is any clock that never jumps; it decides when
/// connections time out. unix_s is the time of day in seconds; it decides which tokens have
/// expired, and that of the first start, which dated tokens are too old (docs/security.md). The latest that was
/// ever told counts.
PH_API void ph_net_server_start(ph_net_server* server, uint64_t now_us, uint64_t unix_s);

/// Disconnects all clients and stops: as ph_net_server_disconnect_all, and from now on nothing is
/// received. The events are still there to be taken. May be started again.
PH_API void ph_net_server_stop(ph_net_server* server);

/// Ends what has timed out, keeps alive what has been silent. Everything that follows happens at
/// this time. Ten times a second or more. A clock that goes back stands still.
PH_API void ph_net_server_tick(ph_net_server* server, uint64_t now_us, uint64_t unix_s);

// ---- datagrams -----------------------------------------------------------------------------------

/// What a client has sent.
typedef struct ph_net_payload {
    const uint8_t* bytes; ///< inside the datagram that was handed in
    size_t size;          ///< 1..1200; 0 is no payload
    uint64_t sequence;    ///< of the packet; grows, but neither from 0 nor always by one
    int client;           ///< its index; 0 at a client
} ph_net_payload;

/// Takes in one datagram, opening it in place: afterwards its bytes are the payload, or scratch.
/// *payload is {0} unless there is one. Answers go to the sink. Any bytes of any size will do.
/// @return PH_NET_REFUSAL_NONE when it was of use, else why not; counted either way.
PH_API ph_net_refusal ph_net_server_receive(ph_net_server* server, const ph_address* from,
                                            void* bytes, size_t size, ph_net_payload* payload);

/// Sends a payload of 1..1200 bytes. As ph_net_server_seal, to the sink of the def.
PH_API bool ph_net_server_send(ph_net_server* server, int client, const void* bytes, size_t size);

/// The connected client at an address, or -1. For several threads: see above.
PH_API int ph_net_server_find(const ph_net_server* server, const ph_address* from);

/// ph_net_server_receive for a datagram from a client that ph_net_server_find has found. For several
/// threads: see above. When the datagram ends the connection, it ends at the next tick.
PH_API ph_net_refusal ph_net_server_open(ph_net_server* server, int client, void* bytes,
                                         size_t size, ph_net_payload* payload);

/// Seals a payload for a client, and before it, as long as the client has not confirmed that it is
/// connected, a keep-alive; hands the one or two datagrams to a sink. For several threads: see
/// above.
/// @return false, with nothing sent, when there is no such client.
PH_API bool ph_net_server_seal(ph_net_server* server, int client, const void* bytes, size_t size,
                               const ph_net_sink* sink);

/// How many bytes of datagrams a payload of so many bytes would become, a keep-alive before it
/// included; UDP and IP headers not. For exact budgets. 0 when there is no such client.
PH_API size_t ph_net_server_cost(const ph_net_server* server, int client, size_t payload_size);

// ---- connections ---------------------------------------------------------------------------------

/// Ends a connection: sends some disconnect packets (any of them will do), wipes the keys, makes an
/// event. Nothing when there is no such client.
PH_API void ph_net_server_disconnect(ph_net_server* server, int client);
/// The same for all clients there are. Others may connect afterwards, unless it is stopped.
PH_API void ph_net_server_disconnect_all(ph_net_server* server);

/// What happened to a connection.
typedef enum ph_net_event_kind {
    PH_NET_CONNECTED = 1,
    PH_NET_DISCONNECTED,
} ph_net_event_kind;

/// Why a connection ended.
typedef enum ph_net_end {
    PH_NET_END_NONE = 0,   ///< it has not
    PH_NET_END_CLIENT,     ///< the client said so
    PH_NET_END_TIMED_OUT,  ///< nothing came for too long
    PH_NET_END_SERVER,     ///< disconnected, or stopped, by the program
    PH_NET_END_TAKEN_OVER, ///< had fallen silent, and its player has come anew: replace_silent_ms
    PH_NET_END_COUNT
} ph_net_end;

/// A short lower-case name ("timed_out"), never NULL. Static storage.
PH_API const char* ph_net_end_name(ph_net_end end);

/// A client that has connected, or whose connection has ended.
typedef struct ph_net_event {
    ph_net_event_kind kind;
    ph_net_end end;     ///< of PH_NET_DISCONNECTED
    int client;         ///< 0..client_capacity-1
    uint64_t client_id; ///< as in the token
    uint8_t user_data[PH_TOKEN_USER_DATA_SIZE];
    /// Of PH_NET_DISCONNECTED, taken by ph_host_next_event(): a sentence that says why client and server do not go
    /// together, else "". Valid until the next event is taken. It may be the client's own words.
    const char* reason;
} ph_net_event;

/// Takes the next event, the oldest first. Each connection makes one of either kind, in this order.
/// None is ever lost: the index of a client is free for another only when its end was taken here.
/// Payloads do not wait for events: in a batch of datagrams, one that connects may be followed by
/// that client's first payload. Where the order matters, take the events after each datagram.
/// @return false when there is none.
PH_API bool ph_net_server_next_event(ph_net_server* server, ph_net_event* event);

/// One connection.
typedef struct ph_net_client_info {
    uint64_t client_id;
    ph_address address;
    bool is_confirmed;         ///< a packet has come since the handshake
    uint64_t newest_us;        ///< when the newest packet came
    uint64_t received_packets; ///< since it connected
    uint64_t received_bytes;   ///< of datagrams, UDP and IP headers not counted
    uint64_t sent_packets;
    uint64_t sent_bytes;
} ph_net_client_info;

/// @return false, with *info all zero, when no client has this index. Any index will do.
PH_API bool ph_net_server_get_client(const ph_net_server* server, int client,
                                     ph_net_client_info* info);

/// Since creation; named as pinhole/stats.h says. Bytes without UDP and IP headers.
typedef struct ph_net_server_stats {
    int client_count;                                ///< connected now
    int pending_count;                               ///< between request and response now
    uint64_t connected_clients;                      ///< all that ever were
    uint64_t disconnected_clients[PH_NET_END_COUNT]; ///< by ph_net_end
    uint64_t received_datagrams;                     ///< refused ones included
    uint64_t received_bytes;
    uint64_t received_payloads;
    uint64_t sent_datagrams;
    uint64_t sent_bytes;
    uint64_t sent_payloads;
    uint64_t refused_datagrams[PH_NET_REFUSAL_COUNT]; ///< by ph_net_refusal; NONE stays 0
} ph_net_server_stats;

/// Goes over all clients: once a second, not once a packet.
PH_API ph_net_server_stats ph_net_server_get_stats(const ph_net_server* server);

#ifdef __cplusplus
}
#endif

#endif
