// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program. What can be told to be wrong without reading a file is told here.

#include "sim_options.h"

#include "options.h"
#include "sim_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole sim"
#define KBPS_MAX 100000

static void set_defaults(sim_options* options)
{
    const ph_sim_def def = ph_sim_def_default();
    *options = (sim_options){
        .show = "now",
        .properties = "all",
        .rotation = "full",
        .loss_pct = def.loss * 100.0,
        .seed = (int)def.seed,
        .def = def,
    };
}

// ---- help

static void print_help(const app_option* table)
{
    printf("pinhole sim: what clients show at a budget\n"
           "\n"
           "usage: pinhole sim SOURCE [options]\n"
           "\n"
           "Plays a recording (or a scene) into a world, sends it to viewers over simulated\n"
           "links, and compares what their clients show at every tick with the truth of that\n"
           "very tick. docs/measuring.md says how to judge a game with it.\n"
           "\n"
           "options:\n");
    app_options_print(table);
    printf("\n"
           "figures, by their keys in --json (of all viewers together):\n");
    sim_figures_explain();
    printf(
        "\n"
        "examples:\n"
        "  pinhole sim scene:town --viewers 8\n"
        "  pinhole sim crowd.csv.gz --rate 16 --kbps 13 --json\n"
        "  pinhole sim crowd.csv.gz --rate 16 --compare --loss 20\n"
        "  pinhole sim crowd.csv.gz --rate 16 --compare snapshot\n"
        "  pinhole sim crowd.csv.gz --rate 16 --compare --profile classic --schedule buckets\n"
        "  pinhole sim crowd.csv.gz --rate 16 --ablate\n"
        "  pinhole sim crowd.csv.gz --rate 16 --compare all --sweep 4,8,13,26,52 --plot error.svg\n"
        "  pinhole sim crowd.csv.gz --rate 16 --dump shown.csv --json > result.json\n"
        "  pinhole sim scene:town --seconds 30 --page town.html\n"
        "\n"
        "example: pinhole sim scene:town\n");
}

// ---- what belongs together

static bool complain(const char* sentence)
{
    fprintf(stderr, COMMAND ": %s\n", sentence);
    return false;
}

static bool is_budget(double kbps)
{
    return isfinite(kbps) && (kbps == 0.0 || (kbps >= 1.0 && kbps <= KBPS_MAX));
}

static bool read_sweep(sim_options* options)
{
    const char* at = options->sweep;
    for (;;) {
        char* end = NULL;
        const double kbps = strtod(at, &end);
        if (end == at || !is_budget(kbps) || options->budget_count == SIM_BUDGETS_MAX) {
            return complain(
                "--sweep takes budgets in kbit/s, each 1 to 100000 (or 0: no limit), as "
                "in '--sweep 4,8,13,26,52'.");
        }
        options->budgets_kbps[options->budget_count++] = kbps;
        if (*end == '\0') {
            return true;
        }
        if (*end != ',') {
            return complain("--sweep takes numbers with commas between them, as in '--sweep "
                            "4,8,13,26,52'.");
        }
        at = end + 1;
    }
}

static bool are_ascending(const sim_options* options)
{
    for (int i = 1; i < options->budget_count; ++i) {
        if (options->budgets_kbps[i] <= options->budgets_kbps[i - 1]) {
            return false;
        }
    }
    return options->budget_count > 1 && options->budgets_kbps[0] > 0.0;
}

static bool read_budgets(sim_options* options)
{
    if (options->sweep != NULL) {
        return read_sweep(options) &&
               (options->plot_path == NULL || are_ascending(options) ||
                complain("--plot wants two or more budgets, each above the one before, as in "
                         "'--sweep 4,8,13,26,52'."));
    }
    if (!is_budget(options->def.kbps)) {
        return complain("--kbps takes 1 to 100000, or 0 for no limit, as in '--kbps 13'.");
    }
    options->budgets_kbps[0] = options->def.kbps;
    options->budget_count = 1;
    return true;
}

// ---- which runs

static bool is_any_exchanged(const sim_parts* asked)
{
    return asked->schedule != NULL || asked->coding != NULL || asked->precision != NULL ||
           asked->hz != NULL;
}

static bool is_any_part_asked(const sim_parts* asked)
{
    return asked->profile != NULL || is_any_exchanged(asked);
}

static bool add_run(sim_options* options, sim_parts parts)
{
    const char* complaint = sim_parts_complete(&parts);
    options->parts[options->part_count++] = parts;
    return complaint == NULL || complain(complaint);
}

static bool is_profile(const sim_parts* asked, const char* name)
{
    return asked->profile != NULL && strcmp(asked->profile, name) == 0;
}

