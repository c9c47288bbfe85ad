// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// The narrowest place of a simulated network: datagrams wait in a queue and leave one after the other at
// a fixed rate; what finds no room in the queue is dropped. One of them may stand in several links, as a
// household's line does. A plain value; not for several threads at once.
//
//     ph_bottleneck narrow = {.bits_per_second = 8000, .queue_bytes = 1000, .overhead_bytes = 48};
//     ph_link_def def = {.bottleneck = &narrow};

#ifndef PINHOLE_KIT_BOTTLENECK_H
#define PINHOLE_KIT_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ph_bottleneck {
    int bits_per_second; // 0: no bottleneck
    int queue_bytes; // that may wait or be on their way through; at least one datagram always may
    int overhead_bytes; // of each datagram, beside what is sent
    uint64_t free_us;   // when the last one will have left; 0 to begin with
    uint64_t passed;    // datagrams so far
    uint64_t dropped;
} ph_bottleneck;

// A datagram arrives. @return False when it is dropped; else *leave_us is when it has left.
bool ph_bottleneck_pass(ph_bottleneck* bottleneck, uint64_t now_us, size_t size,
                        uint64_t* leave_us);

// How long a datagram that arrived now would wait.
uint64_t ph_bottleneck_wait_us(const ph_bottleneck* bottleneck, uint64_t now_us);

#endif
