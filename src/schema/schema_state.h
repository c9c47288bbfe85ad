// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a ph_schema is inside. It never changes after it was made.
//
// One block holds it all:
//
//   | ph_schema | ph_class x classes | ph_property x all | ph_property_def x all |
//   | cumulative, costs, codes of all models, when it was learned | names |

#ifndef PH_SCHEMA_SCHEMA_STATE_H
#define PH_SCHEMA_SCHEMA_STATE_H

#include "schema/learned_models.h"
#include "schema/prepare.h"
#include "schema/property.h"

// Of a class.
#define PH_RADIUS_M 0.5
#define PH_RADIUS_MIN_M 1e-3
#define PH_RADIUS_MAX_M 1e5

struct ph_schema {
    ph_class* classes;
    int class_count;
    int property_count; // of all classes
    uint64_t fingerprint;
    ph_model_set models;
    const uint8_t* codes; // of the models (learned_models.h); NULL: they are the library's
    ph_allocator allocator;
    size_t size_bytes; // of the block
};

// As ph_schema_create(), with codes of models for all properties; NULL: those of the library.
ph_result ph_schema_make(const ph_class_def* classes, int class_count, const uint8_t* codes,
                         const ph_allocator* allocator, ph_schema** schema, ph_error* error);

// Of everything that decides how the classes are written; see schema_state.c.
uint64_t ph_fingerprint_of(const ph_class* classes, int class_count);

// The same of one property alone.
uint64_t ph_property_fingerprint(const ph_property* property);

// Whether a table of classes makes sense.

// @return False with *error filled; error may be NULL. Line and column are 0.
bool ph_schema_check(const ph_class_def* classes, int class_count, ph_error* error);

// How classes move, and the limits.
#define PH_BEND_DEFAULT 0.55
#define PH_BEND_MAX 2.0
#define PH_LEG_MS_DEFAULT 80
#define PH_LEG_MS_MAX 10000

// Whether everything about one entity of the class fits into a datagram (PH_CLASS_BITS_MAX). Its
// properties are good. @return False with *error filled; error may be NULL. Line and column are 0.
bool ph_schema_check_size(const ph_class_def* type, ph_error* error);

// Writes "class kart, property heading: ..." for a refused property of a class. Line and column are
// left alone. error may be NULL.
void ph_schema_explain(ph_error* error, const ph_class_def* type, int property_index,
                       const char* message);

#endif
