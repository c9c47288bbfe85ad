// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/survey.h"

#include "base/bitset.h"

#include <math.h>
#include <string.h>

void ph_survey_keep(ph_knowledge* knowledge, int slot, uint64_t asked, const ph_due* due)
{
    knowledge->touched[slot] = (knowledge->touched[slot] & ~asked) | due->due;
    ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    dossier->repeats &= ~asked | due->due | due->beyond;
    const uint64_t beyond = dossier->beyond & ~asked;
    const float wake_mm2 = beyond != 0 ? knowledge->wake_mm2[slot] : 0.0f;
    dossier->beyond = beyond | due->beyond;
    knowledge->wake_mm2[slot] = due->wake_mm2 > wake_mm2 ? due->wake_mm2 : wake_mm2;
}

// References of a slot that may map to another slot than before.
static uint64_t doubtful_references(const ph_survey* s, int slot, uint64_t references)
{
    const ph_knowledge* knowledge = &s->sender->knowledge;
    if (!knowledge->are_references_stale || knowledge->points[slot]) {
        return knowledge->are_references_stale ? references : knowledge->touched[slot] & references;
    }
    const ph_world* world = s->outlook->world;
    const ph_entity_index entity = s->outlook->entities[slot];
    const ph_table* table = &world->tables[knowledge->class_index[slot]];
    uint64_t doubtful = knowledge->touched[slot] & references;
    for (uint64_t left = references; left != 0; left &= left - 1) {
        const uint64_t bit = left & -left;
        const int property = ph_word_lowest_bit(left);
        doubtful |= *ph_table_value(table, property, world->entities.row[entity]) != 0 ? bit : 0;
    }
    return doubtful;
}

// References are compared at once, not when their turn comes: that one has changed from somebody
// unseen to somebody unseen must not even count as waiting.
static void settle_references(const ph_survey* s, int slot, uint64_t references)
{
    ph_knowledge* knowledge = &s->sender->knowledge;
    const int told = knowledge->told[slot];
    references &= ph_sender_mask(s->sender, s->outlook->world->class_count, slot);
    if (references == 0 || (told != PH_TOLD_ENTER && told != PH_TOLD_ENTERED)) {
        return;
    }
    if (!ph_outlook_is_there(s->outlook, slot)) {
        knowledge->touched[slot] &= ~references; // all are stale until it can be asked again
        return;
    }
    const uint64_t asked = doubtful_references(s, slot, references);
    const ph_due due = ph_outlook_compare(s->outlook, slot, asked, NULL);
    ph_survey_keep(knowledge, slot, asked, &due);
}

// The arrays that a survey goes over, by name: a compiler must else fetch them anew for each slot.
typedef struct lanes {
    const ph_entity_index* entities;
    const int32_t* x_mm;
    const int32_t* y_mm;
    const uint32_t* walked_mm;
    const uint32_t* sent_mm;
    float* distance_mm;
    uint32_t* mileage_mm;
    const float* wake_mm2;
    const uint8_t* told;
} lanes;

static lanes lanes_of(const ph_survey* s)
{
    const ph_entities* entities = &s->outlook->world->entities;
    const ph_knowledge* knowledge = &s->sender->knowledge;
    return (lanes){
        .entities = s->outlook->entities,
        .x_mm = entities->x_mm,
        .y_mm = entities->y_mm,
        .walked_mm = entities->mileage_mm,
        .sent_mm = knowledge->mileage_mm,
        .distance_mm = s->scratch->distance_mm,
        .mileage_mm = s->scratch->mileage_mm,
        .wake_mm2 = knowledge->wake_mm2,
        .told = knowledge->told,
    };
}

static void wake(ph_knowledge* knowledge, int slot)
{
    ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    knowledge->touched[slot] |= dossier->beyond;
    knowledge->wake_mm2[slot] = 0.0f;
    dossier->beyond = 0;
}

// As far as everybody in view is concerned, nobody else is there.
static void clear(const ph_survey* s)
{
    const int slot_count = s->sender->knowledge.slot_count;
    for (int slot = 0; slot < slot_count; ++slot) {
        s->scratch->distance_mm[slot] = INFINITY;
    }
    memset(s->scratch->mileage_mm, 0, (size_t)slot_count * sizeof s->scratch->mileage_mm[0]);
}

