// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Two ends of a connection, and sections carried from one to the other by hand.

#ifndef PINHOLE_TEST_MAIL_PAIR_H
#define PINHOLE_TEST_MAIL_PAIR_H

#include "test_memory.h"
#include "test_support.h"

#include <pinhole/mail.h>

typedef struct mail_pair {
    ph_mail* ends[2];
    uint64_t now_us;
    test_memory memory;
} mail_pair;

// Without a limit to their share, if no def is given.
void mail_pair_setup(mail_pair* pair, const ph_mail_def* def);
// Nothing was allocated since the setup, and nothing leaks.
void mail_pair_teardown(mail_pair* pair);

// A section from one end; whether the other one gets it. @return Its size.
size_t mail_pair_carry(mail_pair* pair, int from, bool arrives);

// There and back, so often, 50 ms each.
void mail_pair_exchange(mail_pair* pair, int rounds);

// A message of this size that nobody confuses with another one.
void mail_pair_fill(uint8_t* bytes, size_t size, uint32_t number);
ph_result mail_pair_post(mail_pair* pair, int from, size_t size, uint32_t number);
// The next message is there, and is this one.
void mail_pair_expect(mail_pair* pair, int at, size_t size, uint32_t number);
void mail_pair_expect_nothing(mail_pair* pair, int at);

#endif
