// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From a batch into a world, in passes over its records:
//
//   prepare  reads everything and takes the memory, changes nothing (import_check.c): what follows cannot fail
//   create   spawns what is not there yet, so that references find it
//   apply    sets values, removes
//   sweep    of a whole export: removes what the batch does not name
//   tell     the game of what came and went
//
// What takes the time is waiting for memory: each record is about another entity. So what a record needs is
// fetched a few records ahead (bench transfer: 54..58 ns a record instead of 80..83, turning 95..99 instead of
// 119..125).

#include "transfer/importer_state.h"

#include "base/allocator.h"
#include "base/bitset.h"
#include "base/compiler.h"

#include <string.h>

// ---- life

static void release_importer(ph_importer* importer)
{
    const ph_allocator* allocator = &importer->def.world->def.allocator;
    ph_waiting_destroy(&importer->waiting);
    ph_tombstones_destroy(&importer->tombstones);
    ph_release_array(allocator, importer->records, (size_t)importer->record_capacity,
                     sizeof(ph_transfer_record));
    ph_release_array(allocator, importer->events, (size_t)importer->event_capacity,
                     sizeof(ph_noted_event));
    ph_release(allocator, importer, sizeof *importer);
}

ph_result ph_importer_create(const ph_importer_def* def, ph_importer** importer)
{
    *importer = NULL;
    if (def->world == NULL) {
        return PH_ERROR_ARGUMENT;
    }
    ph_check call = ph_world_call(def->world, __func__);
    ph_check_range(&call, "ph_importer_def.tombstone_capacity", def->tombstone_capacity, 0,
                   PH_NO_END);
    if (call.result != PH_OK) {
        return call.result;
    }
    const ph_allocator* allocator = &def->world->def.allocator;
    ph_importer* made = ph_allocate_zeroed(allocator, sizeof *made);
    if (made == NULL) {
        return ph_fail_memory(&call);
    }
    made->def = *def;
    ph_waiting_init(&made->waiting, allocator);
    if (ph_tombstones_create(&made->tombstones, allocator, def->tombstone_capacity) != PH_OK) {
        release_importer(made);
        return ph_fail_memory(&call);
    }
    *importer = made;
    return PH_OK;
}

void ph_importer_destroy(ph_importer* importer)
{
    if (importer != NULL) {
        release_importer(importer);
    }
}

ph_import_stats ph_importer_get_stats(const ph_importer* importer)
{
    ph_import_stats stats = importer->stats;
    stats.waiting_references = importer->waiting.count;
    return stats;
}

const char* ph_import_refusal_text(ph_import_refusal refusal)
{
    static const char* const REFUSAL_TEXTS[PH_IMPORT_REFUSAL_COUNT] = {
        [PH_IMPORT_REFUSAL_SIZE] = "it is shorter than its header, or too long",
        [PH_IMPORT_REFUSAL_FORMAT] = "it is of another version, or no export at all",
        [PH_IMPORT_REFUSAL_SCHEMA] = "it was made with another schema",
        [PH_IMPORT_REFUSAL_RANGE] = "its area or range of keys ends before it begins",
        [PH_IMPORT_REFUSAL_KEYS] = "its keys are out of order or out of its range",
        [PH_IMPORT_REFUSAL_RECORD] = "it has a record that there cannot be",
        [PH_IMPORT_REFUSAL_VALUE] = "it has a value that there cannot be",
        [PH_IMPORT_REFUSAL_END] = "it ends too early or too late",
    };
    return (int)refusal >= 0 && refusal < PH_IMPORT_REFUSAL_COUNT ? REFUSAL_TEXTS[refusal]
                                                                  : "unknown";
}

