// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which words a declaration may use: the codings, their parameters, and the fields that each coding
// can be bound to, as one table. The checker refuses what the table does not allow, the parser and
// the printer spell it.

#ifndef PH_SCHEMA_VOCABULARY_H
#define PH_SCHEMA_VOCABULARY_H

#include <pinhole/schema.h>

// What a declaration says: one member of ph_property_def, or some that belong together.
typedef enum ph_parameter {
    PH_PARAMETER_NAME = 0,
    PH_PARAMETER_CODING,
    PH_PARAMETER_RANGE, // lo, hi
    PH_PARAMETER_STEP,
    PH_PARAMETER_FINEST,
    PH_PARAMETER_Z, // z_lo, z_hi
    PH_PARAMETER_TURN,
    PH_PARAMETER_BITS,
    PH_PARAMETER_COUNT,
    PH_PARAMETER_RICE_K,
    PH_PARAMETER_LENGTH,
    PH_PARAMETER_ARITHMETIC,
    PH_PARAMETER_GROUND,
    PH_PARAMETER_ORIENTATION, // is_orientation
    PH_PARAMETER_HEADING,     // is_heading
    PH_PARAMETER_CARRIER,     // is_carrier
    PH_PARAMETER_SMOOTH,      // is_smooth
    PH_PARAMETER_STRICT,
    PH_PARAMETER_DEFAULT, // has_default, default_value
    PH_PARAMETER_DISTANCE,
    PH_PARAMETER_SIGNIFICANT,
    PH_PARAMETER_WEIGHT,
    PH_PARAMETER_WHEN,
    PH_PARAMETER_AUDIENCE, // audience, audience_mask
    PH_PARAMETER_FIELD,    // field, offset
    PH_PARAMETERS_END
} ph_parameter;

typedef struct ph_coding_row {
    const char* word;     // of the text form
    uint32_t parameters;  // bit per ph_parameter that means something with this coding
    uint32_t fields;      // bit per ph_field that it can be bound to
    ph_parameter subject; // what directly follows the word; PH_PARAMETERS_END for nothing
    bool is_optional;     // that may be left out
} ph_coding_row;

// coding is 0..PH_CODING_COUNT-1; AUTO has no fields and no parameters.
const ph_coding_row* ph_coding_row_of(ph_coding coding);

// @return The coding of this word, or PH_CODING_AUTO.
ph_coding ph_coding_find(const char* word, size_t length);

bool ph_coding_uses(ph_coding coding, ph_parameter parameter);
bool ph_coding_suits(ph_coding coding, ph_field field);

// BOOL, ENUM, RANGE, VARINT, TWO_BIT, GAMMA, RICE.
bool ph_coding_is_whole(ph_coding coding);

// What AUTO stands for with this field, or PH_CODING_AUTO when the field does not tell.
ph_coding ph_coding_of_field(ph_field field);

// The member's name in ph_property_def, for messages.
const char* ph_parameter_name(ph_parameter parameter);

#endif
