// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "tune_report.h"

#include <math.h>
#include <string.h>

// ---- what each property needs

static double per_change(uint64_t cost256, const ph_tune_column* column)
{
    return column->changes > 0 ? (double)cost256 / 256.0 / (double)column->changes : 0.0;
}

static int least_of(const uint64_t* cost256)
{
    int least = 0;
    for (int c = 1; c < PH_TUNE_CODING_COUNT; ++c) {
        least = cost256[c] < cost256[least] ? c : least;
    }
    return least;
}

static void print_costs(const char* what, const uint64_t* cost256, const ph_tune_column* column,
                        FILE* file)
{
    const int least = least_of(cost256);
    fprintf(file, "  %-14s", what);
    for (int c = 0; c < PH_TUNE_CODING_COUNT; ++c) {
        fprintf(file, " %9.2f%s", per_change(cost256[c], column), c == least ? "*" : " ");
    }
    fprintf(file, "\n");
}

tune_name tune_report_name(const ph_schema* schema, int class_index, int property)
{
    const ph_class_def* type = ph_schema_class(schema, class_index);
    tune_name made;
    snprintf(made.text, sizeof made.text, "%s%s%s",
             ph_schema_class_count(schema) > 1 ? type->name : "",
             ph_schema_class_count(schema) > 1 ? "." : "", type->properties[property].name);
    return made;
}

static void print_column(const char* name, const ph_property_def* def, const ph_tune_column* column,
                         FILE* file)
{
    if (column->samples == 0) {
        fprintf(file, "%s: the recording has no values for it\n", name);
        return;
    }
    if (column->low == column->high) {
        fprintf(file, "%s: constant, it costs nothing after an enter\n", name);
        return;
    }
    const double share = 100.0 * (double)column->changes / (double)column->samples;
    fprintf(file, "%s: levels %lld..%lld, another one in %.1f %% of quarter seconds\n", name,
            (long long)column->low, (long long)column->high, share);
    if (column->changes == 0) {
        return;
    }
    if (def->coding == PH_CODING_ENUM || def->coding == PH_CODING_BOOL) {
        fprintf(file, "  a choice: %.2f bits each time, %.2f as the schema says it\n",
                per_change(column->absolute256[PH_TUNE_ARITHMETIC], column),
                per_change(column->absolute256[PH_TUNE_RANGE], column));
        return;
    }
    print_costs("value", column->absolute256, column, file);
    print_costs("from the last", column->residual256[PH_TUNE_LAST], column, file);
    print_costs("from its way", column->residual256[PH_TUNE_LINEAR], column, file);
    fprintf(file, "  of the value %s takes the least", ph_tune_coding_names[column->best]);
    if (column->best == PH_TUNE_RICE) {
        fprintf(file, " with k %d", column->rice_k);
    }
    fprintf(file, "; predicted best %s; updates take the difference from the last\n",
            column->predictor == PH_TUNE_LAST ? "as it was" : "as it went on");
}

void tune_report_columns(const tune_report* report, FILE* file)
{
    fprintf(file, "what each property needs, in bits per change (* the least)\n%-16s", "");
    for (int c = 0; c < PH_TUNE_CODING_COUNT; ++c) {
        fprintf(file, " %9s ", ph_tune_coding_names[c]);
    }
    fprintf(file, "\n");
    for (int c = 0; c < ph_schema_class_count(report->base); ++c) {
        const ph_class_def* type = ph_schema_class(report->base, c);
        const ph_tune_column* columns = report->columns + ph_tune_first_column(report->base, c);
        for (int i = 0; i < type->property_count; ++i) {
            if (columns[i].is_number) {
                print_column(tune_report_name(report->base, c, i).text, &type->properties[i],
                             &columns[i], file);
            }
        }
    }
}

// ---- before and after

static double change_pct(double before, double after)
{
    return before > 0.0 ? 100.0 * (after / before - 1.0) : 0.0;
}

static void print_gain(const char* what, double before, double after, FILE* file)
{
    fprintf(file, "  %-34s %8.2f %8.2f %+7.1f %%\n", what, before, after,
            change_pct(before, after));
}

tune_budget tune_report_budget(const tune_report* report)
{
    tune_budget made = {"without a limit of bits"};
    if (report->kbps_learned > 0.0) {
        snprintf(made.text, sizeof made.text, "at %g kbit/s", report->kbps_learned);
    }
    return made;
}

