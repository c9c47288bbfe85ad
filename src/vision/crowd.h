// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What vision looks at: plain arrays that the world fills, and who is looking.

#ifndef PH_VISION_CROWD_H
#define PH_VISION_CROWD_H

#include <pinhole/vision.h>

// Visibility bits of an entity.
#define PH_SEEN_ALWAYS 1u // seen at any distance, before all others, by those who may see it
#define PH_SEEN_NEVER 2u

// All entities, as parallel arrays by entity index. Borrowed for the length of a call.
typedef struct ph_crowd {
    const int32_t* x_mm;
    const int32_t* y_mm;
    const uint32_t* seen_by;     // mask: an eye sees it only when its sees meets this
    const uint8_t* flags;        // PH_SEEN_ALWAYS, PH_SEEN_NEVER
    const uint64_t* spawn_order; // unique, ascending with time of spawn: breaks ties;
                                 // UINT64_MAX where there is no entity
    const ph_entity_index* live; // the entities there are, in no particular order
    int live_count;
    int capacity; // every index is below it
} ph_crowd;

// May answer no for reasons of the game (invisible, other instance). Called only for entities that
// the masks allow; must depend on nothing that this viewer may not know.
typedef bool ph_visible_callback(void* context, uint32_t viewer, ph_entity_index entity);

// One viewer's question.
typedef struct ph_eye {
    int32_t x_mm;
    int32_t y_mm;
    uint32_t sees;                 // mask
    uint32_t viewer;               // passed to the callback
    ph_entity_index own;           // never an answer; PH_ENTITY_NONE for a spectator
    int64_t radius_mm;             // answers are at this distance at most, 0..2^31; ALWAYS excepted
    int wanted;                    // at most so many answers
    int64_t enter_mm;              // radius_mm at most: nearer ones enter; only views ask
    ph_visible_callback* callback; // NULL: masks alone decide
    void* context;
    uint8_t* verdicts; // by entity: what the callback said; NULL: nobody wants to know
} ph_eye;

// One answer. Nearer means: smaller distance2, then smaller spawn order. ALWAYS entities come
// first, with distance2 0, by spawn order among themselves.
typedef struct ph_seen {
    uint64_t distance2; // mm^2 in the plane, the short way round the world
    uint64_t spawn_order;
    ph_entity_index entity;
} ph_seen;

static inline uint64_t ph_distance2(int32_t ax, int32_t ay, int32_t bx, int32_t by)
{
    // Differences wrap: the short way round. 2^31 squared twice is 2^63, which fits.
    const int64_t dx = (int32_t)((uint32_t)ax - (uint32_t)bx);
    const int64_t dy = (int32_t)((uint32_t)ay - (uint32_t)by);
    return (uint64_t)(dx * dx) + (uint64_t)(dy * dy);
}

#endif
