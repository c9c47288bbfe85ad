// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole plan`: a calculator. Every line says how it came about, and the last ones what gives way first.

#include "plan_command.h"

#include "command.h"
#include "kit/json.h"
#include "options.h"
#include "plan_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COMMAND "pinhole plan"
#define MARGIN_M 50.0 // as ph_bus_front_def
#define CELL_M 250.0
#define GIB 1073741824.0
enum { ROW_COUNT = 15, LIMITS = 7 };

typedef struct plan_request {
    int viewers;
    int entities;
    int hot_spot;
    int cores;
    int front_viewers;
    int standbys;
    double hz;
    double sends_hz;
    double kbps;
    double radius_m;
    double density; // entities per km2
    double game_us;
    double network_gbps;
    const char* profile;
    const char* figures_path;
    bool is_json;
} plan_request;

typedef struct plan_answer {
    // Front-ends.
    int fronts;
    double front_viewers;
    double front_entities; // of its local world
    double front_records_per_s;
    double front_cores;
    double front_gib;
    double front_out_mbps; // to players
    double front_in_mbps;  // from sims
    // Sims.
    double records_per_s;
    double sim_cores;
    int sims; // that own, and so many more for each that stands by
    double sim_out_mbps;
    // NATS.
    double deliveries_per_s;
    double nats_cores;
    double nats_mbps;
    int nats_nodes;
    int machines;
    // The hot spot.
    double hot_cell;     // players in a cell of 250 m
    double hot_front_ms; // of a front-end's tick, on one thread
    double hot_sim_ms;   // of the sim that owns all of it
    double hot_most;     // players, so that neither takes half of a tick
} plan_answer;

// ---- options

static void print_help(const app_option* table)
{
    printf(COMMAND
           ": machines, cores, memory and traffic for so many players\n"
           "\n"
           "usage: " COMMAND " --viewers N [options]\n"
           "\n"
           "Reckons from what a record costs a sim, NATS and a front-end, and a viewer its "
           "front-end,\n"
           "as measured by 'pinhole bench bus' and 'pinhole bench load', and says what gives way\n"
           "first. Machines are half full at the usual load, so that others can die. Players are\n"
           "given to front-ends by place: at random each front-end would need the whole world.\n"
           "Your own figures: pinhole bench bus --json > f.json; pinhole bench load --json >> "
           "f.json.\n"
           "docs/distributed.md, 'How to size a deployment', says more.\n"
           "\n"
           "options:\n");
    app_options_print(table);
    printf("\nexample: " COMMAND " --viewers 1000000 --entities 1200000 --hot-spot 20000\n");
}

static void fill_rows(plan_request* r, app_option rows[ROW_COUNT])
{
    const app_option all[] = {
        {.name = "--viewers",
         .summary = "players at the same time",
         .number = &r->viewers,
         .lo = 1,
         .hi = 100000000},
        {.name = "--entities",
         .summary = "that move, players' own included; 0: a fifth more than players",
         .number = &r->entities,
         .lo = 0,
         .hi = 100000000},
        {.name = "--hot-spot",
         .summary = "players that come together in one km2; 0: none",
         .number = &r->hot_spot,
         .lo = 0,
         .hi = 10000000},
        {.name = "--density",
         .summary = "entities per km2 elsewhere",
         .decimal = &r->density,
         .lo = 1,
         .hi = 1000000},
        {.name = "--radius",
         .summary = "how far a player sees, in m",
         .decimal = &r->radius_m,
         .lo = 1,
         .hi = 100000},
        {.name = "--kbps",
         .summary = "budget of a player on the wire, in kbit/s",
         .decimal = &r->kbps,
         .lo = 1,
         .hi = 100000},
        {.name = "--hz",
         .summary = "ticks per second of the world",
         .decimal = &r->hz,
         .lo = 1,
         .hi = 1000},
        {.name = "--sends",
         .summary = "datagrams per second and player",
         .decimal = &r->sends_hz,
         .lo = 1,
         .hi = 1000},
        {.name = "--profile",
         .summary = "of the wire",
         .text = &r->profile,
         .value = "WORD",
         .choices = "classic|pinhole"},
        {.name = "--cores", .summary = "of a machine", .number = &r->cores, .lo = 1, .hi = 1024},
        {.name = "--network",
         .summary = "of a machine, in Gbit/s",
         .decimal = &r->network_gbps,
         .lo = 1,
         .hi = 1000},
        {.name = "--front-viewers",
         .summary = "players of one front-end at most",
         .number = &r->front_viewers,
         .lo = 1,
         .hi = 1000000},
        {.name = "--game",
         .summary = "what your game takes for an entity and tick, in us of one core",
         .decimal = &r->game_us,
         .lo = 0,
         .hi = 100000},
        {.name = "--figures",
         .summary = "figures of your own machine; without it those of ours",
         .text = &r->figures_path,
         .value = "FILE.json"},
        {.name = "--json", .summary = "one JSON object on standard output", .is_set = &r->is_json},
    };
    _Static_assert(sizeof all / sizeof *all == ROW_COUNT, "rows");
    memcpy(rows, all, sizeof all);
    rows[ROW_COUNT] = (app_option){0};
}

