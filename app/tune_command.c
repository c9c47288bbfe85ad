// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole tune`: opens recordings, measures what their values need, learns models, tells and writes.

#include "tune_command.h"

#include "command.h"
#include "options.h"
#include "output_file.h"
#include "scene_help.h"
#include "tune_mixture.h"
#include "tune_report.h"

#include "kit/column_bindings.h"
#include "kit/derive.h"
#include "kit/progress.h"
#include "kit/sim_clock.h"
#include "kit/sim_material.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole tune"
enum { RECORDINGS = 8, UPDATES_ENOUGH = 20000 };
// A viewer takes 1 to 100000 kbit/s; what is played has 4/13 of the budget at least, and four times as much at most.
#define KBPS_MIN 3.25
#define KBPS_MAX 25000.0

typedef struct tune_options {
    const char* sources[RECORDINGS];
    const char* schema_path;
    const char* output_path;
    const char* page_path;
    const char* tables_path;
    const char* properties;
    const char* rotation;
    const char* apply; // NULL: nothing
    double rate_hz;
    double seconds;
    double kbps;
    double hz;
    int viewers;
    int threads;
    int seed;
    bool is_mixture;
} tune_options;

typedef struct tune_job {
    tune_options options;
    ph_sim_material materials[RECORDINGS];
    const struct ph_recording* recordings[RECORDINGS];
    int count;
    ph_schema* base;
    ph_schema* applied;      // the base with advice; NULL: without
    ph_tune_result without;  // what was learned before advice was applied
    ph_tune_column* columns; // by property of all classes
    ph_pool* pool;
    ph_tune_result result;
    tune_report report;
    app_output schema_file;
    app_output page_file;
    ph_progress progress;
    double start_s;
} tune_job;

// ---- options

static void print_help(const app_option* table)
{
    printf("pinhole tune: a schema learned from recordings of the game\n"
           "\n"
           "usage: pinhole tune RECORDING... [options] -o SCHEMA\n"
           "\n"
           "Plays recordings as `pinhole sim` does, and learns from what viewers are sent: for\n"
           "each property its range and coding, how often it is told, how large its changes are;\n"
           "how each class moves; and the models of the pinhole profile. Writes a schema that any "
           "program loads; both\n"
           "ends must load the same. What it is worth is measured on a part of the recordings\n"
           "that was not learned from, and told with advice. docs/tuning.md is a walk through.\n"
           "\n"
           "options:\n");
    app_options_print(table);
    printf("\n"
           "examples:\n"
           "  pinhole tune crowd.csv.gz --rate 16 -o crowd.schema\n"
           "  pinhole tune monday.csv.gz friday.csv.gz --schema game.schema -o tuned.schema\n"
           "  pinhole tune scene:town --seconds 40 -o town.schema --page town.html\n"
           "\n"
           "example: pinhole tune scene:town --seconds 40 -o town.schema\n");
}

