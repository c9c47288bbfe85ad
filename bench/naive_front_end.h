// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The article's algorithm as one writes it down in an afternoon, and right: an array of structs, a
// score for each entity in view, qsort, every property of each visited entity compared with a copy
// of what the client has, and a bit stream that takes a byte at a time. What each viewer sees is
// given, nothing gets lost, and there is no enter or leave: what it leaves out is in its favour.

#ifndef PH_BENCH_NAIVE_FRONT_END_H
#define PH_BENCH_NAIVE_FRONT_END_H

#include <stdbool.h>
#include <stdint.h>

enum { NAIVE_PROPERTIES = 25, NAIVE_VISIBLE = 250, NAIVE_PACKET_BYTES = 1200 };

// Position is the first three; each of the others is one number.
typedef struct naive_state {
    int32_t position_mm[3];
    uint32_t values[NAIVE_PROPERTIES - 1];
} naive_state;

typedef struct naive_pair {
    int entity;
    float score;
    naive_state known;
} naive_pair;

typedef struct naive_viewer {
    int own;
    int pair_count;
    naive_pair pairs[NAIVE_VISIBLE];
} naive_viewer;

typedef struct naive_front_end {
    naive_state* entities;
    int entity_count;
    naive_viewer* viewers;
    int viewer_count;
    uint64_t update_count;
    uint8_t packet[NAIVE_PACKET_BYTES];
} naive_front_end;

// One packet of at most so many bits. @return Its size in bits.
uint32_t naive_send(naive_front_end* front_end, int viewer, uint32_t limit_bits);

#endif
