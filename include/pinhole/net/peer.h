// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A client in one object, for a server that is a ph_host: UDP socket, secure connection, the view, messages and
// input. It is told the schema and a token; the rest it learns from the server.
//
//     ph_peer_def def = ph_peer_def_default();
//     def.schema = schema;
//     ph_peer_open(&def, &peer);
//     ph_peer_connect(peer, token, PH_TOKEN_SIZE);           // developing: ph_peer_connect_to(peer, "localhost:40000")
//     for (;;) {                                             // once per frame
//         ph_peer_tick(peer);
//         for (ph_peer_event event; ph_peer_next_event(peer, &event);) {
//             switch (event.kind) {
//             case PH_PEER_ENTERED: ...                      // event.entity
//             case PH_PEER_MESSAGE: ...                      // event.bytes, event.size
//             case PH_PEER_REFUSED:
//             case PH_PEER_DISCONNECTED: puts(event.text);
//             }
//         }
//         ph_peer_set_input(peer, &buttons, sizeof buttons);
//         ph_peer_get_pose(peer, entity, &pose);
//     }
//
// Each ph_peer_connect() ends with one PH_PEER_REFUSED or PH_PEER_DISCONNECTED, whose text says why, unless
// another ph_peer_connect() comes first. What is in view stays readable until the next ph_peer_connect(), which begins
// anew with another token.
//
// The socket is bound to any address of the machine. Time is that of ph_socket_now_us(). One thread at a time;
// peers share nothing. Memory is taken when it opens, connects and is welcomed; a tick takes none, unless a block
// begins to come.

#ifndef PINHOLE_NET_PEER_H
#define PINHOLE_NET_PEER_H

#include <pinhole/client.h>
#include <pinhole/error.h>
#include <pinhole/message.h>
#include <pinhole/net/admission.h>
#include <pinhole/net/netcode_client.h>
#include <pinhole/net/socket.h>
#include <pinhole/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How many tokens for other servers a peer keeps.
#define PH_PEER_SPARES_MAX 4

/// How to open one. Start from ph_peer_def_default() and change what you need.
typedef struct ph_peer_def {
    /// Required; the same as the server's. Outlives the peer.
    const ph_schema* schema;
    /// What there is to stand on, the same as the server's. Zero-initialised: nothing.
    ph_ground ground;
    /// A server whose view has more slots is refused, 2..65,535. Default 65,535. As many as there are get
    /// memory: some 700 bytes each and four times the largest class as it goes over the wire.
    int slot_max;
    /// As in ph_client_def. Default 0: the present.
    int interpolation_delay_ms;
    /// How long a packet that has overtaken another one may be held back, at most; 0..100, as in ph_client_def.
    /// 0: never. Default 30.
    int reorder_wait_ms;
    /// How often input is sent that is set more often, 1..1,000 a second. Default 30.
    int inputs_per_second;
    /// For ph_peer_connect_to() alone: as in ph_host_def. Default 0.
    uint64_t protocol_id;
    /// For ph_peer_connect_to() alone: which player this is. Default 0: a random one each time.
    uint64_t client_id;
    /// The largest block that is accepted from the server, bytes, 0..PH_BLOCK_SIZE_MAX; as in ph_messages_def. Default
    /// 67,108,864 (64 MB).
    int block_size_max;
    /// With a spare: after so long without an answer the server is taken for dead, and the peer goes to another one, 0 or
    /// 100..10,000. A quiet server is asked whether it is there after half of that; none is suspected on a link that has
    /// longer round trips. 0: only when the server says so, or the connection has ended. Default 500.
    int suspect_ms;
    /// Whether spares of the server are taken; those of ph_peer_add_spare() always are. Default true.
    bool accepts_spares;
    /// Where the socket is bound. {0} (the default): any address of the machine, any port. While it moves to another
    /// server, a second one is bound to the same address and any port.
    ph_address local_address;
    /// Zero-initialised means malloc and free.
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_peer_def_default(). Do not touch.
    uint32_t cookie;
} ph_peer_def;

