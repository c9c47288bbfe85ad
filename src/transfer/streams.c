// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Streams and their chunks. ph_streams_room() and ph_streams_add() run for every record, the rest for every
// batch or less.

#include "transfer/streams.h"

#include "base/allocator.h"
#include "base/compiler.h"

#include <stdlib.h>
#include <string.h>

#define STREAM_SEED UINT64_C(0x73747265616D)
#define NO_CHUNK UINT32_MAX

enum {
    STREAM_ROOM_MIN = 64,
    BLOCK0_CHUNKS = 64,
    BLOCKS_MAX = sizeof(((ph_streams*)0)->blocks) / sizeof(ph_stream_chunk*),
    // Of the header, rounded up.
    HEADER_ROOM = 40,
};

// ---- chunks: block b has BLOCK0_CHUNKS << b of them

static ph_stream_chunk* chunk_at(const ph_streams* streams, uint32_t chunk)
{
    int block = 0;
    uint32_t first = 0;
    for (uint32_t size = BLOCK0_CHUNKS; chunk - first >= size; size *= 2) {
        first += size;
        ++block;
    }
    return &streams->blocks[block][chunk - first];
}

static ph_result add_chunk_block(ph_streams* streams)
{
    if (streams->block_count == BLOCKS_MAX) {
        return PH_ERROR_MEMORY;
    }
    const uint32_t size = (uint32_t)BLOCK0_CHUNKS << streams->block_count;
    const uint32_t first = size - BLOCK0_CHUNKS;
    ph_stream_chunk* block = ph_allocate_array(&streams->allocator, size, sizeof(ph_stream_chunk));
    if (block == NULL) {
        return PH_ERROR_MEMORY;
    }
    streams->blocks[streams->block_count++] = block;
    for (uint32_t i = size; i-- > 0;) {
        block[i].next = streams->free_chunk;
        streams->free_chunk = first + i;
    }
    return PH_OK;
}

// Where there is no memory for more, what there is is delivered: smaller batches, but nothing is lost.
static uint32_t take_chunk(ph_streams* streams)
{
    if (streams->free_chunk == NO_CHUNK && add_chunk_block(streams) != PH_OK) {
        ph_streams_flush(streams);
    }
    PH_ASSERT(streams->free_chunk != NO_CHUNK);

    const uint32_t taken = streams->free_chunk;
    ph_stream_chunk* chunk = chunk_at(streams, taken);
    streams->free_chunk = chunk->next;
    chunk->next = NO_CHUNK;
    chunk->used = 0;
    return taken;
}

static void give_back_chunks(ph_streams* streams, ph_stream* stream)
{
    uint32_t chunk = stream->first_chunk;
    while (chunk != NO_CHUNK) {
        ph_stream_chunk* at = chunk_at(streams, chunk);
        const uint32_t next = at->next;
        at->next = streams->free_chunk;
        streams->free_chunk = chunk;
        chunk = next;
    }
    stream->first_chunk = NO_CHUNK;
    stream->last_chunk = NO_CHUNK;
    stream->cursor = NULL;
    stream->room = 0;
    stream->size = 0;
    stream->record_count = 0;
}

// ---- life

ph_result ph_streams_create(ph_streams* streams, const ph_batch_header* header, int batch_bytes,
                            const ph_allocator* allocator)
{
    *streams = (ph_streams){
        .allocator = *allocator,
        .header = *header,
        .batch_bytes = (size_t)batch_bytes,
        .header_size = ph_batch_header_size(header),
        .free_chunk = NO_CHUNK,
        .is_ordered = true,
        .batch = ph_allocate(allocator, (size_t)batch_bytes),
        .all = ph_allocate_array(allocator, STREAM_ROOM_MIN, sizeof(ph_stream)),
        .order = ph_allocate_array(allocator, STREAM_ROOM_MIN, sizeof(ph_stream_place)),
        .capacity = STREAM_ROOM_MIN,
        .count = 1,
    };
    if (streams->batch == NULL || streams->all == NULL || streams->order == NULL ||
        ph_hash_map_create(&streams->by_cell, allocator, STREAM_ROOM_MIN, STREAM_SEED) != PH_OK ||
        add_chunk_block(streams) != PH_OK) {
        ph_streams_destroy(streams);
        return PH_ERROR_MEMORY;
    }
    streams->all[PH_STREAM_NONE] = (ph_stream){.first_chunk = NO_CHUNK, .last_chunk = NO_CHUNK};
    return PH_OK;
}

