// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How well clients showed the truth: what the meter of one viewer counts, and the sum over several
// viewers. kit/meter.h says what each figure is.
//
// Merged in the order of the viewers, the result is the same to the last bit however the viewers
// were spread over threads.

#ifndef PINHOLE_KIT_FIGURES_H
#define PINHOLE_KIT_FIGURES_H

#include "kit/json.h"
#include "kit/spread.h"

// {0} may be destroyed. Written by the meter alone.
typedef struct ph_figures {
    double rate_hz;
    ph_spread error_mm; // its count: shown entities that exist, summed over frames
    ph_spread error_mrad;
    ph_spread heading_deg;
    ph_spread rotation_deg;
    ph_spread stale_ms;
    uint64_t shown_count;   // shown entities, summed over frames
    uint64_t ghost_count;   // ghosts among them
    uint64_t must_count;    // entities that must be shown, summed over frames
    uint64_t missing_count; // those of them that are not
    uint64_t jolt_count;
    uint64_t join_ticks; // of all viewers together
    uint64_t join_count; // viewers
} ph_figures;

// What is told of them, by the names and in the units of the keys.
typedef struct ph_figures_summary {
    ph_spread_summary error_mm;
    ph_spread_summary error_mrad;
    ph_spread_summary heading_deg;
    ph_spread_summary rotation_deg; // 0 where nothing turns in space
    ph_spread_summary stale_ms;
    double join_s;
    double missing_pct;
    double ghost_pct;
    double jolts_per_min;
} ph_figures_summary;

// Takes 900 KiB. allocator may be NULL: malloc and free.
// @return PH_OK, or PH_ERROR_MEMORY with *figures set to {0}.
ph_result ph_figures_create(ph_figures* figures, double rate_hz, const ph_allocator* allocator);
void ph_figures_destroy(ph_figures* figures); // leaves {0}

// Counts from 0 again. Allocates nothing.
void ph_figures_clear(ph_figures* figures);

// Adds all that other counted, at the same rate.
void ph_figures_merge(ph_figures* figures, const ph_figures* other);

// What was never asked (no viewer, nothing shown) is 0.
ph_figures_summary ph_figures_summarise(const ph_figures* figures);

// Writes every figure into the object that is open, with the names of the fields as keys.
void ph_figures_write(const ph_figures_summary* summary, ph_json* json);

// The same of position and heading alone: without stale_ms, which was not measured.
void ph_figures_write_pose(const ph_figures_summary* summary, ph_json* json);

#endif
