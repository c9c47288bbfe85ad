// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the table and the page of a demonstration say of one of its parts.

#ifndef PH_APP_CLUSTER_ROW_H
#define PH_APP_CLUSTER_ROW_H

#include "cluster_stage.h"

// Texts are "" where the part has nothing to say.
typedef struct cluster_row {
    const char* state;
    char regions[48]; // "0 epoch 2, 1 epoch 1"
    char entities[16];
    char players[16];
    char kbps[16];
    char gaps[16];
} cluster_row;

cluster_row cluster_row_of(const cluster_stage* stage, const cluster_part* part);

// Who owns a region now by its own beats, or NULL: that is not known, or too long ago.
const cluster_owner* cluster_row_owner(const cluster_stage* stage, int region);

#endif
