// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/survey.h"

#include "base/bitset.h"
#include "base/inline.h"
#include "base/wide.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// References of a slot that may map to another slot than before.
static uint64_t doubtful_references(const ph_survey* s, int slot, uint64_t references,
                                    bool is_stale)
{
    const ph_knowledge* knowledge = &s->sender->knowledge;
    if (!is_stale || knowledge->points[slot]) {
        return is_stale ? references : knowledge->touched[slot] & references;
    }
    const ph_world* world = s->outlook->world;
    const ph_entity_index entity = s->outlook->entities[slot];
    const ph_table* table = &world->tables[knowledge->class_index[slot]];
    uint64_t doubtful = knowledge->touched[slot] & references;
    for (uint64_t left = references; left != 0; left &= left - 1) {
        const uint64_t bit = left & -left;
        const int property = ph_word_lowest_bit(left);
        doubtful |= *ph_table_value(table, property, world->entities.whereabouts[entity].row) != 0
                        ? bit
                        : 0;
    }
    return doubtful;
}

// References are compared at once, not when their turn comes: that one has changed from somebody
// unseen to somebody unseen must not even count as waiting.
static void settle_references(const ph_survey* s, int slot, uint64_t references, bool is_stale)
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
    const uint64_t asked = doubtful_references(s, slot, references, is_stale);
    const ph_place at = ph_outlook_place(s->outlook, slot);
    ph_due due;
    ph_outlook_compare_at(s->outlook, &at, asked, NULL, &due);
    ph_survey_keep(knowledge, &at, knowledge->touched[slot], asked, &due);
}

// ---- places

// Entities lie here and there: what is wanted of them is first laid side by side, so many slots at a
// time, and then measured by loops that compilers turn into vectors.
enum { SECTION_SLOTS = 64 };
typedef struct stretch {
    int first; // slot
    int count;
    uint32_t whereabouts[SECTION_SLOTS][4];
    uint32_t is_awake[SECTION_SLOTS]; // came near enough for something more, if it is there
} stretch;

// The first 16 bytes of one's whereabouts: a load and a store each.
enum { PLACE_X, PLACE_Y, PLACE_Z, PLACE_MILEAGE };
_Static_assert(offsetof(ph_whereabouts, mileage_mm) == PLACE_MILEAGE * sizeof(uint32_t),
               "the path stands behind the position");

PH_ALWAYS_INLINE void lay_side_by_side(const ph_survey* s, stretch* section)
{
    const ph_whereabouts* all = s->outlook->world->entities.whereabouts;
    const ph_entity_index* shows = s->outlook->entities + section->first;
    const int count = section->count;
    for (int i = 0; i < count; ++i) {
        // Of somebody else where nobody is: it does not count.
        const ph_entity_index entity = shows[i] != PH_ENTITY_NONE ? shows[i] : 0;
        memcpy(section->whereabouts[i], &all[entity], sizeof section->whereabouts[i]);
    }
}

// The short way round the world.
static inline float way_mm(int32_t from_mm, int32_t to_mm)
{
    return (float)(int32_t)((uint32_t)to_mm - (uint32_t)from_mm);
}

// Distance and path of those in the section; as far as they are concerned, nobody else is there.
// @return Whether anybody is awake.
PH_ALWAYS_INLINE bool measure(const ph_survey* s, stretch* section)
{
    const ph_knowledge* knowledge = &s->sender->knowledge;
    const ph_entity_index* shows = s->outlook->entities + section->first;
    const uint32_t* sent_mm = knowledge->mileage_mm + section->first;
    const float* wake_mm2 = knowledge->wake_mm2 + section->first;
    float* restrict distance_mm = s->scratch->distance_mm + section->first;
    uint32_t* restrict mileage_mm = s->scratch->mileage_mm + section->first;
    const int32_t eye_x_mm = s->outlook->eye_x_mm;
    const int32_t eye_y_mm = s->outlook->eye_y_mm;
    uint32_t are_awake = 0;
    for (int i = 0; i < section->count; ++i) {
        const uint32_t is_free = ph_bits_if(shows[i] == PH_ENTITY_NONE);
        const uint32_t* at = section->whereabouts[i];
        const float dx = way_mm(eye_x_mm, (int32_t)at[PLACE_X]);
        const float dy = way_mm(eye_y_mm, (int32_t)at[PLACE_Y]);
        const float way = fabsf(dx) + fabsf(dy);
        const float least_mm = is_free ? INFINITY : 1.0f;
        const uint32_t walked_mm = at[PLACE_MILEAGE] - sent_mm[i];
        distance_mm[i] = way > least_mm ? way : least_mm;
        mileage_mm[i] = walked_mm & ~is_free;
        const uint32_t is_near = ph_bits_if(dx * dx + dy * dy <= wake_mm2[i]);
        section->is_awake[i] = is_near & ph_bits_if(wake_mm2[i] > 0.0f) & ~is_free;
        are_awake |= section->is_awake[i];
    }
    return are_awake != 0;
}

// Those whom the client has never heard of have gone no way since.
static void forget_ways_of_newcomers(const ph_survey* s)
{
    const ph_knowledge* knowledge = &s->sender->knowledge;
    for (int slot = 0; slot < s->outlook->slot_end; ++slot) {
        if (knowledge->told[slot] == PH_TOLD_NOTHING) {
            s->scratch->mileage_mm[slot] = 0;
        }
    }
}

