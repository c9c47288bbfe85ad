// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "schedule/rhythm.h"

bool ph_rhythm_is_due(const ph_rhythm* rhythm)
{
    if (rhythm->since_us >= PH_RHYTHM_LONGEST_US) {
        return true;
    }
    if (rhythm->news_bits == 0) {
        return false;
    }
    // A full datagram, or all that can be saved up, is not worth waiting beyond.
    const int64_t news_bits =
        rhythm->news_bits < rhythm->room_bits ? rhythm->news_bits : rhythm->room_bits;
    const int64_t wanted_bits = rhythm->overhead_bits + news_bits;
    return rhythm->tokens_bits >=
           (wanted_bits < rhythm->depth_bits ? wanted_bits : rhythm->depth_bits);
}
