// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Reading a recording. The first pass looks for the schema; then parts are read where they stand, and where
// there is none the next mark is looked for. A part of ticks counts when its checksums are right and it is a
// key part, or follows the one before. Some 200 ns for each value that changes.

#include "journal/journal_coding.h"
#include "journal/journal_part.h"

#include "base/allocator.h"
#include "base/check.h"
#include "vision/entity_arrays.h"

#include <pinhole/recorder.h>

#include <string.h>

struct ph_replay {
    const uint8_t* bytes;
    size_t size;
    size_t at; // behind the part that is read
    ph_schema* schema;
    double rate_hz;
    bool has_jumps;
    ph_journal_state state;
    ph_journal_coder coder;
    ph_journal_change scratch;
    // The part.
    bool is_open;
    ph_part part;
    uint32_t next_sequence; // of a part that follows it
    bool is_followed;       // one may follow: the state is right
    // What parts say, read or not: those before `next_tick` were read, or are counted as missing.
    bool has_part;
    uint32_t next_tick;
    uint32_t end_tick;
    // The tick.
    bool has_tick;
    uint32_t tick;
    bool is_at_end;
    ph_result result;
    ph_replay_damage damage;
    ph_allocator allocator;
};

// ---- the head

static bool find_part(const uint8_t* bytes, size_t size, size_t* at, ph_part* part)
{
    for (;;) {
        *at = ph_part_find_mark(bytes, size, *at);
        if (*at >= size) {
            return false;
        }
        if (ph_part_read(part, bytes + *at, size - *at)) {
            return true;
        }
        ++*at;
    }
}

static bool parse_head(ph_replay* replay, const ph_part* part, const uint8_t* body)
{
    ph_journal_head head;
    if (!ph_journal_head_read(&head, body, part->body_size) ||
        ph_schema_parse(head.schema_text, head.schema_length, &replay->allocator, &replay->schema,
                        NULL) != PH_OK) {
        return false;
    }
    if (ph_schema_fingerprint(replay->schema) != head.fingerprint) {
        ph_schema_destroy(replay->schema);
        replay->schema = NULL;
        return false;
    }
    replay->rate_hz = head.rate_hz;
    replay->has_jumps = head.has_jumps;
    return true;
}

// The first head that can be read, wherever it stands: the parts before it count, too.
static bool find_head(ph_replay* replay, bool* has_frames)
{
    *has_frames = false;
    ph_part part;
    size_t at = 0;
    while (find_part(replay->bytes, replay->size, &at, &part)) {
        const uint8_t* body = replay->bytes + at + PH_PART_HEADER_BYTES;
        *has_frames = true;
        if ((part.kind == PH_PART_HEAD || part.kind == PH_PART_END) &&
            parse_head(replay, &part, body)) {
            return true;
        }
        at += PH_PART_HEADER_BYTES + part.body_size;
    }
    return false;
}

bool ph_replay_is_recording(const void* bytes, size_t size)
{
    return size > 0 && ph_part_find_mark(bytes, size, 0) < size;
}

ph_result ph_replay_create(const void* bytes, size_t size, const ph_allocator* allocator,
                           ph_replay** replay, ph_error* error)
{
    static const ph_allocator USUAL = {0};
    *replay = NULL;
    ph_replay* made = ph_allocate_zeroed(allocator != NULL ? allocator : &USUAL, sizeof *made);
    if (made == NULL) {
        return ph_error_set(error, PH_ERROR_MEMORY, __func__, NULL, "there is not enough memory");
    }
    made->bytes = bytes;
    made->size = size;
    made->allocator = allocator != NULL ? *allocator : USUAL;
    bool has_frames;
    if (!find_head(made, &has_frames)) {
        ph_replay_destroy(made);
        return ph_error_set(error, PH_ERROR_VALUE, __func__, NULL, "%s",
                            has_frames ? "the schema of the recording is lost"
                                       : "no part of a recording can be read");
    }
    if (ph_journal_state_create(&made->state, made->schema, &made->allocator) != PH_OK) {
        ph_replay_destroy(made);
        return ph_error_set(error, PH_ERROR_MEMORY, __func__, NULL, "there is not enough memory");
    }
    made->damage.is_open = true;
    *replay = made;
    return PH_OK;
}

