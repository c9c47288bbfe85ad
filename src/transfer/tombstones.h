// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What an importer remembers of entities that are gone, so that what comes late does not bring them back:
// a ring, the oldest is forgotten, and a map by key to the newest of each. A few dozen instructions for each
// that goes and each that is created; only create allocates.

#ifndef PH_TRANSFER_TOMBSTONES_H
#define PH_TRANSFER_TOMBSTONES_H

#include "base/hash.h"

typedef struct ph_tombstone {
    uint64_t key;
    uint32_t incarnation;
    uint32_t epoch;
    uint32_t stamp;
    uint32_t owner;  // that said so
    bool is_removed; // for good; else it has left what is followed
} ph_tombstone;

// {0} has no room: everything is forgotten at once.
typedef struct ph_tombstones {
    ph_tombstone* ring;
    int capacity;
    int next; // to be overwritten
    int count;
    ph_hash_map by_key;
    ph_allocator allocator;
} ph_tombstones;

// @return PH_OK, or PH_ERROR_MEMORY with *tombstones set to {0}.
ph_result ph_tombstones_create(ph_tombstones* tombstones, const ph_allocator* allocator,
                               int capacity);
void ph_tombstones_destroy(ph_tombstones* tombstones);

// What says more than this of the same key stays: removed more than left, the same with a higher epoch or stamp.
void ph_tombstones_add(ph_tombstones* tombstones, const ph_tombstone* tombstone);

// Whether a record of an entity is from before it went.
bool ph_tombstones_cover(const ph_tombstones* tombstones, const ph_tombstone* record);

#endif
