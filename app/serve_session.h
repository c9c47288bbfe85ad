// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The connected clients of a server: each is a viewer of the world behind a secure connection.
// Sessions come and go on one thread; in between different ones may be used on different threads.

#ifndef PH_APP_SERVE_SESSION_H
#define PH_APP_SERVE_SESSION_H

#include "serve_stage.h"
#include "wire_meter.h"

#include <pinhole/mail.h>
#include <pinhole/net/netcode_server.h>
#include <pinhole/net/rate.h>

// The secure envelope of a datagram: prefix, three bytes of sequence number (enough for 16 million
// packets), tag; and the payload of netcode's keep-alives.
enum { SERVE_ENVELOPE_BYTES = 1 + 3 + 16, SERVE_KEEP_ALIVE_BYTES = 8 };

// For those who want to know where the time goes, in ns; one thread only.
typedef struct serve_watch {
    bool is_fine;     // also of every datagram, which costs time itself
    uint64_t game_ns; // the stage
    uint64_t seal_ns;
    uint64_t send_ns; // into the socket
} serve_watch;

// What all sessions of a server have in common.
typedef struct serve_terms {
    serve_stage* stage;
    ph_net_server* server;
    int64_t bits_per_second; // 0: no limit
    double hz;               // sends per second, or PH_SENDS_AUTO
    int slots;
    bool is_rate_fixed; // whatever the links show
    serve_watch* watch; // NULL: nobody wants to know
} serve_terms;

typedef struct serve_session {
    // What every tick looks at: a cache line.
    _Alignas(64) uint64_t next_send_us;
    uint64_t period_us; // between sends; 0: whenever the world finds it best
    ph_viewer_id viewer;
    ph_entity_id entity;
    ph_mail* mail;    // messages, which go back to whoever sent them, and input
    int client;       // index at the server
    int actor;        // through whose eyes it looks
    int header_bytes; // IP and UDP, before every datagram
    bool is_free;     // the client says where its eye is; it follows no actor
    bool has_mail;    // that waits to be sent, or to be known to have arrived
    uint64_t acks;

    // What a datagram looks at: another one.
    _Alignas(64) wire_meter meter;
    uint64_t sends;

    ph_rate rate;      // what its link carries, up to the budget
    int32_t eye_mm[3]; // when it is free
    uint64_t client_id;
    uint64_t messages;         // that came
    uint64_t messages_dropped; // that did not fit into the queue back
    uint64_t strange_payloads; // that are nothing of ours
} serve_session;

// Counts of all sessions, those that have ended included.
typedef struct serve_traffic {
    uint64_t sends;
    uint64_t datagrams;
    uint64_t wire_bytes;
    uint64_t overruns;
    uint64_t acks;
    uint64_t messages;
    uint64_t messages_dropped;
    uint64_t strange_payloads;
} serve_traffic;

// {0} may be destroyed. Read-only outside.
typedef struct serve_sessions {
    serve_session* by_client; // room for every client of the server
    int* active;              // clients, in no particular order
    int* place;               // by client: where in active; -1
    int capacity;
    int count;
    serve_traffic ended;
    ph_allocator allocator; // of the sessions and what they have
} serve_sessions;

// The allocator hands out whole cache lines.
bool serve_sessions_create(serve_sessions* sessions, int capacity, const ph_allocator* allocator);
void serve_sessions_destroy(serve_sessions* sessions);

// A client has connected. @return False when the world has no memory for it; then there is none.
bool serve_sessions_begin(serve_sessions* sessions, const serve_terms* terms,
                          const ph_net_event* event, uint64_t now_us);
void serve_sessions_end(serve_sessions* sessions, const serve_terms* terms, int client);

// The session of a connected client, or NULL.
serve_session* serve_sessions_find(const serve_sessions* sessions, int client);

serve_traffic serve_sessions_traffic(const serve_sessions* sessions);

// What may be sent to a client on average now, in bits per second; 0: no limit, or nobody is there.
double serve_sessions_rate(const serve_sessions* sessions);

// Once per tick, before the world's tick: the eye follows its actor, also when that comes back, or
// goes where the client has said.
void serve_session_follow(serve_session* session, const serve_terms* terms);

// Before a send, on the thread of the tick: sends less while its link shows loss or growing delay.
void serve_session_adapt(serve_session* session, const serve_terms* terms, uint64_t now_us);

// Whether the time of its next send has come.
bool serve_session_is_due(const serve_session* session, const serve_terms* terms, uint64_t now_us);

// Where its eye is.
void serve_session_eye(const serve_session* session, const serve_terms* terms, int32_t eye_mm[3]);

// What the client has sent: mail, and an acknowledgement behind it. Input of 12 bytes, three
// coordinates in mm (little-endian), takes the eye there.
void serve_session_take(serve_session* session, const serve_terms* terms,
                        const ph_net_payload* payload, uint64_t now_us);

// Netcode keeps the connection alive by a datagram of its own: it is paid for, too.
void serve_session_pay(serve_session* session, const serve_terms* terms, size_t size,
                       uint64_t now_us);

// So many turns before its own, a session is fetched, and what its send will look at.
enum { SERVE_FETCH_TURNS = 4, SERVE_FETCH_SEND_TURNS = 2 };
void serve_session_fetch(const serve_session* session);
void serve_session_fetch_send(const serve_session* session, const serve_terms* terms,
                              uint64_t now_us);

// The same for a payload that will be taken, when the session has been fetched.
void serve_session_fetch_take(const serve_session* session);

// Its turn in a tick: a send, if its time has come, and mail that cannot wait for one. Sealed
// datagrams go to the sink. On any thread, for one session by one at a time.
void serve_session_serve(serve_session* session, const serve_terms* terms, uint64_t now_us,
                         const ph_net_sink* sink);

#endif
