// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The candidates of one question: gathered from arrays that lie in a row, and the exact nearest
// chosen from them. Runs once per viewer and refresh, over hundreds of candidates: the hottest
// loops of vision.
//
// Each candidate has a key of 32 bits: its distance squared as a float, a few units in the last
// place from the truth, and infinite when the eye may not see it. Keys are swept with plain loops
// that compilers turn into vectors. They find the cut but for a narrow band; who is in the band is
// decided by exact distance and spawn order. So the answer is exact, whatever the rounding.
//
//   key     |  .3  inf   .1   .7   .2 | ...      place   |  17   18   19   20   21 | ...
//   cut     ------ surely in ------[ band ]------ surely out ------>

#ifndef PH_VISION_SWEEP_H
#define PH_VISION_SWEEP_H

#include "vision/view.h"

// Entities in an order that suits the reader, as parallel arrays by place. Loops run in steps of
// PH_SWEEP_STEP: that many elements past the last one can be read, whatever they hold.
#define PH_SWEEP_STEP 8
typedef struct ph_lineup {
    int32_t* x_mm;
    int32_t* y_mm;
    uint32_t* seen_by;
    ph_entity_index* entity;
    uint64_t* spawn_order;
    uint32_t* place_of;     // by entity, of those who have one; NULL: they have to be looked for
    uint32_t seen_by_every; // mask: bits that seen_by has at every place
} ph_lineup;

// Where an answer ends: who is at or below `in` is in it, who is above `edge` is not.
typedef struct ph_sweep_band {
    int32_t in; // keys
    int32_t edge;
    int in_count; // up to each
    int edge_count;
} ph_sweep_band;

// Candidates from `from` on are those of the places from `begin` on, up to where the next run begins.
typedef struct ph_sweep_run {
    uint32_t from;
    uint32_t begin;
} ph_sweep_run;

// Start from ph_sweep_make().
typedef struct ph_sweep {
    const ph_lineup* lineup;
    const ph_eye* eye;
    int32_t* key;
    ph_sweep_run* runs;
    int run_count;
    uint32_t* place; // in the lineup; spelled out from the runs when somebody asks
    int placed_count;
    int count;
    int64_t radius_mm;  // counted last
    int32_t within_key; // so many have a key up to this one, and all of them are within
    int within_count;
    int expected_count; // that many within the radius are enough
    ph_sweep_band near; // expected
    ph_sweep_band wide;
    uint32_t* mark;   // not 0: in an expected band; then, by number, the places of who has one
    uint32_t* marked; // who has one
    int marked_count;
    ph_seen* edge; // those in the band that is looked at
} ph_sweep;

// How many ph_seen the scratch must hold to sweep `capacity` candidates.
int ph_sweep_scratch_count(int capacity);

// scratch must be allocated memory, not a declared array: other types are kept in it.
ph_sweep ph_sweep_make(const ph_lineup* lineup, const ph_eye* eye, ph_seen* scratch, int capacity);

// The answer will reach about as far as the last one did; if not, it takes longer.
void ph_sweep_expect(ph_sweep* sweep, const ph_view* last, int wanted, int first);

// Gathers the places begin..end-1 of the lineup and asks the eye's callback about them. A place is
// gathered once at most.
void ph_sweep_gather(ph_sweep* sweep, uint32_t begin, uint32_t end);

// How many of the gathered are surely within radius_mm (0..2^31). Those nearer to the line than the
// keys can tell do not count, and when as many as were expected are found nearer, no others.
int ph_sweep_count_within(ph_sweep* sweep, int64_t radius_mm);

// How far the `wanted` nearest of those within the radius that was counted last reach, exactly, how
// far the `first` nearest of them, and how many enter. Leaves what is about ALWAYS entities alone.
void ph_sweep_view(ph_sweep* sweep, int wanted, int first, ph_view* view);

// Writes the `wanted` nearest, the `first` nearest of them first as a set. The sweep is used up.
// @return How many.
int ph_sweep_take(ph_sweep* sweep, int wanted, int first, ph_seen* seen);

// Writes those who are within one reach and not within the other, in no particular order.
// @return How many.
int ph_sweep_list(ph_sweep* sweep, const ph_reach* beyond, const ph_reach* within, ph_seen* seen);

// Writes some who are within a reach: those at the edge of what was expected. @return How many.
int ph_sweep_list_edge(const ph_sweep* sweep, const ph_reach* within, ph_seen* seen);

#endif
