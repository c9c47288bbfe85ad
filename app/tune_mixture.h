// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole tune --mixture`: the models of the library, from games of different kinds.

#ifndef PH_APP_TUNE_MIXTURE_H
#define PH_APP_TUNE_MIXTURE_H

#include "kit/sim_material.h"

typedef struct tune_mixture {
    const char* const* sources;
    int source_count;        // 1..8
    ph_sim_material_def def; // what all have in common
    int viewers;             // of each
    int threads;             // 0: all cores
    const char* output_path; // a C file where it ends in .c, else a schema
} tune_mixture;

// Plays, writes and tells. @return False when something went wrong, and was said.
bool tune_mixture_run(const tune_mixture* asked);

#endif
