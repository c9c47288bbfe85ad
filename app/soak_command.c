// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole soak`: runs seeds, one process for each, so that a crash is a finding like any other; shrinks
// what it finds.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "soak_command.h"

#include "command.h"
#include "kit/json.h"
#include "kit/progress.h"
#include "options.h"
#include "soak/soak.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMAND "pinhole soak"

enum { JOBS_MAX = 64, SHRINK_TRIES = 1500, SEED_SECONDS_MAX = 120 };

typedef struct soak_options {
    double hours;
    double seconds;
    const char* seeds;
    const char* seed;
    const char* scenario_path;
    const char* out_path;
    int jobs;
    bool is_json;
    bool is_unshrunk;
} soak_options;

static void print_help(const app_option* table)
{
    printf(
        COMMAND
        ": a whole deployment on simulated time, judged after every step\n"
        "\n"
        "usage: " COMMAND " [options]\n"
        "\n"
        "Worlds with random schemas, a host with secure connections, links that lose, double and\n"
        "delay, clients that come, go, stall, lie and flood, allocations that fail: all from one\n"
        "seed, in one process. A model of its own judges the budget of every datagram, every "
        "value\n"
        "of every packet that a client applies, that secrets change no byte, that clients are "
        "equal\n"
        "after each calm, how long an entity waits, and memory. A violation prints the seed, the\n"
        "step, and a shortened scenario that still shows it; the exit code is 1 then.\n"
        "\n"
        "options:\n");
    app_options_print(table);
    printf("\nexample: " COMMAND " --seeds 1..200 --jobs 2\n");
}

static bool parse(soak_options* o, int argc, char** argv, int* status)
{
    const app_option table[] = {
        {.name = "--hours",
         .summary = "go on with further seeds for so long",
         .decimal = &o->hours,
         .lo = 0,
         .hi = 10000},
        {.name = "--seconds",
         .summary = "the same in seconds; 60 when nothing else is said",
         .decimal = &o->seconds,
         .lo = 0,
         .hi = 100000000},
        {.name = "--seeds",
         .summary = "these seeds: FROM..TO, or N for 1..N; with a time, as far as it goes",
         .text = &o->seeds,
         .value = "FROM..TO"},
        {.name = "--seed", .summary = "this seed alone", .text = &o->seed, .value = "N"},
        {.name = "--scenario",
         .summary = "the scenario in this file, as a violation prints it",
         .text = &o->scenario_path,
         .value = "FILE"},
        {.name = "--out",
         .summary = "where the shortened scenario of a violation goes, too",
         .text = &o->out_path,
         .value = "FILE"},
        {.name = "--jobs",
         .summary = "seeds at the same time",
         .number = &o->jobs,
         .lo = 1,
         .hi = JOBS_MAX},
        {.name = "--no-shrink",
         .summary = "print a violation as it was found",
         .is_set = &o->is_unshrunk},
        {.name = "--json", .summary = "print the result as JSON", .is_set = &o->is_json},
        {0},
    };
    const app_usage usage = {COMMAND, print_help};
    return app_options_read(&usage, table, argc, argv, status);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- a scenario in a process of its own

typedef struct worker {
    pid_t process; // 0: none
    int pipe;
    uint64_t seed;
} worker;

static bool start(worker* w, const soak_scenario* scenario, bool is_quiet)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0) {
        return false;
    }
    w->seed = scenario->seed;
    w->pipe = ends[0];
    w->process = fork();
    if (w->process == 0) {
        close(ends[0]);
        if (is_quiet && freopen("/dev/null", "w", stderr) == NULL) {
            _exit(APP_EXIT_FAILURE);
        }
        alarm(SEED_SECONDS_MAX * 10);
        soak_result result;
        soak_run(scenario, &result);
        const bool is_told = write(ends[1], &result, sizeof result) == (ssize_t)sizeof result;
        _exit(is_told ? APP_EXIT_OK : APP_EXIT_FAILURE);
    }
    close(ends[1]);
    return w->process > 0;
}

