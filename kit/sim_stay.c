// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Twice per stay of a viewer.

#include "kit/sim_stay.h"

void ph_sim_stay_begin(ph_sim_stay* stay, const ph_way_sender* sender)
{
    stay->before = ph_way_sender_counts(sender);
}

void ph_sim_stay_end(const ph_sim_stay* stay, const ph_way_sender* sender, ph_sim_traffic* traffic)
{
    const ph_sim_counts* before = &stay->before;
    const ph_sim_counts now = ph_way_sender_counts(sender);
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        traffic->ledger.bits256[i] += now.ledger.bits256[i] - before->ledger.bits256[i];
    }
    traffic->ledger.resent_bits256 += now.ledger.resent_bits256 - before->ledger.resent_bits256;
    traffic->enters += now.enters - before->enters;
    traffic->leaves += now.leaves - before->leaves;
    traffic->updates += now.updates - before->updates;
    traffic->significant_updates += now.significant_updates - before->significant_updates;
    traffic->resolved += now.resolved - before->resolved;
    traffic->lost += now.lost - before->lost;
    traffic->overruns += now.withheld - before->withheld; // it was about to break the promise
    for (int p = 0; p < PH_SIM_PROPERTIES_MAX; ++p) {
        traffic->property_bits256[p] += now.property_bits256[p] - before->property_bits256[p];
    }
}
