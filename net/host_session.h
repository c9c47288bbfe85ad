// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The admitted clients of a host: each is a viewer of the world behind a secure connection. They come
// and go on one thread; in between different ones may be used on different threads.

#ifndef PINHOLE_NET_HOST_SESSION_H
#define PINHOLE_NET_HOST_SESSION_H

#include "net/admission_wire.h"
#include "net/host_send_batch.h"
#include "net/wire_meter.h"

#include <pinhole/net/host.h>
#include <pinhole/net/rate.h>

// What every tick reads of every client: four in a cache line.
typedef struct ph_host_turn {
    uint64_t next_send_us;
    uint32_t period_us; // between sends; 0: whenever the world finds it best
    bool has_messages;  // that waits to be sent, or to be known to have arrived
    bool has_admission; // that waits to be sent
    bool has_spare;     // parts of which wait to be sent, or to be known to have arrived
    bool is_view_held;  // client and world do not go together: nothing but the admission is sent
} ph_host_turn;

typedef struct ph_host_session {
    // What a payload from it looks at, and a send: a cache line, where the allocator begins at one.
    ph_viewer_id viewer;
    ph_messages* messages;
    int32_t client;
    int32_t header_bytes; // IP and UDP, before every datagram
    uint64_t sends;
    uint64_t acks;
    uint64_t strange_payloads;
    uint64_t to_end_of_first_line[2];

    // What a datagram to it looks at: another one.
    ph_wire_meter meter;
    int32_t burst_bits;  // as in its viewer's def
    int32_t section_max; // of its messages

    ph_rate rate; // what its link carries, up to the budget
    uint64_t to_end_of_lines[5];
} ph_host_session;

// {0} may be destroyed.
typedef struct ph_host_sessions {
    ph_host_session* by_client; // room for every client of the host
    ph_host_turn* turns;        // by client
    int32_t* active;            // clients, in no particular order
    int32_t* place;             // by client: where in active; -1
    int capacity;
    int count;
    ph_host_stats ended; // the counts of sessions that have ended
    ph_allocator allocator;
} ph_host_sessions;

ph_result ph_host_sessions_create(ph_host_sessions* sessions, int capacity,
                                  const ph_allocator* allocator);
void ph_host_sessions_destroy(ph_host_sessions* sessions); // when no session is left

// The session of an admitted client, or NULL. Any index will do.
ph_host_session* ph_host_sessions_find(const ph_host_sessions* sessions, int client);

// Adds what a session has counted.
void ph_host_session_count(const ph_host_session* session, ph_host_stats* stats);

// A client is admitted; as ph_host_admit().
ph_result ph_host_session_begin(ph_host* host, int client, const ph_viewer_def* viewer,
                                const ph_messages_def* messages);
void ph_host_session_end(ph_host* host,
                         int client); // does nothing for a client that is not admitted

// Before a send, on the thread of the tick: sends less while its link shows loss or growing delay.
void ph_host_session_adapt(ph_host* host, ph_host_session* session, uint64_t now_us);

// As ph_host_set_budget().
ph_result ph_host_session_set_budget(ph_host* host, ph_host_session* session, int bits_per_second,
                                     int burst_bits);

// What the client has sent: messages, which are taken, and behind them an ack, which is for the
// world.
void ph_host_session_take(const ph_host* host, ph_host_session* session,
                          const ph_net_payload* payload, uint64_t now_us);

// Whether the time of its next send has come: by its turn alone, or whether it may have; and the whole
// truth.
bool ph_host_turn_may_be_due(const ph_host* host, const ph_host_turn* turn, uint64_t now_us);
bool ph_host_session_is_due(const ph_host* host, int client, uint64_t now_us);

// Netcode keeps the connection alive by a datagram of its own: it is paid for, too.
void ph_host_session_pay(const ph_host* host, ph_host_session* session, size_t size,
                         uint64_t now_us);

// Its turn in a tick: a send, if its time has come, and messages that cannot wait for one. Payloads go to
// the batch. On any thread, for one session by one at a time.
void ph_host_session_serve(ph_host* host, int client, uint64_t now_us, ph_host_send_batch* batch);

// Sends a payload of the admission, if its budget pays for it now. @return Whether it did.
bool ph_host_session_say(ph_host* host, int client, uint64_t now_us, const ph_admission* admission,
                         ph_host_send_batch* batch);

// The secure envelope of a datagram: prefix, three bytes of sequence number (enough for half a million
// packets; from then on there are five, and the two more are paid with the payload), tag; and the payload of netcode's
// keep-alives.
enum { PH_HOST_ENVELOPE_BYTES = 1 + 3 + 16, PH_HOST_KEEP_ALIVE_BYTES = 8 };

#endif
