// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The motion of one entity: samples come in, what is shown follows them. Adding runs once per
// sample, showing once per entity and frame. docs/motion.md has the figures behind the numbers.

#include "motion/track.h"

#include "motion/aim.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define JUMP_MASK ((1u << PH_TRACK_STEPS) - 1u)

// How fast what is shown may move: so much, and so many times the speed of the samples. The eye
// takes up to three times the entity's own speed for a catching up (see jolts_per_min).
#define SPEED_BASE_MM_S 700.0f
#define SPEED_RATIO 2.5f
// And how fast against the direction of the last samples: who was shown too far ahead waits rather
// than walks backwards.
#define SPEED_BACK_MM_S 300.0f
// What would take longer is shown as one leap.
#define LEAP_S 0.6f

// Nearer than this, who stands is shown exactly where it stands.
#define EXACT_MM 0.5f

#define US 1e-6f

#define WORLD_MM 0x1p32

// to - from in a world that wraps.
static void difference(const int32_t from_mm[3], const int32_t to_mm[3], float way_mm[3])
{
    for (int k = 0; k < 3; ++k) {
        way_mm[k] = (float)(int32_t)((uint32_t)to_mm[k] - (uint32_t)from_mm[k]);
    }
}

// ---- samples

// The second sample of a newcomer.
static void learn_second(const ph_track* track, ph_manner* manner, const ph_step* step)
{
    const float radians = track->bearing.degrees[0] * PH_RADIANS_PER_DEGREE;
    const float along_mm = step->mm[0] * cosf(radians) + step->mm[1] * sinf(radians);
    const float forward_mm_s = track->bearing.count > 0 ? along_mm / step->seconds : 0.0f;
    ph_manner_learn_second(manner, step->seconds, forward_mm_s);
}

// What the way from the newest sample to a new one teaches about the class.
static void learn(const ph_track* track, ph_manner* manner, const ph_step* step)
{
    ph_step leg;
    if (!ph_aim_try_leg(track, &leg)) {
        if (track->count == 1) {
            learn_second(track, manner, step);
        }
        return;
    }
    float promised_mm[3];
    for (int k = 0; k < 3; ++k) {
        promised_mm[k] = leg.mm[k] * (step->seconds / leg.seconds);
    }
    ph_manner_learn_way(manner, promised_mm, step->mm, step->seconds);
    ph_manner_learn_pause(manner, step->seconds, track->steps[0].seconds);
}

static void push_step(ph_track* track, const ph_step* step, bool is_jump)
{
    memmove(&track->steps[1], &track->steps[0], (PH_TRACK_STEPS - 1) * sizeof(ph_step));
    track->steps[0] = *step;
    const uint32_t bit = is_jump ? 1u : 0u;
    track->jumps = (uint8_t)((((uint32_t)track->jumps << 1) | bit) & JUMP_MASK);
    track->unseen_jumps = (uint8_t)((((uint32_t)track->unseen_jumps << 1) | bit) & JUMP_MASK);
    if (track->count <= PH_TRACK_STEPS) {
        ++track->count;
    }
}

// The shorter way round the world.
static float wrap(float mm)
{
    return (float)((double)mm - WORLD_MM * floor((double)mm / WORLD_MM + 0.5));
}

// Differences count from the new place now. What was never shown stays at none.
static void rebase(ph_track* track, const ph_sample* sample, const float way_mm[3])
{
    for (int k = 0; track->is_shown && k < 3; ++k) {
        track->shown_mm[k] = wrap(track->shown_mm[k] - way_mm[k]);
    }
    memcpy(track->newest_mm, sample->position_mm, sizeof track->newest_mm);
}

// The last step is taken anew, from where it began: sums of ways would leave the world.
static void replace_newest(ph_track* track, const ph_sample* sample, const float way_mm[3])
{
    for (int k = 0; track->count > 1 && k < 3; ++k) {
        const uint32_t step_mm = (uint32_t)(int64_t)track->steps[0].mm[k];
        const uint32_t from_mm = (uint32_t)track->newest_mm[k] - step_mm;
        track->steps[0].mm[k] = (float)(int32_t)((uint32_t)sample->position_mm[k] - from_mm);
    }
    if (sample->is_jump) {
        track->jumps |= 1u;
        track->unseen_jumps |= 1u;
    }
    rebase(track, sample, way_mm);
}

// Time went back: what came before is of no use. What is shown goes on from where it is.
static void begin_again(ph_track* track, const ph_sample* sample, const float way_mm[3])
{
    track->count = 1;
    track->jumps = 0;
    track->unseen_jumps = 0;
    track->time_us = sample->time_us;
    rebase(track, sample, way_mm);
    if (sample->is_jump) {
        track->is_shown = false;
        memset(track->shown_mm, 0, sizeof track->shown_mm);
    }
}

void ph_track_add(ph_track* track, ph_manner* manner, const ph_sample* sample)
{
    if (track->count == 0) {
        memcpy(track->newest_mm, sample->position_mm, sizeof track->newest_mm);
        track->time_us = sample->time_us;
        track->count = 1;
        ph_manner_learn_newcomer(manner);
        return;
    }
    ph_step step;
    difference(track->newest_mm, sample->position_mm, step.mm);
    if (sample->time_us == track->time_us) {
        replace_newest(track, sample, step.mm);
        return;
    }
    if (sample->time_us < track->time_us) {
        begin_again(track, sample, step.mm);
        return;
    }
    step.seconds = (float)(sample->time_us - track->time_us) * US;
    if (!sample->is_jump) {
        learn(track, manner, &step);
    }
    push_step(track, &step, sample->is_jump);
    rebase(track, sample, step.mm);
    track->time_us = sample->time_us;
}

