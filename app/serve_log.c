// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once a second, over all clients.

#include "serve_log.h"

#include "wall.h"

#include <pinhole/stats.h>

#define US_PER_SECOND 1e6

// ---- looking

static void look_at_viewers(serve_report* report, const serve_front* front, const ph_world* world)
{
    const ph_host* host = serve_front_host(front);
    int known = 0;
    for (int i = 0; i < ph_host_client_count(host); ++i) {
        ph_viewer_stats stats;
        ph_viewer_get_stats(world, ph_host_viewer(host, ph_host_client_at(host, i)), &stats);
        if (stats.rtt_ms > 0.0) {
            report->rtt_ms += stats.rtt_ms;
            report->loss += stats.loss;
            ++known;
        }
        if (stats.longest_wait_ms > report->oldest_due_ms) {
            report->oldest_due_ms = stats.longest_wait_ms;
        }
    }
    report->rtt_ms /= known > 0 ? known : 1;
    report->loss /= known > 0 ? known : 1;
}

serve_report serve_report_make(const serve_front* front, ph_pace* pace, const ph_world* world)
{
    serve_report report = {
        .counts = serve_front_counts(front),
        .ticks = pace->ticks,
        .missed = pace->missed,
        .cpu_us = app_wall_cpu_us(),
        .now_us = ph_socket_now_us(),
        .worst_late_ms = (double)ph_pace_take_worst(pace) / 1000.0,
    };
    look_at_viewers(&report, front, world);
    return report;
}

// ---- output

static double per_second(uint64_t before, uint64_t now, double seconds)
{
    return seconds > 0.0 ? (double)(now - before) / seconds : 0.0;
}

static uint64_t refused(const ph_net_server_stats* net)
{
    uint64_t sum = 0;
    for (int i = 0; i < PH_NET_REFUSAL_COUNT; ++i) {
        sum += net->refused_datagrams[i];
    }
    return sum;
}

static uint64_t ended(const ph_net_server_stats* net)
{
    uint64_t sum = 0;
    for (int i = 0; i < PH_NET_END_COUNT; ++i) {
        sum += net->disconnected_clients[i];
    }
    return sum;
}

void serve_log_line(serve_writer* log, const serve_report* before, const serve_report* now)
{
    const double seconds = (double)(now->now_us - before->now_us) / US_PER_SECOND;
    const ph_host_stats* was = &before->counts.host;
    const ph_host_stats* is = &now->counts.host;
    const int clients = now->counts.clients;
    const double kbps =
        per_second(was->sent_wire_bytes, is->sent_wire_bytes, seconds) * 8.0 / 1000.0;
    serve_writer_add(
        log,
        "clients %d (+%d -%d)  ticks %d late %.1f ms missed %d  out %.0f/s %.1f of %.1f kbit/s "
        "each  "
        "in %.0f/s refused %d  rtt %.0f ms loss %.1f %%  waits %.1f s  overruns %d  cpu %.0f "
        "%%",
        clients, (int)(is->net.connected_clients - was->net.connected_clients),
        (int)(ended(&is->net) - ended(&was->net)), (int)(now->ticks - before->ticks),
        now->worst_late_ms, (int)(now->missed - before->missed),
        per_second(was->sent_datagrams, is->sent_datagrams, seconds),
        clients > 0 ? kbps / clients : 0.0, now->counts.rate_bits_per_second / 1000.0,
        per_second(was->socket.received_datagrams, is->socket.received_datagrams, seconds),
        (int)(refused(&is->net) - refused(&was->net)), now->rtt_ms, 100.0 * now->loss,
        now->oldest_due_ms / 1000.0, (int)(is->over_budget_datagrams - was->over_budget_datagrams),
        100.0 * per_second(before->cpu_us, now->cpu_us, seconds) / US_PER_SECOND);
}

void serve_log_overload(serve_writer* log, const serve_report* before, const serve_report* now)
{
    const uint64_t put_off = now->counts.host.postponed_sends - before->counts.host.postponed_sends;
    const uint64_t missed = now->missed - before->missed;
    if (put_off == 0 && missed == 0) {
        return;
    }
    const double sends = (double)(now->counts.host.sends - before->counts.host.sends);
    serve_writer_add(
        log,
        "overload: %llu ticks missed, %llu turns put off to the next tick; each client was sent "
        "to %.1f times, all alike",
        (unsigned long long)missed, (unsigned long long)put_off,
        now->counts.clients > 0 ? sends / now->counts.clients : 0.0);
}

void serve_log_end(serve_writer* log, const serve_report* first, const serve_report* last)
{
    const ph_host_stats* host = &last->counts.host;
    const double seconds = (double)(last->now_us - first->now_us) / US_PER_SECOND;
    serve_writer_add(
        log,
        "served %llu clients in %.0f s: %llu ticks, %llu missed; %llu datagrams, %llu not taken "
        "by the system, %llu overruns; %llu received, %llu refused; cpu %.1f s",
        (unsigned long long)host->net.connected_clients, seconds, (unsigned long long)last->ticks,
        (unsigned long long)last->missed, (unsigned long long)host->sent_datagrams,
        (unsigned long long)host->socket.unsent_datagrams,
        (unsigned long long)host->over_budget_datagrams,
        (unsigned long long)host->socket.received_datagrams,
        (unsigned long long)refused(&host->net), (double)last->cpu_us / US_PER_SECOND);
}
