// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Slots from the highest priority to the lowest, a few at a time: a packet has room for some thirty of
// 250, so a full sort would be wasted. Once per send.

#ifndef PH_BASE_PARTIAL_SORT_H
#define PH_BASE_PARTIAL_SORT_H

#include <pinhole/base.h>

// The order is exact: descending priority, equal ones by ascending slot; priorities of 0 or less
// and NaN are left out. Fields are read-only outside partial_sort.c.
typedef struct ph_order {
    const float* priority;
    uint16_t* ready;   // the first `sorted` in order, the rest by bucket
    uint16_t* buckets; // by slot: the higher the priority, the lower
    uint16_t* scratch;
    int ready_count;
    int next;
    int sorted;
} ph_order;

// Room for all slots each. ready and buckets belong to the order until its end; scratch is used only
// within each call: several orders may share it.
typedef struct ph_order_memory {
    uint16_t* ready;
    uint16_t* buckets;
    uint16_t* scratch;
} ph_order_memory;

// slot_count is 0..65535. The priorities stay as they are until the end of the order.
void ph_order_begin(ph_order* order, const float* priority, int slot_count,
                    const ph_order_memory* memory);

// An order of `count` slots that are sorted already; count may be 0.
void ph_order_begin_sorted(ph_order* order, uint16_t* slots, int count);

bool ph_order_has_more(const ph_order* order);

// The slot that comes about so many behind the next one, or -1.
int ph_order_ahead(const ph_order* order, int count);

// The next slot, or -1 at the end.
int ph_order_next(ph_order* order);

#endif
