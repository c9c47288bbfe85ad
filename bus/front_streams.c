// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What comes of cells: epochs, sequences, gaps and snapshots. front_take_cell() runs for every message: it finds the
// stream by one hash, compares a few numbers, and hands the batch to the importer.
//
// A stream is one region, cell and channel. It is known when a snapshot was applied and no sequence has been missed
// since. What comes of one that is not known is applied, too: versions of entities (transfer.h) keep what is older from
// harming. Each stream that is not known, and each cell that was never answered, is in the list of asks: asked for until
// it is answered, no more than FRONT_ASKS_MAX at a time.

#include "bus/front_state.h"

#include <string.h>

enum {
    CELL_END = 1 << 19,    // cells are less than this from the middle: PH_CELL_MM_MIN
    STREAMS_IN_CELL = 256, // more than so many are made up
    OLD_IN_A_ROW = 8,
    SWEEP_TICKS = 16,
    TRIES_ALONE = 4, // of a cell as a whole, before its streams are asked for, too
};

// ---- asks

static uint32_t* ask_place(ph_bus_front* front, const front_ask* ask)
{
    return ask->is_stream ? &front->streams[ask->place].ask1
                          : &front->cells[ask->place].asks1[ask->key];
}

static void add_ask(ph_bus_front* front, const front_ask* ask)
{
    uint32_t* place = ask_place(front, ask);
    if (*place != 0) {
        return;
    }
    // Without memory the stream stays unknown, and the next silence or gap tries again.
    if (front_grow(front, (void**)&front->asks, &front->ask_capacity, front->ask_count + 1,
                   sizeof *front->asks)) {
        front->asks[front->ask_count++] = *ask;
        *place = (uint32_t)front->ask_count;
    }
}

void front_ask_end(ph_bus_front* front, uint32_t ask1)
{
    if (ask1 == 0) {
        return;
    }
    *ask_place(front, &front->asks[ask1 - 1]) = 0;
    const front_ask last = front->asks[--front->ask_count];
    if (ask1 - 1 != (uint32_t)front->ask_count) {
        front->asks[ask1 - 1] = last;
        *ask_place(front, &last) = ask1;
    }
}

void front_ask_cell(ph_bus_front* front, uint32_t cell, int key)
{
    add_ask(front, &(front_ask){.place = cell, .key = (uint8_t)key});
}

void front_ask_stream(ph_bus_front* front, front_stream* stream)
{
    stream->is_known = false;
    stream->snapshot_part = 0;
    add_ask(front, &(front_ask){.place = (uint32_t)(stream - front->streams), .is_stream = true});
}

// While the cell as a whole is being asked for, its streams wait for that answer.
static bool is_cell_asked(const ph_bus_front* front, const front_ask* ask)
{
    if (!ask->is_stream) {
        return false;
    }
    const front_stream* stream = &front->streams[ask->place];
    const front_cell* cell = &front->cells[stream->cell];
    const uint32_t ask1 = cell->asks1[stream->channel] != 0 ? cell->asks1[stream->channel]
                                                            : cell->asks1[FRONT_KEY_ALL];
    return ask1 != 0 && front->asks[ask1 - 1].tries < TRIES_ALONE;
}

static uint64_t ask_timeout_us(const front_ask* ask)
{
    return ask->tries <= 3 ? FRONT_RESEND_US : ask->tries <= 6 ? 2 * FRONT_RESEND_US : 1000000;
}

static bool is_outstanding(const ph_bus_front* front, const front_ask* ask)
{
    return ask->asked_us != 0 && front->now_us - ask->asked_us < ask_timeout_us(ask);
}

static void send_ask(ph_bus_front* front, front_ask* ask)
{
    bus_snapshot message = {.region = PH_REGION_NONE};
    if (ask->is_stream) {
        const front_stream* stream = &front->streams[ask->place];
        message.cell = front->cells[stream->cell].cell;
        message.channel = stream->channel;
        message.region = front->regions[stream->region].number;
    } else {
        message.cell = front->cells[ask->place].cell;
        message.channel = ask->key == FRONT_KEY_ALL ? FRONT_ASK_ALL : ask->key;
    }
    memcpy(message.reply_to, front->name, sizeof message.reply_to);
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_world(subject, "snap", front->world_name);
    bus_writer_clear(&front->writer);
    bus_write_snapshot(&front->writer, &message);
    front_publish(front, subject);
    ask->asked_us = front->now_us;
    ask->tries = (uint8_t)(ask->tries < UINT8_MAX ? ask->tries + 1 : UINT8_MAX);
    ++front->stats.snapshots;
}