bool ph_importer_peek(const void* bytes, size_t size, ph_import_peek* peek)
{
    ph_batch_header header;
    ph_import_refusal refusal;
    const bool is_header = ph_batch_header_read(&header, bytes, size, &refusal);
    *peek = (ph_import_peek){0};
    if (is_header) {
        *peek = (ph_import_peek){
            .has_cell = header.has_cell,
            .cell = header.cell,
            .cell_mm = header.cell_mm,
            .channel = header.channel,
            .is_whole = header.is_whole,
            .first_key = header.first_key,
            .last_key = header.last_key,
            .record_count = header.record_count,
            .owner = header.owner,
            .stamp = header.stamp,
        };
    }
    return is_header;
}

// ---- versions

// Whether what a record says counts, against what is known. Another owner needs a higher epoch.
static inline bool is_news(const ph_importer* importer, uint32_t epoch, const ph_whereabouts* known)
{
    if (epoch > known->epoch) {
        return true;
    }
    return (epoch == known->epoch && importer->header.owner == known->owner &&
            importer->header.stamp >= known->imported_stamp) ||
           importer->def.takes_older;
}

// The same for a record of another entity, which has the key now: what its owner says later counts, because each
// of them has epochs of its own.
static bool is_news_of_another(const ph_importer* importer, uint32_t epoch,
                               const ph_whereabouts* known)
{
    return importer->header.owner == known->owner
               ? importer->header.stamp >= known->imported_stamp || importer->def.takes_older
               : epoch > known->epoch || importer->def.takes_older;
}

static bool is_buried(const ph_importer* importer, const ph_transfer_record* record)
{
    const ph_tombstone about = {
        .key = record->key,
        .incarnation = record->incarnation,
        .epoch = record->epoch,
        .stamp = importer->header.stamp,
        .owner = importer->header.owner,
    };
    return !importer->def.takes_older && ph_tombstones_cover(&importer->tombstones, &about);
}

static void bury(ph_importer* importer, const ph_transfer_record* record, bool is_removed)
{
    const ph_tombstone tombstone = {
        .key = record->key,
        .incarnation = record->incarnation,
        .epoch = record->epoch,
        .stamp = importer->header.stamp,
        .owner = importer->header.owner,
        .is_removed = is_removed,
    };
    ph_tombstones_add(&importer->tombstones, &tombstone);
}

// ---- create

static void note_event(ph_importer* importer, ph_import_event event, ph_entity_index index)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    if (importer->def.on_entity != NULL) {
        PH_ASSERT(importer->event_count < importer->event_capacity);
        importer->events[importer->event_count++] = (ph_noted_event){
            .event = event, .entity = ph_entities_id(entities, index), .key = entities->key[index]};
    }
}

static void note_version(ph_importer* importer, ph_entity_index index, uint32_t epoch)
{
    ph_whereabouts* at = &importer->def.world->store.entities.whereabouts[index];
    if (PH_UNLIKELY(at->owner != importer->header.owner || at->epoch != epoch)) {
        at->renewed_tick = importer->def.world->store.tick;
        at->owner = importer->header.owner;
        at->epoch = epoch;
    }
    at->imported_stamp = importer->header.stamp;
}

static void remove_entity(ph_importer* importer, ph_entity_index index)
{
    ph_world* world = importer->def.world;
    note_event(importer, PH_IMPORT_REMOVED, index);
    ph_world_despawn(world, ph_entities_id(&world->store.entities, index));
    ++importer->stats.removed;
}

// References that waited for this key. Those to another incarnation of it wait for one that is gone.
static void resolve_waiting(ph_importer* importer, const ph_transfer_record* record,
                            ph_entity_id target)
{
    ph_world* world = importer->def.world;
    ph_waiting_reference taken;
    while (ph_waiting_take(&importer->waiting, record->key, &taken)) {
        const ph_entity_index index = ph_entities_find(&world->store.entities, taken.holder);
        if (index != PH_ENTITY_NONE && taken.target.incarnation == record->incarnation) {
            uint32_t words[PH_VALUE_WORDS_MAX] = {target.index1, target.generation};
            ph_world_store_value(world, index, taken.property, words, NULL);
        }
    }
}

