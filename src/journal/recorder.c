// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Taking a tick: one pass over the entities, which copies what has changed into a ring of words. Another thread
// may read the ring at the same time: it sees ticks that are whole, up to `taken`, and gives their room back
// in `drained`. Both count words and never fall, so that no lock is needed.
//
//   ring  │ ... free ... │ tick 7 │ tick 8 │ tick 9, in the making ... free ... │
//                        drained           taken
//
// bench record: 17 ns for an entity that moves and turns. Coding takes 370, which is why it is
// not done here.

#include "journal/journal_writer.h"

#include "base/allocator.h"
#include "base/compiler.h"
#include "base/math.h"
#include "transfer/export.h"
#include "world/world_state.h"

#include <stdatomic.h>
#include <string.h>

#define RECORDER_COOKIE UINT32_C(0x70685231)
#define BUFFER_BYTES_MIN 65536
#define BUFFER_BYTES_MAX 1073741824
#define PART_SECONDS 1.0
#define KEY_SECONDS 10.0
// Words of a record beside its values; at the end of a tick.
enum { RECORD_WORDS = 5, DONE_WORDS = 1 };

// What is known of an index since the last tick.
typedef struct recorded_index {
    uint64_t spawn_order; // of the entity that was there, or NOTHING_RECORDED
    uint16_t jumps;
} recorded_index;

#define NOTHING_RECORDED UINT64_MAX

typedef struct recorded_class {
    uint64_t values;    // properties but for the position
    uint32_t words_max; // of any record
} recorded_class;

struct ph_recorder {
    ph_recorder_def def;
    recorded_class* classes;
    recorded_index* known;
    int known_capacity;
    uint32_t* ring;
    uint64_t capacity; // words, a power of two
    // The taking side.
    uint64_t end;    // behind the last word, of a tick in the making
    uint64_t room;   // up to where it may go
    uint32_t since;  // the world's tick at the last call
    uint32_t offset; // from the world's ticks to those of the recording
    bool has_begun;
    bool is_whole_next;
    atomic_bool is_whole_wanted; // by the other side
    atomic_uint_least64_t taken;
    atomic_uint_least64_t drained;
    atomic_uint_least64_t ticks;
    atomic_uint_least64_t dropped_ticks;
    // The draining side.
    ph_journal_writer writer;
};

// ---- life

ph_recorder_def ph_recorder_def_default(void)
{
    return (ph_recorder_def){.buffer_bytes = 8388608, .cookie = RECORDER_COOKIE};
}

static uint32_t words_of(const ph_property* property)
{
    return property->is_text ? 1 + ((uint32_t)property->def.max_length + 3) / 4
                             : (uint32_t)property->words;
}

static void describe_recorded(ph_recorder* recorder)
{
    const ph_schema* schema = recorder->def.world->def.schema;
    for (int i = 0; i < recorder->def.world->store.class_count; ++i) {
        const ph_class* described = ph_schema_class_at(schema, i);
        recorder->classes[i] = (recorded_class){.words_max = RECORD_WORDS + DONE_WORDS};
        for (int p = 0; p < described->def.property_count; ++p) {
            recorder->classes[i].words_max += words_of(&described->properties[p]);
            recorder->classes[i].values |= p == described->position ? 0 : UINT64_C(1) << p;
        }
    }
}

static int ticks_of(double seconds, double rate_hz)
{
    const double ticks = seconds * rate_hz;
    return ticks < 1.0 ? 1 : (int)ticks;
}

static ph_result create_recorder_parts(ph_recorder* recorder)
{
    const ph_world* world = recorder->def.world;
    const ph_allocator* allocator = &recorder->def.allocator;
    recorder->capacity = BUFFER_BYTES_MIN / sizeof(uint32_t);
    while (recorder->capacity * sizeof(uint32_t) < (size_t)recorder->def.buffer_bytes) {
        recorder->capacity *= 2;
    }
    recorder->classes =
        ph_allocate_array(allocator, (size_t)world->store.class_count, sizeof *recorder->classes);
    recorder->ring = ph_allocate_array(allocator, (size_t)recorder->capacity, sizeof(uint32_t));
    if (recorder->classes == NULL || recorder->ring == NULL) {
        return PH_ERROR_MEMORY;
    }
    describe_recorded(recorder);
    const double rate_hz =
        recorder->def.rate_hz > 0.0 ? recorder->def.rate_hz : 1e6 / world->def.tick_us;
    const ph_journal_writer_def writer = {
        .schema = world->def.schema,
        .rate_hz = rate_hz,
        .has_jumps = !recorder->def.leaves_jumps_out,
        .part_ticks = ticks_of(PART_SECONDS, rate_hz),
        .key_ticks = ticks_of(KEY_SECONDS, rate_hz),
        .ring_begin = recorder->ring,
        .ring_end = recorder->ring + recorder->capacity,
        .allocator = *allocator,
    };
    return ph_journal_writer_create(&recorder->writer, &writer);
}