// A process that ends without a result has crashed.
static soak_result finish(worker* w)
{
    soak_result result;
    size_t have = 0;
    while (have < sizeof result) {
        const ssize_t more = read(w->pipe, (char*)&result + have, sizeof result - have);
        if (more > 0) {
            have += (size_t)more;
        } else if (more == 0 || errno != EINTR) {
            break;
        }
    }
    close(w->pipe);
    int status = 0;
    while (waitpid(w->process, &status, 0) < 0 && errno == EINTR) {
    }
    if (have < sizeof result) {
        result = (soak_result){.seed = w->seed, .is_violated = true, .promise = SOAK_PROMISE_CRASH};
        snprintf(result.text, sizeof result.text,
                 WIFSIGNALED(status) ? "signal %d" : "exit code %d",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    w->process = 0;
    return result;
}

static bool still_shows(void* context, const soak_scenario* scenario)
{
    const soak_result* first = context;
    worker w;
    if (!start(&w, scenario, true)) {
        return false;
    }
    const soak_result result = finish(&w);
    return result.is_violated && result.promise == first->promise;
}

// ---- the sum of all

typedef struct soak_sum {
    uint64_t seeds;
    uint64_t first_seed;
    uint64_t last_seed;
    soak_result counts;
    double began_s;
    double elapsed_s;
    bool is_violated;
    soak_result violation;
    soak_scenario scenario; // that shows it
    int event_count;        // of the one that was found
    int tries;
} soak_sum;

static void add(soak_sum* sum, const soak_result* result)
{
    soak_result* counts = &sum->counts;
    ++sum->seeds;
    counts->sent_datagrams += result->sent_datagrams;
    counts->judged_packets += result->judged_packets;
    counts->judged_values += result->judged_values;
    counts->twin_payloads += result->twin_payloads;
    counts->equal_clients += result->equal_clients;
    counts->failed_allocations += result->failed_allocations;
    counts->connections += result->connections;
    counts->sent_messages += result->sent_messages;
    counts->sent_blocks += result->sent_blocks;
    counts->sent_unreliable += result->sent_unreliable;
    counts->simulated_us += result->simulated_us;
    counts->digest += result->digest; // in whatever order they end
}

static bool make_or_read(const soak_options* options, uint64_t seed, soak_scenario* scenario)
{
    if (options->scenario_path == NULL) {
        return soak_scenario_make(scenario, seed);
    }
    int line = 0;
    FILE* file = fopen(options->scenario_path, "r");
    if (file == NULL) {
        fprintf(stderr, COMMAND ": %s cannot be read: %s.\n", options->scenario_path,
                strerror(errno));
        return false;
    }
    const bool is_read = soak_scenario_read(scenario, file, &line);
    fclose(file);
    if (!is_read) {
        fprintf(stderr, COMMAND ": %s is no scenario: line %d is not understood.\n",
                options->scenario_path, line);
    }
    return is_read;
}

static void note_violation(const soak_options* options, soak_sum* sum, const soak_result* result)
{
    sum->is_violated = true;
    sum->violation = *result;
    if (!make_or_read(options, result->seed, &sum->scenario)) {
        return;
    }
    sum->event_count = sum->scenario.event_count;
    if (options->is_unshrunk) {
        return;
    }
    fprintf(stderr, COMMAND ": seed %" PRIu64 ", step %d: %s: %s; shrinking %d events\n",
            result->seed, result->step, soak_promise_name((soak_promise)result->promise),
            result->text, sum->event_count);
    if (result->promise != SOAK_PROMISE_CRASH) {
        sum->scenario.step_count = result->step + 1;
    }
    sum->tries = soak_shrink(&sum->scenario, still_shows, &sum->violation, SHRINK_TRIES);
}

// ---- seeds

typedef struct seeds {
    uint64_t next;
    uint64_t last;
} seeds;

static bool read_number(const char* text, const char* end, uint64_t* number)
{
    char* stop = NULL;
    errno = 0;
    *number = strtoull(text, &stop, 10);
    return text[0] >= '0' && text[0] <= '9' && stop == end && errno == 0;
}

static bool read_seeds(const soak_options* options, seeds* range)
{
    *range = (seeds){1, UINT64_MAX};
    if (options->scenario_path != NULL) {
        *range = (seeds){0, 0};
        return true;
    }
    if (options->seed != NULL) {
        range->last = 0;
        if (read_number(options->seed, options->seed + strlen(options->seed), &range->next)) {
            range->last = range->next;
            return true;
        }
    }
    if (options->seed == NULL && options->seeds == NULL) {
        return true;
    }
    const char* text = options->seeds != NULL ? options->seeds : "";
    const char* dots = strstr(text, "..");
    const char* end = text + strlen(text);
    const bool is_right = dots == NULL ? read_number(text, end, &range->last)
                                       : read_number(text, dots, &range->next) &&
                                             read_number(dots + 2, end, &range->last);
    if (!is_right || range->last < range->next) {
        fprintf(stderr,
                COMMAND ": --seeds takes FROM..TO or a number of seeds, 1 or more, and --seed "
                        "a number, as in '--seeds 1..200' or '--seed 7'.\n");
        return false;
    }
    return true;
}

static void show_progress(ph_progress* progress, const soak_sum* sum, const seeds* range,
                          double limit_s)
{
    char label[64];
    const double elapsed_s = now_s() - sum->began_s;
    const double packets = (double)sum->counts.judged_packets;
    snprintf(label, sizeof label, "%.2f M packets, %.0f/s", 1e-6 * packets,
             elapsed_s > 0.0 ? packets / elapsed_s : 0.0);
    progress->label = label;
    const double seed_count = (double)(range->last - sum->first_seed) + 1.0;
    const double done = limit_s > 0.0 ? elapsed_s : (double)sum->seeds;
    const double total = limit_s > 0.0 ? limit_s : seed_count;
    ph_progress_show(progress, stderr, done < total ? done : total, total, elapsed_s);
}

// The worker that ends first is not waited for: they take about as long as each other.
static void run_seeds(const soak_options* options, soak_sum* sum, seeds range, double limit_s)
{
    worker workers[JOBS_MAX] = {0};
    ph_progress progress = ph_progress_make("soak", ph_progress_is_wanted());
    sum->first_seed = range.next;
    int running = 0;
    bool is_at_end = false;
    for (int turn = 0; running > 0 || !is_at_end; turn = (turn + 1) % options->jobs) {
        worker* w = &workers[turn];
        if (w->process != 0) {
            const soak_result result = finish(w);
            --running;
            add(sum, &result);
            if (result.is_violated && !sum->is_violated) {
                is_at_end = true;
                note_violation(options, sum, &result);
            }
        }
        is_at_end = is_at_end || (limit_s > 0.0 && now_s() - sum->began_s >= limit_s);
        soak_scenario scenario = {0};
        if (!is_at_end && make_or_read(options, range.next, &scenario)) {
            running += start(w, &scenario, false) ? 1 : 0;
            sum->last_seed = range.next;
            is_at_end = range.next++ == range.last;
        } else {
            is_at_end = true;
        }
        soak_scenario_free(&scenario);
        show_progress(&progress, sum, &range, limit_s);
    }
    ph_progress_end(&progress, stderr);
    sum->elapsed_s = now_s() - sum->began_s;
}

// ---- the report

static void print_violation(const soak_sum* sum)
{
    const soak_result* found = &sum->violation;
    printf("violation: seed %" PRIu64 ", step %d: %s: %s\n", found->seed, found->step,
           soak_promise_name((soak_promise)found->promise), found->text);
    printf("%d of %d events are left after %d tries; 'pinhole soak --scenario FILE' shows it "
           "again:\n\n",
           sum->scenario.event_count, sum->event_count, sum->tries);
    soak_scenario_write(&sum->scenario, stdout);
}

static void print_text(const soak_sum* sum)
{
    const soak_result* counts = &sum->counts;
    printf("%" PRIu64 " seeds (%" PRIu64 "..%" PRIu64 "), %.1f s, %.1f simulated hours\n",
           sum->seeds, sum->first_seed, sum->last_seed, sum->elapsed_s,
           (double)counts->simulated_us / 3.6e9);
    printf("%12" PRIu64 " packets judged (%.0f per second), %" PRIu64 " values of them\n",
           counts->judged_packets, (double)counts->judged_packets / sum->elapsed_s,
           counts->judged_values);
    printf("%12" PRIu64 " datagrams within their budget\n", counts->sent_datagrams);
    printf("%12" PRIu64 " payloads the same with other secrets\n", counts->twin_payloads);
    printf("%12" PRIu64 " clients equal after a calm\n", counts->equal_clients);
    printf("%12" PRIu64 " connections, %" PRIu64 " messages, %" PRIu64 " failed allocations\n",
           counts->connections, counts->sent_messages, counts->failed_allocations);
    printf("%12" PRIu64 " blocks, %" PRIu64 " unreliable messages\n", counts->sent_blocks,
           counts->sent_unreliable);
    if (sum->is_violated) {
        print_violation(sum);
    } else {
        printf("no violation\n");
    }
}

static void print_json(const soak_sum* sum)
{
    const soak_result* counts = &sum->counts;
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_integer(&json, "seeds", (int64_t)sum->seeds);
    ph_json_integer(&json, "first_seed", (int64_t)sum->first_seed);
    ph_json_integer(&json, "last_seed", (int64_t)sum->last_seed);
    ph_json_number(&json, "elapsed_s", sum->elapsed_s);
    ph_json_number(&json, "simulated_s", 1e-6 * (double)counts->simulated_us);
    ph_json_integer(&json, "judged_packets", (int64_t)counts->judged_packets);
    ph_json_number(&json, "judged_packets_per_s", (double)counts->judged_packets / sum->elapsed_s);
    ph_json_integer(&json, "judged_values", (int64_t)counts->judged_values);
    ph_json_integer(&json, "sent_datagrams", (int64_t)counts->sent_datagrams);
    ph_json_integer(&json, "twin_payloads", (int64_t)counts->twin_payloads);
    ph_json_integer(&json, "equal_clients", (int64_t)counts->equal_clients);
    ph_json_integer(&json, "connections", (int64_t)counts->connections);
    ph_json_integer(&json, "sent_messages", (int64_t)counts->sent_messages);
    ph_json_integer(&json, "sent_blocks", (int64_t)counts->sent_blocks);
    ph_json_integer(&json, "sent_unreliable", (int64_t)counts->sent_unreliable);
    ph_json_integer(&json, "failed_allocations", (int64_t)counts->failed_allocations);
    char digest[20];
    snprintf(digest, sizeof digest, "%016" PRIx64, counts->digest);
    ph_json_text(&json, "digest", digest);
    ph_json_bool(&json, "is_violated", sum->is_violated);
    if (sum->is_violated) {
        ph_json_open(&json, "violation");
        ph_json_integer(&json, "seed", (int64_t)sum->violation.seed);
        ph_json_integer(&json, "step", sum->violation.step);
        ph_json_text(&json, "promise", soak_promise_name((soak_promise)sum->violation.promise));
        ph_json_text(&json, "text", sum->violation.text);
        ph_json_integer(&json, "found_events", sum->event_count);
        ph_json_integer(&json, "left_events", sum->scenario.event_count);
        ph_json_close(&json);
    }
    ph_json_close(&json);
}

static bool save(const soak_options* options, const soak_sum* sum)
{
    if (!sum->is_violated || options->out_path == NULL) {
        return true;
    }
    FILE* file = fopen(options->out_path, "w");
    if (file != NULL) {
        soak_scenario_write(&sum->scenario, file);
    }
    if (file == NULL || fclose(file) != 0) {
        fprintf(stderr, COMMAND ": %s cannot be written: %s.\n", options->out_path,
                strerror(errno));
        return false;
    }
    return true;
}

int soak_command(int argc, char** argv)
{
    soak_options options = {.jobs = 1};
    int status;
    if (!parse(&options, argc, argv, &status)) {
        return status;
    }
    seeds range;
    if (!read_seeds(&options, &range)) {
        return APP_EXIT_USAGE;
    }
    const bool is_bounded = range.last != UINT64_MAX;
    const double asked_s = options.hours * 3600.0 + options.seconds;
    const double limit_s = asked_s > 0.0 ? asked_s : is_bounded ? 0.0 : 60.0;
    soak_sum sum = {.began_s = now_s()};
    run_seeds(&options, &sum, range, limit_s);
    if (sum.seeds == 0) {
        return APP_EXIT_FAILURE;
    }
    (options.is_json ? print_json : print_text)(&sum);
    const bool is_saved = save(&options, &sum);
    soak_scenario_free(&sum.scenario);
    return sum.is_violated || !is_saved ? APP_EXIT_FAILURE : APP_EXIT_OK;
}
