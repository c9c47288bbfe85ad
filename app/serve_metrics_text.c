// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The figures in the text form of Prometheus. Once a second.

#include "serve_metrics.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct page {
    char* text;
    size_t capacity;
    size_t length;
} page;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(page* to, const char* format, ...)
{
    if (to->length >= to->capacity) {
        return;
    }
    va_list values;
    va_start(values, format);
    const int more = vsnprintf(to->text + to->length, to->capacity - to->length, format, values);
    va_end(values);
    to->length += more > 0 ? (size_t)more : 0;
    to->length = to->length < to->capacity ? to->length : to->capacity - 1;
}

static void add_head(page* to, const char* name, const char* kind, const char* help)
{
    add(to, "# HELP pinhole_%s %s\n# TYPE pinhole_%s %s\n", name, help, name, kind);
}

static void add_count(page* to, const char* name, const char* help, uint64_t count)
{
    add_head(to, name, "counter", help);
    add(to, "pinhole_%s %llu\n", name, (unsigned long long)count);
}

static void add_gauge(page* to, const char* name, const char* help, double value)
{
    add_head(to, name, "gauge", help);
    add(to, "pinhole_%s %.9g\n", name, value);
}

static void add_ends(page* to, const ph_net_server_stats* net)
{
    add_head(to, "clients_ended_total", "counter", "Connections that ended, by reason.");
    for (int i = PH_NET_END_NONE + 1; i < PH_NET_END_COUNT; ++i) {
        add(to, "pinhole_clients_ended_total{reason=\"%s\"} %llu\n", ph_net_end_name((ph_net_end)i),
            (unsigned long long)net->disconnected_clients[i]);
    }
}

static void add_refusals(page* to, const ph_net_server_stats* net)
{
    add_head(to, "datagrams_refused_total", "counter", "Datagrams that were ignored, by reason.");
    for (int i = PH_NET_REFUSAL_NONE + 1; i < PH_NET_REFUSAL_COUNT; ++i) {
        add(to, "pinhole_datagrams_refused_total{reason=\"%s\"} %llu\n",
            ph_net_refusal_name((ph_net_refusal)i), (unsigned long long)net->refused_datagrams[i]);
    }
}

static void add_traffic(page* to, const serve_counts* counts)
{
    const ph_host_stats* host = &counts->host;
    add_count(to, "sends_total", "Turns in which a client was sent to.", host->sends);
    add_count(to, "sends_put_off_total", "Turns that a tick had no time for, due or not.",
              host->postponed_sends);
    add_count(to, "datagrams_sent_total", "Datagrams to clients.", host->sent_datagrams);
    add_count(to, "wire_bytes_sent_total", "Their bytes, IP and UDP headers included.",
              host->sent_wire_bytes);
    add_count(to, "datagrams_unsent_total", "Datagrams that the system would not take.",
              host->socket.unsent_datagrams);
    add_count(to, "overruns_total", "Datagrams beyond a client's budget. Must be 0.",
              host->over_budget_datagrams);
    add_count(to, "datagrams_received_total", "Datagrams that came, refused ones included.",
              host->socket.received_datagrams);
    add_count(to, "acknowledgements_total", "Acknowledgements that were of use.", host->new_acks);
    add_count(to, "messages_total", "Reliable messages from clients.", counts->messages);
    add_count(to, "messages_dropped_total", "Of these, those that found the queue back full.",
              counts->messages_dropped);
    add_count(to, "payloads_strange_total", "Payloads that no client of ours sends.",
              host->refused_payloads);
}

size_t serve_metrics_print(const serve_report* now, char* text, size_t capacity)
{
    const serve_counts* counts = &now->counts;
    page to = {.text = text, .capacity = capacity};
    text[0] = '\0';
    add_gauge(&to, "clients", "Clients connected now.", counts->clients);
    add_gauge(&to, "clients_pending", "Clients between request and response.",
              counts->host.net.pending_count);
    add_count(&to, "clients_connected_total", "Connections that began.",
              counts->host.net.connected_clients);
    add_ends(&to, &counts->host.net);
    add_count(&to, "ticks_total", "Ticks of the world.", now->ticks);
    add_count(&to, "ticks_missed_total", "Ticks that were due and never came.", now->missed);
    add_gauge(&to, "tick_late_seconds_max", "The latest begin of a tick within the last second.",
              now->worst_late_ms / 1000.0);
    add_traffic(&to, counts);
    add_refusals(&to, &counts->host.net);
    add_gauge(&to, "rate_bits_per_second", "What a client may be sent, mean over clients.",
              counts->rate_bits_per_second);
    add_gauge(&to, "rtt_seconds", "Round trip, mean over clients.", now->rtt_ms / 1000.0);
    add_gauge(&to, "loss_ratio", "Share of lost packets, mean over clients.", now->loss);
    add_gauge(&to, "oldest_due_seconds", "The longest that something has waited to be told.",
              now->oldest_due_ms / 1000.0);
    add_count(&to, "log_lines_dropped_total", "Lines of the log that nobody read, or that failed.",
              now->log_dropped);
    add_count(&to, "audit_lines_dropped_total", "The same of the audit log.", now->audit_dropped);
    add_gauge(&to, "process_cpu_seconds", "Processor time since the start.",
              (double)now->cpu_us / 1e6);
    return to.length;
}
