// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What all viewers of a run have in common: the truth at this tick, the world that it was put into,
// and what is asked of clients. Changed once per tick on one thread, read on all.

#ifndef PINHOLE_KIT_SIM_STAGE_H
#define PINHOLE_KIT_SIM_STAGE_H

#include "kit/meter.h"
#include "kit/recording.h"
#include "kit/sim.h"
#include "kit/source.h"

// A column that clients are judged by: classes that tell of it equally far, each by a property of its own.
typedef struct ph_sim_trait {
    int column;
    double distance_m;
} ph_sim_trait;

// What of a trait an entity of a class has.
typedef struct ph_sim_trait_part {
    bool is_there;
    uint8_t property;
    ph_field field; // as what it is read at both ends
} ph_sim_trait_part;

// Whether every client is told of the property, again whenever it changes: then it can be stale.
bool ph_sim_is_for_all(const ph_property_def* property);

typedef struct ph_sim_stage {
    const ph_sim_def* def;
    const ph_recording* recording;
    const ph_schema* schema;
    ph_source* source;
    ph_world* world;
    ph_truth_history* history;
    ph_sim_trait traits[PH_PROPERTIES_MAX];
    int trait_count;
    ph_sim_trait_part* parts; // by class of the recording, then by trait: PH_PROPERTIES_MAX of each
    uint64_t* has;            // by entity: bit t, it has a value of trait t now
    uint64_t* changed;        // by entity: bit t, that value may have changed with this tick
    uint32_t tick_us;
    uint64_t start_us; // virtual time of the first tick; may be set before that is put
    int tick;          // goes on while the world stands still
    bool is_standing;  // the truth does not go on
    bool is_looping;   // after the last tick of the recording the first one comes again
    uint64_t world_ns; // CPU time of the world's ticks so far
} ph_sim_stage;

// At the first tick, with nothing put yet. The arguments outlive the stage.
// @return NULL with *fault filled.
ph_sim_stage* ph_sim_stage_create(const ph_sim_def* def, const ph_recording* recording,
                                  const ph_schema* schema, ph_fault* fault);
void ph_sim_stage_destroy(ph_sim_stage* stage); // NULL is allowed

// Puts the truth of this tick into the world. Viewers may be added then, before the world's tick.
// @return False with *fault filled.
bool ph_sim_stage_put(ph_sim_stage* stage, ph_fault* fault);

// The world's tick.
void ph_sim_stage_tick(ph_sim_stage* stage);

// Goes on to the next tick; at the end of a recording that does not loop, or when the truth stands,
// with the same truth. In a loop an entity that was elsewhere jumps.
void ph_sim_stage_step(ph_sim_stage* stage);

// What of a trait an entity that is present has.
const ph_sim_trait_part* ph_sim_stage_part(const ph_sim_stage* stage, int entity, int trait);

// Measures one viewer's client on this stage. The stage outlives it. @return False when there is no memory.
bool ph_sim_stage_create_meter(const ph_sim_stage* stage, int entity, ph_meter** meter);

// How many slots a client must be ready for, however the world hands them out.
int ph_sim_slot_capacity(const ph_sim_def* def);

// Virtual time of this tick and of the next.
uint64_t ph_sim_stage_now_us(const ph_sim_stage* stage);
uint64_t ph_sim_stage_next_us(const ph_sim_stage* stage);

#endif