void ph_track_begin(ph_track* track, const ph_sample* sample, const ph_step* step)
{
    PH_ASSERT(track->count == 0 && step->seconds > 0.0f);

    memcpy(track->newest_mm, sample->position_mm, sizeof track->newest_mm);
    track->time_us = sample->time_us;
    track->count = 1;
    push_step(track, step, false);
}

void ph_track_add_heading(ph_track* track, int64_t time_us, float degrees)
{
    ph_bearing_add(&track->bearing, time_us, degrees);
}

// ---- what is shown

void ph_track_predict(const ph_track* track, const ph_manner* manner, int64_t time_us,
                      float offset_mm[3])
{
    PH_ASSERT(track->count > 0);

    ph_aim aim;
    ph_aim_ahead(track, manner, (float)(time_us - track->time_us) * US, &aim);
    memcpy(offset_mm, aim.mm, sizeof aim.mm);
}

// Whether a jump lies between what was shown last and this moment; it is seen now.
static bool see_jumps(ph_track* track, const ph_moment* moment)
{
    float age_s = (float)(moment->time_us - track->time_us) * US;
    uint32_t seen = 0;
    for (int i = 0; i < PH_TRACK_STEPS && track->unseen_jumps >> i != 0; ++i) {
        if (age_s >= 0.0f || !moment->is_delayed) {
            seen |= track->unseen_jumps & 1u << i;
        }
        age_s += track->steps[i].seconds;
    }
    track->unseen_jumps = (uint8_t)(track->unseen_jumps & ~seen);
    return seen != 0;
}

// Walking backwards along the way of the samples is cut to a slow step.
static void limit_back(float move_mm[3], const float way_mm[3], float elapsed_s)
{
    const float way = ph_length(way_mm);
    if (way <= 0.0f) {
        return;
    }
    const float along_mm = ph_dot(move_mm, way_mm) / way;
    const float lack_mm = -SPEED_BACK_MM_S * elapsed_s - along_mm;
    for (int k = 0; lack_mm > 0.0f && k < 3; ++k) {
        move_mm[k] += way_mm[k] * (lack_mm / way);
    }
}

// The move of this frame towards the aim, gap_mm away.
static void plan_move(const ph_aim* aim, const float gap_mm[3], const ph_moment* moment,
                      float move_mm[3])
{
    const float elapsed_s = moment->elapsed_s;
    for (int k = 0; k < 3; ++k) {
        const float own_mm = aim->mm_s[k] * elapsed_s;
        move_mm[k] = own_mm + (gap_mm[k] - own_mm) * moment->approach;
    }
    limit_back(move_mm, aim->way_mm, elapsed_s);
}

static void leap(ph_track* track, const ph_aim* aim)
{
    memcpy(track->shown_mm, aim->mm, sizeof track->shown_mm);
}

static void approach(ph_track* track, const ph_aim* aim, const ph_moment* moment)
{
    float gap_mm[3];
    for (int k = 0; k < 3; ++k) {
        gap_mm[k] = aim->mm[k] - track->shown_mm[k];
    }
    const float speed_mm_s = SPEED_BASE_MM_S + SPEED_RATIO * aim->speed_mm_s;
    const float gap = ph_length(gap_mm);
    const bool is_still = ph_dot(aim->mm_s, aim->mm_s) <= 0.0f;
    if (gap > speed_mm_s * LEAP_S || (is_still && gap < EXACT_MM)) {
        leap(track, aim);
        return;
    }
    float move_mm[3];
    if (moment->is_delayed) {
        memcpy(move_mm, gap_mm, sizeof move_mm);
    } else {
        plan_move(aim, gap_mm, moment, move_mm);
    }
    const float move = ph_length(move_mm);
    if (!(move <= FLT_MAX)) {
        leap(track, aim); // samples of no world: squares have overflowed
        return;
    }
    const float most_mm = speed_mm_s * moment->elapsed_s;
    const float cut = move > most_mm ? most_mm / move : 1.0f;
    for (int k = 0; k < 3; ++k) {
        track->shown_mm[k] += move_mm[k] * cut;
    }
}

void ph_track_show(ph_track* track, const ph_manner* manner, const ph_moment* moment)
{
    PH_ASSERT(track->count > 0);

    const float age_s = (float)(moment->time_us - track->time_us) * US;
    ph_aim aim;
    if (moment->is_delayed) {
        ph_aim_between(track, age_s, &aim);
    } else {
        ph_aim_ahead(track, manner, age_s, &aim);
    }
    const bool has_jumped = track->unseen_jumps != 0 && see_jumps(track, moment);
    if (has_jumped || !track->is_shown) {
        leap(track, &aim);
        track->is_shown = true;
    } else {
        approach(track, &aim, moment);
    }
    if (track->bearing.count > 0) {
        ph_bearing_show(&track->bearing, moment);
    }
}

void ph_track_position(const ph_track* track, double position_mm[3])
{
    for (int k = 0; k < 3; ++k) {
        const double mm = (double)track->newest_mm[k] + (double)track->shown_mm[k];
        const double wrapped = mm - WORLD_MM * floor(mm / WORLD_MM + 0.5);
        position_mm[k] = wrapped < WORLD_MM / 2.0 ? wrapped : -WORLD_MM / 2.0;
    }
}
