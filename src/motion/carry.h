// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How far motion is carried on beyond its samples: the numbers that clients show by (aim.c), and by
// which senders foretell what they show (src/world/expectation.c, errors.c). The figures in the
// comments are error_mrad of the recordings of walkers and cars; docs/motion.md has the tables.

#ifndef PH_MOTION_CARRY_H
#define PH_MOTION_CARRY_H

#include <stdint.h>
#include <string.h>

// Velocities are taken over at least this long or this far, if samples come more often: positions
// are rounded, and 16 mm in 50 ms are 0.3 m/s.
#define PH_LEG_S 0.08f
#define PH_LEG_MM 200.0f

// How much of the last change of velocity is expected once more. Fitted by least absolute error: 0.4
// to 0.65 on cars, 0.2 to 0.45 on walkers, whose steps sway; and it must not be used far ahead or
// after long intervals, where it makes things worse than no bend at all. Between the two bounds it
// fades.
#define PH_BEND 0.5f
#define PH_BEND_FULL_AGE_S 0.25f
#define PH_BEND_LAST_AGE_S 0.45f
#define PH_BEND_FULL_SPAN_S 0.6f
#define PH_BEND_LAST_SPAN_S 1.2f

// Who is silent for too long first stops where it is shown, then goes back to its sample. Without the
// pause everybody who was only late would first be drawn backwards.
#define PH_PAUSE_S 0.5f
#define PH_RETURN_S 1.0f

// Of numbers: in one instruction, while those of the C library also think of what is none.
static inline float ph_lesser(float a, float b)
{
    return a < b ? a : b;
}

static inline float ph_greater(float a, float b)
{
    return a > b ? a : b;
}

// No less than 0 and no more than 1: by bits, which have the order of what they are the bits of. Of
// two comparisons of floats compilers make branches, which no vector can take.
static inline float ph_carry_share(float value)
{
    const int32_t one = INT32_C(0x3F800000);
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = bits > 0 ? bits : 0;
    bits = bits < one ? bits : one;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// 1 up to full, 0 from last on, straight between.
static inline float ph_carry_fade(float value, float full, float last)
{
    return ph_carry_share((last - value) / (last - full));
}

// Time as far as motion follows it: on to the limit, there for a while, then back to 0.
static inline float ph_carry_reach_s(float age_s, float limit_s)
{
    const float left = 1.0f - (age_s - limit_s - PH_PAUSE_S) / PH_RETURN_S;
    return ph_lesser(age_s, limit_s) * ph_carry_share(left);
}

// What the last change of velocity adds at first, as a share of it: by how long the last leg and the
// one before it took.
static inline float ph_carry_bend(float last_s, float former_s)
{
    const float span_s = last_s + former_s;
    return PH_BEND * (2.0f * last_s / span_s) *
           ph_carry_fade(span_s, PH_BEND_FULL_SPAN_S, PH_BEND_LAST_SPAN_S);
}

#endif
