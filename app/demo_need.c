// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some forty runs for a question, seconds in all. The thread looks for a question, opens what it is about by itself
// (the demo may close its own scene at any time), and works until it is done or given up.

#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "demo_need.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

// A question waits so long before it is worked on: a person may still be moving the control.
#define SETTLE_US UINT64_C(700000)
// One that was not asked for so long is given up.
#define FORGET_US UINT64_C(2000000)
#define SCENE_SECONDS 60.0 // of which viewers are chosen
enum { VIEWERS = 4, LEAST_NICE = 19 };

typedef enum entry_state { ENTRY_NONE = 0, ENTRY_WAITING, ENTRY_RUNNING, ENTRY_DONE } entry_state;

typedef struct entry {
    entry_state state;
    demo_need_question question;
    uint64_t first_us; // asked
    uint64_t last_us;
    uint64_t version;
    ph_need found;
} entry;

struct demo_need {
    double run_seconds;
    pthread_t thread;
    pthread_mutex_t mutex; // guards all below but is_cancelled
    pthread_cond_t changed;
    bool is_over;
    uint64_t now_us; // of the newest question
    entry entries[DEMO_NEED_KEPT];
    entry* running;
    atomic_bool is_cancelled; // what runs is given up
};

// ---- questions

void demo_need_question_make(demo_need_question* question, const demo_stage* stage,
                             const demo_page_controls* controls)
{
    const demo_scene* scene = stage->scene;
    *question = (demo_need_question){
        .entities = scene->entities,
        .rate_hz = stage->def.rate_hz,
        .seed = stage->def.seed,
        .controls = *controls,
    };
    snprintf(question->source, sizeof question->source, "%s", scene->source);
    memcpy(question->sims, scene->defs, sizeof question->sims);
    snprintf(question->key, sizeof question->key, "%s %d %g %g %g %g %g %s %d", scene->source,
             scene->entities, controls->kbps, controls->loss_percent, controls->rtt_ms,
             controls->jitter_ms, controls->hz, controls->scheduler, controls->has_snapshot);
}

static void complete_sim(ph_sim_def* sim, const demo_page_controls* controls)
{
    sim->viewers = VIEWERS;
    sim->kbps = controls->kbps;
    sim->loss = controls->loss_percent / 100.0;
    sim->rtt_ms = controls->rtt_ms;
    sim->jitter_ms = controls->jitter_ms;
    sim->hz = controls->hz > 0.0 ? controls->hz : sim->hz;
    sim->scheduler = demo_page_scheduler(controls->scheduler, sim->scheduler);
}

// ---- the thread

static void take_progress(void* context, const ph_need* so_far)
{
    demo_need* need = context;
    pthread_mutex_lock(&need->mutex);
    need->running->found = *so_far;
    ++need->running->version;
    pthread_mutex_unlock(&need->mutex);
}

static bool work(demo_need* need, const demo_need_question* question, ph_pool* pool, ph_need* found)
{
    const ph_sim_material_def wanted = {
        .source = question->source,
        .rate_hz = question->rate_hz,
        .seconds = strncmp(question->source, "scene:", 6) == 0 ? SCENE_SECONDS : 0.0,
        .count = question->entities,
        .seed = question->seed,
    };
    ph_fault fault = {0};
    ph_sim_material material;
    if (!ph_sim_material_open(&material, &wanted, &fault)) {
        return false;
    }
    const demo_request_range range = demo_request_range_of(DEMO_REQUEST_KBPS);
    ph_need_def def = {
        .recording = material.recording,
        .schema = material.schema,
        .is_asked = {true, true, question->controls.has_snapshot},
        .low_kbps = range.low,
        .high_kbps = range.high,
        .on_progress = take_progress,
        .context = need,
    };
    for (int way = 0; way < PH_WAY_COUNT; ++way) {
        def.sims[way] = question->sims[way];
        complete_sim(&def.sims[way], &question->controls);
        def.sims[way].seconds = need->run_seconds;
        def.sims[way].is_cancelled = &need->is_cancelled;
    }
    const bool is_found = ph_need_find(&def, pool, found, &fault);
    ph_sim_material_close(&material);
    return is_found;
}

// The one that was asked for last, of those that are still asked for and have settled.
static entry* next_entry(demo_need* need)
{
    entry* next = NULL;
    for (int i = 0; i < DEMO_NEED_KEPT; ++i) {
        entry* at = &need->entries[i];
        const bool is_ready = at->state == ENTRY_WAITING &&
                              need->now_us - at->first_us >= SETTLE_US &&
                              need->now_us - at->last_us < FORGET_US;
        next = is_ready && (next == NULL || at->first_us > next->first_us) ? at : next;
    }
    return next;
}