void ph_replay_destroy(ph_replay* replay)
{
    if (replay == NULL) {
        return;
    }
    const ph_allocator allocator = replay->allocator;
    ph_journal_state_destroy(&replay->state);
    ph_schema_destroy(replay->schema);
    ph_release(&allocator, replay, sizeof *replay);
}

const ph_schema* ph_replay_schema(const ph_replay* replay)
{
    return replay->schema;
}

double ph_replay_rate_hz(const ph_replay* replay)
{
    return replay->rate_hz;
}

bool ph_replay_has_jumps(const ph_replay* replay)
{
    return replay->has_jumps;
}

// ---- parts

static void note_damage(ph_replay* replay, size_t from, size_t to)
{
    if (replay->damage.damaged_places++ == 0) {
        replay->damage.first_offset = from;
    }
    replay->damage.skipped_bytes += to - from;
}

// Which ticks the recording has, by all parts whose checksums are right.
static void note_part(ph_replay* replay, const ph_part* part)
{
    if (!replay->has_part) {
        replay->next_tick = part->first_tick;
    }
    replay->has_part = true;
    replay->end_tick = part->end_tick > replay->end_tick ? part->end_tick : replay->end_tick;
}

// A part of ticks that cannot be used: its ticks are missing, for damage before it or in it.
static bool begin_part(ph_replay* replay, const ph_part* part, const uint8_t* body)
{
    if (part->kind == PH_PART_KEY) {
        ph_journal_state_clear(&replay->state);
        ph_journal_state_forget(&replay->state);
        replay->is_followed = true;
    }
    if (!replay->is_followed ||
        (part->kind == PH_PART_NEXT && part->sequence != replay->next_sequence) ||
        (replay->has_tick && part->first_tick <= replay->tick)) {
        replay->is_followed = false;
        return false;
    }
    ph_journal_coder_read(&replay->coder, body, part->body_size);
    replay->part = *part;
    replay->is_open = true;
    return true;
}

// Goes on to a part of ticks. @return False at the end.
static bool next_part(ph_replay* replay)
{
    for (;;) {
        const size_t from = replay->at;
        ph_part part;
        const bool is_found = find_part(replay->bytes, replay->size, &replay->at, &part);
        if (replay->at != from) {
            note_damage(replay, from, replay->at);
        }
        if (!is_found) {
            replay->at = replay->size;
            return false;
        }
        note_part(replay, &part);
        const uint8_t* body = replay->bytes + replay->at + PH_PART_HEADER_BYTES;
        replay->at += PH_PART_HEADER_BYTES + part.body_size;
        replay->damage.is_open = part.kind != PH_PART_END;
        if (part.kind == PH_PART_HEAD || part.kind == PH_PART_END) {
            ph_journal_head head;
            if (ph_journal_head_read(&head, body, part.body_size)) {
                replay->damage.dropped_ticks = head.dropped_ticks;
            }
            // A head stands between two parts of ticks, and is one of the sequence.
            replay->next_sequence += part.sequence == replay->next_sequence;
            continue;
        }
        const bool is_begun = begin_part(replay, &part, body);
        replay->next_sequence = part.sequence + 1;
        if (is_begun) {
            return true;
        }
    }
}

// ---- ticks

static uint64_t read_small(ph_replay* replay, ph_journal_small what)
{
    return ph_journal_code_small(&replay->state, &replay->coder, what, 0);
}

// A place that has an entity. @return -1 where there is none such.
static int read_place(ph_replay* replay)
{
    const int count = replay->state.place_count;
    if (count == 0) {
        return -1;
    }
    const int place = (int)ph_journal_uniform(&replay->coder, 0, (uint32_t)count);
    return replay->state.entities[place].is_live ? place : -1;
}

static bool read_gone(ph_replay* replay)
{
    const uint64_t count = read_small(replay, PH_JOURNAL_GONE);
    if (count > (uint64_t)replay->state.live_count) {
        return false;
    }
    for (uint64_t i = 0; i < count; ++i) {
        const int place = read_place(replay);
        if (place < 0) {
            return false;
        }
        ph_journal_state_remove(&replay->state, place);
    }
    if (count > 0) {
        ph_journal_state_drop_references(&replay->state);
    }
    return true;
}

