// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What is on its way to one client: per packet without an answer, what it carried.
//
// Packets come to an end in the order in which they were sent, because an acknowledgement speaks of
// all up to its newest. So they lie in a ring, each as a row of items, an item for each record:
//
//   units   | eye? item item item | item item |    free     | item ... item |
//            packets[first + 1]    ...         head          tail            wrap_end
//
// An item never straddles the end of the ring. It names the next older one of its slot, so that a
// slot's items are a list, newest first. The list has no end mark: whoever keeps its head also
// counts how many of them are still on their way; those are the first ones.
//
// Ends of the pinhole profile move their baselines on by what was applied, one after the other: the
// sender when an acknowledgement tells of it, the client when a packet states a newer horizon. Both
// keep in here what is to come.
//
// A few items are added per send and retired per acknowledgement; nothing allocates.

#ifndef PH_WIRE_FLIGHT_H
#define PH_WIRE_FLIGHT_H

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
    uint32_t number;
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

static inline uint32_t ph_flight_head_units(bool is_wide)
{
    return PH_FLIGHT_HEAD_UNITS + (is_wide ? 2u : 1u);
}

// Units that an item with so many bytes of values takes.
static inline uint32_t ph_flight_item_units(bool is_wide, size_t value_bytes)
{
    return ph_flight_head_units(is_wide) + (uint32_t)((value_bytes + 3) / 4);
}
#define PH_FLIGHT_EYE_UNITS 3

// Empty, in the caller's memory: 1..PH_FLIGHT_UNITS_MAX units.
void ph_flight_init(ph_flight* flight, uint32_t* units, uint32_t capacity, bool is_wide);

// ---- adding, which runs for every record

// Where so many units in a row are free. @return PH_FLIGHT_NO_ROOM when they are not.
#define PH_FLIGHT_NO_ROOM UINT32_MAX
static inline uint32_t ph_flight_find_room(const ph_flight* flight, uint32_t unit_count)
{
    const uint32_t end = flight->is_wrapped ? flight->tail : flight->capacity;
    if (PH_LIKELY(flight->head + unit_count <= end)) {
        return flight->head;
    }
    return !flight->is_wrapped && unit_count <= flight->tail ? 0 : PH_FLIGHT_NO_ROOM;
}

// Room that was found.
static inline void ph_flight_take_room(ph_flight* flight, uint32_t place, uint32_t unit_count)
{
    if (place != flight->head) {
        flight->wrap_end = flight->head;
        flight->is_wrapped = true;
    }
    flight->head = place + unit_count;
}

static inline void ph_flight_store(uint32_t* unit, bool is_wide, const ph_flight_item* item)
{
    const uint32_t flags = item->kind | (item->is_jump ? PH_FLIGHT_JUMP_FLAG : 0);
    unit[0] = item->slot | item->older << 16;
    unit[1] = item->jumps | ((uint32_t)item->value_bytes << PH_FLIGHT_FLAG_BITS | flags) << 16;
    memcpy(&unit[2], &item->score, sizeof item->score);
    unit[3] = item->mileage_mm;
    unit[4] = (uint32_t)item->properties;
    if (is_wide) {
        unit[5] = (uint32_t)(item->properties >> 32);
    }
}

// ---- sending: begin, add items, commit. A packet without items is cancelled.

// Whether another packet may begin.
static inline bool ph_flight_has_place(const ph_flight* flight)
{
    return flight->count < PH_FLIGHT_MAX;
}

// eye_mm is NULL for a packet without one. @return False, with nothing begun, when there is no room.
bool ph_flight_begin(ph_flight* flight, const ph_flight_stamp* stamp, const int32_t* eye_mm);

// Where an item of this size can be added now, or PH_FLIGHT_NO_ROOM.
static inline uint32_t ph_flight_find(const ph_flight* flight, size_t value_bytes)
{
    return ph_flight_find_room(flight, ph_flight_item_units(flight->is_wide, value_bytes));
}

static inline bool ph_flight_has_room(const ph_flight* flight, size_t value_bytes)
{
    return ph_flight_find(flight, value_bytes) != PH_FLIGHT_NO_ROOM;
}

// Adds an item there; its values are to be filled in by the caller.
static inline void ph_flight_put(ph_flight* flight, uint32_t place, ph_flight_item* item)
{
    PH_ASSERT(flight->is_open && item->value_bytes <= PH_FLIGHT_VALUE_BYTES_MAX);
    PH_ASSERT(place == ph_flight_find(flight, item->value_bytes) && place != PH_FLIGHT_NO_ROOM);

    const uint32_t unit_count = ph_flight_item_units(flight->is_wide, item->value_bytes);
    ph_flight_take_room(flight, place, unit_count);
    uint32_t* unit = &flight->units[place];
    unit[unit_count - 1] = 0; // the bytes behind the values are never rubbish
    ph_flight_store(unit, flight->is_wide, item);
    item->values = (uint8_t*)(unit + ph_flight_head_units(flight->is_wide));
    if (flight->open.item_count == 0 && !flight->open.has_eye) {
        flight->open.first = (uint16_t)place;
    }
    ++flight->open.item_count;
}

