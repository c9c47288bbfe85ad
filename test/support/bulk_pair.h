// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// Two ends of a connection over simulated links, in simulated time: each sends at its ticks as a host and a peer do,
// a packet and then as many datagrams of blocks as are wanted.

#ifndef PINHOLE_TEST_BULK_PAIR_H
#define PINHOLE_TEST_BULK_PAIR_H

#include "test_links.h"
#include "test_memory.h"

#include <pinhole/message.h>
#include <pinhole/stats.h>

typedef struct bulk_pair {
    ph_messages* ends[2];
    test_memory memory[2];
    ph_link* links[2]; // that the end sends into
    uint32_t tick_us[2];
    uint64_t next_us[2];
    uint64_t now_us;
    uint64_t sent_bytes[2];
    uint64_t datagrams[2];
} bulk_pair;

// Without a limit, and with blocks of up to 8 MB, when no def is given.
void bulk_pair_setup(bulk_pair* pair, const ph_messages_def* def, const ph_link_def* link,
                     uint32_t tick_us);
// Nothing leaks.
void bulk_pair_teardown(bulk_pair* pair);

// On to the next tick of either end: it receives, and sends.
void bulk_pair_step(bulk_pair* pair);

// Bytes that differ from block to block.
void bulk_pair_fill(uint8_t* bytes, size_t size, uint32_t tag);

// Queues such a block.
uint32_t bulk_pair_send(bulk_pair* pair, int from, uint32_t tag, size_t size);

// Receives a block that has come whole, if one has, and compares it. @return Its tag, 0: none.
uint32_t bulk_pair_receive(bulk_pair* pair, int at);

#endif