void tune_report_gain(const tune_report* report, FILE* file)
{
    const ph_tune_result* result = report->result;
    const ph_sim_rates before = ph_sim_result_rates(&result->before);
    const ph_sim_rates after = ph_sim_result_rates(&result->after);
    fprintf(file,
            "\nlearned from half of the entities, through half of the eyes, for three fifths of "
            "the time\n  %-34s %8s %8s\n",
            "", "before", "after");
    if (result->test_updates > 0) {
        print_gain("bits of an update, all others", result->before_bits, result->after_bits, file);
    } else {
        fprintf(file, "  nothing is left to test on\n");
    }
    fprintf(file, "%s, the whole time, through the other eyes\n", tune_report_budget(report).text);
    print_gain("bits per update", before.bits_per_update, after.bits_per_update, file);
    print_gain("mean error, mrad", result->before.figures.error_mrad.mean,
               result->after.figures.error_mrad.mean, file);
}

// At the budget, and what decides: all that were tried.
static void print_motion(const tune_report* report, const char* what, const ph_tune_motion* motion,
                         FILE* file)
{
    fprintf(file, "  %-34s %8.2f %8.2f %+7.1f %%", what, motion->before_mrad, motion->after_mrad,
            change_pct(motion->before_mrad, motion->after_mrad));
    if (motion->budgets == 0) {
        fprintf(file, "; too little was shown to decide by");
    } else if (report->kbps_learned > 0.0) {
        fprintf(file, "; %+.1f %% on average, with %g kbit/s", 100.0 * (motion->rest - 1.0),
                2.0 * report->kbps_learned);
    }
    fprintf(file, "\n");
}

void tune_report_motions(const tune_report* report, FILE* file)
{
    const ph_schema* base = report->base;
    fprintf(file,
            "how classes move; mean error in what was not learned from, mrad\n  %-34s %8s %8s\n",
            "", "before", "after");
    for (int c = 0; c < ph_schema_class_count(base); ++c) {
        const ph_tune_motion* motion = &report->result->motions[c];
        char what[TUNE_TEXT_MAX];
        snprintf(what, sizeof what, "%s: bend %.2f, leg %d ms", ph_schema_class(base, c)->name,
                 motion->bend, motion->leg_ms);
        if (motion->before_mrad > 0.0) {
            print_motion(report, what, motion, file);
        }
        if (!motion->is_taken) {
            fprintf(file, "  %s: bend %.2f, leg %d ms stay as they are\n",
                    ph_schema_class(base, c)->name, motion->was_bend, motion->was_leg_ms);
        }
    }
}

// Bits of updates alone: of a property, or of a reason.
static double per_update(const ph_sim_result* result, uint64_t bits256)
{
    const double updates = (double)result->traffic.significant_updates;
    return updates > 0.0 ? (double)bits256 / 256.0 / updates : 0.0;
}

static double payload_share(const ph_sim_result* result, uint64_t bits256)
{
    const double bits = 8.0 * (double)result->traffic.payload_bytes;
    return bits > 0.0 ? (double)bits256 / 256.0 / bits : 0.0;
}

void tune_report_properties(const tune_report* report, FILE* file)
{
    fprintf(file, "\nwhere the bits go, per update     before    after   share of the payload\n");
    ph_sim_bits before;
    ph_sim_bits after;
    for (int i = 0; ph_sim_result_bits(&report->result->before, i, &before); ++i) {
        if (!ph_sim_result_bits(&report->result->after, i, &after) ||
            (before.bits256 == 0 && after.bits256 == 0)) {
            continue;
        }
        fprintf(file, "  %-28s %8.2f %8.2f %8.1f %% %6.1f %%\n", before.key,
                per_update(&report->result->before, before.bits256),
                per_update(&report->result->after, after.bits256),
                100.0 * payload_share(&report->result->before, before.bits256),
                100.0 * payload_share(&report->result->after, after.bits256));
    }
}

// ---- advice

static void keep_best(tune_advice best[TUNE_ADVICE_MAX], const tune_advice* one)
{
    tune_advice next = *one;
    for (int i = 0; i < TUNE_ADVICE_MAX; ++i) {
        if (next.saved > best[i].saved) {
            const tune_advice before = best[i];
            best[i] = next;
            next = before;
        }
    }
}

