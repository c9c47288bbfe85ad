// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per run of the simulator.

#include "kit/truth.h"

#include "kit/scene_recording.h"
#include "kit/recording_csv.h"

#include <string.h>

ph_recording* ph_truth_open(const ph_truth_def* def, ph_fault* fault)
{
    static const char SCENE[] = "scene:";
    const size_t length = sizeof SCENE - 1;
    if (def->rate_hz != 0.0 && !(def->rate_hz >= 1.0 && def->rate_hz <= PH_RECORDING_RATE_MAX)) {
        ph_fault_set(fault, 0, 0, "the rate must be 1 to %d ticks per second, found %g",
                     PH_RECORDING_RATE_MAX, def->rate_hz);
        return NULL;
    }
    if (strncmp(def->source, SCENE, length) != 0) {
        const ph_recording_def file = {.rate_hz = def->rate_hz,
                                       .seconds = def->seconds,
                                       .is_pose_only = def->is_pose_only,
                                       .is_flat = def->is_flat};
        return ph_recording_load(def->source, &file, fault);
    }
    const ph_scene_recording_def recording = {
        .scene = def->source + length,
        .count = def->count,
        .rate_hz = def->rate_hz,
        .seconds = def->seconds,
        .seed = def->seed,
        .is_pose_only = def->is_pose_only,
        .is_flat = def->is_flat,
    };
    return ph_scene_recording_make(&recording, fault);
}
