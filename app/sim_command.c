// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole sim`: reads the truth and the schema, lets kit/sim run once for each budget and
// each choice of parts, prints what was found.

#include "command.h"
#include "options.h"
#include "scene_help.h"
#include "sim_options.h"
#include "sim_page.h"
#include "sim_report.h"
#include "web_assets.h"

#include "kit/progress.h"
#include "kit/sim_clock.h"

#include <stdlib.h>
#include <string.h>

// How much of the work a page is, in runs.
enum { PAGE_WORK = 6 };

// Everything that is held while the command runs.
typedef struct sim_job {
    sim_options options;
    ph_sim_material material;
    ph_pool* pool;
    sim_trial* trials;
    int trial_count;
    FILE* dump;
    FILE* plot; // of --plot, or NULL
    FILE* page; // of --page, or NULL
    long page_size;
    ph_progress progress;
    double start_s;
    int done_count; // trials
} sim_job;

// ---- what went wrong

static bool complain_file(const char* path)
{
    fprintf(stderr, "pinhole sim: %s cannot be written. Does its folder exist?\n", path);
    return false;
}

static bool complain_full(const char* path)
{
    fprintf(stderr, "pinhole sim: %s cannot be written. Is the disk full?\n", path);
    return false;
}

// ---- what is needed

static bool open_material(sim_job* job)
{
    const sim_options* options = &job->options;
    if (!app_scene_check("pinhole sim", options->source)) {
        return false;
    }
    const ph_sim_material_def def = {
        .source = options->source,
        .schema_path = options->schema_path,
        .tables_path = options->tables_path,
        .rate_hz = options->rate_hz,
        .seconds = options->seconds,
        .is_pose_only = strcmp(options->properties, "pose") == 0,
        .is_flat = strcmp(options->rotation, "heading") == 0,
        .seed = options->def.seed,
    };
    ph_fault fault = {0};
    if (ph_sim_material_open(&job->material, &def, &fault)) {
        app_scene_note("pinhole sim", options->source, ph_sim_material_note(&job->material));
        return true;
    }
    app_complain("pinhole sim",
                 job->material.is_schema_bad   ? options->schema_path
                 : job->material.is_tables_bad ? options->tables_path
                                               : options->source,
                 &fault);
    if (job->material.lacks_rate) {
        fprintf(stderr, "Say how many ticks a second has, as in '--rate 16'.\n");
    }
    return false;
}

// Before the run, so that a missing folder does not cost the run.
static bool open_output(const char* path, FILE** file)
{
    *file = path != NULL ? fopen(path, "w") : NULL;
    return path == NULL || *file != NULL || complain_file(path);
}

// @return Whether all of it reached the file.
static bool close_output(FILE** file)
{
    FILE* done = *file;
    *file = NULL;
    return done == NULL || fclose(done) == 0;
}

// Half of it would be mistaken for the whole. What the path names stays: it may be a device.
static void empty_output(const char* path, FILE** file)
{
    close_output(file);
    *file = fopen(path, "w");
    close_output(file);
}

static bool open_rest(sim_job* job)
{
    const sim_options* options = &job->options;
    job->pool = ph_pool_create(options->threads);
    job->trial_count = options->budget_count * options->part_count;
    job->trials = calloc((size_t)job->trial_count, sizeof *job->trials);
    if (job->pool == NULL || job->trials == NULL) {
        ph_fault fault = {0};
        ph_fault_set_memory(&fault);
        return app_complain("pinhole sim", options->source, &fault);
    }
    return open_output(options->dump_path, &job->dump) &&
           open_output(options->plot_path, &job->plot) &&
           open_output(options->page_path, &job->page);
}

static void close_job(sim_job* job)
{
    close_output(&job->dump);
    close_output(&job->plot);
    if (job->page != NULL) {
        empty_output(job->options.page_path, &job->page);
    }
    free(job->trials);
    ph_pool_destroy(job->pool);
    ph_sim_material_close(&job->material);
}

// ---- running

// Runs, and as many more for a page.
static int work_count(const sim_job* job)
{
    return job->trial_count + (job->page != NULL ? PAGE_WORK : 0);
}

static void show_progress(void* context, double done)
{
    sim_job* job = context;
    ph_progress_show(&job->progress, stderr, job->done_count + done, work_count(job),
                     ph_sim_clock_wall_s() - job->start_s);
}

