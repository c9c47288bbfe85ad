// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What `pinhole sim` prints and draws.

#ifndef PH_APP_SIM_REPORT_H
#define PH_APP_SIM_REPORT_H

#include "sim_options.h"

// One run: its budget, its parts, what was found.
typedef struct sim_trial {
    double kbps;
    const sim_parts* parts;
    ph_sim_result result;
} sim_trial;

// Trials by budget, then by parts: with --compare all that are compared stand together.
typedef struct sim_report {
    const sim_options* options;
    const sim_trial* trials;
    int trial_count;
    const char* schema_text;
} sim_report;

void sim_report_print_json(const sim_report* report);
void sim_report_print_table(const sim_report* report);

// @return False when the file cannot be written.
bool sim_report_plot(const sim_report* report, FILE* file);

#endif
