// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Two runs: the first is measured from the first tick to the last; the second plays to the tick with
// the most entities, lets the world stand still there, and waits until every client equals it.

#include "kit/sim.h"

#include "kit/observers.h"
#include "kit/sim_capture.h"
#include "kit/sim_dump.h"
#include "kit/sim_session.h"

#include "schema/model_tables.h"

#include <pinhole/viewer.h>

#include <stdlib.h>

ph_sim_def ph_sim_def_default(void)
{
    const ph_viewer_def viewer = ph_viewer_def_default();
    return (ph_sim_def){
        .profile = PH_PROFILE_PINHOLE,
        .precision_mrad = viewer.precision_mrad,
        .viewers = 16,
        .kbps = 13.0,
        .burst_s = 1.0,
        .overhead_bytes = 48,
        .radius_m = 250.0,
        .slots = 250,
        .rtt_ms = 100.0,
        .jitter_ms = 20.0,
        .loss = 0.01,
        .seed = 1,
        .standstill_s = 120.0,
    };
}

// One of the two runs.
typedef struct run {
    const ph_sim_def* def;
    const ph_recording* recording;
    ph_pool* pool;
    ph_sim_stage* stage;
    ph_sim_session** sessions;
    int session_count;
    bool is_measured;     // the first
    double progress_from; // share of the work that was done before this run, and with it
    double progress_to;
    ph_fault* fault;
} run;

// ---- memory

static bool fill_run(run* of, const ph_schema* schema, const int* entities)
{
    of->stage = ph_sim_stage_create(of->def, of->recording, schema, of->fault);
    if (of->stage == NULL) {
        return false;
    }
    if (ph_world_set_sends_at_once(of->stage->world, ph_pool_thread_count(of->pool)) != PH_OK) {
        return ph_fault_set_memory(of->fault);
    }
    of->sessions = calloc((size_t)of->session_count, sizeof(ph_sim_session*));
    for (int i = 0; of->sessions != NULL && i < of->session_count; ++i) {
        of->sessions[i] = ph_sim_session_create(of->stage, entities[i], of->is_measured);
        if (of->sessions[i] == NULL) {
            return ph_fault_set_memory(of->fault);
        }
        if (of->is_measured && of->def->counts != NULL) {
            ph_sim_session_set_counts(of->sessions[i], &of->def->counts[i]);
        }
        if (of->is_measured && of->def->misses != NULL) {
            ph_sim_session_set_misses(of->sessions[i],
                                      of->def->misses +
                                          (size_t)i * (size_t)ph_schema_class_count(schema));
        }
        if (i == 0 && of->is_measured && of->def->capture != NULL) {
            ph_sim_session_set_capture(of->sessions[i], of->def->capture);
        }
    }
    return of->sessions != NULL || ph_fault_set_memory(of->fault);
}

static void clear_run(run* of)
{
    for (int i = 0; of->sessions != NULL && i < of->session_count; ++i) {
        ph_sim_session_destroy(of->sessions[i]);
    }
    free(of->sessions);
    ph_sim_stage_destroy(of->stage);
}

// ---- a tick

static void step_session(void* context, int index)
{
    const run* of = context;
    ph_sim_session_step(of->sessions[index]);
}

static bool dump_all(run* of)
{
    for (int i = 0; i < of->session_count; ++i) {
        if (!ph_sim_session_dump(of->sessions[i], of->def->dump)) {
            return ph_fault_set(of->fault, 0, 0, "the dump cannot be written; is the disk full?");
        }
    }
    return true;
}

static bool play_tick(run* of)
{
    if (!ph_sim_stage_put(of->stage, of->fault)) {
        return false;
    }
    for (int i = 0; i < of->session_count; ++i) {
        if (!ph_sim_session_attend(of->sessions[i], of->fault)) {
            return false;
        }
    }
    ph_sim_stage_tick(of->stage);
    ph_pool_run(of->pool, of->session_count, step_session, of);
    return true;
}