// From where the last round ended, so that what is never answered keeps nothing else from being asked for.
static void send_asks(ph_bus_front* front)
{
    const ph_bus_transport* transport = &front->def.transport;
    if (front->ask_count == 0 || !transport->is_connected(transport->context)) {
        return;
    }
    int outstanding = 0;
    for (int i = 0; i < front->ask_count; ++i) {
        outstanding += is_outstanding(front, &front->asks[i]);
    }
    for (int i = 0; i < front->ask_count && outstanding < FRONT_ASKS_MAX; ++i) {
        front->ask_cursor = (front->ask_cursor + 1) % front->ask_count;
        front_ask* ask = &front->asks[front->ask_cursor];
        if (!is_outstanding(front, ask) && !is_cell_asked(front, ask)) {
            send_ask(front, ask);
            ++outstanding;
        }
    }
}

// ---- streams

// False for cells that no world has.
static bool stream_name(const bus_cell* head, uint64_t* name)
{
    const bool is_everywhere = ph_cell_is_same(head->cell, PH_CELL_EVERYWHERE);
    const int32_t x = is_everywhere ? 0 : head->cell.x;
    const int32_t y = is_everywhere ? 0 : head->cell.y;
    *name = (uint64_t)(uint16_t)head->region | (uint64_t)head->channel << 16 |
            (uint64_t)((uint32_t)x & 0xFFFFFu) << 22 | (uint64_t)((uint32_t)y & 0xFFFFFu) << 42 |
            (uint64_t)is_everywhere << 62;
    return x >= -CELL_END && x < CELL_END && y >= -CELL_END && y < CELL_END && head->channel >= 0 &&
           head->channel < PH_CHANNEL_OWN && head->region >= 0 && head->region <= PH_REGION_MAX;
}

static int count_streams(const ph_bus_front* front, const front_cell* cell)
{
    int count = 0;
    for (uint32_t next1 = cell->stream1; next1 != 0; next1 = front->streams[next1 - 1].next1) {
        ++count;
    }
    return count;
}

static front_stream* make_stream(ph_bus_front* front, uint64_t name)
{
    uint32_t place = front->free_stream1;
    if (!front_grow_map(&front->stream_map)) {
        return NULL;
    }
    if (place != 0) {
        --place;
        front->free_stream1 = front->streams[place].next1;
    } else if (front_grow(front, (void**)&front->streams, &front->stream_capacity,
                          front->stream_count + 1, sizeof *front->streams)) {
        place = (uint32_t)front->stream_count++;
    } else {
        return NULL;
    }
    ph_hash_map_insert(&front->stream_map, name, place);
    front_stream* stream = &front->streams[place];
    *stream = (front_stream){.name = name, .heard_us = front->now_us, .is_used = true};
    return stream;
}

