// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Real nats-servers for tests: processes with JetStream in a temporary folder, on free ports of this machine, one or a
// cluster. They end with the test, also when that fails.
//
//     if (!nats_servers_are_there()) {
//         skip();
//     }
//     nats_servers servers;
//     nats_servers_start(&servers, &(nats_servers_def){.count = 3});
//     ... nats_servers_urls(&servers), nats_servers_kill(&servers, 0) ...
//     nats_servers_end(&servers);

#ifndef PINHOLE_TEST_NATS_SERVERS_H
#define PINHOLE_TEST_NATS_SERVERS_H

#include <stdbool.h>
#include <sys/types.h>

enum { NATS_SERVERS_MAX = 5 };

typedef struct nats_servers_def {
    int count; // 1..NATS_SERVERS_MAX; 0 means 1
    // What stands in the configuration besides, such as "authorization { token: x }". NULL: nothing.
    const char* settings;
} nats_servers_def;

typedef struct nats_servers {
    int count;
    pid_t processes[NATS_SERVERS_MAX]; // 0: it does not run
    int ports[NATS_SERVERS_MAX];
    int route_ports[NATS_SERVERS_MAX];
    char folder[64];
    char urls[NATS_SERVERS_MAX * 32];
} nats_servers;

// Whether this machine has nats-server.
bool nats_servers_are_there(void);

// Comes back when all of them answer. Fails the test when they do not.
void nats_servers_start(nats_servers* servers, const nats_servers_def* def);
// Kills what still runs and removes the folder. {0} is allowed.
void nats_servers_end(nats_servers* servers);

// "nats://127.0.0.1:4222,..." of all, and of one. Valid as long as the servers; the other until the next call.
const char* nats_servers_urls(const nats_servers* servers);
const char* nats_servers_url(const nats_servers* servers, int index);

void nats_servers_kill(nats_servers* servers, int index);
// On its old ports, with its old files.
void nats_servers_restart(nats_servers* servers, int index);
// It keeps its connections and does nothing.
void nats_servers_freeze(nats_servers* servers, int index);
void nats_servers_thaw(nats_servers* servers, int index);

#endif
