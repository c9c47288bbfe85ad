// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A crowd, viewers, and groups of them. Distances are the default ones: members leave at 60 m, join
// at 40 m, groups merge at 20 m.

#ifndef PINHOLE_GROUPS_SCENE_H
#define PINHOLE_GROUPS_SCENE_H

#include "test_memory.h"

#include "vision/groups.h"

#include <pinhole/stats.h>

enum {
    GROUPS_CROWD = 400,
    GROUPS_VIEWERS = 200,
    GROUPS_WANTED_MAX = GROUPS_CROWD + 50,
    GROUPS_METRE = 1000,
};

typedef struct groups_scene {
    int32_t x_mm[GROUPS_CROWD];
    int32_t y_mm[GROUPS_CROWD];
    uint32_t seen_by[GROUPS_CROWD];
    uint8_t flags[GROUPS_CROWD];
    uint64_t spawn_order[GROUPS_CROWD];
    ph_entity_index live[GROUPS_CROWD];
    ph_entity_arrays crowd;
    ph_eye eyes[GROUPS_VIEWERS];
    bool is_added[GROUPS_VIEWERS];
    ph_vision_def def;
    test_memory memory;
    ph_grid* grid;
    ph_groups* groups;
    ph_seen* scratch;
    ph_vision_stats stats; // after the last update or check
} groups_scene;

void groups_scene_setup(groups_scene* scene);
void groups_scene_teardown(groups_scene* scene);

// At a place, to be seen by mask 1. Entities are spawned in the order of their numbers.
void groups_scene_spawn(groups_scene* scene, int32_t x_mm, int32_t y_mm);

// A spectator with mask 1 that wants 10 within 100 m.
void groups_scene_add(groups_scene* scene, uint32_t viewer, int32_t x_mm, int32_t y_mm);
void groups_scene_remove(groups_scene* scene, uint32_t viewer);

// One tick: sorts the crowd, updates the groups, validates them.
void groups_scene_update(groups_scene* scene);

// Asks for one viewer, and fails the test unless groups and brute force agree.
void groups_scene_check(groups_scene* scene, uint32_t viewer, int first);

// Checks all viewers, in the order of the groups, and that nothing was allocated.
void groups_scene_check_all(groups_scene* scene);

#endif
