// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a viewer was sent while its own entity was present: senders count since the viewer was
// added, so counts are differences between the end of a stay and its beginning.

#ifndef PINHOLE_KIT_SIM_STAY_H
#define PINHOLE_KIT_SIM_STAY_H

#include "kit/way_sender.h"

typedef struct ph_sim_stay {
    ph_sim_counts before; // when it began
} ph_sim_stay;

void ph_sim_stay_begin(ph_sim_stay* stay, const ph_way_sender* sender);

// Adds what was sent since then.
void ph_sim_stay_end(const ph_sim_stay* stay, const ph_way_sender* sender, ph_sim_traffic* traffic);

#endif
