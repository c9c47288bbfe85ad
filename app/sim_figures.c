// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Names, units and one line each. A new figure is one row, one value and one line here.

#include "sim_figures.h"

#include <pinhole/base.h>

const sim_figure sim_figures[] = {
    {"wire_kbps_mean", "kbit/s", 2},
    {"wire_kbps_max_1s", "kbit/s", 2},
    {"overruns", "", 0},
    {"budget_used_pct", "%", 1},
    {"updates_per_s", "1/s", 1},
    {"bits_per_update", "bit", 1},
    {"error_mm.mean", "mm", 1},
    {"error_mm.p50", "mm", 1},
    {"error_mm.p95", "mm", 1},
    {"error_mm.p99", "mm", 1},
    {"error_mrad.mean", "mrad", 2},
    {"error_mrad.p50", "mrad", 2},
    {"error_mrad.p95", "mrad", 2},
    {"error_mrad.p99", "mrad", 2},
    {"heading_deg.mean", "deg", 1},
    {"heading_deg.p50", "deg", 1},
    {"heading_deg.p95", "deg", 1},
    {"heading_deg.p99", "deg", 1},
    {"rotation_deg.mean", "deg", 2},
    {"rotation_deg.p50", "deg", 2},
    {"rotation_deg.p95", "deg", 2},
    {"rotation_deg.p99", "deg", 2},
    {"stale_ms.mean", "ms", 1},
    {"stale_ms.p50", "ms", 1},
    {"stale_ms.p95", "ms", 1},
    {"stale_ms.p99", "ms", 1},
    {"join_s", "s", 2},
    {"missing_pct", "%", 2},
    {"ghost_pct", "%", 2},
    {"jolts_per_min", "1/min", 2},
    {"converged", "1 = yes", 0},
    {"converge_s", "s", 2},
    {"cpu_us_per_viewer_tick", "us", 2},
    {0},
};

static int add_spread(const ph_spread_summary* spread, double* values)
{
    values[0] = spread->mean;
    values[1] = spread->p50;
    values[2] = spread->p95;
    values[3] = spread->p99;
    return 4;
}

int sim_figures_fill(const ph_sim_result* result, double values[SIM_FIGURE_MAX])
{
    const ph_sim_rates rates = ph_sim_result_rates(result);
    const ph_figures_summary* figures = &result->figures;
    int count = 0;
    values[count++] = rates.wire_kbps_mean;
    values[count++] = rates.wire_kbps_max_1s;
    values[count++] = (double)result->traffic.overruns;
    values[count++] = rates.budget_used_pct;
    values[count++] = rates.updates_per_s;
    values[count++] = rates.bits_per_update;
    count += add_spread(&figures->error_mm, &values[count]);
    count += add_spread(&figures->error_mrad, &values[count]);
    count += add_spread(&figures->heading_deg, &values[count]);
    count += add_spread(&figures->rotation_deg, &values[count]);
    count += add_spread(&figures->stale_ms, &values[count]);
    values[count++] = figures->join_s;
    values[count++] = figures->missing_pct;
    values[count++] = figures->ghost_pct;
    values[count++] = figures->jolts_per_min;
    values[count++] = result->is_converged ? 1.0 : 0.0;
    values[count++] = result->converge_s;
    values[count++] = rates.cpu_us_per_viewer_tick;
    PH_ASSERT(sim_figures[count].key == NULL && sim_figures[count - 1].key != NULL);
    return count;
}

void sim_figures_explain(void)
{
    static const char* const LINES[][2] = {
        {"wire_kbps_mean", "what went on the wire per viewer, overhead included"},
        {"wire_kbps_max_1s", "the worst second of any viewer"},
        {"overruns", "datagrams that the bucket could not pay for: must be 0"},
        {"budget_used_pct", "share of the tokens spent while something was due"},
        {"updates_per_s", "records per viewer with a significant difference"},
        {"bits_per_update", "(payload - header - enters - leaves) / those records"},
        {"bits_by", "payload bits by reason; sums to 8 x payload bytes"},
        {"error_mm", "shown to true position at the same moment, mean and percentiles"},
        {"error_mrad", "the same as an angle seen by the viewer; its mean is the headline"},
        {"heading_deg", "error of the heading, within 50 m"},
        {"rotation_deg", "angle between shown and true orientation, where the schema has one"},
        {"stale_ms", "how long a value has differed from the truth, within its distance"},
        {"join_s", "from a viewer's start until 95 % of what must be shown is"},
        {"missing_pct", "of what must be shown (near for a second), how much is not"},
        {"ghost_pct", "of what is shown, how much is gone or far for a second"},
        {"jolts_per_min", "per shown entity: leaps, and steps back, that the truth did not do"},
        {"converged", "every client equals the world once that stands still: must be true"},
        {"converge_s", "how long that took"},
        {"cpu_us_per_viewer_tick", "the world's tick, sends and acknowledgements"},
    };
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; ++i) {
        printf("  %-23s %s\n", LINES[i][0], LINES[i][1]);
    }
}
