// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A cluster with everything in it, on one clock and in memory: two regions with sims, front-ends that are hosts, peers
// that play, and a director that grants spares. Hosts and peers have a network that delays and loses. The game keeps the
// books: every message exactly once and in order, both ways, and no input back.

#ifndef PH_TEST_PLAYERS_STAGE_H
#define PH_TEST_PLAYERS_STAGE_H

#include "test_memory.h"
#include "test_support.h"

#include "memory_bus.h"
#include "net/host_state.h"
#include "net/peer_state.h"

#include <pinhole/bus/bus_front.h>
#include <pinhole/bus/bus_sim.h>
#include <pinhole/net/netcode.h>
#include <pinhole/net/peer.h>
#include <pinhole/pinhole.h>

enum {
    CAST_SIMS = 4, // an owner of each region, and who stands by
    CAST_FRONTS = 3,
    CAST_PEERS = 4,
    CAST_STEP_US = 5000,
    CAST_FRAME_US = 20000,
    CAST_TICK_US = 50000,
    CAST_QUEUE = 8192,
    CAST_CELL_MM = 50000,
};

typedef struct players_stage players_stage;

typedef struct cast_datagram {
    uint64_t due_us;
    ph_address from;
    ph_address to;
    size_t size;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
} cast_datagram;

typedef struct cast_sim {
    players_stage* stage;
    int endpoint;
    ph_world* world;
    ph_bus_sim* sim;
} cast_sim;

typedef struct cast_front {
    players_stage* stage;
    int endpoint;
    ph_net_simulation simulation;
    ph_address address;
    ph_world* world;
    ph_host* host; // NULL: dead
    ph_bus_front* front;
    ph_error error; // the newest
    cast_datagram taken[PH_SOCKET_BATCH_MAX];
} cast_front;

typedef struct cast_player {
    players_stage* stage;
    ph_address address;
    ph_peer* peer;
    uint64_t key;
    uint64_t generation; // of the newest token
    uint32_t posted;     // by the player
    uint32_t processed;  // of these, by the game
    uint32_t told;       // by the game
    uint32_t received;   // of these, by the player
    uint32_t input;      // that the game had last
    int attached;        // events of the game
    int detached;
    int counts[PH_PEER_DISCONNECTED + 1];
    bool was_continued;
    char text[PH_ERROR_TEXT_SIZE];
    cast_datagram taken[PH_SOCKET_BATCH_MAX];
} cast_player;

struct players_stage {
    uint64_t now_us;
    test_rng rng;
    ph_schema* schema;
    memory_bus* bus;
    test_memory memory; // of front-ends
    cast_sim sims[CAST_SIMS];
    cast_front fronts[CAST_FRONTS];
    cast_player players[CAST_PEERS];
    int director; // endpoint
    ph_bus_transport director_transport;
    cast_datagram* queue;
    int queue_count;
    int loss_percent;
    bool posts;       // messages and inputs
    bool walks;       // entities go to and fro over the border of the regions
    int wander_mm;    // in each tick, eastwards
    int64_t east_mm;  // so far
    bool is_own_only; // players' entities are seen by themselves alone
    bool grants;      // spares
    bool is_prompt;   // sims and front-ends take what comes between their ticks, too
    int step;
};

players_stage* players_stage_setup(const memory_bus_def* bus);
void players_stage_teardown(players_stage* s);
void players_stage_run(players_stage* s, int ms);

void players_stage_token(players_stage* s, int front, int player, bool is_spare,
                         uint8_t token[PH_TOKEN_SIZE]);
void players_stage_connect(players_stage* s, int player, int front);
// All, to a front, until they have joined.
void players_stage_join(players_stage* s, int front);
// As by kill -9.
void players_stage_kill(players_stage* s, int front);
// Until every message has arrived.
void players_stage_settle(players_stage* s);

#endif