static void spawn_record(ph_importer* importer, ph_transfer_record* record)
{
    ph_world* world = importer->def.world;
    const ph_spawn spawn = {
        .class_index = record->class_index,
        .key = record->key,
        .position_mm = {record->position_mm[0], record->position_mm[1], record->position_mm[2]},
        .seen_by = record->seen_by,
        .is_always_visible = (record->flags & PH_SEEN_ALWAYS) != 0,
        .is_never_visible = (record->flags & PH_SEEN_NEVER) != 0,
    };
    ph_entity_id id;
    const ph_result result = ph_world_spawn(world, &spawn, &id);
    PH_ASSERT(result == PH_OK); // key, class and position were looked at, and there is room
    (void)result;
    if (record->seen_by == 0) {
        // In a spawn 0 means all.
        ph_world_set_visibility(world, id, 0, spawn.is_always_visible, spawn.is_never_visible);
    }
    record->index = id.index1 - 1;
    world->store.entities.incarnation[record->index] = record->incarnation;
    note_version(importer, record->index, record->epoch);
    note_event(importer, PH_IMPORT_CREATED, record->index);
    ++importer->stats.created;
    resolve_waiting(importer, record, id);
}

static void create_if_missing(ph_importer* importer, ph_transfer_record* record)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    ph_entity_index index;
    if (record->kind != PH_TRANSFER_STATE) {
        return;
    }
    const bool has_key = ph_entities_has_key(entities, record->key, &index);
    if (has_key && (ph_import_is_same_state(entities, record, index) ||
                    !is_news_of_another(importer, record->epoch, &entities->whereabouts[index]))) {
        return;
    }
    if (is_buried(importer, record)) {
        return;
    }
    if (has_key) {
        remove_entity(importer, index);
    }
    spawn_record(importer, record);
}

// ---- apply

static ph_entity_id find_target(const ph_world* world, const ph_transfer_target* target)
{
    const ph_entities* entities = &world->store.entities;
    ph_entity_index index;
    if (!target->is_named || !ph_entities_has_key(entities, target->key, &index) ||
        entities->incarnation[index] != target->incarnation) {
        return (ph_entity_id){0};
    }
    return ph_entities_id(entities, index);
}

static void set_reference(ph_importer* importer, ph_entity_index index, int property)
{
    ph_world* world = importer->def.world;
    const ph_transfer_target* target = &importer->values.targets[property];
    const ph_entity_id holder = ph_entities_id(&world->store.entities, index);
    const ph_entity_id found = find_target(world, target);
    uint32_t words[PH_VALUE_WORDS_MAX] = {found.index1, found.generation};
    ph_world_store_value(world, index, property, words, NULL);
    if (target->is_named && found.index1 == 0) {
        ph_waiting_add(&importer->waiting, holder, property, target);
    } else {
        ph_waiting_forget(&importer->waiting, holder, property);
    }
}

static void set_values(ph_importer* importer, const ph_transfer_record* record,
                       ph_entity_index index)
{
    ph_world* world = importer->def.world;
    const ph_class* described = world->store.tables[record->class_index].described;
    ph_import_refusal none;
    ph_transfer_read_values(&importer->reader, record, &importer->values, &none);
    for (uint64_t left = record->mask; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        if (described->properties[p].def.coding == PH_CODING_ENTITY) {
            set_reference(importer, index, p);
        } else {
            ph_world_store_value(world, index, p, importer->values.words[p],
                                 &importer->values.texts[p]);
        }
    }
}

static void set_imported_visibility(ph_importer* importer, const ph_transfer_record* record,
                                    ph_entity_index index)
{
    ph_world* world = importer->def.world;
    if (world->store.entities.seen_by[index] != record->seen_by ||
        world->store.entities.flags[index] != record->flags) {
        ph_world_set_visibility(world, ph_entities_id(&world->store.entities, index),
                                record->seen_by, (record->flags & PH_SEEN_ALWAYS) != 0,
                                (record->flags & PH_SEEN_NEVER) != 0);
    }
}

