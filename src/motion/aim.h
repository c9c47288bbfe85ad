// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Where an entity should be shown, going by its samples: ahead of them or between them. track.h has
// the drawing. Once per entity and frame, and for schedulers; leaves no trace.

#ifndef PH_MOTION_AIM_H
#define PH_MOTION_AIM_H

#include "motion/track.h"

#include <math.h>

// A point to go to, and how that point moves. All less the newest sample.
typedef struct ph_aim {
    float mm[3];
    float mm_s[3];
    float speed_mm_s; // the highest of the samples that lead there
    float way_mm[3];  // their direction, of any length; 0: none, or it does not go on
} ph_aim;

// The motion carried on to an age_s after the newest sample; before it counts as at it.
void ph_aim_ahead(const ph_track* track, const ph_manner* manner, float age_s, ph_aim* aim);

// Straight between samples; age_s is below zero when the moment lies before the newest.
void ph_aim_between(const ph_track* track, float age_s, ph_aim* aim);

// The newest steps as one that is long enough to tell a velocity. False when there is none since the
// last jump.
bool ph_aim_try_leg(const ph_track* track, ph_step* leg);

#define PH_RADIANS_PER_DEGREE 0.017453293f

// ---- vectors

static inline float ph_dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline float ph_length(const float a[3])
{
    return sqrtf(ph_dot(a, a));
}

#endif
