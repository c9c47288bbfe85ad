// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the values of a recording need: for each number of a schema the exact bits that every coding of
// integers would take, of the value itself and of its difference to the better of two predictions; and the
// schema that follows from that. Whole numbers only: the same on every machine.

#ifndef PINHOLE_KIT_TUNE_COLUMNS_H
#define PINHOLE_KIT_TUNE_COLUMNS_H

#include "kit/fault.h"

#include <pinhole/schema.h>

struct ph_recording;

typedef enum ph_tune_coding {
    PH_TUNE_FIXED = 0, // whole bytes
    PH_TUNE_RANGE,     // as many bits as the range needs
    PH_TUNE_VARINT,
    PH_TUNE_TWO_BIT,
    PH_TUNE_GAMMA,
    PH_TUNE_RICE,       // with the best k
    PH_TUNE_ARITHMETIC, // of the value: all alike; of a difference: by the length, as often as it comes
    PH_TUNE_CODING_COUNT
} ph_tune_coding;

extern const char* const ph_tune_coding_names[PH_TUNE_CODING_COUNT];

typedef enum ph_tune_predictor {
    PH_TUNE_LAST = 0, // as it was
    PH_TUNE_LINEAR,   // goes on as it did
    PH_TUNE_PREDICTOR_COUNT
} ph_tune_predictor;

enum { PH_TUNE_LENGTHS = 34 };

// Of one property; a sample is taken four times a second, and counts when its value is another one than
// that of the sample before.
typedef struct ph_tune_column {
    bool is_number; // nothing else is filled when it is not
    int64_t low;    // levels, or whole numbers
    int64_t high;
    uint64_t samples;                           // all
    uint64_t changes;                           // of these
    int rice_k;                                 // of the value
    uint64_t absolute256[PH_TUNE_CODING_COUNT]; // all changes together, in 1/256 bit
    uint64_t residual256[PH_TUNE_PREDICTOR_COUNT][PH_TUNE_CODING_COUNT]; // of the differences
    ph_tune_predictor predictor;                                         // the better one
    ph_tune_coding best; // of the value, among those that a schema can say
    uint64_t lengths[PH_TUNE_PREDICTOR_COUNT][PH_TUNE_LENGTHS]; // of the differences, in bits
} ph_tune_column;

// As many columns as the schema has properties, and where those of a class begin.
int ph_tune_column_count(const ph_schema* schema);
int ph_tune_first_column(const ph_schema* schema, int class_index);

// For each property of all classes, in their order: so many columns. Several recordings: once for each, they
// add up.
// @return False with *fault filled: the schema does not fit, or no memory.
bool ph_tune_columns_measure(const ph_schema* schema, const struct ph_recording* const* recordings,
                             int recording_count, ph_tune_column* columns, ph_fault* fault);

// A schema derived from recordings, for others of the kind: ranges of whole numbers have room as far as it
// costs no bit, and a bit more; codings are those that take the least. With the models that another schema brings
// along, if it does.
// @return NULL with *fault filled.
ph_schema* ph_tune_columns_schema(const ph_schema* derived, const ph_tune_column* columns,
                                  const ph_schema* models, ph_fault* fault);

#endif
