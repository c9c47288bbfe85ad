// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether a client has what the world has: the same integers behind every value.

#ifndef PINHOLE_KIT_SIM_EQUALITY_H
#define PINHOLE_KIT_SIM_EQUALITY_H

#include "kit/sim_stage.h"
#include "kit/way_client.h"

// A viewer's client and what it looks at.
typedef struct ph_sim_pair {
    const ph_sim_stage* stage;
    const ph_way_client* client;
    ph_viewer_id viewer;
    int entity; // the viewer's own
} ph_sim_pair;

// Of the given traits of an entity, those whose value at the client is another than in the world.
uint64_t ph_sim_differing(const ph_sim_pair* pair, ph_entity_id shown, int entity, uint64_t traits);

// Same entities in view, same positions, same values within their distance.
bool ph_sim_is_equal(const ph_sim_pair* pair);

#endif
