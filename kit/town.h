// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A small town on a slope: streets in a grid, and above them a gallery with a terrace, reached by a
// ramp at each end and by stairs. What people stand on, and the ways they walk.
//
//    y = 120 m  +-----+-----+-----+-----+
//               |     |     |     |     |        + crossings, 60 m apart
//          60   +-----+-----+--s--+-----+        s stairs up to the terrace
//          30   o r===========T=========r o      r ramps, = gallery, T terrace: 6 m above the street,
//           0   +-----+-----+-----+-----+          which goes on below
//               |     |     |     |     |
//         -60   +-----+-----+-----+-----+
//               |     |     |     |     |
//        -120   +-----+-----+-----+-----+
//   x =       -120   -60     0    60   120 m

#ifndef PINHOLE_KIT_TOWN_H
#define PINHOLE_KIT_TOWN_H

#include <pinhole/ground.h>

#include <stdbool.h>

enum {
    PH_TOWN_PLACES = 37,
    PH_TOWN_TEMPLE = 12, // the crossing in the middle
    PH_TOWN_TERRACE = 34,
};

// The gallery's height above the street.
#define PH_TOWN_RISE_MM 6000

// The ground as ph_ground wants it; context is not used. One layer, two where the gallery is above
// the street. Integers only.
int ph_town_layers(const void* context, int64_t x_mm, int64_t y_mm,
                   int64_t heights_mm[PH_GROUND_LAYERS_MAX]);

// The layer nearest to z_mm: where an actor that was there stands now.
int32_t ph_town_stand_mm(int32_t x_mm, int32_t y_mm, int32_t z_mm);

// Whether there is room to run about: on the street, and not in the row of the gallery and its ways
// up, which are narrow.
bool ph_town_is_open(int32_t x_mm, int32_t y_mm, int32_t z_mm);

// The middle of a place, 0..PH_TOWN_PLACES-1. People stand on the top layer there.
void ph_town_find(int place, double* x_mm, double* y_mm);

// The next place on a shortest way; turn, 0 or more, chooses among equally short ones.
// @return goal when from is goal or beside it.
int ph_town_next(int from, int goal, int turn);

#endif
