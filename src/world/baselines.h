// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The baselines of one viewer's slots (wire/baseline.h), as its sender moves them on: by each item of
// a packet that the client has applied, when that becomes known. So they are always those of the
// horizon that the next packet states. Pinhole profile only.
//
// An item holds packed values. Behind those of an enter stands what else its record said:
//
//   | values | name 8 | velocity 2 2 2 |
//
// Once per record whose fate is learned; nothing allocates.

#ifndef PH_WORLD_BASELINES_H
#define PH_WORLD_BASELINES_H

#include "wire/baseline.h"
#include "wire/flight.h"

#define PH_ENTER_EXTRA_BYTES 14

// Writes what follows the values of an enter. value_bytes counts it already.
void ph_baselines_store_extra(const ph_flight_item* item, const ph_record* enter);

// {0} is of no use; the arrays are the caller's.
typedef struct ph_baselines {
    ph_baseline* slots; // by slot; NULL: the profile knows no baselines
    // Of the packet under way.
    uint16_t* chosen;   // by slot: 1 + place among those chosen for it; 0: not chosen
    uint8_t* urgencies; // by slot
    uint8_t* coarse;    // by slot: of the position that is told; 0: exactly, or none
    uint64_t name_base; // greatest name of all enters that were applied
} ph_baselines;

#define PH_BASELINES_BYTES_PER_SLOT (sizeof(ph_baseline) + sizeof(uint16_t) + 2)
void ph_baselines_init(ph_baselines* baselines, void* memory, int slot_count);

// One item of an applied packet: class_index is that of its slot, known its packed values, which
// learn of the item after this. An item without properties was withdrawn and says nothing.
typedef struct ph_taking {
    const ph_flight_item* item;
    uint32_t tick; // of the packet
    int class_index;
    const uint8_t* known;
} ph_taking;
void ph_baselines_take(ph_baselines* baselines, const ph_baseline_rules* rules,
                       const ph_taking* taking);

#endif
