// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A histogram whose buckets grow with the value: each power of two is cut into 512 equal parts, so
// the bucket is found from the bits of the double without a logarithm. Adding runs a few times per
// viewer, shown entity and frame: ten million times in a run.
//
//   bucket   0            1 .. 512        513 .. 1024             21504
//   values   [0, 2^-10)   [2^-10, 2^-9)   [2^-9, 2^-8)   ...   [2^32 (1 - 1/1024), ...
//
// A percentile is told as the middle of its bucket: off by half of 1/512 of it at most.

#include "kit/spread.h"

#include "base/allocator.h"

#include <string.h>

enum {
    PARTS_BITS = 9, // 512 parts of each power of two
    LEAST_EXPONENT = -10,
    LAST_EXPONENT = 32,
    BUCKET_COUNT = ((LAST_EXPONENT - LEAST_EXPONENT) << PARTS_BITS) + 1,
    MANTISSA_BITS = 52,
    EXPONENT_BIAS = 1023,
};

#define LEAST_VALUE 0x1p-10
#define LAST_VALUE 0x1p32

static const ph_allocator PLAIN_MEMORY = {0};

ph_result ph_spread_create(ph_spread* spread, const ph_allocator* allocator)
{
    *spread = (ph_spread){.allocator = allocator != NULL ? *allocator : PLAIN_MEMORY};
    spread->counts = ph_allocate_zeroed(&spread->allocator, BUCKET_COUNT * sizeof(uint64_t));
    if (spread->counts == NULL) {
        *spread = (ph_spread){0};
        return PH_ERROR_MEMORY;
    }
    return PH_OK;
}

void ph_spread_destroy(ph_spread* spread)
{
    ph_release(&spread->allocator, spread->counts, BUCKET_COUNT * sizeof(uint64_t));
    *spread = (ph_spread){0};
}

void ph_spread_clear(ph_spread* spread)
{
    PH_ASSERT(spread->counts != NULL);

    memset(spread->counts, 0, BUCKET_COUNT * sizeof(uint64_t));
    *spread = (ph_spread){.counts = spread->counts, .allocator = spread->allocator};
}

// ---- adding

// The bits of a positive double rise with its value: exponent, then the first bits of the mantissa.
static uint64_t steps_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> (MANTISSA_BITS - PARTS_BITS);
}

static uint64_t bucket_of(double value)
{
    if (value < LEAST_VALUE) {
        return 0;
    }
    if (value >= LAST_VALUE) {
        return BUCKET_COUNT - 1;
    }
    return steps_of(value) - steps_of(LEAST_VALUE) + 1;
}

// Keeps what the sum is too coarse for (Neumaier), so that the mean does not depend on how many
// values there are. All are positive: only the smaller of the two can lose bits.
static void add_to_sum(ph_spread* spread, double value)
{
    const double sum = spread->sum + value;
    if (spread->sum >= value) {
        spread->sum_rest += (spread->sum - sum) + value;
    } else {
        spread->sum_rest += (value - sum) + spread->sum;
    }
    spread->sum = sum;
}

static void widen(ph_spread* spread, double least, double greatest)
{
    if (spread->count == 0 || least < spread->least) {
        spread->least = least;
    }
    if (spread->count == 0 || greatest > spread->greatest) {
        spread->greatest = greatest;
    }
}

void ph_spread_add_many(ph_spread* spread, double value, uint64_t times)
{
    PH_ASSERT(spread->counts != NULL);
    PH_ASSERT(value >= 0.0);

    if (times == 0) {
        return;
    }
    widen(spread, value, value);
    add_to_sum(spread, value * (double)times);
    spread->counts[bucket_of(value)] += times;
    spread->count += times;
}

void ph_spread_add(ph_spread* spread, double value)
{
    ph_spread_add_many(spread, value, 1);
}

void ph_spread_merge(ph_spread* spread, const ph_spread* other)
{
    PH_ASSERT(spread->counts != NULL);
    PH_ASSERT(spread != other);

    if (other->count == 0) {
        return;
    }
    widen(spread, other->least, other->greatest);
    add_to_sum(spread, other->sum);
    spread->sum_rest += other->sum_rest;
    for (int i = 0; i < BUCKET_COUNT; ++i) {
        spread->counts[i] += other->counts[i];
    }
    spread->count += other->count;
}

// ---- asking

static double middle_of(uint64_t bucket)
{
    if (bucket == 0) {
        return 0.0;
    }
    const uint64_t steps = bucket - 1 + steps_of(LEAST_VALUE);
    const uint64_t half_step = (uint64_t)1 << (MANTISSA_BITS - PARTS_BITS - 1);
    const uint64_t bits = (steps << (MANTISSA_BITS - PARTS_BITS)) + half_step;
    double middle;
    memcpy(&middle, &bits, sizeof middle);
    return middle;
}

static double clamp(double value, double least, double greatest)
{
    if (value < least) {
        return least;
    }
    return value > greatest ? greatest : value;
}

double ph_spread_percentile(const ph_spread* spread, int percent)
{
    PH_ASSERT(percent >= 1 && percent <= 100);

    if (spread->count == 0) {
        return 0.0;
    }
    // Rounded up: at least so many do not exceed the answer.
    const uint64_t wanted = (spread->count * (uint64_t)percent + 99) / 100;
    uint64_t bucket = 0;
    uint64_t passed = spread->counts[0];
    while (passed < wanted) {
        passed += spread->counts[++bucket];
    }
    return clamp(middle_of(bucket), spread->least, spread->greatest);
}

ph_spread_summary ph_spread_summarise(const ph_spread* spread)
{
    if (spread->count == 0) {
        return (ph_spread_summary){0};
    }
    return (ph_spread_summary){
        .mean = (spread->sum + spread->sum_rest) / (double)spread->count,
        .p50 = ph_spread_percentile(spread, 50),
        .p95 = ph_spread_percentile(spread, 95),
        .p99 = ph_spread_percentile(spread, 99),
    };
}
