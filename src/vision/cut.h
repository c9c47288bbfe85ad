// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Distances as short keys, and the search for the key of a rank among many: once per viewer and refresh,
// unless the cut is where it was expected (sweep.h).
//
// A key is the bits of a float that is not negative, which as integers have the same order.

#ifndef PH_VISION_CUT_H
#define PH_VISION_CUT_H

#include <pinhole/base.h>

#include <string.h>

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

// Lists who is marked, where most are not: these are passed over by four. Both arrays have room for
// PH_MARKS_STEP more. @return How many.
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

#endif
