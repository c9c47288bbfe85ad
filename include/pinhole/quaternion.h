// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rotations as unit quaternions in 3 n + 2 bits: the largest component is left out (it follows from
// the other three), and since q and -q are the same rotation, its sign is folded away. The other
// three lie within +-sqrt(1/2) and are written as one of 2^n - 1 levels each. That is an odd
// number, so zero is a level, and the identity and the half turns about the axes are exact.

#ifndef PINHOLE_QUATERNION_H
#define PINHOLE_QUATERNION_H

#include <pinhole/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PH_QUATERNION_WIDTH_MIN 8
#define PH_QUATERNION_WIDTH_MAX 16

/// A rotation as a unit quaternion; w is the real part.
typedef struct ph_quaternion {
    double x;
    double y;
    double z;
    double w;
} ph_quaternion;

/// The form that goes on the wire and is compared.
typedef struct ph_quaternion_levels {
    /// Which component was left out: 0 x, 1 y, 2 z, 3 w.
    uint8_t largest;
    /// The others in order, -(2^(n-1) - 1) .. 2^(n-1) - 1.
    int16_t rest[3];
} ph_quaternion_levels;

/// width is n, PH_QUATERNION_WIDTH_MIN..MAX. A length within 1 % of 1 is put right.
/// @return PH_OK, PH_ERROR_NOT_A_NUMBER, PH_ERROR_NOT_UNIT; *levels is only written when PH_OK.
PH_API ph_result ph_quaternion_encode(int width, ph_quaternion value, ph_quaternion_levels* levels);

/// A unit quaternion for valid levels; the component that was left out is positive. The rotation is
/// off by 2 * sqrt(3) * sqrt(2) / (2^n - 2) radians at most, to first order.
PH_API ph_quaternion ph_quaternion_decode(int width, ph_quaternion_levels levels);

/// True for exactly the levels that ph_quaternion_encode() can give: those of some rotation whose
/// largest component is the one left out. Integers only. Any levels may be asked about.
PH_API bool ph_quaternion_is_valid(int width, ph_quaternion_levels levels);

/// 3 * width + 2.
PH_API int ph_quaternion_cost_bits(int width);

/// Invalid levels fail the writer with PH_ERROR_VALUE; the reader refuses them.
PH_API void ph_quaternion_write_levels(int width, ph_bit_writer* writer,
                                       ph_quaternion_levels levels);
/// @return The levels of the identity after a failure.
PH_API ph_quaternion_levels ph_quaternion_read_levels(int width, ph_bit_reader* reader);

/// Encode and write in one; a bad quaternion fails the writer with the reason above.
PH_API void ph_quaternion_write(int width, ph_bit_writer* writer, ph_quaternion value);
/// @return The identity after a failure.
PH_API ph_quaternion ph_quaternion_read(int width, ph_bit_reader* reader);

#ifdef __cplusplus
}
#endif

#endif
