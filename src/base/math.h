// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Small arithmetic that every room needs: differences in a world whose edges meet, distances, limits, the
// bits of a word, and conditions without a branch.
// Inline: it runs in the inner loops of several rooms.

#ifndef PH_BASE_MATH_H
#define PH_BASE_MATH_H

#include <pinhole/base.h>

#include <string.h>

static inline int ph_least(int a, int b)
{
    return a < b ? a : b;
}

static inline int ph_greatest(int a, int b)
{
    return a > b ? a : b;
}

// The short way round the world.
static inline int32_t ph_difference_mm(int32_t to_mm, int32_t from_mm)
{
    return (int32_t)((uint32_t)to_mm - (uint32_t)from_mm);
}

// In mm^2, in the plane. 2^31 squared twice is 2^63, which fits.
static inline uint64_t ph_distance2(int32_t ax, int32_t ay, int32_t bx, int32_t by)
{
    const int64_t dx = ph_difference_mm(ax, bx);
    const int64_t dy = ph_difference_mm(ay, by);
    return (uint64_t)(dx * dx) + (uint64_t)(dy * dy);
}

// ---- the bits of a word, and conditions without a branch

// How many bits of a word are set.
static inline int ph_word_count_bits(uint64_t word)
{
#if defined(PH_HAS_EXTENSIONS)
    return __builtin_popcountll(word);
#else
    // In pairs, in groups of four, in bytes; the product adds up the bytes.
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (int)(word * UINT64_C(0x0101010101010101) >> 56);
#endif
}

// The lowest set bit of a word, 0..63. The word is not 0.
static inline int ph_word_lowest_bit(uint64_t word)
{
    PH_ASSERT(word != 0);

#if defined(PH_HAS_EXTENSIONS)
    return __builtin_ctzll(word);
#else
    return ph_word_count_bits((word & (0 - word)) - 1);
#endif
}

// Bits up to the highest one that is set; 0 for 0. Games call it ph_width_of().
static inline int ph_word_width(uint64_t word)
{
#if defined(PH_HAS_EXTENSIONS)
    return word == 0 ? 0 : 64 - __builtin_clzll(word);
#else
    int width = 0;
    for (; word != 0; word >>= 1) {
        ++width;
    }
    return width;
#endif
}

// All bits or none: in loops that are to run in vectors, conditions would become branches.
static inline uint32_t ph_bits_if(bool is_set)
{
    return -(uint32_t)is_set;
}

// The value, or 0; for the same loops.
static inline float ph_float_if(bool is_set, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= ph_bits_if(is_set);
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
