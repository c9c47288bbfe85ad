// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole cluster`: starts everything, shows it or breaks it, says what became of the players, ends everything.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "cluster_command.h"

#include "cluster_chaos.h"
#include "cluster_table.h"
#include "cluster_watch.h"
#include "cluster_web.h"
#include "command.h"
#include "demo_options.h"
#include "demo_terminal.h"
#include "kit/json.h"
#include "options.h"
#include "scene_help.h"
#include "truth_wire.h"

#include <pinhole/net/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "pinhole cluster"
#define SECOND_US UINT64_C(1000000)
#define PAGE_US UINT64_C(200000)
enum { ROW_COUNT = 20, OUTCOMES_MAX = 4096, TOWN_BOTS_MAX = 100, HELP_COLUMNS = 88 };

typedef struct cluster_job {
    const char* source; // NULL: by the number of bots
    const char* faults_text;
    int bots;
    int entities;
    int cell_m;
    int seconds;
    int seeds;
    int first_seed;
    double loop_s;
    double radius_m;
    double loss_pct;
    double rtt_ms;
    double jitter_ms;
    double chat_hz;
    double ramp;
    bool is_chaos;
    bool is_json;
    bool keeps_logs;
    const char* port_text; // NULL: DEMO_PORT_USUAL, or any other if that is taken
    bool is_pageless;
    const cluster_fault* faults[CLUSTER_FAULTS_MAX];
    int fault_count;
    cluster_stage stage;
    cluster_table table;
    cluster_outcome* outcomes;
    int outcome_count;
    double start_s;   // until all bots were in
    cluster_web* web; // NULL: no page
    cluster_watch* watch;
    truth_bytes told; // what pages are told; its memory is used again
    uint64_t told_us;
} cluster_job;

// ---- options

// Some of them on each line.
static void print_faults(void)
{
    const char* name = cluster_faults_names();
    int column = printf("\nfaults:") - 1;
    while (*name != '\0') {
        const int length = (int)strcspn(name, " ");
        column = column + length < HELP_COLUMNS ? column : printf("\n       ") - 1;
        column += printf(" %.*s", length, name);
        name += length + (name[length] != '\0');
    }
    printf("\n");
}

static void print_help(const app_option* table)
{
    printf(
        COMMAND
        ": a world on several machines, all of it on this one\n"
        "\n"
        "usage: " COMMAND " [SOURCE] [options]\n"
        "\n"
        "Starts three nats-servers, two sims and two that stand by, three front-ends, a director\n"
        "and bots, on free ports of loopback and in a folder of its own, and shows them as a\n"
        "table. Parts can be killed, frozen and emptied by keys; dead ones are started anew. With\n"
        "--chaos that is done by itself: each fault at a moment that the seed says; then the "
        "world\n"
        "stands, and all that players show and sims own is compared with the truth. The exit\n"
        "status is 1 when something was missing, doubled or wrong. docs/distributed.md explains\n"
        "the parts. It needs nats-server (Debian: apt-get install nats-server).\n"
        "\n"
        "options:\n");
    app_options_print(table);
    print_faults();
    printf("\nexample: " COMMAND " --chaos --seeds 2 --bots 30 --faults kill-sim,stop-front\n");
}

