// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The game of a sim: it moves what it owns to where the truth has it, lets new things begin in its regions and old
// ones end, and sends messages of players back.
//
// Each appearance of an actor is born once, in the region in which it begins. The owner of that region spawns it, also
// if it has become the owner only since then, unless it has ever had it in its world: then it has walked on, or another
// sim has it.

#ifndef PH_APP_SIM_SERVER_PLAY_H
#define PH_APP_SIM_SERVER_PLAY_H

#include "cluster_regions.h"
#include "cluster_truth.h"

#include <pinhole/bus/bus_sim.h>

typedef struct sim_server_play_def {
    cluster_truth* truth; // outlives it, as all of these
    ph_world* world;
    ph_bus_sim* sim;
    const cluster_regions* regions;
    int32_t cell_mm;
} sim_server_play_def;

// Read-only outside.
typedef struct sim_server_play {
    sim_server_play_def def;
    uint64_t* seen_key; // by actor: of the newest appearance that was ever in the world
    int* put_row;       // by actor: what this sim has put last; -1: not known
    uint64_t gained_us[CLUSTER_REGIONS_MAX]; // by place on the map: since when it may fill it
    ph_entity_id* ended;
    uint64_t born;
    uint64_t gone;
    uint64_t echoed;
    uint64_t unechoed; // a player's queue was full
    uint64_t inputs;
    uint64_t backward_inputs; // never
} sim_server_play;

// @return False when there is no memory.
bool sim_server_play_begin(sim_server_play* play, const sim_server_play_def* def);
void sim_server_play_end(sim_server_play* play);

void sim_server_play_take(sim_server_play* play, const ph_bus_event* event, uint64_t now_us);

// To this tick of the truth.
void sim_server_play_step(sim_server_play* play, uint64_t tick, uint64_t now_us);

#endif
