// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A whole deployment on one machine: three nats-servers, four sims of which two stand by, three front-ends, a director
// and bots, in a folder of its own that is removed at the end. What they report, and the control of the world's time.

#ifndef PH_APP_CLUSTER_STAGE_H
#define PH_APP_CLUSTER_STAGE_H

#include "cluster_parts.h"

#define CLUSTER_WORLD "cluster"

enum {
    CLUSTER_REGION_COUNT = 2,
    CLUSTER_NODES = 3,
    CLUSTER_SIMS = 4,
    CLUSTER_FRONTS = 3,
};

typedef struct cluster_stage_def {
    const char* source;
    int bots;
    int entities;
    int cell_m;
    double radius_m; // of the views
    double loop_s;
    double loss_pct;
    double rtt_ms;
    double jitter_ms;
    double chat_hz;
    double ramp;
} cluster_stage_def;

// Which keys a sim says it owns while the world stands.
typedef struct cluster_owned {
    char sim[32];
    uint64_t tick;
    uint64_t heard_us;
    uint64_t* keys;
    int count;
} cluster_owned;

// Who beats for a region.
typedef struct cluster_owner {
    char sim[32];
    uint32_t epoch;
    uint64_t heard_us;
} cluster_owner;

// Read-only outside.
typedef struct cluster_stage {
    cluster_stage_def def;
    char folder[64]; // "": none yet
    cluster_truth* truth;
    cluster_bus* bus;
    bus_options options;
    char urls[256];
    cluster_control control;
    cluster_parts parts;
    cluster_owned owned[CLUSTER_SIMS];
    cluster_owner owners[CLUSTER_REGION_COUNT];
    uint64_t said_us;
    uint64_t now_us;
    int middle;     // the column of cells that region 1 begins with
    char ended[32]; // name of a part that has ended since this was last emptied
    // Called in each turn, if it is set.
    void (*on_turn)(void* context);
    void* on_turn_context;
} cluster_stage;

// Starts everything and waits until all bots are in. @return False with *fault filled; close it all the same.
bool cluster_stage_open(cluster_stage* stage, const cluster_stage_def* def, ph_fault* fault);
// Ends everything. The logs of the parts are kept when that is asked for.
void cluster_stage_close(cluster_stage* stage, bool keeps_logs);

// One turn: looks after the parts, takes reports, repeats the control; some milliseconds.
void cluster_stage_turn(cluster_stage* stage);

// The same for so long, or until the end is asked for. @return False then.
bool cluster_stage_run(cluster_stage* stage, uint64_t duration_us);

// The newest report of the bots, or "".
const char* cluster_stage_bots(const cluster_stage* stage);

// The world plays on to a tick a second ahead, and stands there.
void cluster_stage_stand(cluster_stage* stage);
// It goes on from there.
void cluster_stage_go(cluster_stage* stage);

// What sims own, against the truth at the tick where the world stands.
typedef struct cluster_ownership {
    int told;    // sims that have said what they own
    int doubles; // things with two owners
    int orphans; // things without
    int strays;  // things that a sim has, and the truth has not
} cluster_ownership;
cluster_ownership cluster_stage_ownership(cluster_stage* stage);

// Whether the sim owns a region now, by its own report.
bool cluster_stage_is_owner(const cluster_part* part);
// The nats-server that leads the records of ownership, by what they have logged. @return NULL when none has said so.
const cluster_part* cluster_stage_leader(const cluster_stage* stage);

#endif