static bool read_options(int argc, char** argv, tune_options* o, int* status)
{
    *o = (tune_options){
        .viewers = 8, .seed = 1, .kbps = PH_TUNE_KBPS, .properties = "all", .rotation = "full"};
    const app_option table[] = {
        {.name = "RECORDING",
         .summary = "a recording (docs/measuring.md) or scene:NAME",
         .text = &o->sources[0]},
        {.name = "MORE", .summary = "up to seven more of the same game", .text = &o->sources[1]},
        {.name = "MORE", .summary = "", .text = &o->sources[2]},
        {.name = "MORE", .summary = "", .text = &o->sources[3]},
        {.name = "MORE", .summary = "", .text = &o->sources[4]},
        {.name = "MORE", .summary = "", .text = &o->sources[5]},
        {.name = "MORE", .summary = "", .text = &o->sources[6]},
        {.name = "MORE", .summary = "", .text = &o->sources[7]},
        {.name = "-o",
         .summary = "where the schema goes",
         .text = &o->output_path,
         .value = "FILE"},
        {.name = "--schema",
         .summary = "a schema to begin with; without it one is derived",
         .text = &o->schema_path,
         .value = "FILE"},
        {.name = "--tables",
         .summary = "a schema whose models are begun with, not the library's",
         .text = &o->tables_path,
         .value = "FILE"},
        {.name = "--apply",
         .summary = "change what the advice says, learn again, tell what that is worth",
         .text = &o->apply,
         .value = "WORD",
         .choices = "advice"},
        {.name = "--mixture",
         .summary = "one set of models for games of different kinds, as those of the library",
         .is_set = &o->is_mixture},
        {.name = "--page",
         .summary = "the report as a page",
         .text = &o->page_path,
         .value = "FILE"},
        {.name = "--rate",
         .summary = "ticks per second; 0: as the source says",
         .decimal = &o->rate_hz,
         .lo = 0,
         .hi = PH_SIM_RATE_MAX},
        {.name = "--seconds",
         .summary = "how much is played; 0: all, of scenes 60",
         .decimal = &o->seconds,
         .lo = 0,
         .hi = 1000000},
        {.name = "--properties",
         .summary = "pose: position, heading and rotation only",
         .text = &o->properties,
         .value = "WORD",
         .choices = "all|pose"},
        {.name = "--rotation",
         .summary = "heading: nothing turns in space",
         .text = &o->rotation,
         .choices = "full|heading"},
        {.name = "--kbps",
         .summary = "the budget per viewer that is learned for, 3.25 to 25000; 0: no limit",
         .decimal = &o->kbps,
         .lo = 0,
         .hi = 1000000},
        {.name = "--hz",
         .summary = "sends per second; 0: whenever the sender finds it best",
         .decimal = &o->hz,
         .lo = 0,
         .hi = 1000},
        {.name = "--viewers",
         .summary = "of each recording",
         .number = &o->viewers,
         .lo = 1,
         .hi = 64},
        {.name = "--threads",
         .summary = "0: all cores; changes no figure",
         .number = &o->threads,
         .lo = 0,
         .hi = 256},
        {.name = "--seed", .summary = "of scenes", .number = &o->seed, .lo = 0, .hi = INT32_MAX},
        {0},
    };
    const app_usage usage = {COMMAND, print_help};
    return app_options_read(&usage, table, argc, argv, status);
}

static bool check_options(const tune_options* o)
{
    if (o->sources[0] == NULL) {
        fprintf(stderr,
                COMMAND ": which recording? As in '" COMMAND " walk.csv.gz -o walk.schema'.\n");
        return false;
    }
    if (o->output_path == NULL) {
        fprintf(stderr, COMMAND ": where does the schema go? Say it, as in '-o tuned.schema'.\n");
        return false;
    }
    if (!(o->kbps == 0.0 || (o->kbps >= KBPS_MIN && o->kbps <= KBPS_MAX))) {
        fprintf(stderr,
                COMMAND ": --kbps takes 3.25 to 25000, or 0 for no limit, as in '--kbps 13'.\n");
        return false;
    }
    if (o->is_mixture && (o->schema_path != NULL || o->tables_path != NULL ||
                          o->page_path != NULL || o->apply != NULL)) {
        fprintf(stderr,
                COMMAND ": --mixture has no part in --schema, --tables, --page and --apply.\n");
        return false;
    }
    return true;
}

// ---- opening

static bool open_one(tune_job* job, int index)
{
    const tune_options* o = &job->options;
    const char* source = o->sources[index];
    if (!app_scene_check(COMMAND, source)) {
        return false;
    }
    const ph_sim_material_def def = {.source = source,
                                     .schema_path = o->schema_path,
                                     .tables_path = o->tables_path,
                                     .rate_hz = o->rate_hz,
                                     .seconds = o->seconds,
                                     .is_pose_only = strcmp(o->properties, "pose") == 0,
                                     .is_flat = strcmp(o->rotation, "heading") == 0,
                                     .seed = (uint64_t)o->seed};
    ph_fault fault = {0};
    if (ph_sim_material_open(&job->materials[index], &def, &fault)) {
        app_scene_note(COMMAND, source, ph_sim_material_note(&job->materials[index]));
        job->recordings[job->count++] = job->materials[index].recording;
        return true;
    }
    app_complain(COMMAND,
                 job->materials[index].is_schema_bad   ? o->schema_path
                 : job->materials[index].is_tables_bad ? o->tables_path
                                                       : source,
                 &fault);
    if (job->materials[index].lacks_rate) {
        fprintf(stderr, "Say how many ticks a second has, as in '--rate 16'.\n");
    }
    return false;
}

