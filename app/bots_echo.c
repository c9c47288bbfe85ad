// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// A few times per second and player.

#include "bots_echo.h"

#define SLOT_US UINT64_C(500000)
#define MOVED_US (BOTS_ECHO_SLOTS * SLOT_US)

void bots_echo_send(bots_echo* echo, uint32_t number, uint64_t now_us)
{
    echo->sent_us[number % BOTS_ECHO_UNDER_WAY] = now_us;
}

void bots_echo_move(bots_echo* echo, uint64_t now_us)
{
    echo->moved_us = now_us;
}

void bots_echo_return(bots_echo* echo, bots_echoes* all, uint32_t number, uint64_t now_us)
{
    const uint64_t sent_us = echo->sent_us[number % BOTS_ECHO_UNDER_WAY];
    if (echo->moved_us != 0 && now_us - echo->moved_us < MOVED_US) {
        return;
    }
    const uint64_t slot_number = now_us / SLOT_US + 1;
    bots_echo_slot* slot = &all->slots[slot_number % BOTS_ECHO_SLOTS];
    if (slot->number != slot_number) {
        *slot = (bots_echo_slot){.number = slot_number};
    }
    const uint32_t ms = (uint32_t)((now_us - sent_us) / 1000);
    ++slot->count;
    slot->sum_ms += ms;
    slot->max_ms = ms > slot->max_ms ? ms : slot->max_ms;
}

void bots_echo_add(bots_echoes* sum, const bots_echoes* more)
{
    for (int i = 0; i < BOTS_ECHO_SLOTS; ++i) {
        bots_echo_slot* to = &sum->slots[i];
        const bots_echo_slot* from = &more->slots[i];
        if (from->number > to->number) {
            *to = *from;
        } else if (from->number == to->number) {
            to->count += from->count;
            to->sum_ms += from->sum_ms;
            to->max_ms = from->max_ms > to->max_ms ? from->max_ms : to->max_ms;
        }
    }
}

void bots_echo_sum(const bots_echoes* all, uint64_t now_us, uint32_t* mean_ms, uint32_t* max_ms)
{
    const uint64_t newest = now_us / SLOT_US + 1;
    uint64_t count = 0;
    uint64_t sum_ms = 0;
    *max_ms = 0;
    for (int i = 0; i < BOTS_ECHO_SLOTS; ++i) {
        const bots_echo_slot* slot = &all->slots[i];
        if (slot->number != 0 && newest - slot->number < BOTS_ECHO_SLOTS) {
            count += slot->count;
            sum_ms += slot->sum_ms;
            *max_ms = slot->max_ms > *max_ms ? slot->max_ms : *max_ms;
        }
    }
    *mean_ms = count > 0 ? (uint32_t)(sum_ms / count) : 0;
}
