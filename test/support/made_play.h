// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A made-up truth and made-up clients that show it badly in every way there is: late, shaken, with
// gaps, ghosts and jolts. For checks of the meter. The same in every run of a program.
//
// Walkers on a square of 300 m; some go away and come back, some teleport. The first
// MADE_PLAY_VIEWERS of them walk furthest; the next one runs further still, but is not there for
// 10 s, so it is no viewer.

#ifndef PINHOLE_TEST_MADE_PLAY_H
#define PINHOLE_TEST_MADE_PLAY_H

#include "kit/meter.h"
#include "support/test_support.h"

enum {
    MADE_PLAY_ENTITIES = 60,
    MADE_PLAY_VIEWERS = 4,
    MADE_PLAY_RATE_HZ = 8,
    MADE_PLAY_TICKS = 50 * MADE_PLAY_RATE_HZ,
    MADE_PLAY_RADIUS_M = 100,
    MADE_PLAY_SLOTS = 15, // fewer than are within the radius
    MADE_PLAY_LATE_TICKS = 2,
};

// The truth of one tick.
typedef struct made_tick {
    bool present[MADE_PLAY_ENTITIES];
    int32_t x_mm[MADE_PLAY_ENTITIES];
    int32_t y_mm[MADE_PLAY_ENTITIES];
    int32_t z_mm[MADE_PLAY_ENTITIES];
    float heading_deg[MADE_PLAY_ENTITIES]; // whole tenths
    bool is_jump[MADE_PLAY_ENTITIES];
} made_tick;

// What one client shows at one tick.
typedef struct made_frame {
    ph_shown shown[MADE_PLAY_ENTITIES];
    int count;
} made_frame;

typedef struct made_play {
    made_tick ticks[MADE_PLAY_TICKS];
    made_frame frames[MADE_PLAY_VIEWERS][MADE_PLAY_TICKS];
} made_play;

void made_play_init(made_play* play, uint64_t seed);

ph_truth_moment made_play_moment(const made_play* play, int tick);

// Steps a history of its own and the meters of the viewers first..last through the play; *figures
// is the sum of theirs. The caller destroys it.
void made_play_measure(const made_play* play, int first, int last, ph_figures* figures);

#endif
