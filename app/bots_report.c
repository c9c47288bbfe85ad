// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Runs once per program.

#include "bots_report.h"

#include "kit/json.h"

#include <pinhole/stats.h>

#include <stdio.h>

enum { EXPLAINED_MAX = 5 };

// ---- adding up

static void add_bot(bots_report* report, const bot* of, uint64_t now_us)
{
    if (of->connected_us == 0) {
        ++report->never;
        return;
    }
    const ph_client_stats stats = ph_client_get_stats(of->client);
    const double seconds = (double)(now_us - of->connected_us) / 1e6;
    const double kbps = seconds > 0.0 ? (double)of->meter.bytes * 8.0 / 1000.0 / seconds : 0.0;
    report->connected += bot_is_connected(of) ? 1 : 0;
    report->kbps_mean += kbps;
    report->kbps_min = report->kbps_min == 0.0 || kbps < report->kbps_min ? kbps : report->kbps_min;
    report->kbps_max = kbps > report->kbps_max ? kbps : report->kbps_max;
    report->rtt_ms += stats.rtt_ms;
    report->loss += stats.loss;
    report->shown_mean += ph_client_entity_count(of->client);
    report->join_ms += (double)(of->connected_us - of->started_us) / 1000.0;
    report->refused += bot_refused(of);
    report->overruns += of->meter.overruns;
    report->strangers += of->strangers;
    report->chat_posted += of->chat_posted;
    report->chat_returned += of->chat_returned;
    report->chat_wrong += of->chat_wrong;
    report->inputs += of->input_number;
    report->inputs_processed += ph_messages_processed_input(of->messages);
    report->converged += of->converged_us != 0 ? 1 : 0;
}

static void divide(bots_report* report)
{
    const int count = report->good - report->never;
    const double by = count > 0 ? count : 1;
    report->kbps_mean /= by;
    report->rtt_ms /= by;
    report->loss /= by;
    report->shown_mean /= by;
    report->join_ms /= by;
}

bots_report bots_report_make(const bots_swarm* swarm, double seconds)
{
    bots_report report = {
        .bots = swarm->def.count,
        .good = bots_swarm_good(swarm),
        .seconds = seconds,
        .error_mm = ph_spread_summarise(&swarm->errors.mm),
        .error_mrad = ph_spread_summarise(&swarm->errors.mrad),
    };
    const uint64_t now_us = ph_socket_now_us();
    for (int i = 0; i < swarm->def.count; ++i) {
        if (swarm->bots[i]->behaviour == BOT_GOOD) {
            add_bot(&report, swarm->bots[i], now_us);
        }
    }
    if (swarm->def.truth != NULL) {
        report.server = swarm->def.truth->figures;
    }
    divide(&report);
    return report;
}

// ---- output

static void print_spread(const char* name, const ph_spread_summary* spread)
{
    printf("  %-12s mean %.4g  p50 %.4g  p95 %.4g  p99 %.4g\n", name, spread->mean, spread->p50,
           spread->p95, spread->p99);
}

void bots_report_print(const bots_report* report)
{
    printf("%d bots, %d judged: %d connected, %d never were\n", report->bots, report->good,
           report->connected, report->never);
    printf("  %-12s %.2f mean, %.2f to %.2f, each, on the wire\n", "kbit/s", report->kbps_mean,
           report->kbps_min, report->kbps_max);
    printf("  %-12s %.1f ms  loss %.2f %%  join %.0f ms\n", "round trip", report->rtt_ms,
           100.0 * report->loss, report->join_ms);
    printf("  %-12s %.1f entities\n", "in view", report->shown_mean);
    if (report->is_compared) {
        print_spread("error_mm", &report->error_mm);
        print_spread("error_mrad", &report->error_mrad);
        printf("  %-12s %d of %d, the last after %.2f s\n", "converged", report->converged,
               report->good, report->converge_s);
        printf("  %-12s %llu ticks missed, %llu turns put off, %llu overruns\n", "server",
               (unsigned long long)report->server.missed,
               (unsigned long long)report->server.put_off,
               (unsigned long long)report->server.overruns);
    }
    if (report->chat_posted > 0) {
        printf("  %-12s %llu sent, %llu came back, %llu of them wrong\n", "messages",
               (unsigned long long)report->chat_posted, (unsigned long long)report->chat_returned,
               (unsigned long long)report->chat_wrong);
    }
    printf("  %-12s %llu over the budget, %llu not understood\n", "datagrams",
           (unsigned long long)report->overruns, (unsigned long long)report->refused);
}

