// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick, over all actors.

#include "cluster_truth.h"

#include <stdlib.h>

enum {
    VISITOR_EVERY = 8,   // one of so many actors comes and goes
    SPANS_MAX = 256,     // appearances of one visitor in a loop that have keys of their own
    LOOPS_MAX = 1 << 20, // then keys of visitors come again
};

// ---- memory

static bool allocate(cluster_truth* truth)
{
    const size_t count = (size_t)truth->actor_count;
    truth->row = calloc(count, sizeof *truth->row);
    truth->key = calloc(count, sizeof *truth->key);
    truth->birth_row = calloc(count, sizeof *truth->birth_row);
    return truth->row != NULL && truth->key != NULL && truth->birth_row != NULL;
}

static bool open_all(cluster_truth* truth, const cluster_truth_def* def, ph_fault* fault)
{
    const ph_sim_material_def material = {
        .source = def->source,
        .schema_path = def->schema_path,
        .rate_hz = def->rate_hz,
        .seconds = def->loop_s,
        .count = def->entities,
        .seed = def->seed,
    };
    if (!ph_sim_material_open(&truth->material, &material, fault)) {
        if (def->is_schema_bad != NULL) {
            *def->is_schema_bad = truth->material.is_schema_bad;
        }
        return false;
    }
    truth->recording = truth->material.recording;
    truth->schema = truth->material.schema;
    truth->ground = truth->recording->ground;
    truth->tick_us = (uint32_t)(1e6 / truth->recording->rate_hz + 0.5);
    truth->actor_count = truth->recording->entity_count;
    truth->source = ph_source_create(truth->recording, truth->schema, fault);
    return truth->source != NULL && (allocate(truth) || ph_fault_set_memory(fault));
}

cluster_truth* cluster_truth_open(const cluster_truth_def* def, ph_fault* fault)
{
    cluster_truth* truth = calloc(1, sizeof *truth);
    if (truth == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    if (!open_all(truth, def, fault)) {
        cluster_truth_close(truth);
        return NULL;
    }
    cluster_truth_seek(truth, 0);
    return truth;
}

void cluster_truth_close(cluster_truth* truth)
{
    if (truth == NULL) {
        return;
    }
    free(truth->row);
    free(truth->key);
    free(truth->birth_row);
    ph_source_destroy(truth->source);
    ph_sim_material_close(&truth->material);
    free(truth);
}

// ---- a tick

bool cluster_truth_is_resident(int actor)
{
    return actor % VISITOR_EVERY != VISITOR_EVERY - 1;
}

int cluster_truth_resident_count(const cluster_truth* truth)
{
    return truth->actor_count - truth->actor_count / VISITOR_EVERY;
}

int cluster_truth_resident(int i)
{
    return i + i / (VISITOR_EVERY - 1);
}

// Ids may be 0, keys of appearances are not.
static uint64_t key_of(const ph_recording* recording, int actor, uint64_t appearance)
{
    return (uint64_t)(recording->id[actor] + 1u) | appearance << 32;
}

int cluster_truth_actor_of(const cluster_truth* truth, uint64_t key)
{
    return ph_recording_find(truth->recording, (uint32_t)key - 1u);
}

// Where it is, or was last; before it was anywhere, where it will be first.
static void look_at_resident(cluster_truth* truth, int actor, int tick)
{
    const ph_recording* recording = truth->recording;
    const ph_span* span = &recording->spans[recording->first_span[actor]];
    const ph_span* end = &recording->spans[recording->first_span[actor + 1]];
    truth->key[actor] = key_of(recording, actor, 0);
    truth->birth_row[actor] = span->first_row;
    truth->row[actor] = span->first_row;
    for (; span < end && span->first_tick <= tick; ++span) {
        const int last = tick < span->end_tick ? tick : span->end_tick - 1;
        truth->row[actor] = span->first_row + last - span->first_tick;
    }
}

static void look_at_visitor(cluster_truth* truth, int actor, int tick, uint64_t loop)
{
    const ph_recording* recording = truth->recording;
    const ph_span* first = &recording->spans[recording->first_span[actor]];
    const ph_span* end = &recording->spans[recording->first_span[actor + 1]];
    truth->key[actor] = 0;
    truth->row[actor] = -1;
    for (const ph_span* span = first; span < end; ++span) {
        if (tick >= span->first_tick && tick < span->end_tick) {
            const uint64_t number = (uint64_t)(span - first) % SPANS_MAX;
            truth->key[actor] =
                key_of(recording, actor, (loop % LOOPS_MAX) * SPANS_MAX + number + 1);
            truth->row[actor] = span->first_row + tick - span->first_tick;
            truth->birth_row[actor] = span->first_row;
        }
    }
}

void cluster_truth_seek(cluster_truth* truth, uint64_t tick)
{
    const uint64_t length = (uint64_t)truth->recording->tick_count;
    truth->tick = tick;
    for (int actor = 0; actor < truth->actor_count; ++actor) {
        if (cluster_truth_is_resident(actor)) {
            look_at_resident(truth, actor, (int)(tick % length));
        } else {
            look_at_visitor(truth, actor, (int)(tick % length), tick / length);
        }
    }
}

// ---- questions

int cluster_truth_find(const cluster_truth* truth, uint64_t key)
{
    const int actor = cluster_truth_actor_of(truth, key);
    return actor >= 0 && truth->row[actor] >= 0 && truth->key[actor] == key ? actor : -1;
}

void cluster_truth_place(const cluster_truth* truth, int row, int32_t place_mm[3])
{
    place_mm[0] = truth->recording->x_mm[row];
    place_mm[1] = truth->recording->y_mm[row];
    place_mm[2] = truth->recording->z_mm[row];
}

uint64_t cluster_truth_tick_at(const cluster_truth* truth, uint64_t start_us, uint64_t unix_us)
{
    return unix_us > start_us ? (unix_us - start_us) / truth->tick_us : 0;
}

ph_world* cluster_truth_make_world(const cluster_truth* truth, ph_fault* fault)
{
    ph_world_def def = ph_world_def_default();
    def.schema = truth->schema;
    def.ground = truth->ground;
    def.tick_us = truth->tick_us;
    def.entity_capacity = truth->actor_count;
    ph_world* world = NULL;
    ph_result result = ph_world_create(&def, &world);
    for (int actor = 0; actor < truth->actor_count && result == PH_OK; ++actor) {
        ph_entity_id id;
        if (truth->row[actor] >= 0) {
            result = ph_source_spawn_row(truth->source, world, truth->row[actor], truth->key[actor],
                                         &id);
        }
    }
    if (result != PH_OK) {
        ph_fault_set(fault, 0, 0, "no world can be made of this: %s", ph_result_text(result));
        ph_world_destroy(world);
        return NULL;
    }
    ph_world_tick(world);
    return world;
}
