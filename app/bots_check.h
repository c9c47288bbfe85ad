// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a bot shows against the truth: how far off it is while the world moves, and whether it is
// exactly right while the world stands still.

#ifndef PH_APP_BOTS_CHECK_H
#define PH_APP_BOTS_CHECK_H

#include "bot.h"

#include "kit/spread.h"

// Of all bots together.
typedef struct bots_errors {
    ph_spread mm;   // in space, between what is shown and where the truth is at that moment
    ph_spread mrad; // the same by the distance from the eye (at least 1 m), at most 1000
} bots_errors;

// Looks at all that a connected bot shows at this moment.
void bots_check_error(bot* of, const bots_truth* truth, uint64_t now_us, bots_errors* errors);

// Whether it has exactly what it should: the entities of the sight, each with the world's position,
// and its value of every property that all clients get within its distance.
// What differs is left in the bot.
bool bots_check_alike(bot* of, const bots_truth* truth, const truth_sight* sight);

#endif
