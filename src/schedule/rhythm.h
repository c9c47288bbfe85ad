// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// When to send. A datagram costs its overhead before its first bit, so sending a part of the news
// now and the rest later makes everybody's news older than sending all of it a little later. Where
// few have news, that is often; where many have and the budget is small, about once a second. Pure;
// once per viewer and tick.

#ifndef PH_SCHEDULE_RHYTHM_H
#define PH_SCHEDULE_RHYTHM_H

#include <pinhole/base.h>

// Nobody is left without a word for longer.
#define PH_RHYTHM_LONGEST_US 1000000

typedef struct ph_rhythm {
    int64_t tokens_bits;   // that may be spent now
    int64_t depth_bits;    // the most that can ever be saved up
    int64_t overhead_bits; // of a datagram, its header included
    int64_t room_bits;     // what one datagram carries at most, beside that
    int64_t news_bits;     // what everything worth telling now would take; 0: nothing is
    uint64_t since_us;     // the last datagram
} ph_rhythm;

bool ph_rhythm_is_due(const ph_rhythm* rhythm);

#endif