static bool read_shown(ph_replay* replay)
{
    const uint64_t count = read_small(replay, PH_JOURNAL_SHOWN);
    if (count > (uint64_t)replay->state.live_count) {
        return false;
    }
    for (uint64_t i = 0; i < count; ++i) {
        const int place = read_place(replay);
        if (place < 0) {
            return false;
        }
        ph_journal_code_sight(&replay->state, &replay->coder, &replay->state.entities[place]);
    }
    return true;
}

static bool read_newcomer(ph_replay* replay)
{
    ph_journal_state* state = &replay->state;
    const uint64_t coded = read_small(replay, PH_JOURNAL_KEY_STEP);
    const uint64_t key = state->last_key + ((coded >> 1) ^ (0 - (coded & 1)));
    state->last_key = key;
    const uint32_t class_index =
        ph_journal_uniform(&replay->coder, 0, (uint32_t)state->class_count);
    const uint64_t news = read_small(replay, PH_JOURNAL_NEW);
    uint32_t taken;
    // A damaged stream must not fill the memory: what it says is looked at before anything is made of it.
    if (ph_journal_coder_result(&replay->coder) != PH_OK || news > 3 ||
        ph_hash_map_try_find(&state->by_key, key, &taken) ||
        state->live_count >= PH_JOURNAL_ENTITIES_MAX) {
        return false;
    }
    if (ph_journal_state_reserve(state, 1) != PH_OK) {
        replay->result = PH_ERROR_MEMORY;
        return false;
    }
    const int place = ph_journal_state_add(state, key, (int)class_index);
    ph_journal_entity* entity = &state->entities[place];
    entity->is_new = (news & 1) != 0;
    entity->move = (news & 2) != 0 ? PH_JOURNAL_JUMPED : PH_JOURNAL_STAYED;
    ph_journal_code_sight(state, &replay->coder, entity);
    return ph_journal_code_newcomer(state, &replay->coder, place);
}

static bool read_newcomers(ph_replay* replay)
{
    const uint64_t count = read_small(replay, PH_JOURNAL_NEWCOMERS);
    for (uint64_t i = 0; i < count; ++i) {
        if (!read_newcomer(replay)) {
            return false;
        }
    }
    return true;
}

static bool read_changes(ph_replay* replay)
{
    ph_journal_state* state = &replay->state;
    for (int place = 0; place < state->place_count; ++place) {
        ph_journal_entity* entity = &state->entities[place];
        if (!entity->is_live || entity->is_told) {
            entity->is_told = false;
            continue;
        }
        entity->is_new = false;
        entity->changed = 0;
        if (!ph_journal_code_change(state, &replay->coder, place, &replay->scratch)) {
            return false;
        }
    }
    return true;
}

// The ticks before this one that are neither read nor counted yet.
static void note_missing(ph_replay* replay, uint32_t tick)
{
    replay->damage.missing_ticks += tick > replay->next_tick ? tick - replay->next_tick : 0;
}

static bool read_tick(ph_replay* replay, uint32_t from)
{
    const uint64_t skipped = read_small(replay, PH_JOURNAL_SKIPPED);
    if (skipped >= replay->part.end_tick - from) {
        return false;
    }
    const uint32_t tick = from + (uint32_t)skipped;
    if (!read_gone(replay) || !read_shown(replay) || !read_newcomers(replay) ||
        !read_changes(replay) || ph_journal_coder_result(&replay->coder) != PH_OK) {
        return false;
    }
    if (tick + 1 == replay->part.end_tick &&
        ph_entropy_reader_finish(&replay->coder.reader) != PH_OK) {
        return false;
    }
    note_missing(replay, tick);
    replay->next_tick = tick + 1;
    replay->has_tick = true;
    replay->tick = tick;
    return true;
}

// Checksums are right, so this was written on purpose, or by a program that has an error.
static void refuse_part(ph_replay* replay)
{
    const size_t end = replay->at;
    note_damage(replay, end - replay->part.body_size - PH_PART_HEADER_BYTES, end);
    replay->is_open = false;
    replay->is_followed = false;
}

