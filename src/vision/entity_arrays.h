// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What vision looks at: plain arrays that the world fills, and the eye of a viewer.

#ifndef PH_VISION_ENTITY_ARRAYS_H
#define PH_VISION_ENTITY_ARRAYS_H

#include "base/math.h"

#include <pinhole/vision.h>

// Visibility bits of an entity.
#define PH_SEEN_ALWAYS 1u // seen at any distance, before all others, by viewers that may see it
#define PH_SEEN_NEVER 2u

// All entities, as parallel arrays by entity index. Borrowed for the length of a call.
typedef struct ph_entity_arrays {
    const int32_t* x_mm;
    const int32_t* y_mm;
    const uint32_t* seen_by;     // mask: an eye sees it only when its sees meets this
    const uint8_t* flags;        // PH_SEEN_ALWAYS, PH_SEEN_NEVER
    const uint64_t* spawn_order; // unique, ascending with time of spawn: breaks ties;
                                 // UINT64_MAX where there is no entity
    const ph_entity_index* live; // the entities there are, in no particular order
    int live_count;
    int capacity; // every index is below it
} ph_entity_arrays;

// May return false for reasons of the game (invisible, other instance). Called only for entities that
// the masks allow; must depend on nothing that this viewer may not know.
typedef bool ph_visible_callback(void* context, uint32_t viewer, ph_entity_index entity);

// One viewer's question.
typedef struct ph_eye {
    int32_t x_mm;
    int32_t y_mm;
    uint32_t sees;                 // mask
    uint32_t viewer;               // passed to the callback
    ph_entity_index own;           // never a result; PH_ENTITY_NONE for a spectator
    int64_t radius_mm;             // results are at this distance at most, 0..2^31; ALWAYS excepted
    int wanted;                    // at most so many results
    int64_t enter_mm;              // radius_mm at most: nearer ones enter; only views ask
    ph_visible_callback* callback; // NULL: masks alone decide
    void* context;
    uint8_t* visibility; // by entity: what the callback said; NULL: not kept
} ph_eye;

// One result. Nearer means: smaller distance2, then smaller spawn order. ALWAYS entities come
// first, with distance2 0, by spawn order among themselves.
typedef struct ph_seen {
    uint64_t distance2; // mm^2 in the plane, the short way round the world
    uint64_t spawn_order;
    ph_entity_index entity;
} ph_seen;

// What one viewer's question found, without a list: how far the exact result reaches. An entity that
// may be seen and is within reach is in it, so the members of a view are judged where they stand,
// and only newcomers have to be named. A view is kept for the next question, which begins where this one
// ended: a few enter and leave in a second, and the reach hardly moves.
//
//   enter   what becomes visible: among the nearest, and within the radius
//   near    among the nearest
//   wide    within the hysteresis: what is visible stays so

// {0} has none. Between two that are equally far, spawn order decides.
typedef struct ph_reach {
    uint64_t distance2; // all that are nearer are within,
    uint64_t end_order; // and what is as far, if it was spawned before
} ph_reach;

static inline bool ph_reach_has(const ph_reach* reach, uint64_t distance2, uint64_t spawn_order)
{
    return distance2 < reach->distance2 ||
           (distance2 == reach->distance2 && spawn_order < reach->end_order);
}

static inline bool ph_reach_is_further(const ph_reach* reach, const ph_reach* than)
{
    return reach->distance2 > than->distance2 ||
           (reach->distance2 == than->distance2 && reach->end_order > than->end_order);
}

// {0} for the first question.
typedef struct ph_view {
    ph_reach enter;
    ph_reach near;
    ph_reach wide;
    uint64_t near_always_end; // ALWAYS entities that were spawned before
    uint64_t wide_always_end;
    int enter_count; // how many may be seen within `enter`, ALWAYS entities included
} ph_view;

#endif
