// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the game has not been told yet. Once per record, and once per event that it asks for.

#include "client/events.h"

#include "base/allocator.h"

#include <string.h>

#define BITSET_COUNT 3

// ---- creation

ph_result ph_events_create(ph_events* events, const ph_allocator* allocator, int capacity)
{
    PH_ASSERT(capacity > 0);

    const size_t count = (size_t)capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(capacity);
    *events = (ph_events){.capacity = capacity, .allocator = *allocator};
    events->news = ph_allocate_array(allocator, count, sizeof(uint64_t));
    events->left = ph_allocate_array(allocator, count, sizeof(ph_left));
    events->words = ph_allocate_array(allocator, BITSET_COUNT * bit_words, sizeof(uint64_t));
    if (events->news == NULL || events->left == NULL || events->words == NULL) {
        ph_events_destroy(events);
        return PH_ERROR_MEMORY;
    }
    memset(events->news, 0, count * sizeof(uint64_t));
    events->is_told = ph_bitset_make(events->words, capacity);
    events->is_leave_owed = ph_bitset_make(events->words + bit_words, capacity);
    events->is_news_owed = ph_bitset_make(events->words + 2 * bit_words, capacity);
    return PH_OK;
}

void ph_events_destroy(ph_events* events)
{
    const ph_allocator* allocator = &events->allocator;
    const size_t count = (size_t)events->capacity;
    const size_t bit_words = (size_t)ph_bitset_word_count(events->capacity);
    ph_release_array(allocator, events->words, BITSET_COUNT * bit_words, sizeof(uint64_t));
    ph_release_array(allocator, events->left, count, sizeof(ph_left));
    ph_release_array(allocator, events->news, count, sizeof(uint64_t));
    *events = (ph_events){0};
}

// ---- noting

void ph_events_enter(ph_events* events, int slot, uint64_t properties)
{
    PH_ASSERT(!ph_bitset_test(&events->is_told, slot));

    events->news[slot] = properties;
    ph_bitset_set(&events->is_news_owed, slot);
}

void ph_events_update(ph_events* events, int slot, uint64_t properties)
{
    events->news[slot] |= properties;
    ph_bitset_set(&events->is_news_owed, slot);
}

void ph_events_leave(ph_events* events, const ph_mirror* mirror, int slot)
{
    events->news[slot] = 0;
    ph_bitset_clear(&events->is_news_owed, slot);
    if (!ph_bitset_test(&events->is_told, slot)) {
        return;
    }
    ph_bitset_clear(&events->is_told, slot);
    // Who is told of has seen the LEAVE of his predecessor go out before: this place is free.
    PH_ASSERT(!ph_bitset_test(&events->is_leave_owed, slot));
    ph_bitset_set(&events->is_leave_owed, slot);
    events->left[slot] = (ph_left){
        .name = mirror->name[slot],
        .user = mirror->user[slot],
        .association = mirror->association[slot],
        .class_index = mirror->class_index[slot],
    };
}

// ---- telling

static ph_event tell_leave(ph_events* events, int slot)
{
    ph_bitset_clear(&events->is_leave_owed, slot);
    const ph_left* left = &events->left[slot];
    return (ph_event){
        .kind = PH_EVENT_LEAVE,
        .class_index = left->class_index,
        .entity = {.index1 = (uint32_t)slot + 1, .generation = left->association},
        .name = left->name,
        .user = left->user,
    };
}

static ph_event tell_news(ph_events* events, const ph_mirror* mirror, int slot)
{
    const ph_event event = {
        .kind = ph_bitset_test(&events->is_told, slot) ? PH_EVENT_UPDATE : PH_EVENT_ENTER,
        .class_index = mirror->class_index[slot],
        .entity = {.index1 = (uint32_t)slot + 1, .generation = mirror->association[slot]},
        .name = mirror->name[slot],
        .properties = events->news[slot],
        .user = mirror->user[slot],
    };
    events->news[slot] = 0;
    ph_bitset_clear(&events->is_news_owed, slot);
    ph_bitset_set(&events->is_told, slot);
    return event;
}

bool ph_events_poll(ph_events* events, const ph_mirror* mirror, ph_event* event)
{
    int slot = ph_bitset_next(&events->is_leave_owed, 0);
    if (slot < events->capacity) {
        *event = tell_leave(events, slot);
        return true;
    }
    slot = ph_bitset_next(&events->is_news_owed, 0);
    if (slot < events->capacity) {
        *event = tell_news(events, mirror, slot);
        return true;
    }
    return false;
}

// ---- validation

static bool is_slot_sound(const ph_events* events, const ph_mirror* mirror, int slot)
{
    const bool is_entered = ph_bitset_test(&mirror->is_entered, slot);
    const bool is_told = ph_bitset_test(&events->is_told, slot);
    const bool is_news_owed = ph_bitset_test(&events->is_news_owed, slot);
    // Nobody there: nothing to tell of. Somebody of whom the game was not told: it will be.
    if (!is_entered) {
        return !is_told && !is_news_owed && events->news[slot] == 0;
    }
    return (is_told || is_news_owed) && is_news_owed == (events->news[slot] != 0) &&
           (events->news[slot] & ~ph_mirror_layout(mirror, slot)->all) == 0 &&
           !(is_told && ph_bitset_test(&events->is_leave_owed, slot));
}

bool ph_events_validate(const ph_events* events, const ph_mirror* mirror)
{
    for (int i = 0; i < events->capacity; ++i) {
        if (!is_slot_sound(events, mirror, i)) {
            return false;
        }
    }
    return ph_bitset_validate(&events->is_told) && ph_bitset_validate(&events->is_leave_owed) &&
           ph_bitset_validate(&events->is_news_owed);
}
