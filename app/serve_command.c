// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole serve`: opens everything, ticks until a signal comes, closes everything.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "serve_command.h"

#include "command.h"
#include "scene_help.h"
#include "secret.h"
#include "serve_audit.h"
#include "serve_bus.h"
#include "serve_empty.h"
#include "serve_keys.h"
#include "serve_log.h"
#include "serve_metrics.h"
#include "serve_options.h"
#include "serve_record.h"
#include "serve_truth.h"
#include "serve_writer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "pinhole serve"
#define SECOND_US UINT64_C(1000000)
// Of the time of a tick, sends may take so much; the rest is for what comes in.
#define SEND_SHARE 0.8
// A question for metrics or the truth waits no longer than this.
#define SLICE_US 10000
// Of the log, so many bytes may wait for its reader: some 20 lines.
enum { LOG_CAPACITY = 4096 };

typedef struct serve_job {
    serve_options options;
    serve_keys keys;
    ph_pool* pool;
    serve_stage* stage;
    serve_front* front;
    serve_metrics* metrics;
    serve_truth* truth;
    serve_writer* log;
    serve_audit* audit;
    serve_record* record; // NULL: nothing is recorded
    serve_empty* empty;   // NULL: not asked for
    serve_bus* bus;       // NULL: this server has its world to itself
    ph_pace pace;
    serve_report first;
    serve_report last; // told of
} serve_job;

static volatile sig_atomic_t is_asked_to_stop;
static volatile sig_atomic_t is_asked_to_reread;
static volatile sig_atomic_t is_asked_to_empty;

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    is_asked_to_stop = 1;
}

static void ask_to_reread(int signal_number)
{
    (void)signal_number;
    is_asked_to_reread = 1;
}

static void ask_to_empty(int signal_number)
{
    (void)signal_number;
    is_asked_to_empty = 1;
}

