// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From a world to batches, at one go: what is exported, then the batches. Records are written one after
// the other; one that no longer fits ends the batch and begins the next.

#include "transfer/export.h"

#include "base/allocator.h"
#include "base/bitset.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT_COOKIE UINT32_C(0x70684578)

ph_export_def ph_export_def_default(void)
{
    return (ph_export_def){.batch_bytes = 8192, .cookie = EXPORT_COOKIE};
}

// ---- what is told of an entity

// Of the last few ticks the entity arrays have it in one word; further back each property's own stamp is
// asked.
uint64_t ph_export_changes_since(const ph_store* store, ph_entity_index index, uint32_t since_tick)
{
    const ph_table* table = &store->tables[store->entities.class_index[index]];
    const uint64_t all = ph_transfer_mask_of(table->described);
    const uint32_t ticks = store->tick - since_tick;
    if (ticks == 0) {
        return store->entities.changes[index] & all;
    }
    if (ticks <= PH_RECENT_TICKS) {
        return (store->entities.changes[index] |
                ph_entities_recent(&store->entities, ticks)[index]) &
               all;
    }
    const uint32_t row = store->entities.whereabouts[index].row;
    uint64_t mask = 0;
    for (uint64_t left = all; left != 0; left &= left - 1) {
        if (ph_table_changed(table, ph_word_lowest_bit(left), row) >= since_tick) {
            mask |= left & -left;
        }
    }
    return mask;
}

static bool is_known_on(uint64_t target_channels, uint64_t channels)
{
    const uint64_t own = UINT64_C(1) << PH_CHANNEL_OWN;
    return (target_channels >> PH_CHANNEL_PUBLIC & 1) != 0 ||
           ((channels & ~target_channels) == 0 && (channels & own) == 0);
}

uint64_t ph_export_named(const ph_store* store, ph_entity_index index, uint64_t channels)
{
    const ph_entities* entities = &store->entities;
    const ph_table* table = &store->tables[entities->class_index[index]];
    const uint32_t row = entities->whereabouts[index].row;
    uint64_t named = 0;
    if (entities->refers[index] == 0) {
        return 0;
    }
    for (uint64_t left = ph_transfer_references_of(table->described); left != 0; left &= left - 1) {
        const uint32_t* words = ph_table_value(table, ph_word_lowest_bit(left), row);
        const ph_entity_id id = {.index1 = words[0], .generation = words[1]};
        const ph_entity_index target = ph_entities_find(entities, id);
        if (target != PH_ENTITY_NONE &&
            is_known_on(ph_channels_of_entity(entities, target), channels)) {
            named |= left & -left;
        }
    }
    return named;
}

// ---- what is exported

// An entity whose record is to be written. Whole exports have them in the order of their keys.
typedef struct exported_entity {
    uint64_t key;
    ph_entity_index index;
} exported_entity;

// An export under way.
typedef struct export_run {
    const ph_world* world;
    const ph_export_request* request;
    exported_entity* chosen;
    int chosen_count;
    int next; // of the chosen that is not written yet
    uint8_t* bytes;
    size_t size;            // of the batch under way, with its header
    ph_batch_header header; // of the same
    uint8_t record[PH_TRANSFER_RECORD_MAX + PH_TRANSFER_SLACK];
    ph_export_fn* deliver;
    void* deliver_context;
} export_run;

static bool is_in_request(const export_run* run, ph_entity_index index)
{
    const ph_entities* entities = &run->world->store.entities;
    const ph_batch_header* header = &run->header;
    const int32_t place_mm[2] = {entities->x_mm[index], entities->y_mm[index]};
    if (!ph_batch_has_place(header, place_mm) ||
        entities->whereabouts[index].owner != run->request->owner) {
        return false;
    }
    return !header->has_cell ||
           (ph_is_in_cell(entities, index, header->cell, header->cell_mm) &&
            (ph_channels_of_entity(entities, index) >> header->channel & 1) != 0);
}

