// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The slots as the client has them, and the events that the game has yet to get. Once per record, and
// once per event that the game asks for; client_entities.h has the drawings.

#include "client/client_entities.h"

#include "base/allocator.h"
#include "packet/header.h"

#include <string.h>

// Names come from our own server: they need no protection from collisions, and slots are few.
#define SLOT_OF_KEY_SEED UINT64_C(0x6D6972726F72)
#define EVENT_BITSETS 3

// ---- entities: creation

static bool allocate_entities(ph_client_entities* entities)
{
    const ph_allocator* allocator = &entities->allocator;
    const ph_layouts* layouts = entities->layouts;
    const size_t count = (size_t)entities->capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(entities->capacity);
    entities->association = ph_allocate_array(allocator, count, sizeof(uint32_t));
    entities->key = ph_allocate_array(allocator, count, sizeof(uint64_t));
    entities->class_index = ph_allocate_array(allocator, count, sizeof(uint8_t));
    entities->user = ph_allocate_array(allocator, count, sizeof(void*));
    entities->words =
        ph_allocate_array(allocator, count, (size_t)layouts->word_count_max * sizeof(uint32_t));
    entities->entered_words = ph_allocate_array(allocator, bit_words, sizeof(uint64_t));
    bool is_complete = entities->association != NULL && entities->key != NULL &&
                       entities->class_index != NULL && entities->user != NULL &&
                       entities->words != NULL && entities->entered_words != NULL;
    if (layouts->text_bytes_max > 0) {
        entities->texts = ph_allocate_array(allocator, count, layouts->text_bytes_max);
        is_complete = is_complete && entities->texts != NULL;
    }
    return is_complete;
}

ph_result ph_client_entities_create(ph_client_entities* entities, const ph_layouts* layouts,
                                    const ph_allocator* allocator, int capacity)
{
    PH_ASSERT(capacity > 0);

    *entities =
        (ph_client_entities){.layouts = layouts, .capacity = capacity, .allocator = *allocator};
    if (!allocate_entities(entities) || ph_hash_map_create(&entities->slot_of_key, allocator,
                                                           capacity, SLOT_OF_KEY_SEED) != PH_OK) {
        ph_client_entities_destroy(entities);
        return PH_ERROR_MEMORY;
    }
    ph_client_entities_begin(entities, 0);
    return PH_OK;
}

void ph_client_entities_destroy(ph_client_entities* entities)
{
    const ph_allocator* allocator = &entities->allocator;
    const size_t count = (size_t)entities->capacity;
    if (count > 0) {
        const ph_layouts* layouts = entities->layouts;
        ph_hash_map_destroy(&entities->slot_of_id);
        ph_release_array(allocator, entities->ids, count, sizeof(ph_entity_id));
        ph_hash_map_destroy(&entities->slot_of_key);
        ph_release_array(allocator, entities->texts, count, layouts->text_bytes_max);
        ph_release_array(allocator, entities->entered_words,
                         (size_t)ph_bitset_word_count(entities->capacity), sizeof(uint64_t));
        ph_release_array(allocator, entities->words, count,
                         (size_t)layouts->word_count_max * sizeof(uint32_t));
        ph_release_array(allocator, entities->user, count, sizeof(void*));
        ph_release_array(allocator, entities->class_index, count, sizeof(uint8_t));
        ph_release_array(allocator, entities->key, count, sizeof(uint64_t));
        ph_release_array(allocator, entities->association, count, sizeof(uint32_t));
    }
    *entities = (ph_client_entities){0};
}

ph_result ph_client_entities_keep_ids(ph_client_entities* entities, uint32_t id_base)
{
    entities->id_base = id_base;
    entities->ids =
        ph_allocate_zeroed(&entities->allocator, (size_t)entities->capacity * sizeof(ph_entity_id));
    return entities->ids != NULL ? ph_hash_map_create(&entities->slot_of_id, &entities->allocator,
                                                      entities->capacity, SLOT_OF_KEY_SEED)
                                 : PH_ERROR_MEMORY;
}

