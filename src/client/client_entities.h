// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The slots as the client has them: which entity each shows, its values, and a map from keys to
// slots. Parallel arrays by slot; the values of a slot stand together, because a record touches
// most of them and no loop goes over one property of all slots.
//
//   association   3      1      0      7        counts the entities the slot has shown; 0: none yet.
//                                               Modulo 2^32: after 4 billion entities in one slot its
//                                               ids and references begin again
//   is_entered    1      0      0      1        shows one now
//   class, key   2,17   .      .      0,4
//   words         |x y z heading target target ...|  |...|      layout.h, each as wide as the widest
//   texts         |length, bytes|  |...|
//
// The game's id of an entity is slot + 1 and association. Once a client has moved to another server, an entity that
// both have shown keeps the id that it had, and ids are looked up: client_move.c.
//
// A reference in the words is slot + 1 and the whole association number; whether that entity is still
// in view is checked when it is read. An enter or update costs a copy of its values; nothing allocates
// but creation.
//
// Behind them the events that the game has not fetched yet, by slot, so that they never take more
// memory, however long the game does not ask. A slot owes at most one LEAVE (of the entity that the
// game believes to be there) and then one ENTER or UPDATE (of the one that is).
//
//   is_announced  the game has the ENTER of the slot's present entity: its next event is an UPDATE
//   changed       properties that changed since the game last asked
//   left          the entity that a LEAVE is owed for
//
// All LEAVEs go before everything else, so that an entity that changes its slot leaves before it
// enters. Noting is a few instructions; the next event is found by a walk over bits.

#ifndef PH_CLIENT_CLIENT_ENTITIES_H
#define PH_CLIENT_CLIENT_ENTITIES_H

#include "base/bitset.h"
#include "base/hash.h"
#include "packet/classic_records.h"
#include "packet/layout.h"

#include <pinhole/client.h>

// {0} may be destroyed. Fields are read-only outside client_entities.c.
typedef struct ph_client_entities {
    const ph_layouts* layouts;
    int capacity;   // of every array
    int slot_count; // of the session; 0 before
    int entered_count;
    uint32_t* association;
    uint64_t* key;
    uint8_t* class_index;
    void** user; // the game's
    uint32_t* words;
    uint8_t* texts; // NULL when no class has any
    uint64_t* entered_words;
    ph_bitset is_entered;
    ph_hash_map slot_of_key; // of those entered; a key is never in two slots
    // After a move; else NULL and {0}.
    ph_entity_id* ids;
    ph_hash_map slot_of_id; // of those entered
    uint32_t id_base;       // ids of entities that are new here have a generation above it
    ph_allocator allocator;
} ph_client_entities;

// The layouts must outlive the entities.
// @return PH_OK, or PH_ERROR_MEMORY with *entities set to {0}.
ph_result ph_client_entities_create(ph_client_entities* entities, const ph_layouts* layouts,
                                    const ph_allocator* allocator, int capacity);

void ph_client_entities_destroy(ph_client_entities* entities);

// Of a client that has moved, before its session begins: ids are kept apart from slots.
// @return PH_OK or PH_ERROR_MEMORY.
ph_result ph_client_entities_keep_ids(ph_client_entities* entities, uint32_t id_base);

// A session begins: so many slots, at most capacity, all empty.
void ph_client_entities_begin(ph_client_entities* entities, int slot_count);

// The layout of the class of the slot's entity.
const ph_layout* ph_client_entities_layout(const ph_client_entities* entities, int slot);

uint32_t* ph_client_entities_words(const ph_client_entities* entities, int slot);

uint8_t* ph_client_entities_texts(const ph_client_entities* entities,
                                  int slot); // NULL when no class has any

// The id of the entity that a slot shows, or has shown last.
ph_entity_id ph_client_entities_id(const ph_client_entities* entities, int slot);

// The slot that shows this entity, or -1. Any bits may be asked about.
int ph_client_entities_slot_of(const ph_client_entities* entities, ph_entity_id entity);

// The slot that shows this key, or -1.
int ph_client_entities_find(const ph_client_entities* entities, uint64_t key);

// Changes. All were checked before; they cannot fail.

// The entity of an empty slot, or the one that is there once more as a whole: what the record lacks is
// at its initial value. @return Which properties are in the record or changed by it.
uint64_t ph_client_entities_enter(ph_client_entities* entities, const ph_record* record);

void ph_client_entities_update(ph_client_entities* entities, const ph_record* record);

// The entity of this slot is one that had another id, and a pointer of the game. After keep_ids.
void ph_client_entities_rename(ph_client_entities* entities, int slot, ph_entity_id id, void* user);

// Which properties differ between two slots of one class, by what is known of them; references always do.
uint64_t ph_client_entities_compare(const ph_client_entities* a, int slot_a,
                                    const ph_client_entities* b, int slot_b);

// Empties a slot that shows an entity.
void ph_client_entities_leave(ph_client_entities* entities, int slot);

// The slot's next entity came and went, and its enter never arrived.
void ph_client_entities_skip(ph_client_entities* entities, int slot);

// Whether counts, keys and values are such as packets can make them. For tests.
bool ph_client_entities_validate(const ph_client_entities* entities);

// ---- events

// An entity that has left.
typedef struct ph_left {
    uint64_t key;
    void* user;
    ph_entity_id id;
    uint8_t class_index;
} ph_left;

// {0} may be destroyed. Fields are read-only outside client_entities.c.
typedef struct ph_events {
    int capacity;
    uint64_t* changed;
    ph_left* left;
    uint64_t* words; // of the three bitsets
    ph_bitset is_announced;
    ph_bitset is_leave_owed;
    ph_bitset is_change_owed;
    ph_allocator allocator;
} ph_events;

// @return PH_OK, or PH_ERROR_MEMORY with *events set to {0}.
ph_result ph_events_create(ph_events* events, const ph_allocator* allocator, int capacity);

void ph_events_destroy(ph_events* events);

// A new entity in a slot; or changes of the one that is there.
void ph_events_enter(ph_events* events, int slot, uint64_t properties);

void ph_events_update(ph_events* events, int slot, uint64_t properties);

// The slot's entity was shown by another server before, in that slot of from, where it is forgotten: what the game knows
// of it, it knows. properties are those that differ. After ph_events_enter().
void ph_events_inherit(ph_events* events, int slot, ph_events* from, int from_slot,
                       uint64_t properties);

// Whether nothing is owed.
bool ph_events_is_empty(const ph_events* events);

// Before ph_client_entities_leave().
void ph_events_leave(ph_events* events, const ph_client_entities* entities, int slot);

// @return False, and *event untouched, when nothing is owed.
bool ph_events_poll(ph_events* events, const ph_client_entities* entities, ph_event* event);

bool ph_events_validate(const ph_events* events, const ph_client_entities* entities);

#endif
