// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a send looks at before it visits anybody: how far away everybody is, which references mean
// another slot than before, and who waits. One pass each over the slots of a viewer.

#ifndef PH_WORLD_SURVEY_H
#define PH_WORLD_SURVEY_H

#include "world/due.h"

typedef struct ph_survey {
    const ph_outlook* outlook;
    ph_sender* sender;
    const ph_send_scratch* scratch; // distance_mm and mileage_mm are filled
    uint32_t now_ms;                // never 0
} ph_survey;

typedef struct ph_surveyed {
    int overdue_count; // have waited for longer than patience allows
    int touched_count; // may have something to be told
} ph_surveyed;

ph_surveyed ph_survey_all(const ph_survey* survey);

// References alone; needs neither scratch nor time.
void ph_survey_references(const ph_survey* survey);

// Of `touched`, which the slot was, keeps what of `asked` was found to be due, and what was found to be
// too far away.
static inline void ph_survey_keep(ph_knowledge* knowledge, const ph_place* at, uint64_t touched,
                                  uint64_t asked, const ph_due* due)
{
    ph_dossier* dossier = at->dossier;
    knowledge->touched[at->slot] = (touched & ~asked) | due->due;
    dossier->repeats &= ~asked | due->due | due->beyond;
    if (((dossier->beyond & asked) | due->beyond) != 0) {
        float* wake_mm2 = &knowledge->wake_mm2[at->slot];
        dossier->beyond &= ~asked;
        *wake_mm2 = dossier->beyond != 0 ? *wake_mm2 : 0.0f;
        *wake_mm2 = due->wake_mm2 > *wake_mm2 ? due->wake_mm2 : *wake_mm2;
        dossier->beyond |= due->beyond;
    }
}

#endif
