// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From an entity to the slot that shows it: a small hash table over the slots of one viewer, in the
// caller's memory. Finding runs once per result of every query; entering and leaving are rare.

#ifndef PH_VISION_SLOT_TABLE_H
#define PH_VISION_SLOT_TABLE_H

#include "vision/entity_arrays.h"

#include <pinhole/vision.h>

#define PH_SLOT_NONE UINT16_MAX

// Open addressing, linear probing. Entries are slots, not entities: what an entry stands for is
// read in entities[], so an entry takes two bytes. At least half of them are empty.
typedef struct ph_slot_table {
    uint16_t* entries;               // 2^(32 - shift) of them: a slot or PH_SLOT_NONE
    const ph_entity_index* entities; // by slot
    int shift;
} ph_slot_table;

// How many entries a table for slot_count slots has: 1..65535 slots.
size_t ph_slot_table_size(int slot_count);

// Lays an empty table over ph_slot_table_size(slot_count) entries.
ph_slot_table ph_slot_table_make(uint16_t* entries, const ph_entity_index* entities,
                                 int slot_count);

static inline uint32_t ph_slot_table_last(const ph_slot_table* table)
{
    return UINT32_MAX >> table->shift;
}

// Where an entity would like to be. Indices are handed out by the world, mostly in a row: Fibonacci
// hashing spreads those evenly.
static inline uint32_t ph_slot_table_home(const ph_slot_table* table, ph_entity_index entity)
{
    return (entity * UINT32_C(0x9E3779B9)) >> table->shift;
}

// The entry of this entity, or the empty one where it would be.
static inline uint32_t ph_slot_table_place(const ph_slot_table* table, ph_entity_index entity)
{
    uint32_t place = ph_slot_table_home(table, entity);
    while (table->entries[place] != PH_SLOT_NONE &&
           table->entities[table->entries[place]] != entity) {
        place = (place + 1) & ph_slot_table_last(table);
    }
    return place;
}

// The slot of this entity, or -1.
static inline int ph_slot_table_find(const ph_slot_table* table, ph_entity_index entity)
{
    const uint16_t slot = table->entries[ph_slot_table_place(table, entity)];
    return slot == PH_SLOT_NONE ? -1 : slot;
}

// Adds an entity that is not there yet. The caller sets entities[slot] to it.
void ph_slot_table_insert(ph_slot_table* table, ph_entity_index entity, int slot);

// Removes an entity that is there. entities[] still holds it; the caller clears it afterwards.
void ph_slot_table_remove(ph_slot_table* table, ph_entity_index entity);

// How many entries are taken. Walks them all; for tests.
int ph_slot_table_count(const ph_slot_table* table);

// Newcomers in an order in which neighbours follow each other: they get slots that follow each other,
// and a packet tells each of them from the one before. Runs when entities enter; a crowd of 250, at
// the start of a viewer, takes some ten microseconds.

// About as many as a packet tells of at once.
#define PH_CHAIN_LENGTH 64

// Those seen are sorted, nearest first; positions are by entity. The nearest are sent first, so only
// entities may change places that are about equally far away, within the same power of two, and
// no more than PH_CHAIN_LENGTH of them: behind each one comes the nearest to it of those that are
// left.
void ph_chain_neighbours(ph_seen* seen, int count, const int32_t* x_mm, const int32_t* y_mm);

#endif
