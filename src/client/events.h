// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the game has not been told yet, by slot, so that it never takes more memory, however long
// nobody asks. A slot owes at most one LEAVE (of the entity that the game believes to be there) and
// then one ENTER or UPDATE (of the one that is).
//
//   is_told    the game knows of the slot's present entity: its next event is an UPDATE
//   news       properties told since the game last asked
//   left       whom a LEAVE is owed for
//
// All LEAVEs go before everything else, so that an entity that changes its slot leaves before it
// enters. Noting is a few instructions; the next event is found by a walk over bits.

#ifndef PH_CLIENT_EVENTS_H
#define PH_CLIENT_EVENTS_H

#include "client/mirror.h"

#include <pinhole/client.h>

// Somebody who is gone.
typedef struct ph_left {
    uint64_t name;
    void* user;
    uint32_t association;
    uint8_t class_index;
} ph_left;

// {0} may be destroyed. Fields are read-only outside events.c.
typedef struct ph_events {
    int capacity;
    uint64_t* news;
    ph_left* left;
    uint64_t* words; // of the three bitsets
    ph_bitset is_told;
    ph_bitset is_leave_owed;
    ph_bitset is_news_owed;
    ph_allocator allocator;
} ph_events;

// @return PH_OK, or PH_ERROR_MEMORY with *events set to {0}.
ph_result ph_events_create(ph_events* events, const ph_allocator* allocator, int capacity);
void ph_events_destroy(ph_events* events);

// A new entity in a slot; or one of which more was told.
void ph_events_enter(ph_events* events, int slot, uint64_t properties);
void ph_events_update(ph_events* events, int slot, uint64_t properties);
// Before the mirror empties the slot.
void ph_events_leave(ph_events* events, const ph_mirror* mirror, int slot);

// @return False, and *event untouched, when nothing is owed.
bool ph_events_poll(ph_events* events, const ph_mirror* mirror, ph_event* event);

bool ph_events_validate(const ph_events* events, const ph_mirror* mirror);

#endif
