// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the scheduler makes of everybody whom a viewer has in view: one pass over the slots for each thing
// that it wants to know, and its own. Once per send, after the survey.

#ifndef PH_WORLD_PRIORITIES_H
#define PH_WORLD_PRIORITIES_H

#include "world/errors.h"

typedef struct ph_priorities {
    const ph_outlook* outlook;
    ph_sender* sender;
    const ph_send_scratch* scratch; // priority is filled, and change if it is wanted
    const ph_error_lanes* lanes;    // are filled if there is an expectation
    int32_t eye_z_mm;
} ph_priorities;

// Also notes who is astray. @return The errors; {0} where there is no expectation.
ph_ranking_errors ph_priorities_fill(const ph_priorities* of);

#endif
