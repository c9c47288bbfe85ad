// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// `pinhole serve --bus`: what makes a server a front-end of a world on several machines. Entities come from sims,
// players are attached there; spares for players come from the director, and a front-end that is to be updated is
// emptied with them.

#ifndef PH_APP_SERVE_BUS_H
#define PH_APP_SERVE_BUS_H

#include "bus_options.h"
#include "serve_front.h"
#include "serve_metrics.h"

typedef struct serve_bus_def {
    const bus_options* options; // outlives it, as all of these
    serve_front* front;
    const serve_stage* stage;
    int client_capacity;
    int32_t cell_mm;
    serve_writer* log;
    bool is_controlled;
} serve_bus_def;

typedef struct serve_bus serve_bus;

// From now on the front has the players and entities of the bus. @return NULL with *fault filled.
serve_bus* serve_bus_open(const serve_bus_def* def, ph_fault* fault);
void serve_bus_close(serve_bus* bus); // before the front is closed; NULL is allowed, here and below

// A little after the sims', by the clock, so that a tick has what they have just said.
uint64_t serve_bus_first_tick_us(const serve_bus* bus);

// Once a second: a line for people, figures behind those of the server.
void serve_bus_tell(serve_bus* bus, serve_metrics* metrics, bool is_quiet);

// Players go to other front-ends from now on.
void serve_bus_empty(serve_bus* bus);
// Whether all have gone, or it takes too long. Says so in the log, once. False when it is not being emptied.
bool serve_bus_is_done(serve_bus* bus);

#endif
