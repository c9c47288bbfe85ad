// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the demo has shown, in words: one sentence, and the table that it ends with.

#ifndef PH_APP_DEMO_SUMMARY_H
#define PH_APP_DEMO_SUMMARY_H

#include "demo_players.h"

#include <stdio.h>

enum { DEMO_SENTENCE_MAX = 240 };

// What the figures of both ways mean, with these at this budget: "At 13 kbit/s Pinhole shows the same 72 players 3.8
// times more precisely." Short, when there is little room: "Pinhole: 3.8 times more precise".
void demo_summary_sentence(const demo_players* players,
                           const demo_figures figures[DEMO_PLAYER_WAYS], bool is_short,
                           char sentence[DEMO_SENTENCE_MAX]);

// Whether the promises were kept: says so, and returns it.
bool demo_summary_judge(uint64_t over_budget, uint64_t refused, FILE* file);

// The table, the sentence, and whether the promises were kept. @return Whether they were.
bool demo_summary_print(const demo_players* players, FILE* file);

#endif
