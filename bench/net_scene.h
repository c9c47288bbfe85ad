// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The server of `pinhole bench net`: the front-end of `pinhole serve` with the load scene of 25
// properties, and as many real clients on loopback as it has creatures, all in one process. The
// clients' part is never measured. Time is that on the wall: ten ticks a second.

#ifndef PH_BENCH_NET_SCENE_H
#define PH_BENCH_NET_SCENE_H

#include "bot.h"
#include "serve_front.h"

typedef struct net_scene {
    int client_count;
    serve_stage* stage;
    serve_front* front;
    ph_host* host; // the front's
    ph_pool* pool; // one thread
    bot_terms terms;
    bot** bots;
    uint64_t due_us; // the next tick
} net_scene;

// All clients connected, and after some seconds all entities entered. @return False with *fault
// filled; what there is is destroyed by net_scene_destroy() all the same.
bool net_scene_make(net_scene* scene, ph_profile profile, int client_count, ph_fault* fault);
void net_scene_destroy(net_scene* scene);

// Waits for the next tick.
void net_scene_wait(net_scene* scene);

// The server's part of a tick, in two: what goes out, and what comes in.
void net_scene_send(net_scene* scene);
void net_scene_receive(net_scene* scene);

// The clients' part.
void net_scene_answer(net_scene* scene);

#endif
