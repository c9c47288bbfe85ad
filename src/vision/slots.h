// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer's slots: which entity has which short name, which enter and which leave.
//
// Fed with the view of a question for hysteresis * wanted entities within hysteresis * radius:
//   - a member that is not within its reach leaves, unless it entered less than stay_ticks ago, still
//     lives, may be seen, and is within twice the radius (or always visible);
//   - a newcomer enters when it is among the `wanted` nearest and within the radius, nearest first
//     (if is_chained, with neighbours beside each other);
//   - when all slots are taken or resting, the newcomer waits and is tried again by the next
//     refresh. If more wait than slots rest, the furthest members past `wanted` leave early, one
//     for each, so that the nearest are never kept out by the far.
// An entity that is gone from the world leaves at once; an index that was given to another entity
// since is recognised by its spawn order, and the other one is a newcomer.
//
// A slot that was left rests until ph_slots_free(). Slots are handed out in rotation: the one that
// has been free for longest is the next.
//
// Slot 0 is the viewer's own entity, for a spectator none; no filter, radius or stay time
// concerns it. It follows the same rule as every slot: when eye->own changes (or its entity is
// gone), slot 0 is left and rests, and the new own entity enters it by the first refresh after
// ph_slots_free(slots, 0), until then it waits. An entity that becomes the own one leaves its
// ordinary slot at once; one that is no longer the own one is an entity like any other.
//
//            enter                 leave                  ph_slots_free
//   FREE ------------> SHOWN --------------> RESTING ------------------------> FREE

#ifndef PH_VISION_SLOTS_H
#define PH_VISION_SLOTS_H

#include "vision/entity_arrays.h"
#include "vision/slot_table.h"

typedef enum ph_slot_state {
    PH_SLOT_FREE = 0,
    PH_SLOT_SHOWN,
    PH_SLOT_RESTING,
} ph_slot_state;

typedef struct ph_slots ph_slots;

// slot_count includes slot 0: 2..PH_SLOT_COUNT_MAX. All memory at once, in proportion to slot_count
// and to nothing else (which slot an entity has is found through a small hash table): about 32
// bytes a slot.
// @return PH_OK or PH_ERROR_MEMORY with *slots NULL.
#define PH_SLOT_COUNT_MAX 65535

ph_result ph_slots_create(const ph_allocator* allocator, int slot_count, ph_slots** slots);

void ph_slots_destroy(ph_slots* slots); // NULL is allowed

typedef struct ph_slots_step {
    const ph_entity_arrays* arrays;
    const ph_eye* eye;   // the wanted and radius of an exact vision, before hysteresis;
                         // wanted is at most slot_count - 1
    const ph_view* view; // of the wider question
    ph_seen* newcomers;  // what is to enter, see ph_slots_judge(). Is reordered
    int newcomer_count;
    uint32_t tick;  // may wrap
    int stay_ticks; // 0 or more
    bool is_calm;   // since the last refresh no shown entity was gone or hidden, and none is ALWAYS
                    // there: the result is the same, but found with less looking
    bool is_chained; // newcomers about as near as each other take slots as slot_table.h has it
} ph_slots_step;

// The first half of a refresh: each shown entity is looked at where it is now. @return How many are
// to enter: these are within the view's `enter`, and ph_slots_sift() finds them there. Newcomers
// are not looked at.
int ph_slots_judge(ph_slots* slots, const ph_slots_step* step);

// Moves those to the front that are not shown. @return How many.
int ph_slots_sift(const ph_slots* slots, ph_seen* seen, int count);

// The second half, after ph_slots_judge() for the same step. Enters and leaves replace those of the
// last refresh. In them slot 0 comes first. Neither half allocates anything.
void ph_slots_refresh(ph_slots* slots, const ph_slots_step* step);

// The tick of the refresh by which a shown slot was entered.
uint32_t ph_slots_entered(const ph_slots* slots, int slot);

// The slot that shows this entity, 0 included, or -1.
int ph_slots_find(const ph_slots* slots, ph_entity_index entity);

// The client knows of the leave: the slot may be used again. Only resting slots.
void ph_slots_free(ph_slots* slots, int slot);

// The slots that show an entity, 0 included, ascending: half of all there are, or fewer. Borrowed
// until the next refresh.
typedef struct ph_slot_list {
    const uint16_t* slots;
    int count;
} ph_slot_list;

ph_slot_list ph_slots_shown(const ph_slots* slots);

// Borrowed until the next call that changes the slots.
ph_vision ph_slots_sight(const ph_slots* slots);

ph_slot_state ph_slots_state(const ph_slots* slots, int slot);

// How often a newcomer had to wait, counted anew by every refresh that finds it waiting.
uint64_t ph_slots_waits(const ph_slots* slots);

// Whether states, hash table, free slots, enters and leaves agree. For tests.
bool ph_slots_validate(const ph_slots* slots);

// What is inside slots: shared by slots.c, which changes it, and slots_check.c, which only looks.

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
    uint16_t* shown; // slots that show an entity, ascending
    uint8_t* states; // ph_slot_state
    uint8_t* marks;  // slot_mark; all NONE when the last refresh left none unseen or behind
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

// Whether the step may say that it is_calm: every shown entity is there, may be seen, and by
// nothing but its distance. Looks at all slots.
bool ph_slots_are_calm(const ph_slots* slots, const ph_slots_step* step);

#endif