static bool parse(plan_request* r, int argc, char** argv, int* status)
{
    *r = (plan_request){
        .hz = 10.0,
        .sends_hz = 5.0,
        .kbps = 13.0,
        .radius_m = 250.0,
        .density = 1000.0,
        .game_us = 5.0,
        .network_gbps = 10.0,
        .cores = 16,
        .front_viewers = 20000,
        .standbys = 1,
        .profile = "pinhole",
    };
    app_option table[ROW_COUNT + 1];
    fill_rows(r, table);
    const app_usage usage = {COMMAND, print_help};
    if (!app_options_read(&usage, table, argc, argv, status)) {
        return false;
    }
    if (r->viewers == 0) {
        fprintf(stderr, COMMAND ": say how many players, as in '--viewers 1000000'.\n");
        return false;
    }
    r->entities = r->entities > 0 ? r->entities : r->viewers + r->viewers / 5;
    return true;
}

// ---- reckoning

// What a front-end needs: its share of the area and what its viewers see beyond its edge, in whole cells.
static double covered_km2(const plan_request* r, double share)
{
    const double area_km2 = r->entities / r->density;
    const double side_m = 1000.0 * sqrt(area_km2 * share);
    const double wide_m = side_m + 2.0 * (r->radius_m + MARGIN_M) + CELL_M;
    return fmin(wide_m * wide_m / 1e6, area_km2);
}

static double front_cores_of(const plan_request* r, const plan_figures* f, double viewers,
                             double records_per_s)
{
    const int profile = strcmp(r->profile, "pinhole") == 0;
    return viewers * f->us_per_viewer_tick[profile] * r->hz / 1e6 +
           viewers * r->sends_hz * f->net_us_per_datagram / 1e6 + records_per_s * f->front_ns / 1e9;
}

static void reckon_fronts(const plan_request* r, const plan_figures* f, plan_answer* a)
{
    const int profile = strcmp(r->profile, "pinhole") == 0;
    const double usable = r->cores / 2.0;
    // As few as the limit of viewers allows, and as many as the cores want.
    for (a->fronts = (r->viewers + r->front_viewers - 1) / r->front_viewers;; ++a->fronts) {
        a->front_viewers = (double)r->viewers / a->fronts;
        a->front_entities = covered_km2(r, 1.0 / a->fronts) * r->density;
        a->front_records_per_s = a->front_entities * r->hz;
        a->front_cores = front_cores_of(r, f, a->front_viewers, a->front_records_per_s);
        if (a->front_cores <= usable || a->front_viewers <= 1.0) {
            break;
        }
    }
    a->fronts = a->fronts < 2 ? 2 : a->fronts; // one covers for the other
    a->front_gib =
        a->front_viewers * f->bytes_per_viewer[profile] / GIB + a->front_entities * 1000.0 / GIB;
    a->front_out_mbps = a->front_viewers * r->kbps / 1000.0;
    a->front_in_mbps = a->front_records_per_s * f->record_bytes * 8.0 / 1e6;
}

