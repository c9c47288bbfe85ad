// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Models in the text form of a schema (docs/schema.md): their lines read and written.

#ifndef PH_SCHEMA_LEARNED_TEXT_H
#define PH_SCHEMA_LEARNED_TEXT_H

#include "schema/learned_models.h"
#include "schema/scanner.h"

typedef struct ph_model_reader {
    uint8_t* codes; // of so many properties; added to
    int property_capacity;
    // What is declared above the line.
    const ph_class_def* classes;
    int class_count;
    const ph_property_def* properties; // of all classes, side by side
    char wanted[96];
} ph_model_reader;

// Reads what stands behind the word "model"; *found is the word that it looked at last. @return NULL, or
// what was expected instead of that, valid as long as the reader.
const char* ph_models_read(ph_model_reader* reader, ph_scanner* scanner, ph_word* found);

// Writes the lines of a schema that brings some along. text may be NULL when capacity is 0. @return As
// ph_schema_print().
size_t ph_models_print(const ph_schema* schema, char* text, size_t capacity);

#endif
