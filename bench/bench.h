// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The benches of `pinhole bench`. A new one is one function and one row of the table in bench.c.

#ifndef PH_BENCH_H
#define PH_BENCH_H

#include <stdbool.h>

// What every bench is asked for.
typedef struct bench_options {
    bool is_json;
    int rounds;
} bench_options;

// How a bench introduces itself.
typedef struct bench_about {
    const char* command;      // "pinhole bench bits"
    const char* summary;      // one line
    void (*print_text)(void); // what is measured, next to what; lines of at most 88 characters
    const char* example;      // options of an example call
    int rounds_default;
    const struct app_option* more; // options beside --json and --rounds, as in options.h; or NULL
} bench_about;

// Reads --json, --rounds and what the bench has beside them, prints the help when it is asked for.
// @return True to go on; else *status is the APP_EXIT value to return.
bool bench_options_parse(const bench_about* about, int argc, char** argv, bench_options* options,
                         int* status);

// `pinhole bench bits`: ns per field, per symbol and per integer. Returns an APP_EXIT value.
int bench_bits(int argc, char** argv);

// `pinhole bench bus`: ns per record between a sim and front-ends over NATS.
int bench_bus(int argc, char** argv);

// `pinhole bench cubes FILE`: bytes per packet in a public challenge.
int bench_cubes(int argc, char** argv);

// `pinhole bench load`: microseconds per viewer and tick of a whole world.
int bench_load(int argc, char** argv);

// `pinhole bench net`: microseconds per datagram of a server on a real network.
int bench_net(int argc, char** argv);

// `pinhole bench quality`: what clients show, over the budget.
int bench_quality(int argc, char** argv);

// `pinhole bench record`: what a recorder costs the tick of a game.
int bench_record(int argc, char** argv);

// `pinhole bench transfer`: ns per record from world to world.
int bench_transfer(int argc, char** argv);

// `pinhole bench vision`: ns per entity to keep the grid, microseconds per question.
int bench_vision(int argc, char** argv);

#endif
