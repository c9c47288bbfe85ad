// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The sending end of a way (way.h) for one viewer of a world. Times are the world's. Different senders
// of one world may be used on different threads between two of its ticks, as viewers may; all that says
// so may change the world.

#ifndef PINHOLE_KIT_WAY_SENDER_H
#define PINHOLE_KIT_WAY_SENDER_H

#include "kit/sim_result.h"
#include "kit/way.h"

#include <pinhole/viewer.h>

typedef struct ph_way_sender ph_way_sender;

typedef struct ph_way_sender_def {
    ph_way way;      // the world has its profile; for snapshots any, classic has the fewest slots
    ph_world* world; // outlives the sender, as does the schema, which is the world's
    const ph_schema* schema;
    ph_ground ground;
    ph_viewer_id viewer; // of that world; nothing was sent to it yet
    int bits_per_second; // the viewer's; 0: no limit
    int overhead_bytes;
    uint32_t tick_us; // of the world
    uint64_t now_us;
    int payload_max; // snapshots; 0: as much as the bucket pays for
} ph_way_sender_def;

// @return NULL when there is no memory.
ph_way_sender* ph_way_sender_create(const ph_way_sender_def* def);
void ph_way_sender_destroy(ph_way_sender* sender); // NULL is allowed; leaves the viewer

// What its client must know. They never change.
ph_way_terms ph_way_sender_terms(const ph_way_sender* sender);

// As ph_viewer_set_budget(). Changes the world. A bucket for snapshots stays deep enough for one datagram.
ph_result ph_way_sender_set_budget(ph_way_sender* sender, uint64_t now_us, int bits_per_second,
                                   int burst_bits);

// As ph_viewer_set_trace(). @return PH_OK, PH_ERROR_STALE or PH_ERROR_MEMORY.
ph_result ph_way_sender_set_trace(ph_way_sender* sender, ph_trace_fn* trace, void* context);

// Before every tick of the world. Changes the world.
void ph_way_sender_attend(ph_way_sender* sender);

bool ph_way_sender_is_send_due(const ph_way_sender* sender, uint64_t now_us);
void ph_way_sender_send(ph_way_sender* sender, uint64_t now_us, ph_deliver_fn* deliver,
                        void* context);
bool ph_way_sender_has_diff(const ph_way_sender* sender); // something is due that was not sent

// @return As ph_viewer_receive_ack().
ph_result ph_way_sender_take_ack(ph_way_sender* sender, uint64_t now_us, const void* bytes,
                                 size_t size);

// What was sent so far.
ph_sim_counts ph_way_sender_counts(const ph_way_sender* sender);

// Whole bits that may be spent now; INT64_MAX without a limit.
int64_t ph_way_sender_token_bits(const ph_way_sender* sender);

#endif
