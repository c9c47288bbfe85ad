// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "world/priorities.h"

#include "world/expectation.h"
#include "world/unrest.h"

#include <string.h>

// Who stands is told so when it would be shown this far away: two steps of the usual coding. From 16
// to 100 mm nothing changes by more than a hundredth.
#define ASTRAY_MM 32.0f

// Who stands where it was told to be, but is going to be shown elsewhere, is to be told of again. The
// error alone does not say so: rounded altitudes are always wrong by a little.
static void find_astray(const ph_priorities* of)
{
    const ph_knowledge* knowledge = &of->sender->knowledge;
    const ph_layout* layouts = of->outlook->world->forms.layouts.layouts;
    const uint8_t* told = knowledge->told;
    const uint8_t* class_index = knowledge->class_index;
    const float* error_mm = of->lanes->error_mm;
    const float* carried_mm = of->lanes->carried_mm;
    uint8_t* restrict astray = of->sender->expectation->astray;
    uint64_t* restrict touched = knowledge->touched;
    const int slot_end = of->outlook->slot_end;
    for (int slot = 0; slot < slot_end; ++slot) {
        astray[slot] = (uint8_t)((told[slot] == PH_TOLD_ENTERED) & (error_mm[slot] > ASTRAY_MM) &
                                 (carried_mm[slot] > ASTRAY_MM));
    }
    if (memchr(astray, 1, (size_t)slot_end) == NULL) {
        return;
    }
    // Without a branch: nobody could guess it.
    for (int slot = 0; slot < slot_end; ++slot) {
        const uint64_t is_astray = -(uint64_t)astray[slot];
        touched[slot] |= layouts[class_index[slot]].position & is_astray;
    }
}

ph_ranking_errors ph_priorities_fill(const ph_priorities* of)
{
    const ph_outlook* outlook = of->outlook;
    const ph_knowledge* knowledge = &of->sender->knowledge;
    const ph_scheduler* scheduler = &of->sender->scheduler;
    const bool has_change = scheduler->wants_change || scheduler->wants_errors;
    ph_ranking_errors errors = {0};
    if (has_change) {
        ph_unrest_fill(outlook, of->scratch->change);
    }
    if (of->sender->expectation != NULL) {
        errors = ph_errors_fill(&(ph_error_span){
            .outlook = outlook,
            .eye_z_mm = of->eye_z_mm,
            .count = outlook->slot_end,
            .shown = outlook->shown,
            .lanes = of->lanes,
            .touched = knowledge->touched,
        });
        find_astray(of);
    }
    const ph_ranking ranking = {
        .slot_count = outlook->slot_end,
        .distance_mm = of->scratch->distance_mm,
        .weight = knowledge->weight,
        .mileage_mm = of->scratch->mileage_mm,
        .touched = knowledge->touched,
        .score = knowledge->score,
        .priority = of->scratch->priority,
        .change = has_change ? of->scratch->change : NULL,
        .errors = scheduler->wants_errors ? &errors : NULL,
    };
    scheduler->rank(scheduler->context, &ranking);
    return errors;
}
