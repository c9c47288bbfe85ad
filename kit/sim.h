// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Plays a recording into a world whose viewers sit behind simulated links, and measures what their
// clients show. All time is virtual; the same def gives the same result to the last bit (but for
// the CPU time), with any number of threads.
//
//     ph_sim_def def = ph_sim_def_default();
//     def.kbps = 26;
//     ph_sim_result result;
//     if (ph_sim_run(&def, recording, schema, pool, &result, &fault)) { ... }
//
// One tick of the truth, at time T:
//
//   put the truth into the world, tick     one thread
//   each viewer, independent of the rest:  all threads
//     send at T, if it is its turn ──▶ down link
//     the frame at T: what the client shows ──▶ meter, dump
//     all that arrives until the next tick, each at its own time:
//       datagram ──▶ client, whose answer goes at once ──▶ up link ──▶ world
//
// A client knows its datagrams and a clock of its own, which is off by hours that it is not told.

#ifndef PINHOLE_KIT_SIM_H
#define PINHOLE_KIT_SIM_H

#include "kit/fault.h"
#include "kit/sim_result.h"

#include <pinhole/net/pool.h>
#include <pinhole/schedule.h>
#include <pinhole/vision.h>

#include <stdatomic.h>
#include <stdio.h>

struct ph_recording;

// What one viewer was sent and showed within one second.
typedef struct ph_sim_second {
    int second; // the first is 1
    int viewer; // from 0, in the order of kit/observers.h
    int shown;  // entities at the end of the second, the own one not counted
    // frames is 0: the viewer's own entity was away all the time.
    ph_sim_traffic traffic;
    ph_figures_summary figures;
} ph_sim_second;

// How far what is shown of a class is off: a sum of error_mrad, over so many samples.
typedef struct ph_sim_miss {
    double mrad;
    uint64_t count;
} ph_sim_miss;

// Start from ph_sim_def_default(), which has the defaults of `pinhole sim`.
typedef struct ph_sim_def {
    ph_profile profile; // of the wire
    // Plain snapshots (kit/snapshot.h) instead of a profile: they pace themselves, and know of
    // scheduler, codes, precision and hz nothing. profile is classic then, for its few slots.
    bool is_snapshot;
    ph_scheduler scheduler; // {0}: score
    bool is_universal;      // pinhole profile: without its models
    double precision_mrad;  // pinhole profile; 0: positions are always exact
    int viewers;            // at most; see kit/observers.h
    double kbps;            // on the wire; 0: no limit
    double burst_s;         // depth of the bucket, in seconds of the rate
    int overhead_bytes;     // of each datagram
    double hz;              // sends per second; 0: whenever the sender finds it best
    double radius_m;
    int slots; // entities visible at most
    ph_vision_kind vision;
    double rtt_ms; // of both directions together
    double jitter_ms;
    double loss;  // 0..1, each direction
    double drift; // the clients' clocks run so much faster than the world's; 0.02: 2 %
    // What each viewer's line carries, with a queue of a second; 0: everything. The rate is then
    // controlled (net/rate.h), unless it shall not be.
    double bottleneck_kbps;
    bool is_uncontrolled;
    uint64_t seed;
    bool is_delayed; // what is shown lies behind by a delay, instead of being extrapolated to now
    double seconds;  // of the recording that are played; 0: all. Viewers are chosen from all of it
    double standstill_s; // the second run waits so long at most
    // Leaves out the second run: `converged` is false then. For tests and demos.
    bool skips_standstill;
    // For learning models: of the observers each stride-th is a viewer, from this one on; what they are
    // sent from a tick on is counted, for each in its own of `viewers` counts. Zero: all, nothing counted.
    int viewer_stride;
    int viewer_first;
    int count_from_tick;
    struct ph_pinhole_counts* counts;
    // For each of `viewers` as many as the schema has classes, or NULL. Of the entities of this half, by their
    // keys (1 or 2; 0: of all), from that tick on.
    ph_sim_miss* misses;
    int missed_half;
    FILE* dump; // NULL: none
    // Gets what the first viewer of the measured run was sent (kit/sim_capture.h). NULL: not wanted.
    struct ph_sim_capture* capture;
    // Set to true by another thread: the run fails soon. NULL: it is never cancelled.
    const atomic_bool* is_cancelled;
    // Called now and then with the share of the work that is done, 0..1. NULL: not called.
    void (*progress)(void* context, double done);
    void* progress_context;
    // Called after each full second for every viewer, on the caller's thread. NULL: not called.
    void (*on_second)(void* context, const ph_sim_second* second);
    void* second_context;
} ph_sim_def;

ph_sim_def ph_sim_def_default(void);

// @return False with *fault filled: no memory, no entity to be a viewer, schema and
// recording do not match, or an option that the world refuses.
bool ph_sim_run(const ph_sim_def* def, const struct ph_recording* recording,
                const ph_schema* schema, ph_pool* pool, ph_sim_result* result, ph_fault* fault);

#endif
