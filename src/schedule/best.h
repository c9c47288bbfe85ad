// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The best few of many, in order. A packet of the classic profile tells of some thirty of 250: those are
// found, and the others are not put in any order at all. Once per send, in half a microsecond.

#ifndef PH_SCHEDULE_BEST_H
#define PH_SCHEDULE_BEST_H

#include <pinhole/base.h>

#include <string.h>

// The bits of a positive float, read as an integer, have its order and grow with its logarithm. Above
// infinity are only those of what is no number, below 1 only 0 and the negative.
#define PH_PRIORITY_KEY_MAX INT32_C(0x7F800000)

static inline int32_t ph_priority_key(float priority)
{
    int32_t key;
    memcpy(&key, &priority, sizeof key);
    return key;
}

#define PH_BEST_MAX 64

// Finds those of the highest priorities, at least `wanted` of them (1..PH_BEST_MAX): descending, equal ones by
// ascending slot. upper has room for slot_count, 0..65535. Priorities of 0 or less and NaN do not count.
// @return How many are in best; or 0 when so few cannot be told from others, or there are not so many at all.
int ph_best_find(const float* priority, int slot_count, int wanted, uint16_t* upper,
                 uint16_t best[PH_BEST_MAX]);

#endif
