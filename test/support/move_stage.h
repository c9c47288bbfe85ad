// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some hosts that share a world and hand a player's messages over in memory, and some peers, on simulated time and links
// that delay, lose and reorder. Hosts may die, freeze and be emptied. The game gives spares, and keeps the books:
// every message exactly once and in order, both ways, and no input back.

#ifndef PH_TEST_MOVE_STAGE_H
#define PH_TEST_MOVE_STAGE_H

#include "test_memory.h"
#include "test_support.h"

#include "net/host_state.h"
#include "net/peer_state.h"

#include <pinhole/net/host.h>
#include <pinhole/net/netcode.h>
#include <pinhole/net/peer.h>
#include <pinhole/pinhole.h>

enum {
    MOVE_HOSTS = 3,
    MOVE_PEERS = 8,
    MOVE_ENTITIES = 40,
    MOVE_KEYS = MOVE_ENTITIES + MOVE_PEERS,
    MOVE_STEP_US = 5000,
    MOVE_FRAME_US = 20000,
    MOVE_TICK_US = 50000,
    MOVE_QUEUE = 8192,
    MOVE_STATE_MAX = 16384,
};

typedef struct move_stage move_stage;

typedef struct move_datagram {
    uint64_t due_us;
    ph_address from;
    ph_address to;
    size_t size;
    uint8_t bytes[PH_NETCODE_DATAGRAM_MAX + 1];
} move_datagram;

typedef struct move_host {
    move_stage* stage;
    ph_net_simulation simulation;
    ph_address address;
    ph_host* host; // NULL: dead
    bool is_frozen;
    int player_of[MOVE_PEERS * 2]; // by client; -1
    move_datagram taken[PH_SOCKET_BATCH_MAX];
} move_host;

// What outlives hosts: a sim's.
typedef struct move_sim {
    int host;   // that has the player; -1: none
    int client; // there
    uint32_t generation;
    uint32_t processed; // messages of the client
    uint32_t sent;      // to the client
    uint32_t given;     // of these to the present host
    uint32_t saved;     // of these when the state was taken
    uint32_t input;
    uint8_t state[MOVE_STATE_MAX];
    size_t state_size;
} move_sim;

typedef struct move_player {
    move_stage* stage;
    ph_address address;
    ph_peer* peer;
    bool is_frozen;
    bool is_cut_off; // nothing goes through
    move_sim sim;
    uint32_t posted;
    uint32_t received;
    int counts[PH_PEER_DISCONNECTED + 1]; // of events
    char text[PH_ERROR_TEXT_SIZE];        // of the last event with one
    bool was_continued;                   // the last move
    uint64_t moved_us;                    // when its event was taken
    bool is_known[MOVE_KEYS];
    ph_entity_id ids[MOVE_KEYS];
    move_datagram taken[PH_SOCKET_BATCH_MAX];
} move_player;

struct move_stage {
    uint64_t now_us;
    test_rng rng;
    ph_schema* schema;
    ph_world* world;
    ph_entity_id entities[MOVE_KEYS];
    move_host hosts[MOVE_HOSTS];
    move_player players[MOVE_PEERS];
    int player_count;
    move_datagram* queue;
    int queue_count;
    test_memory memory; // of hosts
    // The link.
    int delay_ms; // either way
    int jitter_ms;
    int loss_percent;
    // The game.
    bool is_still;        // nothing moves
    bool is_anew;         // nothing is handed over
    bool gives_spares;    // as soon as a client has none
    bool posts;           // messages, some each tick
    uint32_t message_max; // as many each way
    int emptying;         // the host that is emptied; -1
    int empty_to;         // where to
    int bits_per_second;
};

// With a link of 80 ms there and back, 20 ms of jitter and 5 % of loss, and two hosts. One at a time.
move_stage* move_stage_setup(uint64_t seed, int player_count);
void move_stage_teardown(move_stage* s);

void move_stage_open_host(move_stage* s, int host);
// As by kill -9.
void move_stage_kill(move_stage* s, int host);
void move_stage_empty(move_stage* s, int host, int to);

// A token for a host: a first one, or a spare.
void move_stage_token(move_stage* s, int host, int player, bool is_spare,
                      uint8_t token[PH_TOKEN_SIZE]);
void move_stage_connect(move_stage* s, int player, int host);
void move_stage_connect_all(move_stage* s, int host);

void move_stage_run(move_stage* s, int duration_ms);

// Until all players have got and sent everything; fails when they do not.
void move_stage_settle(move_stage* s);

// How many players are admitted by a host.
int move_stage_count(const move_stage* s, int host);

#endif
