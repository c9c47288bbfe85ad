// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Learns a schema from recordings: plays them into a world as the simulator does, counts what viewers are
// sent, and makes models of it (kit/learn.h). What it is worth is measured on what was not learned from:
//
//   time     |  learned from: 3 of 5        |  tested on: 2 of 5   |
//   entities |  keys of one half, viewers 0, 2, 4 ...  |  keys of the other half, viewers 1, 3, 5 ... |
//
// How classes move is learned first, then models with it. Afterwards all of it is learned from. The same result with any number of threads.

#ifndef PINHOLE_KIT_TUNE_H
#define PINHOLE_KIT_TUNE_H

#include "kit/fault.h"
#include "kit/sim.h"

struct ph_pinhole_counts;
struct ph_recording;

enum { PH_TUNE_RECORDINGS_MAX = 8 };

// The usual budget of a viewer.
#define PH_TUNE_KBPS 13.0

typedef struct ph_tune_def {
    const struct ph_recording* const* recordings;
    int recording_count;   // 1..PH_TUNE_RECORDINGS_MAX
    const ph_schema* base; // fits all of them
    int viewers;           // of each recording
    double kbps;           // the budget of a viewer, as PH_TUNE_KBPS; 0: no limit
    double hz;             // sends per second; 0: whenever the sender finds it best
    ph_pool* pool;
    void (*progress)(void* context, double done); // 0..1; NULL: not called
    void* progress_context;
} ph_tune_def;

// How a class moves: what of it gains in what was not learned from.
typedef struct ph_tune_motion {
    double was_bend; // of the base
    int was_leg_ms;
    double bend; // learned, or as it was
    int leg_ms;
    // Mean error_mrad of its entities at that budget, in what was not learned from, as it was and with what was
    // learned; 0 where nothing else was better, or nothing of it was shown.
    double before_mrad;
    double after_mrad;
    double
        rest; // what is left of that error, on average over the budgets that were tried; 0 as before_mrad
    int budgets;   // at so many of them enough was shown
    bool is_taken; // it gains there on average, and stands in the schema
} ph_tune_motion;

enum { PH_TUNE_RESIDUALS = 5, PH_TUNE_MAGNITUDES = 16 };

// How large residuals are, in steps or levels, in % of all; in the size of residuals that was seen most.
typedef struct ph_tune_residuals {
    const char* what;
    uint64_t count;
    double seen[PH_TUNE_MAGNITUDES];
    double before[PH_TUNE_MAGNITUDES]; // as likely by the base's model
    double after[PH_TUNE_MAGNITUDES];  // by the one that was learned
} ph_tune_residuals;

typedef struct ph_tune_result {
    ph_schema* schema; // the caller destroys it
    int failed;        // number of the recording that cannot be learned from
    uint64_t updates;  // that were learned from at last
    ph_tune_residuals residuals[PH_TUNE_RESIDUALS];
    int models;                             // that it brings along
    ph_tune_motion motions[PH_CLASSES_MAX]; // by class
    // Of what was not learned from: bits of an update, with models learned from the rest.
    uint64_t test_updates;
    double before_bits;
    double after_bits;
    ph_sim_result
        before; // at that budget on the last two fifths of the first recording; its schema is the
    ph_sim_result after; // base. After: the models that were learned on what was before that
} ph_tune_result;

// @return False with *fault filled, result->failed says in which recording, and nothing held.
bool ph_tune_run(const ph_tune_def* def, ph_tune_result* result, ph_fault* fault);

// Plays all of the recordings with the base as it is, through all eyes at all budgets, and counts what is
// sent. @return False with *fault filled.
bool ph_tune_count(const ph_tune_def* def, struct ph_pinhole_counts* counts, ph_fault* fault);

// How likely each length of a difference is by the property's own model, 0..1: PH_TUNE_LENGTHS - 1 of them and
// the chance of an absolute value. @return False when the schema has none for it.
bool ph_tune_number_model(const ph_schema* schema, int property, double* shares);

#endif
