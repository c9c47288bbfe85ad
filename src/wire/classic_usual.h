// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Usual updates of the classic profile: a position that is in the window and no jump, and maybe plain
// values. Nine of ten records are such ones, so they are written in one go, with what is the same for
// all of a packet and class worked out once. The bits are those of classic.h:
//
//   word   | slot 8 | association 2 | time 0 | position 1 | x 16 | y 16 | z 16 | rest |
//   then, if there is a rest, presence flags and plain values

#ifndef PH_WIRE_CLASSIC_USUAL_H
#define PH_WIRE_CLASSIC_USUAL_H

#include "wire/classic.h"

#include "base/bitset.h"

// {0} is of no class.
typedef struct ph_classic_usual {
    const ph_layout* layout;
    uint64_t properties; // that such an update may tell of; 0: this class has none
    uint32_t window[3];  // added to a word that is in the window: below 2^window_bits
    int window_bits;
    int slot_bits;
    int position_bit; // where it begins in the word
    int word_bits;    // of a position alone
} ph_classic_usual;

// For all updates of one class in packets of this frame.
ph_classic_usual ph_classic_usual_make(const ph_frame* frame, const ph_layout* layout);

// Whether an update of these properties that is no jump is a usual one; the words are a whole block.
static inline bool ph_classic_is_usual(const ph_classic_usual* usual, uint64_t properties,
                                       const uint32_t* words)
{
    const ph_layout* layout = usual->layout;
    const uint32_t* position = words + layout->position_word;
    const uint64_t from_window = (position[0] + usual->window[0]) |
                                 (position[1] + usual->window[1]) |
                                 (position[2] + usual->window[2]);
    return (properties & ~usual->properties) == 0 && (properties & layout->position) != 0 &&
           from_window >> usual->window_bits == 0;
}

// The least that such an update costs: if it is of the position alone, that is all.
static inline int ph_classic_usual_bits(const ph_classic_usual* usual, uint64_t rest)
{
    return usual->word_bits + (rest != 0 ? usual->layout->flag_count : 0);
}

// What it says beside the position, behind its first word. @return How many bits the whole has.
int ph_classic_usual_write_rest(const ph_classic_usual* usual, uint64_t word, uint64_t rest,
                                const uint32_t* words, uint8_t* bytes);

// As ph_classic_write_update(), without a bill. Up to eight bytes behind it are overwritten, too.
static inline int ph_classic_usual_write(const ph_classic_usual* usual, uint32_t slot,
                                         uint32_t association, uint64_t rest, const uint32_t* words,
                                         uint8_t* bytes)
{
    const ph_layout* layout = usual->layout;
    const uint32_t* position = words + layout->position_word;
    const int shift = layout->coordinate.shift;
    const int width = layout->coordinate.width;
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    const uint64_t x = position[0] >> shift & mask;
    const uint64_t y = position[1] >> shift & mask;
    const uint64_t z = position[2] >> shift & mask;
    // Before the position stand a time of 0 and the flag of the position.
    const uint64_t who = slot | (uint64_t)(association & PH_CLASSIC_ASSOCIATION_MASK)
                                    << usual->slot_bits;
    const uint64_t word = who | (UINT64_C(1) | (x | (y | z << width) << width) << 1)
                                    << (usual->position_bit - 1);
    if (rest != 0) {
        return ph_classic_usual_write_rest(usual, word, rest, words, bytes);
    }
    ph_bits_store64(bytes, word);
    return usual->word_bits;
}

// Where its bits went.
void ph_classic_usual_bill(const ph_classic_usual* usual, uint64_t rest, ph_bill* bill);

#endif
