// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Goes over all bots in every turn of the swarm, some nanoseconds each.

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "bots_watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    REOPEN_EVERY_US = 100000, // the truth, while the server is away
    ASK_EVERY_US = 200000,    // what bots should see, while the world stands
    CONNECT_US = 1000000,     // without an answer for so long: another token
    RETRY_US = 200000,        // from the end of a connection to the next try, at most
    RETRY_SPREAD = 16,        // not all at once
    STALL_US = 500000,
    SECOND_US = 1000000,
};

// What was last said of a bot.
typedef struct watched {
    bool is_in;
    uint64_t retry_us; // not before
} watched;

typedef struct watch {
    const bots_watch_def* def;
    watched* bots;
    bool was_standing;
    uint64_t reopen_us;
    uint64_t ask_us;
    uint64_t second_us;
    bot_error told; // of all bots, up to the last second
} watch;

static volatile sig_atomic_t is_asked_to_stop;

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    is_asked_to_stop = 1;
}

static void hear_signals(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

// ---- what is said

static void say(uint64_t now_us, const char* event, uint64_t client_id)
{
    printf("{\"us\": %llu, \"event\": \"%s\", \"client\": %llu}\n", (unsigned long long)now_us,
           event, (unsigned long long)client_id);
}

static void say_out(uint64_t now_us, uint64_t client_id, const char* why)
{
    printf("{\"us\": %llu, \"event\": \"out\", \"client\": %llu, \"why\": \"%s\"}\n",
           (unsigned long long)now_us, (unsigned long long)client_id, why);
}

static void say_second(watch* of, uint64_t now_us)
{
    const bots_swarm* swarm = of->def->swarm;
    bot_error sum = {0};
    uint64_t refused = 0;
    uint64_t overruns = 0;
    for (int i = 0; i < swarm->def.count; ++i) {
        const bot* one = swarm->bots[i];
        sum.samples += one->error.samples;
        sum.sum_mrad += one->error.sum_mrad;
        refused += bot_refused(one);
        overruns += one->overruns + one->meter.overruns;
    }
    const uint64_t samples = sum.samples - of->told.samples;
    printf("{\"us\": %llu, \"event\": \"second\", \"connected\": %d, \"samples\": %llu, "
           "\"error_mrad\": %.6g, \"refused\": %llu, \"overruns\": %llu}\n",
           (unsigned long long)now_us, bots_swarm_connected(swarm), (unsigned long long)samples,
           samples > 0 ? (sum.sum_mrad - of->told.sum_mrad) / (double)samples : 0.0,
           (unsigned long long)refused, (unsigned long long)overruns);
    of->told = sum;
}

// ---- bots

// Why a bot begins anew, or NULL. A token that was made before the server started is refused without an
// answer, so a bot that gets none takes another one.
static const char* why_anew(const watch* of, const bot* one, uint64_t now_us)
{
    const ph_net_client_state state = ph_net_client_get_state(one->net);
    const uint64_t silence_us = of->def->silence_us;
    if (state == PH_NET_CLIENT_CONNECTED) {
        return silence_us > 0 && now_us > one->heard_us + silence_us ? "silence" : NULL;
    }
    if (state > PH_NET_CLIENT_DISCONNECTED) {
        return now_us > one->started_us + CONNECT_US ? "no answer" : NULL;
    }
    return ph_net_client_state_text(state);
}

static void watch_bot(const watch* of, bot* one, watched* known, uint64_t now_us)
{
    const char* why = why_anew(of, one, now_us);
    const bool is_in = why == NULL && bot_is_connected(one);
    if (known->is_in && !is_in) {
        say_out(now_us, one->client_id, why != NULL ? why : "connecting");
        known->retry_us = now_us + RETRY_US * (1 + one->client_id % RETRY_SPREAD) / RETRY_SPREAD;
    } else if (is_in && !known->is_in) {
        say(now_us, "back", one->client_id);
    }
    known->is_in = is_in;
    if (why != NULL && now_us >= known->retry_us) {
        known->retry_us = now_us + RETRY_US;
        bot_begin_anew(one, now_us);
    }
}

static void watch_bots(watch* of, uint64_t now_us)
{
    const bots_swarm* swarm = of->def->swarm;
    for (int i = 0; i < swarm->started_count; ++i) {
        if (swarm->bots[i]->behaviour == BOT_GOOD) {
            watch_bot(of, swarm->bots[i], &of->bots[i], now_us);
        }
    }
}

// ---- the truth

static void reopen_truth(watch* of, uint64_t now_us)
{
    if (now_us >= of->reopen_us) {
        of->reopen_us = now_us + REOPEN_EVERY_US;
        of->was_standing = false;
        bots_truth_reopen(of->def->swarm->def.truth, of->def->truth_port);
    }
}

static void watch_truth(watch* of, uint64_t now_us)
{
    bots_swarm* swarm = of->def->swarm;
    bots_truth* truth = swarm->def.truth;
    if (truth->number < 0) {
        reopen_truth(of, now_us);
        return;
    }
    const bool is_standing = truth->now.is_standing;
    if (is_standing != of->was_standing) {
        of->was_standing = is_standing;
        of->ask_us = now_us;
        bots_swarm_forget_equality(swarm);
    }
    if (is_standing && now_us >= of->ask_us) {
        of->ask_us = now_us + ASK_EVERY_US;
        bots_swarm_ask(swarm);
    }
}

static void say_equal(void* context, const bot* one)
{
    (void)context;
    say(one->converged_us, "equal", one->client_id);
}

bool bots_watch_run(const bots_watch_def* def)
{
    bots_swarm* swarm = def->swarm;
    watch of = {.def = def, .bots = calloc((size_t)swarm->def.count, sizeof(watched))};
    if (of.bots == NULL) {
        return false;
    }
    hear_signals();
    swarm->on_equal = say_equal;
    of.second_us = ph_socket_now_us() + SECOND_US;
    for (uint64_t now_us = 0; now_us < def->until_us && !is_asked_to_stop;) {
        bots_swarm_turn(swarm);
        now_us = ph_socket_now_us();
        // A process that was stopped in between has not looked at what came meanwhile: in the next turn.
        if (now_us - swarm->looked_us < STALL_US) {
            watch_bots(&of, now_us);
        }
        watch_truth(&of, now_us);
        if (now_us >= of.second_us) {
            of.second_us += (now_us - of.second_us) / SECOND_US * SECOND_US + SECOND_US;
            say_second(&of, now_us);
        }
        fflush(stdout);
    }
    free(of.bots);
    return true;
}