// @return False, with nothing done, when there is no room.
static inline bool ph_flight_try_add(ph_flight* flight, ph_flight_item* item, uint16_t* place)
{
    const uint32_t found = ph_flight_find(flight, item->value_bytes);
    if (found == PH_FLIGHT_NO_ROOM) {
        return false;
    }
    ph_flight_put(flight, found, item);
    *place = (uint16_t)found;
    return true;
}

// The same where there is room. @return Its place.
static inline uint16_t ph_flight_add(ph_flight* flight, ph_flight_item* item)
{
    uint16_t place = 0;
    const bool is_added = ph_flight_try_add(flight, item, &place);
    PH_ASSERT(is_added);
    (void)is_added;
    return place;
}

// Whether the item at this place belongs to the packet that is open now.
static inline bool ph_flight_is_open(const ph_flight* flight, uint16_t place)
{
    const ph_flight_packet* packet = &flight->open;
    if (!flight->is_open || packet->item_count == 0) {
        return false;
    }
    return packet->first < flight->head ? place >= packet->first && place < flight->head
                                        : place >= packet->first || place < flight->head;
}

// An item of the open packet is to say nothing: a later one of the same packet says it all.
void ph_flight_withdraw(ph_flight* flight, uint16_t place);

void ph_flight_commit(ph_flight* flight);
void ph_flight_cancel(ph_flight* flight);

// ---- looking

// What begins at a unit, with so many before its values (ph_flight_head_units()). Inline, so that nobody
// pays for fields that it does not look at.
static inline ph_flight_item ph_flight_read_unit(uint32_t* unit, uint32_t head_units)
{
    const uint32_t size = unit[1] >> 16;
    ph_flight_item item = {
        .properties = unit[4],
        .mileage_mm = unit[3],
        .slot = (uint16_t)unit[0],
        .older = unit[0] >> 16,
        .jumps = (uint16_t)unit[1],
        .kind = (uint8_t)(size & PH_FLIGHT_KIND_MASK),
        .is_jump = (size & PH_FLIGHT_JUMP_FLAG) != 0,
        .value_bytes = (uint16_t)(size >> PH_FLIGHT_FLAG_BITS),
        .values = (uint8_t*)(unit + head_units),
    };
    memcpy(&item.score, &unit[2], sizeof item.score);
    if (head_units > PH_FLIGHT_HEAD_UNITS + 1) {
        item.properties |= (uint64_t)unit[5] << 32;
    }
    return item;
}

// Whether it is of this kind, no jump, and has so many bytes of values: all by one comparison.
static inline bool ph_flight_is_plain(const uint32_t* unit, unsigned kind, unsigned value_bytes)
{
    return unit[1] >> 16 == (value_bytes << PH_FLIGHT_FLAG_BITS | kind);
}

static inline ph_flight_item ph_flight_read(const ph_flight* flight, uint32_t place)
{
    return ph_flight_read_unit(&flight->units[place], ph_flight_head_units(flight->is_wide));
}

// Adds to the path that an item told of.
void ph_flight_add_mileage(ph_flight* flight, uint16_t place, uint32_t mileage_mm);

// ---- the oldest packet, when its fate is known

const ph_flight_packet* ph_flight_oldest(const ph_flight* flight);

// Fetches what it carried, which lies in a row: long sent, so in no cache.
void ph_flight_prefetch_oldest(const ph_flight* flight);

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

static inline void ph_flight_walk_over(ph_flight_walk* walk, uint32_t unit_count)
{
    const uint32_t next = walk->place + unit_count;
    walk->place = next != walk->wrap ? next : 0;
}

static inline ph_flight_walk ph_flight_walk_make(const ph_flight* flight,
                                                 const ph_flight_packet* packet)
{
    ph_flight_walk walk = {
        .units = flight->units,
        .place = packet->first,
        .head_units = ph_flight_head_units(flight->is_wide),
        .wrap = flight->is_wrapped ? flight->wrap_end : UINT32_MAX,
    };
    if (packet->has_eye) {
        ph_flight_walk_over(&walk, PH_FLIGHT_EYE_UNITS);
    }
    return walk;
}

static inline void ph_flight_walk_on(ph_flight_walk* walk)
{
    const uint32_t value_bytes = walk->units[walk->place + 1] >> (16 + PH_FLIGHT_FLAG_BITS);
    ph_flight_walk_over(walk, walk->head_units + (value_bytes + 3) / 4);
}

static inline int ph_flight_walk_slot(const ph_flight_walk* walk)
{
    return (int)(walk->units[walk->place] & 0xFFFFu);
}

void ph_flight_retire(ph_flight* flight);

// ---- growth

// Moves everything into a larger ring; no packet is open. Places become others: ph_flight_moved() says which, asked of
// a copy of the flight as it was.
void ph_flight_move(ph_flight* flight, uint32_t* units, uint32_t capacity);
uint16_t ph_flight_moved(const ph_flight* before, uint16_t place);

// Whether packets and items fill exactly what is taken. For tests.
bool ph_flight_validate(const ph_flight* flight);

#endif
