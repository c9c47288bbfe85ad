// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The slots as the client has them: whom each shows, the state told of it, and who is found by
// name. Parallel arrays by slot; the values of a slot stand together, because a record touches
// most of them and nobody sweeps one property over all slots.
//
//   association   3      1      0      7        counts the entities the slot has shown; 0: none yet.
//                                               Modulo 2^32: after 4 billion entities in one slot its
//                                               ids and references begin again
//   is_entered    1      0      0      1        shows one now
//   class, name   2,17   .      .      0,4
//   words         |x y z heading target target ...|  |...|      layout.h, each as wide as the widest
//   texts         |length, bytes|  |...|
//
// A reference in the words is slot + 1 and the whole association number; whether it still names
// somebody is found out when it is read. An enter or update costs a copy of what it tells; nothing
// allocates but creation.

#ifndef PH_CLIENT_MIRROR_H
#define PH_CLIENT_MIRROR_H

#include "base/bitset.h"
#include "base/hash_map.h"
#include "wire/classic.h"
#include "wire/layout.h"

// {0} may be destroyed. Fields are read-only outside mirror.c.
typedef struct ph_mirror {
    const ph_layouts* layouts;
    int capacity;   // of every array
    int slot_count; // of the session; 0 before
    int entered_count;
    uint32_t* association;
    uint64_t* name;
    uint8_t* class_index;
    void** user; // the game's
    uint32_t* words;
    uint8_t* texts; // NULL when no class has any
    uint64_t* entered_words;
    ph_bitset is_entered;
    ph_hash_map slot_of_name; // of those entered; a name is never in two slots
    ph_allocator allocator;
} ph_mirror;

// The layouts must outlive the mirror.
// @return PH_OK, or PH_ERROR_MEMORY with *mirror set to {0}.
ph_result ph_mirror_create(ph_mirror* mirror, const ph_layouts* layouts,
                           const ph_allocator* allocator, int capacity);
void ph_mirror_destroy(ph_mirror* mirror);

// A session begins: so many slots, at most capacity, all empty.
void ph_mirror_begin(ph_mirror* mirror, int slot_count);

static inline const ph_layout* ph_mirror_layout(const ph_mirror* mirror, int slot)
{
    return &mirror->layouts->layouts[mirror->class_index[slot]];
}

uint32_t* ph_mirror_words(const ph_mirror* mirror, int slot);
uint8_t* ph_mirror_texts(const ph_mirror* mirror, int slot); // NULL when no class has any

// The slot that shows this entity, or -1. Any bits may be asked about.
int ph_mirror_slot_of(const ph_mirror* mirror, ph_entity_id entity);
// The slot that shows this name, or -1.
int ph_mirror_find(const ph_mirror* mirror, uint64_t name);

// Steps from what the slot counts to what a record names by the two low bits: 0..3. Senders and
// receivers are at most one apart, so two bits are enough.
static inline uint32_t ph_mirror_steps(const ph_mirror* mirror, int slot, uint32_t low_bits)
{
    return (low_bits - mirror->association[slot]) & PH_CLASSIC_ASSOCIATION_MASK;
}

// Changes. All were checked before; they cannot fail.

// The entity of an empty slot, or the one that is there, told as a whole: what is absent is at its
// initial value. @return Which properties were told or changed by that.
uint64_t ph_mirror_enter(ph_mirror* mirror, const ph_record* record);
void ph_mirror_update(ph_mirror* mirror, const ph_record* record);
// Empties a slot that shows somebody.
void ph_mirror_leave(ph_mirror* mirror, int slot);
// The slot's next entity came and went without our seeing it.
void ph_mirror_skip(ph_mirror* mirror, int slot);

// Whether counts, names and values are such as packets can make them. For tests.
bool ph_mirror_validate(const ph_mirror* mirror);

#endif