void ph_client_entities_begin(ph_client_entities* entities, int slot_count)
{
    PH_ASSERT(slot_count >= 0 && slot_count <= entities->capacity);

    entities->slot_count = slot_count;
    entities->entered_count = 0;
    entities->is_entered = ph_bitset_make(entities->entered_words, entities->capacity);
    memset(entities->association, 0, (size_t)entities->capacity * sizeof(uint32_t));
    ph_hash_map_clear(&entities->slot_of_key);
    if (entities->ids != NULL) {
        ph_hash_map_clear(&entities->slot_of_id);
    }
}

// ---- entities: questions

const ph_layout* ph_client_entities_layout(const ph_client_entities* entities, int slot)
{
    return &entities->layouts->layouts[entities->class_index[slot]];
}

uint32_t* ph_client_entities_words(const ph_client_entities* entities, int slot)
{
    return entities->words + (size_t)slot * (size_t)entities->layouts->word_count_max;
}

uint8_t* ph_client_entities_texts(const ph_client_entities* entities, int slot)
{
    return entities->texts != NULL
               ? entities->texts + (size_t)slot * entities->layouts->text_bytes_max
               : NULL;
}

ph_entity_id ph_client_entities_id(const ph_client_entities* entities, int slot)
{
    return entities->ids != NULL ? entities->ids[slot]
                                 : (ph_entity_id){.index1 = (uint32_t)slot + 1,
                                                  .generation = entities->association[slot]};
}

static uint64_t key_of_id(ph_entity_id id)
{
    return (uint64_t)id.index1 << 32 | id.generation;
}

int ph_client_entities_slot_of(const ph_client_entities* entities, ph_entity_id entity)
{
    if (entities->ids != NULL) {
        uint32_t found;
        return ph_hash_map_try_find(&entities->slot_of_id, key_of_id(entity), &found) ? (int)found
                                                                                      : -1;
    }
    if (entity.index1 == 0 || entity.index1 > (uint32_t)entities->slot_count) {
        return -1;
    }
    const int slot = (int)(entity.index1 - 1);
    return ph_bitset_test(&entities->is_entered, slot) &&
                   entities->association[slot] == entity.generation
               ? slot
               : -1;
}

int ph_client_entities_find(const ph_client_entities* entities, uint64_t key)
{
    uint32_t slot;
    return ph_hash_map_try_find(&entities->slot_of_key, key, &slot) ? (int)slot : -1;
}

// ---- entities: changes

void ph_client_entities_update(ph_client_entities* entities, const ph_record* record)
{
    const int slot = record->slot;
    PH_ASSERT(ph_bitset_test(&entities->is_entered, slot));

    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    uint32_t* words = ph_client_entities_words(entities, slot);
    for (uint64_t left = record->properties; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_property* property = &layout->described->properties[p];
        if (property->is_text) {
            ph_layout_store_text(layout, ph_client_entities_texts(entities, slot), p,
                                 ph_layout_text(layout, record->texts, p));
        } else {
            memcpy(words + layout->word[p], record->words + layout->word[p],
                   (size_t)property->words * sizeof(uint32_t));
        }
    }
}

// What an enter of the same entity sets to its initial value, because it does not mention it.
static uint64_t reset_properties(const ph_client_entities* entities, const ph_record* record)
{
    const ph_layout* layout = ph_client_entities_layout(entities, record->slot);
    const uint32_t* words = ph_client_entities_words(entities, record->slot);
    const uint8_t* texts = ph_client_entities_texts(entities, record->slot);
    uint64_t properties = 0;
    for (uint64_t left = layout->all & ~record->properties; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        properties |= (uint64_t)!ph_layout_is_initial(layout, words, texts, p) << p;
    }
    return properties;
}

static void occupy(ph_client_entities* entities, const ph_record* record)
{
    const int slot = record->slot;
    entities->association[slot] = record->association;
    entities->key[slot] = record->key;
    entities->class_index[slot] = record->class_index;
    entities->user[slot] = NULL;
    ph_bitset_set(&entities->is_entered, slot);
    ++entities->entered_count;
    const bool has_room = ph_hash_map_insert(&entities->slot_of_key, record->key, (uint32_t)slot);
    PH_ASSERT(has_room);
    (void)has_room;
    if (entities->ids != NULL) {
        entities->ids[slot] = (ph_entity_id){.index1 = (uint32_t)slot + 1,
                                             .generation = entities->id_base + record->association};
        ph_hash_map_insert(&entities->slot_of_id, key_of_id(entities->ids[slot]), (uint32_t)slot);
    }
}