static bool open_all(tune_job* job)
{
    for (int i = 0; i < RECORDINGS && job->options.sources[i] != NULL; ++i) {
        if (!open_one(job, i)) {
            return false;
        }
    }
    job->pool = ph_pool_create(job->options.threads);
    ph_fault fault = {0};
    return job->pool != NULL || ph_fault_set_memory(&fault) ||
           app_complain(COMMAND, "threads", &fault);
}

// Known before an hour of work: whether files can be written, and that none is what is learned from.
static bool open_output(tune_job* job, app_output* output, const char* path)
{
    const tune_options* o = &job->options;
    for (int i = 0; i < RECORDINGS && path != NULL && o->sources[i] != NULL; ++i) {
        if (app_is_same_file(path, o->sources[i])) {
            fprintf(stderr, COMMAND ": %s is the recording, and would be lost.\n", path);
            return false;
        }
    }
    return app_output_try(output, COMMAND, path);
}

// ---- working

// Whether the schema holds what is in every recording.
static bool check_fits(const tune_job* job, const ph_schema* schema)
{
    for (int r = 0; r < job->count; ++r) {
        ph_fault fault = {0};
        ph_column_bindings* bindings =
            ph_column_bindings_make_all(schema, job->recordings[r], &fault);
        free(bindings);
        if (bindings == NULL) {
            return app_complain(COMMAND, job->options.sources[r], &fault);
        }
    }
    return true;
}

static bool measure_with(tune_job* job, const ph_schema* schema)
{
    ph_fault fault = {0};
    free(job->columns);
    job->columns = calloc((size_t)ph_tune_column_count(schema), sizeof *job->columns);
    if (job->columns == NULL) {
        return ph_fault_set_memory(&fault) ||
               app_complain(COMMAND, job->options.sources[0], &fault);
    }
    return check_fits(job, schema) &&
           (ph_tune_columns_measure(schema, job->recordings, job->count, job->columns, &fault) ||
            app_complain(COMMAND, job->options.sources[0], &fault));
}

// A given schema stays as it is; else one is derived from all recordings.
static bool measure_columns(tune_job* job)
{
    const ph_schema* first = job->materials[0].schema;
    if (job->options.schema_path != NULL) {
        return measure_with(job, first);
    }
    ph_fault fault = {0};
    ph_schema* derived = ph_derive_schema_of(job->recordings, job->count, &fault);
    if (derived == NULL) {
        return app_complain(COMMAND, job->options.sources[0], &fault);
    }
    const bool is_measured = measure_with(job, derived);
    if (is_measured) {
        job->base = ph_tune_columns_schema(derived, job->columns, first, &fault);
        if (job->base == NULL) {
            app_complain(COMMAND, job->options.sources[0], &fault);
        }
    }
    ph_schema_destroy(derived);
    return is_measured && job->base != NULL;
}

static const ph_schema* base_of(const tune_job* job)
{
    return job->applied != NULL ? job->applied
           : job->base != NULL  ? job->base
                                : job->materials[0].schema;
}

static void show_progress(void* context, double done)
{
    tune_job* job = context;
    ph_progress_show(&job->progress, stderr, done, 1.0, ph_sim_clock_wall_s() - job->start_s);
}

static bool learn(tune_job* job)
{
    const ph_tune_def def = {.recordings = job->recordings,
                             .recording_count = job->count,
                             .base = base_of(job),
                             .viewers = job->options.viewers,
                             .kbps = job->options.kbps,
                             .hz = job->options.hz,
                             .pool = job->pool,
                             .progress = show_progress,
                             .progress_context = job};
    ph_fault fault = {0};
    job->progress = ph_progress_make("tune", ph_progress_is_wanted());
    job->start_s = ph_sim_clock_wall_s();
    const bool is_done = ph_tune_run(&def, &job->result, &fault);
    ph_progress_end(&job->progress, stderr);
    return is_done || app_complain(COMMAND, job->options.sources[job->result.failed], &fault);
}

// ---- advice

static void print_advice(const tune_advice* advice, int count)
{
    for (int i = 0; i < count; ++i) {
        printf("  %d. %s: some %.1f %% of the payload\n", i + 1, advice[i].text,
               100.0 * advice[i].saved);
    }
}

