// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Once per message.

#include "cluster_bus.h"

#include "kit/file_text.h"
#include "secret.h"

#include <pinhole/net/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DELAYS_MAX = 64, SECRET_MAX = 512 };

// A read that waits, or will.
typedef struct delay {
    char key[PH_BUS_SUBJECT_MAX];
    uint64_t until_us;
    bool is_asked;
    uint64_t ticket;
} delay;

struct cluster_bus {
    ph_nats* nats;
    ph_bus_transport inner;
    cluster_bus_on_message* on_message;
    void* context;
    delay delays[DELAYS_MAX];
    int delay_count;
    char error[PH_ERROR_TEXT_SIZE]; // the newest
};

// ---- opening

static void on_error(void* context, const ph_error* error)
{
    cluster_bus* bus = context;
    snprintf(bus->error, sizeof bus->error, "%s", error->text);
    if (bus->nats != NULL) { // while it opens, that is what the fault says
        fprintf(stderr, "pinhole: %s.\n", bus->error);
    }
}

// The first line of a file. @return False with *fault filled.
static bool read_secret(const char* path, char secret[SECRET_MAX], ph_fault* fault)
{
    ph_file_text file;
    if (path == NULL) {
        return true;
    }
    if (!ph_file_text_load(path, &file, fault)) {
        return false;
    }
    size_t length = 0;
    while (length < file.length && file.bytes[length] != '\n' && file.bytes[length] != '\r') {
        ++length;
    }
    const bool fits = length > 0 && length < SECRET_MAX;
    if (fits) {
        memcpy(secret, file.bytes, length);
        secret[length] = '\0';
    }
    app_secret_wipe(file.bytes, file.length);
    ph_file_text_unload(&file);
    return fits || ph_fault_set(fault, 0, 0, "%s: its first line has no secret of up to %d letters",
                                path, SECRET_MAX - 1);
}

static bool open_nats(cluster_bus* bus, const bus_options* options, ph_fault* fault)
{
    char password[SECRET_MAX] = "";
    char token[SECRET_MAX] = "";
    ph_nats_def def = ph_nats_def_default();
    def.servers = options->servers;
    def.name = options->name;
    def.replicas = options->replicas;
    def.user = options->user;
    def.password = options->password_path != NULL ? password : NULL;
    def.token = options->token_path != NULL ? token : NULL;
    def.credentials_path = options->credentials_path;
    def.ca_path = options->ca_path;
    def.certificate_path = options->certificate_path;
    def.key_path = options->key_path;
    def.is_open_network = options->is_open_network;
    def.on_error = on_error;
    def.on_error_context = bus;
    bool is_open = read_secret(options->password_path, password, fault) &&
                   read_secret(options->token_path, token, fault);
    if (is_open) {
        const ph_result result = ph_nats_open(&def, &bus->nats);
        is_open = result == PH_OK ||
                  ph_fault_set(fault, 0, 0, "%s",
                               bus->error[0] != '\0' ? bus->error : ph_result_text(result));
    }
    app_secret_wipe(password, sizeof password);
    app_secret_wipe(token, sizeof token);
    return is_open;
}

