// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A number of one entity as a client knows it, when its class calls it smooth, and what it shows of it: a
// fuel gauge, the angle of a turret, a component of a vector. Rotations have motion/turn.h.
//
// What is known is the newest sample and a rate. The rate is that of the last step, corrected by a part
// where a sample lies beside the line by no more than rounding explains. It is followed only while it led
// nearer to the samples than their staying would have: so what jitters is shown as it was told. The same
// sample twice says that it stands. A sample that lies further off than the motion so far explains is a
// jump: shown at once, and the rate stays what it was; a second one directly behind it is motion. What is
// shown moves with that and takes the rest of the difference away within some frames. Behind a delay it
// goes straight from sample to sample.
//
// Numbers are counted in steps of their coding. Senders of the pinhole profile estimate by the same arithmetic what
// clients show (replication/shown_smooth.h). Some 12 ns per number and frame; nothing allocates.

#ifndef PH_MOTION_SMOOTH_H
#define PH_MOTION_SMOOTH_H

#include "motion/track.h"

// What numbers of a coding can be.
typedef struct ph_number_scale {
    double top;   // 0..top; of an angle a full turn
    bool is_turn; // an angle: the shorter way round counts
} ph_number_scale;

// What is extrapolated may be so many steps off by rounding alone. A sample that lies nearer to where the rate led
// says little of the rate. (Less than what senders take for right: what they tell because it was wrong is then
// beyond it, whatever the last bit of a float.)
#define PH_NUMBER_ROUNDING 1.5
#define PH_NUMBER_ON_LINE 1.25

// ---- what is known of a number

// {0} knows none.
typedef struct ph_number_motion {
    double value;    // the newest sample; of an angle so many turns on
    double rate;     // per second
    float rated_off; // how far samples lie from where the rate led, faded
    float kept_off;  // and from the sample before
    bool is_there;
    bool has_jumped; // the newest sample was a jump
} ph_number_motion;

// A new sample, so long after the newest one; seconds 0 or less replaces that. @return Whether it is a jump.
bool ph_number_motion_add(ph_number_motion* motion, const ph_number_scale* scale, double value,
                          float seconds);

// Whether it is extrapolated at all.
bool ph_number_motion_goes(const ph_number_motion* motion);

// What it is at an age after the newest sample, if that is followed for limit_s at most. Of an angle any
// number of turns on.
double ph_number_motion_at(const ph_number_motion* motion, const ph_number_scale* scale,
                           float age_s, float limit_s);

// By how much two differ, the shorter way round.
double ph_number_difference(const ph_number_scale* scale, double to, double from);

// ---- the track of a client

#define PH_NUMBER_SAMPLES 6

// {0} knows none.
typedef struct ph_number_track {
    int64_t time_us; // of the newest sample, the server's time
    ph_number_motion motion;
    double shown; // of an angle any number of turns on
    uint8_t count;
    bool is_shown;
    bool has_jumped; // since the last frame
    uint8_t jumps;   // bit i: nothing leads from sample i + 1 to sample i
    // For what is shown with a delay, newest first.
    double values[PH_NUMBER_SAMPLES];
    float seconds[PH_NUMBER_SAMPLES - 1]; // between them
} ph_number_track;

_Static_assert(sizeof(ph_number_track) <= 136, "thousands of them are swept each frame");

// A sample of the same time as the newest replaces it; with an earlier one the track begins again. is_jump:
// its entity was moved there, so that it is shown at once.
void ph_number_track_add(ph_number_track* track, const ph_number_scale* scale, int64_t time_us,
                         double value, bool is_jump);

// What is shown goes on from where another track of the same entity has shown it.
void ph_number_track_go_on(ph_number_track* track, const ph_number_track* former);

// Advances what is shown to this frame: track->shown. There is at least one sample. With a delay, what is
// newer than the newest sample is extrapolated all the same, for limit_s: in the pinhole profile silence says that this
// is right. In classic it says that the number stands, and limit_s is short (ph_motion_model_limit_s()).
void ph_number_track_show(ph_number_track* track, const ph_number_scale* scale, float limit_s,
                          const ph_frame_time* frame);

#endif
