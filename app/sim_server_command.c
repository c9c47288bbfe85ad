// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole sim-server`: opens everything, ticks by the clock until a signal comes, gives its regions away, ends.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "sim_server_command.h"

#include "bus/bus_wire.h"
#include "cluster_control.h"
#include "cluster_page.h"
#include "command.h"
#include "kit/pace.h"
#include "scene_help.h"
#include "serve_metrics.h"
#include "serve_writer.h"
#include "sim_server_options.h"
#include "sim_server_play.h"
#include "truth_wire.h"
#include "wall.h"

#include <pinhole/net/socket.h>

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND "pinhole sim-server"
#define SECOND_US UINT64_C(1000000)
#define REPORT_US UINT64_C(500000)
#define RELEASE_US UINT64_C(5000000)
// What comes is taken so often: a player that comes waits for no tick of a sim or its standby.
#define SLICE_US UINT64_C(10000)
enum { LOG_CAPACITY = 4096 };

typedef struct sim_server {
    sim_server_options options;
    serve_writer* log;
    serve_metrics* metrics;
    cluster_truth* truth;
    ph_world* world;
    cluster_bus* bus;
    ph_bus_sim* sim;
    sim_server_play play;
    cluster_control control;
    ph_pace pace;
    bool stands;
    uint64_t tick;
    uint64_t started_us;
    uint64_t released_us; // 0: not yet
    uint64_t told_us;
    uint64_t reported_us;
    ph_bus_sim_stats last; // told of
    uint64_t last_bytes;
    double kbps;
} sim_server;

static volatile sig_atomic_t is_asked_to_stop;

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    is_asked_to_stop = 1;
}

static void hear_signals(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
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
    fprintf(stderr, ": %s.\n", fault->message);
    return false;
}

static bool open_truth(sim_server* server, ph_fault* fault)
{
    const sim_server_options* options = &server->options;
    bool is_schema_bad = false;
    const cluster_truth_def def = {
        .source = options->source,
        .schema_path = options->schema_path,
        .rate_hz = options->rate_hz,
        .entities = options->entities,
        .loop_s = options->loop_s,
        .seed = (uint64_t)options->seed,
        .is_schema_bad = &is_schema_bad,
    };
    if (!app_scene_check(COMMAND, options->source)) {
        return false;
    }
    server->truth = cluster_truth_open(&def, fault);
    return server->truth != NULL ||
           complain(is_schema_bad ? options->schema_path : options->source, fault);
}

static bool open_world(sim_server* server, ph_fault* fault)
{
    ph_world_def def = ph_world_def_default();
    def.schema = server->truth->schema;
    def.ground = server->truth->ground;
    def.tick_us = server->truth->tick_us;
    def.entity_capacity = server->truth->actor_count;
    const ph_result result = ph_world_create(&def, &server->world);
    if (result != PH_OK) {
        ph_fault_set(fault, 0, 0, "no world can be made of this: %s", ph_result_text(result));
        return complain(server->options.source, fault);
    }
    return true;
}

static bool on_message(void* context, const ph_bus_message* message)
{
    sim_server* server = context;
    return server->options.is_controlled && cluster_control_take(&server->control, message);
}

static bool open_bus(sim_server* server, ph_fault* fault)
{
    const sim_server_options* options = &server->options;
    server->bus = cluster_bus_open(&options->bus, fault);
    if (server->bus == NULL) {
        return complain(options->bus.servers, fault);
    }
    cluster_bus_set_tap(server->bus, on_message, server);
    const uint64_t now_us = ph_socket_now_us();
    for (int i = 1; i < options->wanted_count; ++i) {
        char key[PH_BUS_SUBJECT_MAX];
        bus_record_key(key, options->bus.world, options->wanted[i]);
        cluster_bus_delay_read(server->bus, key,
                               now_us + (uint64_t)i * (uint64_t)options->claim_later_ms * 1000);
    }
    if (options->is_controlled) {
        char subject[PH_BUS_SUBJECT_MAX];
        cluster_control_subject(subject, "control", options->bus.world);
        cluster_bus_subscribe(server->bus, subject);
    }
    return true;
}

