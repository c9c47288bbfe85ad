// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sending end of snapshots for one viewer of a world, to which the world itself sends nothing: it
// only sees for it. Once per tick; some 100 ns for each visible entity and property.
//
//   world ──▶ now: all that is visible, quantised
//             next: the same as the client will have it: values beyond their distance stay, newcomers
//                   join as far as they fit
//             bytes, cut into datagrams, each paid from the bucket
//             ring: what was sent, by sequence; the newest acked one is the baseline

#ifndef PINHOLE_KIT_SNAPSHOT_SENDER_H
#define PINHOLE_KIT_SNAPSHOT_SENDER_H

#include "kit/snapshot_code.h"

#include <pinhole/viewer.h>

typedef struct ph_snapshot_sender_def {
    ph_world* world;                  // outlives the sender, as does the layout
    const ph_snapshot_layout* layout; // slots as many as the viewer's
    ph_viewer_id viewer;
    int64_t bits_per_second; // 0: no limit
    int64_t depth_bits;      // of the bucket, which is full at first
    int overhead_bytes;      // of each datagram
    uint32_t tick_us;
    uint64_t now_us;
} ph_snapshot_sender_def;

typedef struct ph_snapshot_sender ph_snapshot_sender;

// @return NULL when there is no memory.
ph_snapshot_sender* ph_snapshot_sender_create(const ph_snapshot_sender_def* def);
void ph_snapshot_sender_destroy(ph_snapshot_sender* sender); // NULL is allowed

// Another budget from now on; what was saved up stays, up to the new depth.
void ph_snapshot_sender_set_budget(ph_snapshot_sender* sender, uint64_t now_us,
                                   int64_t bits_per_second, int64_t depth_bits);
// Whole bits that may be spent at the last send; INT64_MAX without a limit.
int64_t ph_snapshot_sender_token_bits(const ph_snapshot_sender* sender);

// As ph_viewer_set_trace(): of a snapshot that is sent in parts each datagram has its part of the items.
// @return False when there is no memory.
bool ph_snapshot_sender_set_trace(ph_snapshot_sender* sender, ph_trace_fn* trace, void* context);

// Before each tick of the world, with which it may not run at once: slots that the world has vacated
// may be used again. A snapshot is applied whole, so they need not rest.
void ph_snapshot_sender_free_slots(ph_snapshot_sender* sender);

// After each tick: at most one new snapshot, and what is left of the last one, as the bucket pays.
void ph_snapshot_sender_send(ph_snapshot_sender* sender, uint32_t tick, uint64_t now_us,
                             ph_deliver_fn* deliver, void* context);

// A part of the last snapshot still waits for tokens, or nothing may be sent until an ack comes.
bool ph_snapshot_sender_is_waiting(const ph_snapshot_sender* sender);

// @return PH_OK, PH_ERROR_STALE for one that says nothing new, PH_ERROR_VALUE for any other bytes.
ph_result ph_snapshot_sender_take_ack(ph_snapshot_sender* sender, uint64_t now_us,
                                      const void* bytes, size_t size);

// All bits that have left, by what they were for.
ph_sim_counts ph_snapshot_sender_counts(const ph_snapshot_sender* sender);

// For tests: the newest acked snapshot, or NULL; and one that was sent, while it is in the ring.
const ph_snapshot* ph_snapshot_sender_baseline(const ph_snapshot_sender* sender);
const ph_snapshot* ph_snapshot_sender_sent(const ph_snapshot_sender* sender, uint32_t sequence);

#endif
