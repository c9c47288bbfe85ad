// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Comparing as a part of whoever asks: for visits, hundreds in a send, most of which find that somebody
// has moved, and nothing else. What they find stays in registers then. All others have due.h.

#ifndef PH_WORLD_COMPARING_H
#define PH_WORLD_COMPARING_H

#include "base/inline.h"
#include "world/due.h"
#include "world/expectation.h"

// The present position, in the words of the wire (wire/layout.h).
void ph_outlook_round_position(const ph_outlook* outlook, const ph_place* at, uint32_t* words);
static inline void ph_outlook_position(const ph_outlook* outlook, const ph_place* at,
                                       uint32_t* words)
{
    const int32_t* position_mm = outlook->world->entities.whereabouts[at->entity].position_mm;
    if (at->layout->has_ground) {
        ph_outlook_round_position(outlook, at, words);
        return;
    }
    // What is written to memory in single words and fetched in pairs is waited for.
    const uint32_t steps = UINT32_MAX << at->layout->coordinate.shift;
    words[0] = (uint32_t)position_mm[0] & steps;
    words[1] = (uint32_t)position_mm[1] & steps;
    words[2] = (uint32_t)position_mm[2] & steps;
}

// The newest value that was sent; mostly there is nothing of it on its way.
static inline const uint8_t* ph_outlook_newest(const ph_outlook* outlook, const ph_place* at,
                                               int property)
{
    const ph_sender* sender = outlook->sender;
    if (at->dossier->in_flight == 0) {
        return ph_dossier_known(at->dossier) + at->packing->offset[property];
    }
    return ph_knowledge_newest(&sender->knowledge, &sender->flight, at->packing, at->slot,
                               property);
}

// What happened before the slot took the entity, perhaps while it was hidden, counts for nothing.
static inline bool ph_outlook_is_settled(const ph_outlook* outlook, const ph_place* at,
                                         uint32_t changed_tick)
{
    const uint32_t tick = outlook->world->tick;
    const uint32_t settle_ticks = outlook->settle_ticks;
    return tick - changed_tick >= settle_ticks && tick - at->dossier->since_tick >= settle_ticks;
}

// A position that differs from the newest, where not every difference is significant at any distance.
void ph_outlook_judge_position(const ph_outlook* outlook, const ph_place* at, const uint32_t* words,
                               const uint8_t* newest, ph_due* due);
// What is not the position.
void ph_outlook_compare_others(const ph_outlook* outlook, const ph_place* at, uint64_t asked,
                               uint32_t* words, ph_due* due);

// By fields: what others fill would have to stay in memory.
static inline void ph_due_join(ph_due* due, const ph_due* other)
{
    due->due |= other->due;
    due->significant |= other->significant;
    due->striking |= other->striking;
    due->settled |= other->settled;
    due->beyond |= other->beyond;
    due->wake_mm2 = other->wake_mm2 > due->wake_mm2 ? other->wake_mm2 : due->wake_mm2;
}

PH_ALWAYS_INLINE ph_due ph_outlook_compare_position(const ph_outlook* outlook, const ph_place* at,
                                                    uint32_t* words)
{
    const ph_layout* layout = at->layout;
    const uint64_t position = layout->position;
    const uint8_t* newest = ph_outlook_newest(outlook, at, layout->position_property);
    ph_due due = {0};
    ph_outlook_position(outlook, at, words);
    if (ph_packing_is_same_position(words, newest)) {
        const ph_expectation* expectation = outlook->sender->expectation;
        due.due = ph_expectation_is_astray(expectation, at->slot) ? position : 0;
        due.significant = due.due;
    } else if (((layout->limited | ~layout->vivid) & position) != 0) {
        ph_due judged;
        ph_outlook_judge_position(outlook, at, words, newest, &judged);
        ph_due_join(&due, &judged);
    } else {
        const uint32_t moved_tick = outlook->world->entities.whereabouts[at->entity].moved_tick;
        due.due = position;
        due.significant = position;
        due.striking = position;
        due.settled = ph_outlook_is_settled(outlook, at, moved_tick) ? position : 0;
    }
    return due;
}

// As ph_outlook_compare_at().
PH_ALWAYS_INLINE ph_due ph_outlook_compare_here(const ph_outlook* outlook, const ph_place* at,
                                                uint64_t asked, uint32_t* words)
{
    const uint64_t position = at->layout->position;
    uint32_t value[3];
    ph_due due = {0};
    if ((asked & position) != 0) {
        due = ph_outlook_compare_position(
            outlook, at, words != NULL ? words + at->layout->position_word : value);
    }
    if ((asked & ~position) != 0) {
        ph_due others;
        ph_outlook_compare_others(outlook, at, asked & ~position, words, &others);
        ph_due_join(&due, &others);
    }
    return due;
}

#endif
