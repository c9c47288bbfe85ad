// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "journal/journal_state.h"

#include "base/allocator.h"
#include "base/math.h"

#include <pinhole/quaternion.h>

#include <string.h>

// What a channel takes at most: a symbol, an octave, 63 bits below it, a sign.
#define CHANNEL_BYTES 12

// ---- classes

static int channels_of(const ph_property* property)
{
    switch (property->def.coding) {
    case PH_CODING_POSITION:
    case PH_CODING_VEC3:
        return 3;
    case PH_CODING_QUATERNION:
        return 4;
    case PH_CODING_STRING:
    case PH_CODING_BYTES:
        return 0;
    default:
        return 1;
    }
}

static ph_channel describe_channel(const ph_property* property, int index, int i)
{
    ph_channel made = {.property = (uint8_t)index};
    switch (property->def.coding) {
    case PH_CODING_POSITION:
        made.modulus = UINT64_C(1) << 32;
        break;
    case PH_CODING_QUATERNION:
        made.modulus = i == 0 ? 4 : UINT64_C(1) << property->def.bits;
        made.choices = i == 0 ? 4 : 0;
        break;
    case PH_CODING_ENTITY:
        break;
    default:
        made.modulus = ph_property_top(property, i) + 1;
        if (made.modulus >= 2 && made.modulus <= PH_ADAPTIVE_SYMBOLS_MAX &&
            (property->def.coding == PH_CODING_BOOL || property->def.coding == PH_CODING_ENUM)) {
            made.choices = (uint8_t)made.modulus;
        }
        break;
    }
    return made;
}

// All but the arrays.
static void describe_journal_class(ph_journal_class* type, size_t* text_bytes)
{
    const ph_class* described = type->described;
    *text_bytes = 0;
    for (int p = 0; p < described->def.property_count; ++p) {
        const ph_property* property = &described->properties[p];
        type->first_channel[p] = type->channel_count;
        type->channel_count += channels_of(property);
        type->values |= p == described->position ? 0 : UINT64_C(1) << p;
        type->references |= (uint64_t)(property->def.coding == PH_CODING_ENTITY) << p;
        if (property->is_text) {
            type->text_offset[p] = (uint32_t)*text_bytes;
            *text_bytes += 2 + (size_t)property->def.max_length;
            type->size_max += 8 + (size_t)property->def.max_length;
        }
    }
    type->position_channel = type->first_channel[described->position];
    type->first_channel[described->def.property_count] = type->channel_count;
    type->size_max += 64 + 2 * (size_t)described->def.property_count +
                      CHANNEL_BYTES * (size_t)type->channel_count;
}

static ph_result create_class(ph_journal_class* type, const ph_allocator* allocator)
{
    const size_t channels = (size_t)type->channel_count;
    const size_t properties = (size_t)type->described->def.property_count;
    type->channels = ph_allocate_array(allocator, channels, sizeof *type->channels);
    type->models = ph_allocate_array(allocator, channels, sizeof *type->models);
    type->changed = ph_allocate_array(allocator, properties * 4, sizeof *type->changed);
    if (type->channels == NULL || type->models == NULL || type->changed == NULL) {
        return PH_ERROR_MEMORY;
    }
    for (int p = 0; p < type->described->def.property_count; ++p) {
        for (int c = type->first_channel[p]; c < type->first_channel[p + 1]; ++c) {
            type->channels[c] =
                describe_channel(&type->described->properties[p], p, c - type->first_channel[p]);
        }
    }
    return PH_OK;
}

static void destroy_class(ph_journal_class* type, const ph_allocator* allocator)
{
    const size_t channels = (size_t)type->channel_count;
    ph_release_array(allocator, type->channels, channels, sizeof *type->channels);
    ph_release_array(allocator, type->models, channels, sizeof *type->models);
    if (type->described != NULL) {
        ph_release_array(allocator, type->changed, (size_t)type->described->def.property_count * 4,
                         sizeof *type->changed);
    }
}

