// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Slots from the highest priority to the lowest, a few at a time: a packet has room for some thirty
// of 250, so a full sort would be wasted. Runs once per send, in half a microsecond.

#ifndef PH_SCHEDULE_ORDER_H
#define PH_SCHEDULE_ORDER_H

#include <pinhole/base.h>

enum { PH_ORDER_BUCKETS = 128 };

// The order is exact: descending priority, equal ones by ascending slot; priorities of 0 or less
// and NaN are left out. Fields are read-only outside order.c.
typedef struct ph_order {
    const float* priority;
    int slot_count;
    uint16_t* ready;   // the present share of slots, bucket by bucket; the first `sorted` in order
    uint16_t* scratch; // within each call
    int ready_count;
    int next;
    int sorted;
    int bucket;                            // the next one to be sorted
    int32_t floor;                         // of the present share; whoever is lower comes later
    int share;                             // how many there were
    uint16_t bucket_end[PH_ORDER_BUCKETS]; // in ready
} ph_order;

// Without anybody.
static inline void ph_order_begin_empty(ph_order* order)
{
    order->ready_count = 0;
    order->next = 0;
    order->floor = 0;
}

// Memory is the caller's: ready and scratch have room for slot_count (0..65535) each. ready and the
// priorities stay as they are until the order is done with; ph_order_next() looks at both. scratch
// is used only within each call: several orders may share it.
void ph_order_begin(ph_order* order, const float* priority, int slot_count, uint16_t* ready,
                    uint16_t* scratch);

// The next slot, or -1 at the end.
int ph_order_next(ph_order* order);

#endif
