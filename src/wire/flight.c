// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The ring of what is on its way; flight.h has the drawing.

#include "wire/flight.h"

#include "base/prefetch.h"

_Static_assert(sizeof(ph_flight_packet) == 24, "no padding but at the end");

void ph_flight_init(ph_flight* flight, uint32_t* units, uint32_t capacity, bool is_wide)
{
    PH_ASSERT(capacity >= 1 && capacity <= PH_FLIGHT_UNITS_MAX);

    *flight = (ph_flight){.units = units, .capacity = capacity, .is_wide = is_wide};
}

// ---- sending

bool ph_flight_begin(ph_flight* flight, const ph_flight_stamp* stamp, const int32_t* eye_mm)
{
    PH_ASSERT(ph_flight_has_place(flight) && !flight->is_open);

    const uint32_t place = eye_mm != NULL ? ph_flight_find_room(flight, PH_FLIGHT_EYE_UNITS) : 0;
    if (place == PH_FLIGHT_NO_ROOM) {
        return false;
    }
    flight->open = (ph_flight_packet){.stamp = *stamp, .has_eye = eye_mm != NULL};
    if (eye_mm != NULL) {
        ph_flight_take_room(flight, place, PH_FLIGHT_EYE_UNITS);
        flight->open.first = (uint16_t)place;
        memcpy(&flight->units[place], eye_mm, PH_FLIGHT_EYE_UNITS * sizeof(uint32_t));
    }
    flight->is_open = true;
    return true;
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

void ph_flight_add_mileage(ph_flight* flight, uint16_t place, uint32_t mileage_mm)
{
    flight->units[place + 3] += mileage_mm;
}

const ph_flight_packet* ph_flight_oldest(const ph_flight* flight)
{
    PH_ASSERT(flight->count > 0);

    return &flight->packets[flight->first];
}

void ph_flight_prefetch_oldest(const ph_flight* flight)
{
    const uint32_t begin = ph_flight_oldest(flight)->first;
    const uint32_t next = flight->count > 1
                              ? flight->packets[(unsigned)(flight->first + 1) % PH_FLIGHT_MAX].first
                              : flight->head;
    const uint32_t end = next > begin ? next : flight->is_wrapped ? flight->wrap_end : begin;
    ph_prefetch_bytes(&flight->units[begin], (end - begin) * sizeof(uint32_t));
}

void ph_flight_eye(const ph_flight* flight, const ph_flight_packet* packet, int32_t eye_mm[3])
{
    PH_ASSERT(packet->has_eye);

    memcpy(eye_mm, &flight->units[packet->first], PH_FLIGHT_EYE_UNITS * sizeof(uint32_t));
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
