// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How much beside the position has changed of everybody in view since it was told of: the `change`
// of ph_ranking. Values are not compared: each entity sums up its changes as it does its path
// (difference.h), and each slot knows the sum of when it was last told of in full.

#ifndef PH_WORLD_UNREST_H
#define PH_WORLD_UNREST_H

#include "world/due.h"

// For one slot, of which this may be due; 0 for one that shows nobody. Where errors are ranked a heading
// has its own, and counts only beside something else.
float ph_unrest_of(const ph_outlook* outlook, int slot, uint64_t touched);

// For all slots up to the outlook's end; once per send, for schedulers that want it.
void ph_unrest_fill(const ph_outlook* outlook, float* change);

// Nothing but its position is left to be told of this slot: what is to come counts from now on.
static inline void ph_unrest_settle(const ph_outlook* outlook, const ph_place* at)
{
    at->dossier->stir = outlook->world->entities.whereabouts[at->entity].stir;
}

#endif
