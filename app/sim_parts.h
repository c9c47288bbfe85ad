// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Which parts of the library a run uses, by the words of the options: which entity goes first, how
// values are coded, how exact positions are, how often is sent. A profile is a choice of all of
// them; each can be exchanged alone.
//
//              schedule   coding   precision   hz
//   classic    score      plain    fixed       5
//   pinhole    error      model    distance    auto
//   snapshot   none       snapshot fixed       auto
//
//   plain      the wire of classic: values as they are
//   delta      differences to what the client is known to have, as universal codes
//   model      the same differences, by learned models
//   snapshot   whole snapshots (kit/snapshot.h): its parts go together, none can be exchanged

#ifndef PH_APP_SIM_PARTS_H
#define PH_APP_SIM_PARTS_H

#include "kit/sim.h"

typedef struct sim_parts {
    const char* name; // of a column
    const char* profile;
    const char* schedule;
    const char* coding;
    const char* precision;
    const char* hz; // a number, or "auto"
} sim_parts;

// Fills what is NULL with what the profile has, and "pinhole" for the profile itself.
// @return NULL, or a sentence on what does not go together.
const char* sim_parts_complete(sim_parts* parts);

// Sets the def to complete parts.
void sim_parts_apply(const sim_parts* parts, ph_sim_def* def);

// Each part on its own beside classic, and each taken away from pinhole; classic first, pinhole
// last. Not complete.
enum { SIM_ABLATION_COUNT = 12 };
extern const sim_parts sim_ablation[SIM_ABLATION_COUNT];

#endif
