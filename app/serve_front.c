// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per tick, over all clients.

#include "serve_front.h"

#include "secret.h"
#include "wall.h"

#include <pinhole/viewer.h>

#include <stdlib.h>
#include <string.h>

struct serve_front {
    serve_stage* stage;
    ph_viewer_def view; // what all clients have in common
    ph_host* host;
    serve_client* clients; // by the client's index at the host
    int client_capacity;
    serve_front_bus bus; // take NULL: none
    serve_audit* audit;  // NULL: none
    serve_writer* log;
    bool is_stopping;
    uint64_t game_ns;
    ph_error error; // the newest while it opened
};

// ---- opening

static void on_messages(void* context, int client, ph_messages* messages)
{
    const serve_front* front = context;
    serve_client_receive(&front->clients[client], messages);
}

// What is wrong with the spent-tokens file, by the name that it has here; NULL when it is something else.
static const char* spent_sentence(const ph_error* error)
{
    const char* rest = strchr(error->text, ' ');
    return strstr(error->field, "spent_tokens_path") != NULL ? rest : NULL;
}

// Into the log, which never blocks: standard error may be a pipe that is not read. Without addresses of clients.
static void tell_error(const serve_front* front, const ph_error* error)
{
    const char* rest = spent_sentence(error);
    const char* own =
        error->result == PH_OK && error->field[0] == '\0' ? strchr(error->text, ' ') : NULL;
    const char* text = rest != NULL  ? rest
                       : own != NULL ? own + 1
                                     : error->text; // without its function
    const char* address = strstr(text, "; the last came from ");
    const size_t length = address != NULL ? (size_t)(address - text) : strlen(text);
    serve_writer_add(front->log, "pinhole serve: %s%.*s.", rest != NULL ? "--spent-tokens" : "",
                     (int)length, text);
}

// While it opens, the error is kept and returned; later it is told.
static void on_error(void* context, const ph_error* error)
{
    serve_front* front = context;
    if (front->host == NULL) {
        front->error = *error;
    } else {
        tell_error(front, error);
    }
}

static bool complain(ph_result result, const ph_error* error, ph_fault* fault)
{
    if (result == PH_ERROR_MEMORY) {
        return ph_fault_set_memory(fault);
    }
    if (spent_sentence(error) != NULL) {
        return ph_fault_set(fault, 0, 0, "--spent-tokens%s", spent_sentence(error));
    }
    return ph_fault_set(fault, 0, 0, "%s",
                        result == PH_ERROR_TAKEN
                            ? "another program listens on that port; --listen takes another one"
                            : "the system does not let us listen there; it may be no address of "
                              "this machine");
}

static ph_host_def host_def_of(serve_front* front, const serve_front_def* def)
{
    ph_host_def host = ph_host_def_default();
    host.world = def->stage->world;
    host.tick_us = def->stage->tick_us;
    host.listen_address = def->listen;
    host.public_address = def->public_address;
    host.protocol_id = APP_PROTOCOL_ID;
    host.spent_tokens_path = def->spent_path;
    host.requests_per_second = def->requests_per_second;
    host.pending_capacity = def->pending;
    host.pending_per_client = def->pending_per_client;
    host.pending_per_prefix = def->pending_per_prefix;
    host.on_error = on_error;
    host.on_error_context = front;
    host.client_capacity = def->client_capacity;
    host.is_rate_fixed = def->is_rate_fixed;
    host.pool = def->pool;
    host.recorder = def->recorder;
    host.on_messages = def->has_bus ? NULL : on_messages;
    host.on_messages_context = front;
    host.allocator = ph_large_pages_allocator(def->stage->pages);
    return host;
}

static bool open_host(serve_front* front, const serve_front_def* def, ph_fault* fault)
{
    ph_host_def* host = app_secret_create(sizeof *host);
    if (host == NULL) {
        return ph_fault_set_memory(fault);
    }
    *host = host_def_of(front, def);
    memcpy(host->private_key, def->keys->key, sizeof host->private_key);
    memcpy(host->second_key, def->keys->second, sizeof host->second_key);
    host->has_second_key = def->keys->has_second;
    host->is_insecure_dev = def->is_insecure_dev;
    const ph_result result = ph_host_open(host, &front->host);
    app_secret_destroy(host, sizeof *host);
    if (result == PH_OK && front->error.text[0] != '\0') {
        tell_error(front, &front->error); // no reason not to open
    }
    return result == PH_OK || complain(result, &front->error, fault);
}

static ph_viewer_def view_of(const serve_front_def* def)
{
    ph_viewer_def view = ph_viewer_def_default();
    view.radius_mm = def->stage->radius_mm;
    view.visible_max = def->slots;
    view.bits_per_second = def->bits_per_second;
    view.sends_per_second = def->hz;
    return view;
}

serve_front* serve_front_create(const serve_front_def* def, ph_fault* fault)
{
    serve_front* front = calloc(1, sizeof *front);
    serve_client* clients = calloc((size_t)def->client_capacity, sizeof *clients);
    if (front == NULL || clients == NULL) {
        free(front);
        free(clients);
        ph_fault_set_memory(fault);
        return NULL;
    }
    front->stage = def->stage;
    front->view = view_of(def);
    front->clients = clients;
    front->client_capacity = def->client_capacity;
    front->audit = def->audit;
    front->log = def->log;
    if (!open_host(front, def, fault)) {
        serve_front_destroy(front);
        return NULL;
    }
    return front;
}

