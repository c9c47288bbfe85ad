// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The entities of a recording at one tick, as its writer and its readers both have them. An entity has a place; what it has is a series of numbers for each
// channel: three for a position, one for a number, four for a quaternion.
//
//   entities   place 0 | place 1 | ...                           key, class, what changed
//   series     channels of place 0 | channels of place 1 | ...   the value, how it moved, which guesses erred
//   texts      texts of place 0 | texts of place 1 | ...         length, bytes
//
// Beside them the models of the coding (journal_coding.h), which forget at the same time.

#ifndef PH_JOURNAL_JOURNAL_STATE_H
#define PH_JOURNAL_JOURNAL_STATE_H

#include "base/hash.h"
#include "journal/journal_coder.h"
#include "schema/property.h"

// More are refused, by the writer and by readers.
#define PH_JOURNAL_ENTITIES_MAX (1 << 24)
// A class has at most so many properties with as many channels.
#define PH_JOURNAL_CHANNELS_MAX (PH_PROPERTIES_MAX * 4)
#define PH_JOURNAL_GUESSES 3
// The dictionary never grows: what comes after that is told in full.
#define PH_JOURNAL_TEXTS_BYTES (UINT32_C(1) << 18)
#define PH_JOURNAL_TEXTS_MAX 4096
#define PH_JOURNAL_ERROR_CONTEXTS 16

// One number of a property.
typedef struct ph_channel {
    uint64_t modulus; // values are below it; 0: 2^64
    uint8_t property;
    uint8_t choices; // 2..64: one of so many, without an order; 0: a number
} ph_channel;

typedef struct ph_channel_models {
    ph_adaptive first; // the value of a newcomer; of a choice, all values
    ph_adaptive errors[PH_JOURNAL_ERROR_CONTEXTS];
    uint64_t last_first; // the newcomer before this one
} ph_channel_models;

// How the entities of a class are told.
typedef struct ph_journal_class {
    const ph_class* described;
    ph_channel* channels;
    ph_channel_models* models;
    ph_adaptive* changed; // four of each property
    int channel_count;
    int first_channel[PH_PROPERTIES_MAX + 1];
    int position_channel;
    uint64_t values;     // properties but for the position
    uint64_t references; // those of them that name entities
    uint32_t
        text_offset[PH_PROPERTIES_MAX]; // into the texts of an entity, for those that are texts
    ph_adaptive moves[9];               // by the two moves before: none, moved, jumped
    ph_adaptive any[4];                 // whether any property changed, by the two before
    size_t size_max;                    // bytes that an entity takes in a tick at most
} ph_journal_class;

typedef struct ph_series {
    uint64_t last;
    int64_t step;   // from the value before to this one
    int64_t change; // of the step
    uint32_t errors[PH_JOURNAL_GUESSES];
    uint32_t unused;
} ph_series;

typedef enum ph_journal_move {
    PH_JOURNAL_STAYED = 0,
    PH_JOURNAL_MOVED,
    PH_JOURNAL_JUMPED,
} ph_journal_move;

typedef struct ph_journal_entity {
    uint64_t key;
    uint64_t changed;     // properties, in this tick
    uint64_t was_changed; // in the one before, and in the one before that
    uint64_t were_changed;
    uint32_t seen_by;
    uint8_t flags;
    uint8_t class_index;
    bool is_live;
    bool is_new;   // spawned in this tick
    uint8_t move;  // ph_journal_move in this tick
    uint8_t moves; // context of the next one: 3 x the one before + the last one
    uint8_t anys;  // the same for `any`: 2 x + 1 x
    bool is_told;  // as a newcomer, in this tick
} ph_journal_entity;

// A small number, by what it counts.
typedef enum ph_journal_small {
    PH_JOURNAL_SKIPPED = 0, // ticks
    PH_JOURNAL_GONE,
    PH_JOURNAL_SHOWN,
    PH_JOURNAL_NEWCOMERS,
    PH_JOURNAL_KEY_STEP,
    PH_JOURNAL_TEXT_LENGTH,
    PH_JOURNAL_SIGHT,
    PH_JOURNAL_NEW, // 1: spawned in this tick; 2: jumped in it
    PH_JOURNAL_SMALLS,
} ph_journal_small;

typedef struct ph_journal_state {
    const ph_schema* schema;
    ph_journal_class* classes;
    int class_count;
    ph_journal_entity* entities; // by place
    ph_series* series;
    uint8_t* texts;
    uint32_t* free_places;
    int place_count; // places used at least once since the last key part
    int free_count;
    int live_count;
    int capacity;
    int stride; // series of an entity
    size_t text_stride;
    uint64_t all_references; // any class has some
    size_t size_max;         // of any class
    ph_hash_map by_key;      // key -> place
    // Texts that were told since the last key part, by number: length, bytes. NULL without texts.
    uint8_t* dictionary;
    uint32_t* dictionary_offsets;
    uint32_t dictionary_size;
    uint32_t dictionary_count;
    ph_hash_map by_text; // the writer's: hash -> number
    ph_adaptive small[PH_JOURNAL_SMALLS];
    uint64_t last_key;
    ph_allocator allocator;
} ph_journal_state;

// The schema outlives it. @return PH_OK, or PH_ERROR_MEMORY with *state set to {0}.
ph_result ph_journal_state_create(ph_journal_state* state, const ph_schema* schema,
                                  const ph_allocator* allocator);
void ph_journal_state_destroy(ph_journal_state* state); // {0} is allowed

// All models as in a key part; the texts told so far are forgotten.
void ph_journal_state_forget(ph_journal_state* state);
// No entities.
void ph_journal_state_clear(ph_journal_state* state);

// Room for so many more entities. @return PH_OK or PH_ERROR_MEMORY.
ph_result ph_journal_state_reserve(ph_journal_state* state, int count);

// A place for a newcomer, its values all zero; there is room. The key is not taken.
int ph_journal_state_add(ph_journal_state* state, uint64_t key, int class_index);
void ph_journal_state_remove(ph_journal_state* state, int place);

// References to entities that are gone name none from now on. After removals, before newcomers.
void ph_journal_state_drop_references(ph_journal_state* state);

static inline ph_series* ph_journal_state_series(const ph_journal_state* state, int place)
{
    return state->series + (size_t)place * (size_t)state->stride;
}

static inline uint8_t* ph_journal_state_texts(const ph_journal_state* state, int place)
{
    return state->texts + (size_t)place * state->text_stride;
}

ph_text ph_journal_state_text(const ph_journal_state* state, int place, int property);
void ph_journal_state_set_text(ph_journal_state* state, int place, int property, ph_text text);

// ---- between the words of a property (schema/property.h) and channels. References are a key + 1, or 0.

void ph_journal_split(const ph_journal_class* type, int property, const uint32_t* words,
                      uint64_t* values);
void ph_journal_join(const ph_journal_class* type, int property, const uint64_t* values,
                     uint32_t* words);
// Whether such a value can be: a quaternion may not.
bool ph_journal_is_value(const ph_journal_class* type, int property, const uint64_t* values);

// New values of an entity: numbers by channel, texts by property.
typedef struct ph_journal_change {
    uint64_t values[PH_JOURNAL_CHANNELS_MAX];
    ph_text texts[PH_PROPERTIES_MAX];
} ph_journal_change;

// Puts the values of a mask there, without coding.
void ph_journal_state_fill(ph_journal_state* state, int place, uint64_t mask,
                           const ph_journal_change* change);

#endif
