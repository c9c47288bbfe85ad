// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer's slots: which entity has which short name, who enters, who leaves.
//
// Fed with the answer of a query for hysteresis * wanted entities within hysteresis * radius:
//   - a member that is not among them leaves, unless it entered less than stay_ticks ago and still lives and
//     may be seen;
//   - a newcomer enters when it is among the `wanted` nearest and within the radius, nearest first;
//   - when all slots are taken or resting, the newcomer waits, and the furthest member past `wanted` (if
//     any) leaves early, so that the nearest are never kept out by the far.
// An entity that is gone from the world leaves at once; an index that was given to another entity since is
// recognised by its spawn order. A slot that was left rests until ph_slots_free(). Slot 0 is the viewer's own entity, for a spectator
// nobody's. Slots are handed out in rotation, so that a freed one is reused as late as possible.

#ifndef PH_VISION_SLOTS_H
#define PH_VISION_SLOTS_H

#include "vision/crowd.h"

typedef enum ph_slot_state {
    PH_SLOT_FREE = 0,
    PH_SLOT_SHOWN,
    PH_SLOT_RESTING,
} ph_slot_state;

typedef struct ph_slots ph_slots;

// slot_count includes slot 0. All memory at once, in proportion to slot_count and to nothing else (which
// slot an entity has is found through a small hash table).
ph_result ph_slots_create(const ph_allocator* allocator, int slot_count, ph_slots** slots);
void ph_slots_destroy(ph_slots* slots);

typedef struct ph_slots_step {
    const ph_crowd* crowd;
    const ph_eye* eye;    // the wanted and radius of an exact vision, before hysteresis
    const ph_seen* seen;  // answer of the wider query; the nearest eye->wanted come first
    int seen_count;
    uint32_t tick;
    int stay_ticks;
} ph_slots_step;

// Applies one refresh. Allocates nothing. Enters and leaves replace those of the last refresh.
void ph_slots_refresh(ph_slots* slots, const ph_slots_step* step);

// The slot that shows this entity, or -1.
int ph_slots_find(const ph_slots* slots, ph_entity_index entity);

// The client knows of the leave: the slot may be used again. Only resting slots.
void ph_slots_free(ph_slots* slots, int slot);

ph_sight ph_slots_sight(const ph_slots* slots);
ph_slot_state ph_slots_state(const ph_slots* slots, int slot);
uint64_t ph_slots_waits(const ph_slots* slots);
bool ph_slots_validate(const ph_slots* slots);

#endif
