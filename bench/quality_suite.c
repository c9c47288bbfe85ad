// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Figures of the suite, for programs and as a table. Runs once, at the end.

#include "quality_suite.h"

#include <math.h>

const char* const quality_systems[QUALITY_SYSTEMS] = {"classic", "snapshot", "pinhole"};

// ---- ratios

double quality_ratio(const quality_source* source, int budget, int system)
{
    const ph_sim_result* results = source->results[budget];
    const double classic = results[0].figures.error_mrad.mean;
    return classic > 0.0 ? results[system].figures.error_mrad.mean / classic : (double)NAN;
}

int quality_above(const quality_source* source, int budget, int system,
                  const char* keys[QUALITY_ABOVE_MAX])
{
    const ph_figures_summary* classic = &source->results[budget][0].figures;
    const ph_figures_summary* other = &source->results[budget][system].figures;
    const struct {
        const char* key;
        double classic;
        double other;
    } rows[QUALITY_ABOVE_MAX] = {
        {"missing_pct", classic->missing_pct, other->missing_pct},
        {"ghost_pct", classic->ghost_pct, other->ghost_pct},
        {"heading_deg", classic->heading_deg.mean, other->heading_deg.mean},
        {"stale_ms", classic->stale_ms.mean, other->stale_ms.mean},
    };
    int count = 0;
    for (int i = 0; i < QUALITY_ABOVE_MAX; ++i) {
        if (rows[i].other > rows[i].classic) {
            if (keys != NULL) {
                keys[count] = rows[i].key;
            }
            ++count;
        }
    }
    return count;
}

double quality_mean_ratio(const quality_suite* suite, int budget, int system)
{
    double sum = 0.0;
    for (int s = 0; s < suite->source_count; ++s) {
        sum += log(quality_ratio(&suite->sources[s], budget, system));
    }
    return exp(sum / suite->source_count);
}

// ---- JSON

static void write_system(const quality_source* source, int budget, int system, ph_json* json)
{
    const ph_sim_result* result = &source->results[budget][system];
    const ph_sim_rates rates = ph_sim_result_rates(result);
    ph_json_open(json, quality_systems[system]);
    ph_json_number(json, "wire_kbps_mean", rates.wire_kbps_mean);
    ph_json_number(json, "wire_kbps_max_1s", rates.wire_kbps_max_1s);
    ph_json_integer(json, "overruns", (int64_t)result->traffic.overruns);
    ph_json_number(json, "budget_used_pct", rates.budget_used_pct);
    ph_json_number(json, "updates_per_s", rates.updates_per_s);
    ph_json_number(json, "bits_per_update", rates.bits_per_update);
    ph_figures_write(&result->figures, json);
    if (system > 0) {
        const char* above[QUALITY_ABOVE_MAX];
        const int count = quality_above(source, budget, system, above);
        ph_json_number(json, "ratio", quality_ratio(source, budget, system));
        ph_json_open_list(json, "above_classic");
        for (int i = 0; i < count; ++i) {
            ph_json_text(json, NULL, above[i]);
        }
        ph_json_close(json);
    }
    ph_json_close(json);
}

static void write_source(const quality_suite* suite, const quality_source* source, ph_json* json)
{
    const ph_sim_result* any = &source->results[0][0];
    ph_json_open(json, NULL);
    ph_json_text(json, "source", source->name);
    ph_json_number(json, "rate", any->rate_hz);
    ph_json_number(json, "seconds", any->seconds);
    ph_json_integer(json, "entities", any->entity_count);
    ph_json_integer(json, "viewers", any->viewer_count);
    ph_json_open_list(json, "budgets");
    for (int b = 0; b < suite->budget_count; ++b) {
        ph_json_open(json, NULL);
        ph_json_number(json, "kbps", suite->kbps[b]);
        for (int system = 0; system < QUALITY_SYSTEMS; ++system) {
            write_system(source, b, system, json);
        }
        ph_json_close(json);
    }
    ph_json_close(json);
    ph_json_close(json);
}

