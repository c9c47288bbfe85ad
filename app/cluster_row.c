// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per part, five times a second.

#include "cluster_row.h"

#include <stdio.h>
#include <string.h>

#define FRESH_US UINT64_C(1500000)

const cluster_owner* cluster_row_owner(const cluster_stage* stage, int region)
{
    const cluster_owner* owner = &stage->owners[region];
    return owner->heard_us != 0 && stage->now_us - owner->heard_us < FRESH_US ? owner : NULL;
}

static const char* state_of(const cluster_part* part, uint64_t now_us)
{
    if (part->pid == 0) {
        return part->is_wanted ? "dead" : "-";
    }
    if (part->is_stopped) {
        return "frozen";
    }
    if (part->kind != CLUSTER_NATS && now_us - part->reported_us > FRESH_US) {
        return part->report[0] == '\0' ? "starts" : "silent";
    }
    if (cluster_report_number(part->report, "emptying") > 0.0) {
        return "emptying";
    }
    if (part->kind == CLUSTER_SIM) {
        return cluster_stage_is_owner(part) ? "owner" : "standby";
    }
    return "runs";
}

static void print_regions(const cluster_stage* stage, const cluster_part* part, cluster_row* row)
{
    for (int region = 0; region < CLUSTER_REGION_COUNT && part->kind == CLUSTER_SIM; ++region) {
        const cluster_owner* owner = cluster_row_owner(stage, region);
        if (owner != NULL && strcmp(owner->sim, part->name) == 0) {
            const size_t length = strlen(row->regions);
            snprintf(row->regions + length, sizeof row->regions - length, "%s%d epoch %lu",
                     length > 0 ? ", " : "", region, (unsigned long)owner->epoch);
        }
    }
}

cluster_row cluster_row_of(const cluster_stage* stage, const cluster_part* part)
{
    cluster_row row = {.state = state_of(part, stage->now_us)};
    const char* players = part->kind == CLUSTER_BOTS ? "connected" : "players";
    const char* kbps = part->kind == CLUSTER_FRONT ? "out" : "kbps";
    print_regions(stage, part, &row);
    cluster_report_word(part->report, "entities", row.entities, sizeof row.entities);
    cluster_report_word(part->report, players, row.players, sizeof row.players);
    cluster_report_word(part->report, kbps, row.kbps, sizeof row.kbps);
    cluster_report_word(part->report, "gaps", row.gaps, sizeof row.gaps);
    return row;
}