// The first that is heard of a stream. NULL: it is not wanted, or there is no memory.
static front_stream* begin_stream(ph_bus_front* front, const bus_cell* head,
                                  const ph_bus_message* message, uint64_t name)
{
    const int place = front_find_cell(front, head->cell);
    if (place < 0 || !front_cell_has(&front->cells[place], head->channel)) {
        if (head->is_snapshot) {
            front_refuse(front, PH_BUS_REFUSAL_UNASKED);
        }
        return NULL; // of a block, a cell that is not wanted
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_cell(subject, front->world_name, head->cell, head->channel, head->region);
    if (!head->is_snapshot && strcmp(subject, message->subject) != 0) {
        front_refuse(front, PH_BUS_REFUSAL_SUBJECT);
        return NULL;
    }
    if (count_streams(front, &front->cells[place]) >= STREAMS_IN_CELL) {
        front_refuse(front, PH_BUS_REFUSAL_UNASKED);
        return NULL;
    }
    if (!front_hear_epoch(front, head->region, head->epoch)) {
        return NULL;
    }
    front_stream* stream = make_stream(front, name);
    if (stream == NULL) {
        return NULL;
    }
    front_cell* cell = &front->cells[place];
    stream->cell = (uint32_t)place;
    stream->region = (uint32_t)front_find_region(front, head->region);
    stream->channel = (uint8_t)head->channel;
    stream->next1 = cell->stream1;
    cell->stream1 = (uint32_t)(stream - front->streams) + 1;
    memcpy(stream->subject, subject, sizeof subject);
    front_ask_stream(front, stream);
    return stream;
}

bool front_remove_streams(ph_bus_front* front, uint32_t cell, uint64_t channels)
{
    bool is_filled = false;
    uint32_t* next1 = &front->cells[cell].stream1;
    while (*next1 != 0) {
        const uint32_t place = *next1 - 1;
        front_stream* stream = &front->streams[place];
        if ((channels >> stream->channel & 1) == 0) {
            next1 = &stream->next1;
            continue;
        }
        *next1 = stream->next1;
        is_filled = is_filled || stream->may_have;
        front_ask_end(front, stream->ask1);
        ph_hash_map_remove(&front->stream_map, stream->name);
        stream->is_used = false;
        stream->next1 = front->free_stream1;
        front->free_stream1 = place + 1;
    }
    return is_filled;
}

// ---- what comes

// A batch must be what its message says: an owner speaks for its region, a channel for itself.
static bool is_batch_right(const ph_bus_front* front, const bus_cell* head,
                           const ph_import_peek* peek)
{
    return peek->has_cell && ph_cell_is_same(peek->cell, head->cell) &&
           peek->cell_mm == front->def.cell_mm && peek->channel == head->channel &&
           peek->owner == PH_REGION_OWNER(head->region) && peek->is_whole == head->is_snapshot;
}

static void tell_of_cells(ph_bus_front* front, const ph_import_peek* peek)
{
    if (peek->has_cell && peek->cell_mm != front->def.cell_mm && !front->has_told_cells) {
        const ph_check call =
            ph_check_begin(front->def.on_error, front->def.on_error_context, "ph_bus_front_tick");
        ph_fail(&call, PH_ERROR_ARGUMENT, "ph_bus_front_def.cell_mm",
                "is %d, and a sim says %d; it must be the same on all machines", front->def.cell_mm,
                peek->cell_mm);
        front->has_told_cells = true;
    }
}

static bool take_batch(ph_bus_front* front, front_stream* stream, const bus_cell* head)
{
    ph_import_peek peek;
    const bool is_batch = ph_importer_peek(head->batch, head->batch_size, &peek);
    if (!is_batch || !is_batch_right(front, head, &peek)) {
        if (is_batch) {
            tell_of_cells(front, &peek);
        }
        front_refuse(front, PH_BUS_REFUSAL_BATCH);
        return false;
    }
    const ph_result result = ph_importer_take(front->importer, head->batch, head->batch_size);
    if (PH_UNLIKELY(result != PH_OK)) {
        if (result != PH_ERROR_MEMORY) {
            front_refuse(front, PH_BUS_REFUSAL_BATCH);
        }
        return false;
    }
    ++front->stats.batches;
    front->stats.records += (uint64_t)peek.record_count;
    stream->snapshot_records += (uint32_t)peek.record_count;
    stream->may_have = stream->may_have || peek.record_count > 0;
    return true;
}

// Late and doubled messages come now and then. Many in a row mean that the sequence was a lie.
static void count_old(ph_bus_front* front, front_stream* stream, uint64_t sequence)
{
    ++front->stats.old_sequence;
    if (++stream->old_count >= OLD_IN_A_ROW) {
        stream->old_count = 0;
        stream->sequence = sequence;
        front_ask_stream(front, stream);
    }
}

static void note_gap(ph_bus_front* front, front_stream* stream)
{
    front->stats.gaps += stream->is_known;
    front_ask_stream(front, stream);
}

static void take_changes(ph_bus_front* front, front_stream* stream, const bus_cell* head)
{
    if (head->sequence <= stream->sequence) {
        count_old(front, stream, head->sequence);
        return;
    }
    const bool is_next = head->sequence == stream->sequence + 1;
    if (!take_batch(front, stream, head)) {
        return; // the next one shows a gap, unless this one was a lie
    }
    stream->sequence = head->sequence;
    stream->heard_us = front->now_us;
    stream->old_count = 0;
    if (PH_UNLIKELY(!is_next)) {
        note_gap(front, stream);
    }
}

static void take_heartbeat(ph_bus_front* front, front_stream* stream, const bus_cell* head)
{
    if (head->sequence < stream->sequence) {
        count_old(front, stream, head->sequence);
        return;
    }
    stream->heard_us = front->now_us;
    stream->old_count = 0;
    if (head->sequence > stream->sequence) {
        stream->sequence = head->sequence;
        note_gap(front, stream);
    }
}

// Of all channels, public comes last. @return False: neither was asked for.
static bool end_cell_asks(ph_bus_front* front, const front_stream* stream)
{
    front_cell* cell = &front->cells[stream->cell];
    const bool is_last = stream->channel == PH_CHANNEL_PUBLIC;
    const uint32_t all = is_last ? cell->asks1[FRONT_KEY_ALL] : 0;
    const bool was_asked = cell->asks1[stream->channel] != 0 || all != 0;
    front_ask_end(front, all);
    front_ask_end(front, cell->asks1[stream->channel]); // after that: asks move up
    return was_asked;
}

static void end_snapshot(ph_bus_front* front, front_stream* stream)
{
    stream->sequence = stream->snapshot_sequence;
    stream->snapshot_part = 0;
    stream->is_known = true;
    stream->may_have = stream->snapshot_records > 0;
    stream->old_count = 0;
    stream->heard_us = front->now_us;
    front_ask_end(front, stream->ask1);
    end_cell_asks(front, stream);
}

static void take_snapshot(ph_bus_front* front, front_stream* stream, const bus_cell* head)
{
    if (stream->is_known) {
        // The cell was asked for because of other channels; or this is the second answer to a question asked twice.
        if (head->is_last_part && !end_cell_asks(front, stream)) {
            front_refuse(front, PH_BUS_REFUSAL_UNASKED);
        }
        return;
    }
    if (head->sequence < stream->sequence) {
        count_old(front, stream, head->sequence);
        return;
    }
    if (head->part == 0) {
        stream->snapshot_sequence = head->sequence;
        stream->snapshot_records = 0;
        stream->snapshot_part = 0;
    } else if (head->part != stream->snapshot_part || head->sequence != stream->snapshot_sequence) {
        stream->snapshot_part = 0; // a part is missing; asked for again
        return;
    }
    if (!take_batch(front, stream, head)) {
        return;
    }
    ++stream->snapshot_part;
    if (head->is_last_part) {
        end_snapshot(front, stream);
    }
}

static front_stream* find_stream(ph_bus_front* front, const bus_cell* head,
                                 const ph_bus_message* message)
{
    uint64_t name;
    uint32_t place;
    if (PH_UNLIKELY(!stream_name(head, &name))) {
        front_refuse(front, PH_BUS_REFUSAL_FIELD);
        return NULL;
    }
    if (PH_UNLIKELY(!ph_hash_map_try_find(&front->stream_map, name, &place))) {
        return begin_stream(front, head, message, name);
    }
    front_stream* stream = &front->streams[place];
    if (PH_UNLIKELY(!head->is_snapshot && strcmp(stream->subject, message->subject) != 0)) {
        front_refuse(front, PH_BUS_REFUSAL_SUBJECT);
        return NULL;
    }
    return front_compare_epoch(front, (int)stream->region, head->epoch) ? stream : NULL;
}

void front_take_cell(ph_bus_front* front, const ph_bus_message* message, bool is_answer)
{
    bus_cell head;
    ph_bus_refusal refusal;
    if (PH_UNLIKELY(!bus_read_cell(&head, message->bytes, message->size, &refusal))) {
        front_refuse(front, refusal);
        return;
    }
    if (PH_UNLIKELY(head.is_snapshot != is_answer || (is_answer && head.batch == NULL))) {
        front_refuse(front, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    front_stream* stream = find_stream(front, &head, message);
    if (stream == NULL) {
        return;
    }
    if (is_answer) {
        take_snapshot(front, stream, &head);
    } else if (head.batch != NULL) {
        take_changes(front, stream, &head);
    } else {
        take_heartbeat(front, stream, &head);
    }
}

// ---- doubts

void front_doubt_all(ph_bus_front* front)
{
    for (int i = 0; i < front->cell_count; ++i) {
        front_cell* cell = &front->cells[i];
        for (uint64_t left = cell->open; left != 0; left &= left - 1) {
            front_ask_cell(front, (uint32_t)i, ph_word_lowest_bit(left));
        }
    }
    for (int i = 0; i < front->stream_count; ++i) {
        if (front->streams[i].is_used) {
            front_ask_stream(front, &front->streams[i]);
        }
    }
}

void front_doubt_cell(ph_bus_front* front, ph_cell cell)
{
    const int place = front_find_cell(front, cell);
    uint32_t next1 = place >= 0 ? front->cells[place].stream1 : 0;
    for (; next1 != 0; next1 = front->streams[next1 - 1].next1) {
        front_ask_stream(front, &front->streams[next1 - 1]);
    }
}

// An owner speaks of what has entities twice a second. A part of the streams in each tick.
static void sweep_silent(ph_bus_front* front)
{
    const int count = front->stream_count / SWEEP_TICKS + 1;
    for (int i = 0; i < count && front->stream_count > 0; ++i) {
        front->stream_sweep = (front->stream_sweep + 1) % front->stream_count;
        front_stream* stream = &front->streams[front->stream_sweep];
        const bool is_silent =
            stream->may_have && front->now_us - stream->heard_us > FRONT_SILENT_US;
        // One that is not known and not asked for found no memory before.
        if (stream->is_used && stream->ask1 == 0 && (!stream->is_known || is_silent)) {
            front_ask_stream(front, stream);
        }
    }
}

void front_streams_tick(ph_bus_front* front)
{
    sweep_silent(front);
    send_asks(front);
    front_regions_tick(front);
}

void front_streams_destroy(ph_bus_front* front)
{
    const ph_allocator* allocator = &front->allocator;
    ph_release_array(allocator, front->streams, (size_t)front->stream_capacity,
                     sizeof *front->streams);
    ph_release_array(allocator, front->regions, (size_t)front->region_capacity,
                     sizeof *front->regions);
    ph_release_array(allocator, front->asks, (size_t)front->ask_capacity, sizeof *front->asks);
    ph_hash_map_destroy(&front->stream_map);
    ph_hash_map_destroy(&front->region_map);
}
