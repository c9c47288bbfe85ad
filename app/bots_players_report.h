// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the players of `pinhole bots --director` have noticed: told to `pinhole cluster`, and printed at the end.

#ifndef PH_APP_BOTS_PLAYERS_REPORT_H
#define PH_APP_BOTS_PLAYERS_REPORT_H

#include "bots_players_state.h"

static inline bool player_is_joined(const player* at)
{
    return ph_peer_get_state(at->peer) == PH_PEER_STATE_JOINED;
}

// To the cluster.
void players_report(players* all);

// To standard output. @return Whether nothing went wrong.
bool players_print(const players* all);

#endif
