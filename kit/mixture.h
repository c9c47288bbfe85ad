// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The static models of the pinhole profile, as src/schema/model_tables.c has them: learned from games of
// different kinds, of which each weighs the same; what none of them did gets the probability that a smooth
// curve gives it. The same on every machine, and whatever tables the program itself has.

#ifndef PINHOLE_KIT_MIXTURE_H
#define PINHOLE_KIT_MIXTURE_H

#include "kit/fault.h"

#include <pinhole/net/pool.h>
#include <pinhole/schema.h>

#include <stdio.h>

struct ph_recording;

enum { PH_MIXTURE_GAMES_MAX = 16 };

typedef struct ph_mixture_game {
    const struct ph_recording* recording;
    const ph_schema* schema; // without models
} ph_mixture_game;

typedef struct ph_mixture_def {
    const ph_mixture_game* games;
    int game_count; // 1..PH_MIXTURE_GAMES_MAX
    int viewers;    // of each
    ph_pool* pool;
    void (*progress)(void* context, double done); // 0..1; NULL: not called
    void* progress_context;
} ph_mixture_def;

typedef struct ph_mixture ph_mixture;

// @return NULL with *fault filled.
ph_mixture* ph_mixture_learn(const ph_mixture_def* def, ph_fault* fault);
void ph_mixture_destroy(ph_mixture* mixture); // NULL is allowed

// What all that one game was sent takes, in bits per update.
typedef struct ph_mixture_figures {
    uint64_t updates;
    double own_bits;    // with models of this game alone
    double mixed_bits;  // with the mixture
    double others_bits; // with a mixture of all others
    double curve_bits;  // with curves alone
} ph_mixture_figures;

ph_mixture_figures ph_mixture_figures_of(const ph_mixture* mixture, int game);

// As the C file src/schema/model_tables.c.
void ph_mixture_print(const ph_mixture* mixture, FILE* file);

// As a schema of one class without properties that matter, which brings all models along: for
// `pinhole sim --tables`. To the nearest quarter of a bit.
void ph_mixture_print_schema(const ph_mixture* mixture, FILE* file);

#endif
