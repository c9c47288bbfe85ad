// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench vision`: what the grid costs per tick and entity, what a question for the 250
// nearest costs in crowds of different density, and how both grow. Next to them, in the same run: a
// plain counting sort of the same entities, a plain sweep that copies the candidates of the same
// questions, and brute force. At the end the tick of a whole world, on one thread and on two.

#include "bench.h"

#include "command.h"
#include "report.h"
#include "timer.h"
#include "vision_refresh.h"
#include "vision_scene.h"

#include <stdio.h>

#define ROUNDS_DEFAULT 20
#define ENTITIES 100000
#define VIEWERS 10000
#define WANTED 250
// Wide enough that there are 250 within it at every density.
#define WIDE_MM 1000000
// The default of a viewer: here the radius limits, not the number.
#define DEFAULT_MM 250000
#define SAMPLES 100

typedef enum scene_name {
    SCENE_250,
    SCENE_1000,
    SCENE_10000,
    SCENE_HOT_SPOT,
    SCENE_DEFAULT_RADIUS,
    SCENE_INSTANCE,
    SCENE_FEW_ENTITIES,
    SCENE_MANY_ENTITIES,
    SCENE_FEW_VIEWERS,
    SCENE_MANY_VIEWERS,
    SCENE_COUNT
} scene_name;

static const vision_scene_def defs[SCENE_COUNT] = {
    [SCENE_250] = {ENTITIES, 250, 0, VIEWERS, WANTED, WIDE_MM},
    [SCENE_1000] = {ENTITIES, 1000, 0, VIEWERS, WANTED, WIDE_MM},
    [SCENE_10000] = {ENTITIES, 10000, 0, VIEWERS, WANTED, WIDE_MM},
    [SCENE_HOT_SPOT] = {ENTITIES, 1000, 5000, VIEWERS, WANTED, WIDE_MM},
    [SCENE_DEFAULT_RADIUS] = {ENTITIES, 1000, 0, VIEWERS, WANTED, DEFAULT_MM},
    [SCENE_INSTANCE] = {500, 5000, 0, 200, WANTED, WIDE_MM},
    [SCENE_FEW_ENTITIES] = {ENTITIES / 10, 1000, 0, VIEWERS, WANTED, WIDE_MM},
    [SCENE_MANY_ENTITIES] = {ENTITIES * 10, 1000, 0, VIEWERS, WANTED, WIDE_MM},
    [SCENE_FEW_VIEWERS] = {ENTITIES, 1000, 0, VIEWERS / 10, WANTED, WIDE_MM},
    [SCENE_MANY_VIEWERS] = {ENTITIES, 1000, 0, VIEWERS * 4, WANTED, WIDE_MM},
};

static vision_scene scenes[SCENE_COUNT];

// ---- the table of measurements

enum {
    CASE_UPKEEP,
    CASE_SORT_INDICES,
    CASE_SORT_RECORDS,
    CASE_QUERY_250,
    CASE_SWEEP_250,
    CASE_BRUTE_250,
    CASE_QUERY_1000,
    CASE_SWEEP_1000,
    CASE_BRUTE_1000,
    CASE_QUERY_10000,
    CASE_SWEEP_10000,
    CASE_BRUTE_10000,
    CASE_QUERY_HOT_SPOT,
    CASE_SWEEP_HOT_SPOT,
    CASE_BRUTE_HOT_SPOT,
    CASE_WIDER,
    CASE_DEFAULT_RADIUS,
    CASE_GRID_INSTANCE,
    CASE_GROUPS_INSTANCE,
    CASE_GROUPS_1000,
    CASE_GROUPS_HOT_SPOT,
    CASE_UPKEEP_FEW,
    CASE_UPKEEP_MANY,
    CASE_QUERY_FEW_ENTITIES,
    CASE_QUERY_MANY_ENTITIES,
    CASE_QUERY_FEW_VIEWERS,
    CASE_QUERY_MANY_VIEWERS,
    ROW_COUNT,
    // By the clock on the wall.
    CASE_REFRESH_ONE = ROW_COUNT,
    CASE_REFRESH_TWO,
    CASE_COUNT
};

typedef struct row {
    const char* key;
    const char* text;
    uint64_t (*run)(const void* scene);
    scene_name scene;
} row;

