// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench load`: what a tick of a whole world costs per viewer, stage by stage, on one thread
// and on two. Next to it, in the same run: the plain front-end of the article, and the bound.

#include "bench.h"

#include "command.h"
#include "load_session.h"
#include "load_yardsticks.h"
#include "options.h"
#include "timer.h"

#include "kit/json.h"
#include "tools/tools.h"

#include <pinhole/schedule.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_DEFAULT 5
#define ROUND_TICKS 10
#define LOADS_MAX 8
#define VIEWERS_MIN 300 // fewer would not have 250 others in view
#define VIEWERS_MAX 100000
// A tenth of the tick, of a core with 1,000 viewers.
#define LIMIT_US 10.0

// Fields that the profiles write, symbols counted at six each.
typedef struct load_fields {
    double update;
    double enter;
    double leave;
    double visible; // told or not
    double header;
} load_fields;

static const load_fields FIELDS[PH_PROFILE_COUNT] = {
    [PH_PROFILE_CLASSIC] = {.update = 8, .enter = 32, .leave = 2, .header = 7},
    // An update: symbols for mask, x, y, z and some headings, signs as raw bits.
    [PH_PROFILE_PINHOLE] = {.update = 30, .enter = 95, .leave = 8, .visible = 6, .header = 9},
};

static const char* const PROFILE_NAMES[PH_PROFILE_COUNT] = {
    [PH_PROFILE_CLASSIC] = "classic",
    [PH_PROFILE_PINHOLE] = "pinhole",
};

static const char* const STAGE_NAMES[PH_STAGE_COUNT] = {
    [PH_STAGE_VISION] = "vision", [PH_STAGE_REPLICAS] = "knowledge", [PH_STAGE_SCORE] = "score",
    [PH_STAGE_PICK] = "pick",     [PH_STAGE_ENCODE] = "encode",      [PH_STAGE_ACKS] = "acks",
};

// What is measured of one load. Times are in us per viewer and tick; the best of the rounds, and
// the worst for the spread.
typedef struct load_result {
    ph_profile profile;
    int viewers;
    double us;
    double worst_us;
    double stage_ns[PH_STAGE_COUNT];     // sums of the rounds with a clock
    double threads_us[LOAD_THREADS_MAX]; // on the wall, by threads - 1
    double tick_us[LOAD_THREADS_MAX];    // of that the tick: mostly the refresh of visions
    double put_ns;                       // the game's part, per entity and tick
    double naive_us;
    double bound_us;
    double updates_per_s_core;
    double bytes_per_viewer;
    // What the viewers got.
    double visible;
    double kbps;
    double updates_per_s;
    double enters_per_s;
    double naive_updates_per_s;
} load_result;

// ---- rounds

static uint64_t clock_ns(void* context)
{
    (void)context;
    return (uint64_t)bench_wall_ns();
}

static double per_viewer_tick(const load_session* scene, double ns)
{
    return ns / 1000.0 / ((double)scene->viewer_count * ROUND_TICKS);
}

static void keep_least(double* least, double value)
{
    *least = *least == 0.0 || value < *least ? value : *least;
}

// Of one round, by the clock that is asked for.
typedef struct round_ns {
    double put;
    double tick; // of the world: mostly the refresh of visions
    double work; // tick and sends
} round_ns;

static round_ns run_round(load_session* scene, double (*now_ns)(void))
{
    round_ns sum = {0};
    for (int i = 0; i < ROUND_TICKS; ++i) {
        const double begin_ns = now_ns();
        load_session_move(scene);
        const double moved_ns = now_ns();
        load_session_tick(scene);
        const double ticked_ns = now_ns();
        load_session_serve(scene);
        sum.work += now_ns() - moved_ns;
        sum.tick += ticked_ns - moved_ns;
        sum.put += moved_ns - begin_ns;
        load_session_answer(scene);
    }
    return sum;
}