static bool is_on_batch(const ph_importer* importer, ph_entity_index index)
{
    const ph_batch_header* header = &importer->header;
    const ph_entities* entities = &importer->def.world->store.entities;
    return !header->has_cell ||
           (ph_is_in_cell(entities, index, header->cell, header->cell_mm) &&
            (ph_channels_of_entity(entities, index) >> header->channel & 1) != 0);
}

// REMOVED and LEFT. One that stands elsewhere by now has not left what it is in.
static void apply_gone(ph_importer* importer, const ph_transfer_record* record,
                       ph_entity_index index)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    const bool is_removed = record->kind == PH_TRANSFER_REMOVED;
    if (!is_removed && importer->def.keeps_left) {
        return;
    }
    if (index != PH_ENTITY_NONE) {
        if (!is_news(importer, record->epoch, &entities->whereabouts[index]) ||
            entities->incarnation[index] != record->incarnation ||
            (!is_removed && !is_on_batch(importer, index))) {
            ++importer->stats.older;
            return;
        }
        remove_entity(importer, index);
    }
    bury(importer, record, is_removed);
}

static inline void apply_record(ph_importer* importer, const ph_transfer_record* record,
                                ph_entity_index index)
{
    ph_world* world = importer->def.world;
    const ph_entities* entities = &world->store.entities;
    if (record->kind < PH_TRANSFER_CHANGED) {
        apply_gone(importer, record, index);
        return;
    }
    if (index == PH_ENTITY_NONE) {
        const bool is_late = is_buried(importer, record);
        importer->stats.buried += is_late;
        importer->stats.missing += !is_late;
        return;
    }
    const ph_whereabouts* at = &entities->whereabouts[index];
    if (!is_news(importer, record->epoch, at)) {
        ++importer->stats.older;
        return;
    }
    if (!ph_import_is_same_state(entities, record, index)) {
        ++importer->stats.missing;
        return;
    }
    if (record->kind == PH_TRANSFER_STATE) {
        set_imported_visibility(importer, record, index);
    }
    if (record->has_position) {
        ph_world_store_position(world, index, record->position_mm);
    }
    if (record->mask != 0) {
        set_values(importer, record, index);
    }
    if (PH_UNLIKELY(at->owner != importer->header.owner)) {
        note_event(importer, PH_IMPORT_OWNER_CHANGED, index);
    }
    note_version(importer, index, record->epoch);
    ++importer->stats.applied;
}

// ---- sweep