// Classic, snapshots or both, and beside them what is asked for.
static bool add_compared(sim_options* options)
{
    sim_parts asked = options->asked;
    if (strcmp(options->compared, "all") == 0) {
        return is_any_part_asked(&asked)
                   ? complain("--compare all is classic, snapshots and pinhole as they are: leave "
                              "--profile and the parts out.")
                   : add_run(options, (sim_parts){.profile = "classic"}) &&
                         add_run(options, (sim_parts){.profile = "snapshot"}) &&
                         add_run(options, (sim_parts){.profile = "pinhole"});
    }
    if (is_profile(&asked, options->compared) && !is_any_exchanged(&asked)) {
        return complain(
            "--compare sets one profile beside another one: leave --profile out, or name "
            "a part, as in '--profile classic --schedule buckets'.");
    }
    if (is_profile(&asked, "classic") && is_any_exchanged(&asked)) {
        asked.name = "asked";
    }
    return add_run(options, (sim_parts){.profile = options->compared}) && add_run(options, asked);
}

static bool add_ablation(sim_options* options)
{
    if (options->compared != NULL || options->sweep != NULL || is_any_part_asked(&options->asked)) {
        return complain("--ablate takes the parts one by one at one budget: leave --compare, "
                        "--sweep and the parts out.");
    }
    for (int i = 0; i < SIM_ABLATION_COUNT; ++i) {
        if (!add_run(options, sim_ablation[i])) {
            return false;
        }
    }
    return true;
}

static bool choose_runs(sim_options* options)
{
    if (options->is_ablated) {
        return add_ablation(options);
    }
    return options->compared != NULL ? add_compared(options) : add_run(options, options->asked);
}

// The rate controller is told of losses and delays by the world, which does not send snapshots.
static bool check_line(const sim_options* options)
{
    const bool is_controlled = options->def.bottleneck_kbps > 0.0 && !options->def.is_uncontrolled;
    for (int i = 0; is_controlled && i < options->part_count; ++i) {
        if (is_profile(&options->parts[i], "snapshot")) {
            return complain("snapshots have no rate controller: --bottleneck takes --uncontrolled "
                            "with them.");
        }
    }
    return true;
}

static bool check(sim_options* options)
{
    if (options->source == NULL) {
        return complain("which recording? Give a file or a scene, as in 'pinhole sim scene:town'; "
                        "'pinhole sim --help' explains the rest.");
    }
    if (options->plot_path != NULL && options->sweep == NULL) {
        return complain("--plot draws error over budget: give several budgets, as in '--sweep "
                        "4,8,13,26,52'.");
    }
    if (options->page_path != NULL && (options->sweep != NULL || options->is_ablated)) {
        return complain("--page shows one budget: leave --sweep and --ablate out.");
    }
    if (options->dump_path != NULL &&
        (options->sweep != NULL || options->compared != NULL || options->is_ablated)) {
        return complain("--dump holds what was shown in one run: leave --sweep, --compare and "
                        "--ablate out.");
    }
    return read_budgets(options) && choose_runs(options) && check_line(options);
}

// ---- the table

static app_option switch_row(const char* name, const char* summary, bool* is_set)
{
    return (app_option){.name = name, .summary = summary, .is_set = is_set};
}

static app_option number_row(const char* name, const char* summary, int* number, int lo, int hi)
{
    return (app_option){.name = name, .summary = summary, .number = number, .lo = lo, .hi = hi};
}

static app_option decimal_row(const char* name, const char* summary, double* decimal, int lo,
                              int hi)
{
    return (app_option){.name = name, .summary = summary, .decimal = decimal, .lo = lo, .hi = hi};
}

// value stands for the text in the help.
static app_option text_row(const char* name, const char* summary, const char** text,
                           const char* value)
{
    return (app_option){.name = name, .summary = summary, .text = text, .value = value};
}

static app_option choice_row(const char* name, const char* summary, const char** text,
                             const char* choices)
{
    return (app_option){
        .name = name, .summary = summary, .text = text, .value = "WORD", .choices = choices};
}

// Its name may stand alone.
static app_option bare_row(const char* name, const char* summary, const char** text,
                           const char* choices, const char* bare)
{
    app_option row = choice_row(name, summary, text, choices);
    row.bare = bare;
    return row;
}

enum { ROW_COUNT = 35 };

