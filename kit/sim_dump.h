// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Rows of a dump, made ready by one viewer: `time_ms,viewer,entity,x_mm,y_mm,z_mm,heading_deg`, and
// `qx,qy,qz,qw` behind them where entities turn in space.

#ifndef PINHOLE_KIT_SIM_DUMP_H
#define PINHOLE_KIT_SIM_DUMP_H

#include "kit/meter.h"

#include <stdio.h>

#define PH_SIM_DUMP_HEAD "time_ms,viewer,entity,x_mm,y_mm,z_mm,heading_deg\n"
// Where entities turn in space.
#define PH_SIM_DUMP_TURNED_HEAD "time_ms,viewer,entity,x_mm,y_mm,z_mm,heading_deg,qx,qy,qz,qw\n"

// {0} is empty.
typedef struct ph_sim_dump {
    char* text;
    size_t length;
    size_t capacity;
    bool is_turned;  // with rotations
    bool has_failed; // there was no memory for a row
} ph_sim_dump;

typedef struct ph_sim_row {
    double time_ms;
    uint32_t viewer; // numbers as in the recording
    uint32_t entity;
} ph_sim_row;

void ph_sim_dump_add(ph_sim_dump* dump, const ph_sim_row* row, const ph_shown* shown);

// Writes all rows and forgets them. @return False when a row is missing.
bool ph_sim_dump_flush(ph_sim_dump* dump, FILE* file);

void ph_sim_dump_destroy(ph_sim_dump* dump); // leaves {0}

#endif
