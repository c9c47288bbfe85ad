// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The passes of an import that change nothing:
//
//   check    reads everything into plain records: a batch with one wrong bit is refused
//   reserve  takes the memory that the rest may need, so that nothing fails half way

#include "transfer/importer_state.h"

#include "base/allocator.h"
#include "base/compiler.h"

#include <string.h>

// ---- check

enum {
    // A kind, a key and an incarnation: no record is shorter.
    RECORD_SIZE_MIN = 4,
    GUESS_STEPS = 3,
};

static ph_result reserve_records(ph_importer* importer, int count)
{
    if (count <= importer->record_capacity) {
        return PH_OK;
    }
    const ph_allocator* allocator = &importer->def.world->def.allocator;
    const int capacity = count < 512 ? 512 : PH_BATCH_RECORDS_MAX;
    ph_transfer_record* grown = ph_allocate_array(allocator, (size_t)capacity, sizeof *grown);
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_release_array(allocator, importer->records, (size_t)importer->record_capacity,
                     sizeof *grown);
    importer->records = grown;
    importer->record_capacity = capacity;
    return PH_OK;
}

// Whether the record may stand in such a batch.
static inline bool is_in_place(const ph_batch_header* header, const ph_transfer_record* record)
{
    if (record->kind < PH_TRANSFER_CHANGED) {
        return !header->is_whole && (record->kind == PH_TRANSFER_REMOVED || header->has_cell);
    }
    if (record->has_position && !ph_batch_has_place(header, record->position_mm)) {
        return false;
    }
    if (record->kind == PH_TRANSFER_CHANGED) {
        return !header->is_whole;
    }
    const uint64_t channels = ph_channels_of(record->seen_by, (record->flags & PH_SEEN_NEVER) != 0);
    return !header->has_cell || ((channels >> header->channel & 1) != 0 &&
                                 ((record->flags & PH_SEEN_ALWAYS) != 0) ==
                                     ph_cell_is_same(header->cell, PH_CELL_EVERYWHERE));
}

// Whether a whole export may name this key at its place in it.
static bool is_in_order(const ph_importer* importer, int place)
{
    const ph_batch_header* header = &importer->header;
    const uint64_t key = importer->records[place].key;
    return header->first_key <= key && key <= header->last_key &&
           (place == 0 || key > importer->records[place - 1].key);
}

// Entities of one cell were mostly created by one batch, in the order of their keys: the next record is often about
// the next entity in memory, or one behind it (92..102 ns a record instead of 120..126). What is not found so is
// fetched for the lookup, later.
static inline void guess_entity(const ph_entities* entities, ph_transfer_record* record,
                                uint32_t* guess)
{
    const uint32_t used_count = (uint32_t)entities->ids.used_count;
    for (int step = 0; step < GUESS_STEPS && *guess < used_count; ++step) {
        if (entities->key[*guess] == record->key && ph_entities_id(entities, *guess).index1 != 0) {
            record->index = (*guess)++;
            return;
        }
        *guess += entities->key[*guess] < record->key;
    }
    record->index = PH_ENTITY_NONE;
    ph_hash_map_prefetch(&entities->by_key, record->key);
}

static uint32_t first_guess(const ph_entities* entities, const ph_transfer_record* first)
{
    ph_entity_index index;
    return ph_entities_has_key(entities, first->key, &index) ? index : PH_ENTITY_NONE;
}

static bool check_records(ph_importer* importer, ph_import_refusal* refusal)
{
    const ph_batch_header* header = &importer->header;
    const ph_entities* entities = &importer->def.world->store.entities;
    uint32_t guess = PH_ENTITY_NONE;
    ph_transfer_reader reader = importer->reader;
    importer->reference_count = 0;
    for (int i = 0; i < header->record_count; ++i) {
        ph_transfer_record* record = &importer->records[i];
        if (!ph_transfer_read(&reader, record, refusal)) {
            return false;
        }
        guess = i == 0 ? first_guess(entities, record) : guess;
        guess_entity(entities, record, &guess);
        if (record->mask != 0) {
            if (!ph_transfer_read_values(&reader, record, &importer->values, refusal)) {
                return false;
            }
            importer->reference_count += importer->values.reference_count;
        }
        if (header->is_whole && !is_in_order(importer, i)) {
            *refusal = PH_IMPORT_REFUSAL_KEYS;
            return false;
        }
        if (!is_in_place(header, record)) {
            *refusal = PH_IMPORT_REFUSAL_RECORD;
            return false;
        }
    }
    *refusal = PH_IMPORT_REFUSAL_END;
    return reader.at == reader.size;
}

