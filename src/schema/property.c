// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Between the game's fields and the words that are kept and compared. Quantising runs for every
// bound property of every struct that is put, restoring for every struct that is read.

#include "schema/property.h"

#include "schema/field.h"
#include "schema/vocabulary.h"

#include <pinhole/quaternion.h>
#include <pinhole/text.h>

#include <string.h>

_Static_assert(sizeof(ph_entity_id) == 2 * sizeof(uint32_t), "an id is kept as two words");

// ---- numbers and words

static void split(uint64_t value, int count, uint32_t* words)
{
    words[0] = (uint32_t)value;
    if (count > 1) {
        words[1] = (uint32_t)(value >> 32);
    }
}

static uint64_t join(const uint32_t* words, int count)
{
    return words[0] | (count > 1 ? (uint64_t)words[1] << 32 : 0);
}

static const uint8_t* component_at(ph_field element, const void* value, int index)
{
    return (const uint8_t*)value + (size_t)index * ph_field_size(element, 0);
}

// ---- whole numbers

static ph_result quantise_whole(const ph_property* property, ph_field field, const void* value,
                                uint32_t* words)
{
    int64_t number;
    if (!ph_field_load_whole(field, value, &number) || number < property->integer.lo ||
        number > property->integer.hi) {
        return PH_ERROR_VALUE;
    }
    split((uint64_t)(number - property->integer.lo), property->words, words);
    return PH_OK;
}

static ph_result restore_whole(const ph_property* property, ph_field field, const uint32_t* words,
                               void* value)
{
    const int64_t number = property->integer.lo + (int64_t)join(words, property->words);
    return ph_field_store_whole(field, number, value) ? PH_OK : PH_ERROR_VALUE;
}

// ---- ladders: FIXED is one of them, VEC3 three

static ph_result quantise_ladders(const ph_property* property, ph_field field, const void* value,
                                  uint32_t* words)
{
    const ph_field element = ph_field_element(field);
    uint32_t levels[3];
    for (int i = 0; i < property->words; ++i) {
        const double number = ph_field_load_real(element, component_at(element, value, i));
        const ph_result result = ph_fixed_encode(&property->fixed[i], number, &levels[i]);
        if (result != PH_OK) {
            return result;
        }
    }
    memcpy(words, levels, (size_t)property->words * sizeof words[0]);
    return PH_OK;
}

static ph_result restore_ladders(const ph_property* property, ph_field field, const uint32_t* words,
                                 void* value)
{
    const ph_field element = ph_field_element(field);
    const size_t size = ph_field_size(element, 0);
    uint8_t stored[3 * sizeof(double)]; // beside, so that a refusal leaves the field as it was
    for (int i = 0; i < property->words; ++i) {
        const double number = ph_fixed_decode(&property->fixed[i], words[i]);
        if (!ph_field_store_real(element, number, stored + (size_t)i * size)) {
            return PH_ERROR_VALUE;
        }
    }
    memcpy(value, stored, (size_t)property->words * size);
    return PH_OK;
}

// ---- angles

static ph_result quantise_angle(const ph_property* property, ph_field field, const void* value,
                                uint32_t* words)
{
    return ph_angle_encode(&property->angle, ph_field_load_real(field, value), words);
}

static ph_result restore_angle(const ph_property* property, ph_field field, const uint32_t* words,
                               void* value)
{
    double angle = ph_angle_decode(&property->angle, words[0]);
    // A whole degree or a float above the last part is a full turn, which is none.
    const bool is_rounded_up = field == PH_FIELD_F32
                                   ? (double)(float)angle >= property->angle.turn
                                   : field != PH_FIELD_F64 && angle + 0.5 >= property->angle.turn;
    if (is_rounded_up) {
        angle = 0.0;
    }
    return ph_field_store_real(field, angle, value) ? PH_OK : PH_ERROR_VALUE;
}

