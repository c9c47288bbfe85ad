// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Only the best are looked for, by a guess of where they begin, and thrown into buckets by priority,
// in a few passes without branches; a bucket is sorted only when its turn comes. When all of them
// had their turn, those below are the next share. The bits of a positive float, read as an integer,
// have its order and grow with its logarithm: even steps between the least and the greatest of them
// suit scores, which are far apart by proportion.
//
//   keys    highest ---------- floor ---------------- 0
//           present share      later shares
//   ready   | 17 3 | 40 8 21 | 5 | 9 33 12 60 | ...
//           highest bucket                      lowest
//           sorted ------->|  each bucket in slot order until its turn

#include "schedule/order.h"

#include "base/bitset.h"

#include <string.h>

// Above it are only the bits of what is no number.
#define KEY_INFINITY INT32_C(0x7F800000)

// Up to so many are sorted by insertion. A bucket has more only when priorities lie close together,
// or slots are many.
enum { INSERTION_MAX = 32 };

// Where the first share ends: so much above the mean logarithm. Scores that grow evenly and begin
// anew at the top lie evenly below it; of those a seventh is above 1.15 octaves more than the mean.
#define OCTAVE (INT32_C(1) << 23)
#define FIRST_FLOOR (OCTAVE * 3 / 4)
// Then one with all down to an octave below, then all others.
enum { SHARES_MAX = 3 };

enum { DIGIT_BITS = 6 };
_Static_assert(PH_ORDER_BUCKETS == 1 << DIGIT_BITS, "one bucket for each value of a digit");

static int32_t key_of(float priority)
{
    int32_t key;
    memcpy(&key, &priority, sizeof key);
    return key;
}

// ---- into buckets

typedef struct span {
    int32_t highest; // of the keys that count
    int32_t mean;    // about that of those above 0
} span;

// In vectors. Sums of the upper halves of keys: of 65,535 slots they stay below 2^31.
static span span_of(const float* priority, int slot_count)
{
    int32_t highest = 0;
    int32_t sum = 0;
    int32_t count = 0;
    for (int i = 0; i < slot_count; ++i) {
        const int32_t key = key_of(priority[i]);
        const int32_t counted = key <= KEY_INFINITY && key > 0 ? key : 0;
        highest = counted > highest ? counted : highest;
        sum += counted >> 16;
        count += counted > 0;
    }
    return (span){highest, count > 0 ? sum / count * (INT32_C(1) << 16) : 0};
}

// Which of up to 64 keys are above the floor and not above the ceiling, as bits. In vectors.
static uint64_t mark(const float* priority, int count, int32_t floor, int32_t ceiling)
{
    uint8_t flags[64];
    memset(flags + count, 0, sizeof flags - (size_t)count);
    for (int i = 0; i < count; ++i) {
        const int32_t key = key_of(priority[i]);
        flags[i] = (uint8_t)((key > floor) & (key <= ceiling));
    }
    return ph_word_of_flags(flags);
}

// The slots of the present share, ascending. Returns how many.
static int gather(const ph_order* order, int32_t ceiling, uint16_t* slots)
{
    int count = 0;
    for (int begin = 0; begin < order->slot_count; begin += 64) {
        const int left_count = order->slot_count - begin;
        uint64_t left =
            mark(order->priority + begin, left_count < 64 ? left_count : 64, order->floor, ceiling);
        for (; left != 0; left &= left - 1) {
            slots[count++] = (uint16_t)(begin + ph_word_lowest_bit(left));
        }
    }
    return count;
}

// One distribution of slots over buckets, which are told apart by DIGIT_BITS bits of the distance
// from the highest key; whoever is higher is in the first.
typedef struct distribution {
    int32_t highest;
    int shift;
    const uint16_t* from;
    uint16_t* to;
    int count;
} distribution;

