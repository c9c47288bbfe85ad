// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The demo's players: real clients over UDP on loopback, through the secure connection, a few for classic
// and as many for pinhole. Both ways have a host of their own for their world, the same client ids and the
// same simulated links, so the same draws. What each client shows is measured against the truth, as in the
// simulator. Everything runs on the demo's clock: host, clients and links stand still when it does.
//
//     demo_players_serve(players);            as often as possible
//     demo_stage_put(stage, &fault);
//     demo_players_attend(players, &fault);   connections come and go; the frame of this tick is measured
//     demo_stage_tick(stage);
//     demo_players_send(players);

#ifndef PH_APP_DEMO_PLAYERS_H
#define PH_APP_DEMO_PLAYERS_H

#include "demo_stage.h"

#include "kit/sim_screen.h"

#include <pinhole/net/socket.h>

enum { DEMO_PLAYERS_MAX = 16, DEMO_PLAYER_WAYS = 2 }; // PH_WAY_CLASSIC and PH_WAY_PINHOLE

typedef struct demo_players_def {
    demo_stage* stage;
    int count; // of each way, 1..DEMO_PLAYERS_MAX; fewer if there are not so many observers
    double kbps;
    double loss; // 0..1
    double rtt_ms;
    double jitter_ms;
    uint64_t seed; // of the links
} demo_players_def;

typedef struct demo_players demo_players;

// With the stage's present scene. @return NULL with *fault filled. The stage outlives it.
demo_players* demo_players_create(const demo_players_def* def, ph_fault* fault);
void demo_players_destroy(demo_players* players); // NULL is allowed

// ---- running

// Takes what has come to any socket, and does what is due by now. Never waits.
void demo_players_serve(demo_players* players);

// Waits for a datagram, for so long in real time at most.
void demo_players_wait(const demo_players* players, uint64_t timeout_us);

// When one of them wants to be served without a datagram, by the demo's clock.
uint64_t demo_players_next_us(const demo_players* players);

// Between put and tick. After a change of the scene all players begin anew. @return False with *fault filled.
bool demo_players_attend(demo_players* players, ph_fault* fault);

// After the tick.
void demo_players_send(demo_players* players);

// Another budget, or another network, from now on.
void demo_players_set_kbps(demo_players* players, double kbps);
void demo_players_set_loss(demo_players* players, double loss);
// Whether budget or loss were changed since the present scene began: figures of the whole run are then not those of
// the definition.
bool demo_players_were_changed(const demo_players* players);
const demo_players_def* demo_players_get_def(const demo_players* players);

// ---- questions

int demo_players_count(const demo_players* players);     // of each way
int demo_players_connected(const demo_players* players); // now, of both ways

// Of all players of a way, or of one.
typedef struct demo_figures {
    double seconds;   // that they are about; 0: nothing yet, and all others are 0
    double wire_kbps; // that was sent to a player, headers included
    double error_mm;
    double error_mrad;
    double missing_pct;
    double stale_ms;
    double jolts_per_min;
    double rtt_ms;
    double lost_pct; // of the packets whose fate is known
    int shown;       // entities on a player's screen now, its own not counted
} demo_figures;

// Of the last five seconds at most, changed once a second; and since all were connected to the scene.
demo_figures demo_players_recent(const demo_players* players, ph_way way);
demo_figures demo_players_total(const demo_players* players, ph_way way);

// Of all scenes so far: datagrams over the budget, and those that a client refused though the host meant
// them. 0, or something is wrong.
uint64_t demo_players_over_budget(const demo_players* players);
uint64_t demo_players_refused(const demo_players* players);

// What a player's client showed in the last frame, and through which entity of the recording it looks.
const ph_sim_screen* demo_players_screen(const demo_players* players, ph_way way, int index);
int demo_players_entity(const demo_players* players, int index);

#endif