cluster_bus* cluster_bus_open(const bus_options* options, ph_fault* fault)
{
    cluster_bus* bus = calloc(1, sizeof *bus);
    if (bus == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    if (!open_nats(bus, options, fault)) {
        free(bus);
        return NULL;
    }
    bus->inner = ph_nats_transport(bus->nats);
    return bus;
}

void cluster_bus_close(cluster_bus* bus)
{
    if (bus != NULL) {
        ph_nats_close(bus->nats);
        free(bus);
    }
}

void cluster_bus_set_tap(cluster_bus* bus, cluster_bus_on_message* on_message, void* context)
{
    bus->on_message = on_message;
    bus->context = context;
}

// ---- the transport, with what is taken out

static bool tapped_publish(void* context, const char* subject, const void* bytes, size_t size)
{
    const cluster_bus* bus = context;
    return bus->inner.publish(bus->inner.context, subject, bytes, size);
}

static uint64_t tapped_subscribe(void* context, const char* subject)
{
    const cluster_bus* bus = context;
    return bus->inner.subscribe(bus->inner.context, subject);
}

static void tapped_unsubscribe(void* context, uint64_t subscription)
{
    const cluster_bus* bus = context;
    bus->inner.unsubscribe(bus->inner.context, subscription);
}

static bool tapped_next(void* context, ph_bus_message* message)
{
    const cluster_bus* bus = context;
    while (bus->inner.next(bus->inner.context, message)) {
        if (bus->on_message == NULL || !bus->on_message(bus->context, message)) {
            return true;
        }
    }
    return false;
}

static delay* find_delay(cluster_bus* bus, const char* key)
{
    for (int i = 0; i < bus->delay_count; ++i) {
        if (strcmp(bus->delays[i].key, key) == 0) {
            return &bus->delays[i];
        }
    }
    return NULL;
}

static void tapped_read(void* context, const char* key, uint64_t ticket)
{
    cluster_bus* bus = context;
    delay* waits = find_delay(bus, key);
    if (waits != NULL && ph_socket_now_us() < waits->until_us) {
        waits->is_asked = true;
        waits->ticket = ticket;
        return;
    }
    bus->inner.read(bus->inner.context, key, ticket);
}

static void tapped_swap(void* context, const char* key, uint64_t revision, const void* bytes,
                        size_t size, uint64_t ticket)
{
    const cluster_bus* bus = context;
    bus->inner.swap(bus->inner.context, key, revision, bytes, size, ticket);
}

// Reads that have waited are asked now.
static void ask_delayed(cluster_bus* bus)
{
    const uint64_t now_us = bus->delay_count > 0 ? ph_socket_now_us() : 0;
    for (int i = 0; i < bus->delay_count; ++i) {
        delay* waits = &bus->delays[i];
        if (waits->is_asked && now_us >= waits->until_us) {
            waits->is_asked = false;
            bus->inner.read(bus->inner.context, waits->key, waits->ticket);
        }
    }
}

static bool tapped_next_answer(void* context, ph_bus_answer* answer)
{
    cluster_bus* bus = context;
    ask_delayed(bus);
    return bus->inner.next_answer(bus->inner.context, answer);
}

static uint64_t tapped_lost_count(void* context)
{
    const cluster_bus* bus = context;
    return bus->inner.lost_count(bus->inner.context);
}

static bool tapped_is_connected(void* context)
{
    const cluster_bus* bus = context;
    return bus->inner.is_connected(bus->inner.context);
}

ph_bus_transport cluster_bus_transport(cluster_bus* bus)
{
    return (ph_bus_transport){
        .context = bus,
        .publish = tapped_publish,
        .subscribe = tapped_subscribe,
        .unsubscribe = tapped_unsubscribe,
        .next = tapped_next,
        .read = tapped_read,
        .swap = tapped_swap,
        .next_answer = tapped_next_answer,
        .lost_count = tapped_lost_count,
        .is_connected = tapped_is_connected,
    };
}

// ---- for the program itself

bool cluster_bus_subscribe(cluster_bus* bus, const char* subject)
{
    return tapped_subscribe(bus, subject) != 0;
}

bool cluster_bus_publish(cluster_bus* bus, const char* subject, const void* bytes, size_t size)
{
    return tapped_publish(bus, subject, bytes, size);
}

void cluster_bus_receive(cluster_bus* bus)
{
    ph_bus_message message;
    while (tapped_next(bus, &message)) {
    }
}

void cluster_bus_delay_read(cluster_bus* bus, const char* key, uint64_t until_us)
{
    if (bus->delay_count < DELAYS_MAX) {
        delay* waits = &bus->delays[bus->delay_count++];
        *waits = (delay){.until_us = until_us};
        snprintf(waits->key, sizeof waits->key, "%s", key);
    }
}

bool cluster_bus_is_connected(const cluster_bus* bus)
{
    return bus->inner.is_connected(bus->inner.context);
}

ph_nats_stats cluster_bus_stats(const cluster_bus* bus)
{
    return ph_nats_get_stats(bus->nats);
}
