// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a viewer was sent while its own entity was present: the world counts since the viewer was
// added, so counts are differences between the end of a stay and its beginning.

#ifndef PINHOLE_KIT_SIM_STAY_H
#define PINHOLE_KIT_SIM_STAY_H

#include "kit/sim_stage.h"

#include <pinhole/stats.h>

typedef struct ph_sim_stay {
    ph_viewer_stats stats; // when it began
    uint64_t property_bits256[PH_PROPERTIES_MAX];
} ph_sim_stay;

void ph_sim_stay_begin(ph_sim_stay* stay, const ph_sim_stage* stage, ph_viewer_id viewer);

// Adds what was sent since then.
void ph_sim_stay_end(const ph_sim_stay* stay, const ph_sim_stage* stage, ph_viewer_id viewer,
                     ph_sim_traffic* traffic);

#endif
