// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The suite as a page that needs nothing else: text, tables and SVG. Names come from files, so they are
// escaped.

#include "quality_suite.h"

#include "kit/plot.h"
#include "kit/plot_text.h"
#include "kit/profile_colours.h"

#include <math.h>

// The budget of the summary: the one next to it.
#define USUAL_KBPS 13.0

static const char PAGE_HEAD[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<title>Quality at a budget</title><style>\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:1120px;margin:2em auto;padding:0 1em;"
    "color:#1b1f24;background:#fff}\n"
    "h1{font-size:1.7em;margin-bottom:.2em}h2{font-size:1.2em;margin:1.8em 0 .6em}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "td,th{padding:.2em 0 .2em 1.6em;text-align:right;font-weight:400;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left;padding-left:0}\n"
    "td i{position:absolute;padding-left:.15em;font-style:normal}\n"
    "thead th{color:#57606a}thead tr:last-child th{border-bottom:1px solid #d0d7de}"
    "tr.sum td{border-top:1px solid #d0d7de;font-weight:600}\n"
    ".wide{overflow-x:auto;padding-right:.8em}.note{color:#57606a;max-width:46em}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));"
    "gap:1.6em 1.2em}\n"
    "figure{margin:0}svg{width:100%;height:auto;display:block}"
    "summary{cursor:pointer;color:#57606a;margin:.4em 0}\n"
    "details table{font-size:.78em;width:100%}details td,details th{padding-left:.6em}"
    "details td:nth-child(2){text-align:left}\n"
    "pre{background:#f6f8fa;padding:.8em 1em;overflow-x:auto;border-radius:6px}\n"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}"
    ".note,summary,thead th{color:#a3adb8}pre{background:#161b22}"
    "thead tr:last-child th,tr.sum td{border-color:#3d444d}}\n"
    "</style></head><body>\n";

static int usual_budget(const quality_suite* suite)
{
    int best = 0;
    for (int b = 1; b < suite->budget_count; ++b) {
        if (fabs(suite->kbps[b] - USUAL_KBPS) < fabs(suite->kbps[best] - USUAL_KBPS)) {
            best = b;
        }
    }
    return best;
}

static void put_ratio(double ratio, bool counts, FILE* file)
{
    if (isfinite(ratio)) {
        fprintf(file, "<td>%.3f%s</td>", ratio, counts ? "" : "<i>*</i>");
    } else {
        fprintf(file, "<td>–</td>");
    }
}

// ---- all sources at one budget

static void put_source_row(const quality_source* source, int budget, FILE* file)
{
    fprintf(file, "<tr><td>");
    ph_plot_text_write(file, source->name);
    fprintf(file, "</td>");
    for (int system = 0; system < QUALITY_SYSTEMS; ++system) {
        fprintf(file, "<td>%.2f</td>", source->results[budget][system].figures.error_mrad.mean);
    }
    for (int system = 1; system < QUALITY_SYSTEMS; ++system) {
        put_ratio(quality_ratio(source, budget, system),
                  quality_above(source, budget, system, NULL) == 0, file);
    }
    fprintf(file, "</tr>\n");
}

static void put_summary(const quality_suite* suite, FILE* file)
{
    const ph_sim_def* def = &suite->def;
    const int budget = usual_budget(suite);
    fprintf(file,
            "<h1>Quality at a budget</h1>\n<p class=\"note\">How far off is what players see? The "
            "same truth through three systems, each with the same budget on the wire, headers "
            "included. An error is the distance between where a client shows an entity and where "
            "it is at that moment, as an angle at the viewer's eye. Up to %d viewers of each "
            "source; round trips of %g to %g ms, %g %% of the packets lost.</p>\n",
            def->viewers, def->rtt_ms, def->rtt_ms + 2.0 * def->jitter_ms, 100.0 * def->loss);
    fprintf(file,
            "<h2>At %g kbit/s</h2>\n<div class=\"wide\"><table><thead>"
            "<tr><th></th><th colspan=\"3\">mean error, mrad</th>"
            "<th colspan=\"2\">of classic</th></tr>\n<tr><th></th>",
            suite->kbps[budget]);
    for (int i = 0; i < 2 * QUALITY_SYSTEMS - 1; ++i) {
        const int system = i < QUALITY_SYSTEMS ? i : i - QUALITY_SYSTEMS + 1;
        fprintf(file, "<th>%s</th>", quality_systems[system]);
    }
    fprintf(file, "</tr></thead>\n<tbody>");
    for (int s = 0; s < suite->source_count; ++s) {
        put_source_row(&suite->sources[s], budget, file);
    }
    if (suite->source_count > 1) {
        fprintf(file, "<tr class=\"sum\"><td>geometric mean</td><td></td><td></td><td></td>");
        for (int system = 1; system < QUALITY_SYSTEMS; ++system) {
            put_ratio(quality_mean_ratio(suite, budget, system), true, file);
        }
        fprintf(file, "</tr>");
    }
    fprintf(file,
            "</tbody></table></div>\n<p class=\"note\">* More is missing, a ghost, turned "
            "the wrong way or stale than with classic: this ratio does not count alone. The tables "
            "below have these figures.</p>\n");
}

