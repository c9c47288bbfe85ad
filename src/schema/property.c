// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Between the game's fields and the words that are kept and compared: values, texts, the fields
// themselves, and makers of declarations. Quantising runs for every bound property of every struct
// that is set, restoring for every struct that is got.

#include "schema/property.h"

#include "pinhole/schema.h"
#include "base/position.h"
#include "schema/vocabulary.h"

#include <pinhole/quaternion.h>
#include <pinhole/text.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// All names of field types fit.
enum { SUITED_TEXT_SIZE = 128 };

_Static_assert(sizeof(ph_entity_id) == 2 * sizeof(uint32_t), "an id is kept as two words");

// ---- numbers and words

static void split_property(uint64_t value, int count, uint32_t* words)
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
    split_property((uint64_t)(number - property->integer.lo), property->words, words);
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

ph_result ph_property_store_angle(const ph_property* property, ph_field field, double angle,
                                  void* value)
{
    // A whole degree or a float above the last part is a full turn, which is none.
    const bool is_rounded_up = field == PH_FIELD_F32
                                   ? (double)(float)angle >= property->angle.turn
                                   : field != PH_FIELD_F64 && angle + 0.5 >= property->angle.turn;
    if (is_rounded_up) {
        angle = 0.0;
    }
    return ph_field_store_real(field, angle, value) ? PH_OK : PH_ERROR_VALUE;
}

static ph_result restore_angle(const ph_property* property, ph_field field, const uint32_t* words,
                               void* value)
{
    return ph_property_store_angle(property, field, ph_angle_decode(&property->angle, words[0]),
                                   value);
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
    split_property(ph_bits_load64(bytes), property->words, words);
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

// ---- positions: 64 bits in the contract, 32 bits inside

static ph_result quantise_position(ph_field field, const void* value, uint32_t* words)
{
    if (field == PH_FIELD_I32X3) {
        memcpy(words, value, 3 * sizeof words[0]);
        return PH_OK;
    }
    int64_t position_mm[3];
    memcpy(position_mm, value, sizeof position_mm);
    if (!ph_is_position(position_mm)) {
        return PH_ERROR_VALUE;
    }
    for (int i = 0; i < 3; ++i) {
        words[i] = (uint32_t)position_mm[i];
    }
    return PH_OK;
}

static void restore_position(ph_field field, const uint32_t* words, void* value)
{
    if (field == PH_FIELD_I32X3) {
        memcpy(value, words, 3 * sizeof words[0]);
        return;
    }
    const int64_t position_mm[3] = {(int32_t)words[0], (int32_t)words[1], (int32_t)words[2]};
    memcpy(value, position_mm, sizeof position_mm);
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
        memcpy(words, value, (size_t)property->words * sizeof words[0]);
        return PH_OK;
    case PH_CODING_POSITION:
        return quantise_position(field, value, words);
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
        memcpy(value, words, (size_t)property->words * sizeof words[0]);
        return PH_OK;
    case PH_CODING_POSITION:
        restore_position(field, words, value);
        return PH_OK;
    default:
        return restore_whole(property, field, words, value);
    }
}

// ---- and clamped

// Half a step beyond an end is rounded to it; more is outside.
static bool is_number_outside(const ph_fixed* ladder, double number)
{
    return number < ladder->lo - 0.5 * ladder->step || number > ladder->hi + 0.5 * ladder->step;
}

static bool is_ladder_outside(const ph_property* property, ph_field field, const void* value)
{
    const ph_field element = ph_field_element(field);
    for (int i = 0; i < property->words; ++i) {
        const ph_fixed* ladder = &property->fixed[i];
        const double number = ph_field_load_real(element, component_at(element, value, i));
        if (is_number_outside(ladder, number)) {
            return true;
        }
    }
    return false;
}

static void clamp_whole(const ph_property* property, ph_field field, const void* value,
                        uint32_t* words)
{
    int64_t number;
    // What an int64 does not hold is above it.
    const bool is_below =
        ph_field_load_whole(field, value, &number) && number < property->integer.lo;
    split_property(is_below ? 0 : (uint64_t)(property->integer.hi - property->integer.lo),
                   property->words, words);
}