static void tell_progress(const run* of, int done, int all)
{
    if (of->def->progress != NULL) {
        const double share = (double)done / all;
        of->def->progress(of->def->progress_context,
                          of->progress_from + share * (of->progress_to - of->progress_from));
    }
}

static void tell_second(run* of)
{
    const double rate_hz = of->recording->rate_hz;
    const int ticks = of->stage->tick + 1;
    const int seconds = (int)(ticks / rate_hz);
    const bool is_new = seconds > (int)((ticks - 1) / rate_hz);
    for (int i = 0; is_new && i < of->session_count; ++i) {
        ph_sim_second second = {.second = seconds, .viewer = i};
        ph_sim_session_take_second(of->sessions[i], &second);
        of->def->on_second(of->def->second_context, &second);
    }
}

static bool is_cancelled(const run* of)
{
    return of->def->is_cancelled != NULL && atomic_load(of->def->is_cancelled) &&
           !ph_fault_set(of->fault, 0, 0, "it was cancelled");
}

// Plays so many ticks from the first one on.
static bool play(run* of, int tick_count, bool is_dumped)
{
    for (int tick = 0; tick < tick_count; ++tick) {
        if (tick > 0) {
            ph_sim_stage_step(of->stage);
        }
        if (is_cancelled(of) || !play_tick(of) || (is_dumped && !dump_all(of))) {
            return false;
        }
        if (of->def->on_second != NULL && of->is_measured) {
            tell_second(of);
        }
        tell_progress(of, tick + 1, tick_count);
    }
    return true;
}

// ---- the first run

static bool collect(run* of, ph_sim_result* result)
{
    ph_figures total;
    if (ph_figures_create(&total, of->recording->rate_hz, NULL) != PH_OK) {
        return ph_fault_set_memory(of->fault);
    }
    // In the order of the viewers, whichever finished first: sums of doubles depend on it.
    for (int i = 0; i < of->session_count; ++i) {
        ph_sim_session_finish(of->sessions[i]);
        ph_sim_traffic_merge(&result->traffic, ph_sim_session_traffic(of->sessions[i]));
        ph_figures_merge(&total, ph_sim_session_figures(of->sessions[i]));
    }
    result->traffic.cpu_ns += of->stage->world_ns;
    result->burst_bits = ph_sim_session_burst_bits(of->sessions[0]);
    result->figures = ph_figures_summarise(&total);
    ph_figures_destroy(&total);
    return true;
}

static int tick_count_of(const run* of)
{
    const int all = of->recording->tick_count;
    const double wanted = of->def->seconds * of->recording->rate_hz;
    return wanted > 0.0 && wanted < all ? (int)(wanted + 0.5) : all;
}

static bool run_measured(run* of, ph_sim_result* result)
{
    const bool is_dumped = of->def->dump != NULL;
    const char* head =
        of->stage->source->rotation != NULL ? PH_SIM_DUMP_TURNED_HEAD : PH_SIM_DUMP_HEAD;
    if (is_dumped && fputs(head, of->def->dump) == EOF) {
        return ph_fault_set(of->fault, 0, 0, "the dump cannot be written; is the disk full?");
    }
    if (!play(of, tick_count_of(of), is_dumped) || !collect(of, result)) {
        return false;
    }
    const bool is_captured = of->def->capture == NULL || !of->def->capture->feed.is_failed;
    return is_captured || ph_fault_set_memory(of->fault);
}

// ---- the second run

static bool are_all_equal(const run* of)
{
    for (int i = 0; i < of->session_count; ++i) {
        if (!ph_sim_session_is_equal(of->sessions[i])) {
            return false;
        }
    }
    return true;
}

