// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One of the demo's players: a real client (bot.h), what it shows, and how right that is.

#ifndef PH_APP_DEMO_PLAYER_H
#define PH_APP_DEMO_PLAYER_H

#include "bot.h"

#include "kit/sim_screen.h"

typedef struct demo_player_def {
    const ph_sim_stage* stage; // outlives the player, as do the terms
    int entity;                // of the recording, through whose eyes it looks
    const bot_terms* terms;
    uint64_t client_id;
    uint64_t now_us;
} demo_player_def;

// {0} may be destroyed. Read-only outside, but for the eye.
typedef struct demo_player {
    const ph_sim_stage* stage;
    int entity;
    ph_entity_id eye; // the same in the world, as its viewer has it
    bot* bot;
    ph_way_client* client; // the bot's
    ph_sim_screen screen;
    ph_meter* meter;
    ph_meter* second_meter; // of the present second; its user clears it
} demo_player;

// Begins to connect. @return False when there is no memory, or no socket; destroy it all the same.
bool demo_player_create(demo_player* player, const demo_player_def* def);
void demo_player_destroy(demo_player* player); // leaves {0}

// Connects anew when the connection has ended, as may happen over a very bad link. Until it is back, everything is
// missing. @return False when there is no memory.
bool demo_player_come_back(demo_player* player, uint64_t now_us);

// The frame of this tick: fills the screen, and the meters if it counts.
void demo_player_measure(demo_player* player, uint64_t now_us, bool is_counted);

#endif
