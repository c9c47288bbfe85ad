// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// How long messages of players take to their sim and back: what a player notices of a bus that is late. Those of players
// that have just gone to another front-end do not count: their interruption is told by itself.

#ifndef PH_APP_BOTS_ECHO_H
#define PH_APP_BOTS_ECHO_H

#include <stdint.h>

enum {
    BOTS_ECHO_UNDER_WAY = 64, // messages of one player that are timed at once
    BOTS_ECHO_SLOTS = 20,     // of half a second
};

// Of one player. {0} has sent nothing.
typedef struct bots_echo {
    uint64_t sent_us[BOTS_ECHO_UNDER_WAY]; // by number
    uint64_t moved_us;                     // 0: never
} bots_echo;

typedef struct bots_echo_slot {
    uint64_t number; // since the clock's beginning; 0: none
    uint32_t count;
    uint32_t max_ms;
    uint64_t sum_ms;
} bots_echo_slot;

// Of all of them, in the last ten seconds. {0} is empty.
typedef struct bots_echoes {
    bots_echo_slot slots[BOTS_ECHO_SLOTS];
} bots_echoes;

void bots_echo_send(bots_echo* echo, uint32_t number, uint64_t now_us);
void bots_echo_move(bots_echo* echo, uint64_t now_us);
void bots_echo_return(bots_echo* echo, bots_echoes* all, uint32_t number, uint64_t now_us);

// Both of the same clock.
void bots_echo_add(bots_echoes* sum, const bots_echoes* more);

// 0 when there was none.
void bots_echo_sum(const bots_echoes* all, uint64_t now_us, uint32_t* mean_ms, uint32_t* max_ms);

#endif
