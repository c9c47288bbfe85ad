// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench record`: what a recorder costs the tick of a game. Two worlds with the same 10,000 walkers, all
// of which walk and turn, take turns: one is recorded. A tick is what sets them and ph_world_tick(). Beside it
// ph_recorder_tick() alone, and what coding costs where it is drained, which is another thread's business.

#include "bench.h"

#include "command.h"
#include "report.h"
#include "timer.h"

#include "base/rng.h"

#include <pinhole/recorder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_DEFAULT 100
#define ENTITIES 10000
#define SIDE_MM 3000000
#define STEP_MM 600

enum { CASE_TICK, CASE_RECORDED_TICK, CASE_TAKE, CASE_DRAIN, CASES_ALL };

// One of the two.
typedef struct recorded_walkers {
    ph_schema* schema;
    ph_world* world;
    ph_recorder* recorder; // of the one that is recorded
    ph_entity_id* ids;
    int64_t (*places_mm)[2];
    uint32_t tick;
    ph_rng rng;
} recorded_walkers;

static bool make_walkers(recorded_walkers* of, bool is_recorded)
{
    static const char SCHEMA[] = "class walker\n    place: position\n    heading: angle 10\n";
    *of = (recorded_walkers){.rng = ph_rng_make(5)};
    of->ids = calloc(ENTITIES, sizeof *of->ids);
    of->places_mm = calloc(ENTITIES, sizeof *of->places_mm);
    if (of->ids == NULL || of->places_mm == NULL ||
        ph_schema_parse(SCHEMA, strlen(SCHEMA), NULL, &of->schema, NULL) != PH_OK) {
        return false;
    }
    ph_world_def def = ph_world_def_default();
    def.schema = of->schema;
    def.entity_capacity = ENTITIES;
    if (ph_world_create(&def, &of->world) != PH_OK) {
        return false;
    }
    for (int i = 0; i < ENTITIES; ++i) {
        of->places_mm[i][0] = (int64_t)(ph_rng_next(&of->rng) % SIDE_MM);
        of->places_mm[i][1] = (int64_t)(ph_rng_next(&of->rng) % SIDE_MM);
        const ph_spawn spawn = {.key = (uint64_t)i + 1,
                                .position_mm = {of->places_mm[i][0], of->places_mm[i][1], 0}};
        if (ph_world_spawn(of->world, &spawn, &of->ids[i]) != PH_OK) {
            return false;
        }
    }
    ph_recorder_def recorder = ph_recorder_def_default();
    recorder.world = of->world;
    return !is_recorded || ph_recorder_create(&recorder, &of->recorder) == PH_OK;
}

static void destroy_walkers(recorded_walkers* of)
{
    ph_recorder_destroy(of->recorder);
    ph_world_destroy(of->world);
    ph_schema_destroy(of->schema);
    free(of->ids);
    free(of->places_mm);
}

static void play_tick(recorded_walkers* of)
{
    ++of->tick;
    for (int i = 0; i < ENTITIES; ++i) {
        of->places_mm[i][0] += (of->tick / 16 + (uint32_t)i) % 2 == 0 ? STEP_MM : -STEP_MM;
        const float heading = (float)(((uint32_t)i * 7 + of->tick * 97) & 1023) * 0.35f;
        (void)ph_world_move(of->world, of->ids[i], of->places_mm[i][0], of->places_mm[i][1], 0);
        (void)ph_world_set_property(of->world, of->ids[i], 1, PH_FIELD_F32, &heading,
                                    sizeof heading);
    }
    ph_world_tick(of->world);
}

static bool count_bytes(void* context, const void* bytes, size_t size)
{
    *(size_t*)context += size;
    bench_use(bytes, size);
    return true;
}

static int compare_record_times(const void* left, const void* right)
{
    const double a = *(const double*)left;
    const double b = *(const double*)right;
    return (a > b) - (a < b);
}

static bench_time sum_up_times(double* taken_ns, int rounds)
{
    qsort(taken_ns, (size_t)rounds, sizeof *taken_ns, compare_record_times);
    return (bench_time){.best_ns = taken_ns[0] / ENTITIES,
                        .median_ns = taken_ns[rounds / 2] / ENTITIES,
                        .worst_ns = taken_ns[rounds - 1] / ENTITIES};
}

