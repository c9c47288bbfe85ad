// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Clock, interleaved rounds, best and spread.

// clock_gettime is not part of C17.
#define _POSIX_C_SOURCE 200809L

#include "timer.h"

#include <pinhole/base.h>

#include <stdlib.h>
#include <time.h>

#ifdef _WIN32
#include <windows.h>
#endif

// Long against the clock's own cost, short against the time between two interruptions.
#define BATCH_NS 1e6
#define CASES_MAX 64

#ifdef _WIN32
// Windows counts the time of processes in steps of 15 ms, so there it is the time on the wall.
double bench_wall_ns(void)
{
    LARGE_INTEGER frequency;
    LARGE_INTEGER count;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&count);
    return 1e9 * (double)count.QuadPart / (double)frequency.QuadPart;
}

double bench_cpu_ns(void)
{
    return bench_wall_ns();
}
#else
static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

double bench_wall_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
#endif

void bench_use(const void* bytes, size_t size)
{
    // Reading a volatile byte is something that has to happen.
    if (size > 0) {
        (void)*((const volatile uint8_t*)bytes + size - 1);
    }
}

// Time of a batch in ns.
static double run_batch(const bench_case* which, int passes, uint64_t* checksum)
{
    // Process CPU time, so that other programs cost us cache lines only.
    const double start = bench_cpu_ns();
    for (int i = 0; i < passes; ++i) {
        *checksum += which->run(which->data);
    }
    return bench_cpu_ns() - start;
}

// Doubles the batch until it is long enough. This is the warm-up, too.
static int find_passes(const bench_case* which, uint64_t* checksum)
{
    int passes = 1;
    while (run_batch(which, passes, checksum) < BATCH_NS && passes < 1 << 20) {
        passes *= 2;
    }
    return passes;
}

static int compare_doubles(const void* left, const void* right)
{
    const double a = *(const double*)left;
    const double b = *(const double*)right;
    return (a > b) - (a < b);
}

void bench_measure(const bench_case* cases, int count, int rounds, bench_time* times)
{
    PH_ASSERT(1 <= count && count <= CASES_MAX);
    PH_ASSERT(1 <= rounds && rounds <= BENCH_ROUNDS_MAX);
    static double ns[CASES_MAX][BENCH_ROUNDS_MAX];
    int passes[CASES_MAX];
    for (int i = 0; i < count; ++i) {
        times[i] = (bench_time){0};
        passes[i] = find_passes(&cases[i], &times[i].checksum);
    }
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < count; ++i) {
            const double batch_ns = run_batch(&cases[i], passes[i], &times[i].checksum);
            ns[i][round] = batch_ns / ((double)passes[i] * (double)cases[i].item_count);
        }
    }
    for (int i = 0; i < count; ++i) {
        qsort(ns[i], (size_t)rounds, sizeof ns[i][0], compare_doubles);
        times[i].best_ns = ns[i][0];
        times[i].median_ns = ns[i][rounds / 2];
        times[i].worst_ns = ns[i][rounds - 1];
    }
}

double bench_time_spread(const bench_time* time)
{
    return time->best_ns > 0 ? time->median_ns / time->best_ns : 1.0;
}
