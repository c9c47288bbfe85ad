// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How large surprises are, as logarithms in 1/8 bit: what the models of the pinhole profile choose
// their tables by. A surprise is the difference between what was predicted and what came; it grows
// with the time that the prediction had to bridge, so sizes are kept as if that had been a quarter
// of a second, and stretched to the time at hand when they are used. Integers only, a few
// instructions each; several times per record.

#ifndef PH_WIRE_SURPRISE_H
#define PH_WIRE_SURPRISE_H

#include <pinhole/base.h>

#define PH_SIZE_PER_BIT 8
#define PH_SIZE_MAX 255

// How fast surprises grow with time: to the power of a quarter of this.
#define PH_GROWTH_POSITION 7
#define PH_GROWTH_HEADING 3

// Motion is carried on, and surprises grow, for so long; later is as then. On recordings, 1 s costs
// walkers 4 % more bits for x and y than this, 2 s 1 %.
#define PH_CARRY_US 4000000

// 8 * log2(value), rounded down; 0 for 0 and 1.
int ph_log2_eighths(uint64_t value);

// Size of a difference of so many steps: 0, 12, 18, 22, 25 for 0, 1, 2, 3, 4; 8 more each time it
// doubles.
uint8_t ph_size_of(uint64_t steps);

// In 1/8 bit: how much a surprise grows from a quarter of a second to this time. Growth:
// PH_GROWTH_.... Time 0 counts as 1 us.
int ph_size_growth(uint64_t time_us, int growth);

// What a size measured over a time would have been over a quarter of a second, and the other way.
uint8_t ph_size_normal(uint8_t size, uint64_t time_us, int growth);
uint8_t ph_size_less(uint8_t size, int growth); // by what ph_size_growth() says
int ph_size_stretched(uint8_t normal, uint64_t time_us, int growth); // may be negative

// The old size fades as news comes in.
uint8_t ph_size_faded(uint8_t old, uint8_t now);

#endif