static void fill_rows(cluster_job* job, app_option rows[ROW_COUNT])
{
    const app_option all[] = {
        {.name = "SOURCE",
         .summary = "what the sims play, a recording or a scene; scene:town, of many bots "
                    "scene:wander",
         .text = &job->source,
         .value = "scene:NAME"},
        {.name = "--bots", .summary = "how many", .number = &job->bots, .lo = 1, .hi = 10000},
        {.name = "--seconds",
         .summary = "ends after so long, with a comparison; 0: when it is told to",
         .number = &job->seconds,
         .lo = 0,
         .hi = 86400},
        {.name = "--chaos", .summary = "does faults by itself", .is_set = &job->is_chaos},
        {.name = "--seeds",
         .summary = "with --chaos: each fault so many times",
         .number = &job->seeds,
         .lo = 1,
         .hi = 1000},
        {.name = "--first-seed",
         .summary = "with --chaos",
         .number = &job->first_seed,
         .lo = 1,
         .hi = 1000000},
        {.name = "--faults",
         .summary = "with --chaos: which ones, with commas; default: all kills and stops",
         .text = &job->faults_text,
         .value = "LIST"},
        {.name = "--entities",
         .summary = "of a scene; 0: some more than bots",
         .number = &job->entities,
         .lo = 0,
         .hi = 100000},
        {.name = "--cell",
         .summary = "side of a cell in m; 0: 64, of many bots 250",
         .number = &job->cell_m,
         .lo = 0,
         .hi = 16000},
        {.name = "--radius",
         .summary = "how far players see, in m; 0: 250, of many bots 100",
         .decimal = &job->radius_m,
         .lo = 0,
         .hi = 10000},
        {.name = "--loop",
         .summary = "seconds of the source that are played in a loop; 0: all, of scenes 60",
         .decimal = &job->loop_s,
         .lo = 0,
         .hi = 86400},
        {.name = "--loss",
         .summary = "datagrams lost each way on the bots' links, in percent",
         .decimal = &job->loss_pct,
         .lo = 0,
         .hi = 90},
        {.name = "--rtt",
         .summary = "round trip of the bots' links, in ms",
         .decimal = &job->rtt_ms,
         .lo = 0,
         .hi = 10000},
        {.name = "--jitter",
         .summary = "up to so much more each way, in ms",
         .decimal = &job->jitter_ms,
         .lo = 0,
         .hi = 10000},
        {.name = "--chat",
         .summary = "messages per second and bot, which its sim sends back",
         .decimal = &job->chat_hz,
         .lo = 0,
         .hi = 100},
        {.name = "--keep-logs",
         .summary = "leaves the folder with the logs of all parts",
         .is_set = &job->keeps_logs},
        {.name = "--port",
         .summary = "of the page, on this machine alone; 0: any; without it 7777, or any when that "
                    "is taken, and with --chaos or --json there is no page",
         .text = &job->port_text,
         .value = "PORT"},
        {.name = "--no-page", .summary = "no page", .is_set = &job->is_pageless},
        {.name = "--json", .summary = "one JSON object at the end", .is_set = &job->is_json},
        {0},
    };
    _Static_assert(sizeof all / sizeof *all == ROW_COUNT, "rows");
    memcpy(rows, all, sizeof all);
}

static bool parse(cluster_job* job, int argc, char** argv, int* status)
{
    char wrong[64] = "";
    job->bots = 30;
    job->seeds = 1;
    job->first_seed = 1;
    job->chat_hz = 2.0;
    app_option table[ROW_COUNT];
    fill_rows(job, table);
    const app_usage usage = {COMMAND, print_help};
    if (!app_options_read(&usage, table, argc, argv, status)) {
        return false;
    }
    if (job->faults_text != NULL && !job->is_chaos) {
        fprintf(stderr, COMMAND ": --faults stands beside --chaos.\n");
        return false;
    }
    job->fault_count = cluster_faults_read(job->faults_text, job->faults, wrong);
    if (job->fault_count == 0) {
        fprintf(stderr, COMMAND ": there is no fault '%s'. There are: %s.\n", wrong,
                cluster_faults_names());
        return false;
    }
    int port = 0;
    if (job->port_text != NULL && !app_option_port(job->port_text, &port)) {
        fprintf(stderr, COMMAND ": --port takes a port from 0 to 65535, as in '--port 8080'.\n");
        return false;
    }
    job->source = job->source != NULL          ? job->source
                  : job->bots <= TOWN_BOTS_MAX ? "scene:town"
                                               : "scene:wander";
    // Seven of eight actors are players' to have.
    job->entities = job->entities > 0                        ? job->entities
                    : strncmp(job->source, "scene:", 6) != 0 ? 0
                                                             : job->bots * 8 / 7 + 50;
    job->ramp = job->bots > 200 ? 150.0 : 0.0;
    if (job->cell_m == 0) {
        job->cell_m = job->bots <= TOWN_BOTS_MAX ? 64 : 250;
    }
    if (job->cell_m < 16) {
        fprintf(stderr, COMMAND ": --cell takes 0, or 16 to 16,000.\n");
        return false;
    }
    if (job->radius_m == 0.0) {
        job->radius_m = job->bots <= TOWN_BOTS_MAX ? 250.0 : 100.0;
    }
    return app_scene_check(COMMAND, job->source);
}

static bool has_nats_server(void)
{
    const char* path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        char file[512];
        const size_t length = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/nats-server", (int)length, path);
        if (access(file, X_OK) == 0) {
            return true;
        }
        path += length + (path[length] == ':');
    }
    fprintf(stderr,
            COMMAND ": there is no nats-server on this machine. Install it (Debian: apt-get "
                    "install nats-server), or say 'make cluster'.\n");
    return false;
}

// ---- the page

static void write_text(void* context, const char* text, size_t size)
{
    truth_put_raw(context, text, size);
}

static void tell_pages(cluster_job* job)
{
    truth_bytes_drop(&job->told, job->told.size);
    ph_json json = ph_json_make_into(write_text, &job->told);
    cluster_watch_write(job->watch, &json);
    if (!job->told.is_short) {
        cluster_web_tell(job->web, job->told.bytes, job->told.size);
    }
}

