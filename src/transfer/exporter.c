// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// An exporter remembers of every entity where it told of it last (exporter_state.h). Each call goes over the entities
// once:
//
//   1  newcomers are merged in
//   2  for each: gone? handed over? in another cell or channel? changed?        arrivals and changes
//   3  for those that are no longer where they were told                        departures
//
// The order is that of keys, because no other that costs as little is safe: entities are in their arrays by
// place, and which place was free depends on entities that those who follow a channel may not know of. The
// array of live ones is in no better order. The keys of all, once sorted, stay so until a spawn; batches need
// no sorting of their own. The price: where keys are in another order than places, each entity is somewhere
// else in memory (bench transfer: 25..30 ns a record in the same order, 66..75 in any, with a heading). Tried
// instead: lists by cell, each written straight into its batch, without chunks. That is such a case always, and
// took 140 ns where this took 53 (94 with entities fetched ahead).

#include "transfer/export.h"
#include "transfer/exporter_state.h"

#include "base/allocator.h"
#include "base/bitset.h"
#include "base/compiler.h"

#include <stdlib.h>
#include <string.h>

#define EXPORTER_COOKIE UINT32_C(0x70684363)

// How far ahead entities are fetched: keys are in another order than places.
enum { FETCH_AHEAD = 24 };

// ---- life

ph_exporter_def ph_exporter_def_default(void)
{
    return (ph_exporter_def){.cell_mm = 250000, .batch_bytes = 8192, .cookie = EXPORTER_COOKIE};
}

static ph_exported_class describe_class(const ph_class* described)
{
    const int references = PH_PROPERTIES_MAX * PH_TRANSFER_REFERENCE_BITS_MAX;
    ph_exported_class made = {
        .all = ph_transfer_mask_of(described),
        .references = ph_transfer_references_of(described),
    };
    const int fixed = 2 + 8 + 4 + 4 + 1 + 5 + 12 + 8;
    const int bits = ph_class_max_bits(described) + (made.references != 0 ? references : 0);
    made.size_max = (uint32_t)(fixed + bits / 8 + 1);
    if (made.size_max > PH_TRANSFER_RECORD_MAX) {
        made.size_max = PH_TRANSFER_RECORD_MAX;
    }
    return made;
}

static ph_result create_exporter_parts(ph_exporter* exporter)
{
    const ph_world* world = exporter->def.world;
    const ph_batch_header header = {
        .has_cell = true,
        .cell_mm = exporter->def.cell_mm,
        .owner = exporter->def.as_owner,
        .fingerprint = ph_schema_fingerprint(world->def.schema),
    };
    const int class_count = world->store.class_count;
    exporter->classes =
        ph_allocate_array(&world->def.allocator, (size_t)class_count, sizeof *exporter->classes);
    if (exporter->classes == NULL ||
        ph_streams_create(&exporter->streams, &header, exporter->def.batch_bytes,
                          &world->def.allocator) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < class_count; ++i) {
        exporter->classes[i] = describe_class(ph_schema_class_at(world->def.schema, i));
    }
    return PH_OK;
}

ph_result ph_exporter_create(const ph_exporter_def* def, ph_exporter** exporter)
{
    *exporter = NULL;
    if (def->world == NULL) {
        return PH_ERROR_ARGUMENT;
    }
    ph_check check = ph_world_call(def->world, __func__);
    ph_check_made(&check, def->cookie == EXPORTER_COOKIE, "ph_exporter_def");
    ph_check_range(&check, "ph_exporter_def.cell_mm", def->cell_mm, PH_CELL_MM_MIN, PH_CELL_MM_MAX);
    ph_check_range(&check, "ph_exporter_def.batch_bytes", def->batch_bytes,
                   PH_EXPORT_BATCH_BYTES_MIN, PH_EXPORT_BATCH_BYTES_MAX);
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_exporter* made = ph_allocate_zeroed(&def->world->def.allocator, sizeof *made);
    if (made == NULL) {
        return ph_fail_memory(&check);
    }
    made->def = *def;
    if (create_exporter_parts(made) != PH_OK) {
        ph_exporter_destroy(made);
        return ph_fail_memory(&check);
    }
    *exporter = made;
    return PH_OK;
}

