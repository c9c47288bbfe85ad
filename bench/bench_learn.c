// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench learn`: the tables of the pinhole profile, learned on recordings and scenes, and
// what they cost: each game with its own tables, with those of every other one, with the mixture.

#include "bench.h"

#include "command.h"
#include "learn_game.h"
#include "learn_tables.h"
#include "learn_traffic.h"
#include "options.h"

#include "kit/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAMES_MAX = 12, VIEWERS = 5 };

// What the tables of the library are learned on, beside recordings that are named.
static const char* const SCENES[] = {"scene:town", "scene:wander", "scene:race", "scene:asteroids"};

static void print_text(void)
{
    printf("Plays a model of the traffic on recordings (up to four, given by their paths) and on\n"
           "the scenes town, wander, race and asteroids, counts every symbol that the pinhole\n"
           "profile would write, and prints bits per update. --out FILE writes the tables that\n"
           "become src/schema/model_tables.c.\n");
}

// ---- playing

static int longest_entity(const ph_recording* recording, int skip)
{
    int best = 0;
    int best_rows = -1;
    for (int e = skip; e < recording->entity_count; e += VIEWERS) {
        int first;
        const int rows = ph_recording_rows(recording, e, &first);
        if (rows > best_rows) {
            best = e;
            best_rows = rows;
        }
    }
    return best;
}

static bool play(learn_game* game)
{
    // 13 kbit/s in few large packets and in many small ones, and 4 kbit/s.
    static const double HZ[VIEWERS] = {2, 5, 10, 20, 1};
    static const int BITS[VIEWERS] = {6000, 2200, 900, 260, 3600};
    const ph_recording* recording = game->material.recording;
    for (int v = 0; v < VIEWERS; ++v) {
        const int interval = (int)(recording->rate_hz / HZ[v] + 0.5);
        const learn_viewer viewer = {.entity = longest_entity(recording, v),
                                     .interval_ticks = interval > 0 ? interval : 1,
                                     .packet_bits = BITS[v],
                                     .seed = (uint64_t)v + 1};
        if (!learn_traffic_run(game, &viewer)) {
            return false;
        }
    }
    return true;
}

// ---- printing

// The density that a packet is cheapest with, from 0: the first one with flags.
static int density_of(const learn_packet* packet, const learn_tables* tables)
{
    int best = 0;
    double best256 = 1e300;
    for (int d = 0; d < PH_DENSITIES - 1; ++d) {
        double cost256 = 0.0;
        for (int u = 0; u < PH_URGENCIES; ++u) {
            const uint16_t* costs = tables->costs + PH_AT_TOLD + (d * PH_URGENCIES + u) * 3;
            cost256 += (double)packet->silent[u] * costs[0] + (double)packet->told[u] * costs[1];
        }
        if (cost256 < best256) {
            best = d;
            best256 = cost256;
        }
    }
    return best;
}

// How many of each urgency are told, and how many the tables expect.
typedef struct told_sums {
    double told[PH_URGENCIES];
    double expected[PH_URGENCIES];
    double spread[PH_URGENCIES];
} told_sums;

static void add_told(told_sums* sums, const learn_game* game, const learn_tables* tables)
{
    const double weight = 1e5 / (double)game->figures.updates;
    for (int p = 0; p < game->packet_count; ++p) {
        const learn_packet* packet = &game->packets[p];
        const int density = density_of(packet, tables);
        for (int u = 0; u < PH_URGENCIES; ++u) {
            const int model = density * PH_URGENCIES + u;
            const double share =
                1.0 - tables->cumulative[PH_AT_TOLD + model * 3 + 1] / (double)PH_MODEL_TOTAL;
            const double count = weight * (packet->told[u] + packet->silent[u]);
            sums->told[u] += weight * packet->told[u];
            sums->expected[u] += count * share;
            sums->spread[u] += count * share * (1.0 - share);
        }
    }
}

