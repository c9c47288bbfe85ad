// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole judge TRUTH SHOWN`: two files in, figures out (docs/quality.md).

#include "judge_command.h"

#include "command.h"
#include "options.h"
#include "scene_help.h"

#include "kit/file_text.h"
#include "kit/judge_dump.h"
#include "kit/progress.h"
#include "kit/sim_clock.h"
#include "kit/truth.h"

#include <stdio.h>
#include <string.h>

#define COMMAND "pinhole judge"

enum { SLOTS_MOST = 65535, RADIUS_MOST_M = 2000000 };

typedef struct judge_options {
    const char* truth;
    const char* shown;
    double rate_hz;
    double seconds;
    double radius_m;
    int slots;
    bool is_json;
} judge_options;

typedef struct judge_watch {
    ph_progress progress;
    double start_s;
} judge_watch;

static void print_help(const app_option* table)
{
    printf(COMMAND
           ": how well clients showed the truth, from files of any program\n"
           "\n"
           "usage: " COMMAND " [options] TRUTH SHOWN\n"
           "\n"
           "TRUTH is a recording, as 'pinhole sim' reads it. SHOWN is text,\n"
           "time_ms,viewer,entity,x_mm,y_mm,z_mm,heading_deg[,qx,qy,qz,qw]: what each client "
           "showed at each\n"
           "tick, as 'pinhole sim --dump' writes it; plain or packed by gzip. The figures are\n"
           "those of 'pinhole sim'; docs/quality.md says what must be in the files.\n"
           "\n"
           "options:\n");
    app_options_print(table);
    printf("\nexample: " COMMAND " --rate 16 evening.csv.gz shown.csv\n");
}

static bool parse(judge_options* o, int argc, char** argv, int* status)
{
    const app_option table[] = {
        {.name = "TRUTH", .summary = "where everything was", .text = &o->truth},
        {.name = "SHOWN", .summary = "what clients showed of it", .text = &o->shown},
        {.name = "--rate",
         .summary = "ticks per second of the truth, where it does not say it",
         .decimal = &o->rate_hz,
         .lo = 1,
         .hi = PH_RECORDING_RATE_MAX},
        {.name = "--seconds",
         .summary = "only so much of the truth; 0: all of it, of scenes 60",
         .decimal = &o->seconds,
         .lo = 0,
         .hi = 1000000},
        {.name = "--radius",
         .summary = "how far a viewer sees, in m",
         .decimal = &o->radius_m,
         .lo = 1,
         .hi = RADIUS_MOST_M},
        {.name = "--slots",
         .summary = "how many entities a viewer sees at most",
         .number = &o->slots,
         .lo = 1,
         .hi = SLOTS_MOST},
        {.name = "--json", .summary = "one JSON object on standard output", .is_set = &o->is_json},
        {0},
    };
    const app_usage usage = {.command = COMMAND, .print_help = print_help};
    if (!app_options_read(&usage, table, argc, argv, status)) {
        return false;
    }
    if (o->truth == NULL || o->shown == NULL) {
        fprintf(stderr, COMMAND ": say what is true and what was shown, as in '" COMMAND
                                " evening.phrec shown.csv'.\n");
        *status = APP_EXIT_USAGE;
        return false;
    }
    return true;
}

static void show_progress(void* context, int done, int total)
{
    judge_watch* watch = context;
    ph_progress_show(&watch->progress, stderr, done, total, ph_sim_clock_wall_s() - watch->start_s);
}

static void print_spread(const char* key, const char* unit, const ph_spread_summary* spread)
{
    printf("%-24s %-6s %9.4g mean %9.4g p50 %9.4g p95 %9.4g p99\n", key, unit, spread->mean,
           spread->p50, spread->p95, spread->p99);
}

static void print_table(const judge_options* o, const ph_judge_dump_result* result)
{
    const ph_figures_summary* figures = &result->figures;
    printf("%s: %lld rows, %d viewer%s\n\n", o->shown, (long long)result->row_count,
           result->viewer_count, result->viewer_count == 1 ? "" : "s");
    print_spread("error_mm", "mm", &figures->error_mm);
    print_spread("error_mrad", "mrad", &figures->error_mrad);
    print_spread("heading_deg", "deg", &figures->heading_deg);
    print_spread("rotation_deg", "deg", &figures->rotation_deg);
    printf("%-24s %-6s %9.4g\n", "join_s", "s", figures->join_s);
    printf("%-24s %-6s %9.4g\n", "missing_pct", "%", figures->missing_pct);
    printf("%-24s %-6s %9.4g\n", "ghost_pct", "%", figures->ghost_pct);
    printf("%-24s %-6s %9.4g\n", "jolts_per_min", "1/min", figures->jolts_per_min);
}

static void print_json(const judge_options* o, const ph_judge_dump_result* result)
{
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "truth", o->truth);
    ph_json_text(&json, "shown", o->shown);
    ph_json_integer(&json, "viewers", result->viewer_count);
    ph_json_integer(&json, "rows", result->row_count);
    ph_figures_write_pose(&result->figures, &json);
    ph_json_close(&json);
}

static bool judge_text(const judge_options* o, const ph_recording* truth, const ph_file_text* text)
{
    judge_watch watch = {.progress = ph_progress_make("judge", ph_progress_is_wanted()),
                         .start_s = ph_sim_clock_wall_s()};
    const ph_judge_dump_def def = {
        .truth = truth,
        .shown = text->bytes,
        .shown_length = text->length,
        .radius_mm = (int32_t)(o->radius_m * 1000.0),
        .slots = o->slots,
        .progress = show_progress,
        .progress_context = &watch,
    };
    ph_judge_dump_result result;
    ph_fault fault = {0};
    const bool is_judged = ph_judge_dump(&def, &result, &fault);
    ph_progress_end(&watch.progress, stderr);
    if (!is_judged) {
        return app_complain(COMMAND, o->shown, &fault);
    }
    if (o->is_json) {
        print_json(o, &result);
    } else {
        print_table(o, &result);
    }
    return true;
}

static bool judge_files(const judge_options* o)
{
    if (!app_scene_check(COMMAND, o->truth)) {
        return false;
    }
    const ph_truth_def def = {
        .source = o->truth, .rate_hz = o->rate_hz, .seconds = o->seconds, .is_pose_only = true};
    ph_fault fault = {0};
    ph_recording* truth = ph_truth_open(&def, &fault);
    if (truth == NULL) {
        return app_complain(COMMAND, o->truth, &fault);
    }
    app_scene_note(COMMAND, o->truth, truth->note);
    ph_file_text text;
    bool is_judged = false;
    if (!ph_file_text_load(o->shown, &text, &fault)) {
        app_complain(COMMAND, o->shown, &fault);
    } else {
        is_judged = judge_text(o, truth, &text);
        ph_file_text_unload(&text);
    }
    ph_recording_destroy(truth);
    return is_judged;
}

int judge_command(int argc, char** argv)
{
    judge_options options = {.radius_m = 250.0, .slots = 250};
    int status;
    if (!parse(&options, argc, argv, &status)) {
        return status;
    }
    return judge_files(&options) ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
