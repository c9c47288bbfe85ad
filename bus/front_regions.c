// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whose word counts. Epochs are believed as they are heard. Then the region's record is read: it has the name of the
// owner, and the last word when a message claims an epoch that there is not.
//
// A comparison for each message of a cell; the rest once for each owner of a region.

#include "bus/front_state.h"

#include <string.h>

enum { LOWER_READS = 4 };

#define READ_AGAIN_US 500000

int front_find_region(const ph_bus_front* front, int number)
{
    uint32_t place;
    return ph_hash_map_try_find(&front->region_map, (uint64_t)number, &place) ? (int)place : -1;
}

static int make_region(ph_bus_front* front, int number, uint32_t epoch)
{
    if (!front_grow_map(&front->region_map) ||
        !front_grow(front, (void**)&front->regions, &front->region_capacity,
                    front->region_count + 1, sizeof *front->regions)) {
        return -1;
    }
    const int place = front->region_count++;
    front->regions[place] = (front_region){.number = number, .epoch = epoch};
    ph_hash_map_insert(&front->region_map, (uint64_t)number, (uint32_t)place);
    return place;
}

static void set_epoch(ph_bus_front* front, int place, uint32_t epoch)
{
    front_region* region = &front->regions[place];
    region->epoch = epoch;
    region->is_read = false;
    region->lower_reads = 0;
    region->sim[0] = '\0';
    for (int i = 0; i < front->stream_count; ++i) {
        front_stream* stream = &front->streams[i];
        if (stream->is_used && stream->region == (uint32_t)place) {
            stream->sequence = 0;
            stream->heard_us = front->now_us;
            front_ask_stream(front, stream);
        }
    }
}

bool front_compare_epoch(ph_bus_front* front, int place, uint32_t epoch)
{
    const uint32_t known = front->regions[place].epoch;
#ifndef PH_BUS_UNFENCED
    if (PH_UNLIKELY(epoch < known)) {
        ++front->stats.old_epoch;
        return false;
    }
#endif
    if (PH_UNLIKELY(epoch > known)) {
        set_epoch(front, place, epoch);
    }
    return true;
}

bool front_hear_epoch(ph_bus_front* front, int region, uint32_t epoch)
{
    const int place = front_find_region(front, region);
    return place < 0 ? make_region(front, region, epoch) >= 0
                     : front_compare_epoch(front, place, epoch);
}

void front_regions_tick(ph_bus_front* front)
{
    if (front->now_us - front->regions_us < 100000) {
        return;
    }
    front->regions_us = front->now_us;
    const ph_bus_transport* transport = &front->def.transport;
    for (int i = 0; i < front->region_count; ++i) {
        front_region* region = &front->regions[i];
        if (!region->is_read &&
            (region->read_us == 0 || front->now_us - region->read_us >=
                                         (region->is_reading ? 10 : 1) * (uint64_t)READ_AGAIN_US)) {
            char key[PH_BUS_SUBJECT_MAX];
            bus_record_key(key, front->world_name, region->number);
            region->read_us = front->now_us;
            region->is_reading = true;
            transport->read(transport->context, key, (uint64_t)region->number + 1);
        }
    }
}

// A read may be a little old, so that a lower epoch is believed only when several say so.
void front_take_answer(ph_bus_front* front, const ph_bus_answer* answer)
{
    const int place = answer->ticket >= 1 && answer->ticket <= PH_REGION_MAX + 1
                          ? front_find_region(front, (int)answer->ticket - 1)
                          : -1;
    bus_ownership record;
    if (place < 0) {
        return;
    }
    front_region* region = &front->regions[place];
    region->is_reading = false;
    if (answer->outcome != PH_BUS_DONE) {
        return;
    }
    if (answer->revision == 0) {
        region->is_read = true; // no record says which sim owns it
        return;
    }
    if (!bus_read_ownership(&record, answer->bytes, answer->size)) {
        front_refuse(front, PH_BUS_REFUSAL_FIELD);
        return;
    }
    if (record.epoch < region->epoch && ++region->lower_reads < LOWER_READS) {
        return;
    }
    if (record.epoch < region->epoch) {
        front_refuse(front, PH_BUS_REFUSAL_FIELD);
    }
    if (record.epoch != region->epoch) {
        set_epoch(front, place, record.epoch);
    }
    region->is_read = true;
    memcpy(region->sim, record.sim, sizeof region->sim);
}