ph_result ph_property_take(const ph_property* property, ph_field field, const void* value,
                           uint32_t* words, bool* is_clamped)
{
    const ph_result result = ph_property_quantise_field(property, field, value, words);
    const ph_coding coding = property->def.coding;
    if (coding == PH_CODING_FIXED || coding == PH_CODING_VEC3) {
        if (result == PH_OK && PH_UNLIKELY(is_ladder_outside(property, field, value))) {
            *is_clamped = !property->def.is_strict;
            return *is_clamped ? PH_OK : PH_ERROR_VALUE;
        }
        return result;
    }
    const bool is_whole = coding >= PH_CODING_BOOL && coding <= PH_CODING_RICE;
    if (PH_LIKELY(result == PH_OK) || !is_whole || coding == PH_CODING_ENUM ||
        property->def.is_strict || !ph_coding_suits(coding, field)) {
        return result;
    }
    clamp_whole(property, field, value, words);
    *is_clamped = true;
    return PH_OK;
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

// ---- what was wrong with a value

// "class.property", as errors name it.
static const char* full_name(const ph_class* type, int property, char text[PH_ERROR_FIELD_SIZE])
{
    snprintf(text, PH_ERROR_FIELD_SIZE, "%s.%s", type->def.name,
             type->properties[property].def.name);
    return text;
}

static ph_result fail_whole(const ph_check* call, const char* name, const ph_property* property,
                            ph_field field, const void* value)
{
    char is[PH_COUNT_TEXT_SIZE];
    char lo[PH_COUNT_TEXT_SIZE];
    char hi[PH_COUNT_TEXT_SIZE];
    int64_t number;
    const bool is_counted = ph_field_load_whole(field, value, &number);
    return ph_fail(call, PH_ERROR_VALUE, name, "is %s; it must be %s..%s",
                   is_counted ? ph_count_text(number, is) : "above 9,223,372,036,854,775,807",
                   ph_count_text(property->integer.lo, lo),
                   ph_count_text(property->integer.hi, hi));
}

static ph_result fail_position(const ph_check* call, const char* name, const void* value)
{
    int64_t position_mm[3];
    memcpy(position_mm, value, sizeof position_mm);
    ph_check check = *call;
    check.failure = PH_ERROR_VALUE;
    ph_check_position(&check, name, position_mm);
    return PH_ERROR_VALUE;
}

// The first number that is none, or lies outside.
static ph_result fail_real(const ph_check* call, const char* name, const ph_property* property,
                           ph_result result, ph_field field, const void* value)
{
    const ph_field element = ph_field_element(field);
    const size_t size = ph_field_size(element, 0);
    const int count = (int)(ph_field_size(field, 0) / size);
    for (int i = 0; i < count; ++i) {
        const double number = ph_field_load_real(element, (const uint8_t*)value + (size_t)i * size);
        const bool has_range = result == PH_ERROR_VALUE;
        const ph_fixed* ladder = &property->fixed[has_range ? i : 0];
        if (has_range ? !is_number_outside(ladder, number) : isfinite(number)) {
            continue;
        }
        char is[PH_COUNT_TEXT_SIZE];
        char lo[PH_COUNT_TEXT_SIZE];
        char hi[PH_COUNT_TEXT_SIZE];
        const char* spelled = ph_real_text(number, is);
        return has_range
                   ? ph_fail(call, result, name, "is %s; it must be %s..%s", spelled,
                             ph_real_text(ladder->lo, lo), ph_real_text(ladder->hi, hi))
                   : ph_fail(call, result, name, "is %s; it must be a finite number", spelled);
    }
    return result;
}

// The field types that a coding can be bound to, "i8, i16, i32". @return text.
static const char* suited_fields(ph_coding coding, char text[SUITED_TEXT_SIZE])
{
    size_t length = 0;
    text[0] = '\0';
    for (int field = PH_FIELD_NONE + 1; field < PH_FIELD_COUNT; ++field) {
        if (ph_coding_suits(coding, (ph_field)field) && length < SUITED_TEXT_SIZE) {
            length += (size_t)snprintf(text + length, SUITED_TEXT_SIZE - length, "%s%s",
                                       length > 0 ? ", " : "", ph_field_name((ph_field)field));
        }
    }
    return text;
}

ph_result ph_property_fail(const ph_check* call, const ph_class* type, int property,
                           ph_result result, ph_field field, const void* value)
{
    if (call->on_error == NULL) {
        return result;
    }
    const ph_property* one = &type->properties[property];
    char name[PH_ERROR_FIELD_SIZE];
    full_name(type, property, name);
    switch (result) {
    case PH_ERROR_TEXT:
        return ph_fail(call, result, name, "is not UTF-8; it must be UTF-8 without a zero byte");
    case PH_ERROR_TOO_LONG:
        return ph_fail(call, result, name, "is too long; it must be at most %d bytes",
                       one->def.max_length);
    case PH_ERROR_NOT_UNIT:
        return ph_fail(call, result, name, "is no rotation; its length must be 1, within 1 %%");
    case PH_ERROR_NOT_A_NUMBER:
        return fail_real(call, name, one, result, field, value);
    default:
        break;
    }
    if (!ph_coding_suits(one->def.coding, field)) {
        char suited[SUITED_TEXT_SIZE];
        return ph_fail(call, PH_ERROR_ARGUMENT, name,
                       "takes no value of field type %s; its coding takes %s", ph_field_name(field),
                       suited_fields(one->def.coding, suited));
    }
    return one->def.coding == PH_CODING_POSITION ? fail_position(call, name, value)
           : one->def.coding == PH_CODING_FIXED || one->def.coding == PH_CODING_VEC3
               ? fail_real(call, name, one, result, field, value)
               : fail_whole(call, name, one, field, value);
}

ph_result ph_property_fail_out(const ph_check* call, const ph_class* type, int property,
                               ph_result result, ph_field field, size_t size)
{
    char name[PH_ERROR_FIELD_SIZE];
    return ph_fail(call, result, full_name(type, property, name),
                   "does not fit into field type %s of %lu bytes", ph_field_name(field),
                   (unsigned long)size);
}

ph_result ph_property_check_call(ph_check* call, const ph_class* type, int property, ph_field field,
                                 size_t size)
{
    ph_check_range(call, "property", property, 0, type->def.property_count - 1);
    ph_check_range(call, "field", field, PH_FIELD_NONE + 1, PH_FIELD_COUNT - 1);
    if (call->result != PH_OK) {
        return call->result;
    }
    const ph_coding coding = type->properties[property].def.coding;
    if (ph_property_suits(&type->properties[property], field, size) &&
        ph_coding_suits(coding, field)) {
        return PH_OK;
    }
    char name[PH_ERROR_FIELD_SIZE];
    full_name(type, property, name);
    if (coding == PH_CODING_STRING || coding == PH_CODING_BYTES ||
        !ph_coding_suits(coding, field)) {
        char suited[SUITED_TEXT_SIZE];
        return call->result = ph_fail(
                   call, PH_ERROR_ARGUMENT, name,
                   "takes no value of field type %s and %lu bytes; its coding takes %s",
                   ph_field_name(field), (unsigned long)size, suited_fields(coding, suited));
    }
    return call->result = ph_fail(call, PH_ERROR_ARGUMENT, "size",
                                  "is %lu; it must be %lu for field type %s", (unsigned long)size,
                                  (unsigned long)ph_field_size(field, 0), ph_field_name(field));
}

// ---- fields of the game's structs
//
// Loads run for every bound property of every struct that is set, stores for every property that a
// client shows.

_Static_assert(sizeof(bool) == 1, "a bool is loaded as a byte");

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "IEEE 754");

