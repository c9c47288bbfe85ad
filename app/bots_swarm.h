// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// All bots of a program, on one thread: waits for any of their sockets, serves those that have
// something or want something, compares them with the truth as it comes.

#ifndef PH_APP_BOTS_SWARM_H
#define PH_APP_BOTS_SWARM_H

#include "bots_check.h"

typedef struct bots_swarm_def {
    const bot_terms* terms;
    bots_truth* truth; // NULL: nothing is compared
    int count;
    uint64_t first_id;
    int mute; // the last so many of them are, and so on
    int flood;
    int vanish;
    double ramp; // starts per second; 0: all at once
} bots_swarm_def;

// A bot has become equal to the world that stands still.
typedef void bots_on_equal_fn(void* context, const bot* of);

// Read-only outside, but for on_equal.
typedef struct bots_swarm {
    bots_swarm_def def;
    bot** bots;
    int started_count;
    uint64_t start_us;
    uint64_t tick_us;      // when they are asked next
    uint64_t looked_us;    // for what came, last
    uint64_t judged_ticks; // of the truth
    int judge_next;        // whose turn it is
    bots_errors errors;
    int alike_count;
    bots_on_equal_fn* on_equal; // NULL: not told
    void* on_equal_context;
    int waiter; // epoll
} bots_swarm;

// @return NULL with *fault filled.
bots_swarm* bots_swarm_create(const bots_swarm_def* def, ph_fault* fault);
void bots_swarm_destroy(bots_swarm* swarm); // NULL is allowed; all bots disconnect

// Goes on until then, or until the server's truth ends. @return False when that happened.
bool bots_swarm_run(bots_swarm* swarm, uint64_t until_us);

// One turn: starts who is due, takes what came, compares with the truth. A millisecond or two. @return False
// when the truth has ended.
bool bots_swarm_turn(bots_swarm* swarm);

// While the world stands still: asks for what bots should see that are not yet equal.
void bots_swarm_ask(bots_swarm* swarm);

// The world has moved: no bot is equal to it any more.
void bots_swarm_forget_equality(bots_swarm* swarm);

// While the world stands still: until every good bot is equal to it, or until then. @return Whether
// all are.
bool bots_swarm_converge(bots_swarm* swarm, uint64_t until_us);

int bots_swarm_connected(const bots_swarm* swarm); // now, of the good ones
int bots_swarm_good(const bots_swarm* swarm);

#endif
