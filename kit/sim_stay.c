// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Twice per stay of a viewer.

#include "kit/sim_stay.h"

static int property_count(const ph_sim_stage* stage)
{
    return ph_schema_class(stage->schema, 0)->property_count;
}

void ph_sim_stay_begin(ph_sim_stay* stay, const ph_sim_stage* stage, ph_viewer_id viewer)
{
    ph_world_viewer_stats(stage->world, viewer, &stay->stats);
    for (int p = 0; p < property_count(stage); ++p) {
        stay->property_bits256[p] = ph_world_property_bits256(stage->world, viewer, 0, p);
    }
}

void ph_sim_stay_end(const ph_sim_stay* stay, const ph_sim_stage* stage, ph_viewer_id viewer,
                     ph_sim_traffic* traffic)
{
    const ph_viewer_stats* before = &stay->stats;
    ph_viewer_stats now;
    ph_world_viewer_stats(stage->world, viewer, &now);
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        traffic->ledger.bits256[i] += now.ledger.bits256[i] - before->ledger.bits256[i];
    }
    traffic->ledger.repeat_bits256 += now.ledger.repeat_bits256 - before->ledger.repeat_bits256;
    traffic->enters += now.enters - before->enters;
    traffic->leaves += now.leaves - before->leaves;
    traffic->updates += now.updates - before->updates;
    traffic->significant_updates += now.significant_updates - before->significant_updates;
    traffic->resolved += now.resolved - before->resolved;
    traffic->lost += now.lost - before->lost;
    traffic->overruns += now.withheld - before->withheld; // it was about to break the promise
    for (int p = 0; p < property_count(stage); ++p) {
        traffic->property_bits256[p] +=
            ph_world_property_bits256(stage->world, viewer, 0, p) - stay->property_bits256[p];
    }
}