static void measure_plain(load_session* scene, load_result* result)
{
    const load_counts before = load_session_counts(scene);
    const round_ns ns = run_round(scene, bench_cpu_ns);
    const load_counts after = load_session_counts(scene);
    const double us = per_viewer_tick(scene, ns.work);
    if (result->us == 0.0 || us < result->us) {
        result->us = us;
        result->updates_per_s_core = (double)(after.updates - before.updates) / (ns.work / 1e9);
    }
    result->worst_us = us > result->worst_us ? us : result->worst_us;
    keep_least(&result->put_ns, 1000.0 * per_viewer_tick(scene, ns.put));
}

static void measure_stages(load_session* scene, load_result* result)
{
    const ph_stage_times before = ph_world_stage_times(scene->world);
    ph_world_set_clock(scene->world, clock_ns, NULL);
    run_round(scene, bench_cpu_ns);
    ph_world_set_clock(scene->world, NULL, NULL);
    const ph_stage_times after = ph_world_stage_times(scene->world);
    for (int i = 0; i < PH_STAGE_COUNT; ++i) {
        result->stage_ns[i] += (double)(after.ns[i] - before.ns[i]);
    }
}

// The clock of the stages is that on the wall (asking for processor time takes as long as a stage),
// so what others do on the machine counts in all of them alike: their shares are what is known.
static double stage_us(const load_result* result, int stage)
{
    double sum_ns = 0.0;
    for (int i = 0; i < PH_STAGE_COUNT; ++i) {
        sum_ns += result->stage_ns[i];
    }
    return result->us * result->stage_ns[stage] / sum_ns;
}

static void measure_threads(load_session* scene, ph_pool* const* pools, load_result* result)
{
    for (int i = 0; i < LOAD_THREADS_MAX; ++i) {
        scene->pool = pools[i];
        const round_ns ns = run_round(scene, bench_wall_ns);
        scene->pool = NULL;
        keep_least(&result->threads_us[i], per_viewer_tick(scene, ns.work));
        keep_least(&result->tick_us[i], per_viewer_tick(scene, ns.tick));
    }
}

static double run_yardstick(load_yardsticks* yardsticks, void (*tick)(load_yardsticks*))
{
    double ns = 0.0;
    for (int i = 0; i < ROUND_TICKS; ++i) {
        load_yardsticks_move(yardsticks);
        const double begin_ns = bench_cpu_ns();
        tick(yardsticks);
        ns += bench_cpu_ns() - begin_ns;
    }
    return ns;
}

static void measure_yardsticks(const load_session* scene, load_yardsticks* yardsticks,
                               load_result* result)
{
    yardsticks->naive.update_count = 0;
    const double naive_ns = run_yardstick(yardsticks, load_yardsticks_naive);
    const double viewer_seconds = (double)scene->viewer_count * ROUND_TICKS / LOAD_TICKS_PER_SECOND;
    result->naive_updates_per_s = (double)yardsticks->naive.update_count / viewer_seconds;
    keep_least(&result->naive_us, per_viewer_tick(scene, naive_ns));
    const double bound_ns = run_yardstick(yardsticks, load_yardsticks_bound);
    keep_least(&result->bound_us, per_viewer_tick(scene, bound_ns));
}

// ---- one load

// What the viewers get, over the length of a round.
static int describe(load_session* scene, load_result* result)
{
    const load_counts before = load_session_counts(scene);
    run_round(scene, bench_cpu_ns);
    const load_counts after = load_session_counts(scene);
    const double seconds = (double)ROUND_TICKS / LOAD_TICKS_PER_SECOND * scene->viewer_count;
    const double updates = (double)(after.updates - before.updates);
    const double enters = (double)(after.enters - before.enters);
    const double leaves = (double)(after.leaves - before.leaves);
    const double datagrams = (double)(after.datagrams - before.datagrams);
    result->visible = (double)after.visible / scene->viewer_count;
    result->kbps = 8e-3 * (double)(after.wire_bytes - before.wire_bytes) / seconds;
    result->updates_per_s = updates / seconds;
    result->enters_per_s = enters / seconds;
    result->bytes_per_viewer = scene->bytes_per_viewer;
    const load_fields* each = &FIELDS[scene->profile];
    const double fields = each->update * updates + each->enter * enters + each->leave * leaves;
    return (int)(each->header + each->visible * result->visible +
                 (datagrams > 0.0 ? fields / datagrams : 0.0));
}

