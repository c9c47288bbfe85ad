// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is inside slots: shared by slots.c, which changes it, and slots_check.c, which only looks.

#ifndef PH_VISION_SLOTS_INSIDE_H
#define PH_VISION_SLOTS_INSIDE_H

#include "vision/slot_table.h"
#include "vision/slots.h"

// What the present refresh knows of a slot.
typedef enum slot_mark {
    MARK_NONE = 0,
    MARK_UNSEEN, // shown, but not within reach
    MARK_LEFT,   // was left by this refresh
} slot_mark;

struct ph_slots {
    uint64_t* spawn_orders;    // by slot, of what it shows
    ph_entity_index* entities; // by slot: PH_ENTITY_NONE unless it is shown
    uint32_t* entered;         // by slot: tick
    ph_slot_table table;       // from an entity to its slot
    uint16_t* free_ring; // free slots, the one that was freed first at free_head; without slot 0
    uint16_t* enters;
    uint16_t* leaves;
    uint16_t* shown; // slots that show somebody, ascending
    uint8_t* states; // ph_slot_state
    uint8_t* marks;  // slot_mark; all NONE when the last refresh left nobody unseen or behind
    int slot_count;
    int free_head;
    int free_count;
    int resting_count; // without slot 0
    int shown_count;   // without slot 0
    int listed_count;  // in `shown`: with slot 0
    int unseen_count;  // of these, not within reach in the present refresh
    int enter_count;
    int leave_count;
    uint64_t waits;
    size_t size_bytes;
    ph_allocator allocator;
};

// Whether the step may say that it is_calm: everybody shown is there, may be seen, and by nothing but its
// distance. Looks at all slots.
bool ph_slots_are_calm(const ph_slots* slots, const ph_slots_step* step);

#endif