static bool is_named(const ph_importer* importer, uint64_t key)
{
    int low = 0;
    int high = importer->header.record_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (importer->records[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < importer->header.record_count && importer->records[low].key == key;
}

// Whether the batch would name it, if it were still there.
static bool is_absent(const ph_importer* importer, ph_entity_index index)
{
    const ph_batch_header* header = &importer->header;
    const ph_entities* entities = &importer->def.world->store.entities;
    const int32_t place_mm[2] = {entities->x_mm[index], entities->y_mm[index]};
    if (!ph_batch_has_place(header, place_mm)) {
        return false;
    }
    const ph_whereabouts* at = &entities->whereabouts[index];
    const uint64_t key = entities->key[index];
    return at->owner == header->owner &&
           (importer->def.takes_older || at->imported_stamp <= header->stamp) &&
           header->first_key <= key && key <= header->last_key && is_on_batch(importer, index) &&
           !is_named(importer, key);
}

// From the back: the last one takes the place of one that is removed.
static void sweep_absent(ph_importer* importer)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    for (int i = entities->live_count - 1; i >= 0; --i) {
        const ph_entity_index index = entities->live[i];
        if (is_absent(importer, index)) {
            const ph_transfer_record gone = {
                .key = entities->key[index],
                .incarnation = entities->incarnation[index],
                .epoch = entities->whereabouts[index].epoch,
            };
            remove_entity(importer, index);
            bury(importer, &gone, false);
        }
    }
}

int ph_importer_drop(ph_importer* importer, ph_cell cell, int32_t cell_mm, int channel)
{
    PH_ASSERT(cell_mm > 0 && channel >= 0 && channel < PH_CHANNEL_COUNT);

    const ph_entities* entities = &importer->def.world->store.entities;
    int count = 0;
    for (int i = entities->live_count - 1; i >= 0; --i) {
        const ph_entity_index index = entities->live[i];
        if (entities->whereabouts[index].owner == 0 ||
            (ph_channels_of_entity(entities, index) >> channel & 1) == 0 ||
            !ph_is_in_cell(entities, index, cell, cell_mm)) {
            continue;
        }
        const ph_entity_id id = ph_entities_id(entities, index);
        const uint64_t key = entities->key[index];
        ph_world_despawn(importer->def.world, id);
        ++importer->stats.removed;
        ++count;
        if (importer->def.on_entity != NULL) {
            importer->def.on_entity(importer->def.on_entity_context, PH_IMPORT_REMOVED, id, key);
        }
    }
    return count;
}

// ---- the call

static ph_result refuse_batch(ph_importer* importer, ph_import_refusal refusal)
{
    const ph_check call = ph_world_call(importer->def.world, "ph_importer_take");
    ++importer->stats.refused[refusal];
    const ph_result result = refusal == PH_IMPORT_REFUSAL_SCHEMA ? PH_ERROR_SCHEMA : PH_ERROR_VALUE;
    return ph_fail(&call, result, "bytes", "are no batch that this world can take: %s",
                   ph_import_refusal_text(refusal));
}

// So many records ahead memory is fetched: as far as a core has misses under way.
enum { AHEAD = 8 };

// All that a move writes to.
static inline void prefetch_entity(const ph_entities* entities, ph_entity_index index)
{
    if (index != PH_ENTITY_NONE) {
        PH_PREFETCH(&entities->whereabouts[index]);
        PH_PREFETCH(&entities->strides[index]);
        PH_PREFETCH(&entities->incarnation[index]);
        PH_PREFETCH(&entities->x_mm[index]);
        PH_PREFETCH(&entities->y_mm[index]);
        PH_PREFETCH(&entities->changes[index]);
    }
}

static void apply_all(ph_importer* importer)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    const int count = importer->header.record_count;
    for (int i = 0; i < count; ++i) {
        const ph_transfer_record* record = &importer->records[i];
        ph_entity_index index = record->index;
        if (i + AHEAD < count) {
            prefetch_entity(entities, importer->records[i + AHEAD].index);
        }
        if (!importer->is_steady && !ph_entities_has_key(entities, record->key, &index)) {
            index = PH_ENTITY_NONE;
        }
        apply_record(importer, record, index);
    }
    importer->stats.records += (uint64_t)count;
}

static void tell_events(const ph_importer* importer)
{
    for (int i = 0; i < importer->event_count; ++i) {
        const ph_noted_event* event = &importer->events[i];
        importer->def.on_entity(importer->def.on_entity_context, event->event, event->entity,
                                event->key);
    }
}

ph_result ph_importer_take(ph_importer* importer, const void* bytes, size_t size)
{
    const ph_check call = ph_world_call(importer->def.world, __func__);
    ph_import_refusal refusal;
    const ph_result prepared = ph_importer_prepare(importer, bytes, size, &refusal);
    if (prepared != PH_OK) {
        return prepared == PH_ERROR_MEMORY ? ph_fail_memory(&call)
                                           : refuse_batch(importer, refusal);
    }
    for (int i = 0; importer->new_count > 0 && i < importer->header.record_count; ++i) {
        create_if_missing(importer, &importer->records[i]);
    }
    apply_all(importer);
    if (importer->header.is_whole) {
        sweep_absent(importer);
    }
    ++importer->stats.batches;
    tell_events(importer);
    return PH_OK;
}
