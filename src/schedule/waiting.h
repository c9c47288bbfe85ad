// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the schedulers have in common: a score is what waiting has earned, so it is gone once a
// record was sent, and comes back on top when that record got lost.

#ifndef PH_SCHEDULE_WAITING_H
#define PH_SCHEDULE_WAITING_H

#include <pinhole/base.h>

#include <string.h>

// The value, or 0. By bits, because compilers make a branch of a condition around a division, and
// ranking runs in vectors.
static inline float ph_only_if(bool is_so, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= -(uint32_t)is_so;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// For ph_scheduler: sent and lost.
float ph_waiting_sent(void* context, float score);
float ph_waiting_lost(void* context, float score, float score_then);

#endif
