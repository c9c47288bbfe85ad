// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The meter (meter.h) at the receiving end of a feed: takes the truth as a feed's TRUTH frames tell it (docs/wire_feed.md),
// and what the clients of several ways show, and has the figures of each, of the present second and of the whole run.
// The page in a browser has it as WebAssembly. Fed with all frames of a simulated run, its figures are those of that run.
//
//     ph_judge* judge = ph_judge_create(&def);
//     for (each TRUTH frame) {
//         ph_judge_take_truth(judge, bytes, size);
//         for (each way) {
//             for (each entity that its client shows, in the order of slots) {
//                 ph_judge_show(judge, id, &pose);
//             }
//             ph_judge_measure(judge, way);
//         }
//     }
//     ph_figures_summary now = ph_judge_second(judge, way);

#ifndef PINHOLE_KIT_JUDGE_H
#define PINHOLE_KIT_JUDGE_H

#include "kit/meter.h"

#include <pinhole/client.h>

// A frame has so many entities at most.
#define PH_JUDGE_TRUTH_MAX 100000

typedef struct ph_judge_def {
    double rate_hz;  // ticks per second
    uint32_t viewer; // id of the viewer's own entity
    int32_t radius_mm;
    int slots;     // entities visible at most
    int way_count; // 1 or more
    // Ids that get the numbers 0, 1, ... before all others, ascending: then equally far entities rank as in a recording.
    // Copied; may be NULL.
    const uint32_t* ids;
    int id_count;
    int capacity; // ids in the course of time, at least id_count; those beyond are not counted
} ph_judge_def;

typedef struct ph_judge ph_judge;

// @return NULL when there is no memory, or the def is none that a feed can have.
ph_judge* ph_judge_create(const ph_judge_def* def);
void ph_judge_destroy(ph_judge* judge); // NULL is allowed

// One TRUTH frame, its kind included: the next tick. @return False, with nothing changed, for any other bytes.
bool ph_judge_take_truth(ph_judge* judge, const uint8_t* bytes, size_t size);

// What one client shows, each entity once. The viewer's own and those of which the truth has never told are left out.
void ph_judge_show(ph_judge* judge, uint64_t id, const ph_pose* pose);
// All that the client of this way shows at this tick was told. Counts a tick once.
void ph_judge_measure(ph_judge* judge, int way);

ph_figures_summary ph_judge_whole(const ph_judge* judge, int way);
// Since ph_judge_clear(). Samples are those of error_mm: without any, all figures are 0 and mean nothing.
ph_figures_summary ph_judge_second(const ph_judge* judge, int way);
uint64_t ph_judge_second_samples(const ph_judge* judge, int way);
void ph_judge_clear(ph_judge* judge, int way);

#endif
