// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer's replicas: per slot, which entity its client has, which values of it are acked, what is
// in flight, what was lost, and what differs. The one owner of that: everything that becomes of a
// record goes through three functions, ph_replicas_sent(), ph_replicas_acked(), ph_replicas_lost().
//
//                enter sent               enter acked
//   ABSENT -------------------> ENTERING ------------> ENTERED
//      ^   <-------------------    |                      |
//      |     all enters lost       | left                 | left
//      |                           v                      v
//      +-------------------- LEAVING_UNSURE ---------> LEAVING
//      |  all lost: freed at once     |  enter acked      |
//      |                              +---------+---------+
//      |                                        | leave acked
//      +--------------------------------------- LEFT
//        no other leave in flight
//
// What is swept lies in parallel arrays by slot: `dirty` at every tick, most others at every send.
// The rest of a slot lies together with its acked values, in whole cache lines: a visit, or the ack
// of one, touches one or two.
//
//   records    | replica 0, known values | replica 1, known values | ...
//   dirty      | 0 | 1 | 2 | ...
//   mileage_mm | 0 | 1 | 2 | ...           and others
//
// Values in flight lie in the ring of the flight (packet/flight.h); a replica has the newest of its
// items there. In the pinhole profile an acked record also moves the slot's baseline on
// (packet/baseline.h): baselines are always those of the horizon that the next packet states. What
// the client shows by now is estimated in shown_estimate.h.

#ifndef PH_REPLICATION_REPLICA_H
#define PH_REPLICATION_REPLICA_H

#include "packet/baseline.h"
#include "packet/flight.h"

#include <pinhole/schedule.h>

// A packet has more than one item of a slot when it was visited again: what did not fit last time,
// what waited too long, what the scheduler let through, what was left for spare bits.
#define PH_IN_FLIGHT_MAX (4 * PH_FLIGHT_MAX)

typedef enum ph_replica_state {
    PH_REPLICA_ABSENT = 0,     // the slot is empty, or its entity is not sent yet
    PH_REPLICA_ENTERING,       // an enter is in flight
    PH_REPLICA_ENTERED,        // the client is known to have it
    PH_REPLICA_LEAVING_UNSURE, // it is gone; the client may have it, or may come to have it
    PH_REPLICA_LEAVING,        // it is gone; the client has it
    PH_REPLICA_LEFT,           // the client knows that it is gone; other leaves are in flight
} ph_replica_state;

// What a visit looks at, beside the arrays.
typedef struct ph_replica {
    uint64_t out_of_range; // properties that differ, but are further away than they are sent
    uint64_t lost;         // properties that were lost, and not sent again since
    uint32_t stir;         // of the entity when nothing but its position was left to be sent
    uint32_t served_ms;    // when something was last sent of it, or its leave
    uint32_t association;  // number of the present entity, or of the next one; from 1
    uint32_t since_tick;   // at which the slot took its entity: what was before is not the viewer's
    uint16_t newest_item;  // place in the flight, if in_flight > 0
    uint16_t in_flight;    // items in flight: the first so many of the list
    uint16_t jumps;        // of the entity, in the known position
    uint16_t unused;
    uint8_t known[]; // packed acked values, ENTERED only; stride of the largest class
} ph_replica;

_Static_assert(sizeof(ph_replica) == 40, "with a position behind it less than a cache line");

// Pinhole profile.
typedef struct ph_baselines {
    ph_baseline* slots; // by slot; NULL: classic
    uint64_t key_base;  // greatest key of all enters that were acked
    int entered_end;    // slots from here on are not entered
} ph_baselines;

#define PH_OVERSHOOT_POSITION 1
#define PH_OVERSHOOT_ROTATION 2

// Jumps are rounded in any case, and every update is one until the ack of the first: refining waits for that.
enum { PH_ROUNDED = 1, PH_ROUNDED_JUMP };

typedef struct ph_replicas {
    // Bit p: property p may differ from the newest that was sent. Newcomers: everything. Leaving: 1
    // while the leave is to be sent, 0 while one is in flight.
    uint64_t* dirty;
    float* score;         // the scheduler's
    float* weight;        // the game's hint
    float* wake_mm2;      // nearer than this, squared, something out of range may be sent; or 0
    uint32_t* mileage_mm; // of the entity when its position was last sent
    uint32_t* waiting_ms; // since when something has differed; 0: nothing does
    uint8_t* state;       // ph_replica_state
    uint8_t* class_index; // of what the slot shows or showed last
    uint8_t* points;      // 1: a reference to an entity was sent
    // PH_OVERSHOOT_...: the client extrapolates a motion that has ended. The position or orientation is sent once
    // more, though it is the one that was sent last. Always 0 without estimates.
    uint8_t* overshoots;
    // PH_ROUNDED...: the newest position that was sent is no further from the truth than rounding to its step takes it.
    // It counts as sent, and is refined when nothing else needs the bits. Only ENTERING and ENTERED, else 0. Pinhole
    // profile.
    uint8_t* rounded;
    uint8_t* records;
    size_t record_stride; // with the known values of the largest class
    int slot_count;
    int leaving_count;         // slots that are LEAVING_UNSURE, LEAVING or LEFT
    int newcomer_count;        // slots that show an entity and are ABSENT
    bool are_references_stale; // one entered or left: references may map to other slots now

    ph_baselines baselines;
    struct ph_shown_estimates* estimates; // NULL: there are none; set by the owner

    // Borrowed.
    ph_baseline_rules rules;
    ph_flight* flight;
    const ph_scheduler* scheduler;
} ph_replicas;

