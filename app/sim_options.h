// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What `pinhole sim` is asked for.

#ifndef PH_APP_SIM_OPTIONS_H
#define PH_APP_SIM_OPTIONS_H

#include "sim_parts.h"

#include "kit/sim_material.h"

#include <pinhole/vision.h>

enum { SIM_BUDGETS_MAX = 64, SIM_COMPARED_MAX = 3 };

typedef struct sim_options {
    const char* source;
    const char* tables_path;
    const char* schema_path; // NULL: derived
    const char* dump_path;   // NULL: none
    const char* plot_path;
    const char* page_path;
    const char* show;
    const char* properties;
    const char* rotation;
    const char* sweep;
    double rate_hz;
    double seconds;
    double loss_pct;
    double drift_pct;
    int seed;
    int threads; // 0: all cores
    bool is_json;
    const char* compared; // with what; NULL: with nothing
    bool is_ablated;
    sim_parts asked;                     // NULL: not asked for
    sim_parts parts[SIM_ABLATION_COUNT]; // of the runs; complete
    int part_count;
    double budgets_kbps[SIM_BUDGETS_MAX]; // one without --sweep
    int budget_count;
    ph_sim_def def; // kbps and parts are set for each run
} sim_options;

// Reads and checks the options, prints the help when it is asked for.
// @return True to go on; else *status is the APP_EXIT value to return.
bool sim_options_parse(int argc, char** argv, sim_options* options, int* status);

#endif
