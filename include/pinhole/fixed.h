// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fixed point: a real number as a level on a ladder from lo to hi, step apart. 0..1000 m in steps
// of 0.1 m has 10,001 levels: 14 bits. And vectors of three of them.
//
// Encoding rounds to the nearest level and clamps at the ends. Both ends, and zero when it lies
// inside, come back exactly; a declaration that cannot promise this is refused.

#ifndef PINHOLE_FIXED_H
#define PINHOLE_FIXED_H

#include <pinhole/bits.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A declared ladder. Make one with ph_fixed_make(); read the fields, do not change them.
typedef struct ph_fixed {
    double lo;
    double hi;
    double step;
    uint32_t top_level;  // levels are 0..top_level
    uint32_t zero_level; // the level that is 0.0, when has_zero
    uint32_t default_level;
    int width; // bits of a level, without the default bit
    bool has_zero;
    bool has_default;
} ph_fixed;

/// Declares a ladder of at most 2^32 levels. hi - lo must be a whole number of steps (to a
/// thousandth of a step, so that 0.1f does), and so must -lo when zero lies between the ends; the
/// range then holds, and coding->step is the step that divides it. A step below 2^-40 of |lo| is
/// refused: a double could not tell its levels apart.
/// @return PH_OK, PH_ERROR_RANGE, PH_ERROR_STEP, PH_ERROR_ZERO, PH_ERROR_WIDTH; *coding is only
/// written when PH_OK.
PH_API ph_result ph_fixed_make(double lo, double hi, double step, ph_fixed* coding);

/// Spends one bit in front of every value, so that the level of default_value costs that bit alone.
/// @return PH_OK, PH_ERROR_NOT_A_NUMBER, or PH_ERROR_VALUE when it lies outside lo..hi.
PH_API ph_result ph_fixed_set_default(ph_fixed* coding, double default_value);

/// Nearest level, clamped; infinities clamp. @return PH_OK or PH_ERROR_NOT_A_NUMBER.
PH_API ph_result ph_fixed_encode(const ph_fixed* coding, double value, uint32_t* level);

/// The value of a level, 0..top_level, ascending with it. At most step / 2 (and a thousandth of a
/// step for rounding) from any value between lo and hi that was encoded to it.
PH_API double ph_fixed_decode(const ph_fixed* coding, uint32_t level);

/// Exact cost of a level: width, or 1 / 1 + width with a default.
PH_API int ph_fixed_cost_bits(const ph_fixed* coding, uint32_t level);

/// Writes a level that ph_fixed_encode() gave. PH_ERROR_VALUE fails the writer beyond top_level.
PH_API void ph_fixed_write_level(const ph_fixed* coding, ph_bit_writer* writer, uint32_t level);
/// Refuses levels beyond top_level and a default that is spelled out. @return 0 after a failure.
PH_API uint32_t ph_fixed_read_level(const ph_fixed* coding, ph_bit_reader* reader);

/// Encode and write in one; NaN fails the writer with PH_ERROR_NOT_A_NUMBER.
PH_API void ph_fixed_write(const ph_fixed* coding, ph_bit_writer* writer, double value);
/// @return lo after a failure.
PH_API double ph_fixed_read(const ph_fixed* coding, ph_bit_reader* reader);

/// Three numbers, each with its own ladder and default: x and y in 14 bits and z in 8 are 36 bits.
typedef struct ph_vec3_coding {
    ph_fixed x;
    ph_fixed y;
    ph_fixed z;
} ph_vec3_coding;

/// Three numbers, in whatever unit their codings have.
typedef struct ph_vec3 {
    double x;
    double y;
    double z;
} ph_vec3;

/// A NaN fails the writer with PH_ERROR_NOT_A_NUMBER.
PH_API void ph_vec3_write(const ph_vec3_coding* coding, ph_bit_writer* writer, ph_vec3 value);
/// Reads x, y and z, in this order. From a failure on, components are their lo.
PH_API ph_vec3 ph_vec3_read(const ph_vec3_coding* coding, ph_bit_reader* reader);

/// Exact cost of a value. @return Bits, or 0 when a component is NaN.
PH_API int ph_vec3_cost_bits(const ph_vec3_coding* coding, ph_vec3 value);

#ifdef __cplusplus
}
#endif

#endif
