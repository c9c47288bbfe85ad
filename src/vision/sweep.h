// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The nearest of many: distances as short keys, the search for the key of a rank, and the candidates of
// one question. Once per viewer and refresh.

#ifndef PH_VISION_SWEEP_H
#define PH_VISION_SWEEP_H

#include "vision/entity_arrays.h"

#include <pinhole/base.h>

#include <string.h>

// ---- keys
//
// A key is the bits of a float that is not negative, which as integers have the same order. The search
// for the key of a rank is needed only where the cut is not where it was expected.

// A float that keys are made from differs from the true distance squared by less than 5 * 2^-24 of
// it: two conversions, two products and a sum, each rounded once. Whatever is further apart than
// this is surely so.
#define PH_KEY_MARGIN 0x1p-20f
// Above every distance.
#define PH_KEY_HIDDEN INT32_MAX

static inline int32_t ph_key_of(float value)
{
    int32_t key;
    memcpy(&key, &value, sizeof key);
    return key;
}

static inline float ph_key_float(int32_t key)
{
    float value;
    memcpy(&value, &key, sizeof value);
    return value;
}

// The greatest key that is surely below, -1 when there is none, and the one below which all that may be
// below are.
static inline int32_t ph_key_surely_below(float distance2)
{
    return distance2 > 0.0f ? ph_key_of(distance2 * (1.0f - PH_KEY_MARGIN)) : -1;
}

static inline int32_t ph_key_maybe_below(float distance2)
{
    return ph_key_of(distance2 * (1.0f + PH_KEY_MARGIN));
}

// How many keys are up to a limit.
int ph_key_count(const int32_t* key, int count, int32_t limit);

// Lists the marked ones, where most are not marked: those are skipped four at a time. Both arrays
// have room for PH_MARKS_STEP more. @return How many.
#define PH_MARKS_STEP 4

int ph_marks_list(uint32_t* mark, int count, uint32_t* marked);

// The key of the wanted rank is above `low` and not above `high`.
typedef struct ph_cut {
    int32_t low; // -1 at first
    int32_t high;
    int low_count; // keys up to low: fewer than wanted
    int high_count;
} ph_cut;

// Narrows until few are inside, or all inside have the same key. Where guesses in proportion are no
// good, the keys are halved every few steps: 31 times leaves nothing in any crowd.
void ph_cut_find(const int32_t* key, int count, int wanted, ph_cut* cut);

// ---- the candidates of one question
//
// Gathered from arrays that lie in a row, and the exact nearest chosen from them. Runs over hundreds of
// candidates: the hottest loops of vision.
//
// Each candidate has a key of 32 bits: its distance squared as a float, a few units in the last
// place from the truth, and infinite when the eye may not see it. Keys are swept with plain loops
// that compilers turn into vectors. They find the cut but for a narrow band; what is in the band is
// decided by exact distance and spawn order. So the result is exact, whatever the rounding.
//
//   key     |  .3  inf   .1   .7   .2 | ...      place   |  17   18   19   20   21 | ...
//   cut     ------ surely in ------[ band ]------ surely out ------>

// Entities in an order that suits the reader, as parallel arrays by place. Loops run in steps of
// PH_SWEEP_STEP: that many elements past the last one can be read, whatever they hold.
#define PH_SWEEP_STEP 8

typedef struct ph_cell_sorted {
    int32_t* x_mm;
    int32_t* y_mm;
    uint32_t* seen_by;
    ph_entity_index* entity;
    uint64_t* spawn_order;
    uint32_t* place_of;     // by entity, of those that have one; NULL: they have to be looked for
    uint32_t seen_by_every; // mask: bits that seen_by has at every place
} ph_cell_sorted;

// Start from ph_sweep_make().
typedef struct ph_sweep {
    const ph_cell_sorted* sorted;
    const ph_eye* eye;
    int32_t* key;
    uint32_t* place; // in the sorted
    int count;
    int row_count;      // of cells that were looked at: what it cost beside the candidates
    int64_t radius_mm;  // counted last
    int32_t within_key; // so many have a key up to this one, and all of them are within
    int within_count;
    uint32_t* listed; // places that are looked at
    ph_seen* edge;    // of them, those in the band where a reach ends
} ph_sweep;

// How many ph_seen the scratch must hold to sweep `capacity` candidates.
int ph_sweep_scratch_count(int capacity);

// scratch must be allocated memory, not a declared array: other types are kept in it.
ph_sweep ph_sweep_make(const ph_cell_sorted* sorted, const ph_eye* eye, ph_seen* scratch,
                       int capacity);

// Gathers the places begin..end-1 of the sorted and asks the eye's callback about them. A place is
// gathered once at most.
void ph_sweep_gather(ph_sweep* sweep, uint32_t begin, uint32_t end);

// How many of the gathered are surely within radius_mm (0..2^31). Those nearer to the line than the
// keys can tell do not count.
int ph_sweep_count_within(ph_sweep* sweep, int64_t radius_mm);

// How far the `wanted` nearest of those within the radius that was counted last reach, exactly, how
// far the `first` nearest of them, and how many enter. The view is that of the last time or {0}: where the
// reaches are expected. Leaves what is about ALWAYS entities alone.
void ph_sweep_view(ph_sweep* sweep, int wanted, int first, ph_view* view);

// Writes the `wanted` nearest, the `first` nearest of them first as a set. @return How many.
int ph_sweep_take(ph_sweep* sweep, int wanted, int first, ph_seen* seen);

// Writes those that are within one reach and not within the other, in no particular order.
// @return How many.
int ph_sweep_list(const ph_sweep* sweep, const ph_reach* outside, const ph_reach* within,
                  ph_seen* seen);

#endif
