// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All slots are thrown into buckets by priority, in a few passes without branches; what is left to be
// sorted within buckets is little, and done only when their turn comes. Keys grow with the logarithm of
// priorities (best.h): buckets of even steps around the mean suit those, which are far apart by
// proportion. Whoever is outside is in the first or the last.
//
//   keys    highest ------- mean ------- lowest     0, negative, no number
//   ready   | 17 3 | 40 8 21 | 5 | 9 33 12 60 | ... | those who are left out |
//           sorted ------->|  each bucket in slot order until its turn

#include "schedule/order.h"

#include "base/inline.h"
#include "base/wide.h"
#include "schedule/best.h"

#include <string.h>

// Buckets are a thirty-second of an octave wide, and reach from four octaves above the mean to four below:
// most of them have nobody or one of 250 slots, so that the processor need not guess what is to be sorted.
enum { STEPS = 32, STEP_SHIFT = 23 - 5, STEPS_ABOVE = 4 * STEPS };
// The last one is of those who are left out.
enum { BUCKET_NONE = 8 * STEPS, BUCKET_COUNT };

// At least so many are put in order at once; up to so many, with the rest of a bucket, without a guess.
// There are more only when priorities lie close together, or slots are many.
enum { SHARE_MIN = 16, FEW_MAX = 32 };
// Up to so many of one digit are put in order by insertion.
enum { INSERTION_MAX = 48 };

// They are told apart by digits when there are too many in one.
enum { DIGIT_BITS = 6, DIGITS = 1 << DIGIT_BITS };

// ---- into buckets

// About the mean of the keys above 0, in steps. In vectors. Sums of the upper halves of keys: of 65,535
// slots they stay below 2^31.
// @return INT32_MIN when there are none.
PH_WIDE static int32_t mean_step(const float* priority, int slot_count)
{
    int32_t sum = 0;
    int32_t count = 0;
    for (int i = 0; i < slot_count; ++i) {
        const int32_t key = ph_priority_key(priority[i]);
        const int32_t is_counted = -(int32_t)((key <= PH_PRIORITY_KEY_MAX) & (key > 0));
        sum += key >> 16 & is_counted;
        count -= is_counted;
    }
    return count > 0 ? sum / count >> (STEP_SHIFT - 16) : INT32_MIN;
}

// In vectors.
PH_WIDE static void choose_buckets(const float* restrict priority, int slot_count, int32_t top,
                                   uint16_t* restrict bucket)
{
    for (int i = 0; i < slot_count; ++i) {
        const int32_t key = ph_priority_key(priority[i]);
        const int32_t is_counted = -(int32_t)((key <= PH_PRIORITY_KEY_MAX) & (key > 0));
        int16_t below = (int16_t)(top - (key >> STEP_SHIFT));
        below = below > 0 ? below : 0;
        below = below < BUCKET_NONE ? below : BUCKET_NONE - 1;
        bucket[i] = (uint16_t)((below & is_counted) | (BUCKET_NONE & ~is_counted));
    }
}

// From sizes to where each begins: filled from there, each is full at its end.
static void line_up(uint16_t* size, int count)
{
    uint16_t begin = 0;
    for (int i = 0; i < count; ++i) {
        const uint16_t next = (uint16_t)(begin + size[i]);
        size[i] = begin;
        begin = next;
    }
}

// The slots are dealt out by halves, one of each in turn: what is counted or dealt for one of a bucket has
// to wait for the one before it, which is mostly of the other half then.
typedef struct halves {
    uint16_t low;  // of a bucket, from the lower half of all slots
    uint16_t high; // and from the upper one, behind them
} halves;

static void count_halves(const uint16_t* restrict bucket, int slot_count, halves* restrict end)
{
    const int half = slot_count / 2;
    for (int slot = 0; slot < half; ++slot) {
        ++end[bucket[slot]].low;
        ++end[bucket[slot + half]].high;
    }
    if (slot_count % 2 != 0) {
        ++end[bucket[slot_count - 1]].high;
    }
}

static void line_up_halves(halves* end)
{
    unsigned begin = 0;
    for (int i = 0; i < BUCKET_COUNT; ++i) {
        const halves size = end[i];
        end[i].low = (uint16_t)begin;
        end[i].high = (uint16_t)(begin + size.low);
        begin += (unsigned)size.low + size.high;
    }
}

