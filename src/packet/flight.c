// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The ring of packets in flight; flight.h has the drawing.

#include "packet/flight.h"

_Static_assert(sizeof(ph_flight_packet) == 24, "no padding but at the end");

void ph_flight_init(ph_flight* flight, uint32_t* units, uint32_t capacity, bool is_wide)
{
    PH_ASSERT(capacity >= 1 && capacity <= PH_FLIGHT_UNITS_MAX);

    *flight = (ph_flight){.units = units, .capacity = capacity, .is_wide = is_wide};
}

// ---- sending

uint32_t ph_flight_head_units(bool is_wide)
{
    return PH_FLIGHT_HEAD_UNITS + (is_wide ? 2u : 1u);
}

uint32_t ph_flight_item_units(bool is_wide, size_t value_bytes)
{
    return ph_flight_head_units(is_wide) + (uint32_t)((value_bytes + 3) / 4);
}

bool ph_flight_has_place(const ph_flight* flight)
{
    return flight->count < PH_FLIGHT_MAX;
}

// Where so many units in a row are free. @return PH_FLIGHT_NO_ROOM when they are not.
static uint32_t find_room(const ph_flight* flight, uint32_t unit_count)
{
    const uint32_t end = flight->is_wrapped ? flight->tail : flight->capacity;
    if (PH_LIKELY(flight->head + unit_count <= end)) {
        return flight->head;
    }
    return !flight->is_wrapped && unit_count <= flight->tail ? 0 : PH_FLIGHT_NO_ROOM;
}

// Room that was found.
static void take_room(ph_flight* flight, uint32_t place, uint32_t unit_count)
{
    if (place != flight->head) {
        flight->wrap_end = flight->head;
        flight->is_wrapped = true;
    }
    flight->head = place + unit_count;
}

bool ph_flight_begin(ph_flight* flight, const ph_flight_stamp* stamp, const int32_t* eye_mm)
{
    PH_ASSERT(ph_flight_has_place(flight) && !flight->is_open);

    const uint32_t place = eye_mm != NULL ? find_room(flight, PH_FLIGHT_EYE_UNITS) : 0;
    if (place == PH_FLIGHT_NO_ROOM) {
        return false;
    }
    flight->open = (ph_flight_packet){.stamp = *stamp, .has_eye = eye_mm != NULL};
    if (eye_mm != NULL) {
        take_room(flight, place, PH_FLIGHT_EYE_UNITS);
        flight->open.first = (uint16_t)place;
        memcpy(&flight->units[place], eye_mm, PH_FLIGHT_EYE_UNITS * sizeof(uint32_t));
    }
    flight->is_open = true;
    return true;
}

uint32_t ph_flight_find(const ph_flight* flight, size_t value_bytes)
{
    return find_room(flight, ph_flight_item_units(flight->is_wide, value_bytes));
}

bool ph_flight_has_room(const ph_flight* flight, size_t value_bytes)
{
    return ph_flight_find(flight, value_bytes) != PH_FLIGHT_NO_ROOM;
}

static void store_item(uint32_t* unit, bool is_wide, const ph_flight_item* item)
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

void ph_flight_put(ph_flight* flight, uint32_t place, ph_flight_item* item)
{
    PH_ASSERT(flight->is_open && item->value_bytes <= PH_FLIGHT_VALUE_BYTES_MAX);
    PH_ASSERT(place == ph_flight_find(flight, item->value_bytes) && place != PH_FLIGHT_NO_ROOM);

    const uint32_t unit_count = ph_flight_item_units(flight->is_wide, item->value_bytes);
    take_room(flight, place, unit_count);
    uint32_t* unit = &flight->units[place];
    unit[unit_count - 1] = 0; // the bytes behind the values are never rubbish
    store_item(unit, flight->is_wide, item);
    item->values = (uint8_t*)(unit + ph_flight_head_units(flight->is_wide));
    if (flight->open.item_count == 0 && !flight->open.has_eye) {
        flight->open.first = (uint16_t)place;
    }
    ++flight->open.item_count;
}

bool ph_flight_try_add(ph_flight* flight, ph_flight_item* item, uint16_t* place)
{
    const uint32_t found = ph_flight_find(flight, item->value_bytes);
    if (found == PH_FLIGHT_NO_ROOM) {
        return false;
    }
    ph_flight_put(flight, found, item);
    *place = (uint16_t)found;
    return true;
}

uint16_t ph_flight_add(ph_flight* flight, ph_flight_item* item)
{
    uint16_t place = 0;
    const bool is_added = ph_flight_try_add(flight, item, &place);
    PH_ASSERT(is_added);
    (void)is_added;
    return place;
}

bool ph_flight_is_open(const ph_flight* flight, uint16_t place)
{
    const ph_flight_packet* packet = &flight->open;
    if (!flight->is_open || packet->item_count == 0) {
        return false;
    }
    return packet->first < flight->head ? place >= packet->first && place < flight->head
                                        : place >= packet->first || place < flight->head;
}

void ph_flight_withdraw(ph_flight* flight, uint16_t place)
{
    PH_ASSERT(ph_flight_is_open(flight, place));

    memset(&flight->units[place + PH_FLIGHT_HEAD_UNITS], 0,
           (flight->is_wide ? 2 : 1) * sizeof(uint32_t));
}

void ph_flight_commit(ph_flight* flight)
{
    PH_ASSERT(flight->is_open && flight->open.item_count > 0);

    flight->packets[(unsigned)(flight->first + flight->count) % PH_FLIGHT_MAX] = flight->open;
    ++flight->count;
    flight->is_open = false;
}

