// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The commands that a deployment on one machine consists of: what is said to each nats-server, sim, front-end, to the
// director and the bots. Once, before they are started.

#include "cluster_deployment.h"

#include <pinhole/transfer.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Cells far out belong to a region, too.
#define FAR_CELLS 9999
// NATS may need some seconds for the first record: until then the region of the other sim is left to that.
#define CLAIM_LATER_MS 6000

// ---- nats-servers

static bool write_nats_file(const cluster_stage* stage, int node, const int* routes, int port,
                            ph_fault* fault)
{
    char path[CLUSTER_WORD_MAX];
    snprintf(path, sizeof path, "%s/nats-%d.conf", stage->folder, node + 1);
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        return ph_fault_set(fault, 0, 0, "%s: %s", path, strerror(errno));
    }
    fprintf(
        file,
        "server_name: nats-%d\nlisten: 127.0.0.1:%d\n"
        "jetstream { store_dir: \"%s/nats-%d\", max_memory_store: 64MB, max_file_store: 256MB }\n"
        "write_deadline: \"500ms\"\nmax_pending: 16MB\n"
        "cluster { name: pinhole, listen: 127.0.0.1:%d, routes: [",
        node + 1, port, stage->folder, node + 1, routes[node]);
    bool is_first = true;
    for (int i = 0; i < CLUSTER_NODES; ++i) {
        if (i != node) {
            fprintf(file, "%s \"nats://127.0.0.1:%d\"", is_first ? "" : ",", routes[i]);
            is_first = false;
        }
    }
    fprintf(file, " ] }\n");
    return fclose(file) == 0 || ph_fault_set(fault, 0, 0, "%s: %s", path, strerror(errno));
}

static cluster_part* add_part(cluster_stage* stage, cluster_kind kind, const char* root, int number)
{
    char name[32];
    if (number >= 0) {
        snprintf(name, sizeof name, kind == CLUSTER_SIM ? "%s-%c" : "%s-%d", root,
                 kind == CLUSTER_SIM ? 'a' + number : 1 + number);
    } else {
        snprintf(name, sizeof name, "%s", root);
    }
    cluster_part* part = cluster_parts_add(&stage->parts, kind, name);
    snprintf(part->log_path, sizeof part->log_path, "%s/%s.log", stage->folder, name);
    return part;
}

bool cluster_add_nats(cluster_stage* stage, ph_fault* fault)
{
    int routes[CLUSTER_NODES];
    for (int i = 0; i < CLUSTER_NODES; ++i) {
        routes[i] = cluster_parts_free_port();
    }
    for (int i = 0; i < CLUSTER_NODES; ++i) {
        cluster_part* part = add_part(stage, CLUSTER_NATS, "nats", i);
        part->port = cluster_parts_free_port();
        if (part->port == 0 || !write_nats_file(stage, i, routes, part->port, fault)) {
            return false;
        }
        cluster_part_say(part, "nats-server");
        cluster_part_say(part, "-c");
        cluster_part_say(part, "%s/nats-%d.conf", stage->folder, i + 1);
    }
    return true;
}

// ---- what all programs are told

// Sims are at nodes of their own, front-ends and all others at the third: one that does not read stops its node for a
// while, and no other part's.
static void say_bus(const cluster_stage* stage, cluster_part* part, const char* option, int node)
{
    const cluster_part* nats = stage->parts.all;
    cluster_part_say(part, "%s", option);
    cluster_part_say(part, "nats://127.0.0.1:%d,nats://127.0.0.1:%d,nats://127.0.0.1:%d",
                     nats[node].port, nats[(node + 1) % CLUSTER_NODES].port,
                     nats[(node + 2) % CLUSTER_NODES].port);
    cluster_part_say(part, "--world");
    cluster_part_say(part, CLUSTER_WORLD);
    cluster_part_say(part, "--name");
    cluster_part_say(part, "%s", part->name);
    cluster_part_say(part, "--bus-replicas");
    cluster_part_say(part, "%d", CLUSTER_NODES);
    cluster_part_say(part, "--controlled");
}

static void say_source(const cluster_stage* stage, cluster_part* part)
{
    cluster_part_say(part, "--entities");
    cluster_part_say(part, "%d", stage->def.entities);
    cluster_part_say(part, "--loop");
    cluster_part_say(part, "%g", stage->def.loop_s);
}

static void say_number(cluster_part* part, const char* option, double number)
{
    cluster_part_say(part, "%s", option);
    cluster_part_say(part, "%g", number);
}

static void begin_program(cluster_part* part, const char* command)
{
    cluster_part_say(part, "/proc/self/exe");
    cluster_part_say(part, "%s", command);
}

