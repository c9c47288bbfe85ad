// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The figures of `pinhole sim` as rows of a table: name, unit, meaning, value.

#ifndef PH_APP_SIM_FIGURES_H
#define PH_APP_SIM_FIGURES_H

#include "kit/sim_result.h"

// The values of one result, in the order of the rows.
enum { SIM_FIGURE_MAX = 40 };

typedef struct sim_figure {
    const char* key; // NULL behind the last
    const char* unit;
    int decimals;
} sim_figure;

extern const sim_figure sim_figures[];

// Fills one value for each row. @return How many there are.
int sim_figures_fill(const ph_sim_result* result, double values[SIM_FIGURE_MAX]);

// What each figure means, one line each, on standard output.
void sim_figures_explain(void);

#endif
