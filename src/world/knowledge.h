// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What one client has been told, slot by slot: which entity, which values it is known to have, and
// which may differ from those. Values on their way lie in the flight (wire/flight.h); here is where
// each slot's list of them begins.
//
//                enter sent            enter applied
//   NOTHING ------------------> ENTER ---------------> ENTERED
//      ^    <------------------   |                       |
//      |     all enters lost      | left                  | left
//      |                          v                       v
//      +-------------------- LEAVING_UNSURE ---------> LEAVING
//        all lost: freed at once      enter applied       |
//      ^                                                  | leave applied
//      +--------------------------------------------------+  (also from LEAVING_UNSURE)
//
// What is swept lies in parallel arrays by slot: `touched` at every tick, most others at every send.
// All the rest of a slot lies together, its packed known values behind it, in whole
// cache lines: a visit, or the answer to it, costs one or two, which can be fetched ahead:
//
//   touched    | 0 | 1 | 2 | ...
//   mileage_mm | 0 | 1 | 2 | ...           and others
//   dossiers   | dossier 0, known values | dossier 1, known values | ...
//
// One block of the caller's holds them all.

#ifndef PH_WORLD_KNOWLEDGE_H
#define PH_WORLD_KNOWLEDGE_H

#include "base/prefetch.h"
#include "wire/classic.h"
#include "wire/flight.h"
#include "wire/packing.h"

// A packet has more than one item of a slot when it was visited again: what did not fit last time,
// what waited too long, what the scheduler let through, what was left for spare bits.
#define PH_IN_FLIGHT_MAX (4 * PH_FLIGHT_MAX)

typedef enum ph_told {
    PH_TOLD_NOTHING = 0,    // nobody there, or a newcomer
    PH_TOLD_ENTER,          // an enter is on its way
    PH_TOLD_ENTERED,        // the client is known to have it
    PH_TOLD_LEAVING_UNSURE, // it is gone; the client may have it, or may come to have it
    PH_TOLD_LEAVING,        // it is gone; the client has it
    PH_TOLD_LEFT,           // the client knows that it is gone; other leaves are still on their way
} ph_told;

// What a visit looks at, beside the arrays; the known values follow.
typedef struct ph_dossier {
    uint64_t beyond;      // properties that differ, but are further away than they are sent
    uint64_t repeats;     // properties that were lost, and not sent again since
    uint32_t stir;        // of the entity when nothing but its position was left to be sent
    uint32_t served_ms;   // when something was last sent of it, or its leave
    uint32_t association; // number of the present entity, or of the next one; from 1
    uint32_t since_tick;  // at which the slot took its entity: what was before is not the viewer's
    uint16_t newest_item; // place in the flight, if in_flight > 0
    uint16_t in_flight;   // items on their way: the first so many of the list
    uint16_t jumps;       // of the entity, in the known position
} ph_dossier;

_Static_assert(sizeof(ph_dossier) == 40, "with a position behind it less than a cache line");

typedef struct ph_knowledge {
    // Bit p: property p may differ from the newest that was sent. Newcomers: everything. Leaving: 1
    // while the leave is to be sent, 0 while one is on its way.
    uint64_t* touched;
    float* score;         // the scheduler's
    float* weight;        // the game's hint
    float* wake_mm2;      // nearer than this, squared, something of `beyond` may be sent; or 0
    uint32_t* mileage_mm; // of the entity when its position was last sent
    uint32_t* waiting_ms; // since when something has been due; 0: nothing is
    uint8_t* told;        // ph_told
    uint8_t* class_index; // of what the slot shows or showed last
    uint8_t* points;      // 1: a reference to somebody was sent
    uint8_t* dossiers;
    size_t dossier_stride; // with the known values of the largest class
    int slot_count;
    int leaving_count;         // slots that are LEAVING or LEAVING_UNSURE
    int newcomer_count;        // slots that show somebody and are NOTHING
    bool are_references_stale; // somebody entered or left: references may map to other slots now
} ph_knowledge;

// Bytes of the block, a multiple of 8.
size_t ph_knowledge_bytes(int slot_count, size_t known_stride);
// Lays empty knowledge over a block that is zeroed and aligned to 8.
void ph_knowledge_init(ph_knowledge* knowledge, void* block, int slot_count, size_t known_stride);

// What is swept, which lies in a row: to be fetched before.
ph_stretch ph_knowledge_swept(const ph_knowledge* knowledge);

static inline ph_dossier* ph_knowledge_at(const ph_knowledge* knowledge, int slot)
{
    return (ph_dossier*)(void*)(knowledge->dossiers + (size_t)slot * knowledge->dossier_stride);
}

// Soon this slot is visited. Its position lies in the first line; of whom several properties may differ,
// others are asked for, too, which lie mostly in the second.
static inline void ph_knowledge_fetch(const ph_knowledge* knowledge, int slot)
{
    const uint8_t* dossier = (const uint8_t*)ph_knowledge_at(knowledge, slot);
    const uint64_t touched = knowledge->touched[slot];
    const bool has_others =
        ((touched & (touched - 1)) != 0) & (knowledge->dossier_stride > PH_CACHE_LINE);
    ph_prefetch(dossier);
    ph_prefetch(dossier + has_others * (size_t)PH_CACHE_LINE);
}

