// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A recording being played: the truth of the present tick, and the same put into a world. Each run
// has a source of its own; recording and schema are shared.
//
//     ph_source* source = ph_source_create(recording, schema, &fault);
//     do {
//         ph_source_put(source, world);
//         ph_world_tick(world);
//         ... source->x_mm[i] ...
//     } while (ph_source_step(source));
//     ph_source_destroy(source);

#ifndef PINHOLE_KIT_SOURCE_H
#define PINHOLE_KIT_SOURCE_H

#include "kit/column_bindings.h"

#include <pinhole/world.h>

// Arrays by entity of the recording, read-only outside.
typedef struct ph_source {
    const ph_recording* recording;
    const ph_schema* schema;
    ph_column_bindings* bindings; // by class of the recording
    bool has_references;
    int tick; // 0..recording->tick_count - 1
    int present_count;
    bool* present;
    int* row; // of the recording at this tick; -1 while it is absent
    // While it is absent: where it was last; 0 before it ever was there.
    int32_t* x_mm;
    int32_t* y_mm;
    int32_t* z_mm;
    float* heading_deg;
    double (*rotation)
        [4]; // x, y, z, w; NULL when neither the recording nor the schema knows more than a heading
    bool* is_jump; // it did not move here since the tick before
    // In the world: {0} while it is absent, as of the last put.
    ph_entity_id* entity_id;
    int* put_row; // what was put last; -1 while it is absent
} ph_source;

// At the first tick. Recording and schema are borrowed and outlive the source.
// @return NULL with *fault filled: no memory, or schema and recording do not match, see
// ph_column_bindings_make().
ph_source* ph_source_create(const ph_recording* recording, const ph_schema* schema,
                            ph_fault* fault);
void ph_source_destroy(ph_source* source); // NULL is allowed

// Goes on to the next tick. @return false, and stays, at the last one.
bool ph_source_step(ph_source* source);

// Goes on to the first tick, in the same world: an entity that is elsewhere there jumps.
void ph_source_loop(ph_source* source);

// Back to the first tick, for another world.
void ph_source_rewind(ph_source* source);

// A value beside position and heading at this tick, of an entity that is present; NaN for an empty
// cell, the number of the word for words.
double ph_source_value(const ph_source* source, int column, int entity);

// Makes the world equal to this tick: spawns those that appeared since the last put (named by their
// id) or became one of another class, despawns those that vanished, sets what changed of all others. All entities of one source
// go into one world, whose schema is that of the source.
// @return PH_OK, or why a spawn failed; another put then goes on with the rest.
ph_result ph_source_put(ph_source* source, ph_world* world);

// ---- one entity at a time, for worlds that have only some of them; the tick of the source does not matter

// Spawns an entity as a row of the recording has it, under any key. @return PH_OK, or why it failed, with nothing spawned.
ph_result ph_source_spawn_row(const ph_source* source, ph_world* world, int row, uint64_t key,
                              ph_entity_id* id);

// Sets what differs between two rows; old_row -1: everything. References stay as they are.
// @return PH_OK, or why it failed: PH_ERROR_ARGUMENT where the entity is of another class in that row.
ph_result ph_source_set_row(const ph_source* source, ph_world* world, ph_entity_id id, int row,
                            int old_row);

#endif