void ph_client_entities_rename(ph_client_entities* entities, int slot, ph_entity_id id, void* user)
{
    PH_ASSERT(entities->ids != NULL && ph_bitset_test(&entities->is_entered, slot));

    ph_hash_map_remove(&entities->slot_of_id, key_of_id(entities->ids[slot]));
    entities->ids[slot] = id;
    entities->user[slot] = user;
    ph_hash_map_insert(&entities->slot_of_id, key_of_id(id), (uint32_t)slot);
}

// Numbers of slots mean nothing beside those of another session.
uint64_t ph_client_entities_compare(const ph_client_entities* a, int slot_a,
                                    const ph_client_entities* b, int slot_b)
{
    const ph_layout* layout = ph_client_entities_layout(a, slot_a);
    const uint32_t* words_a = ph_client_entities_words(a, slot_a);
    const uint32_t* words_b = ph_client_entities_words(b, slot_b);
    uint64_t differ = layout->references;
    for (uint64_t left = layout->all & ~layout->references; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_property* property = &layout->described->properties[p];
        bool is_same;
        if (property->is_text) {
            const ph_text text_a = ph_layout_text(layout, ph_client_entities_texts(a, slot_a), p);
            const ph_text text_b = ph_layout_text(layout, ph_client_entities_texts(b, slot_b), p);
            is_same = text_a.length == text_b.length &&
                      memcmp(text_a.bytes, text_b.bytes, text_a.length) == 0;
        } else {
            is_same = memcmp(words_a + layout->word[p], words_b + layout->word[p],
                             (size_t)property->words * sizeof(uint32_t)) == 0;
        }
        differ |= (uint64_t)!is_same << p;
    }
    return differ;
}

uint64_t ph_client_entities_enter(ph_client_entities* entities, const ph_record* record)
{
    const int slot = record->slot;
    uint64_t properties = record->properties;
    if (ph_bitset_test(&entities->is_entered, slot)) {
        PH_ASSERT(entities->association[slot] == record->association);
        properties |= reset_properties(entities, record);
    } else {
        occupy(entities, record);
    }
    ph_layout_reset(ph_client_entities_layout(entities, slot),
                    ph_client_entities_words(entities, slot),
                    ph_client_entities_texts(entities, slot));
    ph_client_entities_update(entities, record);
    return properties;
}

void ph_client_entities_leave(ph_client_entities* entities, int slot)
{
    PH_ASSERT(ph_bitset_test(&entities->is_entered, slot));

    ph_bitset_clear(&entities->is_entered, slot);
    --entities->entered_count;
    ph_hash_map_remove(&entities->slot_of_key, entities->key[slot]);
    if (entities->ids != NULL) {
        ph_hash_map_remove(&entities->slot_of_id, key_of_id(entities->ids[slot]));
    }
}

void ph_client_entities_skip(ph_client_entities* entities, int slot)
{
    PH_ASSERT(!ph_bitset_test(&entities->is_entered, slot));

    ++entities->association[slot];
}

// ---- entities: validation

static bool are_texts_sound(const ph_client_entities* entities, int slot)
{
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    for (uint64_t left = layout->texts; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_text text = ph_layout_text(layout, ph_client_entities_texts(entities, slot), p);
        const ph_property* property = &layout->described->properties[p];
        if (ph_property_check_text(property, text.bytes, text.length) != PH_OK) {
            return false;
        }
    }
    return true;
}

// A reference names a slot that has shown that entity, now or before.
static bool are_client_references_sound(const ph_client_entities* entities, int slot)
{
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    for (uint64_t left = layout->references; left != 0; left &= left - 1) {
        const uint32_t* words =
            ph_client_entities_words(entities, slot) + layout->word[ph_word_lowest_bit(left)];
        if (words[0] == 0
                ? words[1] != 0
                : words[0] > (uint32_t)entities->slot_count ||
                      ph_sequence_is_ahead(words[1], entities->association[words[0] - 1])) {
            return false;
        }
    }
    return true;
}

