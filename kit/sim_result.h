// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// What a run of the simulator found: counts, summed over the viewers while their own entities are
// present, and the figures that are told of them.

#ifndef PINHOLE_KIT_SIM_RESULT_H
#define PINHOLE_KIT_SIM_RESULT_H

#include "kit/figures.h"

#include <pinhole/packet.h>
#include <pinhole/schema.h>
#include <pinhole/stats.h>

// Of all classes of a schema together: more are not told of one by one.
enum { PH_SIM_PROPERTIES_MAX = 1024 };

// What one viewer was sent since it was added; the same as in ph_sim_traffic.
typedef struct ph_sim_counts {
    ph_ledger ledger;
    uint64_t property_bits256[PH_SIM_PROPERTIES_MAX]; // by property of all classes, in their order
    uint64_t enters;
    uint64_t leaves;
    uint64_t updates;
    uint64_t significant_updates;
    uint64_t resolved;
    uint64_t lost;
    uint64_t withheld; // datagrams that would have been over the budget
} ph_sim_counts;

// Datagrams at a client.
typedef struct ph_sim_arrivals {
    uint64_t received; // all
    uint64_t late;     // of these: too late, or twice
    uint64_t refused;  // of these: such that no server sends; must be 0
} ph_sim_arrivals;

// What one or several viewers were sent.
typedef struct ph_sim_traffic {
    uint64_t frames; // ticks at which a viewer's own entity was present
    uint64_t datagrams;
    uint64_t payload_bytes;
    uint64_t wire_bytes;     // with overhead
    uint64_t worst_1s_bytes; // on the wire, the worst second of any viewer
    uint64_t overruns;       // datagrams that the bucket could not pay for, withheld ones as well
    double spent_bits;       // tokens
    double wasted_bits;      // tokens that were lost while something was due
    ph_ledger ledger;        // of the payload
    uint64_t property_bits256[PH_SIM_PROPERTIES_MAX];
    uint64_t enters;
    uint64_t leaves;
    uint64_t updates;
    uint64_t significant_updates;
    uint64_t resolved; // packets whose fate is known
    uint64_t lost;     // of these: those that never came
    uint64_t received; // datagrams that came to the client
    uint64_t late;     // of these: dropped, because a newer one came before
    uint64_t refused;  // datagrams that a client took for what no server sends; must be 0
    uint64_t cpu_ns;
} ph_sim_traffic;

void ph_sim_traffic_merge(ph_sim_traffic* traffic, const ph_sim_traffic* other);

// What was sent since then: all but the worst second, which is that of the whole.
ph_sim_traffic ph_sim_traffic_since(const ph_sim_traffic* traffic, const ph_sim_traffic* before);

typedef struct ph_sim_result {
    const ph_schema* schema; // borrowed: names of the properties
    double rate_hz;
    int viewer_count;
    int entity_count;
    double seconds;     // of the truth
    int64_t burst_bits; // depth of a viewer's bucket, as the world has it
    ph_sim_traffic traffic;
    ph_figures_summary figures;
    bool is_converged;
    double
        converge_s; // since the world stood still; as long as was waited when it never came to it
} ph_sim_result;

// The figures that come from counts, in the units of their keys; 0 where nothing was counted.
typedef struct ph_sim_rates {
    double wire_kbps_mean;
    double wire_kbps_max_1s;
    double budget_used_pct; // 100 when nothing was due
    double updates_per_s;
    double bits_per_update;
    double cpu_us_per_viewer_tick;
} ph_sim_rates;

ph_sim_rates ph_sim_result_rates(const ph_sim_result* result);

// What payload was spent on: the reasons but for the property values, then the properties. One whose
// name is also that of a reason is told as "NAME_property"; of several classes as "CLASS.NAME".
typedef struct ph_sim_bits {
    char key[2 * PH_SCHEMA_NAME_MAX + 2];
    uint64_t bits256;
} ph_sim_bits;

// @return False when there is none of that index, which counts from 0.
bool ph_sim_result_bits(const ph_sim_result* result, int index, ph_sim_bits* bits);

// Writes all figures into the object that is open, by the names that docs/measuring.md explains.
void ph_sim_result_write(const ph_sim_result* result, ph_json* json);

// Each figure of the second over that of the first; null where the first is 0.
void ph_sim_result_write_ratio(const ph_sim_result* first, const ph_sim_result* second,
                               ph_json* json);

#endif