static void deal_halves(const uint16_t* restrict bucket, int slot_count, halves* restrict end,
                        uint16_t* restrict ready)
{
    const int half = slot_count / 2;
    for (int slot = 0; slot < half; ++slot) {
        ready[end[bucket[slot]].low++] = (uint16_t)slot;
        ready[end[bucket[slot + half]].high++] = (uint16_t)(slot + half);
    }
    if (slot_count % 2 != 0) {
        ready[end[bucket[slot_count - 1]].high] = (uint16_t)(slot_count - 1);
    }
}

// ---- sorting a share: all ways keep the order of equal ones

// Everybody who stands before somebody better changes places with it, until nobody does: only some of a
// bucket are not in order, so that a few passes do. Keys from the highest priority on, then by slot.
static void sort_few(const float* priority, uint16_t* slots, int count)
{
    uint64_t keys[FEW_MAX];
    for (int i = 0; i < count; ++i) {
        const int32_t below = PH_PRIORITY_KEY_MAX - ph_priority_key(priority[slots[i]]);
        keys[i] = (uint64_t)below << 16 | slots[i];
    }
    uint64_t moved;
    do {
        uint64_t last = keys[0];
        moved = 0;
        for (int i = 1; i < count; ++i) {
            const uint64_t key = keys[i];
            const uint64_t first = key < last ? key : last;
            moved |= first ^ last;
            keys[i - 1] = first;
            last = key < last ? last : key;
        }
        keys[count - 1] = last;
    } while (moved != 0);
    for (int i = 0; i < count; ++i) {
        slots[i] = (uint16_t)keys[i];
    }
}

static void sort_by_insertion(const float* priority, uint16_t* slots, int count)
{
    int32_t last = PH_PRIORITY_KEY_MAX;
    for (int i = 0; i < count; ++i) {
        const uint16_t slot = slots[i];
        const int32_t key = ph_priority_key(priority[slot]);
        if (key <= last) {
            last = key; // as most are
            continue;
        }
        int hole = i;
        do {
            slots[hole] = slots[hole - 1];
            --hole;
        } while (hole > 0 && ph_priority_key(priority[slots[hole - 1]]) < key);
        slots[hole] = slot;
    }
}

// One distribution of slots over as many buckets as a digit has values: DIGIT_BITS bits of the distance
// from the highest key.
typedef struct distribution {
    int32_t highest;
    int shift;
    const uint16_t* from;
    uint16_t* to;
    int count;
} distribution;

static int digit_of(const distribution* by, float priority)
{
    return (by->highest - ph_priority_key(priority)) >> by->shift & (DIGITS - 1);
}

// A counting sort: the highest first, the order of equal ones kept. Writes where each digit ends.
static void distribute(const float* priority, const distribution* by, uint16_t end[DIGITS])
{
    memset(end, 0, DIGITS * sizeof *end);
    for (int i = 0; i < by->count; ++i) {
        ++end[digit_of(by, priority[by->from[i]])];
    }
    line_up(end, DIGITS);
    for (int i = 0; i < by->count; ++i) {
        const uint16_t slot = by->from[i];
        by->to[end[digit_of(by, priority[slot])]++] = slot;
    }
}

static int shift_for(int32_t width)
{
    int shift = 0;
    while (width >> shift >= DIGITS) {
        ++shift;
    }
    return shift;
}

// Digit by digit, the least first: nothing to guess for the processor, and no order that is worse
// than others.
static void sort_by_digits(const ph_order* order, uint16_t* slots, int count, int32_t highest,
                           int32_t width)
{
    uint16_t* from = slots;
    uint16_t* to = order->scratch;
    uint16_t end[DIGITS];
    for (int shift = 0; shift < 31 && width >> shift > 0; shift += DIGIT_BITS) {
        distribute(order->priority, &(distribution){highest, shift, from, to, count}, end);
        uint16_t* swap = from;
        from = to;
        to = swap;
    }
    if (from != slots) {
        memcpy(slots, from, (size_t)count * sizeof *slots);
    }
}

static int largest_bucket(const uint16_t* end)
{
    int largest = end[0];
    for (int bucket = 1; bucket < DIGITS; ++bucket) {
        const int size = end[bucket] - end[bucket - 1];
        largest = size > largest ? size : largest;
    }
    return largest;
}

