// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is in flight to one client: per packet without an ack, what it contained.
//
// Packets come to an end in the order in which they were sent, because an ack covers
// all up to its newest. So they lie in a ring, each as a row of items, an item for each record:
//
//   units   | eye? item item item | item item |    free     | item ... item |
//            packets[first + 1]    ...         head          tail            wrap_end
//
// An item never straddles the end of the ring. It names the next older one of its slot, so that a
// slot's items are a list, newest first. The list has no end mark: the owner of its head also
// counts how many of them are still in flight; those are the first ones.
//
// Ends of the pinhole profile move their baselines on by what was applied, one after the other: the
// sender when an ack tells of it, the client when a packet states a newer horizon. Both
// keep in here what is to come.
//
// A few items are added per send and retired per ack; nothing allocates.

#ifndef PH_PACKET_FLIGHT_H
#define PH_PACKET_FLIGHT_H

#include <pinhole/packet.h>

#include <string.h>

// The ring is measured in units of 4 bytes, so that 16 bits name a place.
#define PH_FLIGHT_UNITS_MAX 65535
#define PH_FLIGHT_VALUE_BYTES_MAX 8191

// What one record told.
typedef struct ph_flight_item {
    uint64_t properties;
    float score;         // that the slot had before
    uint32_t mileage_mm; // path since the position that was sent before, if this has a position
    uint32_t older;      // place of the slot's next older item, if there is one
    uint16_t slot;
    uint16_t jumps;       // of the entity; counts if this is an enter or has a position
    uint8_t kind;         // ph_record_kind
    bool is_jump;         // the record said so
    uint16_t value_bytes; // packed values of the properties, in their order; more may follow
    uint8_t* values;      // in the ring; reading and adding set it
} ph_flight_item;

// What a packet is known by.
typedef struct ph_flight_stamp {
    uint64_t sent_us;
    uint32_t sequence;
    uint32_t tick;
} ph_flight_stamp;

typedef struct ph_flight_packet {
    ph_flight_stamp stamp;
    uint16_t first; // place of the eye, else of the first item
    uint16_t item_count;
    bool has_eye;
} ph_flight_packet;

// {0} has no room. Fields are read-only outside flight.c.
typedef struct ph_flight {
    uint32_t* units; // the caller's
    uint32_t capacity;
    uint32_t head;
    uint32_t tail;
    uint32_t wrap_end;     // while is_wrapped: where the older part ends
    bool is_wrapped;       // head is behind tail
    bool is_wide;          // more than 32 properties
    bool is_open;          // a packet has begun
    int first;             // of packets, the oldest
    int count;             // packets, an open one not counted
    ph_flight_packet open; // the one that has begun
    ph_flight_packet packets[PH_FLIGHT_MAX];
} ph_flight;

// An item in the ring, by units of 4 bytes:
//
//   | slot, older | jumps, size | score | mileage | properties (1 or 2) | values ... |
//
// where size is the bytes of the values, a bit that says jump and two of kind. The narrow form, for
// schemas whose classes have at most 32 properties, saves an eighth of the ring.
#define PH_FLIGHT_HEAD_UNITS 4u // before the properties
#define PH_FLIGHT_KIND_MASK 3u
#define PH_FLIGHT_JUMP_FLAG 4u
#define PH_FLIGHT_FLAG_BITS 3u

uint32_t ph_flight_head_units(bool is_wide);

// Units that an item with so many bytes of values takes.
uint32_t ph_flight_item_units(bool is_wide, size_t value_bytes);

#define PH_FLIGHT_EYE_UNITS 3

// Empty, in the caller's memory: 1..PH_FLIGHT_UNITS_MAX units.
void ph_flight_init(ph_flight* flight, uint32_t* units, uint32_t capacity, bool is_wide);

// ---- sending: begin, add items, commit. A packet without items is cancelled.

// Whether another packet may begin.
bool ph_flight_has_place(const ph_flight* flight);

// eye_mm is NULL for a packet without one. @return False, with nothing begun, when there is no room.
bool ph_flight_begin(ph_flight* flight, const ph_flight_stamp* stamp, const int32_t* eye_mm);

// Where an item of this size can be added now, or PH_FLIGHT_NO_ROOM.
#define PH_FLIGHT_NO_ROOM UINT32_MAX

uint32_t ph_flight_find(const ph_flight* flight, size_t value_bytes);

bool ph_flight_has_room(const ph_flight* flight, size_t value_bytes);

// Adds an item there; its values are to be filled in by the caller.
void ph_flight_put(ph_flight* flight, uint32_t place, ph_flight_item* item);

// @return False, with nothing done, when there is no room.
bool ph_flight_try_add(ph_flight* flight, ph_flight_item* item, uint16_t* place);

// The same where there is room. @return Its place.
uint16_t ph_flight_add(ph_flight* flight, ph_flight_item* item);

// Whether the item at this place belongs to the packet that is open now.
bool ph_flight_is_open(const ph_flight* flight, uint16_t place);

// An item of the open packet is to say nothing: a later one of the same packet says it all.
void ph_flight_withdraw(ph_flight* flight, uint16_t place);

void ph_flight_commit(ph_flight* flight);

void ph_flight_cancel(ph_flight* flight);

// ---- looking

// What begins at a unit, with so many before its values (ph_flight_head_units()).
ph_flight_item ph_flight_read_unit(uint32_t* unit, uint32_t head_units);

ph_flight_item ph_flight_read(const ph_flight* flight, uint32_t place);

// The slot of an item alone.
int ph_flight_slot(const ph_flight* flight, uint32_t place);

// Adds to the path that an item told of.
void ph_flight_add_mileage(ph_flight* flight, uint16_t place, uint32_t mileage_mm);

// ---- the oldest packet, when its fate is known

const ph_flight_packet* ph_flight_oldest(const ph_flight* flight);

// Its eye; only if it has one.
void ph_flight_eye(const ph_flight* flight, const ph_flight_packet* packet, int32_t eye_mm[3]);

// Its items, one by one: as many as it has, no more.
//
//   ph_flight_walk walk = ph_flight_walk_make(flight, packet);
//   for (int i = 0; i < packet->item_count; ++i, ph_flight_walk_on(&walk))
typedef struct ph_flight_walk {
    const uint32_t* units;
    uint32_t place;
    uint32_t head_units;
    uint32_t wrap; // what would follow here stands at the front again
} ph_flight_walk;

ph_flight_walk ph_flight_walk_make(const ph_flight* flight, const ph_flight_packet* packet);

void ph_flight_walk_on(ph_flight_walk* walk);

void ph_flight_retire(ph_flight* flight);

// ---- growth

// Moves everything into a larger ring; no packet is open. Places become others: ph_flight_moved()
// says which, asked of a copy of the flight as it was.
void ph_flight_move(ph_flight* flight, uint32_t* units, uint32_t capacity);

uint16_t ph_flight_moved(const ph_flight* before, uint16_t place);

// Whether packets and items fill exactly what is taken. For tests.
bool ph_flight_validate(const ph_flight* flight);

#endif
