// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A turn of the loop takes what came in the last millisecond or two.

#include "bots_swarm.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 256,
    WAIT_MS = 2,
    GATHER_US = 1000,      // what comes first is seldom alone
    TICK_EVERY_US = 10000, // all bots are asked whether they want a tick
    JUDGED_MAX = 64,       // bots in a tick of the truth; the others have their turn later
    ASK_EVERY_US = 500000, // what bots should see, while the world stands
    STALL_US = 100000,     // from here on it is one
};

// ---- memory

// A socket for each bot is more than systems usually allow at first.
static void allow_sockets(int count)
{
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)count + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bot_behaviour behaviour_of(const bots_swarm_def* def, int i)
{
    const int from_end = def->count - 1 - i;
    if (from_end < def->mute) {
        return BOT_MUTE;
    }
    if (from_end < def->mute + def->flood) {
        return BOT_FLOOD;
    }
    return from_end < def->mute + def->flood + def->vanish ? BOT_VANISH : BOT_GOOD;
}

static bool create_bots(bots_swarm* swarm)
{
    for (int i = 0; i < swarm->def.count; ++i) {
        swarm->bots[i] = bot_create(swarm->def.terms, swarm->def.first_id + (uint64_t)i,
                                    behaviour_of(&swarm->def, i));
        if (swarm->bots[i] == NULL) {
            return false;
        }
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = swarm->bots[i]};
        const int number = (int)ph_socket_handle(swarm->bots[i]->socket);
        if (epoll_ctl(swarm->waiter, EPOLL_CTL_ADD, number, &event) != 0) {
            return false;
        }
    }
    return true;
}

static void take_sight(void* context, const truth_sight* sight)
{
    bots_swarm* swarm = context;
    const uint64_t i = sight->client_id - swarm->def.first_id;
    if (i >= (uint64_t)swarm->def.count || !swarm->def.truth->has_state) {
        return;
    }
    bot* of = swarm->bots[i];
    if (of->converged_us == 0 && bot_is_answered(of) &&
        bots_check_alike(of, swarm->def.truth, sight)) {
        of->converged_us = ph_socket_now_us();
        ++swarm->alike_count;
        if (swarm->on_equal != NULL) {
            swarm->on_equal(swarm->on_equal_context, of);
        }
    }
}

bots_swarm* bots_swarm_create(const bots_swarm_def* def, ph_fault* fault)
{
    bots_swarm* swarm = calloc(1, sizeof *swarm);
    if (swarm == NULL) {
        ph_fault_set_memory(fault);
        return NULL;
    }
    allow_sockets(def->count);
    swarm->def = *def;
    swarm->waiter = epoll_create1(EPOLL_CLOEXEC);
    swarm->bots = calloc((size_t)def->count, sizeof(bot*));
    if (swarm->waiter < 0 || swarm->bots == NULL ||
        ph_spread_create(&swarm->errors.mm, NULL) != PH_OK ||
        ph_spread_create(&swarm->errors.mrad, NULL) != PH_OK || !create_bots(swarm)) {
        ph_fault_set(fault, 0, 0, "there is no memory for %d bots, or not as many sockets",
                     def->count);
        bots_swarm_destroy(swarm);
        return NULL;
    }
    if (def->truth != NULL) {
        def->truth->on_sight = take_sight;
        def->truth->context = swarm;
    }
    swarm->start_us = ph_socket_now_us();
    return swarm;
}

void bots_swarm_destroy(bots_swarm* swarm)
{
    if (swarm == NULL) {
        return;
    }
    for (int i = 0; swarm->bots != NULL && i < swarm->def.count; ++i) {
        bot_destroy(swarm->bots[i]);
    }
    ph_spread_destroy(&swarm->errors.mm);
    ph_spread_destroy(&swarm->errors.mrad);
    free(swarm->bots);
    if (swarm->waiter >= 0) {
        close(swarm->waiter);
    }
    free(swarm);
}

// ---- a turn

static void start_some(bots_swarm* swarm, uint64_t now_us)
{
    const double due = swarm->def.ramp > 0.0
                           ? 1.0 + swarm->def.ramp * (double)(now_us - swarm->start_us) / 1e6
                           : swarm->def.count;
    while (swarm->started_count < swarm->def.count && swarm->started_count < due) {
        bot_start(swarm->bots[swarm->started_count++], now_us);
    }
}

// Delays of simulated links, and floods, are kept to the millisecond; without them there is no hurry.
static bool is_patient(const bots_swarm* swarm)
{
    return !swarm->def.terms->has_link && swarm->def.flood == 0;
}

// The machine may do something else for a while, and what comes then waits in the sockets.
static void note_stall(bots_swarm* swarm, uint64_t now_us)
{
    const uint64_t since_us = now_us - swarm->looked_us;
    if (swarm->looked_us != 0 && since_us > STALL_US) {
        for (int i = 0; i < swarm->def.count; ++i) {
            bot_note_stall(swarm->bots[i], since_us);
        }
    }
    swarm->looked_us = now_us;
}

