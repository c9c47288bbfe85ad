// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick; some 50 ns a call.

// clock_gettime and getentropy are not part of C17.
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include "wall.h"

#include <time.h>
#include <unistd.h>

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t app_wall_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t app_wall_unix_s(void)
{
    return (uint64_t)time(NULL);
}

uint64_t app_wall_cpu_us(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000;
}

bool app_wall_random(void* bytes, size_t size)
{
    return getentropy(bytes, size) == 0;
}
