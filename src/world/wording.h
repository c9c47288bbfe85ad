// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// From a slot to the record that tells of it, and to the item that remembers the record while it is
// on its way. When it is chosen; and again, with the same result, when it is written, if that was not
// done at once.

#ifndef PH_WORLD_WORDING_H
#define PH_WORLD_WORDING_H

#include "wire/coded.h"
#include "world/due.h"

#include <string.h>

// All texts of an entity; the schema sees to it that an enter fits a datagram.
#define PH_WORDING_TEXT_BYTES 1536

// One slot, and what to say of it.
typedef struct ph_choice {
    int slot;
    ph_record_kind kind;
    uint64_t properties; // of an enter all that it says, of a leave 0
    bool is_significant;
    bool has_words; // updates: the block has them already, but for texts
    int coarse;     // pinhole, updates: of the position, 0 or what ph_wording_coarse() says
} ph_choice;

#define PH_RECORD_WORDS_MAX (PH_PROPERTIES_MAX * PH_VALUE_WORDS_MAX)

// The blocks of one record. What is expected of the position of a slot, in pinhole datagrams, serves
// all questions about it until the next slot's turn.
typedef struct ph_wording {
    const ph_outlook* outlook;
    ph_place at;            // of the slot whose turn it is; its slot is -1 before the first
    int forecast_slot;      // -1: of nobody
    ph_coded_record update; // the last one that was made as a difference
    ph_forecast forecast;
    uint32_t words[PH_RECORD_WORDS_MAX];
    uint8_t texts[PH_WORDING_TEXT_BYTES];
} ph_wording;

void ph_wording_init(ph_wording* wording, const ph_outlook* outlook);

// It is this slot's turn.
static inline const ph_place* ph_wording_move(ph_wording* wording, int slot)
{
    wording->at = ph_outlook_place(wording->outlook, slot);
    return &wording->at;
}

// Where the slot is that records are made of.
static inline const ph_place* ph_wording_at(ph_wording* wording, int slot)
{
    if (PH_UNLIKELY(wording->at.slot != slot)) {
        ph_wording_move(wording, slot);
    }
    return &wording->at;
}

// Whether the record says that the entity was somewhere else just now.
static inline bool ph_wording_has_jumped(const ph_outlook* outlook, const ph_place* at,
                                         const ph_choice* choice, ph_record_kind kind)
{
    const ph_sender* sender = outlook->sender;
    const uint16_t jumps = outlook->world->entities.whereabouts[at->entity].jumps;
    if (kind == PH_RECORD_ENTER) {
        return ph_knowledge_has_jumped(&sender->knowledge, &sender->flight, at->slot, jumps);
    }
    return (choice->properties & at->layout->position) != 0 && jumps != at->dossier->jumps;
}

// What all records of a kind have in common: as yet of nobody, and saying nothing.
static inline void ph_wording_blank(ph_wording* wording, ph_record_kind kind, ph_record* made)
{
    // One by one: what is put together elsewhere in pieces and copied as a whole is waited for.
    made->name = 0;
    made->kind = (uint8_t)kind;
    made->is_jump = false;
    memset(made->velocity, 0, sizeof made->velocity);
    made->words = wording->words;
    made->texts = wording->texts;
}

// Then who, and what, with its words unless they are there already. kind: the choice's.
static inline void ph_wording_fill(ph_wording* wording, const ph_place* at, const ph_choice* choice,
                                   ph_record_kind kind, ph_record* made)
{
    const ph_outlook* outlook = wording->outlook;
    made->properties = choice->properties;
    made->association = at->dossier->association;
    made->slot = (uint16_t)at->slot;
    made->class_index = (uint8_t)at->class_index;
    if (kind == PH_RECORD_LEAVE) {
        return;
    }
    if (kind == PH_RECORD_ENTER) {
        made->name = outlook->world->entities.name[at->entity];
    }
    made->is_jump = ph_wording_has_jumped(outlook, at, choice, kind);
    const uint64_t missing =
        choice->has_words ? choice->properties & at->layout->texts : choice->properties;
    if (PH_UNLIKELY(missing != 0)) {
        ph_outlook_fill(outlook, at, missing, wording->words, wording->texts);
    }
}

// The record as the classic profile has it. Its blocks are borrowed until the next one is made.
void ph_wording_record(ph_wording* wording, const ph_choice* choice, ph_record* record);

