// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether a step is motion or a jump. No speed tells them apart: a body at 2 km/s goes 200 m from one
// tick to the next, and a player who is put back on the track goes 20 m. What tells is the body's own
// motion: a fast step that is like the one before it, or like as many of them as ticks have passed, is
// motion. A jump stands alone.
//
//   o---o---o---o---o       o---o---o---o---o          o-o-o . . . . . . . . o-o-o
//        motion                                                      jump
//
// Steps below 100 m/s are always motion. Faster ones are when they end within 50 m/s and a thirtieth of
// the speed from where the motion leads; so a body whose first step is fast jumps, and moves from its
// second step on. Up to 10 km/s no jump of 100 m is missed at ten ticks a second.

#ifndef PH_MOTION_STRIDE_H
#define PH_MOTION_STRIDE_H

#include <stdbool.h>
#include <stdint.h>

// By the length of a tick.
typedef struct ph_stride_rule {
    float slow_mm;      // a step that is always motion
    float tolerance_mm; // beside the share of the way
    uint32_t ticks_max; // for so long without a step the motion counts
} ph_stride_rule;

ph_stride_rule ph_stride_rule_make(uint32_t tick_us);

// How one entity came to where it is. {0} knows nothing.
typedef struct ph_stride {
    float motion_mm[3]; // its last step that was none, per tick
    float jump_mm[3];   // its last step, when that was a jump
    uint32_t tick;      // of its last step
    // More may see it since its last step, but not where it comes from: the next step says nothing of how it moves, and
    // what was before it is forgotten.
    uint32_t is_unveiled;
} ph_stride;

_Static_assert(sizeof(ph_stride) == 32, "two in a cache line");

// A step in some tick; ticks ascend. @return Whether it is a jump.
bool ph_stride_add(ph_stride* stride, const ph_stride_rule* rule, uint32_t tick,
                   const int32_t step_mm[3]);

#endif