typedef struct ph_peer ph_peer;

/// The defaults named above; the schema is still to be set.
PH_API ph_peer_def ph_peer_def_default(void);

/// @return PH_OK, PH_ERROR_ARGUMENT (a field of the def), or PH_ERROR_MEMORY; *peer is NULL unless PH_OK.
PH_API ph_result ph_peer_open(const ph_peer_def* def, ph_peer** peer);

/// Tells the server, if it is connected. NULL is allowed.
PH_API void ph_peer_close(ph_peer* peer);

/// Begins to connect with a token, which is copied; a connection that there was ends first, and events that
/// were not taken are lost. Take a new token for every connection.
/// @return PH_OK, PH_ERROR_ARGUMENT (the token is none), PH_ERROR_SYSTEM (no socket), or PH_ERROR_MEMORY; unless PH_OK
/// nothing follows.
PH_API ph_result ph_peer_connect(ph_peer* peer, const void* token, size_t size);

/// **For development**: begins to connect without a token, to a host with is_insecure_dev on this machine or a
/// private network. address is a name or number with a port ("localhost:40000", "192.168.1.7:40000"), looked up by
/// ph_address_resolve(), which blocks; its addresses of IPv6 and IPv4 are tried in turns. Otherwise as
/// ph_peer_connect(). A host without is_insecure_dev does not answer.
/// @return PH_OK; PH_ERROR_TEXT, PH_ERROR_SYSTEM (no such name, or no socket), PH_ERROR_ARGUMENT (a public
/// address), or PH_ERROR_MEMORY; unless PH_OK nothing follows.
PH_API ph_result ph_peer_connect_to(ph_peer* peer, const char* address);

/// Tells the server and ends the connection; PH_PEER_DISCONNECTED follows. Nothing when there is none.
PH_API void ph_peer_disconnect(ph_peer* peer);

/// What a peer is doing.
typedef enum ph_peer_state {
    PH_PEER_STATE_IDLE = 0,   ///< not connected, or no longer
    PH_PEER_STATE_CONNECTING, ///< the secure connection is under way
    PH_PEER_STATE_JOINING,    ///< connected; the server has not admitted it yet
    PH_PEER_STATE_JOINED,     ///< the view is there
} ph_peer_state;

/// What it is doing now.
PH_API ph_peer_state ph_peer_get_state(const ph_peer* peer);

// ---- a frame

/// Receives, answers, sends, and moves what is shown on to now. Never waits. Ten times a second or more: when it was
/// not called for longer than the timeout of the token, the server has given the connection up, and so does it.
PH_API void ph_peer_tick(ph_peer* peer);

/// Waits until something has arrived, at most so long: for programs that draw nothing. @return Whether something has.
PH_API bool ph_peer_wait(ph_peer* peer, uint64_t timeout_us);

/// What happened.
typedef enum ph_peer_event_kind {
    PH_PEER_CONNECTED = 1, ///< the server has admitted it: state JOINED from now on
    PH_PEER_REFUSED, ///< client and server do not go together, or the server said no. It is over
    PH_PEER_ENTERED, ///< an entity came into view
    PH_PEER_UPDATED, ///< an entity got new values
    PH_PEER_LEFT,    ///< an entity left
    PH_PEER_MESSAGE, ///< the server has sent a message
    PH_PEER_BLOCK,   ///< a block of the server has come whole
    PH_PEER_BLOCK_PROGRESS, ///< more of a block has come, or has arrived; ten times a second at most
    PH_PEER_BLOCK_SENT,     ///< a block of ours has arrived
    PH_PEER_BLOCK_UNSENT,   ///< a block of ours was refused by the server, or cancelled
    PH_PEER_UNRELIABLE,     ///< the server has sent an unreliable message
    PH_PEER_UNSENT,         ///< the system did not send something; once a second at most
    PH_PEER_WAITING, ///< connected for 5 s, and the server has not admitted it; once for each connection
    PH_PEER_MOVED, ///< another server has taken the place of the present one; the game goes on
    PH_PEER_DISCONNECTED, ///< the connection has ended, or did not come about. It is over
} ph_peer_event_kind;

