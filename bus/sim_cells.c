// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Streams: what an owner says of its cells, channel by channel, and what a standby makes of it. Each message of
// changes has the next number of its stream, a silent stream repeats its number now and then, and a receiver that misses one
// asks for the cell whole.
//
// Nothing that is said on a channel depends on another one: numbers, heartbeats and snapshots are each stream's own.
// Once per publish and stream that has changed; heartbeats twice a second.

#include "bus/sim_state.h"

#include <string.h>

// ---- places

int sim_region_of_cell(ph_bus_sim* sim, ph_cell cell)
{
    const uint64_t place = (uint64_t)(uint32_t)cell.x << 32 | (uint32_t)cell.y;
    sim_cached_cell* cached = &sim->cell_cache[ph_hash_mix(place + 1) % SIM_CELL_CACHE];
    if (!cached->is_known || !ph_cell_is_same(cached->cell, cell)) {
        *cached = (sim_cached_cell){
            .cell = cell,
            .region = ph_region_at(sim->map, sim->def.region_count, cell),
            .is_known = true,
        };
    }
    return cached->region;
}

bool sim_place_of(const ph_bus_sim* sim, ph_entity_id entity, sim_place* place)
{
    ph_spawn spawn;
    if (ph_world_describe(sim->world, entity, &spawn) != PH_OK) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        place->mm[i] = (int32_t)spawn.position_mm[i];
    }
    place->ground = ph_cell_at(place->mm[0], place->mm[1], sim->def.cell_mm);
    place->cell = spawn.is_always_visible ? PH_CELL_EVERYWHERE : place->ground;
    place->channels = ph_channels_of(spawn.seen_by, spawn.is_never_visible);
    return true;
}

// ---- the streams of a region

// A cell and a channel as one number. @return False: there is no such cell.
static bool pack_place(ph_cell cell, int channel, uint64_t* place)
{
    const int32_t limit = 1 << 20; // positions of 2^31 mm in cells of 16 m are far within
    const bool is_everywhere = ph_cell_is_same(cell, PH_CELL_EVERYWHERE);
    if (!is_everywhere &&
        (cell.x < -limit || cell.x >= limit || cell.y < -limit || cell.y >= limit)) {
        return false;
    }
    const uint64_t x = is_everywhere ? UINT64_C(1) << 21 : (uint64_t)(cell.x + limit);
    const uint64_t y = is_everywhere ? 0 : (uint64_t)(cell.y + limit);
    *place = (x << 22 | y) << 6 | (uint64_t)channel;
    return true;
}

static sim_stream* find_stream(const sim_region* region, ph_cell cell, int channel)
{
    uint64_t place;
    uint32_t at;
    return pack_place(cell, channel, &place) &&
                   ph_hash_map_try_find(&region->streams.by_place, place, &at)
               ? &region->streams.all[at]
               : NULL;
}

// @return NULL: no such cell, too many, or no memory.
static sim_stream* make_stream(ph_bus_sim* sim, sim_region* region, ph_cell cell, int channel)
{
    sim_streams* streams = &region->streams;
    sim_stream* found = find_stream(region, cell, channel);
    uint64_t place;
    if (found != NULL || !pack_place(cell, channel, &place)) {
        return found;
    }
    if (streams->count == SIM_STREAMS_MAX ||
        !sim_grow(sim, (void**)&streams->all, &streams->capacity, streams->count,
                  sizeof *streams->all) ||
        !sim_map_insert(&streams->by_place, place, (uint32_t)streams->count)) {
        return NULL;
    }
    sim_stream* made = &streams->all[streams->count++];
    *made = (sim_stream){.cell = cell, .channel = channel};
    return made;
}

void sim_streams_clear(sim_region* region)
{
    region->streams.count = 0;
    ph_hash_map_clear(&region->streams.by_place);
}

void sim_streams_free(ph_bus_sim* sim, sim_region* region)
{
    sim_streams* streams = &region->streams;
    ph_release_array(&sim->allocator, streams->all, (size_t)streams->capacity,
                     sizeof *streams->all);
    ph_hash_map_destroy(&streams->by_place);
}

// ---- owner: changes