static void on_error(void* context, const ph_error* error)
{
    sim_server* server = context;
    serve_writer_add(server->log, COMMAND ": %s.", error->text);
}

static bool open_sim(sim_server* server, ph_fault* fault)
{
    const sim_server_options* options = &server->options;
    ph_bus_sim_def def = ph_bus_sim_def_default();
    def.transport = cluster_bus_transport(server->bus);
    def.world = server->world;
    def.world_name = options->bus.world;
    def.name = options->bus.name;
    def.cell_mm = options->cell_m * 1000;
    def.regions = options->regions.all;
    def.region_count = options->regions.count;
    def.wanted = options->wanted;
    def.wanted_count = options->wanted_count;
    def.suspect_ms = options->suspect_ms;
    def.verify_ms = options->verify_ms;
    def.player_capacity = options->players;
    def.on_error = on_error;
    def.on_error_context = server;
    const ph_result result = ph_bus_sim_create(&def, &server->sim);
    if (result != PH_OK) {
        ph_fault_set(fault, 0, 0, "no sim can be made of this: %s", ph_result_text(result));
        return complain(options->bus.name, fault);
    }
    const sim_server_play_def play = {
        .truth = server->truth,
        .world = server->world,
        .sim = server->sim,
        .regions = &options->regions,
        .cell_mm = def.cell_mm,
    };
    return sim_server_play_begin(&server->play, &play) ||
           (ph_fault_set_memory(fault), complain(options->source, fault));
}

static bool open_all(sim_server* server)
{
    ph_fault fault = {0};
    const sim_server_options* options = &server->options;
    server->control = (cluster_control){.world = options->bus.world, .start_us = options->start_us};
    server->log = serve_writer_create(STDOUT_FILENO, false, LOG_CAPACITY, "log");
    if (server->log == NULL) {
        ph_fault_set_memory(&fault);
        return complain("log", &fault);
    }
    if (!open_truth(server, &fault) || !open_world(server, &fault)) {
        return false;
    }
    if (options->has_metrics) {
        server->metrics = serve_metrics_open(options->metrics_port, &fault);
        if (server->metrics == NULL) {
            return complain("--metrics", &fault);
        }
    }
    return open_bus(server, &fault) && open_sim(server, &fault);
}

static void close_all(sim_server* server)
{
    sim_server_play_end(&server->play);
    ph_bus_sim_destroy(server->sim);
    cluster_bus_close(server->bus);
    ph_world_destroy(server->world);
    cluster_truth_close(server->truth);
    serve_metrics_close(server->metrics);
    serve_writer_destroy(server->log);
}

// ---- output

static void tell_start(const sim_server* server)
{
    const sim_server_options* options = &server->options;
    serve_writer_add(server->log,
                     "%s: %d actors, %.4g ticks a second; world %s, sim %s, %d of %d regions "
                     "wanted, cells of %d m",
                     options->source, server->truth->actor_count, 1e6 / server->truth->tick_us,
                     options->bus.world, options->bus.name, options->wanted_count,
                     options->regions.count, options->cell_m);
    serve_writer_add(server->log, "connected to NATS at %s", cluster_bus_stats(server->bus).server);
    if (server->metrics != NULL) {
        serve_writer_add(server->log, "metrics on http://127.0.0.1:%d/metrics",
                         serve_metrics_port(server->metrics));
    }
}

static void set_metrics(const sim_server* server, const ph_bus_sim_stats* stats)
{
    static cluster_page page;
    const ph_nats_stats nats = cluster_bus_stats(server->bus);
    page = (cluster_page){0};
    cluster_page_count(&page, "ticks_total", "Ticks of the world.", server->pace.ticks);
    cluster_page_count(&page, "ticks_missed_total", "Ticks that were due and never came.",
                       server->pace.missed);
    cluster_page_sim(&page, stats);
    cluster_page_nats(&page, &nats);
    cluster_page_gauge(&page, "process_cpu_seconds", "Processor time since the start.",
                       (double)app_wall_cpu_us() / 1e6);
    serve_metrics_set_text(server->metrics, page.text);
}

