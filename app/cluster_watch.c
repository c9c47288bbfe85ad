// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From top to bottom: what front-ends say of their players, opening, what is written. Five times a second over all
// entities, and only while a page is open: some microseconds each.

#include "cluster_watch.h"

#include "cluster_row.h"
#include "truth_wire.h"

#include <pinhole/bus/bus_front.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_US UINT64_C(50000)
#define FRESH_US UINT64_C(1500000)
#define SEES_ALL UINT32_MAX

typedef struct player {
    uint64_t key; // of its entity
    uint64_t generation;
} player;

// The players of one front-end, by key ascending.
typedef struct front_players {
    char front[32];
    uint64_t heard_us;
    player* all;
    int count;
} front_players;

struct cluster_watch {
    const cluster_stage* stage;
    bus_options options;
    cluster_bus* bus;
    ph_world* world;
    ph_bus_front* front;
    front_players fronts[CLUSTER_FRONTS];
    int32_t bounds_mm[4]; // x0, y0, x1, y1 of all that the source has
    uint64_t begun_us;
    uint64_t turned_us;
};

// ---- players

static int compare(const void* a, const void* b)
{
    const uint64_t x = ((const player*)a)->key;
    const uint64_t y = ((const player*)b)->key;
    return (x > y) - (x < y);
}

static front_players* find_front(cluster_watch* watch, const char* name)
{
    for (int i = 0; i < CLUSTER_FRONTS; ++i) {
        front_players* at = &watch->fronts[i];
        if (at->front[0] == '\0' || strcmp(at->front, name) == 0) {
            return at;
        }
    }
    return NULL;
}

static void take_players(cluster_watch* watch, const ph_bus_message* message)
{
    const uint8_t* end = memchr(message->bytes, '\n', message->size);
    char name[32] = "";
    if (end == NULL || (size_t)(end - message->bytes) >= sizeof name) {
        return;
    }
    memcpy(name, message->bytes, (size_t)(end - message->bytes));
    front_players* at = find_front(watch, name);
    truth_reader in = {.at = end + 1, .left = message->size - (size_t)(end + 1 - message->bytes)};
    const int count = (int)(in.left / 16);
    player* all = calloc((size_t)count + 1, sizeof *all);
    if (at == NULL || all == NULL) {
        free(all);
        return;
    }
    for (int i = 0; i < count; ++i) {
        all[i].key = truth_take(&in, 8);
        all[i].generation = truth_take(&in, 8);
    }
    qsort(all, (size_t)count, sizeof *all, compare);
    free(at->all);
    memcpy(at->front, name, sizeof name);
    at->heard_us = watch->turned_us;
    at->all = all;
    at->count = count;
}

static bool on_message(void* context, const ph_bus_message* message)
{
    const bool is_ours = strncmp(message->subject, "players.", 8) == 0;
    if (is_ours) {
        take_players(context, message);
    }
    return is_ours;
}

// The front-end that has this player by the highest generation: one that is gone or frozen may still have it, too.
static const char* front_of(const cluster_watch* watch, uint64_t key)
{
    const char* found = NULL;
    uint64_t generation = 0;
    for (int i = 0; i < CLUSTER_FRONTS; ++i) {
        const front_players* at = &watch->fronts[i];
        const player wanted = {.key = key};
        const bool is_fresh = at->count > 0 && watch->turned_us - at->heard_us < FRESH_US;
        const player* one =
            is_fresh ? bsearch(&wanted, at->all, (size_t)at->count, sizeof wanted, compare) : NULL;
        if (one != NULL && one->generation >= generation) {
            generation = one->generation;
            found = at->front;
        }
    }
    return found;
}

// ---- opening

