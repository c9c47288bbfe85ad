// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How long things take on a noisy machine. Everything that is compared takes turns, round by round,
// in batches of about a millisecond; the best round counts, and the spread says how quiet it was.

#ifndef PH_BENCH_TIMER_H
#define PH_BENCH_TIMER_H

#include <stddef.h>
#include <stdint.h>

// One thing to measure.
typedef struct bench_case {
    const char* key;  // as in the JSON: "write_ns". Ends with the unit of the report: _ns or _us
    const char* text; // for people
    // One pass over the data. The result must depend on all the work, so that none is left out.
    uint64_t (*run)(const void* data);
    const void* data;
    int64_t item_count; // fields, symbols or integers in a pass
    double bits_each;   // size of an item on the wire, for the report; 0: not known
} bench_case;

// Nanoseconds per item.
typedef struct bench_time {
    double best_ns;
    double median_ns;
    double worst_ns;
    uint64_t checksum; // the sum of what the passes returned
} bench_time;

#define BENCH_ROUNDS_MAX 1000

// Measures count cases in `rounds` interleaved rounds (1..BENCH_ROUNDS_MAX), after a warm-up that
// also finds how many passes make a batch. times has count entries.
void bench_measure(const bench_case* cases, int count, int rounds, bench_time* times);

// Time that this process has used, on all its threads, and time on the wall; from anywhere.
double bench_cpu_ns(void);
double bench_wall_ns(void);

// Median over best: 1.0 is a quiet machine.
double bench_time_spread(const bench_time* time);

// Tells the compiler that these bytes are read.
void bench_use(const void* bytes, size_t size);

#endif
