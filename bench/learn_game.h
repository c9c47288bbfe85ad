// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What tables are learned on: a recording or a recorded scene, with its schema, as the words that a
// record of an entity would carry at a tick; and what was counted on it.

#ifndef PH_LEARN_GAME_H
#define PH_LEARN_GAME_H

#include "kit/column_bindings.h"
#include "kit/sim_material.h"
#include "packet/pinhole_records.h"
#include "schema/model_tables.h"

#define LEARN_WORDS_MAX (PH_PROPERTIES_MAX * PH_VALUE_WORDS_MAX)

// Where bits went, in 1/256 bit.
typedef struct learn_figures {
    uint64_t updates;
    uint64_t told256;
    uint64_t mask256;
    uint64_t position256;
    uint64_t heading256;
    uint64_t others256;
    uint64_t enters;
    uint64_t enter256;
} learn_figures;

// Which slots one packet told, by urgency.
typedef struct learn_packet {
    int told[PH_URGENCIES];
    int silent[PH_URGENCIES];
} learn_packet;

typedef struct learn_game {
    const char* name;
    ph_sim_material material;
    ph_column_bindings bindings;
    ph_layouts layouts;
    ph_packing packing; // of the only class
    ph_baseline_rules rules;
    ph_pinhole_counts counts;
    learn_figures figures;
    learn_packet* packets;
    int packet_count;
    int packet_capacity;
} learn_game;

// @return False with *fault filled and nothing held.
bool learn_game_open(learn_game* game, const ph_sim_material_def* def, ph_fault* fault);
void learn_game_close(learn_game* game);

// The words of an entity at a row of the recording; texts are left out.
void learn_game_words(const learn_game* game, int row, uint32_t* words);

// @return False when there is no memory.
bool learn_game_add_packet(learn_game* game, const learn_packet* packet);

#endif
