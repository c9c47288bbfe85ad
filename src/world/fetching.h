// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Hints of who will be sent to next. What a send looks at is in no cache, and is found from pointer to
// pointer: so each is fetched a turn before the next. What is swept is the most of it, and a processor
// fetches only some lines at a time and drops what it is asked for beyond that: it is fetched by and by,
// while the one before is visited slot by slot. Nothing here decides anything.

#ifndef PH_WORLD_FETCHING_H
#define PH_WORLD_FETCHING_H

#include "base/prefetch.h"
#include "world/sender.h"
#include "world/world_state.h"

// {0}: nobody follows.
typedef struct ph_foresight {
    const ph_sender* sender; // of the viewer who is sent to next
    // What is swept of it, and was not fetched yet.
    ph_stretch slots;
    ph_stretch knowledge;
    ph_stretch baselines;   // pinhole profile
    ph_stretch expectation; // where there is one
} ph_foresight;

// Of the viewer with this index, or PH_NOBODY_FOLLOWS.
ph_foresight ph_foresight_make(const ph_world* world, uint32_t next);

// Who follows the viewer of this sender; said of one send only, whatever becomes of that.
static inline uint32_t ph_sender_take_follower(ph_sender* sender)
{
    const uint32_t next = sender->follower;
    sender->follower = PH_NOBODY_FOLLOWS;
    return next;
}

// With every visit.
static inline void ph_foresight_go_on(ph_foresight* foresight)
{
    ph_stretch_fetch(&foresight->slots, 2);
    ph_stretch_fetch(&foresight->knowledge, 4);
    ph_stretch_fetch(&foresight->baselines, 2);
    ph_stretch_fetch(&foresight->expectation, 2);
}

// After the last visit.
void ph_foresight_finish(ph_foresight* foresight);

#endif
