// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Differences of coordinates. The world wraps at 2^32 mm: from one side of its edge to the other it
// is a step, not 4,295 km.

#ifndef PINHOLE_KIT_WRAP_H
#define PINHOLE_KIT_WRAP_H

#include <stdint.h>

// The way from one coordinate to another, modulo 2^32.
static inline int32_t ph_wrap_mm(int32_t from_mm, int32_t to_mm)
{
    const uint32_t difference = (uint32_t)to_mm - (uint32_t)from_mm;
    return difference <= INT32_MAX ? (int32_t)difference : -(int32_t)~difference - 1;
}

// The same of two that are in tenths of a millimetre: what is shown lies anywhere within +-2^40 mm.
static inline int64_t ph_wrap_tenths(int64_t from, int64_t to)
{
    const int64_t turn = INT64_C(10) << 32;
    const int64_t rest = (to - from) % turn;
    return rest >= turn / 2 ? rest - turn : rest < -turn / 2 ? rest + turn : rest;
}

#endif
