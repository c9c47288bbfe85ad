// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Samples come in once per record; what is shown follows them, once per entity and frame.

#include "motion/turn.h"

#include <math.h>
#include <string.h>

#define PI_F 3.14159265f
#define QUARTER_TURN 1.57079633f
// Spins are taken over this long at least: a step of the coding in a twentieth of a second is 11
// degrees a second.
#define SPIN_S 0.1f
// What has come on top of a spin since the last sample is more by now than on average since then: cars at 13
// kbit/s 10.1 degrees instead of 10.4. The spin in full: with 0.8 of it cars had 16.5 degrees instead of 15.5,
// and with less of it the later two degrees more.
#define SPIN_GAIN 1.2f
// What turns slower stands: rounding turns what does not turn at all.
#define LEAST_SPIN 0.02f
// A difference so small is none.
#define EXACT_RADIANS 1e-4f

// ---- arithmetic

void ph_turn_multiply(const float b[4], const float c[4], float a[4])
{
    const float product[4] = {
        b[3] * c[0] + b[0] * c[3] + b[1] * c[2] - b[2] * c[1],
        b[3] * c[1] + b[1] * c[3] + b[2] * c[0] - b[0] * c[2],
        b[3] * c[2] + b[2] * c[3] + b[0] * c[1] - b[1] * c[0],
        b[3] * c[3] - b[0] * c[0] - b[1] * c[1] - b[2] * c[2],
    };
    memcpy(a, product, sizeof product);
}

static void normalise_turn(float rotation[4])
{
    float square = 0.0f;
    for (int k = 0; k < 4; ++k) {
        square += rotation[k] * rotation[k];
    }
    const float scale = square > 0.0f ? 1.0f / sqrtf(square) : 0.0f;
    for (int k = 0; k < 4; ++k) {
        rotation[k] *= scale;
    }
}

// Of -a quarter turn to a quarter turn: 10^-7 off.
static float turn_sine(float radians)
{
    const float x2 = radians * radians;
    return radians *
           (1.0f -
            x2 / 6.0f *
                (1.0f -
                 x2 / 20.0f * (1.0f - x2 / 42.0f * (1.0f - x2 / 72.0f * (1.0f - x2 / 110.0f)))));
}

// Of a slope 0..1, halved once: then the series is 10^-6 off.
static float turn_arc_tangent(float slope)
{
    const float half = slope / (1.0f + sqrtf(1.0f + slope * slope));
    const float s2 = half * half;
    return 2.0f * half *
           (1.0f -
            s2 * (1.0f / 3.0f -
                  s2 * (1.0f / 5.0f - s2 * (1.0f / 7.0f - s2 * (1.0f / 9.0f - s2 / 11.0f)))));
}