static int bucket_of(const distribution* by, float priority)
{
    const int32_t below = by->highest - key_of(priority);
    return (below > 0 ? below : 0) >> by->shift & (PH_ORDER_BUCKETS - 1);
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

static int shift_for(int32_t width)
{
    int shift = 0;
    while (width >> shift >= PH_ORDER_BUCKETS) {
        ++shift;
    }
    return shift;
}

// Who is above the floor, but not above this, is the present share. The best may be far above the rest
// (who stands beside the viewer): they all go into the first bucket, so that the others do not lie in
// a few.
static void begin_share(ph_order* order, int32_t ceiling)
{
    const bool is_steep = order->share == 0 && order->floor > 0;
    const int32_t steep = order->floor + OCTAVE - 1;
    const int32_t highest = is_steep && steep < ceiling ? steep : ceiling;
    order->next = 0;
    order->sorted = 0;
    order->bucket = 0;
    ++order->share;
    order->ready_count = gather(order, ceiling, order->scratch);
    if (order->ready_count > 0) {
        const distribution by = {
            .highest = highest,
            .shift = shift_for(highest - order->floor),
            .from = order->scratch,
            .to = order->ready,
            .count = order->ready_count,
        };
        distribute(order->priority, &by, order->bucket_end);
    }
}

// The floor goes down. @return False when it was at the bottom.
static bool begin_next_share(ph_order* order)
{
    const int32_t ceiling = order->floor;
    if (ceiling == 0) {
        return false;
    }
    const bool is_last = order->share + 1 >= SHARES_MAX || ceiling <= OCTAVE;
    order->floor = is_last ? 0 : ceiling - OCTAVE;
    begin_share(order, ceiling);
    return true;
}

void ph_order_begin(ph_order* order, const float* priority, int slot_count, uint16_t* ready,
                    uint16_t* scratch)
{
    PH_ASSERT(0 <= slot_count && slot_count <= UINT16_MAX);

    order->priority = priority;
    order->slot_count = slot_count;
    order->ready = ready;
    order->scratch = scratch;
    order->share = 0;
    const span keys = span_of(priority, slot_count);
    if (keys.highest == 0) {
        ph_order_begin_empty(order);
        return;
    }
    const bool has_floor = keys.mean < keys.highest - FIRST_FLOOR;
    order->floor = has_floor ? keys.mean + FIRST_FLOOR : 0;
    begin_share(order, keys.highest);
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
// than others.
static void sort_by_digits(const ph_order* order, uint16_t* slots, int count, int32_t highest,
                           int32_t width)
{
    uint16_t* from = slots;
    uint16_t* to = order->scratch;
    uint16_t end[PH_ORDER_BUCKETS];
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
    for (int bucket = 1; bucket < PH_ORDER_BUCKETS; ++bucket) {
        const int size = end[bucket] - end[bucket - 1];
        largest = size > largest ? size : largest;
    }
    return largest;
}

// Thrown into buckets of their own, which mostly leaves little to be done. Equal keys are in order.
static void sort_many(const ph_order* order, uint16_t* slots, int count)
{
    int32_t lowest = KEY_INFINITY;
    int32_t highest = 0;
    for (int i = 0; i < count; ++i) {
        const int32_t key = key_of(order->priority[slots[i]]);
        lowest = key < lowest ? key : lowest;
        highest = key > highest ? key : highest;
    }
    const int32_t width = highest - lowest;
    if (width == 0) {
        return;
    }
    uint16_t end[PH_ORDER_BUCKETS];
    distribute(order->priority,
               &(distribution){highest, shift_for(width), slots, order->scratch, count}, end);
    if (largest_bucket(end) > INSERTION_MAX) {
        sort_by_digits(order, slots, count, highest, width);
        return;
    }
    memcpy(slots, order->scratch, (size_t)count * sizeof *slots);
    sort_by_insertion(order->priority, slots, count);
}

// The next one with anybody in it; there is one.
static void sort_next_bucket(ph_order* order)
{
    while (order->bucket_end[order->bucket] == order->sorted) {
        ++order->bucket;
    }
    const int end = order->bucket_end[order->bucket++];
    const int count = end - order->sorted;
    uint16_t* slots = order->ready + order->sorted;
    if (count <= INSERTION_MAX) {
        sort_by_insertion(order->priority, slots, count);
    } else {
        sort_many(order, slots, count);
    }
    order->sorted = end;
}

bool ph_order_go_on(ph_order* order)
{
    while (order->next == order->ready_count) {
        if (!begin_next_share(order)) {
            return false;
        }
    }
    sort_next_bucket(order);
    return true;
}
