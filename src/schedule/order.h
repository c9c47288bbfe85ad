// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Slots from the highest priority to the lowest, a few at a time: a packet has room for some thirty
// of 250, so a full sort would be wasted. Runs once per send, in well under a microsecond per 30.

#ifndef PH_SCHEDULE_ORDER_H
#define PH_SCHEDULE_ORDER_H

#include <pinhole/base.h>

// The order is exact: descending priority, equal ones by ascending slot; priorities of 0 or less
// and NaN are left out. Memory is the caller's.
typedef struct ph_order {
    const float* priority;
    int slot_count;
    uint16_t* ready; // slots in order, next first
    int ready_count;
    int next;
    uint16_t* scratch; // room for slot_count
    // What bounds the part that has been ordered so far is up to order.c.
    uint32_t bound;
} ph_order;

// ready and scratch have room for slot_count each.
void ph_order_begin(ph_order* order, const float* priority, int slot_count, uint16_t* ready,
                    uint16_t* scratch);

// The next slot, or -1 at the end.
int ph_order_next(ph_order* order);

#endif
