// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Comparing integers with integers. A moving entity's visit compares its position and heading and
// looks into one or two items of the flight: some tens of nanoseconds.

#include "world/due.h"

#include "base/bitset.h"
#include "world/comparing.h"
#include "world/difference.h"

#include <string.h>

#define US_PER_SECOND UINT64_C(1000000)

// Squares of distances are compared as floats in the sweep, and exactly here: the float may call a
// little early.
#define WAKE_SLACK 1.000001

ph_outlook ph_outlook_make(const ph_world* world, uint32_t viewer)
{
    const ph_viewer* seer = &world->viewers.viewers[viewer];
    const ph_eye* eye = &world->viewers.eyes[viewer];
    const ph_slot_list shown = ph_slots_shown(seer->slots);
    const bool is_in_doubt = ph_entities_is_veil_new(&world->entities) || seer->is_urgent;
    return (ph_outlook){
        .world = world,
        .slots = seer->slots,
        .sender = seer->sender,
        .entities = ph_slots_sight(seer->slots).entities,
        .shown = shown,
        .slot_end = shown.count > 0 ? shown.slots[shown.count - 1] + 1 : 0,
        .eye_x_mm = eye->x_mm,
        .eye_y_mm = eye->y_mm,
        .sees = eye->sees,
        .audience = seer->audience,
        .settle_ticks = (uint32_t)((US_PER_SECOND + world->def.tick_us - 1) / world->def.tick_us),
        .own = ph_entities_find(&world->entities, seer->own),
        .is_in_doubt = is_in_doubt,
        .are_all_there = !is_in_doubt && world->entities.resting_count == 0,
    };
}

// ---- the present values

// The row of what a place shows, in the table of its class.
typedef struct row {
    const ph_table* table;
    uint32_t index;
} row;

static row row_of(const ph_outlook* outlook, const ph_place* at)
{
    const ph_world* world = outlook->world;
    return (row){&world->tables[at->class_index], world->entities.whereabouts[at->entity].row};
}

void ph_outlook_round_position(const ph_outlook* outlook, const ph_place* at, uint32_t* words)
{
    const int32_t* position_mm = outlook->world->entities.whereabouts[at->entity].position_mm;
    ph_layout_round_position(at->layout, &outlook->world->def.ground, position_mm, words);
}

// Only those who are known to be in the client's view have a name there; nobody else leaves a trace.
static void reference_words(const ph_outlook* outlook, const uint32_t* id_words, uint32_t* words)
{
    const ph_knowledge* knowledge = &outlook->sender->knowledge;
    const ph_entity_id id = {.index1 = id_words[0], .generation = id_words[1]};
    words[0] = 0;
    words[1] = 0;
    const ph_entity_index entity = ph_entities_find(&outlook->world->entities, id);
    if (entity == PH_ENTITY_NONE) {
        return;
    }
    const int slot = ph_slots_find(outlook->slots, entity);
    if (slot >= 0 && knowledge->told[slot] == PH_TOLD_ENTERED &&
        ph_outlook_is_there(outlook, slot)) {
        words[0] = (uint32_t)slot + 1;
        words[1] = ph_knowledge_at(knowledge, slot)->association;
    }
}

// As in wire/layout.h; of a text its version, 0 when it is empty. Not of the position.
static void load(const ph_outlook* outlook, const ph_layout* layout, row in, int property,
                 uint32_t* words)
{
    const uint64_t bit = UINT64_C(1) << property;
    const uint32_t* value = ph_table_value(in.table, property, in.index);
    if ((bit & layout->references) != 0) {
        reference_words(outlook, value, words);
    } else if ((bit & layout->texts) != 0) {
        const bool is_empty = ph_table_text(in.table, property, in.index).length == 0;
        words[0] = is_empty ? 0 : value[0] + (value[0] == 0);
    } else {
        const int count = layout->described->properties[property].words;
        for (int i = 0; i < count; ++i) {
            words[i] = value[i];
        }
    }
}

// ---- differences

static uint64_t distance2_of(const ph_outlook* outlook, const ph_place* at)
{
    const int32_t* position_mm = outlook->world->entities.whereabouts[at->entity].position_mm;
    return ph_distance2(position_mm[0], position_mm[1], outlook->eye_x_mm, outlook->eye_y_mm);
}

// Distances are at most 5,000 km: their squares fit.
static bool is_too_far(const ph_place* at, int property, uint64_t distance2)
{
    const uint64_t limit_mm = at->layout->described->properties[property].distance_mm;
    return limit_mm != UINT64_MAX && distance2 > limit_mm * limit_mm;
}

static void put_beyond(const ph_place* at, int property, ph_due* due)
{
    const double limit_mm = (double)at->layout->described->properties[property].distance_mm;
    const float wake_mm2 = (float)(limit_mm * limit_mm * WAKE_SLACK);
    due->beyond |= UINT64_C(1) << property;
    due->wake_mm2 = wake_mm2 > due->wake_mm2 ? wake_mm2 : due->wake_mm2;
}

// A value that is not the newest that was sent.
typedef struct difference {
    int property;
    uint32_t changed_tick;
    const uint32_t* words;
    const uint8_t* newest;
} difference;