static bool is_chosen(const export_run* run, ph_entity_index index)
{
    const ph_whereabouts* at = &run->world->store.entities.whereabouts[index];
    const uint32_t since = run->request->since_tick;
    return is_in_request(run, index) &&
           (run->header.is_whole || at->renewed_tick >= since || at->placed_tick >= since ||
            ph_export_changes_since(&run->world->store, index, since) != 0);
}

static int compare_keys(const void* left, const void* right)
{
    const uint64_t a = ((const exported_entity*)left)->key;
    const uint64_t b = ((const exported_entity*)right)->key;
    return (a > b) - (a < b);
}

// All that are alive, or the candidates, of which some may have died.
static void choose_entities(export_run* run)
{
    const ph_entities* entities = &run->world->store.entities;
    const bool has_cell = run->header.has_cell;
    const ph_entity_index* from = has_cell ? run->request->candidates : entities->live;
    const int count = has_cell ? run->request->candidate_count : entities->live_count;
    for (int i = 0; i < count; ++i) {
        const ph_entity_index index = from[i];
        if (ph_entities_id(entities, index).index1 != 0 && is_chosen(run, index)) {
            run->chosen[run->chosen_count++] =
                (exported_entity){.key = entities->key[index], .index = index};
        }
    }
    if (run->header.is_whole && run->chosen_count > 0) {
        qsort(run->chosen, (size_t)run->chosen_count, sizeof *run->chosen, compare_keys);
    }
}

// ---- batches

static void begin_batch(export_run* run)
{
    run->header.record_count = 0;
    run->size = ph_batch_header_size(&run->header);
}

static void end_batch(export_run* run)
{
    ph_batch_header_write(&run->header, run->bytes);
    run->deliver(run->deliver_context, run->bytes, run->size);
}

// One after the other; each batch of a whole export begins with the key behind the last one's.
static void end_full_batch(export_run* run)
{
    if (run->header.is_whole) {
        run->header.last_key = run->chosen[run->next - 1].key;
    }
    end_batch(run);
    if (run->header.is_whole) {
        run->header.first_key = run->header.last_key + 1;
        run->header.last_key = UINT64_MAX;
    }
    begin_batch(run);
}

// The record that was just made.
static void add_exported(export_run* run, size_t size)
{
    if (run->size + size > (size_t)run->request->batch_bytes ||
        run->header.record_count == PH_BATCH_RECORDS_MAX) {
        end_full_batch(run);
    }
    memcpy(run->bytes + run->size, run->record, size);
    run->size += size;
    ++run->header.record_count;
}

// Who imports a whole world or area may know of all; of a cell, of those on its channel.
static uint64_t named_in(const export_run* run, ph_entity_index index)
{
    const ph_store* store = &run->world->store;
    return run->header.has_cell
               ? ph_export_named(store, index, ph_channels_of_entity(&store->entities, index))
               : UINT64_MAX;
}

static void write_entity(export_run* run, ph_entity_index index)
{
    const ph_store* store = &run->world->store;
    const ph_whereabouts* at = &store->entities.whereabouts[index];
    const uint32_t since = run->request->since_tick;
    if (run->header.is_whole || at->renewed_tick >= since) {
        add_exported(run, ph_transfer_write_state(run->record, store, index, named_in(run, index)));
        return;
    }
    const ph_transfer_change change = {
        .key = store->entities.key[index],
        .incarnation = store->entities.incarnation[index],
        .index = index,
        .mask = ph_export_changes_since(store, index, since),
        .named = named_in(run, index),
        .has_position = at->placed_tick >= since,
    };
    add_exported(run, ph_transfer_write_changed(run->record, store, &change));
}

// A key that is in use again is told of by the record of the entity that has it.
static bool is_removal_chosen(const export_run* run, const ph_removal* removal)
{
    return removal->tick >= run->request->since_tick &&
           removal->ownership.owner == run->request->owner &&
           ph_batch_has_place(&run->header, removal->place_mm) &&
           !ph_entities_has_key(&run->world->store.entities, removal->key, NULL);
}

static void write_removals(export_run* run)
{
    const ph_removals* removals = &run->world->removals;
    for (int i = 0; i < removals->count; ++i) {
        const ph_removal* removal = ph_removals_at(removals, i);
        if (is_removal_chosen(run, removal)) {
            add_exported(run,
                         ph_transfer_write_gone(run->record, PH_TRANSFER_REMOVED, removal->key,
                                                removal->incarnation, removal->ownership.epoch));
        }
    }
}

