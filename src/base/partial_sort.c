// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All slots are dealt into buckets by priority, in a few passes without branches. What is left to be
// sorted within the buckets is little, and is done only when the next few slots are asked for.
//
//   priority  highest ------- mean ------- lowest     0, negative, NaN
//   ready     | 17 3 | 40 8 21 | 5 | 9 33 12 60 | ... | left out |
//             sorted ------->|  each bucket by slot until it is asked for
//
// 20 of 250 slots take 0.6 us, all of them 2 us. Rejected: to search for the best 64 before all are dealt,
// which saves 0.05 us of the former.

#include "base/partial_sort.h"

#include "base/compiler.h"
#include "base/math.h"

#include <string.h>

// The bits of a positive float, read as an integer, have its order and grow with its logarithm. Above
// infinity are only those of NaN, below 1 only 0 and the negative.
#define PRIORITY_KEY_MAX INT32_C(0x7F800000)

// Buckets are a thirty-second of an octave wide and reach from four octaves above the mean to four below:
// most have at most one of 250 slots. What is outside is in the first or the last.
enum { STEPS_OF_OCTAVE = 32, STEP_SHIFT = 23 - 5, STEPS_ABOVE_MEAN = 4 * STEPS_OF_OCTAVE };

// The last bucket is of those that are left out.
enum { BUCKET_LEFT_OUT = 8 * STEPS_OF_OCTAVE, BUCKET_COUNT };

// At least this many are sorted at once, and whole buckets.
enum { SHARE_MIN = 16 };

// Up to this many are sorted by insertion, more by merging.
enum { RUN_LENGTH = 16 };

static int32_t priority_key(float priority)
{
    int32_t key;
    memcpy(&key, &priority, sizeof key);
    return key;
}

// ---- into buckets

// About the mean of the keys above 0, in steps. In vectors. The upper halves of 65,535 keys add up to less
// than 2^31.
// @return INT32_MIN when there are none.
PH_WIDE static int32_t find_mean_step(const float* priority, int slot_count)
{
    int32_t sum = 0;
    int32_t count = 0;
    for (int i = 0; i < slot_count; ++i) {
        const int32_t key = priority_key(priority[i]);
        const int32_t is_counted = -(int32_t)((key <= PRIORITY_KEY_MAX) & (key > 0));
        sum += key >> 16 & is_counted;
        count -= is_counted;
    }
    return count > 0 ? sum / count >> (STEP_SHIFT - 16) : INT32_MIN;
}

// In vectors.
PH_WIDE static void choose_buckets(const float* restrict priority, int slot_count, int32_t top_step,
                                   uint16_t* restrict bucket)
{
    for (int i = 0; i < slot_count; ++i) {
        const int32_t key = priority_key(priority[i]);
        const int32_t is_counted = -(int32_t)((key <= PRIORITY_KEY_MAX) & (key > 0));
        int16_t below = (int16_t)(top_step - (key >> STEP_SHIFT));
        below = below > 0 ? below : 0;
        below = below < BUCKET_LEFT_OUT ? below : BUCKET_LEFT_OUT - 1;
        bucket[i] = (uint16_t)((below & is_counted) | (BUCKET_LEFT_OUT & ~is_counted));
    }
}

// A counting sort by bucket.
static void deal_slots(ph_order* order, int slot_count)
{
    const uint16_t* restrict bucket = order->buckets;
    uint16_t* restrict ready = order->ready;
    uint16_t begin[BUCKET_COUNT + 1] = {0};
    for (int slot = 0; slot < slot_count; ++slot) {
        ++begin[bucket[slot] + 1];
    }
    for (int i = 1; i < BUCKET_COUNT; ++i) {
        begin[i] = (uint16_t)(begin[i] + begin[i - 1]);
    }
    order->ready_count = begin[BUCKET_LEFT_OUT];
    for (int slot = 0; slot < slot_count; ++slot) {
        ready[begin[bucket[slot]]++] = (uint16_t)slot;
    }
}

void ph_order_begin(ph_order* order, const float* priority, int slot_count,
                    const ph_order_memory* memory)
{
    PH_ASSERT(0 <= slot_count && slot_count <= UINT16_MAX);

    *order = (ph_order){
        .priority = priority,
        .ready = memory->ready,
        .buckets = memory->buckets,
        .scratch = memory->scratch,
    };
    const int32_t mean_step = find_mean_step(priority, slot_count);
    if (mean_step != INT32_MIN) {
        choose_buckets(priority, slot_count, mean_step + STEPS_ABOVE_MEAN, order->buckets);
        deal_slots(order, slot_count);
    }
}

void ph_order_begin_sorted(ph_order* order, uint16_t* slots, int count)
{
    *order = (ph_order){.ready = slots, .ready_count = count, .sorted = count};
}

// ---- sorting a share: equal ones keep their order

static void sort_run(const float* priority, uint16_t* slots, int count)
{
    for (int i = 1; i < count; ++i) {
        const uint16_t slot = slots[i];
        int hole = i;
        for (; hole > 0 && priority[slots[hole - 1]] < priority[slot]; --hole) {
            slots[hole] = slots[hole - 1];
        }
        slots[hole] = slot;
    }
}

// Merges slots[0..left) and slots[left..count). Mostly they are in order: they come from buckets.
static void merge_runs(const float* priority, uint16_t* slots, int left, int count,
                       uint16_t* scratch)
{
    if (priority[slots[left - 1]] >= priority[slots[left]]) {
        return;
    }
    memcpy(scratch, slots, (size_t)left * sizeof *slots);
    int from = 0;
    for (int to = 0; from < left; ++to) {
        const bool is_right =
            left + to - from < count && priority[slots[left + to - from]] > priority[scratch[from]];
        slots[to] = is_right ? slots[left + to - from] : scratch[from];
        from += !is_right;
    }
}

static void sort_share(ph_order* order)
{
    uint16_t* slots = order->ready + order->sorted;
    const int left = order->ready_count - order->sorted;
    int count = ph_least(left, SHARE_MIN);
    while (count < left && order->buckets[slots[count]] == order->buckets[slots[count - 1]]) {
        ++count;
    }
    for (int at = 0; at < count; at += RUN_LENGTH) {
        sort_run(order->priority, slots + at, ph_least(count - at, RUN_LENGTH));
    }
    for (int width = RUN_LENGTH; width < count; width *= 2) {
        for (int at = 0; at + width < count; at += 2 * width) {
            const int both = ph_least(count - at, 2 * width);
            merge_runs(order->priority, slots + at, width, both, order->scratch);
        }
    }
    order->sorted += count;
}

// ---- one after the other

bool ph_order_has_more(const ph_order* order)
{
    return order->next < order->ready_count;
}

int ph_order_next(ph_order* order)
{
    if (order->next == order->sorted) {
        if (order->next == order->ready_count) {
            return -1;
        }
        sort_share(order);
    }
    return order->ready[order->next++];
}

int ph_order_ahead(const ph_order* order, int count)
{
    const int at = order->next + count;
    return at < order->ready_count ? order->ready[at] : -1;
}