static void fill_rows(sim_options* o, app_option rows[ROW_COUNT])
{
    ph_sim_def* def = &o->def;
    const app_option all[ROW_COUNT] = {
        text_row("SOURCE", "a recording (docs/measuring.md) or scene:NAME", &o->source, "FILE"),
        decimal_row("--rate", "ticks per second, as 23.976; 0: as the source says", &o->rate_hz, 0,
                    PH_SIM_RATE_MAX),
        decimal_row("--seconds", "length; 0: all of a recording, 60 of a scene", &o->seconds, 0,
                    1000000),
        number_row("--viewers", "how many: those that go furthest", &def->viewers, 1, 100000),
        decimal_row("--kbps", "each viewer's budget on the wire, kbit/s; 0: no limit", &def->kbps,
                    0, KBPS_MAX),
        text_row("--sweep", "several budgets, one result each", &o->sweep, "LIST"),
        decimal_row("--burst", "depth of the token bucket, in seconds of the rate", &def->burst_s,
                    0, 20),
        number_row("--overhead", "bytes that each datagram costs beside its payload",
                   &def->overhead_bytes, 0, 1000),
        choice_row("--profile", "all parts together; pinhole unless named", &o->asked.profile,
                   "classic|pinhole|snapshot"),
        choice_row("--schedule", "which entity goes first; classic score, pinhole error",
                   &o->asked.schedule, "score|buckets|error"),
        choice_row("--coding", "of values; classic plain, pinhole model", &o->asked.coding,
                   "plain|delta|model"),
        choice_row("--precision", "of positions; classic fixed, pinhole distance",
                   &o->asked.precision, "fixed|distance"),
        text_row("--hz", "sends per second, or auto; classic 5, pinhole auto", &o->asked.hz, "N"),
        bare_row("--compare", "another beside it, on the same truth, viewers, links and seeds",
                 &o->compared, "classic|snapshot|all", "classic"),
        switch_row("--ablate", "each part on its own, and each taken away, as a table",
                   &o->is_ablated),
        choice_row("--show", "motion extrapolated to now, or interpolated 0.5 s late", &o->show,
                   "now|delayed"),
        choice_row("--properties", "every column, or position, heading and rotation only",
                   &o->properties, "all|pose"),
        choice_row("--rotation", "how things turn: in space where the source says so, or flat",
                   &o->rotation, "full|heading"),
        text_row("--schema", "a schema (docs/schema.md); without it one is derived",
                 &o->schema_path, "FILE"),
        text_row("--tables", "a schema whose learned models are used (docs/tuning.md)",
                 &o->tables_path, "FILE"),
        decimal_row("--radius", "how far a viewer sees, in m", &def->radius_m, 1, 2000000),
        number_row("--slots", "how many entities a viewer sees at most", &def->slots, 1,
                   PH_VISIBLE_MAX),
        decimal_row("--rtt", "round trip of the links, in ms", &def->rtt_ms, 0, 60000),
        decimal_row("--jitter", "delay beside it, evenly from 0 to this, in ms", &def->jitter_ms, 0,
                    60000),
        decimal_row("--loss", "packets that are lost, each direction, in %", &o->loss_pct, 0, 100),
        decimal_row("--drift", "how much faster the clients' clocks run, in %; -2: 2 % slower",
                    &o->drift_pct, -10, 10),
        decimal_row("--bottleneck",
                    "what each viewer's line carries, in kbit/s, queue of 1 s; 0: all",
                    &def->bottleneck_kbps, 0, 1000000),
        switch_row("--uncontrolled", "no rate controller for that line: see what it is good for",
                   &def->is_uncontrolled),
        number_row("--seed", "of links and scenes", &o->seed, 0, INT32_MAX),
        number_row("--threads", "0: all cores; changes no figure but CPU time", &o->threads, 0,
                   256),
        switch_row("--json", "one JSON object (with --sweep a list) on standard output",
                   &o->is_json),
        text_row("--dump", "CSV of all that every client shows at every frame", &o->dump_path,
                 "FILE"),
        text_row("--plot", "curves of error over budget, as SVG; with --sweep", &o->plot_path,
                 "FILE"),
        text_row("--page", "a page to open from disk: one viewer's run, classic beside pinhole",
                 &o->page_path, "FILE"),
        {0},
    };
    memcpy(rows, all, sizeof all);
}

// ---- parsing

bool sim_options_parse(int argc, char** argv, sim_options* options, int* status)
{
    set_defaults(options);
    app_option table[ROW_COUNT];
    fill_rows(options, table);
    const app_usage usage = {COMMAND, print_help};
    const bool goes_on = app_options_read(&usage, table, argc, argv, status) && check(options);
    options->def.loss = options->loss_pct / 100.0;
    options->def.drift = options->drift_pct / 100.0;
    options->def.seed = (uint64_t)options->seed;
    options->def.is_delayed = strcmp(options->show, "delayed") == 0;
    return goes_on;
}
