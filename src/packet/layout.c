// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Layouts are made when a world or a client is; resetting runs once per enter, rounding once per
// moved entity. layout.h has the drawing.

#include "packet/layout.h"

#include "base/allocator.h"
#include "packet/classic_records.h"
#include "packet/smooth_parts.h"

#include <string.h>

// ---- making

// Room of a text: its length, its bytes, the zero byte that reading a string adds; even.
static uint32_t text_room_bytes(const ph_property* property)
{
    const uint32_t bytes = (uint32_t)sizeof(uint16_t) + (uint32_t)property->def.max_length + 1;
    return (bytes + 1) & ~UINT32_C(1);
}

// One word that goes out as it is. A default bit, a second word or a length of its own speak against
// it.
static bool is_plain(const ph_property* property)
{
    switch (property->def.coding) {
    case PH_CODING_BOOL:
    case PH_CODING_ENUM:
    case PH_CODING_RANGE:
    case PH_CODING_FIXED:
    case PH_CODING_ANGLE:
        return property->def.has_default == 0 && property->words == 1;
    default:
        return false;
    }
}

static void note_class_facing(ph_layout* layout)
{
    const ph_class* described = layout->described;
    if (described->orientation >= 0) {
        layout->orientation = UINT64_C(1) << described->orientation;
        layout->orientation_property = (uint8_t)described->orientation;
        layout->orientation_bits = (uint8_t)described->properties[described->orientation].def.bits;
    } else if (described->heading >= 0) {
        layout->heading = UINT64_C(1) << described->heading;
        layout->heading_property = (uint8_t)described->heading;
    }
    layout->facing = layout->heading | layout->orientation;
    if (described->carrier >= 0) {
        layout->has_carrier = true;
        layout->carrier_property = (uint8_t)described->carrier;
    }
}

static void note_class_position(ph_layout* layout, const ph_property* property, int index)
{
    layout->position = UINT64_C(1) << index;
    layout->position_property = (uint8_t)index;
    layout->position_word = layout->word[index];
    layout->coordinate = property->coordinate;
    layout->finest_shift = property->finest_shift;
    layout->finer = property->coordinate.shift - property->finest_shift;
    layout->has_ground = property->def.ground_tolerance_mm != 0;
}

static void add_property(ph_layout* layout, int index)
{
    const ph_property* property = &layout->described->properties[index];
    const uint64_t bit = UINT64_C(1) << index;
    layout->all |= bit;
    layout->references |= property->def.coding == PH_CODING_ENTITY ? bit : 0;
    layout->once |= property->def.when == PH_SEND_ONCE ? bit : 0;
    layout->vivid |= property->significant_steps <= 1 ? bit : 0;
    layout->limited |= property->distance_mm != UINT64_MAX ? bit : 0;
    layout->smooth |= property->def.is_smooth ? bit : 0;
    layout->smooth_parts += property->def.is_smooth ? ph_smooth_parts(property) : 0;
    layout->word[index] = (uint16_t)layout->word_count;
    layout->word_count += property->words;
    if (property->def.coding == PH_CODING_POSITION) {
        note_class_position(layout, property, index);
    }
    if (property->is_text) {
        layout->texts |= bit;
        layout->text[index] = layout->text_bytes;
        layout->text_bytes += text_room_bytes(property);
    }
    if (is_plain(property)) {
        layout->plain |= bit;
        layout->plain_bits[index] = (uint8_t)ph_property_max_bits(property);
        layout->plain_top[index] = (uint32_t)ph_property_top(property, 0);
    }
}

static ph_layout make_layout(const ph_class* described)
{
    ph_layout layout = {.described = described, .heading_property = PH_HEADING_NONE};
    for (int i = 0; i < described->def.property_count; ++i) {
        add_property(&layout, i);
    }
    note_class_facing(&layout);
    layout.others = layout.all & ~layout.position & ~layout.facing;
    layout.flag_count = described->def.property_count - 1;
    layout.enter_bits_max = PH_CLASSIC_ENTER_BITS_MAX + layout.flag_count +
                            ph_class_max_bits(described) +
                            (layout.orientation != 0 ? PH_ORIENTATION_EXTRA_BITS : 0);
    return layout;
}

