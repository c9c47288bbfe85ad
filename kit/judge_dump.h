// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The meter (kit/meter.h) on files: the truth as a recording, and what clients showed of it as a dump
// (docs/quality.md), made by any program. Of the simulator's own dump the figures are those of the simulator.

#ifndef PINHOLE_KIT_JUDGE_DUMP_H
#define PINHOLE_KIT_JUDGE_DUMP_H

#include "kit/figures.h"
#include "kit/recording.h"

typedef struct ph_judge_dump_def {
    const ph_recording* truth;
    const char* shown; // the text of the dump
    size_t shown_length;
    int32_t radius_mm;
    int slots; // entities visible at most
    // May be NULL. Of `total` ticks so many are done.
    void (*progress)(void* context, int done, int total);
    void* progress_context;
} ph_judge_dump_def;

typedef struct ph_judge_dump_result {
    ph_figures_summary figures; // without stale_ms: a dump has no properties
    int viewer_count;
    int64_t row_count;
} ph_judge_dump_result;

// @return False with *fault filled: what is wrong with the dump, in which line and column; no memory.
bool ph_judge_dump(const ph_judge_dump_def* def, ph_judge_dump_result* result, ph_fault* fault);

#endif
