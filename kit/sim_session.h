// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One viewer of a run: its two links, its client, its meters. Sessions touch nothing that another
// one touches, so they may be stepped on different threads.

#ifndef PINHOLE_KIT_SIM_SESSION_H
#define PINHOLE_KIT_SIM_SESSION_H

#include "kit/sim_stage.h"

typedef struct ph_sim_session ph_sim_session;

// A viewer that is not connected yet; entity is its own one, as the truth counts them.
// is_measured false: for the standstill, without meter and dump. The stage outlives the session.
// @return NULL when there is no memory.
ph_sim_session* ph_sim_session_create(const ph_sim_stage* stage, int entity, bool is_measured);
void ph_sim_session_destroy(ph_sim_session* session); // NULL is allowed

// Counts what the viewer is sent from the tick on that the def says. Before the first step.
void ph_sim_session_set_counts(ph_sim_session* session, struct ph_pinhole_counts* counts);

// Adds up what is shown wrong, by class, from the tick on that the def says. Before the first step.
void ph_sim_session_set_misses(ph_sim_session* session, ph_sim_miss* misses);

// Before the first tick: what it is sent goes there, too.
void ph_sim_session_set_capture(ph_sim_session* session, struct ph_sim_capture* capture);

// Between put and tick of the world, on one thread: connects when the entity is there for the first
// time, takes the eye with it when it comes back.
// @return False with *fault filled.
bool ph_sim_session_attend(ph_sim_session* session, ph_fault* fault);

// After the world's tick: send, frame, and all that arrives until the next tick.
void ph_sim_session_step(ph_sim_session* session);

// What became of the last second, if the def asks for seconds. After a step, on one thread.
void ph_sim_session_take_second(ph_sim_session* session, ph_sim_second* second);

// After the last step, before anything is asked of the session.
void ph_sim_session_finish(ph_sim_session* session);

// Whether the client equals the world: the same entities in view, each with the same position, and
// with the same value of every property that is due within its distance. True while the viewer is
// not connected.
bool ph_sim_session_is_equal(const ph_sim_session* session);

// Writes what the client showed in this tick, and forgets it. @return False when the file does not
// take it.
bool ph_sim_session_dump(ph_sim_session* session, FILE* file);

const ph_sim_traffic* ph_sim_session_traffic(const ph_sim_session* session);
const ph_figures* ph_sim_session_figures(const ph_sim_session* session);

// Depth of the viewer's bucket as the world has it; 0 before it is connected.
int64_t ph_sim_session_burst_bits(const ph_sim_session* session);

#endif
