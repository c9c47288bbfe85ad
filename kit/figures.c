// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sums and quotients of figures: once per viewer, at the end of a run.

#include "kit/figures.h"

ph_result ph_figures_create(ph_figures* figures, double rate_hz, const ph_allocator* allocator)
{
    PH_ASSERT(rate_hz >= 1);

    *figures = (ph_figures){.rate_hz = rate_hz};
    if (ph_spread_create(&figures->error_mm, allocator) != PH_OK ||
        ph_spread_create(&figures->error_mrad, allocator) != PH_OK ||
        ph_spread_create(&figures->heading_deg, allocator) != PH_OK ||
        ph_spread_create(&figures->rotation_deg, allocator) != PH_OK ||
        ph_spread_create(&figures->stale_ms, allocator) != PH_OK) {
        ph_figures_destroy(figures);
        return PH_ERROR_MEMORY;
    }
    return PH_OK;
}

void ph_figures_destroy(ph_figures* figures)
{
    ph_spread_destroy(&figures->stale_ms);
    ph_spread_destroy(&figures->rotation_deg);
    ph_spread_destroy(&figures->heading_deg);
    ph_spread_destroy(&figures->error_mrad);
    ph_spread_destroy(&figures->error_mm);
    *figures = (ph_figures){0};
}

void ph_figures_clear(ph_figures* figures)
{
    ph_spread_clear(&figures->error_mm);
    ph_spread_clear(&figures->error_mrad);
    ph_spread_clear(&figures->heading_deg);
    ph_spread_clear(&figures->rotation_deg);
    ph_spread_clear(&figures->stale_ms);
    *figures = (ph_figures){
        .rate_hz = figures->rate_hz,
        .error_mm = figures->error_mm,
        .error_mrad = figures->error_mrad,
        .heading_deg = figures->heading_deg,
        .rotation_deg = figures->rotation_deg,
        .stale_ms = figures->stale_ms,
    };
}

void ph_figures_merge(ph_figures* figures, const ph_figures* other)
{
    PH_ASSERT(figures->rate_hz == other->rate_hz);

    ph_spread_merge(&figures->error_mm, &other->error_mm);
    ph_spread_merge(&figures->error_mrad, &other->error_mrad);
    ph_spread_merge(&figures->heading_deg, &other->heading_deg);
    ph_spread_merge(&figures->rotation_deg, &other->rotation_deg);
    ph_spread_merge(&figures->stale_ms, &other->stale_ms);
    figures->shown_count += other->shown_count;
    figures->ghost_count += other->ghost_count;
    figures->must_count += other->must_count;
    figures->missing_count += other->missing_count;
    figures->jolt_count += other->jolt_count;
    figures->join_ticks += other->join_ticks;
    figures->join_count += other->join_count;
}

static double share_of(uint64_t part, double whole)
{
    return whole > 0.0 ? (double)part / whole : 0.0;
}

ph_figures_summary ph_figures_summarise(const ph_figures* figures)
{
    const double ticks_per_min = 60.0 * figures->rate_hz;
    return (ph_figures_summary){
        .error_mm = ph_spread_summarise(&figures->error_mm),
        .error_mrad = ph_spread_summarise(&figures->error_mrad),
        .heading_deg = ph_spread_summarise(&figures->heading_deg),
        .rotation_deg = ph_spread_summarise(&figures->rotation_deg),
        .stale_ms = ph_spread_summarise(&figures->stale_ms),
        .join_s =
            share_of(figures->join_ticks, (double)figures->join_count * (double)figures->rate_hz),
        .missing_pct = 100.0 * share_of(figures->missing_count, (double)figures->must_count),
        .ghost_pct = 100.0 * share_of(figures->ghost_count, (double)figures->shown_count),
        .jolts_per_min =
            share_of(figures->jolt_count, (double)figures->error_mm.count / ticks_per_min),
    };
}

static void write_spread(const ph_spread_summary* summary, const char* key, ph_json* json)
{
    ph_json_open(json, key);
    ph_json_number(json, "mean", summary->mean);
    ph_json_number(json, "p50", summary->p50);
    ph_json_number(json, "p95", summary->p95);
    ph_json_number(json, "p99", summary->p99);
    ph_json_close(json);
}

static void write_figures(const ph_figures_summary* summary, bool has_stale, ph_json* json)
{
    write_spread(&summary->error_mm, "error_mm", json);
    write_spread(&summary->error_mrad, "error_mrad", json);
    write_spread(&summary->heading_deg, "heading_deg", json);
    write_spread(&summary->rotation_deg, "rotation_deg", json);
    if (has_stale) {
        write_spread(&summary->stale_ms, "stale_ms", json);
    }
    ph_json_number(json, "join_s", summary->join_s);
    ph_json_number(json, "missing_pct", summary->missing_pct);
    ph_json_number(json, "ghost_pct", summary->ghost_pct);
    ph_json_number(json, "jolts_per_min", summary->jolts_per_min);
}

void ph_figures_write(const ph_figures_summary* summary, ph_json* json)
{
    write_figures(summary, true, json);
}

void ph_figures_write_pose(const ph_figures_summary* summary, ph_json* json)
{
    write_figures(summary, false, json);
}