// ---- one source at all budgets

static bool put_plot(const quality_suite* suite, const quality_source* source, FILE* file)
{
    double errors[QUALITY_SYSTEMS][QUALITY_BUDGETS_MAX];
    ph_plot_series series[QUALITY_SYSTEMS];
    const ph_sim_result* any = &source->results[0][0];
    for (int system = 0; system < QUALITY_SYSTEMS; ++system) {
        for (int b = 0; b < suite->budget_count; ++b) {
            errors[system][b] = source->results[b][system].figures.error_mrad.mean;
        }
        series[system] = (ph_plot_series){.name = quality_systems[system],
                                          .x = suite->kbps,
                                          .y = errors[system],
                                          .count = suite->budget_count,
                                          .colour = ph_profile_colour(quality_systems[system])};
    }
    char subtitle[120];
    snprintf(subtitle, sizeof subtitle, "%d entities, %g s, %d viewer%s", any->entity_count,
             any->seconds, any->viewer_count, any->viewer_count == 1 ? "" : "s");
    const ph_plot plot = {
        .title = source->name,
        .subtitle = subtitle,
        .description = "Mean error as seen by viewers, over the budget of each of them.",
        .x = {.label = "budget on the wire", .unit = "kbit/s", .is_log = true},
        .y = {.label = "mean error, lower is better", .unit = "mrad", .is_log = true},
        .series = series,
        .series_count = QUALITY_SYSTEMS};
    return ph_plot_write(&plot, file);
}

static void put_figures(const quality_suite* suite, const quality_source* source, FILE* file)
{
    fprintf(file,
            "<details><summary>all figures</summary><div class=\"wide\"><table><thead><tr>"
            "<th>kbit/s</th><th></th><th>mean<br>mrad</th><th>95 %%<br>mrad</th><th>mean<br>mm</th>"
            "<th>missing<br>%%</th><th>ghosts<br>%%</th><th>heading<br>°</th><th>stale<br>ms</th>"
            "<th>jolts<br>1/min</th><th>join<br>s</th></tr></thead>\n<tbody>");
    for (int b = 0; b < suite->budget_count; ++b) {
        for (int system = 0; system < QUALITY_SYSTEMS; ++system) {
            const ph_figures_summary* f = &source->results[b][system].figures;
            fprintf(file,
                    "<tr><td>%g</td><td>%s</td><td>%.2f</td><td>%.2f</td><td>%.0f</td><td>%.2f</td>"
                    "<td>%.2f</td><td>%.1f</td><td>%.0f</td><td>%.2f</td><td>%.2f</td></tr>\n",
                    suite->kbps[b], quality_systems[system], f->error_mrad.mean, f->error_mrad.p95,
                    f->error_mm.mean, f->missing_pct, f->ghost_pct, f->heading_deg.mean,
                    f->stale_ms.mean, f->jolts_per_min, f->join_s);
        }
    }
    fprintf(file, "</tbody></table></div></details>\n");
}

bool quality_page_write(const quality_suite* suite, FILE* file)
{
    fputs(PAGE_HEAD, file);
    put_summary(suite, file);
    fprintf(file, "<h2>Error over budget</h2>\n<div class=\"plots\">\n");
    for (int s = 0; s < suite->source_count; ++s) {
        fprintf(file, "<figure>");
        if (!put_plot(suite, &suite->sources[s], file)) {
            return false;
        }
        put_figures(suite, &suite->sources[s], file);
        fprintf(file, "</figure>\n");
    }
    return fprintf(file, "</div>\n<h2>Another system</h2>\n<p class=\"note\">The same meter takes "
                         "two files, what was true and what each client showed, of any program: "
                         "</p>\n<pre>pinhole judge truth.phrec shown.csv</pre>\n"
                         "<p class=\"note\">docs/quality.md says what is in them, and which links, "
                         "viewers and budgets make figures comparable.</p>\n</body></html>\n") > 0;
}
