// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A front without players, and a script that publishes a true world to it as sims would: two regions, west and east of
// x = 0, each an endpoint of its own on a bus in memory. Tests disturb the bus, wait, and compare.

#ifndef PH_TEST_FRONT_STAGE_H
#define PH_TEST_FRONT_STAGE_H

#include "test_memory.h"
#include "test_support.h"

#include "memory_bus.h"

#include "bus/bus_wire.h"

#include <pinhole/bus/bus_front.h>
#include <pinhole/pinhole.h>

enum {
    STAGE_TICK_US = 50000,
    STAGE_CELL_MM = 100000,
    STAGE_REGIONS = 2,
    STAGE_STREAMS = 4096,
    STAGE_THINGS = 1024,
};

typedef struct stage_stream {
    ph_cell cell;
    int channel;
    uint64_t sequence;
    uint64_t said_us;
} stage_stream;

// The owner of a region, as far as fronts see it.
typedef struct stage_sim {
    struct front_stage* stage;
    int region;
    uint32_t epoch;
    uint32_t stamp;
    int endpoint;
    ph_bus_transport transport;
    ph_exporter* exporter;
    stage_stream streams[STAGE_STREAMS];
    int stream_count;
    bool is_mute;    // publishes nothing, answers nothing
    int loses;       // so many of the next changes are never sent
    int loses_parts; // so many of the next parts of snapshots, but never the first
    int snapshots;   // asked for
    int parts;       // sent
} stage_sim;

// A transport that looks on.
typedef struct stage_spy {
    ph_bus_transport inner;
    int subscribes;
    int unsubscribes;
    int messages;
    uint64_t digest; // of all that has come
    bool refuses;    // subscriptions
    bool is_lost;    // one more loss than the inner one says
} stage_spy;

typedef struct front_stage {
    memory_bus* bus;
    ph_schema* schema;
    ph_world* truth;
    ph_entity_id things[STAGE_THINGS];
    int thing_count;
    stage_sim sims[STAGE_REGIONS];
    int endpoint;
    stage_spy spy;
    test_memory memory; // of the front and its world
    ph_world* world;
    ph_bus_front* front;
    ph_bus_front_def def;
    test_rng rng;
    uint64_t now_us;
    bool is_still;
} front_stage;

// One at a time. world and bus are as {0} unless `change` says otherwise.
front_stage* front_stage_setup(const memory_bus_def* bus);
// With s->def as it is now.
void front_stage_open(front_stage* s);
void front_stage_teardown(front_stage* s);

// Spawns one; seen_by 0: of all.
ph_entity_id front_stage_spawn(front_stage* s, uint64_t key, int32_t x_mm, int32_t y_mm,
                               uint32_t seen_by);
void front_stage_despawn(front_stage* s, ph_entity_id entity);
// So many of them, in a square of this side around the middle.
void front_stage_scatter(front_stage* s, int count, int32_t side_mm);

// One tick: things move, sims publish, time passes, the front has its tick.
void front_stage_tick(front_stage* s);
void front_stage_run(front_stage* s, int ms);
// Until the front says that it is complete, and half a second more.
void front_stage_settle(front_stage* s);

// Another owner of a region, with an epoch of its own; the one before may still speak.
void front_stage_take_over(front_stage* s, int region);

// The local world has what is true within the radius, and nothing that is false anywhere.
void front_stage_expect(front_stage* s, int32_t x_mm, int32_t y_mm, int32_t radius_mm,
                        uint32_t sees);
int front_stage_interest(front_stage* s, int32_t x_mm, int32_t y_mm, int32_t radius_mm,
                         uint32_t sees);
uint64_t front_stage_refused(const front_stage* s);

#endif
