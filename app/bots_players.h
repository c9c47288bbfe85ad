// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole bots --director`: players of a world on several machines. Each is a ph_peer, as a game's client is, with
// token and spares from the director, a simulated link, and the entity of a resident (cluster_truth.h). They count what
// players would notice: connections that end, how long the view stood when a front-end died, messages that are lost,
// doubled or out of order, inputs that go back, and, while the world stands, everything that is not the truth.

#ifndef PH_APP_BOTS_PLAYERS_H
#define PH_APP_BOTS_PLAYERS_H

#include "bots_options.h"

// @return Whether all of it was well; says on standard error what could not be opened.
bool bots_players_run(const bots_options* options);

#endif
