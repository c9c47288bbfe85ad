// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The direction of a way in the plane, in integers: both ends compute it and must agree to the last
// bit, which no atan2 of a C library promises. Once or twice per record that tells a heading.

#ifndef PH_WIRE_DIRECTION_H
#define PH_WIRE_DIRECTION_H

#include <pinhole/base.h>

// From the x axis towards the y axis, in 1/65536 of a turn, at most 8 of them off. 0 for no way.
uint16_t ph_direction_of(int32_t x, int32_t y);

// The other way round: so far in this direction, rounded to nearest. length 0..65535.
void ph_direction_go(uint16_t direction, int32_t length, int32_t way[2]);

#endif