static void turn_page(void* context)
{
    cluster_job* job = context;
    const uint64_t now_us = job->stage.now_us;
    cluster_watch_turn(job->watch, now_us);
    if (cluster_web_count(job->web) > 0 && now_us - job->told_us >= PAGE_US) {
        job->told_us = now_us;
        tell_pages(job);
    }
    cluster_web_serve(job->web);
}

static void close_page(cluster_job* job)
{
    job->stage.on_turn = NULL;
    cluster_web_close(job->web);
    cluster_watch_close(job->watch);
    truth_bytes_destroy(&job->told);
}

// Without a page the demonstration is still worth running, unless a port was asked for.
static bool open_page(cluster_job* job, ph_fault* fault)
{
    int port = DEMO_PORT_USUAL;
    const bool is_asked = job->port_text != NULL;
    if (job->is_pageless || (!is_asked && (job->is_chaos || job->is_json))) {
        return true;
    }
    if (is_asked) {
        app_option_port(job->port_text, &port);
    }
    job->web = cluster_web_open(port, fault);
    if (job->web == NULL && !is_asked) {
        job->web = cluster_web_open(0, fault);
    }
    job->watch = job->web != NULL ? cluster_watch_open(&job->stage, fault) : NULL;
    if (job->watch == NULL) {
        cluster_web_close(job->web);
        job->web = NULL;
        return !is_asked;
    }
    job->stage.on_turn_context = job;
    job->stage.on_turn = turn_page;
    if (!job->is_json) {
        printf("page: %s\n", cluster_web_url(job->web));
        fflush(stdout);
    }
    return true;
}

// ---- running

static void add_outcome(cluster_job* job, const cluster_outcome* outcome)
{
    if (job->outcome_count < OUTCOMES_MAX) {
        job->outcomes[job->outcome_count++] = *outcome;
    }
    if (!job->is_json) {
        cluster_outcome_print(outcome);
    }
}

// @return Whether it came to its end.
static bool run_chaos(cluster_job* job)
{
    if (!job->is_json) {
        printf("%d bots are in after %.1f s; %d faults x %d seeds\n", job->bots, job->start_s,
               job->fault_count, job->seeds);
        cluster_outcome_print_head();
    }
    for (int seed = job->first_seed; seed < job->first_seed + job->seeds; ++seed) {
        for (int i = 0; i < job->fault_count; ++i) {
            cluster_outcome outcome;
            if (!cluster_chaos_do(&job->stage, job->faults[i], seed, &outcome)) {
                return false;
            }
            add_outcome(job, &outcome);
        }
    }
    return true;
}

static bool show(cluster_job* job, const ph_fault* fault)
{
    const uint64_t start_us = ph_socket_now_us();
    const uint64_t end_us = (uint64_t)job->seconds * SECOND_US;
    cluster_table_open(&job->table);
    cluster_table_note(&job->table, "%d bots are in after %.1f s", job->bots, job->start_s);
    if (job->web != NULL) {
        snprintf(job->table.page, sizeof job->table.page, "%s", cluster_web_url(job->web));
    } else if (fault->message[0] != '\0') {
        cluster_table_note(&job->table, "There is no page: %.100s", fault->message);
    }
    bool is_wanted = true;
    while (is_wanted && (end_us == 0 || ph_socket_now_us() - start_us < end_us)) {
        is_wanted =
            cluster_stage_run(&job->stage, 20000) && cluster_table_turn(&job->table, &job->stage);
    }
    cluster_table_close(&job->table);
    cluster_outcome outcome;
    if (!is_wanted || !cluster_chaos_compare(&job->stage, &outcome)) {
        return true; // told to end
    }
    if (!job->is_json) {
        cluster_outcome_print_head();
    }
    add_outcome(job, &outcome);
    return true;
}

// ---- output

static int count_bad(const cluster_job* job)
{
    int count = 0;
    for (int i = 0; i < job->outcome_count; ++i) {
        count += !job->outcomes[i].is_good;
    }
    return count;
}

