// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "bots_options.h"

#include "options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COMMAND "pinhole bots"
#define SERVER_USUAL "127.0.0.1:40000"
enum { ROW_COUNT = 30 + BUS_OPTIONS_ROWS };

static void print_help(const app_option* table)
{
    printf(
        COMMAND
        ": many real clients that check what a server tells them\n"
        "\n"
        "usage: " COMMAND " --key FILE [options]\n"
        "\n"
        "Each bot has a UDP socket, a token and a client of its own. What they show is compared\n"
        "with the truth that the server offers on loopback (pinhole serve --truth PORT); at the\n"
        "end the server lets its world stand still, and every bot must come to equal it. The\n"
        "exit status is 1 when a bot was refused or lost, a datagram was over the budget, one\n"
        "was not understood, or a bot did not become equal.\n"
        "With --director they are players of a world on several machines (docs/distributed.md):\n"
        "the director gives them tokens and spares; --source says what the sims play.\n"
        "\n"
        "options:\n");
    app_options_print(table);
    printf("\nexample: " COMMAND " --director nats://127.0.0.1:4222 --source scene:town --bots 64"
           "\nexample: " COMMAND
           " --key server.key --truth 40001 --bots 64 --seconds 10 --loss 5 --rtt 80\n");
}

static void fill_rows(bots_options* o, app_option rows[ROW_COUNT])
{
    const app_option all[] = {
        {.name = "--server",
         .summary = "address and port of the server (default " SERVER_USUAL ")",
         .text = &o->server_text,
         .value = "ADDRESS"},
        {.name = "--key",
         .summary = "the server's key: the bots make their own tokens",
         .text = &o->key_path,
         .value = "FILE"},
        {.name = "--insecure-dev",
         .summary = "in place of --key, for a server that has it, too",
         .is_set = &o->is_insecure_dev},
        {.name = "--spare",
         .summary = "with --source: another server of the same world and key; bots go there when "
                    "theirs dies or sends them on, and how long that took is told",
         .text = &o->spare_text,
         .value = "ADDRESS"},
        {.name = "--truth",
         .summary = "port on 127.0.0.1 where the server offers the truth; without it nothing is "
                    "compared",
         .text = &o->truth_text,
         .value = "PORT"},
        {.name = "--bots", .summary = "how many", .number = &o->count, .lo = 1, .hi = 16384},
        {.name = "--seconds",
         .summary = "how long the world moves, from the start of the first bot on",
         .number = &o->seconds,
         .lo = 1,
         .hi = 86400},
        {.name = "--converge",
         .summary = "how long it may take, in seconds, until all are equal; 0: not asked",
         .number = &o->converge_s,
         .lo = 0,
         .hi = 3600},
        {.name = "--ramp",
         .summary = "bots that start per second; 0: all at once",
         .decimal = &o->ramp,
         .lo = 0,
         .hi = 100000},
        {.name = "--loss",
         .summary = "datagrams lost each way on the simulated link, in percent",
         .decimal = &o->loss_pct,
         .lo = 0,
         .hi = 100},
        {.name = "--rtt",
         .summary = "round trip of the simulated link, in ms",
         .decimal = &o->rtt_ms,
         .lo = 0,
         .hi = 60000},
        {.name = "--jitter",
         .summary = "up to so much more each way, in ms",
         .decimal = &o->jitter_ms,
         .lo = 0,
         .hi = 60000},
        {.name = "--chat",
         .summary = "reliable messages per second and bot, which the server sends back",
         .decimal = &o->chat_hz,
         .lo = 0,
         .hi = 100},
        {.name = "--roam",
         .summary = "bots move their eyes by input, in a circle around the origin",
         .is_set = &o->is_roaming},
        {.name = "--mute",
         .summary = "so many of the bots never acknowledge; they are not judged",
         .number = &o->mute,
         .lo = 0,
         .hi = 16384},
        {.name = "--flood",
         .summary = "so many send 2,000 datagrams of nonsense a second; they are not judged",
         .number = &o->flood,
         .lo = 0,
         .hi = 16384},
        {.name = "--vanish",
         .summary = "so many go away after 2 s without a word; they are not judged",
         .number = &o->vanish,
         .lo = 0,
         .hi = 16384},
        {.name = "--first-id",
         .summary = "client number of the first bot; the others follow",
         .number = &o->first_id,
         .lo = 0,
         .hi = INT32_MAX},
        {.name = "--source",
         .summary = "without --truth: what the server hosts",
         .text = &o->source,
         .value = "scene:NAME"},
        {.name = "--rate",
         .summary = "without --truth: ticks per second of that recording; 0: as it says",
         .decimal = &o->rate_hz,
         .lo = 0,
         .hi = 1000},
        {.name = "--profile",
         .summary = "without --truth: that of the server",
         .text = &o->profile_text,
         .value = "WORD",
         .choices = "classic|pinhole"},
        {.name = "--seed",
         .summary = "of the simulated link",
         .number = &o->seed,
         .lo = 0,
         .hi = INT32_MAX},
        {.name = "--watch",
         .summary =
             "come back after a loss, and say as JSON lines who is out, back, and equal while "
             "the world stands",
         .is_set = &o->is_watching},
        {.name = "--silence",
         .summary = "with --watch: begin anew after so many ms without a datagram; 0: after the "
                    "token's timeout",
         .number = &o->silence_ms,
         .lo = 0,
         .hi = 60000},
        {.name = "--json", .summary = "one JSON object on standard output", .is_set = &o->is_json},
        {.name = "--entities",
         .summary = "with --director: of the scene, as the sims have it; 0: as usual",
         .number = &o->entities,
         .lo = 0,
         .hi = 1000000},
        {.name = "--loop",
         .summary = "with --director: seconds of the source, as the sims have it; 0: all",
         .decimal = &o->loop_s,
         .lo = 0,
         .hi = 86400},
        {.name = "--radius",
         .summary = "with --director: how far players see in m, as the front-ends have it",
         .decimal = &o->radius_m,
         .lo = 1,
         .hi = 10000},
        {.name = "--controlled",
         .summary = "with --director: by pinhole cluster, which lets the world stand",
         .is_set = &o->is_controlled},
    };
    const int count = (int)(sizeof all / sizeof *all);
    memcpy(rows, all, sizeof all);
    rows[count + bus_options_rows(&o->bus, "--director", rows + count)] = (app_option){0};
}

