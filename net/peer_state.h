// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a peer consists of. peer.c opens, ticks and hands out events; peer_connecting.c begins and ends connections;
// peer_messages.c has blocks and unreliable messages; peer_admission.c finds out whether client and server go together;
// peer_spares.c keeps tokens for other servers, and peer_move.c goes there.

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

// A way to one server: the present one, and beside it another while the peer moves.
typedef struct ph_peer_link {
    ph_peer* peer;
    ph_socket* socket; // NULL: none, or the seam's
    ph_net_client* net;
    uint64_t spoke_us;   // when the system last took a datagram, or the connect
    uint64_t heard_us;   // when the server's newest packet came, or the connect
    uint64_t talked_us;  // the same, of the view and messages alone
    uint64_t pause_us;   // between those, on average of some; long at first
    uint64_t timeout_us; // of the token; UINT64_MAX: never
    uint64_t protocol_id;
    uint64_t token_s; // its lifetime
    bool is_token_undated;
} ph_peer_link;

// ---- spares

typedef struct ph_peer_spare {
    bool is_there;
    uint32_t order;    // in which they were given
    uint64_t until_us; // that it is good; as netcode has it, by its lifetime
    ph_address server; // the first of the token
    uint8_t token[PH_TOKEN_SIZE];
} ph_peer_spare;

// One of the server's, as far as it has come.
typedef struct ph_peer_coming {
    uint8_t number; // 0: none
    uint8_t parts;
    uint16_t size;
    uint8_t token[PH_TOKEN_SIZE];
} ph_peer_coming;

typedef struct ph_peer_spares {
    ph_peer_spare all[PH_PEER_SPARES_MAX];
    ph_peer_coming coming;
    uint32_t given; // so far
    int haves_due;  // how often the server is still to be told how many there are
    uint64_t have_us;
} ph_peer_spares;

// ---- moving

typedef struct ph_peer_move {
    bool is_under_way;
    bool is_asked;     // by the server, which goes on until then; else by suspicion
    bool is_link_dead; // the present server is known to have given us up
    uint32_t order;    // of the spare
    uint64_t begun_us;
    uint64_t joined_us;   // when the last join was sent; 0: none was
    uint64_t joining_us;  // when the secure connection came about; 0: it has not
    ph_admission welcome; // kind 0: none has come
    uint64_t welcomed_us;
    bool has_view; // and a packet of the view
    // The server has asked us to go, by this spare; -1: no.
    int wanted;
    uint64_t moved_us; // when the last move was over; 0: there was none
    // Suspicion.
    int probes;
    uint64_t probed_us; // when the last one was sent
    uint64_t next_probe_us;
    // The first packet of the view is to come since then; 0: it has.
    uint64_t silent_us;
    // Statistics.
    uint32_t moves;
    uint32_t false_alarms;
    uint32_t failures;
    uint32_t probes_sent;
    uint32_t interrupted_ms;
} ph_peer_move;

struct ph_peer {
    ph_peer_def def;
    ph_peer_seam seam; // now_us NULL: the system's
    ph_peer_state state;
    ph_peer_link links[2];
    ph_peer_link* link;  // the present one
    ph_peer_link* other; // only while it moves
    ph_peer_spares spares;
    ph_peer_move move;
    ph_messages* messages;
    ph_client* view;
    bool has_ground;    // and a schema that uses it
    bool is_by_address; // connected without a token

    uint64_t now_us;
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
    bool is_moved_due;
    ph_peer_event moved;
    char moved_text[PH_ERROR_TEXT_SIZE];
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

// Opens the socket of a link and begins to connect; its other fields are set. @return PH_OK, or why there is no socket.
ph_result ph_peer_link_connect(ph_peer* peer, ph_peer_link* link, const void* token, int turn_ms);

// Those of a new connection.
ph_result ph_peer_create_messages(const ph_peer* peer, ph_messages** made);

// Tells the server, and closes its socket.
void ph_peer_link_close(ph_peer_link* link);

// Takes a payload of the present server.
void ph_peer_take_payload(ph_peer* peer, const uint8_t* bytes, size_t size);

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

// What this client says first, to either server.
ph_admission ph_peer_join(const ph_peer* peer);

// ---- spares

// A part of one has come.
// @return False for what no host sends.
bool ph_peer_spares_take(ph_peer* peer, const ph_admission* spare);

// Once per tick while joined: tells the server how many there are; forgets those that are too old.
void ph_peer_spares_tick(ph_peer* peer);

// The one to use next, or -1.
int ph_peer_spares_next(const ph_peer* peer);

// Wiped, and the server is told.
void ph_peer_spares_drop(ph_peer* peer, int spare);
// Those that were given before this one.
void ph_peer_spares_drop_before(ph_peer* peer, uint32_t order);
void ph_peer_spares_drop_for(ph_peer* peer, const ph_address* server);
void ph_peer_spares_reset(ph_peer* peer);

// ---- moving

// Once per tick while joined: suspicion, and the second connection.
void ph_peer_move_tick(ph_peer* peer);

// A payload of the other server has come, before it is the present one.
void ph_peer_move_take(ph_peer* peer, const uint8_t* bytes, size_t size);

// The connection to the present server has ended. @return Whether another one may take its place.
bool ph_peer_move_survives(ph_peer* peer, ph_net_client_state why);

// The first packet of the view after a move.
void ph_peer_move_note_packet(ph_peer* peer);

void ph_peer_move_reset(ph_peer* peer);

#endif