typedef struct field_row {
    const char* name;
    ph_field element;
    size_t size; // TEXT, BYTES: what comes on top of max_length
} field_row;

static const field_row FIELD_ROWS[] = {
    [PH_FIELD_NONE] = {"none", PH_FIELD_NONE, 0},
    [PH_FIELD_BOOL] = {"bool", PH_FIELD_BOOL, 1},
    [PH_FIELD_I8] = {"i8", PH_FIELD_I8, 1},
    [PH_FIELD_I16] = {"i16", PH_FIELD_I16, 2},
    [PH_FIELD_I32] = {"i32", PH_FIELD_I32, 4},
    [PH_FIELD_I64] = {"i64", PH_FIELD_I64, 8},
    [PH_FIELD_U8] = {"u8", PH_FIELD_U8, 1},
    [PH_FIELD_U16] = {"u16", PH_FIELD_U16, 2},
    [PH_FIELD_U32] = {"u32", PH_FIELD_U32, 4},
    [PH_FIELD_U64] = {"u64", PH_FIELD_U64, 8},
    [PH_FIELD_F32] = {"f32", PH_FIELD_F32, 4},
    [PH_FIELD_F64] = {"f64", PH_FIELD_F64, 8},
    [PH_FIELD_I32X3] = {"i32x3", PH_FIELD_I32, 12},
    [PH_FIELD_I64X3] = {"i64x3", PH_FIELD_I64, 24},
    [PH_FIELD_F32X3] = {"f32x3", PH_FIELD_F32, 12},
    [PH_FIELD_F64X3] = {"f64x3", PH_FIELD_F64, 24},
    [PH_FIELD_F32X4] = {"f32x4", PH_FIELD_F32, 16},
    [PH_FIELD_F64X4] = {"f64x4", PH_FIELD_F64, 32},
    [PH_FIELD_TEXT] = {"text", PH_FIELD_TEXT, 1},
    [PH_FIELD_BYTES] = {"bytes", PH_FIELD_BYTES, sizeof(uint16_t)},
    [PH_FIELD_ENTITY] = {"entity", PH_FIELD_ENTITY, sizeof(ph_entity_id)},
};

