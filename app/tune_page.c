// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The report as a page that needs nothing else: text, tables and SVG. Names come from recordings, so they
// are escaped (kit/plot escapes its own).

#include "tune_report.h"

#include "kit/plot.h"

#include <math.h>
#include <string.h>

enum { BAR_WIDTH = 520, BAR_HEIGHT = 22 };

static const char HEAD[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<title>pinhole tune</title><style>\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:860px;margin:2em auto;padding:0 1em;"
    "color:#222;background:#fff}\n"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}\n"
    "table{border-collapse:collapse}td,th{padding:2px 12px 2px 0;text-align:right}"
    "td:first-child,th:first-child{text-align:left}\n"
    ".big{font-size:2.2em;font-weight:600}svg{max-width:100%;height:auto}\n"
    "li{margin:.4em 0}.note{color:#666}\n"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.note{color:#999}"
    "svg.own text{fill:#ddd}}\n"
    "</style></head><body>\n";

static void put_text(FILE* file, const char* text)
{
    for (; *text != '\0'; ++text) {
        switch (*text) {
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            fputc(*text, file);
        }
    }
}

// ---- where the bits go

static double per_update(const ph_sim_result* result, uint64_t bits256)
{
    const double updates = (double)result->traffic.significant_updates;
    return updates > 0.0 ? (double)bits256 / 256.0 / updates : 0.0;
}

static void put_bar(FILE* file, int y, double width, const char* colour, double bits)
{
    fprintf(file,
            "<rect x=\"150\" y=\"%d\" width=\"%.1f\" height=\"9\" fill=\"%s\"/>"
            "<text x=\"%.1f\" y=\"%d\" font-size=\"10\">%.2f</text>",
            y, width, colour, 154.0 + width, y + 9, bits);
}

static void put_bars(const tune_report* report, FILE* file)
{
    const ph_sim_result* sides[] = {&report->result->before, &report->result->after};
    ph_sim_bits bits[2];
    double most = 0.0;
    int rows = 0;
    for (int i = 0; ph_sim_result_bits(sides[0], i, &bits[0]); ++i) {
        const bool has_other = ph_sim_result_bits(sides[1], i, &bits[1]);
        for (int side = 0; side < (has_other ? 2 : 1); ++side) {
            most = fmax(most, per_update(sides[side], bits[side].bits256));
        }
        rows += has_other && bits[0].bits256 + bits[1].bits256 > 0 ? 1 : 0;
    }
    fprintf(file,
            "<h2>Where the bits go, per update</h2><p class=\"note\">Grey: before. Green: after; "
            "%s, the whole time, through eyes that were not learned from.</p><svg class=\"own\" "
            "role=\"img\" "
            "aria-label=\"bits per update by property\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\">",
            tune_report_budget(report).text, BAR_WIDTH + 220, rows * (BAR_HEIGHT + 4));
    int y = 0;
    for (int i = 0; ph_sim_result_bits(sides[0], i, &bits[0]); ++i) {
        if (!ph_sim_result_bits(sides[1], i, &bits[1]) || bits[0].bits256 + bits[1].bits256 == 0) {
            continue;
        }
        fprintf(file, "<text x=\"0\" y=\"%d\" font-size=\"13\">", y + 15);
        put_text(file, bits[0].key);
        fprintf(file, "</text>");
        for (int side = 0; side < 2; ++side) {
            const double each = per_update(sides[side], bits[side].bits256);
            put_bar(file, y + 10 * side, most > 0.0 ? BAR_WIDTH * each / most : 0.0,
                    side == 0 ? "#999" : "#1b9e77", each);
        }
        y += BAR_HEIGHT + 4;
    }
    fprintf(file, "</svg>\n");
}

// ---- how classes move

static void put_motions(const tune_report* report, FILE* file)
{
    fprintf(file, "<h2>How classes move</h2><table><tr><th>class</th><th>bend</th><th>leg, ms</th>"
                  "<th>mean error, mrad</th></tr>\n");
    for (int c = 0; c < ph_schema_class_count(report->base); ++c) {
        const ph_tune_motion* motion = &report->result->motions[c];
        fprintf(file, "<tr><td>%s</td>", ph_schema_class(report->base, c)->name);
        if (motion->is_taken) {
            fprintf(file,
                    "<td>%.2f, now %.2f</td><td>%d, now %d</td><td>%.2f, now %.2f; what decided, "
                    "on average over the budgets tried: %+.1f %%</td></tr>\n",
                    motion->was_bend, motion->bend, motion->was_leg_ms, motion->leg_ms,
                    motion->before_mrad, motion->after_mrad, 100.0 * (motion->rest - 1.0));
        } else {
            fprintf(file, "<td>%.2f</td><td>%d</td><td>nothing else gains</td></tr>\n",
                    motion->was_bend, motion->was_leg_ms);
        }
    }
    fprintf(file, "</table>\n");
}

// ---- residuals, with the model over them

static bool put_residuals(const tune_report* report, int class_index, int property, FILE* file)
{
    const int at = ph_tune_first_column(report->base, class_index) + property;
    const ph_tune_column* column = &report->columns[at];
    const tune_name name = tune_report_name(report->base, class_index, property);
    if (!column->is_number || column->changes == 0) {
        return true;
    }
    int last = PH_TUNE_LENGTHS - 1;
    while (last > 1 && column->lengths[PH_TUNE_LAST][last] == 0) {
        --last;
    }
    double model[PH_TUNE_LENGTHS];
    const bool has_model = ph_tune_number_model(report->result->schema, at, model);
    double x[PH_TUNE_LENGTHS];
    double seen[PH_TUNE_LENGTHS];
    for (int i = 0; i <= last; ++i) {
        x[i] = i;
        seen[i] = 100.0 * (double)column->lengths[PH_TUNE_LAST][i] / (double)column->changes;
        model[i] = 100.0 * (has_model ? model[i] : 0.0);
    }
    const ph_plot_series series[] = {
        {.name = "seen in quarter seconds",
         .x = x,
         .y = seen,
         .count = last + 1,
         .colour = "#999999"},
        {.name = "the model learned", .x = x, .y = model, .count = last + 1, .colour = "#1b9e77"},
    };
    const ph_plot plot = {.title = name.text,
                          .subtitle = "how long its differences from the last value are",
                          .x = {.label = "bits of the difference"},
                          .y = {.label = "share", .unit = "%"},
                          .series = series,
                          .series_count = has_model ? 2 : 1};
    return ph_plot_write(&plot, file);
}

// Of positions and headings, which are predicted.
static bool put_predicted(const ph_tune_residuals* residuals, FILE* file)
{
    double x[PH_TUNE_MAGNITUDES];
    for (int i = 0; i < PH_TUNE_MAGNITUDES; ++i) {
        x[i] = i;
    }
    const ph_plot_series series[] = {
        {.name = "seen",
         .x = x,
         .y = residuals->seen,
         .count = PH_TUNE_MAGNITUDES,
         .colour = "#7570b3"},
        {.name = "model before",
         .x = x,
         .y = residuals->before,
         .count = PH_TUNE_MAGNITUDES,
         .colour = "#999999"},
        {.name = "model after",
         .x = x,
         .y = residuals->after,
         .count = PH_TUNE_MAGNITUDES,
         .colour = "#1b9e77"},
    };
    const ph_plot plot = {.title = residuals->what,
                          .subtitle = "how far off the prediction is, in the commonest case",
                          .x = {.label = "steps"},
                          .y = {.label = "share", .unit = "%"},
                          .series = series,
                          .series_count = 3};
    return residuals->count == 0 || ph_plot_write(&plot, file);
}

// ---- error over budget

static bool put_errors(const tune_report* report, FILE* file)
{
    if (report->budget_count == 0) {
        return true;
    }
    const ph_plot_series series[] = {
        {.name = "before",
         .x = report->kbps,
         .y = report->error_mrad[0],
         .count = report->budget_count,
         .colour = "#999999"},
        {.name = "after",
         .x = report->kbps,
         .y = report->error_mrad[1],
         .count = report->budget_count,
         .colour = "#1b9e77"},
    };
    const ph_plot plot = {.title = "Error over budget",
                          .subtitle = "before and after, the whole recording",
                          .x = {.label = "budget per player", .unit = "kbit/s", .is_log = true},
                          .y = {.label = "mean error", .unit = "mrad"},
                          .series = series,
                          .series_count = 2};
    fprintf(file, "<h2>Error over budget</h2>\n");
    return ph_plot_write(&plot, file);
}

// ---- all of it

static void put_sentence(const tune_report* report, FILE* file)
{
    const ph_tune_result* result = report->result;
    const double before = result->before_bits;
    const double after = result->after_bits;
    fprintf(file, "<h1>pinhole tune: ");
    put_text(file, report->source);
    fprintf(file,
            "</h1>\n<p class=\"big\">%+.1f %% bits of an update</p><p>%.2f before, %.2f after: on "
            "two fifths of the time, half of the entities and through eyes that were not learned "
            "from. Through those eyes, the whole time and %s: mean error %.2f mrad "
            "before, %.2f after. At last %llu updates were learned from; %d models.</p>\n",
            before > 0.0 ? 100.0 * (after / before - 1.0) : 0.0, before, after,
            tune_report_budget(report).text, result->before.figures.error_mrad.mean,
            result->after.figures.error_mrad.mean, (unsigned long long)result->updates,
            result->models);
    tune_advice advice[TUNE_ADVICE_MAX];
    const int count = tune_report_advise(report, advice);
    fprintf(file, "<h2>What else would help</h2><ol>\n");
    for (int i = 0; i < count; ++i) {
        fprintf(file, "<li>");
        put_text(file, advice[i].text);
        fprintf(file, ": some %.1f %% of the payload.</li>\n", 100.0 * advice[i].saved);
    }
    fprintf(file, "</ol>\n");
}

bool tune_page_write(const tune_report* report, FILE* file)
{
    fputs(HEAD, file);
    put_sentence(report, file);
    put_bars(report, file);
    put_motions(report, file);
    bool is_written = put_errors(report, file);
    fprintf(file, "<h2>Differences, and the models over them</h2>\n");
    for (int i = 0; i < PH_TUNE_RESIDUALS && is_written; ++i) {
        is_written = put_predicted(&report->result->residuals[i], file);
    }
    for (int c = 0; c < ph_schema_class_count(report->base); ++c) {
        const int count = ph_schema_class(report->base, c)->property_count;
        for (int i = 0; i < count && is_written; ++i) {
            is_written = put_residuals(report, c, i, file);
        }
    }
    return is_written && fprintf(file, "</body></html>\n") > 0;
}
