// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

#include "net_scene.h"

#include "wall.h"

#include <pinhole/net/netcode_token.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    TICK_US = 100000,
    KBPS = 13,
    VISIBLE = 250,
    SLOTS_MAX = 512,
    JOIN_TICKS = 300,   // at most, until all are connected
    SETTLE_TICKS = 120, // until every client has all entities in its view
    STARTS_PER_TICK = 100,
};
#define CLASSIC_HZ 5.0
#define SEED 20070524

// ---- memory

static void allow_sockets(int count)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        const rlim_t wanted = (rlim_t)count + 64;
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool make_server(net_scene* scene, ph_profile profile, ph_fault* fault)
{
    const serve_stage_def stage = {
        .source = SERVE_LOAD,
        .entities = scene->client_count,
        .seed = SEED,
        .profile = profile,
        .client_capacity = scene->client_count,
    };
    scene->stage = serve_stage_create(&stage, fault);
    scene->pool = ph_pool_create(1);
    if (scene->stage == NULL || scene->pool == NULL) {
        return scene->stage == NULL ? false : ph_fault_set_memory(fault);
    }
    const ph_socket_def loopback = ph_socket_def_default();
    serve_key_pair pair = {0};
    memcpy(pair.key, scene->terms.key, sizeof pair.key);
    const serve_front_def front = {
        .stage = scene->stage,
        .pool = scene->pool,
        .listen = loopback.local_address,
        .public_address = loopback.local_address,
        .keys = &pair,
        .client_capacity = scene->client_count,
        .bits_per_second = KBPS * 1000,
        .hz = CLASSIC_HZ,
        .slots = VISIBLE,
    };
    scene->front = serve_front_create(&front, fault);
    scene->host = scene->front != NULL ? serve_front_host(scene->front) : NULL;
    return scene->front != NULL;
}

static bool make_clients(net_scene* scene, ph_profile profile, ph_fault* fault)
{
    scene->terms.schema = scene->stage->schema;
    scene->terms.profile = profile;
    scene->terms.server = ph_host_public_address(scene->host);
    scene->terms.slot_capacity = SLOTS_MAX;
    scene->bots = calloc((size_t)scene->client_count, sizeof(bot*));
    for (int i = 0; scene->bots != NULL && i < scene->client_count; ++i) {
        scene->bots[i] = bot_create(&scene->terms, (uint64_t)i, BOT_GOOD);
        if (scene->bots[i] == NULL) {
            return ph_fault_set(fault, 0, 0, "no memory or no sockets for %d clients",
                                scene->client_count);
        }
    }
    return scene->bots != NULL || ph_fault_set_memory(fault);
}

static void run_tick(net_scene* scene)
{
    net_scene_wait(scene);
    net_scene_send(scene);
    net_scene_answer(scene);
    net_scene_receive(scene);
}

static bool join(net_scene* scene, ph_fault* fault)
{
    int started = 0;
    for (int tick = 0; tick < JOIN_TICKS; ++tick) {
        for (int i = 0; i < STARTS_PER_TICK && started < scene->client_count; ++i) {
            bot_start(scene->bots[started++], ph_socket_now_us());
        }
        net_scene_receive(scene);
        run_tick(scene);
        if (ph_host_client_count(scene->host) == scene->client_count) {
            return true;
        }
    }
    return ph_fault_set(fault, 0, 0, "only %d of %d clients got a connection",
                        ph_host_client_count(scene->host), scene->client_count);
}

bool net_scene_make(net_scene* scene, ph_profile profile, int client_count, ph_fault* fault)
{
    *scene = (net_scene){.client_count = client_count};
    allow_sockets(client_count);
    app_wall_random(scene->terms.key, sizeof scene->terms.key);
    if (!make_server(scene, profile, fault) || !make_clients(scene, profile, fault)) {
        return false;
    }
    scene->due_us = ph_socket_now_us();
    if (!join(scene, fault)) {
        return false;
    }
    for (int i = 0; i < SETTLE_TICKS; ++i) {
        run_tick(scene);
    }
    return true;
}

void net_scene_destroy(net_scene* scene)
{
    for (int i = 0; scene->bots != NULL && i < scene->client_count; ++i) {
        bot_destroy(scene->bots[i]);
    }
    free(scene->bots);
    serve_front_destroy(scene->front);
    ph_pool_destroy(scene->pool);
    serve_stage_destroy(scene->stage);
}

// ---- a tick

void net_scene_wait(net_scene* scene)
{
    ph_host_receive(scene->host, scene->due_us);
    const uint64_t now_us = ph_socket_now_us();
    scene->due_us += TICK_US;
    if (scene->due_us < now_us) {
        scene->due_us = now_us; // the machine is busy: no hurry
    }
}

void net_scene_send(net_scene* scene)
{
    ph_fault fault = {0};
    serve_front_tick(scene->front, &fault);
    ph_host_send(scene->host, UINT64_MAX);
}

void net_scene_receive(net_scene* scene)
{
    ph_host_receive(scene->host, 0);
}

void net_scene_answer(net_scene* scene)
{
    for (int i = 0; i < scene->client_count; ++i) {
        const uint64_t now_us = ph_socket_now_us();
        bot_receive(scene->bots[i], now_us);
        if (now_us >= scene->bots[i]->next_us) {
            bot_tick(scene->bots[i], now_us);
        }
    }
}
