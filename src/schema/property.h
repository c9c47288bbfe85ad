// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A property made ready for work: its declaration, checked, with the codings it needs.
//
// A value is kept and compared as 1..4 words of 32 bits, the integers that go on the wire:
//
//   whole numbers, enum, bool  value - lo, so that zero-extended comparison and difference work;
//                              one word, two when hi - lo needs more than 32 bits (low word first)
//   FIXED, ANGLE               level
//   VEC3                       three levels
//   QUATERNION                 two words: the 3 n + 2 bits of the wire, low word first
//   STRING, BYTES              one word: a version that changes with the content; the bytes live
//                              beside, with the counter of versions
//   ENTITY                     two words: index1, generation
//   POSITION                   three words: x, y, z in mm as uint32 (the wire drops bits later)
//
// Quantising runs for every property of every struct that is set; nothing here allocates.

#ifndef PH_SCHEMA_PROPERTY_H
#define PH_SCHEMA_PROPERTY_H

#include "base/check.h"

#include <pinhole/angle.h>
#include <pinhole/coordinate.h>
#include <pinhole/fixed.h>
#include <pinhole/ground.h>
#include <pinhole/integers.h>
#include <pinhole/schema.h>

#define PH_VALUE_WORDS_MAX 4
// How often the step of a position is halved, at most, to its finest.
#define PH_FINER_MAX 7

// What an orientation may take in the pinhole profile beside its plain coding: in an update two symbols, and three
// residuals of at most 34 bits each; in an enter two symbols, and how it turns.
#define PH_ORIENTATION_EXTRA_BITS 136

// What of the motion of its entity a property is, as far as the wire has to be told: the first angle that is
// not smooth, of a class without an orientation, is its heading without any mark.
typedef enum ph_motion_mark {
    PH_MARK_NONE,
    PH_MARK_ORIENTATION,
    PH_MARK_HEADING, // and not the first angle
    PH_MARK_CARRIER,
    PH_MARK_SMOOTH,
} ph_motion_mark;

typedef struct ph_property {
    ph_property_def def; // every default spelled out; name owned by the schema
    int words;           // 1..PH_VALUE_WORDS_MAX
    bool is_text;        // STRING or BYTES
    bool is_number;      // one number whose words can be subtracted: whole numbers, FIXED, ANGLE
    // What every value costs, but for the bit that says default, and the default; 0: that depends
    // on the value, or there are several defaults.
    int constant_bits;
    ph_integer integer; // BOOL, ENUM, RANGE, VARINT, TWO_BIT, GAMMA, RICE
    ph_fixed fixed[3];  // FIXED: the first; VEC3: x, y, z
    ph_angle angle;
    ph_coordinate coordinate;             // POSITION
    int finest_shift;                     // POSITION: its finest step is 1 << this mm
    ph_altitude altitude;                 // POSITION with a ground (def.ground_tolerance_mm > 0)
    uint32_t initial[PH_VALUE_WORDS_MAX]; // before the first set; with has_default, the default too
    // A difference of so many levels is worth sending, at least 1. VEC3: in any component;
    // POSITION: in mm.
    uint64_t significant_steps;
    uint64_t distance_mm; // UINT64_MAX: as far as the viewer sees
    float weight;
    uint8_t motion_mark; // ph_motion_mark; of properties of a schema
} ph_property;

typedef struct ph_class {
    ph_class_def def;
    ph_property* properties; // def.property_count of them
    int position;            // index of the position property
    int orientation;         // index of the orientation, or -1
    int heading;             // index of the heading, or -1
    int carrier;             // index of the carrier, or -1
} ph_class;

// index is 0..ph_schema_class_count()-1.
const ph_class* ph_schema_class_at(const ph_schema* schema, int index);

// The most that all values of an entity can cost together; what a record adds to them is not in it.
int ph_class_max_bits(const ph_class* type);

// Whether a value of this field type and size can go in or out. Finer mismatches (a quaternion into a
// bool) are refused by the conversions below.
bool ph_property_suits(const ph_property* property, ph_field field, size_t size);

// ---- values of everything but STRING and BYTES

// The greatest that a number can be in words: its levels, or whole numbers above the lowest. word says
// which component of a VEC3; else it does not matter.
uint64_t ph_property_top(const ph_property* property, int word);

// Reads the property's field from the game's struct (base points at the struct). Only bound
// properties.
// @return PH_OK, or why the value cannot be kept (PH_ERROR_VALUE, PH_ERROR_NOT_A_NUMBER,
// PH_ERROR_NOT_UNIT); words are then untouched. Numbers outside FIXED's range clamp; whole numbers
// outside are refused.
ph_result ph_property_quantise(const ph_property* property, const void* base, uint32_t* words);

// As ph_property_quantise_field(), but a number outside of its range becomes the nearest inside, and
// *is_clamped true; unless the property is strict, which makes it PH_ERROR_VALUE. ENUM is always
// strict: there is no nearest alternative.
ph_result ph_property_take(const ph_property* property, ph_field field, const void* value,
                           uint32_t* words, bool* is_clamped);