void ph_streams_destroy(ph_streams* streams)
{
    const ph_allocator* allocator = &streams->allocator;
    for (int i = 0; i < streams->block_count; ++i) {
        ph_release_array(allocator, streams->blocks[i], (size_t)BLOCK0_CHUNKS << i,
                         sizeof(ph_stream_chunk));
    }
    ph_release(allocator, streams->batch, streams->batch_bytes);
    ph_release_array(allocator, streams->all, (size_t)streams->capacity, sizeof(ph_stream));
    ph_release_array(allocator, streams->order, (size_t)streams->capacity, sizeof(ph_stream_place));
    ph_hash_map_destroy(&streams->by_cell);
    *streams = (ph_streams){0};
}

// ---- finding

// Ascends with channel and cell. Cells of at least PH_CELL_MM_MIN have less than 24 bits.
static uint64_t stream_key(ph_cell cell, int channel)
{
    const uint64_t bias = UINT64_C(1) << 23;
    const uint64_t mask = 2 * bias - 1;
    if (ph_cell_is_same(cell, PH_CELL_EVERYWHERE)) {
        return (uint64_t)channel << 56;
    }
    return (uint64_t)channel << 56 | UINT64_C(1) << 48 |
           (((uint64_t)(int64_t)cell.y + bias) & mask) << 24 |
           (((uint64_t)(int64_t)cell.x + bias) & mask);
}

uint32_t ph_streams_try_find(const ph_streams* streams, ph_cell cell, int channel)
{
    uint32_t stream = PH_STREAM_NONE;
    ph_hash_map_try_find(&streams->by_cell, stream_key(cell, channel), &stream);
    return stream;
}

