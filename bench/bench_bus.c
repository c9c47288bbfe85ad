// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench bus`: what a record costs at a sim and at a front-end, next to plain libnats with the same bytes. Every
// role is a process; sims with front-ends and the plain ones take turns, round by round, on one nats-server of their
// own.

#define _GNU_SOURCE // prctl and the processes' groups

#include "bench.h"

#include "bus_roles.h"
#include "command.h"
#include "options.h"
#include "timer.h"

#include "kit/json.h"
#include "kit/progress.h"

#include <pinhole/net/socket.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_DEFAULT 3
#define SIM_LIMIT 2.0
#define FRONT_LIMIT 1.5
#define SECOND_US UINT64_C(1000000)

enum { FRONTS_MAX = 16, WARM_UP_S = 4 };

static int entity_count = 100000;
static int front_count = 4;
static int tick_hz = 10;
static int round_s = 4;

// ---- the server

typedef struct bench_server {
    pid_t process;
    int port;
    char url[48];
    char folder[64];
} bench_server;

static int free_port(void)
{
    ph_socket_def def = ph_socket_def_default();
    ph_socket* socket = NULL;
    if (ph_socket_open(&def, &socket) != PH_OK) {
        return 0;
    }
    const int port = ph_socket_local_address(socket).port;
    ph_socket_close(socket);
    return port;
}

static bool start_server(bench_server* server)
{
    char port[16];
    *server = (bench_server){.port = free_port()};
    snprintf(server->folder, sizeof server->folder, "/tmp/pinhole-bench-XXXXXX");
    if (server->port == 0 || mkdtemp(server->folder) == NULL) {
        return false;
    }
    snprintf(server->url, sizeof server->url, "nats://127.0.0.1:%d", server->port);
    snprintf(port, sizeof port, "%d", server->port);
    server->process = fork();
    if (server->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p", port, "-js", "-sd",
               server->folder, "-l", "/dev/null", (char*)NULL);
        _exit(127);
    }
    return server->process > 0;
}

static void stop_server(bench_server* server)
{
    char command[96];
    if (server->process > 0) {
        kill(server->process, SIGKILL);
        waitpid(server->process, NULL, 0);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", server->folder);
    if (server->folder[0] != '\0' && system(command) != 0) {
        fprintf(stderr, "pinhole bench bus: %s is left over.\n", server->folder);
    }
}

// Processor time of the server since it began, in ns.
static double server_cpu_ns(const bench_server* server)
{
    char path[48];
    char line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)server->process);
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        return 0.0;
    }
    const bool is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    unsigned long user = 0;
    unsigned long system_time = 0;
    const char* rest = is_read ? strrchr(line, ')') : NULL;
    if (rest == NULL || sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                               &user, &system_time) != 2) {
        return 0.0;
    }
    return 1e9 * (double)(user + system_time) / (double)sysconf(_SC_CLK_TCK);
}

// ---- a round: one publisher, some subscribers

typedef struct bus_team {
    bus_role_fn* publisher;
    bus_role_fn* subscriber;
} bus_team;

typedef struct bus_round {
    bool is_done;
    bus_cost publisher;
    bus_cost subscriber; // the mean of all
    double server_ns;    // per record of the publisher
} bus_round;

typedef struct role_process {
    pid_t process;
    int pipe; // its cost comes here
} role_process;

static role_process start_role(bus_role_fn* role, bus_play play, int number)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return (role_process){.process = -1, .pipe = -1};
    }
    play.number = number;
    const pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        const bus_cost cost = role(&play);
        const bool is_told = write(ends[1], &cost, sizeof cost) == (ssize_t)sizeof cost;
        _exit(is_told && cost.is_done ? 0 : 1);
    }
    close(ends[1]);
    return (role_process){.process = process, .pipe = ends[0]};
}

static bus_cost end_role(const role_process* role)
{
    bus_cost cost = {0};
    if (role->pipe < 0) {
        return cost;
    }
    if (read(role->pipe, &cost, sizeof cost) != (ssize_t)sizeof cost) {
        cost = (bus_cost){0};
    }
    close(role->pipe);
    waitpid(role->process, NULL, 0);
    return cost;
}

static void add_share(bus_cost* sum, const bus_cost* cost, double share)
{
    sum->is_done = sum->is_done && cost->is_done;
    sum->cpu_ns += share * cost->cpu_ns;
    sum->records += share * cost->records;
    sum->messages += share * cost->messages;
    sum->bytes += share * cost->bytes;
    sum->put_ns += share * cost->put_ns;
    sum->lost += cost->lost;
}

