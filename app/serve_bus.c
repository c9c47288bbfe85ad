// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick, over all clients.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "serve_bus.h"

#include "cluster_control.h"
#include "cluster_page.h"
#include "truth_wire.h"

#include <pinhole/bus/bus_front.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Sims say what is new at the beginning of a tick.
#define BEHIND 0.3
#define REPORT_US UINT64_C(500000)
#define EMPTY_US UINT64_C(20000000)

// A player, by the client's index at the host.
typedef struct serve_bus_player {
    uint64_t key;
    uint64_t generation;
} serve_bus_player;

struct serve_bus {
    serve_bus_def def;
    cluster_bus* bus;
    ph_bus_front* front;
    ph_host* host;
    serve_bus_player* players; // only where it is controlled; else NULL
    uint64_t reported_us;
    bool is_emptying;
    bool is_told;
    int emptied_clients;
    uint64_t empty_us;
    uint64_t told_us;
    uint64_t last_bytes; // told of
    uint64_t last_sent;
    double kbps;
    double out_kbps;
};

// ---- the bus

static void take_event(void* context, const ph_net_event* event)
{
    serve_bus* bus = context;
    ph_ticket ticket;
    if (bus->players != NULL && event->kind == PH_NET_CONNECTED &&
        ph_ticket_read(&ticket, event->user_data)) {
        bus->players[event->client] =
            (serve_bus_player){.key = ticket.key, .generation = ticket.generation};
    }
    if (!ph_bus_front_take(bus->front, event) && event->kind == PH_NET_CONNECTED) {
        ph_host_refuse(bus->host, event->client, "this token has no ticket of a director");
    }
}

static void report_to_cluster(serve_bus* bus)
{
    const ph_bus_front_stats stats = ph_bus_front_get_stats(bus->front);
    char subject[PH_BUS_SUBJECT_MAX];
    char line[CLUSTER_REPORT_MAX];
    const int length =
        snprintf(line, sizeof line,
                 "%s kind=front pid=%ld players=%d attaching=%d entities=%d cells=%d incomplete=%d "
                 "kbps=%.0f out=%.0f gaps=%llu snapshots=%llu old=%llu attached=%llu refused=%llu "
                 "emptying=%d nats=%s",
                 bus->def.options->name, (long)getpid(), stats.players, stats.attaching,
                 stats.entities, stats.cells, stats.incomplete_cells, bus->kbps, bus->out_kbps,
                 (unsigned long long)stats.gaps, (unsigned long long)stats.snapshots,
                 (unsigned long long)(stats.old_epoch + stats.old_sequence),
                 (unsigned long long)stats.attached, (unsigned long long)stats.refused_players,
                 bus->is_emptying, cluster_bus_stats(bus->bus).server);
    cluster_control_subject(subject, "report", bus->def.options->world);
    cluster_bus_publish(bus->bus, subject, line, (size_t)length);
}

// Whose entities the players have, for those that show it.
static void report_players(const serve_bus* bus)
{
    char subject[PH_BUS_SUBJECT_MAX];
    const char* name = bus->def.options->name;
    truth_bytes out = {0};
    truth_put_raw(&out, name, strlen(name));
    truth_put_raw(&out, "\n", 1);
    for (int i = 0; i < ph_host_client_count(bus->host); ++i) {
        const serve_bus_player* player = &bus->players[ph_host_client_at(bus->host, i)];
        truth_put(&out, player->key, 8);
        truth_put(&out, player->generation, 8);
    }
    cluster_control_subject(subject, "players", bus->def.options->world);
    if (!out.is_short) {
        cluster_bus_publish(bus->bus, subject, out.bytes, out.size);
    }
    truth_bytes_destroy(&out);
}

static void tick(void* context)
{
    serve_bus* bus = context;
    const uint64_t now_us = ph_socket_now_us();
    ph_bus_front_tick(bus->front, now_us);
    if (bus->def.is_controlled && now_us - bus->reported_us >= REPORT_US) {
        bus->reported_us = now_us;
        report_to_cluster(bus);
        report_players(bus);
    }
}

// ---- opening

static void on_error(void* context, const ph_error* error)
{
    const serve_bus* bus = context;
    serve_writer_add(bus->def.log, "pinhole serve: %s.", error->text);
}

