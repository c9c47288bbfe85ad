// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Some times a second.

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE // mkdtemp, nftw
#endif

#include "cluster_stage.h"

#include "bus/bus_wire.h"
#include "cluster_deployment.h"
#include "demo_terminal.h"
#include "key_file.h"
#include "truth_wire.h"

#include <pinhole/net/socket.h>

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_US UINT64_C(1000000)
#define SAY_US UINT64_C(200000)
#define TURN_US UINT64_C(20000)
#define READY_US UINT64_C(30000000)
#define FRESH_US UINT64_C(1500000)
// " 2026/11/18 21:31:42.676884" and a zero.
enum { LOG_TIME_BYTES = 28 };

// ---- what comes

static void take_report(cluster_stage* stage, const ph_bus_message* message)
{
    char line[CLUSTER_REPORT_MAX];
    char name[32];
    if (message->size >= sizeof line) {
        return;
    }
    memcpy(line, message->bytes, message->size);
    line[message->size] = '\0';
    const size_t length = strcspn(line, " ");
    if (length >= sizeof name) {
        return;
    }
    memcpy(name, line, length);
    name[length] = '\0';
    cluster_part* part = cluster_parts_find(&stage->parts, name);
    // One of the process before may come late.
    if (part != NULL && (pid_t)cluster_report_number(line, "pid") == part->pid) {
        memcpy(part->report, line, sizeof line);
        part->reported_us = stage->now_us;
    }
}

static cluster_owned* find_owned(cluster_stage* stage, const char* sim)
{
    for (int i = 0; i < CLUSTER_SIMS; ++i) {
        cluster_owned* at = &stage->owned[i];
        if (at->sim[0] == '\0' || strcmp(at->sim, sim) == 0) {
            return at;
        }
    }
    return NULL;
}

static void take_owned(cluster_stage* stage, const ph_bus_message* message)
{
    const uint8_t* end = memchr(message->bytes, '\n', message->size);
    char name[32] = "";
    if (end == NULL || (size_t)(end - message->bytes) >= sizeof name) {
        return;
    }
    memcpy(name, message->bytes, (size_t)(end - message->bytes));
    cluster_owned* at = find_owned(stage, name);
    truth_reader in = {.at = end + 1, .left = message->size - (size_t)(end + 1 - message->bytes)};
    const uint64_t tick = truth_take(&in, 8);
    const int count = (int)(in.left / 8);
    uint64_t* keys = calloc((size_t)count + 1, sizeof *keys);
    if (at == NULL || keys == NULL) {
        free(keys);
        return;
    }
    for (int i = 0; i < count; ++i) {
        keys[i] = truth_take(&in, 8);
    }
    free(at->keys);
    memcpy(at->sim, name, sizeof name);
    at->tick = tick;
    at->heard_us = stage->now_us;
    at->keys = keys;
    at->count = count;
}

static void take_beat(cluster_stage* stage, const ph_bus_message* message)
{
    bus_beat beat;
    ph_bus_refusal refusal;
    if (bus_read_beat(&beat, message->bytes, message->size, &refusal) &&
        beat.role == BUS_ROLE_OWNER && beat.region < CLUSTER_REGION_COUNT) {
        cluster_owner* at = &stage->owners[beat.region];
        if (beat.epoch >= at->epoch) {
            snprintf(at->sim, sizeof at->sim, "%s", beat.sim);
            at->epoch = beat.epoch;
            at->heard_us = stage->now_us;
        }
    }
}

static bool on_message(void* context, const ph_bus_message* message)
{
    cluster_stage* stage = context;
    if (strncmp(message->subject, "report.", 7) == 0) {
        take_report(stage, message);
    } else if (strncmp(message->subject, "owned.", 6) == 0) {
        take_owned(stage, message);
    } else if (strncmp(message->subject, "beat.", 5) == 0) {
        take_beat(stage, message);
    }
    return true;
}

