// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Measures what one viewer's client shows against the truth, frame by frame. test/recompute.py
// follows the words below and must arrive at the same figures.
//
//     ph_truth_history_step(history, &now);
//     ph_meter_frame(meter, shown, shown_count);
//     ... at the end, in the order of the viewers ...
//     ph_figures_merge(&total, ph_meter_figures(meter));
//
// A frame is a tick of the truth at which the viewer's own entity is present; nothing is counted at
// any other tick. t is the tick of the frame, R the rate, "the last second" the R + 1 ticks t-R .. t.
// The viewer stays from its appearance until it is absent; history never reaches back beyond the
// first tick of its present stay. The eye is where the truth has the viewer's own entity. That one
// is never counted, shown or not. Distances to the eye are planar (x, y) unless they are said to be
// in space (x, y, z). Shown positions are taken to the nearest 0.1 mm and headings, shown and true,
// to the nearest 0.01 degree, which is what a dump has of them; nothing else is rounded. All
// differences of coordinates are taken modulo 2^32 mm, as the world wraps: the shorter way.
//
// A sample is one (viewer, shown entity, frame). Of these:
//   error_mm      each whose entity is present at t: the distance in space between its shown and
//                 its true position at t
//   error_mrad    the same samples: 1000 x error_mm / the distance in space, in mm, from the eye to
//                 its true position, at least 1,000 mm; at most 1,000
//   heading_deg   each whose entity is present at t, at most 50 m from the eye, and shown with a
//                 heading: the smaller angle between shown and true heading, 0..180
//   rotation_deg  each whose entity is present at t, in a truth that has rotations, and shown with one:
//                 the angle between shown and true rotation, 0..180. Shown ones are taken to the
//                 nearest millionth in each part
//   stale_ms      each whose entity is present at t, times each property of it (other than position
//                 and heading) within whose distance it is: 0 when the client's value equals the
//                 truth's at t, else the time from the first to the last of the uninterrupted frames
//                 up to t in which this was a sample and differed. So the frame of the change is 0.
//   ghost_pct     100 x samples that are ghosts / all samples. A ghost: at every tick of the last
//                 second, all within the viewer's stay, it was absent or more than 1.2 x radius away
//   jolts_per_min jolts / (samples of error_mm / R / 60). A jolt: the entity is present at t, was
//                 also shown in the frame t-1, has not jumped at any of the ticks t-R+1 .. t, and
//                 its shown position moved from t-1 to t, in space,
//                 - by more than 3 x its longest true step of the last second + 50 mm, or
//                 - by more than 50 mm against the direction of its way: the part of the movement
//                   along the way is below -50 mm; a way of length 0 has no direction.
//                 Step, jump and way: see kit/truth_history.h.
//
// Of the entities themselves, each other than the viewer's own:
//   in the core   at one tick: it is present, at most 0.9 x radius from the eye, and its rank is at
//                 most 0.9 x slots. Rank 1 is the nearest; those equally far rank by the first tick
//                 of their stay, then by number.
//   missing_pct   of those that must be shown, over all frames: 100 x not shown / all. One must be
//                 shown when it was in the core at every tick of the last second, all within the
//                 viewer's stay.
//   join_s        time from the viewer's first frame until the first frame in which at least 95 % of
//                 those that must be shown are (none is 95 % of none). Only here, "the last second"
//                 begins with the viewer's stay when that is less than a second old, so the first
//                 frame asks for the whole core. A viewer that never gets there counts with the time
//                 to its last frame. The figure of several viewers is the mean over viewers.

#ifndef PINHOLE_KIT_METER_H
#define PINHOLE_KIT_METER_H

#include "kit/figures.h"
#include "kit/truth_history.h"

#define PH_METER_PROPERTIES_MAX 64

// What a client shows of one entity in one frame.
typedef struct ph_shown {
    int32_t entity;        // number in the truth
    bool has_heading;      // the client shows one and the entity has one
    double position_mm[3]; // within +-2^40
    double heading_deg;    // any number of turns, up to 10^6 degrees
    bool has_rotation;     // as has_heading
    double rotation[4];    // about a unit quaternion, x, y, z, w
    // Bit p: property p, counted as in the def, is one that this entity has and this client may
    // know. Distance is the meter's business.
    uint64_t properties;
    // Of these: the client's value is not the truth's quantised value.
    uint64_t differing;
} ph_shown;

typedef struct ph_meter_def {
    // Required; outlives the meter, and is stepped before each frame.
    const ph_truth_history* history;
    int32_t viewer; // the viewer's own entity
    int32_t radius_mm;
    int slots; // entities visible at most
    // How far each property other than position and heading is sent, in m; 0: everywhere. Copied.
    const double* property_distance_m;
    int property_count;     // 0..PH_METER_PROPERTIES_MAX
    ph_allocator allocator; // zero-initialised means malloc and free
} ph_meter_def;

typedef struct ph_meter ph_meter;

// @return PH_OK, or PH_ERROR_MEMORY with *meter set to NULL.
ph_result ph_meter_create(const ph_meter_def* def, ph_meter** meter);
void ph_meter_destroy(ph_meter* meter); // NULL is allowed

// Told of each sample of error_mrad as it is counted.
typedef void ph_meter_miss_fn(void* context, int32_t entity, double error_mrad);

// NULL: it is told to nothing.
void ph_meter_set_miss(ph_meter* meter, ph_meter_miss_fn* on_miss, void* context);

// After every step of the history: counts what is shown now, each entity at most once, in any
// order. Does nothing while the viewer's entity is absent. Meters of one history may run on several
// threads. Allocates nothing.
void ph_meter_frame(ph_meter* meter, const ph_shown* shown, int shown_count);

// What was counted so far. Valid until the meter is destroyed.
const ph_figures* ph_meter_figures(const ph_meter* meter);

// Counts from 0 again; what was seen of the last second stays. For figures of a part of the time.
void ph_meter_clear(ph_meter* meter);

// What a dump and the figures have of a shown position and a shown or true heading.
int64_t ph_meter_tenths(double mm);
int32_t ph_meter_hundredths(double heading_deg); // 0..35999
int32_t ph_meter_millionths(double part);        // of a part of a rotation, within +-2

#endif
