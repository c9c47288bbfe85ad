// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// References of imported entities to entities that are not there yet: which property of which entity
// waits for which key. All that wait for one key are a chain. A few dozen instructions each; only
// reserve allocates.

#ifndef PH_TRANSFER_WAITING_REFERENCES_H
#define PH_TRANSFER_WAITING_REFERENCES_H

#include "base/hash.h"
#include "transfer/transfer_wire.h"

#define PH_WAITING_NONE UINT32_MAX

typedef struct ph_waiting_reference {
    ph_transfer_target target; // what it waits for
    ph_entity_id holder;
    int property;
    uint32_t next; // of the same target, or of the free ones; PH_WAITING_NONE at the end
    uint32_t previous;
} ph_waiting_reference;

// {allocator} alone is one without room.
typedef struct ph_waiting_references {
    ph_waiting_reference* entries;
    int capacity;
    int used_count;        // entries below this were used at least once
    int count;             // that wait
    uint32_t free;         // first of those that are free again; start with PH_WAITING_NONE
    ph_hash_map by_target; // the first of the chain
    ph_hash_map by_place;  // index of the holder and property
    ph_allocator allocator;
} ph_waiting_references;

void ph_waiting_init(ph_waiting_references* waiting, const ph_allocator* allocator);
void ph_waiting_destroy(ph_waiting_references* waiting);

// Room for so many more. @return PH_OK, or PH_ERROR_MEMORY with all that wait as before.
ph_result ph_waiting_reserve(ph_waiting_references* waiting, int more);

// From now on this reference waits; there must be room. What the same property waited for is forgotten.
void ph_waiting_add(ph_waiting_references* waiting, ph_entity_id holder, int property,
                    const ph_transfer_target* target);

// The property names something else now.
void ph_waiting_forget(ph_waiting_references* waiting, ph_entity_id holder, int property);

// Takes one that waits for this key, whichever incarnation of it. @return False when there is none
// left.
bool ph_waiting_take(ph_waiting_references* waiting, uint64_t key, ph_waiting_reference* taken);

#endif