static const row rows[ROW_COUNT] = {
    [CASE_UPKEEP] = {"upkeep_ns", "upkeep, per entity", vision_rebuild, SCENE_1000},
    [CASE_SORT_INDICES] = {"plain_sort_ns", "  plain sort of indices", vision_sort_indices,
                           SCENE_1000},
    [CASE_SORT_RECORDS] = {"plain_record_sort_ns", "  plain sort of records", vision_sort_records,
                           SCENE_1000},
    [CASE_QUERY_250] = {"query_250_us", "question, 250 per km2", vision_query, SCENE_250},
    [CASE_SWEEP_250] = {"sweep_250_us", "  plain sweep, same ones", vision_sweep, SCENE_250},
    [CASE_BRUTE_250] = {"brute_force_250_us", "  brute force", vision_brute_force, SCENE_250},
    [CASE_QUERY_1000] = {"query_1000_us", "question, 1,000 per km2", vision_query, SCENE_1000},
    [CASE_SWEEP_1000] = {"sweep_1000_us", "  plain sweep, same ones", vision_sweep, SCENE_1000},
    [CASE_BRUTE_1000] = {"brute_force_1000_us", "  brute force", vision_brute_force, SCENE_1000},
    [CASE_QUERY_10000] = {"query_10000_us", "question, 10,000 per km2", vision_query, SCENE_10000},
    [CASE_SWEEP_10000] = {"sweep_10000_us", "  plain sweep, same ones", vision_sweep, SCENE_10000},
    [CASE_BRUTE_10000] = {"brute_force_10000_us", "  brute force", vision_brute_force, SCENE_10000},
    [CASE_QUERY_HOT_SPOT] = {"query_hot_spot_us", "question, hot spot of 5,000", vision_query,
                             SCENE_HOT_SPOT},
    [CASE_SWEEP_HOT_SPOT] = {"sweep_hot_spot_us", "  plain sweep, same ones", vision_sweep,
                             SCENE_HOT_SPOT},
    [CASE_BRUTE_HOT_SPOT] = {"brute_force_hot_spot_us", "  brute force", vision_brute_force,
                             SCENE_HOT_SPOT},
    [CASE_WIDER] = {"query_wider_1000_us", "275, the 250 nearest first", vision_query_wide,
                    SCENE_1000},
    [CASE_DEFAULT_RADIUS] = {"query_radius_250m_us", "all within 250 m, 1,000/km2", vision_query,
                             SCENE_DEFAULT_RADIUS},
    [CASE_GRID_INSTANCE] = {"query_instance_us", "question, 200 see 500", vision_query,
                            SCENE_INSTANCE},
    [CASE_GROUPS_INSTANCE] = {"groups_instance_us", "groups, 200 see 500", vision_groups,
                              SCENE_INSTANCE},
    [CASE_GROUPS_1000] = {"groups_1000_us", "groups, 1,000 per km2", vision_groups, SCENE_1000},
    [CASE_GROUPS_HOT_SPOT] = {"groups_hot_spot_us", "groups, hot spot of 5,000", vision_groups,
                              SCENE_HOT_SPOT},
    [CASE_UPKEEP_FEW] = {"upkeep_10k_entities_ns", "upkeep, 10,000 entities", vision_rebuild,
                         SCENE_FEW_ENTITIES},
    [CASE_UPKEEP_MANY] = {"upkeep_1m_entities_ns", "upkeep, 1,000,000 entities", vision_rebuild,
                          SCENE_MANY_ENTITIES},
    [CASE_QUERY_FEW_ENTITIES] = {"query_10k_entities_us", "question, 10,000 entities", vision_query,
                                 SCENE_FEW_ENTITIES},
    [CASE_QUERY_MANY_ENTITIES] = {"query_1m_entities_us", "question, 1,000,000 entities",
                                  vision_query, SCENE_MANY_ENTITIES},
    [CASE_QUERY_FEW_VIEWERS] = {"query_1k_viewers_us", "question, 1,000 viewers", vision_query,
                                SCENE_FEW_VIEWERS},
    [CASE_QUERY_MANY_VIEWERS] = {"query_40k_viewers_us", "question, 40,000 viewers", vision_query,
                                 SCENE_MANY_VIEWERS},
};

static bench_case cases[CASE_COUNT];

static const bench_ratio ratios[] = {
    {"upkeep_per_plain_sort", "upkeep / plain sort", CASE_UPKEEP, CASE_SORT_INDICES, 3.0, 2.0,
     false},
    {"query_per_sweep_250", "250/km2: question / sweep", CASE_QUERY_250, CASE_SWEEP_250, 5.0, 4.0,
     false},
    {"query_per_sweep_1000", "1,000/km2: question / sweep", CASE_QUERY_1000, CASE_SWEEP_1000, 4.0,
     4.0, false},
    {"query_per_sweep_10000", "10,000/km2: question / sweep", CASE_QUERY_10000, CASE_SWEEP_10000,
     4.0, 4.0, false},
    {"query_per_sweep_hot_spot", "hot spot: question / sweep", CASE_QUERY_HOT_SPOT,
     CASE_SWEEP_HOT_SPOT, 4.0, 4.0, false},
    {"brute_force_per_query_1000", "1,000/km2: brute force / it", CASE_BRUTE_1000, CASE_QUERY_1000,
     50.0, 100.0, true},
    {"groups_per_grid_instance", "200 see 500: groups / grid", CASE_GROUPS_INSTANCE,
     CASE_GRID_INSTANCE, 2.5, 1.0, false},
    {"query_1m_per_10k_entities", "1,000,000 / 10,000 entities", CASE_QUERY_MANY_ENTITIES,
     CASE_QUERY_FEW_ENTITIES, 3.0, 2.0, false},
    {"query_40k_per_1k_viewers", "40,000 / 1,000 viewers", CASE_QUERY_MANY_VIEWERS,
     CASE_QUERY_FEW_VIEWERS, 1.5, 1.2, false},
    {"refresh_one_per_two_threads", "20,000 viewers: 1 / 2 threads", CASE_REFRESH_ONE,
     CASE_REFRESH_TWO, 1.5, 1.7, true},
};

