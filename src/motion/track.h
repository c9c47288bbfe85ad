// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The motion of one entity as a client knows it, and what it shows of it.
//
//            known                    shown now                 shown with a delay
//   o-----o-------o            o-----o-------o . . x            o-----o--x----o
//   p2    p1      p0 newest             extrapolated             interpolated
//
// Now: the last velocity, bent a little by the change of velocity before it, is extrapolated from the
// newest sample to the present; for as long as samples of this class usually keep coming, then back
// to the sample, because silence means that the entity stands. What is shown approaches that point
// smoothly: at a limited speed, hardly ever backwards. Differences that would take too long are shown
// as one jump, teleports at once.
// Delayed: straight between samples, exactly; standing where they end.
//
// Positions are differences to the newest sample, in floats: exact to 1 mm within 16 km, and the
// world may wrap. Some 70 ns per entity and frame; nothing allocates. docs/motion.md says what else
// was tried.

#ifndef PH_MOTION_TRACK_H
#define PH_MOTION_TRACK_H

#include "motion/motion_model.h"

#include <pinhole/base.h>

// ---- one frame of what a client shows; made once per frame, used for every entity

typedef struct ph_frame_time {
    int64_t time_us;     // the server's time that is shown; a delay is already taken off
    float elapsed_s;     // since the frame before
    float approach;      // share of a difference of positions that this frame takes away
    float turn_approach; // the same of headings
    bool is_delayed;     // interpolated instead of extrapolated
} ph_frame_time;

// delay_us 0: now. Time that went back counts as none.
ph_frame_time ph_frame_time_make(int64_t server_us, int64_t elapsed_us, int64_t delay_us);

// ---- heading

// Always the shortest turn. A turn is extrapolated for a short time only: headings are sent when they
// change, so silence means that the turn is over. Some 15 ns per entity and frame.
#define PH_HEADING_SAMPLES 3

// {0} knows none.
typedef struct ph_heading_track {
    int64_t time_us;                       // of the newest sample
    float degrees[PH_HEADING_SAMPLES];     // newest first, 0 <= it < 360
    float seconds[PH_HEADING_SAMPLES - 1]; // between them
    float shown;                           // 0 <= it < 360
    uint8_t count;
    bool is_shown;
} ph_heading_track;

_Static_assert(sizeof(ph_heading_track) <= 40, "thousands of them are swept each frame");

// degrees: any finite number. A sample of the same time as the newest replaces it; with an earlier
// one the track begins again.
void ph_heading_track_add(ph_heading_track* heading, int64_t time_us, float degrees);

// Advances what is shown to this frame: heading->shown. There is at least one sample.
void ph_heading_track_show(ph_heading_track* heading, const ph_frame_time* frame);

// ---- position and heading

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
    ph_heading_track heading;
    uint8_t count;        // samples, 0..PH_TRACK_STEPS + 1
    uint8_t jumps;        // bit i: steps[i] was a jump
    uint8_t unseen_jumps; // of these: not shown yet
    bool is_shown;
    uint8_t finer;                 // of the newest sample
    uint8_t former_finer;          // of the one before
    ph_step steps[PH_TRACK_STEPS]; // newest first; count - 1 of them are known
} ph_track;

_Static_assert(sizeof(ph_track) <= 160, "thousands of them are swept each frame");

typedef struct ph_sample {
    int64_t time_us; // the server's time
    int32_t position_mm[3];
    bool is_jump;  // did not come here by moving
    uint8_t finer; // the step of its class was halved so often for it
} ph_sample;

// A new position. One of the same time as the newest replaces it; with an earlier one the track
// begins again. The motion model of the entity's class learns from it; a heading of the same time is
// added first. Times lie within PH_TIME_US_MAX of 0.
void ph_track_add(ph_track* track, ph_motion_model* motion_model, const ph_sample* sample);

// The first position of an entity, and how it came there: as if the step had been seen. The class
// learns nothing, because there was nothing to predict.
void ph_track_begin(ph_track* track, const ph_sample* sample, const ph_step* step);

// What is shown goes on from where another track of the same entity has shown it, by whatever clock that was. There is
// at least one sample.
void ph_track_go_on(ph_track* track, const ph_track* former);

// Where an entity should be shown, and how that point moves. All less the newest sample.
typedef struct ph_motion_target {
    float mm[3];
    float mm_s[3];
    float speed_mm_s;      // the highest of the samples that lead there
    float direction_mm[3]; // theirs, of any length; 0: none, or it does not go on
} ph_motion_target;

// At an age_s after the newest sample; before it counts as at it. There is at least one sample.
void ph_track_extrapolate(const ph_track* track, const ph_motion_model* motion_model, float age_s,
                          ph_motion_target* target);

// Straight between samples; age_s is below zero when the time lies before the newest.
void ph_track_interpolate(const ph_track* track, float age_s, ph_motion_target* target);

// Advances what is shown to this frame. There is at least one sample.
void ph_track_show(ph_track* track, const ph_motion_model* motion_model,
                   const ph_frame_time* frame);

// What was shown last, within the world: -2^31 <= it < 2^31.
void ph_track_position(const ph_track* track, double position_mm[3]);

#endif
