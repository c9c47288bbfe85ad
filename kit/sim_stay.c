// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Twice per stay of a viewer.

#include "kit/sim_stay.h"

#include <pinhole/stats.h>

static int property_count(const ph_sim_stage* stage)
{
    return ph_schema_class(stage->schema, 0)->property_count;
}

void ph_sim_stay_begin(ph_sim_stay* stay, const ph_sim_stage* stage, ph_viewer_id viewer)
{
    ph_viewer_get_stats(stage->world, viewer, &stay->stats);
    for (int p = 0; p < property_count(stage); ++p) {
        stay->property_bits256[p] = ph_viewer_property_bits256(stage->world, viewer, 0, p);
    }
}

void ph_sim_stay_end(const ph_sim_stay* stay, const ph_sim_stage* stage, ph_viewer_id viewer,
                     ph_sim_traffic* traffic)
{
    const ph_viewer_stats* before = &stay->stats;
    ph_viewer_stats now;
    ph_viewer_get_stats(stage->world, viewer, &now);
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        traffic->ledger.bits256[i] += now.ledger.bits256[i] - before->ledger.bits256[i];
    }
    traffic->ledger.resent_bits256 += now.ledger.resent_bits256 - before->ledger.resent_bits256;
    traffic->enters += now.sent_enters - before->sent_enters;
    traffic->leaves += now.sent_leaves - before->sent_leaves;
    traffic->updates += now.sent_updates - before->sent_updates;
    traffic->significant_updates += now.sent_significant_updates - before->sent_significant_updates;
    traffic->resolved += now.resolved_packets - before->resolved_packets;
    traffic->lost += now.lost_packets - before->lost_packets;
    traffic->overruns +=
        now.withheld_datagrams - before->withheld_datagrams; // it was about to break the promise
    for (int p = 0; p < property_count(stage); ++p) {
        traffic->property_bits256[p] +=
            ph_viewer_property_bits256(stage->world, viewer, 0, p) - stay->property_bits256[p];
    }
}
