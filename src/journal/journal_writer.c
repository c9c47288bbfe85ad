// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "journal/journal_writer.h"

#include "base/allocator.h"
#include "base/math.h"
#include "journal/journal_coding.h"

#include <stdlib.h>
#include <string.h>

// A part is closed at this size, so that damage takes little with it; so often a head stands again.
#define PART_BYTES_ENOUGH ((size_t)1 << 18)
#define KEYS_PER_HEAD 4

// ---- life

ph_result ph_journal_writer_create(ph_journal_writer* writer, const ph_journal_writer_def* def)
{
    *writer = (ph_journal_writer){.def = *def, .needs_key = true};
    writer->schema_length = ph_schema_print(def->schema, NULL, 0);
    writer->schema_text = ph_allocate(&def->allocator, writer->schema_length + 1);
    if (writer->schema_text == NULL || writer->schema_length > PH_HEAD_SCHEMA_MAX ||
        ph_journal_state_create(&writer->state, def->schema, &def->allocator) != PH_OK ||
        ph_journal_state_create(&writer->spare, def->schema, &def->allocator) != PH_OK) {
        ph_journal_writer_destroy(writer);
        return PH_ERROR_MEMORY;
    }
    ph_schema_print(def->schema, writer->schema_text, writer->schema_length + 1);
    return PH_OK;
}

void ph_journal_writer_destroy(ph_journal_writer* writer)
{
    const ph_allocator* allocator = &writer->def.allocator;
    ph_journal_state_destroy(&writer->state);
    ph_journal_state_destroy(&writer->spare);
    ph_release(allocator, writer->schema_text, writer->schema_length + 1);
    ph_release(allocator, writer->bytes, writer->bytes_capacity);
    ph_release_array(allocator, writer->place1, (size_t)writer->place1_capacity,
                     sizeof *writer->place1);
    ph_release_array(allocator, writer->places, (size_t)writer->place_capacity,
                     sizeof *writer->places);
    ph_release_array(allocator, (void*)writer->events, (size_t)writer->event_capacity,
                     sizeof *writer->events);
    *writer = (ph_journal_writer){0};
}

// ---- room

// More elements, the old ones kept. @return False, and everything is as before.
static bool grow_array(const ph_allocator* allocator, void** array, int* capacity, int wanted,
                       size_t element)
{
    if (wanted <= *capacity) {
        return true;
    }
    const size_t room = (size_t)wanted * 3 / 2 + 64;
    void* grown = ph_allocate_array(allocator, room, element);
    if (grown == NULL) {
        return false;
    }
    memset(grown, 0, room * element);
    if (*capacity > 0) {
        memcpy(grown, *array, (size_t)*capacity * element);
    }
    ph_release_array(allocator, *array, (size_t)*capacity, element);
    *array = grown;
    *capacity = (int)room;
    return true;
}

static bool reserve_indices(ph_journal_writer* writer, int count)
{
    void* array = writer->place1;
    const bool is_grown = grow_array(&writer->def.allocator, &array, &writer->place1_capacity,
                                     count, sizeof *writer->place1);
    writer->place1 = array;
    return is_grown;
}

static bool reserve_places(ph_journal_writer* writer, int count)
{
    void* array = writer->places;
    const bool is_grown = grow_array(&writer->def.allocator, &array, &writer->place_capacity, count,
                                     sizeof *writer->places);
    writer->places = array;
    return is_grown;
}

static bool reserve_captured(ph_journal_writer* writer, int count)
{
    void* array = (void*)writer->events;
    const bool is_grown = grow_array(&writer->def.allocator, &array, &writer->event_capacity, count,
                                     sizeof *writer->events);
    writer->events = array;
    return is_grown;
}

// ---- sorting a tick

static const ph_journal_class* class_of_state(const ph_journal_writer* writer,
                                              const uint32_t* record)
{
    return &writer->state.classes[record[4] & 255];
}

