// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// TRUTH frames of a feed, and what clients show: one frame after another, each with its size before it as two bytes.
// Whatever they are, the figures stay numbers.

#include "kit/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const uint32_t ids[] = {1, 4, 9};
    const ph_judge_def def = {
        .rate_hz = 5,
        .viewer = 4,
        .radius_mm = 250000,
        .slots = 20,
        .way_count = 1,
        .ids = ids,
        .id_count = 3,
        .capacity = 16,
    };
    ph_judge* judge = ph_judge_create(&def);
    if (judge == NULL) {
        return 0;
    }
    size_t at = 0;
    while (size - at >= 2) {
        const size_t said = (size_t)data[at] | (size_t)data[at + 1] << 8;
        at += 2;
        const size_t length = said < size - at ? said : size - at;
        uint8_t* exact =
            malloc(length > 0 ? length : 1); // of its own size, so that a step too far is seen
        memcpy(exact, data + at, length);
        const bool is_taken = ph_judge_take_truth(judge, exact, length);
        free(exact);
        at += length;
        for (uint32_t id = 0; is_taken && id < 20; ++id) {
            const ph_pose pose = {
                .position_mm = {1000.0 * id, (double)length, 0.0},
                .heading_deg = 20.0 * id,
                .has_heading = (id & 1) != 0,
            };
            ph_judge_show(judge, id, &pose);
        }
        ph_judge_measure(judge, 0);
    }
    const ph_figures_summary figures = ph_judge_whole(judge, 0);
    if (!isfinite(figures.error_mm.mean) || !isfinite(figures.error_mrad.p99) ||
        figures.missing_pct > 100.0) {
        abort();
    }
    ph_judge_destroy(judge);
    return 0;
}
