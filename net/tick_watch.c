// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net/tick_watch.h"

#define STRETCH_US UINT64_C(5000000)
#define STRETCH_TICKS 20
// A program that was silent for so long, or for three ticks, stood in a debugger, or its machine slept.
#define STALL_US UINT64_C(1000000)
#define STALL_TICKS 3

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void begin(ph_tick_watch* watch, uint64_t now_us, uint32_t tick)
{
    watch->start_us = now_us;
    watch->start_tick = tick;
    watch->has_begun = true;
}

uint64_t ph_tick_watch_note(ph_tick_watch* watch, uint64_t now_us, uint32_t tick, uint32_t tick_us)
{
    const bool is_stall =
        now_us - watch->last_us > larger(STALL_US, STALL_TICKS * (uint64_t)tick_us);
    watch->last_us = now_us;
    if (!watch->has_begun || is_stall) {
        begin(watch, now_us, tick);
        watch->off = 0;
        return 0;
    }
    const uint64_t duration_us = now_us - watch->start_us;
    if (watch->has_told || duration_us < larger(STRETCH_US, STRETCH_TICKS * (uint64_t)tick_us)) {
        return 0;
    }
    const uint32_t ticks = tick - watch->start_tick;
    const uint64_t mean_us = ticks > 0 ? duration_us / ticks : 0;
    begin(watch, now_us, tick);
    const uint64_t off_us = mean_us > tick_us ? mean_us - tick_us : tick_us - mean_us;
    const bool is_off = mean_us > 0 && 5 * off_us > tick_us;
    const int8_t off = (int8_t)(!is_off ? 0 : mean_us > tick_us ? 1 : -1);
    watch->has_told = is_off && off == watch->off;
    watch->off = off;
    return watch->has_told ? mean_us : 0;
}
