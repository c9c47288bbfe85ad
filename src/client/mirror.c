// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The slots as the client has them. Once per record; mirror.h has the drawing.

#include "client/mirror.h"

#include "base/allocator.h"
#include "wire/ack.h"

#include <string.h>

// Names come from our own server: nobody gains by making them collide, and slots are few.
#define NAME_SEED UINT64_C(0x6D6972726F72)

// ---- creation

static size_t row_words(const ph_layouts* layouts)
{
    return (size_t)layouts->word_count_max;
}

static bool allocate_arrays(ph_mirror* mirror)
{
    const ph_allocator* allocator = &mirror->allocator;
    const ph_layouts* layouts = mirror->layouts;
    const size_t count = (size_t)mirror->capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(mirror->capacity);
    mirror->association = ph_allocate_array(allocator, count, sizeof(uint32_t));
    mirror->name = ph_allocate_array(allocator, count, sizeof(uint64_t));
    mirror->class_index = ph_allocate_array(allocator, count, sizeof(uint8_t));
    mirror->user = ph_allocate_array(allocator, count, sizeof(void*));
    mirror->words = ph_allocate_array(allocator, count, row_words(layouts) * sizeof(uint32_t));
    mirror->entered_words = ph_allocate_array(allocator, bit_words, sizeof(uint64_t));
    bool is_complete = mirror->association != NULL && mirror->name != NULL &&
                       mirror->class_index != NULL && mirror->user != NULL &&
                       mirror->words != NULL && mirror->entered_words != NULL;
    if (layouts->text_bytes_max > 0) {
        mirror->texts = ph_allocate_array(allocator, count, layouts->text_bytes_max);
        is_complete = is_complete && mirror->texts != NULL;
    }
    return is_complete;
}

ph_result ph_mirror_create(ph_mirror* mirror, const ph_layouts* layouts,
                           const ph_allocator* allocator, int capacity)
{
    PH_ASSERT(capacity > 0);

    *mirror = (ph_mirror){.layouts = layouts, .capacity = capacity, .allocator = *allocator};
    if (!allocate_arrays(mirror) ||
        ph_hash_map_create(&mirror->slot_of_name, allocator, capacity, NAME_SEED) != PH_OK) {
        ph_mirror_destroy(mirror);
        return PH_ERROR_MEMORY;
    }
    ph_mirror_begin(mirror, 0);
    return PH_OK;
}

void ph_mirror_destroy(ph_mirror* mirror)
{
    const ph_allocator* allocator = &mirror->allocator;
    const size_t count = (size_t)mirror->capacity;
    if (count > 0) {
        const ph_layouts* layouts = mirror->layouts;
        ph_hash_map_destroy(&mirror->slot_of_name);
        ph_release_array(allocator, mirror->texts, count, layouts->text_bytes_max);
        ph_release_array(allocator, mirror->entered_words,
                         (size_t)ph_bitset_word_count(mirror->capacity), sizeof(uint64_t));
        ph_release_array(allocator, mirror->words, count, row_words(layouts) * sizeof(uint32_t));
        ph_release_array(allocator, mirror->user, count, sizeof(void*));
        ph_release_array(allocator, mirror->class_index, count, sizeof(uint8_t));
        ph_release_array(allocator, mirror->name, count, sizeof(uint64_t));
        ph_release_array(allocator, mirror->association, count, sizeof(uint32_t));
    }
    *mirror = (ph_mirror){0};
}

void ph_mirror_begin(ph_mirror* mirror, int slot_count)
{
    PH_ASSERT(slot_count >= 0 && slot_count <= mirror->capacity);

    mirror->slot_count = slot_count;
    mirror->entered_count = 0;
    mirror->is_entered = ph_bitset_make(mirror->entered_words, mirror->capacity);
    memset(mirror->association, 0, (size_t)mirror->capacity * sizeof(uint32_t));
    ph_hash_map_clear(&mirror->slot_of_name);
}

// ---- questions

uint32_t* ph_mirror_words(const ph_mirror* mirror, int slot)
{
    return mirror->words + (size_t)slot * row_words(mirror->layouts);
}

uint8_t* ph_mirror_texts(const ph_mirror* mirror, int slot)
{
    return mirror->texts != NULL ? mirror->texts + (size_t)slot * mirror->layouts->text_bytes_max
                                 : NULL;
}

int ph_mirror_slot_of(const ph_mirror* mirror, ph_entity_id entity)
{
    if (entity.index1 == 0 || entity.index1 > (uint32_t)mirror->slot_count) {
        return -1;
    }
    const int slot = (int)(entity.index1 - 1);
    return ph_bitset_test(&mirror->is_entered, slot) &&
                   mirror->association[slot] == entity.generation
               ? slot
               : -1;
}

int ph_mirror_find(const ph_mirror* mirror, uint64_t name)
{
    uint32_t slot;
    return ph_hash_map_try_find(&mirror->slot_of_name, name, &slot) ? (int)slot : -1;
}

// ---- changes

// Copies what the record tells; the rest of the slot stays as it is.
static void copy_told(ph_mirror* mirror, int slot, const ph_record* record)
{
    const ph_layout* layout = ph_mirror_layout(mirror, slot);
    uint32_t* words = ph_mirror_words(mirror, slot);
    for (uint64_t left = record->properties; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_property* property = &layout->described->properties[p];
        if (property->is_text) {
            ph_layout_store_text(layout, ph_mirror_texts(mirror, slot), p,
                                 ph_layout_text(layout, record->texts, p));
        } else {
            memcpy(words + layout->word[p], record->words + layout->word[p],
                   (size_t)property->words * sizeof(uint32_t));
        }
    }
}

