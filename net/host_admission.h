// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server's side of the admission (docs/wire_admission.md): what each client has said that it can read and
// hold, whether that goes together with the world, and what is still to be told. A client that never
// sends a join costs nothing here.
//
//   none ──join──▶ joined                          as many welcomes as joins
//     │            differs ──▶ leaving             another schema: gets ours as text, and leaves with a sentence
//     └──────────▶ refused ──▶ disconnected        is told so as soon as its budget pays for it
//
// In all states but the first two it gets nothing of the view. What comes is taken on any thread, for one
// client by one at a time; the rest is on the thread of the tick.

#ifndef PINHOLE_NET_HOST_ADMISSION_H
#define PINHOLE_NET_HOST_ADMISSION_H

#include "net/admission_wire.h"

#include <pinhole/net/host.h>

typedef enum ph_host_admission_state {
    PH_HOST_ADMISSION_NONE = 0,
    PH_HOST_ADMISSION_JOINED,
    PH_HOST_ADMISSION_DIFFERS,
    PH_HOST_ADMISSION_LEAVING,
    PH_HOST_ADMISSION_REFUSED,
} ph_host_admission_state;

typedef struct ph_host_admission {
    ph_host_admission_state state;
    ph_admission join; // the newest; kind 0: none has come
    bool is_welcome_due;
    bool is_piece_due;
    uint32_t asked_offset;
    int refusals_left;  // to send
    uint64_t since_us;  // when the state began, of which there is an end
    uint64_t newest_us; // when the client last got on with it; REFUSED: when it was last told
    uint64_t strange_payloads; // before there was a session
    uint8_t code;              // why it is refused, by whichever end; 0: it is not
    char text[PH_REFUSAL_TEXT_MAX + 1];
} ph_host_admission;

// {0} may be destroyed.
typedef struct ph_host_admissions {
    ph_host_admission* by_client;
    int capacity;
    char* schema_text; // what decides the wire
    size_t schema_size;
    bool has_ground;
    uint64_t refused[PH_REFUSAL_COUNT];       // clients that have gone
    char ended_text[PH_REFUSAL_TEXT_MAX + 1]; // of the event that was taken last
    ph_allocator allocator;
} ph_host_admissions;

ph_result ph_host_admissions_create(ph_host_admissions* admissions, const ph_host_def* def);
void ph_host_admissions_destroy(ph_host_admissions* admissions);

// A payload of the admission has come from a client, admitted or not.
void ph_host_admission_take(const ph_host* host, const ph_net_payload* payload, uint64_t now_us);

// The client has a session now.
void ph_host_admission_begin(ph_host* host, int client, uint64_t now_us);

// What is to be sent to it next, if anything: pieces of at most so many bytes. On any thread.
bool ph_host_admission_next(const ph_host* host, int client, uint64_t now_us, int piece_max,
                            ph_admission* admission);
// That was sent.
void ph_host_admission_sent(const ph_host* host, int client, uint64_t now_us,
                            ph_admission_kind kind);

// Once per tick: refuses those that do not come to an end, disconnects those that know why.
void ph_host_admission_tick(ph_host* host, int client, uint64_t now_us);

// From now on it is told that it is refused, and then disconnected. It has a session.
void ph_host_admission_refuse(const ph_host* host, int client, uint64_t now_us, ph_refusal reason,
                              const char* text);

// The same for one without a session, by words of the game: keeps the reason and writes the payload. @return Its size.
size_t ph_host_admission_write_refusal(const ph_host* host, int client, const char* text,
                                       uint8_t bytes[PH_ADMISSION_SIZE_MAX]);

// Its player has come anew, and it has gone. Unless it was refused before, that is the reason.
void ph_host_admission_take_over(const ph_host* host, int client);

// The client has gone. @return Why, or "". Valid until the next one.
const char* ph_host_admission_end(ph_host* host, int client);

#endif
