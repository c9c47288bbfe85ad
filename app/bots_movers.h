// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Bots that have a spare token: each is a ph_peer, as a game's client is. When its server dies, or sends it on, it goes
// to the other one by itself; how long it was shown nothing new is what counts.

#ifndef PH_APP_BOTS_MOVERS_H
#define PH_APP_BOTS_MOVERS_H

#include "bot.h"

typedef struct bots_movers_def {
    const bot_terms* terms;
    ph_address servers[2]; // the first, and the spare
    int count;
    uint64_t first_id;
    int seconds;
    double ramp; // starts per second; 0: all at once
    bool is_json;
} bots_movers_def;

typedef struct bots_movers_result {
    int connected; // at the end
    int ended;     // connections that have ended
    int moved;     // bots that have moved
    uint64_t moves;
    uint64_t false_alarms;
    uint64_t failed_moves;
    uint64_t entered; // events of entities after the first move of their bot
    uint64_t left;
    uint32_t interrupted_p50_ms;   // of the last move of each
    uint32_t interrupted_max_ms;   // of all
    char text[PH_ERROR_TEXT_SIZE]; // of the last connection that has ended
} bots_movers_result;

// @return False with *fault filled.
bool bots_movers_run(const bots_movers_def* def, bots_movers_result* result, ph_fault* fault);

void bots_movers_print(const bots_movers_def* def, const bots_movers_result* result);

// Whether all are connected, none has ended, and none was interrupted for more than 2 s.
bool bots_movers_judge(const bots_movers_def* def, const bots_movers_result* result);

#endif