static void measure(cluster_watch* watch)
{
    const ph_recording* recording = watch->stage->truth->recording;
    int32_t* b = watch->bounds_mm;
    b[0] = b[1] = INT32_MAX;
    b[2] = b[3] = INT32_MIN;
    for (int row = 0; row < recording->row_count; ++row) {
        const int32_t x = recording->x_mm[row];
        const int32_t y = recording->y_mm[row];
        b[0] = x < b[0] ? x : b[0];
        b[1] = y < b[1] ? y : b[1];
        b[2] = x > b[2] ? x : b[2];
        b[3] = y > b[3] ? y : b[3];
    }
}

static ph_result open_front(cluster_watch* watch)
{
    const cluster_truth* truth = watch->stage->truth;
    ph_world_def world = ph_world_def_default();
    world.schema = truth->schema;
    world.ground = truth->ground;
    world.tick_us = truth->tick_us;
    world.entity_capacity = truth->actor_count;
    ph_result result = ph_world_create(&world, &watch->world);
    if (result != PH_OK) {
        return result;
    }
    ph_bus_front_def def = ph_bus_front_def_default();
    def.transport = cluster_bus_transport(watch->bus);
    def.world = watch->world;
    def.world_name = watch->options.world;
    def.name = watch->options.name;
    def.cell_mm = watch->stage->def.cell_m * 1000;
    result = ph_bus_front_create(&def, &watch->front);
    if (result != PH_OK) {
        return result;
    }
    const int32_t* b = watch->bounds_mm;
    const int64_t middle_mm[3] = {((int64_t)b[0] + b[2]) / 2, ((int64_t)b[1] + b[3]) / 2, 0};
    const int64_t radius_mm = ((int64_t)b[2] - b[0] + b[3] - b[1]) / 2 + 1;
    const int32_t radius = (int32_t)(radius_mm < INT32_MAX ? radius_mm : INT32_MAX);
    return ph_bus_front_add_interest(watch->front, middle_mm, radius, SEES_ALL) != 0
               ? PH_OK
               : PH_ERROR_MEMORY;
}

cluster_watch* cluster_watch_open(const cluster_stage* stage, ph_fault* fault)
{
    char subject[PH_BUS_SUBJECT_MAX];
    cluster_watch* watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    watch->stage = stage;
    watch->begun_us = stage->now_us;
    watch->options = stage->options;
    watch->options.name = "page";
    measure(watch);
    watch->bus = cluster_bus_open(&watch->options, fault);
    const ph_result result = watch->bus != NULL ? open_front(watch) : PH_OK;
    if (result != PH_OK) {
        ph_fault_set(fault, 0, 0, "the world cannot be followed: %s", ph_result_text(result));
    }
    if (watch->bus == NULL || result != PH_OK) {
        cluster_watch_close(watch);
        return NULL;
    }
    cluster_bus_set_tap(watch->bus, on_message, watch);
    cluster_control_subject(subject, "players", watch->options.world);
    cluster_bus_subscribe(watch->bus, subject);
    return watch;
}

void cluster_watch_close(cluster_watch* watch)
{
    if (watch == NULL) {
        return;
    }
    ph_bus_front_destroy(watch->front);
    ph_world_destroy(watch->world);
    cluster_bus_close(watch->bus);
    for (int i = 0; i < CLUSTER_FRONTS; ++i) {
        free(watch->fronts[i].all);
    }
    free(watch);
}

void cluster_watch_turn(cluster_watch* watch, uint64_t now_us)
{
    if (now_us - watch->turned_us >= TURN_US) {
        watch->turned_us = now_us;
        ph_bus_front_tick(watch->front, now_us);
        ph_world_tick(watch->world);
    }
}

// ---- writing

static void write_part(const cluster_stage* stage, const cluster_part* part, ph_json* json)
{
    static const char* const KINDS[] = {"nats", "sim", "front", "director", "bots"};
    const cluster_row row = cluster_row_of(stage, part);
    ph_json_open(json, NULL);
    ph_json_text(json, "name", part->name);
    ph_json_text(json, "kind", KINDS[part->kind]);
    ph_json_integer(json, "pid", (int64_t)part->pid);
    ph_json_text(json, "state", row.state);
    ph_json_text(json, "regions", row.regions);
    ph_json_text(json, "entities", row.entities);
    ph_json_text(json, "players", row.players);
    ph_json_text(json, "kbps", row.kbps);
    ph_json_text(json, "gaps", row.gaps);
    ph_json_text(json, "fault", part->last_fault);
    ph_json_integer(json, "restarts", part->restarts);
    ph_json_close(json);
}

