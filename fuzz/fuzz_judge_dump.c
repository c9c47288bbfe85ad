// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What any program says that its clients showed, judged against three entities, one of which is away for a while. Whatever
// it is, the figures are numbers, or the line at fault is named.

#include "support/fuzz_source.h"

#include "kit/judge_dump.h"
#include "kit/recording_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS = 40, ENTITIES = 3, TEXT_MAX = 16384 };

static ph_recording* make_truth(void)
{
    static char text[TEXT_MAX];
    size_t used =
        (size_t)snprintf(text, sizeof text, "# rate 2\ntick,entity,x_mm,y_mm,z_mm,heading_deg\n");
    for (int t = 0; t < TICKS; ++t) {
        for (int e = 0; e < ENTITIES; ++e) {
            if (e != 1 || t % 20 < 10) {
                used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d,%d,%d,0,%d\n", t,
                                         e, t * 700, e * 4000, t * 9 % 360);
            }
        }
    }
    const ph_recording_def def = {0};
    ph_fault fault = {0};
    return ph_recording_parse(text, used, &def, &fault);
}

static bool is_spread(const ph_spread_summary* spread)
{
    return isfinite(spread->mean) && isfinite(spread->p50) && isfinite(spread->p95) &&
           isfinite(spread->p99) && spread->mean >= 0.0;
}

static void look_at_figures(const ph_judge_dump_result* result, size_t size)
{
    const ph_figures_summary* figures = &result->figures;
    fuzz_demand(is_spread(&figures->error_mm) && is_spread(&figures->error_mrad) &&
                is_spread(&figures->heading_deg));
    fuzz_demand(figures->missing_pct >= 0.0 && figures->missing_pct <= 100.0);
    fuzz_demand(figures->ghost_pct >= 0.0 && figures->ghost_pct <= 100.0);
    fuzz_demand(isfinite(figures->join_s) && isfinite(figures->jolts_per_min));
    fuzz_demand(result->viewer_count >= 1 && result->viewer_count <= ENTITIES);
    fuzz_demand(result->row_count >= 1 && (size_t)result->row_count <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static ph_recording* truth;
    truth = truth != NULL ? truth : make_truth();
    fuzz_demand(truth != NULL);
    char* text = malloc(size > 0 ? size : 1); // of its own size, so that a step too far is seen
    fuzz_demand(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    const ph_judge_dump_def def = {
        .truth = truth, .shown = text, .shown_length = size, .radius_mm = 50000, .slots = 2};
    ph_judge_dump_result result;
    ph_fault fault = {0};
    if (ph_judge_dump(&def, &result, &fault)) {
        look_at_figures(&result, size);
    } else {
        fuzz_demand(fault.message[0] != '\0');
    }
    free(text);
    return 0;
}
