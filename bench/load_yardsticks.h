// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a tick of `pinhole bench load` is compared with: the plain front-end on the same crowd, and
// the bound, which sweeps the same hot bytes once and writes the same number of fields.

#ifndef PH_BENCH_LOAD_YARDSTICKS_H
#define PH_BENCH_LOAD_YARDSTICKS_H

#include "load_session.h"
#include "naive_front_end.h"

typedef struct load_yardsticks {
    naive_front_end naive;
    uint64_t* hot; // LOAD_HOT_WORDS for each viewer
    int viewer_count;
    int fields_per_send;
    uint32_t tick;
    uint64_t checksum; // so that nothing is left out
} load_yardsticks;

// What each viewer sees is taken from the session as it stands. @return False when there is no
// memory.
bool load_yardsticks_make(load_yardsticks* yardsticks, const load_session* scene,
                          int fields_per_send);
void load_yardsticks_destroy(load_yardsticks* yardsticks);

// One tick: all entities move, then half of the viewers are sent to by each.
void load_yardsticks_move(load_yardsticks* yardsticks);
void load_yardsticks_naive(load_yardsticks* yardsticks);
void load_yardsticks_bound(load_yardsticks* yardsticks);

#endif
