// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All viewers of a world: where they look from, what they may see, and their slots.
//
//   viewer index   0       1       2
//   eyes           eye     eye     .         the wider question: hysteresis * radius and rank
//   viewers        slots   slots   NULL      NULL: no viewer there
//
// Each is refreshed when its turn comes: when index + tick is a multiple of refresh_ticks. Out of
// turn, only when it is new, has changed itself, shows an entity that is gone or hidden since, or when
// an entity came into its view at once (or the eye itself did): spawned, shown, or by a jump.
// None of that depends on an entity that the viewer may not see.

#ifndef PH_WORLD_VIEWERS_H
#define PH_WORLD_VIEWERS_H

#include "base/id_pool.h"
#include "entities/store.h"
#include "vision/nearby.h"
#include "vision/slots.h"

#include <pinhole/world.h>
#include <pinhole/stats.h>

struct ph_sender;

typedef struct ph_viewer {
    ph_viewer_id id;
    ph_slots* slots; // NULL: no viewer
    struct ph_sender* sender;
    ph_entity_id own;
    int32_t eye_z_mm;
    uint32_t audience;
    int32_t radius_mm; // the exact vision, before hysteresis
    int visible_max;
    ph_view view; // of the last refresh
    uint32_t refreshed_tick;
    bool is_sight_new; // an entity entered or left in the last refresh
    bool is_urgent;    // to be refreshed by the next tick, whatever its turn
    bool is_send_late; // its send found no scratch block: see ph_world_send_all()
    bool has_leapt;    // the same, because its eye was moved by as much as a jump
} ph_viewer;

// {0} has no room and may be destroyed. Fields are read-only outside viewers.c and
// world_viewers.c.
typedef struct ph_viewers {
    ph_eye* eyes;
    ph_viewer* viewers;
    int capacity; // of both
    ph_id_pool ids;
    // Refreshes, enters, leaves; the waits of viewers that are gone.
    ph_vision_stats stats;
    ph_allocator allocator;
} ph_viewers;

// @return PH_OK, or PH_ERROR_MEMORY with *viewers set to {0}.
ph_result ph_viewers_create(ph_viewers* viewers, const ph_allocator* allocator, int capacity);

void ph_viewers_destroy(ph_viewers* viewers);

// @return PH_OK, or PH_ERROR_MEMORY with all viewers as before.
ph_result ph_viewers_reserve(ph_viewers* viewers, int capacity);

bool ph_viewers_is_full(const ph_viewers* viewers);

// Adds one; not when full. The eye's number of the viewer is filled in; the slots are owned from
// now on, and so is the sender.
// @return Its id.
ph_id ph_viewers_add(ph_viewers* viewers, const ph_viewer* viewer, const ph_eye* eye);

// Removes a live one and destroys its slots and sender.
void ph_viewers_remove(ph_viewers* viewers, ph_id id);

// What one refresh of all viewers looks at, and what runs it: as many jobs at once as nearby has
// questions. The result is the same on any number of threads.
typedef struct ph_refresh {
    const ph_store* store;
    ph_nearby* nearby;
    const ph_vision_def* vision;
    ph_run_jobs_fn* run_jobs; // NULL: on the caller's thread
    void* run_jobs_context;
} ph_refresh;

// Moves the eye of a viewer; further than far_mm is a leap.
void ph_viewers_look_from(ph_viewers* viewers, uint32_t viewer, const int32_t eye_mm[3],
                          int64_t far_mm);

// Moves the eye of a viewer to its own entity, or to where that died since the last tick; if it has
// been gone for longer, the eye stays.
void ph_viewers_follow(ph_viewers* viewers, uint32_t viewer, const ph_entities* entities);

// Once per tick: moves the eyes, sorts, refreshes those whose turn it is. Allocates nothing.
void ph_viewers_refresh(ph_viewers* viewers, const ph_refresh* refresh);

// After a refresh, before the changes are filed: what came into each view and left it, and what some
// viewer has not heard of for so long that it would be forgotten. Allocates nothing.
void ph_viewers_propagate(ph_viewers* viewers, const ph_refresh* refresh);

// Whether pool, eyes and slots agree, and no slot shows what is gone and whose index is another's.
// For tests.
bool ph_viewers_validate(const ph_viewers* viewers, const ph_entities* entities);

#endif