static bool run_standstill(run* of, ph_sim_result* result)
{
    const int fullest = ph_recording_fullest_tick(of->recording);
    if (fullest < 0) {
        return ph_fault_set_memory(of->fault);
    }
    if (!play(of, fullest + 1, false)) {
        return false;
    }
    of->stage->is_standing = true;
    const int tick_max = (int)(of->def->standstill_s * of->recording->rate_hz + 0.5);
    int waited = 0;
    bool are_equal = are_all_equal(of);
    while (!are_equal && waited < tick_max) {
        ph_sim_stage_step(of->stage);
        if (!play_tick(of)) {
            return false;
        }
        ++waited;
        are_equal = are_all_equal(of);
    }
    result->is_converged = are_equal;
    result->converge_s = (double)waited / of->recording->rate_hz;
    return true;
}

// ---- both

typedef bool run_kind(run* of, ph_sim_result* result);

static bool do_run(run of, const ph_schema* schema, const int* entities, run_kind* kind,
                   ph_sim_result* result)
{
    of.is_measured = kind == run_measured;
    const bool is_done = fill_run(&of, schema, entities) && kind(&of, result);
    clear_run(&of);
    return is_done;
}

static bool run_both(run of, const ph_schema* schema, const int* entities, ph_sim_result* result)
{
    // The second run plays to the fullest tick, and measures nothing.
    const double share = of.def->skips_standstill ? 1.0 : 0.75;
    of.progress_to = share;
    if (!do_run(of, schema, entities, run_measured, result)) {
        return false;
    }
    of.progress_from = share;
    of.progress_to = 1.0;
    return of.def->skips_standstill || do_run(of, schema, entities, run_standstill, result);
}

static void explain_no_viewer(const ph_recording* recording, ph_fault* fault)
{
    const bool is_short = recording->tick_count < PH_OBSERVER_SECONDS_MIN * recording->rate_hz;
    if (is_short) {
        ph_fault_set(fault, 0, 0,
                     "%g s are too short: a viewer is an entity that is present for %d s and moves "
                     "10 m, so %d s are the least",
                     (double)recording->tick_count / recording->rate_hz, PH_OBSERVER_SECONDS_MIN,
                     PH_OBSERVER_SECONDS_MIN);
        return;
    }
    ph_fault_set(fault, 0, 0,
                 "no entity in it is present for %d s and moves 10 m: there is no viewer",
                 PH_OBSERVER_SECONDS_MIN);
}

// Of so many each stride-th, from `first` on; of less than that the first. @return How many; of none, or
// no memory, the same.
static int take_every(int* entities, int count, int stride, int first)
{
    int taken = 0;
    for (int i = first; i < count; i += stride) {
        entities[taken++] = entities[i];
    }
    return count <= 0 ? count : taken > 0 ? taken : 1;
}

bool ph_sim_run(const ph_sim_def* def, const ph_recording* recording, const ph_schema* schema,
                ph_pool* pool, ph_sim_result* result, ph_fault* fault)
{
    if (def->is_snapshot && ph_schema_class_count(schema) > 1) {
        return ph_fault_set(fault, 0, 0,
                            "snapshots know one class, and there are %d: give a --schema of one",
                            ph_schema_class_count(schema));
    }
    *result = (ph_sim_result){
        .schema = schema,
        .rate_hz = recording->rate_hz,
        .entity_count = recording->entity_count,
        .seconds = (double)recording->tick_count / recording->rate_hz,
    };
    const int stride = def->viewer_stride > 0 ? def->viewer_stride : 1;
    int* entities = calloc((size_t)def->viewers * (size_t)stride, sizeof *entities);
    if (entities == NULL) {
        return ph_fault_set_memory(fault);
    }
    const int observers = ph_observers_choose(recording, def->viewers * stride, entities);
    result->viewer_count = take_every(entities, observers, stride, def->viewer_first);
    const run of = {
        .def = def,
        .recording = recording,
        .pool = pool,
        .session_count = result->viewer_count,
        .fault = fault,
    };
    bool is_done = false;
    if (result->viewer_count < 0) {
        ph_fault_set_memory(fault);
    } else if (result->viewer_count == 0) {
        explain_no_viewer(recording, fault);
    } else {
        is_done = run_both(of, schema, entities, result);
    }
    free(entities);
    return is_done;
}