static void send_change(ph_bus_sim* sim, sim_region* region, const ph_cell_batch* batch)
{
    sim_stream* stream = make_stream(sim, region, batch->cell, batch->channel);
    if (stream == NULL) {
        ++sim->stats.unsent_messages;
        return;
    }
    const bus_cell message = {
        .region = region->number,
        .epoch = region->epoch,
        .cell = batch->cell,
        .channel = batch->channel,
        .sequence = ++stream->sequence,
        .batch = batch->bytes,
        .batch_size = batch->size,
    };
    char subject[PH_BUS_SUBJECT_MAX];
    stream->told_us = sim->now_us;
    stream->filled_us = sim->now_us;
    bus_subject_cell(subject, sim->world_name, batch->cell, batch->channel, region->number);
    bus_write_cell(&sim->writer, &message);
    sim_send(sim, subject);
    ++sim->stats.published_batches;
    sim->stats.published_records += (uint64_t)batch->record_count;
}

typedef struct change_delivery {
    ph_bus_sim* sim;
    sim_region* region;
    bool keeps_departures; // until all regions have told their arrivals
} change_delivery;

// A batch that waits: this, and its bytes.
typedef struct kept_batch {
    int region;
    ph_cell_batch batch;
} kept_batch;

static void keep_departure(ph_bus_sim* sim, const change_delivery* to, const ph_cell_batch* batch)
{
    sim_bytes* kept = &sim->departures;
    const kept_batch head = {.region = sim_region_index(sim, to->region), .batch = *batch};
    if (!sim_bytes_reserve(sim, kept, kept->size + sizeof head + batch->size)) {
        send_change(sim, to->region, batch);
        return;
    }
    memcpy(kept->bytes + kept->size, &head, sizeof head);
    memcpy(kept->bytes + kept->size + sizeof head, batch->bytes, batch->size);
    kept->size += sizeof head + batch->size;
}

static void deliver_change(void* context, const ph_cell_batch* batch)
{
    const change_delivery* to = context;
    if (batch->is_leaving && to->keeps_departures) {
        keep_departure(to->sim, to, batch);
    } else {
        send_change(to->sim, to->region, batch);
    }
}

static void send_departures(ph_bus_sim* sim)
{
    for (size_t at = 0; at < sim->departures.size;) {
        kept_batch head;
        memcpy(&head, sim->departures.bytes + at, sizeof head);
        head.batch.bytes = sim->departures.bytes + at + sizeof head;
        at += sizeof head + head.batch.size;
        send_change(sim, &sim->regions[head.region], &head.batch);
    }
    sim->departures.size = 0;
}

// ---- owner: heartbeats

static void send_heartbeat(ph_bus_sim* sim, const sim_region* region, sim_stream* stream)
{
    const bus_cell message = {
        .region = region->number,
        .epoch = region->epoch,
        .cell = stream->cell,
        .channel = stream->channel,
        .sequence = stream->sequence,
    };
    char subject[PH_BUS_SUBJECT_MAX];
    stream->told_us = sim->now_us;
    bus_subject_cell(subject, sim->world_name, stream->cell, stream->channel, region->number);
    bus_write_cell(&sim->writer, &message);
    sim_send(sim, subject);
}

static void send_heartbeats(ph_bus_sim* sim, sim_region* region)
{
    // What a standby lacks is to show soon when it is to take over at once.
    const uint64_t silence_us = region->state == SIM_RELEASING ? SIM_BEAT_US : SIM_HEARTBEAT_US;
    for (int i = 0; i < region->streams.count; ++i) {
        sim_stream* stream = &region->streams.all[i];
        if (sim->now_us - stream->told_us < silence_us) {
            continue;
        }
        if (ph_exporter_count(region->exporter, stream->cell, stream->channel) > 0) {
            stream->filled_us = sim->now_us;
        }
        if (sim->now_us - stream->filled_us < SIM_STREAM_LINGERS_US) {
            send_heartbeat(sim, region, stream);
        }
    }
}

void sim_publish_cells(ph_bus_sim* sim)
{
    change_delivery to = {.sim = sim};
    int speaking_count = 0;
    for (int i = 0; i < sim->region_count; ++i) {
        speaking_count += sim_region_speaks(&sim->regions[i]);
    }
    to.keeps_departures = speaking_count > 1;
    for (int i = 0; i < sim->region_count; ++i) {
        to.region = &sim->regions[i];
        if (sim_region_speaks(to.region)) {
            ph_exporter_changes(to.region->exporter, to.region->stamp, deliver_change, &to);
        }
    }
    send_departures(sim);
    for (int i = 0; i < sim->region_count; ++i) {
        if (sim_region_speaks(&sim->regions[i])) {
            send_heartbeats(sim, &sim->regions[i]);
        }
    }
}