bool ph_replay_next(ph_replay* replay)
{
    while (!replay->is_at_end) {
        const bool is_new = !replay->is_open;
        if (is_new && !next_part(replay)) {
            break;
        }
        if (read_tick(replay, is_new ? replay->part.first_tick : replay->tick + 1)) {
            if (replay->tick + 1 == replay->part.end_tick) {
                replay->is_open = false;
            }
            return true;
        }
        if (replay->result != PH_OK) {
            break;
        }
        refuse_part(replay);
    }
    if (!replay->is_at_end) {
        note_missing(replay, replay->end_tick);
    }
    replay->is_at_end = true;
    ph_journal_state_clear(&replay->state);
    return false;
}

uint32_t ph_replay_tick(const ph_replay* replay)
{
    return replay->tick;
}

ph_result ph_replay_result(const ph_replay* replay)
{
    return replay->result;
}

ph_replay_damage ph_replay_get_damage(const ph_replay* replay)
{
    return replay->damage;
}

// ---- entities

int ph_replay_place_count(const ph_replay* replay)
{
    return replay->state.place_count;
}

bool ph_replay_get(const ph_replay* replay, int place, ph_replay_entity* entity)
{
    const ph_journal_state* state = &replay->state;
    if (place < 0 || place >= state->place_count || !state->entities[place].is_live) {
        return false;
    }
    const ph_journal_entity* found = &state->entities[place];
    const ph_series* position =
        ph_journal_state_series(state, place) + state->classes[found->class_index].position_channel;
    *entity = (ph_replay_entity){
        .key = found->key,
        .class_index = found->class_index,
        .seen_by = found->seen_by,
        .is_always_visible = (found->flags & PH_SEEN_ALWAYS) != 0,
        .is_never_visible = (found->flags & PH_SEEN_NEVER) != 0,
        .is_new = found->is_new,
        .has_jumped = found->move == PH_JOURNAL_JUMPED,
    };
    for (int i = 0; i < 3; ++i) {
        entity->position_mm[i] = (int32_t)(uint32_t)position[i].last;
    }
    return true;
}

int ph_replay_find(const ph_replay* replay, uint64_t key)
{
    uint32_t place;
    return ph_hash_map_try_find(&replay->state.by_key, key, &place) ? (int)place : -1;
}

static ph_result get_key(uint64_t key1, ph_field field, void* value, size_t size)
{
    if (field != PH_FIELD_U64 || size != sizeof(uint64_t)) {
        return PH_ERROR_ARGUMENT;
    }
    if (key1 == 0) {
        return PH_ERROR_STALE;
    }
    const uint64_t key = key1 - 1;
    memcpy(value, &key, sizeof key);
    return PH_OK;
}

ph_result ph_replay_get_property(const ph_replay* replay, int place, int property, ph_field field,
                                 void* value, size_t size)
{
    const ph_journal_state* state = &replay->state;
    if (place < 0 || place >= state->place_count || !state->entities[place].is_live) {
        return PH_ERROR_STALE;
    }
    const ph_journal_class* type = &state->classes[state->entities[place].class_index];
    if (property < 0 || property >= type->described->def.property_count) {
        return PH_ERROR_ARGUMENT;
    }
    const ph_property* described = &type->described->properties[property];
    const ph_series* series = ph_journal_state_series(state, place) + type->first_channel[property];
    if (described->def.coding == PH_CODING_ENTITY) {
        return get_key(series[0].last, field, value, size);
    }
    if (!ph_property_suits(described, field, size)) {
        return PH_ERROR_ARGUMENT;
    }
    if (described->is_text) {
        return ph_text_restore(ph_journal_state_text(state, place, property), field, value, size);
    }
    uint64_t values[4];
    const int count = type->first_channel[property + 1] - type->first_channel[property];
    for (int i = 0; i < count; ++i) {
        values[i] = series[i].last;
    }
    uint32_t words[PH_VALUE_WORDS_MAX];
    ph_journal_join(type, property, values, words);
    return ph_property_restore_field(described, field, words, value);
}
