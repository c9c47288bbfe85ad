// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Plays a scene in virtual time, as fast as the machine goes: the same options give the same table.
//
//   each tick, at time T:   scene ──▶ world ──tick──▶ send at T ──▶ links
//                           what clients know against the truth at T
//                           all that arrives before T + 1 tick, each at its own time

#include "demo.h"

#include "command.h"
#include "demo_seat.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole demo"

enum { RATE_HZ = 10, US_PER_TICK = 1000000 / RATE_HZ, SCENE_LIST_MAX = 200 };

typedef struct demo_options {
    const char* scene;
    int entities;
    int viewers;
    double kbps;
    double loss_percent;
    int rtt_ms;
    int jitter_ms;
    int seconds;
    int seed;
    const char* vision;
} demo_options;

typedef struct demo {
    const demo_options* options;
    ph_scene* scene;
    ph_schema* schema;
    ph_world* world;
    ph_cast* cast;
    demo_seat* seats; // options->viewers of them
    uint64_t now_us;
} demo;

// ---- building

static ph_result create_world(demo* show)
{
    const ph_class_def creature = ph_creature_class();
    ph_result result = ph_schema_create(&creature, 1, NULL, &show->schema, NULL);
    if (result != PH_OK) {
        return result;
    }
    ph_world_def def = ph_world_def_default();
    def.schema = show->schema;
    def.entity_capacity = show->options->entities;
    def.viewer_capacity = show->options->viewers;
    def.tick_us = US_PER_TICK;
    const bool has_groups = strcmp(show->options->vision, "groups") == 0;
    def.vision.kind = has_groups ? PH_VISION_GROUPS : PH_VISION_GRID;
    return ph_world_create(&def, &show->world);
}

static ph_result create_seats(demo* show)
{
    const demo_options* options = show->options;
    show->seats = calloc((size_t)options->viewers, sizeof *show->seats);
    if (show->seats == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < options->viewers; ++i) {
        const demo_seat_def def = {
            .cast = show->cast,
            .schema = show->schema,
            .actor = i,
            .link = {.seed = (uint64_t)options->seed,
                     .delay_us = (uint32_t)options->rtt_ms * 500,
                     .jitter_us = (uint32_t)options->jitter_ms * 1000,
                     .loss = options->loss_percent / 100.0},
            .bits_per_second = (int)(options->kbps * 1000.0 + 0.5),
        };
        const ph_result result = demo_seat_create(&show->seats[i], &def);
        if (result != PH_OK) {
            return result;
        }
    }
    return PH_OK;
}

static ph_result create(demo* show, const demo_options* options)
{
    *show = (demo){.options = options};
    const uint64_t seed = (uint64_t)options->seed;
    show->scene = ph_scene_create(options->scene, options->entities, RATE_HZ, seed);
    ph_result result = show->scene != NULL ? create_world(show) : PH_ERROR_MEMORY;
    if (result != PH_OK) {
        return result;
    }
    show->cast = ph_cast_create(show->scene, show->world, 0, seed);
    return show->cast != NULL ? create_seats(show) : PH_ERROR_MEMORY;
}

static void destroy(demo* show)
{
    for (int i = 0; i < show->options->viewers && show->seats != NULL; ++i) {
        demo_seat_destroy(&show->seats[i]);
    }
    free(show->seats);
    ph_cast_destroy(show->cast);
    ph_world_destroy(show->world);
    ph_schema_destroy(show->schema);
    ph_scene_destroy(show->scene);
}

// ---- playing

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    const demo* show = context;
    for (int i = 0; i < show->options->viewers; ++i) {
        if (show->seats[i].viewer.index1 == viewer.index1) {
            demo_seat_send(&show->seats[i], show->now_us, bytes, size);
            return;
        }
    }
}

static void tick(demo* show)
{
    const int count = show->options->viewers;
    for (int i = 0; i < count; ++i) {
        demo_seat_follow(&show->seats[i]);
        demo_seat_begin_sends(&show->seats[i], show->now_us);
    }
    ph_world_tick(show->world);
    ph_world_send_all(show->world, show->now_us, deliver, show);
    for (int i = 0; i < count; ++i) {
        demo_seat_compare(&show->seats[i], show->now_us);
        demo_seat_receive_until(&show->seats[i], show->now_us + US_PER_TICK);
    }
    show->now_us += US_PER_TICK;
}

static void print_second(demo* show, int second)
{
    if (show->options->viewers > 1 && second > 1) {
        puts("");
    }
    for (int i = 0; i < show->options->viewers; ++i) {
        const demo_line line = demo_seat_take_line(&show->seats[i]);
        printf("%6d  %6d  %6.1f  %9d  %5d  %7d  %8.0f mm  %8.0f mm\n", second, i + 1,
               line.wire_bits / 1000.0, (int)line.updates, line.shown, line.missing,
               line.known_error_mm, line.shown_error_mm);
    }
}