static float turn_length(const float vector[3])
{
    return sqrtf(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

void ph_turn_of_vector(const float vector[3], float rotation[4])
{
    const float radians = turn_length(vector);
    // Half of it, without half turns: those only change the sign.
    const float half = 0.5f * radians;
    const float rest = half - PI_F * floorf(half / PI_F + 0.5f);
    const float scale = radians > 1e-6f ? turn_sine(rest) / radians : 0.5f;
    for (int k = 0; k < 3; ++k) {
        rotation[k] = scale * vector[k];
    }
    rotation[3] = turn_sine(QUARTER_TURN - fabsf(rest));
}

// Half the angle of a rotation whose vector part has this length.
static float half_angle(float length, float real)
{
    const float across = fabsf(real);
    return length <= across ? turn_arc_tangent(across > 0.0f ? length / across : 0.0f)
                            : QUARTER_TURN - turn_arc_tangent(across / length);
}

static void turn_difference(const float from[4], const float to[4], float difference[4])
{
    const float back[4] = {-from[0], -from[1], -from[2], from[3]};
    ph_turn_multiply(to, back, difference);
}

void ph_turn_between(const float from[4], const float to[4], float vector[3])
{
    float difference[4];
    turn_difference(from, to, difference);
    const float length = turn_length(difference);
    const float angle = 2.0f * half_angle(length, difference[3]);
    // q and -q are the same: the one with the positive real part is the shorter way.
    const float sign = difference[3] < 0.0f ? -1.0f : 1.0f;
    const float scale = length > 1e-9f ? sign * angle / length : 0.0f;
    for (int k = 0; k < 3; ++k) {
        vector[k] = scale * difference[k];
    }
}

float ph_turn_angle(const float a[4], const float b[4])
{
    float difference[4];
    turn_difference(a, b, difference);
    return 2.0f * half_angle(turn_length(difference), difference[3]);
}

float ph_turn_chord(const float a[4], const float b[4])
{
    float difference[4];
    turn_difference(a, b, difference);
    return 2.0f * ph_float_min(turn_length(difference), 1.0f);
}

float ph_turn_heading(const float rotation[4])
{
    const float* q = rotation;
    const float x = 1.0f - 2.0f * (q[1] * q[1] + q[2] * q[2]);
    const float y = 2.0f * (q[0] * q[1] + q[2] * q[3]);
    const float degrees = atan2f(y, x) * (180.0f / PI_F);
    const float turned = degrees < 0.0f ? degrees + 360.0f : degrees;
    return turned < 360.0f ? turned : 0.0f;
}

// ---- what is known

static void stop_spin(ph_turn_motion* motion, bool is_known)
{
    memset(motion->spin, 0, sizeof motion->spin);
    motion->has_spin = is_known;
}

// By how far it came from where it was expected: after a long silence it may have turned more than once.
static void learn_spin(ph_turn_motion* motion, const float rotation[4], float seconds)
{
    // The same again says that it stands.
    if (memcmp(motion->rotation, rotation, sizeof motion->rotation) == 0) {
        stop_spin(motion, true);
        return;
    }
    float expected[4];
    float off[3];
    ph_turn_motion_at(motion, seconds, seconds, expected);
    ph_turn_between(expected, rotation, off);
    const float over_s = ph_float_max(seconds, SPIN_S);
    for (int k = 0; k < 3; ++k) {
        motion->spin[k] += SPIN_GAIN * off[k] / over_s;
    }
    motion->has_spin = true;
    if (turn_length(motion->spin) < LEAST_SPIN) {
        stop_spin(motion, true);
    }
}

void ph_turn_motion_add(ph_turn_motion* motion, const float rotation[4], float seconds,
                        bool is_jump)
{
    if (!motion->is_there || is_jump) {
        stop_spin(motion, false);
    } else if (seconds > 0.0f) {
        learn_spin(motion, rotation, seconds);
    }
    memcpy(motion->rotation, rotation, sizeof motion->rotation);
    motion->is_there = true;
}

void ph_turn_motion_set_spin(ph_turn_motion* motion, const float turned[4], float seconds)
{
    static const float UNTURNED[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    ph_turn_between(UNTURNED, turned, motion->spin);
    for (int k = 0; k < 3; ++k) {
        motion->spin[k] /= seconds;
    }
    motion->has_spin = true;
}

void ph_turn_motion_at(const ph_turn_motion* motion, float age_s, float limit_s, float rotation[4])
{
    if (!motion->has_spin || age_s <= 0.0f) {
        memcpy(rotation, motion->rotation, sizeof motion->rotation);
        return;
    }
    const float reach_s = ph_extrapolated_s(age_s, limit_s);
    const float vector[3] = {motion->spin[0] * reach_s, motion->spin[1] * reach_s,
                             motion->spin[2] * reach_s};
    ph_turn_of_vector(vector, rotation);
    ph_turn_multiply(rotation, motion->rotation, rotation);
}

// ---- the track

// Keeps a new sample for what is shown with a delay.
static void push_rotation(ph_turn_track* track, const float rotation[4], float seconds,
                          bool is_jump)
{
    memmove(track->rotations[1], track->rotations[0],
            (PH_TURN_SAMPLES - 1) * sizeof track->rotations[0]);
    memmove(&track->seconds[1], &track->seconds[0],
            (PH_TURN_SAMPLES - 2) * sizeof track->seconds[0]);
    track->seconds[0] = seconds;
    track->jumps = (uint8_t)((unsigned)track->jumps << 1 | (is_jump ? 1u : 0u));
    memcpy(track->rotations[0], rotation, sizeof track->rotations[0]);
    if (track->count < PH_TURN_SAMPLES) {
        ++track->count;
    }
}

void ph_turn_track_add(ph_turn_track* track, int64_t time_us, const float rotation[4], bool is_jump)
{
    const float seconds = track->count > 0 ? ph_motion_seconds(time_us - track->time_us) : 0.0f;
    if (track->count > 0 && seconds < 0.0f) {
        const ph_turn_track before = *track;
        *track = (ph_turn_track){.is_shown = before.is_shown};
        memcpy(track->shown, before.shown, sizeof track->shown);
    }
    track->has_jumped |= is_jump;
    ph_turn_motion_add(&track->motion, rotation, seconds, is_jump);
    if (track->count > 0 && time_us == track->time_us) {
        memcpy(track->rotations[0], rotation, sizeof track->rotations[0]);
        return;
    }
    push_rotation(track, rotation, seconds, is_jump);
    track->time_us = time_us;
}

void ph_turn_track_go_on(ph_turn_track* track, const ph_turn_track* former)
{
    memcpy(track->shown, former->shown, sizeof track->shown);
    track->is_shown = former->is_shown;
}

// ---- what is shown

// A time between samples; age_s is below zero when it lies before the newest.
static void turn_between_samples(const ph_turn_track* track, float age_s, float rotation[4])
{
    int i = 0;
    while (i + 1 < track->count && age_s < 0.0f) {
        age_s += track->seconds[i++];
    }
    memcpy(rotation, track->rotations[i], sizeof track->rotations[i]);
    if (i == 0 || age_s <= 0.0f || (track->jumps >> (i - 1) & 1u) != 0) {
        return;
    }
    float vector[3];
    ph_turn_between(track->rotations[i], track->rotations[i - 1], vector);
    const float share = ph_float_min(age_s / track->seconds[i - 1], 1.0f);
    for (int k = 0; k < 3; ++k) {
        vector[k] *= share;
    }
    float part[4];
    ph_turn_of_vector(vector, part);
    ph_turn_multiply(part, track->rotations[i], rotation);
}

// What is shown has turned along with the entity since the frame before; of what is left of the
// difference a share goes.
static void approach_turn(ph_turn_track* track, const float target[4], float age_s, float limit_s,
                          const ph_frame_time* frame)
{
    float before[4];
    float vector[3];
    float along[3];
    ph_turn_motion_at(&track->motion, age_s - frame->elapsed_s, limit_s, before);
    ph_turn_between(before, target, along);
    ph_turn_of_vector(along, before);
    ph_turn_multiply(before, track->shown, track->shown);
    ph_turn_between(target, track->shown, vector);
    if (turn_length(vector) < EXACT_RADIANS) {
        memcpy(track->shown, target, sizeof track->shown);
        return;
    }
    for (int k = 0; k < 3; ++k) {
        vector[k] *= 1.0f - frame->approach;
    }
    float left[4];
    ph_turn_of_vector(vector, left);
    ph_turn_multiply(left, target, track->shown);
}

void ph_turn_track_show(ph_turn_track* track, float limit_s, const ph_frame_time* frame)
{
    PH_ASSERT(track->count > 0);

    const float age_s = ph_motion_seconds(frame->time_us - track->time_us);
    if (frame->is_delayed) {
        turn_between_samples(track, age_s, track->shown);
    } else {
        float target[4];
        ph_turn_motion_at(&track->motion, age_s, limit_s, target);
        if (track->is_shown && !track->has_jumped) {
            approach_turn(track, target, age_s, limit_s, frame);
        } else {
            memcpy(track->shown, target, sizeof track->shown);
        }
    }
    normalise_turn(track->shown);
    track->has_jumped = false;
    track->is_shown = true;
}