/// Something that happened.
typedef struct ph_peer_event {
    ph_peer_event_kind kind;
    /// REFUSED: why.
    ph_refusal refusal;
    /// DISCONNECTED: why; PH_NET_CLIENT_DISCONNECTED when either end said so.
    ph_net_client_state end;
    /// DISCONNECTED, when a server has said why it does not let us in; else NONE.
    ph_net_denial denial;
    /// MOVED: whether messages and inputs go on, each exactly once. If not, the server has not got them from the one
    /// before: those that had not arrived are gone, and inputs are numbered from 1 again.
    bool is_continued;
    /// REFUSED, UNSENT, WAITING, MOVED, DISCONNECTED, BLOCK_UNSENT: a sentence that a player understands, without its full
    /// stop; else "". Valid until the next event is taken. A server's words are shown as they came: UTF-8 without
    /// control characters.
    const char* text;
    /// ENTERED, UPDATED, LEFT: as ph_client_poll() has it.
    ph_event entity;
    /// MESSAGE, BLOCK, UNRELIABLE. Valid until the next event is taken; of a BLOCK also until ph_peer_connect() or
    /// ph_peer_close().
    const uint8_t* bytes;
    size_t size;
    /// BLOCK, BLOCK_PROGRESS, BLOCK_SENT, BLOCK_UNSENT: the game's, as it was sent with the block.
    uint32_t tag;
    /// BLOCK_PROGRESS: how much of it; and whether it is one of ours, or one of the server's.
    ph_block_progress progress;
    bool is_ours;
    /// BLOCK_SENT, BLOCK_UNSENT: which, and how it has ended.
    ph_block_end block;
    /// UNRELIABLE.
    ph_unreliable_kind unreliable;
    int channel;
} ph_peer_event;

/// Takes the next event. @return False when there is none.
PH_API bool ph_peer_next_event(ph_peer* peer, ph_peer_event* event);

// ---- what is shown

/// The view, for everything that client.h has to ask: find, identify, get_struct, get_property, users. NULL before
/// PH_PEER_CONNECTED; it is the peer's until the next ph_peer_connect(). Receiving, acks, events and advancing
/// are the peer's.
PH_API ph_client* ph_peer_view(ph_peer* peer);

/// As ph_client_get_pose(), at the moment of the last tick. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_peer_get_pose(const ph_peer* peer, ph_entity_id entity, ph_pose* pose);

/// As ph_client_get_shown_struct(), at the moment of the last tick: smooth properties as they are shown, the others as
/// they are known. Of one property: ph_client_get_shown() of the view. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_peer_get_shown_struct(const ph_peer* peer, ph_entity_id entity, void* state);

/// The entity with this key in view, or {0}.
PH_API ph_entity_id ph_peer_find(const ph_peer* peer, uint64_t key);

/// The player's own entity, as the server said (`entity` of its ph_viewer_def); {0} while it is not in view, and for a
/// spectator.
PH_API ph_entity_id ph_peer_own(const ph_peer* peer);

/// As ph_client_get_struct(): fills the game's struct with what is known. @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_peer_get_struct(const ph_peer* peer, ph_entity_id entity, void* state);

// ---- what is said

/// Queues a message for the server, reliable and in order, from ph_peer_connect() on: as ph_messages_send().
/// @return PH_OK, PH_ERROR_ARGUMENT (the size is not 1..PH_MESSAGE_SIZE_MAX), PH_ERROR_FULL (try again later), or
/// PH_ERROR_STALE (no connection).
PH_API ph_result ph_peer_send(ph_peer* peer, const void* bytes, size_t size);

