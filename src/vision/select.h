// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Choosing the nearest: shared by grid and groups.

#ifndef PH_VISION_SELECT_H
#define PH_VISION_SELECT_H

#include "vision/entity_arrays.h"

static inline bool ph_seen_is_nearer(const ph_seen* a, const ph_seen* b)
{
    return a->distance2 < b->distance2 ||
           (a->distance2 == b->distance2 && a->spawn_order < b->spawn_order);
}

// What the callback says, which the masks have been asked before.
static inline bool ph_eye_ask(const ph_eye* eye, ph_entity_index entity)
{
    if (eye->callback == NULL) {
        return true;
    }
    const bool is_visible = eye->callback(eye->context, eye->viewer, entity);
    if (eye->visibility != NULL) {
        eye->visibility[entity] = is_visible;
    }
    return is_visible;
}

// True when the eye may see it: masks, flags, own entity, callback. Distance is not considered.
bool ph_eye_may_see(const ph_eye* eye, const ph_entity_arrays* arrays, ph_entity_index entity);

// Moves the `wanted` nearest to the front, the furthest of them to the very front, the others in no
// particular order. @return min(count, wanted).
int ph_select_nearest(ph_seen* seen, int count, int wanted);

// The result of a query for `wanted`, in place: of found[0..count), of which the first
// always_count are ALWAYS entities, moves the `wanted` to the front that come first, and of these
// the `first` that come first to the very front. first <= wanted. @return How many.
int ph_select_results(ph_seen* found, int always_count, int count, int wanted, int first);

// Sorts nearest first. For the few that enter.
void ph_sort_nearest(ph_seen* seen, int count);

// The result by looking at every entity: what grid and groups must equal. For tests and benchmarks.
// scratch holds arrays->live_count.
int ph_nearest_brute_force(const ph_entity_arrays* arrays, const ph_eye* eye, int first,
                           ph_seen* scratch, ph_seen* seen);

#endif
