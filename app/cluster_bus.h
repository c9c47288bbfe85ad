// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The connection to NATS of one command. A sim or a front-end of the library takes messages from it by the transport;
// what is meant for the program itself (tokens of the director, control of a demonstration) is taken out before.

#ifndef PH_APP_CLUSTER_BUS_H
#define PH_APP_CLUSTER_BUS_H

#include "bus_options.h"

#include "kit/fault.h"

#include <pinhole/bus/nats.h>

typedef struct cluster_bus cluster_bus;

// A message has come. @return Whether the program has taken it; else it goes on to the library.
typedef bool cluster_bus_on_message(void* context, const ph_bus_message* message);

// Connected, or trying to. @return NULL with *fault filled.
cluster_bus* cluster_bus_open(const bus_options* options, ph_fault* fault);
void cluster_bus_close(cluster_bus* bus); // NULL is allowed

// Who gets messages first.
void cluster_bus_set_tap(cluster_bus* bus, cluster_bus_on_message* on_message, void* context);

ph_bus_transport cluster_bus_transport(cluster_bus* bus);

bool cluster_bus_subscribe(cluster_bus* bus, const char* subject);
bool cluster_bus_publish(cluster_bus* bus, const char* subject, const void* bytes, size_t size);

// For commands without sim and front-end: everything that has come goes to the tap.
void cluster_bus_receive(cluster_bus* bus);

// Reads of this record wait until then (ph_socket_now_us): a sim learns later that a region has no owner, so that one
// that wants it more can take it first.
void cluster_bus_delay_read(cluster_bus* bus, const char* key, uint64_t until_us);

bool cluster_bus_is_connected(const cluster_bus* bus);
ph_nats_stats cluster_bus_stats(const cluster_bus* bus);

#endif