// What an enter of the same entity takes back to the beginning, because it does not mention it.
static uint64_t taken_back(const ph_mirror* mirror, const ph_record* record)
{
    const ph_layout* layout = ph_mirror_layout(mirror, record->slot);
    const uint32_t* words = ph_mirror_words(mirror, record->slot);
    const uint8_t* texts = ph_mirror_texts(mirror, record->slot);
    uint64_t properties = 0;
    for (uint64_t left = layout->all & ~record->properties; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        properties |= (uint64_t)!ph_layout_is_initial(layout, words, texts, p) << p;
    }
    return properties;
}

static void move_in(ph_mirror* mirror, const ph_record* record)
{
    const int slot = record->slot;
    mirror->association[slot] = record->association;
    mirror->name[slot] = record->name;
    mirror->class_index[slot] = record->class_index;
    mirror->user[slot] = NULL;
    ph_bitset_set(&mirror->is_entered, slot);
    ++mirror->entered_count;
    const bool has_room = ph_hash_map_insert(&mirror->slot_of_name, record->name, (uint32_t)slot);
    PH_ASSERT(has_room);
    (void)has_room;
}

uint64_t ph_mirror_enter(ph_mirror* mirror, const ph_record* record)
{
    const int slot = record->slot;
    uint64_t properties = record->properties;
    if (ph_bitset_test(&mirror->is_entered, slot)) {
        PH_ASSERT(mirror->association[slot] == record->association);
        properties |= taken_back(mirror, record);
    } else {
        move_in(mirror, record);
    }
    ph_layout_reset(ph_mirror_layout(mirror, slot), ph_mirror_words(mirror, slot),
                    ph_mirror_texts(mirror, slot));
    copy_told(mirror, slot, record);
    return properties;
}

void ph_mirror_update(ph_mirror* mirror, const ph_record* record)
{
    PH_ASSERT(ph_bitset_test(&mirror->is_entered, record->slot));

    copy_told(mirror, record->slot, record);
}

void ph_mirror_leave(ph_mirror* mirror, int slot)
{
    PH_ASSERT(ph_bitset_test(&mirror->is_entered, slot));

    ph_bitset_clear(&mirror->is_entered, slot);
    --mirror->entered_count;
    ph_hash_map_remove(&mirror->slot_of_name, mirror->name[slot]);
}

void ph_mirror_skip(ph_mirror* mirror, int slot)
{
    PH_ASSERT(!ph_bitset_test(&mirror->is_entered, slot));

    ++mirror->association[slot];
}

// ---- validation

static bool are_texts_sound(const ph_mirror* mirror, int slot)
{
    const ph_layout* layout = ph_mirror_layout(mirror, slot);
    for (uint64_t left = layout->texts; left != 0; left &= left - 1) {
        const int p = ph_word_lowest_bit(left);
        const ph_text text = ph_layout_text(layout, ph_mirror_texts(mirror, slot), p);
        const ph_property* property = &layout->described->properties[p];
        if (ph_property_check_text(property, text.bytes, text.length) != PH_OK) {
            return false;
        }
    }
    return true;
}

// A reference names a slot that has shown that entity, now or before.
static bool are_references_sound(const ph_mirror* mirror, int slot)
{
    const ph_layout* layout = ph_mirror_layout(mirror, slot);
    for (uint64_t left = layout->references; left != 0; left &= left - 1) {
        const uint32_t* words =
            ph_mirror_words(mirror, slot) + layout->word[ph_word_lowest_bit(left)];
        if (words[0] == 0 ? words[1] != 0
                          : words[0] > (uint32_t)mirror->slot_count ||
                                ph_number_is_ahead(words[1], mirror->association[words[0] - 1])) {
            return false;
        }
    }
    return true;
}

static bool is_position_sound(const ph_mirror* mirror, int slot)
{
    const ph_layout* layout = ph_mirror_layout(mirror, slot);
    const ph_property* property = &layout->described->properties[layout->described->position];
    const uint32_t* words =
        ph_mirror_words(mirror, slot) + layout->word[layout->described->position];
    const uint32_t dropped = ~(UINT32_MAX << property->coordinate.shift);
    // With a ground, z is the height of a layer, or whatever its escape keeps.
    const bool is_z_plain = property->def.ground_tolerance_mm == 0;
    return (words[0] & dropped) == 0 && (words[1] & dropped) == 0 &&
           (!is_z_plain || (words[2] & dropped) == 0);
}

static bool is_slot_sound(const ph_mirror* mirror, int slot)
{
    return slot < mirror->slot_count && mirror->association[slot] != 0 &&
           mirror->class_index[slot] < mirror->layouts->count &&
           ph_mirror_find(mirror, mirror->name[slot]) == slot && are_texts_sound(mirror, slot) &&
           are_references_sound(mirror, slot) && is_position_sound(mirror, slot);
}

bool ph_mirror_validate(const ph_mirror* mirror)
{
    const ph_bitset* entered = &mirror->is_entered;
    for (int i = ph_bitset_next(entered, 0); i < entered->bit_count;
         i = ph_bitset_next(entered, i + 1)) {
        if (!is_slot_sound(mirror, i)) {
            return false;
        }
    }
    for (int i = mirror->slot_count; i < mirror->capacity; ++i) {
        if (mirror->association[i] != 0) {
            return false;
        }
    }
    return mirror->slot_count <= mirror->capacity && ph_bitset_validate(entered) &&
           ph_bitset_count(entered) == mirror->entered_count &&
           mirror->slot_of_name.count == mirror->entered_count &&
           ph_hash_map_validate(&mirror->slot_of_name);
}
