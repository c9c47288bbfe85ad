// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one viewer's client shows by now, as far as its sender can tell, and how wrong that is.
//
// The estimate (shown_estimate.c): for each slot the newest sample of its position that was sent, and
// the motion through the last ones, by the rules that src/motion has for the client.
//
//   known   --o-----o                         acked: the newest sample, and the motion there
//   sent          known, then o---o . . . x   with what is in flight; extrapolated
//
// Mostly nothing of a slot is in flight when the next sample is sent, and all of it is acked. So what
// is known is put aside when a sample leads on from it, and an ack that leaves nothing open only takes
// the mark away that says so. When a packet was lost, `sent` is made anew from what is known and what
// is still in flight.
//
// The error (shown_error.c): the difference between the estimate and the truth, both at the moment
// when a record that is sent now arrives. What is in flight may still get lost: by that chance, the
// error without it counts.
//
// Senders of the pinhole profile have estimates, and those whose scheduler wants errors. Some ten
// nanoseconds for each record, a few for each slot and send, and a walk over what is in flight for an
// ack that tells of a loss; nothing allocates but creation.

#ifndef PH_REPLICATION_SHOWN_ESTIMATE_H
#define PH_REPLICATION_SHOWN_ESTIMATE_H

#include "motion/motion_model.h"
#include "replication/replica.h"
#include "replication/shown_smooth.h"
#include "replication/shown_turn.h"
#include "vision/slots.h"

// The motion of one slot. {0} knows no sample.
typedef struct ph_shown_estimate {
    int32_t position_mm[3]; // the newest sample, as it is shown
    uint32_t tick;          // when it was taken
    float velocity_mm_s[3];
    float bend_mm_s[3]; // what the change of velocity adds to it for a short while
    float leg_s;        // the velocity was taken over
    float interval_s;   // between the last two samples; 0: there is but one, which stands
    uint16_t jumps;     // of the entity
    bool is_there;
    uint8_t finer; // of the sample: the step of its class was halved so often for it
} ph_shown_estimate;

_Static_assert(sizeof(ph_shown_estimate) <= 52, "two for each slot of each viewer");

// Marks of a slot.
// A sample in flight has led on from what is known; else `known` is old, and `sent` is known.
#define PH_ESTIMATE_APART 1
// A sample was replaced by another one of the same packet, so `sent` may differ from what its samples,
// one by one, will lead to.
#define PH_ESTIMATE_REVISED 2
// Something was lost, and `sent` is wrong.
#define PH_ESTIMATE_LOST 4

typedef struct ph_shown_estimates {
    ph_shown_estimate* sent;        // by slot
    ph_shown_estimate* known;       // by slot, where it is APART
    uint32_t* heading;              // by slot: the newest level that was sent
    ph_motion_model* motion_models; // by class: what the client learns from the same samples
    uint8_t* marks;                 // by slot: PH_ESTIMATE_...
    uint8_t* headings;              // by class: the property, or PH_HEADING_NONE
    ph_turn_estimates turns;        // of orientations
    ph_smooth_estimates smooth;     // pinhole profile only
    bool is_vouched;
    bool has_lost; // a slot is marked as LOST
    size_t size_bytes;
    ph_allocator allocator;
} ph_shown_estimates;

// is_vouched: pinhole profile. The client takes silence for motion that goes on, see
// motion/motion_model.h. @return PH_OK, or PH_ERROR_MEMORY with *estimates NULL.
ph_result ph_shown_estimates_create(const ph_allocator* allocator, int slot_count,
                                    const ph_layouts* layouts, bool is_vouched,
                                    ph_shown_estimates** estimates);

void ph_shown_estimates_destroy(ph_shown_estimates* estimates); // NULL is allowed

// ---- for replica.c and ack.c; replicas with estimates

// The newest item of a slot stands in the open packet, of an enter or update with these words.
void ph_shown_estimates_sent(const ph_replicas* replicas, const ph_flight_item* item,
                             const uint32_t* words);

// An item of the oldest packet, which was sent at this tick; the replica still counts it as in flight.
void ph_shown_estimates_acked(const ph_replicas* replicas, const ph_flight_item* item,
                              uint32_t tick);

// After all items of an ack: makes the estimates anew of which something was LOST.
void ph_shown_estimates_settle(const ph_replicas* replicas);

// ---- errors

// In memory of PH_ERROR_ARRAYS * count floats.
typedef struct ph_error_arrays {
    float* range_mm;
    float* error_mm;
    float* growth_mm_s;
    float* turn_rad;
    float* age_s;
    float* missing;
    float* position_bits;
    float* extrapolated_mm; // by the motion that the client extrapolates; not ranked
    // Filled where a class has an orientation; 0 for all others.
    float* rotation_mm;
    float* rotation_growth_mm_s;
    float* rotation_rad; // not ranked
    float* spun_mm;      // not ranked
} ph_error_arrays;

#define PH_ERROR_ARRAYS 12

ph_error_arrays ph_error_arrays_make(float* memory, int count);

// Slots from `first` on; the error_arrays begin with that one.
typedef struct ph_error_span {
    const struct ph_send_context* context; // of a sender with estimates
    int first;
    int count;
    ph_slot_list shown; // of these, all that show an entity
    const ph_error_arrays* error_arrays;
    const uint64_t* dirty; // masks of properties
} ph_error_span;

// The result borrows the error_arrays.
ph_ranking_errors ph_shown_errors_fill(const ph_error_span* span);

#endif
