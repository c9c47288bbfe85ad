// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The diff compares integers with integers, for every slot that a send visits. Most visits find that the
// entity has moved, and nothing else; one looks into one or two items in flight: some tens of
// nanoseconds. Changes nothing but the masks of the replica, in ph_diff_keep().

#include "replication/diff.h"

#include "base/bitset.h"
#include "replication/shown_estimate.h"

#include <string.h>

#define SETTLE_US UINT64_C(1000000)

// Squares of distances are compared as floats in the sweep, and exactly here: the float may call a
// little early.
#define WAKE_SLACK 1.000001

// ---- the send context

ph_send_context ph_send_context_make(const ph_store* store, const ph_seer* seer)
{
    const ph_slot_list shown = ph_slots_shown(seer->slots);
    const bool may_hide = ph_entities_has_visibility_changed(&store->entities) || seer->is_urgent;
    return (ph_send_context){
        .store = store,
        .viewer = seer->id,
        .slots = seer->slots,
        .sender = seer->sender,
        .clock = seer->clock,
        .entities = ph_slots_sight(seer->slots).entities,
        .shown = shown,
        .slot_end = shown.count > 0 ? shown.slots[shown.count - 1] + 1 : 0,
        .eye_x_mm = seer->eye_mm[0],
        .eye_y_mm = seer->eye_mm[1],
        .eye_z_mm = seer->eye_mm[2],
        .sees = seer->sees,
        .audience = seer->audience,
        .settle_ticks = (uint32_t)((SETTLE_US + store->tick_us - 1) / store->tick_us),
        .own = ph_entities_find(&store->entities, seer->own),
        .are_all_there = !may_hide && store->entities.resting_count == 0,
    };
}

// Whether an entity lives, and was not hidden since the last tick.
static bool may_be_seen(const ph_send_context* context, ph_entity_index entity)
{
    const ph_entities* entities = &context->store->entities;
    return entities->spawn_order[entity] != UINT64_MAX &&
           (entities->flags[entity] & PH_SEEN_NEVER) == 0 &&
           (entities->seen_by[entity] & context->sees) != 0;
}

bool ph_send_context_is_there(const ph_send_context* context, int slot)
{
    const ph_entity_index entity = context->entities[slot];
    if (entity == PH_ENTITY_NONE || slot == 0) {
        return entity != PH_ENTITY_NONE && entity == context->own;
    }
    PH_ASSERT(!context->are_all_there || may_be_seen(context, entity));
    return context->are_all_there || may_be_seen(context, entity);
}

void ph_send_context_place(const ph_send_context* context, int slot, ph_place* at)
{
    const ph_store* store = context->store;
    const ph_replicas* replicas = &context->sender->replicas;
    const ph_entity_index entity = context->entities[slot];
    const int class_index = replicas->class_index[slot];
    PH_ASSERT(entity == PH_ENTITY_NONE || store->entities.class_index[entity] == class_index);
    // Field by field: a struct that is written in parts and copied as a whole is waited for.
    at->slot = slot;
    at->class_index = class_index;
    at->entity = entity;
    at->layout = &store->class_info.layouts.layouts[class_index];
    at->packing = &store->class_info.packings[class_index];
    at->replica = ph_replicas_at(replicas, slot);
}

// ---- the present values

// The row of what a place shows, in the table of its class.
typedef struct table_row {
    const ph_table* table;
    uint32_t index;
} table_row;

static table_row row_of(const ph_send_context* context, const ph_place* at)
{
    const ph_store* store = context->store;
    return (table_row){&store->tables[at->class_index],
                       store->entities.whereabouts[at->entity].row};
}

// In the words of the wire (packet/layout.h).
static void load_present_position(const ph_send_context* context, const ph_place* at,
                                  uint32_t* words)
{
    const int32_t* position_mm = context->store->entities.whereabouts[at->entity].position_mm;
    ph_layout_round_position(at->layout, &context->store->ground, position_mm, words);
}

// Only an entity that the client is known to have has a key there; no other leaves a trace.
static void load_reference(const ph_send_context* context, const uint32_t* id_words,
                           uint32_t* words)
{
    const ph_replicas* replicas = &context->sender->replicas;
    const ph_entity_id id = {.index1 = id_words[0], .generation = id_words[1]};
    words[0] = 0;
    words[1] = 0;
    const ph_entity_index entity = ph_entities_find(&context->store->entities, id);
    const int slot = entity != PH_ENTITY_NONE ? ph_slots_find(context->slots, entity) : -1;
    if (slot >= 0 && replicas->state[slot] == PH_REPLICA_ENTERED &&
        ph_send_context_is_there(context, slot)) {
        words[0] = (uint32_t)slot + 1;
        words[1] = ph_replicas_at(replicas, slot)->association;
    }
}