static bool is_striking(const ph_place* at, const difference* it)
{
    const ph_property* described = &at->layout->described->properties[it->property];
    uint32_t before[PH_VALUE_WORDS_MAX];
    if ((at->layout->plain >> it->property & 1) != 0) {
        before[0] = ph_packing_word(at->packing, it->property, it->newest);
    } else {
        ph_packing_load(at->packing, it->property, it->newest, before);
    }
    return ph_difference_steps(described, it->words, before) >= described->significant_steps;
}

static inline void judge(const ph_outlook* outlook, const ph_place* at, const difference* it,
                         ph_due* due)
{
    const ph_layout* layout = at->layout;
    const uint64_t bit = UINT64_C(1) << it->property;
    if ((layout->limited & bit) != 0 && is_too_far(at, it->property, distance2_of(outlook, at))) {
        put_beyond(at, it->property, due);
        return;
    }
    due->due |= bit;
    // Of a reference nothing may be told by when it changed, perhaps from one unseen to another.
    if ((layout->references & bit) != 0 || ph_outlook_is_settled(outlook, at, it->changed_tick)) {
        due->settled |= bit;
        due->significant |= bit;
    }
    if ((layout->vivid & bit) != 0 || is_striking(at, it)) {
        due->striking |= bit;
        due->significant |= bit;
    }
}

void ph_outlook_judge_position(const ph_outlook* outlook, const ph_place* at, const uint32_t* words,
                               const uint8_t* newest, ph_due* due)
{
    const uint32_t moved_tick = outlook->world->entities.whereabouts[at->entity].moved_tick;
    const int property = at->layout->position_property;
    *due = (ph_due){0};
    judge(outlook, at, &(difference){property, moved_tick, words, newest}, due);
}

// Loads what is not a position. @return Whether it is the same as the newest.
static inline bool load_same(const ph_outlook* outlook, const ph_place* at, row in, int property,
                             uint32_t* words, const uint8_t* newest)
{
    if ((at->layout->plain >> property & 1) != 0) {
        words[0] = in.table->columns[property][in.index];
        return words[0] == ph_packing_word(at->packing, property, newest);
    }
    load(outlook, at->layout, in, property, words);
    return ph_packing_is_same(at->packing, property, words, newest);
}

// words may be NULL.
void ph_outlook_compare_others(const ph_outlook* outlook, const ph_place* at, uint64_t asked,
                               uint32_t* words, ph_due* due)
{
    const row in = row_of(outlook, at);
    uint32_t value[PH_VALUE_WORDS_MAX];
    *due = (ph_due){0};
    for (uint64_t left = asked; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        uint32_t* present = words != NULL ? words + at->layout->word[property] : value;
        const uint8_t* newest = ph_outlook_newest(outlook, at, property);
        if (!load_same(outlook, at, in, property, present, newest)) {
            const uint32_t changed_tick = ph_table_changed(in.table, property, in.index);
            judge(outlook, at, &(difference){property, changed_tick, present, newest}, due);
        }
    }
}

void ph_outlook_compare_at(const ph_outlook* outlook, const ph_place* at, uint64_t asked,
                           uint32_t* words, ph_due* due)
{
    *due = ph_outlook_compare_here(outlook, at, asked, words);
}

// ---- enters

static bool is_initial(const ph_outlook* outlook, const ph_place* at, row in, int property)
{
    const ph_property* described = &at->layout->described->properties[property];
    uint32_t words[PH_VALUE_WORDS_MAX];
    load(outlook, at->layout, in, property, words);
    return memcmp(words, described->initial, (size_t)described->words * sizeof words[0]) == 0;
}

uint64_t ph_outlook_complete(const ph_outlook* outlook, const ph_place* at, ph_due* rest)
{
    const row in = row_of(outlook, at);
    const uint64_t distance2 = distance2_of(outlook, at);
    uint64_t properties = at->layout->position;
    const uint64_t asked = ph_forms_audience(&outlook->world->forms, at->class_index,
                                             outlook->audience, at->slot == 0);
    *rest = (ph_due){0};
    for (uint64_t left = asked & ~at->layout->position; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const uint64_t bit = UINT64_C(1) << property;
        if (is_initial(outlook, at, in, property)) {
            continue;
        }
        if ((at->layout->once & bit) == 0 && is_too_far(at, property, distance2)) {
            put_beyond(at, property, rest);
        } else {
            properties |= bit;
        }
    }
    return properties;
}

// ---- into records

void ph_outlook_fill(const ph_outlook* outlook, const ph_place* at, uint64_t properties,
                     uint32_t* words, uint8_t* texts)
{
    const ph_layout* layout = at->layout;
    if ((properties & layout->position) != 0) {
        ph_outlook_position(outlook, at, words + layout->position_word);
    }
    const row in = row_of(outlook, at);
    for (uint64_t left = properties & ~layout->position; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        load(outlook, layout, in, property, words + layout->word[property]);
        if ((layout->texts >> property & 1) != 0) {
            ph_layout_store_text(layout, texts, property,
                                 ph_table_text(in.table, property, in.index));
        }
    }
}
