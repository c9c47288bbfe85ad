// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Figures for programs, for people, and as curves. Runs once, at the end.

#include "sim_report.h"

#include "scene_help.h"
#include "sim_figures.h"

#include "kit/plot.h"
#include "kit/profile_colours.h"

#include <stdlib.h>
#include <string.h>

#define COLUMN_WIDTH 12
// Columns of a table side by side on a terminal; more go below.
#define COLUMNS_MAX 6

// ---- JSON

static void write_hz(const char* hz, ph_json* json)
{
    if (strcmp(hz, "auto") == 0) {
        ph_json_text(json, "hz", hz);
    } else {
        ph_json_number(json, "hz", strtod(hz, NULL));
    }
}

static void write_question(const sim_report* report, const sim_trial* trial, ph_json* json)
{
    const sim_options* options = report->options;
    const ph_sim_def* def = &options->def;
    const ph_sim_result* result = &trial->result;
    ph_json_text(json, "source", options->source);
    ph_json_text(json, "profile", trial->parts->profile);
    ph_json_text(json, "schedule", trial->parts->schedule);
    ph_json_text(json, "coding", trial->parts->coding);
    ph_json_text(json, "precision", trial->parts->precision);
    ph_json_text(json, "show", options->show);
    ph_json_text(json, "properties", options->properties);
    ph_json_text(json, "rotation", options->rotation);
    ph_json_number(json, "rate", result->rate_hz);
    ph_json_number(json, "seconds", result->seconds);
    ph_json_integer(json, "entities", result->entity_count);
    ph_json_integer(json, "viewers", result->viewer_count);
    ph_json_number(json, "kbps", trial->kbps);
    ph_json_number(json, "burst", def->burst_s);
    ph_json_integer(json, "burst_bits", result->burst_bits);
    ph_json_integer(json, "overhead", def->overhead_bytes);
    write_hz(trial->parts->hz, json);
    ph_json_number(json, "radius", def->radius_m);
    ph_json_integer(json, "slots", def->slots);
    ph_json_number(json, "rtt", def->rtt_ms);
    ph_json_number(json, "jitter", def->jitter_ms);
    ph_json_number(json, "loss", options->loss_pct);
    ph_json_number(json, "drift", options->drift_pct);
    ph_json_number(json, "bottleneck", def->bottleneck_kbps);
    ph_json_bool(json, "controlled", def->bottleneck_kbps > 0.0 && !def->is_uncontrolled);
    ph_json_integer(json, "seed", options->seed);
    ph_json_text(json, "schema", report->schema_text);
}

static void write_trial(const sim_report* report, const sim_trial* trial, const char* key,
                        ph_json* json)
{
    ph_json_open(json, key);
    if (report->options->is_ablated) {
        ph_json_text(json, "name", trial->parts->name);
    }
    write_question(report, trial, json);
    ph_sim_result_write(&trial->result, json);
    ph_json_close(json);
}

static void write_compared(const sim_report* report, const sim_trial* trials, ph_json* json)
{
    const int count = report->options->part_count;
    ph_json_open(json, NULL);
    for (int i = 0; i < count; ++i) {
        write_trial(report, &trials[i], trials[i].parts->name, json);
    }
    ph_json_open(json, "ratio");
    ph_sim_result_write_ratio(&trials[0].result, &trials[count - 1].result, json);
    ph_json_close(json);
    ph_json_close(json);
}

void sim_report_print_json(const sim_report* report)
{
    ph_json json = ph_json_make(stdout);
    const bool is_list = report->options->sweep != NULL || report->options->is_ablated;
    const bool is_compared = report->options->compared != NULL;
    const int step = is_compared ? report->options->part_count : 1;
    if (is_list) {
        ph_json_open_list(&json, NULL);
    }
    for (int i = 0; i < report->trial_count; i += step) {
        if (is_compared) {
            write_compared(report, &report->trials[i], &json);
        } else {
            write_trial(report, &report->trials[i], NULL, &json);
        }
    }
    if (is_list) {
        ph_json_close(&json);
    }
}