// Notes the events and changes of a tick. @return PH_OK or PH_ERROR_MEMORY.
static ph_result collect(ph_journal_writer* writer, const uint32_t* at)
{
    writer->event_count = 0;
    for (;;) {
        if (at == writer->def.ring_end || ph_captured_kind(at) == PH_CAPTURED_SKIP) {
            at = writer->def.ring_begin;
        }
        const ph_captured kind = ph_captured_kind(at);
        if (kind == PH_CAPTURED_DONE) {
            return PH_OK;
        }
        if (kind == PH_CAPTURED_CHANGE) {
            const uint32_t place = writer->place1[ph_captured_index(at)] - 1;
            const ph_journal_class* type =
                &writer->state.classes[writer->state.entities[place].class_index];
            writer->places[place].change = at;
            at = ph_captured_behind(type, ph_captured_mask(type, at), at + 4);
            continue;
        }
        if (!reserve_captured(writer, writer->event_count + 1)) {
            return PH_ERROR_MEMORY;
        }
        writer->events[writer->event_count++] = at;
        if (kind == PH_CAPTURED_STATE) {
            const ph_journal_class* type = class_of_state(writer, at);
            at = ph_captured_behind(type, ph_captured_all(type), at + 5);
        } else {
            at += kind == PH_CAPTURED_SHOWN ? 3 : 1;
        }
    }
}

// ---- parts

static ph_result write_bytes(ph_journal_writer* writer, const uint8_t* bytes, size_t size)
{
    if (!writer->write(writer->write_context, bytes, size)) {
        return PH_ERROR_SYSTEM;
    }
    writer->bytes_written += size;
    return PH_OK;
}

static ph_result write_head(ph_journal_writer* writer, ph_part_kind kind)
{
    const ph_journal_head head = {
        .rate_hz = writer->def.rate_hz,
        .has_jumps = writer->def.has_jumps,
        .dropped_ticks = writer->dropped_ticks,
        .fingerprint = ph_schema_fingerprint(writer->def.schema),
        .schema_text = writer->schema_text,
        .schema_length = writer->schema_length,
    };
    const size_t size = PH_PART_HEADER_BYTES + ph_journal_head_size(&head);
    uint8_t* bytes = ph_allocate(&writer->def.allocator, size);
    if (bytes == NULL) {
        return PH_ERROR_MEMORY;
    }
    const ph_part part = {
        .kind = kind,
        .body_size = (uint32_t)(size - PH_PART_HEADER_BYTES),
        .sequence = writer->sequence++,
        .first_tick = writer->next_tick,
        .end_tick = writer->next_tick,
    };
    ph_journal_head_write(&head, bytes + PH_PART_HEADER_BYTES);
    ph_part_seal(&part, bytes);
    const ph_result result = write_bytes(writer, bytes, size);
    ph_release(&writer->def.allocator, bytes, size);
    return result;
}

// What is in it is lost when it cannot be written, and a key part is next.
static ph_result close_part(ph_journal_writer* writer)
{
    if (!writer->is_open) {
        return PH_OK;
    }
    writer->is_open = false;
    const ph_part part = {
        .kind = writer->is_key ? PH_PART_KEY : PH_PART_NEXT,
        .body_size = (uint32_t)ph_entropy_writer_finish(&writer->coder.writer),
        .sequence = writer->sequence++,
        .first_tick = writer->first_tick,
        .end_tick = writer->next_tick,
    };
    PH_ASSERT(part.body_size > 0);
    ph_part_seal(&part, writer->bytes);
    const ph_result result =
        write_bytes(writer, writer->bytes, PH_PART_HEADER_BYTES + part.body_size);
    if (result != PH_OK) {
        writer->lost_ticks += (uint64_t)writer->part_ticks;
        writer->needs_key = true;
    }
    return result;
}