static void write_all(export_run* run)
{
    choose_entities(run);
    begin_batch(run);
    if (!run->header.is_whole) {
        write_removals(run);
    }
    for (run->next = 0; run->next < run->chosen_count; ++run->next) {
        write_entity(run, run->chosen[run->next].index);
    }
    if (run->header.is_whole || run->header.record_count > 0) {
        end_batch(run);
    }
}

ph_result ph_export_at_once(const ph_export_request* request, ph_export_fn* deliver, void* context)
{
    const ph_world* world = request->world;
    const ph_allocator* allocator = &world->def.allocator;
    const int candidates =
        request->header.has_cell ? request->candidate_count : world->store.entities.live_count;
    const size_t room = (size_t)candidates + 1;
    export_run run = {
        .world = world,
        .request = request,
        .chosen = ph_allocate_array(allocator, room, sizeof(exported_entity)),
        .bytes = ph_allocate(allocator, (size_t)request->batch_bytes),
        .header = request->header,
        .deliver = deliver,
        .deliver_context = context,
    };
    run.header.fingerprint = ph_schema_fingerprint(world->def.schema);
    run.header.last_key = run.header.is_whole ? UINT64_MAX : 0;
    ph_batch_header_set_ends(&run.header);
    const bool has_memory = run.chosen != NULL && run.bytes != NULL;
    if (has_memory) {
        write_all(&run);
    }
    ph_release_array(allocator, run.chosen, room, sizeof(exported_entity));
    ph_release(allocator, run.bytes, (size_t)request->batch_bytes);
    return has_memory ? PH_OK : PH_ERROR_MEMORY;
}

// ---- the call

static void check_export(ph_check* check, const ph_export_def* def, uint32_t tick)
{
    ph_check_made(check, def->cookie == EXPORT_COOKIE, "ph_export_def");
    ph_check_range(check, "ph_export_def.since_tick", def->since_tick, 0, tick);
    ph_check_range(check, "ph_export_def.batch_bytes", def->batch_bytes, PH_EXPORT_BATCH_BYTES_MIN,
                   PH_EXPORT_BATCH_BYTES_MAX);
    for (int i = 0; def->has_area && i < 2; ++i) {
        ph_check_range(check, "ph_export_def.to_mm", def->to_mm[i], def->from_mm[i], INT32_MAX);
    }
}

static ph_result check_memory_of_removals(const ph_world* world, const ph_export_def* def,
                                          const ph_check* call)
{
    if (def->is_whole || ph_removals_reach(&world->removals, def->since_tick)) {
        return PH_OK;
    }
    return ph_fail(
        call, PH_ERROR_STALE, "ph_export_def.since_tick",
        "is %u, but entities that were despawned after %u ticks are forgotten; export the "
        "whole, or raise ph_world_def.removal_capacity (%d)",
        def->since_tick, world->removals.forgotten_tick, world->def.removal_capacity);
}

ph_result ph_world_export(const ph_world* world, const ph_export_def* def, ph_export_fn* deliver,
                          void* context)
{
    ph_check check = ph_world_call(world, __func__);
    check_export(&check, def, world->store.tick);
    if (check.result != PH_OK) {
        return check.result;
    }
    const ph_result result = check_memory_of_removals(world, def, &check);
    if (result != PH_OK) {
        return result;
    }
    ph_export_request request = {
        .world = world,
        .header = {.is_whole = def->is_whole,
                   .has_area = def->has_area,
                   .owner = def->as_owner,
                   .stamp = world->store.tick},
        .owner = def->owner,
        .since_tick = def->since_tick,
        .batch_bytes = def->batch_bytes,
    };
    memcpy(request.header.from_mm, def->from_mm, sizeof request.header.from_mm);
    memcpy(request.header.to_mm, def->to_mm, sizeof request.header.to_mm);
    return ph_export_at_once(&request, deliver, context) == PH_OK ? PH_OK : ph_fail_memory(&check);
}