// What is borrowed outlives the replicas, at the same address.
typedef struct ph_replicas_def {
    ph_baseline_rules rules;
    ph_flight* flight;
    const ph_scheduler* scheduler;
    size_t known_stride; // bytes of the largest packed entity
    int slot_count;
    bool is_pinhole; // with baselines
} ph_replicas_def;

// Bytes of the block, a multiple of 8.
size_t ph_replicas_bytes(const ph_replicas_def* def);

// Lays empty replicas over a block that is zeroed and aligned to 8.
void ph_replicas_init(ph_replicas* replicas, const ph_replicas_def* def, void* block);

ph_replica* ph_replicas_at(const ph_replicas* replicas, int slot);

// A hint that an item of this slot is acked soon, or that the slot is visited soon: the replicas of a
// thousand viewers are in no cache. Without it `bench load` takes 1.25 times as long in the pinhole
// profile, 1.05 times in classic (1,000 viewers, in turns).
void ph_replicas_expect(const ph_replicas* replicas, int slot);

// ---- what vision says

void ph_replicas_enter(ph_replicas* replicas, int slot, int class_index, uint64_t all);

void ph_replicas_leave(ph_replicas* replicas, int slot);

// Whether the position that the client has, or will have, can be refined. Nothing is to be refined of what is not
// ENTERED.
static inline bool ph_replicas_is_rounded(const ph_replicas* replicas, int slot)
{
    return replicas->rounded[slot] == PH_ROUNDED && replicas->state[slot] == PH_REPLICA_ENTERED;
}

bool ph_replicas_is_leaving(const ph_replicas* replicas, int slot);

// Whether a slot that was left needs no leave, because the client cannot have it.
bool ph_replicas_is_gone(const ph_replicas* replicas, int slot);

// The slot is empty again. Only LEFT slots and those that are gone, with nothing in flight.
void ph_replicas_free(ph_replicas* replicas, int slot);

// ---- what is sent, and what becomes of it

// An item stands at a place of the flight, in the packet that is open, with its values; its `older`
// was the newest of its slot. An item that stands where the newest of its slot stood replaces it.
// words: the block of its record (packet/layout.h); NULL for a leave.
void ph_replicas_sent(ph_replicas* replicas, const ph_flight_item* item, uint16_t place,
                      const uint32_t* words);

// The client has applied an item of the oldest packet, which was sent at this tick. Items are acked
// or lost in the order in which they were sent.
// @return True when the slot is to be freed: the client has applied its leave, or never had it.
bool ph_replicas_acked(ph_replicas* replicas, const ph_flight_item* item, uint32_t tick);

// The client has not applied it, and never will. @return As ph_replicas_acked().
bool ph_replicas_lost(ph_replicas* replicas, const ph_flight_item* item);

// What follows the values of an enter in the flight; value_bytes counts it already. Pinhole profile.
//
//   | values | [ spin 2 2 2 ] | key 8 | velocity 2 2 2 |
//
// A spin is only there with an orientation, whose state makes the room for it in a known block.
#define PH_ENTER_EXTRA_BYTES 14
#define PH_ENTER_SPIN_BYTES 6

static inline size_t ph_enter_extra_bytes(const ph_packing* packing)
{
    return PH_ENTER_EXTRA_BYTES + (packing->turning != 0 ? PH_ENTER_SPIN_BYTES : 0);
}

void ph_enter_extra_store(const ph_flight_item* item, const ph_packing* packing,
                          const ph_record* enter);

// ---- looking

// The newest value of a property that was sent, packed: in flight, or acked. Not of what is sent
// once. Borrowed. Only ENTERING and ENTERED.
const uint8_t* ph_replicas_newest(const ph_replicas* replicas, int slot, int property);

// Whether an earlier enter of the slot's entity, which the client may have applied, had a position
// before its last jump. Only until an enter is acked.
bool ph_replicas_has_jumped(const ph_replicas* replicas, int slot, uint16_t jumps);

// Whether states and counts agree, with each other and with the flight. For tests.
bool ph_replicas_validate(const ph_replicas* replicas);

#endif