static void write_spread(ph_json* json, const char* key, const ph_spread_summary* spread)
{
    ph_json_open(json, key);
    ph_json_number(json, "mean", spread->mean);
    ph_json_number(json, "p50", spread->p50);
    ph_json_number(json, "p95", spread->p95);
    ph_json_number(json, "p99", spread->p99);
    ph_json_close(json);
}

static void write_server(ph_json* json, const truth_figures* server)
{
    ph_json_open(json, "server");
    ph_json_integer(json, "ticks_missed", (int64_t)server->missed);
    ph_json_integer(json, "sends_put_off", (int64_t)server->put_off);
    ph_json_integer(json, "overruns", (int64_t)server->overruns);
    ph_json_integer(json, "datagrams", (int64_t)server->datagrams);
    ph_json_integer(json, "wire_bytes", (int64_t)server->wire_bytes);
    ph_json_close(json);
}

void bots_report_print_json(const bots_report* report)
{
    ph_json json = ph_json_make(stdout);
    ph_json_open(&json, NULL);
    ph_json_integer(&json, "bots", report->bots);
    ph_json_integer(&json, "judged", report->good);
    ph_json_integer(&json, "connected", report->connected);
    ph_json_integer(&json, "never_connected", report->never);
    ph_json_number(&json, "seconds", report->seconds);
    ph_json_number(&json, "wire_kbps_mean", report->kbps_mean);
    ph_json_number(&json, "wire_kbps_min", report->kbps_min);
    ph_json_number(&json, "wire_kbps_max", report->kbps_max);
    ph_json_number(&json, "rtt_ms", report->rtt_ms);
    ph_json_number(&json, "loss_pct", 100.0 * report->loss);
    ph_json_number(&json, "join_ms", report->join_ms);
    ph_json_number(&json, "shown", report->shown_mean);
    ph_json_integer(&json, "overruns", (int64_t)report->overruns);
    ph_json_integer(&json, "refused", (int64_t)report->refused);
    ph_json_integer(&json, "messages_sent", (int64_t)report->chat_posted);
    ph_json_integer(&json, "messages_returned", (int64_t)report->chat_returned);
    ph_json_integer(&json, "messages_wrong", (int64_t)report->chat_wrong);
    ph_json_integer(&json, "inputs", (int64_t)report->inputs);
    ph_json_integer(&json, "inputs_processed", (int64_t)report->inputs_processed);
    ph_json_bool(&json, "compared", report->is_compared);
    if (report->is_compared) {
        write_spread(&json, "error_mm", &report->error_mm);
        write_spread(&json, "error_mrad", &report->error_mrad);
        ph_json_integer(&json, "converged", report->converged);
        ph_json_number(&json, "converge_s", report->converge_s);
        write_server(&json, &report->server);
    }
    ph_json_close(&json);
}

// ---- judging

static bool expect(bool is_well, const char* sentence)
{
    if (!is_well) {
        fprintf(stderr, "pinhole bots: %s\n", sentence);
    }
    return is_well;
}

// Of the first few that are not equal: how.
static void explain(const bots_swarm* swarm)
{
    static const char* const KINDS[] = {
        "was never compared", "is unknown to the server", "has another number in view",
        "misses an entity",   "has another value",
    };
    int told = 0;
    for (int i = 0; i < swarm->def.count && told < EXPLAINED_MAX; ++i) {
        const bot* of = swarm->bots[i];
        const bot_difference* how = &of->difference;
        if (of->behaviour == BOT_GOOD && of->converged_us == 0) {
            fprintf(stderr, "  client %llu %s: entity %llu, property %d; %d in view, %d wanted\n",
                    (unsigned long long)of->client_id, KINDS[how->kind],
                    (unsigned long long)how->name, how->property, how->found, how->expected);
            ++told;
        }
    }
}

bool bots_report_judge(const bots_report* report, const bots_swarm* swarm)
{
    bool is_well = expect(report->never == 0, "some bots never got a connection.");
    is_well &= expect(report->connected + report->never == report->good,
                      "some bots lost their connection.");
    is_well &= expect(report->overruns == 0 && report->server.overruns == 0,
                      "some datagrams were over the budget.");
    is_well &= expect(report->refused == 0, "some datagrams were not understood.");
    is_well &= expect(report->chat_wrong == 0, "some messages came back wrong or out of order.");
    if (report->is_compared &&
        !expect(report->converged == report->good,
                "not every bot came to equal the world that stood still, with all messages "
                "answered.")) {
        explain(swarm);
        is_well = false;
    }
    return is_well;
}
