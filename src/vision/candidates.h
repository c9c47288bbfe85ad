// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One list of candidates for viewers that stand together: everything that any of them may be shown,
// copied into a row, so that each sweeps it for its own nearest. Made once per group and tick,
// swept once per member. Only reserve allocates.

#ifndef PH_VISION_CANDIDATES_H
#define PH_VISION_CANDIDATES_H

#include "vision/grid.h"
#include "vision/sweep.h"

// {0} has no room and may be reserved and destroyed. Fields are read-only outside candidates.c.
typedef struct ph_candidates {
    ph_lineup lineup;
    ph_entity_index* found; // what the grid found
    ph_seen* nearest;       // what is nearest to the centre
    void* block;            // holds all of these
    int capacity;
    int count;
} ph_candidates;

// Room for lists of `capacity` entities; the list is lost when it grows.
// @return PH_OK, or PH_ERROR_MEMORY with everything as it was.
ph_result ph_candidates_reserve(ph_candidates* candidates, const ph_allocator* allocator,
                                int capacity);
void ph_candidates_destroy(ph_candidates* candidates, const ph_allocator* allocator);

// The least whole number whose square is not below `square`. square is at most 2^63.
int64_t ph_square_root_up(uint64_t square);

// Makes the list for all eyes that are like this one (mask, radius, wanted, callback or none) and
// at most reach_mm from its place; whose own entity it is does not matter. scratch as for the grid.
// @return false when such a list would reach further than the grid can be asked.
bool ph_candidates_try_make(ph_candidates* candidates, const ph_grid* grid, const ph_crowd* crowd,
                            const ph_eye* centre, int64_t reach_mm, ph_seen* scratch);

// As ph_grid_gather(), for one of these eyes.
ph_sweep ph_candidates_gather(const ph_candidates* candidates, const ph_eye* eye, int wanted,
                              int first, const ph_view* last, ph_seen* scratch);

#endif