// The other way: writes the field. Only bound properties.
void ph_property_restore(const ph_property* property, const uint32_t* words, void* base);

// One value by itself: value points at the field, not at a struct. Any field type that the coding
// can be bound to will do, whatever the property itself is bound to; others are PH_ERROR_VALUE.
// Restoring refuses, with PH_ERROR_VALUE and nothing written, what the field cannot hold.
ph_result ph_property_quantise_field(const ph_property* property, ph_field field, const void* value,
                                     uint32_t* words);

ph_result ph_property_restore_field(const ph_property* property, ph_field field,
                                    const uint32_t* words, void* value);

// An angle, 0 <= it < a full turn, as restoring writes it: the nearest that the field holds, 0 where that is a full
// turn. @return PH_OK, or PH_ERROR_VALUE with nothing written.
ph_result ph_property_store_angle(const ph_property* property, ph_field field, double angle,
                                  void* value);

// ---- STRING and BYTES: the content of a field, without copying

typedef struct ph_text {
    const uint8_t* bytes;
    uint16_t length;
} ph_text;

// Points *text into the field. Only bound properties.
// @return PH_OK, PH_ERROR_TEXT or PH_ERROR_TOO_LONG; *text is empty unless PH_OK.
ph_result ph_property_text(const ph_property* property, const void* base, ph_text* text);

// Whether the property can hold this content, wherever it comes from; the same results.
ph_result ph_property_check_text(const ph_property* property, const void* bytes, size_t length);

// Writes the field; what is left of it becomes zero. Only bound properties.
void ph_property_restore_text(const ph_property* property, ph_text text, void* base);

// Into a value of so many bytes, TEXT or BYTES, which suits. @return PH_OK or PH_ERROR_TOO_LONG.
ph_result ph_text_restore(ph_text text, ph_field field, void* value, size_t size);

// ---- on the wire: plain codings, as the classic profile writes them. ENTITY and POSITION depend
// on the viewer and are written by the wire layer; everything else here. The text is used by STRING
// and BYTES only.

// The most that a reference to an entity costs: one bit for "none", a slot of 16 bits and the two
// that say which of the slot's entities.
#define PH_REFERENCE_BITS_MAX (1 + 16 + 2)

int ph_property_cost_bits(const ph_property* property, const uint32_t* words, ph_text text);

// The most that any value costs. ENTITY: PH_REFERENCE_BITS_MAX. POSITION: outside of the window, all
// bits above the step of each coordinate; with a ground, the dearest escape.
int ph_property_max_bits(const ph_property* property);

void ph_property_write(const ph_property* property, ph_bit_writer* writer, const uint32_t* words,
                       ph_text text);

// text_buffer holds max_length + 1 bytes and is used by STRING and BYTES only (their word becomes
// 0: versions are the caller's). On failure words are the initial ones and the text is empty.
void ph_property_read(const ph_property* property, ph_bit_reader* reader, uint32_t* words,
                      uint8_t* text_buffer, uint16_t* text_length);

// ---- what was wrong with a value, as a sentence (base/check.h)

// Reports why a value was refused: result is what quantising or checking it gave, value points at the
// field. @return result.
ph_result ph_property_fail(const ph_check* call, const ph_class* type, int property,
                           ph_result result, ph_field field, const void* value);

// The same for a value that did not fit into a field of this type and size when it was read. @return result.
ph_result ph_property_fail_out(const ph_check* call, const ph_class* type, int property,
                               ph_result result, ph_field field, size_t size);

// Checks that there is such a property and that it can take or give this field type and size.
// @return PH_OK or PH_ERROR_ARGUMENT, reported.
ph_result ph_property_check_call(ph_check* call, const ph_class* type, int property, ph_field field,
                                 size_t size);

// Fields of the game's structs: how large they are, what they hold, and how one number gets in and
// out of them. Copied byte by byte: a game may pack its structs, so nothing is assumed aligned.

// "u8", "f32x3" ...: for messages.
const char* ph_field_name(ph_field field);

// What it is made of: F32 for F32X3. A scalar is made of itself.
ph_field ph_field_element(ph_field field);

// The ends of what a scalar holds, 64-bit integers up to +-PH_WHOLE_MAX.
typedef struct ph_field_limits {
    double lo;
    double hi;
    bool is_whole; // BOOL, I8..I64, U8..U64
} ph_field_limits;

// field is a scalar: BOOL..F64.
ph_field_limits ph_field_limits_of(ph_field field);

// A whole number out of a BOOL or an integer. @return False when it is above INT64_MAX.
bool ph_field_load_whole(ph_field field, const void* bytes, int64_t* value);

// Writes a whole number. @return False, and nothing is written, when the field cannot hold it.
bool ph_field_store_whole(ph_field field, int64_t value, void* bytes);

// The same for any scalar. Integers come as the nearest double, and are stored rounded.
double ph_field_load_real(ph_field field, const void* bytes);

bool ph_field_store_real(ph_field field, double value, void* bytes);

#endif