static bool is_position_sound(const ph_client_entities* entities, int slot)
{
    const ph_layout* layout = ph_client_entities_layout(entities, slot);
    const ph_property* property = &layout->described->properties[layout->described->position];
    const uint32_t* words =
        ph_client_entities_words(entities, slot) + layout->word[layout->described->position];
    const uint32_t dropped = ~(UINT32_MAX << property->finest_shift);
    // With a ground, z is the height of a layer, or whatever its escape keeps.
    const bool is_z_plain = property->def.ground_tolerance_mm == 0;
    return (words[0] & dropped) == 0 && (words[1] & dropped) == 0 &&
           (!is_z_plain || (words[2] & dropped) == 0);
}

static bool is_client_slot_sound(const ph_client_entities* entities, int slot)
{
    return slot < entities->slot_count && entities->association[slot] != 0 &&
           entities->class_index[slot] < entities->layouts->count &&
           ph_client_entities_find(entities, entities->key[slot]) == slot &&
           ph_client_entities_slot_of(entities, ph_client_entities_id(entities, slot)) == slot &&
           are_texts_sound(entities, slot) && are_client_references_sound(entities, slot) &&
           is_position_sound(entities, slot);
}

bool ph_client_entities_validate(const ph_client_entities* entities)
{
    const ph_bitset* entered = &entities->is_entered;
    for (int i = ph_bitset_next(entered, 0); i < entered->bit_count;
         i = ph_bitset_next(entered, i + 1)) {
        if (!is_client_slot_sound(entities, i)) {
            return false;
        }
    }
    for (int i = entities->slot_count; i < entities->capacity; ++i) {
        if (entities->association[i] != 0) {
            return false;
        }
    }
    return entities->slot_count <= entities->capacity && ph_bitset_validate(entered) &&
           ph_bitset_count(entered) == entities->entered_count &&
           entities->slot_of_key.count == entities->entered_count &&
           (entities->ids == NULL || entities->slot_of_id.count == entities->entered_count) &&
           ph_hash_map_validate(&entities->slot_of_key);
}

// ---- events: creation

ph_result ph_events_create(ph_events* events, const ph_allocator* allocator, int capacity)
{
    PH_ASSERT(capacity > 0);

    const size_t count = (size_t)capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(capacity);
    *events = (ph_events){.capacity = capacity, .allocator = *allocator};
    events->changed = ph_allocate_array(allocator, count, sizeof(uint64_t));
    events->left = ph_allocate_array(allocator, count, sizeof(ph_left));
    events->words = ph_allocate_array(allocator, EVENT_BITSETS * bit_words, sizeof(uint64_t));
    if (events->changed == NULL || events->left == NULL || events->words == NULL) {
        ph_events_destroy(events);
        return PH_ERROR_MEMORY;
    }
    memset(events->changed, 0, count * sizeof(uint64_t));
    events->is_announced = ph_bitset_make(events->words, capacity);
    events->is_leave_owed = ph_bitset_make(events->words + bit_words, capacity);
    events->is_change_owed = ph_bitset_make(events->words + 2 * bit_words, capacity);
    return PH_OK;
}

void ph_events_destroy(ph_events* events)
{
    const ph_allocator* allocator = &events->allocator;
    const size_t count = (size_t)events->capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(events->capacity);
    ph_release_array(allocator, events->words, EVENT_BITSETS * bit_words, sizeof(uint64_t));
    ph_release_array(allocator, events->left, count, sizeof(ph_left));
    ph_release_array(allocator, events->changed, count, sizeof(uint64_t));
    *events = (ph_events){0};
}

// ---- events: changes

void ph_events_enter(ph_events* events, int slot, uint64_t properties)
{
    PH_ASSERT(!ph_bitset_test(&events->is_announced, slot));

    events->changed[slot] = properties;
    ph_bitset_set(&events->is_change_owed, slot);
}

void ph_events_update(ph_events* events, int slot, uint64_t properties)
{
    events->changed[slot] |= properties;
    ph_bitset_set(&events->is_change_owed, slot);
}

