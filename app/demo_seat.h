// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer of the demo: two links, a client, and what is counted of it from one line of the table
// to the next.

#ifndef PH_APP_DEMO_SEAT_H
#define PH_APP_DEMO_SEAT_H

#include "kit/cast.h"
#include "kit/link.h"
#include "kit/sim_wire.h"

#include <pinhole/client.h>
#include <pinhole/world.h>

typedef struct demo_seat_def {
    const ph_cast* cast;
    const ph_schema* schema;
    int actor;        // through whose eyes it looks
    ph_link_def link; // key is chosen by the actor
    int bits_per_second;
    uint64_t now_us;
} demo_seat_def;

// {0} may be destroyed.
typedef struct demo_seat {
    const ph_cast* cast;
    int actor;
    ph_entity_id own; // the actor's entity when it was last there
    ph_viewer_id viewer;
    ph_client* client;
    ph_link* down;
    ph_link* up;
    ph_sim_wire wire; // checks the budget, independent of the sender's own bucket
    ph_sim_traffic traffic;
    // Since the last line.
    ph_viewer_stats before;
    double known_error_mm; // sums
    double shown_error_mm;
    uint64_t error_count;
} demo_seat;

// What one line of the table says, of the time since the last one; shown and missing of this moment.
typedef struct demo_line {
    double wire_bits;
    uint64_t updates;
    // Means, in space, against the truth of the same moment: what the client was last told, and
    // what it shows, the motion carried on.
    double known_error_mm;
    double shown_error_mm;
    int shown;   // its own entity not counted
    int missing; // in view, but not shown
} demo_line;

// Adds a viewer to the cast's world; cast and world outlive the seat.
// @return PH_OK, or why not; *seat is to be destroyed all the same.
ph_result demo_seat_create(demo_seat* seat, const demo_seat_def* def);
void demo_seat_destroy(demo_seat* seat); // the viewer stays in the world

// Before each tick of the world: the eye follows an actor that has come back.
void demo_seat_follow(demo_seat* seat);

// Before the sends of a tick.
void demo_seat_begin_sends(demo_seat* seat, uint64_t now_us);

// One datagram leaves.
void demo_seat_send(demo_seat* seat, uint64_t now_us, const void* bytes, size_t size);

// All that arrives at either end until then, each at its own time.
void demo_seat_receive_until(demo_seat* seat, uint64_t end_us);

// Compares what the client knows and shows with the truth of this tick.
void demo_seat_compare(demo_seat* seat, uint64_t now_us);

demo_line demo_seat_take_line(demo_seat* seat);

#endif