// Newton's steps towards offsets with which as many are expected as are told.
static void fit_told(const learn_game* games, int count, double offsets[PH_URGENCIES])
{
    enum { STEPS = 25 };
    static learn_tables tables;
    for (int step = 0; step < STEPS; ++step) {
        told_sums sums = {0};
        learn_tables_make(&tables, NULL, 0, offsets);
        for (int g = 0; g < count; ++g) {
            add_told(&sums, &games[g], &tables);
        }
        for (int u = 0; u < PH_URGENCIES; ++u) {
            const double way = (sums.told[u] - sums.expected[u]) / (sums.spread[u] + 100.0);
            offsets[u] += way > 0.5 ? 0.5 : way < -0.5 ? -0.5 : way;
        }
    }
}

static void print_figures(const learn_game* game)
{
    const learn_figures* figures = &game->figures;
    const double per = 1.0 / PH_COST_PER_BIT / (double)figures->updates;
    const double all = (double)(figures->told256 + figures->mask256 + figures->position256 +
                                figures->heading256 + figures->others256);
    printf("%-28.28s %8llu %6.2f %6.2f %6.2f %6.2f %6.2f %6.2f %8.1f\n",
           strrchr(game->name, '/') != NULL ? strrchr(game->name, '/') + 1 : game->name,
           (unsigned long long)figures->updates, (double)figures->told256 * per,
           (double)figures->mask256 * per, (double)figures->position256 * per,
           (double)figures->heading256 * per, (double)figures->others256 * per, all * per,
           figures->enters > 0
               ? (double)figures->enter256 / PH_COST_PER_BIT / (double)figures->enters
               : 0.0);
}

// Rows: whose symbols; columns: whose tables.
static void print_cross(const learn_game* games, int count, const double* offsets)
{
    static learn_tables own[GAMES_MAX];
    static learn_tables others[GAMES_MAX];
    const ph_pinhole_counts* all[GAMES_MAX];
    for (int g = 0; g < count; ++g) {
        const ph_pinhole_counts* one[] = {&games[g].counts};
        learn_tables_make(&own[g], one, 1, offsets);
        int rest = 0;
        for (int i = 0; i < count; ++i) {
            if (i != g) {
                all[rest++] = &games[i].counts;
            }
        }
        learn_tables_make(&others[g], all, rest, offsets);
    }
    for (int i = 0; i < count; ++i) {
        all[i] = &games[i].counts;
    }
    static learn_tables mixture;
    static learn_tables curves;
    learn_tables_make(&mixture, all, count, offsets);
    learn_tables_make(&curves, NULL, 0, offsets);
    printf("\nall bits of records, in %% of what own tables need; columns: tables of each game,\n"
           "then the mixture, the mixture of the others, and curves without counts\n");
    for (int g = 0; g < count; ++g) {
        const double least = learn_tables_bits(&own[g], &games[g].counts);
        printf("%-28.28s", strrchr(games[g].name, '/') != NULL ? strrchr(games[g].name, '/') + 1
                                                               : games[g].name);
        for (int i = 0; i < count; ++i) {
            printf(" %5.0f", 100.0 * learn_tables_bits(&own[i], &games[g].counts) / least);
        }
        printf(" | %5.1f %5.1f %5.1f\n",
               100.0 * learn_tables_bits(&mixture, &games[g].counts) / least,
               100.0 * learn_tables_bits(&others[g], &games[g].counts) / least,
               100.0 * learn_tables_bits(&curves, &games[g].counts) / least);
    }
}

static bool write_tables(const learn_game* games, int count, const double* offsets,
                         const char* path, bool is_schema)
{
    static learn_tables tables;
    const ph_pinhole_counts* all[GAMES_MAX];
    for (int i = 0; i < count; ++i) {
        all[i] = &games[i].counts;
    }
    learn_tables_make(&tables, all, count, offsets);
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "pinhole bench learn: cannot write %s\n", path);
        return false;
    }
    if (is_schema) {
        learn_tables_print_schema(&tables, file);
    } else {
        learn_tables_print(&tables, file);
    }
    return fclose(file) == 0;
}

// ---- the command

typedef struct learn_options {
    const char* recordings[4];
    const char* out;
    const char* tables;
    int rates[4];
    bool is_pose;
} learn_options;

