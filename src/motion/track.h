// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The motion of one entity as a client knows it, and what it shows of it.
//
//            known                      shown now              shown with a delay
//   o-----o-------o                o-----o-------o . . x      o-----o--x----o
//   p2    p1      p0 newest                p0 carried on           between samples
//
// Now: the last velocity, bent a little by the change of velocity before it, is followed from the
// newest sample to the present; for as long as samples of this class usually keep coming, then back
// to the sample, for who is silent stands. What is shown goes to that point without leaps: at a
// limited speed, hardly ever backwards. Differences that would take too long are shown as one leap,
// teleports at once.
// Delayed: straight between samples, exactly; standing where they end.
//
// Positions are differences to the newest sample, in floats: exact to 1 mm within 16 km, and the
// world may wrap. Some 70 ns per entity and frame; nothing allocates. docs/motion.md says what else
// was tried.

#ifndef PH_MOTION_TRACK_H
#define PH_MOTION_TRACK_H

#include "motion/bearing.h"
#include "motion/manner.h"

#define PH_TRACK_STEPS 5

// From one sample to the next.
typedef struct ph_step {
    float mm[3];
    float seconds; // above 0
} ph_step;

// {0} knows no sample.
typedef struct ph_track {
    int64_t time_us; // of the newest sample, the server's time
    int32_t newest_mm[3];
    float shown_mm[3]; // less newest_mm
    ph_bearing bearing;
    uint8_t count;        // samples, 0..PH_TRACK_STEPS + 1
    uint8_t jumps;        // bit i: steps[i] was a jump
    uint8_t unseen_jumps; // of these: not shown yet
    bool is_shown;
    ph_step steps[PH_TRACK_STEPS]; // newest first; count - 1 of them are known
} ph_track;

_Static_assert(sizeof(ph_track) <= 160, "thousands of them are swept each frame");

typedef struct ph_sample {
    int64_t time_us; // the server's time
    int32_t position_mm[3];
    bool is_jump; // did not come here by moving
} ph_sample;

// A new position. One of the same moment as the newest takes its place; with an earlier one the track
// begins again. The manner of the entity's class learns from it; a heading of the same moment is
// added first. Times lie within PH_MOMENT_US_MAX of 0.
void ph_track_add(ph_track* track, ph_manner* manner, const ph_sample* sample);

// The first position of an entity, and how it came there: as if the step had been seen. Nothing is
// learned, for nobody had to guess.
void ph_track_begin(ph_track* track, const ph_sample* sample, const ph_step* step);

void ph_track_add_heading(ph_track* track, int64_t time_us, float degrees);

// Where the entity will be at some time, going by its samples: offset_mm is to be added to
// newest_mm. There is at least one sample. No trace is left: for schedulers, too.
void ph_track_predict(const ph_track* track, const ph_manner* manner, int64_t time_us,
                      float offset_mm[3]);

// Moves what is shown on to this moment. There is at least one sample.
void ph_track_show(ph_track* track, const ph_manner* manner, const ph_moment* moment);

// What was shown last, within the world: -2^31 <= it < 2^31.
void ph_track_position(const ph_track* track, double position_mm[3]);

#endif
