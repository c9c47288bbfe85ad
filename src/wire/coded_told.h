// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which slots an update packet of the pinhole profile tells of: a flag for each slot that is entered
// in the baseline, as probable as the stated density and the slot's urgency make it. Once per slot
// and packet.

#ifndef PH_WIRE_CODED_TOLD_H
#define PH_WIRE_CODED_TOLD_H

#include "wire/coded.h"

// The part of urgency that is the same for a class: its steps, in 2^-16 mm.
static inline int ph_coded_class_size(const ph_coded_frame* frame, int class_index)
{
    enum { LEAST_BITS = 16 };
    const int shift = frame->frame.layouts->layouts[class_index].coordinate.shift;
    return PH_SIZE_PER_BIT * (shift - 1 + LEAST_BITS);
}

// How much a viewer is likely to miss news of this slot, by what both ends know: 0..PH_URGENCIES-1.
// The surprise to be expected by now, as an angle: in bits, from 2^-16 on. Who rests surprises
// nobody for long, whatever the time: the first four are for those.
static inline int ph_coded_urgency_in(const ph_coded_frame* frame, const ph_baseline* baseline,
                                      int class_size)
{
    enum { NEAREST_MM = 1000, RESTING = 4 };
    const int32_t* newest_mm = baseline->position_mm[0];
    const uint32_t words[3] = {(uint32_t)newest_mm[0], (uint32_t)newest_mm[1],
                               (uint32_t)newest_mm[2]};
    const uint32_t distance_mm = ph_coded_distance(frame, words);
    const int size = baseline->plane_size + ph_coded_growth(frame, baseline) + class_size -
                     ph_log2_eighths(distance_mm > NEAREST_MM ? distance_mm : NEAREST_MM);
    int urgency = size > 0 ? size / PH_SIZE_PER_BIT : 0;
    urgency = urgency < PH_URGENCIES ? urgency : PH_URGENCIES - 1;
    if (!ph_baseline_is_moving(ph_baseline_moves_of(baseline))) {
        return urgency / RESTING;
    }
    return urgency < RESTING ? RESTING : urgency;
}

static inline int ph_coded_urgency(const ph_coded_frame* frame, const ph_baseline* baseline)
{
    return ph_coded_urgency_in(frame, baseline, ph_coded_class_size(frame, baseline->class_index));
}

static inline int ph_coded_flag_model(int density, int urgency)
{
    PH_ASSERT(density > PH_DENSITY_NOBODY && density < PH_DENSITIES);
    PH_ASSERT(urgency >= 0 && urgency < PH_URGENCIES);
    return (density - 1) * PH_URGENCIES + urgency;
}

// Where the tables have the flag.
static inline int ph_coded_flag_entry(int density, int urgency, bool is_told)
{
    enum { ENTRIES = 3 }; // told or not, and the end
    return PH_AT_TOLD + ENTRIES * ph_coded_flag_model(density, urgency) + (is_told ? 1 : 0);
}

// While nobody is told, to be told is supposed to cost more than any of the tables say: so a sender
// supposes no less than it needs when somebody is.
static inline uint32_t ph_coded_flag_cost256(int density, int urgency, bool is_told)
{
    enum { UNFORESEEN256 = 16 * PH_COST_PER_BIT };
    if (density == PH_DENSITY_NOBODY) {
        return is_told ? UNFORESEEN256 : 0;
    }
    return ph_coded_costs[ph_coded_flag_entry(density, urgency, is_told)];
}

static inline uint32_t ph_coded_told_cost256(const ph_coded_frame* frame, int urgency, bool is_told)
{
    return ph_coded_flag_cost256(frame->density, urgency, is_told);
}

// The same by urgency, for all densities side by side.
typedef struct ph_told_costs {
    int16_t silent256[PH_URGENCIES][PH_DENSITIES];
    int16_t turned256[PH_URGENCIES][PH_DENSITIES]; // how much dearer it is to be told
} ph_told_costs;
void ph_told_costs_fill(ph_told_costs* costs);

// What the flags of a packet are: with so many slots the costs of all of them are less than 2^31.
typedef struct ph_told_sums {
    int32_t silent256[PH_DENSITIES]; // what they would cost if nobody were told
    int32_t told[PH_URGENCIES];      // how many are
} ph_told_sums;

// Nobody is told of so many slots, by urgency. Who is told later is counted in `told`.
void ph_told_sums_begin(ph_told_sums* sums, const ph_told_costs* costs,
                        const int silent[PH_URGENCIES]);

// What they cost together, at one density.
int32_t ph_told_sums_cost256(const ph_told_sums* sums, const ph_told_costs* costs, int density);

// The cheapest density. The sender may state any other one than PH_DENSITY_NOBODY when somebody is told.
int ph_coded_best_density(const ph_told_sums* sums, const ph_told_costs* costs);

// Among other symbols, where somebody is told and nobody counts.
PH_ALWAYS_INLINE void ph_coded_run_told(int density, ph_entropy_run* run, int urgency, bool is_told)
{
    ph_entropy_run_entry(run, &ph_coded_cumulative[ph_coded_flag_entry(density, urgency, is_told)]);
}

void ph_coded_write_told(const ph_coded_frame* frame, ph_entropy_writer* writer, int urgency,
                         bool is_told);
bool ph_coded_read_told(const ph_coded_frame* frame, ph_entropy_reader* reader, int urgency);

#endif