// ---- opening

static bool make_folder(cluster_stage* stage, ph_fault* fault)
{
    char path[CLUSTER_WORD_MAX];
    uint8_t key[PH_NETCODE_KEY_SIZE];
    char folder[sizeof stage->folder] = "/tmp/pinhole-cluster-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        return ph_fault_set(fault, 0, 0, "%s: %s", folder, strerror(errno));
    }
    memcpy(stage->folder, folder, sizeof folder);
    snprintf(path, sizeof path, "%s/server.key", stage->folder);
    const bool is_made = app_key_make(path, key, fault);
    app_key_wipe(key);
    return is_made;
}

static bool open_truth(cluster_stage* stage, ph_fault* fault)
{
    const cluster_truth_def def = {
        .source = stage->def.source,
        .entities = stage->def.entities,
        .loop_s = stage->def.loop_s,
        .seed = 1,
    };
    stage->truth = cluster_truth_open(&def, fault);
    if (stage->truth == NULL) {
        return false;
    }
    const uint64_t tick_us = stage->truth->tick_us;
    stage->control = (cluster_control){.world = CLUSTER_WORLD,
                                       .start_us = cluster_control_unix_us() / tick_us * tick_us};
    return true;
}

static bool start_kind(cluster_stage* stage, cluster_kind kind, int from, int to, ph_fault* fault)
{
    int number = 0;
    for (int i = 0; i < stage->parts.count; ++i) {
        cluster_part* part = &stage->parts.all[i];
        if (part->kind == kind) {
            if (number >= from && number < to && !cluster_part_start(part, fault)) {
                return false;
            }
            ++number;
        }
    }
    return true;
}

// NATS needs a second or two to agree on a leader, and then makes the bucket of records.
static bool connect_bus(cluster_stage* stage, ph_fault* fault)
{
    char subject[PH_BUS_SUBJECT_MAX];
    const uint64_t start_us = ph_socket_now_us();
    const cluster_part* nats = stage->parts.all;
    snprintf(stage->urls, sizeof stage->urls,
             "nats://127.0.0.1:%d,nats://127.0.0.1:%d,nats://127.0.0.1:%d", nats[2].port,
             nats[0].port, nats[1].port);
    stage->options = bus_options_default();
    stage->options.servers = stage->urls;
    stage->options.world = CLUSTER_WORLD;
    stage->options.name = "cluster";
    stage->options.replicas = CLUSTER_NODES;
    while (stage->bus == NULL) {
        stage->bus = cluster_bus_open(&stage->options, fault);
        stage->now_us = ph_socket_now_us();
        cluster_parts_look_after(&stage->parts, stage->now_us);
        if (stage->bus == NULL &&
            (demo_terminal_is_stopped() || stage->now_us - start_us > READY_US)) {
            return false;
        }
        ph_socket_sleep(stage->bus == NULL ? 200000 : 0);
    }
    cluster_bus_set_tap(stage->bus, on_message, stage);
    cluster_control_subject(subject, "report", CLUSTER_WORLD);
    cluster_bus_subscribe(stage->bus, subject);
    cluster_control_subject(subject, "owned", CLUSTER_WORLD);
    cluster_bus_subscribe(stage->bus, subject);
    for (int region = 0; region < CLUSTER_REGION_COUNT; ++region) {
        bus_subject_region(subject, "beat", CLUSTER_WORLD, region);
        cluster_bus_subscribe(stage->bus, subject);
    }
    return true;
}

static bool are_owned(const cluster_stage* stage)
{
    for (int region = 0; region < CLUSTER_REGION_COUNT; ++region) {
        if (stage->owners[region].heard_us == 0) {
            return false;
        }
    }
    return true;
}

static bool are_in(const cluster_stage* stage)
{
    return (int)cluster_report_number(cluster_stage_bots(stage), "connected") == stage->def.bots;
}

