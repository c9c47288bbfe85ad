// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A viewer's line that carries less than its budget, and the rate controller that finds that out. Once per
// viewer and tick, on the thread of the world.

#ifndef PINHOLE_KIT_SIM_LINE_H
#define PINHOLE_KIT_SIM_LINE_H

#include "kit/sim.h"

#include <pinhole/link.h>
#include <pinhole/net/rate.h>

typedef struct ph_sim_line {
    ph_bottleneck bottleneck; // without a rate when none is asked for
    ph_rate rate;
    double burst_s;
    bool is_controlled;
} ph_sim_line;

// A queue of one second. Controlled when there is a budget to lower.
ph_sim_line ph_sim_line_make(const ph_sim_def* def);

// Tells the world what to send from now on.
void ph_sim_line_control(ph_sim_line* line, ph_world* world, ph_viewer_id viewer, uint64_t now_us);

#endif
