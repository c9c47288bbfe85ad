// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "kit/tune.h"

#include "kit/column_bindings.h"
#include "kit/learn.h"
#include "kit/recording.h"
#include "schema/learned_models.h"

#include <pinhole/entropy.h>

#include <stdlib.h>
#include <string.h>

#define LEARNED_SHARE 0.6
enum { ROUNDS = 2 };

// Below and above the game's budget, as 4 and 26 are to 13: the more there is to spend, the sooner updates follow
// each other. Residuals are the larger the more seldom they are told, so every budget must have its say.
static const double BUDGET_PARTS[] = {4.0, 13.0, 26.0};
static const int BUDGET_WEIGHTS[] = {5, 2, 1};
enum { BUDGETS = sizeof BUDGET_PARTS / sizeof BUDGET_PARTS[0], USUAL_BUDGET = 1 };

typedef struct tuning {
    const ph_tune_def* def;
    const ph_schema* base; // that of the def, with the motion that was learned
    bool* unknown;         // by property: no recording has anything of it
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
    def.kbps = of->def->kbps;
    def.hz = of->def->hz;
    def.skips_standstill = true;
    def.viewer_stride = what->stride;
    def.viewer_first = what->first;
    def.seconds = what->to * recording->tick_count / recording->rate_hz;
    def.count_from_tick = (int)(what->from * recording->tick_count);
    def.progress = show_progress;
    def.progress_context = of;
    return def;
}

static double kbps_of(const ph_tune_def* def, int budget)
{
    return def->kbps * BUDGET_PARTS[budget] / PH_TUNE_KBPS;
}

// Without a limit there is but one.
static int budget_count(const ph_tune_def* def)
{
    return def->kbps > 0.0 ? BUDGETS : 1;
}

// One run, counted into *sum.
static bool count_run(tuning* of, const ph_recording* recording, const ph_schema* schema,
                      const part* what, int budget, ph_pinhole_counts* sum)
{
    ph_sim_def def = sim_def_of(of, recording, what);
    def.kbps = kbps_of(of->def, budget);
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
        for (int b = 0; b < budget_count(of->def); ++b) {
            if (!count_run(of, of->def->recordings[r], schema, what, b, sum)) {
                return false;
            }
        }
    }
    return true;
}

// What no recording has is told now and then all the same: once where it is not told seven times.
static void doubt_unknown(const tuning* of, ph_pinhole_counts* counts)
{
    for (int p = 0; p < ph_schema_property_count(of->base); ++p) {
        for (int behind = 0; behind < 2 && of->unknown[p]; ++behind) {
            uint64_t* seen = &counts->seen[ph_learned_told_entry(p, behind == 1)];
            seen[1] += seen[0] / 7;
        }
    }
}

