// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Fields of the game's structs: how large they are, what they hold, and how one number gets in and
// out of them. Copied byte by byte: a game may pack its structs, so nothing is assumed aligned.

#ifndef PH_SCHEMA_FIELD_H
#define PH_SCHEMA_FIELD_H

#include <pinhole/schema.h>

// "u8", "f32x3" ...: for messages.
const char* ph_field_name(ph_field field);

// Bytes that it takes in the struct. max_length matters for TEXT and BYTES only. NONE takes 0.
size_t ph_field_size(ph_field field, int max_length);

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