// What is as far from the middle as the class is large is off by so much when an angle is off by half a step; seen
// from here on that is less than 1 mrad.
static double unseen_from_m(const ph_class_def* type, int bits)
{
    const double half_step_rad = 3.14159265358979 / (double)(1 << bits);
    return (type->radius_m > 0.0 ? type->radius_m : 0.5) * half_step_rad / 0.001;
}

// Of an angle: two bits less, unless that shows wherever it is told.
static void advise_angle(const char* name, const ph_class_def* type, const ph_property_def* def,
                         double share, double updates_bits, tune_advice* made)
{
    const int fewer = def->bits - 2;
    const double from_m = unseen_from_m(type, fewer);
    if (fewer < 4 || (def->distance_m > 0.0 && from_m >= def->distance_m)) {
        return;
    }
    made->bits = fewer;
    made->saved = share * (updates_bits > 2.0 ? 2.0 / updates_bits : 1.0);
    snprintf(made->text, sizeof made->text,
             "`%s` takes %.0f %% of the budget; %d bits instead of %d would show no difference "
             "beyond %.0f m",
             name, 100.0 * share, fewer, def->bits, from_m);
}

// Steps that a change must have to be worth a bit, and how many such changes the range holds at least: of a gear or a
// mode, none would be left.
enum { SIGNIFICANT_STEPS = 4, SIGNIFICANT_RANGE = 16 };

// Of a number: small changes are left out. What says already which changes count, or is silent as long as what is
// shown is right, needs no such advice.
static void advise_number(const char* name, const ph_property_def* def,
                          const ph_tune_column* column, double share, tune_advice* made)
{
    if (def->significant > 0.0 || def->is_smooth ||
        column->high - column->low < (int64_t)SIGNIFICANT_STEPS * SIGNIFICANT_RANGE) {
        return;
    }
    uint64_t small = 0;
    for (int i = 0; i <= 2; ++i) {
        small += column->lengths[PH_TUNE_LAST][i];
    }
    const double part = column->changes > 0 ? (double)small / (double)column->changes : 0.0;
    const double step = def->coding == PH_CODING_FIXED ? def->step : 1.0;
    made->significant = SIGNIFICANT_STEPS * step;
    made->saved = share * part * 0.5;
    snprintf(made->text, sizeof made->text,
             "`%s` takes %.0f %% of the budget, and %.0f %% of its changes are by %g or less: "
             "`significant %g` would leave those out",
             name, 100.0 * share, 100.0 * part, (SIGNIFICANT_STEPS - 1) * step, made->significant);
}

static void advise_property(const tune_report* report, int class_index, int property,
                            tune_advice best[TUNE_ADVICE_MAX])
{
    const ph_class_def* type = ph_schema_class(report->base, class_index);
    const ph_property_def* def = &type->properties[property];
    const tune_name name = tune_report_name(report->base, class_index, property);
    const int at = ph_tune_first_column(report->base, class_index) + property;
    const ph_tune_column* column = &report->columns[at];
    const ph_sim_result* after = &report->result->after;
    const uint64_t bits256 = at < PH_SIM_PROPERTIES_MAX ? after->traffic.property_bits256[at] : 0;
    const double share = payload_share(after, bits256);
    tune_advice made = {.class_index = class_index, .property = property};
    if (def->coding == PH_CODING_POSITION && def->finest > 0.0 && def->finest < def->step) {
        return; // it is as fine as the bits allow already, and as coarse
    }
    if (def->coding == PH_CODING_POSITION) {
        // Rounding must drown in the error that there is: of a step, half is rounding on average.
        const double bits = per_update(after, bits256);
        const bool is_lost_in_error = def->step < after->figures.error_mm.p50 / 4.0;
        made.step = 2.0 * def->step;
        made.saved = bits > 0.0 && is_lost_in_error ? share * 2.0 / bits : 0.0;
        snprintf(made.text, sizeof made.text,
                 "`%s` takes %.0f %% of the budget; steps of %.0f mm instead of %.0f would save "
                 "some 2 bits of an update and show no difference beyond %.0f m",
                 name.text, 100.0 * share, 2.0 * def->step, def->step, 2.0 * def->step * 0.87);
    } else if (def->coding == PH_CODING_ANGLE) {
        advise_angle(name.text, type, def, share,
                     column->changes > 0
                         ? per_change(column->residual256[PH_TUNE_LAST][PH_TUNE_ARITHMETIC], column)
                         : 2.0,
                     &made);
    } else if (column->is_number && column->changes > 0 && def->coding != PH_CODING_ENUM &&
               def->coding != PH_CODING_BOOL) {
        advise_number(name.text, def, column, share, &made);
    }
    if (made.saved > 0.002) {
        keep_best(best, &made);
    }
}

