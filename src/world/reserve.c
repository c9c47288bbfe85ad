// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a caller puts into a viewer's datagrams by itself, and what that costs; and what is known of the
// network. Once per viewer and send or so.

#include "world/sender.h"
#include "world/world_state.h"

#include <pinhole/entropy.h>

static ph_sender* find_sender(const ph_world* world, ph_viewer_id viewer)
{
    uint32_t index;
    return ph_world_try_viewer(world, viewer, &index) ? world->viewers.viewers[index].sender : NULL;
}

ph_result ph_world_reserve(ph_world* world, ph_viewer_id viewer, int each_bytes, int next_bytes)
{
    ph_sender* sender = find_sender(world, viewer);
    if (sender == NULL) {
        return PH_ERROR_STALE;
    }
    const int most_bytes = ph_sender_reserve_max(sender);
    if (each_bytes < 0 || next_bytes < 0 || next_bytes > most_bytes - each_bytes) {
        return PH_ERROR_RANGE;
    }
    ph_sender_reserve(sender, each_bytes, next_bytes);
    return PH_OK;
}

int ph_world_reserve_max(const ph_world* world, ph_viewer_id viewer)
{
    const ph_sender* sender = find_sender(world, viewer);
    return sender != NULL ? ph_sender_reserve_max(sender) : 0;
}

ph_result ph_world_spend(ph_world* world, ph_viewer_id viewer, uint64_t now_us, int bytes)
{
    ph_sender* sender = find_sender(world, viewer);
    if (sender == NULL) {
        return PH_ERROR_STALE;
    }
    if (bytes < 1 || bytes > PH_PAYLOAD_MAX) {
        return PH_ERROR_RANGE;
    }
    ph_sender_pass_time(sender, now_us);
    if (8 * (int64_t)(bytes + sender->overhead_bytes) > ph_token_bucket_bits(&sender->bucket)) {
        return PH_ERROR_FULL;
    }
    ph_sender_pay(sender, bytes);
    sender->stats.ledger.bits256[PH_REASON_RESERVED] += 8 * PH_COST_PER_BIT * (uint64_t)bytes;
    return PH_OK;
}

ph_result ph_world_viewer_link(const ph_world* world, ph_viewer_id viewer, ph_viewer_link* link)
{
    const ph_sender* sender = find_sender(world, viewer);
    if (sender == NULL) {
        *link = (ph_viewer_link){0};
        return PH_ERROR_STALE;
    }
    const ph_viewer_stats* stats = &sender->stats;
    *link = (ph_viewer_link){
        .datagrams = stats->datagrams,
        .wire_bytes = stats->wire_bytes,
        .resolved = stats->resolved,
        .lost = stats->lost,
        .round_trips = stats->round_trips,
        .round_trips_us = stats->round_trips_us,
    };
    return PH_OK;
}