static bool open_front(serve_bus* bus, ph_fault* fault)
{
    ph_bus_front_def def = ph_bus_front_def_default();
    def.transport = cluster_bus_transport(bus->bus);
    def.world = bus->def.stage->world;
    def.host = bus->host;
    def.world_name = bus->def.options->world;
    def.name = bus->def.options->name;
    def.cell_mm = bus->def.cell_mm;
    def.view = *serve_front_view(bus->def.front);
    def.client_capacity = bus->def.client_capacity;
    def.started_us = cluster_control_unix_us();
    def.on_error = on_error;
    def.on_error_context = bus;
    const ph_result result = ph_bus_front_create(&def, &bus->front);
    return result == PH_OK || ph_fault_set(fault, 0, 0, "no front-end can be made of this: %s",
                                           ph_result_text(result));
}

serve_bus* serve_bus_open(const serve_bus_def* def, ph_fault* fault)
{
    serve_bus* bus = calloc(1, sizeof *bus);
    if (bus == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    bus->def = *def;
    bus->host = serve_front_host(def->front);
    bus->told_us = ph_socket_now_us();
    if (def->is_controlled) {
        bus->players = calloc((size_t)def->client_capacity, sizeof *bus->players);
    }
    const bool has_room = !def->is_controlled || bus->players != NULL || ph_fault_set_memory(fault);
    bus->bus = has_room ? cluster_bus_open(def->options, fault) : NULL;
    if (bus->bus == NULL || !open_front(bus, fault)) {
        serve_bus_close(bus);
        return NULL;
    }
    serve_front_set_bus(def->front,
                        &(serve_front_bus){.take = take_event, .tick = tick, .context = bus});
    return bus;
}

void serve_bus_close(serve_bus* bus)
{
    if (bus == NULL) {
        return;
    }
    serve_front_set_bus(bus->def.front, &(serve_front_bus){0});
    ph_bus_front_destroy(bus->front);
    cluster_bus_close(bus->bus);
    free(bus->players);
    free(bus);
}

uint64_t serve_bus_first_tick_us(const serve_bus* bus)
{
    return cluster_control_next_us(0, bus->def.stage->tick_us, BEHIND);
}

// ---- output

void serve_bus_tell(serve_bus* bus, serve_metrics* metrics, bool is_quiet)
{
    static cluster_page page;
    if (bus == NULL) {
        return;
    }
    const ph_bus_front_stats stats = ph_bus_front_get_stats(bus->front);
    const ph_nats_stats nats = cluster_bus_stats(bus->bus);
    const uint64_t now_us = ph_socket_now_us();
    const uint64_t sent = ph_host_get_stats(bus->host).sent_wire_bytes;
    const double seconds = (double)(now_us - bus->told_us) / 1e6;
    bus->kbps = (double)(stats.bytes - bus->last_bytes) * 8e-3 / seconds;
    bus->out_kbps = (double)(sent - bus->last_sent) * 8e-3 / seconds;
    bus->told_us = now_us;
    bus->last_bytes = stats.bytes;
    bus->last_sent = sent;
    if (!is_quiet) {
        serve_writer_add(bus->def.log,
                         "bus: entities %d cells %d (%d incomplete) subscriptions %d  in %.0f "
                         "kbit/s  gaps %llu snapshots %llu old %llu  players %d attaching %d",
                         stats.entities, stats.cells, stats.incomplete_cells, stats.subscriptions,
                         bus->kbps, (unsigned long long)stats.gaps,
                         (unsigned long long)stats.snapshots,
                         (unsigned long long)(stats.old_epoch + stats.old_sequence), stats.players,
                         stats.attaching);
    }
    page = (cluster_page){0};
    cluster_page_front(&page, &stats);
    cluster_page_nats(&page, &nats);
    serve_metrics_add_text(metrics, page.text);
}

// ---- emptying

void serve_bus_empty(serve_bus* bus)
{
    if (bus->is_emptying) {
        return;
    }
    bus->is_emptying = true;
    bus->empty_us = ph_socket_now_us();
    bus->emptied_clients = ph_host_client_count(bus->host);
    serve_writer_add(bus->def.log, "emptying: %d clients are sent on to other front-ends",
                     bus->emptied_clients);
    ph_bus_front_empty(bus->front);
}

bool serve_bus_is_done(serve_bus* bus)
{
    if (bus == NULL || !bus->is_emptying) {
        return false;
    }
    const int left = ph_host_client_count(bus->host);
    const uint64_t took_us = ph_socket_now_us() - bus->empty_us;
    const bool is_done = left == 0 || took_us >= EMPTY_US;
    if (is_done && !bus->is_told) {
        bus->is_told = true;
        serve_writer_add(bus->def.log, "emptied: %d of %d clients have gone in %.1f s",
                         bus->emptied_clients - left, bus->emptied_clients, (double)took_us / 1e6);
    }
    return is_done;
}
