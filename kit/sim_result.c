// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Sums and quotients, once per run.

#include "kit/sim_result.h"

#include <pinhole/stats.h>

#include <math.h>
#include <string.h>

void ph_sim_traffic_merge(ph_sim_traffic* traffic, const ph_sim_traffic* other)
{
    traffic->frames += other->frames;
    traffic->datagrams += other->datagrams;
    traffic->payload_bytes += other->payload_bytes;
    traffic->wire_bytes += other->wire_bytes;
    if (other->worst_1s_bytes > traffic->worst_1s_bytes) {
        traffic->worst_1s_bytes = other->worst_1s_bytes;
    }
    traffic->overruns += other->overruns;
    traffic->spent_bits += other->spent_bits;
    traffic->wasted_bits += other->wasted_bits;
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        traffic->ledger.bits256[i] += other->ledger.bits256[i];
    }
    traffic->ledger.resent_bits256 += other->ledger.resent_bits256;
    for (int i = 0; i < PH_SIM_PROPERTIES_MAX; ++i) {
        traffic->property_bits256[i] += other->property_bits256[i];
    }
    traffic->enters += other->enters;
    traffic->leaves += other->leaves;
    traffic->updates += other->updates;
    traffic->significant_updates += other->significant_updates;
    traffic->resolved += other->resolved;
    traffic->lost += other->lost;
    traffic->received += other->received;
    traffic->late += other->late;
    traffic->refused += other->refused;
    traffic->cpu_ns += other->cpu_ns;
}

ph_sim_traffic ph_sim_traffic_since(const ph_sim_traffic* traffic, const ph_sim_traffic* before)
{
    ph_sim_traffic since = *traffic;
    since.frames -= before->frames;
    since.datagrams -= before->datagrams;
    since.payload_bytes -= before->payload_bytes;
    since.wire_bytes -= before->wire_bytes;
    since.overruns -= before->overruns;
    since.spent_bits -= before->spent_bits;
    since.wasted_bits -= before->wasted_bits;
    for (int i = 0; i < PH_REASON_COUNT; ++i) {
        since.ledger.bits256[i] -= before->ledger.bits256[i];
    }
    since.ledger.resent_bits256 -= before->ledger.resent_bits256;
    for (int i = 0; i < PH_SIM_PROPERTIES_MAX; ++i) {
        since.property_bits256[i] -= before->property_bits256[i];
    }
    since.enters -= before->enters;
    since.leaves -= before->leaves;
    since.updates -= before->updates;
    since.significant_updates -= before->significant_updates;
    since.resolved -= before->resolved;
    since.lost -= before->lost;
    since.received -= before->received;
    since.late -= before->late;
    since.refused -= before->refused;
    since.cpu_ns -= before->cpu_ns;
    return since;
}

static double share_of(double part, double whole)
{
    return whole > 0.0 ? part / whole : 0.0;
}

// Payload of updates: all but what every packet has, and what comes and goes. Padding is theirs.
static double update_bits(const ph_ledger* ledger)
{
    const uint64_t bits256 = ledger->bits256[PH_REASON_SLOT] + ledger->bits256[PH_REASON_MASK] +
                             ledger->bits256[PH_REASON_PROPERTY] +
                             ledger->bits256[PH_REASON_PADDING];
    return (double)bits256 / 256.0;
}

ph_sim_rates ph_sim_result_rates(const ph_sim_result* result)
{
    const ph_sim_traffic* traffic = &result->traffic;
    const double seconds = (double)traffic->frames / result->rate_hz;
    const double tokens = traffic->spent_bits + traffic->wasted_bits;
    return (ph_sim_rates){
        .wire_kbps_mean = share_of((double)traffic->wire_bytes * 8.0 / 1000.0, seconds),
        .wire_kbps_max_1s = (double)traffic->worst_1s_bytes * 8.0 / 1000.0,
        .budget_used_pct = tokens > 0.0 ? 100.0 * traffic->spent_bits / tokens : 100.0,
        .updates_per_s = share_of((double)traffic->significant_updates, seconds),
        .bits_per_update =
            share_of(update_bits(&traffic->ledger), (double)traffic->significant_updates),
        .cpu_us_per_viewer_tick =
            share_of((double)traffic->cpu_ns / 1000.0, (double)traffic->frames),
    };
}

// ---- bits by reason

static bool is_reason(const char* name)
{
    for (int reason = 0; reason < PH_REASON_COUNT; ++reason) {
        if (strcmp(name, ph_reason_name((ph_reason)reason)) == 0) {
            return true;
        }
    }
    return false;
}