static ph_result create_classes(ph_journal_state* state)
{
    for (int i = 0; i < state->class_count; ++i) {
        ph_journal_class* type = &state->classes[i];
        size_t text_bytes;
        type->described = ph_schema_class_at(state->schema, i);
        describe_journal_class(type, &text_bytes);
        if (create_class(type, &state->allocator) != PH_OK) {
            return PH_ERROR_MEMORY;
        }
        state->stride = ph_greatest(state->stride, type->channel_count);
        state->text_stride = text_bytes > state->text_stride ? text_bytes : state->text_stride;
        state->size_max = type->size_max > state->size_max ? type->size_max : state->size_max;
        state->all_references |= type->references;
    }
    if (state->text_stride == 0) {
        return PH_OK;
    }
    state->dictionary = ph_allocate(&state->allocator, PH_JOURNAL_TEXTS_BYTES);
    state->dictionary_offsets = ph_allocate_array(&state->allocator, PH_JOURNAL_TEXTS_MAX,
                                                  sizeof *state->dictionary_offsets);
    return state->dictionary == NULL || state->dictionary_offsets == NULL
               ? PH_ERROR_MEMORY
               : ph_hash_map_create(&state->by_text, &state->allocator, PH_JOURNAL_TEXTS_MAX, 0);
}

// ---- life

ph_result ph_journal_state_create(ph_journal_state* state, const ph_schema* schema,
                                  const ph_allocator* allocator)
{
    *state = (ph_journal_state){.schema = schema, .allocator = *allocator};
    state->class_count = ph_schema_class_count(schema);
    state->classes =
        ph_allocate_zeroed(allocator, (size_t)state->class_count * sizeof *state->classes);
    if (state->classes == NULL || create_classes(state) != PH_OK ||
        ph_hash_map_create(&state->by_key, allocator, 16, 0) != PH_OK) {
        ph_journal_state_destroy(state);
        return PH_ERROR_MEMORY;
    }
    ph_journal_state_forget(state);
    return PH_OK;
}

static void release_places(ph_journal_state* state)
{
    const ph_allocator* allocator = &state->allocator;
    const size_t capacity = (size_t)state->capacity;
    ph_release_array(allocator, state->entities, capacity, sizeof *state->entities);
    ph_release_array(allocator, state->series, capacity * (size_t)state->stride,
                     sizeof *state->series);
    ph_release_array(allocator, state->texts, capacity, state->text_stride);
    ph_release_array(allocator, state->free_places, capacity, sizeof *state->free_places);
}

void ph_journal_state_destroy(ph_journal_state* state)
{
    const ph_allocator allocator = state->allocator;
    for (int i = 0; state->classes != NULL && i < state->class_count; ++i) {
        destroy_class(&state->classes[i], &allocator);
    }
    release_places(state);
    ph_release(&allocator, state->classes, (size_t)state->class_count * sizeof *state->classes);
    ph_release(&allocator, state->dictionary, PH_JOURNAL_TEXTS_BYTES);
    ph_release_array(&allocator, state->dictionary_offsets, PH_JOURNAL_TEXTS_MAX,
                     sizeof *state->dictionary_offsets);
    ph_hash_map_destroy(&state->by_key);
    ph_hash_map_destroy(&state->by_text);
    *state = (ph_journal_state){0};
}

static void forget_class(ph_journal_class* type)
{
    for (int i = 0; i < 9; ++i) {
        ph_adaptive_init(&type->moves[i], 3);
    }
    for (int i = 0; i < 4; ++i) {
        ph_adaptive_init(&type->any[i], 2);
    }
    for (int i = 0; i < 4 * type->described->def.property_count; ++i) {
        ph_adaptive_init(&type->changed[i], 2);
    }
    for (int c = 0; c < type->channel_count; ++c) {
        ph_channel_models* models = &type->models[c];
        const int choices = type->channels[c].choices;
        ph_adaptive_init(&models->first, choices > 0 ? choices : PH_JOURNAL_SIZE_SYMBOLS);
        for (int i = 0; i < PH_JOURNAL_ERROR_CONTEXTS; ++i) {
            ph_adaptive_init(&models->errors[i], PH_JOURNAL_SIZE_SYMBOLS);
        }
        models->last_first = 0;
    }
}

