// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Values in as few bytes as their ranges need. Bytes stay in memory and never travel, so their
// order is the machine's own.

#include "wire/packing.h"

#define WIDTH_BITS 2
#define WIDTH_MASK 3u

enum { WIDTH_NONE, WIDTH_1, WIDTH_2, WIDTH_4 };

static const uint8_t BYTES_OF_WIDTH[] = {
    [WIDTH_NONE] = 0, [WIDTH_1] = 1, [WIDTH_2] = 2, [WIDTH_4] = 4};

// ---- making

// The greatest that a word of a property can be, as far as bytes can be saved.
static uint32_t top_of(const ph_property* property, int word)
{
    if (property->def.coding == PH_CODING_ENTITY) {
        return word == 0 ? UINT16_MAX : UINT32_MAX; // a slot + 1; an association
    }
    if (!property->is_number && property->def.coding != PH_CODING_VEC3) {
        return UINT32_MAX;
    }
    const uint64_t top = ph_property_top(property, word);
    return top < UINT32_MAX ? (uint32_t)top : UINT32_MAX;
}

static unsigned width_of(uint32_t top)
{
    return top <= UINT8_MAX ? WIDTH_1 : top <= UINT16_MAX ? WIDTH_2 : WIDTH_4;
}

static void add_property(ph_packing* packing, const ph_property* property, int index)
{
    packing->offset[index] = packing->stride;
    if (property->def.when == PH_SEND_ONCE && property->def.coding != PH_CODING_POSITION) {
        return;
    }
    unsigned widths = 0;
    unsigned size = 0;
    for (int word = 0; word < property->words; ++word) {
        const unsigned width = width_of(top_of(property, word));
        widths |= width << (WIDTH_BITS * word);
        size += BYTES_OF_WIDTH[width];
    }
    packing->widths[index] = (uint8_t)widths;
    packing->size[index] = (uint8_t)size;
    packing->stride = (uint16_t)(packing->stride + size);
}

ph_packing ph_packing_make(const ph_layout* layout)
{
    const ph_class* described = layout->described;
    ph_packing packing = {0};
    for (int i = 0; i < described->def.property_count; ++i) {
        add_property(&packing, &described->properties[i], i);
        ph_packing_store(&packing, i, described->properties[i].initial,
                         packing.initial + packing.offset[i]);
    }
    return packing;
}

// ---- one value

void ph_packing_store(const ph_packing* packing, int property, const uint32_t* words,
                      uint8_t* bytes)
{
    for (unsigned widths = packing->widths[property]; widths != 0; widths >>= WIDTH_BITS) {
        const uint32_t word = *words++;
        switch (widths & WIDTH_MASK) {
        case WIDTH_1:
            *bytes++ = (uint8_t)word;
            break;
        case WIDTH_2:
            memcpy(bytes, &(uint16_t){(uint16_t)word}, sizeof(uint16_t));
            bytes += sizeof(uint16_t);
            break;
        default:
            memcpy(bytes, &word, sizeof word);
            bytes += sizeof word;
            break;
        }
    }
}

void ph_packing_store_several(const ph_packing* packing, const ph_layout* layout,
                              uint64_t properties, const uint32_t* words, uint8_t* bytes)
{
    for (; properties != 0; properties &= properties - 1) {
        const int property = ph_word_lowest_bit(properties);
        const uint32_t* value = words + layout->word[property];
        if (property == layout->position_property) {
            memcpy(bytes, value, PH_PACKED_POSITION);
        } else {
            ph_packing_store(packing, property, value, bytes);
        }
        bytes += packing->size[property];
    }
}

// The word at *bytes, which moves on.
static inline uint32_t next_word(unsigned width, const uint8_t** bytes)
{
    uint16_t half;
    uint32_t word;
    switch (width) {
    case WIDTH_1:
        return *(*bytes)++;
    case WIDTH_2:
        memcpy(&half, *bytes, sizeof half);
        *bytes += sizeof half;
        return half;
    default:
        memcpy(&word, *bytes, sizeof word);
        *bytes += sizeof word;
        return word;
    }
}

void ph_packing_load(const ph_packing* packing, int property, const uint8_t* bytes, uint32_t* words)
{
    for (unsigned widths = packing->widths[property]; widths != 0; widths >>= WIDTH_BITS) {
        *words++ = next_word(widths & WIDTH_MASK, &bytes);
    }
}

// Whoever is asked about has mostly changed: the first word that differs is the end.
bool ph_packing_is_same(const ph_packing* packing, int property, const uint32_t* words,
                        const uint8_t* bytes)
{
    for (unsigned widths = packing->widths[property]; widths != 0; widths >>= WIDTH_BITS) {
        if (*words++ != next_word(widths & WIDTH_MASK, &bytes)) {
            return false;
        }
    }
    return true;
}
