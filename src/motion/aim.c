// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Where an entity should be shown, going by its samples. Once per entity and frame. The figures in
// the comments are error_mrad of the recordings of walkers and cars; docs/motion.md has the tables.

#include "motion/aim.h"

#include "motion/carry.h"

#include <math.h>
#include <string.h>

// How long an entity is remembered to have been fast: eyes take a catching up for its own speed, or three
// times that, for about so long. Walkers at 4 kbit/s: 1.00 jolts a minute and 27.3 mrad instead of 1.61
// and 27.4, with a fifth lost 1.91 and 45.0 instead of 2.65 and 45.4; with 0.6 s 0.82 and 27.4. Never
// remembering cost cars a twentieth more error; forgetting those who stand, towns half as much again.
#define MEMORY_S 1.0f

// ---- what the samples say

// Steps since the last jump: those that say how the entity moves.
static int usable_steps(const ph_track* track)
{
    const int known = track->count - 1;
    int steps = 0;
    while (steps < known && (track->jumps >> steps & 1u) == 0) {
        ++steps;
    }
    return steps;
}

// The same place told twice says that it stands: a sender is silent about what has not changed.
static bool is_standing(const ph_step* step)
{
    return ph_dot(step->mm, step->mm) <= 0.0f;
}

// Several short steps as one, from a given one on. @return How many; 0 when there are none.
static int take_leg(const ph_track* track, int first, int end, ph_step* leg)
{
    if (first >= end) {
        return 0;
    }
    *leg = track->steps[first];
    int taken = 1;
    const bool stands = is_standing(leg);
    while (!stands && leg->seconds < PH_LEG_S && ph_dot(leg->mm, leg->mm) < PH_LEG_MM * PH_LEG_MM &&
           first + taken < end) {
        const ph_step* next = &track->steps[first + taken];
        for (int k = 0; k < 3; ++k) {
            leg->mm[k] += next->mm[k];
        }
        leg->seconds += next->seconds;
        ++taken;
    }
    return taken;
}

static float speed_of(const ph_step* step)
{
    return ph_length(step->mm) / step->seconds;
}

bool ph_aim_try_leg(const ph_track* track, ph_step* leg)
{
    return take_leg(track, 0, usable_steps(track), leg) > 0;
}

// ---- ahead of them

// How fast ph_carry_reach_s() runs.
static float pace_of(float age_s, float limit_s)
{
    const float late_s = age_s - limit_s;
    if (late_s <= PH_PAUSE_S) {
        return late_s <= 0.0f ? 1.0f : 0.0f;
    }
    return late_s - PH_PAUSE_S < PH_RETURN_S ? -limit_s / PH_RETURN_S : 0.0f;
}

static void follow(ph_aim* aim, const float velocity_mm_s[3], float reach_s, float pace)
{
    for (int k = 0; k < 3; ++k) {
        aim->mm[k] = velocity_mm_s[k] * reach_s;
        aim->mm_s[k] = velocity_mm_s[k] * pace;
    }
}

// A newcomer: it will go where it looks, as fast as others of its class do. On walkers, who are told
// seldom, a fifth of all error was newcomers that were shown standing.
static void aim_forward(const ph_track* track, const ph_manner* manner, float age_s, ph_aim* aim)
{
    if (track->bearing.count == 0) {
        return;
    }
    const float forward_mm_s = ph_manner_forward(manner);
    const float radians = track->bearing.degrees[0] * PH_RADIANS_PER_DEGREE;
    const float velocity_mm_s[3] = {forward_mm_s * cosf(radians), forward_mm_s * sinf(radians), 0};
    const float ahead_s = fmaxf(age_s, 0.0f);
    const float limit_s = manner->first_pause_s;
    follow(aim, velocity_mm_s, ph_carry_reach_s(ahead_s, limit_s), pace_of(ahead_s, limit_s));
}

// What the change from one velocity to the next adds, as a share of it.
static float bend_of(const ph_step* last, const ph_step* former, float reach_s)
{
    if (is_standing(last)) {
        return 0.0f;
    }
    return ph_carry_bend(last->seconds, former->seconds) *
           ph_carry_fade(reach_s, PH_BEND_FULL_AGE_S, PH_BEND_LAST_AGE_S);
}

// The highest that is remembered. Who was quicker before a long leg is not expected to be so again; but
// whoever stands has just come to where it is shown too late.
static float recent_speed(const ph_step* last, const ph_step* former)
{
    const float mm_s = speed_of(last);
    const bool is_former_over = last->seconds > MEMORY_S && !is_standing(last);
    return is_former_over ? mm_s : fmaxf(mm_s, speed_of(former));
}

void ph_aim_ahead(const ph_track* track, const ph_manner* manner, float age_s, ph_aim* aim)
{
    *aim = (ph_aim){.speed_mm_s = 0.0f};
    const int usable = usable_steps(track);
    ph_step last;
    const int taken = take_leg(track, 0, usable, &last);
    if (taken == 0) {
        if (track->count == 1) {
            aim_forward(track, manner, age_s, aim);
        }
        return;
    }
    ph_step former = last;
    take_leg(track, taken, usable, &former);
    const float limit_s = ph_manner_limit_s(manner, track->steps[0].seconds);
    const float ahead_s = fmaxf(age_s, 0.0f);
    const float reach_s = ph_carry_reach_s(ahead_s, limit_s);
    const float share = ph_manner_share(manner, age_s);
    const float bend = bend_of(&last, &former, reach_s);
    float velocity_mm_s[3];
    for (int k = 0; k < 3; ++k) {
        const float velocity = last.mm[k] / last.seconds;
        velocity_mm_s[k] = share * velocity + bend * (velocity - former.mm[k] / former.seconds);
    }
    follow(aim, velocity_mm_s, reach_s, pace_of(ahead_s, limit_s));
    aim->speed_mm_s = recent_speed(&last, &former);
    if (age_s < limit_s + PH_PAUSE_S) {
        memcpy(aim->way_mm, last.mm, sizeof aim->way_mm);
    }
}

// ---- between them

void ph_aim_between(const ph_track* track, float age_s, ph_aim* aim)
{
    *aim = (ph_aim){.speed_mm_s = 0.0f};
    for (int i = 0; i + 1 < track->count; ++i) {
        const ph_step* step = &track->steps[i];
        const bool is_jump = (track->jumps >> i & 1u) != 0;
        if (!is_jump) {
            aim->speed_mm_s = fmaxf(aim->speed_mm_s, speed_of(step));
        }
        if (age_s >= 0.0f) {
            continue;
        }
        age_s += step->seconds;
        // A jump happens when its sample was taken: before, all the way back to the one before it.
        const float back = is_jump ? 1.0f : fminf(1.0f - age_s / step->seconds, 1.0f);
        for (int k = 0; k < 3; ++k) {
            aim->mm[k] -= step->mm[k] * back;
        }
    }
}
