// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "demo_options.h"

#include "command.h"
#include "demo_gate.h"
#include "demo_players.h"
#include "options.h"
#include "scene_help.h"

#include "kit/sim_material.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ROW_COUNT = 15 };

static void print_help(const app_option* table)
{
    printf(DEMO_COMMAND
           ": one world through classic and through pinhole, live, side by side\n"
           "\n"
           "usage: " DEMO_COMMAND " [SOURCE] [options]\n"
           "\n"
           "Plays a scene or a recording for ever, to players that are real clients over UDP on\n"
           "this machine: as many by the profile classic as by pinhole, through the same bad\n"
           "network, with the same budget. In a terminal it draws what player 1 is shown, truth\n"
           "faint, and how wrong it is; a page in the browser shows more (its address is at the\n"
           "top). Elsewhere it runs for %g s and prints a table. Ctrl-C ends it. The exit code\n"
           "is 1 when a datagram was over the budget or refused. docs/demo.md explains it all.\n"
           "\n"
           "options:\n",
           DEMO_SECONDS_USUAL);
    app_options_print(table);
    printf("\n"
           "example: pinhole demo scene:crowd --entities 300 --loss 20\n"
           "         pinhole demo crowd.csv.gz --rate 16 --kbps 8\n"
           "         pinhole demo --seconds 10 --no-page | tail -3\n"
           "         pinhole demo --listen 0.0.0.0 --password \"open sesame\"\n");
}

static void fill_rows(demo_options* o, app_option rows[ROW_COUNT])
{
    const app_option all[] = {
        {.name = "SOURCE",
         .summary = "a recording, or scene:NAME",
         .text = &o->source,
         .value = "scene:town"},
        {.name = "--rate",
         .summary = "ticks per second, as 23.976; 0: as the source says",
         .decimal = &o->rate_hz,
         .lo = 0,
         .hi = PH_SIM_RATE_MAX},
        {.name = "--entities",
         .summary = "in the scene; 0: as many as it likes",
         .number = &o->entities,
         .lo = 0,
         .hi = 20000},
        {.name = "--players",
         .summary = "of each profile, over UDP",
         .number = &o->players,
         .lo = 1,
         .hi = DEMO_PLAYERS_MAX},
        {.name = "--kbps",
         .summary = "budget of each on the wire, in kbit/s",
         .decimal = &o->kbps,
         .lo = 2,
         .hi = 10000},
        {.name = "--loss",
         .summary = "datagrams lost each way, in percent",
         .decimal = &o->loss_percent,
         .lo = 0,
         .hi = 90},
        {.name = "--rtt",
         .summary = "round trip, in ms",
         .number = &o->rtt_ms,
         .lo = 0,
         .hi = 1000},
        {.name = "--jitter",
         .summary = "up to so much more each way, in ms",
         .number = &o->jitter_ms,
         .lo = 0,
         .hi = 500},
        {.name = "--seed",
         .summary = "another one, another course",
         .number = &o->seed,
         .lo = 0,
         .hi = INT32_MAX},
        {.name = "--seconds",
         .summary = "then it ends; 0: when it is stopped, without a terminal 20",
         .decimal = &o->seconds,
         .lo = 0,
         .hi = 1000000},
        {.name = "--listen",
         .summary = "address of the page; others than this machine's own need --password",
         .text = &o->listen,
         .value = "IP"},
        {.name = "--port",
         .summary = "of the page; 0: any; without it 7777, or any when that is taken",
         .text = &o->port_text,
         .value = "N"},
        {.name = "--password",
         .summary = "that pages must give before they are shown anything",
         .text = &o->password,
         .value = "WORDS"},
        {.name = "--no-page", .summary = "no page, the terminal alone", .is_set = &o->is_pageless},
        {0},
    };
    _Static_assert(sizeof all / sizeof all[0] == ROW_COUNT, "a row more, a row less");
    memcpy(rows, all, sizeof all);
}

static bool complain(const char* sentence)
{
    fprintf(stderr, DEMO_COMMAND ": %s\n", sentence);
    return false;
}

// What the page's gate says of address and password: before anything is opened.
static bool check_page(const demo_options* options)
{
    demo_gate gate;
    ph_fault fault = {0};
    if (options->is_pageless || demo_gate_make(&gate, options->listen, options->password, &fault)) {
        return true;
    }
    fprintf(stderr, DEMO_COMMAND ": %s.\n", fault.message);
    return false;
}

static bool check_scene(const char* source)
{
    if (!app_scene_moves(source)) {
        return complain("in scene:still nothing ever moves, so there is no viewer: it is for tests "
                        "and benchmarks. Try scene:wander.");
    }
    return app_scene_check(DEMO_COMMAND, source);
}

static bool check(demo_options* options)
{
    const bool is_scene = strncmp(options->source, APP_SCENE_PREFIX, strlen(APP_SCENE_PREFIX)) == 0;
    if (options->entities > 0 && !is_scene) {
        return complain("--entities is for scenes: a recording has those that it has.");
    }
    if (options->entities > 0 && options->entities < options->players + 1) {
        return complain("each player looks through the eyes of an entity: --entities must be more "
                        "than --players.");
    }
    if (options->rate_hz > 0.0 && options->rate_hz < 1.0) {
        return complain("--rate takes 1 to 1000, or 0 for the rate that the source says.");
    }
    if (options->port_text != NULL && !app_option_port(options->port_text, &options->port)) {
        return complain("--port takes a port from 0 to 65535, as in '--port 8080'.");
    }
    return check_page(options) && check_scene(options->source);
}

bool demo_options_parse(int argc, char** argv, demo_options* options, int* status)
{
    *options = (demo_options){
        .source = "scene:town",
        .players = 4,
        .kbps = 13.0,
        .loss_percent = 1.0,
        .rtt_ms = 100,
        .jitter_ms = 20,
        .seed = 1,
        .port = DEMO_PORT_USUAL,
    };
    app_option table[ROW_COUNT];
    fill_rows(options, table);
    const app_usage usage = {DEMO_COMMAND, print_help};
    return app_options_read(&usage, table, argc, argv, status) && check(options);
}
