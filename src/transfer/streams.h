// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A stream is what is told of one cell on one channel. Records of all streams are written in turns, each
// behind the last one of its stream, into chunks:
//
//   stream 7   first ──► chunk 2 [header room│record record ...] ──► chunk 9 [record ...]
//
// A batch that fits into one chunk is delivered from there, a longer one is put together first. Finding a stream
// by its cell takes a lookup; entities remember theirs. Memory grows to what one call needs at once.

#ifndef PH_TRANSFER_STREAMS_H
#define PH_TRANSFER_STREAMS_H

#include "base/hash.h"
#include "transfer/transfer_wire.h"

// The first stream is none: it has no cell, and no place is in it.
#define PH_STREAM_NONE 0u
// Room for a header and any record.
#define PH_CHUNK_BYTES PH_EXPORT_BATCH_BYTES_MIN

typedef struct ph_stream {
    int32_t from_mm[2]; // where its cell begins
    uint32_t extent_mm; // how far it reaches in x and y; 0: nothing is known to be in it
    uint32_t room;      // of the last chunk
    uint8_t* cursor;    // where the next record goes; NULL: it has no chunk
    uint32_t last_chunk;
    uint32_t first_chunk;
    uint32_t size; // of the batch under way, with its header
    uint32_t record_count;
    ph_cell cell;
    int32_t channel;
    int32_t member_count; // entities that were told last in it; one that has none is given back
} ph_stream;

_Static_assert(sizeof(ph_stream) <= 64, "a cache line");

typedef struct ph_stream_chunk {
    uint32_t used;
    uint32_t next; // of the same stream or of the free ones
    uint8_t bytes[PH_CHUNK_BYTES];
} ph_stream_chunk;

// Its key ascends with channel and cell.
typedef struct ph_stream_place {
    uint64_t key;
    uint32_t stream;
} ph_stream_place;

// {0} may be destroyed. Chunks are in blocks that never move, twice as large each.
typedef struct ph_streams {
    ph_stream* all;
    int count;
    int capacity;
    ph_stream_place* order; // those that are in use, by channel, then cell
    int order_count;
    bool is_ordered;
    uint32_t free_stream; // given back, linked by first_chunk
    ph_hash_map by_cell;  // and channel
    ph_stream_chunk* blocks[24];
    int block_count;
    uint32_t free_chunk;
    uint8_t* batch; // where longer ones are put together
    size_t batch_bytes;
    ph_batch_header header; // of every batch, but for cell, channel and count
    size_t header_size;
    bool is_leaving; // what is told now are departures
    ph_cell_batch_fn* deliver;
    void* deliver_context;
    ph_allocator allocator;
} ph_streams;

// header has owner, fingerprint and cell_mm. @return PH_OK, or PH_ERROR_MEMORY with *streams set to {0}.
ph_result ph_streams_create(ph_streams* streams, const ph_batch_header* header, int batch_bytes,
                            const ph_allocator* allocator);
void ph_streams_destroy(ph_streams* streams);

// The stream of a cell and channel, made if need be, which may move all others. @return PH_OK or
// PH_ERROR_MEMORY.
ph_result ph_streams_find(ph_streams* streams, ph_cell cell, int channel, uint32_t* stream);

// The same, where there is one. @return Else PH_STREAM_NONE.
uint32_t ph_streams_try_find(const ph_streams* streams, ph_cell cell, int channel);

// The same in a chunk of its own: for those below.
uint8_t* ph_streams_link(ph_streams* streams, uint32_t stream);

// Where a record of at most so many bytes may be written now, and PH_TRANSFER_SLACK behind it. It counts when it
// is added.
static inline uint8_t* ph_streams_room(ph_streams* streams, uint32_t stream, uint32_t size_max)
{
    ph_stream* to = &streams->all[stream];
    return to->room >= size_max + PH_TRANSFER_SLACK ? to->cursor : ph_streams_link(streams, stream);
}
void ph_streams_add(ph_streams* streams, uint32_t stream, size_t size);

// Delivers all that is under way, by channel and cell.
void ph_streams_flush(ph_streams* streams);

// Gives back those that have no members. After a flush.
void ph_streams_prune(ph_streams* streams);

#endif
