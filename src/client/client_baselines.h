// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends know the client to have: the baselines at the horizon of the newest packet that was
// applied, and the packets applied after that, until a later packet states a newer horizon. Pinhole
// profile only.
//
//   slots, known   baseline and packed values of each slot, at the horizon
//   flight         | packet 71: items | 73: items | 74: items |       applied after the horizon
//   saved          slots as they were before they were advanced for reading
//
// A packet is read against the baselines at the horizon that it states, and whether it is sound is
// known only when it was read. So the baselines advance first, each slot that changes is saved, and
// everything is rolled back if the packet is refused:
//
//   ph_client_baselines_advance(baselines, stated);
//   ... decode ...
//   ph_client_baselines_commit(baselines);      or      ph_client_baselines_roll_back(baselines);
//   ph_client_baselines_add(baselines, ...);
//
// Each record is folded in once, or a few times where packets are refused. Nothing allocates but
// creation; the ring of the flight takes at most 256 KB.

#ifndef PH_CLIENT_CLIENT_BASELINES_H
#define PH_CLIENT_CLIENT_BASELINES_H

#include "base/bitset.h"
#include "packet/baseline.h"
#include "packet/flight.h"

// One slot. {0}: empty.
typedef struct ph_client_baseline {
    ph_baseline baseline;
    uint32_t association; // of the entity that it shows; 0 before the first
} ph_client_baseline;

// {0} may be destroyed. Fields are read-only outside client_baselines.c, but for rules.tick_us, which
// the session sets.
typedef struct ph_client_baselines {
    ph_baseline_rules rules;
    ph_packing* packings; // by class
    ph_client_baseline* slots;
    uint8_t* known;  // stride bytes for each slot
    uint32_t stride; // bytes of the widest class
    int capacity;
    uint64_t key_base; // greatest key of all enters up to the horizon
    ph_flight flight;
    uint64_t greatest_keys[PH_FLIGHT_MAX]; // of the enters of each of flight.packets, or 0
    uint32_t* units;                       // of the flight
    uint32_t unit_count;
    uint32_t* words; // a block as wide as the widest class
    // While advanced: how it was before.
    int advanced_count; // packets of the flight that are folded in
    int saved_count;
    uint16_t* saved; // the slots, in no order
    ph_client_baseline* saved_slots;
    uint8_t* saved_known;
    uint64_t saved_key_base;
    uint64_t* saved_words;
    ph_bitset is_saved; // by slot
    ph_allocator allocator;
} ph_client_baselines;

// @return PH_OK, or PH_ERROR_MEMORY with *baselines set to {0}.
ph_result ph_client_baselines_create(ph_client_baselines* baselines, const ph_layouts* layouts,
                                     const ph_allocator* allocator, int capacity);

void ph_client_baselines_destroy(ph_client_baselines* baselines);

// Folds in the packets up to this sequence, which is not before the present horizon.
void ph_client_baselines_advance(ph_client_baselines* baselines, uint32_t sequence);

// Back to before ph_client_baselines_advance().
void ph_client_baselines_roll_back(ph_client_baselines* baselines);

// Whether there is room for these records once what was folded in is retired. There is for what a
// sender's own ring holds, but for the last few items: a packet without room is refused, and to its
// sender it is one more that got lost.
bool ph_client_baselines_has_room(const ph_client_baselines* baselines, const ph_record* records,
                                  int count);

// Retires what was folded in.
void ph_client_baselines_commit(ph_client_baselines* baselines);

// A packet is applied: its records with whole association numbers, and there is room. Not while
// advanced.
void ph_client_baselines_add(ph_client_baselines* baselines, uint32_t sequence, uint32_t tick,
                             const ph_record* records, int count);

// Of all baselines up to a count of slots: the hash of ph_baseline_digest() of each by slot. For
// tests; slow.
uint64_t ph_client_baselines_digest(const ph_client_baselines* baselines, int slot_count);

// Not while advanced.
bool ph_client_baselines_validate(const ph_client_baselines* baselines);

#endif
