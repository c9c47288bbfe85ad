// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Everybody is thrown into buckets by priority, in a few passes without branches; a bucket is
// sorted only when its turn comes. The bits of a positive float, read as an integer, have its order
// and grow with its logarithm: even steps between the least and the greatest of them suit scores,
// which are far apart by proportion.
//
//   ready   | 17 3 | 40 8 21 | 5 | 9 33 12 60 | ...
//           highest bucket                      lowest
//           sorted ------->|  each bucket in slot order until its turn

#include "schedule/order.h"

#include <string.h>

// Above it are only the bits of what is no number.
#define KEY_INFINITY INT32_C(0x7F800000)

// Up to so many are sorted by insertion. A bucket has more only when priorities lie close together,
// or slots are many.
enum { INSERTION_MAX = 32 };

enum { DIGIT_BITS = 7 };
_Static_assert(PH_ORDER_BUCKETS == 1 << DIGIT_BITS, "one bucket for each value of a digit");

static int32_t key_of(float priority)
{
    int32_t key;
    memcpy(&key, &priority, sizeof key);
    return key;
}

// ---- into buckets

typedef struct span {
    int32_t lowest; // of the keys that count
    int32_t highest;
} span;

// In vectors.
static span span_of(const float* priority, int slot_count)
{
    int32_t lowest = KEY_INFINITY;
    int32_t highest = 0;
    for (int i = 0; i < slot_count; ++i) {
        const int32_t key = key_of(priority[i]);
        const int32_t at_least = key > 0 ? key : KEY_INFINITY;
        const int32_t at_most = key <= KEY_INFINITY ? key : 0;
        lowest = at_least < lowest ? at_least : lowest;
        highest = at_most > highest ? at_most : highest;
    }
    return (span){lowest, highest};
}

// The slots that will come, ascending. Returns how many.
static int gather(const float* priority, int slot_count, uint16_t* slots)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < (uint32_t)slot_count; ++i) {
        // One comparison for both ends: 0 and all with a sign become large.
        const uint32_t below = (uint32_t)key_of(priority[i]) - 1;
        slots[count] = (uint16_t)i;
        count += below < (uint32_t)KEY_INFINITY;
    }
    return (int)count;
}

// One distribution of slots over buckets, which are told apart by DIGIT_BITS bits of the distance
// from the highest key.
typedef struct distribution {
    int32_t highest;
    int shift;
    const uint16_t* from;
    uint16_t* to;
    int count;
} distribution;

static int bucket_of(const distribution* by, float priority)
{
    return (by->highest - key_of(priority)) >> by->shift & (PH_ORDER_BUCKETS - 1);
}

// A counting sort: the highest bucket first, the order within each kept. Writes where each ends.
static void distribute(const float* priority, const distribution* by, uint16_t* end)
{
    memset(end, 0, PH_ORDER_BUCKETS * sizeof *end);
    for (int i = 0; i < by->count; ++i) {
        ++end[bucket_of(by, priority[by->from[i]])];
    }
    uint16_t begin = 0;
    for (int bucket = 0; bucket < PH_ORDER_BUCKETS; ++bucket) {
        const uint16_t size = end[bucket];
        end[bucket] = begin;
        begin = (uint16_t)(begin + size);
    }
    // Filled from its begin, each is full at its end.
    for (int i = 0; i < by->count; ++i) {
        const uint16_t slot = by->from[i];
        by->to[end[bucket_of(by, priority[slot])]++] = slot;
    }
}

static int shift_for(span keys)
{
    int shift = 0;
    while ((keys.highest - keys.lowest) >> shift >= PH_ORDER_BUCKETS) {
        ++shift;
    }
    return shift;
}

void ph_order_begin(ph_order* order, const float* priority, int slot_count, uint16_t* ready,
                    uint16_t* scratch)
{
    PH_ASSERT(0 <= slot_count && slot_count <= UINT16_MAX);

    order->priority = priority;
    order->slot_count = slot_count;
    order->ready = ready;
    order->scratch = scratch;
    order->ready_count = gather(priority, slot_count, scratch);
    order->next = 0;
    order->sorted = 0;
    order->bucket = 0;
    if (order->ready_count == 0) {
        return;
    }
    const span keys = span_of(priority, slot_count);
    const distribution whole = {keys.highest, shift_for(keys), scratch, ready, order->ready_count};
    distribute(priority, &whole, order->bucket_end);
}

// ---- sorting one bucket: both ways keep the order of equal ones

static void sort_by_insertion(const float* priority, uint16_t* slots, int count)
{
    for (int i = 1; i < count; ++i) {
        const uint16_t slot = slots[i];
        const int32_t key = key_of(priority[slot]);
        int hole = i;
        while (hole > 0 && key_of(priority[slots[hole - 1]]) < key) {
            slots[hole] = slots[hole - 1];
            --hole;
        }
        slots[hole] = slot;
    }
}

// Digit by digit, the least first: nothing to guess for the processor, and no order that is worse
// than others. Equal keys take no pass at all.
static void sort_by_digits(const ph_order* order, uint16_t* slots, int count)
{
    int32_t lowest = KEY_INFINITY;
    int32_t highest = 0;
    for (int i = 0; i < count; ++i) {
        const int32_t key = key_of(order->priority[slots[i]]);
        lowest = key < lowest ? key : lowest;
        highest = key > highest ? key : highest;
    }
    uint16_t* from = slots;
    uint16_t* to = order->scratch;
    uint16_t end[PH_ORDER_BUCKETS];
    for (int shift = 0; (highest - lowest) >> shift > 0; shift += DIGIT_BITS) {
        distribute(order->priority, &(distribution){highest, shift, from, to, count}, end);
        uint16_t* swap = from;
        from = to;
        to = swap;
    }
    if (from != slots) {
        memcpy(slots, from, (size_t)count * sizeof *slots);
    }
}

static void sort_next_bucket(ph_order* order)
{
    const int end = order->bucket_end[order->bucket++];
    const int count = end - order->sorted;
    uint16_t* slots = order->ready + order->sorted;
    if (count <= INSERTION_MAX) {
        sort_by_insertion(order->priority, slots, count);
    } else {
        sort_by_digits(order, slots, count);
    }
    order->sorted = end;
}

int ph_order_next(ph_order* order)
{
    if (order->next == order->ready_count) {
        return -1;
    }
    while (order->next == order->sorted) {
        sort_next_bucket(order);
    }
    return order->ready[order->next++];
}