// Packed values, ENTERED only.
static inline uint8_t* ph_dossier_known(ph_dossier* dossier)
{
    return (uint8_t*)(dossier + 1);
}
static inline uint8_t* ph_knowledge_known(const ph_knowledge* knowledge, int slot)
{
    return ph_dossier_known(ph_knowledge_at(knowledge, slot));
}

static inline bool ph_knowledge_is_leaving(const ph_knowledge* knowledge, int slot)
{
    return knowledge->told[slot] >= PH_TOLD_LEAVING_UNSURE;
}

// Whether an earlier enter of the slot's entity, which the client may have applied, told of a position
// before its last jump. Only until an enter is known as applied.
bool ph_knowledge_has_jumped(const ph_knowledge* knowledge, const ph_flight* flight, int slot,
                             uint16_t jumps);

// ---- what vision says

void ph_knowledge_enter(ph_knowledge* knowledge, int slot, int class_index, uint64_t all);
void ph_knowledge_leave(ph_knowledge* knowledge, int slot);

// Whether a slot that was left needs no leave, because the client cannot have it.
static inline bool ph_knowledge_is_gone(const ph_knowledge* knowledge, int slot)
{
    return knowledge->told[slot] == PH_TOLD_LEAVING_UNSURE &&
           ph_knowledge_at(knowledge, slot)->in_flight == 0;
}

// The slot is nobody's again. is_known: the client may have had it, so the next association gets
// the next number.
void ph_knowledge_free(ph_knowledge* knowledge, int slot, bool is_known);

// ---- what is sent, and what becomes of it

// An item was added to the flight for its slot, whose dossier this is. Its `older` was the newest_item
// there.
static inline void ph_knowledge_note_sent(ph_knowledge* knowledge, ph_dossier* dossier,
                                          const ph_flight_item* item, uint16_t place)
{
    const int slot = item->slot;
    PH_ASSERT(dossier == ph_knowledge_at(knowledge, slot));
    PH_ASSERT(dossier->in_flight < PH_IN_FLIGHT_MAX);

    dossier->newest_item = place;
    ++dossier->in_flight;
    if (item->kind == PH_RECORD_LEAVE) {
        knowledge->touched[slot] = 0;
        dossier->repeats = 0;
        return;
    }
    PH_ASSERT(item->kind == PH_RECORD_ENTER || knowledge->told[slot] != PH_TOLD_NOTHING);
    if (item->kind == PH_RECORD_ENTER && knowledge->told[slot] == PH_TOLD_NOTHING) {
        knowledge->told[slot] = PH_TOLD_ENTER;
        --knowledge->newcomer_count;
    }
    const uint64_t told = item->kind == PH_RECORD_ENTER ? UINT64_MAX : item->properties;
    knowledge->touched[slot] &= ~told;
    dossier->repeats &= ~told;
}

// The oldest item of its slot came to its end. @return True when the slot is to be freed: the
// client applied the leave, or never got an enter.
static inline bool ph_knowledge_note_applied(ph_knowledge* knowledge, const ph_layout* layout,
                                             const ph_packing* packing, const ph_flight_item* item)
{
    const int slot = item->slot;
    ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    --dossier->in_flight;
    if (item->kind == PH_RECORD_LEAVE) {
        knowledge->told[slot] = PH_TOLD_LEFT;
        return dossier->in_flight == 0;
    }
    // Of who leaves, too: the client has a baseline of it until then.
    uint8_t* known = ph_dossier_known(dossier);
    if (item->kind == PH_RECORD_ENTER) {
        memcpy(known, packing->initial, packing->stride);
    }
    ph_packing_spread(packing, item->properties, item->values, known);
    if (ph_knowledge_is_leaving(knowledge, slot)) {
        knowledge->told[slot] = PH_TOLD_LEAVING;
        return false;
    }
    if ((item->properties & layout->position) != 0) {
        dossier->jumps = item->jumps;
    }
    if (knowledge->told[slot] == PH_TOLD_ENTER) {
        knowledge->told[slot] = PH_TOLD_ENTERED;
        knowledge->are_references_stale = true;
    }
    return false;
}
bool ph_knowledge_note_lost(ph_knowledge* knowledge, ph_flight* flight, const ph_layout* layout,
                            const ph_flight_item* item);

// The newest value of a property that was sent, packed: on its way, or known. Not of what is sent
// once. Borrowed. Only ENTER and ENTERED.
const uint8_t* ph_knowledge_newest(const ph_knowledge* knowledge, const ph_flight* flight,
                                   const ph_packing* packing, int slot, int property);

// Whether states and counts agree, with each other and with the flight. For tests.
bool ph_knowledge_validate(const ph_knowledge* knowledge, const ph_flight* flight);

#endif
