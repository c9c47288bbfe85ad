// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A rate in bits per second times microseconds is a whole number of millionths of a bit: counted in
// these, nothing is ever rounded. Runs a few times per viewer and send.

#include "schedule/pacing.h"

#define PARTS_PER_BIT INT64_C(1000000)

static int64_t full_level(const ph_token_bucket* bucket)
{
    return bucket->depth_bits * PARTS_PER_BIT;
}

ph_token_bucket ph_token_bucket_make(int64_t bits_per_second, int64_t depth_bits, uint64_t now_us)
{
    PH_ASSERT(0 <= bits_per_second && bits_per_second <= INT32_MAX);
    PH_ASSERT(0 <= depth_bits && depth_bits <= INT32_MAX);

    return (ph_token_bucket){
        .level = depth_bits * PARTS_PER_BIT,
        .depth_bits = depth_bits,
        .bits_per_second = bits_per_second,
        .filled_us = now_us,
    };
}

void ph_token_bucket_fill(ph_token_bucket* bucket, uint64_t now_us)
{
    // The latest time stays: a clock that trembles would else be paid twice for the same moments.
    if (now_us <= bucket->filled_us) {
        return;
    }
    const uint64_t elapsed_us = now_us - bucket->filled_us;
    bucket->filled_us = now_us;
    if (bucket->bits_per_second == 0) {
        return;
    }
    // Divided, because the product of centuries and gigabits would overflow. Behind the comparison
    // it is no more than the gap.
    const int64_t gap = full_level(bucket) - bucket->level;
    if (elapsed_us > (uint64_t)(gap / bucket->bits_per_second)) {
        bucket->level = full_level(bucket);
        return;
    }
    bucket->level += (int64_t)elapsed_us * bucket->bits_per_second;
}

void ph_token_bucket_skip(ph_token_bucket* bucket, uint64_t now_us)
{
    bucket->filled_us = now_us > bucket->filled_us ? now_us : bucket->filled_us;
}

int64_t ph_token_bucket_bits(const ph_token_bucket* bucket)
{
    if (bucket->bits_per_second == 0) {
        return INT64_MAX;
    }
    return bucket->level / PARTS_PER_BIT;
}

void ph_token_bucket_spend(ph_token_bucket* bucket, int64_t bits)
{
    PH_ASSERT(0 <= bits && bits <= ph_token_bucket_bits(bucket));

    if (bucket->bits_per_second != 0) {
        bucket->level -= bits * PARTS_PER_BIT;
    }
}

void ph_token_bucket_change(ph_token_bucket* bucket, int64_t bits_per_second, int64_t depth_bits)
{
    PH_ASSERT(0 <= bits_per_second && bits_per_second <= INT32_MAX);
    PH_ASSERT(0 <= depth_bits && depth_bits <= INT32_MAX);

    bucket->bits_per_second = bits_per_second;
    bucket->depth_bits = depth_bits;
    if (bucket->level > full_level(bucket)) {
        bucket->level = full_level(bucket);
    }
}

bool ph_pacing_is_due(const ph_pacing* pacing)
{
    if (pacing->since_us >= PH_PACING_LONGEST_US) {
        return true;
    }
    if (pacing->news_bits == 0) {
        return false;
    }
    // A full datagram, or all that can be saved up, is not worth waiting beyond.
    const int64_t news_bits =
        pacing->news_bits < pacing->room_bits ? pacing->news_bits : pacing->room_bits;
    const int64_t wanted_bits = pacing->overhead_bits + news_bits;
    return pacing->tokens_bits >=
           (wanted_bits < pacing->depth_bits ? wanted_bits : pacing->depth_bits);
}
