// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A server in one object: UDP sockets, secure connections, and for each client that is admitted a viewer
// of the world, messages, and a rate that follows what the link carries. The world and all that moves in
// it stay the game's.
//
//     ph_host_open(&def, &host);
//     for (;;) {
//         ph_host_receive(host, next_tick_us);    // until then
//         ph_host_tick(host);
//         for (ph_net_event event; ph_host_next_event(host, &event);) {
//             if (event.kind == PH_NET_CONNECTED) { ph_host_admit(host, event.client, &viewer, NULL); }
//         }
//         ...                                     // the game moves its entities
//         ph_world_tick(world);
//         ph_host_send(host, UINT64_MAX);
//     }
//
// Every bit of every datagram to a client is paid from its viewer's budget: packets of the view, messages,
// the secure envelope, IP and UDP headers, and what netcode says by itself while the connection stands.
// A second bucket at the socket counts what exceeds it all the same.
//
// A client that is a ph_peer (peer.h) learns from the host what it needs to know: profile, slots, tick. When the
// two do not go together, because schemas differ for example, both learn why: the peer by an event, the
// host by the reason of its PH_NET_DISCONNECTED. docs/wire_admission.md has the details. Clients made of the
// parts need none of that.
//
// After the server has stood still (a debugger, a busy disk, a machine that slept), skip the ticks that it has
// missed: let next_tick_us be the next one ahead of now. Catching up by ticking faster was measured, too: clients
// show the world right again later than when ticks are skipped, because it runs too fast for as long as it catches
// up.
//
// One thread uses a host. With a pool, receiving and sending are spread over its threads, each with a
// socket of its own where the system can do that; between the calls nothing runs. Everything is
// allocated when it opens and when a client is admitted, but for blocks (message.h): when the game sends one, and when
// one begins to come. With a pool its threads do the latter, and give back the copy of a block that was sent when its
// last ack comes. Time is that of ph_socket_now_us().

#ifndef PINHOLE_NET_HOST_H
#define PINHOLE_NET_HOST_H

#include <pinhole/error.h>
#include <pinhole/message.h>
#include <pinhole/net/admission.h>
#include <pinhole/net/netcode_server.h>
#include <pinhole/net/netcode_token.h>
#include <pinhole/net/pool.h>
#include <pinhole/net/socket.h>
#include <pinhole/recorder.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A datagram has brought messages or input: receive them, and answer by ph_messages_send(). Called within
/// ph_host_receive(); with a pool on any of its threads, for different clients at the same time. So use
/// these messages and what the game keeps for this client, and nothing else: of the world change nothing,
/// not even this client's eye, but note what is wanted and do it in the tick; and of the host neither
/// receive, tick, take events, admit, disconnect or send, nor ask for the messages of others. A game may
/// also leave it out and ask ph_host_messages() of each client at each tick.
typedef void ph_host_on_messages_fn(void* context, int client, ph_messages* messages);

/// How to open one. Start from ph_host_def_default() and change what you need.
typedef struct ph_host_def {
    /// Outlives the host.
    ph_world* world;
    /// From one tick to the next, in us. 0 (the default): as the world's, and nothing else is allowed.
    uint32_t tick_us;

    /// Where to listen. Default 127.0.0.1, any port. The IPv6 address :: also takes what comes by IPv4.
    ph_address listen_address;
    /// Under which address clients reach it, as in their tokens. {0} (the default): as listen_address, unless
    /// that is 0.0.0.0 or ::, all addresses of the machine and none to send to; port 0: the one that the
    /// socket got.
    ph_address public_address;
    /// Tokens of another protocol are refused. Default 0.
    uint64_t protocol_id;
    /// What the backend seals tokens with; each token lets its owner in once, and none that was made before the host
    /// was opened, unless there is a spent-tokens file. They want a timeout of 5 s or more: a client for which there
    /// is nothing new is sent something every 1.5 s, and any of it may be lost. A client that has been silent for 2 s
    /// comes in anew with another token, and its old connection ends. All zero is refused.
    uint8_t private_key[PH_NETCODE_KEY_SIZE];
    /// **For development only**, in place of a key: clients come in by ph_peer_connect_to(), without a token and
    /// under any client id. listen_address and public_address must be of loopback, of a private network or all of the
    /// machine (then public_address may be left out), and packets from public addresses are not answered:
    /// net.refused_datagrams[PH_NET_REFUSAL_NOT_PRIVATE] of the stats counts them. on_error is told when it opens and
    /// every minute; without on_error it is printed. Default false.
    bool is_insecure_dev;
    /// A second key whose tokens are let in, too, if has_second_key; see ph_host_set_keys(). Default none.
    uint8_t second_key[PH_NETCODE_KEY_SIZE];
    bool has_second_key;
    /// How many clients fit: 1..PH_NET_CLIENTS_MAX. Default 64.
    int client_capacity;

    /// How many may be connecting at the same time, of one client id (default 4), and of one network (default 0, no
    /// limit); how many requests are opened each second; a file in which spent tokens are noted, so that they
    /// outlive the host. As the same fields of ph_net_server_def.
    int pending_capacity;
    int pending_per_client;
    int pending_per_prefix;
    int requests_per_second;
    const char* spent_tokens_path;

    /// Sends as much as the budget allows, whatever the links show. Default false.
    bool is_rate_fixed;
    /// The threads that work; outlives the host. NULL (the default): the caller's thread alone.
    ph_pool* pool;
    /// Of the world: ph_host_send() calls ph_recorder_tick(), also while no client is there. The game drains it. Outlives
    /// the host. NULL (the default): nothing is recorded.
    ph_recorder* recorder;
    /// NULL (the default): the game asks ph_host_messages().
    ph_host_on_messages_fn* on_messages;
    void* on_messages_context;
    /// Zero-initialised means malloc and free. Best one that hands out whole cache lines. With a pool, and blocks that
    /// go in either direction, it is used on several threads at once: those that receive take memory for a block that
    /// comes, and give back the copy of one that has arrived (ph_messages_send_block()).
    ph_allocator allocator;
    /// Is told what was wrong with a call (pinhole/error.h). Default NULL.
    ph_error_fn* on_error;
    void* on_error_context;
    /// Set by ph_host_def_default(). Do not touch.
    uint32_t cookie;
} ph_host_def;