static void take_events(bots_swarm* swarm)
{
    struct epoll_event events[EVENTS_MAX];
    int count;
    int timeout_ms = WAIT_MS;
    if (is_patient(swarm)) {
        ph_socket_sleep(GATHER_US);
    }
    do {
        count = epoll_wait(swarm->waiter, events, EVENTS_MAX, timeout_ms);
        const uint64_t now_us = ph_socket_now_us();
        note_stall(swarm, now_us);
        for (int i = 0; i < count; ++i) {
            bot_receive(events[i].data.ptr, now_us);
        }
        timeout_ms = 0;
    } while (count == EVENTS_MAX);
}

static void tick_some(bots_swarm* swarm)
{
    const uint64_t now_us = ph_socket_now_us();
    if (is_patient(swarm) && now_us < swarm->tick_us) {
        return;
    }
    swarm->tick_us = now_us + TICK_EVERY_US;
    for (int i = 0; i < swarm->started_count; ++i) {
        if (now_us >= swarm->bots[i]->next_us) {
            bot_tick(swarm->bots[i], now_us);
        }
    }
}

// In every tick of the truth as many as there is time for, each in turn. Half a tick after it, always:
// just before or just behind what it brings would be another figure.
static void judge_some(bots_swarm* swarm)
{
    bots_truth* truth = swarm->def.truth;
    if (truth == NULL || truth->tick_count == swarm->judged_ticks || truth->now.is_standing ||
        ph_socket_now_us() < truth->now.due_us + truth->hello.tick_us / 2) {
        return;
    }
    swarm->judged_ticks = truth->tick_count;
    const int count = swarm->def.count < JUDGED_MAX ? swarm->def.count : JUDGED_MAX;
    for (int i = 0; i < count; ++i) {
        bot* of = swarm->bots[swarm->judge_next];
        swarm->judge_next = (swarm->judge_next + 1) % swarm->def.count;
        if (of->behaviour == BOT_GOOD && bot_is_connected(of)) {
            bots_check_error(of, truth, ph_socket_now_us(), &swarm->errors);
        }
    }
}

bool bots_swarm_turn(bots_swarm* swarm)
{
    start_some(swarm, ph_socket_now_us());
    take_events(swarm);
    tick_some(swarm);
    const bool is_there = swarm->def.truth == NULL || bots_truth_serve(swarm->def.truth);
    judge_some(swarm);
    return is_there;
}

bool bots_swarm_run(bots_swarm* swarm, uint64_t until_us)
{
    bool is_there = true;
    while (is_there && ph_socket_now_us() < until_us) {
        is_there = bots_swarm_turn(swarm);
    }
    return is_there;
}

// ---- standing still

void bots_swarm_forget_equality(bots_swarm* swarm)
{
    for (int i = 0; i < swarm->def.count; ++i) {
        swarm->bots[i]->converged_us = 0;
    }
    swarm->alike_count = 0;
    if (swarm->def.truth != NULL) {
        bots_truth_forget_state(swarm->def.truth);
    }
}

static void ask_for_sights(const bots_swarm* swarm)
{
    for (int i = 0; i < swarm->def.count; ++i) {
        const bot* of = swarm->bots[i];
        if (of->behaviour == BOT_GOOD && of->converged_us == 0) {
            bots_truth_ask_sight(swarm->def.truth, of->client_id);
        }
    }
}

void bots_swarm_ask(bots_swarm* swarm)
{
    if (!swarm->def.truth->has_state) {
        bots_truth_ask(swarm->def.truth, TRUTH_WANT_STATE);
    }
    ask_for_sights(swarm);
}

bool bots_swarm_converge(bots_swarm* swarm, uint64_t until_us)
{
    bots_truth* truth = swarm->def.truth;
    uint64_t ask_us = ph_socket_now_us() + ASK_EVERY_US;
    const int good = bots_swarm_good(swarm);
    bool is_there = true;
    bots_truth_ask(truth, TRUTH_STAND);
    for (int i = 0; i < swarm->def.count; ++i) {
        bot_fall_silent(swarm->bots[i]);
    }
    while (is_there && swarm->alike_count < good && ph_socket_now_us() < until_us) {
        is_there = bots_swarm_turn(swarm);
        if (!truth->now.is_standing || ph_socket_now_us() < ask_us) {
            continue;
        }
        bots_swarm_ask(swarm);
        ask_us = ph_socket_now_us() + ASK_EVERY_US;
    }
    bots_truth_ask(truth, TRUTH_WANT_FIGURES);
    bots_truth_ask(truth, TRUTH_GO);
    while (is_there && !truth->figures.is_known) {
        is_there = bots_swarm_turn(swarm);
    }
    return swarm->alike_count == good;
}

// ---- questions

int bots_swarm_good(const bots_swarm* swarm)
{
    const bots_swarm_def* def = &swarm->def;
    return def->count - def->mute - def->flood - def->vanish;
}

int bots_swarm_connected(const bots_swarm* swarm)
{
    int count = 0;
    for (int i = 0; i < swarm->def.count; ++i) {
        const bot* of = swarm->bots[i];
        count += of->behaviour == BOT_GOOD && bot_is_connected(of) ? 1 : 0;
    }
    return count;
}
