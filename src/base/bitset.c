// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What goes over whole words. The spare bits of the last word stay zero, so no loop here has to
// treat that word apart.

#include "base/bitset.h"

ph_bitset ph_bitset_make(uint64_t* words, int bit_count)
{
    PH_ASSERT(bit_count >= 0);

    ph_bitset set = {.words = words, .bit_count = bit_count};
    ph_bitset_clear_all(&set);
    return set;
}

void ph_bitset_clear_all(ph_bitset* set)
{
    int word_count = ph_bitset_word_count(set->bit_count);
    for (int i = 0; i < word_count; ++i) {
        set->words[i] = 0;
    }
}

int ph_bitset_count(const ph_bitset* set)
{
    int count = 0;
    int word_count = ph_bitset_word_count(set->bit_count);
    for (int i = 0; i < word_count; ++i) {
        count += ph_word_count_bits(set->words[i]);
    }
    return count;
}

int ph_bitset_next(const ph_bitset* set, int from)
{
    PH_ASSERT(from >= 0);

    if (from >= set->bit_count) {
        return set->bit_count;
    }
    int word_count = ph_bitset_word_count(set->bit_count);
    int i = from / 64;
    uint64_t word = set->words[i] & (UINT64_MAX << ((unsigned)from % 64));
    while (word == 0) {
        if (++i == word_count) {
            return set->bit_count;
        }
        word = set->words[i];
    }
    return i * 64 + ph_word_lowest_bit(word);
}

bool ph_bitset_validate(const ph_bitset* set)
{
    if (set->bit_count < 0) {
        return false;
    }
    unsigned bits_in_last = (unsigned)set->bit_count % 64;
    return bits_in_last == 0 || set->words[set->bit_count / 64] >> bits_in_last == 0;
}
