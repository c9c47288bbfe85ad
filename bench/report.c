// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Tables and JSON of a bench.

#include "report.h"

#include "kit/json.h"

#include <stdio.h>
#include <string.h>

#if defined(__clang__)
#define COMPILER __VERSION__ // "Debian Clang 14.0.6"
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "another compiler"
#endif

static double ratio_of(const bench_report* report, const bench_ratio* ratio)
{
    return report->times[ratio->over].best_ns / report->times[ratio->under].best_ns;
}

// The key names the unit.
static bool is_in_us(const bench_case* measured)
{
    const size_t length = strlen(measured->key);
    return length > 3 && strcmp(measured->key + length - 3, "_us") == 0;
}

static double best_of(const bench_report* report, int i)
{
    return report->times[i].best_ns / (is_in_us(&report->cases[i]) ? 1000.0 : 1.0);
}

static bool has_bits(const bench_report* report)
{
    for (int i = 0; i < report->case_count; ++i) {
        if (report->cases[i].bits_each > 0) {
            return true;
        }
    }
    return false;
}

static const char* verdict_on(const bench_ratio* ratio, double found)
{
    const bool is_within = ratio->is_least ? found >= ratio->limit : found <= ratio->limit;
    const bool is_aim = ratio->is_least ? found >= ratio->aim : found <= ratio->aim;
    if (!is_within) {
        return "MISSED";
    }
    return is_aim ? "aim reached" : "ok";
}

void bench_report_print_table(const bench_report* report)
{
    printf("%-28s %9s    %8s%s\n", "each", "best", "spread", has_bits(report) ? "       bits" : "");
    for (int i = 0; i < report->case_count; ++i) {
        const bench_time* time = &report->times[i];
        printf("%-28s %9.2f %2s %8.2f", report->cases[i].text, best_of(report, i),
               is_in_us(&report->cases[i]) ? "us" : "ns", bench_time_spread(time));
        if (report->cases[i].bits_each > 0) {
            printf(" %10.2f", report->cases[i].bits_each);
        }
        printf("\n");
    }
    printf("\n%-28s %9s %8s %8s\n", "ratio", "found", "limit", "aim");
    for (int i = 0; i < report->ratio_count; ++i) {
        const bench_ratio* ratio = &report->ratios[i];
        const double found = ratio_of(report, ratio);
        const char* sign = ratio->is_least ? ">=" : "<=";
        printf("%-28s %9.2f %2s%6.1f %2s%6.1f  %s\n", ratio->text, found, sign, ratio->limit, sign,
               ratio->aim, verdict_on(ratio, found));
    }
    printf("\nBest of %d rounds; spread is median / best. Compare ratios, not bare times.\n"
           "Compiled by %s.\n",
           report->rounds, COMPILER);
}

void bench_report_print_json(const bench_report* report)
{
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "bench", report->name);
    ph_json_text(&json, "compiler", COMPILER);
    ph_json_integer(&json, "rounds", report->rounds);
    for (int i = 0; i < report->case_count; ++i) {
        ph_json_number(&json, report->cases[i].key, best_of(report, i));
    }
    ph_json_open(&json, "ratio");
    for (int i = 0; i < report->ratio_count; ++i) {
        ph_json_number(&json, report->ratios[i].key, ratio_of(report, &report->ratios[i]));
    }
    ph_json_close(&json);
    ph_json_open(&json, "spread");
    for (int i = 0; i < report->case_count; ++i) {
        ph_json_number(&json, report->cases[i].key, bench_time_spread(&report->times[i]));
    }
    ph_json_close(&json);
    ph_json_close(&json);
}
