// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How large surprises are, as logarithms in 1/8 bit: what the models of the pinhole profile choose
// their tables by. A surprise is the difference between what was predicted and what came; it grows
// with the time that the prediction had to bridge, so sizes are kept as if that had been a quarter
// of a second, and stretched to the time at hand when they are used. Integers only, a few
// instructions each; several times per record, so all of them are inline.

#ifndef PH_WIRE_SURPRISE_H
#define PH_WIRE_SURPRISE_H

#include "base/bitset.h"

#define PH_SIZE_PER_BIT 8
#define PH_SIZE_MAX 255

// How fast surprises grow with time: to the power of a quarter of this.
#define PH_GROWTH_POSITION 7
#define PH_GROWTH_HEADING 3
#define PH_GROWTH_UNIT 4

// Motion is carried on, and surprises grow, for so long; later is as then. On recordings, 1 s costs
// walkers 4 % more bits for x and y than this, 2 s 1 %.
#define PH_CARRY_US 4000000

// 8 * log2 of a quarter of a second in us.
#define PH_NORMAL_TIME_EIGHTHS 143

// How many eighths of a bit have begun between 1 and 2, by 1/256.
extern const uint8_t ph_eighths[256];

// 8 * log2(value), rounded down; 0 for 0 and 1.
static inline int ph_log2_eighths(uint64_t value)
{
    const int whole = ph_word_width(value | 1) - 1;
    const unsigned mantissa = (unsigned)(value << (63 - whole) >> 55); // 256..511
    return PH_SIZE_PER_BIT * whole + ph_eighths[mantissa & 255];
}

// Size of a difference of so many steps: 0, 12, 18, 22, 25 for 0, 1, 2, 3, 4; 8 more each time it
// doubles. Most are small.
#define PH_SIZES 256
extern const uint8_t ph_sizes[PH_SIZES];
static inline uint8_t ph_size_of(uint64_t steps)
{
    if (steps < PH_SIZES) {
        return ph_sizes[steps];
    }
    // From 2^31 on they are the greatest.
    return (uint8_t)(steps >> 31 == 0 ? ph_log2_eighths(2 * steps + 1) : PH_SIZE_MAX);
}

// In 1/8 bit: how much a surprise grows from a quarter of a second to this time. Growth:
// PH_GROWTH_.... Time 0 counts as 1 us.
static inline int ph_size_growth(uint64_t time_us, int growth)
{
    const uint64_t grown_us = time_us < PH_CARRY_US ? time_us : PH_CARRY_US;
    return (ph_log2_eighths(grown_us) - PH_NORMAL_TIME_EIGHTHS) * growth / PH_GROWTH_UNIT;
}

// The same of positions, by ticks: for whoever asks often.
#define PH_GROWTH_TICKS 32
void ph_growths_fill(int16_t growths[PH_GROWTH_TICKS], uint32_t tick_us);

// What a size measured over a time would have been over a quarter of a second, by what
// ph_size_growth() says of that time. Nothing is no smaller for having been short.
static inline uint8_t ph_size_less(uint8_t size, int growth)
{
    const int normal = size == 0 ? 0 : size - growth;
    return (uint8_t)(normal < 0 ? 0 : normal < PH_SIZE_MAX ? normal : PH_SIZE_MAX);
}

// The same of small surprises of positions, by ticks and steps: the growth is in it.
typedef struct ph_normals {
    uint8_t size[PH_GROWTH_TICKS][PH_SIZES];
} ph_normals;
void ph_normals_fill(ph_normals* normals, uint32_t tick_us);

static inline uint8_t ph_size_normal(uint8_t size, uint64_t time_us, int growth)
{
    return ph_size_less(size, ph_size_growth(time_us, growth));
}

// The other way; may be negative.
static inline int ph_size_stretched(uint8_t normal, uint64_t time_us, int growth)
{
    return normal + ph_size_growth(time_us, growth);
}

// The old size fades as news comes in.
static inline uint8_t ph_size_faded(uint8_t old, uint8_t now)
{
    return (uint8_t)((2 * old + now + 1) / 3);
}

#endif
