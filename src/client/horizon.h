// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends know the client to have: the baselines at the horizon of the newest packet that
// counted, and behind it what was applied since, packet by packet, until a later packet states a
// newer horizon. Pinhole profile only.
//
//   slots, known   baseline and packed values of each slot, at the horizon
//   flight         | packet 71: items | 73: items | 74: items |       applied behind the horizon
//   kept           slots as they were before they were moved on for reading
//
// A packet is read against the baselines at the horizon that it states, and whether it counts is
// known only when it was read. So the baselines move on first, each slot that changes is kept, and
// everything goes back if the packet is refused:
//
//   ph_horizon_move(horizon, stated);
//   ... read ...
//   ph_horizon_settle(horizon); ph_horizon_note(...);     or     ph_horizon_restore(horizon);
//
// Each record that was applied is folded in once, or a few times where packets are refused. Nothing
// allocates but creation; the ring of the flight takes at most 256 KB.

#ifndef PH_CLIENT_HORIZON_H
#define PH_CLIENT_HORIZON_H

#include "base/bitset.h"
#include "wire/baseline.h"
#include "wire/flight.h"

// {0}: nobody.
typedef struct ph_horizon_slot {
    ph_baseline baseline;
    uint32_t association; // whom it shows; 0 before the first
} ph_horizon_slot;

// {0} may be destroyed. Fields are read-only outside horizon.c.
typedef struct ph_horizon {
    ph_baseline_rules rules;
    ph_packing* packings; // by class
    ph_horizon_slot* slots;
    uint8_t* known;  // stride bytes for each slot
    uint32_t stride; // bytes of the widest class
    int capacity;
    uint64_t name_base; // greatest name of all enters up to the horizon
    ph_flight flight;
    uint64_t greatest_names[PH_FLIGHT_MAX]; // of the enters of each of flight.packets, or 0
    uint32_t* units;                        // of the flight
    uint32_t unit_count;
    uint32_t* words; // a block as wide as the widest class
    // While moved on: how it was before.
    int moved_count; // packets of the flight that are folded in
    int kept_count;
    uint16_t* kept; // the slots, in no order
    ph_horizon_slot* kept_slots;
    uint8_t* kept_known;
    uint64_t kept_name_base;
    uint64_t* kept_words;
    ph_bitset is_kept; // by slot
    ph_allocator allocator;
} ph_horizon;

// @return PH_OK, or PH_ERROR_MEMORY with *horizon set to {0}.
ph_result ph_horizon_create(ph_horizon* horizon, const ph_layouts* layouts,
                            const ph_allocator* allocator, int capacity);
void ph_horizon_destroy(ph_horizon* horizon);

// A session begins.
void ph_horizon_begin(ph_horizon* horizon, uint32_t tick_us);

static inline const uint8_t* ph_horizon_known(const ph_horizon* horizon, int slot)
{
    return horizon->known + (size_t)slot * horizon->stride;
}

// Moves on to this number, which is not behind where it stands.
void ph_horizon_move(ph_horizon* horizon, uint32_t number);

// Goes back to where it was.
void ph_horizon_restore(ph_horizon* horizon);

// Whether there is room for these records once what was folded in is forgotten. There is for what a
// sender's own ring holds, but for the last few items: a packet without room is refused, and to its
// sender it is one more that got lost.
bool ph_horizon_has_room(const ph_horizon* horizon, const ph_record* records, int count);

// Stays where it was moved to.
void ph_horizon_settle(ph_horizon* horizon);

// A packet is applied: its records with whole association numbers, and there is room. Not while
// moved on.
void ph_horizon_note(ph_horizon* horizon, uint32_t number, uint32_t tick, const ph_record* records,
                     int count);

// Of all baselines up to a count of slots: the hash of ph_baseline_digest() of each by slot. For
// tests; slow.
uint64_t ph_horizon_digest(const ph_horizon* horizon, int slot_count);

// Not while moved on.
bool ph_horizon_validate(const ph_horizon* horizon);

#endif
