// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the machines of one world play: a recording or a scene in a loop, by the clock on the wall. Tick k is at
// start + k ticks and the same on every machine, so that each of them, and what checks them, has the whole truth
// without a word from the others.
//
// Seven of eight actors are residents: they are always there, under a key made of the id of the recording, and stand
// where they were last while the recording has them absent. The eighth is a visitor: it comes and goes, each time under a key of its
// own, as things of a game do.

#ifndef PH_APP_CLUSTER_TRUTH_H
#define PH_APP_CLUSTER_TRUTH_H

#include "kit/sim_material.h"
#include "kit/source.h"

typedef struct cluster_truth_def {
    const char* source; // a recording or scene:NAME
    const char* schema_path;
    double rate_hz; // 0: as the source says
    int entities;   // of scenes; 0: as usual
    double loop_s;  // 0: all; of scenes 60
    uint64_t seed;
    bool* is_schema_bad; // as in serve_stage_def; may be NULL
} cluster_truth_def;

// Read-only outside. Arrays by actor.
typedef struct cluster_truth {
    ph_sim_material material;
    ph_source* source; // its rows and columns; its own tick is not used
    const ph_recording* recording;
    const ph_schema* schema;
    ph_ground ground;
    uint32_t tick_us;
    int actor_count;
    uint64_t tick;  // that is shown
    int* row;       // of the recording; -1 while it is absent
    uint64_t* key;  // of the present appearance; 0 while it is absent
    int* birth_row; // where the present appearance began
} cluster_truth;

// At tick 0. @return NULL with *fault filled.
cluster_truth* cluster_truth_open(const cluster_truth_def* def, ph_fault* fault);
void cluster_truth_close(cluster_truth* truth); // NULL is allowed

// Shows any tick. Some 20 ns an actor.
void cluster_truth_seek(cluster_truth* truth, uint64_t tick);

bool cluster_truth_is_resident(int actor);
int cluster_truth_resident_count(const cluster_truth* truth);
// The i-th resident, i in 0..count-1: its actor.
int cluster_truth_resident(int i);

// The actor that has this key at the tick that is shown, or -1.
int cluster_truth_find(const cluster_truth* truth, uint64_t key);

// Whose key this is, at whatever tick, or -1.
int cluster_truth_actor_of(const cluster_truth* truth, uint64_t key);

// Where a row is.
void cluster_truth_place(const cluster_truth* truth, int row, int32_t place_mm[3]);

// The tick of a moment of the wall clock, in us of Unix time. The start may be 0: ticks count from 1970 on.
uint64_t cluster_truth_tick_at(const cluster_truth* truth, uint64_t start_us, uint64_t unix_us);

// A world that has all that there is at the tick that is shown, after its first tick: what clients should show.
// @return NULL with *fault filled.
ph_world* cluster_truth_make_world(const cluster_truth* truth, ph_fault* fault);

#endif
