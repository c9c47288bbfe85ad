// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From a world to batches: what is exported, then the batches. Records are written one after the
// other; one that no longer fits ends the batch and begins the next.

#include "transfer/transfer_wire.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT_COOKIE UINT32_C(0x70684578)

ph_export_def ph_export_def_default(void)
{
    return (ph_export_def){.batch_bytes = 8192, .cookie = EXPORT_COOKIE};
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
    const ph_export_def* def;
    exported_entity* chosen;
    int chosen_count;
    int next; // of the chosen that is not written yet
    uint8_t* bytes;
    ph_batch_header header; // of the batch under way
    ph_bit_writer writer;
    ph_export_fn* deliver;
    void* deliver_context;
} export_run;

// Bits of the properties that changed since a tick. Of the last few ticks the entity arrays have them
// in one word; further back each property's own stamp is asked.
static uint64_t changes_since(const ph_store* store, ph_entity_index index, uint32_t since_tick)
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
    for (int p = 0; p < table->described->def.property_count; ++p) {
        if ((all >> p & 1) != 0 && ph_table_changed(table, p, row) >= since_tick) {
            mask |= UINT64_C(1) << p;
        }
    }
    return mask;
}

static bool is_chosen(const export_run* run, ph_entity_index index)
{
    const ph_entities* entities = &run->world->store.entities;
    const ph_whereabouts* at = &entities->whereabouts[index];
    const uint32_t since = run->def->since_tick;
    if (at->owner != run->def->owner || !ph_batch_has_place(&run->header, at->position_mm)) {
        return false;
    }
    return run->def->is_whole || at->renewed_tick >= since || at->placed_tick >= since ||
           changes_since(&run->world->store, index, since) != 0;
}

static int compare_keys(const void* left, const void* right)
{
    const uint64_t a = ((const exported_entity*)left)->key;
    const uint64_t b = ((const exported_entity*)right)->key;
    return (a > b) - (a < b);
}

static void choose_entities(export_run* run)
{
    const ph_entities* entities = &run->world->store.entities;
    for (int i = 0; i < entities->live_count; ++i) {
        const ph_entity_index index = entities->live[i];
        if (is_chosen(run, index)) {
            run->chosen[run->chosen_count++] =
                (exported_entity){.key = entities->key[index], .index = index};
        }
    }
    if (run->def->is_whole && run->chosen_count > 0) {
        qsort(run->chosen, (size_t)run->chosen_count, sizeof *run->chosen, compare_keys);
    }
}

// ---- batches

static void begin_batch(export_run* run)
{
    const size_t header_size = ph_batch_header_size(&run->header);
    run->header.record_count = 0;
    run->writer =
        ph_bit_writer_make(run->bytes + header_size, (size_t)run->def->batch_bytes - header_size);
}

static void end_batch(export_run* run)
{
    ph_batch_header_write(&run->header, run->bytes);
    const size_t size = ph_bit_writer_finish(&run->writer);
    run->deliver(run->deliver_context, run->bytes, ph_batch_header_size(&run->header) + size);
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

// @return Whether there was room for the record that was written behind the mark.
static bool keep_exported(export_run* run, ph_bit_mark mark)
{
    if (ph_bit_writer_result(&run->writer) == PH_OK &&
        run->header.record_count < PH_BATCH_RECORDS_MAX) {
        ++run->header.record_count;
        return true;
    }
    ph_bit_writer_rollback(&run->writer, mark);
    return false;
}

static bool try_write_entity(export_run* run, ph_entity_index index)
{
    const ph_store* store = &run->world->store;
    const ph_whereabouts* at = &store->entities.whereabouts[index];
    const uint32_t since = run->def->since_tick;
    const ph_bit_mark mark = ph_bit_writer_mark(&run->writer);
    if (run->def->is_whole || at->renewed_tick >= since) {
        ph_transfer_write_state(&run->writer, store, index);
    } else {
        ph_transfer_write_changed(&run->writer, store, index, changes_since(store, index, since),
                                  at->placed_tick >= since);
    }
    return keep_exported(run, mark);
}

static void write_entities(export_run* run)
{
    for (run->next = 0; run->next < run->chosen_count; ++run->next) {
        const ph_entity_index index = run->chosen[run->next].index;
        if (!try_write_entity(run, index)) {
            end_full_batch(run);
            const bool has_room = try_write_entity(run, index);
            PH_ASSERT(has_room); // PH_EXPORT_BATCH_BYTES_MIN is more than any record
            (void)has_room;
        }
    }
}

static bool try_write_removal(export_run* run, const ph_removal* removal)
{
    const ph_bit_mark mark = ph_bit_writer_mark(&run->writer);
    ph_transfer_write_removed(&run->writer, removal);
    return keep_exported(run, mark);
}

// A key that is in use again is told of by the record of the entity that has it.
static bool is_removal_chosen(const export_run* run, const ph_removal* removal)
{
    return removal->tick >= run->def->since_tick && removal->ownership.owner == run->def->owner &&
           ph_batch_has_place(&run->header, removal->place_mm) &&
           !ph_entities_has_key(&run->world->store.entities, removal->key, NULL);
}

static void write_removals(export_run* run)
{
    const ph_removals* removals = &run->world->removals;
    for (int i = 0; i < removals->count; ++i) {
        const ph_removal* removal = ph_removals_at(removals, i);
        if (is_removal_chosen(run, removal) && !try_write_removal(run, removal)) {
            end_full_batch(run);
            try_write_removal(run, removal);
        }
    }
}

static void write_all(export_run* run)
{
    choose_entities(run);
    begin_batch(run);
    if (!run->def->is_whole) {
        write_removals(run);
    }
    write_entities(run);
    if (run->def->is_whole || run->header.record_count > 0) {
        end_batch(run);
    }
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
    const ph_allocator* allocator = &world->def.allocator;
    const size_t room = (size_t)world->store.entities.live_count + 1;
    export_run run = {
        .world = world,
        .def = def,
        .chosen = ph_allocate_array(allocator, room, sizeof(exported_entity)),
        .bytes = ph_allocate(allocator, (size_t)def->batch_bytes),
        .header = {.is_whole = def->is_whole,
                   .has_area = def->has_area,
                   .owner = def->as_owner,
                   .tick = world->store.tick,
                   .fingerprint = ph_schema_fingerprint(world->def.schema),
                   .last_key = def->is_whole ? UINT64_MAX : 0},
        .deliver = deliver,
        .deliver_context = context,
    };
    memcpy(run.header.from_mm, def->from_mm, sizeof run.header.from_mm);
    memcpy(run.header.to_mm, def->to_mm, sizeof run.header.to_mm);
    const bool has_memory = run.chosen != NULL && run.bytes != NULL;
    if (has_memory) {
        write_all(&run);
    }
    ph_release_array(allocator, run.chosen, room, sizeof(exported_entity));
    ph_release(allocator, run.bytes, (size_t)def->batch_bytes);
    return has_memory ? PH_OK : ph_fail_memory(&check);
}