static uint64_t refused_of(const ph_bus_sim_stats* stats)
{
    uint64_t sum = 0;
    for (int i = 0; i < PH_BUS_REFUSAL_COUNT; ++i) {
        sum += stats->refused[i];
    }
    return sum;
}

static void tell_second(sim_server* server, uint64_t now_us)
{
    const ph_bus_sim_stats stats = ph_bus_sim_get_stats(server->sim);
    const ph_bus_sim_stats* last = &server->last;
    const double seconds = (double)(now_us - server->told_us) / 1e6;
    server->kbps = (double)(stats.published_bytes - last->published_bytes) * 8e-3 / seconds;
    if (!server->options.is_quiet) {
        serve_writer_add(
            server->log,
            "regions %d owned %d covered %d standby  entities %d players %d offered %d  out %.0f "
            "kbit/s %.0f records/s  given %llu taken %llu  gaps %llu  takeovers %llu fenced %llu  "
            "messages %llu inputs %llu refused %llu  late %.1f ms missed %llu",
            stats.owned_regions, stats.covered_regions, stats.standby_regions, stats.entities,
            stats.players, stats.offered, server->kbps,
            (double)(stats.published_records - last->published_records) / seconds,
            (unsigned long long)stats.given, (unsigned long long)stats.taken,
            (unsigned long long)stats.gaps, (unsigned long long)stats.takeovers,
            (unsigned long long)stats.fenced, (unsigned long long)stats.received_messages,
            (unsigned long long)stats.received_inputs, (unsigned long long)refused_of(&stats),
            (double)ph_pace_take_worst(&server->pace) / 1000.0,
            (unsigned long long)server->pace.missed);
    }
    set_metrics(server, &stats);
    server->last = stats;
}

// ---- reports to pinhole cluster

static void report(sim_server* server)
{
    const sim_server_options* options = &server->options;
    const ph_bus_sim_stats stats = ph_bus_sim_get_stats(server->sim);
    char subject[PH_BUS_SUBJECT_MAX];
    char owned[128] = "";
    for (int i = 0; i < options->wanted_count; ++i) {
        const size_t length = strlen(owned);
        if (ph_bus_sim_owns_region(server->sim, options->wanted[i]) && length + 8 < sizeof owned) {
            snprintf(owned + length, sizeof owned - length, "%s%d", length > 0 ? "," : "",
                     options->wanted[i]);
        }
    }
    char line[CLUSTER_REPORT_MAX];
    const int length = snprintf(
        line, sizeof line,
        "%s kind=sim pid=%ld tick=%" PRIu64 " stands=%d owned=%s standby=%d covered=%d entities=%d "
        "players=%d offered=%d kbps=%.0f gaps=%llu takeovers=%llu fenced=%llu echoed=%llu "
        "unechoed=%llu born=%llu nats=%s",
        options->bus.name, (long)getpid(), server->tick, server->stands,
        owned[0] != '\0' ? owned : "-", stats.standby_regions, stats.covered_regions,
        stats.entities, stats.players, stats.offered, server->kbps, (unsigned long long)stats.gaps,
        (unsigned long long)stats.takeovers, (unsigned long long)stats.fenced,
        (unsigned long long)server->play.echoed, (unsigned long long)server->play.unechoed,
        (unsigned long long)server->play.born, cluster_bus_stats(server->bus).server);
    cluster_control_subject(subject, "report", options->bus.world);
    cluster_bus_publish(server->bus, subject, line, (size_t)length);
}

// Which keys it owns, for the one that looks for things with two owners, or with none.
static void report_owned(sim_server* server)
{
    const ph_world* world = server->world;
    char subject[PH_BUS_SUBJECT_MAX];
    truth_bytes out = {0};
    truth_put_raw(&out, server->options.bus.name, strlen(server->options.bus.name));
    truth_put_raw(&out, "\n", 1);
    truth_put(&out, server->control.stand_tick, 8);
    for (int i = 0; i < ph_world_entity_count(world); ++i) {
        const ph_entity_id id = ph_world_live_entity(world, i);
        uint64_t key = 0;
        if (ph_bus_sim_owns(server->sim, id) && ph_world_identify(world, id, &key, NULL) == PH_OK) {
            truth_put(&out, key, 8);
        }
    }
    cluster_control_subject(subject, "owned", server->options.bus.world);
    if (!out.is_short) {
        cluster_bus_publish(server->bus, subject, out.bytes, out.size);
    }
    truth_bytes_destroy(&out);
}