// What a schema that was learned has for the properties of a class.
static void find_own_models(ph_layout* layout, const ph_schema* schema, int class_index)
{
    layout->first_property = ph_schema_first_property(schema, class_index);
    layout->has_told_models = layout->others != 0;
    for (uint64_t left = layout->others; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const int of_all = layout->first_property + property;
        for (int told = 0; told < 2; ++told) {
            layout->has_told_models =
                layout->has_told_models &&
                ph_schema_has_model(schema, ph_learned_told_entry(of_all, told));
        }
        if (ph_schema_has_model(schema, ph_learned_number_entry(of_all))) {
            layout->own_numbers |= UINT64_C(1) << property;
        }
    }
}

ph_result ph_layouts_create(ph_layouts* layouts, const ph_schema* schema,
                            const ph_allocator* allocator)
{
    const int count = ph_schema_class_count(schema);
    const ph_allocator source = allocator != NULL ? *allocator : (ph_allocator){0};
    *layouts = (ph_layouts){0};
    ph_layout* made = ph_allocate_array(&source, (size_t)count, sizeof made[0]);
    if (made == NULL) {
        return PH_ERROR_MEMORY;
    }
    *layouts = (ph_layouts){
        .layouts = made, .count = count, .models = ph_schema_models(schema), .allocator = source};
    for (int i = 0; i < count; ++i) {
        made[i] = make_layout(ph_schema_class_at(schema, i));
        find_own_models(&made[i], schema, i);
        layouts->has_carriers = layouts->has_carriers || made[i].has_carrier;
        layouts->has_finer = layouts->has_finer || made[i].finer != 0;
        if (made[i].smooth_parts > layouts->smooth_parts_max) {
            layouts->smooth_parts_max = made[i].smooth_parts;
        }
        if (made[i].word_count > layouts->word_count_max) {
            layouts->word_count_max = made[i].word_count;
        }
        if (made[i].text_bytes > layouts->text_bytes_max) {
            layouts->text_bytes_max = made[i].text_bytes;
        }
        if (made[i].enter_bits_max > layouts->enter_bits_max) {
            layouts->enter_bits_max = made[i].enter_bits_max;
        }
    }
    return PH_OK;
}

void ph_layouts_destroy(ph_layouts* layouts)
{
    ph_release_array(&layouts->allocator, layouts->layouts, (size_t)layouts->count,
                     sizeof layouts->layouts[0]);
    *layouts = (ph_layouts){0};
}

void ph_layouts_forget_finest(ph_layouts* layouts)
{
    layouts->has_finer = false;
    for (int i = 0; i < layouts->count; ++i) {
        layouts->layouts[i].finest_shift = layouts->layouts[i].coordinate.shift;
        layouts->layouts[i].finer = 0;
    }
}

int ph_layout_finer_of(const ph_layout* layout, const uint32_t words[2])
{
    const uint64_t step = UINT64_C(1) << layout->coordinate.shift;
    const int shift = ph_word_lowest_bit(words[0] | words[1] | step);
    return shift > layout->finest_shift ? layout->coordinate.shift - shift : layout->finer;
}

// ---- blocks

const ph_altitude* ph_layout_altitude(const ph_layout* layout)
{
    return &layout->described->properties[layout->position_property].altitude;
}

void ph_layout_reset(const ph_layout* layout, uint32_t* words, uint8_t* texts)
{
    const ph_class* described = layout->described;
    for (int i = 0; i < described->def.property_count; ++i) {
        const ph_property* property = &described->properties[i];
        memcpy(words + layout->word[i], property->initial,
               (size_t)property->words * sizeof words[0]);
    }
    if (layout->text_bytes > 0) {
        memset(texts, 0, layout->text_bytes);
    }
}

bool ph_layout_is_initial(const ph_layout* layout, const uint32_t* words, const uint8_t* texts,
                          int property)
{
    if ((layout->texts >> property & 1) != 0) {
        return ph_layout_text(layout, texts, property).length == 0;
    }
    const ph_property* described = &layout->described->properties[property];
    return memcmp(words + layout->word[property], described->initial,
                  (size_t)described->words * sizeof words[0]) == 0;
}