static void release_told(ph_exporter* exporter)
{
    const ph_allocator* allocator = &exporter->def.world->def.allocator;
    const size_t capacity = (size_t)exporter->capacity;
    ph_release_array(allocator, exporter->told, capacity, sizeof(ph_told_entity));
    ph_release_array(allocator, exporter->places, capacity, sizeof(ph_told_place));
    ph_release_array(allocator, exporter->departing, capacity, sizeof(uint32_t));
}

void ph_exporter_destroy(ph_exporter* exporter)
{
    if (exporter == NULL) {
        return;
    }
    const ph_world* world = exporter->def.world;
    release_told(exporter);
    ph_exporter_forget_members(exporter);
    ph_streams_destroy(&exporter->streams);
    ph_release_array(&world->def.allocator, exporter->classes, (size_t)world->store.class_count,
                     sizeof *exporter->classes);
    ph_release(&world->def.allocator, exporter, sizeof *exporter);
}

// ---- newcomers

static ph_result reserve_told(ph_exporter* exporter, int count)
{
    if (count <= exporter->capacity) {
        return PH_OK;
    }
    const ph_allocator* allocator = &exporter->def.world->def.allocator;
    const size_t room = (size_t)count + (size_t)count / 4 + 64;
    ph_exporter grown = *exporter;
    grown.capacity = (int)room;
    grown.told = ph_allocate_array(allocator, room, sizeof(ph_told_entity));
    grown.places = ph_allocate_array(allocator, room, sizeof(ph_told_place));
    grown.departing = ph_allocate_array(allocator, room, sizeof(uint32_t));
    if (grown.told == NULL || grown.places == NULL || grown.departing == NULL) {
        release_told(&grown);
        return PH_ERROR_MEMORY;
    }
    if (exporter->told_count > 0) {
        memcpy(grown.told, exporter->told, (size_t)exporter->told_count * sizeof(ph_told_entity));
        memcpy(grown.places, exporter->places,
               (size_t)exporter->told_count * sizeof(ph_told_place));
    }
    release_told(exporter);
    *exporter = grown;
    return PH_OK;
}

static int compare_told(const void* left, const void* right)
{
    const uint64_t a = ((const ph_told_entity*)left)->key;
    const uint64_t b = ((const ph_told_entity*)right)->key;
    return (a > b) - (a < b);
}

static int count_newcomers(const ph_exporter* exporter)
{
    const ph_entities* entities = &exporter->def.world->store.entities;
    int count = 0;
    for (int i = 0; i < entities->live_count; ++i) {
        count += entities->spawn_order[entities->live[i]] >= exporter->next_spawn_order;
    }
    return count;
}

// Sorted.
static void collect_newcomers(const ph_exporter* exporter, ph_told_entity* newcomers)
{
    const ph_entities* entities = &exporter->def.world->store.entities;
    size_t count = 0;
    for (int i = 0; i < entities->live_count; ++i) {
        const ph_entity_index index = entities->live[i];
        if (entities->spawn_order[index] >= exporter->next_spawn_order) {
            newcomers[count++] = (ph_told_entity){
                .key = entities->key[index],
                .index = index,
                .spawn_mark = (uint32_t)entities->spawn_order[index],
                .incarnation = entities->incarnation[index],
            };
        }
    }
    if (count > 0) {
        qsort(newcomers, count, sizeof *newcomers, compare_told);
    }
}

// From the back, in place: the newcomers go where their keys belong. One that has the key of one that is gone
// stands behind it.
static void merge_newcomers(ph_exporter* exporter, const ph_told_entity* newcomers, int count)
{
    int to = exporter->told_count + count;
    int from = exporter->told_count;
    exporter->told_count = to;
    while (count > 0) {
        --to;
        if (from > 0 && exporter->told[from - 1].key > newcomers[count - 1].key) {
            --from;
            exporter->told[to] = exporter->told[from];
            exporter->places[to] = exporter->places[from];
        } else {
            --count;
            exporter->told[to] = newcomers[count];
            exporter->places[to] = (ph_told_place){0};
        }
    }
}

