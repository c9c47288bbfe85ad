// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench quality`: error over budget on scenes and recordings, for classic, plain snapshots and
// pinhole: the same truths, viewers, links and seeds for all (docs/quality.md).

#include "bench.h"

#include "command.h"
#include "options.h"
#include "quality_suite.h"
#include "scene_help.h"
#include "sim_parts.h"

#include "kit/progress.h"
#include "kit/recording.h"
#include "kit/sim_clock.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole bench quality"
#define SCENES_USUAL "town,race,asteroids,crowd,wander,edge"
#define KBPS_MAX 100000.0

typedef struct quality_options {
    const char* recordings[QUALITY_RECORDINGS_MAX];
    const char* rates;
    const char* scenes;
    const char* budgets;
    const char* page_path;
    double seconds;
    int viewers;
    int threads;
    int seed;
    bool is_json;
} quality_options;

typedef struct quality_job {
    quality_options options;
    quality_suite suite;
    char scene_paths[QUALITY_SOURCES_MAX][QUALITY_NAME_MAX];
    ph_pool* pool;
    FILE* page;
    ph_progress progress;
    double start_s;
    double work; // rows of all sources together, once for each run
    double work_done;
    double work_each; // of the run that goes on
} quality_job;

// ---- options

static void print_help(const app_option* table)
{
    printf(
        COMMAND
        ": quality at a budget, of classic, snapshot and pinhole\n"
        "\n"
        "usage: " COMMAND " [RECORDING...] [options]\n"
        "\n"
        "Plays scenes, and recordings that are named, at several budgets through each system,\n"
        "as 'pinhole sim --compare all --sweep' does, with the same figures, but for the second\n"
        "run, in which the world stands still. Prints the mean error as seen by viewers.\n"
        "docs/quality.md says how any other system is measured by the same meter.\n"
        "\n"
        "options:\n");
    app_options_print(table);
    printf("\n"
           "examples:\n"
           "  " COMMAND " --json > quality.json\n"
           "  " COMMAND " evening.phrec --scenes none --page quality.html\n"
           "\n"
           "example: " COMMAND " --scenes town,race --budgets 4,13,52 --seconds 20\n");
}

static bool complain(const char* sentence)
{
    fprintf(stderr, COMMAND ": %s\n", sentence);
    return false;
}

static bool read_options(int argc, char** argv, quality_options* o, int* status)
{
    const app_option table[] = {
        {.name = "RECORDING",
         .summary = "a recording, beside the scenes",
         .text = &o->recordings[0]},
        {.name = "MORE", .summary = "up to three more", .text = &o->recordings[1]},
        {.name = "MORE", .summary = "", .text = &o->recordings[2]},
        {.name = "MORE", .summary = "", .text = &o->recordings[3]},
        {.name = "--rates",
         .summary = "ticks per second of each recording, where it does not say so, as 16,20",
         .text = &o->rates,
         .value = "LIST"},
        {.name = "--scenes",
         .summary = "which ones, or none (default " SCENES_USUAL ")",
         .text = &o->scenes,
         .value = "LIST"},
        {.name = "--budgets",
         .summary = "kbit/s on the wire per viewer, ascending (default 4,8,13,26,52)",
         .text = &o->budgets,
         .value = "LIST"},
        {.name = "--seconds",
         .summary = "length; 0: all of a recording, 60 of a scene",
         .decimal = &o->seconds,
         .lo = 0,
         .hi = 1000000},
        {.name = "--viewers",
         .summary = "of each source: those that go furthest",
         .number = &o->viewers,
         .lo = 1,
         .hi = 100000},
        {.name = "--threads",
         .summary = "0: all cores; changes no figure",
         .number = &o->threads,
         .lo = 0,
         .hi = 256},
        {.name = "--seed",
         .summary = "of links and scenes",
         .number = &o->seed,
         .lo = 0,
         .hi = INT32_MAX},
        {.name = "--json", .summary = "one JSON object on standard output", .is_set = &o->is_json},
        {.name = "--page",
         .summary = "the same with pictures, to open from disk",
         .text = &o->page_path,
         .value = "FILE"},
        {0},
    };
    const app_usage usage = {COMMAND, print_help};
    return app_options_read(&usage, table, argc, argv, status);
}

