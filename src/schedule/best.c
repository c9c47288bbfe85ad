// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// First the upper halves of all keys, which tell priorities apart by a 128th; then a cut between two of
// them, by bisection: how many are above it takes a dozen vectors. Those above are listed, and everyone's
// place is the number of those who come before. But for a few steps of the bisection there is nothing that
// the processor would have to guess.

#include "schedule/best.h"

#include "base/inline.h"
#include "base/wide.h"

// ---- the cut

typedef struct key_range {
    int count; // of those that count
    int16_t highest;
    int16_t mean; // about
} key_range;

// Those who do not count have 0. None is above 0x7F80, so that the sum of 65,535 is below 2^31.
PH_ALWAYS_INLINE key_range take_upper(const float* restrict priority, int slot_count,
                                      uint16_t* restrict upper)
{
    int32_t sum = 0;
    int32_t count = 0;
    int32_t highest = 0;
    for (int i = 0; i < slot_count; ++i) {
        const int32_t key = ph_priority_key(priority[i]);
        const int32_t is_counted = -(int32_t)((key <= PH_PRIORITY_KEY_MAX) & (key > 0));
        const int32_t above = key >> 16 & is_counted;
        upper[i] = (uint16_t)above;
        sum += above;
        count -= is_counted;
        highest = above > highest ? above : highest;
    }
    return (key_range){
        .count = count,
        .highest = (int16_t)highest,
        .mean = (int16_t)(count > 0 ? sum / count : 0),
    };
}

PH_ALWAYS_INLINE int count_from(const uint16_t* upper, int slot_count, int16_t cut)
{
    uint16_t count = 0;
    for (int i = 0; i < slot_count; ++i) {
        count = (uint16_t)(count + ((int16_t)upper[i] >= cut));
    }
    return count;
}

// @return The least upper half of those who are chosen: from wanted to PH_BEST_MAX of them; or 0.
PH_WIDE static int16_t find_cut(const float* priority, int slot_count, int wanted, uint16_t* upper)
{
    const key_range range = take_upper(priority, slot_count, upper);
    if (range.count < wanted) {
        return 0;
    }
    int low = 0;                  // too many are there or above
    int high = range.highest + 1; // too few are
    for (int cut = range.mean; high - low > 1; cut = (low + high) / 2) {
        const int count = count_from(upper, slot_count, (int16_t)cut);
        if (count > PH_BEST_MAX) {
            low = cut;
        } else if (count < wanted) {
            high = cut;
        } else {
            return (int16_t)cut;
        }
    }
    return 0;
}

// ---- in order

// @return How many.
static int list_from(const uint16_t* upper, int slot_count, int16_t cut,
                     uint16_t listed[PH_BEST_MAX + 1])
{
    int count = 0;
    for (int slot = 0; slot < slot_count; ++slot) {
        listed[count] = (uint16_t)slot; // the next one overwrites who is below
        count += (int16_t)upper[slot] >= cut;
    }
    return count;
}

// keys: 0 behind the last. Of equal ones those listed before come first.
PH_WIDE static void sort_listed(const int32_t keys[PH_BEST_MAX], const uint16_t* listed, int count,
                                uint16_t* best)
{
    for (int i = 0; i < count; ++i) {
        int32_t place = 0;
        for (int j = 0; j < PH_BEST_MAX; ++j) {
            place += keys[j] > keys[i] - (j < i);
        }
        best[place] = listed[i];
    }
}

int ph_best_find(const float* priority, int slot_count, int wanted, uint16_t* upper,
                 uint16_t best[PH_BEST_MAX])
{
    PH_ASSERT(0 < wanted && wanted <= PH_BEST_MAX);
    PH_ASSERT(0 <= slot_count && slot_count <= UINT16_MAX);

    const int16_t cut = find_cut(priority, slot_count, wanted, upper);
    if (cut == 0) {
        return 0;
    }
    uint16_t listed[PH_BEST_MAX + 1];
    int32_t keys[PH_BEST_MAX] = {0};
    const int count = list_from(upper, slot_count, cut, listed);
    for (int i = 0; i < count; ++i) {
        keys[i] = ph_priority_key(priority[listed[i]]);
    }
    sort_listed(keys, listed, count, best);
    return count;
}
