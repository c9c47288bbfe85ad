// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "serve_options.h"

#include "options.h"
#include "serve_stage.h"

#include <pinhole/net/netcode_server.h>
#include <pinhole/vision.h>
#include <pinhole/viewer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND "pinhole serve"
#define LISTEN_USUAL "127.0.0.1:40000"
#define CLASSIC_HZ 5.0
enum { ROW_COUNT = 37 + BUS_OPTIONS_ROWS };

// ---- help

static void print_help(const app_option* table)
{
    printf(
        COMMAND
        ": host a world for real clients over UDP\n"
        "\n"
        "usage: " COMMAND " SOURCE [options]\n"
        "\n"
        "Plays a recording or a scene in a loop and shows it to every client with a connect "
        "token.\n"
        "Each client looks through the eyes of one entity, chosen by the client's number.\n"
        "SIGTERM or Ctrl-C: the clients are told, the exit status is 0. SIGHUP: with --key the\n"
        "keys are read again, without it the server ends. SIGUSR1: with --spare or --bus the\n"
        "players go to another server first. docs/serving.md says what the log and the metrics\n"
        "mean, docs/operating.md how to run a server for players, docs/moving.md how they move.\n"
        "With --bus it is a front-end of a world on several machines: SOURCE gives the schema,\n"
        "or --schema alone that of a game of your own, at --rate ticks per second (10);\n"
        "sims have the entities (pinhole sim-server), docs/distributed.md explains it.\n"
        "\n"
        "options:\n");
    app_options_print(table);
    printf(
        "\n"
        "examples:\n"
        "  pinhole serve scene:town\n"
        "  pinhole serve scene:town --insecure-dev --listen 0.0.0.0:40000\n"
        "  pinhole serve crowd.csv.gz --rate 16 --listen 0.0.0.0:40000 \\\n"
        "                --public 192.0.2.1:40000 --key server.key\n"
        "  pinhole serve load --entities 2000 --clients 2000 --metrics 9100 --truth 0\n"
        "  pinhole serve scene:town --bus nats://127.0.0.1:4222 --name front-1 --key server.key\n"
        "\n"
        "example: pinhole serve scene:town --listen [::1]:40000\n");
}

