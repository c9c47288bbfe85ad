// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From a declaration to a property that can work, and why a declaration was refused, in a sentence for
// its author. Runs when a schema is made.

#ifndef PH_SCHEMA_PREPARE_H
#define PH_SCHEMA_PREPARE_H

#include "base/compiler.h"
#include "schema/property.h"
#include "schema/scanner.h"
#include "schema/vocabulary.h"

typedef struct ph_problem {
    ph_parameter parameter; // what the sentence is about; the parser knows in which column that is
    char message[128];      // "bits must be 1..32, got 40"
} ph_problem;

// Fills *problem as printf does. Always returns false, so that a check can end with it.
PH_PRINTF(3, 4)
bool ph_refuse(ph_problem* problem, ph_parameter parameter, const char* format, ...);

// A number for a message, whatever it is and whatever the locale. Use .text at once.
ph_decimal ph_number_text(double value);

// The part of preparing a property that differs from coding to coding.

// property->def has a coding and a field that suits it, finite numbers, and no parameter that the
// coding does not take. Spells out what zero means and declares the codings, still without their
// defaults. @return False with *problem filled.
bool ph_coding_prepare(ph_property* property, ph_problem* problem);

// From a declaration to a property that can work: checks everything that can be said about one
// property by itself, spells out what zero means, and declares the codings.

// Fills *property from *def. The name is not copied. @return False with *problem filled.
bool ph_property_prepare(const ph_property_def* def, ph_property* property, ph_problem* problem);

// Whether a class or property may be called this. NULL may not.
bool ph_name_is_valid(const char* name);

// What default_value of a prepared number or VEC3 is when none is declared: 0, or the end of lo..hi that
// is nearer to it.
double ph_property_automatic_initial(const ph_property* property);

#endif