ph_result ph_recorder_create(const ph_recorder_def* def, ph_recorder** recorder)
{
    *recorder = NULL;
    if (def->world == NULL) {
        return PH_ERROR_ARGUMENT;
    }
    ph_check check = ph_world_call(def->world, __func__);
    ph_check_made(&check, def->cookie == RECORDER_COOKIE, "ph_recorder_def");
    ph_check_range(&check, "ph_recorder_def.buffer_bytes", def->buffer_bytes, BUFFER_BYTES_MIN,
                   BUFFER_BYTES_MAX);
    if (def->rate_hz != 0.0) {
        ph_check_real(&check, "ph_recorder_def.rate_hz", def->rate_hz, 0.001, 1000.0);
    }
    if (check.result != PH_OK) {
        return check.result;
    }
    ph_recorder* made = ph_allocate_zeroed(&def->allocator, sizeof *made);
    if (made == NULL) {
        return ph_fail_memory(&check);
    }
    made->def = *def;
    made->is_whole_next = true;
    atomic_init(&made->is_whole_wanted, false);
    atomic_init(&made->taken, 0);
    atomic_init(&made->drained, 0);
    atomic_init(&made->ticks, 0);
    atomic_init(&made->dropped_ticks, 0);
    if (create_recorder_parts(made) != PH_OK) {
        ph_recorder_destroy(made);
        return ph_fail_memory(&check);
    }
    *recorder = made;
    return PH_OK;
}

void ph_recorder_destroy(ph_recorder* recorder)
{
    if (recorder == NULL) {
        return;
    }
    const ph_allocator allocator = recorder->def.allocator;
    ph_journal_writer_destroy(&recorder->writer);
    ph_release_array(&allocator, recorder->classes, (size_t)recorder->def.world->store.class_count,
                     sizeof *recorder->classes);
    ph_release_array(&allocator, recorder->known, (size_t)recorder->known_capacity,
                     sizeof *recorder->known);
    ph_release_array(&allocator, recorder->ring, (size_t)recorder->capacity, sizeof(uint32_t));
    ph_release(&allocator, recorder, sizeof *recorder);
}

// ---- room