bool ph_sim_result_bits(const ph_sim_result* result, int index, ph_sim_bits* bits)
{
    // The values of all properties together are no reason of their own here.
    const int reason = index < PH_REASON_PROPERTY ? index : index + 1;
    if (reason < PH_REASON_COUNT) {
        snprintf(bits->key, sizeof bits->key, "%s", ph_reason_name((ph_reason)reason));
        bits->bits256 = result->traffic.ledger.bits256[reason];
        return true;
    }
    int property = reason - PH_REASON_COUNT;
    bits->bits256 =
        property < PH_SIM_PROPERTIES_MAX ? result->traffic.property_bits256[property] : 0;
    const int class_count = ph_schema_class_count(result->schema);
    for (int c = 0; c < class_count; ++c) {
        const ph_class_def* kind = ph_schema_class(result->schema, c);
        if (property >= kind->property_count) {
            property -= kind->property_count;
            continue;
        }
        const char* name = kind->properties[property].name;
        if (class_count > 1) {
            snprintf(bits->key, sizeof bits->key, "%s.%s", kind->name, name);
        } else {
            snprintf(bits->key, sizeof bits->key, "%s%s", name, is_reason(name) ? "_property" : "");
        }
        return true;
    }
    return false;
}

// ---- JSON

static void write_bits(const ph_sim_result* result, ph_json* json)
{
    ph_json_open(json, "bits_by");
    ph_sim_bits bits;
    for (int i = 0; ph_sim_result_bits(result, i, &bits); ++i) {
        // To the last digit: the sum must come out exactly.
        ph_json_exact(json, bits.key, (double)bits.bits256 / 256.0);
    }
    ph_json_close(json);
}

void ph_sim_result_write(const ph_sim_result* result, ph_json* json)
{
    const ph_sim_traffic* traffic = &result->traffic;
    const ph_sim_rates rates = ph_sim_result_rates(result);
    ph_json_number(json, "wire_kbps_mean", rates.wire_kbps_mean);
    ph_json_number(json, "wire_kbps_max_1s", rates.wire_kbps_max_1s);
    ph_json_integer(json, "overruns", (int64_t)traffic->overruns);
    ph_json_number(json, "budget_used_pct", rates.budget_used_pct);
    ph_json_number(json, "updates_per_s", rates.updates_per_s);
    ph_json_number(json, "bits_per_update", rates.bits_per_update);
    write_bits(result, json);
    ph_json_integer(json, "payload_bytes", (int64_t)traffic->payload_bytes);
    ph_json_integer(json, "datagrams", (int64_t)traffic->datagrams);
    ph_json_integer(json, "enters", (int64_t)traffic->enters);
    ph_json_integer(json, "leaves", (int64_t)traffic->leaves);
    ph_json_integer(json, "updates", (int64_t)traffic->updates);
    ph_json_exact(json, "repeat_bits", (double)traffic->ledger.resent_bits256 / 256.0);
    ph_figures_write(&result->figures, json);
    ph_json_bool(json, "converged", result->is_converged);
    ph_json_number(json, "converge_s", result->converge_s);
    ph_json_number(json, "cpu_us_per_viewer_tick", rates.cpu_us_per_viewer_tick);
}

static void write_quotient(ph_json* json, const char* key, double first, double second)
{
    ph_json_number(json, key, first != 0.0 ? second / first : (double)NAN);
}

static void write_quotients(ph_json* json, const char* key, const ph_spread_summary* first,
                            const ph_spread_summary* second)
{
    ph_json_open(json, key);
    write_quotient(json, "mean", first->mean, second->mean);
    write_quotient(json, "p50", first->p50, second->p50);
    write_quotient(json, "p95", first->p95, second->p95);
    write_quotient(json, "p99", first->p99, second->p99);
    ph_json_close(json);
}

void ph_sim_result_write_ratio(const ph_sim_result* first, const ph_sim_result* second,
                               ph_json* json)
{
    const ph_sim_rates a = ph_sim_result_rates(first);
    const ph_sim_rates b = ph_sim_result_rates(second);
    const ph_figures_summary* f = &first->figures;
    const ph_figures_summary* s = &second->figures;
    write_quotient(json, "wire_kbps_mean", a.wire_kbps_mean, b.wire_kbps_mean);
    write_quotient(json, "wire_kbps_max_1s", a.wire_kbps_max_1s, b.wire_kbps_max_1s);
    write_quotient(json, "budget_used_pct", a.budget_used_pct, b.budget_used_pct);
    write_quotient(json, "updates_per_s", a.updates_per_s, b.updates_per_s);
    write_quotient(json, "bits_per_update", a.bits_per_update, b.bits_per_update);
    write_quotients(json, "error_mm", &f->error_mm, &s->error_mm);
    write_quotients(json, "error_mrad", &f->error_mrad, &s->error_mrad);
    write_quotients(json, "heading_deg", &f->heading_deg, &s->heading_deg);
    write_quotients(json, "rotation_deg", &f->rotation_deg, &s->rotation_deg);
    write_quotients(json, "stale_ms", &f->stale_ms, &s->stale_ms);
    write_quotient(json, "join_s", f->join_s, s->join_s);
    write_quotient(json, "missing_pct", f->missing_pct, s->missing_pct);
    write_quotient(json, "ghost_pct", f->ghost_pct, s->ghost_pct);
    write_quotient(json, "jolts_per_min", f->jolts_per_min, s->jolts_per_min);
    write_quotient(json, "converge_s", first->converge_s, second->converge_s);
    write_quotient(json, "cpu_us_per_viewer_tick", a.cpu_us_per_viewer_tick,
                   b.cpu_us_per_viewer_tick);
}
