// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// CORDIC: the way is turned towards the x axis by angles whose tangents are 1, 1/2, 1/4 ..., and
// the angles are added up; or from the x axis by angles that add up to the direction. Shifts and
// additions only.

#include "wire/direction.h"

#include "base/bitset.h"

#include <stdlib.h>

// atan(2^-i) in 1/65536 of a turn, times 16.
static const int32_t ANGLES[] = {131072, 77376, 40884, 20753, 10417, 5213, 2607,
                                 1304,   652,   326,   163,   81,    41,   20};
enum { ANGLE_COUNT = sizeof ANGLES / sizeof ANGLES[0], ANGLE_SHIFT = 4, LENGTH_BITS = 30 };
#define ANGLE_SUM 290909

uint16_t ph_direction_of(int32_t x, int32_t y)
{
    if (x == 0 && y == 0) {
        return 0;
    }
    // Which way to turn is anybody's guess, and a processor that guesses at branches is wrong half of the
    // time: so what is turned about is masked, by all bits or none, and there are no branches. First
    // into the half plane of positive x, where the turning starts.
    const int64_t behind = -(int64_t)(x < 0);
    int64_t ahead = (x ^ behind) - behind;
    int64_t aside = (y ^ behind) - behind;
    // Short ways are made long, or the shifts below would leave nothing of them.
    const int64_t longest = ahead > llabs(aside) ? ahead : llabs(aside);
    const int64_t scale = INT64_C(1) << (LENGTH_BITS + 2 - ph_word_width((uint64_t)longest));
    ahead *= scale;
    aside *= scale;
    int32_t angle = ANGLE_SUM; // were all turns to the left
    for (int i = 0; i < ANGLE_COUNT; ++i) {
        // Neither of the shifted is below 0: parts are rounded towards it.
        const int64_t right = -(int64_t)(aside < 0);
        const int64_t off = llabs(aside) >> i;
        aside += right - (ahead >> i ^ right);
        ahead += off;
        angle -= (int32_t)right & 2 * ANGLES[i];
    }
    const uint32_t half_turn = (uint32_t)behind & 32768;
    const int32_t rounded =
        (angle + (1 << (ANGLE_SHIFT - 1)) + (65536 << ANGLE_SHIFT)) >> ANGLE_SHIFT;
    return (uint16_t)((uint32_t)rounded + half_turn);
}

// All turns together make it longer; 65536 times one over that.
#define SHORTER 39797
#define SHORTER_BITS 16

static int32_t rounded_part(int64_t value)
{
    const int64_t half = INT64_C(1) << (SHORTER_BITS - 1);
    const int32_t magnitude = (int32_t)((llabs(value) + half) >> SHORTER_BITS);
    return value < 0 ? -magnitude : magnitude;
}

void ph_direction_go(uint16_t direction, int32_t length, int32_t way[2])
{
    PH_ASSERT(length >= 0 && length <= UINT16_MAX);

    const bool is_behind = direction > 16384 && direction < 49152;
    const uint16_t half_turn = is_behind ? 32768 : 0;
    int32_t left = (int16_t)(uint16_t)(direction - half_turn) * (1 << ANGLE_SHIFT);
    int64_t ahead = (int64_t)length * SHORTER;
    int64_t aside = 0;
    for (int i = 0; i < ANGLE_COUNT; ++i) {
        const int64_t part = INT64_C(1) << i;
        const int64_t turn = left >= 0 ? 1 : -1;
        const int64_t next = ahead - turn * (aside / part);
        aside += turn * (ahead / part);
        ahead = next;
        left -= (int32_t)turn * ANGLES[i];
    }
    way[0] = rounded_part(is_behind ? -ahead : ahead);
    way[1] = rounded_part(is_behind ? -aside : aside);
}
