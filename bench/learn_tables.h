// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Static models of the pinhole profile, made from how often symbols were used: every game weighs the
// same, and what was never seen gets the probability that a smooth curve gives it.

#ifndef PH_LEARN_TABLES_H
#define PH_LEARN_TABLES_H

#include "packet/pinhole_records.h"
#include "schema/model_tables.h"

#include <stdio.h>

typedef struct learn_tables {
    uint16_t cumulative[PH_PINHOLE_ENTRIES];
    uint16_t costs[PH_PINHOLE_ENTRIES]; // 1/256 bit, rounded up
} learn_tables;

// From the counts of several games; of none: the smooth curves alone. Which slots are told follows a
// curve, not counts: the odds grow with the density, and with an offset for each urgency.
void learn_tables_make(learn_tables* tables, const ph_pinhole_counts* const* games, int game_count,
                       const double told_offsets[PH_URGENCIES]);

// What the symbols counted would cost with these tables, with the bits beside them.
double learn_tables_bits(const learn_tables* tables, const ph_pinhole_counts* counts);

// As the C file src/schema/model_tables.c.
void learn_tables_print(const learn_tables* tables, FILE* file);

// As a schema of one class without properties that matter, which brings all models along: for
// `pinhole sim --tables`. To the nearest quarter of a bit.
void learn_tables_print_schema(const learn_tables* tables, FILE* file);

#endif