static ph_result open_part(ph_journal_writer* writer, bool is_key, uint32_t tick, size_t room)
{
    const size_t capacity = PH_PART_HEADER_BYTES + PART_BYTES_ENOUGH + room;
    if (capacity > writer->bytes_capacity) {
        uint8_t* bytes =
            capacity > PH_PART_BODY_MAX ? NULL : ph_allocate(&writer->def.allocator, capacity);
        if (bytes == NULL) {
            return PH_ERROR_MEMORY;
        }
        ph_release(&writer->def.allocator, writer->bytes, writer->bytes_capacity);
        writer->bytes = bytes;
        writer->bytes_capacity = capacity;
    }
    if (is_key && (!writer->has_begun || ++writer->keys_since_head >= KEYS_PER_HEAD)) {
        writer->next_tick = tick;
        const ph_result result = write_head(writer, PH_PART_HEAD);
        if (result != PH_OK) {
            return result;
        }
        writer->has_begun = true;
        writer->keys_since_head = 0;
    }
    ph_journal_coder_write(&writer->coder, writer->bytes + PH_PART_HEADER_BYTES,
                           writer->bytes_capacity - PH_PART_HEADER_BYTES);
    writer->is_open = true;
    writer->is_key = is_key;
    writer->first_tick = tick;
    writer->next_tick = tick;
    writer->part_ticks = 0;
    return PH_OK;
}

// ---- events

static void small(ph_journal_writer* writer, ph_journal_small what, uint64_t value)
{
    ph_journal_code_small(&writer->state, &writer->coder, what, value);
}

static int count_events(const ph_journal_writer* writer, ph_captured kind)
{
    int count = 0;
    for (int i = 0; i < writer->event_count; ++i) {
        count += ph_captured_kind(writer->events[i]) == kind;
    }
    return count;
}

// With is_told they are written, too.
static void remove_gone(ph_journal_writer* writer, bool is_told)
{
    if (is_told) {
        small(writer, PH_JOURNAL_GONE, (uint64_t)count_events(writer, PH_CAPTURED_GONE));
    }
    bool has_gone = false;
    for (int i = 0; i < writer->event_count; ++i) {
        if (ph_captured_kind(writer->events[i]) != PH_CAPTURED_GONE) {
            continue;
        }
        uint32_t* place1 = &writer->place1[ph_captured_index(writer->events[i])];
        if (is_told) {
            ph_journal_uniform(&writer->coder, *place1 - 1, (uint32_t)writer->state.place_count);
        }
        ph_journal_state_remove(&writer->state, (int)*place1 - 1);
        *place1 = 0;
        has_gone = true;
    }
    if (has_gone) {
        ph_journal_state_drop_references(&writer->state);
    }
}

static void set_sight(ph_journal_entity* entity, uint32_t seen_by, uint32_t flags)
{
    entity->seen_by = seen_by;
    entity->flags = (uint8_t)(flags & 3);
}

static void show(ph_journal_writer* writer, bool is_told)
{
    if (is_told) {
        small(writer, PH_JOURNAL_SHOWN, (uint64_t)count_events(writer, PH_CAPTURED_SHOWN));
    }
    for (int i = 0; i < writer->event_count; ++i) {
        const uint32_t* record = writer->events[i];
        if (ph_captured_kind(record) != PH_CAPTURED_SHOWN) {
            continue;
        }
        const uint32_t place = writer->place1[ph_captured_index(record)] - 1;
        ph_journal_entity* entity = &writer->state.entities[place];
        set_sight(entity, record[1], record[2]);
        if (is_told) {
            ph_journal_uniform(&writer->coder, place, (uint32_t)writer->state.place_count);
            ph_journal_code_sight(&writer->state, &writer->coder, entity);
        }
    }
}

