// SPDX-FileCopyrightText: 2026 The Pinhole authors
// SPDX-License-Identifier: MIT

// One direction of a simulated network: datagrams go in and come out later, in another order,
// twice, or never. The fate of a datagram depends on the seed, the direction's key and its number
// alone, so two runs that send the same numbers meet the same network, whatever else they do.
//
//     ph_link* down = ph_link_create(&def);
//     ph_link_send(down, now_us, bytes, size);
//     while ((size = ph_link_receive(down, now_us, bytes, sizeof bytes)) > 0) { ... }
//     ph_link_destroy(down);

#ifndef PINHOLE_KIT_LINK_H
#define PINHOLE_KIT_LINK_H

#include "kit/bottleneck.h"

#include <stddef.h>
#include <stdint.h>

// Zero-initialised: a perfect link without delay.
typedef struct ph_link_def {
    uint64_t seed;
    uint64_t key;       // which link and direction: (viewer, down), (viewer, up) ...
    uint32_t delay_us;  // of every datagram: half the round trip
    uint32_t jitter_us; // more, evenly between 0 and this; reorders when it exceeds the interval
    double loss;        // 0..1, each datagram by itself
    double doubling;    // 0..1: what is not lost comes twice, each copy with its own jitter
    // Stands before all of that; NULL: there is none. Shared and kept by whoever made it.
    ph_bottleneck* bottleneck;
} ph_link_def;

typedef struct ph_link ph_link;

// @return NULL when there is no memory.
ph_link* ph_link_create(const ph_link_def* def);
void ph_link_destroy(ph_link* link); // NULL is allowed

// Changes the network from now on; what is on its way stays there. Seed and key stay, whatever the
// def says. Each property of a datagram's fate is drawn by itself: under another loss the same
// datagrams have the same jitter, and what a lower loss takes, a higher one takes too.
void ph_link_change(ph_link* link, const ph_link_def* def);

// Sends one datagram; its number is how many were sent before. size is 1..65507. Grows as needed
// (and aborts the program without memory: this is for tests and measurements).
void ph_link_send(ph_link* link, uint64_t now_us, const void* bytes, size_t size);

// The next datagram that has arrived by now, the earliest first (of equal times the one sent first).
// It must fit: a smaller capacity is misuse. (Without assertions the rest is cut off, as a socket
// does.) @return Its size, 0 when there is none.
size_t ph_link_receive(ph_link* link, uint64_t now_us, void* bytes, size_t capacity);

// When the next one arrives; UINT64_MAX when nothing is on its way.
uint64_t ph_link_next_us(const ph_link* link);

// Datagrams so far. sent + doubled = lost + arrived + those on their way.
typedef struct ph_link_stats {
    uint64_t sent;
    uint64_t lost; // what the bottleneck dropped included
    uint64_t doubled;
    uint64_t arrived; // handed out, both copies counted
    uint64_t bytes_sent;
} ph_link_stats;

ph_link_stats ph_link_get_stats(const ph_link* link);

#endif