static void write_region(const cluster_stage* stage, int region, ph_json* json)
{
    const cluster_owner* owner = cluster_row_owner(stage, region);
    ph_json_open(json, NULL);
    ph_json_integer(json, "number", region);
    ph_json_text(json, "owner", owner != NULL ? owner->sim : "");
    ph_json_integer(json, "epoch", owner != NULL ? owner->epoch : 0);
    // Both are all that lies on one side of a line.
    ph_json_text(json, "side", region == 0 ? "west" : "east");
    ph_json_close(json);
}

static void write_entity(const cluster_watch* watch, ph_entity_id id, ph_json* json)
{
    ph_spawn about;
    ph_bus_source source;
    char key[24];
    if (ph_world_describe(watch->world, id, &about) != PH_OK ||
        !ph_bus_front_get_source(watch->front, id, &source)) {
        return;
    }
    // As text: numbers of JavaScript have 53 bits.
    snprintf(key, sizeof key, "%" PRIu64, about.key);
    const char* front = front_of(watch, about.key);
    ph_json_open_list(json, NULL);
    ph_json_text(json, NULL, key);
    ph_json_integer(json, NULL, about.position_mm[0]);
    ph_json_integer(json, NULL, about.position_mm[1]);
    ph_json_integer(json, NULL, source.region == PH_REGION_NONE ? -1 : source.region);
    ph_json_integer(json, NULL, source.epoch);
    ph_json_text(json, NULL, source.sim);
    ph_json_text(json, NULL, front != NULL ? front : "");
    ph_json_close(json);
}

static void write_bots(const cluster_stage* stage, ph_json* json)
{
    static const char* const NAMES[] = {"connected", "moves", "ended",    "sent",
                                        "returned",  "wrong", "backward", "alarms"};
    const char* bots = cluster_stage_bots(stage);
    ph_json_open(json, "bots");
    ph_json_integer(json, "wanted", stage->def.bots);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; ++i) {
        ph_json_number(json, NAMES[i], cluster_report_number(bots, NAMES[i]));
    }
    ph_json_close(json);
}

void cluster_watch_write(const cluster_watch* watch, ph_json* json)
{
    const cluster_stage* stage = watch->stage;
    ph_json_open(json, NULL);
    ph_json_integer(json, "version", 1);
    ph_json_text(json, "source", stage->def.source);
    ph_json_number(json, "seconds", (double)(stage->now_us - watch->begun_us) / 1e6);
    ph_json_bool(json, "complete", ph_bus_front_is_complete(watch->front));
    ph_json_open_list(json, "bounds_mm");
    for (int i = 0; i < 4; ++i) {
        ph_json_integer(json, NULL, watch->bounds_mm[i]);
    }
    ph_json_close(json);
    ph_json_integer(json, "border_mm", (int64_t)stage->middle * stage->def.cell_m * 1000);
    write_bots(stage, json);
    ph_json_open_list(json, "regions");
    for (int region = 0; region < CLUSTER_REGION_COUNT; ++region) {
        write_region(stage, region, json);
    }
    ph_json_close(json);
    ph_json_open_list(json, "parts");
    for (int i = 0; i < stage->parts.count; ++i) {
        write_part(stage, &stage->parts.all[i], json);
    }
    ph_json_close(json);
    ph_json_open_list(json, "entities");
    for (int i = 0; i < ph_world_entity_count(watch->world); ++i) {
        write_entity(watch, ph_world_live_entity(watch->world, i), json);
    }
    ph_json_close(json);
    ph_json_close(json);
}
