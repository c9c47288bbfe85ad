// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The budget of one viewer: bits come in at a steady rate up to a depth, datagrams take them out.
// Exact: no rounding is ever lost or gained, however often it is asked. A few instructions a call.

#ifndef PH_SCHEDULE_PACING_H
#define PH_SCHEDULE_PACING_H

#include <pinhole/base.h>

typedef struct ph_token_bucket {
    int64_t level; // in millionths of a bit
    int64_t depth_bits;
    int64_t bits_per_second; // 0: no limit
    uint64_t filled_us;      // when level was right
} ph_token_bucket;

// Full. @param bits_per_second 0..2^31-1, @param depth_bits 0..2^31-1.
ph_token_bucket ph_token_bucket_make(int64_t bits_per_second, int64_t depth_bits, uint64_t now_us);

// Lets time pass. A time before the latest one counts as that.
void ph_token_bucket_fill(ph_token_bucket* bucket, uint64_t now_us);

// Lets time pass that does not count.
void ph_token_bucket_skip(ph_token_bucket* bucket, uint64_t now_us);

// Whole bits that may be spent; INT64_MAX without a limit.
int64_t ph_token_bucket_bits(const ph_token_bucket* bucket);

// Takes bits out; not more than there are. Without a limit the level stays as it is.
void ph_token_bucket_spend(ph_token_bucket* bucket, int64_t bits);

// From now on another rate and depth (fill first); what is above the new depth is lost.
void ph_token_bucket_change(ph_token_bucket* bucket, int64_t bits_per_second, int64_t depth_bits);

// When to send. A datagram costs its overhead before its first bit, so sending a part of the news
// now and the rest later makes the news of all entities older than sending all of it a little later. Where
// few have news, that is often; where many have and the budget is small, about once a second. Pure;
// once per viewer and tick.

// No client waits for a datagram for longer.
#define PH_PACING_LONGEST_US 1000000

typedef struct ph_pacing {
    int64_t tokens_bits;   // that may be spent now
    int64_t depth_bits;    // the most that can ever be saved up
    int64_t overhead_bits; // of a datagram, its header included
    int64_t room_bits;     // what one datagram carries at most, beside that
    int64_t news_bits;     // what everything worth sending now would take; 0: nothing is
    uint64_t since_us;     // the last datagram
} ph_pacing;

bool ph_pacing_is_due(const ph_pacing* pacing);

#endif
