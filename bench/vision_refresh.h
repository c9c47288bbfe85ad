// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The tick of a world with so many viewers that it is worth several threads: every entity walks, and
// every viewer is refreshed in every tick. Sends are left out.

#ifndef PH_BENCH_VISION_REFRESH_H
#define PH_BENCH_VISION_REFRESH_H

#include "timer.h"

#include <stdbool.h>

enum { VISION_REFRESH_VIEWERS = 20000, VISION_REFRESH_THREADS = 2 };

// Measures ticks on 1 thread and on 2, in turns, `rounds` of each, by the clock on the wall. times is
// by threads - 1, per viewer.
// @return False when there is no memory for it.
bool vision_refresh_measure(int rounds, bench_time* times);

#endif
