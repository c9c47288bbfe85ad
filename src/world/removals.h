// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The entities that were despawned last: what an export of changes tells of them. A ring; noting one
// takes a few instructions, only create allocates.

#ifndef PH_WORLD_REMOVALS_H
#define PH_WORLD_REMOVALS_H

#include <pinhole/transfer.h>

typedef struct ph_removal {
    uint64_t key;
    uint32_t tick; // ticks that the world had made
    uint32_t incarnation;
    ph_ownership ownership;
    int32_t place_mm[2];
} ph_removal;

// {0} has no room: everything that is noted is forgotten at once.
typedef struct ph_removals {
    ph_removal* ring;
    int capacity;
    int first; // the oldest
    int count;
    bool has_forgotten;
    uint32_t forgotten_tick; // of the newest that is no longer there
    ph_allocator allocator;
} ph_removals;

// @return PH_OK, or PH_ERROR_MEMORY with *removals set to {0}.
ph_result ph_removals_create(ph_removals* removals, const ph_allocator* allocator, int capacity);
void ph_removals_destroy(ph_removals* removals);

void ph_removals_note(ph_removals* removals, const ph_removal* removal);

// 0..count-1, the oldest first.
const ph_removal* ph_removals_at(const ph_removals* removals, int i);

// Whether all since this tick are there.
bool ph_removals_reach(const ph_removals* removals, uint32_t since_tick);

#endif