static void print_outcome_json(ph_json* json, const cluster_outcome* o)
{
    ph_json_open(json, NULL);
    ph_json_integer(json, "seed", o->seed);
    ph_json_text(json, "fault", o->fault != NULL ? o->fault->name : "none");
    ph_json_text(json, "part", o->victim);
    ph_json_integer(json, "players", o->players);
    ph_json_integer(json, "moved", o->moved);
    ph_json_integer(json, "interrupted_p50_ms", o->interrupted_p50_ms);
    ph_json_integer(json, "interrupted_max_ms", o->interrupted_max_ms);
    ph_json_integer(json, "late_ms", o->late_ms);
    ph_json_integer(json, "echo_before_mean_ms", o->echo_before_mean_ms);
    ph_json_integer(json, "echo_before_max_ms", o->echo_before_max_ms);
    ph_json_integer(json, "echo_mean_ms", o->echo_mean_ms);
    ph_json_integer(json, "echo_max_ms", o->echo_max_ms);
    ph_json_integer(json, "equal", o->equal);
    ph_json_integer(json, "missing", o->missing);
    ph_json_integer(json, "phantoms", o->phantoms);
    ph_json_integer(json, "other_values", o->other);
    ph_json_integer(json, "double_owners", o->ownership.doubles);
    ph_json_integer(json, "without_owner", o->ownership.orphans);
    ph_json_integer(json, "owned_strays", o->ownership.strays);
    ph_json_integer(json, "ended", o->ended);
    ph_json_integer(json, "discontinued", o->discontinued);
    ph_json_integer(json, "messages_wrong", o->messages_wrong);
    ph_json_integer(json, "messages_unreturned", o->messages_unreturned);
    ph_json_integer(json, "inputs_backward", o->inputs_backward);
    ph_json_integer(json, "false_alarms", o->false_alarms);
    ph_json_number(json, "equal_after_s", o->seconds);
    ph_json_bool(json, "good", o->is_good);
    ph_json_close(json);
}

static void print_end(const cluster_job* job, bool is_whole)
{
    const char* bots = cluster_stage_bots(&job->stage);
    if (!job->is_json) {
        printf("%d of %d comparisons are good%s; %d bots, %.0f moves, %.0f ended, %.0f messages, "
               "%.0f wrong\n",
               job->outcome_count - count_bad(job), job->outcome_count,
               is_whole ? "" : ", and it was stopped before the end", job->bots,
               cluster_report_number(bots, "moves"), cluster_report_number(bots, "ended"),
               cluster_report_number(bots, "sent"), cluster_report_number(bots, "wrong"));
        return;
    }
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_integer(&json, "bots", job->bots);
    ph_json_number(&json, "start_s", job->start_s);
    ph_json_bool(&json, "whole", is_whole);
    ph_json_integer(&json, "bad", count_bad(job));
    ph_json_number(&json, "messages", cluster_report_number(bots, "sent"));
    ph_json_number(&json, "false_alarms", cluster_report_number(bots, "alarms"));
    ph_json_open_list(&json, "outcomes");
    for (int i = 0; i < job->outcome_count; ++i) {
        print_outcome_json(&json, &job->outcomes[i]);
    }
    ph_json_close(&json);
    ph_json_close(&json);
}

static bool run(cluster_job* job)
{
    ph_fault fault = {0};
    const uint64_t start_us = ph_socket_now_us();
    const cluster_stage_def def = {
        .source = job->source,
        .bots = job->bots,
        .entities = job->entities,
        .cell_m = job->cell_m,
        .radius_m = job->radius_m,
        .loop_s = job->loop_s,
        .loss_pct = job->loss_pct,
        .rtt_ms = job->rtt_ms,
        .jitter_ms = job->jitter_ms,
        .chat_hz = job->chat_hz,
        .ramp = job->ramp,
    };
    if (!job->is_json) {
        printf("starting: %d processes on loopback, without credentials and TLS, as the options of "
               "the parts want them on a network\n",
               2 + CLUSTER_NODES + CLUSTER_SIMS + CLUSTER_FRONTS);
        fflush(stdout);
    }
    if (!cluster_stage_open(&job->stage, &def, &fault)) {
        fprintf(stderr, COMMAND ": %s.\n", fault.message);
        job->keeps_logs = job->keeps_logs || !demo_terminal_is_stopped();
        return false;
    }
    job->start_s = (double)(ph_socket_now_us() - start_us) / 1e6;
    if (!open_page(job, &fault)) {
        fprintf(stderr, COMMAND ": %s.\n", fault.message);
        return false;
    }
    const bool is_whole = job->is_chaos ? run_chaos(job) : show(job, &fault);
    close_page(job);
    print_end(job, is_whole);
    job->keeps_logs = job->keeps_logs || count_bad(job) > 0;
    return is_whole && count_bad(job) == 0;
}

int cluster_command(int argc, char** argv)
{
    static cluster_job job;
    int status = APP_EXIT_USAGE;
    if (!parse(&job, argc, argv, &status)) {
        return status;
    }
    job.outcomes = calloc(OUTCOMES_MAX, sizeof *job.outcomes);
    if (job.outcomes == NULL || !has_nats_server()) {
        free(job.outcomes);
        return APP_EXIT_FAILURE;
    }
    demo_terminal_hear_signals();
    const bool is_well = run(&job);
    cluster_stage_close(&job.stage, job.keeps_logs);
    if (job.keeps_logs && job.stage.folder[0] != '\0') {
        fprintf(stderr, COMMAND ": the logs of all parts are in %s.\n", job.stage.folder);
    }
    free(job.outcomes);
    return is_well ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