// Distance and path of everybody in view; who came near enough for something more.
static void survey_places(const ph_survey* s)
{
    const lanes lane = lanes_of(s);
    const uint32_t eye_x = (uint32_t)s->outlook->eye_x_mm;
    const uint32_t eye_y = (uint32_t)s->outlook->eye_y_mm;
    const ph_slot_list shown = s->outlook->shown;
    const bool is_in_doubt = s->outlook->is_in_doubt;
    clear(s);
    for (int i = 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        if (is_in_doubt && !ph_outlook_is_there(s->outlook, slot)) {
            continue;
        }
        const ph_entity_index entity = lane.entities[slot];
        const float dx = (float)(int32_t)((uint32_t)lane.x_mm[entity] - eye_x);
        const float dy = (float)(int32_t)((uint32_t)lane.y_mm[entity] - eye_y);
        const float distance_mm = fabsf(dx) + fabsf(dy);
        lane.distance_mm[slot] = distance_mm > 1.0f ? distance_mm : 1.0f;
        lane.mileage_mm[slot] =
            lane.told[slot] == PH_TOLD_NOTHING ? 0 : lane.walked_mm[entity] - lane.sent_mm[slot];
        if (dx * dx + dy * dy <= lane.wake_mm2[slot]) {
            wake(&s->sender->knowledge, slot);
        }
    }
}

void ph_survey_references(const ph_survey* s)
{
    ph_knowledge* knowledge = &s->sender->knowledge;
    const ph_layout* layouts = s->outlook->world->forms.layouts.layouts;
    const uint8_t* refers = s->outlook->world->entities.refers;
    const uint64_t stale = knowledge->are_references_stale ? UINT64_MAX : 0;
    const ph_slot_list shown = s->outlook->shown;
    for (int i = 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        const uint64_t references = layouts[knowledge->class_index[slot]].references;
        // Who refers to nobody, and did not when it was last told of, is not looked at for others.
        const uint64_t asked = knowledge->touched[slot] | stale;
        if ((asked & references) != 0 &&
            (refers[s->outlook->entities[slot]] | knowledge->points[slot] |
             (knowledge->touched[slot] & references))) {
            settle_references(s, slot, references);
        }
    }
    // Those who are not there were passed over, and nobody was told who points at them; they may be
    // back before the next tick.
    knowledge->are_references_stale = s->outlook->is_in_doubt;
}

// Only those in view wait; those who are leaving have a stage of their own.
static ph_surveyed survey_waiting(const ph_survey* s)
{
    const ph_slot_list shown = s->outlook->shown;
    const uint64_t* touched = s->sender->knowledge.touched;
    uint32_t* waiting_ms = s->sender->knowledge.waiting_ms;
    const uint32_t now_ms = s->now_ms;
    const uint32_t patience_ms = s->sender->patience_ms;
    ph_surveyed surveyed = {0};
    for (int i = 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        const bool is_touched = touched[slot] != 0;
        const uint32_t since_ms = waiting_ms[slot] != 0 ? waiting_ms[slot] : now_ms;
        waiting_ms[slot] = is_touched ? since_ms : 0;
        surveyed.overdue_count += is_touched & (now_ms - since_ms > patience_ms);
        surveyed.touched_count += is_touched;
    }
    return surveyed;
}

// Whoever was entered, and should have been answered for by now, waits for its turn like others.
static void survey_doubts(const ph_survey* s)
{
    const ph_slot_list shown = s->outlook->shown;
    ph_knowledge* knowledge = &s->sender->knowledge;
    const ph_layout* layouts = s->outlook->world->forms.layouts.layouts;
    for (int i = 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        if (knowledge->told[slot] == PH_TOLD_ENTER && ph_sender_is_doubtful(s->sender, slot)) {
            knowledge->touched[slot] |= layouts[knowledge->class_index[slot]].position;
        }
    }
}

ph_surveyed ph_survey_all(const ph_survey* s)
{
    survey_places(s);
    if (s->sender->doubt_ms != 0 && s->sender->flight.count > 0) {
        survey_doubts(s);
    }
    ph_survey_references(s);
    return survey_waiting(s);
}