static bool add_game(learn_game* games, int* count, const ph_sim_material_def* def)
{
    ph_fault fault = {0};
    learn_game* game = &games[*count];
    if (!learn_game_open(game, def, &fault)) {
        fprintf(stderr, "pinhole bench learn: %s: %s\n", def->source, fault.message);
        return false;
    }
    *count += 1;
    return true;
}

static bool add_games(learn_game* games, int* count, const learn_options* options)
{
    for (int i = 0; i < 4 && options->recordings[i] != NULL; ++i) {
        for (int pose = 0; pose < 2; ++pose) {
            const ph_sim_material_def def = {.source = options->recordings[i],
                                             .rate_hz = options->rates[i],
                                             .is_pose_only = pose != 0};
            if (!add_game(games, count, &def)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < sizeof SCENES / sizeof SCENES[0]; ++i) {
        const ph_sim_material_def def = {.source = SCENES[i], .seed = 1, .seconds = 40};
        if (!add_game(games, count, &def)) {
            return false;
        }
    }
    return true;
}

// What is sent depends on what it costs, so tables are learned again with the ones before, and at first
// with curves alone: what comes out does not depend on the tables of this build.
static bool play_all(learn_game* games, int count, double offsets[PH_URGENCIES])
{
    enum { PASSES = 3 };
    static learn_tables used;
    const ph_pinhole_counts* all[GAMES_MAX];
    memset(offsets, 0, PH_URGENCIES * sizeof offsets[0]);
    for (int pass = 0; pass < PASSES; ++pass) {
        for (int g = 0; g < count; ++g) {
            all[g] = &games[g].counts;
        }
        learn_tables_make(&used, all, pass == 0 ? 0 : count, offsets);
        for (int g = 0; g < count; ++g) {
            games[g].layouts.models = (ph_model_set){used.cumulative, used.costs};
            games[g].counts = (ph_pinhole_counts){0};
            games[g].figures = (learn_figures){0};
            games[g].packet_count = 0;
            if (!play(&games[g])) {
                return false;
            }
        }
        fit_told(games, count, offsets);
    }
    return true;
}

int bench_learn(int argc, char** argv)
{
    learn_options options = {.rates = {16, 20, 0, 0}};
    const app_option more[] = {
        {.name = "--first",
         .summary = "a recording",
         .text = &options.recordings[0],
         .value = "FILE"},
        {.name = "--second", .summary = "another", .text = &options.recordings[1], .value = "FILE"},
        {.name = "--first-rate",
         .summary = "its ticks per second",
         .number = &options.rates[0],
         .lo = 1,
         .hi = 1000},
        {.name = "--second-rate",
         .summary = "its ticks per second",
         .number = &options.rates[1],
         .lo = 1,
         .hi = 1000},
        {.name = "--out", .summary = "where the tables go", .text = &options.out, .value = "FILE"},
        {.name = "--tables",
         .summary = "the same as a schema, for `pinhole sim --tables`",
         .text = &options.tables,
         .value = "FILE"},
        {0},
    };
    const bench_about about = {.command = "pinhole bench learn",
                               .summary = "the tables of the pinhole profile",
                               .print_text = print_text,
                               .example = "--first walkers.csv.gz --out src/schema/model_tables.c",
                               .rounds_default = 1,
                               .more = more};
    bench_options common;
    int status;
    if (!bench_options_parse(&about, argc, argv, &common, &status)) {
        return status;
    }
    static learn_game games[GAMES_MAX];
    int count = 0;
    double offsets[PH_URGENCIES];
    bool is_done = add_games(games, &count, &options) && play_all(games, count, offsets);
    if (is_done) {
        printf("bits per update, with the tables of the pass before the last\n"
               "%-28s %8s %6s %6s %6s %6s %6s %6s %8s\n",
               "", "updates", "told", "mask", "place", "head", "other", "all", "enter");
        for (int g = 0; g < count; ++g) {
            print_figures(&games[g]);
        }
        print_cross(games, count, offsets);
        is_done =
            (options.out == NULL || write_tables(games, count, offsets, options.out, false)) &&
            (options.tables == NULL || write_tables(games, count, offsets, options.tables, true));
    }
    for (int g = 0; g < count; ++g) {
        learn_game_close(&games[g]);
    }
    return is_done ? APP_EXIT_OK : APP_EXIT_FAILURE;
}
