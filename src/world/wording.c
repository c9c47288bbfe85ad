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

ph_record ph_wording_record(ph_wording* wording, const ph_choice* choice)
{
    const int slot = choice->slot;
    const ph_outlook* outlook = wording->outlook;
    const ph_knowledge* knowledge = &outlook->sender->knowledge;
    ph_record record = {
        .properties = choice->properties,
        .association = ph_knowledge_at(knowledge, slot)->association,
        .slot = (uint16_t)slot,
        .kind = (uint8_t)choice->kind,
        .class_index = knowledge->class_index[slot],
        .words = wording->words + wording->kept_count,
        .texts = wording->texts,
    };
    if (choice->kind == PH_RECORD_LEAVE) {
        return record;
    }
    const ph_entity_index entity = outlook->entities[slot];
    const ph_entities* entities = &outlook->world->entities;
    const ph_layout* layout = layout_of(wording, record.class_index);
    record.name = entities->name[entity];
    record.is_jump = has_jumped(outlook, choice, (choice->properties & layout->position) != 0);
    ph_outlook_fill(outlook, slot, choice->properties, record.words, record.texts);
    return record;
}

uint16_t ph_wording_keep(ph_wording* wording, const ph_record* record)
{
    const ph_layout* layout = layout_of(wording, record->class_index);
    const int begin = wording->kept_count;
    PH_ASSERT(record->words == wording->words + begin);

    if ((record->properties & layout->texts) != 0 ||
        begin + layout->word_count > PH_KEPT_WORDS_MAX) {
        return PH_KEPT_NONE;
    }
    wording->kept_count += layout->word_count;
    return (uint16_t)begin;
}

// ---- as a difference

int ph_wording_coarse(const ph_wording* wording, const ph_coded_frame* frame, int slot)
{
    const ph_outlook* outlook = wording->outlook;
    const ph_sender* sender = outlook->sender;
    const ph_entity_index entity = outlook->entities[slot];
    if (outlook->world->entities.jumps[entity] !=
        ph_knowledge_at(&sender->knowledge, slot)->jumps) {
        return 0;
    }
    return ph_coded_coarse(frame, &sender->baselines.slots[slot]);
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

ph_coded_wording ph_wording_coded(ph_wording* wording, const ph_coded_frame* frame,
                                  const ph_choice* choice)
{
    const ph_sender* sender = wording->outlook->sender;
    ph_coded_wording made = {.coded = {.record = ph_wording_record(wording, choice)}};
    ph_record* record = &made.coded.record;
    if (choice->kind == PH_RECORD_ENTER) {
        note_velocity(wording, frame, record);
    }
    if (choice->kind != PH_RECORD_UPDATE) {
        return made;
    }
    made.coded.baseline = &sender->baselines.slots[choice->slot];
    made.coded.known = ph_knowledge_known(&sender->knowledge, choice->slot);
    const ph_layout* layout = layout_of(wording, record->class_index);
    if (choice->coarse == 0 || (choice->properties & layout->position) == 0) {
        return made;
    }
    uint32_t* words = record->words + layout->word[layout->described->position];
    uint32_t exact[3];
    memcpy(exact, words, sizeof exact);
    made.coded.coarse =
        (uint8_t)(try_round(frame, layout, choice->coarse, words) ? choice->coarse : 0);
    made.is_rounded = memcmp(exact, words, sizeof exact) != 0;
    return made;
}

bool ph_wording_is_near_enough(ph_wording* wording, const ph_coded_frame* frame, int slot,
                               int coarse)
{
    const ph_outlook* outlook = wording->outlook;
    const ph_sender* sender = outlook->sender;
    const int class_index = sender->knowledge.class_index[slot];
    const ph_layout* layout = layout_of(wording, class_index);
    const ph_packing* packing = &outlook->world->forms.packings[class_index];
    const int position = layout->described->position;
    uint32_t* words = wording->words + layout->word[position];
    ph_outlook_fill(outlook, slot, layout->position, wording->words, wording->texts);
    if (!try_round(frame, layout, coarse, words)) {
        return false;
    }
    uint8_t bytes[PH_PACKED_MAX];
    ph_packing_store(packing, position, words, bytes);
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
