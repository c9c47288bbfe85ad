// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one viewer's client will show, as far as its sender can tell: for each slot the newest sample
// of its position that was sent, and the motion through the last ones, as src/motion takes it.
//
//   known   --o-----o               the client has applied it: the newest, and the motion there
//   sent          known, then o---o . . . x   and what is on its way; carried on
//
// Mostly nothing of a slot is on its way when the next sample is sent, and all of it is applied: so
// what is known is put aside when a sample leads on from it, and an answer that leaves nothing open
// only takes the mark away that says so. When a packet turns out to be lost, `sent` is made anew from
// what is known and what is still on its way.
//
// Senders of the pinhole profile have one, and those whose scheduler wants errors. Noting costs some
// ten nanoseconds a record, a loss a walk over what is on its way; nothing allocates but creation.

#ifndef PH_WORLD_EXPECTATION_H
#define PH_WORLD_EXPECTATION_H

#include "motion/carry.h"
#include "motion/manner.h"
#include "world/due.h"

// The motion of one slot. {0} knows no sample.
typedef struct ph_expected {
    int32_t position_mm[3]; // the newest sample, as it is shown
    uint32_t tick;          // when it was taken
    float velocity_mm_s[3];
    float bend_mm_s[3]; // what the change of velocity adds to it for a short while
    float leg_s;        // the velocity was taken over
    float interval_s;   // between the last two samples; 0: there is but one, which stands
    uint16_t jumps;     // of the entity
    bool is_there;
} ph_expected;

_Static_assert(sizeof(ph_expected) <= 52, "two for each slot of each viewer");

// Marks of a slot.
// A sample that is on its way has led on from what is known; else `known` is old, and `sent` is known.
#define PH_EXPECTED_APART 1
// A sample was replaced by another one of the same packet, so `sent` may differ from what its samples,
// one by one, will lead to.
#define PH_EXPECTED_REVISED 2
// Something was lost, and `sent` is wrong.
#define PH_EXPECTED_DOUBTFUL 4

typedef struct ph_expectation {
    ph_expected* sent;  // by slot
    ph_expected* known; // by slot, where it is APART
    uint32_t* heading;  // by slot: the newest level that was sent
    ph_manner* manners; // by class: what the client learns from the same samples
    float* scratch;     // for errors.h, of viewers with many slots; else NULL
    uint8_t* marks;     // by slot: PH_EXPECTED_...
    // By slot, 1: the client carries a motion on that has ended. Its position is due once more, though
    // it is the one that was sent last.
    uint8_t* astray;
    uint8_t* headings; // by class: the property, or PH_HEADING_NONE
    bool is_vouched;
    bool has_doubt; // somebody is DOUBTFUL
    size_t size_bytes;
    ph_allocator allocator;
} ph_expectation;

// is_vouched: the client takes silence for motion that goes on, see motion/manner.h.
// @return PH_OK, or PH_ERROR_MEMORY with *expectation NULL.
ph_result ph_expectation_create(const ph_allocator* allocator, int slot_count,
                                const ph_layouts* layouts, bool is_vouched,
                                ph_expectation** expectation);
void ph_expectation_destroy(ph_expectation* expectation); // NULL is allowed

// It will soon be this slot's turn: fetches where what is known of it is put aside. Without an expectation
// there is nothing to fetch.
static inline void ph_expectation_prefetch_slot(const ph_expectation* expectation, int slot)
{
    if (expectation != NULL) {
        const ph_expected* known = &expectation->known[slot];
        ph_prefetch(known);
        ph_prefetch((const uint8_t*)(known + 1) - 1); // it may lie across two lines
    }
}

// What errors are worked out from, up to this slot: to be fetched before. NULL is allowed. The expectation
// itself is in no cache, and is not looked at.
ph_stretch ph_expectation_swept(const ph_expectation* expectation, int slot_count, int class_count,
                                int slot_end);

// The marks, which answers take away, stand right behind the struct. Of many slots only the first: a
// processor drops what it is asked for beyond some twenty lines.
static inline void ph_expectation_prefetch_marks(const ph_expectation* expectation, int slot_count)
{
    enum { SLOTS_MAX = 512 };
    if (expectation != NULL) {
        const int slots = slot_count < SLOTS_MAX ? slot_count : SLOTS_MAX;
        ph_prefetch_bytes(expectation, sizeof *expectation + (size_t)slots);
    }
}

// The newest item of a slot was added to a packet of the present tick, for this enter or update.
void ph_expectation_note_sent(ph_expectation* expectation, const ph_world* world,
                              const ph_sender* sender, const ph_flight_item* item,
                              const ph_record* record);

// The fate of the item at a place of the flight, which was sent at some tick; of a sender with an
// expectation. What is rare reads the item anew: so whoever goes over them need not keep it in memory.
void ph_expectation_take(const ph_world* world, const ph_sender* sender, uint32_t place,
                         uint32_t tick);
// Mostly it is the newest that was sent of its slot, and whatever came before it is known: then what
// was expected when it was sent is known now.
static inline void ph_expectation_note_applied(const ph_world* world, const ph_sender* sender,
                                               uint32_t place, uint32_t tick)
{
    const ph_flight_item item = ph_flight_read(&sender->flight, place);
    const int in_flight = ph_knowledge_at(&sender->knowledge, item.slot)->in_flight;
    uint8_t* marks = &sender->expectation->marks[item.slot];
    if (in_flight == 1 && (*marks & ~PH_EXPECTED_APART) == 0 && item.kind != PH_RECORD_LEAVE) {
        *marks = 0;
    } else {
        ph_expectation_take(world, sender, place, tick);
    }
}
static inline void ph_expectation_note_lost(ph_expectation* expectation, int slot)
{
    expectation->marks[slot] |= PH_EXPECTED_DOUBTFUL;
    expectation->has_doubt = true;
}

// After all items of an acknowledgement: what is expected of the doubtful ones.
void ph_expectation_mend(ph_expectation* expectation, const ph_world* world,
                         const ph_sender* sender);

// What the client shows of a slot if all that is on its way gets lost; NULL: nothing else, or nothing.
static inline const ph_expected* ph_expectation_without(const ph_expectation* expectation, int slot)
{
    const ph_expected* known = &expectation->known[slot];
    return (expectation->marks[slot] & PH_EXPECTED_APART) != 0 && known->is_there &&
                   known->tick != expectation->sent[slot].tick
               ? known
               : NULL;
}

// Whether the client carries a motion on that has ended. No expectation: nobody knows.
static inline bool ph_expectation_is_astray(const ph_expectation* expectation, int slot)
{
    return expectation != NULL && expectation->astray[slot] != 0;
}

// ---- arithmetic shared with errors.c

// The short way, also across the world's edge.
static inline float ph_expected_way(int32_t from_mm, int32_t to_mm)
{
    return (float)(int32_t)((uint32_t)to_mm - (uint32_t)from_mm);
}

#endif
