// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program. What can be told to be wrong without reading a file is told here.

#include "sim_options.h"

#include "command.h"
#include "options.h"
#include "sim_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole sim"
#define KBPS_MAX 100000
#define HZ_MAX 1000.0

// Schedulers by name, as in --schedule.
typedef struct scheduler_row {
    const char* name;
    ph_scheduler (*make)(void);
} scheduler_row;

static const scheduler_row schedulers[] = {
    {"score", ph_scheduler_score},
};

bool sim_try_scheduler(const char* name, ph_scheduler* scheduler)
{
    for (size_t i = 0; i < sizeof schedulers / sizeof schedulers[0]; ++i) {
        if (strcmp(name, schedulers[i].name) == 0) {
            *scheduler = schedulers[i].make();
            return true;
        }
    }
    return false;
}

static void set_defaults(sim_options* options)
{
    const ph_sim_def def = ph_sim_def_default();
    *options = (sim_options){
        .profile = "classic",
        .schedule = "score",
        .coding = "plain",
        .precision = "fixed",
        .show = "now",
        .properties = "all",
        .hz = "auto",
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
    printf("\n"
           "examples:\n"
           "  pinhole sim scene:town --viewers 8\n"
           "  pinhole sim crowd.csv.gz --rate 16 --kbps 13 --json\n"
           "  pinhole sim crowd.csv.gz --rate 16 --compare --loss 20\n"
           "  pinhole sim crowd.csv.gz --rate 16 --sweep 4,8,13,26,52 --plot error.svg\n"
           "  pinhole sim crowd.csv.gz --rate 16 --dump shown.csv --json > result.json\n");
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

static bool read_budgets(sim_options* options)
{
    if (options->sweep != NULL) {
        return read_sweep(options);
    }
    if (!is_budget(options->def.kbps)) {
        return complain("--kbps takes 1 to 100000, or 0 for no limit, as in '--kbps 13'.");
    }
    options->budgets_kbps[0] = options->def.kbps;
    options->budget_count = 1;
    return true;
}

static bool read_hz(sim_options* options)
{
    if (strcmp(options->hz, "auto") == 0) {
        return true;
    }
    char* end = NULL;
    options->def.hz = strtod(options->hz, &end);
    if (end == options->hz || *end != '\0' || !(options->def.hz >= 0.1) ||
        options->def.hz > HZ_MAX) {
        return complain("--hz takes sends per second from 0.1 to 1000, or auto, as in '--hz 5'.");
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
    if (options->dump_path != NULL && (options->sweep != NULL || options->is_compared)) {
        return complain("--dump holds what was shown in one run: leave --sweep and --compare out.");
    }
    ph_scheduler scheduler;
    if (!sim_try_scheduler(options->is_compared ? "buckets" : options->schedule, &scheduler)) {
        return complain("this program has no scheduler 'buckets' yet; use '--schedule score' and "
                        "leave --compare out.");
    }
    return read_budgets(options) && read_hz(options);
}

// ---- parsing

bool sim_options_parse(int argc, char** argv, sim_options* options, int* status)
{
    set_defaults(options);
    ph_sim_def* def = &options->def;
    const app_option table[] = {
        {.name = "SOURCE",
         .summary = "a recording (CSV, plain or gzip) or scene:NAME",
         .text = &options->source,
         .value = "FILE"},
        {.name = "--rate",
         .summary = "ticks per second; 0: as the source says",
         .number = &options->rate_hz,
         .hi = PH_SIM_RATE_MAX},
        {.name = "--seconds",
         .summary = "length; 0: all of a recording, 60 of a scene",
         .decimal = &options->seconds,
         .hi = 1000000},
        {.name = "--viewers",
         .summary = "how many: those that go furthest",
         .number = &def->viewers,
         .lo = 1,
         .hi = 100000},
        {.name = "--kbps",
         .summary = "budget of each viewer on the wire, kbit/s; 0: no limit",
         .decimal = &def->kbps,
         .hi = KBPS_MAX},
        {.name = "--sweep",
         .summary = "several budgets, one result each",
         .text = &options->sweep,
         .value = "LIST"},
        {.name = "--burst",
         .summary = "depth of the token bucket, in seconds of the rate",
         .decimal = &def->burst_s,
         .hi = 20},
        {.name = "--overhead",
         .summary = "bytes that each datagram costs beside its payload",
         .number = &def->overhead_bytes,
         .hi = 1000},
        {.name = "--hz",
         .summary = "sends per second to a viewer, or auto (classic: 5)",
         .text = &options->hz,
         .value = "N"},
        {.name = "--profile",
         .summary = "how packets are written",
         .text = &options->profile,
         .value = "NAME",
         .choices = "classic"},
        {.name = "--schedule",
         .summary = "who goes first",
         .text = &options->schedule,
         .value = "NAME",
         .choices = "score|buckets"},
        {.name = "--coding",
         .summary = "of values",
         .text = &options->coding,
         .value = "NAME",
         .choices = "plain"},
        {.name = "--precision",
         .summary = "of positions",
         .text = &options->precision,
         .value = "NAME",
         .choices = "fixed"},
        {.name = "--compare",
         .summary = "score and buckets on the same truth, links and seeds",
         .is_set = &options->is_compared},
        {.name = "--show",
         .summary = "motion carried on to now, or interpolated 0.5 s late",
         .text = &options->show,
         .value = "HOW",
         .choices = "now|delayed"},
        {.name = "--properties",
         .summary = "every column, or position and heading only",
         .text = &options->properties,
         .value = "SET",
         .choices = "all|pose"},
        {.name = "--schema",
         .summary = "a schema (docs/schema.md); without it one is derived",
         .text = &options->schema_path,
         .value = "FILE"},
        {.name = "--radius",
         .summary = "how far a viewer sees, in m",
         .decimal = &def->radius_m,
         .lo = 1,
         .hi = 2000000},
        {.name = "--slots",
         .summary = "how many entities a viewer sees at most",
         .number = &def->slots,
         .lo = 1,
         .hi = PH_VISIBLE_MAX},
        {.name = "--rtt",
         .summary = "round trip of the links, in ms",
         .decimal = &def->rtt_ms,
         .hi = 60000},
        {.name = "--jitter",
         .summary = "delay beside it, evenly from 0 to this, in ms",
         .decimal = &def->jitter_ms,
         .hi = 60000},
        {.name = "--loss",
         .summary = "packets that are lost, each direction, in %",
         .decimal = &options->loss_pct,
         .hi = 100},
        {.name = "--seed",
         .summary = "of links and scenes",
         .number = &options->seed,
         .hi = INT32_MAX},
        {.name = "--threads",
         .summary = "0: all cores; changes no figure but CPU time",
         .number = &options->threads,
         .hi = 256},
        {.name = "--json",
         .summary = "one JSON object (with --sweep a list) on standard output",
         .is_set = &options->is_json},
        {.name = "--dump",
         .summary = "CSV of all that every client shows at every frame",
         .text = &options->dump_path,
         .value = "FILE"},
        {.name = "--plot",
         .summary = "curves of error over budget, as SVG; with --sweep",
         .text = &options->plot_path,
         .value = "FILE"},
        {0},
    };
    const app_parse parsed = app_options_parse(table, COMMAND, argc, argv);
    if (parsed == APP_PARSE_HELP) {
        print_help(table);
    }
    const bool goes_on = parsed == APP_PARSE_OK && check(options);
    *status = parsed == APP_PARSE_HELP || goes_on ? APP_EXIT_OK : APP_EXIT_USAGE;
    def->loss = options->loss_pct / 100.0;
    def->seed = (uint64_t)options->seed;
    def->is_delayed = strcmp(options->show, "delayed") == 0;
    return goes_on;
}
