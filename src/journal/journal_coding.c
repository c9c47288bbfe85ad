// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Guessing, texts, then entities: docs/wire_recording.md has the same in words. Some 200 ns for each value that changes,
// most of which are models that learn.

#include "journal/journal_coding.h"

#include "base/math.h"

#include <string.h>

// What an error counts as at most, and how: 16 of it where it lasts.
#define ERROR_MAX (UINT64_C(1) << 24)
#define ERROR_SHIFT 2
#define ERROR_UNIT 4

// ---- guesses

static uint64_t magnitude(int64_t number)
{
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

// The shorter way round. Numbers are within four times the modulus.
static int64_t centred(int64_t number, uint64_t modulus)
{
    if (modulus == 0) {
        return number;
    }
    const int64_t whole = (int64_t)modulus;
    const int64_t low = -(whole / 2);
    while (number < low) {
        number += whole;
    }
    while (number >= low + whole) {
        number -= whole;
    }
    return number;
}

static int64_t wrapping_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t guess_of(const ph_series* series, int guess)
{
    return guess == 0 ? 0 : guess == 1 ? series->step : wrapping_sum(series->step, series->change);
}

static int best_guess(const ph_series* series)
{
    int best = 0;
    for (int g = 1; g < PH_JOURNAL_GUESSES; ++g) {
        best = series->errors[g] < series->errors[best] ? g : best;
    }
    return best;
}

static uint64_t value_after(const ph_series* series, int64_t step, uint64_t modulus)
{
    uint64_t value = series->last + (uint64_t)step;
    if (modulus != 0 && step < 0 && value > series->last) {
        value += modulus;
    } else if (modulus != 0 && value >= modulus) {
        value -= modulus;
    }
    return value;
}

static int64_t step_to(const ph_series* series, uint64_t value, uint64_t modulus)
{
    return centred((int64_t)(value - series->last), modulus);
}

static void move_series(ph_series* series, uint64_t value, uint64_t modulus)
{
    const int64_t step = step_to(series, value, modulus);
    for (int g = 0; g < PH_JOURNAL_GUESSES; ++g) {
        const int64_t guess = centred(guess_of(series, g), modulus);
        const uint64_t error =
            magnitude(centred(wrapping_sum(step, (int64_t)(0 - (uint64_t)guess)), modulus));
        const uint32_t counted = (uint32_t)(error < ERROR_MAX ? error : ERROR_MAX);
        series->errors[g] += counted * ERROR_UNIT - (series->errors[g] >> ERROR_SHIFT);
    }
    series->change = centred(wrapping_sum(step, (int64_t)(0 - (uint64_t)series->step)), modulus);
    series->step = step;
    series->last = value;
}

// A number and its sign. @return False where there is no such number.
static bool code_signed(ph_journal_coder* coder, ph_adaptive* model, int64_t* number,
                        uint64_t modulus)
{
    const uint64_t size = ph_journal_size(coder, model, magnitude(*number));
    if (size == 0) {
        *number = 0;
        return true;
    }
    const bool is_negative = ph_journal_bits(coder, *number < 0, 1) != 0;
    if (modulus != 0 && size > modulus / 2) {
        return false;
    }
    *number = (int64_t)(is_negative ? 0 - size : size);
    return modulus == 0 || centred(*number, modulus) == *number;
}

static bool code_value(ph_journal_coder* coder, const ph_channel* channel,
                       ph_channel_models* models, ph_series* series, uint64_t* value)
{
    if (channel->choices > 0) {
        *value = (uint64_t)ph_journal_symbol(coder, &models->first, (int)*value);
        series->last = *value;
        return true;
    }
    const uint64_t modulus = channel->modulus;
    const int best = best_guess(series);
    const int64_t guess = centred(guess_of(series, best), modulus);
    const int context =
        ph_least(ph_word_width(series->errors[best]), PH_JOURNAL_ERROR_CONTEXTS - 1);
    int64_t rest = 0;
    if (!coder->is_reading) {
        const int64_t step = step_to(series, *value, modulus);
        rest = centred(wrapping_sum(step, (int64_t)(0 - (uint64_t)guess)), modulus);
    }
    if (!code_signed(coder, &models->errors[context], &rest, modulus)) {
        return false;
    }
    if (coder->is_reading) {
        *value = value_after(series, centred(wrapping_sum(guess, rest), modulus), modulus);
    }
    move_series(series, *value, modulus);
    return true;
}

// ---- texts

static bool remember_text(ph_journal_state* state, ph_text text)
{
    if (state->dictionary_count == PH_JOURNAL_TEXTS_MAX ||
        state->dictionary_size + 2 + text.length > PH_JOURNAL_TEXTS_BYTES) {
        return false;
    }
    uint8_t* at = state->dictionary + state->dictionary_size;
    at[0] = (uint8_t)text.length;
    at[1] = (uint8_t)(text.length >> 8);
    if (text.length > 0) {
        memcpy(at + 2, text.bytes, text.length);
    }
    state->dictionary_offsets[state->dictionary_count++] = state->dictionary_size;
    state->dictionary_size += 2 + (uint32_t)text.length;
    return true;
}

static ph_text remembered_text(const ph_journal_state* state, uint32_t number)
{
    const uint8_t* at = state->dictionary + state->dictionary_offsets[number];
    return (ph_text){.bytes = at + 2, .length = (uint16_t)(at[0] | at[1] << 8)};
}

static uint64_t hash_of(ph_text text)
{
    ph_hash hash = ph_hash_make(0);
    ph_hash_add(&hash, text.bytes, text.length);
    return ph_hash_value(&hash);
}

// @return Its number, or how many there are.
static uint32_t find_text(const ph_journal_state* state, ph_text text)
{
    uint32_t number;
    if (ph_hash_map_try_find(&state->by_text, hash_of(text), &number)) {
        const ph_text found = remembered_text(state, number);
        if (found.length == text.length &&
            (text.length == 0 || memcmp(found.bytes, text.bytes, text.length) == 0)) {
            return number;
        }
    }
    return state->dictionary_count;
}

// A text that was told since the last key part, or a new one. What is read is in `room`.
static bool code_text(ph_journal_state* state, ph_journal_coder* coder, const ph_property* property,
                      ph_text* text, uint8_t* room)
{
    const uint32_t count = state->dictionary_count;
    uint32_t number = coder->is_reading ? 0 : find_text(state, *text);
    number = ph_journal_uniform(coder, number, count + 1);
    if (number < count) {
        *text = remembered_text(state, number);
        return ph_property_check_text(property, text->bytes, text->length) == PH_OK;
    }
    const uint64_t length = ph_journal_size(coder, &state->small[PH_JOURNAL_TEXT_LENGTH],
                                            coder->is_reading ? 0 : text->length);
    if (length > (uint64_t)property->def.max_length) {
        return false;
    }
    for (uint64_t i = 0; i < length; ++i) {
        room[i] = (uint8_t)ph_journal_bits(coder, coder->is_reading ? 0 : text->bytes[i], 8);
    }
    if (coder->is_reading) {
        *text = (ph_text){.bytes = room, .length = (uint16_t)length};
        if (ph_property_check_text(property, room, (size_t)length) != PH_OK) {
            return false;
        }
    }
    if (remember_text(state, *text) && !coder->is_reading) {
        ph_hash_map_insert(&state->by_text, hash_of(*text), count);
    }
    return true;
}

// ---- entities

uint64_t ph_journal_code_small(ph_journal_state* state, ph_journal_coder* coder,
                               ph_journal_small what, uint64_t value)
{
    return ph_journal_size(coder, &state->small[what], value);
}

void ph_journal_code_sight(ph_journal_state* state, ph_journal_coder* coder,
                           ph_journal_entity* entity)
{
    // 0: as most are; 1: flags and mask follow.
    const bool is_usual = entity->seen_by == UINT32_MAX && entity->flags == 0;
    const uint64_t said =
        ph_journal_size(coder, &state->small[PH_JOURNAL_SIGHT], coder->is_reading ? 0 : !is_usual);
    if (said == 0) {
        entity->seen_by = UINT32_MAX;
        entity->flags = 0;
        return;
    }
    entity->flags = (uint8_t)ph_journal_bits(coder, entity->flags, 2);
    entity->seen_by = (uint32_t)ph_journal_bits(coder, entity->seen_by, 32);
}

static bool code_first(ph_journal_coder* coder, const ph_channel* channel,
                       ph_channel_models* models, ph_series* series)
{
    if (channel->choices > 0) {
        series->last = (uint64_t)ph_journal_symbol(coder, &models->first, (int)series->last);
        return true;
    }
    const ph_series before = {.last = models->last_first};
    int64_t rest = coder->is_reading ? 0 : step_to(&before, series->last, channel->modulus);
    if (!code_signed(coder, &models->first, &rest, channel->modulus)) {
        return false;
    }
    if (coder->is_reading) {
        series->last = value_after(&before, rest, channel->modulus);
    }
    models->last_first = series->last;
    return true;
}

bool ph_journal_code_newcomer(ph_journal_state* state, ph_journal_coder* coder, int place)
{
    const ph_journal_entity* entity = &state->entities[place];
    const ph_journal_class* type = &state->classes[entity->class_index];
    ph_series* series = ph_journal_state_series(state, place);
    uint8_t room[PH_TEXT_LENGTH_MAX];
    for (int p = 0; p < type->described->def.property_count; ++p) {
        const ph_property* property = &type->described->properties[p];
        uint64_t values[4];
        if (property->is_text) {
            ph_text text = ph_journal_state_text(state, place, p);
            if (!code_text(state, coder, property, &text, room)) {
                return false;
            }
            ph_journal_state_set_text(state, place, p, text);
            continue;
        }
        for (int c = type->first_channel[p]; c < type->first_channel[p + 1]; ++c) {
            if (!code_first(coder, &type->channels[c], &type->models[c], &series[c])) {
                return false;
            }
            values[c - type->first_channel[p]] = series[c].last;
        }
        if (coder->is_reading && !ph_journal_is_value(type, p, values)) {
            return false;
        }
    }
    return true;
}

static uint64_t code_changed_mask(ph_journal_coder* coder, ph_journal_class* type,
                                  ph_journal_entity* entity)
{
    const bool has_any = ph_journal_flag(coder, &type->any[entity->anys & 3], entity->changed != 0);
    uint64_t mask = 0;
    for (uint64_t left = has_any ? type->values : 0; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const unsigned context = (unsigned)(entity->was_changed >> p & 1) * 2 +
                                 (unsigned)(entity->were_changed >> p & 1);
        const bool is_set = (entity->changed >> p & 1) != 0;
        mask |= (uint64_t)ph_journal_flag(coder, &type->changed[4 * p + (int)context], is_set) << p;
    }
    return mask;
}

// A value that stays has come to rest: twice, until its step and the change of it are 0.
static void rest_property(const ph_journal_class* type, ph_series* series, int property)
{
    for (int c = type->first_channel[property]; c < type->first_channel[property + 1]; ++c) {
        if (type->channels[c].choices == 0) {
            move_series(&series[c], series[c].last, type->channels[c].modulus);
        }
    }
}

static bool code_property(ph_journal_state* state, ph_journal_coder* coder, int place,
                          ph_journal_change* change, int p)
{
    ph_journal_class* type = &state->classes[state->entities[place].class_index];
    const ph_property* property = &type->described->properties[p];
    if (property->is_text) {
        uint8_t room[PH_TEXT_LENGTH_MAX];
        ph_text text = change->texts[p];
        if (!code_text(state, coder, property, &text, room)) {
            return false;
        }
        ph_journal_state_set_text(state, place, p, text);
        return true;
    }
    ph_series* series = ph_journal_state_series(state, place);
    for (int c = type->first_channel[p]; c < type->first_channel[p + 1]; ++c) {
        if (!code_value(coder, &type->channels[c], &type->models[c], &series[c],
                        &change->values[c])) {
            return false;
        }
    }
    return !coder->is_reading ||
           ph_journal_is_value(type, p, change->values + type->first_channel[p]);
}

static void note_changes(ph_journal_entity* entity)
{
    entity->anys = (uint8_t)((entity->anys * 2 + (entity->changed != 0)) & 3);
    entity->moves = (uint8_t)(entity->moves % 3 * 3 + entity->move);
    entity->were_changed = entity->was_changed;
    entity->was_changed = entity->changed;
}

bool ph_journal_code_change(ph_journal_state* state, ph_journal_coder* coder, int place,
                            ph_journal_change* change)
{
    ph_journal_entity* entity = &state->entities[place];
    ph_journal_class* type = &state->classes[entity->class_index];
    ph_series* series = ph_journal_state_series(state, place);
    const int position = type->described->position;
    entity->move = (uint8_t)ph_journal_symbol(coder, &type->moves[entity->moves], entity->move);
    if (entity->move != PH_JOURNAL_STAYED) {
        if (!code_property(state, coder, place, change, position)) {
            return false;
        }
    } else if (entity->moves != 0) {
        rest_property(type, series, position);
    }
    if (type->values != 0) {
        entity->changed = code_changed_mask(coder, type, entity);
        const uint64_t dirty = entity->changed | entity->was_changed | entity->were_changed;
        for (uint64_t left = dirty; left != 0; left &= left - 1) {
            const int p = ph_word_lowest_bit(left);
            if ((entity->changed >> p & 1) == 0) {
                rest_property(type, series, p);
            } else if (!code_property(state, coder, place, change, p)) {
                return false;
            }
        }
    }
    note_changes(entity);
    return true;
}