static ph_result grow_streams(ph_streams* streams)
{
    const ph_allocator* allocator = &streams->allocator;
    const size_t was = (size_t)streams->capacity;
    if (ph_hash_map_reserve(&streams->by_cell, 2 * streams->capacity) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    ph_stream* all = ph_allocate_array(allocator, 2 * was, sizeof *all);
    ph_stream_place* order = ph_allocate_array(allocator, 2 * was, sizeof *order);
    if (all == NULL || order == NULL) {
        ph_release_array(allocator, all, 2 * was, sizeof *all);
        ph_release_array(allocator, order, 2 * was, sizeof *order);
        return PH_ERROR_MEMORY;
    }
    memcpy(all, streams->all, (size_t)streams->count * sizeof *all);
    memcpy(order, streams->order, (size_t)streams->order_count * sizeof *order);
    ph_release_array(allocator, streams->all, was, sizeof *all);
    ph_release_array(allocator, streams->order, was, sizeof *order);
    streams->all = all;
    streams->order = order;
    streams->capacity *= 2;
    return PH_OK;
}

static ph_stream make_stream(const ph_streams* streams, ph_cell cell, int channel)
{
    const int32_t cell_mm = streams->header.cell_mm;
    const bool is_everywhere = ph_cell_is_same(cell, PH_CELL_EVERYWHERE);
    return (ph_stream){
        // Cells at the edge of the world wrap round, as the differences of places do.
        .from_mm = {(int32_t)((uint32_t)cell.x * (uint32_t)cell_mm),
                    (int32_t)((uint32_t)cell.y * (uint32_t)cell_mm)},
        .extent_mm = is_everywhere ? UINT32_MAX : (uint32_t)cell_mm,
        .first_chunk = NO_CHUNK,
        .last_chunk = NO_CHUNK,
        .cell = cell,
        .channel = channel,
    };
}

ph_result ph_streams_find(ph_streams* streams, ph_cell cell, int channel, uint32_t* stream)
{
    const uint64_t key = stream_key(cell, channel);
    if (ph_hash_map_try_find(&streams->by_cell, key, stream)) {
        return PH_OK;
    }
    if (streams->free_stream == PH_STREAM_NONE && streams->count == streams->capacity &&
        grow_streams(streams) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    *stream = streams->free_stream;
    if (*stream != PH_STREAM_NONE) {
        streams->free_stream = streams->all[*stream].first_chunk;
    } else {
        *stream = (uint32_t)streams->count++;
    }
    streams->all[*stream] = make_stream(streams, cell, channel);
    ph_hash_map_insert(&streams->by_cell, key, *stream);
    streams->order[streams->order_count++] = (ph_stream_place){.key = key, .stream = *stream};
    streams->is_ordered = false;
    return PH_OK;
}

// ---- writing

_Static_assert(HEADER_ROOM + PH_TRANSFER_RECORD_MAX + PH_TRANSFER_SLACK <= PH_CHUNK_BYTES,
               "every chunk has room for any record");

uint8_t* ph_streams_link(ph_streams* streams, uint32_t stream)
{
    const uint32_t chunk = take_chunk(streams); // may deliver what the stream has
    ph_stream* to = &streams->all[stream];
    uint32_t begin = 0;
    if (to->last_chunk == NO_CHUNK) {
        to->first_chunk = chunk;
        to->size = (uint32_t)streams->header_size;
        begin = HEADER_ROOM; // it ends where the records begin
    } else {
        ph_stream_chunk* last = chunk_at(streams, to->last_chunk);
        last->next = chunk;
        last->used = PH_CHUNK_BYTES - to->room;
    }
    to->last_chunk = chunk;
    to->cursor = chunk_at(streams, chunk)->bytes + begin;
    to->room = PH_CHUNK_BYTES - begin;
    return to->cursor;
}

static void deliver_stream(ph_streams* streams, ph_stream* stream)
{
    const size_t header_size = streams->header_size;
    ph_stream_chunk* first = chunk_at(streams, stream->first_chunk);
    uint8_t* bytes = first->bytes + HEADER_ROOM - header_size;
    streams->header.cell = stream->cell;
    streams->header.channel = stream->channel;
    streams->header.record_count = (int)stream->record_count;
    if (first->next != NO_CHUNK) {
        chunk_at(streams, stream->last_chunk)->used = PH_CHUNK_BYTES - stream->room;
        size_t size = header_size;
        uint32_t begin = HEADER_ROOM;
        for (uint32_t chunk = stream->first_chunk; chunk != NO_CHUNK;) {
            const ph_stream_chunk* at = chunk_at(streams, chunk);
            memcpy(streams->batch + size, at->bytes + begin, at->used - begin);
            size += at->used - begin;
            begin = 0;
            chunk = at->next;
        }
        bytes = streams->batch;
    }
    ph_batch_header_write(&streams->header, bytes);
    const ph_cell_batch batch = {
        .cell = stream->cell,
        .channel = stream->channel,
        .record_count = (int)stream->record_count,
        .is_leaving = streams->is_leaving,
        .bytes = bytes,
        .size = stream->size,
    };
    streams->deliver(streams->deliver_context, &batch);
    give_back_chunks(streams, stream);
}

// The batch is full: the record that was just written begins the next one.
static PH_OUT_OF_LINE void begin_next_batch(ph_streams* streams, uint32_t stream, size_t size)
{
    uint8_t record[PH_TRANSFER_RECORD_MAX];
    memcpy(record, streams->all[stream].cursor, size);
    // A chunk that was linked for this record has nothing yet, but belongs to the batch.
    deliver_stream(streams, &streams->all[stream]);
    memcpy(ph_streams_link(streams, stream), record, size);
}

void ph_streams_add(ph_streams* streams, uint32_t stream, size_t size)
{
    ph_stream* to = &streams->all[stream];
    if (PH_UNLIKELY(to->size + size > streams->batch_bytes ||
                    to->record_count == PH_BATCH_RECORDS_MAX)) {
        begin_next_batch(streams, stream, size);
    }
    to->cursor += size;
    to->room -= (uint32_t)size;
    to->size += (uint32_t)size;
    ++to->record_count;
}

// ---- all of them

static int compare_places(const void* left, const void* right)
{
    const uint64_t a = ((const ph_stream_place*)left)->key;
    const uint64_t b = ((const ph_stream_place*)right)->key;
    return (a > b) - (a < b);
}

void ph_streams_flush(ph_streams* streams)
{
    if (!streams->is_ordered) {
        qsort(streams->order, (size_t)streams->order_count, sizeof *streams->order, compare_places);
        streams->is_ordered = true;
    }
    for (int i = 0; i < streams->order_count; ++i) {
        ph_stream* stream = &streams->all[streams->order[i].stream];
        if (stream->record_count > 0) {
            deliver_stream(streams, stream);
        } else if (stream->first_chunk != NO_CHUNK) {
            give_back_chunks(streams, stream);
        }
    }
}

void ph_streams_prune(ph_streams* streams)
{
    int kept = 0;
    for (int i = 0; i < streams->order_count; ++i) {
        const ph_stream_place place = streams->order[i];
        ph_stream* stream = &streams->all[place.stream];
        if (stream->member_count > 0) {
            streams->order[kept++] = place;
            continue;
        }
        ph_hash_map_remove(&streams->by_cell, place.key);
        *stream = (ph_stream){.first_chunk = streams->free_stream, .last_chunk = NO_CHUNK};
        streams->free_stream = place.stream;
    }
    streams->order_count = kept;
}
