// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What the demo shows: one truth, played for ever, and one world per way of sending it (kit/way.h), all of
// them equal; that of snapshots has profile classic, and its viewers are only seen for.
// The demo's clock is here, too. Viewers, links and sockets belong to those who use the stage.
//
//     for (;;) {
//         ... serve what comes, until demo_stage_is_due() ...
//         demo_stage_put(stage, &fault);    the truth of this tick goes into all worlds
//         ...                               viewers come and go
//         demo_stage_tick(stage);           all worlds tick
//         ...                               viewers are sent to, at demo_stage_tick_us(); clients are measured
//     }
//
// The clock is in us, never goes back, and follows real time with two exceptions: it stands while the demo
// is paused, and it stands at a tick that is due until that is played. So each tick is played exactly at
// its time, as in the simulator, and where the machine is too slow the demo becomes slow instead of wrong.

#ifndef PH_APP_DEMO_STAGE_H
#define PH_APP_DEMO_STAGE_H

#include "kit/sim_material.h"
#include "kit/sim_stage.h"
#include "kit/way.h"

enum { DEMO_SOURCE_MAX = 1024, DEMO_OBSERVERS_MAX = 64 };

// What is played now. Never changes, but for the ticks of its worlds; a change of source makes another
// one. Read-only outside.
typedef struct demo_scene {
    int number;                   // the first is 1, the next 2
    char source[DEMO_SOURCE_MAX]; // as it was asked for: scene:NAME or the path of a recording
    bool is_recording;
    int entities; // as asked for; 0: as many as the scene likes
    ph_sim_material material;
    // Scheduler, precision and sends per second of each way, as `pinhole sim` has them for it.
    ph_sim_def defs[PH_WAY_COUNT];
    // World, source and truth of each way. The truth is the same in all of them.
    ph_sim_stage* ways[PH_WAY_COUNT];
    // Entities of the recording that viewers look from (kit/observers.h), the best first; 1 or more.
    int observers[DEMO_OBSERVERS_MAX];
    int observer_count;
    int steadiest;             // of them: present for the longest time, the first of equal ones
    int32_t bounds_mm[4];      // of all that ever happens: x0, y0, x1, y1
    struct demo_scene* before; // once it leaves: the one that left before it; else NULL
} demo_scene;

typedef struct demo_stage_def {
    const char* source;
    double rate_hz; // 0: as the source says
    int entities;   // of scenes; 0: as usual
    uint64_t seed;  // of scenes
    double radius_m;
    int slots; // entities visible at most
    // Real time in us. NULL: ph_socket_now_us().
    uint64_t (*real_us)(void* context);
    void* real_context;
} demo_stage_def;

// scene:town, with radius and slots of `pinhole sim`.
demo_stage_def demo_stage_def_default(void);

// Read-only outside.
typedef struct demo_stage {
    demo_stage_def def;
    demo_scene* scene;
    demo_scene* leaving; // those before, the newest first, until the next tick is over; else NULL
    bool is_begun;       // the scene has had a tick
    bool is_paused;
    // The clock: it stood at clock_us when real time was real_us, and goes on to stop_us at most.
    uint64_t clock_us;
    uint64_t real_us;
    uint64_t stop_us;
    uint64_t lost_us; // that the clock stood because the machine was too slow
} demo_stage;

// Running; the first tick is due at once. @return NULL with *fault filled.
demo_stage* demo_stage_create(const demo_stage_def* def, ph_fault* fault);
void demo_stage_destroy(demo_stage* stage); // NULL is allowed

// ---- the clock

uint64_t demo_stage_now_us(const demo_stage* stage);

// When the next tick is, by the demo's clock; and whether that has come.
uint64_t demo_stage_due_us(const demo_stage* stage);
bool demo_stage_is_due(const demo_stage* stage);

// How long to wait in real time until the demo's clock shows this, or until something else happens:
// UINT64_MAX while it does not go there by itself.
uint64_t demo_stage_wait_us(const demo_stage* stage, uint64_t until_us);

// Not while a tick is under way: between demo_stage_tick() and demo_stage_put().
void demo_stage_set_paused(demo_stage* stage, bool is_paused);

// While it is paused: the clock goes on, in its usual time, until one more tick has been played.
void demo_stage_step(demo_stage* stage);

// ---- a tick

// When one is due. @return False with *fault filled: the demo is over.
bool demo_stage_put(demo_stage* stage, ph_fault* fault);
void demo_stage_tick(demo_stage* stage);

// Of the tick that was put last: its time by the demo's clock.
uint64_t demo_stage_tick_us(const demo_stage* stage);

// Another source, or another number of entities, from the next tick on: everything begins anew, and the
// scene has another number. The old scene stays until that tick is over, so that viewers of its worlds
// can be removed in between; also one that has had no tick, because viewers may have come to it already.
// source NULL: the same; entities below 0: the same.
// @return False with *fault filled, and everything as before.
bool demo_stage_change(demo_stage* stage, const char* source, int entities, ph_fault* fault);

#endif