void ph_events_leave(ph_events* events, const ph_client_entities* entities, int slot)
{
    events->changed[slot] = 0;
    ph_bitset_clear(&events->is_change_owed, slot);
    if (!ph_bitset_test(&events->is_announced, slot)) {
        return;
    }
    ph_bitset_clear(&events->is_announced, slot);
    // Its predecessor's LEAVE went out before its own ENTER did: this place is free.
    PH_ASSERT(!ph_bitset_test(&events->is_leave_owed, slot));
    ph_bitset_set(&events->is_leave_owed, slot);
    events->left[slot] = (ph_left){
        .key = entities->key[slot],
        .user = entities->user[slot],
        .id = ph_client_entities_id(entities, slot),
        .class_index = entities->class_index[slot],
    };
}

// An announced entity may owe nothing; one that is not is still to be announced.
void ph_events_inherit(ph_events* events, int slot, ph_events* from, int from_slot,
                       uint64_t properties)
{
    if (ph_bitset_test(&from->is_announced, from_slot)) {
        ph_bitset_set(&events->is_announced, slot);
        events->changed[slot] = properties | from->changed[from_slot];
        if (events->changed[slot] == 0) {
            ph_bitset_clear(&events->is_change_owed, slot);
        }
    }
    ph_bitset_clear(&from->is_announced, from_slot);
    ph_bitset_clear(&from->is_change_owed, from_slot);
    from->changed[from_slot] = 0;
}

bool ph_events_is_empty(const ph_events* events)
{
    return ph_bitset_next(&events->is_leave_owed, 0) >= events->capacity &&
           ph_bitset_next(&events->is_change_owed, 0) >= events->capacity;
}

// ---- events: what the game gets

static ph_event take_leave(ph_events* events, int slot)
{
    ph_bitset_clear(&events->is_leave_owed, slot);
    const ph_left* left = &events->left[slot];
    return (ph_event){
        .kind = PH_EVENT_LEAVE,
        .class_index = left->class_index,
        .entity = left->id,
        .key = left->key,
        .user = left->user,
    };
}

static ph_event take_change(ph_events* events, const ph_client_entities* entities, int slot)
{
    const ph_event event = {
        .kind = ph_bitset_test(&events->is_announced, slot) ? PH_EVENT_UPDATE : PH_EVENT_ENTER,
        .class_index = entities->class_index[slot],
        .entity = ph_client_entities_id(entities, slot),
        .key = entities->key[slot],
        .properties = events->changed[slot],
        .user = entities->user[slot],
    };
    events->changed[slot] = 0;
    ph_bitset_clear(&events->is_change_owed, slot);
    ph_bitset_set(&events->is_announced, slot);
    return event;
}

bool ph_events_poll(ph_events* events, const ph_client_entities* entities, ph_event* event)
{
    int slot = ph_bitset_next(&events->is_leave_owed, 0);
    if (slot < events->capacity) {
        *event = take_leave(events, slot);
        return true;
    }
    slot = ph_bitset_next(&events->is_change_owed, 0);
    if (slot < events->capacity) {
        *event = take_change(events, entities, slot);
        return true;
    }
    return false;
}

// ---- events: validation

static bool are_slot_events_sound(const ph_events* events, const ph_client_entities* entities,
                                  int slot)
{
    const bool is_entered = ph_bitset_test(&entities->is_entered, slot);
    const bool is_announced = ph_bitset_test(&events->is_announced, slot);
    const bool is_change_owed = ph_bitset_test(&events->is_change_owed, slot);
    // An empty slot owes nothing. An entity that the game does not know is owed as an ENTER.
    if (!is_entered) {
        return !is_announced && !is_change_owed && events->changed[slot] == 0;
    }
    return (is_announced || is_change_owed) && is_change_owed == (events->changed[slot] != 0) &&
           (events->changed[slot] & ~ph_client_entities_layout(entities, slot)->all) == 0 &&
           !(is_announced && ph_bitset_test(&events->is_leave_owed, slot));
}

bool ph_events_validate(const ph_events* events, const ph_client_entities* entities)
{
    for (int i = 0; i < events->capacity; ++i) {
        if (!are_slot_events_sound(events, entities, i)) {
            return false;
        }
    }
    return ph_bitset_validate(&events->is_announced) &&
           ph_bitset_validate(&events->is_leave_owed) &&
           ph_bitset_validate(&events->is_change_owed);
}
