// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What each bit of a packet was for, record by record: the ledger of one packet (encoder.c), taken apart.
// Worked out only for viewers that are traced, once per packet, some 100 ns for each record; all others pay
// for one branch per packet.

#ifndef PH_REPLICATION_TRACE_H
#define PH_REPLICATION_TRACE_H

#include "replication/encoder.h"

// No item has less than a bit, but for single symbols of the pinhole profile. What goes beyond is added
// to the last item of its reason.
#define PH_TRACE_ITEMS_MAX (8 * PH_PAYLOAD_MAX + 16)

typedef struct ph_tracer {
    ph_trace_fn* trace;
    void* context;
    uint64_t* keys; // by slot: of the entity that a record last told of
    int slot_count;
    int count;
    ph_trace_item items[PH_TRACE_ITEMS_MAX];
} ph_tracer;

// Traces the viewer from now on; or, with NULL, no more.
// @return PH_OK, or PH_ERROR_MEMORY with everything as before.
ph_result ph_tracer_set(const ph_send_context* context, ph_trace_fn* trace, void* trace_context);

void ph_tracer_destroy(ph_sender* sender);

// The packet was paid for and leaves, with so many bytes and what the caller adds to them.
void ph_trace_packet(ph_encoder* encoder, size_t size, int added_bytes);

#endif
