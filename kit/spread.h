// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How the values of a figure are spread: their mean, and the values that half, 95 and 99 of a
// hundred do not exceed. Takes a few nanoseconds a value and a fixed amount of memory, however many
// there are.
//
//     ph_spread error_mm;
//     ph_spread_create(&error_mm, NULL);
//     ph_spread_add(&error_mm, 12.5);
//     ph_spread_summary summary = ph_spread_summarise(&error_mm);
//     ph_spread_destroy(&error_mm);
//
// The mean is that of the values themselves, to the last few bits of a double. Percentiles are good
// to 0.1 %, values below 2^-10 count as 0 there and values above 2^32 as 2^32; a percentile never
// lies outside the least and the greatest value added.

#ifndef PINHOLE_KIT_SPREAD_H
#define PINHOLE_KIT_SPREAD_H

#include <pinhole/base.h>

// {0} is empty, may be summarised, merged from and destroyed; nothing can be added to it. Fields
// are read-only outside spread.c.
typedef struct ph_spread {
    uint64_t* counts; // by bucket
    uint64_t count;   // of all values
    double sum;
    double sum_rest; // what rounding cut off the sum
    double least;
    double greatest;
    ph_allocator allocator;
} ph_spread;

// p50 is the smallest value that at least half of all values do not exceed, and so on: of n values
// in order the ceil(n x 0.50)th. All 0 when there are no values.
typedef struct ph_spread_summary {
    double mean;
    double p50;
    double p95;
    double p99;
} ph_spread_summary;

// Takes 170 KiB. allocator may be NULL: malloc and free.
// @return PH_OK, or PH_ERROR_MEMORY with *spread set to {0}.
ph_result ph_spread_create(ph_spread* spread, const ph_allocator* allocator);
void ph_spread_destroy(ph_spread* spread); // leaves {0}

// Forgets all values. Not of {0}.
void ph_spread_clear(ph_spread* spread);

// value is 0 or more, and a number.
void ph_spread_add(ph_spread* spread, double value);

// The same for times equal values. times may be 0.
void ph_spread_add_many(ph_spread* spread, double value, uint64_t times);

// Adds all that was added to other. The same parts merged in the same order give the same bits.
void ph_spread_merge(ph_spread* spread, const ph_spread* other);

ph_spread_summary ph_spread_summarise(const ph_spread* spread);

// The value that percent of a hundred, 1..100, do not exceed. 0 when there are no values.
double ph_spread_percentile(const ph_spread* spread, int percent);

#endif
