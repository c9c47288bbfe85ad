// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Slots from the highest priority to the lowest, a few at a time: a packet may have room for some thirty
// of 250, so a full sort would be wasted. Runs once per send, in half a microsecond.

#ifndef PH_SCHEDULE_ORDER_H
#define PH_SCHEDULE_ORDER_H

#include <pinhole/base.h>

// The order is exact: descending priority, equal ones by ascending slot; priorities of 0 or less
// and NaN are left out. Fields are read-only outside order.c.
typedef struct ph_order {
    const float* priority;
    uint16_t* ready;   // the first `sorted` in order, those behind nearly
    uint16_t* buckets; // by slot: the higher the priority, the lower; not while is_partial
    uint16_t* scratch;
    int slot_count;
    int ready_count;
    int next;
    int sorted;
    bool is_partial; // only the best are ready
} ph_order;

// Room for all slots each. ready and buckets are the order's until it is done with; scratch is used only
// within each call: several orders may share it.
typedef struct ph_order_memory {
    uint16_t* ready;
    uint16_t* buckets;
    uint16_t* scratch;
} ph_order_memory;

// Without anybody.
static inline void ph_order_begin_empty(ph_order* order)
{
    order->ready_count = 0;
    order->next = 0;
    order->sorted = 0;
    order->is_partial = false;
}

// So many slots, which are in order already.
static inline void ph_order_begin_sorted(ph_order* order, uint16_t* slots, int count)
{
    order->ready = slots;
    order->ready_count = count;
    order->sorted = count;
    order->next = 0;
    order->is_partial = false;
}

// slot_count is 0..65535. The priorities stay as they are until the order is done with: ph_order_next()
// looks at them.
void ph_order_begin(ph_order* order, const float* priority, int slot_count,
                    const ph_order_memory* memory);

// The same order. Faster where so many or fewer are taken of it, and slower where more are.
void ph_order_begin_best(ph_order* order, const float* priority, int slot_count, int wanted,
                         const ph_order_memory* memory);

// Puts more in order, when all that are had their turn. @return False when there are no more.
bool ph_order_go_on(ph_order* order);

// Whether anybody may be left: a look, for orders that are mostly empty.
static inline bool ph_order_has_more(const ph_order* order)
{
    return order->next < order->ready_count || order->is_partial;
}

// The next slot, or -1 at the end.
static inline int ph_order_next(ph_order* order)
{
    if (order->next == order->sorted && !ph_order_go_on(order)) {
        return -1;
    }
    return order->ready[order->next++];
}

#endif
