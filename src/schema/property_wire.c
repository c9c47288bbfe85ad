// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Properties on the wire, in the plain codings: exact cost, writing, reading. Runs once per
// property of a record.

#include "schema/property.h"

#include "schema/vocabulary.h"

#include <pinhole/quaternion.h>
#include <pinhole/text.h>

#include <string.h>

static int64_t whole_of(const ph_property* property, const uint32_t* words)
{
    const uint64_t high = property->words > 1 ? (uint64_t)words[1] << 32 : 0;
    return property->integer.lo + (int64_t)(high | words[0]);
}

// ENTITY and POSITION are the last codings.
_Static_assert(PH_CODING_ENTITY == PH_CODING_COUNT - 2 && PH_CODING_POSITION == PH_CODING_COUNT - 1,
               "the assertions below compare with the first of them");

// ---- angles: the coding itself knows no default

static void write_angle(const ph_property* property, ph_bit_writer* writer, uint32_t level)
{
    if (property->def.has_default == 0) {
        ph_bits_write(writer, level, property->angle.width);
    } else if (level == property->initial[0]) {
        ph_bits_write_bool(writer, true);
    } else {
        // Flag and level as one field: the flag is its lowest bit and therefore comes first.
        ph_bits_write(writer, (uint64_t)level << 1, 1 + property->angle.width);
    }
}

static uint32_t read_angle(const ph_property* property, ph_bit_reader* reader)
{
    if (property->def.has_default != 0 && ph_bits_read_bool(reader)) {
        return property->initial[0];
    }
    const uint32_t level = (uint32_t)ph_bits_read(reader, property->angle.width);
    if (property->def.has_default != 0 && level == property->initial[0]) {
        ph_bit_reader_fail(reader, PH_ERROR_VALUE);
    }
    return level;
}

// ---- cost

static int ladders_cost_bits(const ph_property* property, const uint32_t* levels)
{
    int cost_bits = 0;
    for (int i = 0; i < property->words; ++i) {
        cost_bits += ph_fixed_cost_bits(&property->fixed[i], levels[i]);
    }
    return cost_bits;
}

int ph_property_cost_bits(const ph_property* property, const uint32_t* words, ph_text text)
{
    PH_ASSERT(property->def.coding < PH_CODING_ENTITY);

    if (property->constant_bits != 0 && property->def.has_default == 0) {
        return property->constant_bits;
    }
    if (property->constant_bits != 0) {
        const bool is_default =
            memcmp(words, property->initial, (size_t)property->words * sizeof(uint32_t)) == 0;
        return is_default ? 1 : 1 + property->constant_bits;
    }
    PH_ASSERT(property->def.coding != PH_CODING_ANGLE &&
              property->def.coding != PH_CODING_QUATERNION);
    switch (property->def.coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        return ladders_cost_bits(property, words);
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        return (int)ph_bytes_cost_bits(text.length, (size_t)property->def.max_length);
    default:
        return ph_integer_cost_bits(&property->integer, whole_of(property, words));
    }
}

static int position_max_bits(const ph_property* property)
{
    const int full_bits = 32 - property->coordinate.shift;
    if (property->def.ground_tolerance_mm == 0) {
        return 3 * full_bits;
    }
    return 2 * full_bits + ph_width_of(PH_GROUND_LAYERS_MAX) + 32 - property->altitude.escape_shift;
}

int ph_property_max_bits(const ph_property* property)
{
    const size_t max_length = (size_t)property->def.max_length;
    int bits = 0;
    switch (property->def.coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        for (int i = 0; i < property->words; ++i) {
            bits += property->fixed[i].width + (property->fixed[i].has_default ? 1 : 0);
        }
        return bits;
    case PH_CODING_ANGLE:
        return property->angle.width + property->def.has_default;
    case PH_CODING_QUATERNION:
        return ph_quaternion_cost_bits(property->def.bits);
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        return (int)ph_bytes_cost_bits(max_length, max_length);
    case PH_CODING_ENTITY:
        return PH_REFERENCE_BITS_MAX;
    case PH_CODING_POSITION:
        return position_max_bits(property);
    default:
        return ph_integer_max_bits(&property->integer);
    }
}

