// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What `pinhole tune` tells a person: what each property needs, where the bits go before and after, advice
// in words; and the same with pictures as a page.

#ifndef PH_APP_TUNE_REPORT_H
#define PH_APP_TUNE_REPORT_H

#include "kit/tune.h"
#include "kit/tune_columns.h"

#include <stdio.h>

enum { TUNE_ADVICE_MAX = 3, TUNE_BUDGETS = 5, TUNE_TEXT_MAX = 256 };

typedef struct tune_report {
    const char* source; // the first recording
    const ph_schema* base;
    const ph_tune_column* columns; // by property of all classes
    const ph_tune_result* result;
    double kbps_learned; // the budget; 0: no limit
    // Error over budget, before and after, for the page; count is 0 without.
    double kbps[TUNE_BUDGETS];
    double error_mrad[2][TUNE_BUDGETS];
    int budget_count;
} tune_report;

void tune_report_columns(const tune_report* report, FILE* file);
void tune_report_gain(const tune_report* report, FILE* file);
// "at 13 kbit/s".
typedef struct tune_budget {
    char text[40];
} tune_budget;

tune_budget tune_report_budget(const tune_report* report);

// How classes move.
void tune_report_motions(const tune_report* report, FILE* file);

void tune_report_properties(const tune_report* report, FILE* file);

// What would save bits and can be seen.
typedef struct tune_advice {
    int class_index;
    int property;
    double saved; // share of the payload, about
    // What the property becomes; 0: as it is.
    double step;
    int bits;
    double significant;
    char text[TUNE_TEXT_MAX];
} tune_advice;

// A property as people are told of it: with its class in front where there are several.
typedef struct tune_name {
    char text[2 * PH_SCHEMA_NAME_MAX + 2];
} tune_name;

tune_name tune_report_name(const ph_schema* schema, int class_index, int property);

// Best first. @return How many there are.
int tune_report_advise(const tune_report* report, tune_advice advice[TUNE_ADVICE_MAX]);

// What goes on as it did and is not smooth, in words: whether players see it differently is for the game to say.
void tune_report_steady(const tune_report* report, FILE* file);

// What advice was worth and what it costs the eye: the same eyes and budget without it and with it, as reported.
void tune_report_applied(const tune_report* report, const ph_tune_result* without, FILE* file);

// @return False when the file does not take it.
bool tune_page_write(const tune_report* report, FILE* file);

#endif
