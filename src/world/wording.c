// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/wording.h"

#include <string.h>

static const ph_layout* layout_of(const ph_wording* wording, int class_index)
{
    return &wording->outlook->world->forms.layouts.layouts[class_index];
}

static bool has_jumped(const ph_outlook* outlook, const ph_choice* choice, bool has_position)
{
    const ph_sender* sender = outlook->sender;
    const int slot = choice->slot;
    const uint16_t jumps = outlook->world->entities.jumps[outlook->entities[slot]];
    if (choice->kind == PH_RECORD_ENTER) {
        return ph_knowledge_has_jumped(&sender->knowledge, &sender->flight, slot, jumps);
    }
    return has_position && jumps != ph_knowledge_at(&sender->knowledge, slot)->jumps;
}

// With the words of these properties alone, unless they are there already.
static void make_record(ph_wording* wording, const ph_choice* choice, uint64_t filled,
                        ph_record* made)
{
    const int slot = choice->slot;
    const ph_outlook* outlook = wording->outlook;
    const ph_knowledge* knowledge = &outlook->sender->knowledge;
    *made = (ph_record){
        .properties = choice->properties,
        .association = ph_knowledge_at(knowledge, slot)->association,
        .slot = (uint16_t)slot,
        .kind = (uint8_t)choice->kind,
        .class_index = knowledge->class_index[slot],
        .words = wording->words,
        .texts = wording->texts,
    };
    if (choice->kind == PH_RECORD_LEAVE) {
        return;
    }
    const ph_entity_index entity = outlook->entities[slot];
    const ph_entities* entities = &outlook->world->entities;
    const ph_layout* layout = layout_of(wording, made->class_index);
    made->name = choice->kind == PH_RECORD_ENTER ? entities->name[entity] : 0;
    made->is_jump = has_jumped(outlook, choice, (choice->properties & layout->position) != 0);
    const uint64_t missing = choice->has_words ? filled & layout->texts : filled;
    if (missing != 0) {
        ph_outlook_fill(outlook, slot, missing, made->words, made->texts);
    }
}

ph_record ph_wording_record(ph_wording* wording, const ph_choice* choice)
{
    ph_record record;
    make_record(wording, choice, choice->properties, &record);
    return record;
}

// ---- as a difference

void ph_wording_forget(ph_wording* wording)
{
    wording->forecast_slot = -1;
    wording->placement.slot = -1;
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
    const ph_outlook* outlook = wording->outlook;
    const ph_sender* sender = outlook->sender;
    const ph_entity_index entity = outlook->entities[slot];
    if (outlook->world->entities.jumps[entity] !=
        ph_knowledge_at(&sender->knowledge, slot)->jumps) {
        return 0;
    }
    return forecast_of(wording, frame, slot)->coarse;
}

// @return False, with the words as they were, when that is too coarse for them.
static bool try_round(const ph_coded_frame* frame, const ph_layout* layout, int coarse,
                      uint32_t words[3])
{
    uint32_t rounded[3];
    memcpy(rounded, words, sizeof rounded);
    if (!ph_coded_round(frame, layout, coarse, rounded)) {
        return false;
    }
    memcpy(words, rounded, sizeof rounded);
    return true;
}

static const ph_placement* place(ph_wording* wording, const ph_coded_frame* frame, int slot,
                                 int coarse)
{
    ph_placement* placed = &wording->placement;
    if (placed->slot == slot && placed->asked == coarse) {
        return placed;
    }
    const ph_outlook* outlook = wording->outlook;
    const ph_layout* layout = layout_of(wording, outlook->sender->knowledge.class_index[slot]);
    uint32_t* words = wording->words + layout->word[layout->described->position];
    ph_outlook_fill(outlook, slot, layout->position, wording->words, wording->texts);
    memcpy(placed->words, words, sizeof placed->words);
    const bool is_coarse = coarse > 0 && try_round(frame, layout, coarse, placed->words);
    placed->slot = slot;
    placed->asked = coarse;
    placed->coarse = is_coarse ? coarse : 0;
    placed->is_rounded = memcmp(placed->words, words, sizeof placed->words) != 0;
    return placed;
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
    ph_baseline_velocity(layout_of(wording, enter->class_index), frame->tick_us, way_mm, 1,
                         enter->velocity);
}