// ---- a table

static void print_question(const sim_report* report)
{
    const sim_options* options = report->options;
    const ph_sim_def* def = &options->def;
    const ph_sim_result* result = &report->trials[0].result;
    printf("%s: %d entities, %g s at %g ticks a second, seen by %d viewers\n", options->source,
           result->entity_count, result->seconds, result->rate_hz, result->viewer_count);
    printf("link of %g ms and 0..%g ms jitter, %g %% lost, shown %s\n", def->rtt_ms, def->jitter_ms,
           options->loss_pct, options->show);
    for (int i = 0; i < options->part_count; ++i) {
        const sim_parts* parts = &options->parts[i];
        printf("%s: schedule %s, coding %s, precision %s, hz %s\n", parts->name, parts->schedule,
               parts->coding, parts->precision, parts->hz);
    }
    printf("\n");
}

static void print_budget(double kbps)
{
    char text[32];
    snprintf(text, sizeof text, "%g kbit/s", kbps);
    printf(" %*s", COLUMN_WIDTH, kbps > 0.0 ? text : "no limit");
}

static void print_value(double value, int decimals)
{
    printf(" %*.*f", COLUMN_WIDTH, decimals, value);
}

static void print_heads(const sim_report* report, int first, int end, bool has_ratio)
{
    printf("%-24s %-8s", "", "");
    for (int i = first; i < end; ++i) {
        print_budget(report->trials[i].kbps);
    }
    printf("\n%-24s %-8s", "", "");
    for (int i = first; i < end; ++i) {
        printf(" %*s", COLUMN_WIDTH, report->trials[i].parts->name);
    }
    if (has_ratio) {
        printf(" %*s", COLUMN_WIDTH, "ratio");
    }
    printf("\n");
}

static void print_ratio(double first, double second)
{
    if (first != 0.0) {
        printf(" %*.3f", COLUMN_WIDTH, second / first);
    } else {
        printf(" %*s", COLUMN_WIDTH, "-");
    }
}

static void print_figures(const sim_report* report, int first, int end, bool has_ratio)
{
    double values[COLUMNS_MAX][SIM_FIGURE_MAX];
    for (int i = first; i < end; ++i) {
        sim_figures_fill(&report->trials[i].result, values[i - first]);
    }
    for (int row = 0; sim_figures[row].key != NULL; ++row) {
        printf("%-24s %-8s", sim_figures[row].key, sim_figures[row].unit);
        for (int i = first; i < end; ++i) {
            print_value(values[i - first][row], sim_figures[row].decimals);
        }
        if (has_ratio) {
            print_ratio(values[0][row], values[end - first - 1][row]);
        }
        printf("\n");
    }
}

static void print_shares(const sim_report* report, int first, int end)
{
    printf("\npayload, in %% of its bits\n");
    ph_sim_bits bits;
    for (int row = 0; ph_sim_result_bits(&report->trials[first].result, row, &bits); ++row) {
        printf("  %-22s %-8s", bits.key, "%");
        for (int i = first; i < end; ++i) {
            const ph_sim_result* result = &report->trials[i].result;
            ph_sim_result_bits(result, row, &bits);
            const double all = (double)result->traffic.payload_bytes * 8.0 * 256.0;
            print_value(all > 0.0 ? 100.0 * (double)bits.bits256 / all : 0.0, 1);
        }
        printf("\n");
    }
}

