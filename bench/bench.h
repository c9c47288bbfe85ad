// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The benches of `pinhole bench`. A new one is one function and one row of the table in bench.c.

#ifndef PH_BENCH_H
#define PH_BENCH_H

// `pinhole bench bits`: ns per field, per symbol and per integer. Returns an APP_EXIT value.
int bench_bits(int argc, char** argv);

// `pinhole bench vision`: ns per entity to keep the grid, microseconds per question.
int bench_vision(int argc, char** argv);

#endif
