// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a run is made on: a truth and a schema for it, opened by the names that people give them.
// Programs need no other header of recordings.

#ifndef PINHOLE_KIT_SIM_MATERIAL_H
#define PINHOLE_KIT_SIM_MATERIAL_H

#include "kit/fault.h"

#include <pinhole/schema.h>

enum { PH_SIM_RATE_MAX = 1000 };

// Zero-initialised but for the source: as the file or the scene says.
typedef struct ph_sim_material_def {
    const char* source;      // the path of a recording, or scene:NAME
    const char* schema_path; // NULL: derived from the source
    const char* tables_path; // a schema whose models are used (docs/tuning.md); NULL: the library's
    double rate_hz;          // 0: as the source says
    double seconds;          // 0: all; of scenes 60
    bool is_pose_only;       // position, heading and rotation, no extra columns
    bool is_flat;            // nothing turns but the heading
    int count;               // of scenes: how many actors; 0: as usual
    uint64_t seed;           // of scenes
} ph_sim_material_def;

// Read-only outside. Never changes: any number of runs may use it.
typedef struct ph_sim_material {
    struct ph_recording* recording;
    ph_schema* schema;
    char* schema_text;  // as ph_schema_print() writes it
    bool lacks_rate;    // why it failed: neither the def nor the file says the rate
    bool is_schema_bad; // why it failed: the fault is about the schema's file
    bool is_tables_bad; // the fault is about the file of tables
} ph_sim_material;

// @return False with *fault filled and nothing held.
bool ph_sim_material_open(ph_sim_material* material, const ph_sim_material_def* def,
                          ph_fault* fault);

// What is missing in the source, as the end of a sentence; empty: nothing.
const char* ph_sim_material_note(const ph_sim_material* material);

void ph_sim_material_close(ph_sim_material* material); // {0} is allowed; leaves {0}

#endif
