// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From a batch into a world, in passes over its records:
//
//   check    reads everything, changes nothing: a batch with one wrong bit is refused here
//   reserve  takes the memory that the rest may need, so that nothing fails half way
//   create   spawns what is not there yet, so that references find it
//   apply    sets values, removes
//   sweep    of a whole export: removes what the batch does not name

#include "transfer/transfer_wire.h"
#include "transfer/waiting_references.h"

#include "base/allocator.h"

#include <string.h>

struct ph_importer {
    ph_importer_def def;
    ph_import_stats stats;
    ph_waiting_references waiting;
    uint64_t* keys; // of the batch, where it is a whole export
    int key_capacity;
    int new_counts[PH_CLASSES_MAX]; // entities that the batch may create, by class
    int reference_count;            // that it may leave waiting
    ph_transfer_record record;      // the one that was read last
    ph_batch_header header;
    const uint8_t* bytes; // of the records
    size_t size;
};

// ---- life

ph_result ph_importer_create(const ph_importer_def* def, ph_importer** importer)
{
    *importer = NULL;
    if (def->world == NULL) {
        return PH_ERROR_ARGUMENT;
    }
    const ph_allocator* allocator = &def->world->def.allocator;
    ph_importer* made = ph_allocate_zeroed(allocator, sizeof *made);
    if (made == NULL) {
        const ph_check call = ph_world_call(def->world, __func__);
        return ph_fail_memory(&call);
    }
    made->def = *def;
    ph_waiting_init(&made->waiting, allocator);
    *importer = made;
    return PH_OK;
}

void ph_importer_destroy(ph_importer* importer)
{
    if (importer == NULL) {
        return;
    }
    const ph_allocator* allocator = &importer->def.world->def.allocator;
    ph_waiting_destroy(&importer->waiting);
    ph_release_array(allocator, importer->keys, (size_t)importer->key_capacity, sizeof(uint64_t));
    ph_release(allocator, importer, sizeof *importer);
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

// ---- versions

typedef struct imported_version {
    uint32_t owner;
    uint32_t epoch;
    uint32_t tick;
} imported_version;

static imported_version version_of(const ph_entities* entities, ph_entity_index index)
{
    const ph_whereabouts* at = &entities->whereabouts[index];
    return (imported_version){at->owner, at->epoch, at->imported_tick};
}

// Whether what a batch says counts, against what is known. Another owner needs a higher epoch.
static bool is_news(const ph_importer* importer, uint32_t epoch, imported_version known)
{
    if (importer->def.takes_older || epoch > known.epoch) {
        return true;
    }
    return epoch == known.epoch && importer->header.owner == known.owner &&
           importer->header.tick >= known.tick;
}

// Whether the entity is the one that the record is about, and not another that had its key.
static bool is_same_entity(const ph_importer* importer, ph_entity_index index)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    return entities->incarnation[index] == importer->record.incarnation;
}

// The same for what a state says: it may become that without being another entity.
static bool is_same_state(const ph_importer* importer, ph_entity_index index)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    return is_same_entity(importer, index) &&
           entities->class_index[index] == importer->record.class_index;
}

// ---- check

static ph_bit_reader begin_records(const ph_importer* importer)
{
    return ph_bit_reader_make(importer->bytes, importer->size);
}

static bool read_next(ph_importer* importer, ph_bit_reader* reader)
{
    return ph_transfer_read(reader, importer->def.world->def.schema, &importer->record);
}

// Whether a whole export may say this, at its place in it.
static bool is_in_order(const ph_importer* importer, int place, uint64_t last_key)
{
    const ph_batch_header* header = &importer->header;
    const uint64_t key = importer->record.key;
    return header->first_key <= key && key <= header->last_key && (place == 0 || key > last_key);
}

// What the record may need.
static void count_needs(ph_importer* importer)
{
    const ph_transfer_record* record = &importer->record;
    const ph_entities* entities = &importer->def.world->store.entities;
    ph_entity_index index;
    if (record->kind == PH_TRANSFER_REMOVED) {
        return;
    }
    importer->reference_count += record->reference_count;
    if (record->kind == PH_TRANSFER_STATE &&
        (!ph_entities_has_key(entities, record->key, &index) || !is_same_state(importer, index))) {
        ++importer->new_counts[record->class_index];
    }
}

static ph_import_refusal refusal_of(const ph_bit_reader* reader)
{
    switch (ph_bit_reader_result(reader)) {
    case PH_OK:
        return PH_IMPORT_REFUSAL_RECORD;
    case PH_ERROR_END:
        return PH_IMPORT_REFUSAL_END;
    default:
        return PH_IMPORT_REFUSAL_VALUE;
    }
}

