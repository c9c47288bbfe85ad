// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The rotation of one entity in space as a client knows it, and what it shows of it.
//
// What is known is the newest rotation and the spin, taken over a tenth of a second at least because
// rotations are rounded. The spin is extrapolated from the newest sample to the present; what is shown
// turns with that and takes the rest of the difference away within some frames, always the shorter way
// round. Behind a delay it goes straight from sample to sample.
//
// Rotations are unit quaternions x, y, z, w; q and -q are the same. Spins are in radians per second,
// about an axis of the world. The arithmetic is that of both ends: senders estimate by it what clients
// show (replication/shown_turn.h), so nothing of the C library is used but the square root and rounding,
// which are exact. Some 60 ns per entity and frame; nothing allocates.

#ifndef PH_MOTION_TURN_H
#define PH_MOTION_TURN_H

#include "motion/track.h"

// ---- arithmetic

// a = b * c: first c, then b. a may be b or c.
void ph_turn_multiply(const float b[4], const float c[4], float a[4]);

// The rotation by a vector: about its direction, by its length in radians.
void ph_turn_of_vector(const float vector[3], float rotation[4]);

// The vector that leads from one rotation to another, of length 0 to pi: vector, then from, is to.
void ph_turn_between(const float from[4], const float to[4], float vector[3]);

// The angle between two, 0..pi.
float ph_turn_angle(const float a[4], const float b[4]);

// How far a point of the unit sphere around it moves at most between two: 0..2.
float ph_turn_chord(const float a[4], const float b[4]);

// Where +x points on the plane: 0 <= degrees < 360, from +x towards +y.
float ph_turn_heading(const float rotation[4]);

// ---- what is known of a rotation

// {0} knows none.
typedef struct ph_turn_motion {
    float rotation[4]; // the newest sample
    float spin[3];
    bool is_there;
    bool has_spin; // of two samples, or of a spin that was said
} ph_turn_motion;

// A new sample, so long after the newest one; seconds 0 or less replaces that. is_jump: nothing leads
// there.
void ph_turn_motion_add(ph_turn_motion* motion, const float rotation[4], float seconds,
                        bool is_jump);

// As if it had been seen to turn so far in so many seconds.
void ph_turn_motion_set_spin(ph_turn_motion* motion, const float turned[4], float seconds);

// Where it is at an age after the newest sample, if that is followed for limit_s at most.
void ph_turn_motion_at(const ph_turn_motion* motion, float age_s, float limit_s, float rotation[4]);

// ---- the track of a client

#define PH_TURN_SAMPLES 6

// {0} knows none.
typedef struct ph_turn_track {
    int64_t time_us; // of the newest sample, the server's time
    ph_turn_motion motion;
    float shown[4];
    uint8_t count;
    bool is_shown;
    bool has_jumped; // since the last frame
    uint8_t jumps;   // bit i: nothing leads from sample i + 1 to sample i
    // For what is shown with a delay, newest first.
    float rotations[PH_TURN_SAMPLES][4];
    float seconds[PH_TURN_SAMPLES - 1]; // between them
} ph_turn_track;

_Static_assert(sizeof(ph_turn_track) <= 192, "thousands of them are swept each frame");

// A sample of the same time as the newest replaces it; with an earlier one the track begins again.
void ph_turn_track_add(ph_turn_track* track, int64_t time_us, const float rotation[4],
                       bool is_jump);

// What is shown goes on from where another track of the same entity has shown it.
void ph_turn_track_go_on(ph_turn_track* track, const ph_turn_track* former);

// Advances what is shown to this frame: track->shown. There is at least one sample.
void ph_turn_track_show(ph_turn_track* track, float limit_s, const ph_frame_time* frame);

#endif