// The figures that the parts are for, one row for each choice of them; classic is the first.
static void print_ablation(const sim_report* report)
{
    print_budget(report->trials[0].kbps);
    printf("\n%-24s %9s %8s %8s %8s %8s %8s %9s %7s\n", "", "error", "of", "missing", "heading",
           "stale", "jolts", "updates", "bits per");
    printf("%-24s %9s %8s %8s %8s %8s %8s %9s %7s\n", "", "mrad", "classic", "%", "deg", "ms",
           "1/min", "1/s", "update");
    const double classic = report->trials[0].result.figures.error_mrad.mean;
    for (int i = 0; i < report->trial_count; ++i) {
        const ph_figures_summary* figures = &report->trials[i].result.figures;
        const ph_sim_rates rates = ph_sim_result_rates(&report->trials[i].result);
        printf("%-24s %9.2f %8.3f %8.2f %8.1f %8.0f %8.2f %9.1f %7.1f\n",
               report->trials[i].parts->name, figures->error_mrad.mean,
               classic > 0.0 ? figures->error_mrad.mean / classic : 0.0, figures->missing_pct,
               figures->heading_deg.mean, figures->stale_ms.mean, figures->jolts_per_min,
               rates.updates_per_s, rates.bits_per_update);
    }
}

void sim_report_print_table(const sim_report* report)
{
    print_question(report);
    if (report->options->schema_path == NULL) {
        printf("derived schema\n%s\n", report->schema_text);
    }
    if (report->options->is_ablated) {
        print_ablation(report);
        return;
    }
    const bool is_compared = report->options->compared != NULL;
    const int step = is_compared ? report->options->part_count : COLUMNS_MAX;
    for (int first = 0; first < report->trial_count; first += step) {
        const int end = first + step < report->trial_count ? first + step : report->trial_count;
        print_heads(report, first, end, is_compared);
        print_figures(report, first, end, is_compared);
        print_shares(report, first, end);
        printf("%s", end < report->trial_count ? "\n" : "");
    }
}

// ---- curves

// Of what was compared, or of the one profile.
typedef struct sim_curve {
    double kbps[SIM_BUDGETS_MAX];
    double error_mm[SIM_BUDGETS_MAX];
} sim_curve;

static ph_plot_series make_curve(const sim_report* report, int part, sim_curve* curve)
{
    const int step = report->options->part_count;
    const int count = report->trial_count / step;
    for (int i = 0; i < count; ++i) {
        const sim_trial* trial = &report->trials[i * step + part];
        curve->kbps[i] = trial->kbps;
        curve->error_mm[i] = trial->result.figures.error_mm.mean;
    }
    const char* name = report->trials[part].parts->name;
    return (ph_plot_series){.name = name,
                            .x = curve->kbps,
                            .y = curve->error_mm,
                            .count = count,
                            .colour = ph_profile_colour(name)};
}

// "crowd_lab, 32 viewers, round trips of 100 to 140 ms, 1 % lost"
static void describe_run(const sim_report* report, char* text, size_t size)
{
    const sim_options* options = report->options;
    const char* name = app_source_name(options->source);
    const double rtt_ms = options->def.rtt_ms;
    snprintf(text, size, "%.*s, %d viewers, round trips of %g to %g ms, %g %% lost",
             (int)strcspn(name, "."), name, report->trials[0].result.viewer_count, rtt_ms,
             rtt_ms + 2.0 * options->def.jitter_ms, options->loss_pct);
}

bool sim_report_plot(const sim_report* report, FILE* file)
{
    const int count = report->options->part_count;
    sim_curve curves[SIM_COMPARED_MAX];
    ph_plot_series series[SIM_COMPARED_MAX];
    for (int i = 0; i < count; ++i) {
        series[i] = make_curve(report, i, &curves[i]);
    }
    char subtitle[200];
    describe_run(report, subtitle, sizeof subtitle);
    const ph_plot plot = {
        .title = "How far off is what a player sees?",
        .subtitle = subtitle,
        .description = "Mean distance between where a client shows an entity and where it is at "
                       "that moment, over the budget of each viewer.",
        .x = {.label = "budget on the wire", .unit = "kbit/s", .is_log = true},
        .y = {.label = "position error, lower is better", .is_log = true, .is_length_mm = true},
        .series = series,
        .series_count = count,
    };
    return ph_plot_write(&plot, file);
}