// Numbers with commas between them. @return How many; -1: it is no such list, or has too many.
static int read_numbers(const char* text, double* numbers, int capacity)
{
    for (int count = 0; count < capacity;) {
        char* end = NULL;
        numbers[count++] = strtod(text, &end);
        if (end == text || (*end != ',' && *end != '\0')) {
            return -1;
        }
        if (*end == '\0') {
            return count;
        }
        text = end + 1;
    }
    return -1;
}

static bool read_budgets(quality_job* job)
{
    quality_suite* suite = &job->suite;
    suite->budget_count = read_numbers(job->options.budgets, suite->kbps, QUALITY_BUDGETS_MAX);
    bool is_right = suite->budget_count > 0;
    for (int b = 0; b < suite->budget_count; ++b) {
        const double least = b == 0 ? 1.0 : suite->kbps[b - 1];
        const bool is_more = b == 0 ? suite->kbps[b] >= least : suite->kbps[b] > least;
        is_right = is_right && is_more && suite->kbps[b] <= KBPS_MAX;
    }
    return is_right || complain("--budgets takes up to 12 numbers from 1 to 100000, each above the "
                                "one before, as in '--budgets 4,13,52'.");
}

static void add_source(quality_suite* suite, const char* path, double rate_hz)
{
    quality_source* source = &suite->sources[suite->source_count++];
    const char* name = app_source_name(path);
    source->path = path;
    source->rate_hz = rate_hz;
    snprintf(source->name, sizeof source->name, "%.*s", (int)strcspn(name, "."), name);
}

static bool add_scene(quality_job* job, const char* name, int length)
{
    quality_suite* suite = &job->suite;
    char* path = job->scene_paths[suite->source_count];
    snprintf(path, QUALITY_NAME_MAX, APP_SCENE_PREFIX "%.*s", length, name);
    if (!app_scene_check(COMMAND, path)) {
        return false;
    }
    if (!app_scene_moves(path)) {
        return complain("in scene:still nothing moves: no entity of it can be a viewer.");
    }
    add_source(suite, path, 0.0);
    return true;
}

static bool add_scenes(quality_job* job)
{
    const char* at = job->options.scenes;
    while (strcmp(job->options.scenes, "none") != 0) {
        const int length = (int)strcspn(at, ",");
        if (job->suite.source_count == QUALITY_SOURCES_MAX) {
            return complain("--scenes takes up to twelve names.");
        }
        if (!add_scene(job, at, length)) {
            return false;
        }
        if (at[length] == '\0') {
            break;
        }
        at += length + 1;
    }
    return true;
}

static bool add_recordings(quality_job* job)
{
    const quality_options* o = &job->options;
    double rates[QUALITY_RECORDINGS_MAX] = {0};
    int count = 0;
    while (count < QUALITY_RECORDINGS_MAX && o->recordings[count] != NULL) {
        ++count;
    }
    if (o->rates != NULL && read_numbers(o->rates, rates, QUALITY_RECORDINGS_MAX) != count) {
        return complain("--rates takes one number for each recording, 0 where it says its rate "
                        "itself, as in '--rates 16,20'.");
    }
    for (int i = 0; i < count; ++i) {
        if (!app_scene_check(COMMAND, o->recordings[i])) {
            return false;
        }
        add_source(&job->suite, o->recordings[i], rates[i]);
    }
    return true;
}

static bool choose(quality_job* job)
{
    if (!read_budgets(job) || !add_recordings(job) || !add_scenes(job)) {
        return false;
    }
    return job->suite.source_count > 0 ||
           complain("without scenes it takes a recording, as in '" COMMAND
                    " evening.phrec --scenes none'.");
}

// ---- what is needed

static bool open_source(quality_job* job, quality_source* source)
{
    const ph_sim_material_def def = {.source = source->path,
                                     .rate_hz = source->rate_hz,
                                     .seconds = job->options.seconds,
                                     .seed = (uint64_t)job->options.seed};
    ph_fault fault = {0};
    if (!ph_sim_material_open(&source->material, &def, &fault)) {
        app_complain(COMMAND, source->path, &fault);
        if (source->material.lacks_rate) {
            fprintf(stderr, "Say how many ticks a second has, as in '--rates 16'.\n");
        }
        return false;
    }
    app_scene_note(COMMAND, source->path, ph_sim_material_note(&source->material));
    job->work += (double)source->material.recording->row_count;
    return true;
}