void ph_journal_state_forget(ph_journal_state* state)
{
    for (int i = 0; i < state->class_count; ++i) {
        forget_class(&state->classes[i]);
    }
    for (int i = 0; i < PH_JOURNAL_SMALLS; ++i) {
        ph_adaptive_init(&state->small[i], PH_JOURNAL_SIZE_SYMBOLS);
    }
    state->dictionary_size = 0;
    state->dictionary_count = 0;
    ph_hash_map_clear(&state->by_text);
    state->last_key = 0;
}

void ph_journal_state_clear(ph_journal_state* state)
{
    state->place_count = 0;
    state->free_count = 0;
    state->live_count = 0;
    ph_hash_map_clear(&state->by_key);
}

// ---- places

ph_result ph_journal_state_reserve(ph_journal_state* state, int count)
{
    const int wanted = state->live_count + count;
    if (wanted > PH_JOURNAL_ENTITIES_MAX || ph_hash_map_reserve(&state->by_key, wanted) != PH_OK) {
        return PH_ERROR_MEMORY;
    }
    if (wanted <= state->capacity) {
        return PH_OK;
    }
    ph_journal_state grown = *state;
    const size_t room = (size_t)ph_greatest(wanted, state->capacity) * 3 / 2 + 64;
    const size_t stride = (size_t)state->stride;
    grown.capacity = (int)room;
    grown.entities = ph_allocate_array(&state->allocator, room, sizeof *grown.entities);
    grown.series = ph_allocate_array(&state->allocator, room * stride, sizeof *grown.series);
    grown.texts = ph_allocate_array(&state->allocator, room, state->text_stride);
    grown.free_places = ph_allocate_array(&state->allocator, room, sizeof *grown.free_places);
    if (grown.entities == NULL || grown.series == NULL || grown.texts == NULL ||
        grown.free_places == NULL) {
        release_places(&grown);
        return PH_ERROR_MEMORY;
    }
    if (state->capacity > 0) {
        const size_t used = (size_t)state->place_count;
        memcpy(grown.entities, state->entities, used * sizeof *grown.entities);
        memcpy(grown.series, state->series, used * stride * sizeof *grown.series);
        memcpy(grown.texts, state->texts, used * state->text_stride);
        memcpy(grown.free_places, state->free_places,
               (size_t)state->free_count * sizeof *grown.free_places);
    }
    release_places(state);
    *state = grown;
    return PH_OK;
}

int ph_journal_state_add(ph_journal_state* state, uint64_t key, int class_index)
{
    const int place =
        state->free_count > 0 ? (int)state->free_places[--state->free_count] : state->place_count++;
    PH_ASSERT(place < state->capacity);
    state->entities[place] = (ph_journal_entity){
        .key = key,
        .class_index = (uint8_t)class_index,
        .is_live = true,
        .is_told = true,
    };
    memset(ph_journal_state_series(state, place), 0, (size_t)state->stride * sizeof *state->series);
    memset(ph_journal_state_texts(state, place), 0, state->text_stride);
    ph_hash_map_insert(&state->by_key, key, (uint32_t)place);
    ++state->live_count;
    return place;
}

void ph_journal_state_remove(ph_journal_state* state, int place)
{
    PH_ASSERT(state->entities[place].is_live);
    ph_hash_map_remove(&state->by_key, state->entities[place].key);
    state->entities[place].is_live = false;
    state->free_places[state->free_count++] = (uint32_t)place;
    --state->live_count;
}

void ph_journal_state_drop_references(ph_journal_state* state)
{
    if (state->all_references == 0) {
        return;
    }
    for (int place = 0; place < state->place_count; ++place) {
        const ph_journal_entity* entity = &state->entities[place];
        const ph_journal_class* type = &state->classes[entity->class_index];
        for (uint64_t left = entity->is_live ? type->references : 0; left != 0; left &= left - 1) {
            ph_series* series = ph_journal_state_series(state, place) +
                                type->first_channel[ph_word_lowest_bit(left)];
            uint32_t target;
            if (series->last != 0 &&
                !ph_hash_map_try_find(&state->by_key, series->last - 1, &target)) {
                *series = (ph_series){0};
            }
        }
    }
}