static bool check_header(ph_importer* importer, const uint8_t* bytes, size_t size,
                         ph_import_refusal* refusal)
{
    const ph_schema* schema = importer->def.world->def.schema;
    ph_batch_header* header = &importer->header;
    if (!ph_batch_header_read(header, bytes, size, refusal)) {
        return false;
    }
    if (header->fingerprint != ph_schema_fingerprint(schema)) {
        *refusal = PH_IMPORT_REFUSAL_SCHEMA;
        return false;
    }
    const size_t header_size = ph_batch_header_size(header);
    importer->reader = (ph_transfer_reader){
        .bytes = bytes + header_size, .size = size - header_size, .schema = schema};
    *refusal = PH_IMPORT_REFUSAL_END;
    return (size_t)header->record_count * RECORD_SIZE_MIN <= importer->reader.size;
}

// ---- reserve

// Which entity each record is about, as the world is now, and what the batch may need.
static void find_entities(ph_importer* importer)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    memset(importer->new_counts, 0,
           (size_t)importer->def.world->store.class_count * sizeof importer->new_counts[0]);
    importer->new_count = 0;
    importer->is_steady = true;
    for (int i = 0; i < importer->header.record_count; ++i) {
        ph_transfer_record* record = &importer->records[i];
        if (record->index == PH_ENTITY_NONE &&
            !ph_entities_has_key(entities, record->key, &record->index)) {
            record->index = PH_ENTITY_NONE;
        }
        importer->is_steady &= record->kind >= PH_TRANSFER_CHANGED;
        if (record->kind == PH_TRANSFER_STATE &&
            (record->index == PH_ENTITY_NONE ||
             !ph_import_is_same_state(entities, record, record->index))) {
            ++importer->new_counts[record->class_index];
            ++importer->new_count;
        }
    }
    importer->is_steady &= importer->new_count == 0;
}

// A record may remove one and create another; a whole one may remove all that there are.
static ph_result reserve_events(ph_importer* importer)
{
    const int live_count = importer->def.world->store.entities.live_count;
    const int count =
        2 * importer->header.record_count + (importer->header.is_whole ? live_count : 0);
    importer->event_count = 0;
    if (importer->def.on_entity == NULL || count <= importer->event_capacity) {
        return PH_OK;
    }
    const ph_allocator* allocator = &importer->def.world->def.allocator;
    ph_noted_event* grown = ph_allocate_array(allocator, (size_t)count, sizeof *grown);
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_release_array(allocator, importer->events, (size_t)importer->event_capacity, sizeof *grown);
    importer->events = grown;
    importer->event_capacity = count;
    return PH_OK;
}

static ph_result reserve_all(ph_importer* importer)
{
    if (ph_waiting_reserve(&importer->waiting, importer->reference_count) != PH_OK ||
        reserve_events(importer) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    return importer->new_count == 0
               ? PH_OK
               : ph_world_make_much_room(importer->def.world, importer->new_counts);
}

// ---- the call

ph_result ph_importer_prepare(ph_importer* importer, const void* bytes, size_t size,
                              ph_import_refusal* refusal)
{
    if (!check_header(importer, bytes, size, refusal)) {
        return PH_ERROR_VALUE;
    }
    if (reserve_records(importer, importer->header.record_count) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    if (!check_records(importer, refusal)) {
        return PH_ERROR_VALUE;
    }
    find_entities(importer);
    return reserve_all(importer);
}
