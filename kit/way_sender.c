// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Calls of the library; or of the sender of snapshots, whose viewer is one of the world's, which sees for
// it and is never asked to send.

#include "kit/way_sender.h"

#include "kit/snapshot_sender.h"

#include <stdlib.h>

struct ph_way_sender {
    ph_way_sender_def def;
    int slot_count;
    ph_snapshot_sender* snapshot; // NULL: a profile
    ph_snapshot_layout layout;    // of snapshots
};

// ---- memory

// Nothing is ever spent of the bucket that the world has for a viewer of snapshots: it is full.
static int64_t world_tokens(const ph_way_sender* sender)
{
    ph_viewer_stats stats;
    ph_viewer_get_stats(sender->def.world, sender->def.viewer, &stats);
    return stats.token_bits;
}

static int payload_max_of(const ph_way_sender_def* def, int64_t depth_bits)
{
    const int64_t payable = depth_bits / 8 - def->overhead_bytes;
    if (def->payload_max > 0) {
        return def->payload_max;
    }
    return def->bits_per_second > 0 && payable < PH_PAYLOAD_MAX ? (int)payable : PH_PAYLOAD_MAX;
}

static int64_t snapshot_depth_bits(const ph_way_sender* sender)
{
    const int64_t least = INT64_C(8) * (sender->layout.payload_max + sender->def.overhead_bytes);
    const int64_t depth = world_tokens(sender);
    return depth > least ? depth : least;
}

static bool create_snapshot(ph_way_sender* sender)
{
    const ph_way_sender_def* def = &sender->def;
    const ph_way_terms terms = {
        .slot_count = sender->slot_count,
        .payload_max = payload_max_of(def, world_tokens(sender)),
    };
    if (!ph_snapshot_layout_make(&sender->layout, def->schema, &def->ground, &terms)) {
        return false;
    }
    const ph_snapshot_sender_def wanted = {
        .world = def->world,
        .layout = &sender->layout,
        .viewer = def->viewer,
        .bits_per_second = def->bits_per_second,
        .depth_bits = snapshot_depth_bits(sender),
        .overhead_bytes = def->overhead_bytes,
        .tick_us = def->tick_us,
        .now_us = def->now_us,
    };
    sender->snapshot = ph_snapshot_sender_create(&wanted);
    return sender->snapshot != NULL;
}

ph_way_sender* ph_way_sender_create(const ph_way_sender_def* def)
{
    ph_way_sender* sender = calloc(1, sizeof *sender);
    if (sender == NULL) {
        return NULL;
    }
    sender->def = *def;
    sender->slot_count = ph_viewer_slot_count(def->world, def->viewer);
    if (def->way == PH_WAY_SNAPSHOT && !create_snapshot(sender)) {
        free(sender);
        return NULL;
    }
    return sender;
}

void ph_way_sender_destroy(ph_way_sender* sender)
{
    if (sender != NULL) {
        ph_snapshot_sender_destroy(sender->snapshot);
        free(sender);
    }
}

ph_way_terms ph_way_sender_terms(const ph_way_sender* sender)
{
    return (ph_way_terms){
        .slot_count = sender->slot_count,
        .payload_max = sender->snapshot != NULL ? sender->layout.payload_max : PH_PAYLOAD_MAX,
    };
}

// ---- sending

ph_result ph_way_sender_set_budget(ph_way_sender* sender, uint64_t now_us, int bits_per_second,
                                   int burst_bits)
{
    const ph_result result =
        ph_viewer_set_budget(sender->def.world, sender->def.viewer, bits_per_second, burst_bits);
    if (result == PH_OK && sender->snapshot != NULL) {
        ph_snapshot_sender_set_budget(sender->snapshot, now_us, bits_per_second,
                                      snapshot_depth_bits(sender));
    }
    return result;
}

ph_result ph_way_sender_set_trace(ph_way_sender* sender, ph_trace_fn* trace, void* context)
{
    if (sender->snapshot == NULL) {
        return ph_viewer_set_trace(sender->def.world, sender->def.viewer, trace, context);
    }
    return ph_snapshot_sender_set_trace(sender->snapshot, trace, context) ? PH_OK : PH_ERROR_MEMORY;
}

void ph_way_sender_attend(ph_way_sender* sender)
{
    if (sender->snapshot != NULL) {
        ph_snapshot_sender_free_slots(sender->snapshot);
    }
}

// Snapshots look at every tick, and send what the bucket pays for.
bool ph_way_sender_is_send_due(const ph_way_sender* sender, uint64_t now_us)
{
    return sender->snapshot != NULL ||
           ph_viewer_is_send_due(sender->def.world, sender->def.viewer, now_us);
}

void ph_way_sender_send(ph_way_sender* sender, uint64_t now_us, ph_deliver_fn* deliver,
                        void* context)
{
    if (sender->snapshot != NULL) {
        const uint32_t tick = ph_world_tick_count(sender->def.world);
        ph_snapshot_sender_send(sender->snapshot, tick, now_us, deliver, context);
    } else {
        ph_viewer_send(sender->def.world, sender->def.viewer, now_us, deliver, context);
    }
}

bool ph_way_sender_has_diff(const ph_way_sender* sender)
{
    if (sender->snapshot != NULL) {
        return ph_snapshot_sender_is_waiting(sender->snapshot);
    }
    ph_viewer_stats stats;
    ph_viewer_get_stats(sender->def.world, sender->def.viewer, &stats);
    return stats.has_diff;
}

ph_result ph_way_sender_take_ack(ph_way_sender* sender, uint64_t now_us, const void* bytes,
                                 size_t size)
{
    return sender->snapshot != NULL
               ? ph_snapshot_sender_take_ack(sender->snapshot, now_us, bytes, size)
               : ph_viewer_receive_ack(sender->def.world, sender->def.viewer, now_us, bytes, size);
}

// ---- questions

static ph_sim_counts profile_counts(const ph_way_sender* sender)
{
    const ph_world* world = sender->def.world;
    ph_viewer_stats stats;
    ph_viewer_get_stats(world, sender->def.viewer, &stats);
    ph_sim_counts counts = {
        .ledger = stats.ledger,
        .enters = stats.sent_enters,
        .leaves = stats.sent_leaves,
        .updates = stats.sent_updates,
        .significant_updates = stats.sent_significant_updates,
        .resolved = stats.resolved_packets,
        .lost = stats.lost_packets,
        .withheld = stats.withheld_datagrams,
    };
    const ph_schema* schema = sender->def.schema;
    int at = 0;
    for (int c = 0; c < ph_schema_class_count(schema); ++c) {
        const int count = ph_schema_class(schema, c)->property_count;
        for (int p = 0; p < count && at < PH_SIM_PROPERTIES_MAX; ++p) {
            counts.property_bits256[at++] =
                ph_viewer_property_bits256(world, sender->def.viewer, c, p);
        }
    }
    return counts;
}

ph_sim_counts ph_way_sender_counts(const ph_way_sender* sender)
{
    return sender->snapshot != NULL ? ph_snapshot_sender_counts(sender->snapshot)
                                    : profile_counts(sender);
}

int64_t ph_way_sender_token_bits(const ph_way_sender* sender)
{
    return sender->snapshot != NULL ? ph_snapshot_sender_token_bits(sender->snapshot)
                                    : world_tokens(sender);
}