// A newcomer as it stands in the state.
static void tell_newcomer(ph_journal_state* state, ph_journal_coder* coder, int place)
{
    ph_journal_entity* entity = &state->entities[place];
    const int64_t step = (int64_t)(entity->key - state->last_key);
    ph_journal_code_small(state, coder, PH_JOURNAL_KEY_STEP,
                          (uint64_t)step << 1 ^ (step < 0 ? UINT64_MAX : 0));
    state->last_key = entity->key;
    ph_journal_uniform(coder, entity->class_index, (uint32_t)state->class_count);
    ph_journal_code_small(state, coder, PH_JOURNAL_NEW,
                          (entity->is_new ? 1U : 0U) +
                              (entity->move == PH_JOURNAL_JUMPED ? 2U : 0U));
    ph_journal_code_sight(state, coder, entity);
    ph_journal_code_newcomer(state, coder, place);
}

static int add_newcomer(ph_journal_writer* writer, const uint32_t* record)
{
    ph_journal_state* state = &writer->state;
    const int place =
        ph_journal_state_add(state, ph_captured_wide(record + 1), (int)(record[4] & 255));
    ph_journal_entity* entity = &state->entities[place];
    const ph_journal_class* type = &state->classes[entity->class_index];
    entity->is_new = (record[4] >> 17 & 1) != 0;
    entity->move = (record[4] >> 16 & 1) != 0 ? PH_JOURNAL_JUMPED : PH_JOURNAL_STAYED;
    set_sight(entity, record[3], record[4] >> 8);
    ph_captured_read(type, ph_captured_all(type), record + 5, &writer->scratch);
    ph_journal_state_fill(state, place, ph_captured_all(type), &writer->scratch);
    writer->place1[ph_captured_index(record)] = (uint32_t)place + 1;
    writer->places[place] = (ph_writer_place){.index = ph_captured_index(record)};
    return place;
}

static void record_newcomers(ph_journal_writer* writer, bool is_told)
{
    if (is_told) {
        small(writer, PH_JOURNAL_NEWCOMERS, (uint64_t)count_events(writer, PH_CAPTURED_STATE));
    }
    for (int i = 0; i < writer->event_count; ++i) {
        if (ph_captured_kind(writer->events[i]) == PH_CAPTURED_STATE) {
            const int place = add_newcomer(writer, writer->events[i]);
            if (is_told) {
                tell_newcomer(&writer->state, &writer->coder, place);
            }
        }
    }
}

// ---- changes

// Goes to the entity and writer->scratch. @return Whether it has any.
static void read_change(ph_journal_writer* writer, int place)
{
    ph_journal_entity* entity = &writer->state.entities[place];
    const uint32_t* record = writer->places[place].change;
    entity->changed = 0;
    entity->move = PH_JOURNAL_STAYED;
    if (record == NULL) {
        return;
    }
    const ph_journal_class* type = &writer->state.classes[entity->class_index];
    entity->changed = ph_captured_wide(record + 1);
    entity->move = (uint8_t)record[3];
    ph_captured_read(type, ph_captured_mask(type, record), record + 4, &writer->scratch);
    writer->places[place].change = NULL;
}

static void tell_changes(ph_journal_writer* writer)
{
    ph_journal_state* state = &writer->state;
    for (int place = 0; place < state->place_count; ++place) {
        ph_journal_entity* entity = &state->entities[place];
        if (!entity->is_live || entity->is_told) {
            entity->is_told = false;
            continue;
        }
        entity->is_new = false;
        read_change(writer, place);
        ph_journal_code_change(state, &writer->coder, place, &writer->scratch);
    }
}

static void apply_changes(ph_journal_writer* writer)
{
    ph_journal_state* state = &writer->state;
    for (int place = 0; place < state->place_count; ++place) {
        ph_journal_entity* entity = &state->entities[place];
        if (!entity->is_live || entity->is_told) {
            continue;
        }
        entity->is_new = false;
        read_change(writer, place);
        const ph_journal_class* type = &state->classes[entity->class_index];
        const uint64_t moved = (uint64_t)(entity->move != 0) << type->described->position;
        ph_journal_state_fill(state, place, entity->changed | moved, &writer->scratch);
    }
}

// ---- key parts

typedef struct keyed_place {
    uint64_t key;
    uint32_t place;
} keyed_place;