void serve_front_destroy(serve_front* front)
{
    if (front == NULL) {
        return;
    }
    ph_host_close(front->host);
    free(front->clients);
    free(front);
}

// ---- a tick

static void note_arrival(serve_front* front, const ph_net_event* event)
{
    ph_net_client_info info;
    const bool is_there = ph_host_get_client(front->host, event->client, &info);
    serve_audit_came(front->audit, event->client_id, is_there ? &info.address : NULL);
}

static void admit(serve_front* front, const ph_net_event* event)
{
    serve_client* client = &front->clients[event->client];
    serve_client_begin(client, front->stage, event->client_id);
    ph_viewer_def view = front->view;
    view.entity = client->entity;
    int32_t place_mm[3];
    serve_stage_place(front->stage, client->actor, place_mm);
    for (int axis = 0; axis < 3; ++axis) {
        view.eye_mm[axis] = place_mm[axis];
    }
    if (ph_host_admit(front->host, event->client, &view, NULL) != PH_OK) {
        client->is_refused = true;
        ph_host_disconnect(front->host, event->client);
    }
}

// Whether client and server did not go together; the reason says what differs.
static bool is_misfit(const ph_net_event* event)
{
    return event->reason[0] != '\0' &&
           (event->end == PH_NET_END_CLIENT || event->end == PH_NET_END_SERVER);
}

static const char* why(const serve_front* front, const ph_net_event* event)
{
    if (is_misfit(event)) {
        return "refused";
    }
    switch (event->end) {
    case PH_NET_END_CLIENT:
        return "disconnected";
    case PH_NET_END_SERVER:
        return front->clients[event->client].is_refused ? "refused"
               : front->is_stopping                     ? "server_stops"
                                                        : "server";
    default:
        return ph_net_end_name(event->end);
    }
}

static void take_events(serve_front* front)
{
    for (ph_net_event event; ph_host_next_event(front->host, &event);) {
        if (event.kind == PH_NET_CONNECTED) {
            note_arrival(front, &event);
        }
        if (front->bus.take != NULL) {
            front->bus.take(front->bus.context, &event);
        } else if (event.kind == PH_NET_CONNECTED) {
            admit(front, &event);
        }
        if (event.kind == PH_NET_DISCONNECTED) {
            if (is_misfit(&event)) {
                serve_writer_add(front->log, "pinhole serve: a client was refused: %s.",
                                 event.reason);
            }
            serve_audit_went(front->audit, event.client_id, why(front, &event));
        }
    }
}

static bool step_stage(serve_front* front, ph_fault* fault)
{
    const uint64_t start_ns = app_wall_ns();
    const bool is_stepped = serve_stage_step(front->stage, fault);
    front->game_ns += app_wall_ns() - start_ns;
    return is_stepped;
}

void serve_front_take_events(serve_front* front)
{
    take_events(front);
}

bool serve_front_tick(serve_front* front, ph_fault* fault)
{
    ph_host* host = front->host;
    ph_host_tick(host);
    take_events(front);
    if (front->bus.tick != NULL) {
        front->bus.tick(front->bus.context);
        ph_world_tick(front->stage->world);
        return true;
    }
    if (!step_stage(front, fault)) {
        return false;
    }
    for (int i = 0; i < ph_host_client_count(host); ++i) {
        const int client = ph_host_client_at(host, i);
        serve_client_follow(&front->clients[client], front->stage, host, client);
    }
    ph_world_tick(front->stage->world);
    return true;
}

void serve_front_stop(serve_front* front)
{
    front->is_stopping = true;
    ph_host_stop(front->host);
    take_events(front);
}

void serve_front_set_bus(serve_front* front, const serve_front_bus* bus)
{
    front->bus = *bus;
}

// ---- questions

const ph_viewer_def* serve_front_view(const serve_front* front)
{
    return &front->view;
}

ph_host* serve_front_host(const serve_front* front)
{
    return front->host;
}

const serve_client* serve_front_find(const serve_front* front, uint64_t client_id, int* index)
{
    for (int i = 0; i < ph_host_client_count(front->host); ++i) {
        *index = ph_host_client_at(front->host, i);
        if (front->clients[*index].client_id == client_id) {
            return &front->clients[*index];
        }
    }
    return NULL;
}

static double mean_rate(const ph_host* host)
{
    const int count = ph_host_client_count(host);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += ph_host_bits_per_second(host, ph_host_client_at(host, i));
    }
    return count > 0 ? sum / count : 0.0;
}

serve_counts serve_front_counts(const serve_front* front)
{
    serve_counts counts = {
        .clients = ph_host_client_count(front->host),
        .rate_bits_per_second = mean_rate(front->host),
        .game_ns = front->game_ns,
        .host = ph_host_get_stats(front->host),
    };
    for (int i = 0; i < front->client_capacity; ++i) {
        counts.messages += front->clients[i].messages;
        counts.messages_dropped += front->clients[i].messages_dropped;
    }
    return counts;
}