// ---- making the scenes, and proving that the answers are right

static bool make_scenes(void)
{
    for (int i = 0; i < SCENE_COUNT; ++i) {
        if (!vision_scene_make(&scenes[i], &defs[i])) {
            return false;
        }
    }
    return true;
}

// Entities or questions in a pass.
static int64_t items_of(const row* of)
{
    if (of->run == vision_rebuild || of->run == vision_sort_indices ||
        of->run == vision_sort_records) {
        return 2 * (int64_t)defs[of->scene].entity_count;
    }
    return of->run == vision_brute_force ? VISION_BRUTE_VIEWERS : defs[of->scene].viewer_count;
}

static void make_cases(void)
{
    for (int i = 0; i < ROW_COUNT; ++i) {
        cases[i] = (bench_case){
            .key = rows[i].key,
            .text = rows[i].text,
            .run = rows[i].run,
            .data = &scenes[rows[i].scene],
            .item_count = items_of(&rows[i]),
        };
    }
    cases[CASE_REFRESH_ONE] =
        (bench_case){.key = "refresh_1_thread_us", .text = "refresh, 20,000 on 1 thread"};
    cases[CASE_REFRESH_TWO] =
        (bench_case){.key = "refresh_2_threads_us", .text = "refresh, 20,000 on 2 threads"};
}

static bool are_answers_exact(void)
{
    for (int i = 0; i < SCENE_COUNT; ++i) {
        if (!vision_scene_is_exact(&scenes[i], SAMPLES)) {
            return false;
        }
    }
    return true;
}

// ---- the report

static void print_scenes(void)
{
    printf("%d entities that all move, %d viewers, the %d nearest to each\n\n", ENTITIES, VIEWERS,
           WANTED);
    const char* names[] = {"250 per km2",       "1,000 per km2",        "10,000 per km2",
                           "hot spot of 5,000", "1,000 per km2, 250 m", "200 see 500"};
    printf("%-28s %9s %11s\n", "per question", "answers", "candidates");
    for (int i = 0; i <= SCENE_INSTANCE; ++i) {
        const double viewers = scenes[i].def.viewer_count;
        printf("%-28s %9.1f %11.1f\n", names[i], (double)scenes[i].answer_count / viewers,
               (double)scenes[i].candidate_count / viewers);
    }
    printf("\n");
}

static void print_report(const bench_time* times, int rounds, bool is_json)
{
    const bench_report report = {
        .name = "vision",
        .rounds = rounds,
        .cases = cases,
        .times = times,
        .case_count = CASE_COUNT,
        .ratios = ratios,
        .ratio_count = (int)(sizeof ratios / sizeof ratios[0]),
    };
    if (is_json) {
        bench_report_print_json(&report);
        return;
    }
    print_scenes();
    bench_report_print_table(&report);
}

static void print_text(void)
{
    printf(
        "Upkeep is the grid's rebuilding when all of %d entities have moved, next to a plain\n"
        "counting sort of the same entities by cell. A question is for the exact %d nearest of\n"
        "one viewer within 1 km, next to a plain sweep that copies all entities of the cells\n"
        "that the answer's circle touches, and to brute force over all entities. Groups: the "
        "same question\n"
        "through groups of viewers, their upkeep included. %d answers per crowd are compared\n"
        "with brute force before anything is timed. Refresh: the tick of a world of 20,000\n"
        "walkers, each with a viewer, per viewer and on the wall: it counts on a quiet machine.\n",
        ENTITIES, WANTED, SAMPLES);
}

static const bench_about about = {
    .command = "pinhole bench vision",
    .summary = "which entities each viewer sees",
    .print_text = print_text,
    .example = "--json --rounds 5",
    .rounds_default = ROUNDS_DEFAULT,
};

int bench_vision(int argc, char** argv)
{
    bench_options options;
    int status;
    if (!bench_options_parse(&about, argc, argv, &options, &status)) {
        return status;
    }
    if (!make_scenes()) {
        fprintf(stderr, "pinhole bench vision: there is not enough memory for the crowds.\n");
        return APP_EXIT_FAILURE;
    }
    if (!are_answers_exact()) {
        fprintf(stderr, "pinhole bench vision: an answer is not exact; no figure counts.\n");
        return APP_EXIT_FAILURE;
    }
    make_cases();
    bench_time times[CASE_COUNT];
    bench_measure(cases, ROW_COUNT, options.rounds, times);
    if (!vision_refresh_measure(options.rounds, &times[CASE_REFRESH_ONE])) {
        fprintf(stderr, "pinhole bench vision: there is not enough memory for 20,000 viewers.\n");
        return APP_EXIT_FAILURE;
    }
    print_report(times, options.rounds, options.is_json);
    return APP_EXIT_OK;
}