static int compare(const void* a, const void* b)
{
    const int32_t x = *(const int32_t*)a;
    const int32_t y = *(const int32_t*)b;
    return (x > y) - (x < y);
}

// The column of cells that has as many actors on its left as on its right.
static int middle_cell(const cluster_stage* stage)
{
    const cluster_truth* truth = stage->truth;
    int32_t* x_mm = calloc((size_t)truth->actor_count, sizeof *x_mm);
    int count = 0;
    for (int actor = 0; x_mm != NULL && actor < truth->actor_count; ++actor) {
        if (truth->row[actor] >= 0) {
            x_mm[count++] = truth->recording->x_mm[truth->row[actor]];
        }
    }
    int middle = 0;
    if (count > 0) {
        qsort(x_mm, (size_t)count, sizeof *x_mm, compare);
        middle = ph_cell_at(x_mm[count / 2], 0, stage->def.cell_m * 1000).x;
    }
    free(x_mm);
    return middle;
}

// ---- the programs

static void add_sim(cluster_stage* stage, int number)
{
    cluster_part* part = add_part(stage, CLUSTER_SIM, "sim", number);
    begin_program(part, "sim-server");
    cluster_part_say(part, "%s", stage->def.source);
    say_bus(stage, part, "--bus", number % 2);
    say_source(stage, part);
    cluster_part_say(part, "--regions");
    cluster_part_say(part, "0: %d..%d, %d..%d; 1: %d..%d, %d..%d", -FAR_CELLS, stage->middle - 1,
                     -FAR_CELLS, FAR_CELLS, stage->middle, FAR_CELLS, -FAR_CELLS, FAR_CELLS);
    cluster_part_say(part, "--want");
    cluster_part_say(part, number % 2 == 0 ? "0,1" : "1,0");
    cluster_part_say(part, "--cell");
    cluster_part_say(part, "%d", stage->def.cell_m);
    cluster_part_say(part, "--claim-later");
    cluster_part_say(part, "%d", CLAIM_LATER_MS);
    cluster_part_say(part, "--start");
    cluster_part_say(part, "%" PRIu64, stage->control.start_us);
}

static void add_front(cluster_stage* stage, int number)
{
    cluster_part* part = add_part(stage, CLUSTER_FRONT, "front", number);
    part->port = cluster_parts_free_port();
    begin_program(part, "serve");
    cluster_part_say(part, "%s", stage->def.source);
    say_bus(stage, part, "--bus", CLUSTER_NODES - 1);
    say_source(stage, part);
    cluster_part_say(part, "--key");
    cluster_part_say(part, "%s/server.key", stage->folder);
    cluster_part_say(part, "--listen");
    cluster_part_say(part, "127.0.0.1:%d", part->port);
    cluster_part_say(part, "--clients");
    cluster_part_say(part, "%d", stage->def.bots + 64);
    cluster_part_say(part, "--cell");
    cluster_part_say(part, "%d", stage->def.cell_m);
    say_number(part, "--radius", stage->def.radius_m);
    cluster_part_say(part, "--threads");
    cluster_part_say(part, "1");
}

static void add_director(cluster_stage* stage)
{
    cluster_part* part = add_part(stage, CLUSTER_DIRECTOR, "director", -1);
    begin_program(part, "director");
    say_bus(stage, part, "--bus", CLUSTER_NODES - 1);
    cluster_part_say(part, "--key");
    cluster_part_say(part, "%s/server.key", stage->folder);
}

static void add_bots(cluster_stage* stage)
{
    cluster_part* part = add_part(stage, CLUSTER_BOTS, "bots", -1);
    begin_program(part, "bots");
    say_bus(stage, part, "--director", CLUSTER_NODES - 1);
    cluster_part_say(part, "--source");
    cluster_part_say(part, "%s", stage->def.source);
    say_source(stage, part);
    say_number(part, "--bots", stage->def.bots);
    say_number(part, "--seconds", 86400);
    say_number(part, "--loss", stage->def.loss_pct);
    say_number(part, "--rtt", stage->def.rtt_ms);
    say_number(part, "--jitter", stage->def.jitter_ms);
    say_number(part, "--chat", stage->def.chat_hz);
    say_number(part, "--ramp", stage->def.ramp);
    say_number(part, "--radius", stage->def.radius_m);
}

void cluster_add_programs(cluster_stage* stage)
{
    stage->middle = middle_cell(stage);
    for (int i = 0; i < CLUSTER_SIMS; ++i) {
        add_sim(stage, i);
    }
    for (int i = 0; i < CLUSTER_FRONTS; ++i) {
        add_front(stage, i);
    }
    add_director(stage);
    add_bots(stage);
}
