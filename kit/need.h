// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// "To be as right as this, classic needs 51 kbit/s": which budget another way of sending needs to get as
// small an error as pinhole has at a given one. Measured, by runs of the simulator (sim.h) on one truth,
// with the same viewers, links and seeds: at some budgets first, then between the two where the error
// passes that of pinhole. The result also has a curve for each way. Some forty runs, seconds in all.
//
// A way that sends so often a second, as classic does, is also tried with the rate left to the sender, and
// the better of the two counts: with a large budget few sends would be all that holds it back.
//
//     ph_need_def def = {.recording = recording, .schema = schema, .low_kbps = 2, .high_kbps = 200};
//     def.sims[PH_WAY_PINHOLE].kbps = 13; ...
//     if (ph_need_find(&def, pool, &need, &fault)) { ... need.ways[PH_WAY_CLASSIC].needs_kbps ... }

#ifndef PINHOLE_KIT_NEED_H
#define PINHOLE_KIT_NEED_H

#include "kit/json.h"
#include "kit/sim.h"
#include "kit/way.h"

enum { PH_NEED_POINTS_MAX = 24 };

typedef struct ph_need_point {
    double kbps;
    double error_mrad; // mean
} ph_need_point;

// What is known of one way.
typedef struct ph_need_way {
    bool is_asked;
    bool is_known;     // needs_kbps is; false at the end: even the highest budget does not do
    double needs_kbps; // the least that does, within 2 %, but not below the lowest budget
    ph_need_point curve[PH_NEED_POINTS_MAX]; // by ascending budget
    int point_count;
} ph_need_way;

typedef struct ph_need {
    double kbps;       // of pinhole
    double error_mrad; // that it has with it; NaN: not known yet
    double high_kbps;
    double progress; // 0..1
    bool is_done;
    ph_need_way ways[PH_WAY_COUNT];
} ph_need;

typedef struct ph_need_def {
    const struct ph_recording* recording;
    const ph_schema* schema;
    // By way, what is run: the kbps of pinhole is the one that is asked for; that of the others is set
    // for each run. Dump and progress of these are not used, and no world stands still.
    ph_sim_def sims[PH_WAY_COUNT];
    bool is_asked[PH_WAY_COUNT]; // of pinhole: whether it shall have a curve
    double low_kbps;
    double high_kbps;
    // Called after each run, on the caller's thread. NULL: not called.
    void (*on_progress)(void* context, const ph_need* so_far);
    void* context;
} ph_need_def;

// To cancel, set what sims[].is_cancelled points to: it then fails soon.
// @return False with *fault filled.
bool ph_need_find(const ph_need_def* def, ph_pool* pool, ph_need* need, ph_fault* fault);

// The values of a NEED frame (docs/wire_feed.md), into the object that is open.
void ph_need_write(const ph_need* need, ph_json* json);

#endif