static void fill_rows(serve_options* o, app_option rows[ROW_COUNT])
{
    const app_option all[] = {
        {.name = "SOURCE",
         .summary = "a recording, scene:NAME, or load: creatures with 25 properties",
         .text = &o->source,
         .value = "scene:town"},
        {.name = "--listen",
         .summary = "address and port; port 0: any that is free (default " LISTEN_USUAL ")",
         .text = &o->listen_text,
         .value = "ADDRESS"},
        {.name = "--public",
         .summary = "under which address clients reach it, as in their tokens; default: as listen, "
                    "loopback for all addresses",
         .text = &o->public_text,
         .value = "ADDRESS"},
        {.name = "--key",
         .summary = "key of backend and servers, 64 hexadecimal digits; without it one for "
                    "development is made",
         .text = &o->key_path,
         .value = "FILE"},
        {.name = "--insecure-dev",
         .summary = "for development, in place of a key: clients need no token; private networks "
                    "only",
         .is_set = &o->is_insecure_dev},
        {.name = "--second-key",
         .summary = "another key whose tokens are taken, too, while keys change; may be absent; "
                    "SIGHUP reads both files again",
         .text = &o->second_key_path,
         .value = "FILE"},
        {.name = "--spent-tokens",
         .summary = "notes spent tokens there, so that tokens made before a restart are good after "
                    "it, once; without it they are refused",
         .text = &o->spent_path,
         .value = "FILE"},
        {.name = "--spare",
         .summary = "another server with the same --key, in numbers with a port: SIGUSR1 sends all "
                    "players there, and then this one ends",
         .text = &o->spare_text,
         .value = "ADDRESS"},
        {.name = "--requests-per-second",
         .summary = "how many requests to connect are opened",
         .number = &o->requests_per_second,
         .lo = 1,
         .hi = 1000000},
        {.name = "--pending",
         .summary =
             "how many may be connecting at the same time; 0: as many as --clients, at least "
             "256",
         .number = &o->pending,
         .lo = 0,
         .hi = 1000000},
        {.name = "--pending-per-client",
         .summary = "of these, with one client id; 0: no limit",
         .number = &o->pending_per_client,
         .lo = 0,
         .hi = 1000000},
        {.name = "--pending-per-prefix",
         .summary = "of these, from one /24 (IPv4) or /56 (IPv6), loopback never; 0: no limit",
         .number = &o->pending_per_prefix,
         .lo = 0,
         .hi = 1000000},
        {.name = "--clients",
         .summary = "how many fit",
         .number = &o->clients,
         .lo = 1,
         .hi = PH_NET_CLIENTS_MAX},
        {.name = "--kbps",
         .summary = "budget of each client on the wire, in kbit/s; 0: no limit",
         .decimal = &o->kbps,
         .lo = 0,
         .hi = 100000},
        {.name = "--hz",
         .summary = "sends per second to a client, or auto; classic 5, pinhole auto",
         .text = &o->hz_text,
         .value = "N"},
        {.name = "--profile",
         .summary = "of the wire; clients must use the same",
         .text = &o->profile_text,
         .value = "WORD",
         .choices = "classic|pinhole"},
        {.name = "--threads", .summary = "0: all cores", .number = &o->threads, .lo = 0, .hi = 256},
        {.name = "--metrics",
         .summary = "port on 127.0.0.1 for Prometheus; 0: any that is free; without it none",
         .text = &o->metrics_text,
         .value = "PORT"},
        {.name = "--truth",
         .summary = "port on 127.0.0.1 where pinhole bots finds the truth; 0: any; without it none",
         .text = &o->truth_text,
         .value = "PORT"},
        {.name = "--audit",
         .summary = "a line for each client that comes and goes, with time, number and why; SIGHUP "
                    "opens it again",
         .text = &o->audit_path,
         .value = "FILE"},
        {.name = "--audit-addresses",
         .summary = "addresses of clients in the audit log, too",
         .is_set = &o->has_audit_addresses},
        {.name = "--record",
         .summary = "a recording of the world (docs/measuring.md), by a thread of its own",
         .text = &o->record_path,
         .value = "FILE"},
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
         .summary = "of a scene or load; 0: as usual",
         .number = &o->entities,
         .lo = 0,
         .hi = 100000},
        {.name = "--schema",
         .summary = "a schema (docs/schema.md); without it one is derived",
         .text = &o->schema_path,
         .value = "FILE"},
        {.name = "--radius",
         .summary = "how far a client sees, in m; 0: 250, of load 500",
         .decimal = &o->radius_m,
         .lo = 0,
         .hi = 2000000},
        {.name = "--slots",
         .summary = "how many entities a client sees at most",
         .number = &o->slots,
         .lo = 1,
         .hi = PH_VISIBLE_MAX},
        {.name = "--vision-hz",
         .summary =
             "how often a second a client's view is refreshed for entities that walk; one that "
             "appears or jumps is seen at once",
         .decimal = &o->vision_hz,
         .lo = 1,
         .hi = 1000},
        {.name = "--seed", .summary = "of scenes", .number = &o->seed, .lo = 0, .hi = INT32_MAX},
        {.name = "--seconds",
         .summary = "ends after so long; 0: never",
         .number = &o->seconds,
         .lo = 0,
         .hi = INT32_MAX},
        {.name = "--fixed-rate",
         .summary = "send at --kbps whatever the links show",
         .is_set = &o->is_rate_fixed},
        {.name = "--quiet", .summary = "no line per second", .is_set = &o->is_quiet},
        {.name = "--cell",
         .summary = "with --bus: side of a cell in m, the same on all machines",
         .number = &o->cell_m,
         .lo = 16,
         .hi = 16000},
        {.name = "--controlled",
         .summary = "with --bus: reports to pinhole cluster; loopback only",
         .is_set = &o->is_controlled},
    };
    const int count = (int)(sizeof all / sizeof *all);
    memcpy(rows, all, sizeof all);
    rows[count + bus_options_rows(&o->bus, "--bus", rows + count)] = (app_option){0};
}

// ---- what the words mean

static bool complain(const char* sentence)
{
    fprintf(stderr, COMMAND ": %s\n", sentence);
    return false;
}

// All addresses of a machine are none that a client could send to.
static ph_address reachable(const ph_address* listen)
{
    const uint8_t any[16] = {0};
    const uint8_t loopback[4] = {127, 0, 0, 1};
    const uint8_t loopback6[16] = {[15] = 1};
    if (memcmp(listen->bytes, any, sizeof any) != 0) {
        return *listen;
    }
    return listen->kind == PH_ADDRESS_IPV6 ? ph_address_make_ipv6(loopback6, listen->port)
                                           : ph_address_make_ipv4(loopback, listen->port);
}

static bool check_private(const serve_options* options)
{
    const ph_address* listen = &options->listen;
    return ((ph_address_is_private(listen) || ph_address_is_any(listen)) &&
            ph_address_is_private(&options->public_address)) ||
           complain("--insecure-dev takes addresses of loopback or of a private network, for "
                    "--listen also all of the machine, as in '--listen 0.0.0.0:40000 --public "
                    "192.168.1.7:40000'.");
}

