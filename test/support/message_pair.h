// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Two ends of a connection, and sections carried from one to the other by hand.

#ifndef PINHOLE_TEST_MESSAGE_PAIR_H
#define PINHOLE_TEST_MESSAGE_PAIR_H

#include "test_memory.h"
#include "test_support.h"

#include <pinhole/message.h>

typedef struct message_pair {
    ph_messages* ends[2];
    uint64_t now_us;
    test_memory memory;
} message_pair;

// Without a limit to their share, if no def is given.
void message_pair_setup(message_pair* pair, const ph_messages_def* def);
// Nothing was allocated since the setup, and nothing leaks.
void message_pair_teardown(message_pair* pair);

// A section from one end; whether the other one gets it. @return Its size.
size_t message_pair_carry(message_pair* pair, int from, bool arrives);

// There and back, so often, 50 ms each.
void message_pair_exchange(message_pair* pair, int rounds);

// A message of this size that differs from every other one.
void message_pair_fill(uint8_t* bytes, size_t size, uint32_t number);
ph_result message_pair_post(message_pair* pair, int from, size_t size, uint32_t number);
// The next message is there, and is this one.
void message_pair_expect(message_pair* pair, int at, size_t size, uint32_t number);
void message_pair_expect_nothing(message_pair* pair, int at);

#endif
