// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the demo's page needs beside the client: clients of all three ways that are compared (kit/way.h), on a ground that
// both ends know by its name, and the judge that has the figures (kit/judge.h).

#include "web/web_client.h"

#include "kit/judge.h"
#include "kit/way_client.h"

#include <stdlib.h>
#include <string.h>

EXPORT(open_way)
web_client* web_open_way(const char* schema, size_t size, const char* ground);
EXPORT(ground_layers) const double* web_ground_layers(const char* ground, double x_mm, double y_mm);
EXPORT(way_terms)
void web_way_terms(int way, int slots, int payload_max, uint32_t tick_us, int delay_ms);

// Numbers of the figures of one way; judge.js knows the order.
enum { FIGURE_COUNT = 17 };

EXPORT(judge_open)
ph_judge* web_judge_open(double rate_hz, uint32_t viewer, int32_t radius_mm, int slots,
                         int way_count, int capacity);
EXPORT(judge_ids) uint32_t* web_judge_ids(int count);
EXPORT(judge_close) void web_judge_close(ph_judge* judge);
EXPORT(judge_truth) int web_judge_truth(ph_judge* judge, const uint8_t* bytes, size_t size);
EXPORT(judge_measure) int web_judge_measure(ph_judge* judge, int way, web_client* web);
EXPORT(judge_whole) const double* web_judge_whole(const ph_judge* judge, int way);
EXPORT(judge_second) const double* web_judge_second(ph_judge* judge, int way);

// ---- snapshots

static void snapshot_destroy(void* state)
{
    ph_way_client_destroy(state);
}

static ph_result snapshot_receive(void* state, uint64_t now_us, const void* bytes, size_t size)
{
    return ph_way_client_receive(state, now_us, bytes, size);
}

static size_t snapshot_write_ack(void* state, uint64_t now_us, uint8_t* bytes)
{
    return ph_way_client_write_ack(state, now_us, bytes);
}

static uint64_t snapshot_ack_due_us(const void* state)
{
    return ph_way_client_ack_due_us(state);
}

static bool snapshot_poll(void* state, ph_event* event)
{
    return ph_way_client_poll(state, event);
}

static void snapshot_advance(void* state, uint64_t now_us)
{
    ph_way_client_advance(state, now_us);
}

static int snapshot_slot_count(const void* state)
{
    return ph_way_client_slot_count(state);
}

static ph_entity_id snapshot_entity_at(const void* state, int slot)
{
    return ph_way_client_entity_at(state, slot);
}

static ph_entity_id snapshot_find(const void* state, uint64_t key)
{
    return ph_way_client_find(state, key);
}

// Snapshots are of schemas with one class.
static ph_result snapshot_identify(const void* state, ph_entity_id entity, uint64_t* key,
                                   int* class_index)
{
    uint64_t unused;
    *class_index = 0;
    return ph_way_client_identify(state, entity, key != NULL ? key : &unused);
}

static ph_result snapshot_get_pose(const void* state, ph_entity_id entity, ph_pose* pose)
{
    return ph_way_client_get_pose(state, entity, pose);
}

static ph_result snapshot_get_property(const void* state, ph_entity_id entity, int property,
                                       ph_field field, void* value, size_t size)
{
    return ph_way_client_get_property(state, entity, property, field, value, size);
}

// Snapshots do not show it at any moment.
static ph_result snapshot_get_shown(const void* state, ph_entity_id entity, int property,
                                    double* numbers)
{
    (void)state;
    (void)entity;
    (void)property;
    (void)numbers;
    return PH_ERROR_ARGUMENT;
}

static ph_client_stats snapshot_get_stats(const void* state)
{
    const ph_sim_arrivals arrivals = ph_way_client_arrivals(state);
    ph_client_stats stats = {.received_datagrams = arrivals.received};
    stats.refused_datagrams[PH_CLIENT_REFUSAL_OLD] = arrivals.late;
    stats.refused_datagrams[PH_CLIENT_REFUSAL_RECORD] = arrivals.refused;
    return stats;
}

static const web_calls SNAPSHOT_CALLS = {
    .destroy = snapshot_destroy,
    .receive = snapshot_receive,
    .write_ack = snapshot_write_ack,
    .ack_due_us = snapshot_ack_due_us,
    .poll = snapshot_poll,
    .advance = snapshot_advance,
    .slot_count = snapshot_slot_count,
    .entity_at = snapshot_entity_at,
    .find = snapshot_find,
    .identify = snapshot_identify,
    .get_pose = snapshot_get_pose,
    .get_property = snapshot_get_property,
    .get_shown = snapshot_get_shown,
    .get_stats = snapshot_get_stats,
};

// ---- a client of any way

// Of the next clients: an export has no more parameters than one can read.
static ph_way_client_def next_def;

void web_way_terms(int way, int slots, int payload_max, uint32_t tick_us, int delay_ms)
{
    next_def = (ph_way_client_def){
        .way = (ph_way)way,
        .terms = {.slot_count = slots, .payload_max = payload_max},
        .tick_us = tick_us,
        .show_delay_ms = delay_ms,
    };
}

static web_client* open_snapshot(const char* schema, size_t size)
{
    web_client* web = web_client_open(schema, size, next_def.terms.slot_count);
    if (web == NULL) {
        return NULL;
    }
    web_last_error = (ph_error){.text = "there is no such client for snapshots"};
    next_def.schema = web->schema;
    return web_client_finish(web, &SNAPSHOT_CALLS, ph_way_client_create(&next_def));
}

