// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How the entities of one class move, as a client learns it from their samples: how far ahead a
// velocity is worth following, how long a silence must last to mean that an entity stands, how fast
// a newcomer is that has shown nothing but its heading. Walkers keep their direction for seconds, cars
// on a field for half a second; and whether the sender is silent because nothing moves or because it
// has no bits left, only its pacing tells. Clients show by these numbers (track.c), and senders
// estimate by them what clients show (replication/shown_estimate.c, shown_error.c). A few dozen
// numbers for each class, some arithmetic for each sample. The figures in the comments are error_mrad
// of the recordings of walkers and cars; docs/motion.md has the tables.

#ifndef PH_MOTION_MOTION_MODEL_H
#define PH_MOTION_MOTION_MODEL_H

#include <pinhole/base.h>

#include <stdint.h>
#include <string.h>

// ---- extrapolation

// Velocities are taken over at least this long or this far, if samples come more often: positions
// are rounded, and 16 mm in 50 ms are 0.3 m/s.
#define PH_LEG_S 0.08f // unless the schema says otherwise
#define PH_LEG_MM 200.0f
// How much of the last change of velocity is expected once more, when rounding is taken out of it. Fitted
// by least absolute error, with rounding: 0.4 to 0.65 on cars, 0.2 to 0.45 on walkers, whose steps sway;
// and it must not be used far ahead or after long intervals, where it makes things worse than no bend at
// all. Between the two bounds it fades.
#define PH_BEND 0.55f // unless the schema says otherwise
#define PH_BEND_FULL_AGE_S 0.25f
#define PH_BEND_LAST_AGE_S 0.45f
#define PH_BEND_FULL_SPAN_S 0.6f
#define PH_BEND_LAST_SPAN_S 1.2f
// An entity that is silent for too long first stops where it is shown, then goes back to its sample.
// Without the pause every sample that was only late would first draw it backwards.
#define PH_PAUSE_S 0.5f
#define PH_RETURN_S 1.0f

// The arithmetic that both ends share is inline: loops of shown_error.c over hundreds of slots per send
// are vectorised over it.

// One instruction: unlike fminf and fmaxf, they ignore NaN.
static inline float ph_float_min(float a, float b)
{
    return a < b ? a : b;
}

static inline float ph_float_max(float a, float b)
{
    return a > b ? a : b;
}

