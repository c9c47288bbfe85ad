// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a server consists of, and the handshake that leads into its slots.

#ifndef PINHOLE_NET_NETCODE_SERVER_STATE_H
#define PINHOLE_NET_NETCODE_SERVER_STATE_H

#include "base/check.h"
#include "net/net_tools.h"
#include "net/netcode_pending.h"
#include "net/netcode_private.h"
#include "net/netcode_slots.h"
#include "net/netcode_used_tokens.h"
#include "net/netcode_spent.h"
#include "net/netcode_packet.h"

// How often known tokens of a client id are opened; ids share a rate by chance, 1 in 1024.
enum { PH_NET_ID_RATES = 1024, PH_NET_ID_REQUESTS_PER_SECOND = 40 };

// Requests that are refused without being opened, and yet opened to give their client a reason: at most so many a
// second, of all clients together, beside the others.
enum { PH_NET_REASONS_PER_SECOND = 50 };

typedef struct ph_net_id_rate {
    uint64_t filled_us;
    uint32_t credit; // openings, in millionths
} ph_net_id_rate;

struct ph_net_server {
    ph_net_server_def def;    // holds the private keys
    ph_net_random_fn* random; // NULL: libsodium
    void* random_context;
    bool is_running;
    uint64_t now_us;
    uint64_t unix_s; // the latest that was ever told
    bool has_started;
    uint64_t oldest_token_us; // dated tokens made before this time are refused: they may be spent
    uint64_t lapsed_us;       // when the pending were last gone over

    // Packets that belong to no connection: never a number twice, never one of a connection's.
    uint64_t global_sequence;
    uint64_t challenge_sequence;
    uint8_t challenge_key[PH_NETCODE_KEY_SIZE];

    // Requests that may still be opened, in millionths.
    uint64_t request_credit;
    uint64_t reason_credit; // of those that are opened for a reason alone
    ph_net_id_rate id_rates[PH_NET_ID_RATES];
    uint64_t id_seed; // of the choice among them

    ph_net_slots slots;
    ph_pending_table pending;
    ph_used_tokens used_tokens;
    ph_spent_file spent_file; // {0}: none
    bool
        is_spent_file_incomplete; // new or damaged: of tokens made before the start it knows too little
    uint32_t spent_dropped_s;     // as in its header
    uint64_t spent_retry_us;      // when it is tried again after a failure

    // Without what the slots have counted themselves. Threads that open add to refused.
    ph_net_server_stats stats;
    _Atomic uint64_t refused[PH_NET_REFUSAL_COUNT];
};

// Whether a client has been silent for so long that its player may come anew.
bool ph_net_server_is_silent(const ph_net_server* server, int client);

// What follows happens at this time; as ph_net_server_tick(), but nothing is sent and no connection
// ends.
void ph_net_server_advance(ph_net_server* server, uint64_t now_us, uint64_t unix_s);

// The table of used tokens, with what the spent-tokens file says. @return PH_OK, or why the file cannot be used.
ph_result ph_net_server_create_used(ph_net_server* server, const ph_check* call, uint64_t seed);

// At the first start: from which time on tokens are taken, and the file without what has expired.
void ph_net_server_start_spent(ph_net_server* server, uint64_t start_us);

// Notes in the spent-tokens file, if there is one, that a token lets a client in. @return false when that failed,
// which was reported.
bool ph_net_server_note_spent(ph_net_server* server, ph_used_token* used);

// Ends a connection, and keeps what it has counted.
void ph_net_server_end(ph_net_server* server, int client, ph_net_end reason);

// Sends the next packet of a connection.
void ph_net_server_send_packet(ph_net_server* server, int client, ph_netcode_type type,
                               const void* data, size_t size, const ph_net_sink* sink);

void ph_net_server_send_keep_alive(ph_net_server* server, int client, const ph_net_sink* sink);

// A request from an address that is not connected; begins with 0 and is of any size.
ph_net_refusal ph_handshake_request(ph_net_server* server, const ph_address* from,
                                    const uint8_t* bytes, size_t size);

// Anything else from there: a response, or nothing of use.
ph_net_refusal ph_handshake_response(ph_net_server* server, const ph_address* from, uint8_t* bytes,
                                     size_t size);

#endif