static ph_result know_indices(ph_recorder* recorder)
{
    const int wanted = recorder->def.world->store.entities.capacity;
    if (wanted <= recorder->known_capacity) {
        return PH_OK;
    }
    const ph_allocator* allocator = &recorder->def.allocator;
    recorded_index* known = ph_allocate_array(allocator, (size_t)wanted, sizeof *known);
    if (known == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (int i = 0; i < wanted; ++i) {
        known[i] = i < recorder->known_capacity ? recorder->known[i]
                                                : (recorded_index){.spawn_order = NOTHING_RECORDED};
    }
    ph_release_array(allocator, recorder->known, (size_t)recorder->known_capacity, sizeof *known);
    recorder->known = known;
    recorder->known_capacity = wanted;
    return PH_OK;
}

// Room for so many words in one piece, and for the word at the end of the tick. @return NULL where there is none.
static inline uint32_t* ring_room(ph_recorder* recorder, uint32_t words)
{
    const uint64_t left = recorder->capacity - (recorder->end & (recorder->capacity - 1));
    uint32_t* at = recorder->ring + (recorder->end & (recorder->capacity - 1));
    if (PH_UNLIKELY(left < words)) {
        if (recorder->room - recorder->end < left) {
            return NULL;
        }
        at[0] = PH_CAPTURED_SKIP;
        recorder->end += left;
        at = recorder->ring;
    }
    return recorder->room - recorder->end < words ? NULL : at;
}

static inline void ring_add(ph_recorder* recorder, const uint32_t* behind)
{
    recorder->end +=
        (uint64_t)(behind - recorder->ring) - (recorder->end & (recorder->capacity - 1));
}

// ---- values

static uint32_t* copy_text(uint32_t* at, ph_text text)
{
    at[0] = text.length;
    if (text.length > 0) {
        memcpy(at + 1, text.bytes, text.length);
    }
    return at + 1 + ((uint32_t)text.length + 3) / 4;
}

// By key: ids mean nothing to readers.
static uint32_t* copy_reference(uint32_t* at, const ph_store* store, const uint32_t* words)
{
    const ph_entity_id id = {.index1 = words[0], .generation = words[1]};
    const ph_entity_index index = ph_entities_find(&store->entities, id);
    const uint64_t key1 = index == PH_ENTITY_NONE ? 0 : store->entities.key[index] + 1;
    at[0] = (uint32_t)key1;
    at[1] = (uint32_t)(key1 >> 32);
    return at + 2;
}

static uint32_t* copy_position(uint32_t* at, const ph_whereabouts* where)
{
    memcpy(at, where->position_mm, sizeof where->position_mm);
    return at + 3;
}

// The bit of the position may be among them.
static inline uint32_t* copy_values(uint32_t* at, const ph_store* store, ph_entity_index index,
                                    uint64_t mask)
{
    const ph_whereabouts* where = &store->entities.whereabouts[index];
    const ph_table* table = &store->tables[store->entities.class_index[index]];
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_property* property = &table->described->properties[p];
        if (p == table->described->position) {
            at = copy_position(at, where);
        } else if (PH_UNLIKELY(property->is_text)) {
            at = copy_text(at, ph_table_text(table, p, where->row));
        } else {
            const uint32_t* words =
                table->columns[p] + (size_t)where->row * (size_t)property->words;
            if (PH_UNLIKELY(property->def.coding == PH_CODING_ENTITY)) {
                at = copy_reference(at, store, words);
            } else {
                at[0] = words[0];
                for (int i = 1; i < property->words; ++i) {
                    at[i] = words[i];
                }
                at += property->words;
            }
        }
    }
    return at;
}

// ---- records

static uint32_t head_of(ph_captured kind, int index)
{
    return (uint32_t)kind | (uint32_t)index << 3;
}

static bool take_gone(ph_recorder* recorder, int index)
{
    uint32_t* at = ring_room(recorder, 1 + DONE_WORDS);
    if (at == NULL) {
        return false;
    }
    at[0] = head_of(PH_CAPTURED_GONE, index);
    ring_add(recorder, at + 1);
    return true;
}

static bool take_state(ph_recorder* recorder, int index)
{
    const ph_store* store = &recorder->def.world->store;
    const ph_entities* entities = &store->entities;
    const uint8_t class_index = entities->class_index[index];
    const recorded_class* type = &recorder->classes[class_index];
    uint32_t* at = ring_room(recorder, type->words_max);
    if (at == NULL) {
        return false;
    }
    const uint16_t jumps = entities->whereabouts[index].jumps;
    recorded_index* known = &recorder->known[index];
    const bool is_new = known->spawn_order != entities->spawn_order[index];
    const bool has_jumped = jumps != (is_new ? 0 : known->jumps);
    at[0] = head_of(PH_CAPTURED_STATE, index);
    at[1] = (uint32_t)entities->key[index];
    at[2] = (uint32_t)(entities->key[index] >> 32);
    at[3] = entities->seen_by[index];
    at[4] = class_index | (uint32_t)entities->flags[index] << 8 | (uint32_t)has_jumped << 16 |
            (uint32_t)is_new << 17;
    const uint64_t all = type->values | UINT64_C(1)
                                            << store->tables[class_index].described->position;
    ring_add(recorder, copy_values(at + RECORD_WORDS, store, (ph_entity_index)index, all));
    *known = (recorded_index){.spawn_order = entities->spawn_order[index], .jumps = jumps};
    return true;
}

static bool take_shown(ph_recorder* recorder, int index)
{
    const ph_entities* entities = &recorder->def.world->store.entities;
    uint32_t* at = ring_room(recorder, 3 + DONE_WORDS);
    if (at == NULL) {
        return false;
    }
    at[0] = head_of(PH_CAPTURED_SHOWN, index);
    at[1] = entities->seen_by[index];
    at[2] = entities->flags[index];
    ring_add(recorder, at + 3);
    return true;
}

