// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Faults on purpose: each is done to a running deployment at a moment that the seed says, and after it the world
// stands, and everything that any player shows and any sim owns is compared with the truth.

#ifndef PH_APP_CLUSTER_CHAOS_H
#define PH_APP_CLUSTER_CHAOS_H

#include "cluster_stage.h"

enum { CLUSTER_FAULTS_MAX = 64 };

typedef struct cluster_fault {
    const char* name; // "kill-sim"
    cluster_act act;
    cluster_kind kind;
    bool is_standby; // of sims: one that owns nothing
    bool is_usual;   // done unless others are asked for
    bool is_leader;  // of NATS: the one that leads the record of owners
} cluster_fault;

// A list of names with commas; NULL: the usual ones. @return How many; 0: one is none, and *wrong is its name.
int cluster_faults_read(const char* text, const cluster_fault* faults[CLUSTER_FAULTS_MAX],
                        char wrong[64]);
// All names, with blanks between them.
const char* cluster_faults_names(void);

// What a fault has done.
typedef struct cluster_outcome {
    const cluster_fault* fault; // NULL: none, only the comparison
    int seed;
    char victim[32];
    int players; // that it had, of a front-end or sim
    int moved;   // players that have gone to another front-end
    int interrupted_p50_ms;
    int interrupted_max_ms;
    int late_ms; // that bots waited for their turn at most: the machine's fault
    // Messages of players that stayed, to their sim and back: in the ten seconds before, and around the fault.
    int echo_before_mean_ms;
    int echo_before_max_ms;
    int echo_mean_ms;
    int echo_max_ms;
    int equal; // bots that show the truth
    int missing;
    int phantoms;
    int other; // values
    cluster_ownership ownership;
    int ended; // connections
    int discontinued;
    int messages_wrong;
    int messages_unreturned;
    int inputs_backward;
    int false_alarms;
    double seconds; // until all was equal, from when the world stood
    bool is_good;
} cluster_outcome;

// Does a fault and compares. @return False when the end was asked for before it was over.
bool cluster_chaos_do(cluster_stage* stage, const cluster_fault* fault, int seed,
                      cluster_outcome* outcome);

// Lets the world stand and compares, without a fault.
bool cluster_chaos_compare(cluster_stage* stage, cluster_outcome* outcome);

void cluster_outcome_print_head(void);
void cluster_outcome_print(const cluster_outcome* outcome);

#endif
