// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Whether a client shows the truth while the world stands: from a copy of the source, without a word from sims and
// front-ends.

#ifndef PH_APP_CLUSTER_CHECK_H
#define PH_APP_CLUSTER_CHECK_H

#include "cluster_truth.h"

#include <pinhole/client.h>

typedef struct cluster_check {
    const cluster_truth* truth; // at the tick that is looked at
    ph_world* world;            // made of it
    int32_t radius_mm;
    int slots;
} cluster_check;

// What differs.
typedef struct cluster_difference {
    int missing;  // within the radius, and not shown
    int phantoms; // shown, and not there, or far beyond the radius
    int wrong;    // shown with another value
    uint64_t key; // of one of them
} cluster_difference;

// The truth must stay at its tick. @return False with *fault filled.
// radius_mm: of the views.
bool cluster_check_begin(cluster_check* check, const cluster_truth* truth, int32_t radius_mm,
                         ph_fault* fault);
void cluster_check_end(cluster_check* check); // {0} is allowed

// What a client shows whose own entity has this key. @return Whether it is exactly the truth.
bool cluster_check_is_equal(const cluster_check* check, const ph_client* client, uint64_t own_key,
                            cluster_difference* difference);

#endif
