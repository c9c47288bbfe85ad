// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/wording.h"

#include <string.h>

static bool has_jumped(const ph_outlook* outlook, const ph_place* at, const ph_choice* choice)
{
    const ph_sender* sender = outlook->sender;
    const uint16_t jumps = outlook->world->entities.jumps[at->entity];
    if (choice->kind == PH_RECORD_ENTER) {
        return ph_knowledge_has_jumped(&sender->knowledge, &sender->flight, at->slot, jumps);
    }
    return (choice->properties & at->layout->position) != 0 && jumps != at->dossier->jumps;
}

// With its words, unless they are there already.
static inline void make_record(ph_wording* wording, const ph_choice* choice, ph_record* made)
{
    const ph_outlook* outlook = wording->outlook;
    const ph_place* at = ph_wording_at(wording, choice->slot);
    // One by one: what is put together elsewhere in pieces and copied as a whole is waited for.
    made->name = 0;
    made->properties = choice->properties;
    made->association = at->dossier->association;
    made->slot = (uint16_t)at->slot;
    made->kind = (uint8_t)choice->kind;
    made->class_index = (uint8_t)at->class_index;
    made->is_jump = false;
    memset(made->velocity, 0, sizeof made->velocity);
    made->words = wording->words;
    made->texts = wording->texts;
    if (choice->kind == PH_RECORD_LEAVE) {
        return;
    }
    if (choice->kind == PH_RECORD_ENTER) {
        made->name = outlook->world->entities.name[at->entity];
    }
    made->is_jump = has_jumped(outlook, at, choice);
    const uint64_t missing =
        choice->has_words ? choice->properties & at->layout->texts : choice->properties;
    if (missing != 0) {
        ph_outlook_fill(outlook, at, missing, made->words, made->texts);
    }
}

void ph_wording_record(ph_wording* wording, const ph_choice* choice, ph_record* record)
{
    make_record(wording, choice, record);
}

// ---- as a difference

void ph_wording_forget(ph_wording* wording)
{
    wording->forecast_slot = -1;
}

static const ph_forecast* forecast_of(ph_wording* wording, const ph_coded_frame* frame, int slot)
{
    if (wording->forecast_slot != slot) {
        const ph_sender* sender = wording->outlook->sender;
        wording->forecast = ph_coded_forecast(frame, &sender->baselines.slots[slot]);
        wording->forecast_slot = slot;
    }
    return &wording->forecast;
}

int ph_wording_coarse(ph_wording* wording, const ph_coded_frame* frame, int slot)
{
    const ph_place* at = ph_wording_at(wording, slot);
    if (wording->outlook->world->entities.jumps[at->entity] != at->dossier->jumps) {
        return 0;
    }
    return forecast_of(wording, frame, slot)->coarse;
}

// The position in the block becomes as coarse as that, where it is not too coarse for it.
static void round_position(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                           ph_coded_wording* made)
{
    uint32_t* words = made->coded.record.words + layout->position_word;
    uint32_t rounded[3];
    memcpy(rounded, words, sizeof rounded);
    if (!ph_coded_round(frame, layout, coarse, rounded)) {
        return;
    }
    made->coded.coarse = (uint8_t)coarse;
    made->is_rounded =
        ((rounded[0] ^ words[0]) | (rounded[1] ^ words[1]) | (rounded[2] ^ words[2])) != 0;
    memcpy(words, rounded, sizeof rounded);
}

// Who came into view just now was hidden a tick ago for all we know, if the game says who may be
// seen, or if this viewer was given more to see: then where it comes from is nobody's business.
static bool is_way_public(const ph_outlook* outlook, int slot)
{
    const ph_world* world = outlook->world;
    return ph_slots_entered(outlook->slots, slot) != world->tick ||
           (world->def.may_see == NULL && world->tick - outlook->sender->widened_tick > 1);
}

static void note_velocity(const ph_wording* wording, const ph_coded_frame* frame, ph_record* enter)
{
    if (!is_way_public(wording->outlook, enter->slot)) {
        return;
    }
    const ph_entity_index entity = wording->outlook->entities[enter->slot];
    const int32_t* way_mm = &wording->outlook->world->entities.way_mm[3 * (size_t)entity];
    if (way_mm[0] == PH_NO_WAY) {
        return;
    }
    const ph_layouts* layouts = &wording->outlook->world->forms.layouts;
    ph_baseline_velocity(&layouts->layouts[enter->class_index], frame->tick_us, way_mm, 1,
                         enter->velocity);
}

static void word_update(ph_wording* wording, const ph_coded_frame* frame, const ph_choice* choice,
                        ph_coded_wording* made)
{
    const ph_sender* sender = wording->outlook->sender;
    const int slot = choice->slot;
    const ph_layout* layout = ph_wording_at(wording, slot)->layout;
    make_record(wording, choice, &made->coded.record);
    made->coded.baseline = &sender->baselines.slots[slot];
    made->coded.known = ph_knowledge_known(&sender->knowledge, slot);
    if ((choice->properties & layout->position) != 0) {
        made->coded.forecast = forecast_of(wording, frame, slot);
        if (choice->coarse > 0) {
            round_position(frame, layout, choice->coarse, made);
        }
    }
}

void ph_wording_coded(ph_wording* wording, const ph_coded_frame* frame, const ph_choice* choice,
                      ph_coded_wording* made)
{
    made->coded.forecast = NULL;
    made->coded.before = NULL;
    made->coded.coarse = 0;
    made->is_rounded = false;
    if (choice->kind == PH_RECORD_UPDATE) {
        word_update(wording, frame, choice, made);
        return;
    }
    made->coded.baseline = NULL;
    made->coded.known = NULL;
    make_record(wording, choice, &made->coded.record);
    if (choice->kind == PH_RECORD_ENTER) {
        note_velocity(wording, frame, &made->coded.record);
    }
}
