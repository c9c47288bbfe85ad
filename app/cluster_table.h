// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The parts of a deployment as one table that refreshes, and the keys to break them by; plain lines where there is no
// terminal.

#ifndef PH_APP_CLUSTER_TABLE_H
#define PH_APP_CLUSTER_TABLE_H

#include "cluster_stage.h"
#include "demo_canvas.h"

enum { CLUSTER_NOTES = 8, CLUSTER_NOTE_MAX = 160 };

// {0} is empty.
typedef struct cluster_table {
    bool has_terminal;
    demo_canvas canvas;
    demo_colours colours;
    char page[96];                               // its address; "": there is none
    int chosen;                                  // of the parts
    char notes[CLUSTER_NOTES][CLUSTER_NOTE_MAX]; // what happened, the newest last
    int note_count;
    uint64_t begun_us;
    uint64_t drawn_us;
    uint64_t printed_us;
    // What happened to the players of the last fault is told some seconds later.
    uint64_t tell_us; // 0: nothing is to be told
    char tell_what[64];
    int moves_before;
    int ended_before;
} cluster_table;

void cluster_table_open(cluster_table* table);
void cluster_table_close(cluster_table* table);

// Something happened, as printf does.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void cluster_table_note(cluster_table* table, const char* format, ...);

// Takes keys, draws. @return False when the end was asked for.
bool cluster_table_turn(cluster_table* table, cluster_stage* stage);

#endif