static inline bool take_changed(ph_recorder* recorder, int index, uint64_t mask, uint32_t move)
{
    const ph_store* store = &recorder->def.world->store;
    const uint8_t class_index = store->entities.class_index[index];
    uint32_t* at = ring_room(recorder, recorder->classes[class_index].words_max);
    if (PH_UNLIKELY(at == NULL)) {
        return false;
    }
    at[0] = head_of(PH_CAPTURED_CHANGE, index);
    at[1] = (uint32_t)mask;
    at[2] = (uint32_t)(mask >> 32);
    at[3] = move;
    const uint64_t position = (uint64_t)(move != PH_JOURNAL_STAYED)
                              << store->tables[class_index].described->position;
    ring_add(recorder, copy_values(at + 4, store, (ph_entity_index)index, mask | position));
    return true;
}

// ---- a tick

// Where there was another entity, or none.
static bool take_other(ph_recorder* recorder, int index)
{
    const ph_entities* entities = &recorder->def.world->store.entities;
    recorded_index* known = &recorder->known[index];
    if (known->spawn_order != NOTHING_RECORDED && !take_gone(recorder, index)) {
        return false;
    }
    known->spawn_order = NOTHING_RECORDED;
    if (entities->spawn_order[index] == NOTHING_RECORDED) {
        return true;
    }
    return take_state(recorder, index);
}

static inline uint64_t changed_of(const ph_recorder* recorder, int index, uint32_t ticks)
{
    const ph_store* store = &recorder->def.world->store;
    const uint64_t values = recorder->classes[store->entities.class_index[index]].values;
    if (PH_UNLIKELY(ticks == 0 || ticks > PH_RECENT_TICKS)) {
        return ph_export_changes_since(store, (ph_entity_index)index, recorder->since) & values;
    }
    return (store->entities.changes[index] | ph_entities_recent(&store->entities, ticks)[index]) &
           values;
}

static inline bool take_same(ph_recorder* recorder, int index, uint32_t ticks)
{
    const ph_store* store = &recorder->def.world->store;
    const ph_whereabouts* where = &store->entities.whereabouts[index];
    recorded_index* known = &recorder->known[index];
    if (PH_UNLIKELY(where->renewed_tick >= recorder->since) && !take_shown(recorder, index)) {
        return false;
    }
    const uint64_t mask = changed_of(recorder, index, ticks);
    uint32_t move = where->placed_tick >= recorder->since ? PH_JOURNAL_MOVED : PH_JOURNAL_STAYED;
    if (where->jumps != known->jumps) {
        move = PH_JOURNAL_JUMPED;
        known->jumps = where->jumps;
    }
    return (mask == 0 && move == PH_JOURNAL_STAYED) || take_changed(recorder, index, mask, move);
}

static bool take_entities(ph_recorder* recorder, uint32_t ticks)
{
    const ph_entities* entities = &recorder->def.world->store.entities;
    const int count = entities->ids.used_count;
    for (int i = 0; i < count; ++i) {
        const uint64_t order = entities->spawn_order[i];
        if (PH_UNLIKELY(recorder->is_whole_next)) {
            if (order == NOTHING_RECORDED) {
                recorder->known[i].spawn_order = NOTHING_RECORDED;
            } else if (!take_state(recorder, i)) {
                return false;
            }
        } else if (PH_UNLIKELY(order != recorder->known[i].spawn_order)) {
            if (!take_other(recorder, i)) {
                return false;
            }
        } else if (order != NOTHING_RECORDED && !take_same(recorder, i, ticks)) {
            return false;
        }
    }
    return true;
}