static bus_round run_round(const bench_server* server, const bus_team* team, int number)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    bus_play play = {.url = server->url, .entities = entity_count, .hz = tick_hz};
    snprintf(play.world, sizeof play.world, "bench-%d-%d", server->port, number);
    play.start_us = ((uint64_t)now.tv_sec + WARM_UP_S) * SECOND_US;
    play.end_us = play.start_us + (uint64_t)round_s * SECOND_US;
    role_process subscribers[FRONTS_MAX];
    for (int i = 0; i < front_count; ++i) {
        subscribers[i] = start_role(team->subscriber, play, i);
    }
    const role_process publisher = start_role(team->publisher, play, 0);
    const uint64_t wait_us = play.start_us - ((uint64_t)now.tv_sec * SECOND_US);
    ph_socket_sleep(wait_us);
    const double server_start_ns = server_cpu_ns(server);
    ph_socket_sleep((uint64_t)round_s * SECOND_US);
    const double server_ns = server_cpu_ns(server) - server_start_ns;
    bus_round round = {.publisher = end_role(&publisher), .subscriber = {.is_done = true}};
    for (int i = 0; i < front_count; ++i) {
        const bus_cost cost = end_role(&subscribers[i]);
        add_share(&round.subscriber, &cost, 1.0 / front_count);
    }
    round.server_ns = server_ns / round.publisher.records;
    // On a machine that is much too busy a round may pass without a record.
    round.is_done = round.publisher.is_done && round.subscriber.is_done &&
                    round.publisher.records > 0.0 && round.subscriber.bytes > 0.0;
    return round;
}

// ---- results, in ns per record

typedef struct bus_result {
    double sim;
    double front;
    double plain_publish;
    double plain_subscribe;
    double put;
    double server;
    double plain_server;
    double record_bytes;
    double records_per_s; // that the sim published
    double heard;         // of these, the share that reached a front-end
    double lost;          // gaps and unsent messages
} bus_result;

static void keep_least(double* least, double value)
{
    *least = *least == 0.0 || value < *least ? value : *least;
}

static void keep_ours(bus_result* result, const bus_round* round)
{
    const bus_cost* sim = &round->publisher;
    const bus_cost* front = &round->subscriber;
    keep_least(&result->sim, sim->cpu_ns / sim->records);
    keep_least(&result->front, front->cpu_ns / front->records);
    keep_least(&result->server, round->server_ns);
    result->record_bytes = sim->bytes / sim->records;
    result->records_per_s = sim->records / round_s;
    result->heard = front->records / sim->records;
    result->lost += sim->lost + front->lost;
}

// A plain subscriber does not know of records: they are counted by their bytes.
static void keep_plain(bus_result* result, const bus_round* round)
{
    const bus_cost* publisher = &round->publisher;
    const double records = round->subscriber.bytes / (publisher->bytes / publisher->records);
    keep_least(&result->plain_publish, publisher->cpu_ns / publisher->records);
    keep_least(&result->plain_subscribe, round->subscriber.cpu_ns / records);
    keep_least(&result->put, round->subscriber.put_ns);
    keep_least(&result->plain_server, round->server_ns);
}

static bool measure(const bench_server* server, int rounds, bus_result* result)
{
    static const bus_team ours = {bus_role_sim, bus_role_front};
    static const bus_team plain = {bus_role_publisher, bus_role_subscriber};
    ph_progress progress = ph_progress_make("bench bus", ph_progress_is_wanted());
    const double start_ns = bench_wall_ns();
    bool is_done = true;
    for (int i = 0; i < rounds && is_done; ++i) {
        const bus_round our_round = run_round(server, &ours, 2 * i);
        const bus_round plain_round = run_round(server, &plain, 2 * i + 1);
        is_done = our_round.is_done && plain_round.is_done;
        keep_ours(result, &our_round);
        keep_plain(result, &plain_round);
        ph_progress_show(&progress, stderr, i + 1, rounds, (bench_wall_ns() - start_ns) * 1e-9);
    }
    ph_progress_end(&progress, stderr);
    return is_done;
}

static double sim_ratio(const bus_result* result)
{
    return result->sim / result->plain_publish;
}

static double front_ratio(const bus_result* result)
{
    return result->front / (result->plain_subscribe + result->put);
}

// ---- output

static void print_ratio(const char* text, double ratio, double limit)
{
    printf("  %-44s %8.2f      at most %.1f: %s\n", text, ratio, limit,
           ratio <= limit ? "kept" : "exceeded");
}

