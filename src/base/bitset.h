// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A row of bits in the caller's memory, 64 to a word, bit 0 lowest in word 0. Setting, clearing
// and testing run in the inner loops and are inline; counting and walking go word by word.
//
//   for (int i = ph_bitset_next(&set, 0); i < set.bit_count; i = ph_bitset_next(&set, i + 1))

#ifndef PH_BASE_BITSET_H
#define PH_BASE_BITSET_H

#include "base/math.h"

// {0} is an empty row. The words belong to the caller and live at least as long as the bitset.
typedef struct ph_bitset {
    uint64_t* words; // bits at and above bit_count are zero
    int bit_count;
} ph_bitset;

// How many words hold bit_count bits (0 or more).
static inline int ph_bitset_word_count(int bit_count)
{
    return bit_count / 64 + (bit_count % 64 != 0);
}

static inline bool ph_bitset_test(const ph_bitset* set, int bit)
{
    PH_ASSERT(bit >= 0 && bit < set->bit_count);

    return (set->words[(unsigned)bit / 64] >> ((unsigned)bit % 64) & 1) != 0;
}

static inline void ph_bitset_set(ph_bitset* set, int bit)
{
    PH_ASSERT(bit >= 0 && bit < set->bit_count);

    set->words[(unsigned)bit / 64] |= UINT64_C(1) << ((unsigned)bit % 64);
}

static inline void ph_bitset_clear(ph_bitset* set, int bit)
{
    PH_ASSERT(bit >= 0 && bit < set->bit_count);

    set->words[(unsigned)bit / 64] &= ~(UINT64_C(1) << ((unsigned)bit % 64));
}

// Lays a bitset over ph_bitset_word_count(bit_count) words and clears them all.
ph_bitset ph_bitset_make(uint64_t* words, int bit_count);

void ph_bitset_clear_all(ph_bitset* set);

// How many bits are set.
int ph_bitset_count(const ph_bitset* set);

// The first set bit at or after from (0 or more), or bit_count when there is none.
int ph_bitset_next(const ph_bitset* set, int from);

// Whether the spare bits of the last word are zero. For tests.
bool ph_bitset_validate(const ph_bitset* set);

#endif
