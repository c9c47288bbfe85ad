// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How long entities wait, and how many bits go on the wire. The first runs for every entity in a client's view and
// step, the second for every datagram.

#include "soak/soak_stage.h"

#include <math.h>

#define PARTS INT64_C(1000000) // of a bit

// ---- bounded wait

// What every difference of an entity in view is sent after, at the latest; viewer.h has the formula. A
// value below its significant difference counts after a second, and the way to the client counts.
static double wait_bound_us(const soak_stage* stage, const soak_player* player)
{
    const ph_viewer_def* def = &player->def;
    const double added = 8.0 * (player->reserve_peak + (player->is_direct ? 0 : 500));
    const double largest =
        8.0 * (PH_PAYLOAD_MAX - ph_viewer_reserve_max(stage->world, player->viewer) +
               def->overhead_bytes) +
        added;
    const double interval = 1e6 + stage->params.tick_us;
    double rate = def->bits_per_second > 0 ? def->bits_per_second : 1e6;
    rate = fmax(rate * 0.5 - added, rate * 0.1); // messages and keep-alives have their share
    return def->max_starve_ms * 1e3 + interval + 4e6 * def->slot_count * largest / rate + 3e6;
}

static bool differs(const soak_stage* stage, const soak_player* player, const soak_known* known)
{
    const soak_entity* entity = &stage->entities[known->entity];
    const bool is_its_own = soak_is_present_own(stage, player, known->entity);
    if (entity->class_index < 0) {
        return false;
    }
    for (int p = 0; p < soak_property_count(&stage->schema, entity->class_index); ++p) {
        if (known->hashes[p] == entity->hashes[p]) {
            continue;
        }
        const ph_property_def* def = soak_property(&stage->schema, entity->class_index, p);
        if (def->when != PH_SEND_ONCE && def->distance_m == 0.0 &&
            def->coding != PH_CODING_ENTITY && soak_is_for(def, player, is_its_own)) {
            return true;
        }
    }
    return false;
}

static void judge_player_waits(soak_stage* stage, soak_player* player)
{
    const bool is_healthy = player->network.loss == 0.0 && stage->step >= player->parted_until &&
                            stage->params.is_rate_fixed;
    const double bound_us = is_healthy ? wait_bound_us(stage, player) : INFINITY;
    for (int slot = 0; slot < player->def.slot_count; ++slot) {
        soak_known* known = &player->known[slot];
        if (known->entity < 0 || !is_healthy || !differs(stage, player, known)) {
            known->differs_since_us = 0;
            continue;
        }
        if (known->differs_since_us == 0) {
            known->differs_since_us = stage->now_us;
        }
        const uint64_t since_us = known->differs_since_us > player->healthy_us
                                      ? known->differs_since_us
                                      : player->healthy_us;
        if ((double)stage->now_us - (double)since_us > bound_us) {
            soak_fail(stage, SOAK_PROMISE_WAIT,
                      "player %d: entity %d has differed for %.1f s; the bound is %.1f s",
                      player->index, known->entity, 1e-6 * (double)(stage->now_us - since_us),
                      1e-6 * bound_us);
            return;
        }
    }
}

void soak_judge_waits(soak_stage* stage)
{
    for (int i = 0; i < SOAK_PLAYERS_MAX && !stage->is_over; ++i) {
        if (soak_is_judged(stage, &stage->players[i])) {
            judge_player_waits(stage, &stage->players[i]);
        }
    }
}

// ---- the budget

// The burst, or a second; never less than what one datagram with the largest enter may take.
int64_t soak_meter_depth(const soak_stage* stage, const soak_player* player, int rate,
                         int burst_bits)
{
    enum { ENVELOPE_AND_KEEP_ALIVE = 56, SECTION = 384 };
    const int enter_bytes = PH_PAYLOAD_MAX - ph_viewer_reserve_max(stage->world, player->viewer);
    const int added = player->is_direct ? player->reserve_peak : ENVELOPE_AND_KEEP_ALIVE + SECTION;
    const int64_t least = 8 * (int64_t)(enter_bytes + player->def.overhead_bytes + added);
    const int64_t wanted = burst_bits != 0 ? burst_bits : rate;
    return wanted > least ? wanted : least;
}

void soak_meter_begin(soak_meter* meter, int64_t rate, int64_t depth_bits, uint64_t now_us)
{
    *meter = (soak_meter){.rate = rate,
                          .depth_parts = depth_bits * PARTS,
                          .level_parts = depth_bits * PARTS,
                          .filled_us = now_us};
}

static void fill(soak_meter* meter, uint64_t now_us)
{
    if (meter->rate > 0) {
        const double gained = (double)(now_us - meter->filled_us) * (double)meter->rate;
        const int64_t room = meter->depth_parts - meter->level_parts;
        meter->level_parts +=
            gained < (double)room ? (int64_t)(now_us - meter->filled_us) * meter->rate : room;
    }
    meter->filled_us = now_us;
}

void soak_meter_change(soak_meter* meter, int64_t rate, int64_t depth_bits, uint64_t now_us)
{
    fill(meter, now_us);
    meter->rate = rate;
    meter->depth_parts = depth_bits * PARTS;
    if (!meter->is_begun || meter->level_parts > meter->depth_parts) {
        meter->level_parts = meter->depth_parts;
    }
}

void soak_meter_pass(soak_stage* stage, soak_player* player, size_t wire_bytes)
{
    soak_meter* meter = &player->meter;
    ++stage->result->sent_datagrams;
    fill(meter, stage->now_us);
    meter->is_begun = true;
    if (meter->rate == 0) {
        return;
    }
    meter->level_parts -= 8 * (int64_t)wire_bytes * PARTS;
    if (meter->level_parts < 0) {
        soak_fail(stage, SOAK_PROMISE_BUDGET,
                  "player %d is %.6f bits over its budget of %lld bit/s", player->index,
                  1e-6 * (double)-meter->level_parts, (long long)meter->rate);
    }
}