// ---- values

ph_text ph_journal_state_text(const ph_journal_state* state, int place, int property)
{
    const ph_journal_class* type = &state->classes[state->entities[place].class_index];
    const uint8_t* at = ph_journal_state_texts(state, place) + type->text_offset[property];
    return (ph_text){.bytes = at + 2, .length = (uint16_t)(at[0] | at[1] << 8)};
}

void ph_journal_state_set_text(ph_journal_state* state, int place, int property, ph_text text)
{
    const ph_journal_class* type = &state->classes[state->entities[place].class_index];
    uint8_t* at = ph_journal_state_texts(state, place) + type->text_offset[property];
    at[0] = (uint8_t)text.length;
    at[1] = (uint8_t)(text.length >> 8);
    if (text.length > 0) {
        memmove(at + 2, text.bytes, text.length);
    }
}

static uint64_t wide_of(const uint32_t* words, int count)
{
    return count == 2 ? (uint64_t)words[1] << 32 | words[0] : words[0];
}

void ph_journal_split(const ph_journal_class* type, int property, const uint32_t* words,
                      uint64_t* values)
{
    const ph_property* described = &type->described->properties[property];
    const int first = type->first_channel[property];
    const int count = type->first_channel[property + 1] - first;
    if (described->def.coding == PH_CODING_QUATERNION) {
        const uint64_t field = wide_of(words, 2);
        const int width = described->def.bits;
        values[0] = field & 3;
        for (int i = 0; i < 3; ++i) {
            values[1 + i] = field >> (2 + i * width) & ((UINT64_C(1) << width) - 1);
        }
        return;
    }
    if (count == 3) {
        for (int i = 0; i < 3; ++i) {
            values[i] = words[i];
        }
        return;
    }
    values[0] = wide_of(words, described->words);
}

void ph_journal_join(const ph_journal_class* type, int property, const uint64_t* values,
                     uint32_t* words)
{
    const ph_property* described = &type->described->properties[property];
    const int count = type->first_channel[property + 1] - type->first_channel[property];
    uint64_t value = values[0];
    if (count == 3) {
        for (int i = 0; i < 3; ++i) {
            words[i] = (uint32_t)values[i];
        }
        return;
    }
    if (described->def.coding == PH_CODING_QUATERNION) {
        for (int i = 0; i < 3; ++i) {
            value |= values[1 + i] << (2 + i * described->def.bits);
        }
    }
    words[0] = (uint32_t)value;
    if (described->words == 2) {
        words[1] = (uint32_t)(value >> 32);
    }
}

bool ph_journal_is_value(const ph_journal_class* type, int property, const uint64_t* values)
{
    const ph_property* described = &type->described->properties[property];
    if (described->def.coding != PH_CODING_QUATERNION) {
        return true; // the moduli have seen to it
    }
    uint32_t words[2];
    uint8_t bytes[8];
    ph_journal_join(type, property, values, words);
    for (int i = 0; i < 8; ++i) {
        bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    }
    ph_bit_reader reader = ph_bit_reader_make(bytes, sizeof bytes);
    ph_quaternion_read_levels(described->def.bits, &reader);
    return ph_bit_reader_result(&reader) == PH_OK;
}

void ph_journal_state_fill(ph_journal_state* state, int place, uint64_t mask,
                           const ph_journal_change* change)
{
    const ph_journal_class* type = &state->classes[state->entities[place].class_index];
    ph_series* series = ph_journal_state_series(state, place);
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        if (type->described->properties[p].is_text) {
            ph_journal_state_set_text(state, place, p, change->texts[p]);
        }
        for (int c = type->first_channel[p]; c < type->first_channel[p + 1]; ++c) {
            series[c].last = change->values[c];
        }
    }
}
