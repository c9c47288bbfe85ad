// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Samples come in once per record; what is shown follows them, once per number and frame.

#include "motion/smooth.h"

#include "motion/motion_model.h"

#include <math.h>
#include <string.h>

// Rates are taken over this long at least: a step of the coding in a sixtieth of a second would be 60 a second.
#define RATE_S 0.1f
// Of what a sample lies beside the line within rounding, so much goes into the rate.
#define RATE_SHARE 0.25
// A sample is a jump when it lies further off than so many times what is explained: by the motion, by how
// far samples lie off as a rule, and by so many steps.
#define JUMP_TIMES 2.0
#define JUMP_STEPS 4.0
// A difference so small is none.
#define EXACT_STEPS 1e-3
// Both ends decide alike, also where a compiler rounds otherwise: what is even but for so much is even. Numbers are
// whole steps and times whole ticks, so that it is often even, and hardly ever off by just so much.
#define EVEN_TIMES 1.0007

// ---- what is known

static double number_clamp(const ph_number_scale* scale, double value)
{
    return scale->is_turn ? value : fmin(fmax(value, 0.0), scale->top);
}

double ph_number_difference(const ph_number_scale* scale, double to, double from)
{
    const double difference = to - from;
    return scale->is_turn ? difference - scale->top * floor(difference / scale->top + 0.5)
                          : difference;
}

// Whole turns added to a sample, exactly, so that it lies near to another number.
static double nearest_turn(const ph_number_scale* scale, double value, double other)
{
    return scale->is_turn ? value + scale->top * floor((other - value) / scale->top + 0.5) : value;
}

static float fade_off(float old, double off)
{
    return (2.0f * old + (float)fabs(off)) / 3.0f;
}

bool ph_number_motion_goes(const ph_number_motion* motion)
{
    return motion->rate != 0.0 && motion->rated_off <= motion->kept_off * (float)EVEN_TIMES;
}

// Where it was expected decides what is a jump, and where the rate led decides what becomes of the rate.
static bool learn_rate(ph_number_motion* motion, double value, double expected, float seconds)
{
    const bool goes = ph_number_motion_goes(motion);
    const double kept = value - motion->value;
    const double off = kept - motion->rate * (double)seconds;
    const double over_s = (double)ph_float_max(seconds, RATE_S);
    const double explained = (goes ? fabs(motion->rate) * (double)seconds : 0.0) +
                             (double)(goes ? motion->rated_off : motion->kept_off) + JUMP_STEPS;
    const bool is_jump =
        fabs(value - expected) > EVEN_TIMES * JUMP_TIMES * explained && !motion->has_jumped;
    motion->kept_off = fade_off(motion->kept_off, kept);
    motion->rated_off = fade_off(motion->rated_off, off);
    if (is_jump) {
        return true;
    }
    if (fabs(off) <= EVEN_TIMES * PH_NUMBER_ON_LINE) {
        motion->rate += RATE_SHARE * off / over_s;
    } else {
        motion->rate = kept / over_s;
    }
    return false;
}

bool ph_number_motion_add(ph_number_motion* motion, const ph_number_scale* scale, double value,
                          float seconds)
{
    if (!motion->is_there) {
        memset(motion, 0, sizeof *motion);
        motion->value = value;
        motion->is_there = true;
        return false;
    }
    const double expected =
        ph_number_motion_at(motion, scale, ph_float_max(seconds, 0.0f), seconds);
    const double near = nearest_turn(scale, value, expected);
    if (seconds > 0.0f) {
        motion->has_jumped = learn_rate(motion, near, expected, seconds);
    }
    motion->value = near;
    return seconds > 0.0f && motion->has_jumped;
}

double ph_number_motion_at(const ph_number_motion* motion, const ph_number_scale* scale,
                           float age_s, float limit_s)
{
    if (!ph_number_motion_goes(motion) || age_s <= 0.0f) {
        return motion->value;
    }
    const double reach_s = (double)ph_extrapolated_s(age_s, limit_s);
    return number_clamp(scale, motion->value + motion->rate * reach_s);
}

// ---- the track

static void push_number(ph_number_track* track, float seconds, bool is_jump)
{
    memmove(&track->values[1], &track->values[0],
            (PH_NUMBER_SAMPLES - 1) * sizeof track->values[0]);
    memmove(&track->seconds[1], &track->seconds[0],
            (PH_NUMBER_SAMPLES - 2) * sizeof track->seconds[0]);
    track->seconds[0] = seconds;
    track->jumps = (uint8_t)((unsigned)track->jumps << 1 | (is_jump ? 1u : 0u));
    if (track->count < PH_NUMBER_SAMPLES) {
        ++track->count;
    }
}

void ph_number_track_add(ph_number_track* track, const ph_number_scale* scale, int64_t time_us,
                         double value, bool is_jump)
{
    const float seconds = track->count > 0 ? ph_motion_seconds(time_us - track->time_us) : 0.0f;
    if (track->count > 0 && seconds < 0.0f) {
        *track = (ph_number_track){.shown = track->shown, .is_shown = track->is_shown};
    }
    is_jump |= ph_number_motion_add(&track->motion, scale, value, seconds);
    track->has_jumped |= is_jump;
    if (track->count == 0 || time_us != track->time_us) {
        push_number(track, seconds, is_jump);
    }
    track->values[0] = track->motion.value;
    track->time_us = time_us;
}

void ph_number_track_go_on(ph_number_track* track, const ph_number_track* former)
{
    track->shown = former->shown;
    track->is_shown = former->is_shown;
}

// ---- what is shown

// A time between samples; age_s is below zero.
static double between_numbers(const ph_number_track* track, float age_s)
{
    int i = 0;
    while (i + 1 < track->count && age_s < 0.0f) {
        age_s += track->seconds[i++];
    }
    const double from = track->values[i];
    if (i == 0 || age_s <= 0.0f || (track->jumps >> (i - 1) & 1u) != 0) {
        return from;
    }
    const double share = (double)ph_float_min(age_s / track->seconds[i - 1], 1.0f);
    return from + share * (track->values[i - 1] - from);
}

// What is shown has moved along since the frame before; of what is left of the difference a share goes.
static double approach_number(const ph_number_track* track, const ph_number_scale* scale,
                              double target, double before, float approach)
{
    const double along = track->shown + (target - before);
    const double left = ph_number_difference(scale, along, target) * (double)(1.0f - approach);
    return fabs(left) < EXACT_STEPS ? target : number_clamp(scale, target + left);
}

void ph_number_track_show(ph_number_track* track, const ph_number_scale* scale, float limit_s,
                          const ph_frame_time* frame)
{
    PH_ASSERT(track->count > 0);

    const float age_s = ph_motion_seconds(frame->time_us - track->time_us);
    if (frame->is_delayed && age_s < 0.0f) {
        track->shown = between_numbers(track, age_s);
    } else {
        const double target = ph_number_motion_at(&track->motion, scale, age_s, limit_s);
        if (track->is_shown && !track->has_jumped && !frame->is_delayed) {
            const double before =
                ph_number_motion_at(&track->motion, scale, age_s - frame->elapsed_s, limit_s);
            track->shown = approach_number(track, scale, target, before, frame->approach);
        } else {
            track->shown = target;
        }
    }
    track->is_shown = true;
    track->has_jumped = false;
}
