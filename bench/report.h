// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a bench prints: times with their spread and the ratios that are promised, for people or as
// JSON.

#ifndef PH_BENCH_REPORT_H
#define PH_BENCH_REPORT_H

#include "timer.h"

#include <stdbool.h>

// Best time of one case over best time of another, and how large it may be.
typedef struct bench_ratio {
    const char* key;
    const char* text;
    int over;  // index of a case
    int under; // index of a case
    double limit;
    double aim;
    bool is_least; // limit and aim are least values, not greatest
} bench_ratio;

typedef struct bench_report {
    const char* name;
    int rounds;
    const bench_case* cases;
    const bench_time* times; // one for each case
    int case_count;
    const bench_ratio* ratios;
    int ratio_count;
} bench_report;

void bench_report_print_table(const bench_report* report);

// One object: every case by its key in ns (or us, as its key says), then "ratio" and "spread" objects.
void bench_report_print_json(const bench_report* report);

#endif