static ph_result add_newcomers(ph_exporter* exporter)
{
    const ph_entities* entities = &exporter->def.world->store.entities;
    if (entities->next_spawn_order == exporter->next_spawn_order) {
        return PH_OK;
    }
    // First at the end of the array, out of the way of those that make room for them.
    const int count = count_newcomers(exporter);
    if (reserve_told(exporter, exporter->told_count + 2 * count) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    ph_told_entity* newcomers = exporter->told + exporter->capacity - count;
    if (count > 0) {
        collect_newcomers(exporter, newcomers);
        merge_newcomers(exporter, newcomers, count);
    }
    exporter->next_spawn_order = entities->next_spawn_order;
    return PH_OK;
}

// ---- arrivals and changes

// From now on this stands in its old place, for the departures, and the new one.
static void note_departure(ph_exporter* exporter, int i)
{
    ph_told_place* place = &exporter->places[i];
    if (place->channels != 0) {
        place->was_channels = place->channels;
        place->was_cell = place->cell;
        place->was_epoch = place->epoch;
        exporter->departing[exporter->departing_count++] = (uint32_t)i;
    }
}

static void count_members(ph_exporter* exporter, ph_cell cell, uint64_t channels, int by)
{
    for (uint64_t left = channels; left != 0; left &= left - 1) {
        uint32_t stream;
        if (ph_streams_find(&exporter->streams, cell, ph_word_lowest_bit(left), &stream) == PH_OK) {
            exporter->streams.all[stream].member_count += by;
        }
    }
}

// All streams of a placement are there. @return The stream of a single channel; else none.
static ph_result find_streams(ph_exporter* exporter, const ph_placement* placement,
                              uint32_t* single)
{
    *single = PH_STREAM_NONE;
    for (uint64_t left = placement->channels; left != 0; left &= left - 1) {
        if (ph_streams_find(&exporter->streams, placement->cell, ph_word_lowest_bit(left),
                            single) != PH_OK) {
            return PH_ERROR_MEMORY;
        }
    }
    const bool is_single = (placement->channels & (placement->channels - 1)) == 0;
    *single = is_single ? *single : PH_STREAM_NONE;
    return PH_OK;
}

// The same bytes on all channels of a placement.
static void add_to_streams(ph_exporter* exporter, const ph_placement* placement,
                           const uint8_t* record, size_t size)
{
    for (uint64_t left = placement->channels; left != 0; left &= left - 1) {
        uint32_t stream;
        // Is there: something was told in it, or it was found before.
        if (ph_streams_find(&exporter->streams, placement->cell, ph_word_lowest_bit(left),
                            &stream) == PH_OK) {
            memcpy(ph_streams_room(&exporter->streams, stream, (uint32_t)size), record, size);
            ph_streams_add(&exporter->streams, stream, size);
        }
    }
}

static void tell_state(ph_exporter* exporter, int i, const ph_placement* placement)
{
    const ph_store* store = &exporter->def.world->store;
    ph_told_entity* told = &exporter->told[i];
    ph_told_place* place = &exporter->places[i];
    uint8_t record[PH_TRANSFER_RECORD_MAX + PH_TRANSFER_SLACK];
    place->named = ph_export_named(store, told->index, placement->channels);
    place->epoch = store->entities.whereabouts[told->index].epoch;
    told->incarnation =
        store->entities.incarnation[told->index]; // an import sets it after the spawn
    const size_t size = ph_transfer_write_state(record, store, told->index, place->named);
    add_to_streams(exporter, placement, record, size);
}

// What of an entity that stays where it is has changed. That a reference names an entity that is not told of is
// no change, unless it named one before; that it comes to name one, because its visibility has changed, is.
static uint64_t changed_mask(ph_exporter* exporter, int i, const ph_exported_class* type)
{
    const ph_store* store = &exporter->def.world->store;
    const ph_entity_index index = exporter->told[i].index;
    uint64_t mask = ph_export_changes_since(store, index, exporter->since_tick);
    if (type->references != 0) {
        ph_told_place* place = &exporter->places[i];
        const uint64_t named =
            ph_export_named(store, index, ph_channels_of_entity(&store->entities, index));
        mask = (mask & (~type->references | named | place->named)) | (named ^ place->named);
        place->named = named;
    }
    return mask;
}

static ph_transfer_change find_change(ph_exporter* exporter, int i, const ph_whereabouts* at,
                                      const ph_exported_class* type)
{
    ph_transfer_change change = {
        .key = exporter->told[i].key,
        .incarnation = exporter->told[i].incarnation,
        .index = exporter->told[i].index,
        .has_position = at->placed_tick >= exporter->since_tick,
    };
    if (type->all != 0) {
        change.mask = changed_mask(exporter, i, type);
        change.named = type->references != 0 ? exporter->places[i].named : 0;
    }
    return change;
}

// One of several channels that stays on them.
static void tell_change(ph_exporter* exporter, int i, const ph_placement* placement)
{
    const ph_store* store = &exporter->def.world->store;
    const ph_entity_index index = exporter->told[i].index;
    const ph_exported_class* type = &exporter->classes[store->entities.class_index[index]];
    const ph_transfer_change change =
        find_change(exporter, i, &store->entities.whereabouts[index], type);
    if (change.mask != 0 || change.has_position) {
        uint8_t record[PH_TRANSFER_RECORD_MAX + PH_TRANSFER_SLACK];
        add_to_streams(exporter, placement, record,
                       ph_transfer_write_changed(record, store, &change));
    }
}

static void tell_dead(ph_exporter* exporter, int i)
{
    note_departure(exporter, i);
    exporter->places[i].channels = 0;
    exporter->told[i].index = PH_ENTITY_NONE;
    exporter->has_dead = true;
}

// Whatever is not usual: it is dead, new, shown or owned otherwise, on several channels, or in another cell.
static PH_OUT_OF_LINE void tell_anew(ph_exporter* exporter, int i)
{
    const ph_entities* entities = &exporter->def.world->store.entities;
    ph_told_entity* told = &exporter->told[i];
    ph_told_place* place = &exporter->places[i];
    if ((uint32_t)entities->spawn_order[told->index] != told->spawn_mark) {
        tell_dead(exporter, i);
        return;
    }
    const ph_whereabouts* at = &entities->whereabouts[told->index];
    ph_placement placement = {0};
    if (at->owner == exporter->def.owner) {
        placement = ph_placement_of(entities, told->index, exporter->def.cell_mm);
    }
    const bool stays =
        placement.channels == place->channels && ph_cell_is_same(placement.cell, place->cell);
    if (stays && placement.channels == 0) {
        return; // of another owner, as before
    }
    if (stays && at->renewed_tick < exporter->since_tick) {
        tell_change(exporter, i, &placement);
        return;
    }
    uint32_t stream;
    if (find_streams(exporter, &placement, &stream) != PH_OK) {
        exporter->lacks_memory = true; // the next call finds it where it was told last
        told->stream = PH_STREAM_NONE;
        return;
    }
    if (!stays) {
        note_departure(exporter, i);
        count_members(exporter, placement.cell, placement.channels, 1);
    }
    if (exporter->def.on_cell != NULL && placement.channels != 0 &&
        (place->channels == 0 || !ph_cell_is_same(placement.cell, place->cell))) {
        exporter->def.on_cell(exporter->def.on_cell_context, told->key, placement.cell);
    }
    place->cell = placement.cell;
    place->channels = placement.channels;
    told->stream = stream;
    if (placement.channels != 0) {
        tell_state(exporter, i, &placement);
    }
}

// First the entity and the stream; when they are there, the first of its values, and where the record goes.
static inline void prefetch_told(const ph_exporter* exporter, int i)
{
    const ph_store* store = &exporter->def.world->store;
    if (i + FETCH_AHEAD >= exporter->told_count) {
        return;
    }
    const ph_told_entity* far = &exporter->told[i + FETCH_AHEAD];
    PH_PREFETCH(&store->entities.whereabouts[far->index]);
    PH_PREFETCH(&exporter->streams.all[far->stream]);
    const ph_told_entity* near = &exporter->told[i + FETCH_AHEAD / 2];
    PH_PREFETCH(exporter->streams.all[near->stream].cursor);
    if (exporter->has_values) {
        const ph_exported_class* type =
            &exporter->classes[store->entities.class_index[near->index]];
        PH_PREFETCH(&store->entities.changes[far->index]);
        PH_PREFETCH(&ph_entities_recent(&store->entities, 1)[far->index]);
        PH_PREFETCH(type->first_value +
                    store->entities.whereabouts[near->index].row * type->first_words);
    }
}

static inline bool is_in_stream(const ph_stream* stream, const int32_t* position_mm)
{
    return (uint32_t)position_mm[0] - (uint32_t)stream->from_mm[0] < stream->extent_mm &&
           (uint32_t)position_mm[1] - (uint32_t)stream->from_mm[1] < stream->extent_mm;
}

// A despawn counts as a renewal: the dead need not be asked for.
static inline void tell_entity(ph_exporter* exporter, int i)
{
    const ph_store* store = &exporter->def.world->store;
    const ph_told_entity* told = &exporter->told[i];
    const ph_entity_index index = told->index;
    const ph_whereabouts* at = &store->entities.whereabouts[index];
    if (PH_UNLIKELY(at->owner != exporter->def.owner || at->renewed_tick >= exporter->since_tick ||
                    !is_in_stream(&exporter->streams.all[told->stream], at->position_mm))) {
        tell_anew(exporter, i);
        return;
    }
    const ph_exported_class* type = &exporter->classes[store->entities.class_index[index]];
    const ph_transfer_change change = find_change(exporter, i, at, type);
    if (change.mask != 0 || change.has_position) {
        uint8_t* room = ph_streams_room(&exporter->streams, told->stream, type->size_max);
        ph_streams_add(&exporter->streams, told->stream,
                       ph_transfer_write_changed(room, store, &change));
    }
}

// ---- departures

// In the order of keys, as those who depart were found. One that is on a channel still has not left it.
static void tell_departures(ph_exporter* exporter)
{
    for (int i = 0; i < exporter->departing_count; ++i) {
        const ph_told_entity* told = &exporter->told[exporter->departing[i]];
        const ph_told_place* place = &exporter->places[exporter->departing[i]];
        const bool is_dead = told->index == PH_ENTITY_NONE;
        const bool is_same_cell = ph_cell_is_same(place->cell, place->was_cell);
        const ph_placement left = {
            .cell = place->was_cell,
            .channels = place->was_channels & ~(is_same_cell && !is_dead ? place->channels : 0),
        };
        uint8_t record[PH_TRANSFER_RECORD_MAX + PH_TRANSFER_SLACK];
        const size_t size =
            ph_transfer_write_gone(record, is_dead ? PH_TRANSFER_REMOVED : PH_TRANSFER_LEFT,
                                   told->key, told->incarnation, place->was_epoch);
        add_to_streams(exporter, &left, record, size);
        count_members(exporter, place->was_cell, place->was_channels, -1);
    }
}

static void forget_dead(ph_exporter* exporter)
{
    int kept = 0;
    for (int i = 0; i < exporter->told_count; ++i) {
        if (exporter->told[i].index != PH_ENTITY_NONE) {
            exporter->told[kept] = exporter->told[i];
            exporter->places[kept] = exporter->places[i];
            ++kept;
        }
    }
    exporter->told_count = kept;
    exporter->has_dead = false;
}

// ---- the calls

// Columns move when a table grows.
static void note_columns(ph_exporter* exporter)
{
    const ph_store* store = &exporter->def.world->store;
    exporter->has_values = false;
    for (int i = 0; i < store->class_count; ++i) {
        ph_exported_class* type = &exporter->classes[i];
        if (type->all != 0) {
            const int first = ph_word_lowest_bit(type->all);
            type->first_value = store->tables[i].columns[first];
            type->first_words = (uint32_t)store->tables[i].described->properties[first].words;
            exporter->has_values = true;
        }
    }
}

ph_result ph_exporter_changes(ph_exporter* exporter, uint32_t stamp, ph_cell_batch_fn* deliver,
                              void* context)
{
    const ph_world* world = exporter->def.world;
    const ph_check call = ph_world_call(world, __func__);
    if (add_newcomers(exporter) != PH_OK) {
        return ph_fail_memory(&call);
    }
    note_columns(exporter);
    exporter->members.is_current = false;
    exporter->streams.header.stamp = stamp;
    exporter->streams.deliver = deliver;
    exporter->streams.deliver_context = context;
    exporter->departing_count = 0;
    exporter->lacks_memory = false;
    for (int i = 0; i < exporter->told_count; ++i) {
        prefetch_told(exporter, i);
        tell_entity(exporter, i);
    }
    ph_streams_flush(&exporter->streams);
    if (exporter->departing_count > 0) {
        exporter->streams.is_leaving = true;
        tell_departures(exporter);
        ph_streams_flush(&exporter->streams);
        exporter->streams.is_leaving = false;
        ph_streams_prune(&exporter->streams);
    }
    if (exporter->has_dead) {
        forget_dead(exporter);
    }
    exporter->since_tick = world->store.tick;
    return exporter->lacks_memory ? ph_fail_memory(&call) : PH_OK;
}
