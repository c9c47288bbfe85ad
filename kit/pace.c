// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick. What is next is always reckoned from what was due, never from the clock: lateness
// cannot add up. Missed ticks are stepped over at once, so that after a long stop nothing has to
// catch up.

#include "kit/pace.h"

#include <pinhole/base.h>

ph_pace ph_pace_make(uint64_t now_us, uint32_t tick_us)
{
    PH_ASSERT(tick_us > 0);

    return (ph_pace){.tick_us = tick_us, .due_us = now_us};
}

uint64_t ph_pace_begin(ph_pace* pace, uint64_t now_us)
{
    const uint64_t late_us = now_us > pace->due_us ? now_us - pace->due_us : 0;
    const uint64_t missed = late_us / pace->tick_us;
    const uint64_t due_us = pace->due_us + missed * pace->tick_us;
    ++pace->ticks;
    pace->missed += missed;
    pace->worst_late_us = late_us > pace->worst_late_us ? late_us : pace->worst_late_us;
    pace->due_us = due_us + pace->tick_us;
    return due_us;
}

uint64_t ph_pace_take_worst(ph_pace* pace)
{
    const uint64_t worst_us = pace->worst_late_us;
    pace->worst_late_us = 0;
    return worst_us;
}
