// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A gather of 4 bytes per slot, and a few instructions.

#include "world/unrest.h"

#include "base/bitset.h"
#include "world/difference.h"

void ph_unrest_fill(const ph_outlook* outlook, float* change)
{
    const ph_knowledge* knowledge = &outlook->sender->knowledge;
    const ph_forms* forms = &outlook->world->forms;
    const uint32_t* stir = outlook->world->entities.stir;
    for (int slot = 0; slot < knowledge->slot_count; ++slot) {
        const int class_index = knowledge->class_index[slot];
        const uint64_t position = forms->layouts.layouts[class_index].position;
        const uint64_t others = knowledge->touched[slot] & ~position;
        change[slot] = 0.0f;
        if (others == 0 || outlook->entities[slot] == PH_ENTITY_NONE) {
            continue;
        }
        const uint64_t stirring = forms->stirring[class_index];
        // What is not in the sum, or was taken out of it when it was sent: once each.
        const uint64_t counted = others & (~stirring | knowledge->repeats[slot]);
        const uint32_t path = stir[outlook->entities[slot]] - knowledge->stir[slot];
        const float stirred = (others & stirring) != 0 ? (float)path / PH_STIR_UNIT : 0.0f;
        change[slot] = stirred + (float)ph_word_count_bits(counted);
    }
}

void ph_unrest_settle(const ph_outlook* outlook, ph_knowledge* knowledge, int slot)
{
    knowledge->stir[slot] = outlook->world->entities.stir[outlook->entities[slot]];
}
