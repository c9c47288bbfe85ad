// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Shares no code with the sender's bucket: an error there must not hide itself here. A few
// instructions per tick and datagram.

#include "kit/sim_wire.h"

#include <pinhole/base.h>

#include <math.h>
#include <stdlib.h>

#define PARTS_PER_BIT INT64_C(1000000)

bool ph_sim_wire_create(ph_sim_wire* wire, const ph_sim_wire_def* def, ph_sim_traffic* traffic)
{
    *wire = (ph_sim_wire){0};
    const int second_ticks = (int)ceil(def->rate_hz);
    uint64_t* seconds = calloc((size_t)second_ticks, sizeof *seconds);
    if (seconds == NULL) {
        return false;
    }
    *wire = (ph_sim_wire){
        .def = *def,
        .level_parts = def->depth_bits * PARTS_PER_BIT,
        .filled_us = def->now_us,
        .seconds = seconds,
        .second_ticks = second_ticks,
        .traffic = traffic,
    };
    return true;
}

void ph_sim_wire_destroy(ph_sim_wire* wire)
{
    free(wire->seconds);
    *wire = (ph_sim_wire){0};
}

static void waste(ph_sim_wire* wire, int64_t parts)
{
    if (parts > 0 && wire->is_due && wire->is_counted) {
        wire->traffic->wasted_bits += (double)parts / (double)PARTS_PER_BIT;
    }
}

static void fill(ph_sim_wire* wire, uint64_t now_us)
{
    PH_ASSERT(now_us >= wire->filled_us);

    const int64_t elapsed_us = (int64_t)(now_us - wire->filled_us);
    const int64_t depth_parts = wire->def.depth_bits * PARTS_PER_BIT;
    wire->filled_us = now_us;
    wire->level_parts += elapsed_us * wire->def.bits_per_second;
    if (wire->level_parts > depth_parts) {
        waste(wire, wire->level_parts - depth_parts);
        wire->level_parts = depth_parts;
    }
}

void ph_sim_wire_tick(ph_sim_wire* wire, uint64_t now_us, bool is_counted)
{
    wire->is_counted = is_counted;
    fill(wire, now_us);
    wire->tick = (wire->tick + 1) % wire->second_ticks;
    wire->second_bytes -= wire->seconds[wire->tick];
    wire->seconds[wire->tick] = 0;
}

void ph_sim_wire_send(ph_sim_wire* wire, size_t payload_bytes)
{
    const uint64_t bytes = payload_bytes + (uint64_t)wire->def.overhead_bytes;
    const int64_t parts = (int64_t)bytes * 8 * PARTS_PER_BIT;
    ph_sim_traffic* traffic = wire->traffic;
    if (wire->def.bits_per_second > 0) {
        wire->level_parts -= parts;
        traffic->overruns += wire->level_parts < 0 ? 1 : 0; // a broken promise at any time
    }
    if (!wire->is_counted) {
        return;
    }
    ++traffic->datagrams;
    traffic->payload_bytes += payload_bytes;
    traffic->wire_bytes += bytes;
    traffic->spent_bits += (double)bytes * 8.0;
    wire->seconds[wire->tick] += bytes;
    wire->second_bytes += bytes;
    if (wire->second_bytes > traffic->worst_1s_bytes) {
        traffic->worst_1s_bytes = wire->second_bytes;
    }
}

void ph_sim_wire_end_send(ph_sim_wire* wire, bool is_due)
{
    wire->is_due = is_due;
    wire->left_parts = wire->level_parts;
}

void ph_sim_wire_finish(ph_sim_wire* wire)
{
    waste(wire, wire->def.bits_per_second > 0 ? wire->left_parts : 0);
}