static bool wait_until(cluster_stage* stage, bool (*is_so)(const cluster_stage* stage),
                       const char* what, ph_fault* fault)
{
    const uint64_t start_us = ph_socket_now_us();
    const uint64_t allowed_us =
        READY_US +
        (stage->def.ramp > 0.0 ? (uint64_t)(1e6 * stage->def.bots / stage->def.ramp) : 0);
    while (!is_so(stage)) {
        if (!cluster_stage_run(stage, 50000)) {
            return ph_fault_set(fault, 0, 0, "it was stopped before %s", what);
        }
        if (stage->now_us - start_us > allowed_us) {
            return ph_fault_set(fault, 0, 0,
                                "after %.0f s it is not so yet that %s; the logs in %s "
                                "say more",
                                (double)allowed_us / 1e6, what, stage->folder);
        }
    }
    return true;
}

static bool start_all(cluster_stage* stage, ph_fault* fault)
{
    if (!cluster_add_nats(stage, fault) ||
        !start_kind(stage, CLUSTER_NATS, 0, CLUSTER_NODES, fault) || !connect_bus(stage, fault)) {
        return false;
    }
    cluster_add_programs(stage);
    // Two sims take a region each, then two that only stand by.
    return start_kind(stage, CLUSTER_SIM, 0, 2, fault) &&
           start_kind(stage, CLUSTER_FRONT, 0, CLUSTER_FRONTS, fault) &&
           start_kind(stage, CLUSTER_DIRECTOR, 0, 1, fault) &&
           wait_until(stage, are_owned, "both regions have an owner", fault) &&
           start_kind(stage, CLUSTER_SIM, 2, CLUSTER_SIMS, fault) &&
           start_kind(stage, CLUSTER_BOTS, 0, 1, fault) &&
           wait_until(stage, are_in, "all bots are connected", fault);
}

bool cluster_stage_open(cluster_stage* stage, const cluster_stage_def* def, ph_fault* fault)
{
    *stage = (cluster_stage){.def = *def};
    return make_folder(stage, fault) && open_truth(stage, fault) && start_all(stage, fault);
}