// ---- as a difference

// A leave or an enter, without the one before.
void ph_wording_change(ph_wording* wording, const ph_coded_frame* frame, const ph_choice* choice,
                       ph_coded_record* made);

static inline const ph_forecast* ph_wording_forecast(ph_wording* wording,
                                                     const ph_coded_frame* frame, int slot)
{
    if (wording->forecast_slot != slot) {
        const ph_sender* sender = wording->outlook->sender;
        ph_coded_forecast(frame, &sender->baselines.slots[slot], &wording->forecast);
        wording->forecast_slot = slot;
    }
    return &wording->forecast;
}

// The position in the block becomes as coarse as that, where it is not too coarse for it. @return
// Whether it is not quite the present one.
bool ph_wording_round(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                      ph_coded_record* made);

// An update as a difference to the baseline; as coarse as was chosen, or exact where that would be too
// coarse. Most records are updates: so it is inline. @return Whether its position was rounded.
static inline bool ph_wording_update(ph_wording* wording, const ph_coded_frame* frame,
                                     const ph_place* at, const ph_choice* choice)
{
    ph_coded_record* made = &wording->update;
    ph_wording_fill(wording, at, choice, PH_RECORD_UPDATE, &made->record);
    made->baseline = &wording->outlook->sender->baselines.slots[at->slot];
    made->known = ph_dossier_known(at->dossier);
    made->forecast = NULL;
    made->coarse = 0;
    if ((choice->properties & at->layout->position) == 0) {
        return false;
    }
    made->forecast = ph_wording_forecast(wording, frame, at->slot);
    return choice->coarse > 0 && ph_wording_round(frame, at->layout, choice->coarse, made);
}

// Another frame begins.
void ph_wording_forget(ph_wording* wording);

// How coarse the position of a slot may be told; 0 after a jump.
static inline int ph_wording_coarse(ph_wording* wording, const ph_coded_frame* frame, int slot)
{
    const ph_place* at = ph_wording_at(wording, slot);
    if (wording->outlook->world->entities.whereabouts[at->entity].jumps != at->dossier->jumps) {
        return 0;
    }
    return ph_wording_forecast(wording, frame, slot)->coarse;
}

// ---- into the flight

// What the flight is to remember of a record of the slot that is at this place. kind: the record's. At
// first only what, and how much room that takes.
PH_ALWAYS_INLINE ph_flight_item ph_wording_measure(const ph_place* at, uint64_t properties,
                                                   ph_record_kind kind, bool is_coded)
{
    ph_flight_item item = {.slot = (uint16_t)at->slot, .kind = (uint8_t)kind};
    if (kind == PH_RECORD_LEAVE) {
        return item;
    }
    const ph_layout* layout = at->layout;
    const bool has_extra = is_coded && kind == PH_RECORD_ENTER;
    // Of what is told once nothing is compared later; but baselines begin with a position.
    item.properties = properties & ~(layout->once & ~(is_coded ? layout->position : 0));
    item.value_bytes = (uint16_t)(ph_packing_size_all(at->packing, layout, item.properties) +
                                  (has_extra ? PH_ENTER_EXTRA_BYTES : 0));
    return item;
}

// And the rest, once there is room for it.
PH_ALWAYS_INLINE void ph_wording_complete(const ph_wording* wording, const ph_place* at,
                                          bool is_jump, ph_flight_item* item)
{
    item->older = at->dossier->newest_item;
    if (item->kind == PH_RECORD_LEAVE) {
        return;
    }
    item->is_jump = is_jump;
    const ph_knowledge* knowledge = &wording->outlook->sender->knowledge;
    const ph_whereabouts* where = &wording->outlook->world->entities.whereabouts[at->entity];
    item->score = knowledge->score[at->slot];
    item->jumps = where->jumps;
    if ((item->properties & at->layout->position) != 0) {
        item->mileage_mm = where->mileage_mm - knowledge->mileage_mm[at->slot];
    }
}

// And its values, once the item is there. words: the record's.
PH_ALWAYS_INLINE void ph_wording_pack(const ph_place* at, const uint32_t* words,
                                      const ph_flight_item* item)
{
    ph_packing_store_all(at->packing, at->layout, item->properties, words, item->values);
}

#endif