static bool check_records(ph_importer* importer, ph_import_refusal* refusal)
{
    const ph_batch_header* header = &importer->header;
    const ph_transfer_record* record = &importer->record;
    ph_bit_reader reader = begin_records(importer);
    uint64_t last_key = 0;
    memset(importer->new_counts, 0, sizeof importer->new_counts);
    importer->reference_count = 0;
    for (int i = 0; i < header->record_count; ++i) {
        if (!read_next(importer, &reader)) {
            *refusal = refusal_of(&reader);
            return false;
        }
        if (header->is_whole && !is_in_order(importer, i, last_key)) {
            *refusal = PH_IMPORT_REFUSAL_KEYS;
            return false;
        }
        if ((header->is_whole && record->kind != PH_TRANSFER_STATE) ||
            (record->kind != PH_TRANSFER_REMOVED && record->has_position &&
             !ph_batch_has_place(header, record->position_mm))) {
            *refusal = PH_IMPORT_REFUSAL_RECORD;
            return false;
        }
        last_key = record->key;
        count_needs(importer);
    }
    *refusal = PH_IMPORT_REFUSAL_END;
    return ph_bit_reader_finish(&reader) == PH_OK;
}

static bool check_batch(ph_importer* importer, const uint8_t* bytes, size_t size,
                        ph_import_refusal* refusal)
{
    ph_batch_header* header = &importer->header;
    if (!ph_batch_header_read(header, bytes, size, refusal)) {
        return false;
    }
    if (header->fingerprint != ph_schema_fingerprint(importer->def.world->def.schema)) {
        *refusal = PH_IMPORT_REFUSAL_SCHEMA;
        return false;
    }
    const size_t header_size = ph_batch_header_size(header);
    importer->bytes = bytes + header_size;
    importer->size = size - header_size;
    return check_records(importer, refusal);
}

// ---- reserve

static ph_result reserve_keys(ph_importer* importer, int count)
{
    if (count <= importer->key_capacity) {
        return PH_OK;
    }
    const ph_allocator* allocator = &importer->def.world->def.allocator;
    uint64_t* grown = ph_allocate_array(allocator, (size_t)count, sizeof *grown);
    if (grown == NULL) {
        return PH_ERROR_MEMORY;
    }
    ph_release_array(allocator, importer->keys, (size_t)importer->key_capacity, sizeof *grown);
    importer->keys = grown;
    importer->key_capacity = count;
    return PH_OK;
}

