// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bench transfer`: what it costs to tell another world of entities that all move, and to take
// that in. Next to it, in the same round: ph_world_move() of the same entities, in the order of their spawns,
// and the export of changes of a whole world. Two crowds: walkers with a position, spawned in
// the order of their keys; and walkers with a heading that changes, too, spawned in any order. The world that
// follows has created them in the order of the batches, which is the best that can happen to it.

#include "bench.h"

#include "command.h"
#include "report.h"
#include "timer.h"

#include "base/rng.h"

#include <pinhole/transfer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_DEFAULT 20
#define ENTITIES 100000
#define SIDE_MM 10000000 // 40 x 40 cells of 250 m
#define STEP_MM 600      // 6 m/s, ten times a second
#define TAPE_BYTES (8 << 20)

enum { CASE_MOVE, CASE_EXPORT, CASE_WHOLE_EXPORT, CASE_IMPORT, CASES_EACH };

static const char* const KEYS[2][CASES_EACH] = {
    {"move_ns", "changes_ns", "world_export_ns", "take_ns"},
    {"heading_move_ns", "heading_changes_ns", "heading_world_export_ns", "heading_take_ns"},
};
static const char* const TEXTS[2][CASES_EACH] = {
    {"ph_world_move", "ph_exporter_changes", "ph_world_export", "ph_importer_take"},
    {"turning: ph_world_move", "ph_exporter_changes", "ph_world_export", "ph_importer_take"},
};

// One crowd in two worlds: that of the game, and one that follows.
typedef struct crowd {
    ph_schema* schema;
    ph_world* from;
    ph_world* to;
    ph_exporter* measured;
    ph_exporter* kept;
    ph_importer* importer;
    ph_entity_id* ids; // in `from`
    int64_t (*places_mm)[2];
    uint8_t* tape;
    size_t tape_size;
    size_t record_count;
    int batch_count;
    bool has_heading;
    uint32_t tick;
    ph_rng rng;
} crowd;

// ---- the crowd

static const char WALKER[] = "class walker\n    place: position\n";
static const char TURNING_WALKER[] = "class walker\n    place: position\n    heading: angle 10\n";

static ph_world* make_walkers_world(const ph_schema* schema)
{
    ph_world_def def = ph_world_def_default();
    ph_world* world = NULL;
    def.schema = schema;
    def.entity_capacity = ENTITIES;
    return ph_world_create(&def, &world) == PH_OK ? world : NULL;
}

static int64_t draw_place(crowd* of)
{
    return (int64_t)(ph_rng_next(&of->rng) % SIDE_MM);
}

static bool spawn_walkers(crowd* of)
{
    for (int i = 0; i < ENTITIES; ++i) {
        of->places_mm[i][0] = draw_place(of);
        of->places_mm[i][1] = draw_place(of);
        const ph_spawn spawn = {
            .key = of->has_heading ? ph_rng_next(&of->rng) >> 40 << 17 | (uint64_t)i
                                   : (uint64_t)i + 1000000,
            .position_mm = {of->places_mm[i][0], of->places_mm[i][1], 0},
        };
        if (ph_world_spawn(of->from, &spawn, &of->ids[i]) != PH_OK) {
            return false;
        }
    }
    return true;
}

static bool make_crowd(crowd* of, bool has_heading)
{
    const char* text = has_heading ? TURNING_WALKER : WALKER;
    *of = (crowd){.has_heading = has_heading, .rng = ph_rng_make(5)};
    if (ph_schema_parse(text, strlen(text), NULL, &of->schema, NULL) != PH_OK) {
        return false;
    }
    of->from = make_walkers_world(of->schema);
    of->to = make_walkers_world(of->schema);
    of->ids = calloc(ENTITIES, sizeof *of->ids);
    of->places_mm = calloc(ENTITIES, sizeof *of->places_mm);
    of->tape = malloc(TAPE_BYTES);
    if (of->from == NULL || of->to == NULL || of->ids == NULL || of->places_mm == NULL ||
        of->tape == NULL) {
        return false;
    }
    ph_exporter_def def = ph_exporter_def_default();
    def.world = of->from;
    def.as_owner = 1;
    if (!spawn_walkers(of) || ph_exporter_create(&def, &of->measured) != PH_OK ||
        ph_exporter_create(&def, &of->kept) != PH_OK ||
        ph_importer_create(&(ph_importer_def){.world = of->to, .tombstone_capacity = 10000},
                           &of->importer) != PH_OK) {
        return false;
    }
    return true;
}