// The base with properties as advised, moving as was learned without advice, and the models that it brings along.
static ph_schema* change_base(const tune_job* job, const tune_advice* advice, int count,
                              ph_fault* fault)
{
    const ph_schema* base = base_of(job);
    const int class_count = ph_schema_class_count(base);
    ph_class_def* classes = malloc((size_t)class_count * sizeof *classes);
    ph_property_def* properties = malloc((size_t)ph_tune_column_count(base) * sizeof *properties);
    ph_schema* made = NULL;
    if (classes == NULL || properties == NULL) {
        free(classes);
        free(properties);
        ph_fault_set_memory(fault);
        return NULL;
    }
    for (int c = 0; c < class_count; ++c) {
        ph_property_def* first = properties + ph_tune_first_column(base, c);
        classes[c] = *ph_schema_class(base, c);
        memcpy(first, classes[c].properties,
               (size_t)classes[c].property_count * sizeof properties[0]);
        classes[c].properties = first;
        classes[c].bend = ph_schema_class(job->result.schema, c)->bend;
        classes[c].leg_ms = ph_schema_class(job->result.schema, c)->leg_ms;
    }
    for (int i = 0; i < count; ++i) {
        ph_property_def* def =
            &properties[ph_tune_first_column(base, advice[i].class_index) + advice[i].property];
        def->step = advice[i].step > 0.0 ? advice[i].step : def->step;
        def->bits = advice[i].bits > 0 ? advice[i].bits : def->bits;
        def->significant = advice[i].significant > 0.0 ? advice[i].significant : def->significant;
    }
    ph_error error = {0};
    if (ph_schema_create_tuned(classes, class_count, base, NULL, &made, &error) != PH_OK) {
        ph_fault_set(fault, 0, 0, "the advice fits no schema: %s", error.text);
    }
    free(classes);
    free(properties);
    return made;
}

static tune_report report_of(const tune_job* job)
{
    return (tune_report){.source = job->options.sources[0],
                         .base = base_of(job),
                         .columns = job->columns,
                         .kbps_learned = job->options.kbps,
                         .result = &job->result};
}

static bool apply_advice(tune_job* job)
{
    const tune_report report = report_of(job);
    tune_advice advice[TUNE_ADVICE_MAX];
    const int count = job->options.apply != NULL ? tune_report_advise(&report, advice) : 0;
    if (count == 0) {
        return true;
    }
    ph_fault fault = {0};
    ph_schema* applied = change_base(job, advice, count, &fault);
    if (applied == NULL) {
        return app_complain(COMMAND, job->options.sources[0], &fault);
    }
    printf("applied\n");
    print_advice(advice, count);
    printf("\n");
    job->applied = applied;
    job->without = job->result;
    job->result = (ph_tune_result){0};
    if (!ph_tune_columns_measure(applied, job->recordings, job->count, job->columns, &fault)) {
        return app_complain(COMMAND, job->options.sources[0], &fault);
    }
    return learn(job);
}

// For the page: error over budget with the base and with what was learned, from the first recording. In parts of the
// budget that was learned for.
static bool sweep(tune_job* job)
{
    static const double PARTS[TUNE_BUDGETS] = {4, 8, 13, 26, 52};
    const double unit = job->options.kbps > 0.0 ? job->options.kbps / PH_TUNE_KBPS : 1.0;
    const ph_schema* schemas[] = {base_of(job), job->result.schema};
    ph_fault fault = {0};
    for (int i = 0; i < 2 * TUNE_BUDGETS; ++i) {
        ph_sim_def def = ph_sim_def_default();
        def.scheduler = ph_scheduler_error();
        def.viewers = job->options.viewers;
        def.skips_standstill = true;
        def.kbps = PARTS[i / 2] * unit;
        def.hz = job->options.hz;
        ph_sim_result result;
        if (!ph_sim_run(&def, job->recordings[0], schemas[i % 2], job->pool, &result, &fault)) {
            return app_complain(COMMAND, job->options.sources[0], &fault);
        }
        job->report.kbps[i / 2] = def.kbps;
        job->report.error_mrad[i % 2][i / 2] = result.figures.error_mrad.mean;
    }
    job->report.budget_count = TUNE_BUDGETS;
    return true;
}

// ---- output

