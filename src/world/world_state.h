// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a world is made of. Shared by the files of this folder and by nobody else:
//   world.c        creation, the tick, validation
//   population.c   spawn, despawn, names, visibility
//   values.c       put, get, set, read, move
//   viewing.c      viewers, what they see, and their budgets and hints
//   rounds.c       sends to viewers, each by sending.c
//   acknowledge.c  their answers
//   viewer_stats.c how they are doing
//   why.c          what priorities are made of

#ifndef PH_WORLD_WORLD_STATE_H
#define PH_WORLD_WORLD_STATE_H

#include "wire/coded_told.h"
#include "wire/surprise.h"
#include "world/entities.h"
#include "world/forms.h"
#include "world/lookout.h"
#include "world/table.h"
#include "world/viewers.h"

#include <pinhole/world.h>

struct ph_world {
    ph_world_def def;
    ph_entities entities;
    ph_table* tables; // by class
    int class_count;
    ph_forms forms;
    int16_t growths[PH_GROWTH_TICKS]; // of surprises, see wire/surprise.h
    ph_told_costs told_costs;
    ph_normals normals;
    ph_viewers viewers;
    ph_lookout lookout;
    ph_now_ns* now_ns; // NULL: nothing is measured
    void* now_context;
    ph_stage_times times; // of the ticks; those of sends are with the senders
    uint32_t tick;
    bool are_ways_wanted; // by the scheduler of a viewer; pinhole worlds always note them
    bool is_sorted;       // the lookout knows the entities and eyes as they are now; for validation
};

static inline float ph_world_tick_s(const ph_world* world)
{
    return (float)world->def.tick_us * 1e-6f;
}

// Room for one more entity of this class. @return PH_OK, or PH_ERROR_MEMORY with the world as it
// was.
ph_result ph_world_make_room(ph_world* world, int class_index);

// The index of a live viewer. @return False for a stale id.
bool ph_world_try_viewer(const ph_world* world, ph_viewer_id viewer, uint32_t* index);

// The double of a capacity, or at least 16. @return 0 when no int is that large.
int ph_grown_capacity(int capacity);

#endif