static ph_result reserve_all(ph_importer* importer)
{
    if (importer->header.is_whole &&
        reserve_keys(importer, importer->header.record_count) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    if (ph_waiting_reserve(&importer->waiting, importer->reference_count) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    return ph_world_make_much_room(importer->def.world, importer->new_counts);
}

// ---- create

static void note_version(const ph_importer* importer, ph_entity_index index)
{
    ph_whereabouts* at = &importer->def.world->store.entities.whereabouts[index];
    if (at->owner != importer->header.owner || at->epoch != importer->record.epoch) {
        at->renewed_tick = importer->def.world->store.tick;
    }
    at->owner = importer->header.owner;
    at->epoch = importer->record.epoch;
    at->imported_tick = importer->header.tick;
}

static void remove_entity(ph_importer* importer, ph_entity_index index)
{
    ph_world* world = importer->def.world;
    ph_world_despawn(world, ph_entities_id(&world->store.entities, index));
    ++importer->stats.removed;
}

// References that waited for this key. Those to another incarnation of it wait for one that is gone.
static void resolve_waiting(ph_importer* importer, ph_entity_id target)
{
    ph_world* world = importer->def.world;
    ph_waiting_reference taken;
    while (ph_waiting_take(&importer->waiting, importer->record.key, &taken)) {
        const ph_entity_index index = ph_entities_find(&world->store.entities, taken.holder);
        if (index != PH_ENTITY_NONE && taken.target.incarnation == importer->record.incarnation) {
            uint32_t words[PH_VALUE_WORDS_MAX] = {target.index1, target.generation};
            ph_world_store_value(world, index, taken.property, words, NULL);
        }
    }
}

static void spawn_record(ph_importer* importer)
{
    ph_world* world = importer->def.world;
    const ph_transfer_record* record = &importer->record;
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
    world->store.entities.incarnation[id.index1 - 1] = record->incarnation;
    note_version(importer, id.index1 - 1);
    ++importer->stats.created;
    resolve_waiting(importer, id);
}

static void create_if_missing(ph_importer* importer)
{
    const ph_transfer_record* record = &importer->record;
    const ph_entities* entities = &importer->def.world->store.entities;
    ph_entity_index index;
    if (record->kind != PH_TRANSFER_STATE) {
        return;
    }
    if (!ph_entities_has_key(entities, record->key, &index)) {
        spawn_record(importer);
        return;
    }
    if (!is_same_state(importer, index) &&
        is_news(importer, record->epoch, version_of(entities, index))) {
        remove_entity(importer, index);
        spawn_record(importer);
    }
}

static bool may_create(const ph_importer* importer)
{
    for (int i = 0; i < importer->def.world->store.class_count; ++i) {
        if (importer->new_counts[i] > 0) {
            return true;
        }
    }
    return false;
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
    const ph_transfer_target* target = &importer->record.targets[property];
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

static void set_values(ph_importer* importer, ph_entity_index index)
{
    ph_world* world = importer->def.world;
    ph_transfer_record* record = &importer->record;
    const ph_class* described = world->store.tables[record->class_index].described;
    if (record->has_position) {
        uint32_t words[PH_VALUE_WORDS_MAX];
        memcpy(words, record->position_mm, sizeof record->position_mm);
        ph_world_store_value(world, index, described->position, words, NULL);
    }
    for (int p = 0; p < described->def.property_count; ++p) {
        if ((record->mask >> p & 1) == 0) {
            continue;
        }
        if (described->properties[p].def.coding == PH_CODING_ENTITY) {
            set_reference(importer, index, p);
        } else {
            ph_world_store_value(world, index, p, record->words[p], &record->texts[p]);
        }
    }
}

static void set_imported_visibility(ph_importer* importer, ph_entity_index index)
{
    ph_world* world = importer->def.world;
    const ph_transfer_record* record = &importer->record;
    if (world->store.entities.seen_by[index] != record->seen_by ||
        world->store.entities.flags[index] != record->flags) {
        ph_world_set_visibility(world, ph_entities_id(&world->store.entities, index),
                                record->seen_by, (record->flags & PH_SEEN_ALWAYS) != 0,
                                (record->flags & PH_SEEN_NEVER) != 0);
    }
}

static void apply_record(ph_importer* importer)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    const ph_transfer_record* record = &importer->record;
    ph_entity_index index;
    ++importer->stats.records;
    if (!ph_entities_has_key(entities, record->key, &index)) {
        importer->stats.missing += record->kind != PH_TRANSFER_REMOVED;
        return;
    }
    if (!is_news(importer, record->epoch, version_of(entities, index))) {
        ++importer->stats.older;
        return;
    }
    if (record->kind == PH_TRANSFER_REMOVED) {
        if (is_same_entity(importer, index)) {
            remove_entity(importer, index);
        } else {
            ++importer->stats.older;
        }
        return;
    }
    if (!is_same_state(importer, index)) {
        ++importer->stats.missing;
        return;
    }
    if (record->kind == PH_TRANSFER_STATE) {
        set_imported_visibility(importer, index);
    }
    set_values(importer, index);
    note_version(importer, index);
    ++importer->stats.applied;
}

// ---- sweep

static bool is_named(const ph_importer* importer, uint64_t key)
{
    int low = 0;
    int high = importer->header.record_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (importer->keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < importer->header.record_count && importer->keys[low] == key;
}

// Whether the batch would name it, if it were still there.
static bool is_absent(const ph_importer* importer, ph_entity_index index)
{
    const ph_batch_header* header = &importer->header;
    const ph_entities* entities = &importer->def.world->store.entities;
    const ph_whereabouts* at = &entities->whereabouts[index];
    const uint64_t key = entities->key[index];
    return at->owner == header->owner &&
           (importer->def.takes_older || at->imported_tick <= header->tick) &&
           header->first_key <= key && key <= header->last_key &&
           ph_batch_has_place(header, at->position_mm) && !is_named(importer, key);
}

// From the back: the last one takes the place of one that is removed.
static void sweep_absent(ph_importer* importer)
{
    const ph_entities* entities = &importer->def.world->store.entities;
    for (int i = entities->live_count - 1; i >= 0; --i) {
        const ph_entity_index index = entities->live[i];
        if (is_absent(importer, index)) {
            remove_entity(importer, index);
        }
    }
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

static void create_all(ph_importer* importer)
{
    ph_bit_reader reader = begin_records(importer);
    for (int i = 0; i < importer->header.record_count; ++i) {
        read_next(importer, &reader);
        create_if_missing(importer);
    }
}

static void apply_all(ph_importer* importer)
{
    ph_bit_reader reader = begin_records(importer);
    for (int i = 0; i < importer->header.record_count; ++i) {
        read_next(importer, &reader);
        if (importer->header.is_whole) {
            importer->keys[i] = importer->record.key;
        }
        apply_record(importer);
    }
}

ph_result ph_importer_take(ph_importer* importer, const void* bytes, size_t size)
{
    ph_import_refusal refusal;
    if (!check_batch(importer, bytes, size, &refusal)) {
        return refuse_batch(importer, refusal);
    }
    if (reserve_all(importer) != PH_OK) {
        const ph_check call = ph_world_call(importer->def.world, __func__);
        return ph_fail_memory(&call);
    }
    if (may_create(importer)) {
        create_all(importer);
    }
    apply_all(importer);
    if (importer->header.is_whole) {
        sweep_absent(importer);
    }
    ++importer->stats.batches;
    return PH_OK;
}