// Thrown into buckets of their own, which mostly leaves little for an insertion. Equal keys are in order.
PH_OUT_OF_LINE static void sort_many(const ph_order* order, uint16_t* slots, int count)
{
    int32_t lowest = PH_PRIORITY_KEY_MAX;
    int32_t highest = 0;
    for (int i = 0; i < count; ++i) {
        const int32_t key = ph_priority_key(order->priority[slots[i]]);
        lowest = key < lowest ? key : lowest;
        highest = key > highest ? key : highest;
    }
    const int32_t width = highest - lowest;
    if (width == 0) {
        return;
    }
    uint16_t end[DIGITS];
    distribute(order->priority,
               &(distribution){highest, shift_for(width), slots, order->scratch, count}, end);
    if (largest_bucket(end) > INSERTION_MAX) {
        sort_by_digits(order, slots, count, highest, width);
        return;
    }
    memcpy(slots, order->scratch, (size_t)count * sizeof *slots);
    sort_by_insertion(order->priority, slots, count);
}

// ---- the whole

static void begin(ph_order* order, const float* priority, int slot_count,
                  const ph_order_memory* memory)
{
    PH_ASSERT(0 <= slot_count && slot_count <= UINT16_MAX);

    ph_order_begin_empty(order);
    order->priority = priority;
    order->slot_count = slot_count;
    order->ready = memory->ready;
    order->buckets = memory->buckets;
    order->scratch = memory->scratch;
}

static void deal(ph_order* order)
{
    const int32_t mean = mean_step(order->priority, order->slot_count);
    if (mean == INT32_MIN) {
        return; // there is nobody
    }
    uint16_t* bucket = order->buckets;
    choose_buckets(order->priority, order->slot_count, mean + STEPS_ABOVE, bucket);
    halves end[BUCKET_COUNT] = {0};
    count_halves(bucket, order->slot_count, end);
    order->ready_count = order->slot_count - end[BUCKET_NONE].low - end[BUCKET_NONE].high;
    line_up_halves(end);
    deal_halves(bucket, order->slot_count, end, order->ready);
}

void ph_order_begin(ph_order* order, const float* priority, int slot_count,
                    const ph_order_memory* memory)
{
    begin(order, priority, slot_count, memory);
    deal(order);
}

void ph_order_begin_best(ph_order* order, const float* priority, int slot_count, int wanted,
                         const ph_order_memory* memory)
{
    begin(order, priority, slot_count, memory);
    const bool is_worth_it = wanted > 0 && wanted <= PH_BEST_MAX && slot_count > 2 * PH_BEST_MAX;
    const int count =
        is_worth_it ? ph_best_find(priority, slot_count, wanted, memory->buckets, memory->ready)
                    : 0;
    if (count == 0) {
        deal(order);
        return;
    }
    order->ready_count = count;
    order->sorted = count;
    order->is_partial = true;
}

// Where the next share ends: nobody of a bucket is left behind.
static int share_end(const ph_order* order)
{
    const int left_count = order->ready_count - order->sorted;
    int end = order->sorted + (left_count < SHARE_MIN ? left_count : SHARE_MIN);
    while (end < order->ready_count &&
           order->buckets[order->ready[end]] == order->buckets[order->ready[end - 1]]) {
        ++end;
    }
    return end;
}

static void sort_share(ph_order* order)
{
    uint16_t* slots = order->ready + order->sorted;
    const int end = share_end(order);
    const int count = end - order->sorted;
    if (count <= FEW_MAX) {
        sort_few(order->priority, slots, count);
    } else {
        sort_many(order, slots, count);
    }
    order->sorted = end;
}

// The best were not enough. All are put in order then, which those who had their turn lead.
PH_OUT_OF_LINE static void complete(ph_order* order)
{
    order->is_partial = false;
    order->sorted = 0;
    deal(order);
    while (order->sorted < order->next) {
        sort_share(order);
    }
}

bool ph_order_go_on(ph_order* order)
{
    if (order->is_partial) {
        complete(order);
    }
    if (order->sorted == order->next && order->sorted < order->ready_count) {
        sort_share(order);
    }
    return order->sorted > order->next;
}
