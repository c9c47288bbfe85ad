// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Walkers, viewers and clients of `pinhole bench load`.

#include "load_session.h"

#include "base/allocator.h"
#include "kit/creature.h"
#include "packet/header.h"

#include <pinhole/entropy.h>
#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20070524
#define PER_KM2 1500.0
// So far that even in a corner of the smallest square there are enough in view.
#define RADIUS_MM 500000
#define STEP_MM_MIN 100.0 // a tick: 1 m/s
#define STEP_MM_MAX 600.0
#define TURN_CHANCE 0.1   // a tick
#define WOUND_CHANCE 0.01 // a tick
#define LOSS 0.01
#define PI 3.14159265358979323846

// Until every client has all entities in its view; no more at once than a client takes.
#define JOIN_BITS_PER_SECOND 150000
#define JOIN_BURST_BITS 35000
#define JOIN_TICKS 40
#define SETTLE_TICKS 40

// ---- memory that is counted

static void* allocate(void* context, size_t size)
{
    load_session* scene = context;
    const ph_allocator pages = ph_large_pages_allocator(scene->pages);
    void* memory = pages.allocate(pages.context, size);
    scene->live_bytes += memory != NULL ? size : 0;
    return memory;
}

static void release(void* context, void* memory, size_t size)
{
    load_session* scene = context;
    const ph_allocator pages = ph_large_pages_allocator(scene->pages);
    scene->live_bytes -= size;
    pages.release(pages.context, memory, size);
}

// ---- the crowd

static void run_jobs(void* context, int count, ph_job_fn* job, void* job_context)
{
    const load_session* scene = context;
    if (scene->pool != NULL) {
        ph_pool_run(scene->pool, count, job, job_context);
        return;
    }
    for (int i = 0; i < count; ++i) {
        job(job_context, i);
    }
}

static bool make_world(load_session* scene)
{
    const ph_class_def creature = ph_creature_class();
    if (ph_schema_create(&creature, 1, NULL, &scene->schema, NULL) != PH_OK) {
        return false;
    }
    ph_world_def def = ph_world_def_default();
    def.schema = scene->schema;
    def.entity_capacity = scene->viewer_count;
    def.viewer_capacity = scene->viewer_count;
    def.radius_max_mm = RADIUS_MM;
    def.tick_us = LOAD_TICK_US;
    def.profile = scene->profile;
    def.run_jobs = run_jobs;
    def.run_jobs_context = scene;
    def.sends_at_once = LOAD_THREADS_MAX;
    def.vision.refresh_ticks = LOAD_TICKS_PER_SECOND / LOAD_VISIONS_PER_SECOND;
    def.allocator = (ph_allocator){allocate, release, scene};
    return ph_world_create(&def, &scene->world) == PH_OK;
}

static ph_creature make_creature(ph_rng* rng, int i)
{
    ph_creature creature = {
        .sheet = (uint32_t)ph_rng_below(rng, 4000),
        .mode = 1,
        .appearance_a = (uint32_t)ph_rng_below(rng, 1u << 16),
        .appearance_b = (uint32_t)ph_rng_below(rng, 1u << 16),
        .appearance_c = (uint32_t)ph_rng_below(rng, 1u << 16),
        .hit_points = PH_CREATURE_BAR_TOP,
        .stamina = PH_CREATURE_BAR_TOP,
        .sap = PH_CREATURE_BAR_TOP,
        .focus = PH_CREATURE_BAR_TOP,
        .clan = (uint8_t)ph_rng_below(rng, 16),
        .people = (uint8_t)ph_rng_below(rng, 8),
    };
    snprintf(creature.name, sizeof creature.name, "Homin %d", i);
    return creature;
}

static bool spawn(load_session* scene, int i)
{
    ph_rng* rng = &scene->rng;
    load_walker* walker = &scene->walkers[i];
    walker->x_mm = ph_rng_double(rng) * scene->side_mm;
    walker->y_mm = ph_rng_double(rng) * scene->side_mm;
    walker->heading_deg = ph_rng_double(rng) * 360.0;
    walker->step_mm = STEP_MM_MIN + ph_rng_double(rng) * (STEP_MM_MAX - STEP_MM_MIN);
    ph_creature creature = make_creature(rng, i);
    creature.position_mm[0] = (int32_t)walker->x_mm;
    creature.position_mm[1] = (int32_t)walker->y_mm;
    creature.heading_deg = (float)walker->heading_deg;
    const ph_spawn spawn = {
        .key = (uint64_t)i + 1,
        .position_mm = {creature.position_mm[0], creature.position_mm[1], 0},
    };
    return ph_world_spawn(scene->world, &spawn, &walker->id) == PH_OK &&
           ph_world_set_struct(scene->world, walker->id, &creature) == PH_OK;
}

