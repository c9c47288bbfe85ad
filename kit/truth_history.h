// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The truth now and in the last second, for the meters of all viewers. Stepped once per tick; in
// between any number of threads may read it.
//
//     ph_truth_history* history;
//     ph_truth_history_create(&(ph_truth_history_def){.entity_count = n, .rate_hz = 16}, &history);
//     for (each tick) {
//         ph_truth_history_step(history, &now);
//         ... ph_meter_frame() of every viewer ...
//     }
//     ph_truth_history_destroy(history);
//
// Words, with t the present tick and R the rate:
//   the last second   the ticks t-R .. t, which are R steps and R + 1 moments
//   stay              the ticks of an entity from its appearance to its last before it is absent
//   step              from one tick to the next within a stay; 3D
//   jump              a step that the truth marks as one (see kit/jump_marks.h), or an appearance that
//                     is not the entity's first
//   way               3D, from where the entity was at t-R, or at the first tick of its stay when
//                     that is later, to where it is at t

#ifndef PINHOLE_KIT_TRUTH_HISTORY_H
#define PINHOLE_KIT_TRUTH_HISTORY_H

#include <pinhole/base.h>

// The truth of one tick, arrays by entity number. The other arrays mean nothing where present is
// false. heading_deg and rotation may be NULL: no entity has one; is_jump, too: there is none.
typedef struct ph_truth_moment {
    const bool* present;
    const int32_t* x_mm;
    const int32_t* y_mm;
    const int32_t* z_mm;
    const float* heading_deg;
    const double (*rotation)[4]; // unit quaternions x, y, z, w
    const bool* is_jump;         // it did not move here since the tick before
} ph_truth_moment;

// What became of one entity. The way and the longest step are valid while it is present.
typedef struct ph_trail {
    int32_t first_tick; // of its stay, or of its last one; or PH_TRUTH_HISTORY_NEVER
    int32_t last_tick;  // at which it was present; PH_TRUTH_HISTORY_NEVER likewise
    int32_t jump_tick;  // of its last jump; PH_TRUTH_HISTORY_NEVER when there was none
    int32_t way_mm[3];  // wraps with the world's coordinates
    double way_length_mm;
    double longest_step_mm; // of the last second; 0 when there was none
} ph_trail;

// Before every tick, by more than a second of any rate.
#define PH_TRUTH_HISTORY_NEVER (INT32_MIN / 2)

// Read-only outside truth_history.c.
typedef struct ph_truth_history {
    int entity_count;
    double rate_hz;
    int second_ticks;    // R: ticks that make up a second, rounded up
    int32_t tick;        // the first is 0; -1 before
    ph_truth_moment now; // of this tick; the arrays are the caller's
    ph_trail* trails;    // by entity
    int32_t* present;    // the numbers of the entities that are present, ascending
    int present_count;
    struct ph_place* places; // by entity and tick modulo R + 1
    double* steps_mm;        // by entity and tick modulo R
    ph_allocator allocator;
} ph_truth_history;

typedef struct ph_truth_history_def {
    int entity_count;       // 0 or more
    double rate_hz;         // ticks per second, 1..1000
    ph_allocator allocator; // zero-initialised means malloc and free
} ph_truth_history_def;

// @return PH_OK, or PH_ERROR_MEMORY with *history set to NULL.
ph_result ph_truth_history_create(const ph_truth_history_def* def, ph_truth_history** history);
void ph_truth_history_destroy(ph_truth_history* history); // NULL is allowed

// Goes on to the next tick. The arrays stay as they are until the step after it.
void ph_truth_history_step(ph_truth_history* history, const ph_truth_moment* now);

// Squared distance now between two that are present, in mm2: in the plane, as vision measures it,
// and in space. Across the edge of the 32-bit world, too.
uint64_t ph_truth_history_planar2(const ph_truth_history* history, int32_t a, int32_t b);
uint64_t ph_truth_history_distance2(const ph_truth_history* history, int32_t a, int32_t b);

// Whether one of the steps of the last second, or an appearance at its end, was a jump: true for
// the R ticks from the jump on.
bool ph_truth_history_has_jumped(const ph_truth_history* history, int32_t entity);

#endif
