// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a peer consists of. peer.c opens, ticks and hands out events; peer_connecting.c begins and ends connections;
// peer_messages.c has blocks and unreliable messages; peer_admission.c finds out whether client and server go together.

#ifndef PINHOLE_NET_PEER_STATE_H
#define PINHOLE_NET_PEER_STATE_H

#include "net/admission_wire.h"

#include <pinhole/net/peer.h>

// Packets of the view that may come before the welcome; what comes beyond is lost, as a network may lose it.
enum { PH_PEER_EARLY_MAX = 8 };

typedef struct ph_peer_early {
    uint64_t now_us;
    size_t size;
    uint8_t bytes[PH_PAYLOAD_MAX];
} ph_peer_early;

// Time and transport. Those of the system, unless a test has others.
typedef struct ph_peer_seam {
    uint64_t (*now_us)(void* context);
    int (*receive)(void* context, ph_datagram* datagrams, int max);
    // Whether the system took it.
    bool (*send)(void* context, const ph_datagram* datagram);
    void* context;
} ph_peer_seam;

// The server's schema, as far as it has come.
typedef struct ph_peer_schema {
    char* text;
    size_t size; // of all of it
    size_t got;
    uint64_t start_us;
    uint64_t asked_us;
} ph_peer_schema;

struct ph_peer {
    ph_peer_def def;
    ph_peer_seam seam; // now_us NULL: the system's
    ph_peer_state state;
    ph_socket* socket;
    ph_net_client* net;
    ph_messages* messages;
    ph_client* view;
    bool has_ground;    // and a schema that uses it
    bool is_by_address; // connected without a token

    uint64_t now_us;
    uint64_t spoke_us;   // when the system last took a datagram, or the connect
    uint64_t heard_us;   // when the server's newest packet came, or the connect
    uint64_t timeout_us; // of the token; UINT64_MAX: never
    uint64_t token_s;    // its lifetime
    bool is_token_undated;
    int header_bytes; // IP and UDP

    // The admission.
    ph_admission welcome; // kind 0: none has come
    uint64_t joining_us;  // when the secure connection came about
    bool has_waited;      // for so long that it was told
    uint64_t joined_us;   // when the last join was sent; 0: none was
    uint64_t early_us;    // when the first packet of the view came before the welcome; 0: none did
    ph_peer_schema schema;
    ph_peer_early early[PH_PEER_EARLY_MAX];
    int early_count;

    // What is said.
    uint64_t sent_us; // the last payload
    uint32_t input_number;
    bool is_answer_due;
    bool has_new_input;
    bool has_unreliable; // that was not sent yet
    // What the game was last told of the block that comes, and of the one that goes.
    ph_block_progress told[2];
    uint64_t told_us[2];

    // Events that wait to be taken; the end comes behind all others.
    bool is_connected_due;
    bool is_end_due;
    bool is_unsent_due;
    bool is_waiting_due;
    ph_peer_event end;
    char end_text[PH_ERROR_TEXT_SIZE];
    char unsent_text[PH_ERROR_TEXT_SIZE];
    char taken_text[PH_ERROR_TEXT_SIZE];
    uint8_t message[PH_MESSAGE_SIZE_MAX];

    // Statistics.
    uint64_t refused_payloads;
    uint64_t unsent;
    uint64_t unsent_us; // when the last one was told; 0: never
    uint64_t rate_us;   // when the present second began
    ph_net_client_stats rate_start;
    ph_net_client_stats net_start; // of the connection
    double received_kbps;
    double sent_kbps;
};

static inline uint64_t ph_peer_now(const ph_peer* peer)
{
    return peer->seam.now_us != NULL ? peer->seam.now_us(peer->seam.context) : ph_socket_now_us();
}

// ---- connections

// Ends a connection that there is, and forgets what was told of it.
void ph_peer_reset(ph_peer* peer);

// Tells the server, and ends.
void ph_peer_give_up(ph_peer* peer, ph_net_client_state why, const char* text);

// The secure connection has ended, or did not come about.
void ph_peer_explain_end(ph_peer* peer);

// Over: one event says why. Sends nothing.
void ph_peer_end(ph_peer* peer, const ph_peer_event* event, const char* text);

// A call that needs a connection, and there is none. @return PH_ERROR_STALE.
ph_result ph_peer_fail_idle(const ph_peer* peer, const char* function);

// Sends a payload, unless the connection has ended.
void ph_peer_say(ph_peer* peer, const void* bytes, size_t size);

// A packet of the view has come: to the view, or kept until there is one.
void ph_peer_take_packet(ph_peer* peer, uint64_t now_us, const uint8_t* bytes, size_t size);

// ---- blocks and unreliable messages, beside messages

void ph_peer_reset_bulk(ph_peer* peer);
// Once per tick, behind the answer.
void ph_peer_send_bulk(ph_peer* peer);
bool ph_peer_take_bulk_event(ph_peer* peer, ph_peer_event* event);

// ---- the admission

// A payload of the admission has come.
void ph_peer_admission_take(ph_peer* peer, const uint8_t* bytes, size_t size);

// Once per tick while joining: sends the join again, or asks again.
void ph_peer_admission_tick(ph_peer* peer);

void ph_peer_admission_reset(ph_peer* peer);

#endif