static void destroy_crowd(crowd* of)
{
    ph_importer_destroy(of->importer);
    ph_exporter_destroy(of->measured);
    ph_exporter_destroy(of->kept);
    ph_world_destroy(of->from);
    ph_world_destroy(of->to);
    ph_schema_destroy(of->schema);
    free(of->ids);
    free(of->places_mm);
    free(of->tape);
}

// ---- a round

static void turn_walkers(const crowd* of)
{
    for (int i = 0; i < ENTITIES; ++i) {
        const float heading = (float)(((uint32_t)i * 7 + of->tick * 97) & 1023) * 0.006f;
        (void)ph_world_set_property(of->from, of->ids[i], 1, PH_FIELD_F32, &heading,
                                    sizeof heading);
    }
}

static double move_walkers(crowd* of)
{
    ++of->tick;
    if (of->has_heading) {
        turn_walkers(of);
    }
    for (int i = 0; i < ENTITIES; ++i) {
        of->places_mm[i][0] += (of->tick / 16 + (uint32_t)i) % 2 == 0 ? STEP_MM : -STEP_MM;
    }
    const double begin_ns = bench_cpu_ns();
    for (int i = 0; i < ENTITIES; ++i) {
        (void)ph_world_move(of->from, of->ids[i], of->places_mm[i][0], of->places_mm[i][1], 0);
    }
    const double end_ns = bench_cpu_ns();
    ph_world_tick(of->from);
    return end_ns - begin_ns;
}

static void drop_batch(void* context, const ph_cell_batch* batch)
{
    (void)context;
    bench_use(batch->bytes, batch->size);
}

static void drop_bytes(void* context, const void* bytes, size_t size)
{
    (void)context;
    bench_use(bytes, size);
}

static void keep_batch(void* context, const ph_cell_batch* batch)
{
    crowd* of = context;
    if (of->tape_size + sizeof batch->size + batch->size > TAPE_BYTES) {
        return;
    }
    memcpy(of->tape + of->tape_size, &batch->size, sizeof batch->size);
    memcpy(of->tape + of->tape_size + sizeof batch->size, batch->bytes, batch->size);
    of->tape_size += sizeof batch->size + batch->size;
    of->record_count += (size_t)batch->record_count;
    ++of->batch_count;
}

static double export_changes(crowd* of)
{
    of->tape_size = 0;
    of->record_count = 0;
    of->batch_count = 0;
    // First the one that counts: the other one finds all entities in the cache.
    const double begin_ns = bench_cpu_ns();
    (void)ph_exporter_changes(of->measured, of->tick, drop_batch, NULL);
    const double end_ns = bench_cpu_ns();
    (void)ph_exporter_changes(of->kept, of->tick, keep_batch, of);
    return end_ns - begin_ns;
}

static double export_world(const crowd* of)
{
    ph_export_def def = ph_export_def_default();
    def.since_tick = ph_world_tick_count(of->from) - 1;
    const double begin_ns = bench_cpu_ns();
    (void)ph_world_export(of->from, &def, drop_bytes, NULL);
    return bench_cpu_ns() - begin_ns;
}

static double import_changes(crowd* of)
{
    const double begin_ns = bench_cpu_ns();
    for (size_t at = 0; at < of->tape_size;) {
        size_t size;
        memcpy(&size, of->tape + at, sizeof size);
        at += sizeof size;
        (void)ph_importer_take(of->importer, of->tape + at, size);
        at += size;
    }
    const double end_ns = bench_cpu_ns();
    ph_world_tick(of->to);
    return end_ns - begin_ns;
}

// ---- the report