_Static_assert(sizeof FIELD_ROWS / sizeof FIELD_ROWS[0] == PH_FIELD_COUNT,
               "each field needs a row");

const char* ph_field_name(ph_field field)
{
    // For messages: a wrong number is no reason to crash in one.
    return (unsigned)field < PH_FIELD_COUNT ? FIELD_ROWS[field].name : "unknown";
}

size_t ph_field_size(ph_field field, int max_length)
{
    PH_ASSERT(max_length >= 0);

    const bool has_length = field == PH_FIELD_TEXT || field == PH_FIELD_BYTES;
    return (unsigned)field < PH_FIELD_COUNT
               ? FIELD_ROWS[field].size + (has_length ? (size_t)max_length : 0)
               : 0;
}

ph_field ph_field_element(ph_field field)
{
    return FIELD_ROWS[field].element;
}

ph_field_limits ph_field_limits_of(ph_field field)
{
    switch (field) {
    case PH_FIELD_BOOL:
        return (ph_field_limits){0, 1, true};
    case PH_FIELD_I8:
        return (ph_field_limits){INT8_MIN, INT8_MAX, true};
    case PH_FIELD_I16:
        return (ph_field_limits){INT16_MIN, INT16_MAX, true};
    case PH_FIELD_I32:
        return (ph_field_limits){INT32_MIN, INT32_MAX, true};
    case PH_FIELD_I64:
        return (ph_field_limits){-PH_WHOLE_MAX, PH_WHOLE_MAX, true};
    case PH_FIELD_U8:
        return (ph_field_limits){0, UINT8_MAX, true};
    case PH_FIELD_U16:
        return (ph_field_limits){0, UINT16_MAX, true};
    case PH_FIELD_U32:
        return (ph_field_limits){0, UINT32_MAX, true};
    case PH_FIELD_U64:
        return (ph_field_limits){0, PH_WHOLE_MAX, true};
    case PH_FIELD_F32:
        return (ph_field_limits){-(double)FLT_MAX, (double)FLT_MAX, false};
    default:
        PH_ASSERT(field == PH_FIELD_F64);
        return (ph_field_limits){-DBL_MAX, DBL_MAX, false};
    }
}

// What the bytes are, read as unsigned; the sign is put back by the caller.
static uint64_t load_unsigned(const void* bytes, size_t size)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case sizeof one:
        memcpy(&one, bytes, sizeof one);
        return one;
    case sizeof two:
        memcpy(&two, bytes, sizeof two);
        return two;
    case sizeof four:
        memcpy(&four, bytes, sizeof four);
        return four;
    default:
        memcpy(&eight, bytes, sizeof eight);
        return eight;
    }
}

static void store_unsigned(uint64_t value, void* bytes, size_t size)
{
    const uint8_t one = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    switch (size) {
    case sizeof one:
        memcpy(bytes, &one, sizeof one);
        return;
    case sizeof two:
        memcpy(bytes, &two, sizeof two);
        return;
    case sizeof four:
        memcpy(bytes, &four, sizeof four);
        return;
    default:
        memcpy(bytes, &value, sizeof value);
        return;
    }
}

static bool is_signed(ph_field field)
{
    return field >= PH_FIELD_I8 && field <= PH_FIELD_I64;
}