// ---- owner: snapshots

void sim_take_snapshot(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_snapshot asked;
    ph_bus_refusal refusal;
    if (!bus_read_snapshot(&asked, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_world(subject, "snap", sim->world_name);
    if (strcmp(subject, message->subject) != 0) {
        sim_refuse(sim, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    for (int i = 0; i < sim->request_count; ++i) {
        if (memcmp(&sim->requests[i].asked, &asked, sizeof asked) == 0) {
            return;
        }
    }
    // The rest is asked again.
    if (sim->request_count < SIM_REQUESTS_MAX) {
        sim->requests[sim->request_count++].asked = asked;
    }
}

typedef struct snapshot_delivery {
    ph_bus_sim* sim;
    bus_cell message;
    char subject[PH_BUS_SUBJECT_MAX];
} snapshot_delivery;

static void deliver_snapshot(void* context, const ph_cell_batch* batch)
{
    snapshot_delivery* to = context;
    ph_import_peek peek;
    ph_importer_peek(batch->bytes, batch->size, &peek);
    to->message.batch = batch->bytes;
    to->message.batch_size = batch->size;
    to->message.is_last_part = peek.last_key == UINT64_MAX;
    bus_write_cell(&to->sim->writer, &to->message);
    sim_send(to->sim, to->subject);
    ++to->message.part;
}

static void send_snapshot(ph_bus_sim* sim, const sim_region* region, ph_cell cell, int channel,
                          const char* reply_to)
{
    const sim_stream* stream = find_stream(region, cell, channel);
    snapshot_delivery to = {
        .sim = sim,
        .message = {.region = region->number,
                    .epoch = region->epoch,
                    .cell = cell,
                    .channel = channel,
                    .is_snapshot = true,
                    .sequence = stream != NULL ? stream->sequence : 0},
    };
    bus_subject_to(to.subject, sim->world_name, reply_to);
    if (ph_exporter_cell(region->exporter, cell, channel, region->stamp, deliver_snapshot, &to) ==
        PH_OK) {
        ++sim->stats.snapshots;
    }
}

static bool is_standby(const sim_region* region, const char* name)
{
    for (int i = 0; i < region->standby_count; ++i) {
        if (strcmp(region->standbys[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

// Every stream, OWN too, and behind them how many that were.
static void send_all_streams(ph_bus_sim* sim, const sim_region* region, const char* reply_to)
{
    for (int i = 0; i < region->streams.count; ++i) {
        const sim_stream* stream = &region->streams.all[i];
        send_snapshot(sim, region, stream->cell, stream->channel, reply_to);
    }
    const bus_cell end = {
        .region = region->number,
        .epoch = region->epoch,
        .cell = BUS_CELLS_OF_REGION,
        .is_snapshot = true,
        .is_last_part = true,
        .sequence = (uint64_t)region->streams.count,
    };
    char subject[PH_BUS_SUBJECT_MAX];
    bus_subject_to(subject, sim->world_name, reply_to);
    bus_write_cell(&sim->writer, &end);
    sim_send(sim, subject);
}

static void answer_snapshot(ph_bus_sim* sim, const sim_region* region, const bus_snapshot* asked)
{
    // Those that only their own viewer sees are a standby's business.
    const bool is_all = ph_cell_is_same(asked->cell, BUS_CELLS_OF_REGION);
    if ((is_all || asked->channel == PH_CHANNEL_OWN) && !is_standby(region, asked->reply_to)) {
        return;
    }
    if (is_all) {
        send_all_streams(sim, region, asked->reply_to);
        return;
    }
    const bool covers = asked->region == region->number ||
                        ph_cell_is_same(asked->cell, PH_CELL_EVERYWHERE) ||
                        sim_region_of_cell(sim, asked->cell) == region->number;
    if (asked->channel != SIM_CHANNEL_ALL) {
        if (covers || find_stream(region, asked->cell, asked->channel) != NULL) {
            send_snapshot(sim, region, asked->cell, asked->channel, asked->reply_to);
        }
        return;
    }
    bool has_any = covers;
    for (int channel = PH_CHANNEL_BIT0; channel < PH_CHANNEL_OWN; ++channel) {
        if (find_stream(region, asked->cell, channel) != NULL) {
            send_snapshot(sim, region, asked->cell, channel, asked->reply_to);
            has_any = true;
        }
    }
    if (has_any || find_stream(region, asked->cell, PH_CHANNEL_PUBLIC) != NULL) {
        send_snapshot(sim, region, asked->cell, PH_CHANNEL_PUBLIC, asked->reply_to);
    }
}

void sim_answer_snapshots(ph_bus_sim* sim)
{
    for (int i = 0; i < sim->request_count; ++i) {
        const bus_snapshot* asked = &sim->requests[i].asked;
        for (int r = 0; r < sim->region_count; ++r) {
            const sim_region* region = &sim->regions[r];
            if (sim_region_speaks(region) &&
                (asked->region == PH_REGION_NONE || asked->region == region->number)) {
                answer_snapshot(sim, region, asked);
            }
        }
    }
    sim->request_count = 0;
}

// ---- standby: what it wants

void sim_watch_begin(ph_bus_sim* sim, sim_region* region)
{
    const ph_bus_transport* transport = &sim->def.transport;
    char subject[PH_BUS_SUBJECT_MAX];
    if (region->cells_subscription == 0) {
        bus_subject_region_cells(subject, sim->world_name, region->number, false);
        region->cells_subscription = transport->subscribe(transport->context, subject);
    }
    if (region->own_subscription == 0) {
        bus_subject_region_cells(subject, sim->world_name, region->number, true);
        region->own_subscription = transport->subscribe(transport->context, subject);
    }
    sim_streams_clear(region);
    ++region->cycle;
    region->has_cells = false;
    region->has_sessions = false;
    region->has_gaps = false;
    region->asked_cells_us = 0;
    region->asked_sessions_us = 0;
    region->mirror_known = 0;
    region->mirror_collects = false;
    region->mirror_answers = false;
}

static void ask_snapshot(ph_bus_sim* sim, const sim_region* region, ph_cell cell, int channel)
{
    bus_snapshot asked = {.cell = cell, .channel = channel, .region = region->number};
    char subject[PH_BUS_SUBJECT_MAX];
    memcpy(asked.reply_to, sim->name, sizeof asked.reply_to);
    bus_subject_world(subject, "snap", sim->world_name);
    bus_write_snapshot(&sim->writer, &asked);
    sim_send(sim, subject);
}

void sim_watch_step(ph_bus_sim* sim, sim_region* region)
{
    if (region->heard_epoch == 0) {
        return; // there is no owner to ask
    }
    if (!region->has_cells) {
        if (sim->now_us - region->asked_cells_us >= SIM_REPEAT_US) {
            region->asked_cells_us = sim->now_us;
            ask_snapshot(sim, region, BUS_CELLS_OF_REGION, SIM_CHANNEL_ALL);
        }
        return;
    }
    int asked_count = 0;
    region->has_gaps = false;
    for (int i = 0; i < region->streams.count; ++i) {
        sim_stream* stream = &region->streams.all[i];
        region->has_gaps |= stream->wants_snapshot;
        if (stream->wants_snapshot && asked_count < 64 &&
            sim->now_us - stream->asked_us >= SIM_REPEAT_US) {
            stream->asked_us = sim->now_us;
            ++asked_count;
            ask_snapshot(sim, region, stream->cell, stream->channel);
        }
    }
    region->had_all = region->had_all || (region->has_sessions && !region->has_gaps);
}

// ---- standby: what comes

// What stands where the owner says nothing is left from an owner before.
static void purge(ph_bus_sim* sim, const sim_region* region)
{
    for (int i = ph_world_entity_count(sim->world) - 1; i >= 0; --i) {
        const ph_entity_id entity = ph_world_live_entity(sim->world, i);
        ph_ownership ownership;
        sim_place place;
        ph_world_get_ownership(sim->world, entity, &ownership);
        if (ownership.owner != PH_REGION_OWNER(region->number) ||
            !sim_place_of(sim, entity, &place)) {
            continue;
        }
        bool is_known = false;
        for (int channel = 0; channel < PH_CHANNEL_COUNT && !is_known; ++channel) {
            const sim_stream* stream = (place.channels >> channel & 1) != 0
                                           ? find_stream(region, place.cell, channel)
                                           : NULL;
            is_known = stream != NULL && stream->cycle == region->cycle;
        }
        if (!is_known) {
            ph_world_despawn(sim->world, entity);
        }
    }
}

static void take_end_of_all(ph_bus_sim* sim, sim_region* region, const bus_cell* cell)
{
    uint64_t count = 0;
    for (int i = 0; i < region->streams.count; ++i) {
        count += region->streams.all[i].cycle == region->cycle;
    }
    if (!region->has_cells && count >= cell->sequence) {
        region->has_cells = true;
        purge(sim, region);
    }
}

static bool is_batch_of(const ph_bus_sim* sim, const bus_cell* cell)
{
    ph_import_peek peek;
    return ph_importer_peek(cell->batch, cell->batch_size, &peek) && peek.has_cell &&
           ph_cell_is_same(peek.cell, cell->cell) && peek.channel == cell->channel &&
           peek.cell_mm == sim->def.cell_mm && peek.is_whole == cell->is_snapshot &&
           peek.owner == PH_REGION_OWNER(cell->region);
}

static void note_snapshot_part(sim_region* region, sim_stream* stream, const bus_cell* cell)
{
    if (cell->part == 0) {
        stream->next_part = 0;
        stream->part_sequence = cell->sequence;
    }
    if (cell->part != stream->next_part || cell->sequence != stream->part_sequence) {
        return; // a part is missing: it is asked for again
    }
    ++stream->next_part;
    if (cell->is_last_part) {
        stream->next_part = 0;
        stream->cycle = region->cycle;
        if (cell->sequence >= stream->sequence) {
            stream->sequence = cell->sequence;
        }
        stream->wants_snapshot = false;
    }
}

static void take_stream(ph_bus_sim* sim, sim_region* region, const bus_cell* cell)
{
    sim_stream* stream = make_stream(sim, region, cell->cell, cell->channel);
    if (stream == NULL) {
        sim_refuse(sim, PH_BUS_REFUSAL_FIELD);
        return;
    }
    if (!cell->is_snapshot && cell->batch != NULL && cell->sequence <= stream->sequence) {
        return; // it is known
    }
    if (cell->batch != NULL) {
        if (!is_batch_of(sim, cell) ||
            ph_importer_take(sim->importer, cell->batch, cell->batch_size) != PH_OK) {
            sim_refuse(sim, PH_BUS_REFUSAL_BATCH);
            return;
        }
    }
    if (cell->is_snapshot) {
        note_snapshot_part(region, stream, cell);
        return;
    }
    const uint64_t expected = stream->sequence + (cell->batch != NULL);
    if (cell->sequence > expected) {
        sim->stats.gaps += !stream->wants_snapshot;
        stream->wants_snapshot = true;
    } else if (cell->sequence == 1 && stream->sequence == 0) {
        stream->cycle = region->cycle; // known from its beginning
    }
    if (cell->sequence > stream->sequence) {
        stream->sequence = cell->sequence;
    }
}

void sim_take_cell(ph_bus_sim* sim, const ph_bus_message* message)
{
    bus_cell cell;
    ph_bus_refusal refusal;
    if (!bus_read_cell(&cell, message->bytes, message->size, &refusal)) {
        sim_refuse(sim, refusal);
        return;
    }
    char subject[PH_BUS_SUBJECT_MAX];
    if (cell.is_snapshot) {
        bus_subject_to(subject, sim->world_name, sim->name);
    } else {
        bus_subject_cell(subject, sim->world_name, cell.cell, cell.channel, cell.region);
    }
    if (strcmp(subject, message->subject) != 0) {
        sim_refuse(sim, PH_BUS_REFUSAL_SUBJECT);
        return;
    }
    sim_region* region = sim_find_region(sim, cell.region);
    if (region == NULL || !sim_hear_epoch(sim, region, cell.epoch)) {
        return;
    }
    if (ph_cell_is_same(cell.cell, BUS_CELLS_OF_REGION)) {
        if (cell.is_snapshot && cell.batch == NULL) {
            take_end_of_all(sim, region, &cell);
        } else {
            sim_refuse(sim, PH_BUS_REFUSAL_FIELD);
        }
        return;
    }
    take_stream(sim, region, &cell);
}