static int compare_keyed(const void* left, const void* right)
{
    const uint64_t a = ((const keyed_place*)left)->key;
    const uint64_t b = ((const keyed_place*)right)->key;
    return (a > b) - (a < b);
}

static void copy_entity(ph_journal_writer* writer, int from, ph_writer_place* to_place)
{
    ph_journal_state* to = &writer->spare;
    const ph_journal_entity* was = &writer->state.entities[from];
    const int place = ph_journal_state_add(to, was->key, was->class_index);
    ph_journal_entity* entity = &to->entities[place];
    entity->seen_by = was->seen_by;
    entity->flags = was->flags;
    entity->is_new = was->is_new;
    entity->move = was->move;
    entity->is_told = false;
    const ph_series* old_series = ph_journal_state_series(&writer->state, from);
    ph_series* series = ph_journal_state_series(to, place);
    for (int c = 0; c < to->classes[entity->class_index].channel_count; ++c) {
        series[c].last = old_series[c].last;
    }
    memcpy(ph_journal_state_texts(to, place), ph_journal_state_texts(&writer->state, from),
           to->text_stride);
    to_place[place] = (ph_writer_place){.index = writer->places[from].index};
    writer->place1[writer->places[from].index] = (uint32_t)place + 1;
    tell_newcomer(to, &writer->coder, place);
}

// From one state to the other, in the order of keys. The part is open.
static void tell_whole(ph_journal_writer* writer, keyed_place* order, ph_writer_place* places)
{
    int count = 0;
    for (int place = 0; place < writer->state.place_count; ++place) {
        if (writer->state.entities[place].is_live) {
            order[count++] = (keyed_place){writer->state.entities[place].key, (uint32_t)place};
        }
    }
    if (count > 0) {
        qsort(order, (size_t)count, sizeof *order, compare_keyed);
    }
    ph_journal_state_clear(&writer->spare);
    ph_journal_state_forget(&writer->spare);
    ph_journal_state* spare = &writer->spare;
    ph_journal_code_small(spare, &writer->coder, PH_JOURNAL_SKIPPED, 0);
    ph_journal_code_small(spare, &writer->coder, PH_JOURNAL_GONE, 0);
    ph_journal_code_small(spare, &writer->coder, PH_JOURNAL_SHOWN, 0);
    ph_journal_code_small(spare, &writer->coder, PH_JOURNAL_NEWCOMERS, (uint64_t)count);
    for (int i = 0; i < count; ++i) {
        copy_entity(writer, (int)order[i].place, places);
    }
    memcpy(writer->places, places, (size_t)count * sizeof *places);
    const ph_journal_state told = writer->spare;
    writer->spare = writer->state;
    writer->state = told;
}

static ph_result write_key_tick(ph_journal_writer* writer, uint32_t tick)
{
    remove_gone(writer, false);
    show(writer, false);
    record_newcomers(writer, false);
    apply_changes(writer);
    ph_journal_state* state = &writer->state;
    const ph_allocator* allocator = &writer->def.allocator;
    const size_t count = (size_t)state->live_count;
    keyed_place* order = ph_allocate_array(allocator, count, sizeof *order);
    ph_writer_place* places = ph_allocate_array(allocator, count, sizeof *places);
    ph_journal_state_clear(&writer->spare);
    ph_result result = order == NULL || places == NULL
                           ? PH_ERROR_MEMORY
                           : ph_journal_state_reserve(&writer->spare, state->live_count);
    if (result == PH_OK) {
        result = open_part(writer, true, tick, (count + 1) * state->size_max);
    }
    if (result == PH_OK) {
        tell_whole(writer, order, places);
        writer->needs_key = false;
        writer->ticks_since_key = 0;
    }
    ph_release_array(allocator, order, count, sizeof *order);
    ph_release_array(allocator, places, count, sizeof *places);
    return result;
}

// ---- a tick