// As in packet/layout.h; of a text its version, 0 when it is empty. Not of the position.
static void load_value(const ph_send_context* context, const ph_layout* layout, table_row in,
                       int property, uint32_t* words)
{
    const uint64_t bit = UINT64_C(1) << property;
    const uint32_t* value = ph_table_value(in.table, property, in.index);
    if ((bit & layout->references) != 0) {
        load_reference(context, value, words);
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

// ---- out of range

static uint64_t distance2_of(const ph_send_context* context, const ph_place* at)
{
    const int32_t* position_mm = context->store->entities.whereabouts[at->entity].position_mm;
    return ph_distance2(position_mm[0], position_mm[1], context->eye_x_mm, context->eye_y_mm);
}

// No entity is further away than 2^31 mm in x and in y: a limit of 2^32 mm or more, whose square would
// not fit, is none.
static bool is_too_far(const ph_place* at, int property, uint64_t distance2)
{
    const uint64_t limit_mm = at->layout->described->properties[property].distance_mm;
    return limit_mm <= UINT32_MAX && distance2 > limit_mm * limit_mm;
}

bool ph_diff_is_out_of_range(const ph_send_context* context, const ph_place* at, int property)
{
    return (at->layout->limited >> property & 1) != 0 &&
           is_too_far(at, property, distance2_of(context, at));
}

static void put_out_of_range(const ph_place* at, int property, ph_diff* diff)
{
    const double limit_mm = (double)at->layout->described->properties[property].distance_mm;
    const float wake_mm2 = (float)(limit_mm * limit_mm * WAKE_SLACK);
    diff->out_of_range |= UINT64_C(1) << property;
    diff->wake_mm2 = wake_mm2 > diff->wake_mm2 ? wake_mm2 : diff->wake_mm2;
}

// ---- differences

// A value that is not the newest that was sent.
typedef struct differing {
    int property;
    uint32_t changed_tick;
    const uint32_t* words;
    const uint8_t* newest;
} differing;

static bool is_large(const ph_place* at, const differing* it)
{
    const ph_property* described = &at->layout->described->properties[it->property];
    uint32_t before[PH_VALUE_WORDS_MAX];
    ph_packing_load(at->packing, it->property, it->newest, before);
    return ph_difference_steps(described, it->words, before) >= described->significant_steps;
}

bool ph_diff_is_settled(const ph_send_context* context, const ph_place* at, uint32_t changed_tick)
{
    const uint32_t tick = context->store->tick;
    const uint32_t settle_ticks = context->settle_ticks;
    return tick - changed_tick >= settle_ticks && tick - at->replica->since_tick >= settle_ticks;
}

static void judge_difference(const ph_send_context* context, const ph_place* at,
                             const differing* it, ph_diff* diff)
{
    const ph_layout* layout = at->layout;
    const uint64_t bit = UINT64_C(1) << it->property;
    if (ph_diff_is_out_of_range(context, at, it->property)) {
        put_out_of_range(at, it->property, diff);
        return;
    }
    diff->different |= bit;
    // What is sent must not reveal when a reference changed, perhaps from one unseen entity to another.
    if ((layout->references & bit) != 0 || ph_diff_is_settled(context, at, it->changed_tick)) {
        diff->settled |= bit;
        diff->significant |= bit;
    }
    if ((layout->vivid & bit) != 0 || is_large(at, it)) {
        diff->large |= bit;
        diff->significant |= bit;
    }
}

// The newest value that was sent: mostly nothing of it is in flight.
static const uint8_t* newest_of(const ph_send_context* context, const ph_place* at, int property)
{
    const ph_sender* sender = context->sender;
    if (at->replica->in_flight == 0) {
        return at->replica->known + at->packing->offset[property];
    }
    return ph_replicas_newest(&sender->replicas, at->slot, property);
}

static void compare_position(const ph_send_context* context, const ph_place* at, uint32_t* words,
                             ph_diff* diff)
{
    const int property = at->layout->position_property;
    const uint8_t* newest = newest_of(context, at, property);
    load_present_position(context, at, words);
    if (!ph_packing_is_same_position(words, newest)) {
        const uint32_t moved_tick = context->store->entities.whereabouts[at->entity].moved_tick;
        judge_difference(context, at, &(differing){property, moved_tick, words, newest}, diff);
    } else if ((context->sender->replicas.overshoots[at->slot] & PH_OVERSHOOT_POSITION) != 0) {
        diff->different |= at->layout->position;
        diff->significant |= at->layout->position;
    }
}

// Which smooth properties the client shows wrong: these are worth being sent.
static uint64_t shown_wrong(const ph_send_context* context, const ph_place* at)
{
    const ph_shown_estimates* estimates = context->sender->replicas.estimates;
    return at->layout->smooth != 0 && estimates != NULL && estimates->smooth.wrong != NULL
               ? estimates->smooth.wrong[at->slot]
               : 0;
}

static void compare_value(const ph_send_context* context, const ph_place* at, table_row in,
                          int property, uint32_t* words, ph_diff* diff)
{
    const uint8_t* newest = newest_of(context, at, property);
    load_value(context, at->layout, in, property, words);
    if (!ph_packing_is_same(at->packing, property, words, newest)) {
        const uint32_t changed_tick = ph_table_changed(in.table, property, in.index);
        judge_difference(context, at, &(differing){property, changed_tick, words, newest}, diff);
    } else if (property == at->layout->orientation_property &&
               (context->sender->replicas.overshoots[at->slot] & PH_OVERSHOOT_ROTATION) != 0) {
        diff->different |= at->layout->orientation;
        diff->significant |= at->layout->orientation;
    } else {
        // The same as it was sent, but the client extrapolates it.
        diff->different |= shown_wrong(context, at) & UINT64_C(1) << property;
    }
    diff->significant |= diff->different & shown_wrong(context, at) & UINT64_C(1) << property;
}

void ph_diff_compare(const ph_send_context* context, const ph_place* at, uint64_t asked,
                     uint32_t* words, ph_diff* diff)
{
    const ph_layout* layout = at->layout;
    uint32_t value[PH_VALUE_WORDS_MAX];
    diff->different = 0;
    diff->significant = 0;
    diff->large = 0;
    diff->settled = 0;
    diff->out_of_range = 0;
    diff->wake_mm2 = 0.0f;
    if ((asked & layout->position) != 0) {
        compare_position(context, at, words != NULL ? words + layout->position_word : value, diff);
    }
    const uint64_t others = asked & ~layout->position;
    if (others == 0) {
        return;
    }
    const table_row in = row_of(context, at);
    for (uint64_t left = others; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        compare_value(context, at, in, property,
                      words != NULL ? words + layout->word[property] : value, diff);
    }
}

void ph_diff_keep(ph_replicas* replicas, const ph_place* at, uint64_t asked, const ph_diff* diff)
{
    ph_replica* replica = at->replica;
    uint64_t* dirty = &replicas->dirty[at->slot];
    *dirty = (*dirty & ~asked) | diff->different;
    replica->lost &= ~asked | diff->different | diff->out_of_range;
    if (((replica->out_of_range & asked) | diff->out_of_range) != 0) {
        float* wake_mm2 = &replicas->wake_mm2[at->slot];
        replica->out_of_range &= ~asked;
        *wake_mm2 = replica->out_of_range != 0 ? *wake_mm2 : 0.0f;
        *wake_mm2 = diff->wake_mm2 > *wake_mm2 ? diff->wake_mm2 : *wake_mm2;
        replica->out_of_range |= diff->out_of_range;
    }
}

// ---- enters, and into records

static bool is_initial(const ph_send_context* context, const ph_place* at, table_row in,
                       int property)
{
    const ph_property* described = &at->layout->described->properties[property];
    uint32_t words[PH_VALUE_WORDS_MAX];
    load_value(context, at->layout, in, property, words);
    return memcmp(words, described->initial, (size_t)described->words * sizeof words[0]) == 0;
}

uint64_t ph_diff_complete(const ph_send_context* context, const ph_place* at, ph_diff* rest)
{
    const table_row in = row_of(context, at);
    const uint64_t distance2 = distance2_of(context, at);
    uint64_t properties = at->layout->position;
    const uint64_t asked = ph_class_info_audience(&context->store->class_info, at->class_index,
                                                  context->audience, at->slot == 0);
    *rest = (ph_diff){0};
    for (uint64_t left = asked & ~at->layout->position; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        const uint64_t bit = UINT64_C(1) << property;
        if (is_initial(context, at, in, property)) {
            continue;
        }
        if ((at->layout->once & bit) == 0 && is_too_far(at, property, distance2)) {
            put_out_of_range(at, property, rest);
        } else {
            properties |= bit;
        }
    }
    return properties;
}

void ph_diff_fill(const ph_send_context* context, const ph_place* at, uint64_t properties,
                  uint32_t* words, uint8_t* texts)
{
    const ph_layout* layout = at->layout;
    if ((properties & layout->position) != 0) {
        load_present_position(context, at, words + layout->position_word);
    }
    const table_row in = row_of(context, at);
    for (uint64_t left = properties & ~layout->position; left != 0; left &= left - 1) {
        const int property = ph_word_lowest_bit(left);
        load_value(context, layout, in, property, words + layout->word[property]);
        if ((layout->texts >> property & 1) != 0) {
            ph_layout_store_text(layout, texts, property,
                                 ph_table_text(in.table, property, in.index));
        }
    }
}