// ---- quaternions. Their words are the bits of the wire, so the coding itself packs and unpacks
// them: no second formula can disagree with it.

static ph_result quantise_quaternion(const ph_property* property, ph_field field, const void* value,
                                     uint32_t* words)
{
    const ph_field element = ph_field_element(field);
    double parts[4];
    for (int i = 0; i < 4; ++i) {
        parts[i] = ph_field_load_real(element, component_at(element, value, i));
    }
    ph_quaternion_levels levels;
    const ph_result result = ph_quaternion_encode(
        property->def.bits, (ph_quaternion){parts[0], parts[1], parts[2], parts[3]}, &levels);
    if (result != PH_OK) {
        return result;
    }
    uint8_t bytes[8] = {0};
    ph_bit_writer writer = ph_bit_writer_make(bytes, sizeof bytes);
    ph_quaternion_write_levels(property->def.bits, &writer, levels);
    ph_bit_writer_finish(&writer);
    split(ph_bits_load64(bytes), property->words, words);
    return PH_OK;
}

static ph_result restore_quaternion(const ph_property* property, ph_field field,
                                    const uint32_t* words, void* value)
{
    uint8_t bytes[8];
    ph_bits_store64(bytes, join(words, property->words));
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    const ph_quaternion_levels levels = ph_quaternion_read_levels(property->def.bits, &reader);
    PH_ASSERT(ph_bit_reader_result(&reader) == PH_OK);
    const ph_quaternion rotation = ph_quaternion_decode(property->def.bits, levels);
    const double parts[4] = {rotation.x, rotation.y, rotation.z, rotation.w};
    const ph_field element = ph_field_element(field);
    for (int i = 0; i < 4; ++i) {
        // Within -1..1: every field holds it.
        ph_field_store_real(element, parts[i],
                            (uint8_t*)value + (size_t)i * ph_field_size(element, 0));
    }
    return PH_OK;
}

// ---- any of them

ph_result ph_property_quantise_field(const ph_property* property, ph_field field, const void* value,
                                     uint32_t* words)
{
    PH_ASSERT(!property->is_text);

    const ph_coding coding = property->def.coding;
    if (!ph_coding_suits(coding, field)) {
        return PH_ERROR_VALUE;
    }
    switch (coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        return quantise_ladders(property, field, value, words);
    case PH_CODING_ANGLE:
        return quantise_angle(property, field, value, words);
    case PH_CODING_QUATERNION:
        return quantise_quaternion(property, field, value, words);
    case PH_CODING_ENTITY:
    case PH_CODING_POSITION:
        memcpy(words, value, (size_t)property->words * sizeof words[0]);
        return PH_OK;
    default:
        return quantise_whole(property, field, value, words);
    }
}

ph_result ph_property_restore_field(const ph_property* property, ph_field field,
                                    const uint32_t* words, void* value)
{
    PH_ASSERT(!property->is_text);

    const ph_coding coding = property->def.coding;
    if (!ph_coding_suits(coding, field)) {
        return PH_ERROR_VALUE;
    }
    switch (coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        return restore_ladders(property, field, words, value);
    case PH_CODING_ANGLE:
        return restore_angle(property, field, words, value);
    case PH_CODING_QUATERNION:
        return restore_quaternion(property, field, words, value);
    case PH_CODING_ENTITY:
    case PH_CODING_POSITION:
        memcpy(value, words, (size_t)property->words * sizeof words[0]);
        return PH_OK;
    default:
        return restore_whole(property, field, words, value);
    }
}

bool ph_property_suits(const ph_property* property, ph_field field, size_t size)
{
    if (field <= PH_FIELD_NONE || field >= PH_FIELD_COUNT) {
        return false;
    }
    switch (property->def.coding) {
    case PH_CODING_STRING:
        return field == PH_FIELD_TEXT;
    case PH_CODING_BYTES:
        return field == PH_FIELD_BYTES && size >= sizeof(uint16_t);
    default:
        return field != PH_FIELD_TEXT && field != PH_FIELD_BYTES && size > 0 &&
               size == ph_field_size(field, 0);
    }
}

