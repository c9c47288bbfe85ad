// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A cell at one go, or one entity: for those who begin to follow a cell, and to hand an entity over. Once per cell and
// front-end that starts.

#include "transfer/export.h"
#include "transfer/exporter_state.h"

#include "base/allocator.h"
#include "base/bitset.h"

#include <string.h>

// ---- who is on a stream

void ph_exporter_forget_members(ph_exporter* exporter)
{
    const ph_allocator* allocator = &exporter->def.world->def.allocator;
    ph_stream_members* members = &exporter->members;
    ph_release_array(allocator, members->ends, members->end_count, sizeof *members->ends);
    ph_release_array(allocator, members->entities, members->entity_count,
                     sizeof *members->entities);
    *members = (ph_stream_members){0};
}

int ph_exporter_count(const ph_exporter* exporter, ph_cell cell, int channel)
{
    PH_ASSERT(channel >= 0 && channel < PH_CHANNEL_COUNT);

    const ph_streams* streams = &exporter->streams;
    return ph_is_cell(cell, exporter->def.cell_mm)
               ? streams->all[ph_streams_try_find(streams, cell, channel)].member_count
               : 0;
}

// The streams that an entity was told in. @return How many.
static int streams_of(const ph_exporter* exporter, int i, uint32_t* streams)
{
    const ph_told_entity* told = &exporter->told[i];
    const ph_told_place* place = &exporter->places[i];
    int count = 0;
    if (told->stream != PH_STREAM_NONE) {
        streams[count++] = told->stream;
        return count;
    }
    for (uint64_t left = place->channels; left != 0; left &= left - 1) {
        streams[count++] =
            ph_streams_try_find(&exporter->streams, place->cell, ph_word_lowest_bit(left));
    }
    return count;
}

// Sorts those told by stream, by counting. @return False: there is no memory.
static bool find_stream_members(ph_exporter* exporter)
{
    const ph_allocator* allocator = &exporter->def.world->def.allocator;
    const size_t stream_count = (size_t)exporter->streams.count;
    ph_stream_members* members = &exporter->members;
    uint32_t streams[PH_CHANNEL_COUNT];
    size_t entity_count = 0;
    for (size_t i = 0; i < stream_count; ++i) {
        entity_count += (size_t)exporter->streams.all[i].member_count;
    }
    if (stream_count > members->end_count || entity_count > members->entity_count) {
        ph_exporter_forget_members(exporter);
        members->end_count = stream_count + stream_count / 4;
        members->entity_count = entity_count + entity_count / 4;
        members->ends = ph_allocate_array(allocator, members->end_count, sizeof *members->ends);
        members->entities =
            ph_allocate_array(allocator, members->entity_count, sizeof *members->entities);
        if (members->ends == NULL || members->entities == NULL) {
            ph_exporter_forget_members(exporter);
            return false;
        }
    }
    // First where each begins; filling moves that to where it ends.
    uint32_t begin = 0;
    for (size_t i = 0; i < stream_count; ++i) {
        members->ends[i] = begin;
        begin += (uint32_t)exporter->streams.all[i].member_count;
    }
    for (int i = 0; i < exporter->told_count; ++i) {
        for (int left = streams_of(exporter, i, streams); left > 0; --left) {
            members->entities[members->ends[streams[left - 1]]++] = exporter->told[i].index;
        }
    }
    members->is_current = true;
    return true;
}

typedef struct cell_delivery {
    ph_cell cell;
    int channel;
    ph_cell_batch_fn* deliver;
    void* context;
} cell_delivery;

static void deliver_cell(void* context, const void* bytes, size_t size)
{
    const cell_delivery* to = context;
    ph_batch_header header;
    ph_import_refusal none;
    ph_batch_header_read(&header, bytes, size, &none);
    const ph_cell_batch batch = {
        .cell = to->cell,
        .channel = to->channel,
        .record_count = header.record_count,
        .bytes = bytes,
        .size = size,
    };
    to->deliver(to->context, &batch);
}

ph_result ph_exporter_cell(ph_exporter* exporter, ph_cell cell, int channel, uint32_t stamp,
                           ph_cell_batch_fn* deliver, void* context)
{
    ph_check check = ph_world_call(exporter->def.world, __func__);
    ph_check_range(&check, "channel", channel, 0, PH_CHANNEL_COUNT - 1);
    ph_check_that(&check, ph_is_cell(cell, exporter->def.cell_mm), "cell", "outside of the world",
                  "a cell of ph_cell_at(), or PH_CELL_EVERYWHERE");
    if (check.result != PH_OK) {
        return check.result;
    }
    if (!exporter->members.is_current && !find_stream_members(exporter)) {
        return ph_fail_memory(&check);
    }
    const uint32_t stream = ph_streams_try_find(&exporter->streams, cell, channel);
    const ph_stream_members* members = &exporter->members;
    const uint32_t begin = stream == PH_STREAM_NONE ? 0 : members->ends[stream - 1];
    const uint32_t end = stream == PH_STREAM_NONE ? 0 : members->ends[stream];
    ph_export_request request = {
        .world = exporter->def.world,
        .header = exporter->streams.header,
        .owner = exporter->def.owner,
        .batch_bytes = exporter->def.batch_bytes,
        .candidates = members->entities + begin,
        .candidate_count = (int)(end - begin),
    };
    request.header.is_whole = true;
    request.header.stamp = stamp;
    request.header.cell = cell;
    request.header.channel = channel;
    cell_delivery to = {cell, channel, deliver, context};
    return ph_export_at_once(&request, deliver_cell, &to) == PH_OK ? PH_OK : ph_fail_memory(&check);
}

size_t ph_exporter_entity(ph_exporter* exporter, ph_entity_id entity, uint32_t stamp, void* bytes,
                          size_t capacity)
{
    const ph_store* store = &exporter->def.world->store;
    const ph_entity_index index = ph_entities_find(&store->entities, entity);
    uint8_t record[PH_TRANSFER_RECORD_MAX + PH_TRANSFER_SLACK];
    if (index == PH_ENTITY_NONE) {
        return 0;
    }
    const ph_batch_header header = {
        .record_count = 1,
        .owner = exporter->def.as_owner,
        .stamp = stamp,
        .fingerprint = exporter->streams.header.fingerprint,
    };
    const size_t header_size = ph_batch_header_size(&header);
    const size_t size = ph_transfer_write_state(record, store, index, UINT64_MAX);
    if (header_size + size > capacity) {
        return 0;
    }
    ph_batch_header_write(&header, bytes);
    memcpy((uint8_t*)bytes + header_size, record, size);
    return header_size + size;
}
