// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Of entities with an orientation: what a viewer's client shows of it by now, and how wrong that is. The same
// for rotations as shown_estimate.h for positions, with the arithmetic of the client (motion/turn.h).
//
//   sent    the newest rotation that was sent, and the spin through the last ones
//   known   the same of what is acked, while something is in flight
//   watch   how the entity itself turns, from what this viewer could see of it, and how soon what the client is
//           told of that is wrong again
//
// One currency: a turn moves the surface of an entity by 0.8 of its radius, and that is an error in mm like
// any other. Some 100 ns for each slot and send, where a class has an orientation; nothing allocates.

#ifndef PH_REPLICATION_SHOWN_TURN_H
#define PH_REPLICATION_SHOWN_TURN_H

#include "motion/turn.h"
#include "packet/layout.h"

#include <pinhole/schedule.h>

struct ph_send_context;

// How far the surface moves for a radian, as a share of the radius.
#define PH_TURN_SURFACE 0.8f

// {0} knows none.
typedef struct ph_turn_estimate {
    ph_turn_motion motion;
    uint32_t tick;  // when the newest rotation was taken
    uint16_t jumps; // of the entity then
} ph_turn_estimate;

typedef struct ph_turn_watch {
    float rotation[4]; // at the tick
    float spin[3];
    // How far that is from the spin that the client extrapolates, over a second or so; in rad/s.
    float spin_error;
    float apart; // what the last look added to that, before it was smoothed
    uint32_t tick;
    uint16_t jumps; // of the entity then
    bool is_there;
} ph_turn_watch;

// By slot; NULL where no class has an orientation.
typedef struct ph_turn_estimates {
    ph_turn_estimate* sent;
    ph_turn_estimate* known;
    ph_turn_watch* watches;
    float between_s; // two records of an entity that turns otherwise than is known, about
} ph_turn_estimates;

// Of all of them.
size_t ph_turn_estimates_bytes(const ph_layouts* layouts, int slot_count);

// The rotation of such words of a class.
void ph_turn_of_words(const ph_layout* layout, const uint32_t words[2], float rotation[4]);

// A rotation that was taken at some tick.
void ph_turn_estimate_add(ph_turn_estimate* estimate, const float rotation[4], uint32_t tick,
                          uint16_t jumps, float tick_s);

// How an entity turns that enters: the levels of its rotation of so many seconds, whose last one is left out.
void ph_turn_estimate_enter(ph_turn_estimate* estimate, const ph_layout* layout,
                            const int16_t spin[3], float seconds);

// Once per send, before errors are asked for: how all that is shown turns.
void ph_turn_watch_all(const struct ph_send_context* context);

// Of one slot.
typedef struct ph_turn_error {
    float error_mm;
    float growth_mm_s;
    float spun_mm; // beyond its sample, by the spin that the client extrapolates
    float radians; // of error_mm
} ph_turn_error;

// half_rtt_s ahead, when what is sent now arrives. Only of slots with an orientation that was sent.
void ph_turn_error_of(const struct ph_send_context* context, int slot, float half_rtt_s,
                      ph_turn_error* error);

// What is shown wrong by less, in radians, is right: half of a step that moves the surface by as much as one of the
// position, or what it will be wrong again a tenth of a second after it was told.
float ph_turn_right(const ph_turn_estimates* turns, const ph_layout* layout, int slot);

// How coarse a rotation is best sent (packet/pinhole_records.h): in steps that move the surface by as much as one of
// the position, 0.25 to 4 degrees, but less than half of what is wrong.
int ph_turn_coarseness(const ph_layout* layout, float position_step_mm, float radians);

// The same of an entity that enters with a crowd.
int ph_turn_newcomer_coarseness(const ph_layout* layout);

#endif
