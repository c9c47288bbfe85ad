// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The front-ends of a world as they report themselves, and which of them a player goes to: near the others that it is
// among, so that a front-end needs few cells, and where there is room. Nothing of it is stored: what is known comes
// from the reports of the last two seconds.

#ifndef PH_APP_DIRECTOR_FRONTS_H
#define PH_APP_DIRECTOR_FRONTS_H

#include "bus/bus_wire.h"

enum { DIRECTOR_FRONTS_MAX = 256, DIRECTOR_CHOICES_MAX = 4 };

typedef struct director_front {
    bus_front_report report;
    uint64_t heard_us;
    double sent; // players that were sent there since the report before the last; they fade
} director_front;

// {0} knows none. Read-only outside.
typedef struct director_fronts {
    director_front all[DIRECTOR_FRONTS_MAX];
    int count;
} director_fronts;

// A report has come. Those that have fallen silent are forgotten.
void director_fronts_take(director_fronts* fronts, const bus_front_report* report, uint64_t now_us);
void director_fronts_forget(director_fronts* fronts, uint64_t now_us);

typedef struct director_question {
    const int32_t* place_mm; // of the entity; NULL: not known
    const char* not_front;   // "": any
    int count;               // of front-ends, 1..DIRECTOR_CHOICES_MAX
    uint64_t client_id;      // spreads those that are alike
} director_question;

// The best ones, the best first, each once; they count as sent there. @return How many there are.
int director_fronts_choose(director_fronts* fronts, const director_question* question,
                           const director_front* chosen[DIRECTOR_CHOICES_MAX]);

#endif