static void reckon_sims(const plan_request* r, const plan_figures* f, plan_answer* a)
{
    a->records_per_s = r->entities * r->hz;
    a->sim_cores = a->records_per_s * f->sim_ns / 1e9 + r->entities * r->hz * r->game_us / 1e6;
    // A sim is one thread, so that a machine has several: half of the cores are used.
    a->sims = (int)ceil(a->sim_cores / 0.5);
    a->sims = a->sims < 1 ? 1 : a->sims;
    a->sim_out_mbps = a->records_per_s * f->record_bytes * 8.0 / 1e6;
}

static void reckon_nats(const plan_request* r, const plan_figures* f, plan_answer* a)
{
    a->deliveries_per_s = a->fronts * a->front_records_per_s + r->standbys * a->records_per_s;
    a->nats_cores = a->deliveries_per_s * f->server_ns / 1e9;
    a->nats_mbps = a->deliveries_per_s * f->record_bytes * 8.0 / 1e6 + a->sim_out_mbps;
    const double by_cores = a->nats_cores / (r->cores / 2.0);
    const double by_network = a->nats_mbps / (r->network_gbps * 500.0);
    const int needed = (int)ceil(fmax(by_cores, by_network));
    a->nats_nodes = needed < 3 ? 3 : needed;
}

static void reckon_hot_spot(const plan_request* r, const plan_figures* f, plan_answer* a)
{
    const double tick_ms = 1000.0 / r->hz;
    a->hot_cell = r->hot_spot * CELL_M * CELL_M / 1e6;
    a->hot_front_ms = r->hot_spot * f->front_ns / 1e6;
    a->hot_sim_ms = r->hot_spot * (f->sim_ns / 1e6 + r->game_us / 1e3);
    const double per_player_ms = fmax(f->front_ns / 1e6, f->sim_ns / 1e6 + r->game_us / 1e3);
    a->hot_most = tick_ms / 2.0 / per_player_ms;
}

static plan_answer reckon(const plan_request* r, const plan_figures* f)
{
    plan_answer a = {0};
    reckon_fronts(r, f, &a);
    reckon_sims(r, f, &a);
    reckon_nats(r, f, &a);
    reckon_hot_spot(r, f, &a);
    const int sim_machines =
        (int)ceil((1 + r->standbys) * a.sims / (double)(r->cores > 1 ? r->cores : 1));
    a.machines = a.fronts + (sim_machines < 2 ? 2 : sim_machines) + a.nats_nodes;
    return a;
}

// ---- what gives way first

typedef struct limit {
    const char* what;
    double used; // 1: nothing is left
    const char* remedy;
} limit;

static void fill_limits(const plan_request* r, const plan_figures* f, const plan_answer* a,
                        limit limits[LIMITS])
{
    const double tick_ms = 1000.0 / r->hz;
    const limit all[LIMITS] = {
        {"cores of a front-end", a->front_cores / r->cores,
         "more front-ends, by fewer players for each: --front-viewers"},
        {"network of a front-end",
         (a->front_out_mbps + a->front_in_mbps) / (1000.0 * r->network_gbps),
         "more front-ends, or less for each player: --kbps"},
        {"one thread of a front-end: what comes from sims",
         a->front_records_per_s * f->front_ns / 1e9,
         "more front-ends, by place; slower ticks far out"},
        {"network of the NATS servers", a->nats_mbps / (1000.0 * r->network_gbps * a->nats_nodes),
         "more servers, or a NATS cluster for each part of the world"},
        {"cores of the NATS servers", a->nats_cores / ((double)r->cores * a->nats_nodes),
         "more servers, or a NATS cluster for each part of the world"},
        {"the hot spot at a front-end, of its tick", a->hot_front_ms / tick_ms,
         "a limit for the place, copies of it, or slower ticks there"},
        {"the hot spot at its sim, of its tick", a->hot_sim_ms / tick_ms,
         "smaller regions there, so that several sims have it; less game for each entity"},
    };
    memcpy(limits, all, sizeof all);
}