static void print_table(const bus_result* result)
{
    printf("%d entities, all moving, %d ticks a second, %d front-ends that see all of them:\n"
           "%.0f records a second of %.1f bytes; processor time per record\n",
           entity_count, tick_hz, front_count, result->records_per_s, result->record_bytes);
    printf("  %-44s %8.1f ns\n", "sim: find, write and publish changes", result->sim);
    printf("  %-44s %8.1f ns\n", "plain publish of the same bytes", result->plain_publish);
    printf("  %-44s %8.1f ns\n", "front-end: receive, check, put", result->front);
    printf("  %-44s %8.1f ns\n", "plain subscriber of the same bytes", result->plain_subscribe);
    printf("  %-44s %8.1f ns\n", "putting the same values into a world", result->put);
    printf("  %-44s %8.1f ns   with plain programs %.1f\n", "nats-server, for all front-ends",
           result->server, result->plain_server);
    print_ratio("sim / plain publish", sim_ratio(result), SIM_LIMIT);
    print_ratio("front-end / (plain subscriber + put)", front_ratio(result), FRONT_LIMIT);
    printf("  %-44s %8.4f      gaps and unsent messages: %.0f\n\n",
           "records that a front-end got, of those published", result->heard, result->lost);
}

static void print_json(const bus_result* result, int rounds)
{
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "bench", "bus");
    ph_json_integer(&json, "rounds", rounds);
    ph_json_integer(&json, "entities", entity_count);
    ph_json_integer(&json, "fronts", front_count);
    ph_json_integer(&json, "hz", tick_hz);
    ph_json_number(&json, "record_bytes", result->record_bytes);
    ph_json_number(&json, "records_per_s", result->records_per_s);
    ph_json_number(&json, "sim_ns", result->sim);
    ph_json_number(&json, "plain_publish_ns", result->plain_publish);
    ph_json_number(&json, "front_ns", result->front);
    ph_json_number(&json, "plain_subscribe_ns", result->plain_subscribe);
    ph_json_number(&json, "put_ns", result->put);
    ph_json_number(&json, "server_ns", result->server);
    ph_json_number(&json, "plain_server_ns", result->plain_server);
    ph_json_open(&json, "ratio");
    ph_json_number(&json, "sim_over_plain_publish", sim_ratio(result));
    ph_json_number(&json, "front_over_subscribe_and_put", front_ratio(result));
    ph_json_close(&json);
    ph_json_number(&json, "heard", result->heard);
    ph_json_number(&json, "lost", result->lost);
    ph_json_close(&json);
}

// ---- the command

static const app_option more[] = {
    {.name = "--entities",
     .summary = "of the sim's world, in 5 km x 5 km",
     .number = &entity_count,
     .lo = 1000,
     .hi = 1000000},
    {.name = "--fronts",
     .summary = "front-ends, each of which sees everything",
     .number = &front_count,
     .lo = 1,
     .hi = FRONTS_MAX},
    {.name = "--hz", .summary = "ticks per second", .number = &tick_hz, .lo = 1, .hi = 50},
    {.name = "--seconds", .summary = "of one round", .number = &round_s, .lo = 1, .hi = 60},
    {0},
};

static void print_text(void)
{
    printf(
        "A sim whose entities all move, and front-ends that see everything, each a process of\n"
        "its own, over a nats-server that this command starts. Processor time for each record,\n"
        "all threads of libnats included, but without moving the entities and without the ticks\n"
        "of the worlds. In turns with it: the same bytes under the same subjects by plain\n"
        "libnats, and the same values put into a world by ph_world_set_struct().\n");
}

static const bench_about about = {
    .command = "pinhole bench bus",
    .summary = "what a record costs a sim and a front-end",
    .print_text = print_text,
    .example = "--entities 100000 --fronts 4 --json",
    .rounds_default = ROUNDS_DEFAULT,
    .more = more,
};

int bench_bus(int argc, char** argv)
{
    bench_options options;
    int status;
    bus_result result = {0};
    bench_server server;
    if (!bench_options_parse(&about, argc, argv, &options, &status)) {
        return status;
    }
    const bool is_done = start_server(&server) && measure(&server, options.rounds, &result);
    stop_server(&server);
    if (!is_done) {
        fprintf(stderr,
                "%s: a process has ended early or did nothing; is nats-server installed (Debian: "
                "nats-server), and the machine free enough?\n",
                about.command);
        return APP_EXIT_FAILURE;
    }
    if (options.is_json) {
        print_json(&result, options.rounds);
    } else {
        print_table(&result);
        printf("Best of %d rounds. Compare ratios, not bare times.\n", options.rounds);
    }
    return APP_EXIT_OK;
}
