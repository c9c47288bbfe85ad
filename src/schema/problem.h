// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Why a declaration was refused, in a sentence for the one who wrote it.

#ifndef PH_SCHEMA_PROBLEM_H
#define PH_SCHEMA_PROBLEM_H

#include "schema/decimal.h"
#include "schema/vocabulary.h"

typedef struct ph_problem {
    ph_parameter parameter; // what the sentence is about; the parser knows in which column that is
    char message[128];      // "bits must be 1..32, got 40"
} ph_problem;

// Fills *problem as printf does. Always returns false, so that a check can end with it.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool ph_refuse(ph_problem* problem, ph_parameter parameter, const char* format, ...);

// A number for a message, whatever it is and whatever the locale. Use .text at once.
ph_decimal ph_number_text(double value);

#endif
