// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What an entity's priority for one viewer is made of: the scheduler is asked once more, about this
// slot alone and with a copy of its score. When somebody asks; a microsecond.

#include "world/errors.h"
#include "world/telling.h"
#include "world/unrest.h"

#include <math.h>

static float manhattan_mm(const ph_outlook* outlook, ph_entity_index entity)
{
    const ph_entities* entities = &outlook->world->entities;
    const int32_t dx = (int32_t)((uint32_t)entities->x_mm[entity] - (uint32_t)outlook->eye_x_mm);
    const int32_t dy = (int32_t)((uint32_t)entities->y_mm[entity] - (uint32_t)outlook->eye_y_mm);
    return fmaxf(fabsf((float)dx) + fabsf((float)dy), 1.0f);
}

static void tell_errors(const ph_error_lanes* lanes, ph_why* why)
{
    const double mrad_per_mm = 1000.0 / (double)*lanes->range_mm;
    why->range_mm = (double)*lanes->range_mm;
    why->error_mm = (double)*lanes->error_mm;
    why->error_mrad = why->error_mm * mrad_per_mm;
    why->growth_mrad_s = (double)*lanes->growth_mm_s * mrad_per_mm;
    why->heading_rad = (double)*lanes->turn_rad;
    why->position_bits = (double)*lanes->position_bits;
}

// Every array has one element: that of the slot.
static void ask_scheduler(const ph_outlook* outlook, int32_t eye_z_mm, int slot, ph_why* why)
{
    const ph_sender* sender = outlook->sender;
    const ph_knowledge* knowledge = &sender->knowledge;
    const ph_entity_index entity = outlook->entities[slot];
    const float distance_mm = manhattan_mm(outlook, entity);
    const uint32_t mileage_mm =
        outlook->world->entities.whereabouts[entity].mileage_mm - knowledge->mileage_mm[slot];
    const float change = ph_unrest_of(outlook, slot, why->touched);
    float score = knowledge->score[slot];
    float priority = 0.0f;
    float memory[PH_ERROR_LANES];
    const ph_error_lanes lanes = ph_error_lanes_make(memory, 1);
    ph_ranking_errors errors;
    const uint16_t shown = (uint16_t)slot;
    if (sender->expectation != NULL) {
        errors = ph_errors_fill(&(ph_error_span){.outlook = outlook,
                                                 .eye_z_mm = eye_z_mm,
                                                 .first = slot,
                                                 .count = 1,
                                                 .shown = {&shown, 1},
                                                 .lanes = &lanes,
                                                 .touched = &why->touched});
        tell_errors(&lanes, why);
    }
    const ph_ranking ranking = {
        .slot_count = 1,
        .distance_mm = &distance_mm,
        .weight = &knowledge->weight[slot],
        .mileage_mm = &mileage_mm,
        .touched = &why->touched,
        .score = &score,
        .priority = &priority,
        .change = &change,
        .errors = sender->scheduler.wants_errors ? &errors : NULL,
    };
    sender->scheduler.rank(sender->scheduler.context, &ranking);
    why->distance_mm = (double)distance_mm;
    why->mileage_mm = mileage_mm;
    why->change = (double)change;
    why->priority = (double)priority;
}

// PH_WHY_... by ph_told.
static ph_why_state state_of(const ph_knowledge* knowledge, int slot)
{
    switch (knowledge->told[slot]) {
    case PH_TOLD_NOTHING:
        return PH_WHY_NEWCOMER;
    case PH_TOLD_ENTER:
        return PH_WHY_ENTERING;
    default:
        return PH_WHY_ENTERED;
    }
}

ph_result ph_world_why(const ph_world* world, ph_viewer_id viewer, ph_entity_id entity, ph_why* why)
{
    *why = (ph_why){.state = PH_WHY_UNSEEN, .served_ms = -1.0};
    uint32_t index;
    const ph_entity_index asked = ph_entities_find(&world->entities, entity);
    if (!ph_world_try_viewer(world, viewer, &index) || asked == PH_ENTITY_NONE) {
        return PH_ERROR_STALE;
    }
    const ph_outlook outlook = ph_outlook_make(world, index);
    const int slot = ph_slots_find(outlook.slots, asked);
    if (slot < 0) {
        return PH_OK;
    }
    const ph_sender* sender = outlook.sender;
    const ph_knowledge* knowledge = &sender->knowledge;
    const uint32_t now_ms = ph_sender_now_ms(sender);
    why->state = state_of(knowledge, slot);
    why->slot = slot;
    why->touched = ph_tell_touched(world, index, slot);
    why->weight = (double)knowledge->weight[slot];
    why->score = (double)knowledge->score[slot];
    if (why->state != PH_WHY_NEWCOMER) {
        why->served_ms = now_ms - ph_knowledge_at(knowledge, slot)->served_ms;
    }
    if (knowledge->waiting_ms[slot] != 0) {
        why->waited_ms = now_ms - knowledge->waiting_ms[slot];
    }
    ask_scheduler(&outlook, world->viewers.viewers[index].eye_z_mm, slot, why);
    return PH_OK;
}