// In words, once: what the options ask for and cannot have.
static void note_burst(const sim_job* job, const ph_sim_def* def, const sim_trial* trial)
{
    const double asked_bits = def->burst_s * trial->kbps * 1000.0;
    const double hz = def->hz;
    if (trial->kbps == 0.0 || job->done_count > 1) {
        return;
    }
    if ((double)trial->result.burst_bits > asked_bits + 1.0) {
        fprintf(stderr,
                "pinhole sim: a burst of %g s cannot pay for one datagram: the bucket holds %lld "
                "bits instead of %.0f.\n",
                def->burst_s, (long long)trial->result.burst_bits, asked_bits);
    } else if (hz > 0.0 && def->burst_s < 1.0 / hz) {
        fprintf(stderr,
                "pinhole sim: a burst of %g s is less than comes in between two sends: tokens are "
                "lost. With %g sends a second, %g s lose none.\n",
                def->burst_s, hz, 1.0 / hz);
    }
}

static bool complain_run(const sim_job* job, const ph_fault* fault)
{
    app_complain("pinhole sim", job->options.source, fault);
    if (!app_scene_moves(job->options.source)) {
        fprintf(stderr, "In this scene nothing ever moves: it is for tests and benchmarks. Try "
                        "scene:wander.\n");
    }
    return false;
}

static bool run_trial(sim_job* job, sim_trial* trial)
{
    ph_sim_def def = job->options.def;
    def.kbps = trial->kbps;
    def.dump = job->dump;
    def.progress = show_progress;
    def.progress_context = job;
    sim_parts_apply(trial->parts, &def);
    ph_fault fault = {0};
    const bool is_done = ph_sim_run(&def, job->material.recording, job->material.schema, job->pool,
                                    &trial->result, &fault);
    ++job->done_count;
    if (!is_done) {
        ph_progress_end(&job->progress, stderr);
        return complain_run(job, &fault);
    }
    note_burst(job, &def, trial);
    return true;
}

static bool end_progress(sim_job* job)
{
    ph_progress_end(&job->progress, stderr);
    return true;
}

static bool run_trials(sim_job* job)
{
    const sim_options* options = &job->options;
    job->progress = ph_progress_make("sim", ph_progress_is_wanted());
    job->start_s = ph_sim_clock_wall_s();
    for (int i = 0; i < job->trial_count; ++i) {
        job->trials[i].kbps = options->budgets_kbps[i / options->part_count];
        job->trials[i].parts = &options->parts[i % options->part_count];
        if (!run_trial(job, &job->trials[i])) {
            return false;
        }
    }
    return job->page != NULL || end_progress(job);
}

// ---- output

static bool tell(sim_job* job)
{
    const sim_report report = {
        .options = &job->options,
        .trials = job->trials,
        .trial_count = job->trial_count,
        .schema_text = job->material.schema_text,
    };
    if (job->options.is_json) {
        sim_report_print_json(&report);
    } else {
        sim_report_print_table(&report);
    }
    if (!close_output(&job->dump)) {
        return complain_file(job->options.dump_path);
    }
    const bool is_drawn = job->plot == NULL || sim_report_plot(&report, job->plot);
    return (close_output(&job->plot) && is_drawn) || complain_file(job->options.plot_path);
}

// ---- the page

static void show_page_progress(void* context, double done)
{
    show_progress(context, PAGE_WORK * done);
}

// Before the runs, which would be for nothing.
static bool check_page(const sim_job* job)
{
    const char* missing = job->options.page_path != NULL ? web_assets_missing() : NULL;
    if (missing != NULL) {
        fprintf(stderr, "pinhole sim: --page: %s.\n", missing);
    }
    return missing == NULL;
}

static bool make_page(sim_job* job)
{
    const char* path = job->options.page_path;
    const sim_page page = {
        .options = &job->options,
        .material = &job->material,
        .pool = job->pool,
        .file = job->page,
        .progress = show_page_progress,
        .context = job,
    };
    ph_fault fault = {0};
    if (path == NULL) {
        return true;
    }
    const bool is_written = sim_page_write(&page, &fault);
    end_progress(job);
    if (!is_written) {
        return app_complain("pinhole sim", path, &fault);
    }
    job->page_size = ftell(job->page);
    if (!close_output(&job->page)) {
        empty_output(path, &job->page);
        return complain_full(path);
    }
    return true;
}

static bool tell_page(const sim_job* job)
{
    if (job->options.page_path != NULL) {
        fprintf(job->options.is_json ? stderr : stdout,
                "\n%s has %.1f MB: open it in a browser, it needs nothing else.\n",
                job->options.page_path, (double)job->page_size / 1e6);
    }
    return true;
}

int sim_command(int argc, char** argv)
{
    sim_job job = {0};
    int status;
    if (!sim_options_parse(argc, argv, &job.options, &status)) {
        return status;
    }
    const bool is_done = check_page(&job) && open_material(&job) && open_rest(&job) &&
                         run_trials(&job) && make_page(&job) && tell(&job) && tell_page(&job);
    close_job(&job);
    return is_done ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