static ph_result write_next_tick(ph_journal_writer* writer, uint32_t tick)
{
    ph_journal_state* state = &writer->state;
    const size_t count = (size_t)state->live_count + (size_t)writer->event_count;
    const size_t room = (count + 1) * state->size_max;
    const size_t used =
        writer->is_open ? ph_entropy_writer_size_bits(&writer->coder.writer) / 8 : 0;
    if (writer->is_open && PH_PART_HEADER_BYTES + used + room > writer->bytes_capacity) {
        const ph_result result = close_part(writer);
        if (result != PH_OK) {
            return result;
        }
    }
    if (!writer->is_open) {
        const ph_result result = open_part(writer, false, tick, room);
        if (result != PH_OK) {
            return result;
        }
    }
    small(writer, PH_JOURNAL_SKIPPED, tick - writer->next_tick);
    remove_gone(writer, true);
    show(writer, true);
    record_newcomers(writer, true);
    tell_changes(writer);
    return PH_OK;
}

static uint32_t highest_index(const ph_journal_writer* writer)
{
    uint32_t highest = 0;
    for (int i = 0; i < writer->event_count; ++i) {
        const uint32_t index = ph_captured_index(writer->events[i]);
        highest = index > highest ? index : highest;
    }
    return highest;
}

static ph_result make_writer_room(ph_journal_writer* writer)
{
    const int newcomers = count_events(writer, PH_CAPTURED_STATE);
    if (ph_journal_state_reserve(&writer->state, newcomers) != PH_OK ||
        !reserve_indices(writer, (int)highest_index(writer) + 1) ||
        !reserve_places(writer, writer->state.capacity)) {
        return PH_ERROR_MEMORY;
    }
    return PH_OK;
}

static void forget_entities(ph_journal_writer* writer)
{
    ph_journal_state_clear(&writer->state);
    if (writer->place1_capacity > 0) {
        memset(writer->place1, 0, (size_t)writer->place1_capacity * sizeof *writer->place1);
    }
    writer->needs_key = true;
}

static bool is_part_full(const ph_journal_writer* writer)
{
    return writer->part_ticks >= writer->def.part_ticks ||
           ph_entropy_writer_size_bits(&writer->coder.writer) >= 8 * PART_BYTES_ENOUGH;
}

ph_result ph_journal_writer_take(ph_journal_writer* writer, const uint32_t* record)
{
    const uint32_t tick = record[1];
    if (ph_captured_kind(record) == PH_CAPTURED_WHOLE) {
        forget_entities(writer);
    } else if (writer->needs_whole) {
        ++writer->lost_ticks;
        return PH_OK;
    }
    writer->needs_whole = false;
    ph_result result = collect(writer, record + PH_CAPTURED_TICK_WORDS);
    if (result == PH_OK) {
        result = make_writer_room(writer);
    }
    // Ticks of a part are below 65,536, with those that were skipped.
    const bool is_far = tick - writer->first_tick >= PH_PART_TICKS_MAX;
    ph_result written = PH_OK;
    if (result == PH_OK &&
        (writer->needs_key || is_far || writer->ticks_since_key >= writer->def.key_ticks)) {
        written = close_part(writer);
        result = write_key_tick(writer, tick);
    } else if (result == PH_OK) {
        result = write_next_tick(writer, tick);
    }
    if (result != PH_OK) {
        // What stands in the state is not the world any more.
        writer->lost_ticks += 1 + (writer->is_open ? (uint64_t)writer->part_ticks : 0);
        writer->is_open = false;
        writer->needs_whole = true;
        return result;
    }
    writer->next_tick = tick + 1;
    ++writer->ticks;
    ++writer->part_ticks;
    ++writer->ticks_since_key;
    return is_part_full(writer) && written == PH_OK ? close_part(writer) : written;
}

ph_result ph_journal_writer_flush(ph_journal_writer* writer, bool is_end)
{
    const ph_result result = close_part(writer);
    if (result != PH_OK || !is_end) {
        return result;
    }
    return write_head(writer, PH_PART_END);
}
