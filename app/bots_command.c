// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bots`: finds out what world it is, lets the swarm run, and tells what became of it.

#include "bots_command.h"

#include "bots_movers.h"
#include "bots_options.h"
#include "bots_players.h"
#include "bots_report.h"
#include "bots_watch.h"
#include "command.h"
#include "key_file.h"
#include "scene_help.h"

#include "kit/load_scene.h"
#include "kit/scene.h"
#include "kit/sim_material.h"
#include "kit/recording.h"

#include <string.h>

#define COMMAND "pinhole bots"
#define SECOND_US UINT64_C(1000000)
enum { SLOTS_MAX = 512 };

typedef struct bots_job {
    bots_options options;
    bot_terms terms;
    bots_truth* truth;
    ph_sim_material material; // without the truth
    ph_load_scene* load;
    bots_swarm* swarm;
} bots_job;

static bool complain(const ph_fault* fault)
{
    fprintf(stderr, COMMAND ": %s.\n", fault->message);
    return false;
}

// ---- which world

// A ground is code, not data: both ends have it by the name of their scene.
static ph_ground ground_of(const char* source)
{
    const size_t length = strlen(APP_SCENE_PREFIX);
    const ph_scene_info* info =
        strncmp(source, APP_SCENE_PREFIX, length) == 0 ? ph_scene_find(source + length) : NULL;
    return info != NULL ? info->ground : (ph_ground){0};
}

static bool ask_server(bots_job* job, ph_fault* fault)
{
    job->truth = bots_truth_open(job->options.truth_port, fault);
    if (job->truth == NULL) {
        return false;
    }
    const truth_hello* hello = &job->truth->hello;
    job->terms.schema = hello->schema;
    job->terms.profile = hello->profile;
    job->terms.ground = ground_of(hello->source);
    job->terms.bits_per_second = hello->bits_per_second;
    job->terms.depth_bits = hello->depth_bits;
    return true;
}

static bool open_source(bots_job* job, ph_fault* fault)
{
    const bots_options* options = &job->options;
    if (!app_scene_check(COMMAND, options->source)) {
        return ph_fault_set(fault, 0, 0, "nothing to connect to");
    }
    job->terms.profile = options->profile;
    job->terms.ground = ground_of(options->source);
    if (strcmp(options->source, "load") == 0) {
        job->load = ph_load_scene_create(1, 1);
        job->terms.schema = job->load != NULL ? job->load->schema : NULL;
        return job->load != NULL || ph_fault_set_memory(fault);
    }
    const ph_sim_material_def def = {
        .source = options->source, .rate_hz = options->rate_hz, .seed = 1};
    if (!ph_sim_material_open(&job->material, &def, fault)) {
        return false;
    }
    job->terms.schema = job->material.schema;
    return true;
}

static bool open_all(bots_job* job)
{
    const bots_options* options = &job->options;
    ph_fault fault = {0};
    job->terms.server = options->server;
    job->terms.slot_capacity = SLOTS_MAX;
    job->terms.link = (ph_link_def){
        .seed = (uint64_t)options->seed,
        .delay_us = (uint32_t)(options->rtt_ms * 500.0),
        .jitter_us = (uint32_t)(options->jitter_ms * 1000.0),
        .loss = options->loss_pct / 100.0,
    };
    job->terms.chat_hz = options->chat_hz;
    job->terms.is_roaming = options->is_roaming;
    job->terms.has_link =
        options->rtt_ms > 0.0 || options->jitter_ms > 0.0 || options->loss_pct > 0.0;
    job->terms.is_insecure_dev = options->is_insecure_dev;
    if ((!options->is_insecure_dev && !app_key_read(options->key_path, job->terms.key, &fault)) ||
        !(options->truth_port >= 0 ? ask_server(job, &fault) : open_source(job, &fault))) {
        return complain(&fault);
    }
    if (options->spare_text != NULL) {
        return true; // bots_movers.c has its own
    }
    const bots_swarm_def def = {
        .terms = &job->terms,
        .truth = job->truth,
        .count = options->count,
        .first_id = (uint64_t)options->first_id,
        .mute = options->mute,
        .flood = options->flood,
        .vanish = options->vanish,
        .ramp = options->ramp,
    };
    job->swarm = bots_swarm_create(&def, &fault);
    return job->swarm != NULL || complain(&fault);
}

static void close_all(bots_job* job)
{
    bots_swarm_destroy(job->swarm);
    bots_truth_close(job->truth);
    ph_sim_material_close(&job->material);
    ph_load_scene_destroy(job->load);
    app_key_wipe(job->terms.key);
}

// ---- running

static bool run(bots_job* job)
{
    const bots_options* options = &job->options;
    bots_swarm* swarm = job->swarm;
    const uint64_t start_us = ph_socket_now_us();
    const bool is_there = bots_swarm_run(swarm, start_us + (uint64_t)options->seconds * SECOND_US);
    const uint64_t stood_us = ph_socket_now_us();
    bots_report report = {0};
    bool is_compared = false;
    if (is_there && job->truth != NULL && options->converge_s > 0) {
        bots_swarm_converge(swarm, stood_us + (uint64_t)options->converge_s * SECOND_US);
        is_compared = true;
    }
    report = bots_report_make(swarm, (double)(stood_us - start_us) / 1e6);
    report.is_compared = is_compared;
    for (int i = 0; i < options->count; ++i) {
        const uint64_t converged_us = swarm->bots[i]->converged_us;
        const double seconds = converged_us > 0 ? (double)(converged_us - stood_us) / 1e6 : 0.0;
        report.converge_s = seconds > report.converge_s ? seconds : report.converge_s;
    }
    if (options->is_json) {
        bots_report_print_json(&report);
    } else {
        bots_report_print(&report);
    }
    if (!is_there) {
        fprintf(stderr, COMMAND ": the server has gone.\n");
    }
    return bots_report_judge(&report, swarm) && is_there;
}

static bool watch(const bots_job* job)
{
    const bots_watch_def def = {
        .swarm = job->swarm,
        .truth_port = job->options.truth_port,
        .silence_us = (uint64_t)job->options.silence_ms * 1000,
        .until_us = ph_socket_now_us() + (uint64_t)job->options.seconds * SECOND_US,
    };
    return bots_watch_run(&def);
}

static bool move(const bots_job* job)
{
    const bots_options* options = &job->options;
    ph_fault fault = {0};
    const bots_movers_def def = {
        .terms = &job->terms,
        .servers = {options->server, options->spare},
        .count = options->count,
        .first_id = (uint64_t)options->first_id,
        .seconds = options->seconds,
        .ramp = options->ramp,
        .is_json = options->is_json,
    };
    bots_movers_result result;
    if (!bots_movers_run(&def, &result, &fault)) {
        return complain(&fault);
    }
    bots_movers_print(&def, &result);
    return bots_movers_judge(&def, &result);
}

static bool run_all(bots_job* job)
{
    if (job->options.spare_text != NULL) {
        return move(job);
    }
    return job->options.is_watching ? watch(job) : run(job);
}

int bots_command(int argc, char** argv)
{
    static bots_job job;
    int status;
    if (!bots_options_parse(argc, argv, &job.options, &status)) {
        return status;
    }
    if (job.options.bus.servers != NULL) {
        return bots_players_run(&job.options) ? APP_EXIT_OK : APP_EXIT_FAILURE;
    }
    const bool is_well = open_all(&job) && run_all(&job);
    close_all(&job);
    return is_well ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
