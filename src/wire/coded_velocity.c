// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// People in a crowd go about as fast as their neighbours, but each its own way: so the speed is taken
// from the one before, the direction from the heading.

#include "wire/coded_velocity.h"

#include "wire/coded_values.h"
#include "wire/direction.h"

#include <string.h>

#define DIRECTION_BITS 16

static bool is_rest(const int16_t velocity[3])
{
    return velocity[0] == 0 && velocity[1] == 0 && velocity[2] == 0;
}

// ---- what is expected

// In the plane, rounded down.
static int32_t speed_of(const int16_t velocity[3])
{
    const int64_t x = velocity[0];
    const int64_t y = velocity[1];
    const int64_t square = x * x + y * y;
    int64_t root = 0;
    for (int64_t bit = INT64_C(1) << (DIRECTION_BITS - 1); bit != 0; bit >>= 1) {
        root += (root + bit) * (root + bit) <= square ? bit : 0;
    }
    return (int32_t)root;
}

static uint16_t direction_of(const ph_layout* layout, uint32_t level)
{
    const int width = layout->described->properties[layout->heading_property].angle.width;
    return (uint16_t)(width < DIRECTION_BITS ? level << (DIRECTION_BITS - width)
                                             : level >> (width - DIRECTION_BITS));
}

void ph_coded_expected_velocity(const ph_layout* layout, ph_coded_motion motion,
                                const ph_coded_neighbour* before, uint32_t heading,
                                int32_t velocity[3])
{
    for (int i = 0; i < 3; ++i) {
        velocity[i] = motion == PH_MOTION_RESTING ? 0 : before->velocity[i];
    }
    if (motion == PH_MOTION_AHEAD && layout->heading != 0) {
        ph_direction_go(direction_of(layout, heading), speed_of(before->velocity), velocity);
    }
}

// ---- as symbols

void ph_coded_first_velocity(ph_coder* coder, ph_coded_record* coded)
{
    int16_t* velocity = coded->record.velocity;
    if (!ph_coder_flag(coder, PH_FAMILY_ENTER_MOVING, 0, !is_rest(velocity))) {
        memset(velocity, 0, 3 * sizeof velocity[0]);
        return;
    }
    for (int i = 0; i < 3; ++i) {
        velocity[i] =
            (int16_t)ph_coder_signed_length(coder, PH_FAMILY_ENTER_VELOCITY, i, velocity[i]);
    }
    ph_coder_refuse_if(coder, is_rest(velocity));
}

void ph_coded_velocity_beside(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded,
                              const ph_layout* layout)
{
    const ph_coded_neighbour* before = coded->before;
    const int spread = frame->spread.velocity;
    int16_t* velocity = coded->record.velocity;
    const int state = (spread == 0 ? 1 : spread == 1 ? 3 : 5) + (is_rest(before->velocity) ? 0 : 1);
    if (!ph_coder_flag(coder, PH_FAMILY_ENTER_MOVING, state, !is_rest(velocity))) {
        memset(velocity, 0, 3 * sizeof velocity[0]);
        return;
    }
    int32_t expected[3];
    ph_coded_expected_velocity(layout, (ph_coded_motion)frame->spread.motion, before,
                               ph_coded_heading_of(layout, &coded->record), expected);
    for (int i = 0; i < 3; ++i) {
        const int model = i == 2 ? (expected[2] == 0 ? 1 : 2) : spread != 0 ? 2 + spread : 0;
        const int64_t told =
            expected[i] + ph_coder_signed_length(coder, PH_FAMILY_BESIDE_VELOCITY, model,
                                                 (int64_t)velocity[i] - expected[i]);
        ph_coder_refuse_if(coder, told < -INT16_MAX || told > INT16_MAX);
        velocity[i] = (int16_t)told;
    }
    ph_coder_refuse_if(coder, is_rest(velocity));
}