// Of a number of size bytes that was read as unsigned.
static int64_t with_sign(uint64_t value, size_t size)
{
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    if ((value & sign) == 0) {
        return (int64_t)value;
    }
    return -(int64_t)(sign - 1 - (value & (sign - 1))) - 1;
}

bool ph_field_load_whole(ph_field field, const void* bytes, int64_t* value)
{
    const size_t size = FIELD_ROWS[field].size;
    const uint64_t loaded = load_unsigned(bytes, size);
    if (is_signed(field)) {
        *value = with_sign(loaded, size);
        return true;
    }
    // A byte of a bool that is neither 0 nor 1 is the game's fault, but no reason to trip over it.
    *value = (int64_t)(field == PH_FIELD_BOOL ? loaded != 0 : loaded & INT64_MAX);
    return loaded <= INT64_MAX;
}

bool ph_field_store_whole(ph_field field, int64_t value, void* bytes)
{
    const ph_field_limits limits = ph_field_limits_of(field);
    if (value < (int64_t)limits.lo || value > (int64_t)limits.hi) {
        return false;
    }
    store_unsigned((uint64_t)value, bytes, FIELD_ROWS[field].size);
    return true;
}

double ph_field_load_real(ph_field field, const void* bytes)
{
    float single;
    double value;
    if (field == PH_FIELD_F32) {
        memcpy(&single, bytes, sizeof single);
        return (double)single;
    }
    if (field == PH_FIELD_F64) {
        memcpy(&value, bytes, sizeof value);
        return value;
    }
    const uint64_t loaded = load_unsigned(bytes, FIELD_ROWS[field].size);
    return is_signed(field) ? (double)with_sign(loaded, FIELD_ROWS[field].size) : (double)loaded;
}

bool ph_field_store_real(ph_field field, double value, void* bytes)
{
    const ph_field_limits limits = ph_field_limits_of(field);
    const double stored = limits.is_whole ? floor(value + 0.5) : value;
    if (!(stored >= limits.lo && stored <= limits.hi)) {
        return false;
    }
    if (field == PH_FIELD_F64) {
        memcpy(bytes, &stored, sizeof stored);
    } else if (field == PH_FIELD_F32) {
        const float single = (float)stored;
        memcpy(bytes, &single, sizeof single);
    } else {
        store_unsigned((uint64_t)(int64_t)stored, bytes, FIELD_ROWS[field].size);
    }
    return true;
}

// ---- declarations for languages without designated initialisers

ph_property_def ph_property_bool(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_BOOL};
}

ph_property_def ph_property_enum(const char* name, int count)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_ENUM, .count = count};
}

ph_property_def ph_property_range(const char* name, double lo, double hi)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_RANGE, .lo = lo, .hi = hi};
}

ph_property_def ph_property_varint(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_VARINT};
}

ph_property_def ph_property_two_bit(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_TWO_BIT};
}

ph_property_def ph_property_gamma(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_GAMMA};
}

ph_property_def ph_property_rice(const char* name, int rice_k)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_RICE, .rice_k = rice_k};
}

ph_property_def ph_property_fixed(const char* name, double lo, double hi, double step)
{
    return (ph_property_def){
        .name = name, .coding = PH_CODING_FIXED, .lo = lo, .hi = hi, .step = step};
}

ph_property_def ph_property_angle(const char* name, int bits)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_ANGLE, .bits = bits};
}

ph_property_def ph_property_quaternion(const char* name, int bits)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_QUATERNION, .bits = bits};
}

ph_property_def ph_property_vec3(const char* name, double lo, double hi, double step)
{
    return (ph_property_def){
        .name = name, .coding = PH_CODING_VEC3, .lo = lo, .hi = hi, .step = step};
}

ph_property_def ph_property_string(const char* name, int max_length)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_STRING, .max_length = max_length};
}

ph_property_def ph_property_bytes(const char* name, int max_length)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_BYTES, .max_length = max_length};
}

ph_property_def ph_property_entity(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_ENTITY};
}

ph_property_def ph_property_position(const char* name)
{
    return (ph_property_def){.name = name, .coding = PH_CODING_POSITION};
}

ph_property_def ph_property_bound(ph_property_def property, ph_field field, size_t offset)
{
    property.field = field;
    property.offset = offset;
    return property;
}