static bool complain(const char* sentence)
{
    fprintf(stderr, COMMAND ": %s\n", sentence);
    return false;
}

// These bots are plain ph_peers on the network as it is.
static bool check_spare(bots_options* options)
{
    if (options->spare_text == NULL) {
        return true;
    }
    if (ph_address_parse(options->spare_text, &options->spare, NULL) != PH_OK ||
        options->spare.port == 0) {
        return complain("--spare takes an address in numbers with a port, as in '--spare "
                        "127.0.0.1:40002'.");
    }
    if (options->source == NULL || options->is_insecure_dev) {
        return complain("--spare goes with --key and --source, as in '--key server.key --source "
                        "scene:town': tokens for both servers are made.");
    }
    if (options->loss_pct > 0.0 || options->rtt_ms > 0.0 || options->jitter_ms > 0.0 ||
        options->chat_hz > 0.0 || options->is_roaming || options->is_watching ||
        options->mute + options->flood + options->vanish > 0) {
        return complain("--spare goes without --loss, --rtt, --jitter, --chat, --roam, --watch, "
                        "--mute, --flood and --vanish: leave them out.");
    }
    return true;
}

// Players of a world on several machines.
static bool check_director(bots_options* options)
{
    if (!bus_options_check(&options->bus, COMMAND, "bots")) {
        return false;
    }
    if (options->source == NULL) {
        return complain("say what the sims play, as in '--director nats://127.0.0.1:4222 --source "
                        "scene:town'.");
    }
    if (options->key_path != NULL || options->is_insecure_dev || options->truth_text != NULL ||
        options->spare_text != NULL || options->is_roaming || options->is_watching ||
        options->mute + options->flood + options->vanish > 0) {
        return complain("--director goes without --key, --insecure-dev, --truth, --spare, --roam, "
                        "--watch, --mute, --flood and --vanish: leave them out.");
    }
    return true;
}

static bool check(bots_options* options)
{
    if (options->bus.servers != NULL) {
        return check_director(options);
    }
    if (options->is_insecure_dev && options->key_path != NULL) {
        return complain("--insecure-dev stands in place of --key: leave one of them out.");
    }
    if (options->key_path == NULL && !options->is_insecure_dev) {
        return complain("say the server's key, as in '--key server.key'; pinhole serve names the "
                        "file when it makes one.");
    }
    if (ph_address_parse(options->server_text, &options->server, NULL) != PH_OK ||
        options->server.port == 0) {
        return complain("--server takes an address in numbers with a port, as in '--server "
                        "127.0.0.1:40000'.");
    }
    if (!check_spare(options)) {
        return false;
    }
    options->truth_port = -1;
    if (options->truth_text != NULL &&
        !app_option_port(options->truth_text, &options->truth_port)) {
        return complain("--truth takes the port that the server has named, as in '--truth 40001'.");
    }
    if ((options->truth_text == NULL) == (options->source == NULL)) {
        return complain("say where the truth is, as in '--truth 40001', or what the server hosts, "
                        "as in '--source scene:town'.");
    }
    if (options->is_watching && options->truth_text == NULL) {
        return complain("--watch compares with the truth: say where it is, as in '--truth 40001'.");
    }
    if (options->mute + options->flood + options->vanish > options->count) {
        return complain("--mute, --flood and --vanish together are more than --bots.");
    }
    options->profile =
        strcmp(options->profile_text, "classic") == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
    return true;
}

bool bots_options_parse(int argc, char** argv, bots_options* options, int* status)
{
    *options = (bots_options){
        .server_text = SERVER_USUAL,
        .profile_text = "pinhole",
        .count = 16,
        .first_id = 1,
        .seconds = 10,
        .converge_s = 60,
        .silence_ms = 2500,
        .ramp = 100.0,
        .radius_m = 250.0,
        .seed = 1,
        .bus = bus_options_default(),
    };
    app_option table[ROW_COUNT];
    fill_rows(options, table);
    const app_usage usage = {COMMAND, print_help};
    return app_options_read(&usage, table, argc, argv, status) && check(options);
}
