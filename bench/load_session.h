// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The session of `pinhole bench load`: as many creatures as viewers, all of them walking, each the
// own entity of one viewer; and clients that answer every packet a tick or two later, but for one
// in a hundred that is lost. Ten ticks a second, five sends a second to each viewer.

#ifndef PH_BENCH_LOAD_SESSION_H
#define PH_BENCH_LOAD_SESSION_H

#include "kit/large_pages.h"
#include "packet/header.h"

#include <pinhole/net/pool.h>
#include <pinhole/world.h>
#include <pinhole/schedule.h>

#include "base/rng.h"

enum {
    LOAD_TICK_US = 100000,
    LOAD_TICKS_PER_SECOND = 10,
    LOAD_SENDS_PER_SECOND = 5,
    LOAD_VISIONS_PER_SECOND =
        2, // as pinhole serve does; an entity that appears at once is seen at once
    LOAD_BITS_PER_SECOND = 13000,
    LOAD_VISIBLE = 250,
    LOAD_OVERHEAD_BYTES = 48,
    LOAD_THREADS_MAX = 2,
};

typedef struct load_walker {
    ph_entity_id id;
    double x_mm;
    double y_mm;
    double heading_deg;
    double step_mm; // per tick
} load_walker;

// The end of a packet that its header stands at: the front of classic, the back of pinhole.
typedef struct load_packet {
    uint8_t bytes[64];
    uint8_t size;
} load_packet;

enum { LOAD_PACKETS_MAX = 4 };

// The far end of one viewer.
typedef struct load_client {
    ph_viewer_id viewer;
    ph_receipt receipt;
    load_packet packets[LOAD_PACKETS_MAX]; // since the last time it looked
    int packet_count;
    uint8_t ack[PH_ACK_SIZE];
    uint32_t ack_tick; // when it arrives; 0: there is none
    ph_rng rng;        // decides what is lost
} load_client;

typedef struct load_session {
    ph_profile profile;
    int viewer_count;
    double side_mm; // of the square they walk in
    ph_schema* schema;
    ph_world* world;
    load_walker* walkers;
    load_client* clients;
    ph_rng rng;
    ph_large_pages* pages; // the world lies in
    uint64_t live_bytes;   // of the world
    double bytes_per_viewer;
    ph_pool* pool; // NULL: everything on this thread
} load_session;

// All viewers connected, all entities entered, and the budget's bucket at its usual level.
// @return False when there is no memory for it; the program ends then, so nothing is given back.
bool load_session_make(load_session* scene, ph_profile profile, int viewer_count,
                       ph_scheduler scheduler);
void load_session_destroy(load_session* scene);

// One tick in four parts: the game moves all entities, the world ticks and serves all viewers, the
// clients look at what came.
void load_session_move(load_session* scene);
void load_session_tick(load_session* scene);
void load_session_serve(load_session* scene);
void load_session_answer(load_session* scene);

// Sums over all viewers.
typedef struct load_counts {
    uint64_t datagrams;
    uint64_t payload_bytes;
    uint64_t wire_bytes;
    uint64_t enters;
    uint64_t leaves;
    uint64_t updates;
    uint64_t visible; // entities in view now
} load_counts;
load_counts load_session_counts(const load_session* scene);

#endif
