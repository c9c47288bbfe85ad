// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The crowds of `pinhole bench vision`, and the yardsticks: a plain counting sort, and a plain
// sweep that copies the candidates of a question.

#ifndef PH_BENCH_VISION_SCENE_H
#define PH_BENCH_VISION_SCENE_H

#include "vision/grid.h"
#include "vision/groups.h"

// What a scene looks like.
typedef struct vision_scene_def {
    int entity_count;
    int per_km2;        // evenly, in a square
    int hot_spot_count; // so many of the entities are within HOT_SPOT_MM of the middle
    int viewer_count;   // in the hot spot if there is one
    int wanted;
    int64_t radius_mm;
} vision_scene_def;

#define HOT_SPOT_MM 50000

// One entity as a record, for the plain sort and the plain sweep.
typedef struct vision_record {
    int32_t x_mm;
    int32_t y_mm;
    uint32_t seen_by;
    ph_entity_index entity;
    uint64_t spawn_order;
} vision_record;

// A piece of the grid's arrays.
typedef struct vision_run {
    uint32_t begin;
    uint32_t end;
} vision_run;

typedef struct vision_scene {
    vision_scene_def def;
    int32_t* x_mm[2]; // two ticks: all entities have moved between them
    int32_t* y_mm[2];
    ph_entity_arrays crowds[2];
    ph_eye* eyes;
    ph_grid* grid; // of the second tick
    ph_groups* groups;
    ph_seen* scratch;
    ph_seen* seen;

    // Plain sort.
    uint32_t* cell_start;
    uint32_t* cell_of;
    ph_entity_index* sorted;
    vision_record* records[2]; // the crowd of each tick
    vision_record* sorted_records;

    // Plain sweep: the candidates of each viewer, as pieces of the grid's arrays.
    vision_run* runs;
    int* first_run; // by viewer, and one for the end
    int64_t candidate_count;
    int64_t answer_count;
    vision_record* copies;
} vision_scene;

// False when there is no memory for it; the program ends then, so nothing is given back.
bool vision_scene_make(vision_scene* scene, const vision_scene_def* def);

// Compares `sample_count` questions, to the grid and through groups, with brute force.
bool vision_scene_is_exact(const vision_scene* scene, int sample_count);

// What is measured. Each takes a vision_scene.
uint64_t vision_rebuild(const void* scene);      // both ticks
uint64_t vision_sort_records(const void* scene); // both ticks
uint64_t vision_sort_indices(const void* scene); // both ticks
uint64_t vision_query(const void* scene);        // all viewers
uint64_t vision_query_wide(const void* scene);   // a tenth wider, the wanted ones first
uint64_t vision_groups(const void* scene);       // all viewers, the groups' own upkeep included
uint64_t vision_sweep(const void* scene);        // all viewers
uint64_t vision_brute_force(const void* scene);  // VISION_BRUTE_VIEWERS viewers

#define VISION_BRUTE_VIEWERS 8

#endif
