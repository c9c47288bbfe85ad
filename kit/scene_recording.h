// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A scene played once and kept, so that it can be measured as a recording is: looked back on, played
// again, its viewers chosen by how far they go.

#ifndef PINHOLE_KIT_SCENE_RECORDING_H
#define PINHOLE_KIT_SCENE_RECORDING_H

#include "kit/recording.h"

// Zero-initialised but for the name: as many, as often and as long as usual.
typedef struct ph_scene_recording_def {
    const char* scene; // its name
    int count;         // 0: the scene's own
    double rate_hz;    // 0: the scene's own
    double seconds;    // 0: 60
    uint64_t seed;
    bool is_pose_only; // leaves the extra columns out
    bool is_flat;      // and the rotation: nothing turns but the heading
} ph_scene_recording_def;

// Actor i has id i; tick 0 is the scene's first moment. Costs 24 bytes, and 8 for each extra column,
// for every actor and tick.
// @return NULL with *fault filled: no such scene, no actor ever present, or no memory.
ph_recording* ph_scene_recording_make(const ph_scene_recording_def* def, ph_fault* fault);

#endif