static bool connect(load_session* scene, int i, ph_scheduler scheduler)
{
    load_client* client = &scene->clients[i];
    ph_viewer_def def = ph_viewer_def_default();
    def.entity = scene->walkers[i].id;
    def.radius_mm = RADIUS_MM;
    def.visible_max = LOAD_VISIBLE;
    def.bits_per_second = LOAD_BITS_PER_SECOND;
    def.overhead_bytes = LOAD_OVERHEAD_BYTES;
    def.sends_per_second = LOAD_SENDS_PER_SECOND;
    def.session = (uint32_t)ph_rng_next(&scene->rng);
    def.scheduler = scheduler;
    client->receipt = ph_receipt_make(def.session);
    client->rng = ph_rng_split(&scene->rng, (uint64_t)i);
    return ph_world_add_viewer(scene->world, &def, &client->viewer) == PH_OK;
}

static bool set_budgets(load_session* scene, int bits_per_second, int burst_bits)
{
    for (int i = 0; i < scene->viewer_count; ++i) {
        if (ph_viewer_set_budget(scene->world, scene->clients[i].viewer, bits_per_second,
                                 burst_bits) != PH_OK) {
            return false;
        }
    }
    return true;
}

static void run(load_session* scene, int ticks)
{
    for (int i = 0; i < ticks; ++i) {
        load_session_move(scene);
        load_session_tick(scene);
        load_session_serve(scene);
        load_session_answer(scene);
    }
}

static bool populate(load_session* scene, ph_scheduler scheduler)
{
    for (int i = 0; i < scene->viewer_count; ++i) {
        if (!spawn(scene, i)) {
            return false;
        }
    }
    const uint64_t before_bytes = scene->live_bytes;
    for (int i = 0; i < scene->viewer_count; ++i) {
        if (!connect(scene, i, scheduler)) {
            return false;
        }
    }
    const double viewer_bytes = (double)(scene->live_bytes - before_bytes);
    scene->bytes_per_viewer = viewer_bytes / scene->viewer_count;
    return true;
}

bool load_session_make(load_session* scene, ph_profile profile, int viewer_count,
                       ph_scheduler scheduler)
{
    const ph_allocator memory = {0};
    *scene = (load_session){
        .profile = profile,
        .viewer_count = viewer_count,
        .side_mm = 1e6 * sqrt(viewer_count / PER_KM2),
        .walkers = ph_allocate_array(&memory, (size_t)viewer_count, sizeof(load_walker)),
        .clients = ph_allocate_array(&memory, (size_t)viewer_count, sizeof(load_client)),
        .rng = ph_rng_make(SEED),
        .pages = ph_large_pages_create(),
    };
    if (scene->walkers == NULL || scene->clients == NULL || scene->pages == NULL) {
        return false;
    }
    memset(scene->clients, 0, (size_t)viewer_count * sizeof(load_client));
    if (!make_world(scene) || !populate(scene, scheduler) ||
        !set_budgets(scene, JOIN_BITS_PER_SECOND, JOIN_BURST_BITS)) {
        return false;
    }
    run(scene, JOIN_TICKS);
    if (!set_budgets(scene, LOAD_BITS_PER_SECOND, 0)) {
        return false;
    }
    run(scene, SETTLE_TICKS);
    return true;
}

void load_session_destroy(load_session* scene)
{
    const ph_allocator memory = {0};
    const size_t count = (size_t)scene->viewer_count;
    ph_world_destroy(scene->world);
    ph_schema_destroy(scene->schema);
    ph_large_pages_destroy(scene->pages);
    ph_release_array(&memory, scene->walkers, count, sizeof(load_walker));
    ph_release_array(&memory, scene->clients, count, sizeof(load_client));
}

// ---- the game

static double inside(double place_mm, double side_mm)
{
    return place_mm < 0.0 ? 0.0 : place_mm > side_mm ? side_mm : place_mm;
}

static void walk(load_session* scene, load_walker* walker)
{
    ph_rng* rng = &scene->rng;
    const double radians = walker->heading_deg * PI / 180.0;
    const double x_mm = walker->x_mm + walker->step_mm * cos(radians);
    const double y_mm = walker->y_mm + walker->step_mm * sin(radians);
    walker->x_mm = inside(x_mm, scene->side_mm);
    walker->y_mm = inside(y_mm, scene->side_mm);
    const bool is_at_edge = walker->x_mm != x_mm || walker->y_mm != y_mm;
    if (is_at_edge || ph_rng_chance(rng, TURN_CHANCE)) {
        walker->heading_deg = ph_rng_double(rng) * 360.0;
    }
}

