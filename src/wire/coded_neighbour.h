// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What an enter or leave of the pinhole profile is told from: the one before it in the packet. And how
// far enters are from each other, which the packet states before the first. Once per enter.

#ifndef PH_WIRE_CODED_NEIGHBOUR_H
#define PH_WIRE_CODED_NEIGHBOUR_H

#include "wire/coded.h"

// What the next one is told from. The words of the record stay where they are.
ph_coded_neighbour ph_coded_neighbour_of(const ph_coded_frame* frame, const ph_coded_record* coded);

// The spread that suits so many steps from one enter to the next.
typedef struct ph_coded_steps {
    int count;
    int beside_count; // of these, to one of the same class
    int place_bits;   // sums of widths
    int velocity_bits[PH_MOTIONS];
    int heading_bits;
    int name_bits;
} ph_coded_steps;
void ph_coded_steps_add(ph_coded_steps* steps, const ph_coded_frame* frame,
                        const ph_coded_neighbour* from, const ph_coded_neighbour* to);
// Places are as coarse as they are: that is the caller's to state.
ph_coded_spread ph_coded_steps_spread(const ph_coded_steps* steps);

// The spread stands before the enters of a packet that has two or more; any of them is legal.
#define PH_SPREAD_BITS_MAX 27
int ph_coded_spread_bits(const ph_coded_frame* frame, int enter_count);
void ph_coded_write_spread(const ph_coded_frame* frame, ph_entropy_writer* writer, int enter_count);
void ph_coded_read_spread(ph_coded_frame* frame, ph_entropy_reader* reader, int enter_count);

#endif
