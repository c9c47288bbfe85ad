// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Angles in n bits: 2^n equal parts of a full turn, wrapping. At most half a part of error.

#ifndef PINHOLE_ANGLE_H
#define PINHOLE_ANGLE_H

#include <pinhole/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PH_TURN_DEGREES 360.0
#define PH_TURN_RADIANS 6.283185307179586476925286766559

/// How an angle is written.
typedef struct ph_angle {
    /// 1..32
    int width;
    /// A full turn in the caller's unit: PH_TURN_DEGREES or PH_TURN_RADIANS, or any positive
    /// number.
    double turn;
} ph_angle;

/// Checks a declaration; the other functions rely on it.
/// @return PH_OK, PH_ERROR_WIDTH or PH_ERROR_RANGE (the turn is not positive, normal and finite).
PH_API ph_result ph_angle_check(const ph_angle* coding);

/// Nearest part, any number of turns away; -90 degrees is 270. @return PH_OK or
/// PH_ERROR_NOT_A_NUMBER (NaN and infinities).
PH_API ph_result ph_angle_encode(const ph_angle* coding, double angle, uint32_t* level);

/// The angle of a level, 0..2^width-1. @return 0 <= angle < turn.
PH_API double ph_angle_decode(const ph_angle* coding, uint32_t level);

/// Signed shortest way from one level to another, in levels: -2^(n-1) .. 2^(n-1)-1.
PH_API int64_t ph_angle_difference(const ph_angle* coding, uint32_t from_level, uint32_t to_level);

/// Costs coding->width bits. NaN and infinities fail the writer with PH_ERROR_NOT_A_NUMBER.
PH_API void ph_angle_write(const ph_angle* coding, ph_bit_writer* writer, double angle);
/// @return 0 after a failure.
PH_API double ph_angle_read(const ph_angle* coding, ph_bit_reader* reader);

#ifdef __cplusplus
}
#endif

#endif