// Clamped to 0..1. By the bits, which have the order of the floats: compilers make branches of two
// comparisons of floats, and branches prevent vectorisation.
static inline float ph_float_clamp01(float value)
{
    const int32_t one = INT32_C(0x3F800000);
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = bits > 0 ? bits : 0;
    bits = bits < one ? bits : one;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// 1 up to full, 0 from last on, linear between.
static inline float ph_fade(float value, float full, float last)
{
    return ph_float_clamp01((last - value) / (last - full));
}

// How many seconds of the last velocity to add at an age: up to the limit, there for a while, then
// back to 0.
static inline float ph_extrapolated_s(float age_s, float limit_s)
{
    const float left = 1.0f - (age_s - limit_s - PH_PAUSE_S) / PH_RETURN_S;
    return ph_float_min(age_s, limit_s) * ph_float_clamp01(left);
}

// What the last change of velocity adds at first, as a share of it: by how long the last leg and the
// one before it took.
static inline float ph_bend_share(float bend, float last_s, float former_s)
{
    const float span_s = last_s + former_s;
    return bend * (2.0f * last_s / span_s) *
           ph_float_clamp01((PH_BEND_LAST_SPAN_S - span_s) /
                            (PH_BEND_LAST_SPAN_S - PH_BEND_FULL_SPAN_S));
}

// A step that was halved so often.
static inline float ph_finer_step(float step_mm, int finer)
{
    return step_mm / (float)(1 << finer);
}

// What is left of a change of velocity when rounding is taken out of it, as a share. Each of the three
// samples is wrong by a twelfth of a step squared, along x and along y, and the middle one counts for both
// velocities: so much looks like a change where there is none. On walkers this is worth 1.3 % at 13 kbit/s,
// 4 % at 26, in towns 5 %; twice as much of it 2 %, but cars on a track lose as much. change2: the square
// of the change, in (mm/s)^2; the steps of the newest sample and of those before it.
static inline float ph_bend_trust(float change2, float last_s, float former_s, float step_mm,
                                  float former_step_mm)
{
    const float last = 1.0f / last_s;
    const float former = 1.0f / former_s;
    const float noise2 =
        (2.0f / 12.0f) *
        (step_mm * step_mm * last * last +
         former_step_mm * former_step_mm * ((last + former) * (last + former) + former * former));
    return change2 > 0.0f ? ph_float_clamp01(1.0f - noise2 / change2) : 0.0f;
}

// ---- what is learned

// Intervals shorter than a tenth of a second are due to the sender's pacing, not to the entity.
#define PH_INTERVAL_BASE_S 0.1f
// Of senders that vouch for velocities. With silence taken for standing, walkers at 4 kbit/s with a
// fifth of the packets lost, with seconds between samples, had 9.3 jolts a minute; with 4 s
// 6.9, 8 s 2.8, 15 s or for ever 2.5.
#define PH_VOUCHED_LIMIT_S 15.0f
// Ages from 1/8 s, doubling: 1/8, 1/4 ... 8 s.
#define PH_MOTION_MODEL_AGES 7

typedef struct ph_motion_model {
    // By age: how much of the displacement that the last velocity predicted came true, as a sum of
    // products over a sum of squares. Old samples fade.
    float products[PH_MOTION_MODEL_AGES];
    float squares[PH_MOTION_MODEL_AGES];
    float interval_limit; // 99 of 100 samples come within so many intervals of the last one
    float usual_pause_s;  // 9 of 10 samples come within so long of the last one
    float first_pause_s;  // 9 of 10 newcomers that move have their second sample within
    float forward_mm_s;   // speed of newcomers along the heading, on average
    float newcomers;      // that entered; old ones fade
    float movers;         // of these: with a second sample within the usual pause
    // The sender vouches for velocities: it is silent as long as they hold, and sends what stops. So
    // samples are a biased measure of them, and silence means nothing: velocities are followed in
    // full, and for longer than any silence but that of a dead link.
    bool is_vouched;
    float step_mm; // of its positions, halved for finer samples; 0: they are exact
    float bend;    // of its class in the schema, or PH_BEND
    float leg_s;   // the same, or PH_LEG_S
} ph_motion_model;

// Knows nothing yet: follows velocities in full.
ph_motion_model ph_motion_model_make(void);

// The share of a velocity to follow to reach an age, 0..1.1.
float ph_motion_model_share(const ph_motion_model* motion_model, float age_s);

// What a time between samples is in the arithmetic of both ends: bit for bit the same, because they decide by it.
static inline float ph_motion_seconds(int64_t us)
{
    return (float)us * 1e-6f;
}

// How long after a sample, which came interval_s after the one before, its entity still moves.
static inline float ph_motion_model_limit_s(const ph_motion_model* motion_model, float interval_s)
{
    return motion_model->is_vouched
               ? PH_VOUCHED_LIMIT_S
               : motion_model->interval_limit * (interval_s + PH_INTERVAL_BASE_S);
}

// The velocity along its heading to expect of a newcomer; 0 unless most of them move.
float ph_motion_model_forward(const ph_motion_model* motion_model);

// ---- what a new sample teaches

// predicted_mm: the last velocity times pause_s, the time since the last sample; moved_mm: the
// displacement that came.
void ph_motion_model_learn_displacement(ph_motion_model* motion_model, const float predicted_mm[3],
                                        const float moved_mm[3], float pause_s);

void ph_motion_model_learn_pause(ph_motion_model* motion_model, float pause_s, float interval_s);

// An entity entered; and its second sample came: how long after, how fast it went along its heading.
// One that took longer than usual stood at first.
void ph_motion_model_learn_newcomer(ph_motion_model* motion_model);

void ph_motion_model_learn_second(ph_motion_model* motion_model, float pause_s, float forward_mm_s);

#endif
