// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Layouts are made when a world or a client is; resetting runs once per enter, rounding once per
// moved entity. layout.h has the drawing.

#include "wire/layout.h"

#include "base/allocator.h"
#include "wire/classic.h"

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

static void note_heading(ph_layout* layout, int index)
{
    if (layout->heading == 0) {
        layout->heading = UINT64_C(1) << index;
        layout->heading_property = (uint8_t)index;
    }
}

static void note_position(ph_layout* layout, const ph_property* property, int index)
{
    layout->position = UINT64_C(1) << index;
    layout->position_property = (uint8_t)index;
    layout->position_word = layout->word[index];
    layout->coordinate = property->coordinate;
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
    layout->word[index] = (uint16_t)layout->word_count;
    layout->word_count += property->words;
    if (property->def.coding == PH_CODING_POSITION) {
        note_position(layout, property, index);
    }
    if (property->def.coding == PH_CODING_ANGLE) {
        note_heading(layout, index);
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
    layout.others = layout.all & ~layout.position & ~layout.heading;
    layout.flag_count = described->def.property_count - 1;
    layout.enter_bits_max =
        PH_CLASSIC_ENTER_BITS_MAX + layout.flag_count + ph_class_max_bits(described);
    return layout;
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
    *layouts = (ph_layouts){.layouts = made, .count = count, .allocator = source};
    for (int i = 0; i < count; ++i) {
        made[i] = make_layout(ph_schema_class_at(schema, i));
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

// ---- blocks

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
    const int shift = layout->coordinate.shift;
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
