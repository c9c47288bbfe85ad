// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Messages, input, blocks and unreliable messages that cannot go, or do not arrive: a real ph_host and a real ph_peer on
// simulated time.

#include "first_hour.h"

enum { END_MAX_S = 60, ARRIVES_MS = 3000 };

// ---- messages and input

static void say_send(size_t size, bool is_connected, int count)
{
    static const uint8_t bytes[2 * PH_MESSAGE_SIZE_MAX];
    hour_stage* s = hour_open(&(hour_def){0});
    if (is_connected) {
        hour_connect_good(s, 0, 1);
        hour_await_view(s, 0);
    }
    ph_result result = PH_OK;
    for (int i = 0; i < count && result == PH_OK; ++i) {
        result = ph_peer_send(s->players[0].peer, bytes, size);
    }
    hour_say_result(result, &s->players[0].error);
    hour_close(s);
}

static void message_too_large(void)
{
    say_send(PH_MESSAGE_SIZE_MAX + 1, true, 1);
}

static void message_empty(void)
{
    say_send(0, true, 1);
}

static void message_before_connect(void)
{
    say_send(5, false, 1);
}

static void message_queue_full(void)
{
    say_send(PH_MESSAGE_SIZE_MAX, true, 1000);
}

static void input_too_large(void)
{
    static const uint8_t bytes[PH_INPUT_SIZE_MAX + 1];
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    hour_must(ph_peer_set_input(s->players[0].peer, bytes, sizeof bytes) == 0, "input is taken");
    hour_say_result(PH_ERROR_ARGUMENT, &s->players[0].error);
    hour_close(s);
}

// ---- blocks and unreliable messages

static const uint8_t block[100000];

// The player connects to a server that accepts blocks of so many bytes, and sends one of another size.
static hour_stage* begin_block(int accepted, size_t size)
{
    hour_stage* s = hour_open(&(hour_def){.block_size_max = accepted});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    hour_must(ph_peer_send_block(s->players[0].peer, 1, block, size, NULL) == PH_OK, "no block");
    return s;
}

static void send_block(int accepted, size_t size)
{
    hour_stage* s = begin_block(accepted, size);
    hour_play(s, ARRIVES_MS);
    hour_say("block", s->players[0].block);
    hour_close(s);
}

static void block_not_accepted(void)
{
    send_block(0, 2000);
}

static void block_too_large(void)
{
    send_block(1000, 2000);
}

static void block_cancelled(void)
{
    hour_stage* s = begin_block(sizeof block, sizeof block);
    hour_play(s, 20); // some of it goes
    hour_must(ph_peer_cancel_block(s->players[0].peer, 1) == PH_OK, "the block is not cancelled");
    hour_play(s, ARRIVES_MS);
    hour_say("block", s->players[0].block);
    hour_close(s);
}

// The server dies in the middle of it.
static void block_cut_off(void)
{
    hour_stage* s = begin_block(sizeof block, sizeof block);
    hour_play(s, 20); // some of it goes
    s->is_dead = true;
    hour_await_end(s, 0, END_MAX_S);
    hour_must(s->players[0].counts[PH_PEER_BLOCK_SENT] == 0,
              "a block that was cut off has arrived");
    hour_say("disconnected", s->players[0].text);
    hour_close(s);
}

static void try_block(size_t size, bool is_connected, int count)
{
    hour_stage* s = hour_open(&(hour_def){.block_size_max = sizeof block});
    if (is_connected) {
        hour_connect_good(s, 0, 1);
        hour_await_view(s, 0);
    }
    ph_result result = PH_OK;
    for (int i = 0; i < count && result == PH_OK; ++i) {
        result = ph_peer_send_block(s->players[0].peer, 1, block, size, NULL);
    }
    hour_say_result(result, &s->players[0].error);
    hour_close(s);
}

static void block_empty(void)
{
    try_block(0, true, 1);
}

static void block_before_connect(void)
{
    try_block(1000, false, 1);
}

static void blocks_too_many(void)
{
    try_block(1000, true, 100);
}

static void try_unreliable(int channel, size_t size)
{
    hour_stage* s = hour_open(&(hour_def){0});
    hour_connect_good(s, 0, 1);
    hour_await_view(s, 0);
    const ph_result result =
        ph_peer_send_unreliable(s->players[0].peer, PH_UNRELIABLE_NEWEST, channel, block, size);
    hour_say_result(result, &s->players[0].error);
    hour_close(s);
}

static void unreliable_too_large(void)
{
    try_unreliable(0, PH_UNRELIABLE_SIZE_MAX + 1);
}

static void unreliable_channel(void)
{
    try_unreliable(PH_UNRELIABLE_CHANNELS, 10);
}

const hour_case hour_message_cases[] = {
    {"message_too_large", message_too_large},
    {"message_empty", message_empty},
    {"message_before_connect", message_before_connect},
    {"message_queue_full", message_queue_full},
    {"input_too_large", input_too_large},
    {"block_not_accepted", block_not_accepted},
    {"block_too_large", block_too_large},
    {"block_cancelled", block_cancelled},
    {"block_cut_off", block_cut_off},
    {"block_empty", block_empty},
    {"block_before_connect", block_before_connect},
    {"blocks_too_many", blocks_too_many},
    {"unreliable_too_large", unreliable_too_large},
    {"unreliable_channel", unreliable_channel},
    {NULL, NULL},
};