// The first rounds take everything whole, and warm up. @return Whether no tick was left out.
static bool measure_walkers(recorded_walkers* plain, recorded_walkers* recorded, int rounds,
                            bench_time* times, size_t* bytes)
{
    static double taken_ns[CASES_ALL][BENCH_ROUNDS_MAX];
    for (int round = -3; round < rounds; ++round) {
        const int to = round < 0 ? 0 : round;
        const double begin_ns = bench_cpu_ns();
        play_tick(plain);
        const double plain_ns = bench_cpu_ns();
        play_tick(recorded);
        const double played_ns = bench_cpu_ns();
        if (ph_recorder_tick(recorded->recorder) != PH_OK) {
            return false;
        }
        const double taken = bench_cpu_ns();
        *bytes = round == 0 ? 0 : *bytes;
        if (ph_recorder_drain(recorded->recorder, count_bytes, bytes) != PH_OK) {
            return false;
        }
        taken_ns[CASE_TICK][to] = plain_ns - begin_ns;
        taken_ns[CASE_RECORDED_TICK][to] = taken - plain_ns;
        taken_ns[CASE_TAKE][to] = taken - played_ns;
        taken_ns[CASE_DRAIN][to] = bench_cpu_ns() - taken;
    }
    for (int i = 0; i < CASES_ALL; ++i) {
        times[i] = sum_up_times(taken_ns[i], rounds);
    }
    return ph_recorder_get_stats(recorded->recorder).dropped_ticks == 0;
}

static void print_record_text(void)
{
    printf("%d walkers all walk and turn in two worlds, one of which is recorded. Tick: setting\n"
           "what has changed, and ph_world_tick(). Take: ph_recorder_tick(), which is in the\n"
           "recorded tick. Drain: guessing, coding and checksums, outside of the tick. Processor\n"
           "time per entity and tick.\n",
           ENTITIES);
}

static const bench_about about_record = {
    .command = "pinhole bench record",
    .summary = "what a recorder costs the tick of a game",
    .print_text = print_record_text,
    .example = "--json --rounds 50",
    .rounds_default = ROUNDS_DEFAULT,
};

static const bench_ratio record_ratios[] = {
    {"recorded_by_tick", "recorded tick / tick", CASE_RECORDED_TICK, CASE_TICK, 1.3, 1.1, false},
};

int bench_record(int argc, char** argv)
{
    bench_options options;
    int status;
    if (!bench_options_parse(&about_record, argc, argv, &options, &status)) {
        return status;
    }
    bench_case cases[CASES_ALL] = {
        {.key = "tick_ns", .text = "tick", .item_count = ENTITIES},
        {.key = "recorded_tick_ns", .text = "recorded tick", .item_count = ENTITIES},
        {.key = "take_ns", .text = "of it ph_recorder_tick", .item_count = ENTITIES},
        {.key = "drain_ns", .text = "ph_recorder_drain", .item_count = ENTITIES},
    };
    bench_time times[CASES_ALL];
    recorded_walkers worlds[2] = {0};
    size_t bytes = 0;
    const bool is_done = make_walkers(&worlds[0], false) && make_walkers(&worlds[1], true) &&
                         measure_walkers(&worlds[0], &worlds[1], options.rounds, times, &bytes);
    destroy_walkers(&worlds[0]);
    destroy_walkers(&worlds[1]);
    if (!is_done) {
        fprintf(stderr, "pinhole bench record: ticks were left out, or there is not enough memory; "
                        "no figure counts.\n");
        return APP_EXIT_FAILURE;
    }
    cases[CASE_DRAIN].bits_each = 8.0 * (double)bytes / ((double)options.rounds * ENTITIES);
    const bench_report report = {
        .name = "record",
        .rounds = options.rounds,
        .cases = cases,
        .times = times,
        .case_count = CASES_ALL,
        .ratios = record_ratios,
        .ratio_count = (int)(sizeof record_ratios / sizeof record_ratios[0]),
    };
    if (options.is_json) {
        bench_report_print_json(&report);
    } else {
        bench_report_print_table(&report);
    }
    return APP_EXIT_OK;
}