// What is sent depends on the models that say what it costs, so they are learned again with themselves.
static ph_schema* learn(tuning* of, const part* what, ph_pinhole_counts* sum)
{
    ph_schema* learned = NULL;
    for (int round = 0; round < ROUNDS; ++round) {
        ph_schema* trial = ph_learn_trial(learned != NULL ? learned : of->base, of->fault);
        ph_schema_destroy(learned);
        learned = NULL;
        if (trial != NULL && count_all(of, trial, what, sum)) {
            doubt_unknown(of, sum);
            learned = sum->updates > 0
                          ? ph_learn_schema(of->base, sum, of->def->kbps == 0.0, of->fault)
                          : NULL;
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

// ---- how classes move

// In runs in which all classes have the same value, errors are counted by class: so many runs serve any number of
// classes. At the budget and at twice as much: what is best at 13 kbit/s alone made walkers 11 % worse at 26; at a
// third of it there is more noise than gain. Less gain is noise, and so is less loss at one of the budgets.
#define GAIN_MIN 0.01
#define LOSS_MAX 0.02
enum { MISSES_MIN = 500 };

static const double BENDS[] = {0.0, 0.2, 0.4, 0.55, 0.7, 0.85, 1.0};
static const int LEGS_MS[] = {40, 80, 120, 200};
enum {
    BEND_COUNT = sizeof BENDS / sizeof BENDS[0],
    LEG_COUNT = sizeof LEGS_MS / sizeof LEGS_MS[0]
};
enum { MOTION_TRIALS = 1 + BEND_COUNT + LEG_COUNT };

typedef struct motion_value {
    double bend;
    int leg_ms;
} motion_value;

static double mean_of(const ph_sim_miss* miss)
{
    return miss->count > 0 ? miss->mrad / (double)miss->count : 0.0;
}

// The base of the def, moving as said by class.
static ph_schema* make_moving(const tuning* of, const motion_value* values)
{
    const ph_schema* base = of->def->base;
    const int count = ph_schema_class_count(base);
    ph_class_def* classes = malloc((size_t)count * sizeof *classes);
    ph_schema* made = NULL;
    for (int c = 0; classes != NULL && c < count; ++c) {
        classes[c] = *ph_schema_class(base, c);
        classes[c].bend = values[c].bend > 0.0 ? values[c].bend : PH_BEND_NONE;
        classes[c].leg_ms = values[c].leg_ms;
    }
    if (classes == NULL ||
        ph_schema_create_tuned(classes, count, base, NULL, &made, NULL) != PH_OK) {
        ph_fault_set_memory(of->fault);
    }
    free(classes);
    return made;
}

// By budget and class.
typedef ph_sim_miss motion_misses[BUDGETS][PH_CLASSES_MAX];

// At one budget, over all recordings.
static bool play_at(tuning* of, const ph_schema* schema, const part* what, int budget,
                    ph_sim_miss* each, ph_sim_miss* misses)
{
    const int count = ph_schema_class_count(schema);
    const size_t size = (size_t)of->def->viewers * (size_t)count * sizeof *each;
    for (int r = 0; r < of->def->recording_count; ++r) {
        of->recording = r;
        memset(each, 0, size);
        ph_sim_def def = sim_def_of(of, of->def->recordings[r], what);
        def.kbps = kbps_of(of->def, budget);
        def.misses = each;
        def.missed_half = what->half;
        ph_sim_result result;
        if (!ph_sim_run(&def, of->def->recordings[r], schema, of->def->pool, &result, of->fault)) {
            return false;
        }
        for (int i = 0; i < of->def->viewers * count; ++i) {
            misses[i % count].mrad += each[i].mrad;
            misses[i % count].count += each[i].count;
        }
        ++of->runs_done;
    }
    return true;
}

// The first budget that motion is tried at.
static int first_trial(const ph_tune_def* def)
{
    return budget_count(def) > 1 ? USUAL_BUDGET : 0;
}

// At all budgets from one on.
static bool play_moving(tuning* of, const motion_value* values, const part* what, int first_budget,
                        motion_misses misses)
{
    const int count = ph_schema_class_count(of->def->base);
    ph_schema* schema = make_moving(of, values);
    ph_sim_miss* each = malloc((size_t)of->def->viewers * (size_t)count * sizeof *each);
    bool is_done = schema != NULL && (each != NULL || ph_fault_set_memory(of->fault));
    memset(misses, 0, sizeof(motion_misses));
    for (int b = first_budget; b < budget_count(of->def) && is_done; ++b) {
        is_done = play_at(of, schema, what, b, each, misses[b]);
    }
    free(each);
    ph_schema_destroy(schema);
    return is_done;
}

// Each class by itself.
typedef struct motion_search {
    int count; // of classes
    motion_value base[PH_CLASSES_MAX];
    motion_value best[PH_CLASSES_MAX]; // so far
    motion_value trial[PH_CLASSES_MAX];
    double least[PH_CLASSES_MAX]; // what is left of the error of the base with the best
    motion_misses before;         // with the base
    motion_misses after;          // in a run
} motion_search;

static bool is_same_motion(const motion_value* a, const motion_value* b)
{
    return a->bend == b->bend && a->leg_ms == b->leg_ms;
}

// What is left of the error of a class, on average over the budgets that were played, and at the worst of them.
// 1 where too little of it was shown. *budgets: at how many of them enough was.
static double rest_of(const motion_search* search, int class_index, double* worst, int* budgets)
{
    double sum = 0.0;
    int count = 0;
    *worst = 0.0;
    for (int b = 0; b < BUDGETS; ++b) {
        const ph_sim_miss* before = &search->before[b][class_index];
        const ph_sim_miss* after = &search->after[b][class_index];
        if (before->count >= MISSES_MIN && after->count >= MISSES_MIN && before->mrad > 0.0) {
            const double rest = mean_of(after) / mean_of(before);
            *worst = rest > *worst ? rest : *worst;
            sum += rest;
            ++count;
        }
    }
    *budgets = count;
    return count > 0 ? sum / count : 1.0;
}

// One value for all, the rest as it is best so far. Negative, 0: that stays.
static bool try_motion(tuning* of, motion_search* search, double bend, int leg_ms)
{
    bool is_new = false;
    for (int c = 0; c < search->count; ++c) {
        motion_value* trial = &search->trial[c];
        *trial = search->best[c];
        trial->bend = bend >= 0.0 ? bend : trial->bend;
        trial->leg_ms = leg_ms > 0 ? leg_ms : trial->leg_ms;
        is_new = is_new || !is_same_motion(trial, &search->best[c]);
    }
    if (!is_new) {
        of->runs_done += (budget_count(of->def) - first_trial(of->def)) * of->def->recording_count;
        return true;
    }
    if (!play_moving(of, search->trial, &LEARNED, first_trial(of->def), search->after)) {
        return false;
    }
    for (int c = 0; c < search->count; ++c) {
        double worst;
        int budgets;
        const double rest = rest_of(search, c, &worst, &budgets);
        if (rest < search->least[c]) {
            search->least[c] = rest;
            search->best[c] = search->trial[c];
        }
    }
    return true;
}

static bool find_motion(tuning* of, motion_search* search)
{
    if (!play_moving(of, search->base, &LEARNED, first_trial(of->def), search->before)) {
        return false;
    }
    for (int c = 0; c < search->count; ++c) {
        search->least[c] = 1.0;
    }
    for (int i = 0; i < BEND_COUNT; ++i) {
        if (!try_motion(of, search, BENDS[i], 0)) {
            return false;
        }
    }
    for (int i = 0; i < LEG_COUNT; ++i) {
        if (!try_motion(of, search, -1.0, LEGS_MS[i])) {
            return false;
        }
    }
    for (int c = 0; c < search->count; ++c) {
        if (search->least[c] > 1.0 - GAIN_MIN) {
            search->best[c] = search->base[c];
        }
    }
    return true;
}

// What was found on one part is taken where it gains on the other.
static bool test_motion(tuning* of, motion_search* search, ph_tune_motion* motions)
{
    const int usual = first_trial(of->def);
    bool has_any = false;
    for (int c = 0; c < search->count; ++c) {
        has_any = has_any || !is_same_motion(&search->best[c], &search->base[c]);
    }
    if (has_any && (!play_moving(of, search->base, &TESTED, usual, search->before) ||
                    !play_moving(of, search->best, &TESTED, usual, search->after))) {
        return false;
    }
    for (int c = 0; c < search->count; ++c) {
        ph_tune_motion* made = &motions[c];
        *made = (ph_tune_motion){.was_bend = search->base[c].bend,
                                 .was_leg_ms = search->base[c].leg_ms,
                                 .bend = search->best[c].bend,
                                 .leg_ms = search->best[c].leg_ms};
        if (is_same_motion(&search->best[c], &search->base[c])) {
            continue;
        }
        double worst;
        int budgets;
        const double rest = rest_of(search, c, &worst, &budgets);
        made->before_mrad = mean_of(&search->before[usual][c]);
        made->after_mrad = mean_of(&search->after[usual][c]);
        made->rest = rest;
        made->budgets = budgets;
        made->is_taken = rest <= 1.0 - GAIN_MIN && worst <= 1.0 + LOSS_MAX;
        if (!made->is_taken) {
            search->best[c] = search->base[c];
        }
    }
    return true;
}

// @return The base with what was learned of how its classes move; NULL with the fault filled.
static ph_schema* learn_motion(tuning* of, ph_tune_motion* motions)
{
    motion_search* search = calloc(1, sizeof *search);
    if (search == NULL) {
        ph_fault_set_memory(of->fault);
        return NULL;
    }
    search->count = ph_schema_class_count(of->def->base);
    for (int c = 0; c < search->count; ++c) {
        const ph_class_def* type = ph_schema_class(of->def->base, c);
        search->base[c] = (motion_value){type->bend > 0.0 ? type->bend : 0.0, type->leg_ms};
        search->best[c] = search->base[c];
    }
    ph_schema* made = NULL;
    if (find_motion(of, search) && test_motion(of, search, motions)) {
        made = make_moving(of, search->best);
    }
    free(search);
    return made;
}

// ---- models

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

// By property: whether no recording has a column for it.
static bool find_unknown(tuning* of)
{
    const ph_schema* base = of->def->base;
    const int count = ph_schema_property_count(base);
    of->unknown = malloc((size_t)count * sizeof *of->unknown);
    if (of->unknown == NULL) {
        return ph_fault_set_memory(of->fault);
    }
    memset(of->unknown, 1, (size_t)count * sizeof *of->unknown);
    for (int r = 0; r < of->def->recording_count; ++r) {
        const ph_recording* recording = of->def->recordings[r];
        ph_column_bindings* bindings = ph_column_bindings_make_all(base, recording, of->fault);
        of->recording = r;
        if (bindings == NULL) {
            return false;
        }
        for (int c = 0; c < ph_recording_class_count(recording); ++c) {
            const int first = ph_schema_first_property(base, bindings[c].class_index);
            const int properties = ph_schema_class(base, bindings[c].class_index)->property_count;
            for (int p = 0; p < properties; ++p) {
                of->unknown[first + p] =
                    of->unknown[first + p] && (bindings[c].unbound_properties >> p & 1) != 0;
            }
        }
        free(bindings);
    }
    return true;
}

static bool run(tuning* of, ph_tune_result* result, ph_pinhole_counts* sum)
{
    ph_schema* moving = find_unknown(of) ? learn_motion(of, result->motions) : NULL;
    if (moving == NULL) {
        return false;
    }
    of->base = moving;
    bool is_done = test(of, result, sum);
    if (is_done) {
        result->schema = learn(of, &ALL, sum);
        is_done = result->schema != NULL;
    }
    if (is_done) {
        result->updates = of->updates;
        result->models = ph_learn_model_count(result->schema);
        fill_all_residuals(of->def, sum, result);
    }
    of->base = NULL;
    ph_schema_destroy(moving);
    return is_done;
}

bool ph_tune_run(const ph_tune_def* def, ph_tune_result* result, ph_fault* fault)
{
    *result = (ph_tune_result){0};
    tuning of = {.def = def,
                 .fault = fault,
                 .runs = ((2 * ROUNDS + 2) * budget_count(def) +
                          (MOTION_TRIALS + 2) * (budget_count(def) - first_trial(def))) *
                             def->recording_count +
                         2};
    of.counts = calloc((size_t)def->viewers, sizeof of.counts[0]);
    ph_pinhole_counts* sum = calloc(1, sizeof *sum);
    bool is_done = of.counts != NULL && sum != NULL;
    if (!is_done) {
        ph_fault_set_memory(fault);
    }
    is_done = is_done && run(&of, result, sum);
    result->failed = of.recording;
    free(of.unknown);
    free(of.counts);
    free(sum);
    return is_done;
}

bool ph_tune_count(const ph_tune_def* def, ph_pinhole_counts* counts, ph_fault* fault)
{
    tuning of = {.def = def, .fault = fault, .runs = def->recording_count * budget_count(def)};
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