typedef struct load_request {
    int viewers[LOADS_MAX];
    int count;
    // One after the other in every round, so that they can be compared.
    ph_profile profiles[PH_PROFILE_COUNT];
    int profile_count;
    const char* schedule; // "auto": that of the profile
    int rounds;
    ph_pool* pools[LOAD_THREADS_MAX];
} load_request;

static ph_scheduler scheduler_of(const char* name)
{
    if (strcmp(name, "buckets") == 0) {
        return ph_scheduler_buckets();
    }
    if (strcmp(name, "error") == 0) {
        return ph_scheduler_error();
    }
    return strcmp(name, "score") == 0 ? ph_scheduler_score() : (ph_scheduler){0};
}

// One profile at one load.
typedef struct load_bench {
    load_session scene;
    load_yardsticks yardsticks;
} load_bench;

static bool make_bench(load_bench* bench, const load_request* request, load_result* result)
{
    if (!load_session_make(&bench->scene, result->profile, result->viewers,
                           scheduler_of(request->schedule))) {
        return false;
    }
    const int fields_per_send = describe(&bench->scene, result);
    return load_yardsticks_make(&bench->yardsticks, &bench->scene, fields_per_send);
}

static void measure_round(load_bench* bench, const load_request* request, load_result* result)
{
    measure_plain(&bench->scene, result);
    measure_yardsticks(&bench->scene, &bench->yardsticks, result);
    measure_stages(&bench->scene, result);
    measure_threads(&bench->scene, request->pools, result);
}

// Fills one result for each profile.
static bool measure_load(const load_request* request, int viewers, load_result* results)
{
    load_bench benches[PH_PROFILE_COUNT];
    for (int i = 0; i < request->profile_count; ++i) {
        results[i] = (load_result){.profile = request->profiles[i], .viewers = viewers};
        if (!make_bench(&benches[i], request, &results[i])) {
            return false;
        }
    }
    for (int round = 0; round < request->rounds; ++round) {
        for (int i = 0; i < request->profile_count; ++i) {
            measure_round(&benches[i], request, &results[i]);
        }
    }
    for (int i = 0; i < request->profile_count; ++i) {
        load_yardsticks_destroy(&benches[i].yardsticks);
        load_session_destroy(&benches[i].scene);
    }
    return true;
}

// ---- printing

static void print_table(const load_result* result)
{
    printf("%s, %d viewers, each with %.0f in view: %.1f kbit/s, %.0f updates and %.1f enters a "
           "second\n",
           PROFILE_NAMES[result->profile], result->viewers, result->visible, result->kbps,
           result->updates_per_s, result->enters_per_s);
    printf("  %-24s %8.2f us    worst round %.2f\n", "per viewer and tick", result->us,
           result->worst_us);
    for (int i = 0; i < PH_STAGE_COUNT; ++i) {
        printf("    %-22s %8.2f us\n", STAGE_NAMES[i], stage_us(result, i));
    }
    for (int i = 0; i < LOAD_THREADS_MAX; ++i) {
        printf("  on the wall, %d thread%s   %8.2f us    of that the tick %.2f\n", i + 1,
               i == 0 ? " " : "s", result->threads_us[i], result->tick_us[i]);
    }
    printf("  %-24s %8.2f us    %.1f times ours, %.0f updates a second\n", "plain front-end",
           result->naive_us, result->naive_us / result->us, result->naive_updates_per_s);
    printf("  %-24s %8.2f us    ours is %.1f times that\n", "bound", result->bound_us,
           result->us / result->bound_us);
    printf("  %-24s %8.2f us    %s\n", "a tenth of a core's tick",
           LIMIT_US * 1000.0 / result->viewers,
           result->us * result->viewers <= LIMIT_US * 1000.0 ? "kept" : "exceeded");
    printf("  %-24s %8.0f\n", "updates/s and core", result->updates_per_s_core);
    printf("  %-24s %8.0f\n", "bytes per viewer", result->bytes_per_viewer);
    printf("  %-24s %8.0f ns    the game's part\n\n", "putting, per entity", result->put_ns);
}

