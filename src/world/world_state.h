// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a world is made of, for the files of this folder, and which declarations make sense:
//
//   world_state.c     declarations: their defaults and limits
//   world.c           creation, growth, the tick
//   world_entities.c  the public functions about entities: spawn, set, get, move
//   removals.c        the entities that were despawned last
//   viewers.c         the table of viewers, and their refresh once per tick
//   world_viewers.c   the public functions about viewers: sight, sends, acks, budgets, statistics
//
// What happens in a send or for an ack is replication's: it gets a send context, never the world.

#ifndef PH_WORLD_WORLD_STATE_H
#define PH_WORLD_WORLD_STATE_H

#include "base/check.h"
#include "entities/store.h"
#include "entities/columns.h"
#include "entities/entities.h"
#include "packet/baseline.h"
#include "packet/pinhole_records.h"
#include "vision/nearby.h"
#include "replication/send.h"
#include "world/removals.h"
#include "world/viewers.h"
#include "tools/tools.h"

#include <pinhole/viewer.h>

// Half way round the world: nothing is further along an axis.
#define PH_RADIUS_MAX_MM (INT64_C(1) << 31)

// Reports the first field that is wrong. @return PH_OK or PH_ERROR_ARGUMENT.
ph_result ph_world_def_check(const ph_world_def* def);

void ph_viewer_def_check(ph_check* check, const ph_viewer_def* def, int32_t radius_max_mm);

void ph_budget_check(ph_check* check, const char* rate_field, int bits_per_second,
                     const char* burst_field, int burst_bits);

// What was wrong with a call of this public function: to check arguments by, or at once.
ph_check ph_world_call(const ph_world* world, const char* function);

// @return PH_ERROR_STALE.
ph_result ph_world_fail_entity(const ph_world* world, const char* function, ph_entity_id entity);
ph_result ph_world_fail_viewer(const ph_world* world, const char* function, ph_viewer_id viewer);

// How many viewers are refreshed at once.
int ph_world_question_count(const ph_world_def* def, int sends_at_once);

// What the zeros of a declaration stand for.
int ph_slot_count_of(const ph_viewer_def* def, ph_profile profile);

// Rank and distance at which an entity leaves.
int ph_wider_count(int visible_max, double hysteresis);

int64_t ph_wider_radius(int32_t radius_mm, double hysteresis);

struct ph_world {
    ph_world_def def;
    ph_store store;
    ph_viewers viewers;
    ph_nearby nearby;
    ph_send_blocks sends;
    ph_removals removals;
    uint64_t clamped_values;
    uint64_t refused_values;
    ph_lent_clock clock;           // {0}: nothing is measured
    ph_stage_times times;          // of the ticks; those of sends are with the senders
    bool are_displacements_wanted; // by the scheduler of a viewer; pinhole worlds always note them
    bool is_sorted; // nearby knows the entities and eyes as they are now; for validation
};

// Room for one more entity of this class. @return PH_OK, or PH_ERROR_MEMORY with the world as it
// was.
ph_result ph_world_make_room(ph_world* world, int class_index);

// The same for so many, by class. On PH_ERROR_MEMORY there may be more room than before, nothing else
// has changed.
ph_result ph_world_make_much_room(ph_world* world, const int* counts);

// Keeps a value that is quantised already: the words, or for STRING and BYTES the text. Notes what
// changed.
void ph_world_store_value(ph_world* world, ph_entity_index index, int property, uint32_t* words,
                          const ph_text* text);

// The same for the position, as ph_world_move() does after its checks.
void ph_world_store_position(ph_world* world, ph_entity_index index, const int32_t position_mm[3]);

// The index of a live viewer. @return False for a stale id.
bool ph_world_try_viewer(const ph_world* world, ph_viewer_id viewer, uint32_t* index);

// What replication is given of one viewer. Borrowed until the next change of the world.
ph_send_context ph_world_send_context(const ph_world* world, uint32_t index);

#endif