/// Queues a block for the server, from ph_peer_connect() on: as ph_messages_send_block(), which copies.
/// PH_PEER_BLOCK_SENT or PH_PEER_BLOCK_UNSENT follows, unless the connection ends before. A server accepts none unless
/// it says so at ph_host_admit().
/// @return As ph_messages_send_block(), or PH_ERROR_STALE (no connection).
PH_API ph_result ph_peer_send_block(ph_peer* peer, uint32_t tag, const void* bytes, size_t size,
                                    uint32_t* id);

/// As ph_messages_cancel_block(). @return PH_OK or PH_ERROR_STALE.
PH_API ph_result ph_peer_cancel_block(ph_peer* peer, uint32_t id);

/// Sends bytes once, with the next tick; they arrive or not: as ph_messages_send_unreliable().
/// @return As that, or PH_ERROR_STALE (no connection).
PH_API ph_result ph_peer_send_unreliable(ph_peer* peer, ph_unreliable_kind kind, int channel,
                                         const void* bytes, size_t size);

/// What the player does now, 0..PH_INPUT_SIZE_MAX bytes; replaces what it did before. Numbered from 1 by the peer.
/// @return Its number; 0 when there is no connection, the size is wrong, or the server has not heard of 32,767
/// before it.
PH_API uint32_t ph_peer_set_input(ph_peer* peer, const void* bytes, size_t size);

/// Up to which input the server is known to have processed them; 0: none.
PH_API uint32_t ph_peer_processed_input(const ph_peer* peer);

// ---- other servers (docs/moving.md)

/// Keeps a token for another server of the same game, copied, to go there by itself when the present one dies or asks
/// it to: from ph_peer_connect() on, until the connection ends or another one begins. Each is used once, in the order in
/// which they were given. One for the same server as another spare takes its place, one too many that of the oldest;
/// both are then the newest.
///
/// What a game sees of a move: nothing but PH_PEER_MOVED. What is in view stays in view and moves on; an entity that
/// both servers show keeps its id and pointer, and is UPDATED where its values differ; others come and go as
/// ph_client_move() says.
/// @return PH_OK, PH_ERROR_ARGUMENT (no token, or one of another protocol), or PH_ERROR_STALE (no connection).
PH_API ph_result ph_peer_add_spare(ph_peer* peer, const void* token, size_t size);

/// How many spares there are that can be used.
PH_API int ph_peer_spare_count(const ph_peer* peer);

/// The server that it is connected to, or was last; {0} before the first.
PH_API ph_address ph_peer_server(const ph_peer* peer);

// ---- statistics

/// How the present connection is doing, or the last one; named as pinhole/stats.h says.
typedef struct ph_peer_stats {
    double rtt_ms;
    /// How long nothing has come from the server, or since the connect; 0 when there is no connection.
    uint32_t silent_ms;
    /// Of the last whole second, IP and UDP headers included.
    double received_kbps;
    double sent_kbps;
    /// The share of the server's last packets that did not come, 0..1.
    double loss;
    uint64_t received_datagrams;
    uint64_t sent_datagrams;
    uint64_t unsent_datagrams; ///< that the system would not take
    uint64_t refused_payloads; ///< that no host sends
    int entity_count;          ///< in view
    int slot_count;            ///< as the server said; 0 before
    uint32_t tick_us;          ///< as the server said; 0 before
    // Since ph_peer_connect().
    uint32_t moves;          ///< to other servers
    uint32_t false_alarms;   ///< the server was suspected, and spoke before another one did
    uint32_t failed_moves;   ///< to servers that did not let it in
    uint32_t probes;         ///< that a quiet server was sent
    uint32_t interrupted_ms; ///< how long no view came at the last move
} ph_peer_stats;

/// Cheap.
PH_API ph_peer_stats ph_peer_get_stats(const ph_peer* peer);

#ifdef __cplusplus
}
#endif

#endif