static void print_all(const load_result* results, int count)
{
    for (int i = 0; i < count; ++i) {
        print_table(&results[i]);
    }
    if (count == 2) {
        printf("%s takes %.1f times as long as %s, with %.1f times the updates.\n\n",
               PROFILE_NAMES[results[1].profile], results[1].us / results[0].us,
               PROFILE_NAMES[results[0].profile],
               results[1].updates_per_s / results[0].updates_per_s);
    }
}

static void write_json(ph_json* json, const load_result* result)
{
    ph_json_open(json, NULL);
    ph_json_text(json, "profile", PROFILE_NAMES[result->profile]);
    ph_json_integer(json, "viewers", result->viewers);
    ph_json_number(json, "us_per_viewer_tick", result->us);
    ph_json_open(json, "stage_us");
    for (int i = 0; i < PH_STAGE_COUNT; ++i) {
        ph_json_number(json, STAGE_NAMES[i], stage_us(result, i));
    }
    ph_json_close(json);
    ph_json_open(json, "wall_us_by_threads");
    for (int i = 0; i < LOAD_THREADS_MAX; ++i) {
        char key[2] = {(char)('1' + i), '\0'};
        ph_json_number(json, key, result->threads_us[i]);
    }
    ph_json_close(json);
    ph_json_open(json, "tick_us_by_threads");
    for (int i = 0; i < LOAD_THREADS_MAX; ++i) {
        char key[2] = {(char)('1' + i), '\0'};
        ph_json_number(json, key, result->tick_us[i]);
    }
    ph_json_close(json);
    ph_json_number(json, "updates_per_s_core", result->updates_per_s_core);
    ph_json_number(json, "bytes_per_viewer", result->bytes_per_viewer);
    ph_json_number(json, "bound_us", result->bound_us);
    ph_json_number(json, "naive_us", result->naive_us);
    ph_json_number(json, "put_ns_per_entity", result->put_ns);
    ph_json_number(json, "visible", result->visible);
    ph_json_number(json, "kbps", result->kbps);
    ph_json_number(json, "updates_per_s", result->updates_per_s);
    ph_json_open(json, "ratio");
    ph_json_number(json, "load_over_bound", result->us / result->bound_us);
    ph_json_number(json, "naive_over_load", result->naive_us / result->us);
    ph_json_close(json);
    ph_json_number(json, "spread", result->worst_us / result->us);
    ph_json_close(json);
}

static void print_json(const load_request* request, const load_result* results)
{
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "bench", "load");
    ph_json_text(&json, "schedule", request->schedule);
    ph_json_integer(&json, "rounds", request->rounds);
    ph_json_open_list(&json, "loads");
    for (int i = 0; i < request->count * request->profile_count; ++i) {
        write_json(&json, &results[i]);
    }
    ph_json_close(&json);
    if (request->profile_count > 1) {
        ph_json_open_list(&json, "pinhole_over_classic");
        for (int i = 0; i < request->count; ++i) {
            ph_json_number(&json, NULL, results[2 * i + 1].us / results[2 * i].us);
        }
        ph_json_close(&json);
    }
    ph_json_close(&json);
}

// ---- the command

static const char* viewers_text = "1000";
static const char* schedule_text = "auto";
static const char* profile_text = "both";

static const app_option more[] = {
    {.name = "--viewers",
     .summary = "how many, or several numbers: 1000,4000,16000",
     .text = &viewers_text,
     .value = "LIST"},
    {.name = "--profile",
     .summary = "one alone, or both in turns",
     .text = &profile_text,
     .value = "WORD",
     .choices = "both|classic|pinhole"},
    {.name = "--schedule",
     .summary = "which entity goes first; auto: by profile",
     .text = &schedule_text,
     .value = "WORD",
     .choices = "auto|score|buckets|error"},
    {0},
};

