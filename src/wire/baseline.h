// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What both ends know the client to have of each slot, at one and the same horizon: the ground that
// differences of the pinhole profile stand on. The sender moves it on when an acknowledgement says
// that a packet was applied, the client when a packet states a newer horizon; both by the same
// function, packet after packet, so both have the same to the last bit.
//
//   values     packed (packing.h): newest known value of every property
//   samples    the two newest known positions and their ticks: the motion through them is carried on
//   sizes      how large the last surprises were: what the models go by
//
// Integers only. Once per record that was applied; nothing allocates.

#ifndef PH_WIRE_BASELINE_H
#define PH_WIRE_BASELINE_H

#include "wire/classic.h"
#include "wire/packing.h"

typedef struct ph_baseline {
    int32_t position_mm[2][3]; // the newest first
    uint32_t tick[2];
    uint32_t heading_tick;
    uint8_t sample_count; // 0..2; 1 after an enter or a jump
    bool is_entered;
    // Bits of the last known surprise, faded: 0 when predictions were right. In steps.
    uint8_t plane_size; // x and y
    uint8_t z_size;
    uint8_t heading_size;
    uint8_t turned_size; // the same had the heading been guessed from the direction of motion
    uint8_t mask_symbol; // which properties the last record told
    uint8_t class_index;
} ph_baseline;

// One record that the client applied. words: block of the class, only `properties` of it are read;
// known: the slot's packed values. LEAVE empties the slot, ENTER resets it first.
void ph_baseline_take(ph_baseline* baseline, uint8_t* known, const ph_layout* layout,
                      const ph_packing* packing, const ph_record* record, uint32_t tick);

// Where the motion leads at a tick: the last step carried on, for a limited time.
void ph_baseline_predict(const ph_baseline* baseline, uint32_t tick, uint32_t tick_us,
                         int32_t position_mm[3]);

// Of everything; ends that disagree are found at once. For tests.
uint64_t ph_baseline_digest(const ph_baseline* baseline, const uint8_t* known, size_t known_bytes);

#endif
