// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The parts of a demonstration as processes: started, killed, frozen, started again. All of them end with this process,
// however it ends: the system kills them.

#ifndef PH_APP_CLUSTER_PARTS_H
#define PH_APP_CLUSTER_PARTS_H

#include "cluster_control.h"

#include <sys/types.h>

typedef enum cluster_kind {
    CLUSTER_NATS = 0,
    CLUSTER_SIM,
    CLUSTER_FRONT,
    CLUSTER_DIRECTOR,
    CLUSTER_BOTS,
} cluster_kind;

typedef enum cluster_act {
    CLUSTER_KILL = 0, // kill -9
    CLUSTER_STOP,     // SIGSTOP, and SIGCONT after CLUSTER_STOP_US
    CLUSTER_FREEZE,   // the same, and after CLUSTER_FREEZE_US
    CLUSTER_EMPTY,    // orderly: a front-end sends its players on, a sim gives its regions away
} cluster_act;

#define CLUSTER_STOP_US UINT64_C(3000000)
#define CLUSTER_FREEZE_US UINT64_C(5000000)

enum {
    CLUSTER_PARTS_MAX = 16,
    CLUSTER_WORDS_MAX = 48,
    CLUSTER_WORD_MAX = 256,
};

// Read-only outside.
typedef struct cluster_part {
    cluster_kind kind;
    char name[32];
    int port;
    char words[CLUSTER_WORDS_MAX][CLUSTER_WORD_MAX]; // its command; the first is the program
    int word_count;
    char log_path[CLUSTER_WORD_MAX];
    pid_t pid;           // 0: it does not run
    bool is_wanted;      // started anew when it ends
    bool is_stopped;     // by SIGSTOP
    uint64_t thaw_us;    // when it goes on
    uint64_t restart_us; // when it is started anew
    int restarts;
    char last_fault[32];
    char report[CLUSTER_REPORT_MAX]; // "": none since it was started
    uint64_t reported_us;
} cluster_part;

// {0} has none.
typedef struct cluster_parts {
    cluster_part all[CLUSTER_PARTS_MAX];
    int count;
} cluster_parts;

// Adds one that is not started yet. @return It.
cluster_part* cluster_parts_add(cluster_parts* parts, cluster_kind kind, const char* name);
// Adds a word to its command, as printf does.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void cluster_part_say(cluster_part* part, const char* format, ...);

bool cluster_part_start(cluster_part* part, ph_fault* fault);

// Does it. @return What was done, in words, for people.
const char* cluster_part_act(cluster_part* part, cluster_act act, uint64_t now_us);

// Takes note of those that have ended, starts them anew, lets frozen ones go on. A few times a second.
// @return One that has ended by itself since the last call, or NULL.
cluster_part* cluster_parts_look_after(cluster_parts* parts, uint64_t now_us);

// Ends all of them: asks, waits for a second, kills.
void cluster_parts_stop(cluster_parts* parts);

cluster_part* cluster_parts_find(cluster_parts* parts, const char* name);

// A port of 127.0.0.1 that is free now. @return 0 when there is none.
int cluster_parts_free_port(void);

#endif
