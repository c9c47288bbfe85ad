// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "kit/tune.h"

#include "kit/learn.h"
#include "kit/recording.h"
#include "schema/learned_models.h"

#include <pinhole/entropy.h>

#include <stdlib.h>

#define LEARNED_SHARE 0.6
enum { ROUNDS = 2 };

// Below and above the usual budget: the more there is to spend, the sooner updates follow each other.
// Residuals are the larger the more seldom they are told, so every budget must have its say.
static const double BUDGETS_KBPS[] = {4, 13, 26};
static const int BUDGET_WEIGHTS[] = {5, 2, 1};
enum { BUDGETS = sizeof BUDGETS_KBPS / sizeof BUDGETS_KBPS[0] };

typedef struct tuning {
    const ph_tune_def* def;
    ph_fault* fault;
    int recording; // that is played
    int runs_done;
    int runs;
    uint64_t updates;          // in the runs that were counted last
    ph_pinhole_counts* counts; // of each viewer of a run
} tuning;

// What is counted.
typedef struct part {
    double from; // share of the time
    double to;
    int half;   // of keys; 0: all
    int stride; // of viewers
    int first;
} part;

static const part LEARNED = {0.0, LEARNED_SHARE, 1, 2, 0};
static const part TESTED = {LEARNED_SHARE, 1.0, 2, 2, 1};
static const part ALL = {0.0, 1.0, 0, 1, 0};

static void show_progress(void* context, double done)
{
    const tuning* of = context;
    if (of->def->progress != NULL) {
        of->def->progress(of->def->progress_context, (of->runs_done + done) / of->runs);
    }
}

static ph_sim_def sim_def_of(tuning* of, const ph_recording* recording, const part* what)
{
    ph_sim_def def = ph_sim_def_default();
    def.scheduler = ph_scheduler_error();
    def.viewers = of->def->viewers;
    def.skips_standstill = true;
    def.viewer_stride = what->stride;
    def.viewer_first = what->first;
    def.seconds = what->to * recording->tick_count / recording->rate_hz;
    def.count_from_tick = (int)(what->from * recording->tick_count);
    def.progress = show_progress;
    def.progress_context = of;
    return def;
}

// One run, counted into *sum.
static bool count_run(tuning* of, const ph_recording* recording, const ph_schema* schema,
                      const part* what, int budget, ph_pinhole_counts* sum)
{
    ph_sim_def def = sim_def_of(of, recording, what);
    def.kbps = BUDGETS_KBPS[budget];
    def.counts = of->counts;
    for (int i = 0; i < of->def->viewers; ++i) {
        of->counts[i] = (ph_pinhole_counts){.half = what->half};
    }
    ph_sim_result result;
    if (!ph_sim_run(&def, recording, schema, of->def->pool, &result, of->fault)) {
        return false;
    }
    for (int i = 0; i < result.viewer_count; ++i) {
        ph_learn_add(sum, &of->counts[i], BUDGET_WEIGHTS[budget]);
        of->updates += of->counts[i].updates;
    }
    ++of->runs_done;
    return true;
}

// All recordings at all budgets.
static bool count_all(tuning* of, const ph_schema* schema, const part* what, ph_pinhole_counts* sum)
{
    *sum = (ph_pinhole_counts){0};
    of->updates = 0;
    for (int r = 0; r < of->def->recording_count; ++r) {
        of->recording = r;
        for (int b = 0; b < BUDGETS; ++b) {
            if (!count_run(of, of->def->recordings[r], schema, what, b, sum)) {
                return false;
            }
        }
    }
    return true;
}

// What is sent depends on the models that say what it costs, so they are learned again with themselves.
static ph_schema* learn(tuning* of, const part* what, ph_pinhole_counts* sum)
{
    ph_schema* learned = NULL;
    for (int round = 0; round < ROUNDS; ++round) {
        ph_schema* trial = ph_learn_trial(learned != NULL ? learned : of->def->base, of->fault);
        ph_schema_destroy(learned);
        learned = NULL;
        if (trial != NULL && count_all(of, trial, what, sum)) {
            learned =
                sum->updates > 0 ? ph_learn_schema(of->def->base, sum, false, of->fault) : NULL;
            if (sum->updates == 0) {
                ph_fault_set(of->fault, 0, 0,
                             "there is nothing to learn from: its viewers see no other entity "
                             "that changes");
            }
        }
        ph_schema_destroy(trial);
        if (learned == NULL) {
            return NULL;
        }
    }
    return learned;
}

static double bits_per_update(const ph_schema* schema, const ph_pinhole_counts* counts)
{
    return counts->updates > 0 ? (double)ph_learn_cost256(schema, counts) / PH_COST_PER_BIT /
                                     (double)counts->updates
                               : 0.0;
}

static bool play_sim(tuning* of, const ph_schema* schema, ph_sim_result* result)
{
    const ph_recording* recording = of->def->recordings[0];
    of->recording = 0;
    ph_sim_def def = sim_def_of(of, recording, &ALL);
    def.viewer_stride = TESTED.stride;
    def.viewer_first = TESTED.first;
    const bool is_done = ph_sim_run(&def, recording, schema, of->def->pool, result, of->fault);
    ++of->runs_done;
    return is_done;
}

