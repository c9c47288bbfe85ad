// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Positions of the pinhole profile, costed, written or read by one function each (coder.h). Words
// are given when they are written, filled when they are read. Once per record with a position.

#ifndef PH_WIRE_CODED_POSITION_H
#define PH_WIRE_CODED_POSITION_H

#include "wire/coded.h"
#include "wire/coder.h"

// ---- one coordinate
//
// A coordinate whose low `shift` bits are zero is told as a number of steps from the one expected.

PH_ALWAYS_INLINE uint32_t ph_coded_nearest(uint32_t expected, int shift)
{
    const uint32_t step = UINT32_C(1) << shift;
    return (expected + step / 2) & (0 - step);
}

// How many steps a coordinate is from that: the difference, rounded up. Compilers know the shift of a
// negative number for the one instruction that it is.
PH_ALWAYS_INLINE int32_t ph_coded_steps_from(uint32_t expected, uint32_t word, int shift)
{
    const uint32_t less_than_half = ((UINT32_C(1) << shift) - 1) / 2;
    const int32_t way = (int32_t)(word - expected + less_than_half);
    return way < 0 ? ~(~way >> shift) : way >> shift;
}

// Whoever writes has the coordinate already.
PH_ALWAYS_INLINE void ph_coded_take_steps(ph_coder* coder, uint32_t expected, int shift,
                                          int64_t steps, uint32_t* word)
{
    const uint32_t told = ph_coded_nearest(expected, shift) + ((uint32_t)steps << shift);
    if (ph_coder_is_reading(coder)) {
        const int64_t most = INT64_C(1) << (31 - shift);
        ph_coder_refuse_if(coder, steps < -most || steps >= most);
        *word = told;
    }
    PH_ASSERT(*word == told);
}

// The families of coordinates stand in a row: so where one begins is worked out in two instructions.
#define PH_AXIS_ENTRIES (PH_SCALES * (PH_MAGNITUDES + 1))
_Static_assert(PH_AT_Y_MOVING == PH_AT_X_MOVING + PH_AXIS_ENTRIES &&
                   PH_AT_X_RESTING == PH_AT_X_MOVING + 2 * PH_AXIS_ENTRIES &&
                   PH_AT_Y_RESTING == PH_AT_X_MOVING + 3 * PH_AXIS_ENTRIES &&
                   PH_AT_Z_MOVING == PH_AT_X_MOVING + 4 * PH_AXIS_ENTRIES &&
                   PH_AT_Z_RESTING == PH_AT_X_MOVING + 5 * PH_AXIS_ENTRIES,
               "x and y moving, x and y resting, z");
PH_ALWAYS_INLINE uint32_t ph_coded_axis_first(ph_coded_family family)
{
    return PH_AT_X_MOVING + PH_AXIS_ENTRIES * ((uint32_t)family - PH_FAMILY_X_MOVING);
}

// As a surprise of a size. @return How many steps.
PH_ALWAYS_INLINE int64_t ph_coded_surprise(ph_coder* coder, ph_coded_family family, int size,
                                           int shift, uint32_t expected, uint32_t* word)
{
    const int64_t given =
        ph_coder_is_reading(coder) ? 0 : ph_coded_steps_from(expected, *word, shift);
    const int64_t steps =
        ph_coder_surprise(coder, family, ph_coded_axis_first(family), size, given);
    ph_coded_take_steps(coder, expected, shift, steps, word);
    return steps;
}

// z of an update whose class has a ground; x and y of the words are known already.
void ph_coded_altitude(const ph_coded_frame* frame, ph_coder* coder, const ph_layout* layout,
                       ph_coded_family family, const ph_forecast* forecast, uint32_t words[3]);

// ---- positions of updates

// Whether a position may be so coarse where it is.
bool ph_coded_is_fine_enough(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                             const uint32_t words[3]);

PH_ALWAYS_INLINE void ph_coded_tell_coarse(ph_coder* coder, ph_coded_record* coded, int coarse)
{
    PH_ASSERT(ph_coder_is_reading(coder) || coded->coarse == 0 || coded->coarse == coarse);
    const bool is_coarse =
        coarse != 0 && ph_coder_flag(coder, PH_FAMILY_COARSE, 0, coded->coarse != 0);
    if (ph_coder_is_reading(coder)) {
        coded->coarse = (uint8_t)(is_coarse ? coarse : 0);
    }
}

// Surprises of x and y tend to be large together.
PH_ALWAYS_INLINE int ph_coded_size_of_y(int size, int64_t x_steps)
{
    const int x_size = ph_size_of(ph_coder_magnitude_of(x_steps));
    return (3 * size + x_size) / 4;
}

// Relative to where the motion of the baseline leads; coarse as the record says.
PH_ALWAYS_INLINE void ph_coded_position(const ph_coded_frame* frame, ph_coder* coder,
                                        ph_coded_record* coded, const ph_layout* layout,
                                        ph_baseline_moves moves)
{
    uint32_t* words = coded->record.words + layout->position_word;
    ph_forecast made;
    const ph_forecast* forecast = coded->forecast;
    if (PH_UNLIKELY(forecast == NULL)) {
        ph_coded_forecast(frame, coded->baseline, &made);
        forecast = &made;
    }
    ph_coded_tell_coarse(coder, coded, forecast->coarse);
    const int fewer = PH_SIZE_PER_BIT * coded->coarse;
    const int shift = layout->coordinate.shift + coded->coarse;
    const int size = forecast->plane_size - fewer;
    const ph_coded_family along =
        PH_FAMILY_X_RESTING - (PH_FAMILY_X_RESTING - PH_FAMILY_X_MOVING) * moves.is_level;
    const ph_coded_family upright = PH_FAMILY_Z_RESTING - moves.is_rising;
    const int64_t x_steps =
        ph_coded_surprise(coder, along, size, shift, (uint32_t)forecast->position_mm[0], &words[0]);
    ph_coded_surprise(coder, along + 1, ph_coded_size_of_y(size, x_steps), shift,
                      (uint32_t)forecast->position_mm[1], &words[1]);
    if (!layout->has_ground) {
        ph_coded_surprise(coder, upright, forecast->z_size - fewer, shift,
                          (uint32_t)forecast->position_mm[2], &words[2]);
    } else {
        ph_coder copy = ph_coder_copy(coder);
        ph_coded_altitude(frame, &copy, layout, upright, forecast, words);
        ph_coder_take(coder, &copy);
    }
    if (ph_coder_is_reading(coder) && coded->coarse != 0) {
        ph_coder_refuse_if(coder, !ph_coded_is_fine_enough(frame, layout, coded->coarse, words));
    }
}

// ---- places

// Relative to the eye: of those who jump, and the first who enters.
void ph_coded_place(const ph_coded_frame* frame, ph_coder* coder, const ph_layout* layout,
                    uint32_t words[3]);
// Of others who enter, relative to the one before; and how coarse it is.
void ph_coded_place_beside(const ph_coded_frame* frame, ph_coder* coder, ph_coded_record* coded,
                           const ph_layout* layout, uint32_t words[3]);

#endif
