// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "sim_server_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole sim-server"
#define REGIONS_USUAL "0: -100000..100000, -100000..100000"
enum { ROW_COUNT = 18 + BUS_OPTIONS_ROWS + 1 };

static void print_help(const app_option* table)
{
    printf(
        COMMAND
        ": simulate regions of a world on several machines\n"
        "\n"
        "usage: " COMMAND " SOURCE --bus nats://ADDRESS [options]\n"
        "\n"
        "Plays a recording or a scene in a loop, by the clock: all sims play the same, and each\n"
        "moves what stands in the regions that it owns. Regions are rectangles of cells,\n"
        "'NUMBER: X..X, Y..Y', the same map on all machines. Of those that it wants, a sim takes\n"
        "the ones without an owner, the first at once and each further one a little later, and\n"
        "stands by for the others. SIGTERM gives its regions to the sims that stand by, and\n"
        "then it ends. docs/distributed.md says how the parts go together.\n"
        "\n"
        "options:\n");
    app_options_print(table);
    printf(
        "\n"
        "example: " COMMAND " scene:town --bus nats://127.0.0.1:4222 --name sim-a \\\n"
        "             --cell 64 --regions '0: -99..-1, -99..99; 1: 0..99, -99..99' --want 0,1\n");
}

static void fill_rows(sim_server_options* o, app_option rows[ROW_COUNT])
{
    const app_option all[] = {
        {.name = "SOURCE",
         .summary = "a recording or scene:NAME, the same on all machines",
         .text = &o->source,
         .value = "scene:town"},
        {.name = "--regions",
         .summary = "the map of regions, or a file that has it (default: 0 is everywhere)",
         .text = &o->regions_text,
         .value = "MAP"},
        {.name = "--want",
         .summary = "regions to own or to stand by for, with commas (default: all)",
         .text = &o->want_text,
         .value = "LIST"},
        {.name = "--cell",
         .summary = "side of a cell in m, the same on all machines",
         .number = &o->cell_m,
         .lo = 16,
         .hi = 16000},
        {.name = "--rate",
         .summary = "ticks per second of the recording; 0: as it says",
         .decimal = &o->rate_hz,
         .lo = 0,
         .hi = 1000},
        {.name = "--loop",
         .summary = "seconds of the source that are played in a loop; 0: all, of scenes 60",
         .decimal = &o->loop_s,
         .lo = 0,
         .hi = 86400},
        {.name = "--entities",
         .summary = "of a scene; 0: as usual",
         .number = &o->entities,
         .lo = 0,
         .hi = 1000000},
        {.name = "--schema",
         .summary = "a schema (docs/schema.md); without it one is derived",
         .text = &o->schema_path,
         .value = "FILE"},
        {.name = "--seed", .summary = "of scenes", .number = &o->seed, .lo = 0, .hi = INT32_MAX},
        {.name = "--start",
         .summary = "when tick 0 is, in us of Unix time, the same on all machines (default 0)",
         .text = &o->start_text,
         .value = "N"},
        {.name = "--suspect",
         .summary = "take over from an owner that is silent for so many ms",
         .number = &o->suspect_ms,
         .lo = 200,
         .hi = 60000},
        {.name = "--verify",
         .summary = "prove ownership after so many ms without a tick; less than half of --suspect",
         .number = &o->verify_ms,
         .lo = 50,
         .hi = 30000},
        {.name = "--claim-later",
         .summary = "each further region that it wants is left to others for so many ms more",
         .number = &o->claim_later_ms,
         .lo = 0,
         .hi = 60000},
        {.name = "--players",
         .summary = "how many may be attached",
         .number = &o->players,
         .lo = 1,
         .hi = 1000000},
        {.name = "--metrics",
         .summary = "port on 127.0.0.1 for Prometheus; 0: any that is free; without it none",
         .text = &o->metrics_text,
         .value = "PORT"},
        {.name = "--seconds",
         .summary = "ends after so long; 0: never",
         .number = &o->seconds,
         .lo = 0,
         .hi = INT32_MAX},
        {.name = "--controlled",
         .summary = "by pinhole cluster, which lets the world stand and go on; loopback only",
         .is_set = &o->is_controlled},
        {.name = "--quiet", .summary = "no line per second", .is_set = &o->is_quiet},
    };
    const int count = (int)(sizeof all / sizeof *all);
    memcpy(rows, all, sizeof all);
    rows[count + bus_options_rows(&o->bus, "--bus", rows + count)] = (app_option){0};
}

static bool complain(const char* sentence)
{
    fprintf(stderr, COMMAND ": %s\n", sentence);
    return false;
}

static bool complain_of(const char* option, const ph_fault* fault)
{
    fprintf(stderr, COMMAND ": %s: ", option);
    if (fault->line > 1) {
        fprintf(stderr, "line %d: ", fault->line);
    }
    fprintf(stderr, "%s.\n", fault->message);
    return false;
}

static bool read_regions(sim_server_options* options)
{
    ph_fault fault = {0};
    if (!cluster_regions_read(&options->regions, options->regions_text, &fault)) {
        return complain_of("--regions", &fault);
    }
    if (options->want_text != NULL) {
        return cluster_regions_read_wanted(&options->regions, options->want_text, options->wanted,
                                           &options->wanted_count, &fault) ||
               complain_of("--want", &fault);
    }
    options->wanted_count = options->regions.count;
    for (int i = 0; i < options->regions.count; ++i) {
        options->wanted[i] = options->regions.all[i].number;
    }
    return true;
}

static bool check(sim_server_options* options)
{
    char* end = NULL;
    if (options->source == NULL) {
        return complain("say what to play: a recording or a scene, as in 'pinhole sim-server "
                        "scene:town --bus nats://127.0.0.1:4222'.");
    }
    if (!bus_options_check(&options->bus, COMMAND, "sim")) {
        return false;
    }
    options->start_us = strtoull(options->start_text, &end, 10);
    if (*end != '\0' || options->start_text[0] == '-') {
        return complain("--start takes microseconds of Unix time, as in '--start "
                        "1790000000000000'.");
    }
    if (2 * options->verify_ms >= options->suspect_ms) {
        return complain("--verify is less than half of --suspect, as in '--suspect 800 --verify "
                        "300'.");
    }
    options->has_metrics = options->metrics_text != NULL;
    if (options->has_metrics && !app_option_port(options->metrics_text, &options->metrics_port)) {
        return complain("--metrics takes a port from 0 to 65535, as in '--metrics 9100'.");
    }
    return read_regions(options);
}

bool sim_server_options_parse(int argc, char** argv, sim_server_options* options, int* status)
{
    *options = (sim_server_options){
        .regions_text = REGIONS_USUAL,
        .start_text = "0",
        .bus = bus_options_default(),
        .cell_m = 250,
        .seed = 1,
        .suspect_ms = 800,
        .verify_ms = 300,
        .claim_later_ms = 1500,
        .players = 4096,
    };
    static app_option table[ROW_COUNT];
    fill_rows(options, table);
    const app_usage usage = {COMMAND, print_help};
    return app_options_read(&usage, table, argc, argv, status) && check(options);
}
