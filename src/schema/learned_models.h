// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Models that a schema brings along, learned from the game's own recordings (`pinhole tune`): in place
// of those of the library (model_tables.h), and some for single properties, of which the library knows
// nothing.
//
//   entries   | models of the families | property 0: told, told, number | property 1 ... |
//                                          of all classes, in their order
//
// The text form has a code for each symbol: what it costs, in quarters of a bit, 0..61 as one
// character. A model is made of its codes by whole numbers alone, so both ends have the same one. Made
// once per schema; the codes are kept, to be printed and compared.

#ifndef PH_SCHEMA_LEARNED_MODELS_H
#define PH_SCHEMA_LEARNED_MODELS_H

#include "schema/model_tables.h"

#include <pinhole/schema.h>

#include <stdbool.h>

#define PH_MODEL_CODE_MAX 61
#define PH_MODEL_CODE_NONE 255 // in place of the first code of a model: it is the library's

// Of a property: told or not, as the first of a record, and behind another one; the length of a difference.
enum {
    PH_LEARNED_TOLD_ENTRIES = 2 + 1,
    PH_LEARNED_PROPERTY_ENTRIES = 2 * PH_LEARNED_TOLD_ENTRIES + PH_NUMBER_SYMBOLS + 1,
    PH_LEARNED_PROPERTIES_MAX = (UINT16_MAX - PH_PINHOLE_ENTRIES) / PH_LEARNED_PROPERTY_ENTRIES,
};

// Where a model begins. property: among those of all classes.
static inline int ph_learned_told_entry(int property, bool is_behind)
{
    return PH_PINHOLE_ENTRIES + property * PH_LEARNED_PROPERTY_ENTRIES +
           (is_behind ? PH_LEARNED_TOLD_ENTRIES : 0);
}

static inline int ph_learned_number_entry(int property)
{
    return ph_learned_told_entry(property, false) + 2 * PH_LEARNED_TOLD_ENTRIES;
}

// As many entries as a schema with so many properties has.
static inline int ph_learned_entry_count(int property_count)
{
    return ph_learned_told_entry(property_count, false);
}

// Goes over all models there may be, in order. Start from {0}.
typedef struct ph_model_walk {
    int family;   // ph_pinhole_family; PH_FAMILY_COUNT: of a property
    int property; // of those of all classes
    int model;    // within the family; of a property 0, 1: told; 2: number
    int first;    // entry
    int symbols;  // 0: not begun
} ph_model_walk;

// @return False behind the last one.
bool ph_model_walk_next(ph_model_walk* walk, int property_count);

char ph_model_code_character(int code);

// @return -1 when the character is none.
int ph_model_code_of(char character);

// Tables from codes; what has none is as in the library, and certain nothing behind those.
void ph_learned_fill(const uint8_t* codes, int property_count, uint16_t* cumulative,
                     uint16_t* costs);

// What each symbol of a model costs, in 1/256 bit, rounded up; 0 behind the last.
void ph_model_fill_costs(const uint16_t* cumulative, int symbols, uint16_t* costs);

// The code that is nearest to a symbol's share of so many.
int ph_model_code_nearest(uint64_t seen, uint64_t total);

// How many codes of a model say all: the last one holds for those that follow.
int ph_model_code_count(const uint8_t* codes, int symbols);

// What a fingerprint of classes becomes by codes; the same where there are none.
uint64_t ph_learned_fingerprint(uint64_t of_classes, const uint8_t* codes, int property_count);

// ---- asked of a schema

ph_model_set ph_schema_models(const ph_schema* schema);

// Whether it brings its own model along that begins at this entry.
bool ph_schema_has_model(const ph_schema* schema, int first);

// The first property of a class among those of all classes.
int ph_schema_first_property(const ph_schema* schema, int class_index);

int ph_schema_property_count(const ph_schema* schema);

#endif
