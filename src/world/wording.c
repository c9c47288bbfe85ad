// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/wording.h"

#include <string.h>

void ph_wording_init(ph_wording* wording, const ph_outlook* outlook)
{
    wording->outlook = outlook;
    wording->at.slot = -1;
    wording->update.before = NULL;
    ph_wording_blank(wording, PH_RECORD_UPDATE, &wording->update.record);
}

void ph_wording_record(ph_wording* wording, const ph_choice* choice, ph_record* record)
{
    const ph_place* at = ph_wording_at(wording, choice->slot);
    ph_wording_blank(wording, choice->kind, record);
    ph_wording_fill(wording, at, choice, choice->kind, record);
}

// ---- as a difference

void ph_wording_forget(ph_wording* wording)
{
    wording->forecast_slot = -1;
}

bool ph_wording_round(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                      ph_coded_record* made)
{
    uint32_t* words = made->record.words + layout->position_word;
    const uint32_t x = words[0];
    const uint32_t y = words[1];
    const uint32_t z = words[2];
    if (!ph_coded_round(frame, layout, coarse, words)) {
        return false;
    }
    made->coarse = (uint8_t)coarse;
    return ((words[0] ^ x) | (words[1] ^ y) | (words[2] ^ z)) != 0;
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

// What is told once is told exactly.
static void round_enter(ph_wording* wording, const ph_coded_frame* frame, ph_coded_record* enter)
{
    const ph_layout* layout = ph_wording_at(wording, enter->record.slot)->layout;
    if (frame->spread.coarse != 0 && (layout->once & layout->position) == 0) {
        uint32_t* words = enter->record.words + layout->position_word;
        enter->coarse = (uint8_t)ph_coded_round_enter(frame, layout, words);
    }
}

void ph_wording_change(ph_wording* wording, const ph_coded_frame* frame, const ph_choice* choice,
                       ph_coded_record* made)
{
    PH_ASSERT(choice->kind != PH_RECORD_UPDATE);

    *made = (ph_coded_record){0};
    ph_wording_record(wording, choice, &made->record);
    if (choice->kind == PH_RECORD_ENTER) {
        note_velocity(wording, frame, &made->record);
        round_enter(wording, frame, made);
    }
}
