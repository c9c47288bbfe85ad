// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The suite of `pinhole bench quality`: which sources are played at which budgets, what was found of
// classic, plain snapshots and pinhole, and how it is told: for programs, on the terminal, as a page.

#ifndef PH_QUALITY_SUITE_H
#define PH_QUALITY_SUITE_H

#include "kit/sim.h"
#include "kit/sim_material.h"

#include <stdio.h>

enum {
    QUALITY_RECORDINGS_MAX = 4,
    QUALITY_SOURCES_MAX = 16,
    QUALITY_BUDGETS_MAX = 12,
    QUALITY_SYSTEMS = 3,
    QUALITY_NAME_MAX = 40,
    QUALITY_ABOVE_MAX = 4, // figures by which a system may leave things out
};

// In the order of the columns: classic, what the others are measured against; snapshot; pinhole.
extern const char* const quality_systems[QUALITY_SYSTEMS];

typedef struct quality_source {
    const char* path;            // a file, or scene:NAME
    char name[QUALITY_NAME_MAX]; // without folders and endings
    double rate_hz;              // asked for; 0: as the source says
    ph_sim_material material;
    ph_sim_result results[QUALITY_BUDGETS_MAX][QUALITY_SYSTEMS];
} quality_source;

typedef struct quality_suite {
    quality_source sources[QUALITY_SOURCES_MAX];
    int source_count;
    double kbps[QUALITY_BUDGETS_MAX]; // ascending
    int budget_count;
    ph_sim_def def; // what all runs have in common
    int seed;
} quality_suite;

// The mean error as seen, over that of classic; not finite where classic has none.
double quality_ratio(const quality_source* source, int budget, int system);

// Of what a ratio depends on, figures that are worse than those of classic: with any, it does not count.
// keys may be NULL. @return How many.
int quality_above(const quality_source* source, int budget, int system,
                  const char* keys[QUALITY_ABOVE_MAX]);

// The geometric mean of the ratios of all sources; not finite when one of them is not.
double quality_mean_ratio(const quality_suite* suite, int budget, int system);

void quality_print_json(const quality_suite* suite, FILE* file);
void quality_print_table(const quality_suite* suite, FILE* file);

// @return False when the file does not take it.
bool quality_page_write(const quality_suite* suite, FILE* file);

#endif