static ph_result play(demo* show)
{
    const demo_options* options = show->options;
    printf(
        "Scene %s: %d creatures, %d viewers with %g kbit/s each; round trip %d ms and up to %d ms "
        "of\njitter each way, %g %% lost. At the start a second's worth of bits is saved up.\n\n",
        options->scene, options->entities, options->viewers, options->kbps, options->rtt_ms,
        options->jitter_ms, options->loss_percent);
    puts("                                                  mean error of what is\n"
         "second  viewer  kbit/s  updates/s  shown  missing        known        shown");
    for (int step = 1; step <= options->seconds * RATE_HZ; ++step) {
        tick(show);
        if (step % RATE_HZ == 0) {
            print_second(show, step / RATE_HZ);
        }
        ph_scene_step(show->scene);
        const ph_result result = ph_cast_step(show->cast);
        if (result != PH_OK) {
            return result;
        }
    }
    return PH_OK;
}

// ---- summing up

typedef struct demo_total {
    ph_ledger ledger;
    uint64_t payload_bytes;
    uint64_t wire_bytes;
    uint64_t datagrams;
    uint64_t resolved;
    uint64_t lost;
    uint64_t overruns;
    uint64_t refused; // by clients, as what no server sends
} demo_total;

static demo_total add_up(const demo* show)
{
    demo_total total = {0};
    for (int i = 0; i < show->options->viewers; ++i) {
        const demo_seat* seat = &show->seats[i];
        const ph_viewer_stats* stats = &seat->before; // taken with the last line
        for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
            total.ledger.bits256[reason] += stats->ledger.bits256[reason];
        }
        total.ledger.repeat_bits256 += stats->ledger.repeat_bits256;
        total.payload_bytes += stats->payload_bytes;
        total.wire_bytes += stats->wire_bytes;
        total.datagrams += stats->datagrams;
        total.resolved += stats->resolved;
        total.lost += stats->lost;
        total.overruns += seat->traffic.overruns;
        const ph_client_stats client = ph_client_get_stats(seat->client);
        for (int reason = PH_REFUSAL_HELLO; reason < PH_REFUSAL_COUNT; ++reason) {
            total.refused += client.refused[reason];
        }
    }
    return total;
}

static void print_share(const char* name, double bits, double all_bits)
{
    printf("  %-10s %9.0f bits  %5.1f %%\n", name, bits, 100.0 * bits / all_bits);
}

static void print_ledger(const demo_total* total)
{
    const double wire_bits = 8.0 * (double)total->wire_bytes;
    puts("\nwhere the bits went:");
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        const double bits = (double)total->ledger.bits256[reason] / 256.0;
        if (bits > 0.0) {
            print_share(ph_reason_name((ph_reason)reason), bits, wire_bits);
        }
    }
    print_share("overhead", wire_bits - 8.0 * (double)total->payload_bytes, wire_bits);
    print_share("together", wire_bits, wire_bits);
    printf("  of these, said again after a loss: %.0f bits\n",
           (double)total->ledger.repeat_bits256 / 256.0);
}

static int print_summary(const demo* show)
{
    const demo_total total = add_up(show);
    print_ledger(&total);
    printf("\n%d datagrams; of %d whose fate is known, %d got lost or came too late\n",
           (int)total.datagrams, (int)total.resolved, (int)total.lost);
    if (total.overruns > 0 || total.refused > 0) {
        fprintf(stderr, COMMAND ": %d datagrams were over the budget, %d were refused.\n",
                (int)total.overruns, (int)total.refused);
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
         .summary = "who moves",
         .text = &options->scene,
         .value = "NAME",
         .choices = scenes},
        {.name = "--entities",
         .summary = "creatures in the world",
         .number = &options->entities,
         .lo = 1,
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
         .summary = "how it is found who sees whom",
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
             "A line for each second and viewer: what went over the wire, overhead included;\n"
             "how many entities its client shows, and how many in view are missing; how far\n"
             "what it knows is from the truth. Time is virtual, the same options give the\n"
             "same table.\n"
             "\n"
             "options:");
        app_options_print(table);
        puts("\nexample: " COMMAND " --loss 20 --kbps 26");
    }
    return parsed;
}

int demo_command(int argc, char** argv)
{
    demo_options options = {
        .scene = "wander",
        .entities = 300,
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
    if (options.viewers > options.entities) {
        fprintf(stderr,
                COMMAND ": each viewer looks through the eyes of an entity: --entities must "
                        "be at least %d, or --viewers at most %d.\n",
                options.viewers, options.entities);
        return APP_EXIT_USAGE;
    }
    demo show;
    ph_result result = create(&show, &options);
    result = result == PH_OK ? play(&show) : result;
    const int status = result == PH_OK ? print_summary(&show) : APP_EXIT_FAILURE;
    if (result != PH_OK) {
        fprintf(stderr, COMMAND ": cannot go on: %s\n", ph_result_text(result));
    }
    destroy(&show);
    return status;
}