// A key for development goes when its terminal goes: SIGHUP ends the server then, unless it was started to
// survive that (nohup).
static void hear_signals(bool has_key)
{
    struct sigaction action = {.sa_handler = ask_to_stop};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
    sigaction(SIGHUP, NULL, &before);
    if (has_key || before.sa_handler != SIG_IGN) {
        action.sa_handler = has_key ? ask_to_reread : ask_to_stop;
        sigaction(SIGHUP, &action, NULL);
    }
    action.sa_handler = ask_to_empty;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

// ---- opening

static bool complain(const char* what, const ph_fault* fault)
{
    fprintf(stderr, COMMAND ": %s", what);
    if (fault->line > 0) {
        fprintf(stderr, ":%d", fault->line);
    }
    if (fault->column > 0) {
        fprintf(stderr, ":%d", fault->column);
    }
    fprintf(stderr, ": %s.\n", fault->message);
    return false;
}

static bool open_stage(serve_job* job, ph_fault* fault)
{
    const serve_options* options = &job->options;
    if (!options->is_schema_alone && !app_scene_check(COMMAND, options->source)) {
        return false;
    }
    bool is_schema_bad = false;
    const serve_stage_def def = {
        .source = options->is_schema_alone ? NULL : options->source,
        .schema_path = options->schema_path,
        .rate_hz = options->rate_hz,
        .entities = options->entities,
        .loop_s = options->loop_s,
        .seed = (uint64_t)options->seed,
        .profile = options->profile,
        .client_capacity = options->clients,
        .radius_m = options->radius_m,
        .vision_hz = options->vision_hz,
        .is_empty = options->bus.servers != NULL,
        .pool = job->pool,
        .is_schema_bad = &is_schema_bad,
    };
    job->stage = serve_stage_create(&def, fault);
    if (job->stage == NULL) {
        complain(is_schema_bad ? options->schema_path : options->source, fault);
        fputs(strstr(fault->message, "missing rate") != NULL
                  ? "Say how many ticks a second has, as in '--rate 16'.\n"
                  : "",
              stderr);
        return false;
    }
    app_scene_note(COMMAND, options->source, ph_sim_material_note(&job->stage->material));
    return true;
}

static bool open_record(serve_job* job, ph_fault* fault)
{
    const char* path = job->options.record_path;
    if (path != NULL) {
        job->record = serve_record_open(path, job->stage->world, job->log, fault);
        return job->record != NULL || complain("--record", fault);
    }
    return true;
}

// The keys are in this program's memory only while this runs.
static bool open_front(serve_job* job, ph_fault* fault)
{
    const serve_options* options = &job->options;
    serve_key_pair* pair = serve_keys_open(&job->keys, fault);
    if (pair == NULL) {
        return complain("keys", fault);
    }
    const serve_front_def def = {
        .stage = job->stage,
        .pool = job->pool,
        .listen = options->listen,
        .public_address = options->public_address,
        .keys = pair,
        .spent_path = options->spent_path,
        .requests_per_second = options->requests_per_second,
        .pending = options->pending,
        .pending_per_client = options->pending_per_client,
        .pending_per_prefix = options->pending_per_prefix,
        .client_capacity = options->clients,
        .bits_per_second = (int)(options->kbps * 1000.0 + 0.5),
        .hz = options->hz,
        .slots = options->slots,
        .audit = job->audit,
        .recorder = serve_record_recorder(job->record),
        .log = job->log,
        .is_rate_fixed = options->is_rate_fixed,
        .has_bus = options->bus.servers != NULL,
        .is_insecure_dev = options->is_insecure_dev,
    };
    job->front = serve_front_create(&def, fault);
    serve_key_pair_destroy(pair);
    return job->front != NULL || complain(options->listen_text, fault);
}

static bool open_bus(serve_job* job, ph_fault* fault)
{
    const serve_options* options = &job->options;
    if (options->bus.servers == NULL) {
        return true;
    }
    const serve_bus_def def = {
        .options = &options->bus,
        .front = job->front,
        .stage = job->stage,
        .client_capacity = options->clients,
        .cell_mm = options->cell_m * 1000,
        .log = job->log,
        .is_controlled = options->is_controlled,
    };
    job->bus = serve_bus_open(&def, fault);
    return job->bus != NULL || complain(options->bus.servers, fault);
}

static bool open_doors(serve_job* job, ph_fault* fault)
{
    const serve_options* options = &job->options;
    if (options->has_metrics) {
        job->metrics = serve_metrics_open(options->metrics_port, fault);
        if (job->metrics == NULL) {
            return complain("--metrics", fault);
        }
    }
    if (options->has_truth) {
        const serve_truth_def def = {
            .port = options->truth_port,
            .stage = job->stage,
            .front = job->front,
            .options = options,
            .pace = &job->pace,
        };
        job->truth = serve_truth_open(&def, fault);
        if (job->truth == NULL) {
            return complain("--truth", fault);
        }
    }
    return true;
}

static bool open_log(serve_job* job, ph_fault* fault)
{
    job->log = serve_writer_create(STDOUT_FILENO, false, LOG_CAPACITY, "log");
    if (job->log == NULL) {
        ph_fault_set_memory(fault);
        return complain("log", fault);
    }
    return true;
}

static bool open_audit(serve_job* job, ph_fault* fault)
{
    const serve_options* options = &job->options;
    if (options->audit_path != NULL) {
        job->audit = serve_audit_open(options->audit_path, options->has_audit_addresses, fault);
        return job->audit != NULL || complain("--audit", fault);
    }
    return true;
}

static bool open_all(serve_job* job)
{
    ph_fault fault = {0};
    job->keys.path = job->options.key_path;
    job->keys.second_path = job->options.second_key_path;
    job->keys.is_none = job->options.is_insecure_dev;
    if (!open_log(job, &fault) || !open_audit(job, &fault)) {
        return false;
    }
    job->pool = ph_pool_create(job->options.threads);
    if (job->pool == NULL) {
        ph_fault_set_memory(&fault);
        return complain("threads", &fault);
    }
    return open_stage(job, &fault) && open_record(job, &fault) && open_front(job, &fault) &&
           open_bus(job, &fault) && open_doors(job, &fault);
}

static void close_all(serve_job* job)
{
    serve_truth_close(job->truth);
    serve_metrics_close(job->metrics);
    serve_empty_end(job->empty);
    serve_bus_close(job->bus);
    serve_front_destroy(job->front);
    serve_record_close(job->record);
    serve_stage_destroy(job->stage);
    ph_pool_destroy(job->pool);
    serve_keys_close(&job->keys);
    serve_audit_close(job->audit);
    serve_writer_destroy(job->log);
}

// ---- output

static serve_report look(serve_job* job)
{
    serve_report report = serve_report_make(job->front, &job->pace, job->stage->world);
    report.log_dropped = serve_writer_dropped(job->log);
    report.audit_dropped = serve_audit_dropped(job->audit);
    return report;
}

static void tell_key(const serve_job* job)
{
    if (job->bus != NULL) {
        serve_writer_add(job->log, "world %s, front-end %s, NATS at %s; tokens by pinhole director",
                         job->options.bus.world, job->options.bus.name, job->options.bus.servers);
    }
    char address[PH_ADDRESS_TEXT_MAX];
    const ph_address server = ph_host_public_address(serve_front_host(job->front));
    if (job->options.is_insecure_dev) {
        serve_writer_add(job->log, "clients need no token: ph_peer_connect_to(peer, \"%s\")",
                         ph_address_print(&server, address));
    }
    if (job->keys.made_path[0] == '\0') {
        return;
    }
    serve_writer_add(job->log,
                     "no --key: a key for development is in %s as long as this runs. A token for "
                     "client 1:",
                     job->keys.made_path);
    serve_writer_add(job->log, "  pinhole token --key %s --server %s --client 1 --out client.token",
                     job->keys.made_path, ph_address_print(&server, address));
}

static void tell_start(const serve_job* job)
{
    const serve_options* options = &job->options;
    char address[PH_ADDRESS_TEXT_MAX];
    const ph_address local = ph_host_local_address(serve_front_host(job->front));
    serve_writer_add(
        job->log,
        "%s: %d entities, %.4g ticks a second, profile %s, %g kbit/s for each of %d clients, %d "
        "threads",
        options->source, job->stage->actor_count, 1e6 / job->stage->tick_us, options->profile_text,
        options->kbps, options->clients, ph_pool_thread_count(job->pool));
    serve_writer_add(job->log, "listening on %s", ph_address_print(&local, address));
    const ph_address public_address = ph_host_public_address(serve_front_host(job->front));
    if (!ph_address_is_equal(&local, &public_address)) {
        serve_writer_add(job->log, "clients reach it under %s; --public says another address",
                         ph_address_print(&public_address, address));
    }
    if (job->metrics != NULL) {
        serve_writer_add(job->log, "metrics on http://127.0.0.1:%d/metrics",
                         serve_metrics_port(job->metrics));
    }
    if (job->truth != NULL) {
        serve_writer_add(job->log, "truth on 127.0.0.1:%d", serve_truth_port(job->truth));
    }
    tell_key(job);
}

static void tell_second(serve_job* job)
{
    const serve_report now = look(job);
    if (!job->options.is_quiet) {
        serve_log_line(job->log, &job->last, &now);
    }
    serve_log_overload(job->log, &job->last, &now);
    serve_metrics_set(job->metrics, &now);
    serve_bus_tell(job->bus, job->metrics, job->options.is_quiet);
    job->last = now;
}

// ---- ticking

static void answer_doors(serve_job* job)
{
    serve_metrics_serve(job->metrics);
    serve_truth_serve(job->truth);
}

// A server that is late has nothing to wait for, and its metrics are wanted most then.
static void wait_for(serve_job* job, uint64_t due_us)
{
    answer_doors(job);
    const bool has_doors = job->metrics != NULL || job->truth != NULL || job->bus != NULL;
    for (uint64_t now_us = ph_socket_now_us(); now_us < due_us && !is_asked_to_stop;
         now_us = ph_socket_now_us()) {
        const uint64_t slice_us =
            has_doors && due_us - now_us > SLICE_US ? now_us + SLICE_US : due_us;
        ph_host_receive(serve_front_host(job->front), slice_us);
        if (job->bus != NULL) {
            serve_front_take_events(job->front); // a player that comes need not wait for the tick
        }
        answer_doors(job);
    }
}

static bool tick(serve_job* job)
{
    ph_fault fault = {0};
    const uint64_t due_us = ph_pace_begin(&job->pace, ph_socket_now_us());
    ph_host_receive(serve_front_host(job->front), 0);
    if (!serve_front_tick(job->front, &fault)) {
        serve_writer_add(job->log, COMMAND ": %s: %s.", job->options.source, fault.message);
        return false;
    }
    serve_truth_tell(job->truth, due_us);
    ph_host_send(serve_front_host(job->front),
                 due_us + (uint64_t)(SEND_SHARE * job->stage->tick_us));
    return true;
}

static void reread(serve_job* job)
{
    ph_fault fault = {0};
    is_asked_to_reread = 0;
    serve_keys_reread(&job->keys, serve_front_host(job->front), job->log);
    if (!serve_audit_reopen(job->audit, &fault)) {
        serve_writer_add(job->log, "audit log: kept as it was: %s", fault.message);
    }
}

static void begin_emptying(serve_job* job)
{
    ph_fault fault = {0};
    is_asked_to_empty = 0;
    if (job->empty != NULL) {
        return;
    }
    if (job->bus != NULL) {
        serve_bus_empty(job->bus);
        return;
    }
    if (job->options.spare_text == NULL) {
        serve_writer_add(job->log, "SIGUSR1: no --spare says where players shall go; all stay");
        return;
    }
    const serve_empty_def def = {
        .host = serve_front_host(job->front),
        .keys = &job->keys,
        .to = job->options.spare,
        .log = job->log,
    };
    job->empty = serve_empty_begin(&def, &fault);
    if (job->empty == NULL) {
        serve_writer_add(job->log, "SIGUSR1: all stay: %s", fault.message);
    }
}

static bool is_over(const serve_job* job)
{
    const uint64_t end_us = (uint64_t)job->options.seconds * SECOND_US;
    return is_asked_to_stop || (job->empty != NULL && serve_empty_is_done(job->empty)) ||
           serve_bus_is_done(job->bus) ||
           (end_us > 0 && ph_socket_now_us() - job->first.now_us >= end_us);
}

static bool run(serve_job* job)
{
    const uint64_t now_us = ph_socket_now_us();
    job->pace = ph_pace_make(job->bus != NULL ? serve_bus_first_tick_us(job->bus) : now_us,
                             job->stage->tick_us);
    job->first = job->last = look(job);
    uint64_t told_us = job->first.now_us;
    while (!is_over(job)) {
        wait_for(job, job->pace.due_us);
        if (!is_asked_to_stop && !tick(job)) {
            return false;
        }
        if (is_asked_to_reread) {
            reread(job);
        }
        if (is_asked_to_empty) {
            begin_emptying(job);
        }
        const uint64_t since_us = ph_socket_now_us() - told_us;
        if (since_us >= SECOND_US) {
            told_us += since_us / SECOND_US * SECOND_US; // one line, however long it stood still
            tell_second(job);
        }
    }
    return true;
}

static void disconnect_all(serve_job* job)
{
    const serve_report now = look(job);
    serve_front_stop(job->front);
    serve_writer_add(job->log, "stopping: %d clients are told", now.counts.clients);
    serve_log_end(job->log, &job->first, &now);
}

int serve_command(int argc, char** argv)
{
    static serve_job job;
    int status;
    if (!serve_options_parse(argc, argv, &job.options, &status)) {
        return status;
    }
    app_secret_protect_process();
    hear_signals(job.options.key_path != NULL);
    bool is_done = open_all(&job);
    if (is_done) {
        tell_start(&job);
        is_done = run(&job);
        disconnect_all(&job);
    }
    close_all(&job);
    return is_done ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