uint64_t ph_property_top(const ph_property* property, int word)
{
    PH_ASSERT(property->is_number || property->def.coding == PH_CODING_VEC3);

    switch (property->def.coding) {
    case PH_CODING_FIXED:
        return property->fixed[0].top_level;
    case PH_CODING_VEC3:
        return property->fixed[word].top_level;
    case PH_CODING_ANGLE:
        return UINT32_MAX >> (32 - property->angle.width);
    default:
        return (uint64_t)property->integer.hi - (uint64_t)property->integer.lo;
    }
}

ph_result ph_property_quantise(const ph_property* property, const void* base, uint32_t* words)
{
    PH_ASSERT(property->def.field != PH_FIELD_NONE);
    return ph_property_quantise_field(property, property->def.field,
                                      (const uint8_t*)base + property->def.offset, words);
}

void ph_property_restore(const ph_property* property, const uint32_t* words, void* base)
{
    PH_ASSERT(property->def.field != PH_FIELD_NONE);
    // Never refused: a schema whose field does not hold every value is not made.
    (void)ph_property_restore_field(property, property->def.field, words,
                                    (uint8_t*)base + property->def.offset);
}

// ---- texts

ph_result ph_property_check_text(const ph_property* property, const void* bytes, size_t length)
{
    PH_ASSERT(property->is_text);

    if (length > (size_t)property->def.max_length) {
        return PH_ERROR_TOO_LONG;
    }
    const bool is_string = property->def.coding == PH_CODING_STRING;
    return is_string && !ph_text_is_valid(bytes, length) ? PH_ERROR_TEXT : PH_OK;
}

ph_result ph_property_text(const ph_property* property, const void* base, ph_text* text)
{
    PH_ASSERT(property->is_text && property->def.field != PH_FIELD_NONE);

    const uint8_t* bytes = (const uint8_t*)base + property->def.offset;
    const size_t max_length = (size_t)property->def.max_length;
    size_t length = 0;
    if (property->def.field == PH_FIELD_TEXT) {
        while (length <= max_length && bytes[length] != 0) {
            ++length;
        }
    } else {
        uint16_t stored;
        memcpy(&stored, bytes, sizeof stored);
        length = stored;
        bytes += sizeof stored;
    }
    *text = (ph_text){0};
    const ph_result result = ph_property_check_text(property, bytes, length);
    if (result == PH_OK) {
        *text = (ph_text){.bytes = bytes, .length = (uint16_t)length};
    }
    return result;
}

void ph_property_restore_text(const ph_property* property, ph_text text, void* base)
{
    PH_ASSERT(property->is_text && property->def.field != PH_FIELD_NONE);
    PH_ASSERT(text.length <= property->def.max_length);

    uint8_t* field = (uint8_t*)base + property->def.offset;
    memset(field, 0, ph_field_size(property->def.field, property->def.max_length));
    if (property->def.field == PH_FIELD_BYTES) {
        memcpy(field, &text.length, sizeof text.length);
        field += sizeof text.length;
    }
    if (text.length > 0) {
        memcpy(field, text.bytes, text.length);
    }
}

ph_result ph_text_restore(ph_text text, ph_field field, void* value, size_t size)
{
    const bool is_counted = field == PH_FIELD_BYTES;
    uint8_t* bytes = value;
    if (size < text.length + (is_counted ? sizeof text.length : 1)) {
        return PH_ERROR_TOO_LONG;
    }
    if (is_counted) {
        memcpy(bytes, &text.length, sizeof text.length);
        memcpy(bytes + sizeof text.length, text.bytes, text.length);
    } else {
        memcpy(bytes, text.bytes, text.length);
        bytes[text.length] = '\0';
    }
    return PH_OK;
}
