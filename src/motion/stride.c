// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per move of an entity. Nearly all are slow: three numbers are noted.

#include "motion/stride.h"

#include <math.h>
#include <string.h>

#define SLOW_US_PER_MM 10.0f      // 100 m/s
#define TOLERANCE_US_PER_MM 20.0f // 50 m/s
// Of the way: engines and turns of what is fast, and ticks that are not quite as long as they say.
#define TOLERANCE_SHARE (1.0f / 32.0f)
// Games may move an entity less often than they tick, or miss a few ticks. What has stood for longer
// begins anew.
#define PAUSE_US 500000u

ph_stride_rule ph_stride_rule_make(uint32_t tick_us)
{
    const uint32_t ticks = PAUSE_US / tick_us;
    return (ph_stride_rule){
        .slow_mm = (float)tick_us / SLOW_US_PER_MM,
        .tolerance_mm = (float)tick_us / TOLERANCE_US_PER_MM,
        .ticks_max = ticks > 0 ? ticks : 1,
    };
}

static float dot_of(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// @return How many times the motion of a tick the step is, 1..ticks; 0 when it is not like it.
static float times_of(const ph_stride_rule* rule, const float motion_mm[3], const float step_mm[3],
                      float ticks)
{
    const float square = dot_of(motion_mm, motion_mm);
    if (square <= 0.0f) {
        return 0.0f;
    }
    const float times = fminf(fmaxf(dot_of(step_mm, motion_mm) / square, 1.0f), ticks);
    const float off_mm[3] = {
        step_mm[0] - times * motion_mm[0],
        step_mm[1] - times * motion_mm[1],
        step_mm[2] - times * motion_mm[2],
    };
    const float most_mm = rule->tolerance_mm + TOLERANCE_SHARE * times * sqrtf(square);
    return dot_of(off_mm, off_mm) <= most_mm * most_mm ? times : 0.0f;
}

bool ph_stride_add(ph_stride* stride, const ph_stride_rule* rule, uint32_t tick,
                   const int32_t step_mm[3])
{
    const uint32_t passed = tick - stride->tick;
    const float step[3] = {(float)step_mm[0], (float)step_mm[1], (float)step_mm[2]};
    const bool is_fast = dot_of(step, step) > rule->slow_mm * rule->slow_mm;
    float times = 1.0f;
    if (stride->is_unveiled != 0) {
        *stride = (ph_stride){.tick = tick};
        return is_fast;
    }
    stride->tick = tick;
    if (is_fast) {
        const float ticks = (float)(passed < 1                 ? 1
                                    : passed < rule->ticks_max ? passed
                                                               : rule->ticks_max);
        times = times_of(rule, stride->motion_mm, step, ticks);
        times = times > 0.0f ? times : times_of(rule, stride->jump_mm, step, ticks);
        if (times <= 0.0f) {
            memcpy(stride->jump_mm, step, sizeof step);
            return true;
        }
    }
    for (int axis = 0; axis < 3; ++axis) {
        stride->motion_mm[axis] = step[axis] / times;
        stride->jump_mm[axis] = 0.0f;
    }
    return false;
}
