// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times per viewer and tick; some 200 ns a call.

// clock_gettime is not part of C17.
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "kit/sim_clock.h"

#include <time.h>

uint64_t ph_sim_clock_ns(void)
{
    struct timespec now;
#if defined(_WIN32)
    timespec_get(&now, TIME_UTC);
#else
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
#endif
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
