// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a client has yet to be told of one entity: the present values as they go on the wire,
// compared with the newest ones that were sent. Runs for every slot that a send visits; changes
// nothing.

#ifndef PH_WORLD_DUE_H
#define PH_WORLD_DUE_H

#include "world/sender.h"
#include "world/world_state.h"

// One viewer as comparing sees it.
typedef struct ph_outlook {
    const ph_world* world;
    const ph_slots* slots;
    const ph_sender* sender;
    const ph_entity_index* entities; // by slot
    ph_slot_list shown;              // slots that show somebody
    int slot_end;                    // all of those lie before: sweeps go no further
    int32_t eye_x_mm;
    int32_t eye_y_mm;
    uint32_t sees;
    uint32_t audience;
    uint32_t settle_ticks; // what has not changed for so long has settled
    ph_entity_index own;   // the viewer's own entity now, which slot 0 may not show any more
    // Somebody was hidden or shown since the last tick, or the viewer is to see others: slots may
    // show somebody who is not there.
    bool is_in_doubt;
    bool are_all_there; // whom slots show; nobody was despawned either
} ph_outlook;

ph_outlook ph_outlook_make(const ph_world* world, uint32_t viewer);

// Whether somebody lives, and was not hidden since the last tick.
static inline bool ph_outlook_may_see(const ph_outlook* outlook, ph_entity_index entity)
{
    const ph_entities* entities = &outlook->world->entities;
    return entities->spawn_order[entity] != UINT64_MAX &&
           (entities->flags[entity] & PH_SEEN_NEVER) == 0 &&
           (entities->seen_by[entity] & outlook->sees) != 0;
}

// Whether the slot shows somebody who may be told of now: who lives, and was not hidden since the
// last tick; in slot 0 the viewer's own entity, and nobody else. Always so unless is_in_doubt, or
// it was despawned.
static inline bool ph_outlook_is_there(const ph_outlook* outlook, int slot)
{
    const ph_entity_index entity = outlook->entities[slot];
    if (entity == PH_ENTITY_NONE) {
        return false;
    }
    if (slot == 0) {
        return entity == outlook->own;
    }
    PH_ASSERT(!outlook->are_all_there || ph_outlook_may_see(outlook, entity));
    return outlook->are_all_there || ph_outlook_may_see(outlook, entity);
}

// One slot, and where what it shows is kept. Made once per visit, for all who ask about the slot.
typedef struct ph_place {
    int slot;
    int class_index;
    ph_entity_index entity; // PH_ENTITY_NONE when it is leaving
    const ph_layout* layout;
    const ph_packing* packing;
    ph_dossier* dossier;
} ph_place;

static inline ph_place ph_outlook_place(const ph_outlook* outlook, int slot)
{
    const ph_world* world = outlook->world;
    const ph_knowledge* knowledge = &outlook->sender->knowledge;
    const ph_entity_index entity = outlook->entities[slot];
    const int class_index = knowledge->class_index[slot];
    PH_ASSERT(entity == PH_ENTITY_NONE || world->entities.class_index[entity] == class_index);
    return (ph_place){
        .slot = slot,
        .class_index = class_index,
        .entity = entity,
        .layout = &world->forms.layouts.layouts[class_index],
        .packing = &world->forms.packings[class_index],
        .dossier = ph_knowledge_at(knowledge, slot),
    };
}

// What differs.
typedef struct ph_due {
    uint64_t due;         // differs from the newest sent; of a position also: is shown astray
    uint64_t significant; // of these: by the property's policy, or because it has settled
    uint64_t striking;    // of these: by the property's significant difference alone
    uint64_t settled;     // of these: unchanged for a second that the viewer saw
    uint64_t beyond;      // differs, but is sent only to those who are nearer
    float wake_mm2;       // square of the largest distance among those
} ph_due;

// Compares the properties asked for. Only ENTER and ENTERED slots, not what is sent once. words,
// unless NULL, is the block of a record: the present values are left in it, but for texts.
void ph_outlook_compare_at(const ph_outlook* outlook, const ph_place* at, uint64_t asked,
                           uint32_t* words, ph_due* due);
static inline ph_due ph_outlook_compare(const ph_outlook* outlook, int slot, uint64_t asked,
                                        uint32_t* words)
{
    const ph_place at = ph_outlook_place(outlook, slot);
    ph_due due;
    ph_outlook_compare_at(outlook, &at, asked, words, &due);
    return due;
}

// Everything that an enter says: the position, and what is not at its initial value. The others of
// *rest differ, but are too far away.
uint64_t ph_outlook_complete(const ph_outlook* outlook, const ph_place* at, ph_due* rest);

// Fills the blocks of a record (wire/layout.h) with the present values of these properties.
void ph_outlook_fill(const ph_outlook* outlook, const ph_place* at, uint64_t properties,
                     uint32_t* words, uint8_t* texts);

#endif