static int remove_one(const char* path, const struct stat* about, int kind, struct FTW* where)
{
    (void)about;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

void cluster_stage_close(cluster_stage* stage, bool keeps_logs)
{
    cluster_bus_close(stage->bus);
    stage->bus = NULL;
    cluster_parts_stop(&stage->parts);
    for (int i = 0; i < CLUSTER_SIMS; ++i) {
        free(stage->owned[i].keys);
    }
    cluster_truth_close(stage->truth);
    if (stage->folder[0] != '\0' && !keeps_logs) {
        nftw(stage->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

// ---- time

void cluster_stage_turn(cluster_stage* stage)
{
    stage->now_us = ph_socket_now_us();
    if (stage->bus != NULL) {
        cluster_bus_receive(stage->bus);
    }
    const cluster_part* ended = cluster_parts_look_after(&stage->parts, stage->now_us);
    if (ended != NULL) {
        memcpy(stage->ended, ended->name, sizeof stage->ended);
    }
    if (stage->bus != NULL && stage->now_us - stage->said_us >= SAY_US) {
        stage->said_us = stage->now_us;
        cluster_control_say(&stage->control, stage->bus);
    }
    if (stage->on_turn != NULL) {
        stage->on_turn(stage->on_turn_context);
    }
}

bool cluster_stage_run(cluster_stage* stage, uint64_t duration_us)
{
    const uint64_t until_us = ph_socket_now_us() + duration_us;
    do {
        cluster_stage_turn(stage);
        if (demo_terminal_is_stopped()) {
            return false;
        }
        ph_socket_sleep(duration_us < TURN_US ? duration_us : TURN_US);
    } while (ph_socket_now_us() < until_us);
    return true;
}

void cluster_stage_stand(cluster_stage* stage)
{
    const uint64_t tick =
        cluster_truth_tick_at(stage->truth, stage->control.start_us, cluster_control_unix_us());
    stage->control.is_standing = true;
    stage->control.stand_tick = tick + SECOND_US / stage->truth->tick_us;
    stage->said_us = 0;
    cluster_truth_seek(stage->truth, stage->control.stand_tick);
}

void cluster_stage_go(cluster_stage* stage)
{
    const uint64_t tick =
        cluster_truth_tick_at(stage->truth, stage->control.start_us, cluster_control_unix_us());
    stage->control.start_us += (tick - stage->control.stand_tick) * stage->truth->tick_us;
    stage->control.is_standing = false;
    stage->said_us = 0;
    // Parts that are started anew from now on play by the new start.
    for (int i = 0; i < stage->parts.count; ++i) {
        cluster_part* part = &stage->parts.all[i];
        for (int w = 0; part->kind == CLUSTER_SIM && w + 1 < part->word_count; ++w) {
            if (strcmp(part->words[w], "--start") == 0) {
                snprintf(part->words[w + 1], CLUSTER_WORD_MAX, "%" PRIu64, stage->control.start_us);
            }
        }
    }
}

// ---- questions

const char* cluster_stage_bots(const cluster_stage* stage)
{
    for (int i = 0; i < stage->parts.count; ++i) {
        if (stage->parts.all[i].kind == CLUSTER_BOTS) {
            return stage->parts.all[i].report;
        }
    }
    return "";
}

bool cluster_stage_is_owner(const cluster_part* part)
{
    char owned[64];
    return part->kind == CLUSTER_SIM &&
           cluster_report_word(part->report, "owned", owned, sizeof owned) && owned[0] != '-';
}

// When this server last became the leader, as its log says it: times in text, which compare as such. Else "".
static void led_since(const cluster_part* part, char since[LOG_TIME_BYTES])
{
    char line[512];
    since[0] = '\0';
    FILE* file = fopen(part->log_path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char* time = strchr(line, ']');
        if (time != NULL && strstr(line, "new stream leader") != NULL) {
            snprintf(since, LOG_TIME_BYTES, "%.*s", LOG_TIME_BYTES - 1, time + 1);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

const cluster_part* cluster_stage_leader(const cluster_stage* stage)
{
    const cluster_part* leader = NULL;
    char newest[LOG_TIME_BYTES] = "";
    for (int i = 0; i < CLUSTER_NODES; ++i) {
        char since[LOG_TIME_BYTES];
        led_since(&stage->parts.all[i], since);
        if (strcmp(since, newest) > 0) {
            leader = &stage->parts.all[i];
            memcpy(newest, since, sizeof newest);
        }
    }
    return leader;
}

static bool is_current(const cluster_stage* stage, const cluster_owned* at)
{
    return at->sim[0] != '\0' && at->tick == stage->control.stand_tick &&
           stage->now_us - at->heard_us < FRESH_US;
}

cluster_ownership cluster_stage_ownership(cluster_stage* stage)
{
    const cluster_truth* truth = stage->truth;
    cluster_ownership found = {0};
    int* owners = calloc((size_t)truth->actor_count, sizeof *owners);
    for (int s = 0; owners != NULL && s < CLUSTER_SIMS; ++s) {
        const cluster_owned* at = &stage->owned[s];
        if (!is_current(stage, at)) {
            continue;
        }
        ++found.told;
        for (int i = 0; i < at->count; ++i) {
            const int actor = cluster_truth_find(truth, at->keys[i]);
            if (actor >= 0) {
                ++owners[actor];
            } else {
                ++found.strays;
            }
        }
    }
    for (int actor = 0; owners != NULL && actor < truth->actor_count; ++actor) {
        found.doubles += owners[actor] > 1;
        found.orphans += owners[actor] == 0 && truth->row[actor] >= 0;
    }
    free(owners);
    return found;
}
