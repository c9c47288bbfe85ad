// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What `pinhole bots --director` knows of its players, shared by bots_players.c and bots_players_report.c.

#ifndef PH_APP_BOTS_PLAYERS_STATE_H
#define PH_APP_BOTS_PLAYERS_STATE_H

#include "bots_echo.h"
#include "bots_options.h"
#include "bots_players_link.h"
#include "cluster_bus.h"
#include "cluster_check.h"
#include "cluster_control.h"

#include <pinhole/bus/bus_login.h>
#include <pinhole/net/peer.h>
#include <pinhole/net/pool.h>

#define PLAYERS_WINDOW_US UINT64_C(30000000)
#define PLAYERS_LATE_US UINT64_C(500000)
enum {
    PLAYERS_CREWS = 16,
    PLAYERS_INTERRUPTIONS_MAX = 1 << 12, // of a crew
    PLAYERS_LATE_SLICES = 40,
};

typedef struct players_crew players_crew;

typedef struct player {
    players_crew* crew;
    ph_peer* peer;
    bots_players_link* link;
    uint64_t client_id;
    uint64_t key;
    uint64_t wished_us; // 0: never
    uint64_t next_us;
    uint64_t chat_us;
    uint64_t input_us;
    uint64_t check_us;
    uint32_t incarnation; // of its messages: counted up when it begins anew
    uint32_t chat_sent;
    uint32_t chat_returned;
    uint32_t processed;    // newest input that is known to be
    uint32_t moves;        // that were noted
    uint32_t false_alarms; // of connections before
    uint32_t failed_moves;
    bool has_begun;
    bool is_wishing; // for tokens
    bool is_waiting; // for the answer
    bool was_joined;
    bool is_interrupted; // has moved, and has no view yet
    bool is_equal;
    cluster_difference difference;
    bots_echo echo;
} player;

typedef struct interruption {
    uint64_t at_us;
    uint32_t ms;
} interruption;

// Every PLAYERS_CREWS-th player, on one thread at a time, and what they noticed.
struct players_crew {
    interruption* interruptions;
    int interruption_count;
    uint64_t joins;
    uint64_t ended;
    uint64_t discontinued; // moved, and what was under way is lost
    uint64_t moves;
    uint64_t chat_sent;
    uint64_t chat_returned;
    uint64_t chat_wrong;
    uint64_t inputs;
    uint64_t backward_inputs;
    bots_echoes echoes;
    char text[PH_ERROR_TEXT_SIZE]; // of the last end
};

// How long a player waited for its turn at most: beyond that, what it measures is the network and the servers.
typedef struct players_lateness {
    uint32_t worst_ms[PLAYERS_LATE_SLICES]; // a ring, by half seconds
    uint64_t slice;                         // the newest
    uint64_t turned_us;                     // last
} players_lateness;

typedef struct players {
    const bots_options* options;
    cluster_truth* truth;
    cluster_check check;
    uint64_t checked_tick; // that the check is about; UINT64_MAX: none
    cluster_bus* bus;
    cluster_control control;
    ph_bus_login* login;
    player* all;
    int count;
    int begun;
    int epoll;
    uint64_t now_us;
    uint64_t start_us;
    uint64_t tick_us;
    uint64_t window_us; // since then the interruptions of reports count; 0: those of a while
    uint32_t* scratch;
    ph_pool* pool;
    bool stands; // in this turn
    players_crew crews[PLAYERS_CREWS];
    players_lateness lateness;
} players;

#endif
