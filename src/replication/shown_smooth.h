// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Of entities with smooth properties: what a viewer's client shows of them by now, and whether that is right.
// The same for numbers and other rotations as shown_estimate.h for positions, with the arithmetic of the
// client (packet/smooth_parts.h).
//
//   sent    the newest value of each part that was sent, and how it goes on
//   known   the same of what is acked, while something is in flight
//   held    properties that differ from what was sent last, but are shown right: they are not dirty
//   wrong   properties that are shown wrong: they are dirty, also when they are what was sent last
//
// So for everything else that decides what is sent, a smooth property is dirty exactly when the client needs
// it; and when it has settled, so that in the end every client has it exactly: also when it is what was sent last, but
// the client goes on and only the end of the range holds that up.
//
// Senders of the pinhole profile, whose clients take silence for motion that goes on. Up to 40 ns for each
// slot, part and send, where a class has smooth properties; nothing allocates.

#ifndef PH_REPLICATION_SHOWN_SMOOTH_H
#define PH_REPLICATION_SHOWN_SMOOTH_H

#include "packet/smooth_parts.h"
#include "replication/replica.h"

struct ph_send_context;

// Of one part. {0} knows none.
typedef struct ph_smooth_estimate {
    union {
        ph_number_motion number;
        ph_turn_motion turn;
    };
    uint32_t tick; // when the newest value was taken
    uint32_t unused;
} ph_smooth_estimate;

// By slot; NULL where no class has a smooth property.
typedef struct ph_smooth_estimates {
    ph_smooth_estimate* sent; // `parts` of them for each slot
    ph_smooth_estimate* known;
    uint64_t* held;
    uint64_t* wrong;
    int parts;
} ph_smooth_estimates;

// Of all of them.
size_t ph_smooth_estimates_bytes(const ph_layouts* layouts, int slot_count);

// The first enter of an entity: nothing is known of it.
void ph_smooth_estimates_begin(const ph_smooth_estimates* smooth, int slot);

// Values that an item tells, which was sent at some tick; of an enter, what it leaves out is initial. words: the
// block of its record, or NULL for the values in the item. Into `sent` or `known`. @return Whether one of the same
// tick was replaced.
bool ph_smooth_estimates_add(const ph_replicas* replicas, ph_smooth_estimate* estimates,
                             const ph_flight_item* item, const uint32_t* words, uint32_t tick);

// How the dirty mask of a slot looks with what the client shows.
typedef struct ph_smooth_masks {
    uint64_t dirty;
    uint64_t held;
    uint64_t wrong;
} ph_smooth_masks;

// Of a mask that knows what has changed. Changes nothing.
ph_smooth_masks ph_smooth_judge(const struct ph_send_context* context, int slot, uint64_t dirty);

// The same of all slots, into their dirty masks.
void ph_smooth_judge_all(const struct ph_send_context* context);

#endif
