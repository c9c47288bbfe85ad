// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The text form (docs/schema.md): the options of a property, which are words with or without a value, in
// any order. Parser and printer are declared in pinhole/schema.h.

#ifndef PH_SCHEMA_SCHEMA_TEXT_H
#define PH_SCHEMA_SCHEMA_TEXT_H

#include "schema/property.h"
#include "schema/scanner.h"
#include "schema/vocabulary.h"

typedef struct ph_option {
    const char* word;
    ph_parameter parameter;
    // Reads the value from the scanner into the declaration; *value is the word that it looked at
    // last. @return NULL, or what was expected instead.
    const char* (*read)(ph_scanner* scanner, ph_word* value, ph_property_def* def);
} ph_option;

// The option of this word, or NULL when there is none or the coding does not take it.
const ph_option* ph_option_find(ph_word word, ph_coding coding);

// Writes what a coding takes: "step, z, ... or the end of the line".
void ph_option_list(ph_coding coding, char* list, size_t capacity);

// Reads what directly follows the coding's word. @return NULL, or what was expected instead.
const char* ph_subject_read(ph_parameter subject, ph_word word, ph_property_def* def);

// Writes what decides the wire of a property: "range 0..100 default 5". @return As ph_schema_print().
size_t ph_property_print_wire(const ph_property* property, char* text, size_t capacity);

// Whether the word could be a number or a range: no option starts like one.
bool ph_word_is_numeric(ph_word word);

#endif