typedef struct ph_host ph_host;

/// The defaults named above; the world and the private key are still to be set.
PH_API ph_host_def ph_host_def_default(void);

/// Opens the sockets. The def holds the private keys: wipe them afterwards.
/// @return PH_OK, PH_ERROR_TAKEN (the port or the spent-tokens file is in use), PH_ERROR_ARGUMENT (a field of the def),
/// PH_ERROR_MEMORY, or PH_ERROR_SYSTEM; *host is NULL unless PH_OK.
PH_API ph_result ph_host_open(const ph_host_def* def, ph_host** host);

/// Sends nothing: stop it first. Removes its viewers from the world; events that were not taken are lost.
/// NULL is allowed.
PH_API void ph_host_close(ph_host* host);

/// Changes the keys that tokens are sealed with, between other calls; as ph_net_server_set_keys(). second_key may
/// be NULL for none.
PH_API void ph_host_set_keys(ph_host* host, const uint8_t private_key[PH_NETCODE_KEY_SIZE],
                             const uint8_t* second_key);

/// Where it listens, with the port that it got.
PH_API ph_address ph_host_local_address(const ph_host* host);
/// Under which address clients reach it: what belongs into their tokens.
PH_API ph_address ph_host_public_address(const ph_host* host);

// ---- a tick, in this order

/// Receives all that has come, and waits for more until then; does not wait when it is past.
PH_API void ph_host_receive(ph_host* host, uint64_t until_us);

/// Connects and disconnects; what was silent too long is disconnected. Budgets follow the links. When the world is
/// ticked at another rate than its tick_us says, by more than a fifth over some seconds, on_error is told, once:
/// clients would show everything where it is not.
PH_API void ph_host_tick(ph_host* host);

/// Takes the next event, as ph_net_server_next_event(). A client that has gone is no longer admitted by
/// then. The index of a client is its own until its PH_NET_DISCONNECTED is taken here.
PH_API bool ph_host_next_event(ph_host* host, ph_net_event* event);

/// Gives a client that has connected a view of the world, and messages. Of the def, overhead_bytes and
/// session are filled in here. The viewer's eye, entity and so on are the game's to change; its budget
/// and its end are the host's: not ph_viewer_set_budget (but ph_host_set_budget), ph_viewer_reserve, ph_viewer_spend,
/// ph_world_remove_viewer. What is wrong with the viewer's def is reported by the world.
/// @param messages How its messages, blocks and unreliable messages are: shares, waits, queues, the largest block
/// that is accepted from this client. NULL: ph_messages_def_default(), which accepts none. Of the def,
/// bits_per_second, overhead_bytes and the allocator are filled in here, on_error if it is NULL, and section_max is
/// lowered to what the largest enter leaves.
/// @return PH_OK; PH_ERROR_STALE when there is no such client, which is no fault: it may have left before
/// its event was taken; PH_ERROR_ARGUMENT (it was admitted before; the schema's largest enter leaves
/// messages no room; a field of the messages' def); else as ph_world_add_viewer(). The client stays connected whatever
/// comes of it.
PH_API ph_result ph_host_admit(ph_host* host, int client, const ph_viewer_def* viewer,
                               const ph_messages_def* messages);

/// Ends a connection; the event follows. Nothing when there is no such client.
PH_API void ph_host_disconnect(ph_host* host, int client);

/// The same with a reason, which a ph_peer shows to its player: "the server is full", "banned until Monday". UTF-8,
/// at most PH_REFUSAL_TEXT_MAX bytes; more are cut off, control characters become "?". One that is admitted is
/// shown nothing any more, and disconnected as soon as its budget has paid for the refusal; others at once.
PH_API void ph_host_refuse(ph_host* host, int client, const char* text);

/// After the world's tick: sends to all whose time has come. After until_us no group of 32 clients is
/// begun any more, but for the first one of each thread, so that some are served however late it is.
/// Those left come first the next time, so that under overload all are sent to less often, and none less
/// than others.
PH_API void ph_host_send(ph_host* host, uint64_t until_us);