void quality_print_json(const quality_suite* suite, FILE* file)
{
    const ph_sim_def* def = &suite->def;
    ph_json json = ph_json_make(file);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "bench", "quality");
    ph_json_number(&json, "burst", def->burst_s);
    ph_json_integer(&json, "overhead", def->overhead_bytes);
    ph_json_number(&json, "radius", def->radius_m);
    ph_json_integer(&json, "slots", def->slots);
    ph_json_number(&json, "rtt", def->rtt_ms);
    ph_json_number(&json, "jitter", def->jitter_ms);
    ph_json_number(&json, "loss", 100.0 * def->loss);
    ph_json_integer(&json, "seed", suite->seed);
    ph_json_open_list(&json, "sources");
    for (int s = 0; s < suite->source_count; ++s) {
        write_source(suite, &suite->sources[s], &json);
    }
    ph_json_close(&json);
    ph_json_open_list(&json, "mean_ratio");
    for (int b = 0; b < suite->budget_count; ++b) {
        ph_json_open(&json, NULL);
        ph_json_number(&json, "kbps", suite->kbps[b]);
        for (int system = 1; system < QUALITY_SYSTEMS; ++system) {
            ph_json_number(&json, quality_systems[system], quality_mean_ratio(suite, b, system));
        }
        ph_json_close(&json);
    }
    ph_json_close(&json);
    ph_json_close(&json);
}

// ---- a table

static void print_ratio(double ratio, bool counts, FILE* file)
{
    if (isfinite(ratio)) {
        fprintf(file, " %9.3f%s", ratio, counts ? " " : "*");
    } else {
        fprintf(file, " %9s ", "-");
    }
}

static bool print_source(const quality_suite* suite, const quality_source* source, FILE* file)
{
    bool is_all_counted = true;
    for (int b = 0; b < suite->budget_count; ++b) {
        fprintf(file, "%-18.18s %6g", b == 0 ? source->name : "", suite->kbps[b]);
        for (int system = 0; system < QUALITY_SYSTEMS; ++system) {
            fprintf(file, " %9.2f", source->results[b][system].figures.error_mrad.mean);
        }
        for (int system = 1; system < QUALITY_SYSTEMS; ++system) {
            const bool counts = quality_above(source, b, system, NULL) == 0;
            is_all_counted = is_all_counted && counts;
            print_ratio(quality_ratio(source, b, system), counts, file);
        }
        fprintf(file, "\n");
    }
    return is_all_counted;
}

void quality_print_table(const quality_suite* suite, FILE* file)
{
    const ph_sim_def* def = &suite->def;
    bool is_all_counted = true;
    fprintf(file, "link of %g ms and 0..%g ms jitter, %g %% lost; up to %d viewers\n\n",
            def->rtt_ms, def->jitter_ms, 100.0 * def->loss, def->viewers);
    fprintf(file, "%-18s %6s %29s %21s\n", "", "budget", "mean error as seen, mrad", "of classic");
    fprintf(file, "%-18s %6s", "", "kbit/s");
    for (int system = 0; system < QUALITY_SYSTEMS; ++system) {
        fprintf(file, " %9s", quality_systems[system]);
    }
    fprintf(file, " %9s  %9s\n", quality_systems[1], quality_systems[2]);
    for (int s = 0; s < suite->source_count; ++s) {
        is_all_counted = print_source(suite, &suite->sources[s], file) && is_all_counted;
    }
    for (int b = 0; b < suite->budget_count && suite->source_count > 1; ++b) {
        fprintf(file, "%-18s %6g %29s", b == 0 ? "geometric mean" : "", suite->kbps[b], "");
        for (int system = 1; system < QUALITY_SYSTEMS; ++system) {
            print_ratio(quality_mean_ratio(suite, b, system), true, file);
        }
        fprintf(file, "\n");
    }
    if (!is_all_counted) {
        fprintf(file, "\n* missing_pct, ghost_pct, heading_deg or stale_ms is above that of "
                      "classic: this ratio does not\n  count alone. --json has these figures.\n");
    }
}
