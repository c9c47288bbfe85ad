// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The values of one entity in few bytes, for what is remembered per viewer: each word of a property
// takes 1, 2 or 4 bytes, as its range needs. Words are those of the wire (wire/layout.h); of a text
// its version, 0 when it is empty. What is sent but once is never compared, so it takes none; but for
// a position, which baselines begin with (baseline.h).
//
//   creature   | x y z | heading | behaviour | target ...      offset[p], size[p]
//
// Made once per class; packing and comparing run for every property of every visit.

#ifndef PH_WIRE_PACKING_H
#define PH_WIRE_PACKING_H

#include "base/bitset.h"
#include "wire/layout.h"

#include <string.h>

// Bytes of the largest value: four words.
#define PH_PACKED_MAX (PH_VALUE_WORDS_MAX * 4)
#define PH_PACKED_POSITION 12 // of a position, whatever its coding

typedef struct ph_packing {
    uint16_t offset[PH_PROPERTIES_MAX];
    uint8_t size[PH_PROPERTIES_MAX];   // in bytes, 0: sent once, and no position
    uint8_t widths[PH_PROPERTIES_MAX]; // two bits a word: 0, 1, 2, 3 for 0, 1, 2, 4 bytes
    uint16_t stride;                   // bytes of all of them
    uint8_t initial[PH_PROPERTIES_MAX * PH_PACKED_MAX]; // all values of an entity that is new
} ph_packing;

ph_packing ph_packing_make(const ph_layout* layout);

// One value, size[property] bytes.
void ph_packing_store(const ph_packing* packing, int property, const uint32_t* words,
                      uint8_t* bytes);
void ph_packing_load(const ph_packing* packing, int property, const uint8_t* bytes,
                     uint32_t* words);

// Whether the bytes hold this value.
bool ph_packing_is_same(const ph_packing* packing, int property, const uint32_t* words,
                        const uint8_t* bytes);

// The value of a plain property (wire/layout.h), which is one word.
static inline uint32_t ph_packing_word(const ph_packing* packing, int property,
                                       const uint8_t* bytes)
{
    uint16_t half;
    uint32_t whole;
    switch (packing->size[property]) {
    case sizeof(uint8_t):
        return bytes[0];
    case sizeof half:
        memcpy(&half, bytes, sizeof half);
        return half;
    default:
        memcpy(&whole, bytes, sizeof whole);
        return whole;
    }
}

// Positions are three whole words, so they need no walk.
_Static_assert(PH_PACKED_POSITION == 3 * sizeof(uint32_t), "x, y, z");
static inline bool ph_packing_is_same_position(const uint32_t words[3], const uint8_t* bytes)
{
    // Word by word: words that were just written one by one and are fetched in pairs are waited for.
    for (int i = 0; i < 3; ++i) {
        uint32_t known;
        memcpy(&known, bytes + (size_t)i * sizeof known, sizeof known);
        if (words[i] != known) {
            return false;
        }
    }
    return true;
}

// A set of properties, packed one behind the other: how many bytes, and those bytes, from a block
// that is laid out by the class.
static inline size_t ph_packing_size(const ph_packing* packing, uint64_t properties)
{
    size_t size = 0;
    for (; properties != 0; properties &= properties - 1) {
        size += packing->size[ph_word_lowest_bit(properties)];
    }
    return size;
}

// The same; nearly all that is told is a position alone.
static inline size_t ph_packing_size_all(const ph_packing* packing, const ph_layout* layout,
                                         uint64_t properties)
{
    return PH_LIKELY(properties == layout->position) ? PH_PACKED_POSITION
                                                     : ph_packing_size(packing, properties);
}

// Where the value of one of them begins; bit says which.
static inline const uint8_t* ph_packing_within(const ph_packing* packing, uint64_t properties,
                                               uint64_t bit, const uint8_t* bytes)
{
    PH_ASSERT((properties & bit) != 0);

    return bytes + ph_packing_size(packing, properties & (bit - 1));
}

// Of the words of an entity.
void ph_packing_store_several(const ph_packing* packing, const ph_layout* layout,
                              uint64_t properties, const uint32_t* words, uint8_t* bytes);
static inline void ph_packing_store_all(const ph_packing* packing, const ph_layout* layout,
                                        uint64_t properties, const uint32_t* words, uint8_t* bytes)
{
    if (PH_LIKELY(properties == layout->position)) {
        memcpy(bytes, words + layout->position_word, PH_PACKED_POSITION);
    } else {
        ph_packing_store_several(packing, layout, properties, words, bytes);
    }
}

// A call, or the processor's own instruction for it, would cost more than the few bytes. Most are a
// position or a small number.
static inline void ph_packing_copy(uint8_t* to, const uint8_t* from, unsigned size)
{
    if (size == PH_PACKED_POSITION) {
        memcpy(to, from, PH_PACKED_POSITION);
        return;
    }
    for (; size >= 4; size -= 4, to += 4, from += 4) {
        memcpy(to, from, 4);
    }
    while (size > 0) {
        --size;
        to[size] = from[size];
    }
}

// From such bytes to where each property has its place in those of an entity.
static inline void ph_packing_spread(const ph_packing* packing, uint64_t properties,
                                     const uint8_t* bytes, uint8_t* all)
{
    for (; properties != 0; properties &= properties - 1) {
        const int property = ph_word_lowest_bit(properties);
        const unsigned size = packing->size[property];
        ph_packing_copy(all + packing->offset[property], bytes, size);
        bytes += size;
    }
}

#endif