static bool open_all(quality_job* job)
{
    const char* page_path = job->options.page_path;
    ph_fault fault = {0};
    job->page = page_path != NULL ? fopen(page_path, "w") : NULL;
    if (page_path != NULL && job->page == NULL) {
        fprintf(stderr, COMMAND ": %s cannot be written. Does its folder exist?\n", page_path);
        return false;
    }
    for (int s = 0; s < job->suite.source_count; ++s) {
        if (!open_source(job, &job->suite.sources[s])) {
            return false;
        }
    }
    job->work *= job->suite.budget_count * QUALITY_SYSTEMS;
    job->pool = ph_pool_create(job->options.threads);
    return job->pool != NULL || ph_fault_set_memory(&fault) ||
           app_complain(COMMAND, "threads", &fault);
}

// ---- running

static void show_progress(void* context, double done)
{
    quality_job* job = context;
    ph_progress_show(&job->progress, stderr, job->work_done + done * job->work_each, job->work,
                     ph_sim_clock_wall_s() - job->start_s);
}

static bool run_system(quality_job* job, quality_source* source, int budget, int system)
{
    sim_parts parts = {.profile = quality_systems[system]};
    ph_sim_def def = job->suite.def;
    ph_fault fault = {0};
    (void)sim_parts_complete(&parts);
    sim_parts_apply(&parts, &def);
    def.kbps = job->suite.kbps[budget];
    def.progress = show_progress;
    def.progress_context = job;
    const bool is_done = ph_sim_run(&def, source->material.recording, source->material.schema,
                                    job->pool, &source->results[budget][system], &fault);
    job->work_done += job->work_each;
    if (!is_done) {
        ph_progress_end(&job->progress, stderr);
    }
    return is_done || app_complain(COMMAND, source->path, &fault);
}

static bool run_all(quality_job* job)
{
    job->progress = ph_progress_make("quality", ph_progress_is_wanted());
    job->start_s = ph_sim_clock_wall_s();
    for (int s = 0; s < job->suite.source_count; ++s) {
        quality_source* source = &job->suite.sources[s];
        job->work_each = (double)source->material.recording->row_count;
        for (int run = 0; run < job->suite.budget_count * QUALITY_SYSTEMS; ++run) {
            if (!run_system(job, source, run / QUALITY_SYSTEMS, run % QUALITY_SYSTEMS)) {
                return false;
            }
        }
    }
    ph_progress_end(&job->progress, stderr);
    return true;
}

// ---- output

static bool write_page(quality_job* job)
{
    const bool is_wanted = job->page != NULL;
    const bool is_put = !is_wanted || quality_page_write(&job->suite, job->page);
    const bool is_kept = !is_wanted || fclose(job->page) == 0;
    job->page = NULL;
    if (!is_put || !is_kept) {
        fprintf(stderr, COMMAND ": %s cannot be written. Is the disk full?\n",
                job->options.page_path);
    }
    return is_put && is_kept;
}

static bool tell(const quality_job* job)
{
    if (job->options.is_json) {
        quality_print_json(&job->suite, stdout);
    } else {
        quality_print_table(&job->suite, stdout);
    }
    return true;
}

static void close_job(quality_job* job)
{
    for (int s = 0; s < job->suite.source_count; ++s) {
        ph_sim_material_close(&job->suite.sources[s].material);
    }
    if (job->page != NULL) {
        fclose(job->page);
    }
    ph_pool_destroy(job->pool);
}

int bench_quality(int argc, char** argv)
{
    static quality_job job;
    int status;
    job.suite.def = ph_sim_def_default();
    job.suite.def.skips_standstill = true;
    job.options = (quality_options){.scenes = SCENES_USUAL,
                                    .budgets = "4,8,13,26,52",
                                    .viewers = job.suite.def.viewers,
                                    .seed = (int)job.suite.def.seed};
    if (!read_options(argc, argv, &job.options, &status)) {
        return status;
    }
    job.suite.def.viewers = job.options.viewers;
    job.suite.def.seed = (uint64_t)job.options.seed;
    job.suite.seed = job.options.seed;
    if (!choose(&job)) {
        return APP_EXIT_USAGE;
    }
    const bool is_done = open_all(&job) && run_all(&job) && write_page(&job) && tell(&job);
    close_job(&job);
    return is_done ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