static bool read_addresses(serve_options* options)
{
    if (ph_address_parse(options->listen_text, &options->listen, NULL) != PH_OK) {
        return complain("--listen takes an address in numbers with a port, as in '--listen "
                        "0.0.0.0:40000' or '--listen [::1]:40000'.");
    }
    options->public_address = reachable(&options->listen);
    if (options->public_text != NULL &&
        ph_address_parse(options->public_text, &options->public_address, NULL) != PH_OK) {
        return complain("--public takes an address in numbers with a port, as in '--public "
                        "192.0.2.1:40000'.");
    }
    if (options->spare_text != NULL &&
        (ph_address_parse(options->spare_text, &options->spare, NULL) != PH_OK ||
         options->spare.port == 0)) {
        return complain("--spare takes an address in numbers with a port, as in '--spare "
                        "192.0.2.2:40000'.");
    }
    return !options->is_insecure_dev || check_private(options);
}

static bool read_hz(serve_options* options)
{
    if (options->hz_text == NULL) {
        options->hz = options->profile == PH_PROFILE_CLASSIC ? CLASSIC_HZ : PH_SENDS_AUTO;
        return true;
    }
    if (strcmp(options->hz_text, "auto") == 0) {
        options->hz = PH_SENDS_AUTO;
        return true;
    }
    char* end = NULL;
    options->hz = strtod(options->hz_text, &end);
    return (*end == '\0' && options->hz >= 0.1 && options->hz <= 1000.0) ||
           complain("--hz takes sends per second from 0.1 to 1000, or auto, as in '--hz 5'.");
}

static bool check_bus(serve_options* options)
{
    if (options->bus.servers == NULL) {
        return true;
    }
    if (!bus_options_check(&options->bus, COMMAND, "front")) {
        return false;
    }
    if (options->key_path == NULL) {
        return complain("--bus stands beside --key, which is the director's, too, as in '--key "
                        "server.key'; 'pinhole token --make-key server.key' makes one.");
    }
    if (options->has_truth || options->spare_text != NULL || strcmp(options->source, "load") == 0) {
        return complain(
            "--bus goes without --truth, --spare and load: sims have the truth, and the "
            "director has spares.");
    }
    return true;
}

static bool check(serve_options* options)
{
    if (options->source == NULL && options->bus.servers != NULL && options->schema_path != NULL) {
        options->is_schema_alone = true;
        options->source = options->schema_path;
    }
    if (options->source == NULL) {
        return complain(
            "say what to host: a recording or a scene, as in 'pinhole serve "
            "scene:town', or the schema of your game beside --bus, as in 'pinhole "
            "serve --schema game.schema --bus nats://127.0.0.1:4222 --key server.key'.");
    }
    const bool is_load = strcmp(options->source, SERVE_LOAD) == 0;
    if (is_load && options->schema_path != NULL) {
        return complain("--schema is for recordings and scenes: load has a schema of its own.");
    }
    if (options->entities > 0 && !is_load && strncmp(options->source, "scene:", 6) != 0) {
        return complain("--entities is for scenes and load: a recording has those that it has.");
    }
    if (options->kbps > 0.0 && options->kbps < 1.0) {
        return complain("--kbps takes 1 to 100000, or 0 for no limit, as in '--kbps 13'.");
    }
    if (options->second_key_path != NULL && options->key_path == NULL) {
        return complain("--second-key stands beside --key, as in '--key server.key --second-key "
                        "next.key'.");
    }
    if (options->spare_text != NULL && options->key_path == NULL) {
        return complain("--spare stands beside --key: the other server has the same, as in '--key "
                        "server.key --spare 192.0.2.2:40000'.");
    }
    if (options->is_insecure_dev && options->key_path != NULL) {
        return complain("--insecure-dev stands in place of --key: leave one of them out.");
    }
    if (options->has_audit_addresses && options->audit_path == NULL) {
        return complain("--audit-addresses stands beside --audit, as in '--audit audit.log "
                        "--audit-addresses'.");
    }
    options->profile =
        strcmp(options->profile_text, "classic") == 0 ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
    options->has_metrics = options->metrics_text != NULL;
    options->has_truth = options->truth_text != NULL;
    if ((options->has_metrics && !app_option_port(options->metrics_text, &options->metrics_port)) ||
        (options->has_truth && !app_option_port(options->truth_text, &options->truth_port))) {
        return complain(
            "--metrics and --truth take a port from 0 to 65535, as in '--metrics 9100'.");
    }
    return check_bus(options) && read_addresses(options) && read_hz(options);
}

bool serve_options_parse(int argc, char** argv, serve_options* options, int* status)
{
    *options = (serve_options){
        .listen_text = LISTEN_USUAL,
        .profile_text = "pinhole",
        .clients = 64,
        .requests_per_second = 10000,
        .pending_per_client = 4,
        .kbps = 13.0,
        .vision_hz = SERVE_VISION_HZ_USUAL,
        .slots = 250,
        .seed = 1,
        .bus = bus_options_default(),
        .cell_m = 250,
    };
    app_option table[ROW_COUNT];
    fill_rows(options, table);
    const app_usage usage = {COMMAND, print_help};
    return app_options_read(&usage, table, argc, argv, status) && check(options);
}