void load_session_move(load_session* scene)
{
    for (int i = 0; i < scene->viewer_count; ++i) {
        load_walker* walker = &scene->walkers[i];
        walk(scene, walker);
        ph_world_move(scene->world, walker->id, (int32_t)walker->x_mm, (int32_t)walker->y_mm, 0);
        const float heading_deg = (float)walker->heading_deg;
        ph_world_set_property(scene->world, walker->id, PH_CREATURE_HEADING, PH_FIELD_F32,
                              &heading_deg, sizeof heading_deg);
        if (ph_rng_chance(&scene->rng, WOUND_CHANCE)) {
            const uint8_t hit_points = (uint8_t)ph_rng_below(&scene->rng, PH_CREATURE_BAR_TOP);
            ph_world_set_property(scene->world, walker->id, PH_CREATURE_HIT_POINTS, PH_FIELD_U8,
                                  &hit_points, sizeof hit_points);
        }
    }
}

// ---- the world

typedef struct delivery {
    load_client* client;
    ph_profile profile;
} delivery;

static void deliver(void* context, ph_viewer_id viewer, const void* bytes, size_t size)
{
    (void)viewer;
    const delivery* to = context;
    load_client* client = to->client;
    if (client->packet_count < LOAD_PACKETS_MAX) {
        load_packet* packet = &client->packets[client->packet_count++];
        packet->size = (uint8_t)(size < sizeof packet->bytes ? size : sizeof packet->bytes);
        const size_t first = to->profile == PH_PROFILE_PINHOLE ? size - packet->size : 0;
        memcpy(packet->bytes, (const uint8_t*)bytes + first, packet->size);
    }
}

// What ph_world_send_all() does, for one viewer: every other tick, so that all are spread evenly.
static void serve(void* context, int i)
{
    load_session* scene = context;
    load_client* client = &scene->clients[i];
    const uint32_t tick = ph_world_tick_count(scene->world);
    const uint64_t now_us = (uint64_t)tick * LOAD_TICK_US;
    if (client->ack_tick != 0 && client->ack_tick <= tick) {
        client->ack_tick = 0;
        ph_viewer_receive_ack(scene->world, client->viewer, now_us, client->ack,
                              sizeof client->ack);
    }
    const uint32_t period = LOAD_TICKS_PER_SECOND / LOAD_SENDS_PER_SECOND;
    if ((tick + (uint32_t)i) % period == 0) {
        delivery to = {.client = client, .profile = scene->profile};
        ph_viewer_send(scene->world, client->viewer, now_us, deliver, &to);
    }
}

void load_session_tick(load_session* scene)
{
    ph_world_tick(scene->world);
}

void load_session_serve(load_session* scene)
{
    run_jobs(scene, scene->viewer_count, serve, scene);
}

// ---- the clients

static ph_header read_header(const load_client* client, const load_packet* packet,
                             ph_profile profile)
{
    ph_header header;
    if (profile == PH_PROFILE_PINHOLE) {
        ph_entropy_reader reader;
        ph_entropy_reader_init(&reader, packet->bytes, packet->size);
        ph_pinhole_header_read(&reader.raw, client->receipt.newest, &header);
    } else {
        ph_bit_reader reader = ph_bit_reader_make(packet->bytes, packet->size);
        ph_header_read(&reader, &header);
    }
    return header;
}

static void read_packet(load_client* client, const load_packet* packet, ph_profile profile)
{
    const ph_header header = read_header(client, packet, profile);
    const bool is_new =
        ph_receipt_judge(&client->receipt, header.sequence, header.horizon) == PH_NEWS_NEW;
    if (is_new && !ph_rng_chance(&client->rng, LOSS)) {
        ph_receipt_note(&client->receipt, header.sequence, !header.is_probe);
    }
}

void load_session_answer(load_session* scene)
{
    const uint32_t tick = ph_world_tick_count(scene->world);
    for (int i = 0; i < scene->viewer_count; ++i) {
        load_client* client = &scene->clients[i];
        if (client->packet_count == 0) {
            continue;
        }
        for (int k = 0; k < client->packet_count; ++k) {
            read_packet(client, &client->packets[k], scene->profile);
        }
        client->packet_count = 0;
        ph_ack_write(&client->receipt, client->ack);
        client->ack_tick = tick + 1 + (uint32_t)(ph_rng_next(&client->rng) & 1);
    }
}

// ---- figures

load_counts load_session_counts(const load_session* scene)
{
    load_counts counts = {0};
    for (int i = 0; i < scene->viewer_count; ++i) {
        ph_viewer_stats stats;
        ph_vision sight;
        ph_viewer_get_stats(scene->world, scene->clients[i].viewer, &stats);
        ph_viewer_get_vision(scene->world, scene->clients[i].viewer, &sight);
        counts.datagrams += stats.sent_datagrams;
        counts.payload_bytes += stats.sent_payload_bytes;
        counts.wire_bytes += stats.sent_wire_bytes;
        counts.enters += stats.sent_enters;
        counts.leaves += stats.sent_leaves;
        counts.updates += stats.sent_updates;
        counts.visible += (uint64_t)sight.visible_count;
    }
    return counts;
}
