// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Each recording is two games, with all of its columns and with position and heading alone; a scene is one.

#include "tune_mixture.h"

#include "options.h"
#include "scene_help.h"

#include "kit/mixture.h"
#include "kit/progress.h"
#include "kit/sim_clock.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole tune --mixture"

typedef struct mixture_job {
    const tune_mixture* asked;
    ph_sim_material materials[PH_MIXTURE_GAMES_MAX];
    ph_mixture_game games[PH_MIXTURE_GAMES_MAX];
    const char* names[PH_MIXTURE_GAMES_MAX];
    int count;
    ph_progress progress;
    double start_s;
} mixture_job;

static bool is_scene(const char* source)
{
    return strncmp(source, APP_SCENE_PREFIX, strlen(APP_SCENE_PREFIX)) == 0;
}

static bool open_game(mixture_job* job, const char* source, bool is_pose_only)
{
    ph_sim_material_def def = job->asked->def;
    ph_sim_material* material = &job->materials[job->count];
    ph_fault fault = {0};
    def.source = source;
    def.is_pose_only = is_pose_only;
    if (!ph_sim_material_open(material, &def, &fault)) {
        app_complain(COMMAND, source, &fault);
        if (material->lacks_rate) {
            fprintf(stderr, "Say how many ticks a second has, as in '--rate 16'.\n");
        }
        return false;
    }
    app_scene_note(COMMAND, source, ph_sim_material_note(material));
    job->names[job->count] = source;
    job->games[job->count++] =
        (ph_mixture_game){.recording = material->recording, .schema = material->schema};
    return true;
}

static bool open_games(mixture_job* job)
{
    for (int i = 0; i < job->asked->source_count; ++i) {
        const char* source = job->asked->sources[i];
        if (!app_scene_check(COMMAND, source) || !open_game(job, source, false) ||
            (!is_scene(source) && !open_game(job, source, true))) {
            return false;
        }
    }
    return true;
}

static void show_progress(void* context, double done)
{
    mixture_job* job = context;
    ph_progress_show(&job->progress, stderr, done, 1.0, ph_sim_clock_wall_s() - job->start_s);
}

static ph_mixture* learn(mixture_job* job, ph_pool* pool)
{
    const ph_mixture_def def = {.games = job->games,
                                .game_count = job->count,
                                .viewers = job->asked->viewers,
                                .pool = pool,
                                .progress = show_progress,
                                .progress_context = job};
    ph_fault fault = {0};
    job->progress = ph_progress_make("tune", ph_progress_is_wanted());
    job->start_s = ph_sim_clock_wall_s();
    ph_mixture* mixture = ph_mixture_learn(&def, &fault);
    ph_progress_end(&job->progress, stderr);
    if (mixture == NULL) {
        app_complain(COMMAND, job->asked->sources[0], &fault);
    }
    return mixture;
}

static bool write_mixture(const mixture_job* job, const ph_mixture* mixture)
{
    const char* path = job->asked->output_path;
    const size_t length = strlen(path);
    FILE* file = fopen(path, "w");
    if (file != NULL && length > 2 && strcmp(path + length - 2, ".c") == 0) {
        ph_mixture_print(mixture, file);
    } else if (file != NULL) {
        ph_mixture_print_schema(mixture, file);
    }
    const bool is_put = file != NULL && !ferror(file);
    if (file == NULL || fclose(file) != 0 || !is_put) {
        fprintf(stderr, COMMAND ": %s cannot be written. Is the disk full?\n", path);
        return false;
    }
    return true;
}

static void tell(const mixture_job* job, const ph_mixture* mixture)
{
    printf("all bits that a game is sent, per update; and more than that by other models, in %%\n"
           "%-24s %9s %8s %9s %9s %9s\n",
           "", "updates", "its own", "mixture", "others", "curves");
    for (int g = 0; g < job->count; ++g) {
        const ph_mixture_figures figures = ph_mixture_figures_of(mixture, g);
        const double own = figures.own_bits > 0.0 ? figures.own_bits : 1.0;
        const bool is_pose = g > 0 && job->names[g - 1] == job->names[g];
        printf("%-18.18s %-5s %9llu %8.2f %+9.1f %+9.1f %+9.1f\n", app_source_name(job->names[g]),
               is_pose ? "pose" : "", (unsigned long long)figures.updates, figures.own_bits,
               100.0 * (figures.mixed_bits / own - 1.0), 100.0 * (figures.others_bits / own - 1.0),
               100.0 * (figures.curve_bits / own - 1.0));
    }
}

bool tune_mixture_run(const tune_mixture* asked)
{
    static mixture_job job;
    job = (mixture_job){.asked = asked};
    ph_pool* pool = ph_pool_create(asked->threads);
    ph_fault fault = {0};
    bool is_done =
        pool != NULL || ph_fault_set_memory(&fault) || app_complain(COMMAND, "threads", &fault);
    ph_mixture* mixture = is_done && open_games(&job) ? learn(&job, pool) : NULL;
    is_done = mixture != NULL && write_mixture(&job, mixture);
    if (is_done) {
        tell(&job, mixture);
    }
    ph_mixture_destroy(mixture);
    ph_pool_destroy(pool);
    for (int g = 0; g < PH_MIXTURE_GAMES_MAX; ++g) {
        ph_sim_material_close(&job.materials[g]);
    }
    return is_done;
}