int tune_report_advise(const tune_report* report, tune_advice advice[TUNE_ADVICE_MAX])
{
    memset(advice, 0, TUNE_ADVICE_MAX * sizeof advice[0]);
    for (int c = 0; c < ph_schema_class_count(report->base); ++c) {
        const int count = ph_schema_class(report->base, c)->property_count;
        for (int i = 0; i < count; ++i) {
            advise_property(report, c, i, advice);
        }
    }
    int given = 0;
    while (given < TUNE_ADVICE_MAX && advice[given].saved > 0.0) {
        ++given;
    }
    return given;
}

// The heading of a class is motion already: the angle with the mark, or the first one where nothing has it.
static bool is_heading(const ph_class_def* type, int property)
{
    int marked = -1;
    int first = -1;
    for (int i = 0; i < type->property_count; ++i) {
        const ph_property_def* def = &type->properties[i];
        if (def->is_orientation) {
            return false;
        }
        marked = def->is_heading ? i : marked;
        first = first < 0 && def->coding == PH_CODING_ANGLE && !def->is_smooth ? i : first;
    }
    return property == (marked >= 0 ? marked : first);
}

// What goes on as it did: bits of a change from there, of those from the last value. More is no clear margin.
#define STEADY_SHARE 0.75

static bool is_steady(const ph_class_def* type, int property, const ph_tune_column* column)
{
    const ph_property_def* def = &type->properties[property];
    const uint64_t last = column->residual256[PH_TUNE_LAST][PH_TUNE_ARITHMETIC];
    const uint64_t way = column->residual256[PH_TUNE_LINEAR][PH_TUNE_ARITHMETIC];
    // What jumps now and then gains nothing.
    const bool changes_often = 2 * column->changes > column->samples;
    return column->is_number && changes_often && !def->is_smooth && def->when != PH_SEND_ONCE &&
           def->coding != PH_CODING_ENUM && def->coding != PH_CODING_BOOL &&
           (double)way < STEADY_SHARE * (double)last && !is_heading(type, property);
}

void tune_report_steady(const tune_report* report, FILE* file)
{
    for (int c = 0; c < ph_schema_class_count(report->base); ++c) {
        const ph_class_def* type = ph_schema_class(report->base, c);
        const ph_tune_column* columns = report->columns + ph_tune_first_column(report->base, c);
        for (int i = 0; i < type->property_count; ++i) {
            if (is_steady(type, i, &columns[i])) {
                fprintf(file,
                        "\n`%s` goes on as it did (%.1f bits of a change from its way, %.1f from "
                        "the last): with `smooth` in\nthe schema it would be told when what is "
                        "shown is no longer right; clients then ask ph_client_get_shown().\n",
                        tune_report_name(report->base, c, i).text,
                        per_change(columns[i].residual256[PH_TUNE_LINEAR][PH_TUNE_ARITHMETIC],
                                   &columns[i]),
                        per_change(columns[i].residual256[PH_TUNE_LAST][PH_TUNE_ARITHMETIC],
                                   &columns[i]));
            }
        }
    }
}

void tune_report_applied(const tune_report* report, const ph_tune_result* without, FILE* file)
{
    const ph_tune_result* with = report->result;
    const ph_sim_rates before = ph_sim_result_rates(&without->after);
    const ph_sim_rates after = ph_sim_result_rates(&with->after);
    const ph_figures_summary* was = &without->after.figures;
    const ph_figures_summary* is = &with->after.figures;
    fprintf(file,
            "\nwhat the advice is worth, learned with it and without it; %s, the whole "
            "time,\nthrough the other eyes\n  %-34s %8s %8s\n",
            tune_report_budget(report).text, "", "without", "with");
    print_gain("bits per update", before.bits_per_update, after.bits_per_update, file);
    print_gain("updates per second", before.updates_per_s, after.updates_per_s, file);
    print_gain("mean error, mrad", was->error_mrad.mean, is->error_mrad.mean, file);
    print_gain("mean error, mm", was->error_mm.mean, is->error_mm.mean, file);
    print_gain("heading, degrees", was->heading_deg.mean, is->heading_deg.mean, file);
    print_gain("other values late, ms", was->stale_ms.mean, is->stale_ms.mean, file);
}
