// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once a second.

#include "cluster_page.h"

#include <stdarg.h>
#include <stdio.h>

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(cluster_page* page, const char* format, ...)
{
    va_list values;
    va_start(values, format);
    const size_t room = sizeof page->text - page->length;
    const int more = vsnprintf(page->text + page->length, room, format, values);
    va_end(values);
    if (more > 0 && (size_t)more < room) {
        page->length += (size_t)more;
    } else {
        page->text[page->length] = '\0';
    }
}

static void add_head(cluster_page* page, const char* name, const char* kind, const char* help)
{
    add(page, "# HELP pinhole_%s %s\n# TYPE pinhole_%s %s\n", name, help, name, kind);
}

void cluster_page_count(cluster_page* page, const char* name, const char* help, uint64_t count)
{
    add_head(page, name, "counter", help);
    add(page, "pinhole_%s %llu\n", name, (unsigned long long)count);
}

void cluster_page_gauge(cluster_page* page, const char* name, const char* help, double value)
{
    add_head(page, name, "gauge", help);
    add(page, "pinhole_%s %.9g\n", name, value);
}

static void add_refusals(cluster_page* page, const char* name, const uint64_t* refused)
{
    add_head(page, name, "counter", "Malformed messages of the bus, by reason.");
    for (int i = 0; i < PH_BUS_REFUSAL_COUNT; ++i) {
        add(page, "pinhole_%s{reason=\"%s\"} %llu\n", name, ph_bus_refusal_name((ph_bus_refusal)i),
            (unsigned long long)refused[i]);
    }
}

void cluster_page_sim(cluster_page* page, const ph_bus_sim_stats* stats)
{
    cluster_page_gauge(page, "sim_regions_owned", "Regions owned now.", stats->owned_regions);
    cluster_page_gauge(page, "sim_regions_standby", "Regions stood by for.",
                       stats->standby_regions);
    cluster_page_gauge(page, "sim_regions_covered",
                       "Owned regions for which another sim stands by.", stats->covered_regions);
    cluster_page_gauge(page, "sim_entities", "Entities simulated here now.", stats->entities);
    cluster_page_gauge(page, "sim_players", "Players attached now.", stats->players);
    cluster_page_gauge(page, "sim_offered", "Entities being handed over now.", stats->offered);
    cluster_page_count(page, "sim_batches_total", "Batches published.", stats->published_batches);
    cluster_page_count(page, "sim_records_total", "Records published.", stats->published_records);
    cluster_page_count(page, "sim_bytes_total", "Bytes published.", stats->published_bytes);
    cluster_page_count(page, "sim_unsent_total", "Messages that the transport did not take.",
                       stats->unsent_messages);
    cluster_page_count(page, "sim_snapshots_total", "Cells sent whole.", stats->snapshots);
    cluster_page_count(page, "sim_given_total", "Entities handed over to another sim.",
                       stats->given);
    cluster_page_count(page, "sim_taken_total", "Entities taken from another sim.", stats->taken);
    cluster_page_count(page, "sim_takeovers_total", "Regions taken from a silent owner.",
                       stats->takeovers);
    cluster_page_count(page, "sim_fenced_total", "Regions lost to another owner.", stats->fenced);
    cluster_page_count(page, "sim_verifications_total", "Times ownership was to be proven.",
                       stats->verifications);
    cluster_page_count(page, "sim_messages_total", "Messages of players, each once.",
                       stats->received_messages);
    cluster_page_count(page, "sim_messages_repeated_total", "Messages that came again, ignored.",
                       stats->repeated_messages);
    cluster_page_count(page, "sim_inputs_total", "Inputs of players.", stats->received_inputs);
    cluster_page_count(page, "sim_attaches_refused_total", "Players that were not let in.",
                       stats->refused_attaches);
    cluster_page_count(page, "sim_gaps_total", "Gaps in what is mirrored.", stats->gaps);
    add_refusals(page, "sim_refused_total", stats->refused);
}

void cluster_page_front(cluster_page* page, const ph_bus_front_stats* stats)
{
    cluster_page_gauge(page, "front_players", "Players admitted now.", stats->players);
    cluster_page_gauge(page, "front_attaching", "Players that wait for their sim now.",
                       stats->attaching);
    cluster_page_gauge(page, "front_entities", "Entities of the local world now.", stats->entities);
    cluster_page_gauge(page, "front_cells", "Cells wanted now.", stats->cells);
    cluster_page_gauge(page, "front_subscriptions", "Subscriptions now.", stats->subscriptions);
    cluster_page_gauge(page, "front_incomplete_cells", "Cells that wait for a snapshot now.",
                       stats->incomplete_cells);
    cluster_page_count(page, "front_batches_total", "Batches of sims.", stats->batches);
    cluster_page_count(page, "front_records_total", "Records of sims.", stats->records);
    cluster_page_count(page, "front_bytes_total", "Bytes of sims.", stats->bytes);
    cluster_page_count(page, "front_gaps_total", "Gaps that were noticed.", stats->gaps);
    cluster_page_count(page, "front_snapshots_total", "Cells that were asked for.",
                       stats->snapshots);
    cluster_page_count(page, "front_old_epoch_total", "Messages of former owners, dropped.",
                       stats->old_epoch);
    cluster_page_count(page, "front_old_sequence_total", "Messages that came again, dropped.",
                       stats->old_sequence);
    cluster_page_count(page, "front_confirmed_total", "Messages of players that are safe at a sim.",
                       stats->confirmed_messages);
    cluster_page_count(page, "front_told_total", "Messages handed to connections of players.",
                       stats->told_messages);
    cluster_page_count(page, "front_attached_total", "Players that were attached.",
                       stats->attached);
    cluster_page_count(page, "front_refused_players_total", "Players that a sim did not let in.",
                       stats->refused_players);
    cluster_page_count(page, "front_resent_total", "Items sent again to a sim.", stats->resent);
    add_refusals(page, "front_refused_total", stats->refused);
}

void cluster_page_nats(cluster_page* page, const ph_nats_stats* stats)
{
    cluster_page_count(page, "nats_published_total", "Messages published.",
                       stats->published_messages);
    cluster_page_count(page, "nats_published_bytes_total", "Their bytes.", stats->published_bytes);
    cluster_page_count(page, "nats_received_total", "Messages received.", stats->received_messages);
    cluster_page_count(page, "nats_received_bytes_total", "Their bytes.", stats->received_bytes);
    cluster_page_count(page, "nats_dropped_total", "Messages that found no room.",
                       stats->dropped_messages);
    cluster_page_count(page, "nats_unsent_total", "Publishes that failed.", stats->unsent_messages);
    cluster_page_count(page, "nats_reconnects_total", "Connections made anew.", stats->reconnects);
}
