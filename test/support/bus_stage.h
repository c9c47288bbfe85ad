// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A cluster in memory: sims that share two regions, front-ends that follow them, players that talk to them; and a script
// that says where every entity is at any time, so that the truth is known. Sims can be killed, frozen and cut off. Every
// tick is judged: no entity has two owners, and no player's message is lost, doubled or out of order.

#ifndef PH_TEST_BUS_STAGE_H
#define PH_TEST_BUS_STAGE_H

#include "support/memory_bus.h"
#include "support/test_support.h"

#include <pinhole/bus/bus_front.h>
#include <pinhole/bus/bus_sim.h>
#include <pinhole/pinhole.h>

enum {
    STAGE_SIMS = 4,
    STAGE_FRONTS = 2,
    STAGE_REGIONS = 2,
    STAGE_WALKERS = 24,
    STAGE_HIDDEN = 8,
    STAGE_KEYS = STAGE_WALKERS + STAGE_HIDDEN,
    STAGE_PLAYERS = 6, // of the first walkers
    STAGE_TICK_US = 50000,
    STAGE_CELL_MM = 16000,
};

#define STAGE_KEY(i) ((uint64_t)100 + (uint64_t)(i))
#define STAGE_HIDDEN_BIT UINT32_C(8)

typedef struct bus_stage bus_stage;

// What the game keeps in an entity.
typedef struct stage_walker {
    int32_t position_mm[3];
    int64_t step;     // of the script
    int64_t received; // messages of its player
    int64_t chain;    // of them
} stage_walker;

typedef struct stage_sim {
    bus_stage* stage;
    int endpoint;
    ph_world* world;
    ph_bus_sim* sim; // NULL: it is not there
    bool is_frozen;
    bool is_namesake; // its name is that of sim 0
    int wanted[STAGE_REGIONS];
    int wanted_count;
    int lives;
    ph_error error; // the newest
} stage_sim;

typedef struct stage_front {
    int endpoint;
    ph_world* world;
    ph_bus_front* front;
} stage_front;

// A player and the front-end that has it, as one.
typedef struct stage_player {
    uint64_t client_id;
    uint64_t generation;
    uint64_t key;
    int region;
    bool is_attached;
    uint64_t created; // messages
    uint64_t confirmed;
    uint64_t told;
    uint32_t input;
    uint64_t sent_us;
    uint64_t heard_us;
    uint64_t found_us;
} stage_player;

typedef struct bus_stage_def {
    memory_bus_def bus;
    uint64_t seed;
    int layout;             // which sim wants which region, 0..2
    int suspect_ms;         // 0: the default
    ph_allocator allocator; // of sims and fronts
    bool has_hidden;
    bool is_lossy;             // effects may come twice, and are known by their number
    bool is_divided_otherwise; // for sims 2 and 3: their map has the border a cell further
} bus_stage_def;

struct bus_stage {
    bus_stage_def def;
    test_rng rng;
    memory_bus* bus;
    ph_schema* schema;
    stage_sim sims[STAGE_SIMS];
    stage_front fronts[STAGE_FRONTS]; // the second one sees nothing hidden
    int driver;                       // endpoint of the players
    stage_player players[STAGE_PLAYERS];
    int64_t step; // of the script
    int64_t tick_count;
    bool is_moving;
    bool is_talking;
    char wrong[256]; // the first thing that was; "" so far
};

void bus_stage_setup(bus_stage* stage, const bus_stage_def* def);
void bus_stage_teardown(bus_stage* stage);
void bus_stage_run(bus_stage* stage, int ms);
// Both regions have an owner and a standby with everything. Waits up to 15 s.
void bus_stage_run_until_covered(bus_stage* stage);
// Script and talk stop for a while; then everything is judged.
void bus_stage_settle(bus_stage* stage);

void bus_stage_kill(bus_stage* stage, int sim);
void bus_stage_start(bus_stage* stage, int sim);
void bus_stage_freeze(bus_stage* stage, int sim);
void bus_stage_thaw(bus_stage* stage, int sim);

#endif