static int first_limit(const limit limits[LIMITS])
{
    int first = 0;
    for (int i = 1; i < LIMITS; ++i) {
        first = limits[i].used > limits[first].used ? i : first;
    }
    return first;
}

// ---- output

enum { WHOLE_SIZE = 32 };

// "1,234,567": figures here go from one machine to a million players.
static const char* whole(double value, char text[WHOLE_SIZE])
{
    char plain[WHOLE_SIZE];
    const int digits = snprintf(plain, sizeof plain, "%.0f", fmin(value, 1e18));
    int length = 0;
    for (int i = 0; i < digits; ++i) {
        if (i > 0 && (digits - i) % 3 == 0) {
            text[length++] = ',';
        }
        text[length++] = plain[i];
    }
    text[length] = '\0';
    return text;
}

static void print_fronts(const plan_request* r, const plan_figures* f, const plan_answer* a)
{
    char n[3][WHOLE_SIZE];
    // Of two the second one covers for the first, which could have all players.
    const char* share = a->front_viewers >= r->viewers ? "each for all" : "each for";
    printf("front-ends   %8d   %s %s players: %.1f of %d cores, %.1f GiB,\n"
           "                        out %s Mbit/s to players, in %s Mbit/s from sims\n",
           a->fronts, share, whole(a->front_viewers, n[0]), a->front_cores, r->cores, a->front_gib,
           whole(a->front_out_mbps, n[1]), whole(a->front_in_mbps, n[2]));
    printf("                        cores: players x %.3g us x %.3g ticks/s,\n"
           "                        + players x %.3g us x %.3g datagrams/s,\n"
           "                        + %.0f ns x %s records/s\n",
           f->us_per_viewer_tick[strcmp(r->profile, "pinhole") == 0], r->hz, f->net_us_per_datagram,
           r->sends_hz, f->front_ns, whole(a->front_records_per_s, n[0]));
    printf("                        its world, by place: %s of %s entities\n",
           whole(a->front_entities, n[1]), whole(r->entities, n[2]));
}

static void print_sims(const plan_request* r, const plan_figures* f, const plan_answer* a)
{
    char n[WHOLE_SIZE];
    printf("sims         %8d   of half a core each, and %d more that stand by:\n"
           "                        %.1f cores in all, out %s Mbit/s\n",
           a->sims, a->sims * r->standbys, a->sim_cores, whole(a->sim_out_mbps, n));
    printf("                        cores: %s records/s x (%.0f ns, and %.3g us of your game)\n",
           whole(a->records_per_s, n), f->sim_ns, r->game_us);
}

static void print_parts(const plan_request* r, const plan_figures* f, const plan_answer* a)
{
    char n[2][WHOLE_SIZE];
    print_fronts(r, f, a);
    print_sims(r, f, a);
    printf("nats-servers %8d   %.2g cores and %s Mbit/s in all: %s deliveries/s x %.0f ns\n",
           a->nats_nodes, a->nats_cores, whole(a->nats_mbps, n[0]),
           whole(a->deliveries_per_s, n[1]), f->server_ns);
    printf("directors           2   beside the others; either will do\n");
    printf("machines     %8d   of %d cores, half full, so that others can die:\n"
           "                        %d for front-ends, %d for sims, %d for nats-servers\n",
           a->machines, r->cores, a->fronts, a->machines - a->fronts - a->nats_nodes,
           a->nats_nodes);
}

static void print_hot_spot(const plan_request* r, const plan_answer* a)
{
    char n[3][WHOLE_SIZE];
    printf("hot spot     %8s   players in 1 km2, %s in a cell of 250 m. Of a tick of %.3g ms\n"
           "                        a front-end needs %.1f ms for what comes from sims,\n"
           "                        and the sim there %.1f ms; up to %s players fit\n",
           whole(r->hot_spot, n[0]), whole(a->hot_cell, n[1]), 1000.0 / r->hz, a->hot_front_ms,
           a->hot_sim_ms, whole(a->hot_most, n[2]));
}

