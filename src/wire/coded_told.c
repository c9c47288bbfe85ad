// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A flag is one symbol of a model of two. Once per slot and packet; the best density once per packet.

#include "wire/coded_told.h"

#include "wire/coder.h"

// Slots of one urgency.
typedef struct tally {
    uint32_t told;
    uint32_t silent;
    const uint16_t* costs; // of their flags at a density
} tally;

// Most slots are of few urgencies. The costs of all of them are less than 2^32.
int ph_coded_best_density(const int told[PH_URGENCIES], const int silent[PH_URGENCIES])
{
    tally present[PH_URGENCIES];
    int count = 0;
    int told_count = 0;
    for (int i = 0; i < PH_URGENCIES; ++i) {
        present[count] = (tally){(uint32_t)told[i], (uint32_t)silent[i],
                                 &ph_coded_costs[ph_coded_flag_entry(1, i, false)]};
        count += (told[i] | silent[i]) != 0 ? 1 : 0;
        told_count += told[i];
    }
    int best = PH_DENSITY_NOBODY;
    uint32_t best256 = UINT32_MAX;
    for (int density = 1; density < PH_DENSITIES && told_count > 0; ++density) {
        const int row = ph_coded_flag_entry(density, 0, false) - ph_coded_flag_entry(1, 0, false);
        uint32_t cost256 = 0;
        for (int i = 0; i < count; ++i) {
            const uint16_t* costs = present[i].costs + row;
            cost256 += present[i].told * costs[1] + present[i].silent * costs[0];
        }
        if (cost256 < best256) {
            best = density;
            best256 = cost256;
        }
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