static void word_update(ph_wording* wording, const ph_coded_frame* frame, const ph_choice* choice,
                        ph_coded_wording* made)
{
    const ph_sender* sender = wording->outlook->sender;
    const int slot = choice->slot;
    const ph_layout* layout = layout_of(wording, sender->knowledge.class_index[slot]);
    make_record(wording, choice, choice->properties & ~layout->position, &made->coded.record);
    made->coded.baseline = &sender->baselines.slots[slot];
    made->coded.known = ph_knowledge_known(&sender->knowledge, slot);
    if ((choice->properties & layout->position) != 0) {
        const ph_placement* placed = place(wording, frame, slot, choice->coarse);
        made->coded.forecast = forecast_of(wording, frame, slot);
        made->coded.coarse = (uint8_t)placed->coarse;
        made->is_rounded = placed->is_rounded;
        memcpy(made->coded.record.words + layout->word[layout->described->position], placed->words,
               sizeof placed->words);
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
    make_record(wording, choice, choice->properties, &made->coded.record);
    if (choice->kind == PH_RECORD_ENTER) {
        note_velocity(wording, frame, &made->coded.record);
    }
}

bool ph_wording_is_near_enough(ph_wording* wording, const ph_coded_frame* frame, int slot,
                               int coarse)
{
    const ph_placement* placed = place(wording, frame, slot, coarse);
    if (placed->coarse == 0) {
        return false;
    }
    const ph_outlook* outlook = wording->outlook;
    const ph_sender* sender = outlook->sender;
    const int class_index = sender->knowledge.class_index[slot];
    const ph_packing* packing = &outlook->world->forms.packings[class_index];
    const int position = layout_of(wording, class_index)->described->position;
    uint8_t bytes[PH_PACKED_MAX];
    ph_packing_store(packing, position, placed->words, bytes);
    const uint8_t* newest =
        ph_knowledge_newest(&sender->knowledge, &sender->flight, packing, slot, position);
    return memcmp(bytes, newest, packing->size[position]) == 0;
}

// ---- into the flight

ph_flight_item ph_wording_item(const ph_wording* wording, const ph_record* record)
{
    const ph_outlook* outlook = wording->outlook;
    const ph_knowledge* knowledge = &outlook->sender->knowledge;
    const int slot = record->slot;
    ph_flight_item item = {
        .slot = record->slot,
        .kind = record->kind,
        .older = ph_knowledge_at(knowledge, slot)->newest_item,
        .is_jump = record->is_jump,
    };
    if (record->kind == PH_RECORD_LEAVE) {
        return item;
    }
    const ph_layout* layout = layout_of(wording, record->class_index);
    const ph_packing* packing = &outlook->world->forms.packings[record->class_index];
    const ph_entities* entities = &outlook->world->entities;
    const ph_entity_index entity = outlook->entities[slot];
    const bool is_coded = ph_sender_is_coded(outlook->sender);
    const bool has_extra = is_coded && record->kind == PH_RECORD_ENTER;
    // Of what is told once nothing is compared later; but baselines begin with a position.
    item.properties = record->properties & ~(layout->once & ~(is_coded ? layout->position : 0));
    item.value_bytes = (uint16_t)(ph_packing_size(packing, item.properties) +
                                  (has_extra ? PH_ENTER_EXTRA_BYTES : 0));
    item.score = knowledge->score[slot];
    item.jumps = entities->jumps[entity];
    if ((item.properties & layout->position) != 0) {
        item.mileage_mm = entities->mileage_mm[entity] - knowledge->mileage_mm[slot];
    }
    return item;
}

void ph_wording_pack(const ph_wording* wording, const ph_record* record, const ph_flight_item* item)
{
    const ph_forms* forms = &wording->outlook->world->forms;
    ph_packing_store_all(&forms->packings[record->class_index],
                         &forms->layouts.layouts[record->class_index], item->properties,
                         record->words, item->values);
    if (ph_sender_is_coded(wording->outlook->sender) && record->kind == PH_RECORD_ENTER) {
        ph_baselines_store_extra(item, record);
    }
}