void ph_flight_cancel(ph_flight* flight)
{
    PH_ASSERT(flight->is_open && flight->open.item_count == 0);

    if (flight->open.has_eye) {
        flight->head = flight->open.first;
    }
    flight->is_open = false;
}

// ---- looking

ph_flight_item ph_flight_read_unit(uint32_t* unit, uint32_t head_units)
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

ph_flight_item ph_flight_read(const ph_flight* flight, uint32_t place)
{
    return ph_flight_read_unit(&flight->units[place], ph_flight_head_units(flight->is_wide));
}

int ph_flight_slot(const ph_flight* flight, uint32_t place)
{
    return (int)(flight->units[place] & 0xFFFFu);
}

void ph_flight_add_mileage(ph_flight* flight, uint16_t place, uint32_t mileage_mm)
{
    flight->units[place + 3] += mileage_mm;
}

const ph_flight_packet* ph_flight_oldest(const ph_flight* flight)
{
    PH_ASSERT(flight->count > 0);

    return &flight->packets[flight->first];
}

void ph_flight_eye(const ph_flight* flight, const ph_flight_packet* packet, int32_t eye_mm[3])
{
    PH_ASSERT(packet->has_eye);

    memcpy(eye_mm, &flight->units[packet->first], PH_FLIGHT_EYE_UNITS * sizeof(uint32_t));
}

static void walk_over(ph_flight_walk* walk, uint32_t unit_count)
{
    const uint32_t next = walk->place + unit_count;
    walk->place = next != walk->wrap ? next : 0;
}

ph_flight_walk ph_flight_walk_make(const ph_flight* flight, const ph_flight_packet* packet)
{
    ph_flight_walk walk = {
        .units = flight->units,
        .place = packet->first,
        .head_units = ph_flight_head_units(flight->is_wide),
        .wrap = flight->is_wrapped ? flight->wrap_end : UINT32_MAX,
    };
    if (packet->has_eye) {
        walk_over(&walk, PH_FLIGHT_EYE_UNITS);
    }
    return walk;
}

void ph_flight_walk_on(ph_flight_walk* walk)
{
    const uint32_t value_bytes = walk->units[walk->place + 1] >> (16 + PH_FLIGHT_FLAG_BITS);
    walk_over(walk, walk->head_units + (value_bytes + 3) / 4);
}

void ph_flight_retire(ph_flight* flight)
{
    PH_ASSERT(flight->count > 0);

    flight->first = (flight->first + 1) % PH_FLIGHT_MAX;
    --flight->count;
    if (flight->count == 0) {
        flight->head = 0;
        flight->tail = 0;
        flight->is_wrapped = false;
        return;
    }
    const uint32_t tail = flight->packets[flight->first].first;
    if (tail < flight->tail) {
        flight->is_wrapped = false;
    }
    flight->tail = tail;
}

// ---- growth

uint16_t ph_flight_moved(const ph_flight* before, uint16_t place)
{
    return (uint16_t)(place >= before->tail ? place - before->tail
                                            : place + (before->wrap_end - before->tail));
}

void ph_flight_move(ph_flight* flight, uint32_t* units, uint32_t capacity)
{
    PH_ASSERT(!flight->is_open);
    PH_ASSERT(capacity >= flight->capacity && capacity <= PH_FLIGHT_UNITS_MAX);

    const ph_flight before = *flight;
    const uint32_t older_end = before.is_wrapped ? before.wrap_end : before.head;
    const uint32_t older_count = older_end - before.tail;
    const uint32_t newer_count = before.is_wrapped ? before.head : 0;
    if (older_count > 0) {
        memcpy(units, before.units + before.tail, older_count * sizeof(uint32_t));
    }
    if (newer_count > 0) {
        memcpy(units + older_count, before.units, newer_count * sizeof(uint32_t));
    }
    flight->units = units;
    flight->capacity = capacity;
    flight->tail = 0;
    flight->head = older_count + newer_count;
    flight->is_wrapped = false;
    for (int i = 0; i < flight->count; ++i) {
        ph_flight_packet* packet = &flight->packets[(flight->first + i) % PH_FLIGHT_MAX];
        packet->first = ph_flight_moved(&before, packet->first);
        ph_flight_walk walk = ph_flight_walk_make(flight, packet);
        for (int item = 0; item < packet->item_count; ++item, ph_flight_walk_on(&walk)) {
            uint32_t* unit = &units[walk.place];
            const uint16_t older = ph_flight_moved(&before, (uint16_t)(*unit >> 16));
            *unit = (*unit & 0xFFFFu) | (uint32_t)older << 16;
        }
    }
}

// ---- soundness

bool ph_flight_validate(const ph_flight* flight)
{
    if (flight->count < 0 || flight->count > PH_FLIGHT_MAX || flight->head > flight->capacity ||
        flight->first < 0 || flight->first >= PH_FLIGHT_MAX) {
        return false;
    }
    if (flight->count == 0) {
        return flight->head == flight->tail && !flight->is_wrapped;
    }
    uint32_t place = flight->tail;
    for (int i = 0; i < flight->count; ++i) {
        const ph_flight_packet* packet = &flight->packets[(flight->first + i) % PH_FLIGHT_MAX];
        if (packet->first != place || packet->item_count == 0) {
            return false;
        }
        ph_flight_walk walk = ph_flight_walk_make(flight, packet);
        for (int item = 0; item < packet->item_count; ++item, ph_flight_walk_on(&walk)) {
            if (walk.place + walk.head_units > flight->capacity) {
                return false;
            }
        }
        place = walk.place;
    }
    return place == flight->head;
}
