// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a measurement is made on, by the name that people give it: a file or a scene.

#ifndef PINHOLE_KIT_TRUTH_H
#define PINHOLE_KIT_TRUTH_H

#include "kit/recording.h"

// Zero-initialised but for the source: as the file or the scene says.
typedef struct ph_truth_def {
    const char* source; // the path of a recording, or scene:NAME
    double rate_hz;     // 0: as the file's first line or the scene says; at most 1000
    double seconds;     // 0: all; of scenes 60
    bool is_pose_only;  // position, heading and rotation, no extra columns
    bool is_flat;       // nothing turns but the heading
    int count;          // scenes: how many actors; 0: as usual
    uint64_t seed;      // scenes
} ph_truth_def;

// @return NULL with *fault filled.
ph_recording* ph_truth_open(const ph_truth_def* def, ph_fault* fault);

#endif