static void print_answer(const plan_request* r, const plan_figures* f, const plan_answer* a)
{
    limit limits[LIMITS];
    fill_limits(r, f, a, limits);
    const int first = first_limit(limits);
    char n[3][WHOLE_SIZE];
    printf("%s players, %s entities (%s per km2), %.3g ticks/s, %.4g kbit/s, profile %s\n",
           whole(r->viewers, n[0]), whole(r->entities, n[1]), whole(r->density, n[2]), r->hz,
           r->kbps, r->profile);
    printf("figures: %s\n\n", f->machine);
    print_parts(r, f, a);
    if (r->hot_spot > 0) {
        print_hot_spot(r, a);
    }
    printf("\nwhat is used, and what gives way first:\n");
    // Without a hot spot the last two say nothing.
    for (int i = 0; i < (r->hot_spot > 0 ? LIMITS : LIMITS - 2); ++i) {
        printf("  %5.1f %%  %s%s\n", 100.0 * limits[i].used, limits[i].what,
               i == first ? "   <- first" : "");
    }
    printf("%s: %s.\n", limits[first].used > 1.0 ? "It does not fit" : "What helps then",
           limits[first].remedy);
}

static void print_json(const plan_request* r, const plan_figures* f, const plan_answer* a)
{
    limit limits[LIMITS];
    fill_limits(r, f, a, limits);
    const int first = first_limit(limits);
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_text(&json, "figures", f->machine);
    ph_json_integer(&json, "viewers", r->viewers);
    ph_json_integer(&json, "entities", r->entities);
    ph_json_integer(&json, "machines", a->machines);
    ph_json_integer(&json, "fronts", a->fronts);
    ph_json_number(&json, "front_viewers", a->front_viewers);
    ph_json_number(&json, "front_cores", a->front_cores);
    ph_json_number(&json, "front_gib", a->front_gib);
    ph_json_number(&json, "front_out_mbps", a->front_out_mbps);
    ph_json_number(&json, "front_in_mbps", a->front_in_mbps);
    ph_json_number(&json, "front_entities", a->front_entities);
    ph_json_integer(&json, "sims", a->sims);
    ph_json_integer(&json, "standbys", a->sims * r->standbys);
    ph_json_number(&json, "sim_cores", a->sim_cores);
    ph_json_number(&json, "sim_out_mbps", a->sim_out_mbps);
    ph_json_integer(&json, "nats_servers", a->nats_nodes);
    ph_json_number(&json, "nats_cores", a->nats_cores);
    ph_json_number(&json, "nats_mbps", a->nats_mbps);
    ph_json_number(&json, "hot_spot_front_ms", a->hot_front_ms);
    ph_json_number(&json, "hot_spot_sim_ms", a->hot_sim_ms);
    ph_json_number(&json, "hot_spot_most", a->hot_most);
    ph_json_text(&json, "first", limits[first].what);
    ph_json_number(&json, "first_used_pct", 100.0 * limits[first].used);
    ph_json_close(&json);
}

int plan_command(int argc, char** argv)
{
    plan_request request;
    ph_fault fault = {0};
    int status = APP_EXIT_USAGE;
    if (!parse(&request, argc, argv, &status)) {
        return status;
    }
    plan_figures figures = plan_figures_usual();
    if (request.figures_path != NULL &&
        !plan_figures_read(&figures, request.figures_path, &fault)) {
        fprintf(stderr, COMMAND ": --figures: %s: %s.\n", request.figures_path, fault.message);
        return APP_EXIT_FAILURE;
    }
    const plan_answer answer = reckon(&request, &figures);
    if (request.is_json) {
        print_json(&request, &figures, &answer);
    } else {
        print_answer(&request, &figures, &answer);
    }
    return APP_EXIT_OK;
}
