// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per recording, over all of its rows.

#include "kit/jump_marks.h"

#include "kit/wrap.h"

#define FAST_MM_PER_S 100000.0

typedef struct leg {
    double mm[3];
    bool is_there;
} leg;

// The step to a row of a span.
static leg leg_to(const ph_recording* recording, const ph_span* span, int row)
{
    const int end_row = span->first_row + span->end_tick - span->first_tick;
    if (row <= span->first_row || row >= end_row) {
        return (leg){.is_there = false};
    }
    return (leg){
        .mm = {ph_wrap_mm(recording->x_mm[row - 1], recording->x_mm[row]),
               ph_wrap_mm(recording->y_mm[row - 1], recording->y_mm[row]),
               ph_wrap_mm(recording->z_mm[row - 1], recording->z_mm[row])},
        .is_there = true,
    };
}

static double square_of_leg(const leg* a)
{
    return a->mm[0] * a->mm[0] + a->mm[1] * a->mm[1] + a->mm[2] * a->mm[2];
}

static bool is_other(const leg* step, const leg* beside)
{
    leg off = *step;
    for (int axis = 0; axis < 3; ++axis) {
        off.mm[axis] -= beside->mm[axis];
    }
    return !beside->is_there || 4.0 * square_of_leg(&off) > square_of_leg(step);
}

static bool is_marked(const ph_recording* recording, const ph_span* span, int row)
{
    const leg step = leg_to(recording, span, row);
    const double fast_mm = FAST_MM_PER_S / recording->rate_hz;
    if (!step.is_there || square_of_leg(&step) <= fast_mm * fast_mm) {
        return false;
    }
    const leg before = leg_to(recording, span, row - 1);
    const leg behind = leg_to(recording, span, row + 1);
    return is_other(&step, &before) && is_other(&step, &behind);
}

void ph_jump_marks_find(ph_recording* recording)
{
    const int span_count = recording->first_span[recording->entity_count];
    for (int s = 0; s < span_count; ++s) {
        const ph_span* span = &recording->spans[s];
        for (int tick = span->first_tick; tick < span->end_tick; ++tick) {
            const int row = span->first_row + tick - span->first_tick;
            recording->is_jump[row] = is_marked(recording, span, row);
        }
    }
}