// How well models that were learned on one part do on another one.
static bool test(tuning* of, ph_tune_result* result, ph_pinhole_counts* sum)
{
    ph_schema* learned = learn(of, &LEARNED, sum);
    bool is_done = learned != NULL;
    if (is_done) {
        is_done = count_all(of, of->def->base, &TESTED, sum);
        result->test_updates = of->updates;
        result->before_bits = bits_per_update(of->def->base, sum);
    }
    if (is_done) {
        is_done = count_all(of, learned, &TESTED, sum);
        result->after_bits = bits_per_update(learned, sum);
    }
    is_done = is_done && play_sim(of, of->def->base, &result->before) &&
              play_sim(of, learned, &result->after);
    result->after.schema = of->def->base; // for names, which are the same
    ph_schema_destroy(learned);
    return is_done;
}

static double share_pct(const ph_schema* schema, int entry)
{
    const uint16_t* cumulative = ph_schema_models(schema).cumulative;
    return 100.0 * (cumulative[entry + 1] - cumulative[entry]) / 32768.0;
}

static void fill_residuals(const ph_schema* base, const ph_schema* learned,
                           const ph_pinhole_counts* counts, ph_pinhole_family family,
                           ph_tune_residuals* made)
{
    const ph_pinhole_family_info* info = &ph_pinhole_families[family];
    int best = info->first;
    for (int m = 0; m < info->models; ++m) {
        const int first = info->first + m * (info->symbols + 1);
        uint64_t count = 0;
        for (int i = 0; i < info->symbols; ++i) {
            count += counts->seen[first + i];
        }
        best = count > made->count ? first : best;
        made->count = count > made->count ? count : made->count;
    }
    for (int i = 0; i < PH_TUNE_MAGNITUDES && made->count > 0; ++i) {
        made->seen[i] = 100.0 * (double)counts->seen[best + i] / (double)made->count;
        made->before[i] = share_pct(base, best + i);
        made->after[i] = share_pct(learned, best + i);
    }
}

static void fill_all_residuals(const ph_tune_def* def, const ph_pinhole_counts* counts,
                               ph_tune_result* result)
{
    static const struct {
        const char* what;
        ph_pinhole_family family;
    } ROWS[PH_TUNE_RESIDUALS] = {
        {"x of what moves", PH_FAMILY_X_MOVING},
        {"y of what moves", PH_FAMILY_Y_MOVING},
        {"z of what rises or falls", PH_FAMILY_Z_MOVING},
        {"heading, from the last", PH_FAMILY_HEADING_KEPT},
        {"heading, from the direction of motion", PH_FAMILY_HEADING_TURNED},
    };
    for (int i = 0; i < PH_TUNE_RESIDUALS; ++i) {
        result->residuals[i].what = ROWS[i].what;
        fill_residuals(def->base, result->schema, counts, ROWS[i].family, &result->residuals[i]);
    }
}

bool ph_tune_run(const ph_tune_def* def, ph_tune_result* result, ph_fault* fault)
{
    *result = (ph_tune_result){0};
    tuning of = {
        .def = def, .fault = fault, .runs = (2 * ROUNDS + 2) * def->recording_count * BUDGETS + 2};
    of.counts = calloc((size_t)def->viewers, sizeof of.counts[0]);
    ph_pinhole_counts* sum = calloc(1, sizeof *sum);
    bool is_done = of.counts != NULL && sum != NULL;
    if (!is_done) {
        ph_fault_set_memory(fault);
    }
    is_done = is_done && test(&of, result, sum);
    if (is_done) {
        result->schema = learn(&of, &ALL, sum);
        is_done = result->schema != NULL;
    }
    if (is_done) {
        result->updates = of.updates;
        result->models = ph_learn_model_count(result->schema);
        fill_all_residuals(def, sum, result);
    }
    result->failed = of.recording;
    free(of.counts);
    free(sum);
    return is_done;
}

bool ph_tune_count(const ph_tune_def* def, ph_pinhole_counts* counts, ph_fault* fault)
{
    tuning of = {.def = def, .fault = fault, .runs = def->recording_count * BUDGETS};
    of.counts = calloc((size_t)def->viewers, sizeof of.counts[0]);
    const bool is_done =
        of.counts != NULL ? count_all(&of, def->base, &ALL, counts) : ph_fault_set_memory(fault);
    free(of.counts);
    return is_done;
}

bool ph_tune_number_model(const ph_schema* schema, int property, double* shares)
{
    const int first = ph_learned_number_entry(property);
    if (!ph_schema_has_model(schema, first)) {
        return false;
    }
    const uint16_t* cumulative = ph_schema_models(schema).cumulative + first;
    for (int i = 0; i < PH_NUMBER_SYMBOLS; ++i) {
        shares[i] = (double)(cumulative[i + 1] - cumulative[i]) / 32768.0;
    }
    return true;
}
