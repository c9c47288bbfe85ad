// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A gather of 4 bytes per slot, and a few instructions.

#include "world/unrest.h"

#include "base/bitset.h"
#include "base/prefetch.h"
#include "world/difference.h"

#include <string.h>

// So many slots are looked at before the first is worked out: their dossiers, which are in no cache, come
// together then.
enum { SECTION_SLOTS = 64 };

// What need not be beside something else to count.
static uint64_t stirring_alone(const ph_outlook* outlook, int class_index)
{
    const ph_layout* layout = &outlook->world->forms.layouts.layouts[class_index];
    const uint64_t heading = outlook->sender->scheduler.wants_errors ? layout->heading : 0;
    return ~(layout->position | heading);
}

float ph_unrest_of(const ph_outlook* outlook, int slot, uint64_t touched)
{
    const ph_knowledge* knowledge = &outlook->sender->knowledge;
    const ph_forms* forms = &outlook->world->forms;
    const int class_index = knowledge->class_index[slot];
    const uint64_t others = touched & ~forms->layouts.layouts[class_index].position;
    if ((touched & stirring_alone(outlook, class_index)) == 0 ||
        outlook->entities[slot] == PH_ENTITY_NONE) {
        return 0.0f;
    }
    const uint64_t stirring = forms->stirring[class_index];
    // What is not in the sum, or was taken out of it when it was sent: once each.
    const uint64_t counted = others & (~stirring | ph_knowledge_at(knowledge, slot)->repeats);
    const uint32_t path = outlook->world->entities.whereabouts[outlook->entities[slot]].stir -
                          ph_knowledge_at(knowledge, slot)->stir;
    const float stirred = (others & stirring) != 0 ? (float)path / PH_STIR_UNIT : 0.0f;
    return stirred + (float)ph_word_count_bits(counted);
}

void ph_unrest_fill(const ph_outlook* outlook, float* change)
{
    const ph_knowledge* knowledge = &outlook->sender->knowledge;
    const uint64_t* touched = knowledge->touched;
    const uint8_t* class_index = knowledge->class_index;
    const int slot_end = outlook->slot_end;
    uint64_t alone[PH_CLASSES_MAX];
    for (int i = 0; i < outlook->world->class_count; ++i) {
        alone[i] = stirring_alone(outlook, i);
    }
    memset(change, 0, (size_t)slot_end * sizeof *change);
    for (int first = 0; first < slot_end; first += SECTION_SLOTS) {
        const int end = slot_end - first < SECTION_SLOTS ? slot_end : first + SECTION_SLOTS;
        uint64_t stirred = 0;
        for (int slot = first; slot < end; ++slot) {
            // Nobody could guess that.
            const bool is_stirred = (touched[slot] & alone[class_index[slot]]) != 0;
            stirred |= (uint64_t)is_stirred << (slot - first);
        }
        for (uint64_t left = stirred; left != 0; left &= left - 1) {
            ph_prefetch(ph_knowledge_at(knowledge, first + ph_word_lowest_bit(left)));
        }
        for (; stirred != 0; stirred &= stirred - 1) {
            const int slot = first + ph_word_lowest_bit(stirred);
            change[slot] = ph_unrest_of(outlook, slot, touched[slot]);
        }
    }
}
