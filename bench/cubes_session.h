// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A recording of cubes as a game would play it: a world whose entities are the cubes, one tick per frame, and six
// players who see all of it without a limit of bits. They are sent to in turn, each every sixth frame, and their acks
// are back before their next turn. So a packet of frame f can rest on frames f-6, f-12 ... and on nothing else, as the
// challenge asks:
//
//   frame    0  1  2  3  4  5 │ 6  7  8  9 10 11 │ 12 13 ...
//   player   0  1  2  3  4  5 │ 0  1  2  3  4  5 │  0  1
//            all enters, free │ what differs from six frames ago
//
// Their clients must show each frame exactly as it is in the file.

#ifndef PH_BENCH_CUBES_SESSION_H
#define PH_BENCH_CUBES_SESSION_H

#include "kit/cubes_file.h"

#include <pinhole/client.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <stdbool.h>

struct ph_pinhole_counts;

enum { CUBES_PLAYERS = 6, CUBES_PROPERTIES = 5 };

// One who sees all.
typedef struct cubes_player {
    ph_viewer_id viewer;
    ph_client* client;
} cubes_player;

typedef struct cubes_session {
    ph_schema* schema;
    ph_world* world;
    ph_entity_id ids[PH_CUBES];
    cubes_player players[CUBES_PLAYERS];
    const ph_cubes_file* file;
    int frame; // that is played next
} cubes_session;

// What one frame took.
typedef struct cubes_frame {
    int bytes; // of all its datagrams
    int datagrams;
    double encode_ns;
    double decode_ns;
    bool is_lossless;
} cubes_frame;

// The schema as lines of text, with NULL at the end: what cubes are made of, without models that were learned.
extern const char* const CUBES_SCHEMA[];

// The same with models learned from the first half of a recording (bench/cubes_tuned.c).
extern const char* const CUBES_TUNED[];

// Makes world and players, and plays the frames that are free. The schema stays the caller's. @return False when
// there is not enough memory, or the players do not get to see everything.
bool cubes_session_make(cubes_session* session, const ph_schema* schema, const ph_cubes_file* file);
void cubes_session_destroy(cubes_session* session);

// Counts the symbols of all packets from now on.
void cubes_session_count(cubes_session* session, struct ph_pinhole_counts* counts);

// The next frame. @return False when the library refused something.
bool cubes_session_play(cubes_session* session, cubes_frame* frame);

// Payload of all updates so far by reason, and by property of those, in bits.
double cubes_session_reason_bits(const cubes_session* session, ph_reason reason);
double cubes_session_property_bits(const cubes_session* session, int property);

#endif
