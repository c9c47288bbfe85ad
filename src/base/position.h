// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Positions are 64 bits wide in the contract and 32 bits inside: what the ends of that are.

#ifndef PH_BASE_POSITION_H
#define PH_BASE_POSITION_H

#include <pinhole/base.h>

static inline bool ph_is_coordinate(int64_t coordinate_mm)
{
    return coordinate_mm >= PH_POSITION_MIN_MM && coordinate_mm <= PH_POSITION_MAX_MM;
}

static inline bool ph_is_position(const int64_t position_mm[3])
{
    return ph_is_coordinate(position_mm[0]) && ph_is_coordinate(position_mm[1]) &&
           ph_is_coordinate(position_mm[2]);
}

#endif
