// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The simulator on a scene, told as it goes: a line for each second and viewer. Time is virtual, as
// fast as the machine goes, and the same options give the same table.

#include "demo.h"

#include "command.h"
#include "options.h"

#include "kit/observers.h"
#include "kit/scene.h"
#include "kit/sim.h"
#include "kit/sim_material.h"

#include <pinhole/packet.h>
#include <pinhole/stats.h>

#include <stdio.h>
#include <string.h>

#define COMMAND "pinhole demo"

enum { SCENE_LIST_MAX = 200, SOURCE_MAX = 40 };

typedef struct demo_options {
    const char* scene;
    int entities; // 0: as many as the scene likes
    int viewers;
    double loss_percent;
    int rtt_ms;
    int jitter_ms;
    int seconds;
    int seed;
    const char* vision;
    double kbps;
} demo_options;

// ---- while it plays

static void print_head(const demo_options* options, const ph_sim_material* material)
{
    printf(
        "Scene %s: %d entities at %g ticks a second, %d viewers with %g kbit/s each; round trip\n"
        "%d ms and up to %d ms of jitter each way, %g %% lost. At the start a second's worth of\n"
        "bits is saved up. The figures are those of 'pinhole sim --help', of one second each.\n\n",
        options->scene, material->recording->entity_count, material->recording->rate_hz,
        options->viewers, options->kbps, options->rtt_ms, options->jitter_ms,
        options->loss_percent);
    puts("               wire_ updates_        error_  error_  stale_ missing_   jolts_\n"
         "second viewer   kbps    per_s shown    mrad      mm      ms      pct  per_min");
}

static void print_second(void* context, const ph_sim_second* second)
{
    const ph_sim_traffic* traffic = &second->traffic;
    const ph_figures_summary* figures = &second->figures;
    const demo_options* options = context;
    if (second->viewer == 0 && second->second > 1 && options->viewers > 1) {
        puts("");
    }
    if (traffic->frames == 0) {
        printf("%6d %6d   is away\n", second->second, second->viewer + 1);
        return;
    }
    printf("%6d %6d %6.1f %8d %5d %7.2f %7.0f %7.0f %8.1f %8.1f\n", second->second,
           second->viewer + 1, (double)traffic->wire_bytes * 8.0 / 1000.0,
           (int)traffic->significant_updates, second->shown, figures->error_mrad.mean,
           figures->error_mm.mean, figures->stale_ms.mean, figures->missing_pct,
           figures->jolts_per_min);
}

// ---- summing up

static void print_share(const char* name, double bits, double all_bits)
{
    printf("  %-10s %9.0f bits  %5.1f %%\n", name, bits, 100.0 * bits / all_bits);
}

static void print_ledger(const ph_sim_traffic* traffic)
{
    const double wire_bits = 8.0 * (double)traffic->wire_bytes;
    puts("\nwhere the bits went:");
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        const double bits = (double)traffic->ledger.bits256[reason] / 256.0;
        if (bits > 0.0) {
            print_share(ph_reason_name((ph_reason)reason), bits, wire_bits);
        }
    }
    print_share("overhead", wire_bits - 8.0 * (double)traffic->payload_bytes, wire_bits);
    print_share("together", wire_bits, wire_bits);
    printf("  of these, said again after a loss: %.0f bits\n",
           (double)traffic->ledger.resent_bits256 / 256.0);
}

static int print_summary(const ph_sim_result* result)
{
    const ph_sim_traffic* traffic = &result->traffic;
    const ph_figures_summary* figures = &result->figures;
    print_ledger(traffic);
    printf("\nall together: error_mrad %.2f, error_mm %.0f, missing_pct %.1f, jolts_per_min %.1f\n",
           figures->error_mrad.mean, figures->error_mm.mean, figures->missing_pct,
           figures->jolts_per_min);
    printf("%d datagrams; of %d whose fate is known, %d got lost or came too late\n",
           (int)traffic->datagrams, (int)traffic->resolved, (int)traffic->lost);
    if (traffic->overruns > 0 || traffic->refused > 0) {
        fprintf(stderr, COMMAND ": %d datagrams were over the budget, %d were refused.\n",
                (int)traffic->overruns, (int)traffic->refused);
        fprintf(stderr, "This must never happen: please report it, with the options you gave.\n");
        return APP_EXIT_FAILURE;
    }
    puts("no datagram was over the budget, none was refused");
    return APP_EXIT_OK;
}

// ---- the command

// "wander|crowd|..."
static void list_scenes(char list[SCENE_LIST_MAX])
{
    size_t length = 0;
    list[0] = '\0';
    for (int i = 0; ph_scene_name(i) != NULL; ++i) {
        const int more = snprintf(list + length, SCENE_LIST_MAX - length, "%s%s", i > 0 ? "|" : "",
                                  ph_scene_name(i));
        length += (size_t)more;
        PH_ASSERT(length < SCENE_LIST_MAX);
    }
}