int ph_class_max_bits(const ph_class* type)
{
    int bits = 0;
    for (int i = 0; i < type->def.property_count; ++i) {
        bits += ph_property_max_bits(&type->properties[i]);
    }
    return bits;
}

// ---- writing

void ph_property_write(const ph_property* property, ph_bit_writer* writer, const uint32_t* words,
                       ph_text text)
{
    PH_ASSERT(property->def.coding < PH_CODING_ENTITY);

    const size_t max_length = (size_t)property->def.max_length;
    switch (property->def.coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        for (int i = 0; i < property->words; ++i) {
            ph_fixed_write_level(&property->fixed[i], writer, words[i]);
        }
        return;
    case PH_CODING_ANGLE:
        write_angle(property, writer, words[0]);
        return;
    case PH_CODING_QUATERNION:
        ph_bits_write(writer, (uint64_t)words[1] << 32 | words[0],
                      ph_quaternion_cost_bits(property->def.bits));
        return;
    case PH_CODING_STRING:
        ph_string_write(writer, (const char*)text.bytes, text.length, max_length);
        return;
    case PH_CODING_BYTES:
        ph_bytes_write(writer, text.bytes, text.length, max_length);
        return;
    default:
        ph_integer_write(&property->integer, writer, whole_of(property, words));
        return;
    }
}

// ---- reading

static void read_ladders(const ph_property* property, ph_bit_reader* reader, uint32_t* levels)
{
    for (int i = 0; i < property->words; ++i) {
        levels[i] = ph_fixed_read_level(&property->fixed[i], reader);
    }
}

static void read_quaternion(const ph_property* property, ph_bit_reader* reader, uint32_t* words)
{
    // Twice over the same bits: the coding checks them, the words are them.
    ph_bit_reader again = *reader;
    (void)ph_quaternion_read_levels(property->def.bits, reader);
    const uint64_t bits = ph_bits_read(&again, ph_quaternion_cost_bits(property->def.bits));
    words[0] = (uint32_t)bits;
    words[1] = (uint32_t)(bits >> 32);
}

static void read_whole(const ph_property* property, ph_bit_reader* reader, uint32_t* words)
{
    const int64_t value = ph_integer_read(&property->integer, reader);
    const uint64_t above_lo = (uint64_t)(value - property->integer.lo);
    words[0] = (uint32_t)above_lo;
    if (property->words > 1) {
        words[1] = (uint32_t)(above_lo >> 32);
    }
}

static void read_property_text(const ph_property* property, ph_bit_reader* reader, uint8_t* buffer,
                               uint16_t* length)
{
    const size_t max_length = (size_t)property->def.max_length;
    *length = (uint16_t)(property->def.coding == PH_CODING_STRING
                             ? ph_string_read(reader, (char*)buffer, max_length + 1, max_length)
                             : ph_bytes_read(reader, buffer, max_length));
    buffer[*length] = 0;
}

void ph_property_read(const ph_property* property, ph_bit_reader* reader, uint32_t* words,
                      uint8_t* text_buffer, uint16_t* text_length)
{
    PH_ASSERT(property->def.coding < PH_CODING_ENTITY);

    switch (property->def.coding) {
    case PH_CODING_FIXED:
    case PH_CODING_VEC3:
        read_ladders(property, reader, words);
        break;
    case PH_CODING_ANGLE:
        words[0] = read_angle(property, reader);
        break;
    case PH_CODING_QUATERNION:
        read_quaternion(property, reader, words);
        break;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        words[0] = 0;
        read_property_text(property, reader, text_buffer, text_length);
        break;
    default:
        read_whole(property, reader, words);
        break;
    }
    if (ph_bit_reader_result(reader) != PH_OK) {
        memcpy(words, property->initial, (size_t)property->words * sizeof words[0]);
    }
}