/// Disconnects all clients, and lets none in any more. The events are still to be taken.
PH_API void ph_host_stop(ph_host* host);

// ---- clients

/// Those admitted, in no particular order: the i-th of so many. The order changes when one comes or goes.
PH_API int ph_host_client_count(const ph_host* host);
/// The index of the i-th client admitted, i in 0..ph_host_client_count()-1.
PH_API int ph_host_client_at(const ph_host* host, int i);

/// One that is connected, admitted or not: id, address and counts, for bans and logs.
/// @return false, with *info all zero, when no client has this index. Any index will do.
PH_API bool ph_host_get_client(const ph_host* host, int client, ph_net_client_info* info);

/// Of a client that is admitted; else {0}, NULL, 0. Any index will do.
PH_API ph_viewer_id ph_host_viewer(const ph_host* host, int client);
/// NULL before ph_host_admit(). Valid until the client's PH_NET_DISCONNECTED is taken. Ask each time: messages sent
/// by a pointer that was not asked for since the last send may wait for the next packet of the view.
PH_API ph_messages* ph_host_messages(ph_host* host, int client);
/// Another budget from now on, as in ph_viewer_def: more while a map is loaded (0: no limit), the usual one
/// afterwards. Between other calls, or in the tick. What its link carries is found out anew.
/// @return PH_OK; PH_ERROR_STALE when no such client is admitted, which is no fault; else as
/// ph_viewer_set_budget(), with everything as before.
PH_API ph_result ph_host_set_budget(ph_host* host, int client, int bits_per_second, int burst_bits);
/// What it may be sent now; 0 also for no limit.
PH_API int ph_host_bits_per_second(const ph_host* host, int client);

// ---- clients that go on at another host (docs/moving.md)

/// Gives a client a token for another host of the same game. A ph_peer keeps it as a spare, beside those that its game
/// has given it, and goes there by itself when this host falls silent. One that is still under way is replaced. The
/// token is copied, goes within the budget, and is wiped when the client has it.
/// @return PH_OK; PH_ERROR_STALE when no such client is admitted, which is no fault; PH_ERROR_ARGUMENT (no token, or
/// one of another protocol); PH_ERROR_MEMORY.
PH_API ph_result ph_host_give_spare(ph_host* host, int client, const void* token, size_t size);

/// The same, and when the client has it, it forgets all spares that it had: for one of their hosts has died or was
/// started anew.
PH_API ph_result ph_host_renew_spares(ph_host* host, int client, const void* token, size_t size);

/// The same as ph_host_give_spare(), and the client is asked to go there at once, as by ph_host_empty().
PH_API ph_result ph_host_send_on(ph_host* host, int client, const void* token, size_t size);

/// Whether one is still under way, which another one would replace.
PH_API bool ph_host_is_giving_spare(const ph_host* host, int client);

/// How many spares a client has, as it last said, and with one that is under way. 0: it has none, has not said so yet, or
/// is none that has any.
PH_API int ph_host_spare_count(const ph_host* host, int client);

/// Fills in a token for another host, of its own for this client. @return False: none now, ask again later.
typedef bool ph_host_give_spare_fn(void* context, int client, uint8_t token[PH_TOKEN_SIZE]);

/// Sends all clients to another host, so that this one can stop: each gets a spare and is asked to use it at once; it
/// comes here until it is let in there, and leaves by PH_NET_DISCONNECTED. give is called within ph_host_tick(), for
/// all of them in about a second, and again for one that has not gone after 3 s. When ph_host_client_count() is 0, or
/// after as long as one likes to wait, ph_host_stop(). Clients that come meanwhile are sent on, too. Those made of the
/// parts do not know how to go. give NULL: no longer.
PH_API void ph_host_empty(ph_host* host, ph_host_give_spare_fn* give, void* context);

// ---- statistics

/// Since it was opened, of all clients, those that have gone included; named as pinhole/stats.h says.
typedef struct ph_host_stats {
    uint64_t sends;                 ///< turns in which a client was sent to
    uint64_t postponed_sends;       ///< turns that a send had no time for
    uint64_t sent_datagrams;        ///< to clients that were admitted
    uint64_t sent_wire_bytes;       ///< of these, headers included
    uint64_t over_budget_datagrams; ///< of these; 0, unless something is wrong
    uint64_t new_acks;
    uint64_t refused_payloads; ///< that no client of ours sends
    uint64_t given_spares;     ///< by ph_host_give_spare(), ph_host_renew_spares() and ph_host_empty()
    uint64_t taken_spares;     ///< of these: the client has all of it
    uint64_t acked_probes;     ///< of clients for which nothing had come for a while
    uint64_t refused_clients
        [PH_REFUSAL_COUNT]; ///< that have gone, by ph_refusal, whichever end refused; NONE stays 0
    ph_net_server_stats net;
    ph_socket_stats socket;
} ph_host_stats;

/// Goes over all clients: once a second, not once a packet.
PH_API ph_host_stats ph_host_get_stats(const ph_host* host);

#ifdef __cplusplus
}
#endif

#endif