static app_parse parse(demo_options* options, int argc, char** argv)
{
    char scenes[SCENE_LIST_MAX];
    list_scenes(scenes);
    const app_option table[] = {
        {.name = "--scene",
         .summary = "what moves",
         .text = &options->scene,
         .value = "NAME",
         .choices = scenes},
        {.name = "--entities",
         .summary = "in the world; 0: as many as the scene likes",
         .number = &options->entities,
         .lo = 0,
         .hi = 100000},
        {.name = "--viewers",
         .summary = "clients that look on",
         .number = &options->viewers,
         .lo = 1,
         .hi = 1000},
        {.name = "--kbps",
         .summary = "budget of each on the wire, in kbit/s",
         .decimal = &options->kbps,
         .lo = 1,
         .hi = 100000},
        {.name = "--loss",
         .summary = "datagrams lost, in percent",
         .decimal = &options->loss_percent,
         .lo = 0,
         .hi = 100},
        {.name = "--rtt",
         .summary = "round trip, in ms",
         .number = &options->rtt_ms,
         .lo = 0,
         .hi = 10000},
        {.name = "--jitter",
         .summary = "up to so much more each way, in ms",
         .number = &options->jitter_ms,
         .lo = 0,
         .hi = 10000},
        {.name = "--seconds",
         .summary = "of virtual time",
         .number = &options->seconds,
         .lo = 1,
         .hi = 3600},
        {.name = "--seed",
         .summary = "another one, another course",
         .number = &options->seed,
         .lo = 0,
         .hi = INT32_MAX},
        {.name = "--vision",
         .summary = "how visible entities are found",
         .text = &options->vision,
         .value = "WAY",
         .choices = "grid|groups"},
        {0},
    };
    const app_parse parsed = app_options_parse(table, COMMAND, argc, argv);
    if (parsed == APP_PARSE_HELP) {
        puts(COMMAND
             ": show a world to a few viewers over a lossy network\n"
             "\n"
             "usage: " COMMAND " [options]\n"
             "\n"
             "A line for each second and viewer: what went over the wire, overhead included,\n"
             "and how well its client shows the world, by the figures of pinhole sim. Time is\n"
             "virtual, the same options give the same table.\n"
             "\n"
             "options:");
        app_options_print(table);
        puts("\nexample: " COMMAND " --loss 20 --kbps 26");
    }
    return parsed;
}

static ph_sim_def sim_of(demo_options* options)
{
    ph_sim_def def = ph_sim_def_default();
    def.viewers = options->viewers;
    def.kbps = options->kbps;
    def.rtt_ms = options->rtt_ms;
    def.jitter_ms = options->jitter_ms;
    def.loss = options->loss_percent / 100.0;
    def.seed = (uint64_t)options->seed;
    def.vision = strcmp(options->vision, "groups") == 0 ? PH_VISION_GROUPS : PH_VISION_GRID;
    def.seconds = options->seconds;
    def.skips_standstill = true;
    def.on_second = print_second;
    def.second_context = options;
    return def;
}

// Viewers are the entities that go furthest, in more time than is played if that is short.
static bool open_material(const demo_options* options, ph_sim_material* material, ph_fault* fault)
{
    char source[SOURCE_MAX];
    snprintf(source, sizeof source, "scene:%s", options->scene);
    const int least_s = 2 * PH_OBSERVER_SECONDS_MIN;
    const ph_sim_material_def def = {
        .source = source,
        .seconds = options->seconds > least_s ? options->seconds : least_s,
        .count = options->entities,
        .seed = (uint64_t)options->seed,
    };
    return ph_sim_material_open(material, &def, fault);
}

static int play(demo_options* options)
{
    const ph_sim_def def = sim_of(options);
    ph_fault fault = {0};
    ph_sim_material material;
    ph_sim_result result;
    ph_pool* pool = ph_pool_create(0);
    bool is_done = pool != NULL || ph_fault_set_memory(&fault);
    is_done = is_done && open_material(options, &material, &fault);
    if (is_done) {
        print_head(options, &material);
        is_done = ph_sim_run(&def, material.recording, material.schema, pool, &result, &fault);
        ph_sim_material_close(&material);
    }
    ph_pool_destroy(pool);
    if (!is_done) {
        fprintf(stderr, COMMAND ": %s.\n", fault.message);
        return APP_EXIT_FAILURE;
    }
    return print_summary(&result);
}

int demo_command(int argc, char** argv)
{
    demo_options options = {
        .scene = "town",
        .viewers = 4,
        .kbps = 13.0,
        .loss_percent = 1.0,
        .rtt_ms = 100,
        .jitter_ms = 20,
        .seconds = 10,
        .seed = 1,
        .vision = "grid",
    };
    const app_parse parsed = parse(&options, argc, argv);
    if (parsed != APP_PARSE_OK) {
        return parsed == APP_PARSE_HELP ? APP_EXIT_OK : APP_EXIT_USAGE;
    }
    if (options.entities > 0 && options.viewers > options.entities) {
        fprintf(stderr,
                COMMAND ": each viewer looks through the eyes of an entity: --entities must "
                        "be at least %d, or --viewers at most %d.\n",
                options.viewers, options.entities);
        return APP_EXIT_USAGE;
    }
    return play(&options);
}
