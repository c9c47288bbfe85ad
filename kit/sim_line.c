// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "kit/sim_line.h"

#include <pinhole/stats.h>
#include <pinhole/viewer.h>

#define RATE_MIN 1000 // of a controller

static int bits_of(double kbps)
{
    return (int)(kbps * 1000.0 + 0.5);
}

ph_sim_line ph_sim_line_make(const ph_sim_def* def)
{
    const int narrow = bits_of(def->bottleneck_kbps);
    const int budget = bits_of(def->kbps);
    ph_sim_line line = {
        .bottleneck = {.bits_per_second = narrow,
                       .queue_bytes = narrow / 8,
                       .overhead_bytes = def->overhead_bytes},
        .burst_s = def->burst_s,
        .is_controlled = narrow > 0 && budget >= RATE_MIN && !def->is_uncontrolled,
    };
    if (line.is_controlled) {
        ph_rate_def rate = ph_rate_def_default();
        rate.limit_bits_per_second = budget;
        line.rate = ph_rate_make(&rate);
    }
    return line;
}

void ph_sim_line_control(ph_sim_line* line, ph_world* world, ph_viewer_id viewer, uint64_t now_us)
{
    ph_viewer_network_stats link;
    if (!line->is_controlled || ph_viewer_get_network_stats(world, viewer, &link) != PH_OK ||
        !ph_rate_update(&line->rate, now_us, &link)) {
        return;
    }
    const int rate = ph_rate_bits_per_second(&line->rate);
    const int burst_bits = (int)(rate * line->burst_s);
    ph_viewer_set_budget(world, viewer, rate, burst_bits > 0 ? burst_bits : 1);
}
