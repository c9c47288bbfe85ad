// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client shows: the server's clock, a track for each slot, and for each class how its
// entities move. Packets feed it as they are applied; once per frame all that is in view
// is advanced.
//
//   tracks    by slot    |track|track|     |track|        started when an entity enters
//   turns     by slot    the rotation in space, where any class has an orientation
//   smooth    by slot    the parts of smooth properties (smooth_display.h)
//   classes   by class   |motion model, heading, orientation|  |...|
//
// Memory is taken at creation. Some 75 ns per entity in view and frame.

#ifndef PH_CLIENT_DISPLAY_H
#define PH_CLIENT_DISPLAY_H

#include "client/client_entities.h"
#include "client/smooth_display.h"
#include "motion/clock.h"
#include "motion/track.h"
#include "motion/turn.h"

#include <pinhole/client.h>

// What is the same for all entities of a class.
typedef struct ph_class_display {
    ph_motion_model motion_model;
    int heading;       // the property that is the heading, or -1
    int orientation;   // the one that is the orientation, or -1
    int32_t centre_mm; // x and y are rounded down; this much further is the middle
} ph_class_display;

// {0} may be destroyed. Fields are read-only outside display.c.
typedef struct ph_display {
    ph_clock clock;
    ph_track* tracks;
    ph_turn_track* turns; // NULL where no class has an orientation
    ph_smooth_display smooth;
    ph_class_display* classes;
    int64_t packet_us; // the server's time of the packet that is being applied
    int64_t delay_us;
    int64_t velocity_us;  // enters have the displacement over so long; 0: none
    uint64_t advanced_us; // our time of the last frame
    bool has_advanced;
    int capacity;
    int class_count;
    ph_allocator allocator;
} ph_display;

// @return PH_OK, or PH_ERROR_MEMORY with *display set to {0}.
ph_result ph_display_create(ph_display* display, const ph_layouts* layouts,
                            const ph_allocator* allocator, int capacity);
void ph_display_destroy(ph_display* display);

// Sessions of the pinhole profile: enters have a velocity, as the displacement over so long; and
// silence means that what is shown is right.
void ph_display_begin_pinhole(ph_display* display, int64_t velocity_us);

// A packet is about to be applied, which left at this time of the server. The clock has it already.
void ph_display_begin_packet(ph_display* display, int64_t server_us);

// Of that packet, after the entities have it: the slot shows a new one; and which properties of the
// one that it shows are in the record or reset by it.
void ph_display_enter(ph_display* display, int slot);
void ph_display_update(ph_display* display, const ph_client_entities* entities,
                       const ph_record* record, uint64_t properties);

// After that: the slot's entity is shown on from where another display has shown it.
void ph_display_inherit(ph_display* display, const ph_client_entities* entities, int slot,
                        const ph_display* from, int from_slot);

// Advances all that is in view to a time of ours.
void ph_display_advance(ph_display* display, const ph_client_entities* entities, uint64_t now_us);

// What was shown of a slot last.
void ph_display_pose(const ph_display* display, const ph_client_entities* entities, int slot,
                     ph_pose* pose);

#endif