static bool write_schema(tune_job* job)
{
    const size_t size = ph_schema_print(job->result.schema, NULL, 0) + 1;
    char* text = malloc(size);
    FILE* file = fopen(job->options.output_path, "w");
    bool is_written = text != NULL && file != NULL;
    if (is_written) {
        ph_schema_print(job->result.schema, text, size);
        is_written = fprintf(file, "# Learned by `pinhole tune`: docs/tuning.md.\n%s", text) > 0;
    }
    is_written = (file == NULL || fclose(file) == 0) && is_written;
    free(text);
    if (!is_written) {
        fprintf(stderr, COMMAND ": %s cannot be written. Is the disk full?\n",
                job->options.output_path);
        return false;
    }
    job->schema_file = (app_output){0}; // stays, whatever comes
    return true;
}

static bool write_page(tune_job* job)
{
    const char* path = job->options.page_path;
    if (path == NULL) {
        return true;
    }
    if (!sweep(job)) {
        return false;
    }
    FILE* file = fopen(path, "w");
    const bool is_put = file != NULL && tune_page_write(&job->report, file);
    if (file == NULL || fclose(file) != 0 || !is_put) {
        fprintf(stderr, COMMAND ": %s cannot be written. Is the disk full?\n", path);
        return false;
    }
    return true;
}

static bool tell(tune_job* job)
{
    job->report = report_of(job);
    tune_report_columns(&job->report, stdout);
    tune_report_gain(&job->report, stdout);
    tune_report_motions(&job->report, stdout);
    tune_report_properties(&job->report, stdout);
    if (job->applied != NULL) {
        tune_report_applied(&job->report, &job->without, stdout);
    } else if (job->options.apply != NULL) {
        printf("\nThere is no advice to apply.\n");
    }
    tune_advice advice[TUNE_ADVICE_MAX];
    const int count = tune_report_advise(&job->report, advice);
    printf("\n%s", count > 0 ? "what else would help\n" : "");
    print_advice(advice, count);
    tune_report_steady(&job->report, stdout);
    if (job->result.before.entity_count == 1) {
        printf("\nThere is one entity only: all that was learned is what it is told of itself.\n");
    }
    if (job->result.updates < UPDATES_ENOUGH) {
        printf("\nThis is a small recording: %llu updates were learned from, and %d would be "
               "enough. What is rare in it stays as it was; record for longer, or give several.\n",
               (unsigned long long)job->result.updates, (int)UPDATES_ENOUGH);
    }
    printf("\n%s: %d models, learned from %llu updates. Both ends must load it.\n",
           job->options.output_path, job->result.models, (unsigned long long)job->result.updates);
    return true;
}

static void close_job(tune_job* job)
{
    free(job->columns);
    ph_schema_destroy(job->result.schema);
    ph_schema_destroy(job->without.schema);
    ph_schema_destroy(job->applied);
    ph_schema_destroy(job->base);
    ph_pool_destroy(job->pool);
    for (int i = 0; i < RECORDINGS; ++i) {
        ph_sim_material_close(&job->materials[i]);
    }
}

static bool mix(tune_job* job)
{
    const tune_options* o = &job->options;
    tune_mixture asked = {
        .sources = o->sources,
        .def = {.rate_hz = o->rate_hz, .seconds = o->seconds, .seed = (uint64_t)o->seed},
        .viewers = o->viewers,
        .threads = o->threads,
        .output_path = o->output_path,
    };
    while (asked.source_count < RECORDINGS && o->sources[asked.source_count] != NULL) {
        ++asked.source_count;
    }
    return open_output(job, &job->schema_file, o->output_path) && tune_mixture_run(&asked);
}

static bool tune(tune_job* job)
{
    return open_output(job, &job->schema_file, job->options.output_path) &&
           open_output(job, &job->page_file, job->options.page_path) && open_all(job) &&
           measure_columns(job) && learn(job) && apply_advice(job) && write_schema(job) &&
           tell(job) && write_page(job);
}

int tune_command(int argc, char** argv)
{
    static tune_job job;
    int status;
    if (!read_options(argc, argv, &job.options, &status)) {
        return status;
    }
    if (!check_options(&job.options)) {
        return APP_EXIT_USAGE;
    }
    const bool is_done = job.options.is_mixture ? mix(&job) : tune(&job);
    if (!is_done) {
        app_output_undo(&job.schema_file);
        app_output_undo(&job.page_file);
    }
    close_job(&job);
    return is_done ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