static void print_text(void)
{
    printf(
        "As many creatures with 25 properties as viewers, all of them walking; each viewer has\n"
        "250 of them in view and gets 13 kbit/s in five sends a second, at ten ticks a second.\n"
        "Its view is refreshed twice a second, as by pinhole serve.\n"
        "Clients acknowledge a tick or two later; one packet in a hundred is lost.\n"
        "\n"
        "  us_per_viewer_tick  all that the world does: tick, sends and acknowledgements\n"
        "  stage_us            the same by stage: by the shares found in rounds of their own\n"
        "  wall_us_by_threads  the same on the wall, on 1 and 2 threads\n"
        "  tick_us_by_threads  of that the tick: mostly the refresh of visions\n"
        "  updates_per_s_core  update records written per second of processor time\n"
        "  bytes_per_viewer    memory that a viewer takes\n"
        "  naive_us            the plain way, without vision, enters, loss and acknowledgements:\n"
        "                      structs, qsort, every property compared, a byte at a time\n"
        "  bound_us            the same hot bytes swept once, the same fields written unchecked\n"
        "  put_ns_per_entity   the game's part: moving and turning one entity; in no other "
        "figure\n");
}

static const bench_about about = {
    .command = "pinhole bench load",
    .summary = "a whole world of viewers",
    .print_text = print_text,
    .example = "--viewers 1000,4000 --json",
    .rounds_default = ROUNDS_DEFAULT,
    .more = more,
};

static bool parse_viewers(const char* text, load_request* request)
{
    for (request->count = 0; request->count < LOADS_MAX;) {
        char* end;
        const long viewers = strtol(text, &end, 10);
        if (end == text || viewers < VIEWERS_MIN || viewers > VIEWERS_MAX) {
            return false;
        }
        request->viewers[request->count++] = (int)viewers;
        if (*end == '\0') {
            return true;
        }
        if (*end != ',') {
            return false;
        }
        text = end + 1;
    }
    return false;
}

static int run(load_request* request, bool is_json)
{
    load_result results[LOADS_MAX * PH_PROFILE_COUNT];
    const int each = request->profile_count;
    for (int i = 0; i < request->count; ++i) {
        load_result* found = &results[i * each];
        if (!measure_load(request, request->viewers[i], found)) {
            fprintf(stderr, "%s: there is not enough memory for %d viewers.\n", about.command,
                    request->viewers[i]);
            return APP_EXIT_FAILURE;
        }
        if (!is_json) {
            print_all(found, each);
        }
    }
    if (is_json) {
        print_json(request, results);
    } else {
        printf("Best of %d rounds. Compare ratios, not bare times.\n", request->rounds);
    }
    return APP_EXIT_OK;
}

static void choose_profiles(load_request* request)
{
    const bool is_both = strcmp(profile_text, "both") == 0;
    for (int i = 0; i < PH_PROFILE_COUNT; ++i) {
        if (is_both || strcmp(profile_text, PROFILE_NAMES[i]) == 0) {
            request->profiles[request->profile_count++] = (ph_profile)i;
        }
    }
}

int bench_load(int argc, char** argv)
{
    bench_options options;
    int status;
    if (!bench_options_parse(&about, argc, argv, &options, &status)) {
        return status;
    }
    load_request request = {.rounds = options.rounds, .schedule = schedule_text};
    choose_profiles(&request);
    if (!parse_viewers(viewers_text, &request)) {
        fprintf(
            stderr,
            "%s: --viewers takes up to %d numbers from %d to %d, as in '--viewers 1000,4000'.\n",
            about.command, LOADS_MAX, VIEWERS_MIN, VIEWERS_MAX);
        return APP_EXIT_USAGE;
    }
    for (int i = 1; i < LOAD_THREADS_MAX; ++i) {
        request.pools[i] = ph_pool_create(i + 1);
    }
    status = run(&request, options.is_json);
    for (int i = 1; i < LOAD_THREADS_MAX; ++i) {
        ph_pool_destroy(request.pools[i]);
    }
    return status;
}
