// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A flag is one symbol of a model of two. Once per slot and packet; the best density once per packet.

#include "wire/coded_told.h"

#include "wire/coder.h"

void ph_told_costs_fill(ph_told_costs* costs)
{
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        for (int density = 0; density < PH_DENSITIES; ++density) {
            const int silent256 = (int)ph_coded_flag_cost256(density, urgency, false);
            const int told256 = (int)ph_coded_flag_cost256(density, urgency, true);
            costs->silent256[urgency][density] = (int16_t)silent256;
            costs->turned256[urgency][density] = (int16_t)(told256 - silent256);
        }
    }
}

void ph_told_sums_begin(ph_told_sums* sums, const ph_told_costs* costs,
                        const int silent[PH_URGENCIES])
{
    *sums = (ph_told_sums){0};
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        const int32_t count = silent[urgency];
        if (count == 0) {
            continue; // most are of few urgencies
        }
        for (int density = 0; density < PH_DENSITIES; ++density) {
            sums->silent256[density] += count * costs->silent256[urgency][density];
        }
    }
}

int32_t ph_told_sums_cost256(const ph_told_sums* sums, const ph_told_costs* costs, int density)
{
    int32_t cost256 = sums->silent256[density];
    for (int urgency = 0; urgency < PH_URGENCIES; ++urgency) {
        cost256 += sums->told[urgency] * costs->turned256[urgency][density];
    }
    return cost256;
}

// Where nobody is told that costs nothing; to be told would cost the most of all there.
int ph_coded_best_density(const ph_told_sums* sums, const ph_told_costs* costs)
{
    if (ph_told_sums_cost256(sums, costs, PH_DENSITY_NOBODY) == 0) {
        return PH_DENSITY_NOBODY;
    }
    int best = 1;
    int32_t best256 = INT32_MAX;
    for (int density = 1; density < PH_DENSITIES; ++density) {
        const int32_t cost256 = ph_told_sums_cost256(sums, costs, density);
        best = cost256 < best256 ? density : best;
        best256 = cost256 < best256 ? cost256 : best256;
    }
    return best;
}

void ph_coded_write_told(const ph_coded_frame* frame, ph_entropy_writer* writer, int urgency,
                         bool is_told)
{
    PH_ASSERT(!is_told || frame->density != PH_DENSITY_NOBODY);

    if (frame->density == PH_DENSITY_NOBODY) {
        return;
    }
    ph_entropy_run run = ph_entropy_run_begin(writer);
    ph_coded_run_told(frame->density, &run, urgency, is_told);
    ph_entropy_run_end(&run);
    if (frame->counts != NULL) {
        ++frame->counts->seen[ph_coded_flag_entry(frame->density, urgency, is_told)];
    }
}

bool ph_coded_read_told(const ph_coded_frame* frame, ph_entropy_reader* reader, int urgency)
{
    if (frame->density == PH_DENSITY_NOBODY) {
        return false;
    }
    ph_coder coder = {.reader = reader, .is_universal = frame->is_universal};
    return ph_coder_flag(&coder, PH_FAMILY_TOLD, ph_coded_flag_model(frame->density, urgency),
                         false);
}