static web_client* open_profile(const char* schema, size_t size)
{
    ph_client_def def = ph_client_def_default();
    def.profile = next_def.way == PH_WAY_CLASSIC ? PH_PROFILE_CLASSIC : PH_PROFILE_PINHOLE;
    def.slot_capacity = next_def.terms.slot_count;
    def.ground = next_def.ground;
    def.interpolation_delay_ms = next_def.show_delay_ms;
    return web_client_open_profile(schema, size, &def);
}

// As the last way_terms() say. ground: the name of one, ends with 0. @return NULL: error_text() says why.
web_client* web_open_way(const char* schema, size_t size, const char* ground)
{
    if ((int)next_def.way < 0 || next_def.way >= PH_WAY_COUNT) {
        web_last_error = (ph_error){.text = "there is no such way"};
        return NULL;
    }
    if (!ph_way_find_ground(ground, &next_def.ground)) {
        web_last_error = (ph_error){.text = "there is no ground of that name"};
        return NULL;
    }
    return next_def.way == PH_WAY_SNAPSHOT ? open_snapshot(schema, size)
                                           : open_profile(schema, size);
}

// How many layers the ground of this name has there, then their heights in mm. Valid until the next call.
const double* web_ground_layers(const char* ground, double x_mm, double y_mm)
{
    static double numbers[1 + PH_GROUND_LAYERS_MAX];
    int64_t heights_mm[PH_GROUND_LAYERS_MAX];
    ph_ground found;
    numbers[0] = 0.0;
    if (ph_way_find_ground(ground, &found) && found.layers != NULL) {
        const int count = found.layers(found.context, (int64_t)x_mm, (int64_t)y_mm, heights_mm);
        numbers[0] = count;
        for (int i = 0; i < count; ++i) {
            numbers[1 + i] = (double)heights_mm[i];
        }
    }
    return numbers;
}

// ---- the judge

static uint32_t* next_ids;
static int next_id_count;

// Where the ids of the next judge are put, ascending. @return NULL when there is no memory.
uint32_t* web_judge_ids(int count)
{
    free(next_ids);
    next_ids = count > 0 ? calloc((size_t)count, sizeof *next_ids) : NULL;
    next_id_count = next_ids != NULL ? count : 0;
    return next_ids;
}

// @return NULL when it cannot be.
ph_judge* web_judge_open(double rate_hz, uint32_t viewer, int32_t radius_mm, int slots,
                         int way_count, int capacity)
{
    const ph_judge_def def = {
        .rate_hz = rate_hz,
        .viewer = viewer,
        .radius_mm = radius_mm,
        .slots = slots,
        .way_count = way_count,
        .ids = next_ids,
        .id_count = next_id_count,
        .capacity = capacity,
    };
    ph_judge* judge = ph_judge_create(&def);
    web_judge_ids(0);
    return judge;
}

void web_judge_close(ph_judge* judge)
{
    ph_judge_destroy(judge);
}

int web_judge_truth(ph_judge* judge, const uint8_t* bytes, size_t size)
{
    return ph_judge_take_truth(judge, bytes, size);
}

// After the client has advanced to the time of the truth. @return How many entities it shows.
int web_judge_measure(ph_judge* judge, int way, web_client* web)
{
    int count = 0;
    const int slots = web->calls->slot_count(web->state);
    for (int slot = 0; slot < slots; ++slot) {
        const ph_entity_id entity = web->calls->entity_at(web->state, slot);
        uint64_t key;
        int class_index;
        ph_pose pose;
        if (entity.index1 != 0 &&
            web->calls->identify(web->state, entity, &key, &class_index) == PH_OK &&
            web->calls->get_pose(web->state, entity, &pose) == PH_OK) {
            ph_judge_show(judge, key, &pose);
            ++count;
        }
    }
    ph_judge_measure(judge, way);
    return count;
}

static double* put_spread(double* to, const ph_spread_summary* spread)
{
    to[0] = spread->mean;
    to[1] = spread->p50;
    to[2] = spread->p95;
    to[3] = spread->p99;
    return to + 4;
}

static const double* put_figures(const ph_figures_summary* figures, uint64_t samples)
{
    static double numbers[FIGURE_COUNT];
    double* to = put_spread(numbers, &figures->error_mm);
    to = put_spread(to, &figures->error_mrad);
    to = put_spread(to, &figures->heading_deg);
    *to++ = figures->missing_pct;
    *to++ = figures->ghost_pct;
    *to++ = figures->jolts_per_min;
    *to++ = figures->join_s;
    *to = (double)samples;
    return numbers;
}

// Valid until the next figures are asked for.
const double* web_judge_whole(const ph_judge* judge, int way)
{
    const ph_figures_summary figures = ph_judge_whole(judge, way);
    return put_figures(&figures, 0);
}

// Since they were last asked for; behind them, of how many samples.
const double* web_judge_second(ph_judge* judge, int way)
{
    const ph_figures_summary figures = ph_judge_second(judge, way);
    const uint64_t samples = ph_judge_second_samples(judge, way);
    ph_judge_clear(judge, way);
    return put_figures(&figures, samples);
}