// With the mutex held; it is let go while the entry is worked on.
static void work_on(demo_need* need, entry* at, ph_pool* pool)
{
    const demo_need_question question = at->question;
    ph_need found = {0};
    at->state = ENTRY_RUNNING;
    need->running = at;
    atomic_store(&need->is_cancelled, false);
    pthread_mutex_unlock(&need->mutex);
    const bool is_found = work(need, &question, pool, &found);
    const bool is_given_up = atomic_load(&need->is_cancelled);
    pthread_mutex_lock(&need->mutex);
    need->running = NULL;
    // What cannot be answered is not tried again.
    at->state = !is_found && is_given_up ? ENTRY_WAITING : ENTRY_DONE;
    at->first_us = is_given_up ? need->now_us : at->first_us;
}

static void* run(void* context)
{
    demo_need* need = context;
    setpriority(PRIO_PROCESS, 0, LEAST_NICE); // of this thread alone, on Linux
    ph_pool* pool = ph_pool_create(1);
    pthread_mutex_lock(&need->mutex);
    while (!need->is_over) {
        entry* at = pool != NULL ? next_entry(need) : NULL;
        if (at != NULL) {
            work_on(need, at, pool);
        } else {
            pthread_cond_wait(&need->changed, &need->mutex);
        }
    }
    pthread_mutex_unlock(&need->mutex);
    ph_pool_destroy(pool);
    return NULL;
}

demo_need* demo_need_create(double run_seconds)
{
    demo_need* need = calloc(1, sizeof *need);
    if (need == NULL) {
        return NULL;
    }
    need->run_seconds = run_seconds;
    pthread_mutex_init(&need->mutex, NULL);
    pthread_cond_init(&need->changed, NULL);
    if (pthread_create(&need->thread, NULL, run, need) != 0) {
        pthread_cond_destroy(&need->changed);
        pthread_mutex_destroy(&need->mutex);
        free(need);
        return NULL;
    }
    return need;
}

void demo_need_destroy(demo_need* need)
{
    if (need == NULL) {
        return;
    }
    pthread_mutex_lock(&need->mutex);
    need->is_over = true;
    atomic_store(&need->is_cancelled, true);
    pthread_cond_signal(&need->changed);
    pthread_mutex_unlock(&need->mutex);
    pthread_join(need->thread, NULL);
    pthread_cond_destroy(&need->changed);
    pthread_mutex_destroy(&need->mutex);
    free(need);
}

// ---- asking

static entry* find_entry(demo_need* need, const char* key)
{
    for (int i = 0; i < DEMO_NEED_KEPT; ++i) {
        entry* at = &need->entries[i];
        if (at->state != ENTRY_NONE && strcmp(at->question.key, key) == 0) {
            return at;
        }
    }
    return NULL;
}

// A free one, or the one that was not asked for the longest; never the one that is worked on.
static entry* replace_entry(demo_need* need)
{
    entry* oldest = NULL;
    for (int i = 0; i < DEMO_NEED_KEPT; ++i) {
        entry* at = &need->entries[i];
        const bool is_older = oldest == NULL || at->last_us < oldest->last_us;
        oldest = at->state != ENTRY_RUNNING && is_older ? at : oldest;
    }
    return oldest;
}

// What is known of a question that is new: nothing, but that is told, too, instead of the answer to another one.
static ph_need begin_answer(const demo_need_question* question)
{
    ph_need answer = {
        .kbps = question->controls.kbps,
        .error_mrad = NAN,
        .high_kbps = demo_request_range_of(DEMO_REQUEST_KBPS).high,
    };
    answer.ways[PH_WAY_CLASSIC].is_asked = true;
    answer.ways[PH_WAY_PINHOLE].is_asked = true;
    answer.ways[PH_WAY_SNAPSHOT].is_asked = question->controls.has_snapshot;
    return answer;
}

void demo_need_ask(demo_need* need, const demo_need_question* question, uint64_t now_us)
{
    pthread_mutex_lock(&need->mutex);
    need->now_us = now_us;
    entry* at = find_entry(need, question->key);
    if (at == NULL) {
        at = replace_entry(need);
        *at = (entry){
            .state = ENTRY_WAITING,
            .question = *question,
            .first_us = now_us,
            .last_us = now_us,
            .version = 1,
            .found = begin_answer(question),
        };
    }
    // One that was forgotten settles anew.
    at->first_us = now_us - at->last_us > FORGET_US ? now_us : at->first_us;
    at->last_us = now_us;
    if (need->running != NULL && now_us - need->running->last_us > FORGET_US) {
        atomic_store(&need->is_cancelled, true);
    }
    pthread_cond_signal(&need->changed);
    pthread_mutex_unlock(&need->mutex);
}

bool demo_need_answer(demo_need* need, const demo_need_question* question, uint64_t* version,
                      ph_need* found)
{
    pthread_mutex_lock(&need->mutex);
    const entry* at = find_entry(need, question->key);
    const bool is_new = at != NULL && at->version != *version;
    if (is_new) {
        *version = at->version;
        *found = at->found;
    }
    pthread_mutex_unlock(&need->mutex);
    return is_new;
}