// Everything up to `taken` is as it was.
static bool take_tick(ph_recorder* recorder, uint32_t tick)
{
    recorder->end = atomic_load_explicit(&recorder->taken, memory_order_relaxed);
    recorder->room =
        atomic_load_explicit(&recorder->drained, memory_order_acquire) + recorder->capacity;
    uint32_t* first = ring_room(recorder, PH_CAPTURED_TICK_WORDS + 1);
    if (first == NULL) {
        return false;
    }
    const uint64_t begin = recorder->end;
    ring_add(recorder, first + PH_CAPTURED_TICK_WORDS);
    if (!take_entities(recorder, tick - recorder->since)) {
        return false;
    }
    uint32_t* last = ring_room(recorder, 1);
    if (last == NULL) {
        return false;
    }
    last[0] = PH_CAPTURED_DONE;
    ring_add(recorder, last + 1);
    first[0] = recorder->is_whole_next ? PH_CAPTURED_WHOLE : PH_CAPTURED_TICK;
    first[1] = tick + recorder->offset;
    first[2] = (uint32_t)(recorder->end - begin);
    return true;
}

ph_result ph_recorder_tick(ph_recorder* recorder)
{
    const uint32_t tick = recorder->def.world->store.tick;
    if (!recorder->has_begun) {
        recorder->offset = recorder->def.first_tick - tick;
    } else if (tick == recorder->since) {
        return PH_OK;
    }
    recorder->has_begun = true;
    if (atomic_exchange_explicit(&recorder->is_whole_wanted, false, memory_order_relaxed)) {
        recorder->is_whole_next = true;
    }
    const ph_result result = know_indices(recorder);
    const bool is_taken = result == PH_OK && take_tick(recorder, tick);
    recorder->since = tick;
    // What was copied of a tick that is left out is gone: all is told anew.
    recorder->is_whole_next = !is_taken;
    if (!is_taken) {
        atomic_fetch_add_explicit(&recorder->dropped_ticks, 1, memory_order_relaxed);
        return result != PH_OK ? result : PH_ERROR_FULL;
    }
    atomic_fetch_add_explicit(&recorder->ticks, 1, memory_order_relaxed);
    atomic_store_explicit(&recorder->taken, recorder->end, memory_order_release);
    return PH_OK;
}

// ---- draining

// The first word of a tick; what was skipped is behind.
static const uint32_t* tick_at(const ph_recorder* recorder, uint64_t* position)
{
    const uint64_t place = *position & (recorder->capacity - 1);
    if (ph_captured_kind(recorder->ring + place) == PH_CAPTURED_SKIP) {
        *position += recorder->capacity - place;
        return recorder->ring;
    }
    return recorder->ring + place;
}

static ph_result drain_ticks(ph_recorder* recorder)
{
    ph_result result = PH_OK;
    uint64_t position = atomic_load_explicit(&recorder->drained, memory_order_relaxed);
    const uint64_t taken = atomic_load_explicit(&recorder->taken, memory_order_acquire);
    while (position != taken) {
        const uint32_t* tick = tick_at(recorder, &position);
        const ph_result written = ph_journal_writer_take(&recorder->writer, tick);
        result = result == PH_OK ? written : result;
        if (recorder->writer.needs_whole) {
            atomic_store_explicit(&recorder->is_whole_wanted, true, memory_order_relaxed);
        }
        position += tick[2];
        atomic_store_explicit(&recorder->drained, position, memory_order_release);
    }
    return result;
}

static ph_result drain_to(ph_recorder* recorder, ph_recorder_write_fn* write, void* context)
{
    recorder->writer.write = write;
    recorder->writer.write_context = context;
    recorder->writer.dropped_ticks =
        (uint32_t)atomic_load_explicit(&recorder->dropped_ticks, memory_order_relaxed);
    return drain_ticks(recorder);
}

ph_result ph_recorder_drain(ph_recorder* recorder, ph_recorder_write_fn* write, void* context)
{
    return drain_to(recorder, write, context);
}

ph_result ph_recorder_finish(ph_recorder* recorder, ph_recorder_write_fn* write, void* context)
{
    const ph_result result = drain_to(recorder, write, context);
    const ph_result flushed = ph_journal_writer_flush(&recorder->writer, true);
    return result == PH_OK ? flushed : result;
}

ph_recorder_stats ph_recorder_get_stats(const ph_recorder* recorder)
{
    return (ph_recorder_stats){
        .ticks = atomic_load_explicit(&recorder->ticks, memory_order_relaxed),
        .dropped_ticks = atomic_load_explicit(&recorder->dropped_ticks, memory_order_relaxed),
        .lost_ticks = recorder->writer.lost_ticks,
        .bytes = recorder->writer.bytes_written,
    };
}