static int compare_times(const void* left, const void* right)
{
    const double a = *(const double*)left;
    const double b = *(const double*)right;
    return (a > b) - (a < b);
}

static bench_time summarise(double* taken_ns, int rounds)
{
    qsort(taken_ns, (size_t)rounds, sizeof *taken_ns, compare_times);
    return (bench_time){.best_ns = taken_ns[0] / ENTITIES,
                        .median_ns = taken_ns[rounds / 2] / ENTITIES,
                        .worst_ns = taken_ns[rounds - 1] / ENTITIES};
}

// The first round creates everything and does not count. @return Whether the following world is the same.
static bool measure_crowd(crowd* of, int rounds, bench_time* times)
{
    static double taken_ns[CASES_EACH][BENCH_ROUNDS_MAX];
    for (int round = -1; round < rounds; ++round) {
        const int to = round < 0 ? 0 : round;
        taken_ns[CASE_MOVE][to] = move_walkers(of);
        taken_ns[CASE_EXPORT][to] = export_changes(of);
        taken_ns[CASE_WHOLE_EXPORT][to] = export_world(of);
        taken_ns[CASE_IMPORT][to] = import_changes(of);
    }
    for (int i = 0; i < CASES_EACH; ++i) {
        times[i] = summarise(taken_ns[i], rounds);
    }
    return of->record_count >= ENTITIES && ph_world_entity_count(of->to) == ENTITIES &&
           ph_importer_get_stats(of->importer).missing == 0;
}

static void print_text(void)
{
    printf("%d walkers in 1,600 cells of 250 m all move, ten times a second. Changes: an exporter\n"
           "tells them by cell. World export: the same at one go, without cells. Take: another\n"
           "world takes the batches. Move: ph_world_move() of all. The second crowd turns, too,\n"
           "and has keys in any order. Processor time per record.\n",
           ENTITIES);
}

static const bench_about about = {
    .command = "pinhole bench transfer",
    .summary = "from world to world: ns per record",
    .print_text = print_text,
    .example = "--json --rounds 5",
    .rounds_default = ROUNDS_DEFAULT,
};

static const bench_ratio ratios[] = {
    {"take_by_move", "take / move", CASE_IMPORT, CASE_MOVE, 3.0, 2.4, false},
    {"changes_by_move", "changes / move", CASE_EXPORT, CASE_MOVE, 1.0, 0.75, false},
};

static bool measure_transfer(int rounds, bench_case* cases, bench_time* times)
{
    for (int i = 0; i < 2; ++i) {
        crowd* of = calloc(1, sizeof *of);
        if (of == NULL || !make_crowd(of, i == 1) ||
            !measure_crowd(of, rounds, times + i * CASES_EACH)) {
            return false;
        }
        for (int c = 0; c < CASES_EACH; ++c) {
            cases[i * CASES_EACH + c] = (bench_case){
                .key = KEYS[i][c],
                .text = TEXTS[i][c],
                .item_count = ENTITIES,
                .bits_each =
                    c == CASE_MOVE ? 0 : 8.0 * (double)of->tape_size / (double)of->record_count};
        }
        destroy_crowd(of);
        free(of);
    }
    return true;
}

int bench_transfer(int argc, char** argv)
{
    bench_options options;
    int status;
    if (!bench_options_parse(&about, argc, argv, &options, &status)) {
        return status;
    }
    bench_case cases[2 * CASES_EACH];
    bench_time times[2 * CASES_EACH];
    if (!measure_transfer(options.rounds, cases, times)) {
        fprintf(stderr, "pinhole bench transfer: the worlds are not the same, or there is not "
                        "enough memory; no figure counts.\n");
        return APP_EXIT_FAILURE;
    }
    const bench_report report = {
        .name = "transfer",
        .rounds = options.rounds,
        .cases = cases,
        .times = times,
        .case_count = 2 * CASES_EACH,
        .ratios = ratios,
        .ratio_count = (int)(sizeof ratios / sizeof ratios[0]),
    };
    if (options.is_json) {
        bench_report_print_json(&report);
    } else {
        bench_report_print_table(&report);
    }
    return APP_EXIT_OK;
}
