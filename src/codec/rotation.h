// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rotations that both ends of a connection must compute alike, to the last bit: unit quaternions of
// fixed point numbers, what leads from one to the next, and that extrapolated to another time. Whole
// numbers only, sums, products, quotients and shifts: no machine rounds them differently.
// docs/wire_pinhole.md has the same rules in words.
//
//   levels  -- from_levels -->  rotation  -- turned by a spin -->  rotation  -- chart -->  levels
//
// A rotation is off by less than 2^-27 of a radian; the finest step of a property is 2^-14. A few dozen
// steps for each call, some 100 ns; nothing allocates.

#ifndef PH_CODEC_ROTATION_H
#define PH_CODEC_ROTATION_H

#include <pinhole/quaternion.h>

#include <stdint.h>

// In 2^-30: x, y, z, w. One of length 1, but for rounding.
typedef struct ph_rotation {
    int32_t part[4];
} ph_rotation;

#define PH_ROTATION_ONE (INT32_C(1) << 30)

// How something turns: about an axis (in 2^-30, of length 1; all 0: it does not) by twice a half angle (in
// 2^-32 of a full turn, at most a quarter turn) in `between` of some unit of time, which is not 0.
typedef struct ph_spin {
    int32_t axis[3];
    uint32_t half;
    uint32_t between;
} ph_spin;

// The two words of a property with such a width (schema/property.h), as levels and back. Any words may be
// asked about: what is no rotation gives levels that are not valid.
ph_quaternion_levels ph_rotation_levels_of_words(int width, const uint32_t words[2]);

void ph_rotation_words_of_levels(int width, ph_quaternion_levels levels, uint32_t words[2]);

// Of valid levels. The component that was left out is not negative.
ph_rotation ph_rotation_from_levels(int width, ph_quaternion_levels levels);

// First b, then a.
ph_rotation ph_rotation_product(const ph_rotation* a, const ph_rotation* b);

// The other way round.
ph_rotation ph_rotation_inverse(const ph_rotation* rotation);

// Turns a vector of whole numbers, each below PH_ROTATION_VECTOR_END, to the nearest whole numbers.
#define PH_ROTATION_VECTOR_END (INT32_C(1) << 20)

void ph_rotation_turn_vector(const ph_rotation* rotation, const int32_t vector[3],
                             int32_t turned[3]);

// The shorter of the two ways from one to the other, which takes so long.
ph_spin ph_rotation_between(const ph_rotation* from, const ph_rotation* to, uint32_t between);

// The same by what it leads to from no rotation at all.
ph_spin ph_rotation_spin(const ph_rotation* turned, uint32_t between);

// Extrapolated by so much time.
ph_rotation ph_rotation_turned(const ph_rotation* rotation, const ph_spin* spin, uint32_t ahead);

// The components by their size, the largest first; of equal ones the first.
void ph_rotation_order(const ph_rotation* rotation, uint8_t order[4]);

// By how much the second largest component is behind the largest, in levels, rounded down.
uint32_t ph_rotation_levels_behind(int width, const ph_rotation* rotation, const uint8_t order[4]);

// What is nearest to the levels of the three components that are not the one left out, with its sign
// folded away. They may be no levels of a rotation: another component may be larger.
void ph_rotation_chart(int width, const ph_rotation* rotation, int left_out, int32_t levels[3]);

// Levels rounded to multiples of 2^coarse that are a rotation, too: to the nearest, and towards 0 where that is
// none.
ph_quaternion_levels ph_rotation_coarse(int width, ph_quaternion_levels levels, int coarse);

// How many low bits all three levels have 0, at most PH_ROTATION_COARSE_MAX.
#define PH_ROTATION_COARSE_MAX 7

int ph_rotation_coarse_of(ph_quaternion_levels levels);

#endif
