// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The heading of one entity as a client knows and shows it, always the shortest way round. A turn is
// carried on for a moment only: headings are sent when they change, so silence means that the turn
// is over. Some 15 ns per entity and frame; nothing allocates.

#ifndef PH_MOTION_BEARING_H
#define PH_MOTION_BEARING_H

#include "motion/moment.h"

#define PH_BEARING_SAMPLES 3

// {0} knows none.
typedef struct ph_bearing {
    int64_t time_us;                       // of the newest sample
    float degrees[PH_BEARING_SAMPLES];     // newest first, 0 <= it < 360
    float seconds[PH_BEARING_SAMPLES - 1]; // between them
    float shown;                           // 0 <= it < 360
    uint8_t count;
    bool is_shown;
} ph_bearing;

_Static_assert(sizeof(ph_bearing) <= 40, "thousands of them are swept each frame");

// degrees: any finite number. A sample of the same moment as the newest takes its place; with an
// earlier one the bearing begins again.
void ph_bearing_add(ph_bearing* bearing, int64_t time_us, float degrees);

// Moves what is shown on to this moment: bearing->shown. There is at least one sample.
void ph_bearing_show(ph_bearing* bearing, const ph_moment* moment);

#endif
