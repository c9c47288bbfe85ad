// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A column of a recording beside position and heading: numbers or words, by row.

#ifndef PINHOLE_KIT_COLUMN_H
#define PINHOLE_KIT_COLUMN_H

#include "kit/csv.h"
#include "kit/lexicon.h"

#include <pinhole/schema.h>

typedef enum ph_column_kind {
    PH_COLUMN_EMPTY = 0, // all of its cells are
    PH_COLUMN_WHOLE,
    PH_COLUMN_DECIMAL,
    PH_COLUMN_WORD,
} ph_column_kind;

// {0} is a column without name or values.
typedef struct ph_column {
    char name[PH_SCHEMA_NAME_MAX + 1]; // fit for a property
    ph_column_kind kind;
    int decimals;       // DECIMAL: the most digits behind the point
    double low;         // numbers: no value is below low or above high
    double high;        //
    ph_lexicon lexicon; // WORD: in the order of their bytes
    double* value;      // by row; NaN: an empty cell; WORD: number of the word
} ph_column;

// Takes in one more cell, which may be empty: its value, and what the column is made of.
// @return false when the cell does not fit the ones before: *expected says what would; or, with
// *expected set to NULL, when there is no memory.
bool ph_column_take(ph_column* column, const ph_csv_cell* cell, double* value,
                    const char** expected);

// Brings the words into the order of their bytes, also in the values. Nothing can be taken in any
// more. @return false when there is no memory.
bool ph_column_sort_words(ph_column* column, int row_count);

#endif