// Slots may show somebody who is not there.
static void forget_absent(const ph_survey* s)
{
    const ph_slot_list shown = s->outlook->shown;
    for (int i = 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        if (!ph_outlook_is_there(s->outlook, slot)) {
            s->scratch->distance_mm[slot] = INFINITY;
            s->scratch->mileage_mm[slot] = 0;
        }
    }
}

static void wake(const ph_survey* s, int slot)
{
    ph_knowledge* knowledge = &s->sender->knowledge;
    if (s->outlook->is_in_doubt && !ph_outlook_is_there(s->outlook, slot)) {
        return;
    }
    ph_dossier* dossier = ph_knowledge_at(knowledge, slot);
    knowledge->touched[slot] |= dossier->beyond;
    knowledge->wake_mm2[slot] = 0.0f;
    dossier->beyond = 0;
}

static void wake_all(const ph_survey* s, const stretch* section)
{
    for (int i = 0; i < section->count; ++i) {
        if (section->is_awake[i] != 0) {
            wake(s, section->first + i);
        }
    }
}

PH_WIDE static void survey_places(const ph_survey* s)
{
    const int slot_end = s->outlook->slot_end;
    stretch section;
    for (section.first = 0; section.first < slot_end; section.first += SECTION_SLOTS) {
        const int left = slot_end - section.first;
        section.count = left < SECTION_SLOTS ? left : SECTION_SLOTS;
        lay_side_by_side(s, &section);
        if (measure(s, &section)) {
            wake_all(s, &section);
        }
    }
    if (s->sender->knowledge.newcomer_count > 0) {
        forget_ways_of_newcomers(s);
    }
    if (s->outlook->is_in_doubt) {
        forget_absent(s);
    }
}

// ---- references

static uint64_t references_of_all(const ph_layout* layouts, int class_count)
{
    uint64_t references = 0;
    for (int i = 0; i < class_count; ++i) {
        references |= layouts[i].references;
    }
    return references;
}

// Of newcomers, who are told of as a whole, everything is touched: they do not count.
PH_WIDE static uint64_t touched_of_known(const ph_knowledge* knowledge, int slot_end)
{
    const uint8_t* told = knowledge->told;
    uint64_t touched = 0;
    for (int slot = 0; slot < slot_end; ++slot) {
        touched |= knowledge->touched[slot] & -(uint64_t)(told[slot] != PH_TOLD_NOTHING);
    }
    return touched;
}

// Whether anybody at all refers to somebody, or did when a client was told: mostly nobody does.
static bool has_pointers(const ph_survey* s)
{
    const size_t slot_end = (size_t)s->outlook->slot_end;
    return s->outlook->world->entities.referring_count > 0 ||
           memchr(s->sender->knowledge.points, 1, slot_end) != NULL;
}

void ph_survey_references(const ph_survey* s)
{
    ph_knowledge* knowledge = &s->sender->knowledge;
    const ph_world* world = s->outlook->world;
    const ph_layout* layouts = world->forms.layouts.layouts;
    const uint64_t of_all = references_of_all(layouts, world->class_count);
    const bool is_stale = knowledge->are_references_stale;
    // Those who are not there are passed over, and nobody is told who points at them; they may be
    // back before the next tick.
    knowledge->are_references_stale = s->outlook->is_in_doubt;
    if (!(is_stale && has_pointers(s)) &&
        (touched_of_known(knowledge, s->outlook->slot_end) & of_all) == 0) {
        return; // as most of the time
    }
    const uint8_t* refers = world->entities.refers;
    const uint8_t stale = is_stale ? UINT8_MAX : 0;
    const ph_slot_list shown = s->outlook->shown;
    for (int i = 0; i < shown.count; ++i) {
        const int slot = shown.slots[i];
        // Who refers to nobody, and did not when it was last told of, is not looked at for others.
        const uint64_t points =
            (refers[s->outlook->entities[slot]] | knowledge->points[slot]) & stale;
        if (((knowledge->touched[slot] & of_all) | points) == 0) {
            continue;
        }
        const uint64_t references = layouts[knowledge->class_index[slot]].references;
        if (references != 0 && ((knowledge->touched[slot] & references) | points) != 0) {
            settle_references(s, slot, references, is_stale);
        }
    }
}

// ---- who waits

// Only those in view wait; those who are leaving have a stage of their own.
PH_WIDE static ph_surveyed survey_waiting(const ph_survey* s)
{
    const ph_entity_index* shows = s->outlook->entities;
    const uint64_t* touched = s->sender->knowledge.touched;
    uint32_t* restrict waiting_ms = s->sender->knowledge.waiting_ms;
    const int slot_end = s->outlook->slot_end;
    const uint32_t now_ms = s->now_ms;
    const uint32_t patience_ms = s->sender->patience_ms;
    ph_surveyed surveyed = {0};
    for (int slot = 0; slot < slot_end; ++slot) {
        // Halves, because vectors of whole words are not compared everywhere.
        const uint32_t either = (uint32_t)(touched[slot] | touched[slot] >> 32);
        const bool is_touched = (either != 0) & (shows[slot] != PH_ENTITY_NONE);
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