// ---- ticking

static void take_events(sim_server* server, uint64_t now_us)
{
    for (ph_bus_event event; ph_bus_sim_next_event(server->sim, &event);) {
        if (event.kind == PH_BUS_REGION_GAINED) {
            serve_writer_add(server->log, "region %d is ours by epoch %lu: %d entities%s",
                             event.region, (unsigned long)event.epoch, event.count,
                             event.is_new ? ", new" : "");
        } else if (event.kind == PH_BUS_REGION_LOST) {
            serve_writer_add(server->log, "region %d is another sim's", event.region);
        }
        sim_server_play_take(&server->play, &event, now_us);
    }
}

static void tick(sim_server* server)
{
    const uint64_t now_us = ph_socket_now_us();
    ph_pace_begin(&server->pace, now_us);
    ph_bus_sim_receive(server->sim, now_us);
    take_events(server, now_us);
    server->tick = cluster_control_tick(&server->control, server->truth, &server->stands);
    sim_server_play_step(&server->play, server->tick, now_us);
    ph_world_tick(server->world);
    ph_bus_sim_publish(server->sim,
                       ph_socket_now_us()); // the step may have taken long, or been frozen
}

static void wait_for(sim_server* server, uint64_t due_us)
{
    for (uint64_t now_us = ph_socket_now_us(); now_us < due_us; now_us = ph_socket_now_us()) {
        serve_metrics_serve(server->metrics);
        ph_bus_sim_receive(server->sim, now_us);
        take_events(server, now_us);
        ph_socket_sleep(due_us - now_us < SLICE_US ? due_us - now_us : SLICE_US);
    }
}

static bool is_over(sim_server* server, uint64_t now_us)
{
    const uint64_t end_us = (uint64_t)server->options.seconds * SECOND_US;
    const bool is_asked = is_asked_to_stop || (end_us > 0 && now_us - server->started_us >= end_us);
    if (is_asked && server->released_us == 0) {
        server->released_us = now_us;
        serve_writer_add(server->log, "stopping: %d regions are given to those that stand by",
                         ph_bus_sim_region_count(server->sim));
        ph_bus_sim_release(server->sim);
    }
    return is_asked && (ph_bus_sim_region_count(server->sim) == 0 ||
                        now_us - server->released_us >= RELEASE_US);
}

static void tell(sim_server* server, uint64_t now_us)
{
    if (now_us - server->told_us >= SECOND_US) {
        tell_second(server, now_us);
        server->told_us = now_us;
    }
    if (server->options.is_controlled && now_us - server->reported_us >= REPORT_US) {
        server->reported_us = now_us;
        report(server);
        if (server->stands) {
            report_owned(server);
        }
    }
}

static void run(sim_server* server)
{
    const uint32_t tick_us = server->truth->tick_us;
    server->started_us = server->told_us = ph_socket_now_us();
    server->pace = ph_pace_make(
        cluster_control_next_us(server->control.start_us, tick_us, 0.0) + 200, tick_us);
    for (uint64_t now_us = ph_socket_now_us(); !is_over(server, now_us);
         now_us = ph_socket_now_us()) {
        wait_for(server, server->pace.due_us);
        tick(server);
        serve_metrics_serve(server->metrics);
        tell(server, ph_socket_now_us());
    }
    const int left = ph_bus_sim_region_count(server->sim);
    serve_writer_add(server->log, "stopped: %d regions were left without a standby", left);
}

int sim_server_command(int argc, char** argv)
{
    static sim_server server;
    int status;
    if (!sim_server_options_parse(argc, argv, &server.options, &status)) {
        return status;
    }
    hear_signals();
    const bool is_open = open_all(&server);
    if (is_open) {
        tell_start(&server);
        run(&server);
    }
    close_all(&server);
    return is_open ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