// The length by memcpy: a block of bytes promises no alignment.
ph_text ph_layout_text(const ph_layout* layout, const uint8_t* texts, int property)
{
    PH_ASSERT((layout->texts >> property & 1) != 0);

    const uint8_t* room = texts + layout->text[property];
    ph_text text = {.bytes = room + sizeof text.length};
    memcpy(&text.length, room, sizeof text.length);
    return text;
}

void ph_layout_store_text(const ph_layout* layout, uint8_t* texts, int property, ph_text text)
{
    const ph_property* described = &layout->described->properties[property];
    PH_ASSERT((layout->texts >> property & 1) != 0);
    PH_ASSERT(text.length <= described->def.max_length);

    uint8_t* room = texts + layout->text[property];
    memcpy(room, &text.length, sizeof text.length);
    room += sizeof text.length;
    // Reading puts the bytes here first and stores them then.
    if (text.length > 0 && text.bytes != room) {
        memcpy(room, text.bytes, text.length);
    }
    const size_t left = text_room_bytes(described) - sizeof text.length - text.length;
    memset(room + text.length, 0, left);
}

void ph_layout_round_position(const ph_layout* layout, const ph_ground* ground,
                              const int32_t position_mm[3], uint32_t words[3])
{
    const ph_property* property = &layout->described->properties[layout->position_property];
    const int shift = layout->finest_shift;
    for (int i = 0; i < 3; ++i) {
        words[i] = (uint32_t)position_mm[i] >> shift << shift;
    }
    if (!layout->has_ground) {
        return;
    }
    const int32_t x_mm = (int32_t)words[0];
    const int32_t y_mm = (int32_t)words[1];
    const ph_altitude_level level =
        ph_altitude_encode(&property->altitude, ground, x_mm, y_mm, position_mm[2]);
    words[2] = (uint32_t)ph_altitude_decode(&property->altitude, ground, x_mm, y_mm, level);
}

// Values in as few bytes as their ranges need. Bytes stay in memory and never travel, so their
// order is the machine's own.

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

static void packing_add_property(ph_packing* packing, const ph_property* property, int index)
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
        packing_add_property(&packing, &described->properties[i], i);
        ph_packing_store(&packing, i, described->properties[i].initial,
                         packing.initial + packing.offset[i]);
    }
    if (layout->orientation != 0) {
        packing.turning = packing.stride;
        packing.stride = (uint16_t)(packing.stride + PH_PACKED_TURNING);
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

// Most values that are compared have changed: the first word that differs is the end.
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

bool ph_packing_is_same_position(const uint32_t words[3], const uint8_t* bytes)
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

// ---- several values

size_t ph_packing_size(const ph_packing* packing, uint64_t properties)
{
    size_t size = 0;
    for (; properties != 0; properties &= properties - 1) {
        size += packing->size[ph_word_lowest_bit(properties)];
    }
    return size;
}

const uint8_t* ph_packing_within(const ph_packing* packing, uint64_t properties, uint64_t bit,
                                 const uint8_t* bytes)
{
    PH_ASSERT((properties & bit) != 0);

    return bytes + ph_packing_size(packing, properties & (bit - 1));
}

void ph_packing_store_all(const ph_packing* packing, const ph_layout* layout, uint64_t properties,
                          const uint32_t* words, uint8_t* bytes)
{
    // Nearly all that is told is a position alone.
    if (PH_LIKELY(properties == layout->position)) {
        memcpy(bytes, words + layout->position_word, PH_PACKED_POSITION);
        return;
    }
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

// A call, or the processor's own instruction for it, would cost more than the few bytes. Most are a
// position or a small number.
static void copy_packed(uint8_t* to, const uint8_t* from, unsigned size)
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

void ph_packing_spread(const ph_packing* packing, uint64_t properties, const uint8_t* bytes,
                       uint8_t* all)
{
    for (; properties != 0; properties &= properties - 1) {
        const int property = ph_word_lowest_bit(properties);
        const unsigned size = packing->size[property];
        copy_packed(all + packing->offset[property], bytes, size);
        bytes += size;
    }
}
